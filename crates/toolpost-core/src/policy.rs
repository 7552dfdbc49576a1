//! Who may do what. For now by capabilities alone.

use crate::access::Access;
use crate::capability::{Capabilities, Capability};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How much a pack, or a whole run, may cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Read and trace.
    ReadOnly,
    /// And write, inside the workspace.
    Standard,
    /// And run commands and reach the network.
    Privileged,
}

impl Profile {
    /// All of them, narrowest first.
    pub const ALL: [Profile; 3] = [Profile::ReadOnly, Profile::Standard, Profile::Privileged];

    /// The word used in flags and manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::ReadOnly => "read-only",
            Profile::Standard => "standard",
            Profile::Privileged => "privileged",
        }
    }

    /// What it grants.
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
        Profile::ALL
            .into_iter()
            .find(|profile| profile.as_str() == text)
            .ok_or_else(|| format!("no risk profile `{text}`; there are read-only, standard and privileged"))
    }
}

/// What is decided for an access or a call; a later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It may be done.
    Allow,
    /// A person is asked first.
    Ask,
    /// It may not be done.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        })
    }
}

/// What a run may do: capabilities that are granted, and those a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    granted: Capabilities,
    askable: Capabilities,
}

/// What the policy is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The tool's canonical name.
    pub tool: &'a str,
    /// What the call would touch.
    pub accesses: &'a [Access],
}

/// What the policy answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The strictest effect of all accesses.
    pub effect: Effect,
    /// Why, in one sentence; empty for a plain allow.
    pub reason: String,
    /// What would allow it; empty for a plain allow.
    pub remedy: String,
}

impl Policy {
    /// Grants what the profile grants.
    pub fn profile(profile: Profile) -> Policy {
        Policy { granted: profile.capabilities(), askable: Capabilities::NONE }
    }

    /// Grants one capability more.
    #[must_use]
    pub fn allow(mut self, capability: Capability) -> Policy {
        self.granted = self.granted.with(capability);
        self
    }

    /// Asks for one capability that is not granted.
    #[must_use]
    pub fn ask(mut self, capability: Capability) -> Policy {
        self.askable = self.askable.with(capability);
        self
    }

    /// The capabilities that need no question.
    pub fn granted(&self) -> Capabilities {
        self.granted
    }

    /// The capabilities that a person is asked about.
    pub fn askable(&self) -> Capabilities {
        self.askable.difference(self.granted)
    }

    /// Whether a tool that requires these is offered.
    pub fn offers(&self, tool: &str, required: Capabilities) -> bool {
        let _ = tool;
        required.difference(self.granted.union(self.askable)).is_empty()
    }

    /// Decides a call. Pure.
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        let mut decision = Decision { effect: Effect::Allow, reason: String::new(), remedy: String::new() };
        for access in request.accesses {
            let effect = if self.granted.has(access.action) {
                Effect::Allow
            } else if self.askable.has(access.action) {
                Effect::Ask
            } else {
                Effect::Deny
            };
            if effect > decision.effect {
                decision = Decision {
                    effect,
                    reason: format!(
                        "`{}` would {access}, and `{}` is not granted",
                        request.tool, access.action
                    ),
                    remedy: format!("allow it with `--allow {}`", access.action),
                };
            }
        }
        decision
    }
}

impl Default for Policy {
    /// Read and write inside the workspace.
    fn default() -> Policy {
        Policy::profile(Profile::Standard)
    }
}
