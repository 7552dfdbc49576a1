//! Writes a plan: every file, or none. What was changed before a failure is put back.
//!
//! All new contents are made and safe on disk before the first name changes; then only names change hands, one after
//! another. A process that is killed among those leaves some files changed and others not, each of them whole.

use super::plan::{Plan, Planned};
use crate::filesystem::text;
use std::collections::HashMap;
use std::sync::Arc;
use toolpost_core::workspace::{PendingKind, Staged};
use toolpost_core::{Code, Context, ToolError, Workspace, WorkspacePath};

/// Writes all files of the plan. After a failure everything is as it was, or the error says what is not.
pub(super) fn commit(ctx: &Context, plan: &Plan) -> Result<(), ToolError> {
    let workspace = &**ctx.workspace();
    let mut undo = Vec::new();
    match run(ctx, workspace, plan, &mut undo) {
        Ok(()) => keep(workspace, undo),
        Err(error) => Err(put_back(workspace, undo, error)),
    }
}

fn run(ctx: &Context, workspace: &dyn Workspace, plan: &Plan, undo: &mut Vec<Undo>) -> Result<(), ToolError> {
    let go_on = || match ctx.cancel().is_cancelled() {
        true => Err(ToolError::new(Code::Cancelled, "the call was cancelled")),
        false => Ok(()),
    };
    let (first, steps) = steps(plan);
    for step in first.iter().chain(&steps) {
        let (name, kind, content) = step.announced();
        workspace.announce(&path(name), kind, content)?;
    }
    for step in first {
        go_on()?;
        step.run(workspace, &mut Prepared::new(), undo)?;
    }
    let mut prepared = Prepared::new();
    for step in &steps {
        go_on()?;
        if let Some((name, content)) = step.content() {
            folders(workspace, name, undo);
            if let Some(staged) = workspace.stage(&path(name), content)? {
                prepared.insert(name.to_owned(), staged);
            }
        }
    }
    for step in steps {
        go_on()?;
        if let Step::Write { file, .. } | Step::Move { to: file, .. } = &step {
            text::note_new_folders(ctx, &path(&file.name))?;
        }
        step.run(workspace, &mut prepared, undo)?;
    }
    Ok(())
}

/// New contents that wait for their names.
type Prepared = HashMap<String, Box<dyn Staged>>;

/// Makes everything durable and lets the old contents go.
fn keep(workspace: &dyn Workspace, undo: Vec<Undo>) -> Result<(), ToolError> {
    let mut undo = undo;
    for at in 0..undo.len() {
        if let Undo::Staged { staged, .. } = &mut undo[at]
            && let Err(error) = staged.keep()
        {
            return Err(put_back(workspace, undo, error));
        }
    }
    Ok(())
}

