//! The program whose call waits: its memory, its folders, and paths as it sees them.
//!
//! Paths are resolved to descriptors, once. The mount view and the root are the same as ours, since a confined program can
//! change neither; `/proc/self` and the descriptors below it are not, and are replaced by the caller's.

use crate::linux::sys::notify;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// The longest path that the kernel takes, with its final NUL.
const LONGEST: usize = 4096;

/// As many links in a row as the kernel follows.
pub(super) const MOST_LINKS: usize = 40;

/// The type of the file system at `/proc`, and the number of its root.
const PROC: i64 = 0x9fa0;
const PROC_ROOT: u64 = 1;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The thread whose call waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    thread: u32,
}

/// A name in a folder that is held open.
pub(super) struct Place {
    pub(super) parent: OwnedFd,
    /// The folder's absolute path.
    pub(super) folder: Vec<u8>,
    pub(super) name: Vec<u8>,
    /// Whether the path ended in a slash, which only a folder may.
    pub(super) has_slash: bool,
}

impl Place {
    /// The absolute path.
    pub(super) fn path(&self) -> Vec<u8> {
        match self.folder.as_slice() {
            b"/" => [b"/", self.name.as_slice()].concat(),
            folder => [folder, b"/", &self.name].concat(),
        }
    }

    /// The name for the kernel, with its slash.
    pub(super) fn written(&self) -> Vec<u8> {
        let mut name = self.name.clone();
        if self.has_slash {
            name.push(b'/');
        }
        name
    }

    /// What has this name; none if nothing has.
    pub(super) fn stat(&self) -> Result<Option<Stat>, Errno> {
        match rustix::fs::statat(&self.parent, OsStr::from_bytes(&self.name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fails if nothing has this name, or if the path ended in a slash and no folder has it.
    pub(super) fn must_be_there(&self) -> Result<(), Errno> {
        let name = self.written();
        rustix::fs::statat(&self.parent, OsStr::from_bytes(&name), AtFlags::SYMLINK_NOFOLLOW).map(drop)
    }

    /// The target of the link of this name.
    pub(super) fn link_target(&self) -> Result<Vec<u8>, Errno> {
        Ok(rustix::fs::readlinkat(&self.parent, OsStr::from_bytes(&self.name), Vec::new())?.into_bytes())
    }

    /// Whether links in this folder lead to open files instead of paths.
    pub(super) fn has_magic_links(&self) -> Result<bool, Errno> {
        if !is_proc(self.parent.as_fd())? || rustix::fs::fstat(&self.parent)?.st_ino == PROC_ROOT {
            return Ok(false);
        }
        refuse_own(&self.folder)?;
        Ok(true)
    }
}

/// The kind of what is there.
pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

impl Caller {
    pub(super) fn new(thread: u32) -> Caller {
        Caller { thread }
    }

    /// Bytes of the caller's memory.
    pub(super) fn bytes(self, pointer: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let mut buffer = vec![0; length];
        let count = self.read(pointer, &mut buffer)?;
        if count < length { Err(Errno::FAULT) } else { Ok(buffer) }
    }

    /// A path, or any text that ends in NUL, in the caller's memory.
    pub(super) fn text(self, pointer: u64) -> Result<Vec<u8>, Errno> {
        // Most paths are short: the first read takes them.
        let mut buffer = vec![0; 256];
        for length in [256, LONGEST] {
            buffer.resize(length, 0);
            let count = self.read(pointer, &mut buffer)?;
            if let Some(end) = buffer[..count].iter().position(|byte| *byte == 0) {
                buffer.truncate(end);
                return Ok(buffer);
            }
            if count < length {
                return Err(Errno::FAULT);
            }
        }
        Err(Errno::NAMETOOLONG)
    }

    fn read(self, pointer: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        notify::read_memory(self.thread, pointer, buffer).map_err(|error| match error.raw_os_error() {
            Some(libc::EFAULT) => Errno::FAULT,
            // A program that may not be looked into cannot be judged.
            _ => Errno::ACCESS,
        })
    }

    /// A copy of one of the caller's descriptors.
    pub(super) fn descriptor(self, number: i32) -> Result<OwnedFd, Errno> {
        let process = self.process()?;
        notify::descriptor_of(self.thread, process, number).map_err(|error| match error.raw_os_error() {
            Some(libc::EBADF) => Errno::BADF,
            _ => Errno::ACCESS,
        })
    }

    /// What a descriptor of the caller refers to, without the right to read or write.
    pub(super) fn object(self, number: i32) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/{}/fd/{number}", self.thread);
        rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(not_open)
    }

    /// The caller's mask of rights that new files do not get.
    pub(super) fn umask(self) -> Result<Mode, Errno> {
        let mask = self.status("Umask:")?;
        u32::from_str_radix(&mask, 8).map(Mode::from_raw_mode).map_err(|_| Errno::ACCESS)
    }

    fn process(self) -> Result<u32, Errno> {
        self.status("Tgid:")?.parse().map_err(|_| Errno::ACCESS)
    }

    fn status(self, field: &str) -> Result<String, Errno> {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.thread)).map_err(|_| Errno::ACCESS)?;
        let value = status.lines().find_map(|line| line.strip_prefix(field));
        value.map(|value| value.trim().to_owned()).ok_or(Errno::ACCESS)
    }

