//! What a name holds to the byte, and putting something else there only where it still holds that.
//!
//! For who takes changes back. No link is followed here, neither at the end of a path nor on the way.

use super::Disk;
use super::change::{found, make, settle, system};
use super::explain::Doing;
use super::keep;
use super::roots::{Failure, Roots, beneath};
use super::stage::temporary_name;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags, fchmod, fstat, mkdirat, openat,
    readlinkat, renameat, renameat_with, statx, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use toolpost_core::ToolError;
use toolpost_core::workspace::WorkspacePath;
use toolpost_core::workspace::implement::place::Place;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a name holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exact {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// Its bytes.
        content: Arc<[u8]>,
        /// Permission bits; none for those that new files get.
        mode: Option<u32>,
    },
    /// A folder, whatever it holds.
    Folder {
        /// Permission bits; none for those that new folders get.
        mode: Option<u32>,
    },
    /// A link, with its text.
    Link(String),
    /// A file of more bytes than are looked at, or what is neither file, folder nor link.
    Other(&'static str),
}

/// How something takes the place of something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange<'a> {
    /// The name beside it under which what comes and what goes is for a moment.
    pub beside: &'a str,
    /// What is done by whom to make it durable.
    pub durable: Durable,
}

/// What is done to make an exchange durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// It is durable when it is done.
    AtOnce,
    /// Whoever does several of them calls [`Disk::stage_exact`] for each and [`Disk::sync`] before them, and again after them.
    Together,
}

impl Disk {
    /// Writes a file that is to come to a name beside it, where its folder is there, and does not wait until it is durable.
    pub fn stage_exact(&self, path: &WorkspacePath, new: &Exact, beside: &str) -> Result<(), ToolError> {
        let Exact::File { content, .. } = new else { return Ok(()) };
        self.run(path, Doing::Writing, |roots, place| match above(roots, place) {
            Ok((folder, _)) => write_beside(&folder, beside, content, 0o600).map(drop),
            Err(Failure::System(Errno::NOENT)) => Ok(()),
            Err(failure) => Err(failure),
        })
    }

    /// Removes from the folder of a name what exchanges that were interrupted have left under names that begin so.
    pub fn discard(&self, path: &WorkspacePath, beginning: &str) -> Result<(), ToolError> {
        self.run(path, Doing::Writing, |roots, place| {
            let Ok((folder, _)) = above(roots, place) else { return Ok(()) };
            for entry in rustix::fs::Dir::read_from(&folder)?.flatten() {
                if entry.file_name().to_bytes().starts_with(beginning.as_bytes()) {
                    unlinkat(&folder, entry.file_name(), AtFlags::empty())?;
                }
            }
            Ok(())
        })
    }

