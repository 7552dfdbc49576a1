//! Writes a plan: every file, or none. What was changed before a failure is put back.

use super::plan::{Plan, Planned};
use std::sync::Arc;
use toolpost_core::{Code, Context, ToolError, Workspace, WorkspacePath};

/// Writes all files of the plan. After a failure everything is as it was, or the error says what is not.
pub(super) async fn commit(ctx: &Context, plan: &Plan) -> Result<(), ToolError> {
    let workspace = ctx.workspace();
    let mut undo = Vec::new();
    for step in steps(plan) {
        let done = match ctx.cancel().is_cancelled() {
            true => Err(ToolError::new(Code::Cancelled, "the call was cancelled")),
            false => step.run(&**workspace, &mut undo).await,
        };
        if let Err(error) = done {
            return Err(put_back(&**workspace, undo, error).await);
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
    Restore { name: String, content: Arc<[u8]>, mode: Option<u32> },
    Remove { name: String },
    Rename { from: String, to: String },
    Folder { name: String },
}

/// The changes in the order that is easiest to take back: what removes a file comes last.
fn steps(plan: &Plan) -> Vec<Step<'_>> {
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
    early.into_iter().map(removal).chain(steps).chain(late.into_iter().map(removal)).collect()
}

impl Step<'_> {
    async fn run(&self, workspace: &dyn Workspace, undo: &mut Vec<Undo>) -> Result<(), ToolError> {
        match self {
            Step::Write { file, content } => {
                folders(workspace, &file.name, undo).await;
                workspace.write(&path(&file.name), content).await?;
                undo.push(match &file.before {
                    Some(before) => restore(file, before),
                    None => Undo::Remove { name: file.name.clone() },
                });
            }
            Step::Move { from, to, content } => {
                folders(workspace, &to.name, undo).await;
                workspace.rename(&path(&from.name), &path(&to.name)).await?;
                undo.push(Undo::Rename { from: to.name.clone(), to: from.name.clone() });
                if let Some(before) = from.before.as_ref().filter(|before| before != content) {
                    workspace.write(&path(&to.name), content).await?;
                    undo.push(Undo::Restore {
                        name: to.name.clone(),
                        content: before.clone(),
                        mode: from.mode,
                    });
                }
            }
            Step::Remove { file } => {
                workspace.remove(&path(&file.name)).await?;
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
async fn folders(workspace: &dyn Workspace, name: &str, undo: &mut Vec<Undo>) {
    let mut missing = Vec::new();
    let mut rest = name;
    while let Some((above, _)) = rest.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
        if workspace.stat(&path(above)).await.map_err(|error| error.code()).err() != Some(Code::FileNotFound)
        {
            break;
        }
        missing.push(Undo::Folder { name: above.to_owned() });
        rest = above;
    }
    // Undone from the last to the first: the innermost folder goes before those around it.
    undo.extend(missing.into_iter().rev());
}

/// Takes back what was done, the last change first, and adds to the error how that went.
async fn put_back(workspace: &dyn Workspace, undo: Vec<Undo>, error: ToolError) -> ToolError {
    let changed = undo.iter().filter(|undo| !matches!(undo, Undo::Folder { .. })).count();
    let mut problems: Vec<String> = Vec::new();
    for undo in undo.into_iter().rev() {
        if let Err(problem) = undo.run(workspace).await {
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
    async fn run(self, workspace: &dyn Workspace) -> Result<(), String> {
        let failed = |name: &str, error: ToolError| format!("`{name}`: {}", error.message());
        match self {
            Undo::Restore { name, content, mode } => {
                workspace.write(&path(&name), &content).await.map_err(|error| failed(&name, error))?;
                let now = workspace.stat(&path(&name)).await.map_err(|error| failed(&name, error))?.mode;
                match mode.filter(|mode| *mode != now) {
                    Some(mode) => Err(format!("`{name}` has its content again, but not its mode {mode:04o}")),
                    None => Ok(()),
                }
            }
            Undo::Remove { name } => {
                workspace.remove(&path(&name)).await.map_err(|error| failed(&name, error))
            }
            Undo::Rename { from, to } => {
                workspace.rename(&path(&from), &path(&to)).await.map_err(|error| failed(&to, error))
            }
            // A folder that was never made, or holds something of somebody else by now, is not ours to remove.
            Undo::Folder { name } => {
                let _ = workspace.remove(&path(&name)).await;
                Ok(())
            }
        }
    }
}
