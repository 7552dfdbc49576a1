//! Many small pieces in a few large files. A pack is written whole and never changed: its pieces one after another, then the
//! table of their places. Small packs are joined when there are many; a process that still reads one keeps it open.

#![expect(clippy::disallowed_methods, reason = "the cache lies outside every workspace")]

use super::write_whole;
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Bytes that wait for others before a pack is written.
const PACK: usize = 32 << 20;
/// Packs that are smaller are joined when there are more of them than this.
const SMALL: u64 = 8 << 20;
const MOST_SMALL: usize = 12;
/// Maximum number of packs that are read.
const MOST_PACKS: usize = 512;
/// What a pack ends with, behind the number of its pieces.
const MARK: [u8; 8] = *b"tppack01";
/// Bytes of a piece in the table: its key, its place, its length.
const ROW: usize = 32 + 8 + 4;
/// Bytes behind the table: the number of rows, a sum of them, the mark.
const FOOT: usize = 8 + 8 + 8;

type Key = [u8; 32];

/// All packs of a folder.
pub(super) struct Packs {
    folder: PathBuf,
    state: RwLock<PackTable>,
    made: AtomicU64,
}

#[derive(Default)]
struct PackTable {
    packs: Vec<PackFile>,
    places: HashMap<Key, (usize, u64, u32)>,
    /// What is not written yet.
    waiting: Vec<u8>,
    waiting_places: HashMap<Key, (usize, usize)>,
}

struct PackFile {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
}

impl Packs {
    /// The packs of a folder as they are now.
    pub(super) fn open(folder: PathBuf) -> Packs {
        let packs = Packs { folder, state: RwLock::default(), made: AtomicU64::new(0) };
        let names = fs::read_dir(&packs.folder).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = names.map(|entry| entry.path()).filter(|path| is_pack(path)).collect();
        names.sort_unstable();
        let mut state = PackTable::default();
        names.into_iter().take(MOST_PACKS).for_each(|path| state.add(path));
        *packs.state.write().unwrap_or_else(PoisonError::into_inner) = state;
        packs
    }

    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let (file, start, length) = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(&(start, end)) = state.waiting_places.get(key) {
                return state.waiting.get(start..end).map(<[u8]>::to_vec);
            }
            let &(pack, start, length) = state.places.get(key)?;
            (Arc::clone(&state.packs.get(pack)?.file), start, length)
        };
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, start).ok()?;
        Some(bytes)
    }

    /// Puts a piece to those that wait.
    pub(super) fn put(&self, key: Key, bytes: &[u8]) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let start = state.waiting.len();
        state.waiting.extend_from_slice(bytes);
        let end = state.waiting.len();
        state.waiting_places.insert(key, (start, end));
        if end > PACK {
            self.write_waiting(&mut state);
        }
    }

    /// Writes what waits, and joins small packs where there are many.
    pub(super) fn flush(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        self.write_waiting(&mut state);
        self.join_small(&mut state);
    }

    fn write_waiting(&self, state: &mut PackTable) {
        if state.waiting_places.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut state.waiting);
        let places = std::mem::take(&mut state.waiting_places);
        let rows = places.into_iter().map(|(key, (start, end))| (key, start as u64, (end - start) as u32));
        if let Some(path) = self.write(&bytes, rows.collect()) {
            state.add(path);
        }
    }

    /// Writes a pack; where it is.
    fn write(&self, bytes: &[u8], rows: Vec<(Key, u64, u32)>) -> Option<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).ok()?;
        let mut table = Vec::with_capacity(rows.len() * ROW + FOOT);
        for (key, start, length) in &rows {
            table.extend_from_slice(key);
            table.extend_from_slice(&start.to_le_bytes());
            table.extend_from_slice(&length.to_le_bytes());
        }
        let sum = sum_of(&table);
        table.extend_from_slice(&(rows.len() as u64).to_le_bytes());
        table.extend_from_slice(&sum.to_le_bytes());
        table.extend_from_slice(&MARK);
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        // Later packs have later names.
        let name = format!("{:016x}-{}-{number}", now.as_nanos() as u64, std::process::id());
        let path = self.folder.join(format!("pack-{name}"));
        write_whole(&path, &name, &[bytes, &table]).ok()?;
        Some(path)
    }

    fn join_small(&self, state: &mut PackTable) {
        let small: Vec<usize> =
            (0..state.packs.len()).filter(|&index| state.packs[index].length < SMALL).collect();
        if small.len() <= MOST_SMALL {
            return;
        }
        let (mut bytes, mut rows) = (Vec::new(), Vec::new());
        for (key, &(pack, start, length)) in &state.places {
            if !small.contains(&pack) {
                continue;
            }
            let at = bytes.len();
            bytes.resize(at + length as usize, 0);
            match state.packs[pack].file.read_exact_at(&mut bytes[at..], start) {
                Ok(()) => rows.push((*key, at as u64, length)),
                Err(_) => bytes.truncate(at),
            }
        }
        let Some(path) = self.write(&bytes, rows) else { return };
        for &index in &small {
            let _ = fs::remove_file(&state.packs[index].path);
        }
        let kept: Vec<PathBuf> = state
            .packs
            .iter()
            .enumerate()
            .filter(|(index, _)| !small.contains(index))
            .map(|(_, pack)| pack.path.clone())
            .chain([path])
            .collect();
        *state = PackTable::default();
        kept.into_iter().for_each(|path| state.add(path));
    }
}

