//! `read`: one file as numbered or raw lines, a notebook as its cells, an image or a PDF as an attachment (a PDF with its text where a helper can read
//! it), a folder as its names.
//!
//! The file is streamed: neither its size nor the length of its lines costs memory.

pub(super) mod attached;
pub(super) mod encoding;
mod folder;
mod lines;
mod notebook;
pub(super) mod pdf;
mod remote;

use crate::filesystem::{Helper, versions};
use encoding::Encoding;
use lines::{Form, Page, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{Cursor, Read as _};
use toolpost_core::access::ResourceKind;
use toolpost_core::host::{FileMark, HANDLE_PREFIX, Seen};
use toolpost_core::store::StoredFile;
use toolpost_core::tool::OutputBudget;
use toolpost_core::workspace::{File, Kind, Stat};
use toolpost_core::{Capability, Code, Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// File to read, absolute or from the workspace root, or a `spill:` handle.
    file_path: WorkspacePath,
    /// First line wanted, counting from 1; 0 is the first line too.
    #[serde(default = "first_line")]
    offset: u64,
    /// Number of lines wanted.
    #[schemars(range(min = 1), extend("default" = USUAL_LIMIT))]
    limit: Option<u64>,
    /// Last line wanted, counting from 1.
    #[schemars(range(min = 1), extend("x-toolpost-hidden" = true))]
    end_line: Option<u64>,
    /// Put its number before each line.
    #[schemars(extend("default" = true))]
    line_numbers: Option<bool>,
    /// Show it again even if it has not changed.
    #[serde(default)]
    force: bool,
}

fn first_line() -> u64 {
    1
}

/// Lines of a page where the caller says nothing.
const USUAL_LIMIT: u64 = 2_000;

/// What a program gets beside the text.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The file that was read, links followed.
    path: String,
    /// `text`, `notebook`, `image`, `pdf` or `folder`.
    kind: String,
    /// Size of the file in bytes.
    size: u64,
    /// First line shown.
    pub(crate) start_line: u64,
    /// Lines (or, of a folder, names) shown.
    pub(crate) lines: u64,
    /// Lines in the file, where it was read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_lines: Option<u64>,
    /// Where to go on, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<u64>,
    /// Lines that were cut because they are too long.
    #[serde(skip_serializing_if = "is_zero")]
    cut_lines: u64,
    /// `utf-8`, `utf-16le`, `utf-16be` or `latin-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// Pages of a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<u64>,
    /// SHA-256 of the file's bytes, where it was read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// Whether only a note was returned, because the model has seen exactly this before.
    #[serde(skip_serializing_if = "is_false")]
    unchanged: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The tool.
#[derive(Debug, Default)]
pub struct Read {
    /// What reads the text of PDFs; without, they are attached only.
    pub pdf: Option<Helper>,
}

impl Tool for Read {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("read", "1.0.0", include_str!("read.txt"))
            .requires(Capability::Read)
            .about(ResourceKind::Path)
            .idempotent()
            .retryable()
            .parallel_safe()
            // Pages by lines itself; the line budget of the executor would cut a page that was asked for.
            .budget(OutputBudget { bytes: 50_000, lines: 20_000 })
            .reads_handles("filePath")
            .argument_alias("path", "filePath")
            .argument_alias("file", "filePath")
            .argument_alias("absolute_path", "filePath")
    }

    async fn call(&self, ctx: &Context, mut args: Args) -> Result<Output<Data>, ToolError> {
        args.end_at_last_line(ctx)?;
        let remote = remote::open(ctx, &args.file_path).await?;
        let work = move |ctx: &Context| {
            let found = match remote {
                Some(file) => read(ctx, file, &args, Origin::Elsewhere),
                None => find(ctx, &args),
            };
            found.map(|found| (args, found))
        };
        let (args, found) = ctx.blocking(work).await?;
        let mut output = match (found, &self.pdf) {
            (Found::Pdf(attached, bytes), Some(helper)) => {
                pdf::with_text(ctx, helper, &args, bytes, attached).await?
            }
            (Found::Pdf(output, _) | Found::Other(output), _) => output,
        };
        if args.offset == 0 {
            note_first(ctx, &mut output.text);
        }
        Ok(output)
    }
}

impl Args {
    fn limit(&self) -> u64 {
        self.limit.unwrap_or(USUAL_LIMIT)
    }

    /// Limits the lines to those before the last one wanted, if one is given.
    fn end_at_last_line(&mut self, ctx: &Context) -> Result<(), ToolError> {
        let Some(last) = self.end_line else { return Ok(()) };
        let first = self.offset.max(1);
        if last < first {
            let end = ctx.spelled("endLine", last).unwrap_or_default();
            let start = ctx.spelled("offset", first).unwrap_or_default();
            let message = format!("{end} is before {start}; the last line must not be before the first");
            return Err(ToolError::new(Code::ValidationError, message));
        }
        self.limit = Some(self.limit().min(last - first + 1));
        Ok(())
    }
}

