//! Does what was judged: kept in the journal first, then name by name, and taken back where one fails.

use super::judge::{Item, held};
use super::{Report, Undo};
use crate::commands::stored::now_ms;
use toolpost_core::store::{ChangeKind, Correction, Finished, Held, NewChange};
use toolpost_core::{ToolError, Workspace, WorkspacePath};
use toolpost_disk::Exact;

pub(super) fn apply(undo: &Undo<'_>, id: &str, is_redo: bool, report: &Report) -> Result<(), ToolError> {
    let items: Vec<&Item> =
        report.items.iter().filter(|item| !matches!(item.verdict, super::Verdict::Conflict(_))).collect();
    let workspace = undo.disk.root().to_owned();
    let mut changes = Vec::with_capacity(items.len());
    for item in &items {
        let ((before, old), (after, new)) = (held(&item.now)?, held(&item.wanted)?);
        let hash = |held: &Held| match held {
            Held::File { hash, .. } => hash.clone(),
            _ => String::new(),
        };
        let contents = [old.map(|bytes| (hash(&before), bytes)), new.map(|bytes| (hash(&after), bytes))];
        changes.push(NewChange {
            workspace: workspace.clone(),
            session: undo.session.to_owned(),
            call: id.to_owned(),
            at_ms: now_ms(),
            kind: if is_redo { ChangeKind::Redo } else { ChangeKind::Undo },
            by_command: item.by_command,
            name: item.name.clone(),
            before,
            after,
            contents: contents.into_iter().flatten().collect(),
            takes: report.target.takes(&item.name),
        });
    }
    if changes.is_empty() {
        return Ok(());
    }
    undo.store.keep_changes(changes)?;
    let work: Vec<&Item> = items.iter().copied().filter(|item| item.verdict.is_work()).collect();
    if let Err((error, is_back)) = make(undo, &work, report.items.len() <= super::MOST_TURNS) {
        if !is_back {
            // What it has done, the next undo or redo finds out.
            return Err(error);
        }
        let nothing =
            items.iter().map(|item| Correction { name: item.name.clone(), after: None, content: None });
        undo.store.correct_changes(&workspace, id, nothing.collect())?;
        return Err(error);
    }
    let finished = Finished {
        workspace,
        call: id.to_owned(),
        made: items.iter().map(|item| item.name.clone()).collect(),
        of: report.target.calls.first().map(|call| call.call.clone()).unwrap_or_default(),
        is_redo,
    };
    undo.store.finish_undo(&undo.by(id), finished)
}

/// A state that takes the place of another.
struct Step<'a> {
    name: &'a str,
    old: Exact,
    new: Exact,
}

/// `has_turns` says whether the turns of all names are taken already.
fn make(undo: &Undo<'_>, work: &[&Item], has_turns: bool) -> Result<(), (ToolError, bool)> {
    let steps = steps(work);
    for (at, Step { name, old, new }) in steps.iter().enumerate() {
        (undo.progress)("changed", at, steps.len());
        let turn = match has_turns {
            true => Ok(Vec::new()),
            false => undo.locked(&[(*name).to_owned()], super::OTHERS),
        };
        let done = turn.and_then(|_turn| undo.disk.exchange(&WorkspacePath::new(*name), old, new));
        if let Err(error) = done {
            return Err(taken_back(undo, &steps[..at], error));
        }
    }
    Ok(())
}

/// In an order in which nothing is in the way: folders that may not be written are opened first; then what goes, from the
/// inside out; then what comes, from the outside in; and at last folders are closed again.
fn steps<'a>(work: &[&'a Item]) -> Vec<Step<'a>> {
    let is_folder = |state: &Exact| matches!(state, Exact::Folder { .. });
    let step = |item: &'a Item, old: &Exact, new: &Exact| Step {
        name: item.name.as_str(),
        old: old.clone(),
        new: new.clone(),
    };
    let mut inwards: Vec<&Item> = work.to_vec();
    inwards.sort_by(|one, other| one.name.cmp(&other.name));
    let goes = |item: &Item| item.wanted == Exact::Absent || is_folder(&item.now) != is_folder(&item.wanted);
    let mut steps = Vec::with_capacity(work.len());
    let closed = inwards.iter().filter(|item| opened(&item.now) != item.now);
    steps.extend(closed.map(|item| step(item, &item.now, &opened(&item.now))));
    let going = inwards.iter().rev().filter(|item| goes(item) && item.now != Exact::Absent);
    steps.extend(going.map(|item| step(item, &opened(&item.now), &Exact::Absent)));
    let coming = inwards.iter().filter(|item| item.wanted != Exact::Absent);
    steps.extend(coming.map(|item| {
        let old = if goes(item) { Exact::Absent } else { opened(&item.now) };
        step(item, &old, &opened(&item.wanted))
    }));
    let to_close = inwards.iter().rev().filter(|item| opened(&item.wanted) != item.wanted);
    steps.extend(to_close.map(|item| step(item, &opened(&item.wanted), &item.wanted)));
    steps
}

/// The same, with a folder that its owner may write.
fn opened(state: &Exact) -> Exact {
    const OWNERS: u32 = 0o700;
    match state {
        Exact::Folder { mode: Some(mode) } => Exact::Folder { mode: Some(mode | OWNERS) },
        other => other.clone(),
    }
}

/// Takes back what was done. Returns the error with how that went, and whether all is as it was.
fn taken_back(undo: &Undo<'_>, done: &[Step<'_>], error: ToolError) -> (ToolError, bool) {
    let mut problems = Vec::new();
    for Step { name, old, new } in done.iter().rev() {
        if let Err(problem) = undo.disk.exchange(&WorkspacePath::new(*name), new, old) {
            problems.push(format!("`{name}`: {}", problem.message()));
        }
    }
    let outcome = match problems.is_empty() {
        true => "nothing is changed".to_owned(),
        false => format!("and not everything could be put back: {}", problems.join("; ")),
    };
    (ToolError::new(error.code(), format!("{}; {outcome}", error.message())), problems.is_empty())
}
