//! The risk profile of a pack: one of a run's profiles, or `dynamic`.

use crate::capability::Capabilities;
use crate::policy::Profile;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// How much a pack asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RiskProfile {
    /// The capabilities of a profile.
    Fixed(Profile),
    /// Nothing of its own: what its tools call or start, or the role of the caller, decides.
    Dynamic,
}

impl RiskProfile {
    /// All of them, the narrowest first, `dynamic` last.
    pub const ALL: [RiskProfile; 4] = [
        RiskProfile::Fixed(Profile::ReadOnly),
        RiskProfile::Fixed(Profile::Standard),
        RiskProfile::Fixed(Profile::Privileged),
        RiskProfile::Dynamic,
    ];

    /// The word used in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            RiskProfile::Fixed(profile) => profile.as_str(),
            RiskProfile::Dynamic => "dynamic",
        }
    }

    /// The capabilities that a pack of this profile asks for.
    pub fn capabilities(self) -> Capabilities {
        match self {
            RiskProfile::Fixed(profile) => profile.capabilities(),
            RiskProfile::Dynamic => Capabilities::NONE,
        }
    }
}

impl fmt::Display for RiskProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RiskProfile {
    type Err = String;

    fn from_str(text: &str) -> Result<RiskProfile, String> {
        RiskProfile::ALL.into_iter().find(|profile| profile.as_str() == text).ok_or_else(|| {
            format!("no risk profile `{text}`; there are read-only, standard, privileged and dynamic")
        })
    }
}

impl Serialize for RiskProfile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
