//! Code by its structure: the pattern is read in each language, and only files that have all of its names are parsed.

use super::Asked;
use toolpost_code::answers::pattern::Pattern;
use toolpost_code::answers::place::column_of;
use toolpost_code::facts::Name;
use toolpost_code::files::Files;
use toolpost_code::language::Language;
use toolpost_code::languages;
use toolpost_code::world::FileId;
use toolpost_core::code::{Match, SymbolQuery};
use toolpost_core::{Code, ToolError};

/// Every match of a pattern, in the order of files.
pub(super) fn find(asked: &Asked<'_, '_>, query: &SymbolQuery) -> Result<Vec<Match>, ToolError> {
    let wanted = |language: &&'static dyn Language| {
        query.language.as_deref().is_none_or(|name| super::words::is_language(name, language.name()))
    };
    let (mut found, mut problems, mut read) = (Vec::new(), Vec::new(), 0);
    for language in languages::all().into_iter().filter(wanted) {
        // A language may have several grammars.
        for ending in language.extensions() {
            match Pattern::new(language, &format!("x.{ending}"), &query.text) {
                Ok(pattern) => {
                    read += 1;
                    in_files(asked, query, language, ending, &pattern, &mut found)?;
                }
                Err(problem) => problems.push(problem),
            }
        }
    }
    if read == 0 {
        problems.dedup();
        let why = problems.first().cloned().unwrap_or_else(|| "no such language is known".to_owned());
        return Err(ToolError::new(Code::ValidationError, format!("no language reads the pattern: {why}")));
    }
    found.sort_by(|a: &Match, b: &Match| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    found.truncate(query.limit);
    Ok(found)
}

fn in_files(
    asked: &Asked<'_, '_>,
    query: &SymbolQuery,
    language: &'static dyn Language,
    ending: &str,
    pattern: &Pattern,
    found: &mut Vec<Match>,
) -> Result<(), ToolError> {
    let mut parser = tree_sitter::Parser::new();
    let grammar = language.grammar(&format!("x.{ending}"));
    parser
        .set_language(&grammar)
        .map_err(|error| ToolError::execution(format!("the grammar of {ending} cannot be used: {error}")))?;
    let before = found.len();
    for file in candidates(asked, pattern) {
        asked.inquiry.ctx.checkpoint()?;
        let name = asked.query.world.path(file);
        let is_wanted = name.rsplit('.').next() == Some(ending)
            && asked.query.world.language(file).name() == language.name()
            && asked.shows(file, &query.path);
        if !is_wanted {
            continue;
        }
        let Ok(source) = asked.sources.files().read(name) else { continue };
        let Some(tree) = parser.parse(&source, None) else { continue };
        for one in pattern.matches(&source, &tree, query.limit) {
            found.push(converted(name, &source, &one));
        }
        if found.len() - before >= query.limit {
            break;
        }
    }
    Ok(())
}

/// The files that have every name of the pattern; all files where it has none.
fn candidates(asked: &Asked<'_, '_>, pattern: &Pattern) -> Vec<FileId> {
    let mut files: Option<Vec<FileId>> = None;
    for word in pattern.words() {
        let with: std::collections::HashSet<FileId> =
            asked.query.world.postings(Name::of(word)).iter().map(|posting| posting.file()).collect();
        // Keywords of the language are in no list of names.
        if with.is_empty() {
            continue;
        }
        files = Some(match files {
            None => with.into_iter().collect(),
            Some(files) => files.into_iter().filter(|file| with.contains(file)).collect(),
        });
    }
    let mut files = files.unwrap_or_else(|| asked.query.world.files().collect());
    files.sort_unstable();
    files
}

fn converted(name: &str, source: &[u8], found: &toolpost_code::answers::pattern::Match) -> Match {
    let position = |at: usize| {
        let before = &source[..at.min(source.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        let start = before.len() + 1 - byte;
        // A mark of the order of bytes is no part of the first line.
        let mark = if start == 0 && source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let text = source[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let byte = u32::try_from(byte.saturating_sub(mark)).unwrap_or(u32::MAX);
        let column = column_of(text.get(mark..).unwrap_or_default(), byte);
        (u32::try_from(line).unwrap_or(u32::MAX), column)
    };
    let (line, column) = position(found.start);
    let text = |start: usize, end: usize| {
        let text = String::from_utf8_lossy(source.get(start..end).unwrap_or_default());
        text.chars().take(200).collect::<String>()
    };
    Match {
        file: name.to_owned(),
        line,
        column,
        end_line: position(found.end.saturating_sub(1).max(found.start)).0,
        captures: found
            .captures
            .iter()
            .map(|(name, start, end)| (name.clone(), text(*start, *end)))
            .collect(),
    }
}
