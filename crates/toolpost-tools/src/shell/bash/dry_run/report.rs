//! What a dry run would change, for a model and for a program: a summary, names, and diffs as far as there is room.

use crate::filesystem::diff::Diff;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_core::ToolError;
use toolpost_core::tool::OutputBudget;
use toolpost_process::{Change, Changes, Node, NodeKind, Scratch};

/// Changes that are named; the rest is counted.
const NAMED: usize = 200;

/// Larger files are not compared line by line.
const LARGEST: u64 = 256 * 1024;

/// Diffs that are made, at most.
const DIFFS: usize = 100;

/// Folders of the rest, at most.
const FOLDERS: usize = 20;

/// What a command would do to one file, folder or link.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::shell) struct Planned {
    /// Its display name; of a folder with a slash at its end.
    pub(super) path: String,
    /// create, change or delete.
    pub(super) kind: &'static str,
    /// folder, link or other, where it is no file.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    node: Option<&'static str>,
    /// Its size before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_before: Option<u64>,
    /// Its size after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_after: Option<u64>,
    /// Its permissions before, where they would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_before: Option<String>,
    /// Its permissions after, where they would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_after: Option<String>,
}

/// What a command would do in one folder, counted.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::shell) struct Rest {
    /// The folder, first of the path.
    folder: String,
    /// Files it would create.
    create: u64,
    /// Files it would change.
    change: u64,
    /// Files it would delete.
    delete: u64,
}

/// What a dry run found out, for a model and for a program.
pub(super) struct Report {
    pub(super) text: String,
    pub(super) named: Vec<Planned>,
    pub(super) rest: Vec<Rest>,
}

impl Report {
    pub(super) fn new(
        scratch: &Scratch,
        roots: &[PathBuf],
        root: &Path,
        room: OutputBudget,
    ) -> Result<Report, ToolError> {
        let Changes { mut list, is_cut } = scratch
            .changes(roots)
            .map_err(|error| ToolError::execution(format!("what would change cannot be read: {error}")))?;
        // What git keeps for itself is of least interest.
        list.sort_by_key(|change| change.path.components().any(|part| part.as_os_str() == ".git"));
        let names: Vec<String> = list.iter().map(|change| name(change, root)).collect();
        let named: Vec<Planned> =
            list.iter().zip(&names).take(NAMED).map(|(change, name)| planned(change, name)).collect();
        let rest = rest(&list, &names);
        let mut text = format!("[dry run: {}]\n", summary(&list, is_cut));
        for planned in &named {
            text.push_str(&planned.line());
        }
        for folder in &rest {
            text.push_str(&folder.line());
        }
        let room = OutputBudget {
            bytes: room.bytes.saturating_sub(text.len() + 200),
            lines: room.lines.saturating_sub(text.lines().count() + 2),
        };
        text.push_str(&diffs(scratch, roots, &list[..named.len()], &names, room));
        Ok(Report { text, named, rest })
    }
}

fn kind(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "create",
        (_, None) => "delete",
        _ => "change",
    }
}

/// What it is, or would be.
fn node_of(change: &Change) -> Option<&Node> {
    change.after.as_ref().or(change.before.as_ref())
}

/// From the workspace root where it lies in it.
fn name(change: &Change, root: &Path) -> String {
    let inside = change.path.strip_prefix(root).unwrap_or(&change.path);
    let name = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    let is_folder = node_of(change).is_some_and(|node| node.kind == NodeKind::Folder);
    format!("{}{}", name.to_string_lossy(), if is_folder { "/" } else { "" })
}

fn planned(change: &Change, name: &str) -> Planned {
    let size =
        |node: &Option<Node>| node.as_ref().filter(|node| node.kind == NodeKind::File).map(|node| node.bytes);
    let modes = change.before.as_ref().zip(change.after.as_ref());
    let modes = modes.filter(|(before, after)| before.mode != after.mode);
    Planned {
        path: name.to_owned(),
        kind: kind(change),
        node: node_of(change).and_then(|node| match node.kind {
            NodeKind::File => None,
            NodeKind::Folder => Some("folder"),
            NodeKind::Link => Some("link"),
            NodeKind::Other => Some("other"),
        }),
        bytes_before: size(&change.before),
        bytes_after: size(&change.after),
        mode_before: modes.map(|(before, _)| format!("{:03o}", before.mode)),
        mode_after: modes.map(|(_, after)| format!("{:03o}", after.mode)),
    }
}

