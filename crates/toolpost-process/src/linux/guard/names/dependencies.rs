//! Dependency folders: inside of them, other names are closed than elsewhere.

use super::{Reserved, Root, below, fold, parts};
use crate::sandbox;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

/// The dependency folders that one command meets.
pub(super) struct Dependencies {
    /// Every folder of such a name is one.
    names: Vec<Vec<u8>>,
    /// Those that held their markers when the command started, and where they have moved.
    folders: BTreeSet<Vec<u8>>,
    /// The names of all of them, and of folders that are ones at times.
    called: Vec<Vec<u8>>,
    /// What is closed inside of them.
    pub(super) reserved: Reserved,
    markers: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Dependencies {
    pub(super) fn new(found: &sandbox::Dependencies) -> Dependencies {
        let names: Vec<Vec<u8>> = found.names.iter().map(|name| name.as_bytes().to_vec()).collect();
        let folders =
            found.folders.iter().map(|folder| super::without_final_slash(folder.as_os_str().as_bytes()));
        let folders: BTreeSet<Vec<u8>> = folders.collect();
        let given = found.called.iter().chain(found.markers.iter().map(|(folder, _)| folder));
        let called = names.iter().cloned().chain(folders.iter().map(|folder| last(folder).to_vec()));
        let called = called.chain(given.map(|name| name.as_bytes().to_vec()));
        let called: BTreeSet<Vec<u8>> = called.collect();
        let reserved: Vec<Vec<u8>> =
            found.reserved.iter().map(|pattern| pattern.as_bytes().to_vec()).collect();
        let markers = found.markers.iter();
        let markers = markers.map(|(folder, name)| (folder.as_bytes().to_vec(), name.as_bytes().to_vec()));
        Dependencies {
            names,
            folders,
            called: called.into_iter().collect(),
            reserved: Reserved::new(&reserved),
            markers: markers.collect(),
        }
    }

    /// The number of parts of the outermost dependency folder below the root in which the path lies.
    pub(super) fn depth(&self, root: &Root, path: &[u8]) -> Option<usize> {
        if !root.has_rules || (self.names.is_empty() && self.folders.is_empty()) {
            return None;
        }
        let rest = below(&root.path, path)?;
        let start = path.len() - rest.len();
        // Each place at which a name ends, but for the last.
        let ends = (start + 1..path.len()).filter(|at| path[*at] == b'/');
        let found = ends.map(|end| &path[..end]).find(|folder| self.is_one(folder))?;
        Some(parts(found).count())
    }

    /// Whether there are no such names.
    pub(super) fn are_never(&self) -> bool {
        self.called.is_empty()
    }

    /// Whether no folder counts as one, although some may have been.
    pub(super) fn are_off(&self) -> bool {
        self.names.is_empty() && !self.called.is_empty()
    }

    /// Whether some folder of this path below the root, the last included, is called like one, whether it is one or not.
    pub(super) fn are_called(&self, root: &Root, path: &[u8]) -> bool {
        below(&root.path, path).is_some_and(|rest| parts(rest).any(|part| self.is_name(part)))
    }

    /// Whether some folder above this path, below the root, has the very name of one.
    pub(super) fn are_above(&self, root: &Root, path: &[u8]) -> bool {
        let folder = &path[..path.iter().rposition(|byte| *byte == b'/').unwrap_or(0)];
        let is_one = |part: &[u8]| self.called.iter().any(|name| name == part);
        below(&root.path, folder).is_some_and(|rest| parts(rest).any(is_one))
    }

    /// Whether the last part of a path is called like one.
    pub(super) fn is_called(&self, path: &[u8]) -> bool {
        self.is_name(last(path))
    }

    fn is_name(&self, part: &[u8]) -> bool {
        self.called.iter().any(|name| fold(name) == fold(part))
    }

    /// Whether what is inside a folder of this path is in a dependency folder of this root.
    pub(super) fn inside(&self, root: &Root, folder: &[u8]) -> bool {
        self.depth(root, &[folder, b"/x"].concat()).is_some()
    }

    /// The outermost dependency folder of this root that a path is, or lies in.
    pub(super) fn outermost(&self, root: &Root, path: &[u8]) -> Option<Vec<u8>> {
        let inside = [path, b"/x"].concat();
        let count = self.depth(root, &inside)?;
        let mut ends = (1..inside.len()).filter(|at| inside[*at] == b'/');
        Some(inside[..ends.nth(count.checked_sub(1)?)?].to_vec())
    }

    fn is_one(&self, folder: &[u8]) -> bool {
        self.names.iter().any(|name| name == last(folder)) || self.folders.contains(folder)
    }

    /// Whether a folder is a dependency folder where it was and, as it keeps its name, where it comes to lie.
    pub(super) fn moves_along(&self, source: &[u8], target: &[u8]) -> bool {
        self.folders.contains(source) && last(source) == last(target)
    }

    /// Whether a path lies in a dependency folder that moves with the folder `source`, and stays one.
    pub(super) fn carry(&self, path: &[u8], source: &[u8], target: &[u8]) -> bool {
        let holds = |folder: &&Vec<u8>| below(source, folder).is_some() && below(folder, path).is_some();
        let stays = |folder: &Vec<u8>| folder != source || last(source) == last(target);
        self.folders.iter().filter(holds).any(stays)
    }

    /// The folders as they are now, for [`Dependencies::restore`].
    pub(super) fn folders(&self) -> BTreeSet<Vec<u8>> {
        self.folders.clone()
    }

    /// Takes back what was noted of moves.
    pub(super) fn restore(&mut self, folders: BTreeSet<Vec<u8>>) {
        self.folders = folders;
    }

    /// Follows folders that have moved. One that got another name is none any more.
    pub(super) fn moved(&mut self, source: &[u8], target: &[u8]) {
        let is_moved = |folder: &&Vec<u8>| below(source, folder).is_some();
        let moved: Vec<Vec<u8>> = self.folders.iter().filter(is_moved).cloned().collect();
        for folder in moved {
            self.folders.remove(&folder);
            let rest = &folder[source.len()..];
            if !rest.is_empty() || last(source) == last(target) {
                self.folders.insert([target, rest].concat());
            }
        }
    }

    /// Whether some part of the text of a link is called like a dependency folder, and the link itself does not say so: it
    /// has such a name itself or, where a folder of the name need not be one, leads to one of the same name.
    pub(super) fn are_named_by(&self, link: &[u8], text: &[u8]) -> bool {
        let own = last(link);
        if self.called.is_empty() || self.names.iter().any(|name| name == own) {
            return false;
        }
        let mut named: Vec<&[u8]> = parts(text).collect();
        if named.last() == Some(&own) && self.called.iter().any(|name| name == own) {
            named.pop();
        }
        named.iter().any(|part| self.is_name(part))
    }

    /// Whether a file of this name would make the folder one of dependencies.
    pub(super) fn is_marker(&self, folder: &[u8], name: &[u8]) -> bool {
        self.markers.iter().any(|(of, marker)| of == last(folder) && marker == name)
    }
}

/// The last part of a path.
fn last(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
