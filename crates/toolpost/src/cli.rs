//! The command line as it is typed: flags and commands, nothing of what they mean.

mod quick;

mod agents;
mod call;
mod chat;
mod graph;
mod internal;
mod log;
mod map;
mod mcp;
mod policy;
mod refs;
mod run;
mod sessions;
mod stats;
mod tasks;
mod tools;
mod trust;
mod undo;
mod vfs;

pub use agents::Agents;
pub use call::Call;
pub use chat::Chat;
pub use graph::{Graph, GraphFormat, GraphLevel};
pub use internal::Internal;
pub use log::{Log, Which};
pub use map::MapFlags;
pub use mcp::{Install, Mcp, McpCommand, Uninstall};
pub use policy::{ImportFlags, ImportFrom, Policy, SaveScope};
pub use refs::Refs;
pub use run::{Run, RunOutput};
pub use sessions::{ExportFormat, ForkFlags, SessionsCommand};
pub use stats::Stats;
pub use tasks::{TaskFormat, Tasks};
pub use tools::Tools;
pub use trust::Trust;
pub use undo::Undo;
pub use vfs::Vfs;

use crate::config::flags::{Everywhere, KeyFlags};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;

/// The tool runtime for AI agents.
///
/// Runs tools with checked arguments, inside a workspace that cannot be left, under a policy that says what may
/// happen.
#[derive(Debug, Parser)]
#[command(name = "toolpost", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub flags: Flags,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Flags {
    /// Folder that tools act in; the first one given is the root. Otherwise AGENT_WORKSPACE_ROOT, else the enclosing
    /// repository, else the current folder. With vfs:SESSION, file tools act on the virtual files of that session
    /// instead.
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Vec<PathBuf>,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<Everywhere>,
    /// Answer every question with yes, except those about protected and key files.
    #[arg(long, global = true)]
    pub yes: bool,
    /// One more file of configuration, as strong as your own; `toolpost doctor` shows what holds.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Leave out the workspace's own `.toolpost/config.toml`, for example where it is broken.
    #[arg(long, global = true)]
    pub no_project_config: bool,
    /// Show on standard error what happens: -v calls and their ends, -vv everything. TOOLPOST_LOG=LEVEL does the same.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Print JSON for programs.
    #[arg(long, global = true)]
    pub json: bool,
}

impl Cli {
    /// Reads a command line, whose first word is the program.
    pub(crate) fn read(words: &[OsString]) -> Result<Cli, clap::Error> {
        quick::parse(words).map_or_else(|| Cli::try_parse_from(words), Ok)
    }

    /// The flags of every command, with those of this command that stand for a key of the configuration.
    pub(crate) fn all_flags(&self) -> Flags {
        let mut flags = self.flags.clone();
        match &self.command {
            Command::Call(call) => flags.keys.settings.add(&call.keys.settings),
            Command::Run(run) => flags.keys.settings.add(&run.keys.settings),
            Command::Chat(chat) => flags.keys.settings.add(&chat.keys.settings),
            Command::Sessions { command: Some(SessionsCommand::Resume { keys, .. }) } => {
                flags.keys.settings.add(&keys.settings);
            }
            Command::Sessions { command: Some(SessionsCommand::Fork(fork)) } => {
                flags.keys.settings.add(&fork.keys.settings);
            }
            Command::Mcp(mcp) => flags.keys.settings.add(&mcp.keys.settings),
            _ => {}
        }
        flags
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an agent: a file, or the name of one that `toolpost agents` lists.
    ///
    /// On a terminal you are asked before it runs commands or reaches the network; otherwise --allow exec and --allow
    /// network grant it. Ctrl-C once ends the run with what there is, twice ends it at once.
    Run(Run),
    /// Talk to an agent: a conversation whose every message and answer is kept.
    ///
    /// On a terminal, `/help` shows what you can type, Ctrl-C stops an answer, and Ctrl-D ends. Otherwise each line of
    /// standard input is a message, and each answer is printed.
    Chat(Chat),
    /// Show the agent files there are, and check them.
    Agents {
        /// What to do with them.
        #[command(subcommand)]
        command: Option<Agents>,
    },
    /// Run one tool.
    Call(Call),
    /// Show the tools there are.
    Tools {
        /// What to show of them.
        #[command(subcommand)]
        command: Option<Tools>,
    },
    /// Say what is decided about a call, and why.
    Policy {
        /// What to say.
        #[command(subcommand)]
        command: Policy,
    },
    /// Serve the tools to an agent, by the Model Context Protocol.
    ///
    /// On standard input and output, as agents start it; with --http, at an address that many can share.
    Mcp(Mcp),
    /// Find every use of a symbol, resolved by the rules of the language.
    ///
    /// Each use is followed by how sure it is, unless it is certain. The code is indexed at the first use, and what has changed
    /// since at the next.
    Refs(Refs),
    /// Show the most important symbols of the code, by file.
    Map(MapFlags),
    /// Show which parts of the code depend on which.
    Graph(Graph),
    /// Show what has happened: the last 100 events, or those that flags ask for.
    ///
    /// What is written down, and for how long, stands in the guide; `toolpost gc` deletes what is old.
    Log(Log),
    /// Show the sessions that the log knows, the last active one first; or do something with the run of one.
    Sessions {
        /// What to do with a session.
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Count the calls of each tool: failures by code, times, bytes and tokens.
    Stats(Stats),
    /// Show the tasks that sessions share, as a tree: below each task those that it depends on.
    Tasks {
        /// What to do instead.
        #[command(subcommand)]
        command: Option<Tasks>,
    },
    /// Delete what is older, or more, than the key `keep` says.
    Gc,
    /// Take back what a tool has changed: the last call in this workspace that is not undone, or what is named.
    ///
    /// What you have changed since stays: where it is elsewhere in a file, both are kept; where it is the same lines,
    /// nothing at all is changed, and you are told. `toolpost redo` takes the undo back.
    Undo(Undo),
    /// Make again what was undone: the last undo in this workspace, or what is named.
    Redo(Undo),
    /// Show the virtual files of a session, and copy them from and to folders.
    ///
    /// Agents write them with `vfs_write`. They are kept in the store with all their versions; --session names the
    /// session.
    Vfs {
        /// What to do.
        #[command(subcommand)]
        command: Vfs,
    },
    /// Show the packs of tools: what each can cause, and whether the policy allows it.
    Packs,
    /// Show what this workspace brings along, and trust it.
    ///
    /// A repository's own configuration can narrow at once. What widens or starts something waits until you have
    /// looked at it here; trust is in the very content, so a file that changes waits again.
    Trust(Trust),
    /// Write an example configuration: for this project, or with --user for you.
    Init {
        /// Write your own file, for every workspace.
        #[arg(long)]
        user: bool,
    },
    /// Show what is broken and how to fix it, and what holds. It starts the MCP servers that a session would start.
    Doctor {
        /// Show everything: each key with its origin, each tool, rule, pack, protected file and layer of the sandbox.
        #[arg(long)]
        all: bool,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// For the project's own tooling.
    #[command(hide = true)]
    Internal {
        /// What to do.
        #[command(subcommand)]
        command: Internal,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
