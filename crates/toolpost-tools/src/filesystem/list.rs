//! `list`: the tree below a folder, as git sees it, bounded.

use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use toolpost_core::{
    Capability, Context, Kind, Output, OutputBudget, ResourceKind, Spec, Tool, ToolError, Walk, WalkOptions,
    WorkspacePath, walk,
};

/// Bytes of the text that are kept free for what follows the tree.
const ROOM_FOR_NOTE: usize = 16 * 1024;
/// Maximum number of entries that are counted where not all are shown.
const MOST_COUNTED: usize = 20_000;
/// Bytes that all paths in the data may have; the text shows only their last names.
const MOST_PATHS: usize = 512 * 1024;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Folder to list; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    path: WorkspacePath,
    /// More to leave out, written as in .gitignore.
    #[serde(default)]
    ignore: Vec<String>,
    /// Levels to show.
    #[serde(default = "usual_depth")]
    #[schemars(range(min = 1))]
    depth: usize,
    /// Most entries to show.
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

fn usual_depth() -> usize {
    3
}

fn usual_limit() -> usize {
    1_000
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The folder that was listed.
    path: String,
    /// Its entries in order, each folder followed by what is in it.
    entries: Vec<Entry>,
    /// Entries that are not shown because of the limit, those in folders that are not shown included.
    left_out: u64,
    /// Folders that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
    /// Entries whose names are not UTF-8.
    #[serde(skip_serializing_if = "is_zero")]
    not_utf8: u64,
    /// Entries that the policy holds back.
    #[serde(skip_serializing_if = "is_zero")]
    held_back: u64,
    /// Whether time ran out before the end.
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One file or folder.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// Its path from the root.
    path: String,
    /// `file`, `folder`, `link` or `special`.
    kind: String,
}

/// The tool.
pub struct List;

impl Tool for List {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("list", "1.0.0", include_str!("list.txt"))
            .requires(Capability::Read)
            .about(ResourceKind::Path)
            .idempotent()
            .parallel_safe()
            // Bounded by entries, of which a caller may ask for 10,000.
            .budget(OutputBudget { bytes: 50_000, lines: 12_000 })
            .argument_alias("filePath", "path")
            .argument_alias("directory", "path")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let options = WalkOptions {
            hidden: args.hidden,
            no_ignore: args.no_ignore,
            max_depth: Some(args.depth),
            ignore: args.ignore,
            limit: args.limit,
        };
        let name = ctx.workspace().name(&args.path)?;
        // What was found must still be handed over before the time is over.
        let reserve = ctx.time_left().map(|left| (left / 10).min(Duration::from_millis(500)));
        let is_nearly_over = || ctx.time_left() < reserve;
        let should_stop = || is_nearly_over() || ctx.cancel().is_cancelled();
        let held_back = ctx.held_back();
        let holds = |name: &str| held_back.holds(name);
        let mut found = walk(ctx.workspace().as_ref(), &args.path, &options, &should_stop, &holds).await?;
        if found.stopped && !is_nearly_over() {
            // Whoever gave up the call wants no part of it.
            ctx.checkpoint()?;
        }
        let shown = tree(&name, &mut found, ctx.output_budget().bytes);
        let mut is_counted = true;
        is_counted &= found.left_out <= MOST_COUNTED as u64;
        if found.left_out > 0 && is_counted && !found.stopped {
            // What lies under an entry that was left out was not looked at.
            let uncounted = ctx.held_back();
            let holds = |name: &str| uncounted.holds(name);
            let options = WalkOptions { limit: MOST_COUNTED, ..options };
            let all = walk(ctx.workspace().as_ref(), &args.path, &options, &should_stop, &holds).await?;
            is_counted = !all.stopped && all.left_out == 0;
            let counted = (all.found.len() as u64 + all.left_out).saturating_sub(found.found.len() as u64);
            found.left_out = found.left_out.max(counted);
        }
        let text = format!("{shown}{}", note(ctx, &found, args.depth, is_counted, held_back.note()));
        let data = Data {
            path: name.clone(),
            entries: found
                .found
                .into_iter()
                .map(|entry| Entry { path: entry.name, kind: word(entry.kind).to_owned() })
                .collect(),
            left_out: found.left_out,
            unreadable: found.unreadable,
            not_utf8: found.not_utf8,
            held_back: found.held_back,
            partial: found.stopped,
        };
        Ok(Output::new(name, text, data))
    }
}

/// Each entry on its line, two blanks deeper than its folder; folders end in `/`, links in `@`. Entries that do not
/// fit into `bytes` are moved to those left out.
fn tree(name: &str, found: &mut Walk, bytes: usize) -> String {
    let mut text = format!("{}/\n", one_line(name.trim_end_matches('/')));
    let mut paths = 0;
    let room = bytes.saturating_sub(ROOM_FOR_NOTE);
    for (index, entry) in found.found.iter().enumerate() {
        let before = text.len();
        let last = entry.name.rsplit('/').next().unwrap_or(&entry.name);
        let mark = match entry.kind {
            Kind::File => "",
            Kind::Folder => "/",
            Kind::Link => "@",
            Kind::Special => "!",
        };
        text.push_str(&"  ".repeat(entry.depth));
        text.push_str(&one_line(last));
        text.push_str(mark);
        text.push('\n');
        paths += entry.name.len();
        if text.len() > room || paths > MOST_PATHS {
            text.truncate(before);
            found.left_out += (found.found.len() - index) as u64;
            found.found.truncate(index);
            break;
        }
    }
    text
}

fn note(ctx: &Context, found: &Walk, depth: usize, is_counted: bool, held_back: Option<String>) -> String {
    let mut notes = Vec::new();
    if found.found.is_empty() && found.left_out == 0 && !found.stopped {
        let wider = [ctx.spelled("hidden", true), ctx.spelled("noIgnore", true)];
        let wider: Vec<String> = wider.into_iter().flatten().collect();
        notes.push(match wider.is_empty() {
            true => {
                "nothing here, but for names that begin with a dot and what .gitignore leaves out".to_owned()
            }
            false => format!("nothing here; {} show more", wider.join(" and ")),
        });
    }
    if found.left_out > 0 {
        let worst = found.left_out_by_folder.iter().max_by_key(|left| left.entries);
        let most =
            worst.map_or_else(String::new, |left| format!(", most of them in {}", one_line(&left.folder)));
        let least = if is_counted { "" } else { "at least " };
        let raise = ctx.argument("limit").map_or_else(String::new, |limit| format!(", or raise `{limit}`"));
        notes.push(format!("{least}{} more left out{most}; list one folder{raise}", found.left_out));
    }
    if found.found.iter().any(|entry| entry.kind == Kind::Folder && entry.depth == depth) {
        notes.push(format!("folders on level {depth} are not opened"));
    }
    if !found.unreadable.is_empty() {
        let named: Vec<_> = found.unreadable.iter().take(3).map(|name| one_line(name)).collect();
        let more = match found.unreadable.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(format!("could not read {}{more}", named.join(", ")));
    }
    if found.not_utf8 > 0 {
        notes.push(format!("{} names are not UTF-8", found.not_utf8));
    }
    notes.extend(held_back);
    if found.stopped {
        notes.push("out of time: this is only a part".to_owned());
    }
    match notes.is_empty() {
        true => String::new(),
        false => format!("({})", notes.join("; ")),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Folder => "folder",
        Kind::Link => "link",
        Kind::Special => "special",
    }
}
