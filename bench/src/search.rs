//! `search`: `grep` and `glob` as whole processes, beside `rg` and `fd`, over a tree of sources.

mod agree;
pub(crate) mod case;

use self::case::CASES;
use crate::places::Places;
use crate::process::{Runs, run};
use crate::report::{Table, Unit};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 11;
const WARM_UP: usize = 1;

const OURS: &str = "toolpost";

/// Runs each pair in turn, several times; each table is handed on as soon as it is there.
pub(crate) fn measure(toolpost: &Path, places: &Places, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let toolpost =
        toolpost.canonicalize().with_context(|| format!("no executable `{}`", toolpost.display()))?;
    let corpus = places.corpus()?;
    let settings = tempfile::tempdir()?;
    for case in &CASES {
        let (other, tool) = (case.peer(), case.tool());
        let theirs = places.peer(other)?;
        let their_command = |shown| quiet(&theirs, &case.theirs(shown), &corpus.folder, settings.path());
        let our_command = |shown, first: &[&str]| {
            let arguments = case.ours(shown).to_string();
            quiet(&toolpost, &[first, &["call", tool, &arguments]].concat(), &corpus.folder, settings.path())
        };
        let agreed = agree::check(
            case,
            &mut their_command(agree::shown()),
            &mut our_command(agree::shown(), &["--json"]),
        );
        let agreed = agreed.with_context(|| format!("{other} and {tool} do not agree on {}", case.title))?;
        let mut measured: [Runs; 2] = Default::default();
        for round in 0..WARM_UP + ROUNDS {
            let ran = [
                run(other, &mut their_command(case.shown), &[0, 1])?,
                run(OURS, &mut our_command(case.shown, &[]), &[0])?,
            ];
            if round >= WARM_UP {
                measured.iter_mut().zip(ran).for_each(|(runs, ran)| runs.add(ran));
            }
        }
        let title = format!("search: {}, {}, {ROUNDS} rounds in turn", case.title, corpus.size());
        let mut table = Table::new(title, Unit::Millis);
        let [their_runs, our_runs] = measured;
        let our_peak = our_runs.peak_kib;
        table.add_runs(other, their_runs);
        let name = format!("toolpost call {tool}");
        table.add_runs(&name, our_runs);
        table.goal(&name, format!("within 1.2 of {other}"), |row| row.ratio <= 1.2);
        table.goal(&name, "within 1.0", |row| row.ratio <= 1.0);
        table.goal(&name, "under 100 MB", |_| our_peak * 1024 < 100_000_000);
        table.note(agreed);
        hand_on(table);
    }
    Ok(())
}

/// A command that nobody listens to, in a folder, with no settings of the user's.
pub(crate) fn quiet(program: &Path, arguments: &[&str], folder: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("HOME", home);
    for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