    /// The folder that a relative path starts from.
    fn start(self, folder: i32) -> Result<OwnedFd, Errno> {
        let path = match folder {
            libc::AT_FDCWD => format!("/proc/{}/cwd", self.thread),
            number => format!("/proc/{}/fd/{number}", self.thread),
        };
        rustix::fs::openat(CWD, path, FOLDER, Mode::empty()).map_err(not_open)
    }

    /// The place that a path names, with all links but the last followed.
    pub(super) fn place(self, folder: i32, path: &[u8]) -> Result<Place, Errno> {
        match path.first() {
            None => Err(Errno::NOENT),
            Some(b'/') => self.place_from(CWD, path),
            Some(_) => {
                let start = self.start(folder)?;
                let (above, name, has_slash) = split(path)?;
                // Most calls name something in the very folder: it need not be opened again.
                if above.is_empty()
                    && let Ok(found) = path_of(start.as_fd())
                    && refuse_own(&found).is_ok()
                {
                    return Ok(Place { parent: start, folder: found, name: name.to_vec(), has_slash });
                }
                self.place_from(start.as_fd(), path)
            }
        }
    }

    /// The same, from a folder that is held open.
    pub(super) fn place_from(self, start: BorrowedFd<'_>, path: &[u8]) -> Result<Place, Errno> {
        let (parent, name, has_slash) = split(path)?;
        let (parent, folder) = self.folder(start, parent)?;
        Ok(Place { parent, folder, name: name.to_vec(), has_slash })
    }

    /// A folder with its path, with all links followed.
    fn folder(self, start: BorrowedFd<'_>, path: &[u8]) -> Result<(OwnedFd, Vec<u8>), Errno> {
        let path = if path.is_empty() { b"." } else { path };
        let resolve = ResolveFlags::NO_MAGICLINKS;
        if let Ok(folder) =
            rustix::fs::openat2(start, OsStr::from_bytes(path), FOLDER, Mode::empty(), resolve)
        {
            let found = path_of(folder.as_fd())?;
            if refuse_own(&found).is_ok() {
                return Ok((folder, found));
            }
        }
        // For the caller `/proc/self` is another folder, and what lies behind it may be there.
        let folder = self.walk(start, path)?;
        if !kind(&rustix::fs::fstat(&folder)?).is_dir() {
            return Err(Errno::NOTDIR);
        }
        let found = path_of(folder.as_fd())?;
        Ok((folder, found))
    }

    /// Whatever a path names, with all links followed, without the right to read or write.
    pub(super) fn whole(self, folder: i32, path: &[u8]) -> Result<OwnedFd, Errno> {
        let found = match path.first() {
            None => Err(Errno::NOENT),
            Some(b'/') => self.walk(CWD, path),
            Some(_) => self.walk(self.start(folder)?.as_fd(), path),
        }?;
        match path.ends_with(b"/") && !kind(&rustix::fs::fstat(&found)?).is_dir() {
            true => Err(Errno::NOTDIR),
            false => Ok(found),
        }
    }

    /// What a path with these flags of an `at` call names, without the right to read or write. A last link is never meant
    /// itself.
    pub(super) fn named(self, folder: i32, path: &[u8], flags: u64) -> Result<OwnedFd, Errno> {
        const EMPTY: u64 = libc::AT_EMPTY_PATH as u64;
        const STAYS: u64 = libc::AT_SYMLINK_NOFOLLOW as u64;
        if flags & !(EMPTY | STAYS) != 0 {
            return Err(Errno::INVAL);
        }
        if path.is_empty() && flags & EMPTY != 0 {
            return match folder {
                libc::AT_FDCWD => self.start(folder),
                number => self.object(number),
            };
        }
        if flags & STAYS == 0 {
            return self.whole(folder, path);
        }
        let place = self.place(folder, path)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written = place.written();
        let found = rustix::fs::openat(&place.parent, OsStr::from_bytes(&written), flags, Mode::empty())?;
        match kind(&rustix::fs::fstat(&found)?) {
            FileType::Symlink => Err(Errno::OPNOTSUPP),
            _ => Ok(found),
        }
    }

