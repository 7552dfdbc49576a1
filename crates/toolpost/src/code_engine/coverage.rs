//! What an answer may lack: files that are too large, and files that could not be parsed completely.

use super::{Asked, is_at_or_below};
use std::collections::HashSet;
use toolpost_code::facts::Name;
use toolpost_code::world::FileId;
use toolpost_core::code::Coverage;

/// Maximum number of files that are named.
const MOST_NAMED: usize = 5;
/// Maximum number of files whose text is looked at. Of others the identifiers are known, which are nearly all.
const MOST_READ: usize = 20;

/// Adds what is missing to what is known of an answer.
pub(super) fn add(coverage: &mut Coverage, lacks: Vec<String>, notes: Vec<String>) {
    coverage.complete &= lacks.is_empty();
    let mut all: Vec<String> = coverage.note.take().into_iter().collect();
    for note in lacks.into_iter().chain(notes) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    coverage.note = (!all.is_empty()).then(|| all.join("; "));
}

/// `3 files are too large: a, b, c`.
pub(super) fn files(what: &str, names: &[&str]) -> String {
    let noun = if names.len() == 1 { "file" } else { "files" };
    let named = names.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} {noun} {what}: {named}{more}", names.len())
}

impl Asked<'_, '_> {
    /// Says so where files at or below a path could not be parsed completely.
    pub(super) fn lacks_broken(&self, path: &str) {
        let broken = self.query.world.broken().into_iter().filter(|file| self.shows(*file, path));
        self.lacks_files(&broken.collect::<Vec<_>>());
    }

    /// Says so where files that contain one of some names could not be parsed completely.
    pub(super) fn lacks_broken_with(&self, names: &[String]) {
        let broken = self.query.world.broken().into_iter();
        let broken = broken.filter(|file| (self.inquiry.shows)(self.query.world.path(*file)));
        let postings = names.iter().flat_map(|name| self.query.world.postings(Name::of(name)));
        let naming: HashSet<FileId> = postings.map(|posting| posting.file()).collect();
        let mut read = 0;
        let contains = |file: &FileId| {
            if naming.contains(file) {
                return true;
            }
            read += 1;
            let text = || self.sources.text(self.query.world.path(*file));
            read <= MOST_READ && names.iter().any(|name| text().contains(name.as_str()))
        };
        self.lacks_files(&broken.filter(contains).collect::<Vec<_>>());
    }

    /// Says so where one of some names occurs in a file that is not read, at or below a path.
    pub(super) fn lacks_unread_with(&self, names: &[String], path: &str) {
        let mut found = self.engine.unread_with(names);
        found.retain(|name| is_at_or_below(name, path) && (self.inquiry.shows)(name));
        if !found.is_empty() {
            let names: Vec<&str> = found.iter().map(String::as_str).collect();
            let has = if names.len() == 1 { "has the name and is" } else { "have the name and are" };
            self.lack(files(&format!("{has} in a language that is not read"), &names));
        }
        self.lacks_cut();
    }

    /// Says so where files at or below a path are in programming languages that are not read.
    pub(super) fn lacks_unread(&self, path: &str) {
        let mut unread = self.engine.unread_code();
        unread.retain(|(name, _)| is_at_or_below(name, path) && (self.inquiry.shows)(name));
        if !unread.is_empty() {
            let names: Vec<&str> = unread.iter().map(|(name, _)| name.as_str()).collect();
            let counted = super::unread::counted(unread.iter().map(|(_, language)| *language));
            let are = if names.len() == 1 { "is" } else { "are" };
            self.lack(files(&format!("{are} in a language that is not read ({counted})"), &names));
        }
        self.lacks_cut();
    }

    fn lacks_cut(&self) {
        if self.engine.is_unread_cut() {
            self.lack("there are more files in other languages than are looked at".to_owned());
        }
    }

    /// Says so where ignore files keep code out of the index.
    pub(super) fn lacks_ignored(&self) {
        let count = self.ignored().len();
        if count > 0 {
            let noun = if count == 1 { "file or folder" } else { "files or folders" };
            self.lack(format!("{count} {noun} with code that git ignores: not searched"));
        }
    }

    /// What a definition is outside of that was not found.
    pub(super) fn searched(&self) -> &'static str {
        match self.ignored().is_empty() && self.sources.files().hidden().is_empty() {
            true => "the workspace",
            false => "the code that is searched",
        }
    }

    /// Files and folders with code that ignore files leave out and that may be shown.
    fn ignored(&self) -> Vec<String> {
        let mut ignored = self.sources.ignored();
        ignored.retain(|name| (self.inquiry.shows)(name));
        ignored
    }

    /// Says so where an identifier may come from what is not in the index: it is imported, by a path that has the name of
    /// something that is left out.
    pub(super) fn lacks_imported(&self, file: FileId, symbol: &str) {
        let ignored = self.ignored();
        let mut unread: Vec<String> = self.engine.unread_code().into_iter().map(|(name, _)| name).collect();
        unread.retain(|name| (self.inquiry.shows)(name));
        if self.may_import(file, symbol, &ignored) {
            self.lack("it may be in code that git ignores, which is not searched".to_owned());
        }
        if self.may_import(file, symbol, &unread) {
            self.lack("it may be in a file of a language that is not read".to_owned());
        }
    }

    /// Whether an identifier is imported by a path that has the name of one of some files or folders.
    fn may_import(&self, file: FileId, symbol: &str, left_out: &[String]) -> bool {
        let first = symbol.split(['.', ':']).next().unwrap_or(symbol);
        let is_from = |text: &str, part: &str| text.split(['.', '/', ':']).any(|one| one == part);
        !left_out.is_empty()
            && self.query.imports(file).iter().any(|import| {
                let binds = import.is_glob
                    || [&import.name, &import.alias].into_iter().flatten().any(|name| name == first)
                    || is_from(&import.module, first);
                binds
                    && left_out.iter().any(|name| {
                        let last = name.rsplit('/').next().unwrap_or(name);
                        let stem = last.split('.').next().unwrap_or(last);
                        is_from(&import.module, stem) || import.name.as_deref() == Some(stem)
                    })
            })
    }

    /// Says so where a file could not be parsed completely.
    pub(super) fn lacks_if_broken(&self, file: FileId) {
        if self.query.facts(file).has_errors {
            self.lacks_files(&[file]);
        }
    }

    fn lacks_files(&self, broken: &[FileId]) {
        if !broken.is_empty() {
            let named = |(index, file): (usize, &FileId)| {
                let path = self.query.world.path(*file);
                // Only what is named is looked up.
                let line = if index < MOST_NAMED { self.query.facts(*file).error_line } else { 0 };
                if line > 0 { format!("{path}:{line}") } else { path.to_owned() }
            };
            let names: Vec<String> = broken.iter().enumerate().map(named).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.lack(files("could not be parsed completely", &names));
        }
    }
}
