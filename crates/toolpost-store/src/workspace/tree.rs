//! A tree of files and folders over the flat list of virtual files. Every function blocks.

use crate::store::now_ms;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolpost_core::store::{By, FileChange, FileVersion, Store, StoredFile};
use toolpost_core::text::nearest;
use toolpost_core::workspace::implement::{above, prefix, refusal};
use toolpost_core::workspace::{Entries, Entry, File, Kind, Stat, Written};
use toolpost_core::{Code, ToolError};

/// Bytes of all files of a folder that is moved, at most: they are in memory at once.
const LARGEST_MOVE: u64 = 256 << 20;

/// The virtual files of one session as a tree.
pub(super) struct Tree {
    store: Arc<dyn Store>,
    session: String,
    /// Folders that are there although no file is in them.
    folders: Mutex<BTreeSet<String>>,
    /// The version of each file whose turn somebody has, when it was taken or after their last change; 0 for no file.
    held: Mutex<HashMap<String, u64>>,
}

/// Who makes a change.
#[derive(Clone, Default)]
pub(super) struct Author {
    agent: Option<String>,
    activation: Option<String>,
    call: Option<String>,
}

impl Author {
    pub(super) fn of(by: &By) -> Author {
        Author { agent: by.agent.clone(), activation: by.activation.clone(), call: by.call.clone() }
    }
}

/// What is known of a name.
enum Node {
    File(FileVersion),
    Folder,
}

impl Tree {
    pub(super) fn new(store: Arc<dyn Store>, session: &str) -> Tree {
        Tree { store, session: session.to_owned(), folders: Mutex::default(), held: Mutex::default() }
    }

    pub(super) fn stat(&self, name: &str) -> Result<Stat, ToolError> {
        Ok(match self.find(name)? {
            Node::File(file) => file_stat(&file),
            Node::Folder => {
                let (name, kind) = (name.to_owned(), Kind::Folder);
                Stat { name, kind, size: 0, modified_ms: 0, mode: 0o755, has_other_names: false }
            }
        })
    }

    pub(super) fn open(&self, name: &str) -> Result<File, ToolError> {
        if name != "."
            && let Some(StoredFile { about, content }) = self.store.file(&self.session, name, None)?
        {
            return Ok(File { stat: file_stat(&about), reader: Box::new(Cursor::new(content)) });
        }
        match self.find(name)? {
            Node::Folder => Err(refusal::not_a_file(name, "a folder")),
            // It came between the two looks.
            Node::File(_) => self.open(name),
        }
    }

    pub(super) fn entries(&self, name: &str) -> Result<Entries, ToolError> {
        match self.find(name)? {
            Node::File(_) => Err(refusal::not_a_folder(name)),
            Node::Folder => Ok(Box::new(self.children(name)?.into_iter().map(Ok))),
        }
    }

    pub(super) fn write(&self, author: &Author, name: &str, content: Vec<u8>) -> Result<Written, ToolError> {
        self.no_file_above(name)?;
        let bytes = content.len() as u64;
        let created = match self.look(name)? {
            Some(Node::Folder) => return Err(refusal::not_a_file(name, "a folder")),
            Some(Node::File(_)) => false,
            None => true,
        };
        let expected = self.held().get(name).copied();
        let change = FileChange { path: name.to_owned(), content: Some(content), expected, mode: None };
        self.change(author, vec![change])?;
        Ok(Written { name: name.to_owned(), created, bytes })
    }

    pub(super) fn remove(&self, author: &Author, name: &str) -> Result<(), ToolError> {
        if name == "." {
            return Err(refusal::is_root(name));
        }
        match self.find(name)? {
            Node::Folder if !self.children(name)?.is_empty() => return Err(refusal::not_empty(name)),
            Node::Folder => {}
            Node::File(_) => {
                let expected = self.held().get(name).copied();
                let change = FileChange { path: name.to_owned(), content: None, expected, mode: None };
                self.change(author, vec![change])?;
            }
        }
        self.keep_above(name);
        self.folders().remove(name);
        Ok(())
    }

