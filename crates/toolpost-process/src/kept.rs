//! What was there before a command changed it, as the sandbox's guard wrote it down.
//!
//! The guard performs every call by which a confined command opens a file for writing, or creates, moves, removes or
//! changes the mode of something. Given a file to write to ([`crate::Command::keep_in`]), it appends a record before the
//! first such call for a path. [`read`] gives the records back.
//!
//! Only paths below the writable folders of the sandbox are recorded, and none in a dependency folder. A file has one record
//! for the path by which it was changed. If it had a second name before the command began, that name has none. Owners,
//! times and extended attributes are not recorded.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// The file into which records are written, opened for reading and writing.
pub type Spool = File;

/// Largest file whose content is kept, in bytes.
pub const LARGEST_FILE: u64 = 64 << 20;

/// Maximum number of bytes of content to keep for one command.
pub const MOST_BYTES: u64 = 256 << 20;

/// Maximum number of paths to record for one command.
pub const MOST_PATHS: usize = 50_000;

/// The records of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// One for each path, in the order in which the paths were first touched.
    pub records: Vec<Record>,
    /// What the command has left at each of these paths, once it has ended.
    pub left: HashMap<PathBuf, Left>,
    /// Whether everything that the command was about to change has a record. If not, the command or its guard was killed,
    /// the file could not be written, or a folder could not be looked through.
    pub is_whole: bool,
    /// Whether there were more than [`MOST_PATHS`] paths. The others have no record.
    pub is_cut: bool,
    /// The dependency folders in which the command has changed something, or was about to. What is in them has no records.
    pub left_out: Vec<PathBuf>,
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// When the command first touched it, in microseconds since 1970.
    pub at_us: u64,
    /// What was there.
    pub before: Before,
}

/// What was at a path before the command touched it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// Permission bits.
        mode: u32,
        /// Where its bytes are.
        content: Content,
    },
    /// A file of which the command changed the mode alone. Its content is what is there now.
    Mode {
        /// Permission bits.
        mode: u32,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link with this text.
    Link(PathBuf),
    /// A file whose content was not kept: it was too large, there were too many, or nobody could read it.
    NotKept {
        /// Permission bits.
        mode: u32,
        /// How large it was.
        bytes: u64,
        /// By which a change can be recognised.
        stamp: Stamp,
    },
    /// A pipe, a socket or a device.
    Other,
}

/// What a command has left at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// What was there when the command had ended.
    pub last: Last,
    /// The mode and content of the file as the command has left it, where they were copied then.
    pub copy: Option<(u32, Content)>,
}

/// What was at a path when the command had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Last {
    /// Nothing that is of the command.
    Nothing,
    /// Something that the command has left.
    Object {
        /// Kind and permission bits.
        mode: u32,
        /// How large it was.
        bytes: u64,
        /// By which a later change can be recognised.
        stamp: Stamp,
        /// The text of a symbolic link.
        text: PathBuf,
    },
    /// Something that somebody else has changed while the command ran.
    OfAnother,
    /// What the command had found there, whatever is there now.
    AsFound,
}

/// What the kernel notes of every change of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the file.
    pub inode: u64,
    /// The last change of its content, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// The last change of anything of it, in seconds and nanoseconds.
    pub changed: (i64, i64),
}

/// The bytes of a file, in the file of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    at: u64,
    length: u64,
}

impl Content {
    /// How many bytes there are.
    pub fn bytes(self) -> u64 {
        self.length
    }

    /// The bytes, from the file that was given to [`read`].
    pub fn read(self, spool: &mut File) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.length).map_err(|_| io::ErrorKind::InvalidData)?;
        let mut bytes = vec![0; length];
        spool.seek(SeekFrom::Start(self.at))?;
        spool.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Reads the records of a command that has ended. Of a record that was not written to its end, and of what follows it,
