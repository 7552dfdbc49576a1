//! What a call would touch, computed from its arguments alone, before it runs.

use crate::capability::Capability;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};

/// One thing a call would do: an action on a resource. Policy judges these.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Access {
    /// What would be done.
    pub action: Capability,
    /// To what.
    pub resource: Resource,
    /// Why the resource cannot be named, for messages alone: it does not tell accesses apart.
    #[serde(skip)]
    why: Option<&'static str>,
    /// Whether the capability alone does not allow it.
    #[serde(skip)]
    needs_consent: bool,
    /// Whether it cannot happen where the capability is not granted.
    #[serde(skip)]
    only_where_granted: bool,
    /// Whether nothing judges it when it happens.
    #[serde(skip)]
    is_unjudged: bool,
}

impl PartialEq for Access {
    fn eq(&self, other: &Access) -> bool {
        self.action == other.action && self.resource == other.resource
    }
}

impl Eq for Access {}

impl Hash for Access {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.action.hash(state);
        self.resource.hash(state);
    }
}

impl Access {
    fn new(action: Capability, resource: Resource) -> Access {
        Access {
            action,
            resource,
            why: None,
            needs_consent: false,
            only_where_granted: false,
            is_unjudged: false,
        }
    }

    /// A file or folder would be touched.
    pub fn path(action: Capability, path: impl Into<String>) -> Access {
        Access::new(action, Resource::Path(path.into()))
    }

    /// A virtual file of the session would be touched. Rules about files of the workspace say nothing of it; those that
    /// name the tool do.
    pub fn stored(action: Capability, path: &str) -> Access {
        let path = path.strip_prefix("./").unwrap_or(path).trim_start_matches('/');
        Access::new(action, Resource::Stored(path.to_owned()))
    }

    /// A command would be run.
    pub fn command(line: impl Into<String>) -> Access {
        Access::new(Capability::Exec, Resource::Command(line.into()))
    }

    /// A command would be run that needs no right of its own, such as a built-in of a shell or a program that runs
    /// another: only rules that deny or ask speak of it.
    pub fn mention(line: impl Into<String>) -> Access {
        Access::new(Capability::Trace, Resource::Command(line.into()))
    }

    /// A command would write to a place outside the workspace, or open a file whose name is computed when it runs. The
    /// right to write does not cover that, nor a rule about commands; the right to run any command does. A computed name
    /// begins with `$`, `"` or `~`.
    pub fn outside(path: impl Into<String>) -> Access {
        Access::new(Capability::Exec, Resource::Path(path.into()))
    }

    /// A host would be reached.
    pub fn host(host: impl Into<String>) -> Access {
        Access::new(Capability::Network, Resource::Host(host.into()))
    }

    /// The action on anything: what a call cannot name beforehand.
    pub fn any(action: Capability) -> Access {
        Access::new(action, Resource::Any)
    }

    /// The action on anything, with the reason why a call cannot name it, as a clause.
    pub fn any_because(action: Capability, why: &'static str) -> Access {
        Access { why: Some(why), ..Access::any(action) }
    }

    /// The same access, about which a person is asked although the capability is granted, unless a rule allows it.
    #[must_use]
    pub fn with_consent(self) -> Access {
        Access { needs_consent: true, ..self }
    }

    /// Whether a person is asked although the capability is granted.
    pub fn needs_consent(&self) -> bool {
        self.needs_consent
    }

    /// The same access, which cannot happen where the capability is not granted, since the sandbox keeps the call from
    /// it: there it needs no right.
    #[must_use]
    pub fn where_granted(self) -> Access {
        Access { only_where_granted: true, ..self }
    }

    /// Whether it cannot happen where the capability is not granted.
    pub fn is_only_where_granted(&self) -> bool {
        self.only_where_granted
    }

    /// The same access, which nothing judges when it happens: each rule that denies or asks and could be about it counts now.
    #[must_use]
    pub fn unjudged(self) -> Access {
        Access { is_unjudged: true, ..self }
    }

    /// Whether nothing judges it when it happens.
    pub fn is_unjudged(&self) -> bool {
        self.is_unjudged
    }

    /// Why the resource cannot be named, if that is known.
    pub fn why(&self) -> Option<&'static str> {
        self.why
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
    /// A virtual file of the session.
    Stored(String),
    /// One command of a line.
    Command(String),
    /// A host name or address.
    Host(String),
    /// Anything at all.
    Any,
}

/// A kind of resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// Paths.
    Path,
    /// Virtual files.
    Stored,
    /// Commands.
    Command,
    /// Hosts.
    Host,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Path(name) | Resource::Command(name) | Resource::Host(name) => write!(f, "`{name}`"),
            Resource::Stored(path) => write!(f, "the virtual file `{path}`"),
            Resource::Any => f.write_str("anything"),
        }
    }
}
