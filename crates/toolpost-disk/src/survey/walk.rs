//! One pass through the folders of the roots: looks whether each is as remembered, lists the others, and marks names.

use super::links;
use super::remembered::{Child, Entry, Folder, Git, Kept, Key, Memory, Place};
use crate::look::READ;
use crate::roots::{Roots, beneath};
use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, AtFlags, Dir, DirEntry, FileType, OFlags, ResolveFlags, Stat, accessat, fstat, readlinkat, statat,
};
use rustix::io::Errno;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toolpost_core::workspace::{DEPENDENCY_FOLDERS, DependencyFolder, Kind, Mark, Marked, Owner, Surveyor};

/// Folders deeper than this are hidden whole: nobody has such.
const DEEPEST: usize = 200;

/// Folders whose path is longer than this are hidden whole: with a name in them, the kernel might not take it.
const LONGEST: usize = 3_800;

/// Stands for a byte that is not UTF-8 where U+FFFD, which a rule could name, would not do.
const NO_NAME: char = '\u{f8ff}';

/// What one pass has found.
#[derive(Default)]
pub(super) struct Found {
    /// What is not free.
    pub(super) marked: Vec<Marked>,
    /// Links that are not free, or lie in what is not.
    pub(super) links: Vec<(PathBuf, Mark)>,
    /// Links under whose names a pattern could go on.
    pub(super) aliases: Vec<PathBuf>,
    /// Folders of repositories, and files that say where one is.
    pub(super) repositories: Vec<PathBuf>,
    /// Dependency folders that hold their markers.
    pub(super) dependencies: Vec<PathBuf>,
    /// Files in them that may be removed and not read.
    pub(super) unreadable: Vec<PathBuf>,
    /// The rows of the list through whose names links from outside lead, one bit each.
    pub(super) leads: u8,
    /// Links outside of dependency folders that lead out of their root, where other links may lead in again.
    pub(super) going_out: Vec<PathBuf>,
    /// Whether no folder counts as one of dependencies.
    pub(super) has_no_dependencies: bool,
}

impl Found {
    /// Whether a link outside of all dependency folders, with another name, leads or may lead into one. Without a marker,
    /// every folder of the name is one, whether it exists or not.
    pub(super) fn leads_into_dependencies(&self) -> bool {
        let is_there =
            |name: &str| self.dependencies.iter().any(|folder| folder.file_name() == Some(OsStr::new(name)));
        DEPENDENCY_FOLDERS
            .iter()
            .enumerate()
            .any(|(at, row)| self.leads & (1 << at) != 0 && (row.marker.is_none() || is_there(row.name)))
    }
}

/// Why a pass did not come to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// This folder became something else meanwhile.
    Replaced(PathBuf),
    /// This folder could not be looked at.
    Failed(PathBuf, Errno),
}

/// Goes through all roots.
pub(super) fn walk(roots: &Roots, surveyor: &dyn Surveyor, memory: &mut Memory) -> Result<Found, Stopped> {
    let mut found = Found::default();
    let mut known = std::mem::take(&mut memory.roots);
    let mut result = Ok(());
    for (index, (root, handle)) in roots.names.iter().zip(&roots.handles).enumerate() {
        let mut walk = Walk {
            surveyor,
            memory,
            handle,
            root: root.path.trim_end_matches('/').as_bytes(),
            // As rules see them: from the first root, absolute in the others.
            shown: if index == 0 { b"" } else { root.path.trim_end_matches('/').as_bytes() },
            found: &mut found,
        };
        let above = Above { mark: Mark::Free, inside: Inside::Tree, region: Owner::User };
        let visited = walk.folder(&mut known[index], &mut Vec::new(), above, 0);
        result = match visited {
            Ok(Visited::Done) => Ok(()),
            Ok(Visited::Gone) => Err(Stopped::Failed(root.path.clone().into(), Errno::NOENT)),
            Ok(Visited::Closed) => Err(Stopped::Failed(root.path.clone().into(), Errno::ACCESS)),
            Err(stopped) => Err(stopped),
        };
        if result.is_err() {
            break;
        }
    }
    memory.roots = known;
    let going_out = std::mem::take(&mut found.going_out);
    for link in going_out {
        found.leads |= leads_back(roots, &link);
    }
    result.map(|()| found)
}

