//! Names that may not come to be: judged when a confined command is about to make one.
//!
//! What exists is locked by the mounts, which nothing inside can undo. What does not exist yet cannot be mounted over;
//! instead the kernel holds every call that would make a name until this has looked at it. A program that swaps the
//! name in its own memory between this look and the kernel's can slip through, so that a caller should look once more
//! when the command has ended.

use super::sys::{self, Asked};
use rustix::fs::{CWD, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// The longest path that the kernel takes.
const LONGEST: usize = 4096;

/// As many links in a row as the kernel follows.
const MOST_LINKS: usize = 40;

/// What is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Making {
    Folder,
    /// Opened for writing: a link at its end is followed.
    File,
    /// A link, a device, or something that had another name.
    Other,
}

/// Answers the kernel for one command.
pub(super) struct Guard {
    listener: OwnedFd,
    reserved: Vec<Vec<Vec<u8>>>,
    roots: Vec<Vec<u8>>,
}

impl Guard {
    pub(super) fn new(listener: OwnedFd, reserved: Vec<Vec<u8>>, roots: Vec<Vec<u8>>) -> Guard {
        let parts = |pattern: Vec<u8>| -> Vec<Vec<u8>> {
            pattern.to_ascii_lowercase().split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect()
        };
        Guard { listener, reserved: reserved.into_iter().map(parts).collect(), roots }
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Judges one call that waits.
    pub(super) fn answer_next(&self) {
        let Ok(asked) = sys::next_asked(&self.listener) else { return };
        let is_reserved = targets(&asked)
            .into_iter()
            .any(|(folder, pointer, making)| self.is_reserved(&asked, folder, pointer, making));
        if sys::still_asks(&self.listener, asked.id) {
            sys::answer(&self.listener, asked.id, is_reserved.then_some(libc::EACCES));
        }
    }

    fn is_reserved(&self, asked: &Asked, folder: i32, pointer: u64, making: Making) -> bool {
        let Ok(path) = text(asked.pid, pointer) else { return false };
        let mut path = path;
        let mut folder = folder;
        let mut above: Option<OwnedFd> = None;
        for _ in 0..MOST_LINKS {
            let trimmed = path.strip_suffix(b"/").unwrap_or(&path).to_vec();
            let cut = trimmed.iter().rposition(|byte| *byte == b'/');
            let (parent, name) = match cut {
                Some(at) => (&trimmed[..=at], &trimmed[at + 1..]),
                None => (&b""[..], trimmed.as_slice()),
            };
            let Ok(parent) = open_parent(asked.pid, folder, above.as_ref(), parent) else { return false };
            let Ok(place) = rustix::fs::readlink(format!("/proc/self/fd/{}", number(&parent)), Vec::new())
            else {
                return false;
            };
            let whole = [place.to_bytes(), b"/", name].concat();
            if self.names(&whole, making) {
                return true;
            }
            // What a link at the end leads to is what would be made.
            match rustix::fs::readlinkat(&parent, OsStr::from_bytes(name), Vec::new()) {
                Ok(target) if making == Making::File => path = target.into_bytes(),
                _ => return false,
            }
            folder = libc::AT_FDCWD;
            above = Some(parent);
        }
        true
    }

    /// Whether a path of the machine is one that may not be made.
    fn names(&self, path: &[u8], making: Making) -> bool {
        let Some(inside) = self
            .roots
            .iter()
            .find_map(|root| path.strip_prefix(root.as_slice()).filter(|rest| rest.starts_with(b"/")))
        else {
            return false;
        };
        let inside = inside.to_ascii_lowercase();
        let parts: Vec<&[u8]> = inside.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        self.reserved.iter().any(|pattern| {
            let begins = |at: usize, length: usize| {
                pattern[..length].iter().zip(&parts[at..]).all(|(wanted, part)| matches(wanted, part))
            };
            (0..parts.len()).any(|at| {
                let left = parts.len() - at;
                match left >= pattern.len() {
                    true => begins(at, pattern.len()),
                    // A folder on the way may be made; it may not come ready-made.
                    false => making != Making::Folder && begins(at, left),
                }
            })
        })
    }
}

/// Whether a part of a pattern, in which `*` is any text, matches a name.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        Some((first, rest)) => {
            name.split_first().is_some_and(|(letter, more)| letter == first && matches(rest, more))
        }
    }
}

