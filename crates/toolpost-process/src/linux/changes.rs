//! What a command has changed in an overlay, by what lies in its upper folder over what lies below.
//!
//! Nothing is opened through a link: what a command made, and what others do to the workspace meanwhile, can lead
//! nowhere else.

use super::scratch::names_in;
use crate::scratch::{Change, Changes, Node, NodeKind};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// No more are looked for, so that a folder of millions of files holds nobody up.
const MOST: usize = 200_000;

/// What is compared at a time.
const PIECE: usize = 64 * 1024;

/// The changes in each root.
pub(crate) fn changes(scratch: &Path, roots: &[PathBuf]) -> io::Result<Changes> {
    let mut found = Changes::default();
    for (number, root) in super::view::in_order(roots).into_iter().enumerate() {
        let upper = scratch.join(number.to_string()).join("upper");
        // A root that was not there was not laid over.
        let (Ok(upper), Ok(lower)) = (Tree::open(&upper, true), Tree::open(root, false)) else { continue };
        Comparison { upper, lower, root, found: &mut found }.run()?;
    }
    found.list.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The bytes of a changed file, before and after.
pub(crate) fn contents(
    scratch: &Path,
    roots: &[PathBuf],
    change: &Change,
    most: u64,
) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    // Of nested roots each has its own overlay: the innermost holds the file.
    let roots = super::view::in_order(roots);
    let of_file = roots.iter().enumerate().rev().find(|(_, root)| change.path.starts_with(root));
    let Some((number, root)) = of_file else { return (None, None) };
    let path = change.path.strip_prefix(root).unwrap_or(&change.path);
    let upper = scratch.join(number.to_string()).join("upper");
    let read = |tree: rustix::io::Result<Tree>, node: &Option<Node>| {
        let length = node.as_ref().filter(|node| node.kind == NodeKind::File && node.bytes <= most)?.bytes;
        bytes(&tree.ok()?, path, length).ok()
    };
    (read(Tree::open(root, false), &change.before), read(Tree::open(&upper, true), &change.after))
}

/// A folder, and what is in it by relative paths.
pub(super) struct Tree {
    pub(super) root: OwnedFd,
    /// Whether the files are our own, so that rights may be taken to read them.
    is_own: bool,
}

impl Tree {
    pub(super) fn open(path: &Path, is_own: bool) -> rustix::io::Result<Tree> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Tree { root: rustix::fs::open(path, flags, Mode::empty())?, is_own })
    }

    fn get(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve)
    }

    /// What is there; none if nothing is.
    pub(super) fn stat(&self, path: &Path) -> rustix::io::Result<Option<Stat>> {
        match self.get(path, OFlags::PATH) {
            Ok(place) => rustix::fs::fstat(&place).map(Some),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file or folder that `stat` has shown to be one.
    pub(super) fn read(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK;
        match self.get(path, flags) {
            Err(Errno::ACCESS) if self.is_own => {
                let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
                rustix::fs::chmodat(&self.root, path, Mode::RWXU, AtFlags::empty())?;
                self.get(path, flags)
            }
            opened => opened,
        }
    }

    fn link(&self, path: &Path) -> rustix::io::Result<Vec<u8>> {
        let place = self.get(path, OFlags::PATH)?;
        Ok(rustix::fs::readlinkat(&place, "", Vec::new())?.into_bytes())
    }

    /// What has this name, with where it leads if it is a link.
    fn node(&self, path: &Path, stat: &Stat) -> Node {
        let is_link = kind(stat) == NodeKind::Link;
        Node { target: is_link.then(|| self.link(path).ok()).flatten(), ..node(stat) }
    }

    fn names(&self, path: &Path) -> rustix::io::Result<(Vec<PathBuf>, bool)> {
        let folder = self.read(path, OFlags::DIRECTORY)?;
        let is_opaque = has_note(&folder, "user.overlay.opaque");
        let named = |name: CString| path.join(OsStr::from_bytes(name.to_bytes()));
        Ok((names_in(&folder).into_iter().map(named).collect(), is_opaque))
    }

    /// Whether what is here only says that nothing is.
    fn is_whiteout(&self, path: &Path, stat: &Stat) -> bool {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::CharacterDevice => stat.st_rdev == 0,
            FileType::RegularFile if stat.st_size == 0 => {
                self.read(path, OFlags::empty()).is_ok_and(|file| has_note(&file, "user.overlay.whiteout"))
            }
            _ => false,
        }
    }
}

fn has_note(file: &OwnedFd, name: &str) -> bool {
    let mut value = [0_u8; 8];
    rustix::fs::fgetxattr(file, name, &mut value[..]).is_ok()
}

struct Comparison<'a> {
    upper: Tree,
    lower: Tree,
    root: &'a Path,
    found: &'a mut Changes,
}