    /// Follows a path part by part, as the kernel would for the caller.
    fn walk(self, start: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
        let root = || rustix::fs::openat(CWD, "/", FOLDER, Mode::empty());
        let parts = |path: &[u8]| -> Vec<Vec<u8>> {
            let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
            parts.map(<[u8]>::to_vec).rev().collect()
        };
        let mut at = match path.starts_with(b"/") {
            true => root()?,
            false => rustix::fs::openat(start, ".", FOLDER, Mode::empty())?,
        };
        let mut left = parts(path);
        let mut links = 0;
        while let Some(part) = left.pop() {
            let name = OsStr::from_bytes(&part);
            let in_proc = is_proc(at.as_fd())?;
            let in_proc_root = in_proc && rustix::fs::fstat(&at)?.st_ino == PROC_ROOT;
            match part.as_slice() {
                b"self" if in_proc_root => {
                    left.push(self.process()?.to_string().into_bytes());
                    continue;
                }
                b"thread-self" if in_proc_root => {
                    left.extend(parts(format!("{}/task/{}", self.process()?, self.thread).as_bytes()));
                    continue;
                }
                _ => (),
            }
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let found = rustix::fs::openat(&at, name, flags, Mode::empty())?;
            if kind(&rustix::fs::fstat(&found)?) != FileType::Symlink {
                at = found;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::LOOP);
            }
            if in_proc && !in_proc_root {
                refuse_own(&path_of(at.as_fd())?)?;
                at = rustix::fs::openat(&at, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                continue;
            }
            let target = rustix::fs::readlinkat(&at, name, Vec::new())?.into_bytes();
            if target.starts_with(b"/") {
                at = root()?;
            }
            left.extend(parts(&target));
        }
        Ok(at)
    }
}

/// The folder part, the last name and whether a slash follows it.
fn split(path: &[u8]) -> Result<(&[u8], &[u8], bool), Errno> {
    let Some(last) = path.iter().rposition(|byte| *byte != b'/') else {
        return if path.is_empty() { Err(Errno::NOENT) } else { Ok((b"/", b".", true)) };
    };
    let has_slash = last + 1 < path.len();
    let trimmed = &path[..=last];
    Ok(match trimmed.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&trimmed[..=at], &trimmed[at + 1..], has_slash),
        None => (b"", trimmed, has_slash),
    })
}

/// The absolute path of what is held open.
pub(super) fn path_of(fd: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new())?.into_bytes();
    // What lies outside of the view, or has no path, cannot be judged.
    if path.starts_with(b"/") { Ok(path) } else { Err(Errno::ACCESS) }
}

/// The paths to which a symbolic link of this path with this text would lead, step by step, as files are now. What does
/// not exist counts as an empty folder.
pub(super) fn followed(link: &[u8], text: &[u8]) -> Vec<Vec<u8>> {
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        let parts = path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
        parts.map(<[u8]>::to_vec).rev().collect()
    };
    let mut at = link.to_vec();
    let mut left = parts(text);
    let mut way = Vec::new();
    let up = |at: &mut Vec<u8>| at.truncate(at.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
    if text.starts_with(b"/") {
        at.clear()
    } else {
        up(&mut at)
    }
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == b".." {
            up(&mut at);
            continue;
        }
        at.push(b'/');
        at.extend_from_slice(&part);
        way.push(at.clone());
        let Ok(text) = rustix::fs::readlink(OsStr::from_bytes(&at), Vec::new()) else { continue };
        links += 1;
        if links > MOST_LINKS {
            break;
        }
        let text = text.into_bytes();
        if text.starts_with(b"/") {
            at.clear()
        } else {
            up(&mut at)
        }
        left.extend(parts(&text));
    }
    way
}

fn is_proc(fd: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(fd)?.f_type == PROC)
}

/// The caller may not reach our own descriptors; we could, in its place.
fn refuse_own(folder: &[u8]) -> Result<(), Errno> {
    let own = format!("/proc/{}", std::process::id());
    match folder.strip_prefix(own.as_bytes()) {
        Some(rest) if rest.is_empty() || rest.starts_with(b"/") => Err(Errno::ACCESS),
        _ => Ok(()),
    }
}

fn not_open(error: Errno) -> Errno {
    // A descriptor that is not there.
    if error == Errno::NOENT { Errno::BADF } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_folder_and_its_last_name() {
        for (path, expected) in [
            ("a", ("", "a", false)),
            ("a/", ("", "a", true)),
            ("a//", ("", "a", true)),
            ("/a", ("/", "a", false)),
            ("a/b", ("a/", "b", false)),
            ("/a//b///", ("/a//", "b", true)),
            ("/", ("/", ".", true)),
            ("..", ("", "..", false)),
        ] {
            let (parent, name, has_slash) = expected;
            assert_eq!(split(path.as_bytes()), Ok((parent.as_bytes(), name.as_bytes(), has_slash)), "{path}");
        }
        assert_eq!(split(b""), Err(Errno::NOENT));
    }
}
