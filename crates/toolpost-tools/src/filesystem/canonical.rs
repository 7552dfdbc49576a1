//! Accents that are written in one character or in two (NFC and NFD): the same to a reader, and here the same text.
//!
//! What is written takes the form of the file. Look-alikes that Unicode does not call equal are not looked at here.

use std::collections::HashMap;
use unicode_normalization::{UnicodeNormalization as _, is_nfc, is_nfd};

/// The form in which a text has its accents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Composed,
    Decomposed,
    /// None that could be written otherwise, or both.
    Either,
}

impl Form {
    fn of(text: &str) -> Form {
        match (is_nfc(text), is_nfd(text)) {
            (true, false) => Form::Composed,
            (false, true) => Form::Decomposed,
            _ => Form::Either,
        }
    }

    fn write(self, text: &str) -> String {
        match self {
            Form::Composed => text.nfc().collect(),
            Form::Decomposed => text.nfd().collect(),
            Form::Either => text.to_owned(),
        }
    }
}

/// The two texts of an edit in the form of the file; `None` where the first one has that form.
pub(crate) fn in_form_of(file: &str, old: &str, new: &str) -> Option<(String, String)> {
    if old.is_ascii() || file.is_ascii() {
        return None;
    }
    let form = Form::of(file);
    // Of a file with both forms, each line has its own.
    let mut lines: HashMap<String, &str> = HashMap::new();
    for line in file.lines().filter(|line| !line.is_ascii()) {
        lines.entry(line.trim().nfc().collect()).or_insert_with(|| line.trim());
    }
    let adapted = |text: &str| -> String {
        let line = |line: &str| {
            if line.is_ascii() {
                return line.to_owned();
            }
            let bare = line.trim();
            let there = lines.get(&bare.nfc().collect::<String>());
            there.map_or_else(|| form.write(line), |there| line.replacen(bare, there, 1))
        };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    };
    let adapted_old = adapted(old);
    (adapted_old != old).then(|| (adapted_old, adapted(new)))
}

/// The other ways to write a text with accents.
pub(crate) fn others(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut all: Vec<String> = vec![text.nfc().collect(), text.nfd().collect()];
    all.dedup();
    all.retain(|other| other != text);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPOSED: &str = "caf\u{e9}";
    const DECOMPOSED: &str = "cafe\u{301}";

    #[test]
    fn a_text_takes_the_form_of_the_file() {
        let check = |file: &str, old: &str, expected: Option<&str>| {
            let found = in_form_of(file, old, COMPOSED).map(|(old, _)| old);
            assert_eq!(found.as_deref(), expected, "{old} in {file}");
        };
        check(DECOMPOSED, COMPOSED, Some(DECOMPOSED));
        check(COMPOSED, DECOMPOSED, Some(COMPOSED));
        check(COMPOSED, COMPOSED, None);
        check("cafe", COMPOSED, None);
        let both = format!("{COMPOSED}\n\t{DECOMPOSED}\nna\u{ef}ve\n");
        let old = format!("  {DECOMPOSED}\nnai\u{308}ve");
        check(&both, &old, Some(&format!("  {COMPOSED}\nna\u{ef}ve")));
        let (_, new) = in_form_of(DECOMPOSED, COMPOSED, "\u{e0} la").unwrap();
        assert_eq!(new, "a\u{300} la");
    }

    #[test]
    fn other_ways_to_write_it() {
        assert_eq!(others(COMPOSED), [DECOMPOSED]);
        assert_eq!(others(DECOMPOSED), [COMPOSED]);
        assert!(others("plain").is_empty() && others("日本").is_empty());
    }
}
