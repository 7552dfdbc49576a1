//! `edit`: some text of one file replaced by another, found by the [ladder](super::ladder).
//!
//! The turn to change the file is the executor's to give; whether a place is the one meant is the ladder's to say.

mod failure;
mod stale;

use super::diagnosed::{self, NewError};
use super::diff::Diff;
use super::effort::Effort;
use super::entities::{self, Entities};
use super::format::Changed;
use super::ladder::{self, Found, Step, Wanted};
use super::omission;
use super::parsed::{self, FoundBy};
use super::redacted;
use super::text::{self, Text};
use super::versions::{self, Knowledge, MergedData, Since};
use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use toolpost_core::access::ResourceKind;
use toolpost_core::code::TextChange;
use toolpost_core::host::Seen;
use toolpost_core::{Capability, Code, Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// File to change, absolute or from the workspace root.
    file_path: WorkspacePath,
    /// Text to replace, exactly as in the file, without line numbers; empty to create the file.
    #[schemars(extend("x-toolpost-empty" = {"beside": "edits"}))]
    old_string: Option<String>,
    /// Text to put in its place.
    #[schemars(extend("x-toolpost-empty" = {"beside": "edits"}))]
    new_string: Option<String>,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
    /// Instead of the above: several changes in order, all or none.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    edits: Option<Vec<Replacement>>,
    /// SHA-256 that the file must have now.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    expected_hash: Option<String>,
}

/// One change of several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Replacement {
    /// Text to replace.
    old_string: String,
    /// Text to put in its place.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The file that was changed, links followed.
    path: String,
    /// What changed, as a unified diff.
    diff: String,
    /// How each change was found: `exact`, or what was overlooked.
    steps: Vec<String>,
    /// Places that were changed.
    places: usize,
    /// Lines added.
    added: usize,
    /// Lines removed.
    removed: usize,
    /// SHA-256 of the file now.
    hash: String,
    /// Whether the file is new.
    created: bool,
    /// What was changed since the session has read the file, where the change was merged with that.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergedData>,
    /// What to look at in the diff: an exact match that begins or ends inside a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The errors that the change has brought, as language servers find them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_errors: Vec<NewError>,
    #[serde(skip)]
    changes: Vec<TextChange>,
}

impl Changed for Data {
    fn files(&self) -> Vec<String> {
        vec![self.path.clone()]
    }

    fn formatted(&mut self, _: &str, hash: &str, _: usize) {
        hash.clone_into(&mut self.hash);
    }

    fn changes(&mut self) -> &mut Vec<TextChange> {
        &mut self.changes
    }

    fn new_errors(&mut self) -> &mut Vec<NewError> {
        &mut self.new_errors
    }
}

/// The tool.
pub struct Edit;

impl Tool for Edit {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("edit", "1.0.0", include_str!("edit.txt"))
            .requires(Capability::Read)
            .requires(Capability::Write)
            .about(ResourceKind::Path)
            .argument_alias("path", "filePath")
            .argument_alias("file", "filePath")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| edit(ctx, args)).await
    }
}