/// nothing is taken.
pub fn read(spool: &mut File) -> io::Result<Kept> {
    let size = spool.seek(SeekFrom::End(0))?;
    spool.seek(SeekFrom::Start(0))?;
    let mut from = BufReader::new(spool);
    let mut kept = Kept { is_whole: true, ..Kept::default() };
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut copies: HashMap<Vec<u8>, (u32, Content)> = HashMap::new();
    let mut at = 0;
    let mut is_open = false;
    while at < size {
        let Some((entry, end)) = next(&mut from, at, size)? else {
            kept.is_whole = false;
            break;
        };
        at = end;
        let before = match entry.kind {
            Kind::Begin => {
                kept.is_whole &= !is_open;
                is_open = true;
                continue;
            }
            Kind::End => {
                kept.is_whole &= is_open && entry.mode == 1;
                is_open = false;
                continue;
            }
            Kind::Cut => {
                kept.is_cut = true;
                continue;
            }
            Kind::LeftOut => {
                let folder = path(&entry.path);
                if !kept.left_out.contains(&folder) {
                    kept.left_out.push(folder);
                }
                continue;
            }
            Kind::Copy => {
                copies.insert(entry.path, (entry.mode, entry.content));
                continue;
            }
            Kind::LeftNothing | Kind::Left | Kind::LeftByAnother | Kind::LeftAsFound => {
                kept.left.insert(path(&entry.path), left(entry, &copies));
                continue;
            }
            Kind::Absent => Before::Absent,
            Kind::File => Before::File { mode: entry.mode, content: entry.content },
            Kind::Mode => Before::Mode { mode: entry.mode },
            Kind::Folder => Before::Folder { mode: entry.mode },
            Kind::Link => Before::Link(path(&entry.text)),
            Kind::NotKept => Before::NotKept { mode: entry.mode, bytes: entry.bytes, stamp: entry.stamp },
            Kind::Other => Before::Other,
        };
        // A second command of the same call has touched it again.
        kept.left.remove(&path(&entry.path));
        match known.get(&entry.path).and_then(|known| kept.records.get_mut(*known)) {
            None => {
                known.insert(entry.path.clone(), kept.records.len());
                kept.records.push(Record { path: path(&entry.path), at_us: entry.at_us, before });
            }
            // The mode was changed first and the content later: each is as it was when its record was written.
            Some(Record { before: first @ Before::Mode { .. }, .. }) => {
                let Before::Mode { mode } = *first else { continue };
                *first = match before {
                    Before::File { content, .. } => Before::File { mode, content },
                    Before::NotKept { bytes, stamp, .. } => Before::NotKept { mode, bytes, stamp },
                    _ => continue,
                };
            }
            Some(_) => (),
        }
    }
    kept.is_whole &= !is_open;
    Ok(kept)
}

fn left(entry: Entry, copies: &HashMap<Vec<u8>, (u32, Content)>) -> Left {
    let copy = copies.get(&entry.path).copied().filter(|_| entry.has_copy);
    let last = match entry.kind {
        Kind::Left => {
            Last::Object { mode: entry.mode, bytes: entry.bytes, stamp: entry.stamp, text: path(&entry.text) }
        }
        Kind::LeftNothing => Last::Nothing,
        Kind::LeftAsFound => Last::AsFound,
        _ => Last::OfAnother,
    };
    Left { last, copy }
}

/// What a command has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// What is not as it was, in the order in which it was first touched.
    pub changes: Vec<Change>,
    /// What was touched and is as it was.
    pub put_back: Vec<PutBack>,
    /// As in [`Kept`].
    pub is_whole: bool,
    /// As in [`Kept`].
    pub is_cut: bool,
    /// As in [`Kept`].
    pub left_out: Vec<PathBuf>,
}

/// A path at which something else is than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// When the command first touched it, in microseconds since 1970.
    pub at_us: u64,
    /// What was there.
    pub before: State,
    /// What the command has left there.
    pub after: State,
}

/// A path that a command has touched, and at which the same is as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// When the command first touched it, in microseconds since 1970.
    pub at_us: u64,
    /// What was and is there. The content of large files is left out.
    pub state: State,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// Its bytes.
        content: Vec<u8>,
        /// Permission bits.
        mode: u32,
    },
    /// A file whose content is not known: it is too large, there are too many, or nobody can read it.
    NotKept {
        /// How large it is.
        bytes: u64,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link with this text.
    Link(PathBuf),
    /// A pipe, a socket or a device.
    Other,
    /// What the command has left is not known: somebody else has changed it while the command ran, or since then where
    /// nobody looked at its end, or the end of the command was not recorded.
    Unknown,
}

/// Maximum number of bytes of content to return, before and after together. What was there before goes first.
#[cfg(target_os = "linux")]
const MOST_RETURNED: u64 = 320 << 20;

/// Largest file whose content is returned although it is as it was, in bytes.
#[cfg(target_os = "linux")]
const LARGEST_PUT_BACK: u64 = 1 << 20;