/// Where the call would make names: folder descriptor, pointer to the path, and what.
fn targets(asked: &Asked) -> Vec<(i32, u64, Making)> {
    let args = asked.args;
    let folder = |at: usize| args[at] as i32;
    let here = libc::AT_FDCWD;
    match i64::from(asked.number) {
        libc::SYS_openat | libc::SYS_openat2 => vec![(folder(0), args[1], Making::File)],
        libc::SYS_mkdirat => vec![(folder(0), args[1], Making::Folder)],
        libc::SYS_mknodat => vec![(folder(0), args[1], Making::Other)],
        libc::SYS_symlinkat => vec![(folder(1), args[2], Making::Other)],
        libc::SYS_linkat | libc::SYS_renameat => vec![(folder(2), args[3], Making::Other)],
        // It may exchange the two.
        libc::SYS_renameat2 if args[4] & 2 != 0 => {
            vec![(folder(0), args[1], Making::Other), (folder(2), args[3], Making::Other)]
        }
        libc::SYS_renameat2 => vec![(folder(2), args[3], Making::Other)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open | libc::SYS_creat => vec![(here, args[0], Making::File)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => vec![(here, args[0], Making::Folder)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mknod => vec![(here, args[0], Making::Other)],
        #[cfg(target_arch = "x86_64")]
        libc::SYS_symlink | libc::SYS_link | libc::SYS_rename => vec![(here, args[1], Making::Other)],
        _ => Vec::new(),
    }
}

/// A path in the memory of a process.
fn text(pid: u32, pointer: u64) -> io::Result<Vec<u8>> {
    let memory = File::open(format!("/proc/{pid}/mem"))?;
    let mut buffer = vec![0; LONGEST];
    let mut length = 0;
    while length < LONGEST {
        // Up to the end of a page at a time: the next one may not be there.
        let at = pointer + length as u64;
        let page = (LONGEST - usize::try_from(at % LONGEST as u64).unwrap_or(0)).min(LONGEST - length);
        let count = memory.read_at(&mut buffer[length..length + page], at)?;
        if let Some(end) = buffer[length..length + count].iter().position(|byte| *byte == 0) {
            buffer.truncate(length + end);
            return Ok(buffer);
        }
        if count == 0 {
            break;
        }
        length += count;
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// The folder in which a name would be made, as the process sees it.
fn open_parent(pid: u32, folder: i32, above: Option<&OwnedFd>, parent: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let path = if parent.starts_with(b"/") {
        [format!("/proc/{pid}/root").as_bytes(), parent].concat()
    } else if let Some(above) = above {
        let relative = if parent.is_empty() { b"." } else { parent };
        return Ok(rustix::fs::openat(above, OsStr::from_bytes(relative), flags, Mode::empty())?);
    } else if folder == libc::AT_FDCWD {
        [format!("/proc/{pid}/cwd/").as_bytes(), parent].concat()
    } else {
        [format!("/proc/{pid}/fd/{folder}/").as_bytes(), parent].concat()
    };
    Ok(rustix::fs::openat(CWD, OsStr::from_bytes(&path), flags, Mode::empty())?)
}

fn number(fd: &OwnedFd) -> i32 {
    use std::os::fd::AsRawFd;
    fd.as_raw_fd()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_known_at_any_depth() {
        let patterns = [".git/hooks", ".mcp.json", "*.code-workspace", ".vscode/tasks.json"];
        let reserved = patterns.iter().map(|pattern| pattern.as_bytes().to_vec()).collect();
        let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY, Mode::empty()).unwrap();
        let guard = Guard::new(nothing, reserved, vec![b"/w".to_vec()]);
        for (path, making, expected) in [
            ("/w/.git/hooks/pre-commit", Making::File, true),
            ("/w/sub/.git/hooks", Making::Folder, true),
            ("/w/.git/index", Making::File, false),
            ("/w/.git", Making::Folder, false),
            ("/w/.git", Making::File, true),
            ("/w/.git", Making::Other, true),
            ("/w/.MCP.json", Making::File, true),
            ("/w/a/b.code-workspace", Making::Other, true),
            ("/w/.vscode", Making::Folder, false),
            ("/w/.vscode", Making::Other, true),
            ("/w/.vscode/settings.json", Making::File, false),
            ("/w/src/main.rs", Making::File, false),
            ("/elsewhere/.mcp.json", Making::File, false),
            ("/w-other/.mcp.json", Making::File, false),
        ] {
            assert_eq!(guard.names(path.as_bytes(), making), expected, "{path} {making:?}");
        }
    }
}
