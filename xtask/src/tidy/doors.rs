//! The doors of the design: files, processes and the environment are each reached from one place. Clippy guards the
//! calls that it can resolve; this guards the words, imports included. Tests may use every door.

use super::Finding;
use super::code;
use super::tree::Tree;

struct Door {
    /// Paths in code that lead through this door.
    words: &'static [&'static str],
    /// Whether it may be opened in this crate, in this file below its src/.
    is_allowed: fn(&str, &str) -> bool,
    advice: &'static str,
}

const DOORS: [Door; 3] = [
    Door {
        words: &["std::fs", "tokio::fs"],
        is_allowed: may_use_files,
        advice: "go through the workspace, or through one of the places in tidy/doors.rs",
    },
    Door {
        words: &["Command::new"],
        is_allowed: |name, _| name == "toolpost-process",
        advice: "start child processes in toolpost-process",
    },
    Door {
        words: &["env::var", "env::var_os", "env::vars", "env::vars_os"],
        is_allowed: |_, file| file == "config/env.rs",
        advice: "read the environment in config/env.rs and hand the value in",
    },
];

fn may_use_files(name: &str, file: &str) -> bool {
    matches!(name, "toolpost-store" | "toolpost-process" | "toolpost-disk")
        || file == "config.rs"
        // It hands an open file on, and opens none.
        || (name == "toolpost-core" && file == "workspace/journal.rs")
        || (name == "toolpost" && matches!(file, "code_engine/cache.rs" | "code_engine/cache/packs.rs"))
        || file.starts_with("config/")
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        let Some((name, below)) = place(&file.path) else { continue };
        let code = code::code_without_tests(&file.text);
        for door in DOORS.iter().filter(|door| !(door.is_allowed)(name, below)) {
            for word in door.words {
                for position in positions(&code, word) {
                    let message = format!("`{word}` is not for this place, so {}", door.advice);
                    findings.push(Finding::new(&file.path, code::line_at(&code, position), message));
                }
            }
        }
    }
    findings
}

/// The crate of a file, and its path below the crate's src/.
fn place(path: &str) -> Option<(&str, &str)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    Some((name, rest.strip_prefix("src/")?))
}

fn positions(code: &str, word: &str) -> Vec<usize> {
    let mut positions = code::positions_of_word(code, word);
    // The parser of the command line has a `Command` too.
    positions.retain(|position| {
        !["clap::", "toolpost_process::"].iter().any(|owner| code[..*position].ends_with(owner))
    });
    // So has the crate behind the door, and who takes it from there goes through it.
    if word == "Command::new" && takes_ours(code) {
        positions.clear();
    }
    if let Some((outer, inner)) = word.split_once("::") {
        positions.extend(positions_in_groups(code, outer, inner));
    }
    positions
}

/// Whether `Command` is that of toolpost-process, and no other is to be had.
fn takes_ours(code: &str) -> bool {
    let is_imported = code.contains("toolpost_process::Command")
        || !positions_in_groups(code, "toolpost_process", "Command").is_empty();
    is_imported && !code.contains("std::process") && !code.contains("tokio::process")
}

/// Where a group import such as `use std::{fs, io}` names `inner` of `outer`.
fn positions_in_groups(code: &str, outer: &str, inner: &str) -> Vec<usize> {
    let group = format!("{outer}::{{");
    let mut positions = Vec::new();
    for (start, _) in code.match_indices(&group) {
        let begin = start + group.len();
        let mut depth = 1_usize;
        let mut is_first_word = true;
        for (offset, character) in code[begin..].char_indices() {
            match character {
                '{' => depth += 1,
                '}' if depth == 1 => break,
                '}' => depth -= 1,
                ',' if depth == 1 => is_first_word = true,
                character if character.is_whitespace() => {}
                _ if is_first_word => {
                    is_first_word = false;
                    let position = begin + offset;
                    if code::positions_of_word(&code[position..], inner).first() == Some(&0) {
                        positions.push(position);
                    }
                }
                _ => {}
            }
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn doors_are_found_where_they_are_not_allowed() {
        check(
            super::check,
            "//- crates/toolpost-tools/src/read.rs\nuse std::fs;\nuse tokio::fs::File;\nuse std::{\n    io,\n    fs::{self, File},\n};\n\
             //- crates/toolpost/src/run.rs\nfn a() { std::process::Command::new(\"x\"); }\nfn b() { env::var(\"X\"); std::env::vars_os() }\n",
            &[
                "crates/toolpost-tools/src/read.rs:1: `std::fs` is not for this place",
                "crates/toolpost-tools/src/read.rs:2: `tokio::fs` is not for this place",
                "crates/toolpost-tools/src/read.rs:5: `std::fs` is not for this place",
                "crates/toolpost/src/run.rs:1: `Command::new` is not for this place",
                "crates/toolpost/src/run.rs:2: `env::var` is not for this place",
                "crates/toolpost/src/run.rs:2: `env::vars_os` is not for this place",
            ],
        );
    }

    #[test]
    fn the_places_of_the_design_may_use_them() {
        check(
            super::check,
            "//- crates/toolpost-disk/src/lib.rs\nuse std::fs;\n\
             //- crates/toolpost-disk/src/open.rs\nuse std::fs;\n\
             //- crates/toolpost/src/config/env.rs\nuse std::fs; fn a() { env::var(\"X\") }\n\
             //- crates/toolpost-store/src/sqlite.rs\nuse std::fs;\n\
             //- crates/toolpost-process/src/start.rs\nuse std::fs; fn a() { Command::new(\"x\") }\n",
            &[],
        );
    }

    #[test]
    fn the_command_of_toolpost_process_is_the_door_itself() {
        check(
            super::check,
            "//- crates/a/src/b.rs\nuse toolpost_process::{Command, Sandbox};\nfn a() { Command::new(\"x\") }\n\
             //- crates/a/src/c.rs\nuse toolpost_process::{Command as Ours};\nuse std::process::Command;\nfn a() { Command::new(\"x\") }\n",
            &["crates/a/src/c.rs:3: `Command::new` is not for this place"],
        );
    }

    #[test]
    fn tests_comments_and_look_alikes_may_use_the_words() {
        check(
            super::check,
            "//- crates/a/src/b.rs\n//! Not `std::fs`.\nuse std::{io, os::{fs}};\nuse std::os::unix::fs;\n\
             fn a() { clap::Command::new(\"x\"); toolpost_process::Command::new(\"x\"); MyCommand::new(); Command::newest(); env!(\"X\") }\n\
             #[cfg(test)]\nmod tests { use std::fs; }\n\
             //- crates/a/src/b/tests.rs\nuse std::fs;\n//- crates/a/tests/it/main.rs\nuse std::fs;\n",
            &[],
        );
    }

    #[test]
    fn code_after_tests_is_still_looked_at() {
        check(
            super::check,
            "//- crates/a/src/b.rs\n#[cfg(test)]\nmod tests;\nuse std::fs;\n",
            &["crates/a/src/b.rs:3: `std::fs` is not for this place"],
        );
    }
}
