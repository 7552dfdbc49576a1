//! `apply_patch`: many files changed by one patch, all of them or none.
//!
//! The patch is read ([`parse`]), everything it names is read, the new files are computed in memory ([`plan`]), and
//! only then written ([`commit`]). What a patch may touch is known from its text alone, so that policy judges every
//! file of it, and nothing is written where one of them is refused.

mod apply;
mod around;
mod blocks;
mod commit;
mod content;
mod envelope;
mod git_path;
mod lines;
mod parse;
mod patch;
mod place;
mod plain;
mod plan;
mod report;
mod unified;
mod wrapped;

use super::diagnosed::{self, NewError};
use super::effort::Effort;
use super::ladder::Step;
use super::parsed::{self, FoundBy};
use super::text;
use super::versions::{self, Knowledge, Overrides, Stale};
use patch::Patch;
use plan::{Existed, Plan, Planned, World};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::code::TextChange;
use toolpost_core::workspace::File;
use toolpost_core::{
    Access, Capability, Code, Context, Output, Spec, Tool, ToolError, Workspace, WorkspacePath,
};

use super::format::Changed;
use report::Data;

/// Bytes that all files of a patch may have together.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// A unified diff, or:
    /// *** Begin Patch
    /// *** Add File: path (replaces a file that is there)
    /// +line
    /// *** Update File: path
    /// *** Move to: path (optional)
    /// @@ line above the change (optional)
    ///  line that stays
    /// -line that goes
    /// +line that comes
    /// *** Delete File: path
    /// *** End Patch
    /// Show three lines around each change, exactly as in the file.
    patch: String,
}

/// The tool.
pub struct ApplyPatch;

impl Tool for ApplyPatch {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("apply_patch", "1.0.0", include_str!("apply_patch.txt"))
            .requires(Capability::Read)
            .requires(Capability::Write)
            .about(ResourceKind::Path)
            // Told to end in the middle of writing, it takes back what it wrote.
            .grace(Duration::from_secs(10))
    }

    fn accesses(&self, args: &Args, _: Vec<Access>) -> Vec<Access> {
        let Ok(patch) = parse::parse(&args.patch) else { return vec![Access::any(Capability::Write)] };
        let mut known = HashSet::new();
        let paths = patch.paths().map(|(_, path)| path).filter(|path| known.insert(*path));
        let both = |path| [Capability::Read, Capability::Write].map(|action| Access::path(action, path));
        paths.flat_map(both).collect()
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| apply_patch(ctx, &args)).await
    }
}

fn apply_patch(ctx: &Context, args: &Args) -> Result<Output<Data>, ToolError> {
    let patch = parse::parse(&args.patch)?;
    let world = look(ctx, &patch)?;
    let patch = plain::plain(patch, &world)?;
    let effort = Effort::of(ctx);
    let mut plan = plan::plan(&effort, &patch, &world)?;
    let unread = overwritten(ctx, &plan, &world)?;
    plan.notes.extend(unread);
    plan.notes.extend(linked(&plan, &world));
    let broken = broken(ctx, &plan)?;
    plan.notes.extend(broken);
    let mut output = report::report(&effort, &plan, ctx.redactor())?;
    ctx.checkpoint()?;
    commit::commit(ctx, &plan)?;
    for file in &plan.files {
        match (&file.before, &file.after) {
            (None, Some(after)) if file.moved_from.is_none() => {
                text::note_known(ctx, &file.name, &text::hash(after))
            }
            (Some(before), Some(after)) => {
                text::note_changed(ctx, &file.name, &text::hash(before), &text::hash(after));
            }
            _ => {}
        }
        note_version(ctx, file, &plan, &world);
    }
    output.data.changes = plan.files.iter().flat_map(|file| change(ctx, &plan, file)).collect();
    Ok(output)
}

