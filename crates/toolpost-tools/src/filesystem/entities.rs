//! Entities of HTML and code points in a patch or in several edits: undone in the whole of them, or nowhere.

use super::ladder;

/// What the lines of files tell about texts that have entities.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entities {
    /// They are the files' own, or there are none.
    Meant,
    /// All texts have entities for plain characters.
    Throughout,
    /// The text of this index has a character as it is that others have as an entity.
    Mixed(usize),
}

/// Judges texts: by their old lines, each with the content of its file, and by all that would be written.
pub(crate) fn judged<'a>(mut olds: impl Iterator<Item = (&'a str, &'a str)>, all: &[&str]) -> Entities {
    let mut kinds: Vec<char> = all.iter().flat_map(|text| ladder::entity_kinds(text)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        return Entities::Meant;
    }
    let is_written_so = |(line, file): (&str, &str)| {
        let line = line.trim();
        !ladder::entity_kinds(line).is_empty()
            && !file.contains(line)
            && file.contains(&ladder::without_entities(line))
    };
    if !olds.any(is_written_so) {
        return Entities::Meant;
    }
    let is_mixed = |text: &&str| kinds.iter().any(|kind| ladder::has_plain(text, *kind));
    match all.iter().position(is_mixed) {
        Some(mixed) => Entities::Mixed(mixed),
        None => Entities::Throughout,
    }
}

/// The same of code points such as `\u003c`, where the file of a line has none.
pub(crate) fn judged_code_points<'a>(
    mut olds: impl Iterator<Item = (&'a str, &'a str)>,
    all: &[&str],
) -> Entities {
    let mut signs: Vec<char> = all.iter().flat_map(|text| ladder::without_code_points(text).1).collect();
    signs.sort_unstable();
    signs.dedup();
    signs.retain(|sign| *sign != '\\');
    let is_written_so = |(line, file): (&str, &str)| {
        let (plain, signs) = ladder::without_code_points(line.trim());
        !signs.is_empty() && !file.contains("\\u00") && file.contains(&plain)
    };
    if signs.is_empty() || !olds.any(is_written_so) {
        return Entities::Meant;
    }
    // A quote or a slash may be escaped in some places alone; the file's own lines tell the others.
    let is_mixed = |text: &&str| {
        let (_, own) = ladder::without_code_points(text);
        signs.iter().any(|sign| "<>&".contains(*sign) && text.contains(*sign) && !own.is_empty())
    };
    match all.iter().position(is_mixed) {
        Some(mixed) => Entities::Mixed(mixed),
        None => Entities::Throughout,
    }
}
