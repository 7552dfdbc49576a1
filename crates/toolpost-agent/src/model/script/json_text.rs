//! Answers of a script that are JSON with references in them, or that hold such JSON between other words: where each reference
//! stands, and what is put there.

use super::template::{Piece, shown};
use serde_json::Value;

/// Maximum number of places of a text at which JSON is looked for.
const MOST_PLACES: usize = 50;

/// What stands for a reference while its place is looked for. No text of a script has it.
const MARK: char = '\u{fffc}';

/// Where a reference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where a whole value stands.
    Value,
    /// Between the quotes of a string.
    String,
}

/// The place of each reference of a text; none for those that do not stand in JSON.
pub(super) fn places(pieces: &[Piece]) -> Vec<Option<Place>> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Reference(_) => text.push(MARK),
        }
    }
    let count = pieces.iter().filter(|piece| matches!(piece, Piece::Reference(_))).count();
    let mut places = vec![None; count];
    if text.matches(MARK).count() != count {
        return places;
    }
    let start = text.len() - text.trim_start().len();
    let mut from = 0;
    for _ in 0..MOST_PLACES {
        let Some(at) = text[from..].find(['{', '[']).map(|at| from + at) else { break };
        let Some(Region { found, length }) = Region::at(&text[at..]) else {
            from = at + 1;
            continue;
        };
        let is_whole = at == start && text[at + length..].trim().is_empty();
        // `[{{name}}]` between other words may be no list at all.
        let is_plain_list = text[at..].starts_with('[') && found.contains(&Place::Value);
        if is_whole || !is_plain_list {
            let first = text[..at].matches(MARK).count();
            places.iter_mut().skip(first).zip(found).for_each(|(place, found)| *place = Some(found));
        }
        from = at + length;
    }
    places
}

/// A part of a text that is an object or a list of JSON.
struct Region {
    /// The places of its references.
    found: Vec<Place>,
    /// How many bytes of the text it has.
    length: usize,
}

impl Region {
    /// The region at the beginning of a text.
    fn at(text: &str) -> Option<Region> {
        let (mut probe, mut marks) = (String::new(), Vec::new());
        let (mut place, mut is_escaped) = (Place::Value, false);
        for letter in text.chars() {
            if letter == MARK {
                marks.push((probe.len(), place));
                probe.push_str(if place == Place::Value { "null" } else { "x" });
                continue;
            }
            match (place, letter) {
                (Place::String, _) if is_escaped => is_escaped = false,
                (Place::String, '\\') => is_escaped = true,
                (Place::String, '"') => place = Place::Value,
                (Place::Value, '"') => place = Place::String,
                _ => {}
            }
            probe.push(letter);
        }
        let mut values = serde_json::Deserializer::from_str(&probe).into_iter::<Value>();
        values.next()?.ok()?;
        let end = values.byte_offset();
        let within = marks.iter().take_while(|(at, _)| *at < end);
        let found: Vec<Place> = within.map(|(_, place)| *place).collect();
        let stood_in = |place: &Place| if *place == Place::Value { "null".len() } else { "x".len() };
        let length = found.iter().fold(end, |length, place| length - stood_in(place) + MARK.len_utf8());
        Some(Region { found, length })
    }
}

/// What stands for a value at its place. A text that is JSON already stays as it is where a value stands.
pub(super) fn filled(value: &Value, place: Place) -> String {
    match (place, value) {
        (Place::String, value) => {
            let text = Value::from(shown(value)).to_string();
            text[1..text.len() - 1].to_owned()
        }
        (Place::Value, Value::String(text)) if serde_json::from_str::<Value>(text).is_ok() => text.clone(),
        (Place::Value, value) => value.to_string(),
    }
}
