//! What an answer may lack: files that are too large, and files that could not be parsed completely.

use super::Asked;
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

    /// Says so where a file could not be parsed completely.
    pub(super) fn lacks_if_broken(&self, file: FileId) {
        if self.query.facts(file).has_errors {
            self.lacks_files(&[file]);
        }
    }

    fn lacks_files(&self, broken: &[FileId]) {
        if !broken.is_empty() {
            let names: Vec<&str> = broken.iter().map(|file| self.query.world.path(*file)).collect();
            self.lack(files("could not be parsed completely", &names));
        }
    }
}
