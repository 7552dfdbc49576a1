//! Performs the calls by which a confined command creates names, after judging each name.
//!
//! What exists is locked by mounts. What does not exist yet cannot be mounted over. So the kernel holds every call that
//! would create a name, and this process performs it: it copies the arguments once, resolves the folder to a
//! descriptor, judges the folder's path with the last name, and makes the call relative to that descriptor, without
//! following a last link. What was judged is what is done, so there is no race. What cannot be resolved is refused.
//!
//! This process has no more rights than the command: the same mounts, user, rights mask and Landlock rules, and no
//! capabilities. It performs one call after the other, so the command itself cannot move a folder while a name in it is
//! judged. Another command has a guard of its own and can, so each new name is judged once more after the call. What could
//! block (a pipe without a reader) is opened by a process of its own.

mod call;
mod caller;
mod keep;
mod locked;
mod moves;
mod names;
mod open;
mod openers;
mod seen;
mod spool;

use self::call::Call;
use self::caller::{Caller, Place};
use self::locked::Locked;
use self::names::{Making, Names};
use self::openers::Openers;
pub(super) use self::spool::{Spool, stamp};
use super::filter;
use super::sys::notify::{self, Asked, Said};
use super::wire::{Removal, View};
use crate::sandbox::NewName;
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of names to report.
const MOST_REPORTED: usize = 20;

/// Maximum number of files to remember that were written before something was refused.
const MOST_WRITTEN: usize = 200;

/// Maximum number of folders to remember for the look after the command.
const MOST_FOLDERS: usize = 20_000;

/// So many milliseconds a turn is waited for.
const MOST_WAITS: usize = 200;

/// The bits of a mode that a command may give. Programs that run as somebody else are not for it to create.
const RIGHTS: u32 = 0o1777;

/// Performs the creating calls of one command.
pub(super) struct Guard {
    listener: OwnedFd,
    names: Names,
    openers: Openers,
    /// Whether some process of the command has changed its rights mask: then each caller is asked for its own.
    has_own_masks: bool,
    mask: Option<Mode>,
    refused: Vec<Vec<u8>>,
    /// Those of them that would have been links into dependency folders.
    refused_links: Vec<Vec<u8>>,
    /// What it had written before the first name was refused.
    written: Vec<Vec<u8>>,
    folders: HashSet<Vec<u8>>,
    /// The turns at folders that the present call may make repositories; over when it has ended.
    turns: Vec<OwnedFd>,
    /// Files that the keeper is to remove.
    removals: Vec<Removal>,
    /// Those that it is asked to.
    waiting: Vec<Removal>,
    /// Where what is about to change is written down.
    spool: Option<Spool>,
    /// The locked files by device and number, once a file with several names was to be written.
    locked: Option<Locked>,
}

/// Which of these names a command with this view could not create. Links are not followed.
pub(super) fn closed_names(view: &View, paths: &[(PathBuf, NewName)]) -> Vec<bool> {
    let names = Names::new(view);
    let making = |new: NewName| match new {
        NewName::File => Making::File,
        NewName::Folder => Making::Folder,
        NewName::Link => Making::Link,
        NewName::Filled => Making::Filled,
    };
    paths.iter().map(|(path, new)| names.is_closed(path.as_os_str().as_bytes(), making(*new))).collect()
}

/// How a call ends.
enum Ending {
    Said(Said),
    /// With a descriptor; `true` if it closes on exec.
    Descriptor(OwnedFd, bool),
    /// An opener answers.
    Later,
}

impl From<Said> for Ending {
    fn from(said: Said) -> Ending {
        Ending::Said(said)
    }
}

/// The names that make a folder a repository, each with the others that it takes: git outside takes its configuration from
/// any folder with these names, and runs what that says.
const REPOSITORY: [(&[u8], &[&[&str]]); 4] = [
    (b"HEAD", &[&["objects", "refs"], &["commondir"]]),
    (b"objects", &[&["HEAD", "refs"]]),
    (b"refs", &[&["HEAD", "objects"]]),
    (b"commondir", &[&["HEAD"]]),
];

