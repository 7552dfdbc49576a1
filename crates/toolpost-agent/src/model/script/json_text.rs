//! Answers of a script that are JSON with references in them: where each reference stands, and what is put there.

use super::template::{Piece, shown};
use serde_json::Value;

/// Where a reference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// Where a whole value stands.
    #[default]
    Value,
    /// Between the quotes of a string.
    String,
}

/// The place of each reference of a text that is an object or a list of JSON; none for another text.
pub(super) fn places(pieces: &[Piece]) -> Option<Vec<Place>> {
    let (mut probe, mut places) = (String::new(), Vec::new());
    let (mut place, mut is_escaped) = (Place::Value, false);
    for piece in pieces {
        match (piece, place) {
            (Piece::Text(plain), _) => {
                for letter in plain.chars() {
                    match (place, letter) {
                        (Place::String, _) if is_escaped => is_escaped = false,
                        (Place::String, '\\') => is_escaped = true,
                        (Place::String, '"') => place = Place::Value,
                        (Place::Value, '"') => place = Place::String,
                        _ => {}
                    }
                }
                probe.push_str(plain);
            }
            (Piece::Reference(_), Place::Value) => {
                probe.push_str("null");
                places.push(Place::Value);
            }
            (Piece::Reference(_), Place::String) => places.push(Place::String),
        }
    }
    let value: Value = serde_json::from_str(&probe).ok()?;
    (value.is_object() || value.is_array()).then_some(places)
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
