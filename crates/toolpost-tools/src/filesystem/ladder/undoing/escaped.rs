//! Texts that were escaped as a whole: as a string of JSON with its quotes, several times over, or character by character.

use super::super::lines::Lines;
use super::Undone;

/// A string of JSON, with its quotes, up to three times.
pub(super) fn json_once(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    quoted(old, new, 1)
}

pub(super) fn json_twice(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    quoted(old, new, 2)
}

pub(super) fn json_thrice(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    quoted(old, new, 3)
}

fn quoted(old: &str, new: &str, times: usize) -> Option<Undone> {
    let plain = |text: &str| -> Option<String> {
        let mut text = text.trim().to_owned();
        for _ in 0..times {
            text = serde_json::from_str::<String>(text.trim()).ok()?;
        }
        Some(text)
    };
    let bare_old = plain(old)?;
    let is_quoted = new.trim().len() > 1 && new.trim().starts_with('"') && new.trim().ends_with('"');
    match plain(new) {
        Some(bare_new) => Some(Undone::plain(bare_old, bare_new)),
        None if is_quoted || new.contains('\\') => None,
        None => Some(Undone::plain(bare_old, new.to_owned())),
    }
}

/// Escapes within escapes, without the quotes around them.
pub(super) fn twice(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    escaped(old, new, 2)
}

pub(super) fn thrice(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    escaped(old, new, 3)
}

fn escaped(old: &str, new: &str, times: usize) -> Option<Undone> {
    let plain = |text: &str| -> Option<String> {
        let mut text = text.to_owned();
        for _ in 0..times {
            text = serde_json::from_str::<String>(&format!("\"{text}\"")).ok()?;
        }
        Some(text)
    };
    if !old.contains("\\\\") {
        return None;
    }
    let bare_new = if new.contains('\\') { plain(new)? } else { new.to_owned() };
    Some(Undone::plain(plain(old)?, bare_new))
}

/// Code points for signs of ASCII, such as `\u003c` for `<`, where the file has none.
pub(super) fn code_points(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    if !old.contains("\\u00") || file.text.contains("\\u00") {
        return None;
    }
    let (plain_old, _) = without_code_points(old);
    (plain_old != old).then(|| Undone::plain(plain_old, without_code_points(new).0))
}

/// The text with the signs of ASCII for their code points, and these signs.
pub(crate) fn without_code_points(text: &str) -> (String, Vec<char>) {
    let mut plain = String::with_capacity(text.len());
    let mut signs = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u00") {
        let sign = rest.get(at + 4..at + 6).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let sign = sign.filter(|sign| sign.is_ascii_punctuation()).map(char::from);
        plain.push_str(&rest[..at]);
        match sign {
            Some(sign) => plain.push(sign),
            None => plain.push_str("\\u00"),
        }
        signs.extend(sign);
        rest = &rest[at + if sign.is_some() { 6 } else { 4 }..];
    }
    (plain + rest, signs)
}

/// A backslash before signs that have a meaning in Markdown or in a shell, where the file has none before them.
pub(super) fn signs(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    const SIGNS: [char; 14] = ['<', '>', '_', '$', '*', '#', '[', ']', '(', ')', '&', '|', '~', '!'];
    let shown: Vec<String> = SIGNS
        .into_iter()
        .map(|sign| format!("\\{sign}"))
        .filter(|escaped| old.contains(escaped.as_str()) && !file.text.contains(escaped.as_str()))
        .collect();
    if shown.is_empty() {
        return None;
    }
    let plain = |text: &str| {
        shown.iter().fold(text.to_owned(), |text, escaped| text.replace(escaped.as_str(), &escaped[1..]))
    };
    Some(Undone::plain(plain(old), plain(new)))
}
