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
    if let Err((error, is_back)) = make(undo, &work) {
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

/// In an order in which nothing is in the way: what goes first, from the inside out; then what comes, from the outside in.
fn make(undo: &Undo<'_>, work: &[&Item]) -> Result<(), (ToolError, bool)> {
    let is_folder = |state: &Exact| matches!(state, Exact::Folder { .. });
    let mut steps: Vec<(&Item, &Exact, &Exact)> = Vec::new();
    static GONE: Exact = Exact::Absent;
    let mut deepest: Vec<&Item> = work.to_vec();
    deepest.sort_by(|one, other| other.name.cmp(&one.name));
    let goes = |item: &&Item| item.wanted == Exact::Absent || is_folder(&item.now) != is_folder(&item.wanted);
    let (going, staying): (Vec<&Item>, Vec<&Item>) = deepest.into_iter().partition(goes);
    steps.extend(going.iter().filter(|item| item.now != GONE).map(|item| (*item, &item.now, &GONE)));
    let mut coming: Vec<(&Item, &Exact, &Exact)> =
        staying.iter().map(|item| (*item, &item.now, &item.wanted)).collect();
    coming.extend(going.iter().filter(|item| item.wanted != GONE).map(|item| (*item, &GONE, &item.wanted)));
    coming.sort_by(|one, other| one.0.name.cmp(&other.0.name));
    steps.extend(coming);
    for (at, (item, old, new)) in steps.iter().enumerate() {
        let path = WorkspacePath::new(item.name.clone());
        if let Err(error) = undo.disk.exchange(&path, old, new) {
            return Err(taken_back(undo, &steps[..at], error));
        }
    }
    Ok(())
}

/// Takes back what was done. Returns the error with how that went, and whether all is as it was.
fn taken_back(undo: &Undo<'_>, done: &[(&Item, &Exact, &Exact)], error: ToolError) -> (ToolError, bool) {
    let mut problems = Vec::new();
    for (item, old, new) in done.iter().rev() {
        if let Err(problem) = undo.disk.exchange(&WorkspacePath::new(item.name.clone()), new, old) {
            problems.push(format!("`{}`: {}", item.name, problem.message()));
        }
    }
    let outcome = match problems.is_empty() {
        true => "nothing is changed".to_owned(),
        false => format!("and not everything could be put back: {}", problems.join("; ")),
    };
    (ToolError::new(error.code(), format!("{}; {outcome}", error.message())), problems.is_empty())
}
