//! Files in memory: for tests, dry runs and agents without a disk. There are no links here.

use super::place::{Place, RootName};
use super::turns::Turns;
use super::{Entries, Entry, File, Kind, LockRequest, Stat, Workspace, WorkspacePath, Written, refusal};
use crate::error::ToolError;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use toolpost_text::nearest;

/// Where the root of a memory workspace is said to be.
const ROOT: &str = "/workspace";

/// A workspace in memory.
///
/// ```
/// use toolpost_core::{Memory, Workspace};
///
/// let memory = Memory::from_fixture("
/// //- src/main.rs
/// fn main() {}
/// //- README.md
/// hello
/// ");
/// assert_eq!(memory.root(), "/workspace");
/// assert_eq!(memory.text("src/main.rs").as_deref(), Some("fn main() {}\n"));
/// ```
#[derive(Debug)]
pub struct Memory {
    roots: [RootName; 1],
    nodes: Mutex<Nodes>,
    turns: Turns,
}

/// Display name → what is there. Folders above a file need no node of their own.
type Nodes = BTreeMap<String, Node>;

#[derive(Debug, Clone)]
enum Node {
    File(MemoryFile),
    Folder,
}

/// The bytes of a file in memory and what a file has beside them.
#[derive(Debug, Clone)]
pub(super) struct MemoryFile {
    pub(super) content: Arc<[u8]>,
    pub(super) mode: u32,
    pub(super) modified_ms: i64,
}

impl MemoryFile {
    pub(super) fn new(content: &[u8], mode: u32) -> MemoryFile {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
        MemoryFile { content: content.into(), mode, modified_ms: i64::try_from(now).unwrap_or(i64::MAX) }
    }

    pub(super) fn stat(&self, name: &str) -> Stat {
        Stat {
            name: name.to_owned(),
            kind: Kind::File,
            size: self.content.len() as u64,
            modified_ms: self.modified_ms,
            mode: self.mode,
            has_other_names: false,
        }
    }

    pub(super) fn open(&self, name: &str) -> File {
        File { stat: self.stat(name), reader: Box::new(Cursor::new(Arc::clone(&self.content))) }
    }
}

/// What a folder in memory looks like.
pub(super) fn folder_stat(name: &str) -> Stat {
    Stat {
        name: name.to_owned(),
        kind: Kind::Folder,
        size: 0,
        modified_ms: 0,
        mode: 0o755,
        has_other_names: false,
    }
}

/// What keys of a folder's entries begin with.
pub fn prefix(folder: &str) -> String {
    if folder == "." { String::new() } else { format!("{}/", folder.trim_end_matches('/')) }
}

/// The names above a display name, nearest first, the root left out.
pub fn above(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(name.rsplit_once('/').map(|(above, _)| above), |name| {
        name.rsplit_once('/').map(|(above, _)| above)
    })
    .filter(|name| !name.is_empty())
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl Memory {
    /// An empty workspace.
    pub fn new() -> Memory {
        Memory {
            roots: [RootName { path: ROOT.to_owned(), given: ROOT.to_owned() }],
            nodes: Mutex::new(Nodes::new()),
            turns: Turns::default(),
        }
    }

    /// Files from one text: each begins after a line `//- path` and ends before the next one.
    ///
    /// A path that ends in `/` is a folder. What stands before the first such line is left out.
    pub fn from_fixture(text: &str) -> Memory {
        let memory = Memory::new();
        let mut nodes = Nodes::new();
        let mut current: Option<(String, String)> = None;
        let mut keep = |file: Option<(String, String)>| {
            if let Some((name, content)) = file {
                match name.strip_suffix('/') {
                    Some(folder) => nodes.insert(folder.to_owned(), Node::Folder),
                    None => nodes.insert(name, Node::File(MemoryFile::new(content.as_bytes(), 0o644))),
                };
            }
        };
        for line in text.split_inclusive('\n') {
            if let Some(name) = line.strip_prefix("//- ") {
                keep(current.replace((name.trim().to_owned(), String::new())));
            } else if let Some((_, content)) = &mut current {
                content.push_str(line);
            }
        }
        keep(current);
        *memory.nodes() = nodes;
        memory
    }

    /// The text of a file by its display name, for tests and hosts; `None` where there is no such text file.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.nodes().get(name)? {
            Node::File(file) => String::from_utf8(file.content.to_vec()).ok(),
            Node::Folder => None,
        }
    }

    /// Sets the permission bits of a file; false where there is no such file.
    pub fn set_mode(&self, name: &str, mode: u32) -> bool {
        match self.nodes().get_mut(name) {
            Some(Node::File(file)) => {
                file.mode = mode & 0o7777;
                true
            }
            _ => false,
        }
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        path: &WorkspacePath,
        operation: impl FnOnce(&mut Nodes, &str) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let name = self.name(path)?;
        operation(&mut self.nodes(), &name)
    }
}