fn edit(ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
    let edits = edits(ctx, args.old_string, args.new_string, args.replace_all, args.edits)?;
    for (index, edit) in edits.iter().enumerate() {
        if edit.old_string == edit.new_string {
            return Err(failure::no_change(ctx, &args.file_path, place_in(index, edits.len())));
        }
    }
    if edits[0].old_string.is_empty() {
        return create(ctx, &args.file_path, edits);
    }
    let (stat, bytes) = text::bytes(ctx, &args.file_path)?;
    let name = stat.name.clone();
    text::check_hash(&name, &bytes, args.expected_hash.as_deref())?;
    // Whether the model has seen the rest of the file does not matter: the place is found in what is there now.
    let is_noted = ctx.extra().get::<Seen>().is_some_and(|seen| seen.is_noted(&name));
    let known = Knowledge::of(ctx, &stat, &bytes);
    let before = Text::of(Cow::Owned(bytes), &name)?;
    let edits = plain(edits, &before.text)?;
    let effort = Effort::of(ctx);
    let mark = Mark::of(&before);
    let edited = apply(ctx, &effort, &name, Cow::Borrowed(&before.text), mark, &edits);
    // Whoever names the hash of what is there now does not speak of an older version.
    let base = known.base().filter(|_| args.expected_hash.is_none());
    let edited = match base {
        Some(base) => stale::merged_if_stale(
            ctx,
            &effort,
            &stale::File { name: &name, base, now: &before },
            &edits,
            edited,
        ),
        None => edited,
    };
    let edited = edited.map_err(|error| match before.encode(&before.text, &name) {
        Ok(bytes) => error.with("hash", text::hash(&bytes)),
        Err(_) => error,
    })?;
    if edited.text == before.text {
        return Err(failure::no_change(ctx, &WorkspacePath::new(name), None));
    }
    effort.check()?;
    let shown = |text: &'_ str| ctx.redactor().redact_lines(text).into_owned();
    let diff = match ctx.redactor().is_empty() {
        true => Diff::between(&name, Some(&before.text), Some(&edited.text)),
        false => Diff::between(&name, Some(&shown(&before.text)), Some(&shown(&edited.text))),
    };
    let Edited { text, steps, places, mut notes, since } = edited;
    let found = if since.is_some() { FoundBy::Overlooking(versions::SINCE) } else { found_by(&steps) };
    notes.extend(parsed::check(ctx, &name, &before.text, &text, found)?);
    let changes = diagnosed::change(ctx, &name, Some(&before.text), &text);
    let after = before.encode_owned(text.into_owned(), &name)?;
    effort.check()?;
    ctx.checkpoint()?;
    ctx.workspace().write(&args.file_path, &after)?;
    let hash = ctx.hash_of(&name, &after);
    if is_noted {
        let hash_before = ctx.hash_of(&name, &before.bytes(&name)?);
        text::note_changed(ctx, &name, &hash_before, &hash);
    }
    match &since {
        // What was changed since is shown with the result.
        Some(since) if !since.diff.is_cut => versions::note(ctx, &name, &after),
        _ => versions::note_changed(ctx, &name, &known, &before.bytes(&name)?, &after),
    }
    let mut output = output(&name, Made { steps, places, notes, since }, &diff, hash, Existed::Yes);
    output.data.changes = changes;
    if stat.has_other_names {
        output.text.push_str(text::OTHER_NAMES);
    }
    Ok(output)
}

/// Several edits without entities, where the file has the plain characters for those of an old text. One edit alone is for the
/// ladder to judge.
fn plain(mut edits: Vec<Replacement>, text: &str) -> Result<Vec<Replacement>, ToolError> {
    if edits.len() < 2 {
        return Ok(edits);
    }
    let all: Vec<&str> =
        edits.iter().flat_map(|edit| [edit.old_string.as_str(), edit.new_string.as_str()]).collect();
    let olds = edits.iter().flat_map(|edit| edit.old_string.lines()).map(|line| (line, text));
    match entities::judged(olds, &all) {
        Entities::Meant => {}
        Entities::Mixed(at) => {
            let message = format!(
                "edit {} has characters as they are that other edits of the call have as entities such as `&lt;`; write all \
                 without entities",
                at / 2 + 1
            );
            return Err(ToolError::new(Code::ValidationError, message).with("edit", at / 2 + 1));
        }
        Entities::Throughout => {
            for edit in &mut edits {
                edit.old_string = ladder::without_entities(&edit.old_string);
                edit.new_string = ladder::without_entities(&edit.new_string);
            }
        }
    }
    Ok(edits)
}

/// How all the places were found: by the most forgiving step that was needed.
fn found_by(steps: &[Step]) -> FoundBy {
    match steps.iter().max() {
        Some(step) if *step > Step::LineEndings => FoundBy::Overlooking(step.word()),
        _ => FoundBy::Exactly,
    }
}

