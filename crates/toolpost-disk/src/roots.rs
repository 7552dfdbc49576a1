//! The handles of the roots, and the only ways from a place to an open descriptor.
//!
//! Every open is one `openat2` beneath a root's handle. Where the kernel refuses a link because it is absolute,
//! the link is resolved by hand and the result, free of links, is opened the same way again.

use super::opened;
use super::staging::Staging;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2, readlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use toolpost_core::workspace::implement::place::{Place, RootName, fold};

/// As many links as Linux itself follows.
const MOST_LINKS: usize = 40;
/// How often an operation starts again because names changed under it.
const MOST_TRIES: usize = 64;

/// Why a place could not be reached or changed, before it is put into words.
#[derive(Debug)]
pub(super) enum Failure {
    /// A link on the way leads out of every root.
    Escape,
    /// This link leads to nothing.
    Dangling(String),
    /// Links lead in a circle, or through a magic link of `/proc`.
    Loop,
    /// Names changed while they were followed; trying again may work.
    Changed,
    /// A regular file is needed and this is something else.
    NotAFile(&'static str),
    /// A folder is needed and this is something else.
    NotAFolder,
    /// The change is refused for the reason given.
    Refused(String),
    /// The operating system said no.
    System(Errno),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Failure {
        match errno {
            Errno::LOOP => Failure::Loop,
            Errno::XDEV => Failure::Escape,
            Errno::AGAIN => Failure::Changed,
            other => Failure::System(other),
        }
    }
}

/// A place with all links followed, and how many of its last names do not exist yet.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) place: Place,
    pub(super) missing: usize,
}

/// The roots of a workspace on disk.
#[derive(Debug)]
pub(super) struct Roots {
    pub(super) names: Arc<[RootName]>,
    pub(super) handles: Vec<Arc<OwnedFd>>,
    /// Where temporary files are written down.
    pub(super) staging: Option<Arc<Staging>>,
}

