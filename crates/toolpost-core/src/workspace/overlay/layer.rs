//! The upper layer of an overlay: new files and folders, and the names that are gone.

use super::{Change, Touched};
use crate::workspace::Kind;
use crate::workspace::memory::{MemoryFile, above, prefix};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the upper layer says about one name.
#[derive(Debug, Clone)]
pub(super) enum Upper {
    /// A file of this content.
    File(MemoryFile),
    /// A folder that was made here: what lies below under this name is not seen.
    Folder,
    /// Nothing is here any more.
    Gone,
}

/// The upper layer, by display name.
#[derive(Debug, Default)]
pub(super) struct Layer {
    nodes: BTreeMap<String, Upper>,
    before: BTreeMap<String, Option<Image>>,
    /// When each name was last changed, counted in changes of the layer.
    changed: BTreeMap<String, u64>,
    changes: u64,
}

/// The content of a file before its first change. Of a large one only the size is kept.
#[derive(Debug, Clone)]
pub(super) struct Image {
    pub(super) size: u64,
    pub(super) content: Option<Arc<[u8]>>,
}

impl Image {
    fn is(&self, file: &MemoryFile) -> bool {
        self.content.as_ref().is_some_and(|content| *content == file.content)
    }
}

impl Layer {
    pub(super) fn get(&self, name: &str) -> Option<&Upper> {
        self.nodes.get(name)
    }

    /// Whether the lower workspace has no say about this name.
    pub(super) fn hides(&self, name: &str) -> bool {
        self.nodes.contains_key(name) || above(name).any(|above| self.nodes.contains_key(above))
    }

    /// Whether a name further up is a file here.
    pub(super) fn file_above(&self, name: &str) -> bool {
        above(name).any(|above| matches!(self.nodes.get(above), Some(Upper::File(_))))
    }

    /// Puts a node at a name; one that is gone takes everything under it along.
    pub(super) fn set(&mut self, name: &str, node: Upper) {
        if matches!(node, Upper::Gone) {
            let prefix = prefix(name);
            self.nodes.retain(|name, _| !name.starts_with(&prefix));
        }
        self.nodes.insert(name.to_owned(), node);
    }

    /// Keeps the content from before the first change of a name.
    pub(super) fn remember(&mut self, name: &str, image: Option<Image>) {
        self.changes += 1;
        self.changed.insert(name.to_owned(), self.changes);
        self.before.entry(name.to_owned()).or_insert(image);
    }

    /// How many changes were made so far.
    pub(super) fn revision(&self) -> u64 {
        self.changes
    }

    /// The names that were changed after a revision.
    pub(super) fn touched_since(&self, revision: u64) -> Vec<Touched> {
        let is_later = |path: &str| self.changed.get(path).is_some_and(|at| *at > revision);
        let touched = self.before.iter().filter(|(path, _)| is_later(path)).map(|(path, before)| {
            let after = match self.nodes.get(path) {
                Some(Upper::File(file)) => Some(file),
                _ => None,
            };
            let is_changed = match (before, after) {
                (Some(before), Some(after)) => !before.is(after),
                (None, None) => false,
                _ => true,
            };
            Touched {
                path: path.clone(),
                bytes_before: before.as_ref().map(|image| image.size),
                bytes_after: after.map(|file| file.content.len() as u64),
                is_changed,
            }
        });
        touched.collect()
    }

    /// The names directly in a folder; without a kind where the name is gone.
    pub(super) fn children(&self, folder: &str) -> Vec<(String, Option<Kind>)> {
        let prefix = prefix(folder);
        let mut children = Vec::new();
        for (name, node) in
            self.nodes.range(prefix.clone()..).take_while(|(name, _)| name.starts_with(&prefix))
        {
            let child = &name[prefix.len()..];
            if child.is_empty() || child.contains('/') || (prefix.is_empty() && name.starts_with('/')) {
                continue;
            }
            let kind = match node {
                Upper::File(_) => Some(Kind::File),
                Upper::Folder => Some(Kind::Folder),
                Upper::Gone => None,
            };
            children.push((child.to_owned(), kind));
        }
        children
    }

    pub(super) fn changes(&self) -> Vec<Change> {
        let is_changed = |touched: &Touched| touched.is_changed;
        let changes = self.touched_since(0).into_iter().filter(is_changed).map(|touched| {
            let path = touched.path;
            let before = self.before.get(&path).cloned().flatten();
            let after = match self.nodes.get(&path) {
                Some(Upper::File(file)) => Some(file.content.to_vec()),
                _ => None,
            };
            let before =
                before.map(|image| image.content.map(|content| content.to_vec()).unwrap_or_default());
            Change { path, before, after }
        });
        changes.collect()
    }
}
