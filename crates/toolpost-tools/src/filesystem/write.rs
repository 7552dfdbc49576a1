//! `write`: a whole file put in place, with the mark and the line endings of what it replaces.
//!
//! Mode, links and wholeness are the workspace's part.

use super::diagnosed::{self, NewError};
use super::diff::Diff;
use super::effort::Effort;
use super::format::Changed;
use super::omission;
use super::parsed::{self, FoundBy};
use super::redacted;
use super::text::{self, Text};
use super::versions::{self, Knowledge, Overrides, Stale};
use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::time::{Duration, Instant};
use toolpost_core::access::ResourceKind;
use toolpost_core::code::TextChange;
use toolpost_core::host::Seen;
use toolpost_core::workspace::{OldContent, Stat};
use toolpost_core::{Capability, Code, Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// A file of so many bytes is shown whole where it was not seen before.
const SHOWN_BYTES: usize = 20_000;

/// Maximum number of lines whose endings are compared one by one, and how long the shortest difference is looked for.
const MOST_COMPARED_LINES: usize = 200_000;
const PATIENCE: Duration = Duration::from_millis(500);

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// File to write, absolute or from the workspace root.
    file_path: WorkspacePath,
    /// The whole new content.
    content: String,
    /// SHA-256 that the file must have now.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    expected_hash: Option<String>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The file that was written, links followed.
    path: String,
    /// Whether the file is new.
    created: bool,
    /// Whether it had this content already.
    unchanged: bool,
    /// Bytes written.
    bytes: usize,
    /// What changed, as a unified diff; absent where the old content is no text, too large or not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Lines added.
    added: usize,
    /// Lines removed.
    removed: usize,
    /// SHA-256 of the file now.
    hash: String,
    /// Whether there was a file that this session had not read.
    #[serde(skip_serializing_if = "is_false")]
    unread: bool,
    /// `crlf` or `lf` where the line endings of the content were changed to those of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_endings: Option<String>,
    /// What to look at: a file that parsed before and does not any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The errors that the change has brought, as language servers find them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_errors: Vec<NewError>,
    #[serde(skip)]
    changes: Vec<TextChange>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Changed for Data {
    fn files(&self) -> Vec<String> {
        vec![self.path.clone()]
    }

    fn formatted(&mut self, _: &str, hash: &str, bytes: usize) {
        hash.clone_into(&mut self.hash);
        self.bytes = bytes;
    }

    fn changes(&mut self) -> &mut Vec<TextChange> {
        &mut self.changes
    }

    fn new_errors(&mut self) -> &mut Vec<NewError> {
        &mut self.new_errors
    }
}

/// The tool.
pub struct Write;

impl Tool for Write {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("write", "1.0.0", include_str!("write.txt"))
            .requires(Capability::Write)
            .about(ResourceKind::Path)
            .argument_alias("path", "filePath")
            .argument_alias("file", "filePath")
            .argument_alias("text", "content")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| write(ctx, args)).await
    }
}

fn write(ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
    check_size(&args.file_path, args.content.len())?;
    let old = Old::of(ctx, &args.file_path)?;
    let name = match &old {
        Some(old) => old.name.clone(),
        None => ctx.workspace().name(&args.file_path)?,
    };
    check_expected(&name, old.as_ref(), args.expected_hash.as_deref())?;
    let (is_unread, stale) = match old.as_ref().filter(|_| args.expected_hash.is_none()) {
        Some(old) => {
            let known = old.knowledge(ctx);
            (matches!(known, Knowledge::Unseen), unseen(ctx, old, known))
        }
        None => (false, None),
    };
    let mut new = New::of(ctx, name, old, &args.content, args.file_path)?;
    ctx.checkpoint()?;
    if !new.data.unchanged {
        if let Some(stale) = stale {
            if let Some(bytes) = new.replaced.as_deref().filter(|_| stale.is_shown) {
                // What is shown with the refusal is known, so that the next try is one of somebody who knows it.
                text::note_known(ctx, &new.data.path, &text::hash(bytes));
                versions::note(ctx, &new.data.path, bytes);
            }
            return Err(stale.error);
        }
        new.data.unread = is_unread;
        text::note_new_folders(ctx, &new.path)?;
        ctx.workspace().write(&new.path, &new.bytes)?;
    }
    new.data.hash = ctx.hash_of(&new.data.path, &new.bytes);
    text::note_known(ctx, &new.data.path, &new.data.hash);
    versions::note(ctx, &new.data.path, &new.bytes);
    Ok(Output::new(new.data.path.clone(), new.text(ctx.is_dry_run()), new.data))
}

