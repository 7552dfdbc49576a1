//! What a rule says, and the layer and place it says it from.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What is decided about an access; ordered by strictness, so that `max` is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It may be done.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is not done.
    Deny,
}

impl Effect {
    /// The word used in rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Effect {
    type Err = String;

    fn from_str(text: &str) -> Result<Effect, String> {
        [Effect::Allow, Effect::Ask, Effect::Deny]
            .into_iter()
            .find(|effect| effect.as_str() == text)
            .ok_or_else(|| format!("no effect `{text}`; write allow, ask or deny"))
    }
}

/// Where rules come from; the first is the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The command line of this run.
    Flags,
    /// Answers given in this session.
    Session,
    /// Answers kept for this workspace in the user's data directory.
    Saved,
    /// The user's own configuration.
    User,
    /// The workspace's configuration.
    Project,
    /// What toolpost itself brings: the protected files.
    BuiltIn,
}

impl Layer {
    /// All layers, the strongest first.
    pub const ALL: [Layer; 6] =
        [Layer::Flags, Layer::Session, Layer::Saved, Layer::User, Layer::Project, Layer::BuiltIn];

    /// The word used in printed policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Flags => "flags",
            Layer::Session => "session",
            Layer::Saved => "saved",
            Layer::User => "user",
            Layer::Project => "project",
            Layer::BuiltIn => "built-in",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(text: &str) -> Result<Layer, String> {
        Layer::ALL.into_iter().find(|layer| layer.as_str() == text).ok_or_else(|| {
            format!("no layer `{text}`; there are flags, session, saved, user, project and built-in")
        })
    }
}

/// The place where a rule stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Origin {
    /// The layer it belongs to.
    pub layer: Layer,
    /// The file, or what stands for one: `--allow-rule`, `protected files`.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// The line, counting from 1; 0 where there are no lines.
    pub line: usize,
}

impl Origin {
    /// A line of a file.
    pub fn new(layer: Layer, file: impl Into<Arc<str>>, line: usize) -> Origin {
        Origin { layer, file: file.into(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

fn as_text<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}
