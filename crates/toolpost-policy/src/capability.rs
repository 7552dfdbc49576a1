//! What the model can cause through a tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use toolpost_text::misspelling_of;

/// What the *model* can cause through a tool, not what the tool uses inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// See files of the workspace, or what a service holds.
    Read,
    /// Change files of the workspace.
    Write,
    /// Run commands.
    #[serde(alias = "execute")]
    Exec,
    /// Reach other machines.
    Network,
    /// See what other calls did.
    Trace,
}

impl Capability {
    /// All of them, weakest first.
    pub const ALL: [Capability; 5] =
        [Capability::Read, Capability::Trace, Capability::Write, Capability::Exec, Capability::Network];

    /// The word used in flags, rules and manifests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Capability::Read => "read",
            Capability::Write => "write",
            Capability::Exec => "exec",
            Capability::Network => "network",
            Capability::Trace => "trace",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Capability, String> {
        match text {
            "execute" => Ok(Capability::Exec),
            _ => {
                Capability::ALL.into_iter().find(|capability| capability.as_str() == text).ok_or_else(|| {
                    let near = misspelling_of(text, Capability::ALL.map(Capability::as_str));
                    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                    format!(
                        "no capability `{text}`; {near}there are read, trace, write, exec (or execute) and network"
                    )
                })
            }
        }
    }
}

/// A set of capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u8);

impl Capabilities {
    /// The empty set.
    pub const NONE: Capabilities = Capabilities(0);

    /// The set with one more member.
    #[must_use]
    pub fn with(self, capability: Capability) -> Capabilities {
        Capabilities(self.0 | capability.bit())
    }

    /// The set with one member less.
    #[must_use]
    pub fn without(self, capability: Capability) -> Capabilities {
        Capabilities(self.0 & !capability.bit())
    }

    /// Whether the capability is in the set.
    pub fn has(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Whether nothing is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Members of either set.
    #[must_use]
    pub fn union(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// Members of both sets.
    #[must_use]
    pub fn intersection(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & other.0)
    }

    /// Members of this set that are not in the other.
    #[must_use]
    pub fn difference(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }

    /// The members, weakest first.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.has(*capability))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(items: I) -> Capabilities {
        items.into_iter().fold(Capabilities::NONE, Capabilities::with)
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        for (index, capability) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(capability.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Capabilities {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Capabilities, D::Error> {
        Ok(Vec::<Capability>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_print_weakest_first_and_round_trip() {
        let set: Capabilities = [Capability::Network, Capability::Read].into_iter().collect();
        assert_eq!(set.to_string(), "read, network");
        let json = serde_json::to_string(&set).unwrap();
        assert_eq!(json, r#"["read","network"]"#);
        assert_eq!(serde_json::from_str::<Capabilities>(&json).unwrap(), set);
        assert_eq!(serde_json::from_str::<Capabilities>(r#"["execute"]"#).unwrap().to_string(), "exec");
    }

    #[test]
    fn words_parse() {
        assert_eq!("execute".parse(), Ok(Capability::Exec));
        assert!("exce".parse::<Capability>().unwrap_err().contains("exec (or execute)"));
    }
}
