//! Entities of HTML in a patch or in several edits: undone in the whole of them, or nowhere.

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