/// Maximum number of bytes of such contents to return.
#[cfg(target_os = "linux")]
const MOST_PUT_BACK: u64 = 16 << 20;

/// Compares the records of a command that has ended with what it has left, below these roots. Where that is still there,
/// it is read now.
#[cfg(target_os = "linux")]
pub fn changes(spool: &mut File, roots: &[PathBuf]) -> io::Result<Changed> {
    let mut kept = read(spool)?;
    let roots = crate::linux::Roots::open(roots);
    let Kept { is_whole, is_cut, left_out, .. } = &mut kept;
    let mut changed = Changed {
        is_whole: *is_whole,
        is_cut: *is_cut,
        left_out: std::mem::take(left_out),
        ..Changed::default()
    };
    let mut room_put_back = MOST_PUT_BACK;
    let of_record = |record: &Record| match &record.before {
        Before::File { content, .. } => content.bytes(),
        _ => 0,
    };
    let mut room = MOST_RETURNED.saturating_sub(kept.records.iter().map(of_record).sum());
    for record in kept.records {
        let bytes = of_record(&record);
        let found = roots.find(&record.path)?;
        let left = kept.left.get(&record.path);
        let mut comparison = Comparison { found: found.as_ref(), left, spool, most: room.min(LARGEST_FILE) };
        let (before, after) = comparison.compare(&record)?;
        if before == after {
            room += bytes;
            let state = match before {
                State::File { content, .. } if content.len() as u64 > LARGEST_PUT_BACK.min(room_put_back) => {
                    State::NotKept { bytes: content.len() as u64 }
                }
                other => other,
            };
            if let State::File { content, .. } = &state {
                room_put_back -= content.len() as u64;
            }
            changed.put_back.push(PutBack { path: record.path, at_us: record.at_us, state });
            continue;
        }
        if let State::File { content, .. } = &after {
            room = room.saturating_sub(content.len() as u64);
        }
        changed.changes.push(Change { path: record.path, at_us: record.at_us, before, after });
    }
    Ok(changed)
}

/// On other systems nothing is recorded.
#[cfg(not(target_os = "linux"))]
pub fn changes(spool: &mut File, _roots: &[PathBuf]) -> io::Result<Changed> {
    let kept = read(spool)?;
    Ok(Changed { is_whole: kept.is_whole, is_cut: kept.is_cut, ..Changed::default() })
}

/// What is known of one path.
#[cfg(target_os = "linux")]
struct Comparison<'a> {
    found: Option<&'a crate::linux::Found<'a>>,
    left: Option<&'a Left>,
    spool: &'a mut File,
    /// Largest content to return, in bytes.
    most: u64,
}

