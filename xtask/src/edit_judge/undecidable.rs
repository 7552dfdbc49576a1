//! Twenty calls that nobody can decide, for the page: the lines of the file, the call, and its two readings.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cases::Cases;
use super::claim::{Claim, Form};
use super::decide::Trial;
use super::history::Change;

/// How many are shown.
const SHOWN: usize = 20;

/// Cases that are looked through for them.
const SEARCHED: usize = 60_000;

/// Longer ones are no examples.
const LINES: usize = 9;

/// The section of the page, made from the history of our own.
pub(super) fn section(changes: &[Change], seed: u64) -> String {
    let mut text = String::new();
    let mut shown = 0;
    let mut seen: BTreeSet<String> = BTreeSet::new();
    // First one of each kind of noise and language, then whatever is left.
    for finely in [false, true] {
        let mut cases = Cases::new(changes, seed, None);
        for _ in 0..SEARCHED {
            let Some(trial) = cases.next().filter(is_example) else { continue };
            let language = if finely { trial.draft.path.as_str() } else { "" };
            if shown < SHOWN && seen.insert(format!("{:?}{language}", trial.names)) {
                shown += 1;
                text.push_str(&example(shown, &trial));
            }
        }
    }
    text
}

fn is_example(trial: &Trial) -> bool {
    let short = trial.draft.rows().len() <= LINES;
    trial.claim == Claim::Undecidable && trial.form != Form::Blocks && short && reading(trial).is_some()
}

/// Why there are two readings.
fn reading(trial: &Trial) -> Option<&'static str> {
    let [name] = trial.names.as_slice() else { return None };
    Some(match *name {
        "old text alone at another depth" => {
            "The new lines can be meant at the depth that they have, or moved by as much as the old ones are."
        }
        "lines around an insertion at another depth" => {
            "The new line can be meant at the depth that it has, or moved with the lines around it."
        }
        "all old and new lines without indentation" => {
            "Nothing says how deep the new lines are: the lines of the file have several depths."
        }
        "one context line at another depth"
        | "one context line has lost its indentation"
        | "one removed line at another depth"
        | "one line with tabs for spaces"
        | "first line without indentation, as whole lines" => {
            "The one old line is at another depth. The new lines can move with it, or be meant as they are."
        }
        "a blank line lost inside" | "all blank lines lost" => {
            "The new lines can go before the blank line that the call has lost, or after it."
        }
        "a removed line without its -" => {
            "Without its mark, the line can be context that has lost a space, and stay, or be removed."
        }
        _ => return None,
    })
}

fn example(number: usize, trial: &Trial) -> String {
    let draft = &trial.draft;
    let block = draft.block();
    let file: Vec<&str> = trial.file.lines().collect();
    let first = block.first.saturating_sub(1);
    let last = (block.end() + 1).min(file.len());
    let mut text = format!("### {number}. {}\n\n", trial.names[0]);
    let name = draft.path.rsplit('/').next().unwrap_or(&draft.path);
    let _ = write!(
        text,
        "`{name}` from line {}:\n\n```text\n{}\n```\n\n",
        first + 1,
        file[first..last].join("\n")
    );
    if trial.form == Form::Edit {
        let (old, new) = (draft.old.trim_matches('\n'), draft.new.trim_matches('\n'));
        let _ =
            write!(text, "`oldString` and `newString`:\n\n```text\n{old}\n```\n\n```text\n{new}\n```\n\n");
    } else {
        let lines: Vec<&str> = draft.patch.lines().collect();
        let _ = write!(text, "`patch`:\n\n```text\n{}\n```\n\n", lines.join("\n"));
    }
    let _ = write!(text, "{}\n\n", reading(trial).unwrap_or_default());
    text
}
