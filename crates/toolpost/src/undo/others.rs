//! What other calls have done to the same names, as far as it matters for who takes a change back: a state in the middle of a
//! command is nothing to go back to, and what a later call has made goes back first.

use super::Undo;
use super::target::{self, Target};
use std::collections::{HashMap, HashSet};
use toolpost_core::ToolError;
use toolpost_core::store::{ChangeKind, ChangeQuery, Held, KeptChange};

/// What calls have changed or touched, by name, since the first of the changes that are to be taken back.
#[derive(Default)]
pub(super) struct Others(HashMap<String, Vec<KeptChange>>);

impl Others {
    pub(super) fn of(undo: &Undo<'_>, target: &Target) -> Result<Others, ToolError> {
        // Changes that were kept by earlier versions have no time of their own.
        let first_ms = target.steps.iter().map(|step| match step.touched_us {
            0 => step.at_ms,
            touched => touched / 1_000,
        });
        let Some(first_ms) = first_ms.min() else { return Ok(Others::default()) };
        let names: HashSet<&str> = target.steps.iter().map(|step| step.name.as_str()).collect();
        let query = ChangeQuery { since_ms: Some(first_ms), is_undo: Some(false), ..undo.query() };
        let mut others: HashMap<String, Vec<KeptChange>> = HashMap::new();
        for change in undo.store.changes(&query)? {
            if names.contains(change.name.as_str()) {
                others.entry(change.name.clone()).or_default().push(change);
            }
        }
        Ok(Others(others))
    }

    fn of_name(&self, name: &str) -> impl Iterator<Item = &KeptChange> {
        self.0.get(name).into_iter().flatten()
    }

    /// The command of another call that had touched the name when this change was made, had not ended, and has left something
    /// else than what was there then.
    pub(super) fn around(&self, step: &KeptChange) -> Option<&KeptChange> {
        let mut around = self.of_name(&step.name).filter(|command| {
            // The changes of a command are kept when it has ended.
            let runs = command.touched_us < step.touched_us && step.touched_us / 1_000 <= command.at_ms;
            runs && command.kind == ChangeKind::Command && command.set != step.set
        });
        around
            .find(|command| !is_same(&step.before, &command.before) && !is_same(&step.before, &command.after))
    }

    /// The last call that has changed the name after this change, holds, and is not to be taken back with it.
    pub(super) fn later(&self, target: &Target, step: &KeptChange) -> Option<&KeptChange> {
        let own: HashSet<u64> = target.of_name(&step.name).map(|step| step.set).collect();
        let moment = |change: &KeptChange| (change.touched_us, change.set, change.number);
        let later = self.of_name(&step.name).filter(|other| {
            let holds = other.undone_by.is_none() && other.before != other.after;
            holds && !own.contains(&other.set) && moment(other) > moment(step)
        });
        later.max_by_key(|other| moment(other))
    }
}

/// Whether two states are one. A mode that nobody knows is any; what is not known is like nothing.
fn is_same(one: &Held, other: &Held) -> bool {
    match (one, other) {
        (Held::Unknown | Held::TooLarge { .. }, _) => false,
        (Held::Folder { .. }, Held::Folder { .. }) => true,
        (Held::File { hash, mode, .. }, Held::File { hash: other, mode: mode_of_other, .. }) => {
            hash == other && (mode.is_none() || mode_of_other.is_none() || mode == mode_of_other)
        }
        (one, other) => one == other,
    }
}

/// Why a change that was made in the middle of a command cannot be taken back, and what to do.
pub(super) fn in_the_middle(undo: &Undo<'_>, command: &KeptChange) -> Result<String, ToolError> {
    let call = &command.call;
    let tool = tool_of(undo, call)?;
    let why = format!(
        "when it was changed, the command of the call {call} ({tool}) was in the middle of changing it, and what was there then is \
         nothing to go back to"
    );
    let is_change = command.before != command.after && command.undone_by.is_none();
    Ok(match is_change {
        true => format!("{why}; `toolpost undo {call}` first"),
        false => format!("{why}; see what it should hold, and change it by hand"),
    })
}

/// What to do first, where a later call has changed the same name.
pub(super) fn undo_first(undo: &Undo<'_>, later: &KeptChange) -> Result<String, ToolError> {
    let call = &later.call;
    let tool = tool_of(undo, call)?;
    Ok(format!("the call {call} ({tool}) has changed it since: `toolpost undo {call}` first"))
}

fn tool_of(undo: &Undo<'_>, call: &str) -> Result<String, ToolError> {
    Ok(target::tool(undo, call)?.unwrap_or_else(|| "a tool".to_owned()))
}