#[cfg(target_os = "linux")]
impl Comparison<'_> {
    /// What was there and what the command has left. Both are the same where that is what is there, whoever has made it so.
    fn compare(&mut self, record: &Record) -> io::Result<(State, State)> {
        let before = match &record.before {
            Before::Absent => State::Absent,
            Before::Folder { mode } => State::Folder { mode: *mode },
            Before::Link(text) => State::Link(text.clone()),
            Before::Other => State::Other,
            Before::File { mode, content } => {
                let before = State::File { content: content.read(self.spool)?, mode: *mode };
                // One that has not changed is no larger than it was, so that it can be compared whatever is left.
                if self.found.is_some_and(|found| found.bytes() == Some(content.bytes())) {
                    self.most = content.bytes();
                }
                before
            }
            Before::Mode { mode } => return self.compare_modes(*mode),
            Before::NotKept { mode, bytes, stamp } => {
                let is_same = |found: &crate::linux::Found<'_>| {
                    found.stamp() == *stamp && found.bytes() == Some(*bytes) && found.mode() == *mode
                };
                let before = State::NotKept { bytes: *bytes };
                if self.found.is_some_and(is_same) {
                    return Ok((before.clone(), before));
                }
                before
            }
        };
        if matches!(self.left, Some(Left { last: Last::AsFound, .. })) {
            return Ok((before.clone(), before));
        }
        let after = match self.after()? {
            // What is as it was needs no undo.
            State::Unknown if before == self.now()? => before.clone(),
            // Nobody knows whether it is the same.
            State::NotKept { bytes } if before == (State::NotKept { bytes }) => State::Unknown,
            after => after,
        };
        Ok((before, after))
    }

    /// The command has changed the mode alone.
    fn compare_modes(&mut self, before: u32) -> io::Result<(State, State)> {
        let after = match self.left.map(|left| &left.last) {
            Some(Last::Object { mode, .. }) => mode & 0o7777,
            Some(Last::AsFound) => before,
            _ => self.found.map_or(before, crate::linux::Found::mode),
        };
        Ok(match self.now()? {
            State::File { content, .. } => {
                (State::File { content: content.clone(), mode: before }, State::File { content, mode: after })
            }
            now => {
                let bytes = self.found.and_then(crate::linux::Found::bytes).unwrap_or(0);
                let left = match now {
                    _ if before == after => State::NotKept { bytes },
                    State::NotKept { .. } => State::Unknown,
                    now => now,
                };
                (State::NotKept { bytes }, left)
            }
        })
    }

    /// What is there now.
    fn now(&self) -> io::Result<State> {
        self.found.map_or(Ok(State::Absent), |found| found.state(self.most))
    }

    /// What the command has left.
    fn after(&mut self) -> io::Result<State> {
        let Some(left) = self.left else { return Ok(State::Unknown) };
        let Last::Object { mode, bytes, stamp, text } = &left.last else {
            return match left.last {
                Last::Nothing => Ok(State::Absent),
                _ => self.copy(left),
            };
        };
        let permissions = mode & 0o7777;
        Ok(match rustix::fs::FileType::from_raw_mode(*mode) {
            rustix::fs::FileType::Directory => State::Folder { mode: permissions },
            rustix::fs::FileType::Symlink => State::Link(text.clone()),
            rustix::fs::FileType::RegularFile => {
                // Who changes a file changes these; who gives it another name or mode does not.
                let is_same = self.found.is_some_and(|found| {
                    let now = found.stamp();
                    (now.inode, now.modified, found.bytes()) == (stamp.inode, stamp.modified, Some(*bytes))
                });
                match (is_same, self.now()?) {
                    (true, State::File { content, .. }) => State::File { content, mode: permissions },
                    (true, now) => now,
                    (false, _) => self.copy(left)?,
                }
            }
            _ => State::Other,
        })
    }

    fn copy(&mut self, left: &Left) -> io::Result<State> {
        match left.copy {
            Some((mode, content)) => Ok(State::File { content: content.read(self.spool)?, mode }),
            None => Ok(State::Unknown),
        }
    }
}

/// One entry with where the next begins; none if it is not whole.
fn next(from: &mut BufReader<&mut File>, at: u64, size: u64) -> io::Result<Option<(Entry, u64)>> {
    let mut start = [0; START];
    if at + START as u64 > size {
        return Ok(None);
    }
    from.read_exact(&mut start)?;
    let Some((head, length)) = lengths(&start) else { return Ok(None) };
    let content = Content { at: at + START as u64 + u64::from(head), length };
    let end = content.at.checked_add(length).and_then(|end| end.checked_add(8));
    let Some(end) = end.filter(|end| *end <= size) else { return Ok(None) };
    let mut bytes = vec![0; head as usize];
    from.read_exact(&mut bytes)?;
    let Ok(over) = i64::try_from(length) else { return Ok(None) };
    from.seek_relative(over)?;
    let mut sum = [0; 8];
    from.read_exact(&mut sum)?;
    if u64::from_le_bytes(sum) != checksum(&start, &bytes) {
        return Ok(None);
    }
    Ok(Entry::decode(&bytes, content).map(|entry| (entry, end)))
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// The first bytes of an entry: a mark, the length of its head and that of the content behind it.
pub(crate) const START: usize = 16;

const MARK: &[u8; 4] = b"kep2";

/// The part of a head before the path.
const FIXED: usize = 1 + 4 + 8 + 6 * 8 + 4;

/// Longest head: a path and the text of a link.
const LONGEST_HEAD: u32 = 64 * 1024;

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command begins.
    Begin,
    /// It has ended; its mode is 1 if nothing is missing.
    End,
    /// There are more paths than are recorded.
    Cut,
    /// A dependency folder in which something changes.
    LeftOut,
    Absent,
    File,
    Mode,
    Folder,
    Link,
    NotKept,
    Other,
    /// A file as the command has left it, while the command runs.
    Copy,
    /// What is there when the command has ended: nothing, something, or what somebody else has changed.
    LeftNothing,
    Left,
    LeftByAnother,
    /// The command has left what it found there.
    LeftAsFound,
}

