//! Running cases against the product: each has a file of its own in a scratch workspace, and several are in flight at
//! once. Every wrong case is written down, so that it can be looked at and run again.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::cases::{Call, Case};
use super::noise::{Class, Kind};
use super::patch::PATH;
use super::tally::Tally;
use super::verdict::{Verdict, judge};
use crate::mcp_server::{Answer, Server};

/// Calls in flight.
const SLOTS: usize = 8;
/// Wrong cases of each kind that are written down.
const MAX_WRONG: usize = 500;
/// Refused cases of each kind that are written down.
const MAX_REFUSED: usize = 12;

pub(super) struct Drive {
    server: Server,
    workspace: PathBuf,
    scratch: PathBuf,
    /// The case in flight at each place.
    slots: Vec<Option<(&'static Kind, Case)>>,
    sent: usize,
    /// Number of wrong cases that were written down.
    written: usize,
    /// Number of wrong and of refused cases of each kind.
    wrong: HashMap<&'static str, usize>,
    refused: HashMap<&'static str, usize>,
}

/// Where wrong cases are written.
pub(super) fn wrong_folder(scratch: &Path) -> PathBuf {
    scratch.join("wrong")
}

/// A folder in memory where there is one: nothing here has to last.
pub(super) fn fast_folder(scratch: &Path) -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_path_buf() } else { scratch.to_path_buf() }
}

impl Drive {
    pub(super) fn start(executable: &Path, scratch: &Path) -> Result<Drive> {
        for old in [wrong_folder(scratch), scratch.join("refused")] {
            if old.exists() {
                fs::remove_dir_all(&old)?;
            }
        }
        let base = fast_folder(scratch).join(format!("toolpost-edits-{}", std::process::id()));
        let (workspace, home) = (base.join("workspace"), base.join("home"));
        fs::create_dir_all(&home)?;
        for slot in 0..SLOTS {
            fs::create_dir_all(workspace.join(slot.to_string()))?;
        }
        let server = Server::start(executable, &["--policy", "standard"], &workspace, &home)?;
        let slots = (0..SLOTS).map(|_| None).collect();
        Ok(Drive {
            server,
            workspace,
            scratch: scratch.to_path_buf(),
            slots,
            sent: 0,
            written: 0,
            wrong: HashMap::new(),
            refused: HashMap::new(),
        })
    }

    /// Sends a case as soon as there is room.
    pub(super) fn submit(&mut self, kind: &'static Kind, case: Case, tally: &mut Tally) -> Result<()> {
        let slot = match self.slots.iter().position(Option::is_none) {
            Some(slot) => slot,
            None => self.settle(tally)?,
        };
        let path = path(slot, &case);
        fs::write(self.workspace.join(&path), &case.before)?;
        let (tool, arguments) = arguments(&case.call, &path);
        self.sent += 1;
        // No two calls have one id, and each still tells its place.
        self.server.call(self.sent * SLOTS + slot, tool, &arguments)?;
        self.slots[slot] = Some((kind, case));
        Ok(())
    }

    /// Waits for all that is in flight.
    pub(super) fn finish(&mut self, tally: &mut Tally) -> Result<()> {
        while self.slots.iter().any(Option::is_some) {
            self.settle(tally)?;
        }
        Ok(())
    }

    /// Waits for one answer and judges it; its place is free then.
    fn settle(&mut self, tally: &mut Tally) -> Result<usize> {
        let answer = self.server.answer()?;
        let slot = answer.id % SLOTS;
        let (kind, case) = self.slots[slot].take().context("a reply to an unknown request")?;
        let file = self.workspace.join(path(slot, &case));
        let result = fs::read(&file).unwrap_or_default();
        fs::remove_file(&file)?;
        let verdict = judge(&case.before, &case.truth, &result, answer.is_error);
        tally.add(kind, case.class, verdict);
        if case.class != Class::Lossy {
            self.write_down(kind, &case, verdict, &result, &answer)?;
        }
        Ok(slot)
    }

    fn write_down(
        &mut self,
        kind: &Kind,
        case: &Case,
        verdict: Verdict,
        result: &[u8],
        answer: &Answer,
    ) -> Result<()> {
        let folder = match verdict {
            Verdict::Right | Verdict::Acceptable => return Ok(()),
            Verdict::Wrong => {
                let wrong = self.wrong.entry(kind.name).or_default();
                *wrong += 1;
                if *wrong > MAX_WRONG {
                    return Ok(());
                }
                self.written += 1;
                wrong_folder(&self.scratch).join(format!("{:04}-{}", self.written, kind.name))
            }
            Verdict::Refused => {
                let refused = self.refused.entry(kind.name).or_default();
                *refused += 1;
                if *refused > MAX_REFUSED {
                    return Ok(());
                }
                self.scratch.join("refused").join(format!("{}-{refused:02}", kind.name))
            }
        };
        fs::create_dir_all(&folder)?;
        let name = |part: &str| folder.join(format!("{part}.{}", case.extension));
        fs::write(name("before"), &case.before)?;
        fs::write(name("expected"), &case.truth)?;
        fs::write(name("result"), result)?;
        let (tool, arguments) = arguments(&case.call, &format!("before.{}", case.extension));
        let call = json!({ "tool": tool, "arguments": arguments, "kind": kind.name, "class": case.class.name(), "source": case.source });
        fs::write(folder.join("call.json"), serde_json::to_string_pretty(&call)?)?;
        Ok(fs::write(folder.join("answer.txt"), &answer.text)?)
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        if let Some(base) = self.workspace.parent() {
            // What cannot be removed lies in a folder for temporary files.
            let _ = fs::remove_dir_all(base);
        }
    }
}

/// The name of a case's file; its ending is that of the original.
fn path(slot: usize, case: &Case) -> String {
    format!("{slot}/file.{}", case.extension)
}

fn arguments(call: &Call, path: &str) -> (&'static str, Value) {
    match call {
        Call::Edit { old, new } => ("edit", json!({ "filePath": path, "oldString": old, "newString": new })),
        Call::Patch(patch) => ("apply_patch", json!({ "patch": patch.replace(PATH, path) })),
    }
}
