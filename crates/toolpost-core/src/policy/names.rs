//! What the names of tools in rules mean. Core knows no tool by name: a registry's tools and dialects say it.

use super::action::Action;
use crate::access::ResourceKind;
use crate::capability::Capability;
use crate::dialect::Dialects;
use crate::tool::{RuleNames, Spec};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// What the names of tools in rules mean: which tool a name of any dialect means, what the calls of a tool are about, and
/// by which other names rules know it. Cheap to clone.
///
/// [`Snapshot::names`](crate::Snapshot::names) are those of a registry. The executor decides every call by those of the
/// session's registry; whoever asks a policy without an executor sets them with [`Policy::with_names`](super::Policy::with_names).
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Inner>);

#[derive(Debug, Clone, Default)]
struct Inner {
    dialects: Arc<Dialects>,
    tools: HashMap<String, Known>,
}

/// What a tool's spec says to rules.
#[derive(Debug, Clone)]
struct Known {
    about: Option<ResourceKind>,
    rule_names: Option<RuleNames>,
}

impl Known {
    fn of(spec: &Spec) -> Known {
        Known { about: spec.about, rule_names: spec.rule_names.clone() }
    }
}

/// The kinds of resource that an action can meet.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    /// Files and folders.
    pub path: bool,
    /// Command lines.
    pub command: bool,
    /// Hosts of the network.
    pub host: bool,
}

impl Kinds {
    fn of(about: Option<ResourceKind>) -> Kinds {
        let is = |kind| about.is_none_or(|about| about == kind);
        Kinds {
            // Those of virtual files are spelled alike.
            path: is(ResourceKind::Path) || is(ResourceKind::Stored),
            command: is(ResourceKind::Command),
            host: is(ResourceKind::Host),
        }
    }
}

impl Names {
    /// Of these tools, with the names that they have in these dialects.
    pub fn new<'a>(dialects: Arc<Dialects>, tools: impl IntoIterator<Item = &'a Spec>) -> Names {
        let tools = tools.into_iter().map(|spec| (spec.name.clone(), Known::of(spec))).collect();
        Names(Arc::new(Inner { dialects, tools }))
    }

    /// No tools and no dialects: a name means the tool of that name.
    pub(super) fn none() -> &'static Names {
        static NONE: LazyLock<Names> = LazyLock::new(Names::default);
        &NONE
    }

    /// The same with one tool more, such as one that has yet to come.
    pub fn with(&self, spec: &Spec) -> Names {
        let mut inner = Inner::clone(&self.0);
        inner.tools.insert(spec.name.clone(), Known::of(spec));
        Names(Arc::new(inner))
    }

    /// The tool that a name means: a tool that is there, or one that a dialect knows.
    pub fn tool<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match self.0.tools.contains_key(name) {
            true => Some(name),
            false => self.0.dialects.meaning(name),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        Arc::ptr_eq(&self.0, &Names::none().0) || self.0.tools.is_empty()
    }

    /// Whether a name of some dialect means this tool.
    pub(super) fn means(&self, name: &str, tool: &str) -> bool {
        self.0.dialects.meaning(name) == Some(tool)
    }

    /// What the rules that name a tool are about, where that is known.
    pub(super) fn about(&self, tool: &str) -> Option<ResourceKind> {
        self.0.tools.get(tool).and_then(|known| known.about)
    }

    /// The other names of a tool in rules.
    pub(super) fn rule_names(&self, tool: &str) -> Option<&RuleNames> {
        self.0.tools.get(tool).and_then(|known| known.rule_names.as_ref())
    }

    /// What the accesses of an action are about, as far as that is known.
    pub fn kinds(&self, action: &Action) -> Kinds {
        match action {
            Action::Capability(Capability::Exec) => Kinds::of(Some(ResourceKind::Command)),
            Action::Capability(Capability::Network) => Kinds::of(Some(ResourceKind::Host)),
            Action::Capability(_) => Kinds::of(Some(ResourceKind::Path)),
            Action::Tool(name) => Kinds::of(self.about(self.0.dialects.meaning(name).unwrap_or(name))),
            Action::Everything => Kinds::of(None),
        }
    }
}