/// The rows of the list through whose names a link that leads out of its root comes back into one.
fn leads_back(roots: &Roots, link: &Path) -> u8 {
    let followed = links::follow(link);
    let is_named_so = DependencyFolder::named(link.file_name().unwrap_or_default().as_bytes()).is_some();
    let (mut found, end) = (0, followed.end.clone());
    for path in followed.links.iter().skip(1).chain(&followed.way).chain([&end]) {
        for root in roots.names.iter() {
            let Ok(inside) = path.strip_prefix(&root.path) else { continue };
            let mut parts: Vec<&[u8]> = inside.iter().map(|part| part.as_bytes()).collect();
            // As for other links: what has the name of one may lead to one of the same name.
            if is_named_so && *path == end && end.file_name() == link.file_name() {
                parts.pop();
            }
            found = parts.iter().fold(found, |found, part| found | bit(part));
        }
    }
    found
}

enum Listed {
    Yes(Kept),
    No(Visited),
}

enum Visited {
    Done,
    /// It is not there any more.
    Gone,
    /// It cannot be looked into.
    Closed,
}

/// What a folder lies in.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Tree,
    Repository,
    /// The repositories of submodules and worktrees.
    Repositories,
}

/// What holds for a folder because of those above it.
#[derive(Clone, Copy)]
struct Above {
    mark: Mark,
    inside: Inside,
    region: Owner,
}

struct Walk<'a> {
    surveyor: &'a dyn Surveyor,
    memory: &'a mut Memory,
    handle: &'a OwnedFd,
    root: &'a [u8],
    shown: &'a [u8],
    found: &'a mut Found,
}

