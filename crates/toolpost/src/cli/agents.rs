//! `toolpost agents`: its commands.

use clap::Subcommand;

/// What to do with agent files.
#[derive(Debug, Subcommand)]
pub enum Agents {
    /// Show the agents there are, as `toolpost agents` alone does.
    List,
    /// Say what is wrong with agent files: each with file, line and field. The exit status is 1 if anything is.
    Check {
        /// Files or names; otherwise all that are found.
        #[arg(value_name = "AGENT")]
        files: Vec<String>,
    },
}
