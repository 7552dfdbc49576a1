//! `grep`: the lines that match a regular expression, by file, newest first.
//!
//! Ripgrep's own crates do the matching, in this process. Once enough newer lines are found, older files are not
//! opened any more: they could not be shown.

mod file_type;
mod interruptible;
mod lines;
mod matcher;
mod reading;
mod report;
mod search;

use self::file_type::FileType;
use self::interruptible::Pattern;
use self::report::{Found, report};
use self::search::{Opened, Search};
use super::name_pattern::NamePattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::host::HANDLE_PREFIX;
use toolpost_core::tool::OutputBudget;
use toolpost_core::workspace::{File, Kind, ScanOptions, Scanned, Visit};
use toolpost_core::{Capability, Code, Context, Output, Spec, Tool, ToolError, WorkspacePath};
use toolpost_walk::scan;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Regular expression, without look-around and back-references.
    #[schemars(length(min = 1))]
    pattern: String,
    /// Folder or file to search; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
    /// Globs of the files to search, such as *.ts,*.py; !*.md leaves files out.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    include: Option<String>,
    /// Kind of files to search, by the names that ripgrep has for them: rust, py, ts.
    #[serde(rename = "type")]
    #[schemars(extend("x-toolpost-empty" = "absent", "x-toolpost-hidden" = true))]
    file_type: Option<String>,
    /// Regular expression of lines to leave out.
    #[schemars(extend("x-toolpost-empty" = "absent", "x-toolpost-hidden" = true))]
    exclude_pattern: Option<String>,
    /// Lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 100))]
    context: usize,
    /// Lines to show before each match.
    #[schemars(range(max = 100), extend("x-toolpost-hidden" = true))]
    before: Option<usize>,
    /// Lines to show after each match.
    #[schemars(range(max = 100), extend("x-toolpost-hidden" = true))]
    after: Option<usize>,
    /// Number the lines.
    #[serde(default = "yes")]
    #[schemars(extend("x-toolpost-hidden" = true))]
    line_numbers: bool,
    /// Match upper and lower case alike.
    #[serde(default)]
    ignore_case: bool,
    /// Take the pattern as plain text.
    #[serde(default)]
    literal: bool,
    /// Let matches span lines.
    #[serde(default)]
    multiline: bool,
    /// Return matching lines, the names of files, or the number of matching lines by file.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent", "default" = "content"))]
    mode: Mode,
    /// Most lines (or files) to return.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
    /// Also names that begin with a dot.
    #[serde(default)]
    hidden: bool,
    /// Also what .gitignore leaves out.
    #[serde(default)]
    no_ignore: bool,
}

fn yes() -> bool {
    true
}

fn usual_limit() -> usize {
    200
}

/// What is shown of a match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The files with matches, newest first.
    files: Vec<FileData>,
    /// Whether the limit was reached: there are more lines or files, or may be in older files.
    truncated: bool,
    /// Whether time ran out before the end.
    partial: bool,
    /// Files and folders that the policy holds back.
    held_back: u64,
    /// Files and folders that could not be read.
    unreadable: u64,
    /// Files that were not searched to their end, because a line (or a file, with `multiline`) is too long.
    unsearched: Vec<String>,
}

/// One file with matches.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileData {
    /// Its path from the root.
    path: String,
    /// Matching lines, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<u64>,
    /// The lines shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<LineData>,
}

/// One line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LineData {
    /// Its number.
    line: u64,
    /// Where the first match begins, in characters; absent on lines of context.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    /// Its text, cut around the match if it is long.
    text: String,
}

/// The tool.
pub struct Grep;

impl Tool for Grep {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("grep", "1.0.0", include_str!("grep.txt"))
            .requires(Capability::Read)
            .about(ResourceKind::Path)
            .idempotent()
            .parallel_safe()
            .timeout(Duration::from_secs(25), Duration::from_secs(600))
            // Bounded by lines, of which a caller may ask for 10,000.
            .budget(OutputBudget { bytes: 50_000, lines: 40_000 })
            .argument_alias("query", "pattern")
            .argument_alias("regex", "pattern")
            .argument_alias("directory", "path")
            .argument_alias("filePath", "path")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking(move |ctx| grep(ctx, &args)).await
    }
}

fn grep(ctx: &Context, args: &Args) -> Result<Output<Data>, ToolError> {
    let matcher = Pattern::new(args, matcher::matcher(ctx, args)?);
    let place = place(ctx, args)?;
    let name = match &place {
        Place::Folder(name) => name.as_str(),
        Place::File(_) => ".",
    };
    let include = args.include.as_deref().filter(|include| !include.is_empty());
    let include = include.map(|include| NamePattern::several(ctx, "include", include, name)).transpose()?;
    let names_hidden = include.as_ref().is_some_and(|include| include.names_hidden);
    let kind = args.file_type.as_deref().map(|kind| FileType::named(ctx, kind)).transpose()?;
    let excluded = args.exclude_pattern.as_deref().map(|pattern| matcher::excluding(ctx, args, pattern));
    let search = Search::new(ctx, args, matcher, include, kind).leaving_out(excluded.transpose()?);
    let options = ScanOptions { hidden: args.hidden || names_hidden, no_ignore: args.no_ignore };
    let (scanned, options) = match place {
        Place::Folder(_) => (scan(ctx.workspace().as_ref(), &args.path, options, &search)?, Some(options)),
        Place::File(file) => (one_file(&search, file)?, None),
    };
    search.must_be_wanted(scanned.stopped)?;
    let found: Found = search.finish();
    Ok(report(ctx, args, found, &search, &scanned, options))
}

/// Where to search.
enum Place {
    /// In the folder of this display name.
    Folder(String),
    /// In one file, whatever the ignore files say of it.
    File(File),
}

fn place(ctx: &Context, args: &Args) -> Result<Place, ToolError> {
    if !args.path.as_str().starts_with(HANDLE_PREFIX) {
        let stat = ctx.workspace().stat(&args.path)?;
        if stat.kind == Kind::Folder {
            return Ok(Place::Folder(stat.name));
        }
    }
    Ok(Place::File(ctx.open(&args.path)?))
}

fn one_file(search: &Search, file: File) -> Result<Scanned, ToolError> {
    let name = file.stat.name.clone();
    search.worker().visit(&mut Opened::new(file));
    let (is_binary, stopped) = (search.is_binary(), search.was_interrupted());
    if is_binary {
        let message = format!("`{name}` is not text; look at it with a command that knows the format");
        return Err(ToolError::new(Code::IsBinary, message).with("path", name));
    }
    Ok(Scanned { stopped, ..Scanned::default() })
}