    /// When the first root was made, where the filesystem knows it.
    pub fn born_ms(&self) -> Option<u64> {
        let roots = self.opened.lately().roots;
        let root = roots.handles.first()?;
        let stat = statx(root, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
        if stat.stx_mask & StatxFlags::BTIME.bits() == 0 {
            return None;
        }
        let seconds = u64::try_from(stat.stx_btime.tv_sec).ok()?;
        Some(seconds * 1_000 + u64::from(stat.stx_btime.tv_nsec) / 1_000_000)
    }

    /// Waits until everything that was changed in the workspace is durable.
    pub fn sync(&self) -> Result<(), ToolError> {
        for root in &self.opened.lately().roots.handles {
            // A handle of a folder need not be one that can be synced.
            let opened = openat(root, ".", FOLDER, Mode::empty());
            opened.and_then(rustix::fs::syncfs).map_err(|errno| {
                let message = format!("the disk of the workspace does not take what was written: {errno}");
                ToolError::new(toolpost_core::Code::WriteError, message)
            })?;
        }
        Ok(())
    }

    /// The name that this one leads to; none where nothing is there. Unlike `stat`, it looks for no names that are like it.
    pub fn led_to(&self, path: &WorkspacePath) -> Option<String> {
        let found = self.run(path, Doing::Reading, |roots, place| {
            Ok(crate::look::stat(roots, place).ok().map(|stat| stat.name))
        });
        found.ok().flatten()
    }

    /// What the name itself holds; of files at most so many bytes. Refused where a folder above it is a link.
    pub fn exact(&self, path: &WorkspacePath, most: u64) -> Result<Exact, ToolError> {
        self.run(path, Doing::Reading, |roots, place| match above(roots, place) {
            Ok((folder, name)) => look(&folder, name, most),
            Err(Failure::System(Errno::NOENT)) => Ok(Exact::Absent),
            Err(failure) => Err(failure),
        })
    }

    /// Whether the folder of this name holds anything but these names.
    pub fn holds_more(&self, path: &WorkspacePath, than: &dyn Fn(&str) -> bool) -> Result<bool, ToolError> {
        use toolpost_core::Workspace as _;
        for entry in self.entries(path)? {
            let entry = entry?;
            if !entry.exact || !than(&entry.name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts `new` in place of `old`, at once. Refused where the name holds something else than `old`: then it is left as it
    /// is. Folders above are made; a folder goes only if it is empty.
    pub fn exchange(&self, path: &WorkspacePath, old: &Exact, new: &Exact) -> Result<(), ToolError> {
        let beside = temporary_name();
        self.exchange_as(path, old, new, Exchange { beside: &beside, durable: Durable::AtOnce })
    }

    /// The same, in this way.
    pub fn exchange_as(
        &self,
        path: &WorkspacePath,
        old: &Exact,
        new: &Exact,
        how: Exchange<'_>,
    ) -> Result<(), ToolError> {
        self.run(path, Doing::Writing, |roots, place| exchange(roots, place, (old, new), how))
    }
}

/// The folder above, opened without following links, and the last part.
fn above<'a>(roots: &Roots, place: &'a Place) -> Result<(OwnedFd, &'a str), Failure> {
    let (Some((above, _)), Some(name)) = (place.split(), place.parts.last()) else {
        return Err(Failure::System(Errno::BUSY));
    };
    let folder = roots.open_exact(&above, FOLDER).map_err(is_link)?;
    Ok((folder, name))
}

fn is_link(failure: Failure) -> Failure {
    match failure {
        Failure::Changed | Failure::System(Errno::NOTDIR) => Failure::Refused(
            "a folder above it is none any more, or a link; put the folder back first".into(),
        ),
        other => other,
    }
}

fn look(folder: &OwnedFd, name: &str, most: u64) -> Result<Exact, Failure> {
    let Some(stat) = found(folder, name)? else { return Ok(Exact::Absent) };
    let mode = Some(stat.st_mode & 0o7777);
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if u64::try_from(stat.st_size).unwrap_or_default() > most => {
            Exact::Other("a file that is too large to be looked at")
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = std::fs::File::from(beneath(folder, name, flags, ResolveFlags::NO_SYMLINKS)?);
            let mut content = Vec::new();
            file.take(most + 1).read_to_end(&mut content).map_err(system)?;
            match content.len() as u64 > most {
                true => Exact::Other("a file that is too large to be looked at"),
                false => Exact::File { content: content.into(), mode },
            }
        }
        FileType::Directory => Exact::Folder { mode },
        FileType::Symlink => {
            Exact::Link(readlinkat(folder, name, Vec::new())?.to_string_lossy().into_owned())
        }
        _ => Exact::Other("neither a file nor a folder nor a link"),
    })
}

/// Whether what is found is what was expected; a mode that nobody knows is any.
fn is_same(found: &Exact, expected: &Exact) -> bool {
    let is_mode = |one: &Option<u32>, other: &Option<u32>| one.is_none() || other.is_none() || one == other;
    match (found, expected) {
        (Exact::File { content: one, mode }, Exact::File { content: other, mode: expected }) => {
            one == other && is_mode(mode, expected)
        }
        (Exact::Folder { .. }, Exact::Folder { .. }) => true,
        (one, other) => one == other,
    }
}

fn changed() -> Failure {
    Failure::Refused("it has been changed meanwhile; look at it, and try again".into())
}

fn exchange(
    roots: &Roots,
    place: &Place,
    (old, new): (&Exact, &Exact),
    how: Exchange<'_>,
) -> Result<(), Failure> {
    let Some((parent, name)) = place.split() else { return Err(Failure::System(Errno::BUSY)) };
    let folder = match roots.open_exact(&parent, FOLDER) {
        Err(Failure::System(Errno::NOENT)) if *new == Exact::Absent => return Ok(()),
        Err(Failure::System(Errno::NOENT)) => {
            let known = (0..parent.parts.len()).rev().find(|count| {
                let above = Place { root: parent.root, parts: parent.parts[..*count].to_vec() };
                roots.open_exact(&above, FOLDER).is_ok()
            });
            make(roots, &parent, parent.parts.len() - known.unwrap_or_default())?
        }
        opened => opened.map_err(is_link)?,
    };
    match (old, new) {
        (Exact::Absent, Exact::Absent) if found(&folder, name)?.is_none() => return Ok(()),
        (Exact::Absent, Exact::Absent) => return Err(changed()),
        (Exact::Folder { .. }, Exact::Folder { mode }) => set_mode(&folder, name, *mode, FOLDER)?,
        (Exact::Folder { .. }, new) => {
            match unlinkat(&folder, name, AtFlags::REMOVEDIR) {
                Err(Errno::NOTDIR) => return Err(changed()),
                Err(Errno::NOTEMPTY | Errno::EXIST) => {
                    return Err(Failure::Refused("the folder is not empty; move away what is in it".into()));
                }
                other => other?,
            }
            if *new != Exact::Absent {
                return exchange(roots, place, (&Exact::Absent, new), how);
            }
        }
        (Exact::Absent, Exact::Folder { mode }) => {
            mkdirat(&folder, name, Mode::from_raw_mode(0o777))?;
            set_mode(&folder, name, *mode, FOLDER)?;
        }
        (old, Exact::Folder { .. }) => {
            exchange(roots, place, (old, &Exact::Absent), how)?;
            return exchange(roots, place, (&Exact::Absent, new), how);
        }
        (Exact::File { content: one, .. }, Exact::File { content: other, mode }) if one == other => {
            let found = look(&folder, name, one.len() as u64)?;
            if !is_same(&found, old) {
                return Err(changed());
            }
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            set_mode(&folder, name, *mode, flags)?;
        }
        (old, new) => swap(&folder, name, (old, new), how)?,
    }
    match how.durable {
        Durable::AtOnce => settle(&folder),
        Durable::Together => Ok(()),
    }
}

fn set_mode(folder: &OwnedFd, name: &str, mode: Option<u32>, flags: OFlags) -> Result<(), Failure> {
    let Some(mode) = mode else { return Ok(()) };
    let opened = beneath(folder, name, flags, ResolveFlags::NO_SYMLINKS)?;
    if fstat(&opened)?.st_mode & 0o7777 != mode {
        fchmod(&opened, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Files and links: what is new takes over the name, and what had the name is looked at before it goes. Where it is not what
/// was expected, it gets its name back.
fn swap(
    folder: &OwnedFd,
    name: &str,
    (old, new): (&Exact, &Exact),
    how: Exchange<'_>,
) -> Result<(), Failure> {
    let beside = how.beside;
    let temporary = Temporary { folder, name: beside };
    match new {
        Exact::Absent => {}
        Exact::File { content, mode } => {
            let is_private = mode.is_some() || *old != Exact::Absent;
            let staged = match how.durable == Durable::Together && mode.is_some() {
                true => {
                    openat(folder, beside, OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
                        .ok()
                }
                false => None,
            };
            let is_staged = staged.is_some();
            let file = match staged {
                Some(file) => std::fs::File::from(file),
                None => {
                    let _ = unlinkat(folder, beside, AtFlags::empty());
                    write_beside(folder, beside, content, if is_private { 0o600 } else { 0o666 })?
                }
            };
            if let (Exact::File { .. }, Some(stat)) = (old, found(folder, name)?)
                && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            {
                keep::attributes(folder, name, &stat, &file)?;
            }
            if let Some(mode) = mode {
                fchmod(&file, Mode::from_raw_mode(*mode))?;
            }
            if !is_staged {
                file.sync_all().map_err(system)?;
            }
        }
        Exact::Link(text) => symlinkat(text.as_str(), folder, beside)?,
        Exact::Folder { .. } | Exact::Other(_) => return Err(Failure::NotAFile("something else")),
    }
    let to_look = match old {
        Exact::File { content, .. } => content.len() as u64,
        _ => 0,
    };
    let rename = |from: &str, to: &str, flags| renameat_with(folder, from, folder, to, flags);
    let (one, other, flags) = match (old, new) {
        (Exact::Absent, _) => (beside, name, RenameFlags::NOREPLACE),
        (_, Exact::Absent) => (name, beside, RenameFlags::NOREPLACE),
        _ => (beside, name, RenameFlags::EXCHANGE),
    };
    match rename(one, other, flags) {
        Ok(()) => {}
        Err(Errno::EXIST | Errno::NOENT) => return Err(changed()),
        // The filesystem knows only the plain way.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            if !is_same(&look(folder, name, to_look)?, old) {
                return Err(changed());
            }
            return match new {
                Exact::Absent => unlinkat(folder, name, AtFlags::empty()).map_err(Failure::from),
                _ => renameat(folder, beside, folder, name).map_err(Failure::from),
            };
        }
        Err(errno) => return Err(errno.into()),
    }
    if *old == Exact::Absent {
        return Ok(());
    }
    // Whoever has opened it before may still write to it: it is looked at again when some time has passed.
    for is_last in [false, true] {
        moment(Moment::Swapped);
        let found = looked_at(folder, beside);
        if !is_same(&found, old) {
            match put_back(folder, (name, beside), new, found) {
                Ok(()) => return Err(changed()),
                Err(failure) => {
                    // It is of somebody else, and the only copy.
                    std::mem::forget(temporary);
                    return Err(failure);
                }
            }
        }
        if !is_last && how.durable == Durable::AtOnce {
            settle(folder)?;
        }
    }
    Ok(())
}

/// Gives a name back what it had, unless there is something newer of somebody else by now. Then that stays, and what it has
/// replaced goes.
fn put_back(
    folder: &OwnedFd,
    (name, beside): (&str, &str),
    new: &Exact,
    mut found: Exact,
) -> Result<(), Failure> {
    const MOST_TRIES: usize = 100;
    let rename = |flags| renameat_with(folder, beside, folder, name, flags);
    // What is expected to be at the name.
    let mut expected = new.clone();
    for _ in 0..MOST_TRIES {
        moment(Moment::Back);
        let flags = if expected == Exact::Absent { RenameFlags::NOREPLACE } else { RenameFlags::EXCHANGE };
        match rename(flags) {
            Ok(()) if expected == Exact::Absent => return Ok(()),
            Ok(()) => {}
            Err(Errno::EXIST) => break,
            // What had come there is gone.
            Err(Errno::NOENT) => {
                expected = Exact::Absent;
                continue;
            }
            Err(errno) => return Err(errno.into()),
        }
        let replaced = looked_at(folder, beside);
        if is_same(&replaced, &expected) {
            return Ok(());
        }
        expected = std::mem::replace(&mut found, replaced);
    }
    Err(Failure::Refused(format!(
        "another process changed it at the same time; its previous content is in `{beside}`"
    )))
}

/// What was swapped out, all of it. What cannot be read is not what was expected.
fn looked_at(folder: &OwnedFd, name: &str) -> Exact {
    const WHOLE: u64 = 1 << 40;
    look(folder, name, WHOLE).unwrap_or(Exact::Other("not to be read"))
}

/// A moment at which somebody else may change something, for tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// What is new has the name, and what was there is beside it.
    Swapped,
    /// What was there is about to get its name back.
    Back,
}

#[cfg(not(test))]
fn moment(_: Moment) {}

#[cfg(test)]
use tests::moment;

#[cfg(test)]
mod tests;

fn write_beside(folder: &OwnedFd, beside: &str, content: &[u8], bits: u32) -> Result<std::fs::File, Failure> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(openat(folder, beside, flags, Mode::from_raw_mode(bits))?);
    file.write_all(content).map_err(system)?;
    Ok(file)
}

/// A name beside the file, gone with whatever has it in the end.
struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: &'a str,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        let _ = unlinkat(self.folder, self.name, AtFlags::empty());
    }
}
