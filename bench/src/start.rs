//! `start`: whole processes, from before the fork to after the wait.

use crate::process::{Runs, run};
use crate::report::{Table, Unit};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 200;
const WARM_UP: usize = 5;

const TRUE: &str = "/bin/true";
const VERSION: &str = "toolpost --version";
const READ: &str = "toolpost call read";
const LIST: &str = "toolpost call list";

/// Starts each command in turn, many times.
pub(crate) fn measure(toolpost: &Path) -> Result<Table> {
    let toolpost =
        toolpost.canonicalize().with_context(|| format!("no executable `{}`", toolpost.display()))?;
    let folder = tempfile::tempdir()?;
    let (workspace, home) = (folder.path().join("workspace"), folder.path().join("home"));
    for directory in ["src", "docs", "tests"] {
        std::fs::create_dir_all(workspace.join(directory))?;
        for number in 0..5 {
            let text = format!("line {number}\n").repeat(20);
            std::fs::write(workspace.join(directory).join(format!("file-{number}.txt")), text)?;
        }
    }
    std::fs::create_dir_all(&home)?;
    let subjects: [(&str, &Path, &[&str]); 4] = [
        (TRUE, Path::new(TRUE), &[]),
        (VERSION, &toolpost, &["--version"]),
        (READ, &toolpost, &["call", "read", r#"{"filePath":"src/file-0.txt"}"#]),
        (LIST, &toolpost, &["call", "list", "{}"]),
    ];
    let mut measured: Vec<Runs> = subjects.iter().map(|_| Runs::default()).collect();
    for round in 0..WARM_UP + ROUNDS {
        for ((name, program, arguments), runs) in subjects.iter().zip(&mut measured) {
            let mut command = Command::new(program);
            command.args(*arguments).current_dir(&workspace).env("HOME", &home);
            for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
                command.env_remove(variable);
            }
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let ran = run(name, &mut command, &[0])?;
            if round >= WARM_UP {
                runs.add(ran);
            }
        }
    }
    let mut table = Table::new(format!("start: a whole process, {ROUNDS} rounds in turn"), Unit::Millis);
    for ((name, ..), runs) in subjects.iter().zip(measured) {
        table.add_runs(name, runs);
    }
    table.goal(VERSION, "at most 3 ms over /bin/true", |row| row.over_first <= 3.0);
    table.goal(READ, "under 10 ms", |row| row.median < 10.0);
    table.note(
        "A child's peak memory is at least what this process had when it forked: the row of /bin/true.",
    );
    Ok(table)
}
