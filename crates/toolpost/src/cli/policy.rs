//! `toolpost policy`: its commands.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What to say of the policy.
#[derive(Debug, Subcommand)]
pub enum Policy {
    /// What is decided about a call and foreseen of it: every rule looked at, which one won, where it stands, what would change
    /// it, each file and host that a command line names, and what only the sandbox decides.
    Explain {
        /// The tool's name or alias; or `action: resource`, such as 'bash: git push', without arguments.
        tool: String,
        /// Its arguments, as for `call`.
        #[arg(value_name = "ARGS")]
        arguments: Vec<String>,
        /// Exit with 0 for `allow` alone, and with 3 for `limited`, `ask` and `deny`.
        #[arg(long)]
        exit_code: bool,
    },
    /// The policy in force: what is granted, what is asked about, and all rules with their places.
    Show,
    /// Show another system's permission rules as ours and, with --save, take them over.
    Import(ImportFlags),
}

/// Takes over another system's rules.
#[derive(Debug, Args)]
pub struct ImportFlags {
    /// The file: Claude Code settings, opencode.json, a Gemini policy, Codex rules or configuration.
    pub file: PathBuf,
    /// Whose file it is, where its name does not tell.
    #[arg(long, value_name = "SYSTEM")]
    pub from: Option<ImportFrom>,
    /// Take the rules over for this workspace or for all, in the user's data directory.
    #[arg(long, value_name = "SCOPE")]
    pub save: Option<SaveScope>,
    /// Agree to taking over the rules as they are shown.
    #[arg(long = "agree", requires = "save")]
    pub agrees: bool,
}

/// Whose rules are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// Claude Code.
    Claude,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Codex.
    Codex,
}

/// For what rules are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SaveScope {
    /// This workspace.
    Project,
    /// Every workspace of the user.
    User,
}
