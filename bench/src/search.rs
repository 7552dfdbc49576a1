//! `search`: `grep` and `glob` as whole processes, beside `rg` and `fd`, over a tree of sources.

use crate::process::run;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROUNDS: usize = 11;
const WARM_UP: usize = 2;

const OURS: &str = "toolpost";

/// What is compared: a title, our tool and its arguments, the other's name and its arguments.
const CASES: [(&str, &str, &str, &str, &[&str]); 7] = [
    (
        "a rare literal",
        "grep",
        r#"{"pattern":"rare_literal_of_nobody|fn take_until_byte"}"#,
        "rg",
        &["-n", "rare_literal_of_nobody|fn take_until_byte"],
    ),
    ("a common literal", "grep", r#"{"pattern":"unwrap"}"#, "rg", &["-n", "unwrap"]),
    (
        "a common literal, names only",
        "grep",
        r#"{"pattern":"unwrap","mode":"files"}"#,
        "rg",
        &["-l", "unwrap"],
    ),
    (
        "a common literal, counted",
        "grep",
        r#"{"pattern":"unwrap","mode":"count","limit":10000}"#,
        "rg",
        &["-c", "unwrap"],
    ),
    (
        "a regex",
        "grep",
        r#"{"pattern":"fn \\w+_[a-z]{9,}_\\w+\\(&mut self"}"#,
        "rg",
        &["-n", r"fn \w+_[a-z]{9,}_\w+\(&mut self"],
    ),
    ("no match", "grep", r#"{"pattern":"qqzzxxjjkkww"}"#, "rg", &["-n", "qqzzxxjjkkww"]),
    ("names", "glob", r#"{"pattern":"**/*.rs"}"#, "fd", &["--type", "f", "--glob", "**/*.rs", "--full-path"]),
];

/// Where things are that are not ours.
#[derive(Default)]
pub(crate) struct Places {
    /// The tree; the sources of the local cargo registry if not given.
    pub(crate) corpus: Option<PathBuf>,
    pub(crate) rg: Option<PathBuf>,
    pub(crate) fd: Option<PathBuf>,
}

/// Runs each pair in turn, several times.
pub(crate) fn measure(toolpost: &Path, places: &Places) -> Result<Vec<Table>> {
    let toolpost =
        toolpost.canonicalize().with_context(|| format!("no executable `{}`", toolpost.display()))?;
    let home = std::env::home_dir().context("no home folder")?;
    let corpus = places.corpus.clone().unwrap_or_else(|| home.join(".cargo/registry/src"));
    let settings = tempfile::tempdir()?;
    let (files, bytes) = size(&corpus);
    let mut tables = Vec::new();
    for (title, tool, args, other, arguments) in CASES {
        let given = if other == "rg" { &places.rg } else { &places.fd };
        let theirs = given.clone().or_else(|| on_path(other)).and_then(|path| path.canonicalize().ok());
        let command = |program: &Path, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(&corpus).env("HOME", settings.path());
            for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
                command.env_remove(variable);
            }
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let mut with_rules = vec!["--no-require-git"];
        with_rules.extend_from_slice(arguments);
        let mut measured: [(Samples, u64); 2] = Default::default();
        for round in 0..WARM_UP + ROUNDS {
            let results = [
                theirs.as_deref().map(|program| run(other, &mut command(program, &with_rules), &[0, 1])),
                Some(run(OURS, &mut command(&toolpost, &["call", tool, args]), &[0])),
            ];
            for (result, (samples, peak)) in results.into_iter().zip(&mut measured) {
                let Some(result) = result else { continue };
                let (time, kib) = result?;
                if round >= WARM_UP {
                    samples.add(time);
                    *peak = (*peak).max(kib);
                }
            }
        }
        let title =
            format!("search: {title}, {files} files, {} MB, {ROUNDS} rounds in turn", bytes / 1_000_000);
        let mut table = Table::new(title, Unit::Millis);
        let [(their_samples, their_peak), (our_samples, our_peak)] = measured;
        match theirs {
            Some(_) => table.add(other, their_samples, Some(their_peak)),
            None => table.note(format!("No `{other}` here: give it with --{other}=PATH.")),
        }
        let name = format!("toolpost call {tool}");
        table.add(&name, our_samples, Some(our_peak));
        table.goal(&name, format!("within 1.2 of {other}"), |row| row.ratio <= 1.2);
        table.goal(&name, "under 100 MB", |_| our_peak * 1024 < 100_000_000);
        tables.push(table);
    }
    Ok(tables)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// How many files lie below a folder, and how many bytes they have.
fn size(folder: &Path) -> (u64, u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return (0, 0) };
    entries.flatten().fold((0, 0), |(files, bytes), entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => {
            let below = size(&entry.path());
            (files + below.0, bytes + below.1)
        }
        Ok(kind) if kind.is_file() => (files + 1, bytes + entry.metadata().map_or(0, |known| known.len())),
        _ => (files, bytes),
    })
}