impl Roots {
    /// What is the matter with a root whose folder is not the one that is open any more.
    pub(super) fn is_gone(&self, root: usize) -> Option<&'static str> {
        opened::is_gone(&self.names[root], &self.handles[root])
    }

    /// Opens what the place leads to, following links that stay inside.
    pub(super) fn open(&self, place: &Place, flags: OFlags) -> Result<OwnedFd, Failure> {
        match self.beneath(place, flags, ResolveFlags::empty()) {
            Err(Errno::XDEV) => steady(|| {
                let resolved = self.resolve(place)?;
                match resolved.missing {
                    0 => self.open_exact(&resolved.place, flags),
                    _ => Err(Failure::System(Errno::NOENT)),
                }
            }),
            other => other.map_err(Failure::from),
        }
    }

    /// Opens what the place leads to, with its display name where that is plain: what has no link on its way is called
    /// as it is spelled. Of several roots another one may have a name for it too.
    pub(super) fn open_named(
        &self,
        place: &Place,
        flags: OFlags,
    ) -> Result<(OwnedFd, Option<String>), Failure> {
        if self.names.len() == 1 && !place.parts.iter().any(|part| part == "..") {
            match self.beneath(place, flags, ResolveFlags::NO_SYMLINKS) {
                Ok(handle) => return Ok((handle, Some(place.display(&self.names)))),
                Err(Errno::LOOP) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok((self.open(place, flags)?, None))
    }

    /// Opens a place that has no links on its way any more; a link there now means that names changed.
    pub(super) fn open_exact(&self, place: &Place, flags: OFlags) -> Result<OwnedFd, Failure> {
        self.beneath(place, flags, ResolveFlags::NO_SYMLINKS).map_err(|errno| match errno {
            Errno::LOOP => Failure::Changed,
            other => other.into(),
        })
    }

    fn beneath(&self, place: &Place, flags: OFlags, more: ResolveFlags) -> Result<OwnedFd, Errno> {
        beneath(&self.handles[place.root], place.below(), flags, more)
    }

    /// Follows every link by hand. Missing names at the end are fine, a link to nothing is not.
    pub(super) fn resolve(&self, place: &Place) -> Result<Resolved, Failure> {
        steady(|| self.resolve_once(place))
    }

    fn resolve_once(&self, place: &Place) -> Result<Resolved, Failure> {
        let mut absolute = fold(&self.names[place.root].path);
        // Names still to follow, the next one last, each with the link that brought it in.
        let mut todo: Vec<(String, Option<String>)> =
            place.parts.iter().rev().map(|part| (part.clone(), None)).collect();
        let mut links = 0;
        while let Some((part, link)) = todo.pop() {
            if part == ".." {
                absolute.pop();
                continue;
            }
            absolute.push(part);
            let (root, skip) = match self.position(&mut absolute) {
                Position::Above => continue,
                Position::Outside => return Err(Failure::Escape),
                Position::Inside { skip, .. } if skip == absolute.len() => continue,
                Position::Inside { root, skip } => (root, skip),
            };
            let here = || Place { root, parts: absolute[skip..].to_vec() };
            let below = absolute[skip..].join("/");
            let flags = OFlags::PATH | OFlags::NOFOLLOW;
            let handle = match beneath(&self.handles[root], &below, flags, ResolveFlags::NO_SYMLINKS) {
                Ok(handle) => handle,
                Err(Errno::NOENT) => return missing(here(), link, todo),
                Err(Errno::LOOP) => return Err(Failure::Changed),
                Err(errno) => return Err(errno.into()),
            };
            match FileType::from_raw_mode(fstat(&handle)?.st_mode) {
                FileType::Symlink => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Failure::Loop);
                    }
                    let name = here().display(&self.names);
                    let target = readlinkat(&handle, "", Vec::new())?;
                    let Ok(target) = target.to_str() else {
                        return Err(Failure::Refused(format!(
                            "the target of the link `{name}` is not UTF-8"
                        )));
                    };
                    absolute.pop();
                    if target.starts_with('/') {
                        absolute.clear();
                    }
                    let brought = link.unwrap_or(name);
                    let parts = target.split('/').filter(|part| !part.is_empty() && *part != ".");
                    todo.extend(parts.rev().map(|part| (part.to_owned(), Some(brought.clone()))));
                }
                FileType::Directory => {}
                _ if todo.is_empty() => {}
                _ => return Err(Failure::NotAFolder),
            }
        }
        match self.position(&mut absolute) {
            Position::Inside { root, skip } => {
                Ok(Resolved { place: Place { root, parts: absolute.split_off(skip) }, missing: 0 })
            }
            Position::Above | Position::Outside => Err(Failure::Escape),
        }
    }

    /// Where an absolute path lies. A root in its given spelling is turned into its canonical one.
    fn position(&self, absolute: &mut Vec<String>) -> Position {
        for root in self.names.iter() {
            if root.given != root.path && *absolute == fold(&root.given) {
                *absolute = fold(&root.path);
            }
        }
        for (root, name) in self.names.iter().enumerate() {
            let parts = fold(&name.path);
            if absolute.starts_with(&parts) {
                return Position::Inside { root, skip: parts.len() };
            }
        }
        let above = |spelling: &str| fold(spelling).starts_with(absolute);
        match self.names.iter().any(|root| above(&root.path) || above(&root.given)) {
            true => Position::Above,
            false => Position::Outside,
        }
    }

    /// The display name of an open descriptor: what was opened, whatever the path said.
    pub(super) fn name_of(&self, handle: &OwnedFd, place: &Place) -> Result<String, Failure> {
        let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
        if let Ok(target) = readlinkat(CWD, link, Vec::new()) {
            let target = target.to_string_lossy();
            let mut absolute = fold(&target);
            if target.starts_with('/')
                && !target.ends_with(" (deleted)")
                && let Position::Inside { root, skip } = self.position(&mut absolute)
            {
                return Ok(Place { root, parts: absolute.split_off(skip) }.display(&self.names));
            }
        }
        Ok(self.resolve(place)?.place.display(&self.names))
    }

    /// Whether the file is one of the roots.
    pub(super) fn is_root(&self, stat: &Stat) -> bool {
        self.handles.iter().any(|handle| {
            fstat(handle).is_ok_and(|root| root.st_dev == stat.st_dev && root.st_ino == stat.st_ino)
        })
    }
}

enum Position {
    /// In this root, whose own path has so many parts, or the root itself.
    Inside { root: usize, skip: usize },
    /// On the way down to a root: not looked at, but names may still lead into one.
    Above,
    /// Nowhere near.
    Outside,
}

fn missing(
    mut place: Place,
    link: Option<String>,
    todo: Vec<(String, Option<String>)>,
) -> Result<Resolved, Failure> {
    let mut missing = 1;
    if let Some(link) = link {
        return Err(Failure::Dangling(link));
    }
    for (part, link) in todo.into_iter().rev() {
        if let Some(link) = link {
            return Err(Failure::Dangling(link));
        }
        place.parts.push(part);
        missing += 1;
    }
    Ok(Resolved { place, missing })
}

/// `openat2` beneath a folder handle, again where a rename elsewhere disturbed it.
pub(super) fn beneath(
    folder: impl AsFd,
    path: impl AsRef<OsStr>,
    flags: OFlags,
    more: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | more;
    for _ in 0..MOST_TRIES {
        match openat2(folder.as_fd(), path.as_ref(), flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// Starts again while names change underneath, a bounded number of times.
pub(super) fn steady<T>(mut operation: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 0..MOST_TRIES {
        match operation() {
            Err(Failure::Changed) => std::thread::yield_now(),
            other => return other,
        }
    }
    Err(Failure::Changed)
}