impl Walk<'_> {
    /// Looks at a folder, given by its path from the root, and at all folders in it.
    fn folder(
        &mut self,
        folder: &mut Folder,
        path: &mut Vec<u8>,
        around: Above,
        depth: usize,
    ) -> Result<Visited, Stopped> {
        let Above { mark: above, inside, region } = around;
        let mut kept = Kept::InMemory;
        let key = match self.key(folder, path) {
            Ok(key) => key,
            Err(errno) => return self.not_opened(path, errno),
        };
        if key.is_none() || folder.key != key {
            match self.list(folder, path, above, region)? {
                Listed::Yes(how) => kept = how,
                Listed::No(visited) => return Ok(visited),
            }
        } else if folder.generation != self.memory.generation
            || folder.place != self.place(path, region, folder.has_marker)
        {
            self.mark_again(folder, path, above, region);
        }
        if folder.has_marker {
            self.found.dependencies.push(self.absolute(path, b""));
        }
        for entry in &folder.marked {
            if entry.mark > above {
                let whole = self.absolute(path, &entry.name);
                let is_hidden = above == Mark::Free && entry.mark == Mark::Hidden && entry.kind == Kind::File;
                if is_hidden
                    && folder.place.owner == Owner::Dependency
                    && self.is_removable(path, &entry.name)
                {
                    self.found.unreadable.push(whole.clone());
                }
                self.found.marked.push(Marked { path: whole, mark: entry.mark });
            }
            if entry.kind == Kind::Link {
                let link = self.absolute(path, &entry.name);
                self.found.leads |= entry.leads;
                if entry.goes_out {
                    self.found.going_out.push(link.clone());
                }
                if entry.goes_on {
                    self.found.aliases.push(link.clone());
                }
                let mark = entry.mark.max(above);
                if mark > Mark::Free {
                    self.found.links.push((link, mark));
                }
            }
        }
        if folder.git.has_git {
            self.found.repositories.push(self.absolute(path, b".git"));
        }
        let is_repository = folder.git.is_repository();
        if is_repository && inside != Inside::Repository {
            self.found.repositories.push(self.absolute(path, b""));
        }
        // A repository need not be called `.git`: a bare one may lie anywhere. What only looks like one must not hide
        // another that lies in it, so its folders are looked at like all others.
        let length = path.len();
        for child in &mut folder.folders {
            path.truncate(length);
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(&child.name);
            let is_too_deep = depth == DEEPEST || self.root.len() + path.len() > LONGEST;
            let visited = match is_too_deep {
                true => Visited::Closed,
                false => {
                    let inside = match (inside, &*child.name) {
                        (Inside::Tree, b".git") => Inside::Repository,
                        (Inside::Repository, b"modules" | b"worktrees") => Inside::Repositories,
                        (inside, _) => inside,
                    };
                    let at = self.found.marked.len();
                    let mark = child.mark.max(above);
                    if mark > above {
                        let path = self.absolute(path, b"");
                        self.found.marked.push(Marked { path, mark });
                    }
                    let around = Above { mark, inside, region: folder.place.region };
                    let visited = self.folder(&mut child.folder, path, around, depth + 1)?;
                    if !matches!(visited, Visited::Done) {
                        self.found.marked.truncate(at);
                    }
                    visited
                }
            };
            if matches!(visited, Visited::Closed) && above < Mark::Hidden {
                let path = self.absolute(path, b"");
                self.found.marked.push(Marked { path, mark: Mark::Hidden });
            }
        }
        path.truncate(length);
        if kept == Kept::ForNow {
            self.memory.forget(folder);
            *folder = Folder::default();
        }
        Ok(Visited::Done)
    }

    /// Whether a command may remove a file that it may not read. One whose name cannot be said may not be.
    fn is_removable(&self, path: &[u8], name: &[u8]) -> bool {
        let parts = [self.shown, path, name].into_iter().filter(|part| !part.is_empty());
        let name = parts.collect::<Vec<_>>().join(&b'/');
        std::str::from_utf8(&name).is_ok_and(|name| self.surveyor.is_removable(name))
    }

    /// What tells whether a folder is as remembered; none where nothing is remembered of it.
    fn key(&self, folder: &Folder, path: &[u8]) -> Result<Option<Key>, Errno> {
        if folder.key.is_none() {
            return Ok(None);
        }
        let stat = match path.is_empty() {
            true => fstat(self.handle)?,
            false => statat(self.handle, OsStr::from_bytes(path), AtFlags::SYMLINK_NOFOLLOW)?,
        };
        Ok(Some(Key::of(&stat)))
    }

    /// Lists a folder and marks its entries.
    fn list(
        &mut self,
        folder: &mut Folder,
        path: &[u8],
        above: Mark,
        region: Owner,
    ) -> Result<Listed, Stopped> {
        let handle = match self.open(path) {
            Ok(handle) => handle,
            Err(errno) => return self.not_opened(path, errno).map(Listed::No),
        };
        let before = SystemTime::now();
        let stat = fstat(&handle).map_err(|errno| Stopped::Failed(self.absolute(path, b""), errno))?;
        if !may_search(&handle, &stat) {
            return Ok(Listed::No(Visited::Closed));
        }
        let Ok(mut listing) = Dir::new(handle) else { return Ok(Listed::No(Visited::Closed)) };
        let Ok(entries) = entries(&mut listing) else { return Ok(Listed::No(Visited::Closed)) };
        let handle = listing.fd().map_err(|errno| Stopped::Failed(self.absolute(path, b""), errno))?;
        let key = Key::of(&stat);
        let is_steady = key.is_at_rest(before, self.memory.rest)
            && fstat(handle).is_ok_and(|after| Key::of(&after) == key);
        folder.entries = entries;
        self.memory.listed += 1;
        let gone = self.mark_again(folder, path, above, region);
        for gone in &gone {
            self.memory.forget(gone);
        }
        Ok(Listed::Yes(self.memory.keep(handle, folder, is_steady.then_some(key))))
    }

    /// Where a folder lies, in one that lies in this region.
    fn place(&self, path: &[u8], around: Owner, has_marker: bool) -> Place {
        let is_one =
            DependencyFolder::named(last_name(path)).is_some_and(|row| row.marker.is_none() || has_marker);
        let region = if is_one { Owner::Dependency } else { around };
        Place { region, owner: if self.memory.has_no_dependencies { Owner::User } else { region } }
    }

    /// Marks all entries of a folder anew. What was found of the folders in it stays; those that are gone are returned.
    fn mark_again(&self, folder: &mut Folder, path: &[u8], above: Mark, region: Owner) -> Vec<Folder> {
        let marker = DependencyFolder::named(last_name(path)).and_then(|row| row.marker);
        folder.has_marker = marker.is_some_and(|marker| {
            let mut entries = folder.entries.split(|byte| *byte == 0);
            entries.any(|entry| entry.strip_prefix(b"f") == Some(marker.as_bytes()))
        });
        folder.place = self.place(path, region, folder.has_marker);
        let Place { region, owner } = folder.place;
        let mut known: HashMap<Box<[u8]>, Folder> =
            folder.folders.drain(..).map(|child| (child.name, child.folder)).collect();
        folder.marked.clear();
        folder.git = Git::default();
        folder.generation = self.memory.generation;
        // One text for all names of the folder: there may be a million.
        let mut name: Vec<u8> = Vec::with_capacity(self.shown.len() + path.len() + 64);
        for part in [self.shown, path] {
            name.extend_from_slice(part);
            if !part.is_empty() {
                name.push(b'/');
            }
        }
        let length = name.len();
        for entry in folder.entries.split_inclusive(|byte| *byte == 0) {
            let [code, own @ .., 0] = entry else { continue };
            name.truncate(length);
            name.extend_from_slice(own);
            let kind = kind(*code);
            let mark = match code {
                b's' if self.surveyor.hides_sockets() => Mark::Hidden,
                _ => mark(self.surveyor, &name, kind, owner),
            };
            match own {
                b".git" => folder.git.has_git = true,
                b"HEAD" => folder.git.has_head = true,
                b"config" => folder.git.has_config = kind != Kind::Folder,
                b"objects" => folder.git.has_objects = kind != Kind::File,
                b"refs" => folder.git.has_refs = kind != Kind::File,
                _ => {}
            }
            match kind {
                Kind::Folder => {
                    let below = known.remove(own).unwrap_or_default();
                    folder.folders.push(Child { name: own.into(), mark, folder: below });
                }
                Kind::Link => {
                    let goes_on = self.surveyor.progress(&String::from_utf8_lossy(&name), owner).is_some();
                    let (leads, goes_out) =
                        if region == Owner::User { self.leads(path, own) } else { (0, false) };
                    if goes_on || leads != 0 || goes_out || mark.max(above) > Mark::Free {
                        let name = own.into();
                        folder.marked.push(Entry { name, kind, mark, goes_on, leads, goes_out });
                    }
                }
                _ if mark > Mark::Free => {
                    let (name, goes_on, goes_out) = (own.into(), false, false);
                    folder.marked.push(Entry { name, kind, mark, goes_on, leads: 0, goes_out });
                }
                _ => {}
            }
        }
        known.into_values().collect()
    }

    /// The rows of the list of dependency folders through whose names a link leads, one bit each. A link that says so by its
    /// own name leads through none: it has the name of one or, where a folder of the name need not be one, leads to one
    /// of the same name. A link that cannot be read counts as one through all. Says also whether the link leads out of the
    /// root, so that where it ends depends on what is there.
    fn leads(&self, folder: &[u8], name: &[u8]) -> (u8, bool) {
        let row = DependencyFolder::named(name);
        if row.is_some_and(|row| row.marker.is_none()) {
            return (0, false);
        }
        let link = [folder, name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&b'/');
        let target = match readlinkat(self.handle, OsStr::from_bytes(&link), Vec::new()) {
            Ok(target) => target.into_bytes(),
            // It is gone, or something else by now: the folder is listed again next time.
            Err(Errno::NOENT | Errno::INVAL) => return (0, false),
            Err(_) => return (u8::MAX, false),
        };
        // What the root itself lies in says nothing.
        let inside = target.strip_prefix(self.root).filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
        let parts = inside.unwrap_or(&target).split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        let mut parts: Vec<&[u8]> = parts.collect();
        let goes_out = match (target.starts_with(b"/"), inside) {
            (true, None) => true,
            (true, Some(_)) => goes_up(&parts, 0),
            (false, _) => {
                goes_up(&parts, folder.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).count())
            }
        };
        if row.is_some() && parts.last() == Some(&name) {
            parts.pop();
        }
        (parts.iter().fold(0, |found, part| found | bit(part)), goes_out)
    }

    fn open(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = READ | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let path = if path.is_empty() { b"." } else { path };
        beneath(self.handle, OsStr::from_bytes(path), flags, ResolveFlags::NO_SYMLINKS)
    }

    fn not_opened(&self, path: &[u8], errno: Errno) -> Result<Visited, Stopped> {
        match errno {
            Errno::NOENT => Ok(Visited::Gone),
            Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG => Ok(Visited::Closed),
            Errno::NOTDIR | Errno::LOOP => Err(Stopped::Replaced(self.absolute(path, b""))),
            other => Err(Stopped::Failed(self.absolute(path, b""), other)),
        }
    }

    /// The absolute path of an entry; without a name, of the folder itself.
    fn absolute(&self, path: &[u8], name: &[u8]) -> PathBuf {
        let mut whole = Path::new(OsStr::from_bytes(self.root)).to_path_buf();
        if self.root.is_empty() {
            whole.push("/");
        }
        for part in [path, name] {
            if !part.is_empty() {
                whole.push(OsStr::from_bytes(part));
            }
        }
        whole
    }
}

