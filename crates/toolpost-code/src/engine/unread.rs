//! The words of files that are not read, kept beside the index and as fresh as it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::facts::codec::{Damaged, Reader, Writer, unseal};
use crate::files::Files;
use crate::unread::{Sort, number, sort_of, words};
use crate::world::Stamp;

const MAGIC: [u8; 4] = *b"tpcu";
/// Maximum number of files that are looked at. There are more only where programs have written them.
const MOST_FILES: usize = 60_000;
/// Maximum bytes of one file that are read.
const LARGEST: u64 = 4 << 20;
/// The table is written down again after so many changes.
const WORTH_SAVING: usize = 64;

/// A file as a sweep found it.
pub(super) type SweptFile = (String, Sort, Stamp);
/// A file with its words; none where the content is not text.
pub(super) type ReadFile = (SweptFile, Option<Box<[u32]>>);

/// What is known of one file.
struct UnreadFile {
    stamp: Stamp,
    sort: Sort,
    /// None where the content is not text.
    words: Option<Box<[u32]>>,
}

/// The files in languages that are not read.
#[derive(Default)]
pub(super) struct Unread {
    files: BTreeMap<String, UnreadFile>,
    /// Files of languages that are too large to be looked at, by path.
    pub(super) too_large: Vec<String>,
    /// Whether there are more files than are looked at.
    pub(super) is_cut: bool,
    unsaved: usize,
}

impl Unread {
    /// The paths of files in which one of some names occurs, in order.
    pub(super) fn with(&self, names: &[String]) -> Vec<&str> {
        let numbers: Vec<u32> = names.iter().map(|name| number(name)).collect();
        let has = |known: &UnreadFile| {
            let words = known.words.as_deref().unwrap_or_default();
            numbers.iter().any(|number| words.binary_search(number).is_ok())
        };
        self.files.iter().filter(|(_, known)| has(known)).map(|(path, _)| path.as_str()).collect()
    }

    /// The files of programming languages, with their languages.
    pub(super) fn code(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let text = self.files.iter().filter(|(_, known)| known.words.is_some());
        text.filter_map(|(path, known)| Some((path.as_str(), known.sort.language()?)))
    }

    /// Which of these files are new or have another stamp; those that are not among them are forgotten.
    pub(super) fn compare(&mut self, mut swept: Vec<SweptFile>) -> Vec<SweptFile> {
        swept.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        self.too_large.clear();
        swept.retain(|(path, sort, stamp)| {
            let is_too_large = stamp.size > LARGEST;
            if is_too_large && sort.language().is_some() {
                self.too_large.push(path.clone());
            }
            !is_too_large
        });
        self.is_cut = swept.len() > MOST_FILES;
        swept.truncate(MOST_FILES);
        let before = self.files.len();
        self.files.retain(|path, _| swept.binary_search_by(|(swept, ..)| swept.cmp(path)).is_ok());
        self.unsaved += before - self.files.len();
        let is_known = |path: &str, stamp: Stamp| {
            self.files.get(path).is_some_and(|known: &UnreadFile| known.stamp.is_same(stamp))
        };
        swept.retain(|(path, _, stamp)| !is_known(path, *stamp));
        swept
    }

    /// Puts in what was read.
    pub(super) fn put(&mut self, read: Vec<ReadFile>) {
        for ((path, sort, stamp), words) in read {
            self.unsaved += usize::from(stamp.mark != Stamp::UNSETTLED);
            self.files.insert(path, UnreadFile { stamp, sort, words });
        }
    }

    /// The table as bytes, if so much has changed that it is worth it.
    pub(super) fn take_unsaved(&mut self) -> Option<Vec<u8>> {
        if self.unsaved == 0 || self.unsaved < WORTH_SAVING.min(self.files.len()) {
            return None;
        }
        self.unsaved = 0;
        let mut writer = Writer::headed();
        writer.number(self.files.len() as u64);
        for (path, known) in &self.files {
            writer.text(path);
            writer.number(known.stamp.size);
            writer.number(known.stamp.mark);
            writer.number(known.words.as_ref().map_or(0, |words| words.len() as u64 + 1));
            let mut last = 0;
            for &word in known.words.as_deref().unwrap_or_default() {
                writer.number(u64::from(word - last));
                last = word;
            }
        }
        Some(writer.seal(MAGIC))
    }

    /// The table that was written down.
    pub(super) fn read(bytes: &[u8]) -> Result<Unread, Damaged> {
        let mut reader = Reader { bytes: unseal(MAGIC, bytes)? };
        let mut unread = Unread::default();
        for _ in 0..reader.count()? {
            let path = reader.text()?.to_owned();
            let stamp = Stamp { size: reader.number()?, mark: reader.number()? };
            let words = match reader.count()? {
                0 => None,
                count => {
                    let mut last = 0u32;
                    let mut words = Vec::with_capacity(count - 1);
                    for _ in 1..count {
                        let step = u32::try_from(reader.number()?).map_err(|_| Damaged)?;
                        last = last.checked_add(step).ok_or(Damaged)?;
                        words.push(last);
                    }
                    Some(words.into_boxed_slice())
                }
            };
            // What a name says may be another thing in this version.
            if let Some(sort) = sort_of(&path) {
                unread.files.insert(path, UnreadFile { stamp, sort, words });
            }
        }
        Ok(unread)
    }
}

/// Reads files on all processors; one that cannot be read has no words.
pub(super) fn read_all(files: &Arc<dyn Files>, changed: Vec<SweptFile>) -> Vec<ReadFile> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(16);
    let threads = threads.min(changed.len() / 8).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read = Vec::new();
        while let Some((path, sort, stamp)) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
            let words = files.read(path).ok().and_then(|bytes| words(path, *sort, &bytes));
            read.push(((path.clone(), *sort, *stamp), words));
        }
        read
    };
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_default());
        }
        all
    })
}
