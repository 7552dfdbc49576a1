//! Streamed text without secrets: what may be a part of one is held back until more has come.

use toolpost_core::host::Redactor;

/// What is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
}

/// The end of what was streamed.
#[derive(Debug, Default)]
pub(super) struct Held {
    kind: Option<Kind>,
    text: String,
}

impl Held {
    /// Takes a piece of this kind; returns what can be shown now, in order.
    pub(super) fn push(&mut self, redactor: &Redactor, kind: Kind, piece: &str) -> Vec<(Kind, String)> {
        let mut shown = Vec::new();
        if self.kind != Some(kind) {
            shown.extend(self.rest(redactor));
            self.kind = Some(kind);
        }
        self.text.push_str(piece);
        let rest = self.text.split_off(redactor.settled(&self.text));
        let text = std::mem::replace(&mut self.text, rest);
        if !text.is_empty() {
            shown.push((kind, redactor.redact(&text).into_owned()));
        }
        shown
    }

    /// What was held back, once nothing more comes.
    pub(super) fn rest(&mut self, redactor: &Redactor) -> Option<(Kind, String)> {
        let text = std::mem::take(&mut self.text);
        let kind = self.kind.take()?;
        (!text.is_empty()).then(|| (kind, redactor.redact(&text).into_owned()))
    }

    /// Forgets what was held back: it is void.
    pub(super) fn forget(&mut self) {
        *self = Held::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_border_of_pieces_shows_a_secret() {
        let redactor = Redactor::new([("KEY", "0123456789")]);
        let text = "the key is 0123456789, and 01234 is none; 0123456789";
        for size in 1..text.len() {
            let mut held = Held::default();
            let mut shown = String::new();
            let letters: Vec<char> = text.chars().collect();
            for piece in letters.chunks(size) {
                let piece: String = piece.iter().collect();
                for (kind, text) in held.push(&redactor, Kind::Text, &piece) {
                    assert_eq!(kind, Kind::Text);
                    shown.push_str(&text);
                }
            }
            shown.extend(held.rest(&redactor).map(|(_, text)| text));
            assert_eq!(shown, "the key is [redacted:KEY], and 01234 is none; [redacted:KEY]", "{size}");
        }
    }

    #[test]
    fn what_is_thought_does_not_become_text() {
        let redactor = Redactor::new([("KEY", "0123456789")]);
        let mut held = Held::default();
        assert_eq!(held.push(&redactor, Kind::Thinking, "a 012"), [(Kind::Thinking, "a ".to_owned())]);
        let shown = held.push(&redactor, Kind::Text, "b");
        assert_eq!(shown, [(Kind::Thinking, "012".to_owned()), (Kind::Text, "b".to_owned())]);
        assert_eq!(held.push(&redactor, Kind::Text, "0"), []);
        held.forget();
        assert_eq!(held.rest(&redactor), None);
    }
}