/// The files that get other content under one of several names.
fn linked(plan: &Plan, world: &World) -> Vec<String> {
    let is_changed = |file: &&Planned| {
        let from = file.moved_from.as_deref().and_then(|from| plan.get(from)).unwrap_or(*file);
        let has_content = from.before.is_some() && file.after.is_some();
        has_content && from.before != file.after && world.linked.contains(&from.name)
    };
    let note = |file: &Planned| {
        format!(
            "`{}` has other names too, as hard links: they keep the old content, and are a file of their own from now on",
            file.name
        )
    };
    plan.files.iter().filter(is_changed).map(note).collect()
}

/// The files that are replaced as a whole and that the session has not read; an error where it has, and somebody has changed one
/// since.
fn overwritten(ctx: &Context, plan: &Plan, world: &World) -> Result<Vec<String>, ToolError> {
    let mut unread = Vec::new();
    for file in plan.files.iter().filter(|file| file.is_replaced && file.is_changed()) {
        let (Some(before), Some(_)) = (&file.before, &file.after) else { continue };
        // What had this name before has another one now.
        if plan.files.iter().any(|other| other.moved_from.as_ref() == Some(&file.name)) {
            continue;
        }
        match world.known.get(&file.name) {
            Some(Knowledge::Stale(known)) => {
                let stale = Stale::of(ctx, &file.name, known, before, Overrides::Never);
                if stale.is_shown {
                    text::note_known(ctx, &file.name, &text::hash(before));
                    versions::note(ctx, &file.name, before);
                }
                return Err(stale.error);
            }
            Some(Knowledge::Unseen) => {
                unread.push(format!("`{}` was replaced, and this session had not read it", file.name));
            }
            _ => {}
        }
    }
    Ok(unread)
}

/// The texts of a file before and after the patch, for those who look for errors.
fn change(ctx: &Context, plan: &Plan, file: &Planned) -> Vec<TextChange> {
    let from = file.moved_from.as_deref().and_then(|from| plan.get(from));
    let before = from.map_or(&file.before, |from| &from.before);
    let text = |bytes: &'_ Arc<[u8]>| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let (Some(after), true) = (file.after.as_ref().and_then(text), file.is_changed()) else {
        return Vec::new();
    };
    diagnosed::change(ctx, &file.name, before.as_ref().and_then(text).as_deref(), &after)
}

/// Notes what the session knows of a file after the patch.
fn note_version(ctx: &Context, file: &Planned, plan: &Plan, world: &World) {
    let from = file.moved_from.as_deref().and_then(|from| plan.get(from));
    let known = |name: &str| world.known.get(name).cloned().unwrap_or(Knowledge::Unseen);
    match (&file.before, &file.after, from) {
        // What was changed since is shown with the result.
        (_, Some(after), _) if file.since.as_ref().is_some_and(|since| !since.diff.is_cut) => {
            versions::note(ctx, &file.name, after);
        }
        (_, Some(after), Some(Planned { name, before: Some(before), .. })) => {
            versions::note_changed(ctx, &file.name, &known(name), before, after);
        }
        (Some(before), Some(after), None) if !file.is_replaced => {
            if file.is_changed() {
                versions::note_changed(ctx, &file.name, &known(&file.name), before, after);
            }
        }
        (_, Some(after), _) => versions::note(ctx, &file.name, after),
        (Some(_), None, _) => ctx.forget_version(&file.name),
        (None, None, _) => {}
    }
}

/// The files that parsed and do not any more; an error where a hunk was placed by overlooking something.
fn broken(ctx: &Context, plan: &Plan) -> Result<Vec<String>, ToolError> {
    let mut notes = Vec::new();
    for file in plan.files.iter().filter(|file| file.is_changed()) {
        let (Some(before), Some(after)) = (&file.before, &file.after) else { continue };
        let (Ok(before), Ok(after)) = (std::str::from_utf8(before), std::str::from_utf8(after)) else {
            continue;
        };
        let found = match file.step {
            _ if file.since.is_some() => FoundBy::Overlooking(versions::SINCE),
            Some(step) if step > Step::LineEndings => FoundBy::Overlooking(step.word()),
            _ => FoundBy::Exactly,
        };
        notes.extend(parsed::check(ctx, &file.name, before, after, found)?);
    }
    Ok(notes)
}

