//! The index of one tree: kept between runs, brought up to date by comparing stamps, usable while it is being made.

mod form;
mod ranked;
mod saved;
mod source;
mod unread;

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use crate::facts::Facts;
use crate::files::{Cache, Files};
use crate::languages;
use crate::postings::Occurrences;
use crate::resolve::{Memo, Query};
use crate::world::{ContentHash, FileId, Loader, Stamp, World};
use source::Source;
use unread::Unread;

pub use form::Found;

/// The bytes of facts that stay in memory between questions.
const RESIDENT: usize = 160 << 20;
/// The number of findings that are remembered between questions.
const MOST_FINDINGS: usize = 1_000_000;
/// The bytes of facts that are left in memory when there are too many.
const KEPT: usize = RESIDENT / 4 * 3;
/// How many files, and how many bytes of them, are read before what was found in them can be asked for.
const BATCH: usize = 512;
const BATCH_BYTES: u64 = 24 << 20;
/// An index is written down again after so many changes.
const WORTH_SAVING: usize = 64;
/// The stack of a thread that reads files: extractors follow trees by calling themselves.
const STACK: usize = 48 << 20;

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Refreshed {
    /// Files of known languages in the tree.
    pub files: usize,
    /// Files that were read because they are new or their stamp differs.
    pub read: usize,
    /// Of these, files whose facts were not known from an earlier run.
    pub parsed: usize,
    /// Files that are gone.
    pub removed: usize,
    /// Files that are too large to be understood.
    pub too_large: usize,
    /// Files that could not be read.
    pub unreadable: usize,
}

/// How far a refresh is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Files done.
    pub done: usize,
    /// Files in all.
    pub of: usize,
}

/// The index of one tree.
pub struct Engine {
    source: Arc<Source>,
    name: String,
    state: RwLock<State>,
    /// What files in other languages have. Locked for itself, so that it can be asked during a question.
    unread: RwLock<Unread>,
    /// The ranking without a focus, and the state of the files that it is of.
    ranked: Mutex<Option<ranked::StoredRanking>>,
    is_complete: AtomicBool,
    /// Only one refresh at a time.
    refresh: Mutex<()>,
}

fn unread_key(name: &str) -> String {
    format!("unread-{name}")
}

struct State {
    world: World,
    memo: Mutex<Memo>,
    manifest_stamps: Vec<(String, Stamp)>,
    unsaved: usize,
    too_large: Vec<String>,
}

struct Read {
    path: String,
    language: u8,
    stamp: Stamp,
    content: ContentHash,
    occurrences: Occurrences,
    facts: Facts,
}

impl Engine {
    /// The index of a tree as it was left, if it was; nothing is compared with the files yet. `name` tells this tree
    /// from others that share the cache.
    #[must_use]
    pub fn open(files: Arc<dyn Files>, cache: Arc<dyn Cache>, name: &str) -> Engine {
        let source = Arc::new(Source::new(files, cache, languages::all()));
        let loader: Arc<dyn Loader> = Arc::<Source>::clone(&source);
        let saved = source.cache.get(&saved::key(name));
        let saved =
            saved.and_then(|bytes| saved::read(&bytes, source.languages.clone(), Arc::clone(&loader)).ok());
        let (world, manifest_stamps) =
            saved.unwrap_or_else(|| (World::empty(source.languages.clone(), Some(loader)), Vec::new()));
        let state = State {
            world,
            memo: Mutex::new(Memo::default()),
            manifest_stamps,
            unsaved: 0,
            too_large: Vec::new(),
        };
        let unread = source.cache.get(&unread_key(name)).and_then(|bytes| Unread::read(&bytes).ok());
        Engine {
            source,
            name: name.to_owned(),
            state: RwLock::new(state),
            unread: RwLock::new(unread.unwrap_or_default()),
            ranked: Mutex::default(),
            is_complete: AtomicBool::new(false),
            refresh: Mutex::new(()),
        }
    }

    /// Whether every file of the tree has been looked at: false until the first refresh has ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// The files of known languages that are too large to be understood, by path.
    #[must_use]
    pub fn too_large(&self) -> Vec<String> {
        let mut names = self.read().too_large.clone();
        names.extend(self.read_unread().too_large.iter().cloned());
        names
    }

    /// The files in languages that are not read in which one of some names occurs as a word, by path in order.
    #[must_use]
    pub fn unread_with(&self, names: &[String]) -> Vec<String> {
        self.read_unread().with(names).into_iter().map(str::to_owned).collect()
    }

    /// The files of programming languages that are not read, and the language of each, by path in order.
    #[must_use]
    pub fn unread_code(&self) -> Vec<(String, &'static str)> {
        self.read_unread().code().map(|(path, language)| (path.to_owned(), language)).collect()
    }

    /// Whether there are more files in languages that are not read than are looked at.
    #[must_use]
    pub fn is_unread_cut(&self) -> bool {
        self.read_unread().is_cut
    }

