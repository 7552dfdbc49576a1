//! `toolpost stats`: its arguments.

use super::Which;
use clap::Args;

/// Counts the calls of each tool.
#[derive(Debug, Args)]
pub struct Stats {
    /// Which calls.
    #[command(flatten)]
    pub which: Which,
}
