//! `toolpost trust`: its arguments.

use clap::Args;

/// Shows what a workspace brings along, and trusts it.
#[derive(Debug, Args)]
pub struct Trust {
    /// Only these files, from the root of the workspace; otherwise all that wait.
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Show what is trusted and what waits, and change nothing.
    #[arg(long, conflicts_with_all = ["files", "revoke", "shown"])]
    pub list: bool,
    /// Take trust back: of one file, or of all in this workspace.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["files", "shown"])]
    pub revoke: Option<Option<String>>,
    /// Trust only if exactly that waits which was shown under this word.
    #[arg(long, value_name = "WORD")]
    pub shown: Option<String>,
}