/// The changes asked for, in whichever form.
fn edits(
    ctx: &Context,
    old: Option<String>,
    new: Option<String>,
    replace_all: bool,
    edits: Option<Vec<Replacement>>,
) -> Result<Vec<Replacement>, ToolError> {
    let wrong = |message: String| Err(ToolError::new(Code::ValidationError, message));
    let (old_name, new_name) = (failure::argument(ctx, "oldString"), failure::argument(ctx, "newString"));
    match (old, new, edits) {
        (Some(old_string), Some(new_string), None) => {
            Ok(vec![Replacement { old_string, new_string, replace_all }])
        }
        (None, None, Some(edits)) if edits.is_empty() => {
            wrong("`edits` is empty; give at least one".to_owned())
        }
        (None, None, Some(_)) if replace_all => {
            wrong("with `edits`, `replaceAll` belongs into each of them".to_owned())
        }
        (None, None, Some(edits)) => match edits.iter().skip(1).position(|edit| edit.old_string.is_empty()) {
            Some(at) => wrong(format!(
                "`oldString` of edit {} is empty, which only the first may be, to create the file",
                at + 2
            )),
            None => Ok(edits),
        },
        (None, None, None) => {
            let several = ctx.argument("edits").map_or_else(String::new, |name| format!(", or `{name}`"));
            wrong(format!("give `{old_name}` and `{new_name}`{several}"))
        }
        (_, _, Some(_)) => wrong(format!("give either `{old_name}` and `{new_name}`, or `edits`, not both")),
        (Some(_), None, None) => {
            wrong(format!("`{new_name}` is missing; it may be empty to delete the text"))
        }
        (None, Some(_), None) => wrong(format!("`{old_name}` is missing; it may be empty to create a file")),
    }
}

/// Which of several edits, counting from 1; nothing where there is one.
fn place_in(index: usize, count: usize) -> Option<usize> {
    (count > 1).then_some(index + 1)
}

/// Whether a file begins with a byte order mark, which is no part of its text.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Has,
    HasNot,
}

impl Mark {
    fn of(text: &Text) -> Mark {
        if text.has_mark() { Mark::Has } else { Mark::HasNot }
    }
}

/// A text after all its changes.
struct Edited<'a> {
    text: Cow<'a, str>,
    steps: Vec<Step>,
    places: usize,
    notes: Vec<String>,
    /// What the changes were merged with.
    since: Option<Since>,
}

impl Edited<'_> {
    /// Whether every place was found exactly.
    fn is_exact(&self) -> bool {
        self.steps.iter().all(|step| *step <= Step::LineEndings)
    }
}

fn apply<'a>(
    ctx: &Context,
    effort: &Effort,
    name: &str,
    mut text: Cow<'a, str>,
    mark: Mark,
    edits: &[Replacement],
) -> Result<Edited<'a>, ToolError> {
    let (mut steps, mut places, mut notes) = (Vec::new(), 0, Vec::new());
    for (index, edit) in edits.iter().enumerate() {
        effort.check()?;
        if edit.old_string.is_empty() {
            // The edit that made the text.
            continue;
        }
        let wanted = if edit.replace_all { Wanted::All } else { Wanted::One };
        let asked = redacted::restored(ctx.redactor(), name, &edit.old_string, &text)?;
        let given = redacted::restored(ctx.redactor(), name, &edit.new_string, &text)?;
        // `read` does not show the mark at the start of a file, other tools do.
        let bare_new = given.trim_start_matches('\u{feff}');
        let (old, new) = match asked.strip_prefix('\u{feff}') {
            Some(old) => (old, bare_new),
            // A file without the mark may get one at its start, and nowhere else.
            None if mark == Mark::Has || !text.starts_with(&*asked) => (&*asked, bare_new),
            None => (&*asked, &*given),
        };
        let found = ladder::find(effort, &text, old, new, wanted).map_err(|failure| {
            // What is shown of the file may be a part of a secret of several lines.
            let shown = ctx.redactor().redact_lines(&text);
            let failure = match &shown {
                Cow::Borrowed(_) => failure,
                Cow::Owned(shown) => failure.of(effort, shown, &edit.old_string),
            };
            failure::failed(ctx, name, &shown, edit, place_in(index, edits.len()), failure)
        })?;
        omission::check(effort, name, &[&text, old], new)?;
        // A prefix or an escape may have hidden one.
        for found in found.iter().filter(|found| found.step > Step::LineEndings) {
            omission::check(effort, name, &[&text], &found.replacement)?;
        }
        effort.spend(text.len() / 2)?;
        let after = replaced(&text, &found);
        redacted::check(ctx.redactor(), name, &text, &after)?;
        if let [one] = found.as_slice() {
            notes.extend(ladder::cut_word(&text, one));
        }
        steps.extend(found.first().map(|found| found.step));
        places += found.len();
        text = Cow::Owned(after);
    }
    Ok(Edited { text, steps, places, notes, since: None })
}

