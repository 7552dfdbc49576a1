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
    /// Whether everything that the command was about to change has a record. If not, the command or its guard was killed,
    /// the file could not be written, or a folder could not be looked through.
    pub is_whole: bool,
    /// Whether there were more than [`MOST_PATHS`] paths. The others have no record.
    pub is_cut: bool,
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The absolute path, without links.
    pub path: PathBuf,
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
            Kind::Absent => Before::Absent,
            Kind::File => Before::File { mode: entry.mode, content: entry.content },
            Kind::Mode => Before::Mode { mode: entry.mode },
            Kind::Folder => Before::Folder { mode: entry.mode },
            Kind::Link => Before::Link(path(&entry.text)),
            Kind::NotKept => Before::NotKept { mode: entry.mode, bytes: entry.bytes, stamp: entry.stamp },
            Kind::Other => Before::Other,
        };
        match known.get(&entry.path).and_then(|known| kept.records.get_mut(*known)) {
            None => {
                known.insert(entry.path.clone(), kept.records.len());
                kept.records.push(Record { path: path(&entry.path), before });
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

/// What a command has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// What is not as it was, in the order in which it was first touched.
    pub changes: Vec<Change>,
    /// As in [`Kept`].
    pub is_whole: bool,
    /// As in [`Kept`].
    pub is_cut: bool,
}

/// A path at which something else is than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// What was there.
    pub before: State,
    /// What is there now.
    pub after: State,
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
}

/// Maximum number of bytes of content to return, before and after together. What was there before goes first.
#[cfg(target_os = "linux")]
const MOST_RETURNED: u64 = 320 << 20;

/// Compares the records of a command that has ended with what is there now, below these roots.
#[cfg(target_os = "linux")]
pub fn changes(spool: &mut File, roots: &[PathBuf]) -> io::Result<Changed> {
    let kept = read(spool)?;
    let roots = crate::linux::Roots::open(roots);
    let mut changed = Changed { changes: Vec::new(), is_whole: kept.is_whole, is_cut: kept.is_cut };
    let of_record = |record: &Record| match &record.before {
        Before::File { content, .. } => content.bytes(),
        _ => 0,
    };
    let mut left = MOST_RETURNED.saturating_sub(kept.records.iter().map(of_record).sum());
    for record in kept.records {
        let bytes = of_record(&record);
        let Some((before, after)) = compare(&record, spool, &roots, left.min(LARGEST_FILE))? else {
            left += bytes;
            continue;
        };
        if let State::File { content, .. } = &after {
            left = left.saturating_sub(content.len() as u64);
        }
        changed.changes.push(Change { path: record.path, before, after });
    }
    Ok(changed)
}

/// On other systems nothing is recorded.
#[cfg(not(target_os = "linux"))]
pub fn changes(spool: &mut File, _roots: &[PathBuf]) -> io::Result<Changed> {
    let kept = read(spool)?;
    Ok(Changed { changes: Vec::new(), is_whole: kept.is_whole, is_cut: kept.is_cut })
}

/// What was there and what is there now; none if that is the same.
#[cfg(target_os = "linux")]
fn compare(
    record: &Record,
    spool: &mut File,
    roots: &crate::linux::Roots,
    most: u64,
) -> io::Result<Option<(State, State)>> {
    let found = roots.find(&record.path)?;
    let after = |most: u64| found.as_ref().map_or(Ok(State::Absent), |found| found.state(most));
    let (before, after) = match &record.before {
        Before::Absent => (State::Absent, after(most)?),
        Before::Folder { mode } => (State::Folder { mode: *mode }, after(most)?),
        Before::Link(text) => (State::Link(text.clone()), after(most)?),
        Before::Other => (State::Other, after(most)?),
        Before::File { mode, content } => {
            let before = State::File { content: content.read(spool)?, mode: *mode };
            // One that has not changed is no larger than it was, so that it can be compared whatever is left.
            let is_as_large = found.as_ref().is_some_and(|found| found.bytes() == Some(content.bytes()));
            (before, after(if is_as_large { content.bytes() } else { most })?)
        }
        Before::Mode { mode } => {
            let after = after(most)?;
            let before = match &after {
                State::File { content, .. } => State::File { content: content.clone(), mode: *mode },
                _ => State::NotKept { bytes: found.as_ref().and_then(|found| found.bytes()).unwrap_or(0) },
            };
            if found.as_ref().is_some_and(|found| found.mode() == *mode) {
                return Ok(None);
            }
            return Ok(Some((before, after)));
        }
        Before::NotKept { mode, bytes, stamp } => {
            let is_same = |found: &crate::linux::Found<'_>| {
                found.stamp() == *stamp && found.bytes() == Some(*bytes) && found.mode() == *mode
            };
            if found.as_ref().is_some_and(is_same) {
                return Ok(None);
            }
            return Ok(Some((State::NotKept { bytes: *bytes }, after(most)?)));
        }
    };
    Ok((before != after).then_some((before, after)))
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

const MARK: &[u8; 4] = b"kept";

/// The part of a head before the path.
const FIXED: usize = 1 + 4 + 8 + 5 * 8 + 4;

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
    Absent,
    File,
    Mode,
    Folder,
    Link,
    NotKept,
    Other,
}

const KINDS: [Kind; 10] = [
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
];

/// An entry as it is written.
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) bytes: u64,
    pub(crate) stamp: Stamp,
    pub(crate) path: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) content: Content,
}

impl Entry {
    fn decode(head: &[u8], content: Content) -> Option<Entry> {
        let (fixed, rest) = head.split_at_checked(FIXED)?;
        let (kind, fixed) = fixed.split_first()?;
        let (mode, fixed) = fixed.split_first_chunk()?;
        let (numbers, length) = fixed.split_last_chunk()?;
        let mut numbers = numbers.chunks_exact(8).filter_map(|bytes| bytes.first_chunk().copied());
        let bytes = u64::from_le_bytes(numbers.next()?);
        let inode = u64::from_le_bytes(numbers.next()?);
        let mut time = || Some((i64::from_le_bytes(numbers.next()?), i64::from_le_bytes(numbers.next()?)));
        let stamp = Stamp { inode, modified: time()?, changed: time()? };
        let (path, text) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Entry {
            kind: *KINDS.get(usize::from(*kind))?,
            mode: u32::from_le_bytes(*mode),
            bytes,
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
            stamp: Stamp::default(),
            path: path.to_vec(),
            text: Vec::new(),
            content: Content { at: 0, length: 0 },
        }
    }

    /// What goes before the content and what goes behind it.
    pub(crate) fn encode(&self, content: u64) -> (Vec<u8>, [u8; 8]) {
        let head = FIXED + self.path.len() + self.text.len();
        let mut bytes = Vec::with_capacity(START + head);
        bytes.extend_from_slice(MARK);
        bytes.extend_from_slice(&u32::try_from(head).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(&content.to_le_bytes());
        bytes.push(KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0) as u8);
        bytes.extend_from_slice(&self.mode.to_le_bytes());
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
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