    /// Asks something of the index as it is. Questions wait for each other no longer than a change takes to be put in.
    pub fn ask<R>(&self, question: impl FnOnce(&Query<'_>) -> R) -> R {
        let is_full = self.read().world.loaded() > RESIDENT;
        if is_full {
            self.write().world.evict(KEPT);
        }
        let state = self.read();
        state.world.begin_question();
        let memo = state.memo.try_lock().map(|mut memo| std::mem::take(&mut *memo)).unwrap_or_default();
        let query = Query::new(&state.world, memo);
        let answer = question(&query);
        let found = query.into_memo();
        if found.size() <= MOST_FINDINGS
            && let Ok(mut memo) = state.memo.try_lock()
        {
            *memo = found;
        }
        answer
    }

    /// Compares every file with what is known of it, and reads those that changed.
    ///
    /// # Errors
    ///
    /// The tree cannot be listed.
    pub fn refresh(&self, progress: &(dyn Fn(Progress) + Sync)) -> io::Result<Refreshed> {
        let _turn = self.refresh.lock().unwrap_or_else(PoisonError::into_inner);
        let swept = self.source.files.sweep()?;
        let mut refreshed = Refreshed::default();
        let mut manifests = Vec::new();
        let mut changed = Vec::new();
        let mut too_large = Vec::new();
        let mut others = Vec::new();
        let gone: Vec<String> = {
            let state = self.read();
            let mut present = vec![false; state.world.records.len()];
            for (path, stamp) in &swept {
                if self.source.is_manifest(path) {
                    manifests.push((path.clone(), *stamp));
                }
                let Some(language) = languages::of_path(&self.source.languages, path) else {
                    others.extend(crate::unread::sort_of(path).map(|sort| (path.clone(), sort, *stamp)));
                    continue;
                };
                if stamp.size > source::LARGEST {
                    too_large.push(path.clone());
                    continue;
                }
                refreshed.files += 1;
                match state.world.file(path) {
                    Some(file) => {
                        present[file.0 as usize] = true;
                        if !state.world.records[file.0 as usize].stamp.is_same(*stamp) {
                            changed.push((path.clone(), language, *stamp));
                        }
                    }
                    None => changed.push((path.clone(), language, *stamp)),
                }
            }
            let files = state.world.files().filter(|file| !present[file.0 as usize]);
            files.map(|file| state.world.path(file).to_owned()).collect()
        };
        refreshed.removed = gone.len();
        // The same files get the same numbers, in whatever order they are listed.
        changed.sort_unstable_by(|one: &(String, u8, Stamp), other| one.0.cmp(&other.0));
        manifests.sort_unstable_by(|one: &(String, Stamp), other| one.0.cmp(&other.0));
        self.refresh_manifests(manifests);
        self.take_in(&gone, changed, &mut refreshed, progress);
        self.refresh_unread(others);
        {
            let mut state = self.write();
            refreshed.too_large = too_large.len();
            state.too_large = too_large;
        }
        self.is_complete.store(true, Ordering::Release);
        // Facts are written down before the index that counts on them.
        self.source.cache.flush();
        self.save_if_worth();
        Ok(refreshed)
    }

    /// Reads files that are known to have changed, without looking at any other.
    pub fn refresh_paths(&self, paths: &[String]) -> Refreshed {
        let _turn = self.refresh.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refreshed = Refreshed::default();
        let (mut gone, mut changed) = (Vec::new(), Vec::new());
        for path in paths {
            let Some(language) = languages::of_path(&self.source.languages, path) else { continue };
            match self.source.files.stamp(path) {
                Some(stamp) if stamp.size <= source::LARGEST => changed.push((path.clone(), language, stamp)),
                _ => gone.push(path.clone()),
            }
        }
        refreshed.files = changed.len();
        self.take_in(&gone, changed, &mut refreshed, &|_| {});
        refreshed
    }

    /// Reads files in other languages that changed.
    fn refresh_unread(&self, swept: Vec<unread::SweptFile>) {
        let changed = self.write_unread().compare(swept);
        let read = unread::read_all(&self.source.files, changed);
        let mut unread = self.write_unread();
        unread.put(read);
        let bytes = unread.take_unsaved();
        drop(unread);
        if let Some(bytes) = bytes {
            self.source.cache.put(&unread_key(&self.name), &bytes);
        }
    }

    /// Reads the manifests that changed.
    fn refresh_manifests(&self, stamps: Vec<(String, Stamp)>) {
        let contents: Vec<(String, Vec<u8>)> = {
            let state = self.read();
            let known: HashMap<&str, Stamp> =
                state.manifest_stamps.iter().map(|(path, stamp)| (path.as_str(), *stamp)).collect();
            let is_same =
                |path: &str, stamp: Stamp| known.get(path).is_some_and(|known| known.is_same(stamp));
            if stamps.len() == known.len() && stamps.iter().all(|(path, stamp)| is_same(path, *stamp)) {
                return;
            }
            let old: HashMap<&str, &Vec<u8>> =
                state.world.manifests.iter().map(|(path, content)| (path.as_str(), content)).collect();
            let read = |path: &str, stamp: Stamp| match old.get(path) {
                Some(content) if is_same(path, stamp) => Some((*content).clone()),
                _ => self.source.files.read(path).ok(),
            };
            stamps
                .iter()
                .filter(|(_, stamp)| stamp.size <= source::LARGEST)
                .filter_map(|(path, stamp)| Some((path.clone(), read(path, *stamp)?)))
                .collect()
        };
        let mut state = self.write();
        state.manifest_stamps = stamps;
        if state.world.set_manifests(contents) {
            state.memo = Mutex::new(Memo::default());
            state.unsaved += 1;
        }
    }

    /// Reads files in batches, each of which can be asked for once it is in.
    fn take_in(
        &self,
        gone: &[String],
        changed: Vec<(String, u8, Stamp)>,
        refreshed: &mut Refreshed,
        progress: &(dyn Fn(Progress) + Sync),
    ) {
        let total = changed.len();
        if total == 0 && gone.is_empty() {
            return;
        }
        refreshed.read += total;
        if !gone.is_empty() {
            let mut state = self.write();
            gone.iter().for_each(|path| state.world.remove(path));
            state.memo = Mutex::new(Memo::default());
            state.unsaved += gone.len();
        }
        let mut rest = changed.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |(_, _, stamp): &&(String, u8, Stamp)| {
                bytes += stamp.size;
                bytes <= BATCH_BYTES
            };
            let count = rest.iter().take(BATCH).take_while(fits).count().max(1);
            let (batch, after) = rest.split_at(count);
            rest = after;
            let read = self.read_batch(batch, refreshed);
            self.put_in(batch, read, refreshed);
            progress(Progress { done: total - rest.len(), of: total });
        }
    }