impl Comparison<'_> {
    fn run(&mut self) -> io::Result<()> {
        let (Some(upper), Some(lower)) = (self.upper.stat(Path::new(""))?, self.lower.stat(Path::new(""))?)
        else {
            return Ok(());
        };
        self.compare_folders(Path::new(""), &upper, &lower);
        // Each with whether there is a folder below it.
        let mut waiting = vec![(PathBuf::new(), true)];
        while let Some((folder, has_lower)) = waiting.pop() {
            let Ok((names, is_opaque)) = self.upper.names(&folder) else {
                self.found.is_cut = true;
                continue;
            };
            if is_opaque && has_lower {
                let kept: BTreeSet<&PathBuf> = names.iter().collect();
                let (below, _) = self.lower.names(&folder).unwrap_or_default();
                for path in below.iter().filter(|path| !kept.contains(path)) {
                    self.deleted(path);
                }
            }
            for path in names {
                if let Some(below) = self.one(&path, has_lower) {
                    waiting.push((path, below));
                }
            }
        }
        Ok(())
    }

    /// Compares what has one name. For a folder to look into: whether there is one below it.
    fn one(&mut self, path: &Path, has_lower: bool) -> Option<bool> {
        let Ok(Some(upper)) = self.upper.stat(path) else {
            self.found.is_cut = true;
            return None;
        };
        let lower = if has_lower { self.lower.stat(path).unwrap_or(None) } else { None };
        if self.upper.is_whiteout(path, &upper) {
            if lower.is_some() {
                self.deleted(path);
            }
            return None;
        }
        let is_folder = kind(&upper) == NodeKind::Folder;
        match lower {
            Some(lower) if kind(&lower) == kind(&upper) => {
                match kind(&upper) {
                    NodeKind::Folder => self.compare_folders(path, &upper, &lower),
                    kind => {
                        if node(&upper) != node(&lower) || !self.is_same(kind, path, &upper, &lower) {
                            let (before, after) =
                                (self.lower.node(path, &lower), self.upper.node(path, &upper));
                            self.note(path, Some(before), Some(after));
                        }
                    }
                }
                is_folder.then_some(true)
            }
            lower => {
                if lower.is_some() {
                    self.deleted(path);
                }
                let after = self.upper.node(path, &upper);
                self.note(path, None, Some(after));
                is_folder.then_some(false)
            }
        }
    }

    fn compare_folders(&mut self, path: &Path, upper: &Stat, lower: &Stat) {
        if node(upper) != node(lower) {
            self.note(path, Some(node(lower)), Some(node(upper)));
        }
    }

    /// Whether two of the same kind, size and mode are the same inside.
    fn is_same(&self, kind: NodeKind, path: &Path, upper: &Stat, lower: &Stat) -> bool {
        let is_untouched = || upper.st_mtime == lower.st_mtime && upper.st_mtime_nsec == lower.st_mtime_nsec;
        match kind {
            NodeKind::File => {
                let opened = (
                    self.upper.read(path, OFlags::empty()).map(File::from),
                    self.lower.read(path, OFlags::empty()).map(File::from),
                );
                match opened {
                    (Ok(upper), Ok(lower)) => are_equal(upper, lower).unwrap_or(false),
                    // Nobody may read it, so that its time must do.
                    _ => is_untouched(),
                }
            }
            NodeKind::Link => self.upper.link(path).ok() == self.lower.link(path).ok(),
            NodeKind::Folder | NodeKind::Other => true,
        }
    }

    /// Notes something that lies below, and all that is in it, as deleted.
    fn deleted(&mut self, path: &Path) {
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            if self.found.list.len() >= MOST {
                self.found.is_cut = true;
                return;
            }
            let Ok(Some(lower)) = self.lower.stat(&path) else { continue };
            let before = self.lower.node(&path, &lower);
            self.note(&path, Some(before), None);
            if kind(&lower) == NodeKind::Folder {
                waiting.extend(self.lower.names(&path).unwrap_or_default().0);
            }
        }
    }

    fn note(&mut self, path: &Path, before: Option<Node>, after: Option<Node>) {
        match self.found.list.len() < MOST {
            true => {
                let path = if path.as_os_str().is_empty() { self.root.into() } else { self.root.join(path) };
                self.found.list.push(Change { path, before, after });
            }
            false => self.found.is_cut = true,
        }
    }
}

fn kind(stat: &Stat) -> NodeKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => NodeKind::File,
        FileType::Directory => NodeKind::Folder,
        FileType::Symlink => NodeKind::Link,
        _ => NodeKind::Other,
    }
}

fn node(stat: &Stat) -> Node {
    let kind = kind(stat);
    let bytes = match kind {
        NodeKind::File => u64::try_from(stat.st_size).unwrap_or(0),
        NodeKind::Folder | NodeKind::Link | NodeKind::Other => 0,
    };
    Node { kind, bytes, mode: stat.st_mode & 0o7777, target: None }
}

fn are_equal(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let (mut first, mut second) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let count = one.read(&mut first)?;
        if count == 0 {
            return Ok(other.read(&mut second)? == 0);
        }
        match other.read_exact(&mut second[..count]) {
            Ok(()) if first[..count] == second[..count] => (),
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// The bytes of a file, no more than it had.
fn bytes(tree: &Tree, path: &Path, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(tree.read(path, OFlags::empty())?).take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
