//! `toolpost mcp`: its arguments and commands.

use crate::config::Host;
use crate::config::flags::{KeyFlags, OfMcp};
use clap::{Args, Subcommand};
use std::net::SocketAddr;

/// Serves the tools to an agent.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Serve over HTTP at this address, such as 127.0.0.1:7300, instead of standard input and output.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub http: Option<SocketAddr>,
    /// Let everybody on this machine in, without the token; for loopback addresses only.
    #[arg(long, requires = "http")]
    pub no_token: bool,
    /// Another name that clients may call the server by, beside its address and localhost.
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
    /// Tools on one page of the list.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub page_size: u16,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfMcp>,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Write the entry for `toolpost mcp` into the configuration of an agent or editor.
    ///
    /// Only that entry changes; every other byte of the file stays. The flags of every command that are given here
    /// (--policy, --allow, --workspace, …) become those of the entry.
    Install(Install),
    /// Take back what `install` has written into the configuration of an agent or editor.
    ///
    /// If nothing else has changed the file since, it is as it was before, to the byte. Otherwise only the entry goes.
    Uninstall(Uninstall),
}

/// Takes the entry for `toolpost mcp` out of another program's configuration.
#[derive(Debug, Args)]
pub struct Uninstall {
    /// The program: one of those that `install` knows.
    #[arg(value_name = "CLIENT", hide_possible_values = true)]
    pub client: Host,
    /// Take it out of the file in this project; usual where `install` writes that.
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Take it out of your own file, for all projects; usual where `install` writes that.
    #[arg(long)]
    pub user: bool,
    /// Say what would be done, and change nothing.
    #[arg(long)]
    pub print: bool,
}

/// Writes the entry for `toolpost mcp` into another program's configuration.
#[derive(Debug, Args)]
pub struct Install {
    /// The program: claude, codex, gemini, opencode, qwen, cline, copilot, vscode, cursor or zed.
    #[arg(value_name = "CLIENT", hide_possible_values = true)]
    pub client: Host,
    /// Write its file in this project; usual for claude, gemini, opencode, qwen, vscode and cursor.
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Write your own file, for all projects; usual for codex, cline, copilot and zed.
    #[arg(long)]
    pub user: bool,
    /// Show what would be written and where, and write nothing.
    #[arg(long)]
    pub print: bool,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an address and a port, such as 127.0.0.1:7300".to_owned())
}
