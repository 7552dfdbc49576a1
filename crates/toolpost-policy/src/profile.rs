//! Risk profiles: three named sets of capabilities. What a profile lacks is added by flags and rules, not here.

use crate::capability::{Capabilities, Capability};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use toolpost_text::misspelling_of;

/// How much a run may do before any rule is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Read and trace.
    ReadOnly,
    /// Read, trace and write.
    Standard,
    /// Everything: also exec and network.
    Privileged,
}

impl Profile {
    /// All profiles, the narrowest first.
    pub const ALL: [Profile; 3] = [Profile::ReadOnly, Profile::Standard, Profile::Privileged];

    /// The word used in flags and manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::ReadOnly => "read-only",
            Profile::Standard => "standard",
            Profile::Privileged => "privileged",
        }
    }

    /// The capabilities that the profile grants.
    pub fn capabilities(self) -> Capabilities {
        let read_only = Capabilities::NONE.with(Capability::Read).with(Capability::Trace);
        match self {
            Profile::ReadOnly => read_only,
            Profile::Standard => read_only.with(Capability::Write),
            Profile::Privileged => {
                read_only.with(Capability::Write).with(Capability::Exec).with(Capability::Network)
            }
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Profile, String> {
        Profile::ALL.into_iter().find(|profile| profile.as_str() == text).ok_or_else(|| {
            let near = misspelling_of(text, Profile::ALL.map(Profile::as_str));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            format!(
                "no risk profile `{text}`; {near}there are read-only (read, trace), standard (and write) and \
                 privileged (and exec, network)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_widen_step_by_step_and_round_trip() {
        assert_eq!(Profile::ReadOnly.capabilities().to_string(), "read, trace");
        assert_eq!(Profile::Standard.capabilities().to_string(), "read, trace, write");
        assert_eq!(Profile::Privileged.capabilities().to_string(), "read, trace, write, exec, network");
        for profile in Profile::ALL {
            assert_eq!(profile.to_string().parse(), Ok(profile));
        }
        assert!(
            "readonly"
                .parse::<Profile>()
                .unwrap_err()
                .contains("did you mean `read-only`? there are read-only")
        );
    }
}
