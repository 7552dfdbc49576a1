//! What follows a change: formatters, and then the errors that language servers find. Formatters are programs that bring a file into its language's usual form after a change. None unless configured.
//!
//! The change itself is whole and on disk before a formatter is asked, so that one that fails, hangs or babbles costs
//! its own work and nothing else; the result says so.

use super::diagnosed::{self, NewError};
use super::diff::Diff;
use super::helper::{Bounds, Helper};
use super::text::{self, Text};
use super::versions::{self, Knowledge};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::code::TextChange;
use toolpost_core::host::Reach;
use toolpost_core::tool::{Amendment, Setting};
use toolpost_core::{Access, Context, Output, Spec, Tool, ToolError, WorkspacePath};
use toolpost_process::Sandbox;

const BOUNDS: Bounds = Bounds { time: Duration::from_secs(10), memory: 2 << 30, output: 16 << 20 };

/// A program for the files of one extension: gets the text, gives it back formatted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatter {
    /// The extension, without its dot.
    pub extension: String,
    /// The program. `{}` among its arguments stands for the name of the file.
    pub helper: Helper,
}

/// What a tool tells of the files it has changed, and hears when they were formatted.
pub(super) trait Changed {
    /// The files, by their display names.
    fn files(&self) -> Vec<String>;

    /// A file was formatted: this is what it holds now.
    fn formatted(&mut self, file: &str, hash: &str, bytes: usize);

    /// The texts before and after, of files that language servers look at.
    fn changes(&mut self) -> &mut Vec<TextChange>;

    /// The errors that the change has brought.
    fn new_errors(&mut self) -> &mut Vec<NewError>;
}

/// A tool whose files are formatted after it, and then looked at for errors.
pub struct Formatted<T> {
    tool: T,
    formatters: Arc<[Formatter]>,
}

impl<T> Formatted<T> {
    pub(super) fn new(tool: T, formatters: Arc<[Formatter]>) -> Formatted<T> {
        Formatted { tool, formatters }
    }
}

impl<T: Tool> Tool for Formatted<T>
where
    T::Data: Changed,
{
    type Args = T::Args;
    type Data = T::Data;

    fn spec(&self) -> Spec {
        self.tool.spec()
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        self.tool.init(setting).await
    }

    fn accesses(&self, args: &T::Args, usual: Vec<Access>) -> Vec<Access> {
        self.tool.accesses(args, usual)
    }

    async fn call(&self, ctx: &Context, args: T::Args) -> Result<Output<T::Data>, ToolError> {
        let mut output = self.tool.call(ctx, args).await?;
        for file in output.data.files() {
            let extension = Path::new(&file).extension().and_then(|extension| extension.to_str());
            let wanted = |formatter: &&Formatter| extension == Some(formatter.extension.as_str());
            if let Some(formatter) = self.formatters.iter().find(wanted) {
                apply(ctx, formatter, &file, &mut output).await;
            }
        }
        diagnosed::report(ctx, &mut output).await;
        Ok(output)
    }

    async fn shutdown(&self) {
        self.tool.shutdown().await;
    }
}

/// Formats one file, and tells what that did.
async fn apply<D: Changed>(ctx: &Context, formatter: &Formatter, file: &str, output: &mut Output<D>) {
    let program = formatter.helper.program.to_string_lossy().into_owned();
    if !output.text.is_empty() && !output.text.ends_with('\n') {
        output.text.push('\n');
    }
    // Writing to a text does not fail.
    let _ = match format(ctx, formatter, file).await {
        Ok(None) => Ok(()),
        Ok(Some(Done { diff, hash, bytes, text })) => {
            output.data.formatted(file, &hash, bytes);
            if let Some(change) = output.data.changes().iter_mut().find(|change| change.name == file) {
                change.after = text;
            }
            write!(output.text, "formatted with {program}:\n{}", diff.shown())
        }
        Err(why) => write!(output.text, "[`{file}` was not formatted with {program}: {why}]"),
    };
}

struct Done {
    diff: Diff,
    hash: String,
    bytes: usize,
    text: String,
}

/// Formats one file; nothing if it has the usual form already.
async fn format(ctx: &Context, formatter: &Formatter, file: &str) -> Result<Option<Done>, String> {
    let said = |error: ToolError| error.message().to_owned();
    let path = WorkspacePath::new(file);
    let opened = path.clone();
    let (stat, bytes) = ctx.blocking(move |ctx| text::bytes(ctx, &opened)).await.map_err(said)?;
    let name = stat.name.clone();
    let before = Text::decode(&bytes, &name).map_err(said)?;
    let (folder, sandbox) = place(ctx).await;
    let mut helper = formatter.helper.clone();
    for arg in &mut helper.args {
        *arg = arg.replace("{}", &name);
    }
    let result = helper.run(Path::new(&folder), sandbox, before.text.clone().into_bytes(), BOUNDS).await?;
    if result.is_cut {
        return Err("it gave back more than 16 MB".to_owned());
    }
    let after = String::from_utf8(result.bytes).map_err(|_| "its output is not text".to_owned())?;
    if after.is_empty() && !before.text.is_empty() {
        return Err("it gave back nothing".to_owned());
    }
    let after = match before.text.contains("\r\n") && !after.contains("\r\n") {
        true => after.replace('\n', "\r\n"),
        false => after,
    };
    if after == before.text {
        return Ok(None);
    }
    let new = before.encode(&after, &name).map_err(said)?;
    let (hash, length) = (text::hash(&new), new.len());
    let written = name.clone();
    let old = bytes.clone();
    let write = move |ctx: &Context| {
        let known = Knowledge::of(ctx, &stat, &old);
        ctx.workspace().write(&path, &new)?;
        versions::note_changed(ctx, &written, &known, &old, &new);
        Ok(())
    };
    ctx.blocking_in_pool(write).await.map_err(said)?;
    text::note_changed(ctx, &name, &text::hash(&bytes), &hash);
    let diff = Diff::between(&name, Some(&before.text), Some(&after));
    Ok(Some(Done { diff, hash, bytes: length, text: after }))
}

/// Where a program that looks at the workspace runs and what it sees: the workspace, for its own settings, and nothing it could change.
pub(crate) async fn place(ctx: &Context) -> (String, Sandbox) {
    match ctx.ground(Reach::Confined).await {
        Ok(ground) => {
            let mut sandbox = crate::shell::view_of(&ground);
            sandbox.readable.append(&mut sandbox.writable);
            sandbox.network = false;
            (ctx.workspace().root().to_owned(), sandbox)
        }
        // Not on disk: there is only the text.
        Err(_) => ("/".to_owned(), Sandbox::default()),
    }
}