    pub(super) fn rename(&self, author: &Author, from: &str, to: &str) -> Result<(), ToolError> {
        if from == "." || to == "." {
            return Err(refusal::is_root("."));
        }
        let node = self.find(from)?;
        if from == to {
            return Ok(());
        }
        self.no_file_above(to)?;
        let replaced = match (self.look(to)?, &node) {
            (Some(Node::Folder), _) => return Err(refusal::onto_folder(to)),
            (Some(Node::File(_)), Node::Folder) => return Err(refusal::no_move(from, to)),
            (Some(Node::File(file)), Node::File(_)) => file.version,
            (None, _) => 0,
        };
        let inside = prefix(from);
        if to.starts_with(&inside) {
            return Err(refusal::no_move(from, to));
        }
        let moved = match node {
            Node::File(file) => vec![file],
            Node::Folder => self.store.files(&self.session, &inside)?,
        };
        self.move_files(author, &moved, (from, to), replaced)?;
        self.keep_above(from);
        self.keep_above(to);
        let mut folders = self.folders();
        let empty: Vec<String> =
            folders.iter().filter(|name| *name == from || name.starts_with(&inside)).cloned().collect();
        for name in empty {
            folders.remove(&name);
            folders.insert(format!("{to}{}", &name[from.len()..]));
        }
        Ok(())
    }

    /// Moves files in one transaction: each is as it was looked at, or nothing changes.
    fn move_files(
        &self,
        author: &Author,
        moved: &[FileVersion],
        (from, to): (&str, &str),
        replaced: u64,
    ) -> Result<(), ToolError> {
        let bytes: u64 = moved.iter().map(|file| file.size).sum();
        if bytes > LARGEST_MOVE {
            let message = format!(
                "`{from}` holds {bytes} bytes, and at most {LARGEST_MOVE} are moved at once; move what is in it part by part"
            );
            return Err(ToolError::new(Code::TooLarge, message).with("path", from));
        }
        let mut changes = Vec::with_capacity(moved.len() * 2);
        for file in moved {
            let path = &file.path;
            let version = self.held().get(path).copied().unwrap_or(file.version);
            let content =
                self.store.file(&self.session, path, Some(file.version))?.map(|stored| stored.content);
            changes.push(FileChange {
                path: format!("{to}{}", &path[from.len()..]),
                content: Some(content.unwrap_or_default()),
                expected: Some(if path == from { replaced } else { 0 }),
                mode: Some(file.mode),
            });
            changes.push(FileChange {
                path: path.clone(),
                content: None,
                expected: Some(version),
                mode: None,
            });
        }
        match changes.is_empty() {
            true => Ok(()),
            false => self.change(author, changes),
        }
    }

    pub(super) fn create_folder(&self, name: &str) -> Result<(), ToolError> {
        self.no_file_above(name)?;
        if matches!(self.look(name)?, Some(Node::File(_))) {
            return Err(refusal::not_a_folder(name));
        }
        if name != "." {
            self.keep_above(name);
            self.folders().insert(name.to_owned());
        }
        Ok(())
    }

    /// Notes which version a file has, so that a change is refused if somebody else makes one first.
    pub(super) fn hold(tree: &Arc<Tree>, name: &str) -> Result<HeldVersion, ToolError> {
        let version = if name == "." { None } else { tree.newest(name)? };
        tree.held().insert(name.to_owned(), version.map_or(0, |file| file.version));
        Ok(HeldVersion { tree: Arc::clone(tree), name: name.to_owned() })
    }

    /// Makes changes in one transaction.
    fn change(&self, author: &Author, changes: Vec<FileChange>) -> Result<(), ToolError> {
        let Author { agent, activation, call } = author.clone();
        let by = By { at_ms: now_ms(), session: self.session.clone(), agent, activation, call };
        let paths: Vec<(String, bool)> =
            changes.iter().map(|change| (change.path.clone(), change.content.is_some())).collect();
        let versions = self.store.change_files(&by, changes).map_err(|error| match error.code() {
            Code::StaleFile => {
                let path = error.details().get("path").and_then(|path| path.as_str()).unwrap_or_default();
                let message = format!(
                    "`{path}` was changed by another call since this call began; nothing was written: read it again, and repeat your change"
                );
                ToolError::new(Code::StaleFile, message).with("path", path)
            }
            _ => error,
        })?;
        let mut held = self.held();
        for ((path, is_there), version) in paths.iter().zip(versions) {
            if let Some(known) = held.get_mut(path) {
                *known = if *is_there { version } else { 0 };
            }
        }
        Ok(())
    }