impl PackTable {
    /// Adds the pack at a path, if it is one.
    fn add(&mut self, path: PathBuf) {
        // What is no pack has no pieces.
        let _ = self.read(path);
    }

    fn read(&mut self, path: PathBuf) -> Option<()> {
        // Whatever lies there is not waited for: a pipe without a writer would never open.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path).ok()?;
        let found = file.metadata().ok()?;
        if !found.is_file() || found.len() < FOOT as u64 {
            return None;
        }
        let length = found.len();
        let mut foot = [0; FOOT];
        file.read_exact_at(&mut foot, length - FOOT as u64).ok()?;
        let number = |at: usize| u64::from_le_bytes(foot[at..at + 8].try_into().unwrap_or_default());
        let (count, sum) = (number(0), number(8));
        if foot[16..] != MARK {
            return None;
        }
        let size = count.checked_mul(ROW as u64).filter(|size| *size <= length - FOOT as u64)?;
        let end = length - FOOT as u64 - size;
        let mut table = vec![0; usize::try_from(size).ok()?];
        file.read_exact_at(&mut table, end).ok()?;
        if sum_of(&table) != sum {
            return None;
        }
        let pack = self.packs.len();
        for row in table.chunks_exact(ROW) {
            let mut key = [0; 32];
            key.copy_from_slice(&row[..32]);
            let start = u64::from_le_bytes(row[32..40].try_into().unwrap_or_default());
            let length = u32::from_le_bytes(row[40..44].try_into().unwrap_or_default());
            if start.checked_add(u64::from(length)).is_some_and(|last| last <= end) {
                self.places.insert(key, (pack, start, length));
            }
        }
        self.packs.push(PackFile { path, file: Arc::new(file), length });
        Some(())
    }
}

fn is_pack(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pack-"))
}

/// A number for bytes that changes when they do.
fn sum_of(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Key {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_le_bytes());
        key
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, |all| all.flatten().count())
    }

    #[test]
    fn many_pieces_are_in_few_files() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Packs::open(folder.path().join("packs"));
        let packs = open();
        for number in 0..5_000 {
            packs.put(key(number), &number.to_le_bytes());
        }
        assert_eq!(packs.get(&key(7)), Some(7u32.to_le_bytes().to_vec()), "before it is written");
        packs.flush();
        assert_eq!(files(&folder.path().join("packs")), 1);
        for number in [0, 7, 4_999] {
            assert_eq!(open().get(&key(number)), Some(number.to_le_bytes().to_vec()));
        }
        assert_eq!(open().get(&key(5_000)), None);
        // Runs that add a little leave a few files in the end, and lose nothing.
        let before = open();
        for number in 5_000..5_100 {
            let packs = open();
            packs.put(key(number), &number.to_le_bytes());
            packs.flush();
        }
        assert!(files(&folder.path().join("packs")) <= MOST_SMALL + 1);
        for number in [0, 5_000, 5_050, 5_099] {
            assert_eq!(open().get(&key(number)), Some(number.to_le_bytes().to_vec()), "{number}");
        }
        assert_eq!(
            before.get(&key(7)),
            Some(7u32.to_le_bytes().to_vec()),
            "a pack that was joined is still read"
        );
    }

    #[test]
    fn what_is_damaged_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let packs = Packs::open(folder.path().to_owned());
        packs.put(key(1), b"one");
        packs.flush();
        let path = fs::read_dir(folder.path()).unwrap().flatten().next().unwrap().path();
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(Packs::open(folder.path().to_owned()).get(&key(1)), None, "{cut}");
        }
        for at in 3..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(Packs::open(folder.path().to_owned()).get(&key(1)), None, "{at}");
        }
    }
}
