//! `toolpost call`: its arguments.

use crate::config::flags::{KeyFlags, OfCall};
use clap::Args;

/// Runs one tool.
#[derive(Debug, Args)]
pub struct Call {
    /// The tool's name or alias; `toolpost tools` lists them.
    pub tool: String,
    /// Its arguments: a JSON object, `-` to read one from standard input, or the main one as plain text and key=value
    /// pairs. Paths in them count from the root of the workspace, not from the current folder.
    #[arg(value_name = "ARGS")]
    pub arguments: Vec<String>,
    /// Check the name, the arguments and the policy, and run nothing.
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
    /// Tell what the call would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfCall>,
    /// Attempts in all, where the tool and its error allow another.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub attempts: u32,
}

impl Call {
    /// A call of this tool with what standard input holds.
    pub(crate) fn from_stdin(tool: &str) -> Call {
        let arguments = vec!["-".to_owned()];
        Call {
            tool: tool.to_owned(),
            arguments,
            check: false,
            dry_run: false,
            keys: KeyFlags::default(),
            attempts: 1,
        }
    }
}
