//! Text whose `<`, `>`, `&` and quotes were written as in HTML: `&lt;` for `<`.

use super::lines::Lines;
use super::{Effort, Found, Step, Stop, bare};

const HALF_ESCAPED: &str = "newString has HTML entities and plain characters of the same kind";

/// An entity, and what it stands for.
const ENTITIES: [(&str, char); 18] = [
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&apos;", '\''),
    ("&#34;", '"'),
    ("&#38;", '&'),
    ("&#39;", '\''),
    ("&#60;", '<'),
    ("&#62;", '>'),
    ("&#x22;", '"'),
    ("&#x26;", '&'),
    ("&#x27;", '\''),
    ("&#x3c;", '<'),
    ("&#x3C;", '<'),
    ("&#x3e;", '>'),
    ("&#x3E;", '>'),
    ("&#039;", '\''),
];

/// Whether a text has an entity.
pub(super) fn has_entity(text: &str) -> bool {
    text.contains('&') && ENTITIES.iter().any(|(entity, _)| text.contains(entity))
}

/// The place of the old text with its entities as the characters they stand for.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    effort.spend((old.len() + new.len()) * ENTITIES.len())?;
    let kinds = kinds(old);
    // Written so throughout, or not at all.
    if kinds.is_empty() || kinds.iter().any(|plain| has_plain(old, *plain)) {
        return Ok(Vec::new());
    }
    let has_entity = has_entity(new);
    let is_mixed = has_entity && kinds.iter().any(|plain| has_plain(new, *plain));
    let bare_new = if has_entity { plain(new) } else { new.to_owned() };
    let found = bare(effort, lines, &plain(old), &bare_new, Step::Escapes)?;
    match found.first() {
        Some(first) if is_mixed => {
            Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why: HALF_ESCAPED })
        }
        _ => Ok(found),
    }
}

/// The characters that a text has as entities.
pub(crate) fn kinds(text: &str) -> Vec<char> {
    match text.contains('&') {
        true => {
            ENTITIES.iter().filter(|(entity, _)| text.contains(entity)).map(|(_, plain)| *plain).collect()
        }
        false => Vec::new(),
    }
}

/// Whether the character is there, and not as the beginning of an entity.
pub(crate) fn has_plain(text: &str, character: char) -> bool {
    match character {
        '&' => text
            .match_indices('&')
            .any(|(at, _)| !ENTITIES.iter().any(|(entity, _)| text[at..].starts_with(entity))),
        _ => text.contains(character),
    }
}

/// A text with the characters that its entities stand for.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, character) = ENTITIES
            .iter()
            .find(|(entity, _)| rest.starts_with(entity))
            .map_or((1, '&'), |(entity, character)| (entity.len(), *character));
        plain.push(character);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}
