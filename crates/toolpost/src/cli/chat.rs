//! `toolpost chat`: its arguments.

use super::RunOutput;
use crate::config::flags::{KeyFlags, OfRun};
use clap::Args;

/// Talks to an agent.
#[derive(Debug, Args)]
pub struct Chat {
    /// The agent's file, by its path from the current folder, or the agent's name; otherwise one that works in this folder with all
    /// tools.
    pub agent: Option<String>,
    /// Go on with the conversation, or with the run, of this session.
    #[arg(long, value_name = "SESSION", conflicts_with = "agent")]
    pub resume: Option<String>,
    /// Go on with it although another process holds it: on this machine that process is ended, elsewhere what it still
    /// writes is refused.
    #[arg(long, requires = "resume")]
    pub take_over: bool,
    /// What is printed of each answer: its text, one JSON object, or a line of JSON for each thing that happens.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: RunOutput,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfRun>,
}
