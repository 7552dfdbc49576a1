//! What is said of code in languages that are not read.

use std::collections::BTreeMap;
use toolpost_code::engine::Engine;
use toolpost_code::languages;

/// Maximum number of languages that are named.
const MOST_NAMED: usize = 4;

/// `12 files in Vue, 3 in Java`: languages of files, counted, the most frequent first.
pub(super) fn counted(languages: impl Iterator<Item = &'static str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    languages.for_each(|language| *counts.entry(language).or_default() += 1);
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let more = counts.len().saturating_sub(MOST_NAMED);
    let mut shown: Vec<String> =
        counts.iter().take(MOST_NAMED).map(|(language, count)| format!("{language}: {count}")).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// The languages that are read, in words.
pub(super) fn read_languages() -> String {
    let names: Vec<&str> = languages::all().iter().map(|one| one.name()).collect();
    names.join(", ")
}

/// What is said first where most of the code at or below a path is in languages that are not read.
pub(super) fn first_line(engine: &Engine, path: &str) -> Option<String> {
    let is_inside = |name: &str| super::is_at_or_below(name, path);
    let unread = engine.unread_code();
    let unread: Vec<&'static str> =
        unread.iter().filter(|(name, _)| is_inside(name)).map(|(_, language)| *language).collect();
    if unread.is_empty() {
        return None;
    }
    let read = engine.ask(|query| {
        query.world.files().filter(|file| is_inside(query.world.path(*file))).take(unread.len()).count()
    });
    if read >= unread.len() {
        return None;
    }
    let what = if read == 0 { "the code here is" } else { "most of the code here is" };
    let rest = match read {
        0 => "search its text instead".to_owned(),
        1 => "the answer is about the other file alone; search the text of these".to_owned(),
        read => format!("the answer is about the other {read} files alone; search the text of these"),
    };
    Some(format!(
        "{what} in languages that are not read ({}); read are {}; {rest}",
        counted(unread.into_iter()),
        read_languages()
    ))
}
