//! What the names of tools in rules mean. No tool is known here by name: a registry's tools and dialects say it.

use super::action::Action;
use crate::access::ResourceKind;
use crate::capability::Capability;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// What the names of tools in rules mean: which tool a name of any dialect means, what the calls of a tool are about, and
/// by which other names rules know it. Cheap to clone.
///
/// `Snapshot::names` are those of a registry. The executor decides every call by those of the
/// session's registry; whoever asks a policy without an executor sets them with [`Policy::with_names`](super::Policy::with_names).
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    meanings: Arc<dyn Meanings>,
    tools: HashMap<String, KnownTool>,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner { meanings: Arc::new(NoMeanings), tools: HashMap::new() }
    }
}

/// What other names of tools mean, such as those of dialects.
pub trait Meanings: fmt::Debug + Send + Sync {
    /// The tool that a name means; none for a name that is not known.
    fn meaning(&self, name: &str) -> Option<&str>;
}

/// Under which names tools are shown to whoever a decision is explained to.
pub trait ShownNames: fmt::Debug + Send + Sync {
    /// The name under which a tool is known there; none where it is not offered.
    fn shown_name<'a>(&'a self, tool: &'a str) -> Option<&'a str>;
}

/// A name means the tool of that name.
#[derive(Debug)]
struct NoMeanings;

impl Meanings for NoMeanings {
    fn meaning(&self, _: &str) -> Option<&str> {
        None
    }
}

/// What a tool says of itself to rules.
#[derive(Debug, Clone)]
pub struct KnownTool {
    /// Its canonical name.
    pub name: String,
    /// What the rules that name it are about, where that is known.
    pub about: Option<ResourceKind>,
    /// Other names by which rules know it, for a tool of a group.
    pub rule_names: Option<RuleNames>,
}

/// Other names by which rules know a tool that belongs to a group, such as the tools of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleNames {
    /// The name of the whole group.
    pub group: String,
    /// Other spellings of the tool's name. A `.` in a rule stands for a `_` in them. Where any tool of the group is meant,
    /// they end in `*`.
    pub spellings: Vec<String>,
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
    /// Of these tools, with the other names that they have.
    pub fn new(meanings: Arc<dyn Meanings>, tools: impl IntoIterator<Item = impl Into<KnownTool>>) -> Names {
        let tools = tools.into_iter().map(Into::into).map(|tool| (tool.name.clone(), tool)).collect();
        Names(Arc::new(Inner { meanings, tools }))
    }

    /// No tools and no dialects: a name means the tool of that name.
    pub(super) fn none() -> &'static Names {
        static NONE: LazyLock<Names> = LazyLock::new(Names::default);
        &NONE
    }

    /// The same with one tool more, such as one that has yet to come.
    pub fn with(&self, tool: impl Into<KnownTool>) -> Names {
        let mut inner = Inner::clone(&self.0);
        let tool = tool.into();
        inner.tools.insert(tool.name.clone(), tool);
        Names(Arc::new(inner))
    }

    /// The tool that a name means: a tool that is there, or one that a dialect knows.
    pub fn tool<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match self.0.tools.contains_key(name) {
            true => Some(name),
            false => self.0.meanings.meaning(name),
        }
    }

    /// The canonical names of the tools that are there.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.0.tools.keys().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        Arc::ptr_eq(&self.0, &Names::none().0) || self.0.tools.is_empty()
    }

    /// Whether a name of some dialect means this tool.
    pub(super) fn means(&self, name: &str, tool: &str) -> bool {
        self.0.meanings.meaning(name) == Some(tool)
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
            Action::Tool(name) => Kinds::of(self.about(self.0.meanings.meaning(name).unwrap_or(name))),
            Action::Everything => Kinds::of(None),
        }
    }
}
