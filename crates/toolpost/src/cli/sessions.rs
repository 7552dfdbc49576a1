//! `toolpost sessions`: its commands.

use super::RunOutput;
use crate::config::flags::{KeyFlags, OfRun};
use clap::{Args, Subcommand, ValueEnum};

/// What to do with a session.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// Show the agents of a session as a tree: how each stands, and what it cost.
    Show {
        /// The session, as `toolpost sessions` lists it.
        #[arg(value_name = "SESSION")]
        of: String,
    },
    /// Go on with a run whose process has ended before it did.
    Resume {
        /// The session, as `toolpost sessions` lists it, or one run of it: SESSION/RUN.
        #[arg(value_name = "SESSION")]
        of: String,
        /// Go on with it although another process holds it: on this machine that process is ended, elsewhere what it still
        /// writes is refused.
        #[arg(long)]
        take_over: bool,
        /// What is printed, as with `toolpost run`.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        output: RunOutput,
        /// Those that stand for a key of the configuration.
        #[command(flatten)]
        keys: KeyFlags<OfRun>,
    },
    /// Begin another run from a step of one, with another model, policy or task.
    Fork(ForkFlags),
    /// Tell a run again from what was recorded. Nothing runs; the first event that differs is named.
    Replay {
        /// The session, as `toolpost sessions` lists it, or one run of it: SESSION/RUN.
        #[arg(value_name = "SESSION")]
        of: String,
    },
    /// Print a session as one page of HTML, or as JSON.
    Export {
        /// The session, as `toolpost sessions` lists it, or one run of it: SESSION/RUN.
        #[arg(value_name = "SESSION")]
        of: String,
        /// As what.
        #[arg(long, value_name = "FORMAT", default_value = "html")]
        format: ExportFormat,
    },
    /// Delete a session: its events, virtual files and todos.
    Rm {
        /// The session, as `toolpost sessions` lists it.
        #[arg(value_name = "SESSION")]
        of: String,
    },
}

/// Begins another run from one.
#[derive(Debug, Args)]
pub struct ForkFlags {
    /// The session, as `toolpost sessions` lists it, or one run of it: SESSION/RUN.
    #[arg(value_name = "SESSION")]
    pub of: String,
    /// The first step that is done anew; `toolpost log` shows them. Otherwise all that was done stays.
    #[arg(long, value_name = "STEP")]
    pub at: Option<u64>,
    /// What it has to do: instead of its task at step 0, and beside it later.
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// What is printed, as with `toolpost run`.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: RunOutput,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfRun>,
}

/// As what a session is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One page that needs nothing else.
    Html,
    /// One JSON object: the agents, and the events as they are in the log.
    Json,
}
