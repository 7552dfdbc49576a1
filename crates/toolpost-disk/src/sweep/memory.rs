//! What is remembered of a root between sweeps: its folders, each with the names in it that are of interest.

use super::list::Wanted;
use super::stamp::{Raw, Ruled};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolpost_core::workspace::FileStamp;
use toolpost_walk::Rules;

/// What is remembered of one root.
#[derive(Default)]
pub(super) struct RootMemory {
    /// A number of the rules that hold in it from outside.
    pub(super) outer: u64,
    /// Its folders by [`key`]: each before those below it.
    pub(super) folders: BTreeMap<String, Known>,
}

/// One folder.
pub(super) struct Known {
    /// Its path below the root; empty for the root.
    pub(super) below: String,
    /// What the display names of its entries begin with.
    pub(super) prefix: String,
    /// What it was before it was listed; none if it may have changed since without showing it.
    pub(super) raw: Option<Raw>,
    /// The rules that hold above its own ignore files, and those for its entries.
    pub(super) above: Arc<Rules>,
    pub(super) rules: Arc<Rules>,
    /// The files that its rules were read from.
    pub(super) ruled: Vec<Ruled>,
    pub(super) is_repository: bool,
    /// The folders in it that are looked into.
    pub(super) folders: Vec<Box<str>>,
    /// The files in it that are wanted, and their stamps as far as this sweep has taken them.
    pub(super) files: Vec<Box<str>>,
    pub(super) stamps: Vec<Option<FileStamp>>,
}

impl Known {
    /// A folder in which nothing has been found yet, and which is listed again by the next sweep.
    pub(super) fn empty(wanted: &Wanted) -> Known {
        Known {
            below: wanted.below.clone(),
            prefix: String::new(),
            raw: None,
            above: Arc::clone(&wanted.above),
            rules: Arc::clone(&wanted.above),
            ruled: Vec::new(),
            is_repository: false,
            folders: Vec::new(),
            files: Vec::new(),
            stamps: Vec::new(),
        }
    }
}

/// The path of a folder such that all that is below it comes directly after it.
pub(super) fn key(below: &str) -> String {
    below.replace('/', "\0")
}

/// The path of an entry of a folder.
pub(super) fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

impl RootMemory {
    pub(super) fn repositories(&self) -> usize {
        self.folders.values().filter(|known| known.is_repository).count()
    }

    /// Forgets a folder and all below it.
    pub(super) fn drop_tree(&mut self, key: &str) {
        self.folders.remove(key);
        self.drop_below(key);
    }

    /// Forgets all below a folder.
    pub(super) fn drop_below(&mut self, key: &str) {
        if key.is_empty() {
            self.folders.retain(|key, _| key.is_empty());
            return;
        }
        let first = format!("{key}\0");
        let below: Vec<String> = self
            .folders
            .range(first.clone()..)
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(&first))
            .cloned()
            .collect();
        for key in below {
            self.folders.remove(&key);
        }
    }
}