/// The rows of the list with this name, one bit each.
fn bit(part: &[u8]) -> u8 {
    let named = |row: &DependencyFolder| part.eq_ignore_ascii_case(row.name.as_bytes());
    DEPENDENCY_FOLDERS.iter().position(named).map_or(0, |at| 1 << at)
}

/// Whether a path from a folder so many folders below the root may lead above the root: by its `..` at the beginning, or
/// by one after a name, which may be a link.
fn goes_up(parts: &[&[u8]], depth: usize) -> bool {
    let is_up = |part: &&&[u8]| **part == b"..".as_slice();
    let first = parts.iter().take_while(is_up).count();
    first > depth || parts[first..].iter().any(|part| is_up(&part))
}

/// The last name of a path from the root; empty for the root.
fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Whether names in the folder can be used. Where they can only be listed, nothing in it can be looked at.
fn may_search(handle: &OwnedFd, stat: &Stat) -> bool {
    let (read, search) = (stat.st_mode & 0o444, stat.st_mode & 0o111);
    // Whoever may list almost always may search too; only else is it worth asking.
    read >> 2 == search || accessat(handle, ".", Access::EXEC_OK, AtFlags::EACCESS) != Err(Errno::ACCESS)
}

/// All entries of a folder, as they are remembered.
fn entries(listing: &mut Dir) -> Result<Vec<u8>, Errno> {
    let mut entries = Vec::new();
    while let Some(entry) = listing.read() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match file_type(listing, &entry) {
            Ok(kind) => kind,
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(errno),
        };
        entries.push(code(kind));
        entries.extend_from_slice(name.to_bytes_with_nul());
    }
    entries.shrink_to_fit();
    Ok(entries)
}