/// What is there now.
struct Old {
    name: String,
    stat: Stat,
    /// All bytes, the first ones of a file that is too large to look at, or none of one that is withheld.
    bytes: Vec<u8>,
    is_whole: bool,
    /// Why the model may not have the content.
    withheld: Option<ToolError>,
}

impl Old {
    fn of(ctx: &Context, path: &WorkspacePath) -> Result<Option<Old>, ToolError> {
        let replaced = match ctx.workspace().replaced(path) {
            Ok(replaced) => replaced,
            Err(error) if error.code() == Code::FileNotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (name, stat) = (replaced.stat.name.clone(), replaced.stat);
        let file = match replaced.content {
            OldContent::Readable(file) => file,
            OldContent::Withheld(why) => {
                let withheld = Some(why);
                return Ok(Some(Old { name, stat, bytes: Vec::new(), is_whole: false, withheld }));
            }
        };
        let is_whole = file.stat.size <= text::MAX_BYTES;
        let bytes = text::head(file, if is_whole { text::MAX_BYTES } else { 64 * 1024 })?;
        Ok(Some(Old { name, stat, bytes, is_whole, withheld: None }))
    }

    /// What the session knows of it.
    fn knowledge(&self, ctx: &Context) -> Knowledge {
        match self.is_whole {
            true => Knowledge::of(ctx, &self.stat, &self.bytes),
            false => Knowledge::of_unread(ctx, &self.stat),
        }
    }

    /// Its text, unless it is none: then it is replaced as it is.
    fn text(&self) -> Result<Option<Text>, ToolError> {
        if self.withheld.is_some() {
            return Ok(None);
        }
        if !self.is_whole {
            // The sample may end within a character or a line.
            let mut sample = self.bytes.clone();
            sample.truncate(sample.iter().rposition(|byte| *byte == b'\n').map_or(sample.len(), |at| at + 1));
            return Ok(Text::decode(&sample, &self.name).ok());
        }
        match Text::decode(&self.bytes, &self.name) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code() == Code::IsBinary => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn check_size(path: &WorkspacePath, bytes: usize) -> Result<(), ToolError> {
    match bytes as u64 > text::MAX_BYTES {
        true => Err(ToolError::new(
            Code::TooLarge,
            format!(
                "the content for `{path}` has {bytes} bytes; at most {} can be written at once: write less, or make \
                 the file with a command",
                text::MAX_BYTES
            ),
        )
        .with("size", bytes)),
        false => Ok(()),
    }
}

fn check_expected(name: &str, old: Option<&Old>, expected: Option<&str>) -> Result<(), ToolError> {
    match (old, expected) {
        (_, None) => Ok(()),
        // Whether a hash is right would tell whether a guess is.
        (Some(Old { withheld: Some(why), .. }), Some(_)) => {
            let mut error = ToolError::new(
                why.code(),
                format!(
                    "the expected hash of `{name}` cannot be compared, because its content may not be known here; \
                     expect none. {}",
                    why.message()
                ),
            );
            for (key, value) in why.details() {
                error = error.with(key, value.clone());
            }
            Err(error)
        }
        (Some(old), Some(_)) if !old.is_whole => Err(text::too_large(name, old.bytes.len() as u64)),
        (Some(old), expected) => text::check_hash(name, &old.bytes, expected),
        (None, Some(_)) => Err(ToolError::new(
            Code::StaleFile,
            format!("`{name}` does not exist (any more), so it has no hash; expect none to create it"),
        )
        .with("path", name)),
    }
}

/// The refusal to overwrite what others have changed since the session has read it. In a kernel run, where we own the
/// transcript, also of what the model does not know as it is now, with what it has to know.
fn unseen(ctx: &Context, old: &Old, known: Knowledge) -> Option<Stale> {
    let name = &old.name;
    let seen = ctx.extra().get::<Seen>();
    let is_known = |seen: &Seen| old.is_whole && seen.is_known(name, &text::hash(&old.bytes));
    if seen.as_deref().is_some_and(is_known) {
        return None;
    }
    if let Knowledge::Stale(known) = known {
        return Some(match old.is_whole {
            true => Stale::of(ctx, name, &known, &old.bytes, Overrides::ByHash),
            false => Stale::unread(name, old.withheld.as_ref()),
        });
    }
    seen?;
    let refused = |message| Stale {
        error: ToolError::new(Code::StaleFile, message).with("path", name.as_str()),
        is_shown: false,
    };
    if let Some(why) = &old.withheld {
        let message = format!(
            "`{name}` exists, and what it holds may not be seen here, so it is not overwritten; leave it as it is, or \
             have its reading allowed: {}",
            why.message()
        );
        return Some(refused(message));
    }
    if !old.is_whole {
        let message =
            format!("`{name}` is too large to have been seen as it is now; delete it first, or edit it");
        return Some(refused(message));
    }
    let hash = text::hash(&old.bytes);
    let text = Text::decode(&old.bytes, name).ok().map(|text| text.text);
    let error = |shown: &str| {
        let message = format!(
            "`{name}` has not been seen as it is now; its hash is {hash}. Write again if what it holds may go{shown}"
        );
        ToolError::new(Code::StaleFile, message).with("path", name.as_str()).with("hash", hash.as_str())
    };
    Some(match text {
        Some(text) if text.len() <= SHOWN_BYTES => {
            Stale { error: error(&format!(":\n{text}")).with("text", text), is_shown: true }
        }
        _ => {
            let spelled = ctx.spelled("expectedHash", hash.as_str());
            let with = spelled.map_or_else(String::new, |hash| format!(", with `{hash}`"));
            Stale { error: error(&with), is_shown: false }
        }
    })
}

/// What is to be there.
struct New {
    path: WorkspacePath,
    bytes: Vec<u8>,
    /// All that was there before.
    replaced: Option<Vec<u8>>,
    diff: Diff,
    /// Why the old content is not shown.
    withheld: Option<ToolError>,
    has_other_names: bool,
    data: Data,
}

impl New {
    fn of(
        ctx: &Context,
        name: String,
        old: Option<Old>,
        content: &str,
        path: WorkspacePath,
    ) -> Result<New, ToolError> {
        let effort = &Effort::of(ctx);
        let before = match &old {
            Some(old) => old.text()?,
            None => None,
        };
        let old_text = before.as_ref().map_or("", |before| before.text.as_str());
        if old.is_some() && before.is_none() {
            redacted::check_unknown(ctx.redactor(), &name, content)?;
        }
        let content = &*redacted::restored(ctx.redactor(), &name, content, old_text)?;
        redacted::check(ctx.redactor(), &name, old_text, content)?;
        omission::check(effort, &name, &[old_text], content)?;
        let (bytes, after, line_endings) = match &before {
            Some(before) => {
                // A mark that the content brings along would be a second one.
                let content = content.strip_prefix('\u{feff}').unwrap_or(content);
                let (after, line_endings) = with_endings_of(&name, &before.text, content)?;
                (before.encode(&after, &name)?, after, line_endings)
            }
            None => (content.as_bytes().to_vec(), content.to_owned(), None),
        };
        effort.check()?;
        let is_known = old.as_ref().is_some_and(|old| old.is_whole);
        let broken = match before.as_ref().filter(|_| is_known) {
            Some(before) => parsed::check(ctx, &name, &before.text, &after, FoundBy::Replacing)?,
            None => None,
        };
        let created = old.is_none();
        let is_comparable = created || (before.is_some() && old.as_ref().is_some_and(|old| old.is_whole));
        let shown = |text: &'_ str| ctx.redactor().redact_lines(text).into_owned();
        let diff = match is_comparable {
            true => Diff::between(
                &name,
                before.as_ref().map(|before| shown(&before.text)).as_deref(),
                Some(&shown(&after)),
            ),
            false => Diff::default(),
        };
        effort.check()?;
        let data = Data {
            created,
            unchanged: old.as_ref().is_some_and(|old| old.is_whole && old.bytes == bytes),
            bytes: bytes.len(),
            diff: is_comparable.then(|| diff.text.clone()),
            added: diff.added,
            removed: diff.removed,
            // Known when it is written.
            hash: String::new(),
            unread: false,
            line_endings: line_endings.map(str::to_owned),
            notes: broken.into_iter().collect(),
            new_errors: Vec::new(),
            changes: diagnosed::change(
                ctx,
                &name,
                before.as_ref().map(|before| before.text.as_str()),
                &after,
            ),
            path: name,
        };
        let has_other_names = old.as_ref().is_some_and(|old| old.stat.has_other_names);
        let (withheld, replaced) = match old {
            Some(old) => (old.withheld, old.is_whole.then_some(old.bytes)),
            None => (None, None),
        };
        Ok(New { path, bytes, replaced, diff, withheld, has_other_names, data })
    }

    fn text(&self, is_dry_run: bool) -> String {
        let data = &self.data;
        let name = one_line(&data.path);
        let mut text = match (data.created, data.unchanged, &data.diff) {
            (_, true, _) => format!("{name}: unchanged, it has this content already"),
            (true, _, _) => format!("{name}: created, {} lines, {} bytes", data.added, data.bytes),
            (_, _, Some(_)) => format!("{name}: replaced, +{} -{}", data.added, data.removed),
            (_, _, None) => format!("{name}: replaced, {} bytes", data.bytes),
        };
        if let (false, Some(endings)) = (data.unchanged, &data.line_endings) {
            text.push_str(&format!(" (line endings made {} as they were)", endings.to_uppercase()));
        }
        if data.unread {
            text.push_str("\n(this session had not read what was there before)");
        }
        for note in &data.notes {
            text.push_str(&format!("\n({note})"));
        }
        if let Some(why) = &self.withheld {
            text.push_str(&format!("\n(the old content is not shown: {})", why.message()));
        }
        // What a new file holds is what was just given, so only somebody who is asked to agree wants to see it.
        if (!data.created || is_dry_run) && !data.unchanged && data.diff.is_some() {
            text.push('\n');
            text.push_str(&self.diff.shown());
        }
        if self.has_other_names && !data.unchanged {
            text.push_str(text::OTHER_NAMES);
        }
        text
    }
}

/// The content with the line endings of the old text, and their name where that changed something.
fn with_endings_of(
    name: &str,
    old: &str,
    content: &str,
) -> Result<(String, Option<&'static str>), ToolError> {
    let crlf = memchr::memmem::find_iter(old.as_bytes(), b"\r\n").count();
    let lf = memchr::memchr_iter(b'\n', old.as_bytes()).count() - crlf;
    let changed = |text: String, name: &'static str| match text == content {
        true => (text, None),
        false => (text, Some(name)),
    };
    Ok(match (crlf, lf) {
        (0, 0) => (content.to_owned(), None),
        (0, _) => changed(content.replace("\r\n", "\n"), "lf"),
        (_, 0) => changed(content.replace("\r\n", "\n").replace('\n', "\r\n"), "crlf"),
        // Of both kinds: who wrote some of each knows them; else every line keeps its own.
        _ if content.contains("\r\n") => (content.to_owned(), None),
        _ => changed(with_own_endings(name, old, content)?, "crlf"),
    })
}

fn with_own_endings(name: &str, old: &str, content: &str) -> Result<String, ToolError> {
    let bare = |line: &&'_ str| line.trim_end_matches('\n').trim_end_matches('\r').len();
    let count = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let lines = count(old).max(count(content));
    if lines > MOST_COMPARED_LINES {
        return Err(ToolError::new(
            Code::TooLarge,
            format!(
                "`{name}` has line endings of both kinds, and {lines} lines are too many to tell which line has which; \
                 write the content with the line endings that it is to have, some of them CRLF"
            ),
        )
        .with("lines", lines));
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = content.split_inclusive('\n').collect();
    let olds: Vec<&str> = old_lines.iter().map(|line| &line[..bare(line)]).collect();
    let news: Vec<&str> = new_lines.iter().map(|line| &line[..bare(line)]).collect();
    let mut endings: Vec<Option<bool>> = vec![None; news.len()];
    let deadline = Some(Instant::now() + PATIENCE);
    for op in capture_diff_slices_deadline(Algorithm::Myers, &olds, &news, deadline) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            for at in 0..len {
                endings[new_index + at] = Some(old_lines[old_index + at].ends_with("\r\n"));
            }
        }
    }
    let mut is_crlf = endings.iter().flatten().next().copied().unwrap_or(false);
    let mut text = String::with_capacity(content.len());
    for (line, own) in new_lines.iter().zip(endings) {
        is_crlf = own.unwrap_or(is_crlf);
        match line.strip_suffix('\n') {
            Some(bare) if is_crlf => {
                text.push_str(bare);
                text.push_str("\r\n");
            }
            _ => text.push_str(line),
        }
    }
    Ok(text)
}
