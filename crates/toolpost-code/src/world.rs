//! The files of a tree with their facts: what the resolver works on. Facts are read when they are first needed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::facts::{Def, Facts, Kind, NONE, Name};
use crate::language::{Language, Layout, Project};
use crate::postings::{ERRORS, Occurrences, Posting, Postings};

/// The bytes of facts that one question may bring into memory, beside those that are there.
const MOST_LOADED: usize = 448 << 20;
/// With fewer files to read a thread is not worth its start.
const WORTH_A_THREAD: usize = 4;

/// A file, by its number in the world.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileId(pub u32);

/// The number of a file's content: equal contents have equal numbers.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ContentHash(pub [u8; 16]);

/// What tells a changed file from an unchanged one without reading it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: u64,
    /// A number that changes when the file is written: of its times and its identity.
    pub mark: u64,
}

impl Stamp {
    /// The mark of a file that may change again without getting another one. It is read again each time.
    pub const UNSETTLED: u64 = u64::MAX;

    /// Whether a file with this stamp is sure to be the one that had the other.
    #[must_use]
    pub fn is_same(self, other: Stamp) -> bool {
        self == other && self.mark != Stamp::UNSETTLED
    }
}

/// One file.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) path: String,
    pub(crate) language: u8,
    pub(crate) stamp: Stamp,
    pub(crate) content: ContentHash,
    pub(crate) is_gone: bool,
    pub(crate) facts: OnceLock<Facts>,
    /// The number of the last question that needed the facts.
    pub(crate) used: AtomicU32,
}

/// Who reads the facts of a file when they are needed.
pub(crate) trait Loader: Send + Sync {
    fn load(&self, path: &str, language: u8, content: ContentHash) -> Option<Facts>;
}

/// The files of a tree.
pub struct World {
    pub(crate) records: Vec<Record>,
    pub(crate) paths: HashMap<String, FileId>,
    pub(crate) languages: Vec<&'static dyn Language>,
    pub(crate) postings: Postings,
    projects: Vec<OnceLock<Box<dyn Project>>>,
    pub(crate) manifests: Vec<(String, Vec<u8>)>,
    loader: Option<Arc<dyn Loader>>,
    /// Bytes of facts in memory.
    loaded: AtomicUsize,
    /// The number of the current question.
    question: AtomicU32,
}

static EMPTY: OnceLock<Facts> = OnceLock::new();

impl World {
    /// A world of files whose facts are known: path, number of the language, facts.
    #[must_use]
    pub fn new(
        languages: Vec<&'static dyn Language>,
        files: Vec<(String, u8, Facts)>,
        manifests: Vec<(String, Vec<u8>)>,
    ) -> World {
        let mut world = World::empty(languages, None);
        world.manifests = manifests;
        for (path, language, facts) in files {
            let occurrences = Occurrences::of(&facts);
            let (stamp, content) = (Stamp::default(), ContentHash::default());
            let file = world.put(&path, language, stamp, content, occurrences, &facts);
            world.records[file.0 as usize].facts = OnceLock::from(facts);
        }
        world
    }

    pub(crate) fn empty(languages: Vec<&'static dyn Language>, loader: Option<Arc<dyn Loader>>) -> World {
        World {
            records: Vec::new(),
            paths: HashMap::new(),
            projects: languages.iter().map(|_| OnceLock::new()).collect(),
            languages,
            postings: Postings::default(),
            manifests: Vec::new(),
            loader,
            loaded: AtomicUsize::new(0),
            question: AtomicU32::new(0),
        }
    }

    /// Adds a file, or replaces what was known of it.
    pub(crate) fn put(
        &mut self,
        path: &str,
        language: u8,
        stamp: Stamp,
        content: ContentHash,
        occurrences: Occurrences,
        facts: &Facts,
    ) -> FileId {
        let record = Record {
            path: path.to_owned(),
            language,
            stamp,
            content,
            is_gone: false,
            facts: OnceLock::new(),
            used: AtomicU32::new(self.question.load(Ordering::Relaxed)),
        };
        let file = match self.paths.get(path) {
            Some(&file) => {
                self.postings.remove(file);
                self.loosen(file);
                self.records[file.0 as usize] = record;
                if let Some(project) = self.projects[usize::from(language)].get_mut() {
                    project.changed(file, facts);
                }
                file
            }
            None => {
                let file = FileId(self.records.len() as u32);
                self.paths.insert(path.to_owned(), file);
                self.records.push(record);
                self.forget_projects();
                file
            }
        };
        self.postings.add(file, occurrences);
        file
    }

    /// The facts of a file no longer count as loaded.
    fn loosen(&mut self, file: FileId) {
        let weight = self.records[file.0 as usize].facts.get().map_or(0, Facts::weight);
        *self.loaded.get_mut() = self.loaded.get_mut().saturating_sub(weight);
    }

    /// Forgets a file.
    pub(crate) fn remove(&mut self, path: &str) {
        if let Some(file) = self.paths.remove(path) {
            self.postings.remove(file);
            self.loosen(file);
            self.records[file.0 as usize] = Record { is_gone: true, ..Record::default() };
            self.forget_projects();
        }
    }

    /// The file has the content that is known of it, and this stamp.
    pub(crate) fn restamp(&mut self, file: FileId, stamp: Stamp) {
        self.records[file.0 as usize].stamp = stamp;
    }

    /// Keeps facts that are at hand, unless there are enough in memory.
    pub(crate) fn keep(&mut self, file: FileId, mut facts: Facts, most: usize) {
        if *self.loaded.get_mut() < most {
            facts.shrink();
            *self.loaded.get_mut() += facts.weight();
            self.records[file.0 as usize].facts = OnceLock::from(facts);
        }
    }