fn is_part_of_repository(name: &[u8]) -> bool {
    REPOSITORY.iter().any(|(part, _)| *part == name)
}

/// Whether this name makes a repository of a folder that is none.
fn completes_repository(place: &Place) -> bool {
    let exists =
        |name: &&str| rustix::fs::statat(&place.parent, *name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let others = REPOSITORY.iter().filter(|(part, _)| *part == place.name.as_slice());
    others.flat_map(|(_, others)| others.iter()).any(|names| names.iter().all(exists))
}

/// The result of a call that only succeeds or fails.
fn done(result: Result<(), Errno>) -> Result<Ending, Errno> {
    result.map(|()| Said::Done(0).into())
}

impl Guard {
    pub(super) fn new(listener: OwnedFd, view: &View, spool: Option<Spool>) -> Guard {
        notify::wake_in_step(listener.as_fd());
        Guard {
            listener,
            names: Names::new(view),
            openers: Openers::default(),
            has_own_masks: false,
            mask: None,
            refused: Vec::new(),
            refused_links: Vec::new(),
            written: Vec::new(),
            folders: HashSet::new(),
            turns: Vec::new(),
            removals: Vec::new(),
            waiting: Vec::new(),
            spool,
            locked: None,
        }
    }

    /// Readable when a file that the command has written was closed.
    pub(super) fn closes(&self) -> Option<BorrowedFd<'_>> {
        self.spool.as_ref().and_then(|spool| spool.seen.closes())
    }

    /// Looks at what was closed.
    pub(super) fn look(&mut self) {
        self.spool.iter_mut().for_each(Spool::look);
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Processes of ours that are no part of the command.
    pub(super) fn openers(&self) -> &[i32] {
        self.openers.pids()
    }

    /// Takes note that one of our own processes has ended.
    pub(super) fn forget(&mut self, pid: i32) {
        self.openers.forget(pid);
    }

    /// Names that the command tried to create and may not.
    pub(super) fn refused(&self) -> Vec<PathBuf> {
        self.refused.iter().map(|path| PathBuf::from(OsString::from_vec(path.clone()))).collect()
    }

    /// Those of the refused names that would have been symbolic links into dependency folders.
    pub(super) fn refused_links(&self) -> Vec<PathBuf> {
        self.refused_links.iter().map(|path| PathBuf::from(OsString::from_vec(path.clone()))).collect()
    }

    /// What the command had created or opened for writing in the workspace before the first refusal, and what is still
    /// there; the first of it. What git keeps for itself tells nobody anything.
    pub(super) fn written(&self) -> Vec<PathBuf> {
        let is_gits = |path: &[u8]| path.windows(6).any(|part| part == b"/.git/");
        let written = self.written.iter().filter(|path| !self.refused.is_empty() && !is_gits(path));
        let paths = written.map(|path| PathBuf::from(OsString::from_vec(path.clone())));
        paths.filter(|path| path.symlink_metadata().is_ok()).take(MOST_REPORTED).collect()
    }

    /// Takes note of what was written, for as long as nothing is refused.
    fn note_written(&mut self, place: &Place) {
        if self.refused.is_empty()
            && self.written.len() < MOST_WRITTEN
            && self.names.is_in_workspace(&place.folder)
        {
            let path = place.path();
            if !self.written.contains(&path) {
                self.written.push(path);
            }
        }
    }

    /// Performs one call that waits.
    pub(super) fn answer_next(&mut self) {
        let Ok(asked) = notify::next_asked(self.listener()) else { return };
        // What was closed before this call was closed before what it does.
        self.look();
        let ending = match Call::of(&asked) {
            Some(call) => self.perform(&asked, call),
            None => Err(Errno::NOSYS),
        };
        self.turns.clear();
        let said = match ending {
            Ok(Ending::Later) => return,
            Ok(Ending::Said(said)) => said,
            Ok(Ending::Descriptor(fd, closes)) => {
                match notify::answer_with(self.listener(), asked.id, fd.as_fd(), closes) {
                    Ok(()) => return,
                    Err(error) => Said::Failed(error.raw_os_error().unwrap_or(libc::EMFILE)),
                }
            }
            Err(error) => Said::Failed(error.raw_os_error()),
        };
        notify::answer(self.listener(), asked.id, said);
    }

    fn perform(&mut self, asked: &Asked, call: Call) -> Result<Ending, Errno> {
        let caller = Caller::new(asked.pid);
        match call {
            Call::Open { folder, path, flags, mode } => {
                let path = caller.text(path)?;
                let flags = OFlags::from_bits_retain(flags as u32);
                self.open(asked, folder, &path, flags, mode)
            }
            Call::MakeFolder { folder, path, mode } => {
                let place = caller.place(folder, &caller.text(path)?)?;
                self.check(asked, &place, Making::Folder)?;
                let mode = self.mode(caller, mode)?;
                self.keep_new(&place);
                let written = place.written();
                self.made(
                    &place,
                    Making::Folder,
                    rustix::fs::mkdirat(&place.parent, OsStr::from_bytes(&written), mode),
                )
            }
            Call::MakeNode { folder, path, mode, device } => {
                let place = caller.place(folder, &caller.text(path)?)?;
                self.check(asked, &place, Making::File)?;
                let kind = match FileType::from_raw_mode(mode as u32) {
                    FileType::Unknown => FileType::RegularFile,
                    kind => kind,
                };
                let mode = self.mode(caller, mode)?;
                self.keep_new(&place);
                let written = place.written();
                let name = OsStr::from_bytes(&written);
                self.made(&place, Making::File, rustix::fs::mknodat(&place.parent, name, kind, mode, device))
            }
            Call::Symlink { target, folder, path } => {
                let target = caller.text(target)?;
                let place = caller.place(folder, &caller.text(path)?)?;
                self.check(asked, &place, Making::Link)?;
                self.check_led(&place.path(), &target)?;
                self.keep_new(&place);
                let (text, written) = (OsStr::from_bytes(&target), place.written());
                let result = rustix::fs::symlinkat(text, &place.parent, OsStr::from_bytes(&written));
                self.made_link(&place, &target, result)
            }
            Call::Link { from, to, flags } => self.link(asked, from, to, flags),
            Call::Rename { from, to, flags } => self.rename(asked, from, to, flags),
            Call::Bind { socket, address, length } => self.bind(asked, socket, address, length),
            Call::Chmod { folder, path, mode, flags } => {
                let object = caller.named(folder, &caller.text(path)?, flags)?;
                self.chmod(asked, &object, mode)
            }
            Call::ChmodOpen { file, mode } => self.chmod(asked, &caller.object(file)?, mode),
            Call::Truncate { path, length } => self.truncate(asked, &caller.text(path)?, length),
            Call::Unlink { folder, path, flags } => self.unlink(asked, folder, path, flags),
            Call::Umask => {
                self.has_own_masks = true;
                Ok(Said::GoOn.into())
            }
        }
    }

    /// Refuses a closed name, and a call whose caller is gone: its number may belong to another process by now.
    fn check(&mut self, asked: &Asked, place: &Place, making: Making) -> Result<(), Errno> {
        // A folder whose protected files are locked must not become one in which they are not.
        if self.names.is_forged_marker(&place.folder, &place.name)
            && place.stat()?.is_none_or(|stat| caller::kind(&stat) != FileType::RegularFile)
        {
            return Err(self.refuse(place.path()));
        }
        if is_part_of_repository(&place.name) && self.names.concerns(&place.folder) {
            self.take_turn(place)?;
            let is_completed = completes_repository(place) && place.stat()?.is_none();
            // A rule for this very file is the user's word that the repository may be made.
            if is_completed && !self.names.is_opened(&place.path()) {
                return Err(self.refuse(place.path()));
            }
        }
        self.check_path(asked, place.path(), making)
    }

    fn check_path(&mut self, asked: &Asked, path: Vec<u8>, making: Making) -> Result<(), Errno> {
        if !notify::still_asks(self.listener(), asked.id) {
            return Err(Errno::SRCH);
        }
        if self.names.is_closed(&path, making) {
            return Err(self.refuse(path));
        }
        Ok(())
    }

    /// Refuses a symbolic link that leads into a dependency folder under a name of the user's.
    fn check_led(&mut self, link: &[u8], text: &[u8]) -> Result<(), Errno> {
        match self.leads_into_dependencies(link, text) {
            true => Err(self.refuse_link(link.to_vec())),
            false => Ok(()),
        }
    }

    /// Whether a symbolic link of this path with this text leads into a dependency folder under a name that does not say so
    /// and that no rule opens: by its text, whatever is there, or by what is there now.
    fn leads_into_dependencies(&self, link: &[u8], text: &[u8]) -> bool {
        let leads_now = || {
            let way = caller::followed(link, text);
            way.iter().any(|path| self.names.is_called_like_dependencies(path))
        };
        self.names.leads_into_dependencies(link, text)
            || (self.names.is_judged_as_link(link) && !self.names.says_so_itself(link) && leads_now())
    }

    /// Reports a symbolic link into a dependency folder.
    fn refuse_link(&mut self, path: Vec<u8>) -> Errno {
        let error = self.refuse(path.clone());
        if self.refused.contains(&path) && !self.refused_links.contains(&path) {
            self.refused_links.push(path);
        }
        error
    }

    /// Waits until nobody else may be making a repository of the folder: another command, with a guard of its own, or a
    /// file tool, each of which looks before it creates. Whoever holds the turn for too long is not waited for.
    fn take_turn(&mut self, place: &Place) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&place.parent, ".", flags, Mode::empty());
        let folder = folder.map_err(|_| self.refuse(place.path()))?;
        for _ in 0..MOST_WAITS {
            match rustix::fs::flock(&folder, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    self.turns.push(folder);
                    return Ok(());
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(Duration::from_millis(1)),
                // Some file systems of the network have no such locks.
                Err(_) => return Ok(()),
            }
        }
        Err(self.refuse(place.path()))
    }

    /// Looks once more where a new name is: another command, with a guard of its own, may have moved the folder
    /// meanwhile. What then has a closed name is removed.
    fn confirm(&mut self, place: &Place, making: Making) -> Result<(), Errno> {
        let folder = caller::path_of(place.parent.as_fd())?;
        if folder == place.folder {
            return Ok(());
        }
        let path = [folder.as_slice(), b"/", &place.name].concat();
        if !self.names.is_closed(&path, making) {
            return Ok(());
        }
        let flags = match making {
            Making::Folder => rustix::fs::AtFlags::REMOVEDIR,
            _ => rustix::fs::AtFlags::empty(),
        };
        let _ = rustix::fs::unlinkat(&place.parent, OsStr::from_bytes(&place.name), flags);
        Err(self.refuse(path))
    }

    /// Whether a file is a locked one under another name, a hard link: what is written to it is written to that.
    fn is_another_name(&mut self, stat: &rustix::fs::Stat) -> bool {
        if stat.st_nlink < 2 || caller::kind(stat) != FileType::RegularFile {
            return false;
        }
        self.locked.get_or_insert_with(|| Locked::find(self.names.marked())).has(stat)
    }

    /// Reports a refused path; inside of what is locked or hidden, that whole, since it is what would have to be opened.
    fn refuse(&mut self, path: Vec<u8>) -> Errno {
        let path = self.names.marked_above(&path).map_or(path.clone(), <[u8]>::to_vec);
        if self.refused.len() < MOST_REPORTED && !self.refused.contains(&path) {
            self.refused.push(path);
        }
        Errno::ACCESS
    }

    /// Remembers the folder of a name that was created.
    fn made(&mut self, place: &Place, making: Making, result: Result<(), Errno>) -> Result<Ending, Errno> {
        if result.is_ok() {
            self.confirm(place, making)?;
            if making != Making::Folder {
                self.note_written(place);
            }
            self.keep_placed(place);
            self.remember(place);
        }
        done(result)
    }

    /// The same for a symbolic link with this text.
    fn made_link(&mut self, place: &Place, text: &[u8], result: Result<(), Errno>) -> Result<Ending, Errno> {
        if result.is_ok() {
            let folder = caller::path_of(place.parent.as_fd())?;
            let path = [folder.as_slice(), b"/", &place.name].concat();
            if folder != place.folder && self.leads_into_dependencies(&path, text) {
                let flags = rustix::fs::AtFlags::empty();
                let _ = rustix::fs::unlinkat(&place.parent, OsStr::from_bytes(&place.name), flags);
                return Err(self.refuse_link(path));
            }
        }
        self.made(place, Making::Link, result)
    }

    fn remember(&mut self, place: &Place) {
        let is_known = self.folders.contains(&place.folder);
        if !is_known && self.folders.len() < MOST_FOLDERS && self.names.concerns(&place.folder) {
            self.folders.insert(place.folder.clone());
        }
    }

    /// The mode of something new; the caller's mask becomes ours, so that default rights of folders hold as well.
    fn mode(&mut self, caller: Caller, mode: u64) -> Result<Mode, Errno> {
        if self.has_own_masks {
            let mask = caller.umask()?;
            if self.mask != Some(mask) {
                rustix::process::umask(mask);
                self.mask = Some(mask);
            }
        }
        Ok(Mode::from_raw_mode(mode as u32 & RIGHTS))
    }

    /// Changes the rights of what is held open. A folder that holds something protected stays open to its owner: the next
    /// command is surveyed by what can be looked at.
    fn chmod(&mut self, asked: &Asked, object: &OwnedFd, mode: u64) -> Result<Ending, Errno> {
        const LOOKS: u32 = filter::OWNER_READS | filter::OWNER_SEARCHES;
        let mode = mode as u32 & RIGHTS;
        if !notify::still_asks(self.listener(), asked.id) {
            return Err(Errno::SRCH);
        }
        let stat = rustix::fs::fstat(object)?;
        if caller::kind(&stat).is_dir() && mode & LOOKS != LOOKS {
            let path = caller::path_of(object.as_fd())?;
            let is_on_the_way = self.names.is_closed(&path, Making::Filled);
            if is_on_the_way || self.names.holds_marked(&path) || self.names.is_fixed(&path) {
                return Err(self.refuse(path));
            }
        }
        self.keep_mode(object, &stat, mode);
        let path = format!("/proc/self/fd/{}", object.as_raw_fd());
        done(rustix::fs::chmod(path, Mode::from_raw_mode(mode)))
    }

    /// A socket of the file system is a name too.
    fn bind(&mut self, asked: &Asked, socket: i32, address: u64, length: u64) -> Result<Ending, Errno> {
        const FAMILY: usize = size_of::<libc::sa_family_t>();
        const LONGEST: usize = size_of::<libc::sockaddr_storage>();
        let caller = Caller::new(asked.pid);
        let length = usize::try_from(length as u32).unwrap_or(usize::MAX);
        if !(FAMILY..=LONGEST).contains(&length) {
            return Err(Errno::INVAL);
        }
        let address = caller.bytes(address, length)?;
        let socket = caller.descriptor(socket)?;
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
        let (family, path) = address.split_at(FAMILY);
        let is_local = family == (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        if !is_local || path.is_empty() {
            if !notify::still_asks(self.listener(), asked.id) {
                return Err(Errno::SRCH);
            }
            return done(notify::bind(socket.as_fd(), &address).map_err(failed));
        }
        let place = caller.place(libc::AT_FDCWD, path)?;
        self.check(asked, &place, Making::File)?;
        self.mode(caller, 0)?;
        self.keep_new(&place);
        // The kernel takes a path only: the name alone, from the folder that was judged.
        let address = [family, &place.written(), &[0]].concat();
        rustix::process::fchdir(&place.parent)?;
        let bound = notify::bind(socket.as_fd(), &address).map_err(failed);
        rustix::process::chdir("/")?;
        self.made(&place, Making::File, bound)
    }

    /// Removes a file or folder. A file that is hidden from the command, and which it may remove all the same, is covered
    /// here and can only be removed from outside. What may not be removed is held by mounts, so all else is the kernel's,
    /// unless it is to be recorded: then the guard removes what it has recorded.
    fn unlink(&mut self, asked: &Asked, folder: i32, path: u64, flags: u64) -> Result<Ending, Errno> {
        let caller = Caller::new(asked.pid);
        let place = caller.text(path).and_then(|path| caller.place(folder, &path));
        let place = match place {
            Err(_) if !self.keeps() => return Ok(Said::GoOn.into()),
            place => place?,
        };
        if flags == 0
            && !place.has_slash
            && let Some(known) = self.names.removable_at(&place.path())
        {
            if !notify::still_asks(self.listener(), asked.id) {
                return Err(Errno::SRCH);
            }
            self.removals.push(Removal { id: asked.id, known, path: place.path() });
            return Ok(Ending::Later);
        }
        if !self.keeps() {
            return Ok(Said::GoOn.into());
        }
        self.remove(asked, &place, flags)
    }

    /// Removes a name, once what has it is recorded.
    fn remove(&mut self, asked: &Asked, place: &Place, flags: u64) -> Result<Ending, Errno> {
        let flags = match flags {
            0 => rustix::fs::AtFlags::empty(),
            _ if flags == libc::AT_REMOVEDIR as u64 => rustix::fs::AtFlags::REMOVEDIR,
            _ => return Err(Errno::INVAL),
        };
        if !notify::still_asks(self.listener(), asked.id) {
            return Err(Errno::SRCH);
        }
        self.keep(place);
        let written = place.written();
        rustix::fs::unlinkat(&place.parent, OsStr::from_bytes(&written), flags)?;
        self.keep_removed(place);
        done(Ok(()))
    }

    /// What the keeper is to remove, once.
    pub(super) fn take_removals(&mut self) -> Vec<Removal> {
        let removals = std::mem::take(&mut self.removals);
        self.waiting.extend_from_slice(&removals);
        removals
    }

    /// Ends the call for which the keeper has removed a file, or has not for this reason.
    pub(super) fn removed(&mut self, id: u64, errno: i32) {
        let Some(at) = self.waiting.iter().position(|removal| removal.id == id) else { return };
        let removal = self.waiting.swap_remove(at);
        let said = match errno {
            0 => {
                self.names.forget(&removal.path);
                Said::Done(0)
            }
            errno => Said::Failed(errno),
        };
        notify::answer(self.listener(), id, said);
    }

    /// Closed names that now exist in folders in which the command created something. They were not there before: what
    /// was is locked or hidden.
    pub(super) fn appeared(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in &self.folders {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let opened = rustix::fs::open(OsStr::from_bytes(folder), flags, Mode::empty());
            let Ok(listing) = opened.and_then(Dir::new) else { continue };
            for entry in listing.flatten() {
                let name = entry.file_name().to_bytes();
                let path = [folder, b"/".as_slice(), name].concat();
                let making = match entry.file_type() {
                    FileType::Directory => Making::Folder,
                    FileType::Symlink => Making::Link,
                    _ => Making::File,
                };
                let is_itself = matches!(name, b"." | b"..");
                if !is_itself
                    && self.names.is_closed(&path, making)
                    && self.names.marked_above(&path).is_none()
                    && !self.names.is_given(&path)
                {
                    found.push(PathBuf::from(OsString::from_vec(path)));
                }
                if found.len() == MOST_REPORTED {
                    return found;
                }
            }
        }
        found.sort();
        found
    }
}
