//! What a host says about its servers.

use crate::recalled::Lists;
use std::path::PathBuf;
use std::sync::Arc;

/// What a host says about its servers.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The environment of every child, beside what its own entry says.
    pub environment: Vec<(String, String)>,
    /// The folder that children start in, unless their entry names another.
    pub root: PathBuf,
    /// So many tools of servers are listed; the others are found by `tool_search`.
    pub most_tools: usize,
    /// The declarations of the listed tools of servers have so many tokens together, about.
    pub most_tokens: usize,
    /// Where the last list of each server is kept between runs, if anywhere.
    pub lists: Option<Arc<dyn Lists>>,
}

impl Settings {
    /// So many tools are listed where nothing else is said.
    pub const MOST_TOOLS: usize = 40;
    /// So many tokens of declarations.
    pub const MOST_TOKENS: usize = 10_000;

    /// Children start in this folder, with this environment.
    pub fn new(root: impl Into<PathBuf>, environment: Vec<(String, String)>) -> Settings {
        Settings {
            environment,
            root: root.into(),
            most_tools: Settings::MOST_TOOLS,
            most_tokens: Settings::MOST_TOKENS,
            lists: None,
        }
    }
}