    /// Replaces the manifests; how files hang together is found out anew if one has changed. Says whether one has.
    pub(crate) fn set_manifests(&mut self, manifests: Vec<(String, Vec<u8>)>) -> bool {
        let has_changed = self.manifests != manifests;
        if has_changed {
            self.manifests = manifests;
            self.forget_projects();
        }
        has_changed
    }

    /// Lets go of how files hang together, to be found out anew when it is needed.
    pub(crate) fn forget_projects(&mut self) {
        self.projects = self.languages.iter().map(|_| OnceLock::new()).collect();
    }

    /// The bytes of facts in memory.
    pub(crate) fn loaded(&self) -> usize {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Begins a question: what the last ones needed is kept longest.
    pub(crate) fn begin_question(&self) {
        self.question.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets go of facts until no more than so many bytes are left, those first that were not needed for longest; they are
    /// read again when they are needed.
    pub(crate) fn evict(&mut self, most: usize) {
        if self.loader.is_none() {
            return;
        }
        let mut loaded: Vec<(u32, usize, usize)> = Vec::new();
        for (index, record) in self.records.iter_mut().enumerate() {
            if let Some(facts) = record.facts.get() {
                loaded.push((*record.used.get_mut(), facts.weight(), index));
            }
        }
        let mut total: usize = loaded.iter().map(|(_, weight, _)| weight).sum();
        loaded.sort_unstable();
        for (_, weight, index) in loaded {
            if total <= most {
                break;
            }
            total -= weight;
            self.records[index].facts = OnceLock::new();
        }
        self.loaded = AtomicUsize::new(total);
    }

    /// Reads the facts of files that will be needed, on all processors.
    pub(crate) fn prefetch(&self, files: &[FileId]) {
        let missing: Vec<FileId> = files.iter().copied().filter(|&file| !self.is_loaded(file)).collect();
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(16);
        let threads = threads.min(missing.len() / WORTH_A_THREAD);
        if threads < 2 {
            return;
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&file) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let _ = self.facts(file);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without another thread this one does all of it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Whether so much is in memory that the current question must come to its end.
    pub(crate) fn is_full(&self) -> bool {
        self.loader.is_some() && self.loaded() > MOST_LOADED
    }

    fn is_loaded(&self, file: FileId) -> bool {
        self.records.get(file.0 as usize).is_none_or(|record| record.facts.get().is_some())
    }

    /// The facts of a file.
    #[must_use]
    pub fn facts(&self, file: FileId) -> &Facts {
        let Some(record) = self.records.get(file.0 as usize) else {
            return EMPTY.get_or_init(Facts::default);
        };
        if let Some(facts) = record.facts.get() {
            let question = self.question.load(Ordering::Relaxed);
            if record.used.load(Ordering::Relaxed) != question {
                record.used.store(question, Ordering::Relaxed);
            }
            return facts;
        }
        record.used.store(self.question.load(Ordering::Relaxed), Ordering::Relaxed);
        match &self.loader {
            Some(loader) if !record.is_gone => record.facts.get_or_init(|| {
                let facts = loader.load(&record.path, record.language, record.content).unwrap_or_default();
                self.loaded.fetch_add(facts.weight(), Ordering::Relaxed);
                facts
            }),
            _ => EMPTY.get_or_init(Facts::default),
        }
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, file: FileId) -> &str {
        self.records.get(file.0 as usize).map_or("", |record| &record.path)
    }

    /// The file at a path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<FileId> {
        self.paths.get(path).copied()
    }

    /// Every file.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        (0..self.records.len() as u32).map(FileId).filter(|file| !self.records[file.0 as usize].is_gone)
    }

    /// The number of a file's language.
    #[must_use]
    pub fn language_of(&self, file: FileId) -> u8 {
        self.records.get(file.0 as usize).map_or(0, |record| record.language)
    }

    /// The language of a file.
    #[must_use]
    pub fn language(&self, file: FileId) -> &'static dyn Language {
        self.languages[usize::from(self.language_of(file))]
    }

    /// The project that a file belongs to.
    pub(crate) fn project_of(&self, file: FileId) -> &dyn Project {
        self.project(self.language_of(file))
    }

    pub(crate) fn project(&self, language: u8) -> &dyn Project {
        let index = usize::from(language);
        let project = self.projects[index].get_or_init(|| {
            let mut files: Vec<(FileId, &str)> = self
                .files()
                .filter(|&file| self.language_of(file) == language)
                .map(|file| (file, self.path(file)))
                .collect();
            files.sort_by_key(|&(_, path)| path);
            let wanted = self.languages[index].manifests();
            let suits = |path: &str| wanted.contains(&path.rsplit('/').next().unwrap_or(path));
            let manifests: Vec<_> = self.manifests.iter().filter(|(path, _)| suits(path)).cloned().collect();
            self.languages[index].project(&Layout { files: &files, manifests: &manifests })
        });
        &**project
    }

    /// The files in which the parser met errors: something in them may be missing.
    #[must_use]
    pub fn broken(&self) -> Vec<FileId> {
        self.postings.of(ERRORS).iter().map(|posting| posting.file()).collect()
    }

    /// The files that a name occurs in, sorted.
    #[must_use]
    pub fn postings(&self, name: Name) -> Vec<Posting> {
        self.postings.of(name)
    }
}

/// Whether a definition is reached through its owner.
pub(crate) fn is_member(facts: &Facts, def: &Def) -> bool {
    def.owner != NONE
        && !matches!(def.kind, Kind::Parameter | Kind::TypeParameter)
        && facts
            .def(def.owner)
            .is_some_and(|owner| owner.kind.is_type() || matches!(owner.kind, Kind::Impl | Kind::Variant))
}