/// The text with all places replaced, in one pass. The ladder has seen to it that the size is bounded.
fn replaced(text: &str, found: &[Found]) -> String {
    let size =
        found.iter().fold(text.len(), |size, found| size - found.range.len() + found.replacement.len());
    let mut after = String::with_capacity(size);
    let mut from = 0;
    for found in found {
        after.push_str(&text[from..found.range.start]);
        after.push_str(&found.replacement);
        from = found.range.end;
    }
    after.push_str(&text[from..]);
    after
}

/// An empty old text makes a new file.
fn create(ctx: &Context, path: &WorkspacePath, edits: Vec<Replacement>) -> Result<Output<Data>, ToolError> {
    match ctx.workspace().stat(path) {
        Ok(stat) => return Err(failure::exists(ctx, &stat.name)),
        Err(error) if error.code() == Code::FileNotFound => {}
        Err(error) => return Err(error),
    }
    let name = ctx.workspace().name(path)?;
    let first = edits[0].new_string.clone();
    let effort = Effort::of(ctx);
    omission::check(&effort, &name, &[], &first)?;
    let edited = apply(ctx, &effort, &name, Cow::Borrowed(&first), Mark::Has, &edits)?;
    let diff = Diff::between(&name, None, Some(&edited.text));
    text::note_new_folders(ctx, path)?;
    let written = ctx.workspace().write(path, edited.text.as_bytes())?;
    let hash = ctx.hash_of(&written.name, edited.text.as_bytes());
    text::note_known(ctx, &written.name, &hash);
    versions::note(ctx, &written.name, edited.text.as_bytes());
    let changes = diagnosed::change(ctx, &written.name, None, &edited.text);
    let Edited { steps, places, notes, since, .. } = edited;
    let mut output = output(&written.name, Made { steps, places, notes, since }, &diff, hash, Existed::No);
    output.data.changes = changes;
    Ok(output)
}

/// Whether there was a file before.
#[derive(PartialEq)]
enum Existed {
    Yes,
    No,
}

/// How the changes of a file were made.
struct Made {
    steps: Vec<Step>,
    places: usize,
    notes: Vec<String>,
    since: Option<Since>,
}

fn output(name: &str, made: Made, diff: &Diff, hash: String, existed: Existed) -> Output<Data> {
    let Made { steps, places, notes, since } = made;
    let created = existed == Existed::No;
    let mut tolerant: Vec<Step> = steps.iter().copied().filter(|step| *step != Step::Exact).collect();
    tolerant.dedup();
    let matched = match tolerant.as_slice() {
        _ if created => "created".to_owned(),
        _ if let Some(since) = &since => since.merged(),
        [] => "matched: exact".to_owned(),
        steps => {
            let words: Vec<&str> = steps.iter().map(|step| step.word()).collect();
            format!("matched by overlooking {}; check the diff", words.join(", "))
        }
    };
    let several = match places {
        0 | 1 => String::new(),
        places => format!(", {places} places"),
    };
    let shown = one_line(name);
    let noted: String = notes.iter().map(|note| format!("; {note}: check the diff")).collect();
    let mut text =
        format!("{shown}: +{} -{}{several} ({matched}{noted})\n{}", diff.added, diff.removed, diff.shown());
    if let Some(since) = &since {
        text.push_str(&format!("changed since it was read:\n{}", since.diff.shown()));
    }
    let data = Data {
        path: name.to_owned(),
        diff: diff.text.clone(),
        steps: steps.iter().map(Step::to_string).collect(),
        places,
        added: diff.added,
        removed: diff.removed,
        hash,
        created,
        merged: since.as_ref().map(MergedData::of),
        notes,
        new_errors: Vec::new(),
        changes: Vec::new(),
    };
    Output::new(name, text, data)
}