impl Changed for Data {
    fn files(&self) -> Vec<String> {
        self.remaining()
    }

    fn formatted(&mut self, _: &str, _: &str, _: usize) {}

    fn changes(&mut self) -> &mut Vec<TextChange> {
        &mut self.changes
    }

    fn new_errors(&mut self) -> &mut Vec<NewError> {
        &mut self.new_errors
    }
}

/// Reads every file that the patch names.
fn look(ctx: &Context, patch: &Patch) -> Result<World, ToolError> {
    let workspace = ctx.workspace();
    let mut world = World { redactor: Arc::clone(ctx.redactor()), ..World::default() };
    let mut room = MOST_BYTES;
    for (line, spelling) in patch.paths() {
        ctx.checkpoint()?;
        if world.names.contains_key(spelling) {
            continue;
        }
        let path = WorkspacePath::new(spelling);
        let (name, found) = match workspace.open(&path) {
            Ok(file) => {
                let name = file.stat.name.clone();
                if is_link(&**workspace, &path, &name)? {
                    world.links.insert(spelling.to_owned());
                }
                let stat = file.stat.clone();
                if stat.has_other_names {
                    world.linked.insert(name.clone());
                }
                let found = match world.files.contains_key(&name) {
                    true => None,
                    false => Some(read(file, &mut room)?),
                };
                if let Some(Existed::File { bytes, .. }) = &found {
                    world.known.insert(name.clone(), Knowledge::of(ctx, &stat, bytes));
                }
                (name, found)
            }
            Err(error) if error.code() == Code::FileNotFound => {
                (resolved(&**workspace, &path)?, Some(Existed::Missing(error)))
            }
            Err(error) => return Err(error.with("patchLine", line)),
        };
        world.names.insert(spelling.to_owned(), name.clone());
        if let Some(found) = found {
            world.files.entry(name).or_insert(found);
        }
    }
    Ok(world)
}

/// The name that a new file will have, links among its folders followed: by this name it is judged when it is written.
fn resolved(workspace: &dyn Workspace, path: &WorkspacePath) -> Result<String, ToolError> {
    let spelled = workspace.name(path)?;
    let mut above = spelled.as_str();
    while let Some((folder, _)) = above.rsplit_once('/').filter(|(folder, _)| !folder.is_empty()) {
        above = folder;
        match workspace.stat(&WorkspacePath::new(above)) {
            Ok(stat) => {
                let rest = &spelled[above.len() + 1..];
                return Ok(WorkspacePath::new(stat.name).join(rest).as_str().to_owned());
            }
            Err(error) if error.code() == Code::FileNotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(spelled)
}

/// Whether the last part of a path is a link, rather than one of the folders above it.
fn is_link(workspace: &dyn Workspace, path: &WorkspacePath, found: &str) -> Result<bool, ToolError> {
    let spelled = workspace.name(path)?;
    if spelled == found {
        return Ok(false);
    }
    let (above, last) = spelled.rsplit_once('/').unwrap_or((".", &spelled));
    let above = workspace.stat(&WorkspacePath::new(above))?.name;
    Ok(WorkspacePath::new(above).join(last).as_str() != found)
}

fn read(file: File, room: &mut u64) -> Result<Existed, ToolError> {
    let File { stat, reader } = file;
    let limit = *room;
    let too_large = || {
        let message = format!(
            "`{}` and the files before it are larger than {} MiB together; send a patch of fewer files",
            stat.name,
            MOST_BYTES / 1024 / 1024
        );
        ToolError::new(Code::TooLarge, message).with("path", stat.name.as_str()).with("size", stat.size)
    };
    if stat.size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes).map_err(|error| {
        ToolError::new(Code::ReadError, format!("`{}` could not be read: {error}", stat.name))
    })?;
    *room = limit.checked_sub(bytes.len() as u64).ok_or_else(too_large)?;
    Ok(Existed::File { bytes: bytes.into(), mode: stat.mode })
}
