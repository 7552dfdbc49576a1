//! `toolpost tools`: its commands.

use clap::Subcommand;
use toolpost_declaration::Format;

/// What to show of the tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// One line a tool: its name, what it can cause, what it does.
    List,
    /// Everything about one tool: arguments, data, limits, and what it needs where this session lacks it.
    Show {
        /// The tool's name or alias.
        name: String,
    },
    /// The declarations of all offered tools, as a provider takes them.
    Export {
        /// mcp, openai-chat, openai-responses, openai-strict, anthropic, gemini, gemini-json-schema or langchain.
        #[arg(long, value_name = "FORMAT", default_value = "mcp")]
        format: Format,
    },
    /// What is odd about each tool, what is changed for each provider, and what each costs in tokens.
    Lint,
    /// The function declarations of all offered tools, one JSON array: for Gemini CLI's `tools.discoveryCommand`.
    Discover,
    /// Run one tool with the JSON object on standard input as its arguments: for Gemini CLI's `tools.callCommand`.
    ///
    /// Its output goes to standard output; standard error stays empty unless the call fails.
    Call {
        /// The tool's name or alias.
        name: String,
    },
}
