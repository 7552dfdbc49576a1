//! The files of a tree with their facts: what the resolver works on. Facts are read when they are first needed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::facts::{Def, Facts, Kind, NONE, Name};
use crate::language::{Language, Layout, Project};
use crate::postings::{Occurrences, Posting, Postings};

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

/// One file.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) path: String,
    pub(crate) language: u8,
    pub(crate) stamp: Stamp,
    pub(crate) content: ContentHash,
    pub(crate) is_gone: bool,
    pub(crate) facts: OnceLock<Facts>,
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
            let file = world.put(&path, language, Stamp::default(), ContentHash::default(), occurrences);
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
    ) -> FileId {
        let record = Record {
            path: path.to_owned(),
            language,
            stamp,
            content,
            is_gone: false,
            facts: OnceLock::new(),
        };
        let file = match self.paths.get(path) {
            Some(&file) => {
                self.postings.remove(file);
                self.records[file.0 as usize] = record;
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

    /// Forgets a file.
    pub(crate) fn remove(&mut self, path: &str) {
        if let Some(file) = self.paths.remove(path) {
            self.postings.remove(file);
            self.records[file.0 as usize] = Record { is_gone: true, ..Record::default() };
            self.forget_projects();
        }
    }

    /// Keeps facts that are at hand, unless there are enough in memory.
    pub(crate) fn keep(&mut self, file: FileId, facts: Facts, most: usize) {
        if *self.loaded.get_mut() < most {
            *self.loaded.get_mut() += facts.weight();
            self.records[file.0 as usize].facts = OnceLock::from(facts);
        }
    }

    /// Replaces the manifests; how files hang together is found out anew if one has changed.
    pub(crate) fn set_manifests(&mut self, manifests: Vec<(String, Vec<u8>)>) {
        if self.manifests != manifests {
            self.manifests = manifests;
            self.forget_projects();
        }
    }

    /// Lets go of how files hang together, to be found out anew when it is needed.
    pub(crate) fn forget_projects(&mut self) {
        self.projects = self.languages.iter().map(|_| OnceLock::new()).collect();
    }

    /// The bytes of facts in memory.
    pub(crate) fn loaded(&self) -> usize {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Lets go of facts, which are read again when they are needed.
    pub(crate) fn evict(&mut self) {
        if self.loader.is_none() {
            return;
        }
        for record in &mut self.records {
            record.facts = OnceLock::new();
        }
        self.loaded = AtomicUsize::new(0);
    }

    /// The facts of a file.
    #[must_use]
    pub fn facts(&self, file: FileId) -> &Facts {
        let Some(record) = self.records.get(file.0 as usize) else {
            return EMPTY.get_or_init(Facts::default);
        };
        if let Some(facts) = record.facts.get() {
            return facts;
        }
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
