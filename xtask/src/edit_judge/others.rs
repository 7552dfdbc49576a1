//! Other agents on the same cases, through the driver that runs their published code. Their results are ruled on like ours.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::claim::{Claim, Form};
use super::decide::Trial;
use super::ruling::{Deed, Ruling, rule};
use crate::edits::peers::{Driver, PEERS};

/// Right, refused and wrong.
#[derive(Clone, Copy, Default)]
struct Share([usize; 3]);

impl Share {
    fn add(&mut self, ruling: Ruling) {
        match ruling {
            Ruling::Right => self.0[0] += 1,
            Ruling::Refused => self.0[1] += 1,
            Ruling::Wrong | Ruling::Bold => self.0[2] += 1,
            // A reading of a call that has two is neither.
            Ruling::Guessed => {}
        }
    }

    fn shown(self) -> String {
        let all: usize = self.0.iter().sum();
        if all == 0 {
            return "–".to_owned();
        }
        let share = |part: usize| part as f64 * 100.0 / all as f64;
        format!("{:.1} / {:.1}", share(self.0[0]), share(self.0[2]))
    }
}

/// All of them, and the counts: ours first.
pub(super) struct Others {
    driver: Driver,
    rows: BTreeMap<(Form, String), (usize, Vec<Share>)>,
}

impl Others {
    pub(super) fn start(scratch: &Path) -> Result<Others> {
        let driver = Driver::start(scratch)?;
        for (peer, reason) in PEERS.iter().zip(&driver.reasons) {
            if let Some(reason) = reason {
                println!("{} is left out: {reason}", peer.title);
            }
        }
        Ok(Others { driver, rows: BTreeMap::new() })
    }

    /// Gives one decidable case to those who take such calls.
    pub(super) fn run(&mut self, trial: &Trial, ours: Ruling) -> Result<()> {
        let draft = &trial.draft;
        let mut call = match trial.form {
            Form::Edit => {
                json!({ "old": draft.old, "new": draft.new, "peers": ["opencode", "gemini", "codex"] })
            }
            Form::Codex => json!({ "patch": draft.patch.replace(&draft.path, "@PATH@"), "peers": ["codex"] }),
            Form::Unified | Form::Blocks => return Ok(()),
        };
        if trial.claim == Claim::Undecidable {
            return Ok(());
        }
        call["before"] = trial.file.as_str().into();
        call["extension"] = draft.extension().into();
        let answer = self.driver.ask(&call)?;
        let name = if let [name] = trial.names.as_slice() { name } else { "two kinds" };
        let (cases, shares) = self
            .rows
            .entry((trial.form, name.to_owned()))
            .or_insert_with(|| (0, vec![Share::default(); PEERS.len() + 1]));
        *cases += 1;
        shares[0].add(ours);
        for (peer, share) in PEERS.iter().zip(&mut shares[1..]) {
            if let Some(found) = answer.get(peer.id) {
                share.add(ruling(trial, found));
            }
        }
        Ok(())
    }

    /// One row for each kind: the share that is right, and the share that is wrong.
    pub(super) fn table(&self) -> String {
        let titles: Vec<String> =
            PEERS.iter().map(|peer| format!("{} {}", peer.title, peer.version)).collect();
        let mut text = format!(
            "Right / wrong in percent; the rest is refused. What must be refused is right when it is.\n\n\
             | kind | call | cases | toolpost | {} |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
            titles.join(" | ")
        );
        for ((form, name), (cases, shares)) in &self.rows {
            let cells: Vec<String> = shares.iter().map(|share| share.shown()).collect();
            let name = name.replace('|', "\\|").replace('<', "\\<");
            text.push_str(&format!("| {name} | {} | {cases} | {} |\n", form.name(), cells.join(" | ")));
        }
        text
    }
}

fn ruling(trial: &Trial, found: &Value) -> Ruling {
    let deed = match found["text"].as_str() {
        Some(text) => Deed { file: text.to_owned(), is_error: false, message: String::new() },
        None => {
            let message = found["error"].as_str().unwrap_or_default().to_owned();
            Deed { file: trial.file.clone(), is_error: true, message }
        }
    };
    // Their answers need not say that a change was made before.
    if trial.claim == Claim::Applied && deed.file == trial.file {
        return Ruling::Right;
    }
    rule(trial, &deed)
}
