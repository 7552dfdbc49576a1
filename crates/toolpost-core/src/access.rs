//! What a call would touch, computed from its arguments alone, before it runs.

use crate::capability::Capability;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing a call would do: an action on a resource. Policy judges these.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// What would be done.
    pub action: Capability,
    /// To what.
    pub resource: Resource,
}

impl Access {
    /// A file or folder would be touched.
    pub fn path(action: Capability, path: impl Into<String>) -> Access {
        Access { action, resource: Resource::Path(path.into()) }
    }

    /// A command would be run.
    pub fn command(line: impl Into<String>) -> Access {
        Access { action: Capability::Exec, resource: Resource::Command(line.into()) }
    }

    /// A command would be run that needs no right of its own, such as a built-in of a shell or a program that runs
    /// another: only rules that deny or ask speak of it.
    pub fn mention(line: impl Into<String>) -> Access {
        Access { action: Capability::Trace, resource: Resource::Command(line.into()) }
    }

    /// A command would write to a place outside the workspace, which the right to write does not cover, nor a rule
    /// about commands; the right to run any command does.
    pub fn outside(path: impl Into<String>) -> Access {
        Access { action: Capability::Exec, resource: Resource::Path(path.into()) }
    }

    /// A host would be reached.
    pub fn host(host: impl Into<String>) -> Access {
        Access { action: Capability::Network, resource: Resource::Host(host.into()) }
    }

    /// The action on anything: what a call cannot name beforehand.
    pub fn any(action: Capability) -> Access {
        Access { action, resource: Resource::Any }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.resource)
    }
}

/// What an access is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "name")]
pub enum Resource {
    /// A path of the workspace, as given in the arguments.
    Path(String),
    /// One command of a line.
    Command(String),
    /// A host name or address.
    Host(String),
    /// Anything at all.
    Any,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Path(name) | Resource::Command(name) | Resource::Host(name) => write!(f, "`{name}`"),
            Resource::Any => f.write_str("anything"),
        }
    }
}
