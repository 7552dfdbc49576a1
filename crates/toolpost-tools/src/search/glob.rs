//! `glob`: files by a pattern of their names, newest first.

use super::name_pattern::NamePattern;
use super::newest::Newest;
use super::watch::Watch;
use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::tool::OutputBudget;
use toolpost_core::workspace::{Candidate, Kind, ScanOptions, Visit, Worker};
use toolpost_core::{Capability, Context, Output, Spec, Tool, ToolError, WorkspacePath};
use toolpost_walk::scan;

/// Bytes of the text that are kept free for what follows the names.
const ROOM_FOR_NOTE: usize = 4 * 1024;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Glob such as src/**/*.ts; without a / it matches names at any depth.
    #[schemars(length(min = 1))]
    pattern: String,
    /// Folder to look in; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
    /// Most files to return.
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

fn usual_limit() -> usize {
    100
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The files, newest first.
    files: Vec<String>,
    /// Files that match and are not shown, because of the limit.
    left_out: u64,
    /// Whether any were left out.
    truncated: bool,
    /// Whether time ran out before the end.
    partial: bool,
    /// Files and folders that the policy holds back.
    held_back: u64,
    /// Folders that could not be read.
    unreadable: u64,
}

/// The tool.
pub struct Glob;

impl Tool for Glob {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("glob", "1.0.0", include_str!("glob.txt"))
            .requires(Capability::Read)
            .about(ResourceKind::Path)
            .idempotent()
            .parallel_safe()
            .timeout(Duration::from_secs(25), Duration::from_secs(600))
            // Bounded by files, of which a caller may ask for 10,000.
            .budget(OutputBudget { bytes: 50_000, lines: 12_000 })
            .argument_alias("directory", "path")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking(move |ctx| glob(ctx, args)).await
    }
}

fn glob(ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
    let workspace = ctx.workspace();
    let name = workspace.stat(&args.path)?.name;
    let pattern = NamePattern::new("pattern", &args.pattern, &name, workspace.root())?;
    let options = ScanOptions { hidden: args.hidden || pattern.names_hidden, no_ignore: args.no_ignore };
    let newest = Mutex::new(Newest::new(args.limit));
    let visit = Names { watch: Watch::new(ctx), pattern, newest };
    let scanned = scan(workspace.as_ref(), &args.path, options, &visit)?;
    visit.watch.must_be_wanted(scanned.stopped)?;
    let newest = {
        let mut newest = visit.newest.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *newest, Newest::new(0))
    };
    let mut left_out = newest.left_out;
    let (mut text, mut files) = (String::new(), Vec::new());
    let room = ctx.output_budget().bytes.saturating_sub(ROOM_FOR_NOTE);
    for (name, ()) in newest.into_files() {
        let shown = one_line(&name);
        if text.len() + shown.len() >= room {
            left_out += 1;
            continue;
        }
        text.push_str(&shown);
        text.push('\n');
        files.push(name);
    }
    let mut notes = Vec::new();
    if files.is_empty() && left_out == 0 && !scanned.stopped {
        notes.push(format!("no file matches{}", super::look_further(ctx, &[], options)));
    }
    if left_out > 0 {
        let raise = ctx.argument("limit").map_or_else(String::new, |limit| format!(", or raise `{limit}`"));
        notes.push(format!("{left_out} more, older; narrow the pattern{raise}"));
    }
    text.push_str(&visit.watch.note(notes, &scanned));
    let data = Data {
        files,
        left_out,
        truncated: left_out > 0,
        partial: scanned.stopped,
        held_back: visit.watch.total_held_back(),
        unreadable: scanned.unreadable.len() as u64,
    };
    Ok(Output::new(args.pattern, text, data))
}

struct Names {
    watch: Watch,
    pattern: NamePattern,
    newest: Mutex<Newest<()>>,
}

impl Visit for Names {
    fn should_stop(&self) -> bool {
        self.watch.should_stop()
    }

    fn wants(&self, name: &str) -> bool {
        self.pattern.wants(name)
    }

    fn held_back(&self, refusal: &ToolError) {
        self.watch.held_back(refusal);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(NamesWorker(self))
    }
}

struct NamesWorker<'a>(&'a Names);

impl Worker for NamesWorker<'_> {
    /// A link is shown where it leads to a file inside.
    fn visit(&mut self, candidate: &mut dyn Candidate) {
        match candidate.stat() {
            Ok(stat) if stat.kind == Kind::File => {
                let mut newest = self.0.newest.lock().unwrap_or_else(PoisonError::into_inner);
                newest.add(stat.modified_ms, candidate.name(), 1, ());
            }
            Ok(_) => {}
            Err(error) => self.0.watch.failed(&error),
        }
    }
}