    /// The newest version of a file; none where there is none.
    fn newest(&self, name: &str) -> Result<Option<FileVersion>, ToolError> {
        let versions = self.store.file_versions(&self.session, name)?;
        Ok(versions.into_iter().next_back().filter(|newest| newest.hash.is_some()))
    }

    fn look(&self, name: &str) -> Result<Option<Node>, ToolError> {
        if name == "." {
            return Ok(Some(Node::Folder));
        }
        if let Some(file) = self.newest(name)? {
            return Ok(Some(Node::File(file)));
        }
        let is_folder =
            self.folders().contains(name) || !self.store.files(&self.session, &prefix(name))?.is_empty();
        Ok(is_folder.then_some(Node::Folder))
    }

    fn find(&self, name: &str) -> Result<Node, ToolError> {
        if let Some(node) = self.look(name)? {
            return Ok(node);
        }
        self.no_file_above(name)?;
        // The first missing name from the left is the one to look for.
        let mut folder = ".";
        for above in above(name) {
            if self.look(above)?.is_some() {
                folder = above;
                break;
            }
        }
        let start = prefix(folder);
        let (wanted, rest) = name[start.len()..].split_once('/').unwrap_or((&name[start.len()..], ""));
        let known = self.children(folder)?;
        let mut near = Vec::new();
        for part in nearest(wanted, known.iter().map(|entry| entry.name.as_str()), refusal::NEAREST) {
            let whole = format!("{start}{part}/{rest}");
            let is_there = !rest.is_empty() && self.look(&whole)?.is_some();
            near.push(if is_there { whole } else { format!("{start}{part}") });
        }
        Err(refusal::missing(name, &near))
    }

    fn no_file_above(&self, name: &str) -> Result<(), ToolError> {
        for above in above(name) {
            if self.newest(above)?.is_some() {
                return Err(refusal::not_a_folder(name));
            }
        }
        Ok(())
    }

    /// Folders that exist only by what is in them stay when that goes.
    fn keep_above(&self, name: &str) {
        self.folders().extend(above(name).map(str::to_owned));
    }

    fn children(&self, folder: &str) -> Result<Vec<Entry>, ToolError> {
        let prefix = prefix(folder);
        let files = self.store.files(&self.session, &prefix)?;
        let mut found: BTreeMap<&str, Kind> = BTreeMap::new();
        let folders = self.folders();
        for name in folders.iter().filter_map(|name| name.strip_prefix(&prefix)) {
            found.insert(name.split('/').next().unwrap_or(name), Kind::Folder);
        }
        for name in files.iter().filter_map(|file| file.path.strip_prefix(&prefix)) {
            match name.split_once('/') {
                Some((child, _)) => found.insert(child, Kind::Folder),
                None => found.insert(name, Kind::File),
            };
        }
        let entry = |(name, kind): (&str, Kind)| Entry { name: name.to_owned(), kind, exact: true };
        Ok(found.into_iter().map(entry).collect())
    }

    fn folders(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets, when dropped, which version a file had.
pub(super) struct HeldVersion {
    tree: Arc<Tree>,
    name: String,
}

impl Drop for HeldVersion {
    fn drop(&mut self) {
        self.tree.held().remove(&self.name);
    }
}

fn file_stat(file: &FileVersion) -> Stat {
    Stat {
        name: file.path.clone(),
        kind: Kind::File,
        size: file.size,
        modified_ms: i64::try_from(file.at_ms).unwrap_or(i64::MAX),
        mode: file.mode,
        has_other_names: false,
    }
}