impl Workspace for Memory {
    fn root(&self) -> &str {
        ROOT
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        Ok(Place::parse(path, &self.roots)?.below())
    }

    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        self.with(path, |nodes, name| match find(nodes, name)? {
            Node::File(file) => Ok(file.stat(name)),
            Node::Folder => Ok(folder_stat(name)),
        })
    }

    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        self.with(path, |nodes, name| match find(nodes, name)? {
            Node::File(file) => Ok(file.open(name)),
            Node::Folder => Err(refusal::not_a_file(name, "a folder")),
        })
    }

    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        self.with(path, |nodes, name| match find(nodes, name)? {
            Node::File(_) => Err(refusal::not_a_folder(name)),
            Node::Folder => Ok(Box::new(children(nodes, name).into_iter().map(Ok)) as Entries),
        })
    }

    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.with(path, |nodes, name| {
            no_file_above(nodes, name)?;
            let mode = match look(nodes, name) {
                Some(Node::Folder) => return Err(refusal::not_a_file(name, "a folder")),
                Some(Node::File(file)) => Some(file.mode),
                None => None,
            };
            make_above(nodes, name);
            nodes.insert(name.to_owned(), Node::File(MemoryFile::new(content, mode.unwrap_or(0o644))));
            Ok(Written { name: name.to_owned(), created: mode.is_none(), bytes: content.len() as u64 })
        })
    }

    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.with(path, |nodes, name| {
            if name == "." {
                return Err(refusal::is_root(name));
            }
            if matches!(find(nodes, name)?, Node::Folder) && !children(nodes, name).is_empty() {
                return Err(refusal::not_empty(name));
            }
            make_above(nodes, name);
            nodes.remove(name);
            Ok(())
        })
    }

    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        let to = self.name(to)?;
        self.with(from, |nodes, from| rename(nodes, from, &to))
    }

    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.with(path, |nodes, name| {
            no_file_above(nodes, name)?;
            if matches!(look(nodes, name), Some(Node::File(_))) {
                return Err(refusal::not_a_folder(name));
            }
            make_above(nodes, name);
            if name != "." {
                nodes.insert(name.to_owned(), Node::Folder);
            }
            Ok(())
        })
    }

    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        Ok(self.turns.request(&self.name(path)?))
    }
}

fn look(nodes: &Nodes, name: &str) -> Option<Node> {
    if name == "." {
        return Some(Node::Folder);
    }
    if let Some(node) = nodes.get(name) {
        return Some(node.clone());
    }
    let prefix = prefix(name);
    let below = nodes.range(prefix.clone()..).next()?;
    below.0.starts_with(&prefix).then_some(Node::Folder)
}

fn find(nodes: &Nodes, name: &str) -> Result<Node, ToolError> {
    if let Some(node) = look(nodes, name) {
        return Ok(node);
    }
    no_file_above(nodes, name)?;
    // The first missing name from the left is the one to look for.
    let folder = above(name).find(|above| look(nodes, above).is_some()).unwrap_or(".");
    let start = prefix(folder);
    let (wanted, rest) = name[start.len()..].split_once('/').unwrap_or((&name[start.len()..], ""));
    let known = children(nodes, folder);
    let near = nearest(wanted, known.iter().map(|entry| entry.name.as_str()), refusal::NEAREST);
    let near: Vec<String> = near
        .into_iter()
        .map(|part| {
            let whole = format!("{start}{part}/{rest}");
            if !rest.is_empty() && look(nodes, &whole).is_some() { whole } else { format!("{start}{part}") }
        })
        .collect();
    Err(refusal::missing(name, &near))
}

fn no_file_above(nodes: &Nodes, name: &str) -> Result<(), ToolError> {
    match above(name).any(|above| matches!(nodes.get(above), Some(Node::File(_)))) {
        true => Err(refusal::not_a_folder(name)),
        false => Ok(()),
    }
}

/// Folders that exist only by what is in them stay when that goes.
fn make_above(nodes: &mut Nodes, name: &str) {
    for above in above(name) {
        nodes.entry(above.to_owned()).or_insert(Node::Folder);
    }
}

fn children(nodes: &Nodes, folder: &str) -> Vec<Entry> {
    let prefix = prefix(folder);
    let mut found: BTreeMap<&str, Kind> = BTreeMap::new();
    for (name, node) in nodes.range(prefix.clone()..).take_while(|(name, _)| name.starts_with(&prefix)) {
        let (child, kind) = match name[prefix.len()..].split_once('/') {
            Some((child, _)) => (child, Kind::Folder),
            None => {
                (&name[prefix.len()..], if matches!(node, Node::File(_)) { Kind::File } else { Kind::Folder })
            }
        };
        found.insert(child, kind);
    }
    found.into_iter().map(|(name, kind)| Entry { name: name.to_owned(), kind, exact: true }).collect()
}

fn rename(nodes: &mut Nodes, from: &str, to: &str) -> Result<(), ToolError> {
    if from == "." || to == "." {
        return Err(refusal::is_root("."));
    }
    let is_folder = matches!(find(nodes, from)?, Node::Folder);
    if from == to {
        return Ok(());
    }
    no_file_above(nodes, to)?;
    match look(nodes, to) {
        Some(Node::Folder) => return Err(refusal::onto_folder(to)),
        Some(Node::File(_)) if is_folder => return Err(refusal::no_move(from, to)),
        _ => {}
    }
    let inside = prefix(from);
    if to.starts_with(&inside) {
        return Err(refusal::no_move(from, to));
    }
    make_above(nodes, from);
    make_above(nodes, to);
    let moved: Vec<String> =
        nodes.keys().filter(|name| *name == from || name.starts_with(&inside)).cloned().collect();
    if is_folder {
        nodes.insert(to.to_owned(), Node::Folder);
    }
    for name in moved {
        if let Some(node) = nodes.remove(&name) {
            nodes.insert(format!("{to}{}", &name[from.len()..]), node);
        }
    }
    Ok(())
}
