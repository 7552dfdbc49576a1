//! `toolpost run`: its arguments.

use crate::config::flags::{KeyFlags, OfRun};
use clap::{Args, ValueEnum};

/// Runs an agent.
#[derive(Debug, Args)]
pub struct Run {
    /// The agent's file, by its path from the current folder, or the agent's name.
    #[arg(required_unless_present = "resume")]
    pub agent: Option<String>,
    /// What it has to do; `-` reads it from standard input.
    pub task: Option<String>,
    /// Go on with the run of this session, whose process has ended before the run did.
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["agent", "task"])]
    pub resume: Option<String>,
    /// Go on with it although another process holds it: on this machine that process is ended, elsewhere what it still
    /// writes is refused.
    #[arg(long, requires = "resume")]
    pub take_over: bool,
    /// What is printed: the agent's text, one JSON object at the end, or a line of JSON for each thing that happens.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: RunOutput,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfRun>,
}

/// What is printed of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunOutput {
    /// The agent's text.
    Text,
    /// One JSON object at the end.
    Json,
    /// A line of JSON for each thing that happens.
    StreamJson,
}