fn file_type(listing: &Dir, entry: &DirEntry) -> Result<FileType, Errno> {
    match entry.file_type() {
        FileType::Unknown => statat(listing.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            .map(|stat| FileType::from_raw_mode(stat.st_mode)),
        known => Ok(known),
    }
}

/// What an entry of a folder is.
pub(super) fn kind_of(listing: &Dir, entry: &DirEntry) -> Result<Kind, Errno> {
    file_type(listing, entry).map(|file_type| kind(code(file_type)))
}

fn code(kind: FileType) -> u8 {
    match kind {
        FileType::RegularFile => b'f',
        FileType::Directory => b'd',
        FileType::Symlink => b'l',
        FileType::Socket => b's',
        _ => b'o',
    }
}

fn kind(code: u8) -> Kind {
    match code {
        b'f' => Kind::File,
        b'd' => Kind::Folder,
        b'l' => Kind::Link,
        _ => Kind::Special,
    }
}

/// The mark of a name. One that is not UTF-8 cannot be said in a rule: it gets the strictest mark of all that it could be
/// taken for.
pub(super) fn mark(surveyor: &dyn Surveyor, name: &[u8], kind: Kind, owner: Owner) -> Mark {
    if let Ok(name) = std::str::from_utf8(name) {
        return surveyor.mark(name, kind, owner);
    }
    spellings(name).iter().map(|name| surveyor.mark(name, kind, owner)).max().unwrap_or(Mark::Hidden)
}

/// What a name that is not UTF-8 could be taken for: with one character for each byte that is none, for each group of
/// them, or for all in a row.
fn spellings(name: &[u8]) -> [Cow<'_, str>; 4] {
    let (mut each, mut unnamed, mut once) = (String::new(), String::new(), String::new());
    for chunk in name.utf8_chunks() {
        for text in [&mut each, &mut unnamed, &mut once] {
            text.push_str(chunk.valid());
        }
        for _ in chunk.invalid() {
            each.push(char::REPLACEMENT_CHARACTER);
            unnamed.push(NO_NAME);
        }
        if !chunk.invalid().is_empty() && !once.ends_with(char::REPLACEMENT_CHARACTER) {
            once.push(char::REPLACEMENT_CHARACTER);
        }
    }
    [String::from_utf8_lossy(name), Cow::Owned(each), Cow::Owned(unnamed), Cow::Owned(once)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_utf_8_have_several_spellings() {
        let [shown, each, unnamed, once] = spellings(b"a\xf0\x9f\xff\xfeb");
        assert_eq!(shown, "a\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(each, "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(unnamed, "a\u{f8ff}\u{f8ff}\u{f8ff}\u{f8ff}b");
        assert_eq!(once, "a\u{fffd}b");
    }
}
