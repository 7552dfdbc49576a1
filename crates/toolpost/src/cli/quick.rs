//! A faster reader for the two commands that programs start again and again. The definition of all commands takes a fifth of
//! the time in which `toolpost mcp` gives its first answer, and these two need hardly any of it.
//!
//! What is not read here is read by the definition of all: it alone writes help and errors.

use super::{Call, Cli, Command, Flags, Mcp};
use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// As [`Cli`], with fewer commands.
#[derive(Debug, Parser)]
#[command(name = "toolpost", version, max_term_width = 100, disable_help_subcommand = true)]
struct Quick {
    #[command(flatten)]
    flags: Flags,
    #[command(subcommand)]
    command: Often,
}

/// The commands that programs start.
#[derive(Debug, Subcommand)]
enum Often {
    Mcp(Mcp),
    Call(Call),
}

/// A command line that begins with one of these commands and has no error.
pub(super) fn parse(words: &[OsString]) -> Option<Cli> {
    let command = words.get(1)?;
    if command != "mcp" && command != "call" {
        return None;
    }
    let quick = Quick::try_parse_from(words).ok()?;
    let command = match quick.command {
        Often::Mcp(mcp) => Command::Mcp(mcp),
        Often::Call(call) => Command::Call(call),
    };
    Some(Cli { flags: quick.flags, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether both readers take the same words, and for the same.
    fn check(line: &str) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let whole = Cli::try_parse_from(&words).ok().map(|cli| format!("{cli:?}"));
        let quick = parse(&words).map(|cli| format!("{cli:?}"));
        assert_eq!(quick, whole, "{line}");
    }

    #[test]
    fn both_readers_mean_the_same() {
        for line in [
            "toolpost mcp",
            "toolpost mcp --workspace a --workspace b --http 127.0.0.1:0 --no-token",
            "toolpost mcp --policy read-only --json --yes --page-size 7",
            "toolpost mcp --structured --dialect claude --session s --store memory:",
            "toolpost mcp install claude",
            "toolpost mcp help",
            "toolpost mcp --help",
            "toolpost mcp --nothing",
            "toolpost mcp doctor",
            "toolpost call read README.md",
            "toolpost call -vv read README.md",
            "toolpost mcp --verbose",
            "toolpost call read filePath=a offset=3 --json --workspace x",
            "toolpost call --dry-run --timeout 5s bash -",
            "toolpost call --check grep {\"pattern\":\"--json\"}",
            "toolpost call bash -- ls --yes",
            "toolpost call",
            "toolpost call --version",
            "toolpost call read a --timeout never",
        ] {
            check(line);
        }
    }

    #[test]
    fn other_commands_are_left_to_the_whole_reader() {
        for line in ["toolpost", "toolpost doctor", "toolpost --json mcp", "toolpost mcpx", "toolpost -V"] {
            assert!(parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).is_none(), "{line}");
        }
    }
}