/// What was read.
enum Found {
    /// A PDF, attached, and its bytes.
    Pdf(Output<Data>, Vec<u8>),
    Other(Output<Data>),
}

fn find(ctx: &Context, args: &Args) -> Result<Found, ToolError> {
    let is_handle = args.file_path.as_str().starts_with(HANDLE_PREFIX);
    match ctx.open(&args.file_path) {
        Err(error) if error.code() == Code::NotAFile && !is_handle => {
            match ctx.workspace().stat(&args.file_path)?.kind {
                Kind::Folder => folder::names(ctx, args).map(Found::Other),
                _ => Err(error),
            }
        }
        file => read(ctx, file?, args, if is_handle { Origin::Elsewhere } else { Origin::Workspace }),
    }
}

/// Shows a virtual file as a file of the workspace is shown. Blocks.
pub(crate) fn read_stored(
    ctx: &Context,
    file: StoredFile,
    offset: u64,
    limit: u64,
) -> Result<Output<Data>, ToolError> {
    let StoredFile { about, content } = file;
    // A name that no file of the workspace has: what the model has seen of one says nothing of the other.
    let name = format!("vfs:{}", about.path);
    let args = Args {
        file_path: WorkspacePath::new(&name),
        offset,
        limit: Some(limit),
        end_line: None,
        line_numbers: Some(true),
        force: true,
    };
    let modified_ms = i64::try_from(about.at_ms).unwrap_or(i64::MAX);
    let stat = Stat {
        name,
        kind: Kind::File,
        size: about.size,
        modified_ms,
        mode: about.mode,
        has_other_names: false,
    };
    let (Found::Pdf(mut output, _) | Found::Other(mut output)) =
        read(ctx, File { stat, reader: Box::new(Cursor::new(content)) }, &args, Origin::Elsewhere)?;
    if offset == 0 {
        note_first(ctx, &mut output.text);
    }
    Ok(output)
}

/// Where the bytes that are read come from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// A file that tools can change.
    Workspace,
    Elsewhere,
}

fn read(ctx: &Context, mut file: File, args: &Args, origin: Origin) -> Result<Found, ToolError> {
    let most_kept = if origin == Origin::Workspace { ctx.largest_version() } else { 0 };
    let is_noted = origin == Origin::Workspace && ctx.keeps_versions();
    let mut head = vec![0; lines::room(file.stat.size, 64 << 10)];
    let filled = fill(&mut file, &mut head)?;
    let is_whole = filled < head.len();
    head.truncate(filled);
    if let Some(media_type) = attached::media_type(&head) {
        let stat = file.stat.clone();
        let found = attached::attachment(ctx, file, media_type)?;
        if is_noted {
            ctx.note_version(&stat.name, versions::stamp(&stat), None);
        }
        return Ok(found);
    }
    let encoding = Encoding::guess(&head).ok_or_else(|| is_binary(&file, &head))?;
    if notebook::is_named_so(&file.stat.name) && file.stat.size <= notebook::MOST_BYTES {
        let mut bytes = head.clone();
        if !is_whole {
            let mut rest = file.reader.by_ref().take(notebook::MOST_BYTES);
            (rest.read_to_end(&mut bytes)).map_err(|error| failed(&file.stat.name, &error))?;
        }
        ctx.checkpoint()?;
        if let Some(output) = notebook::shown(ctx, &file.stat.name, &bytes, args) {
            if is_noted && output.is_ok() {
                versions::note(ctx, &file.stat.name, &bytes);
            }
            return output.map(Found::Other);
        }
        // It has another content than its name says: it is shown as it is.
        head = bytes;
    }
    let wanted = Wanted::new(ctx, args);
    let File { stat, reader } = file;
    // At the end already, there is nothing more to ask for.
    let rest = reader.take(if is_whole || head.len() > filled { 0 } else { u64::MAX });
    let mut bytes = versions::KeepingReader::new(Cursor::new(head).chain(rest), stat.size, most_kept);
    let mut page = lines::page(ctx, &mut bytes, stat.size, encoding, &wanted)
        .map_err(|error| error.named(&stat.name))?;
    if page.lines == 0 && wanted.first > 1 {
        return Err(past_the_end(ctx, &stat.name, "lines", page.total.unwrap_or(0), wanted.first));
    }
    if wanted.form == Form::Raw && page.next.is_some() && page.text.len() > 1 {
        // The line before the next one is shown, and not the end of it.
        page.text.truncate(page.text.strip_suffix('\n').unwrap_or(&page.text).len());
    }
    let note = note(ctx, &page, &wanted);
    let apart = if note.is_empty() || page.text.is_empty() || page.text.ends_with('\n') { "" } else { "\n" };
    let text = format!("{}{apart}{note}", page.text);
    let data = Data {
        path: stat.name.clone(),
        kind: "text".to_owned(),
        size: stat.size,
        start_line: wanted.first,
        lines: page.lines,
        total_lines: page.total,
        next_offset: page.next,
        cut_lines: page.cut,
        encoding: Some(encoding.name().to_owned()),
        pages: None,
        hash: page.hash,
        unchanged: false,
    };
    if is_noted {
        match &data.hash {
            Some(hash) => ctx.note_version(&stat.name, FileMark::Hash(hash.clone()), bytes.kept()),
            None => ctx.note_version(&stat.name, versions::stamp(&stat), None),
        }
    }
    if let Some(seen) = ctx.extra().get::<Seen>() {
        let is_whole = wanted.first == 1 && data.next_offset.is_none() && data.cut_lines == 0;
        if let Some(hash) = data.hash.as_deref().filter(|_| is_whole) {
            seen.knows(&stat.name, hash);
        }
        let range = format!("{}+{}", wanted.first, wanted.limit);
        if seen.is_unchanged(&stat.name, &range, text.as_bytes()) && !args.force {
            let note =
                format!("unchanged since it was last shown: lines {}", shown_range(&wanted, data.lines));
            return Ok(Found::Other(Output::new(&stat.name, note, Data { unchanged: true, ..data })));
        }
    }
    Ok(Found::Other(Output::new(&stat.name, text, data)))
}

