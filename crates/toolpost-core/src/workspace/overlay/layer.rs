//! The upper layer of an overlay: new files and folders, and the names that are gone.

use super::Change;
use crate::workspace::Kind;
use crate::workspace::memory::{MemoryFile, above, prefix};
use std::collections::BTreeMap;

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
    before: BTreeMap<String, Option<Vec<u8>>>,
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
    pub(super) fn remember(&mut self, name: &str, content: Option<Vec<u8>>) {
        self.before.entry(name.to_owned()).or_insert(content);
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
        let changes = self.before.iter().map(|(path, before)| {
            let after = match self.nodes.get(path) {
                Some(Upper::File(file)) => Some(file.content.to_vec()),
                _ => None,
            };
            Change { path: path.clone(), before: before.clone(), after }
        });
        changes.filter(|change| change.before != change.after).collect()
    }
}