/// One change of one name.
enum Step<'a> {
    Write { file: &'a Planned, content: &'a Arc<[u8]> },
    Move { from: &'a Planned, to: &'a Planned, content: &'a Arc<[u8]> },
    Remove { file: &'a Planned },
}

/// How a change is taken back.
enum Undo {
    /// The very file that was there takes its name again; else its content is written anew.
    Staged {
        staged: Box<dyn Staged>,
        name: String,
        before: Option<(Arc<[u8]>, Option<u32>)>,
    },
    Restore {
        name: String,
        content: Arc<[u8]>,
        mode: Option<u32>,
    },
    Remove {
        name: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Folder {
        name: String,
    },
}

/// What must go first to make room, and the other changes in the order that is easiest to take back: what removes a
/// file comes last.
fn steps(plan: &Plan) -> (Vec<Step<'_>>, Vec<Step<'_>>) {
    let mut steps = Vec::new();
    let mut moved: Vec<&str> = Vec::new();
    for file in &plan.files {
        let Some(content) = &file.after else { continue };
        let source = file.moved_from.as_deref().and_then(|from| plan.get(from));
        let source = source.filter(|source| {
            source.after.is_none() && file.before.is_none() && !moved.contains(&source.name.as_str())
        });
        match source.filter(|source| source.before.is_some()) {
            // A file that keeps its mode and history under a new name.
            Some(from) => {
                moved.push(&from.name);
                steps.push(Step::Move { from, to: file, content });
            }
            None if file.is_changed() => steps.push(Step::Write { file, content }),
            None => {}
        }
    }
    let gone = |file: &&Planned| {
        file.before.is_some() && file.after.is_none() && !moved.contains(&file.name.as_str())
    };
    let (early, late): (Vec<&Planned>, Vec<&Planned>) = plan.files.iter().filter(gone).partition(|file| {
        // Where a file makes room for a folder it has to go first.
        let below = format!("{}/", file.name);
        plan.files.iter().any(|other| other.after.is_some() && other.name.starts_with(&below))
    });
    let removal = |file| Step::Remove { file };
    steps.extend(late.into_iter().map(removal));
    (early.into_iter().map(removal).collect(), steps)
}

impl Step<'_> {
    /// What is about to happen to which name, and what the file holds in the end.
    fn announced(&self) -> (&str, PendingKind, Option<&[u8]>) {
        match self {
            Step::Write { file, content } => (&file.name, PendingKind::Write, Some(content)),
            Step::Move { from, to, content } => {
                (&from.name, PendingKind::Rename { to: to.name.clone() }, Some(content))
            }
            Step::Remove { file } => (&file.name, PendingKind::Remove, None),
        }
    }

    /// The file whose content is new, and the content. A file that is moved gets it under its old name.
    fn content(&self) -> Option<(&str, &Arc<[u8]>)> {
        match self {
            Step::Write { file, content } => Some((&file.name, content)),
            Step::Move { from, content, .. } => {
                (from.before.as_ref() != Some(content)).then_some((&from.name, content))
            }
            Step::Remove { .. } => None,
        }
    }

    fn run(
        &self,
        workspace: &dyn Workspace,
        prepared: &mut Prepared,
        undo: &mut Vec<Undo>,
    ) -> Result<(), ToolError> {
        let file = match self {
            Step::Write { file, .. } | Step::Remove { file } | Step::Move { from: file, .. } => *file,
        };
        if let Some((name, content)) = self.content() {
            let before = file.before.clone().map(|before| (before, file.mode));
            match prepared.remove(name) {
                Some(mut staged) => {
                    staged.place()?;
                    undo.push(Undo::Staged { staged, name: name.to_owned(), before });
                }
                None => {
                    workspace.write(&path(name), content)?;
                    undo.push(match before {
                        Some((content, mode)) => Undo::Restore { name: name.to_owned(), content, mode },
                        None => Undo::Remove { name: name.to_owned() },
                    });
                }
            }
        }
        match self {
            Step::Write { .. } => {}
            Step::Move { from, to, .. } => {
                folders(workspace, &to.name, undo);
                workspace.rename(&path(&from.name), &path(&to.name))?;
                undo.push(Undo::Rename { from: to.name.clone(), to: from.name.clone() });
            }
            Step::Remove { file } => {
                workspace.remove(&path(&file.name))?;
                if let Some(before) = &file.before {
                    undo.push(restore(file, before));
                }
            }
        }
        Ok(())
    }
}

fn restore(file: &Planned, before: &Arc<[u8]>) -> Undo {
    Undo::Restore { name: file.name.clone(), content: before.clone(), mode: file.mode }
}

fn path(name: &str) -> WorkspacePath {
    WorkspacePath::new(name)
}

/// Notes the folders that will be made for a file, so that they can go again.
fn folders(workspace: &dyn Workspace, name: &str, undo: &mut Vec<Undo>) {
    let mut missing = Vec::new();
    let mut rest = name;
    while let Some((above, _)) = rest.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
        if workspace.stat(&path(above)).map_err(|error| error.code()).err() != Some(Code::FileNotFound) {
            break;
        }
        missing.push(Undo::Folder { name: above.to_owned() });
        rest = above;
    }
    // Undone from the last to the first: the innermost folder goes before those around it.
    undo.extend(missing.into_iter().rev());
}

/// Takes back what was done, the last change first, and adds to the error how that went.
fn put_back(workspace: &dyn Workspace, undo: Vec<Undo>, error: ToolError) -> ToolError {
    let changed = undo.iter().filter(|undo| !matches!(undo, Undo::Folder { .. })).count();
    let mut problems: Vec<String> = Vec::new();
    for undo in undo.into_iter().rev() {
        if let Err(problem) = undo.run(workspace) {
            problems.push(problem);
        }
    }
    let outcome = match (changed, problems.is_empty()) {
        (0, true) => "nothing was changed".to_owned(),
        (_, true) => "nothing is changed: what had been written before was put back".to_owned(),
        (_, false) => format!("and not everything could be put back: {}", problems.join("; ")),
    };
    let mut whole = ToolError::new(error.code(), format!("{}; {outcome}", error.message()));
    for (key, value) in error.details() {
        whole = whole.with(key, value.clone());
    }
    match problems.is_empty() {
        true => whole,
        false => whole.with("notPutBack", problems),
    }
}

impl Undo {
    fn run(self, workspace: &dyn Workspace) -> Result<(), String> {
        let failed = |name: &str, error: ToolError| format!("`{name}`: {}", error.message());
        match self {
            Undo::Staged { mut staged, name, before } => match (staged.take_back(), before) {
                (Ok(()), _) => Ok(()),
                (Err(_), Some((content, mode))) => Undo::Restore { name, content, mode }.run(workspace),
                (Err(_), None) => Undo::Remove { name }.run(workspace),
            },
            Undo::Restore { name, content, mode } => {
                workspace.write(&path(&name), &content).map_err(|error| failed(&name, error))?;
                let now = workspace.stat(&path(&name)).map_err(|error| failed(&name, error))?.mode;
                match mode.filter(|mode| *mode != now) {
                    Some(mode) => Err(format!("`{name}` has its content again, but not its mode {mode:04o}")),
                    None => Ok(()),
                }
            }
            Undo::Remove { name } => workspace.remove(&path(&name)).map_err(|error| failed(&name, error)),
            Undo::Rename { from, to } => {
                workspace.rename(&path(&from), &path(&to)).map_err(|error| failed(&to, error))
            }
            // A folder that was never made, or holds something of somebody else by now, is not ours to remove.
            Undo::Folder { name } => {
                let _ = workspace.remove(&path(&name));
                Ok(())
            }
        }
    }
}
