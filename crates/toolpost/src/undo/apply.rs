//! Does what was judged: kept in the journal first, then name by name, and taken back where one fails.

use super::judge::{Item, held};
use super::{Report, Undo};
use crate::calendar::now_ms;
use std::collections::HashSet;
use toolpost_core::store::{ChangeKind, Correction, Finished, Held, NewChange};
use toolpost_core::{ToolError, Workspace, WorkspacePath};
use toolpost_disk::{Durable, Exact, Exchange};

pub(super) fn apply(undo: &Undo<'_>, id: &str, is_redo: bool, report: &Report) -> Result<(), ToolError> {
    let items: Vec<&Item> =
        report.items.iter().filter(|item| !matches!(item.verdict, super::Verdict::Conflict(_))).collect();
    let workspace = undo.disk.root().to_owned();
    let mut changes = Vec::with_capacity(items.len());
    for item in &items {
        let ((before, old), (after, new)) = match &item.object {
            // Kept by the call already.
            Some((left, before)) => ((left.clone(), None), (before.clone(), None)),
            None => (held(&item.now)?, held(&item.wanted)?),
        };
        let hash = |held: &Held| match held {
            Held::File { hash, .. } => hash.clone(),
            _ => String::new(),
        };
        let contents =
            [old.map(|bytes| (hash(&before), bytes.into())), new.map(|bytes| (hash(&after), bytes.into()))];
        changes.push(NewChange {
            workspace: workspace.clone(),
            session: undo.session.to_owned(),
            call: id.to_owned(),
            at_ms: now_ms(),
            kind: if is_redo { ChangeKind::Redo } else { ChangeKind::Undo },
            by_command: item.by_command,
            touched_us: now_ms() * 1_000,
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
    if let Err((error, is_back)) = make(undo, id, &work, report.items.len() <= super::MOST_TURNS) {
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
    undo.store.finish_undo(&undo.by(id), finished).map_err(|error| not_noted(&error))
}

/// The files are changed, and the store has not heard of it.
fn not_noted(error: &ToolError) -> ToolError {
    // A store speaks only of itself.
    let message = error.message();
    let why = message.split_once("; nothing was changed").map_or(message, |(why, _)| why);
    let message = format!(
        "the files are changed, but that could not be noted: {why}; when the store works again, the next `toolpost undo` or \
         `redo` notes it first"
    );
    ToolError::new(error.code(), message)
}

/// A state that takes the place of another.
struct Step<'a> {
    name: &'a str,
    is_object: bool,
    old: Exact,
    new: Exact,
}

/// With more names, what is written is made durable together.
const FEW: usize = 8;
/// Maximum number of names to report that could not be put back.
const MOST_PROBLEMS: usize = 5;
/// Maximum number of files that are written beside the old ones before those are replaced.
const MOST_STAGED: usize = 1_000;

/// The beginning of the names under which an undo has files for a moment.
pub(super) fn beginning(id: &str) -> String {
    format!(".toolpost-{id}-")
}

/// `has_turns` says whether the turns of all names are taken already.
fn make(undo: &Undo<'_>, id: &str, work: &[&Item], has_turns: bool) -> Result<(), (ToolError, bool)> {
    let steps = steps(work);
    let durable = if steps.len() > FEW { Durable::Together } else { Durable::AtOnce };
    let beginning = beginning(id);
    let mut staged = 0..0;
    for (at, Step { name, old, new, .. }) in steps.iter().enumerate() {
        (undo.progress)("changed", at, steps.len());
        let path = WorkspacePath::new(*name);
        let is_new = |state: &Exact| matches!(state, Exact::File { .. });
        let mut done = Ok(());
        if durable == Durable::Together && is_new(new) && at >= staged.end {
            staged = at..steps.len().min(at + MOST_STAGED);
            done = stage(undo, &steps[staged.clone()], &beginning, at);
        }
        let turn = |(): ()| match has_turns {
            true => Ok(Vec::new()),
            false => undo.locked(&[(*name).to_owned()], super::OTHERS),
        };
        let beside = format!("{beginning}{at}");
        let how = Exchange { beside: &beside, durable };
        let done = done.and_then(turn).and_then(|_turn| undo.disk.exchange_as(&path, old, new, how));
        if let Err(error) = done {
            let above = |name: &str| name.rsplit_once('/').map(|(above, _)| above.to_owned());
            let mut folders = HashSet::new();
            let left = steps[at..staged.end.max(at)].iter().filter(|step| folders.insert(above(step.name)));
            for step in left {
                // What stays there all the same, the next undo removes.
                let _ = undo.disk.discard(&WorkspacePath::new(step.name), &beginning);
            }
            return Err(taken_back(undo, &steps[..at], error));
        }
    }
    match durable {
        Durable::Together => undo.disk.sync().map_err(|error| (error, false)),
        Durable::AtOnce => Ok(()),
    }
}

/// Writes files beside those that they replace, and waits until all are durable.
fn stage(undo: &Undo<'_>, steps: &[Step<'_>], beginning: &str, first: usize) -> Result<(), ToolError> {
    for (at, step) in steps.iter().enumerate() {
        // Where only the mode changes, nothing takes its place.
        let is_same = matches!((&step.old, &step.new),
            (Exact::File { content: old, .. }, Exact::File { content: new, .. }) if old == new);
        if is_same || !matches!(step.new, Exact::File { mode: Some(_), .. }) {
            continue;
        }
        undo.disk.stage_exact(
            &WorkspacePath::new(step.name),
            &step.new,
            &format!("{beginning}{}", first + at),
        )?;
    }
    undo.disk.sync()
}

/// In an order in which nothing is in the way: folders that may not be written are opened first; then what goes, from the
/// inside out; then what comes, from the outside in; and at last folders are closed again.
fn steps<'a>(work: &[&'a Item]) -> Vec<Step<'a>> {
    let is_folder = |state: &Exact| matches!(state, Exact::Folder { .. });
    let step = |item: &'a Item, old: &Exact, new: &Exact| Step {
        name: item.name.as_str(),
        is_object: item.object.is_some(),
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
    // Folders first, so that there is a place for every file.
    let coming = inwards.iter().filter(|item| item.wanted != Exact::Absent);
    let (folders, files): (Vec<&Item>, Vec<&Item>) =
        coming.copied().partition(|item| is_folder(&item.wanted));
    // What git refers to is there before what refers to it.
    let (objects, files): (Vec<&Item>, Vec<&Item>) =
        files.into_iter().partition(|item| item.object.is_some());
    steps.extend(folders.into_iter().chain(objects).chain(files).map(|item| {
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
    // An object of git may be in use by now.
    for Step { name, old, new, .. } in done.iter().rev().filter(|step| !step.is_object) {
        if let Err(problem) = undo.disk.exchange(&WorkspacePath::new(*name), new, old) {
            problems.push(format!("`{name}`: {}", problem.message()));
        }
    }
    let is_back = problems.is_empty();
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    if more > 0 {
        problems.push(format!("and {more} more"));
    }
    let outcome = match is_back {
        true => "nothing is changed".to_owned(),
        false => format!("and not everything could be put back: {}", problems.join("; ")),
    };
    (ToolError::new(error.code(), format!("{}; {outcome}", error.message())), is_back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpost_core::Code;

    #[test]
    fn what_could_not_be_noted_is_not_called_unchanged() {
        let said = "the store postgres://db does not answer: refused; nothing was changed: see that it runs, and try again";
        let error = not_noted(&ToolError::new(Code::StoreNotAvailable, said));
        assert_eq!(error.code(), Code::StoreNotAvailable);
        assert!(error.message().contains("the files are changed") && error.message().contains("refused"));
        assert!(!error.message().contains("nothing was changed"), "{}", error.message());
    }
}
