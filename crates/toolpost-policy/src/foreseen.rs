//! What a call will meet while it runs, beside the decision whether it may start: the files and hosts that it names, and
//! what only the sandbox decides.
//!
//! Plain values: who computes them looks at the disk.

use serde::Serialize;
use std::fmt;

/// What is known of a call before it runs, beside the decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Foreseen {
    /// Every file and host that the call names, and how far it is open to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedPlace>,
    /// What is decided only while the call runs, by the sandbox; a clause each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided_by_sandbox: Vec<String>,
    /// What is foreseen of the calls that it makes, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ForeseenCall>,
}

/// A call that another one makes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForeseenCall {
    /// The tool.
    pub tool: String,
    /// What is foreseen of it.
    pub effect: Outlook,
    /// Why, in one sentence.
    pub reason: String,
}

impl fmt::Display for ForeseenCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}: {}", self.tool, self.effect, self.reason)
    }
}

/// A file or host that a call names.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedPlace {
    /// The file by its display name, or the host.
    pub name: String,
    /// What the call does with it.
    #[serde(rename = "use")]
    pub used: PlaceUse,
    /// How far it is open.
    #[serde(flatten)]
    pub standing: Standing,
    /// Why it is not open, in a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What would open it, in the words of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How far a place is open to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Standing {
    /// Of a file or folder.
    File {
        /// Whether it can be read.
        read: Openness,
        /// Whether it can be written, created or removed.
        change: Openness,
    },
    /// Of a host.
    Host {
        /// Whether it can be reached.
        reach: Openness,
    },
}

/// Whether a call can do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Openness {
    /// The policy lets it.
    Open,
    /// The policy keeps it from that.
    Closed,
    /// Known only when it runs.
    Sandbox,
}

/// What a call does with a place that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PlaceUse {
    /// Nothing is opened: the name is printed, or looked at.
    Nothing,
    /// It is read.
    Read,
    /// It is written, created or removed.
    Change,
    /// It is connected to.
    Reach,
    /// Only the program knows.
    Unknown,
}

impl NamedPlace {
    /// The same with a reason.
    #[must_use]
    pub fn because(self, why: &str) -> NamedPlace {
        NamedPlace { why: Some(why.to_owned()), ..self }
    }

    /// Whether the call is kept from what it does with the place or, where only the program knows what that is, from what
    /// it may do.
    pub fn is_limit(&self) -> bool {
        let is_closed = |openness| openness == Openness::Closed;
        match (self.standing, self.used) {
            (_, PlaceUse::Nothing) => false,
            (Standing::File { read, .. }, PlaceUse::Read) => is_closed(read),
            (Standing::File { change, .. }, PlaceUse::Change) => is_closed(change),
            (Standing::File { read, change }, _) => is_closed(read) || is_closed(change),
            (Standing::Host { reach }, _) => is_closed(reach),
        }
    }

    /// What is open of the place, as a sentence about the call.
    fn sentence(&self) -> String {
        use Openness::{Closed, Open, Sandbox};
        let name = &self.name;
        match self.standing {
            Standing::Host { reach: Open } => format!("it can reach `{name}`"),
            Standing::Host { reach: Closed } => format!("it cannot reach `{name}`"),
            Standing::Host { reach: Sandbox } => {
                format!("whether it can reach `{name}`, the sandbox decides")
            }
            Standing::File { read: Open, change: Open } => format!("it can read and change `{name}`"),
            Standing::File { change: Closed, .. } if self.used == PlaceUse::Change => {
                format!("it cannot change `{name}`")
            }
            Standing::File { read: Open, change: Closed } => {
                format!("it can read `{name}`, and cannot change it")
            }
            Standing::File { read: Closed, change: Closed } => {
                format!("it can neither read nor change `{name}`")
            }
            Standing::File { read: Closed, change: _ } => format!("it cannot read `{name}`"),
            Standing::File { read: Sandbox, change: Closed } => {
                format!("it cannot change `{name}`; whether it can read it, the sandbox decides")
            }
            Standing::File { read: Open, change: Sandbox } => {
                format!("it can read `{name}`; whether it can change it, the sandbox decides")
            }
            Standing::File { read: Sandbox, change: _ } => {
                format!("whether it can read and change `{name}`, the sandbox decides")
            }
        }
    }
}

impl fmt::Display for NamedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        self.why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))?;
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

impl Foreseen {
    /// Whether something that the call names, or makes, is closed to it.
    pub fn is_limited(&self) -> bool {
        self.first_limit().is_some() || self.first_limited_call().is_some()
    }

    /// The first call in it that does not run as a whole.
    pub fn first_limited_call(&self) -> Option<&ForeseenCall> {
        self.calls.iter().find(|call| call.effect != Outlook::Allow)
    }

    /// The first named place that the call is kept from.
    pub fn first_limit(&self) -> Option<&NamedPlace> {
        self.named.iter().find(|place| place.is_limit())
    }
}

impl fmt::Display for Foreseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.named.is_empty() {
            writeln!(f, "\nfiles and hosts that the call names:")?;
            self.named.iter().try_for_each(|place| writeln!(f, "  {place}"))?;
        }
        if !self.calls.is_empty() {
            writeln!(f, "\ncalls that it makes:")?;
            self.calls.iter().try_for_each(|call| writeln!(f, "  {call}"))?;
        }
        if !self.decided_by_sandbox.is_empty() {
            writeln!(f, "\nonly the sandbox decides, while the call runs:")?;
            self.decided_by_sandbox.iter().try_for_each(|clause| writeln!(f, "  {clause}"))?;
        }
        Ok(())
    }
}

/// What is foreseen of a call, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outlook {
    /// It runs, and nothing that it names is closed to it.
    Allow,
    /// It starts, and something that it names is closed to it.
    Limited,
    /// A person is asked first.
    Ask,
    /// It is not done.
    Deny,
}

impl Outlook {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Outlook::Allow => "allow",
            Outlook::Limited => "limited",
            Outlook::Ask => "ask",
            Outlook::Deny => "deny",
        }
    }
}

impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<crate::Effect> for Outlook {
    fn from(effect: crate::Effect) -> Outlook {
        match effect {
            crate::Effect::Allow => Outlook::Allow,
            crate::Effect::Ask => Outlook::Ask,
            crate::Effect::Deny => Outlook::Deny,
        }
    }
}
