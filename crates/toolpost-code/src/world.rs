//! The files of a tree with their facts: what the resolver works on. One state of the tree; a change makes another.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::facts::{Facts, Kind, NONE, Name, NameMap};
use crate::language::{Language, Layout, Project};

/// A file, by its number in the world.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileId(pub u32);

/// One file.
pub(crate) struct Record {
    pub(crate) path: String,
    pub(crate) language: u8,
    pub(crate) facts: OnceLock<Facts>,
}

/// The files of a tree.
pub struct World {
    pub(crate) records: Vec<Record>,
    pub(crate) paths: HashMap<String, FileId>,
    pub(crate) languages: Vec<&'static dyn Language>,
    projects: Vec<OnceLock<Box<dyn Project>>>,
    manifests: Vec<(String, Vec<u8>)>,
    postings: NameMap<Vec<Posting>>,
}

/// A file that a name occurs in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting(u32);

impl Posting {
    const DEFINED: u32 = 1;
    const MEMBER: u32 = 2;

    pub(crate) fn file(self) -> FileId {
        FileId(self.0 >> 2)
    }

    /// Whether the file defines something of this name.
    pub(crate) fn defines(self) -> bool {
        self.0 & Posting::DEFINED != 0
    }

    /// Whether the file defines a member of this name.
    pub(crate) fn has_member(self) -> bool {
        self.0 & Posting::MEMBER != 0
    }
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
        let projects = languages.iter().map(|_| OnceLock::new()).collect();
        let mut world = World {
            records: Vec::with_capacity(files.len()),
            paths: HashMap::with_capacity(files.len()),
            languages,
            projects,
            manifests,
            postings: NameMap::default(),
        };
        for (path, language, facts) in files {
            let file = FileId(world.records.len() as u32);
            world.post(file, &facts);
            world.paths.insert(path.clone(), file);
            world.records.push(Record { path, language, facts: OnceLock::from(facts) });
        }
        world
    }

    fn post(&mut self, file: FileId, facts: &Facts) {
        let mut bits = vec![u32::MAX; facts.numbers.len()];
        for token in &facts.tokens {
            if let Some(bits) = bits.get_mut(token.name as usize)
                && *bits == u32::MAX
            {
                *bits = 0;
            }
        }
        for def in &facts.defs {
            if let Some(bits) = bits.get_mut(def.name as usize)
                && def.kind != Kind::Import
            {
                *bits = if *bits == u32::MAX { 0 } else { *bits } | Posting::DEFINED;
                if is_member(facts, def) {
                    *bits |= Posting::MEMBER;
                }
            }
        }
        for (&name, &bits) in facts.numbers.iter().zip(&bits) {
            if bits != u32::MAX {
                self.postings.entry(name).or_default().push(Posting(file.0 << 2 | bits));
            }
        }
    }

    /// The facts of a file.
    #[must_use]
    pub fn facts(&self, file: FileId) -> &Facts {
        let record = self.records.get(file.0 as usize);
        record.and_then(|record| record.facts.get()).unwrap_or_else(|| EMPTY.get_or_init(Facts::default))
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
        (0..self.records.len() as u32).map(FileId)
    }

    /// The number of a file's language.
    pub(crate) fn language_of(&self, file: FileId) -> u8 {
        self.records.get(file.0 as usize).map_or(0, |record| record.language)
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
    pub(crate) fn postings(&self, name: Name) -> &[Posting] {
        self.postings.get(&name).map_or(&[], Vec::as_slice)
    }
}

/// Whether a definition is reached through its owner.
pub(crate) fn is_member(facts: &Facts, def: &crate::facts::Def) -> bool {
    def.owner != NONE
        && !matches!(def.kind, Kind::Parameter | Kind::TypeParameter)
        && facts
            .def(def.owner)
            .is_some_and(|owner| owner.kind.is_type() || matches!(owner.kind, Kind::Impl | Kind::Variant))
}
