//! What a command line would do, told before it runs, from its text alone.
//!
//! Each command of the line becomes an access of its own: those of pipelines, lists, substitutions, subshells, loops
//! and functions, and those that `sh -c`, `env`, `xargs`, `find -exec`, `sudo` and the like would run. What cannot be
//! read for certain, or is computed when the line runs, is an access to any command. Nothing here does I/O, and time
//! and depth are bounded for whatever text.
//!
//! The text of an access is canonical: one blank between words, quotes only where a word needs them. So a rule cannot be
//! met by a crafted word. Names of programs are taken as they are: a program found in the path is what its name says. One
//! with a folder is named from the workspace root, as `./folder/program`, or by its absolute path.
//!
//! Built-ins and programs that only run another need no right of their own; they are mentioned, for rules that deny.

mod builtins;
mod effect;
mod git;
mod hosts;
mod judge;
mod named;
mod opaque;
mod options;
mod places;
mod programs;
mod proposal;
mod reader;
mod runners;
mod second;
mod told;
mod variables;
mod word;
mod wrappers;

use super::Confinement;
use judge::Judge;
pub use named::{Creation, Named, NamedFile};
use reader::{Dialect, Unclear};
use toolpost_core::access::Resource;
use toolpost_core::{Access, Capability};

/// The longest line that is read, in bytes.
pub const LONGEST: usize = 100_000;

/// What a line would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What must be allowed; never empty.
    pub accesses: Vec<Access>,
    /// Why it needs the right to any command, if it does.
    pub unclear: Option<&'static str>,
    /// The narrowest rules that would allow the commands of the line for good; empty where none can.
    pub proposal: Vec<String>,
}

/// Reads a line, as bash would in the workspace root, in the sandbox.
pub fn read(command: &str) -> Reading {
    read_under(Confinement::Strict, "", command)
}

/// Reads a line, as bash would in this folder, which is named from the workspace root, in the sandbox or without one.
pub fn read_under(confinement: Confinement, folder: &str, command: &str) -> Reading {
    let mut judge = Judge::in_folder(folder, confinement);
    let result = match command.len() > LONGEST {
        true => Err(Unclear("it is too long")),
        false => judge.text(command, Dialect::Bash, 0),
    };
    let is_exec =
        |access: &Access| access.action == Capability::Exec && !matches!(access.resource, Resource::Path(_));
    if result.is_ok() && !judge.accesses.iter().any(is_exec) {
        // A line of built-ins alone is still a line that a shell runs.
        match judge.harmless.take() {
            Some(words) => {
                judge.accesses.insert(0, Access::command(word::line(&words)));
                judge.commands.push(words);
            }
            None => judge.accesses.insert(0, Access::any(Capability::Exec)),
        }
    }
    let mut accesses = judge.accesses;
    accesses.extend(judge.mentions.into_iter().map(Access::mention));
    let unclear = result.err().map(|Unclear(reason)| reason);
    if let Some(reason) = unclear {
        accesses.insert(0, Access::any_because(Capability::Exec, reason));
        // It may write and reach anything as well.
        accesses.extend(unclear_files(confinement, reason, judge.has_unread_redirections));
    }
    let proposal = match unclear {
        Some(_) => Vec::new(),
        None => {
            let rules: Option<Vec<String>> =
                judge.commands.iter().map(|words| proposal::rule(words)).collect();
            rules.unwrap_or_default()
        }
    };
    Reading { accesses, unclear, proposal }
}

/// What a line that cannot be told may open. In the sandbox the kernel judges files when they are opened; without one
/// nothing does, so that each rule which denies or asks counts, and a person must agree to files that were not read.
fn unclear_files(confinement: Confinement, reason: &'static str, is_unread: bool) -> Vec<Access> {
    if confinement == Confinement::Strict {
        return vec![Access::any(Capability::Network).where_granted()];
    }
    let files = [Capability::Read, Capability::Write].map(|action| {
        let access = Access::any_because(action, reason).unjudged();
        if is_unread { access.with_consent() } else { access }
    });
    files.into_iter().chain([Access::any_because(Capability::Network, reason).unjudged()]).collect()
}

/// What a line would do: one access for each command and each file of a redirection.
pub fn accesses(command: &str) -> Vec<Access> {
    read(command).accesses
}

/// The same for a line that runs in this folder.
pub fn accesses_in(folder: &str, command: &str) -> Vec<Access> {
    accesses_under(Confinement::Strict, folder, command)
}

/// The same for a line that runs in this folder, in the sandbox or without one.
pub fn accesses_under(confinement: Confinement, folder: &str, command: &str) -> Vec<Access> {
    read_under(confinement, folder, command).accesses
}

/// What a line would make or configure of repositories with git, where it tells: files that the sandbox would refuse in
/// the middle of the work.
pub fn repositories_in(folder: &str, command: &str) -> Vec<Access> {
    let mut judge = Judge::in_folder(folder, Confinement::Strict);
    if command.len() <= LONGEST {
        // What runs may be unclear; what is told is told.
        let _ = judge.text(command, Dialect::Bash, 0);
    }
    judge.repositories
}

/// What a line names literally, and why it could not be read for certain, if it could not.
pub fn named_in(folder: &str, command: &str) -> (Named, Option<&'static str>) {
    let mut judge = Judge::in_folder(folder, Confinement::Strict);
    let read = match command.len() > LONGEST {
        true => Err(Unclear("it is too long")),
        false => judge.text(command, Dialect::Bash, 0),
    };
    let unclear = read.err().map(|Unclear(reason)| reason);
    let mut named = judge.named;
    if unclear.is_some() && command.len() <= LONGEST {
        named.unread(command, &|name| vec![places::join(folder, name)]);
    }
    (named, unclear)
}

/// The parts of a text that could be names of files, and the hosts of addresses in it.
pub(crate) fn mentioned(text: &str) -> (Vec<&str>, Vec<String>) {
    (named::tokens(text), named::hosts(text))
}

/// The rules, without their action, that "always allow" would save for a line: program and subcommand where that is
/// harmless, otherwise the exact command; none where only the right to any command would do.
pub fn proposal(command: &str) -> Vec<String> {
    let mut rules = read(command).proposal;
    rules.dedup();
    rules
}