impl Planned {
    fn line(&self) -> String {
        let mut facts: Vec<String> =
            self.node.filter(|node| *node != "folder").map(str::to_owned).into_iter().collect();
        match (self.bytes_before, self.bytes_after) {
            (Some(before), Some(after)) if before != after => facts.push(format!("{before} → {after} bytes")),
            (Some(bytes), None) | (_, Some(bytes)) => facts.push(format!("{bytes} bytes")),
            (None, None) => {}
        }
        if let (Some(before), Some(after)) = (&self.mode_before, &self.mode_after) {
            facts.push(format!("mode {before} → {after}"));
        }
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        format!("{} {}{facts}\n", self.kind, crate::one_line(&self.path))
    }
}

impl Rest {
    fn line(&self) -> String {
        let Rest { folder, create, change, delete } = self;
        let folder = crate::one_line(folder);
        format!("… and in {folder}: {create} to create, {change} to change, {delete} to delete\n")
    }
}

/// What is not named, by the folder it lies in at the top.
fn rest(list: &[Change], names: &[String]) -> Vec<Rest> {
    let mut folders: BTreeMap<&str, Rest> = BTreeMap::new();
    for (change, name) in list.iter().zip(names).skip(NAMED) {
        let top = name.split_once('/').map_or(".", |(top, _)| top);
        let key = if folders.contains_key(top) || folders.len() < FOLDERS { top } else { "other folders" };
        let rest = folders.entry(key).or_insert_with(|| Rest { folder: key.to_owned(), ..Rest::default() });
        match kind(change) {
            "create" => rest.create += 1,
            "delete" => rest.delete += 1,
            _ => rest.change += 1,
        }
    }
    folders.into_values().collect()
}

fn summary(list: &[Change], is_cut: bool) -> String {
    let count = |wanted: &str| {
        let (mut folders, mut files) = (0, 0);
        for change in list.iter().filter(|change| kind(change) == wanted) {
            match node_of(change).is_some_and(|node| node.kind == NodeKind::Folder) {
                true => folders += 1,
                false => files += 1,
            }
        }
        let some = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            count => Some(format!("{count} {what}s")),
        };
        let counted: Vec<String> =
            [some(files, "file"), some(folders, "folder")].into_iter().flatten().collect();
        (!counted.is_empty()).then(|| format!("{wanted} {}", counted.join(" and ")))
    };
    let parts: Vec<String> = ["create", "change", "delete"].into_iter().filter_map(count).collect();
    let more = if is_cut { ", and more that could not be looked at" } else { "" };
    match parts.is_empty() {
        true => format!("nothing has changed, and it would change nothing{more}"),
        false => format!("nothing has changed; it would {}{more}", parts.join(", ")),
    }
}

/// Diffs of the files that are text, those that stay first, as far as there is room.
fn diffs(
    scratch: &Scratch,
    roots: &[PathBuf],
    list: &[Change],
    names: &[String],
    mut room: OutputBudget,
) -> String {
    let mut text = String::new();
    let mut left_out = 0;
    let mut ordered: Vec<(&Change, &String)> = list.iter().zip(names).collect();
    ordered.sort_by_key(|(change, _)| {
        ["change", "create", "delete"].iter().position(|one| *one == kind(change))
    });
    for (count, (change, name)) in ordered.into_iter().enumerate() {
        let is_file = node_of(change).is_some_and(|node| node.kind == NodeKind::File);
        if !is_file {
            continue;
        }
        if count >= DIFFS {
            left_out += 1;
            continue;
        }
        let (before, after) = scratch.contents(roots, change, LARGEST);
        let is_complete =
            before.is_some() == change.before.is_some() && after.is_some() == change.after.is_some();
        let (Some(before), Some(after)) = (as_text(before), as_text(after)) else { continue };
        if !is_complete {
            continue;
        }
        let diff = Diff::between(name, before.as_deref(), after.as_deref()).shown();
        let lines = diff.lines().count();
        if diff.len() <= room.bytes && lines <= room.lines {
            room = OutputBudget { bytes: room.bytes - diff.len(), lines: room.lines - lines };
            text.push_str(&diff);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        text.push_str(&format!("[{left_out} more diffs are left out]\n"));
    }
    text
}

/// The text of a file, if there is one; none for one that is not text.
fn as_text(bytes: Option<Vec<u8>>) -> Option<Option<String>> {
    match bytes {
        None => Some(None),
        Some(bytes) if bytes.contains(&0) => None,
        Some(bytes) => String::from_utf8(bytes).ok().map(Some),
    }
}