const KINDS: [Kind; 16] = [
    Kind::Begin,
    Kind::End,
    Kind::Cut,
    Kind::Absent,
    Kind::File,
    Kind::Mode,
    Kind::Folder,
    Kind::Link,
    Kind::NotKept,
    Kind::Other,
    Kind::Copy,
    Kind::LeftNothing,
    Kind::Left,
    Kind::LeftByAnother,
    Kind::LeftAsFound,
    Kind::LeftOut,
];

/// Added to the kind where the last copy of the path is what the command has left.
const HAS_COPY: u8 = 0x80;

/// An entry as it is written.
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) bytes: u64,
    /// When it was written, in microseconds since 1970.
    pub(crate) at_us: u64,
    pub(crate) stamp: Stamp,
    pub(crate) path: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) content: Content,
    pub(crate) has_copy: bool,
}

impl Entry {
    fn decode(head: &[u8], content: Content) -> Option<Entry> {
        let (fixed, rest) = head.split_at_checked(FIXED)?;
        let (kind, fixed) = fixed.split_first()?;
        let (mode, fixed) = fixed.split_first_chunk()?;
        let (numbers, length) = fixed.split_last_chunk()?;
        let mut numbers = numbers.chunks_exact(8).filter_map(|bytes| bytes.first_chunk().copied());
        let bytes = u64::from_le_bytes(numbers.next()?);
        let at_us = u64::from_le_bytes(numbers.next()?);
        let inode = u64::from_le_bytes(numbers.next()?);
        let mut time = || Some((i64::from_le_bytes(numbers.next()?), i64::from_le_bytes(numbers.next()?)));
        let stamp = Stamp { inode, modified: time()?, changed: time()? };
        let (path, text) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Entry {
            kind: *KINDS.get(usize::from(*kind & !HAS_COPY))?,
            has_copy: *kind & HAS_COPY != 0,
            mode: u32::from_le_bytes(*mode),
            bytes,
            at_us,
            stamp,
            path: path.to_vec(),
            text: text.to_vec(),
            content,
        })
    }
}

fn lengths(start: &[u8; START]) -> Option<(u32, u64)> {
    let (mark, rest) = start.split_first_chunk::<4>()?;
    let (head, content) = rest.split_first_chunk::<4>()?;
    let head = u32::from_le_bytes(*head);
    (mark == MARK && head <= LONGEST_HEAD).then_some(())?;
    Some((head, u64::from_le_bytes(*content.first_chunk()?)))
}

/// FNV-1a. What is recognised is an entry that was not written to its end, not one that was forged.
fn checksum(start: &[u8], head: &[u8]) -> u64 {
    start
        .iter()
        .chain(head)
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The writing half, for the guard.
#[cfg(target_os = "linux")]
impl Entry {
    pub(crate) fn new(kind: Kind, path: &[u8]) -> Entry {
        Entry {
            kind,
            mode: 0,
            bytes: 0,
            at_us: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX)),
            stamp: Stamp::default(),
            path: path.to_vec(),
            text: Vec::new(),
            content: Content { at: 0, length: 0 },
            has_copy: false,
        }
    }

    /// What goes before the content and what goes behind it.
    pub(crate) fn encode(&self, content: u64) -> (Vec<u8>, [u8; 8]) {
        let head = FIXED + self.path.len() + self.text.len();
        let mut bytes = Vec::with_capacity(START + head);
        bytes.extend_from_slice(MARK);
        bytes.extend_from_slice(&u32::try_from(head).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(&content.to_le_bytes());
        let kind = KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0) as u8;
        bytes.push(if self.has_copy { kind | HAS_COPY } else { kind });
        bytes.extend_from_slice(&self.mode.to_le_bytes());
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.extend_from_slice(&self.at_us.to_le_bytes());
        bytes.extend_from_slice(&self.stamp.inode.to_le_bytes());
        for time in [self.stamp.modified, self.stamp.changed] {
            bytes.extend_from_slice(&time.0.to_le_bytes());
            bytes.extend_from_slice(&time.1.to_le_bytes());
        }
        bytes.extend_from_slice(&u32::try_from(self.path.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(&self.path);
        bytes.extend_from_slice(&self.text);
        let sum = checksum(&bytes[..START], &bytes[START..]);
        (bytes, sum.to_le_bytes())
    }
}