    /// Puts in what was read of a batch. What could not be read is not in the index any more.
    fn put_in(&self, batch: &[(String, u8, Stamp)], read: Vec<Read>, refreshed: &mut Refreshed) {
        let mut state = self.write();
        let state = &mut *state;
        let mut has_changed = false;
        if read.len() < batch.len() {
            let got: HashSet<&str> = read.iter().map(|one| one.path.as_str()).collect();
            for (path, ..) in batch.iter().filter(|(path, ..)| !got.contains(path.as_str())) {
                has_changed |= state.world.file(path).is_some();
                state.world.remove(path);
                refreshed.unreadable += 1;
                state.unsaved += 1;
            }
        }
        for one in read {
            state.unsaved += usize::from(one.stamp.mark != Stamp::UNSETTLED);
            let known = state.world.file(&one.path);
            let is_same = |file: &FileId| {
                let record = &state.world.records[file.0 as usize];
                record.content == one.content && record.language == one.language
            };
            if let Some(file) = known.filter(is_same) {
                state.world.restamp(file, one.stamp);
                continue;
            }
            has_changed = true;
            let Read { path, language, stamp, content, occurrences, facts } = one;
            let file = state.world.put(&path, language, stamp, content, occurrences, &facts);
            state.world.keep(file, facts, RESIDENT / 2);
        }
        if has_changed {
            state.memo = Mutex::new(Memo::default());
        }
    }

    /// Reads files on all processors; a file that cannot be read is left out.
    fn read_batch(&self, batch: &[(String, u8, Stamp)], refreshed: &mut Refreshed) -> Vec<Read> {
        let threads = thread::available_parallelism().map_or(2, std::num::NonZero::get).min(16);
        let threads = threads.min(batch.len().div_ceil(4)).max(1);
        let next = AtomicUsize::new(0);
        let parsed = AtomicUsize::new(0);
        let work = || {
            let mut parser = tree_sitter::Parser::new();
            let mut read = Vec::new();
            while let Some((path, language, stamp)) = batch.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Ok(bytes) = self.source.files.read(path) else { continue };
                let content = source::content_hash(&bytes);
                let (facts, is_new) = self.source.facts_of(&mut parser, path, *language, content, &bytes);
                parsed.fetch_add(usize::from(is_new), Ordering::Relaxed);
                read.push(Read {
                    path: path.clone(),
                    language: *language,
                    stamp: *stamp,
                    content,
                    occurrences: Occurrences::of(&facts),
                    facts,
                });
            }
            read
        };
        let mut all = Vec::with_capacity(batch.len());
        thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .filter_map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok())
                .collect();
            for handle in handles {
                all.extend(handle.join().unwrap_or_default());
            }
        });
        refreshed.parsed += parsed.into_inner();
        all.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        all
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_unread(&self) -> RwLockReadGuard<'_, Unread> {
        self.unread.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_unread(&self) -> RwLockWriteGuard<'_, Unread> {
        self.unread.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn save_if_worth(&self) {
        let is_worth = {
            let state = self.read();
            state.unsaved >= WORTH_SAVING.min(state.world.records.len().max(1))
        };
        if is_worth {
            self.save();
        }
    }

    /// Writes the index down for the next run.
    pub fn save(&self) {
        let bytes = {
            let mut state = self.write();
            let state = &mut *state;
            state.world.postings.settle();
            state.unsaved = 0;
            saved::write(&state.world, &state.manifest_stamps)
        };
        self.source.cache.put(&saved::key(&self.name), &bytes);
    }
}
