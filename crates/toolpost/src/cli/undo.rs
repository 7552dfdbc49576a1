//! `toolpost undo` and `redo`: their arguments.

use clap::Args;

/// What is taken back, or made again.
#[derive(Debug, Args)]
pub struct Undo {
    /// A call, by its id or the ending that `toolpost log` shows, or a session: all its changes, as one.
    #[arg(value_name = "CALL|SESSION")]
    pub what: Option<String>,
    /// Only say what would be done.
    #[arg(long)]
    pub dry_run: bool,
    /// Where some of it cannot be done, do the rest.
    #[arg(long)]
    pub partial: bool,
    /// Also bring back files that were removed since.
    #[arg(long)]
    pub bring_back: bool,
}