impl Wanted {
    fn new(ctx: &Context, args: &Args) -> Wanted {
        Wanted {
            first: args.offset.max(1),
            limit: args.limit().max(1),
            is_limit_given: args.limit.is_some(),
            form: match args.line_numbers.unwrap_or_else(|| are_usual(ctx)) {
                true => Form::Numbered,
                false => Form::Raw,
            },
            // Room for the note at the end.
            bytes: ctx.output_budget().bytes.saturating_sub(400),
        }
    }
}

/// Whether lines are numbered where the caller says nothing.
fn are_usual(ctx: &Context) -> bool {
    ctx.default_of("lineNumbers").and_then(serde_json::Value::as_bool).unwrap_or(true)
}

fn past_the_end(ctx: &Context, name: &str, what: &str, total: u64, first: u64) -> ToolError {
    let start = ctx.spelled("offset", first).unwrap_or_else(|| format!("line {first}"));
    ToolError::new(Code::ReadError, format!("`{name}` has {total} {what}; {start} is past its end"))
        .with("totalLines", total)
}

/// What follows the lines: how to go on, what was cut.
fn note(ctx: &Context, page: &Page, wanted: &Wanted) -> String {
    let mut notes = Vec::new();
    let is_numbered = wanted.form == Form::Numbered;
    // A caller of raw lines who has named their number, and has got it, wants nothing else.
    let is_as_asked = !is_numbered && wanted.is_limit_given && page.lines == wanted.limit;
    if page.lines == 0 {
        notes.push("the file is empty".to_owned());
    }
    if let Some(next) = page.next.filter(|_| !is_as_asked) {
        let of = page.total.map_or_else(String::new, |total| format!(" of {total}"));
        let on = go_on(ctx, next);
        notes.push(format!("lines {}{of}{on}", shown_range(wanted, page.lines)));
    }
    if page.cut > 0 {
        notes.push(format!("{} long lines cut at {} characters, marked …", page.cut, lines::MAX_LINE));
    }
    if page.returns > 0 {
        notes.push(format!("carriage returns within {} lines, shown as {}", page.returns, lines::RETURN));
    }
    if page.is_unended && page.next.is_none() && is_numbered {
        notes.push("no newline at the end of the file".to_owned());
    }
    if let Some(line) = page.endless {
        notes.push(format!("line {line} goes on for so long that what follows it was not looked at"));
    }
    match notes.is_empty() {
        true => String::new(),
        false => format!("({})", notes.join("; ")),
    }
}

/// Notes that the line that was asked for, before the first, was read as the first.
fn note_first(ctx: &Context, text: &mut String) {
    if let (Some(given), Some(meant)) = (ctx.spelled("offset", 0), ctx.spelled("offset", 1)) {
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{newline}({given} was read as {meant}, the first)"));
    }
}

/// How to see what follows.
fn go_on(ctx: &Context, next: u64) -> String {
    ctx.spelled("offset", next).map_or_else(String::new, |next| format!("; go on with {next}"))
}

fn shown_range(wanted: &Wanted, lines: u64) -> String {
    format!("{}–{}", wanted.first, wanted.first + lines.saturating_sub(1))
}

fn is_binary(file: &File, head: &[u8]) -> ToolError {
    let what = attached::known_binary(head).map_or_else(String::new, |what| format!(" ({what})"));
    ToolError::new(
        Code::IsBinary,
        format!(
            "`{}` is not text{what}: {} bytes; look at it with a command that knows the format",
            file.stat.name, file.stat.size
        ),
    )
    .with("size", file.stat.size)
}

fn fill(file: &mut File, buffer: &mut [u8]) -> Result<usize, ToolError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(&file.stat.name, &error)),
        }
    }
    Ok(filled)
}

fn failed(name: &str, error: &std::io::Error) -> ToolError {
    ToolError::new(Code::ReadError, format!("`{name}` could not be read: {error}"))
}
