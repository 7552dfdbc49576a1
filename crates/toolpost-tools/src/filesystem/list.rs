//! `list`: the tree below a folder, as git sees it, bounded: where not all can be shown, the upper levels are.

use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::tool::OutputBudget;
use toolpost_core::workspace::Kind;

use toolpost_core::{Capability, Context, Output, Spec, Tool, ToolError, WorkspacePath};
use toolpost_walk::{Found, LeftOut, Walk, WalkOptions, walk};

/// Bytes of the text that are kept free for what follows the tree.
const ROOM_FOR_NOTE: usize = 16 * 1024;
/// Bytes of a line that are kept free for what is not shown of a folder.
const ROOM_FOR_COUNT: usize = 16;
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
    #[schemars(extend("x-toolpost-empty" = "absent"))]
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
        ctx.blocking(move |ctx| list(ctx, args)).await
    }
}

fn list(ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
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
    let walked =
        |options: &WalkOptions| walk(ctx.workspace().as_ref(), &args.path, options, &should_stop, &holds);
    let room = Room { entries: args.limit, bytes: ctx.output_budget().bytes.saturating_sub(ROOM_FOR_NOTE) };
    let mut found = walked(&options)?;
    let mut is_counted = true;
    if (found.left_out > 0 || !room.fits(&found.found)) && !found.stopped {
        // Not all can be shown, so that every level is filled before the next: all of a level is looked at first.
        for depth in 1..=args.depth {
            let level = WalkOptions { max_depth: Some(depth), limit: MOST_COUNTED, ..options.clone() };
            let level = walked(&level)?;
            is_counted = level.left_out == 0 && !level.stopped;
            if !is_counted && depth > 1 {
                break;
            }
            let is_last = !level.found.iter().any(|one| one.kind == Kind::Folder && one.depth == depth);
            found = level;
            if is_last || !is_counted {
                break;
            }
        }
        room.fill(&mut found);
    }
    if found.stopped && !is_nearly_over() {
        // Whoever gave up the call wants no part of it.
        ctx.checkpoint()?;
    }
    let shown = tree(&name, &found);
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

/// How much can be shown.
struct Room {
    entries: usize,
    bytes: usize,
}

impl Room {
    fn fits(&self, found: &[Found]) -> bool {
        found.len() <= self.entries && self.first(found.iter()) == found.len()
    }

    /// How many of these can be shown, from the first on.
    fn first<'a>(&self, found: impl Iterator<Item = &'a Found>) -> usize {
        let (mut bytes, mut paths) = (0, 0);
        found
            .take(self.entries)
            .take_while(|entry| {
                bytes += line_of(entry).len() + ROOM_FOR_COUNT;
                paths += entry.name.len();
                bytes <= self.bytes && paths <= MOST_PATHS
            })
            .count()
    }

    /// Keeps what can be shown, the upper levels first, and counts the rest by folder.
    fn fill(&self, walk: &mut Walk) {
        let mut order: Vec<usize> = (0..walk.found.len()).collect();
        order.sort_by_key(|index| walk.found[*index].depth);
        let kept = self.first(order.iter().map(|index| &walk.found[*index]));
        let mut is_kept = vec![false; order.len()];
        order[..kept].iter().for_each(|index| is_kept[*index] = true);
        let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
        let mut entries = Vec::with_capacity(kept);
        for (entry, is_kept) in std::mem::take(&mut walk.found).into_iter().zip(is_kept) {
            match is_kept {
                true => entries.push(entry),
                false => *left_out.entry(folder_of(&entry.name).to_owned()).or_default() += 1,
            }
        }
        walk.found = entries;
        for left in std::mem::take(&mut walk.left_out_by_folder) {
            *left_out.entry(left.folder).or_default() += left.entries;
        }
        walk.left_out = left_out.values().sum();
        walk.left_out_by_folder =
            left_out.into_iter().map(|(folder, entries)| LeftOut { folder, entries }).collect();
    }
}

fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// Each entry on its line, two spaces deeper than its folder; folders end in `/`, links in `@`. A folder of which not
/// all is shown says so.
fn tree(name: &str, found: &Walk) -> String {
    let mut text = format!("{}/\n", one_line(name.trim_end_matches('/')));
    let left_out: HashMap<&str, u64> =
        found.left_out_by_folder.iter().map(|left| (left.folder.as_str(), left.entries)).collect();
    for entry in &found.found {
        text.push_str(&line_of(entry));
        if let Some(count) = left_out.get(entry.name.as_str()).filter(|_| entry.kind == Kind::Folder) {
            text.push_str(&format!(" ({count} more)"));
        }
        text.push('\n');
    }
    text
}

fn line_of(entry: &Found) -> String {
    let last = entry.name.rsplit('/').next().unwrap_or(&entry.name);
    let mark = match entry.kind {
        Kind::File => "",
        Kind::Folder => "/",
        Kind::Link => "@",
        Kind::Special => "!",
    };
    format!("{}{}{mark}", "  ".repeat(entry.depth), one_line(last))
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
