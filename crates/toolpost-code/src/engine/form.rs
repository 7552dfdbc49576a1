//! Code by its form, in all files of a language: only files that contain the pattern's names are read.

use std::collections::HashSet;

use super::Engine;
use crate::answers::pattern::{Match, Pattern};
use crate::facts::Name;
use crate::languages;
use crate::world::FileId;

/// A match in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The path of the file.
    pub path: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The text that matches.
    pub text: String,
    /// What the placeholders stand for.
    pub captures: Vec<(String, String)>,
}

impl Engine {
    /// The places where code has the form of a pattern, by path, at most so many. `example` is a file name of the
    /// language that the pattern is written in, such as `x.go`; `suits` says which paths are searched.
    ///
    /// # Errors
    ///
    /// No language has files of that name, or the pattern is not valid in it.
    pub fn find_form(
        &self,
        example: &str,
        pattern: &str,
        suits: impl Fn(&str) -> bool,
        most: usize,
    ) -> Result<Vec<Found>, String> {
        let number = languages::of_path(&self.source.languages, example)
            .ok_or_else(|| format!("no language of this build has files like `{example}`"))?;
        let language = self.source.languages[usize::from(number)];
        let pattern = Pattern::new(language, example, pattern)?;
        let paths: Vec<String> = {
            let state = self.read();
            let world = &state.world;
            let mut files: Option<HashSet<FileId>> = None;
            for word in pattern.words() {
                // Words of the language itself occur in no posting.
                let having: HashSet<FileId> =
                    world.postings(Name::of(word)).iter().map(|one| one.file()).collect();
                if having.is_empty() {
                    continue;
                }
                files = Some(files.map_or_else(|| having.clone(), |known| &known & &having));
            }
            let all = world.files().filter(|&file| world.language_of(file) == number);
            let all = all.filter(|file| files.as_ref().is_none_or(|files| files.contains(file)));
            let mut paths: Vec<String> =
                all.map(|file| world.path(file)).filter(|path| suits(path)).map(str::to_owned).collect();
            paths.sort();
            paths
        };
        let mut found = Vec::new();
        let mut parser = tree_sitter::Parser::new();
        for path in paths {
            let Ok(source) = self.source.files.read(&path) else { continue };
            if parser.set_language(&language.grammar(&path)).is_err() {
                continue;
            }
            let Some(tree) = languages::parse(&mut parser, &source) else {
                parser.reset();
                continue;
            };
            for one in pattern.matches(&source, &tree, most - found.len()) {
                found.push(shown(&path, &source, &one));
            }
            if found.len() >= most {
                break;
            }
        }
        Ok(found)
    }
}

fn shown(path: &str, source: &[u8], found: &Match) -> Found {
    let line = |at: usize| memchr::memchr_iter(b'\n', &source[..at.min(source.len())]).count() as u32 + 1;
    let text = |start: usize, end: usize| {
        String::from_utf8_lossy(source.get(start..end).unwrap_or(&[])).into_owned()
    };
    Found {
        path: path.to_owned(),
        lines: (line(found.start), line(found.end.saturating_sub(1).max(found.start))),
        text: text(found.start, found.end),
        captures: found
            .captures
            .iter()
            .map(|(name, start, end)| (name.clone(), text(*start, *end)))
            .collect(),
    }
}
