//! Known secrets never leave: results, progress and spilled output pass through here.

mod restore;

pub use restore::UnclearMark;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// How much is looked at in one go.
const PIECE: usize = 64 * 1024;

/// Replaces known secrets by `[redacted:NAME]`.
///
/// Made once from the secrets the host knows (API keys in its environment, tokens in its configuration), and taught one
/// more when the host reads it. Values of fewer than eight bytes are not taken: they would match by chance.
#[derive(Clone, Default)]
pub struct Redactor {
    first: Known,
    /// The secret that was learned later, by this redactor or one that it was made from.
    later: Arc<OnceLock<(String, String)>>,
    /// All of them, made when they are first looked for.
    all: OnceLock<Known>,
}

/// Secrets, and what finds them.
#[derive(Clone, Default)]
struct Known {
    secrets: Vec<(String, String)>,
    finder: Option<AhoCorasick>,
    replacements: Vec<String>,
    longest: usize,
}

impl Known {
    fn new(mut secrets: Vec<(String, String)>) -> Known {
        secrets.retain(|(_, value)| value.len() >= 8);
        secrets.sort();
        secrets.dedup_by(|a, b| a.1 == b.1);
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest);
        let finder = match secrets.is_empty() {
            true => None,
            false => builder.build(secrets.iter().map(|(_, value)| value)).ok(),
        };
        Known {
            finder,
            longest: secrets.iter().map(|(_, value)| value.len()).max().unwrap_or(0),
            replacements: secrets.iter().map(|(name, _)| format!("[redacted:{name}]")).collect(),
            secrets,
        }
    }
}

impl Redactor {
    /// A redactor for these names and values.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(secrets: impl IntoIterator<Item = (N, V)>) -> Redactor {
        let secrets = secrets.into_iter().flat_map(|(name, value)| forms(name.as_ref(), value.as_ref()));
        Redactor { first: Known::new(secrets.collect()), ..Redactor::default() }
    }

    /// A redactor for these names and values as well. What one of the two learns, the other knows too.
    #[must_use]
    pub fn and<N: AsRef<str>, V: AsRef<str>>(&self, more: impl IntoIterator<Item = (N, V)>) -> Redactor {
        let more = more.into_iter().flat_map(|(name, value)| forms(name.as_ref(), value.as_ref()));
        let first = Known::new(self.first.secrets.iter().cloned().chain(more).collect());
        Redactor { first, later: Arc::clone(&self.later), all: OnceLock::new() }
    }

    /// Makes a secret known that is read only now. There is room for one; whether it was taken is returned.
    pub fn learn(&self, name: &str, value: &str) -> bool {
        self.later.set((name.to_owned(), value.to_owned())).is_ok()
    }

    fn known(&self) -> &Known {
        match self.later.get() {
            None => &self.first,
            Some(later) => self.all.get_or_init(|| {
                let more = forms(&later.0, &later.1);
                Known::new(self.first.secrets.iter().cloned().chain(more).collect())
            }),
        }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.known().finder.is_none()
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known();
        match &known.finder {
            Some(finder) if finder.is_match(text) => {
                Cow::Owned(finder.replace_all(text, &known.replacements))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Where to cut a text that is to be cut at `end`: before a secret that lies across it, of which a part would show
    /// and not be known for one.
    pub fn border(&self, text: &str, end: usize) -> usize {
        let Some(finder) = &self.known().finder else { return end };
        let across = |found: &aho_corasick::Match| found.start() < end && end < found.end();
        finder.find_iter(text).find(across).map_or(end, |found| found.start())
    }

    /// How much of a text of which more is to come can be shown: all but an end that may be a part of a secret.
    pub fn settled(&self, text: &str) -> usize {
        let secrets = &self.known().secrets;
        let is_begun = |start: &usize| {
            let end = &text[*start..];
            secrets.iter().any(|(_, secret)| secret.len() > end.len() && secret.starts_with(end))
        };
        let begun = text.char_indices().map(|(start, _)| start).find(is_begun);
        self.border(text, begun.unwrap_or(text.len()))
    }

    /// Bytes of the longest secret.
    pub fn longest(&self) -> usize {
        self.known().longest
    }

    /// The value with its texts redacted, keys too.
    pub fn redact_json(&self, value: Value) -> Value {
        map_strings(value, &|text| self.redact(text).into_owned())
    }

    /// A writer that redacts what passes through it, across the borders of chunks.
    pub fn writer<W: Write>(&self, inner: W) -> RedactingWriter<&Redactor, W> {
        RedactingWriter::new(self, inner)
    }
}

/// A secret as it is, and as a string of JSON, TOML and the like has it, where that differs.
fn forms(name: &str, value: &str) -> impl Iterator<Item = (String, String)> + use<> {
    let value = value.trim();
    let quoted = Value::from(value).to_string();
    let escaped = quoted.get(1..quoted.len() - 1).filter(|escaped| *escaped != value).map(str::to_owned);
    let name = name.to_owned();
    [Some(value.to_owned()), escaped].into_iter().flatten().map(move |form| (name.clone(), form))
}

/// Applies `change` to every string of a value, keys included.
pub fn map_strings(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => items.into_iter().map(|item| map_strings(item, change)).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (change(&key), map_strings(value, change))).collect()
        }
        other => other,
    }
}

/// Shows how many secrets there are, and none of them.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.known().secrets.len())
    }
}

/// See [`Redactor::writer`]. [`RedactingWriter::finish`] writes what was held back.
pub struct RedactingWriter<R: Deref<Target = Redactor>, W: Write> {
    redactor: R,
    inner: W,
    pending: Vec<u8>,
}

impl<R: Deref<Target = Redactor>, W: Write> RedactingWriter<R, W> {
    /// A writer that redacts what passes through it.
    pub fn new(redactor: R, inner: W) -> RedactingWriter<R, W> {
        RedactingWriter { redactor, inner, pending: Vec::new() }
    }

    /// Writes what was held back and gives the inner writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.drain(0)?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// Passes on all but the last `keep` bytes. A secret that starts before them lies wholly in the buffer, because
    /// `keep` is one less than the longest.
    fn drain(&mut self, keep: usize) -> io::Result<()> {
        let known = self.redactor.known();
        let Some(finder) = &known.finder else {
            self.inner.write_all(&self.pending)?;
            self.pending.clear();
            return Ok(());
        };
        let border = self.pending.len().saturating_sub(keep);
        let mut done = 0;
        for found in finder.find_iter(&self.pending) {
            if found.start() >= border {
                break;
            }
            self.inner.write_all(&self.pending[done..found.start()])?;
            self.inner.write_all(known.replacements[found.pattern().as_usize()].as_bytes())?;
            done = found.end();
        }
        if done < border {
            self.inner.write_all(&self.pending[done..border])?;
            done = border;
        }
        self.pending.drain(..done);
        Ok(())
    }
}

impl<R: Deref<Target = Redactor>, W: Write> Write for RedactingWriter<R, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.redactor.is_empty() {
            self.inner.write_all(bytes)?;
            return Ok(bytes.len());
        }
        // Piece by piece, so that what is held back stays small however much is written at once.
        for piece in bytes.chunks(PIECE) {
            self.pending.extend_from_slice(piece);
            if self.pending.len() >= PIECE {
                self.drain(self.redactor.longest().saturating_sub(1))?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is held back may be the beginning of a secret: only `finish` may pass it on.
        self.drain(self.redactor.longest().saturating_sub(1))?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_become_a_secret_is_held_back() {
        let redactor = Redactor::new([("A", "0123456789"), ("B", "0123456789abc"), ("C", "89xxxxxx")]);
        for (text, expected) in [
            ("", 0),
            ("plain", 5),
            ("plain 0", 6),
            ("plain 012", 6),
            ("plain 0123456789", 6),
            ("plain 0123456789a", 6),
            ("plain 0123456789abc", 19),
            ("plain 0123456789 ", 17),
            ("é 8", 3),
            ("012345678", 0),
        ] {
            assert_eq!(redactor.settled(text), expected, "{text}");
        }
        assert_eq!(Redactor::default().settled("plain"), 5);
    }

    #[test]
    fn a_cut_does_not_fall_into_a_secret() {
        let redactor = Redactor::new([("KEY", "0123456789")]);
        for (end, expected) in [(2, 2), (3, 2), (11, 2), (12, 12), (13, 13)] {
            assert_eq!(redactor.border("ab0123456789cd", end), expected);
        }
        assert_eq!(Redactor::default().border("ab0123456789cd", 5), 5);
    }

    fn redactor() -> Redactor {
        Redactor::new([("KEY", "sk-12345678"), ("LONG", "sk-12345678-and-more"), ("SHORT", "abc")])
    }

    #[test]
    fn secrets_are_replaced_and_short_values_are_not_taken() {
        assert_eq!(redactor().redact("a sk-12345678 b abc"), "a [redacted:KEY] b abc");
        assert_eq!(redactor().redact("sk-12345678-and-more"), "[redacted:LONG]");
        assert!(matches!(redactor().redact("nothing"), Cow::Borrowed(_)));
        assert!(Redactor::new([("A", "short")]).is_empty());
        let redactor = Redactor::new([("WORD", "say \"friend\"\nand enter")]);
        let json = r#"{"word": "say \"friend\"\nand enter"}"#;
        assert_eq!(redactor.redact(json), r#"{"word": "[redacted:WORD]"}"#);
        assert!(
            redactor.learn("PATH", r"C:\secret") && redactor.redact(r"a C:\\secret") == "a [redacted:PATH]"
        );
    }

    #[test]
    fn a_secret_that_is_learned_is_known_to_all() {
        let first = redactor();
        let copy = first.clone();
        let derived = first.and([("MORE", "another-secret")]);
        let text = "sk-12345678 another-secret read-from-a-file";
        assert_eq!(derived.redact(text), "[redacted:KEY] [redacted:MORE] read-from-a-file");
        assert!(derived.learn("FILE", " read-from-a-file\n") && !first.learn("OTHER", "one-too-many"));
        assert_eq!(derived.redact(text), "[redacted:KEY] [redacted:MORE] [redacted:FILE]");
        for known in [&first, &copy] {
            assert_eq!(known.redact(text), "[redacted:KEY] another-secret [redacted:FILE]");
        }
        assert_eq!(Redactor::default().and([("A", "short")]).longest(), 0);
        let empty = Redactor::default();
        empty.learn("FILE", "read-from-a-file");
        assert!(!empty.is_empty() && empty.settled("x read-from") == 2);
    }

    #[test]
    fn secrets_are_found_across_chunks_of_any_size() {
        let text = "x sk-12345678-and-more y sk-12345678-and-les sk-1234567 sk-12345678".repeat(40);
        let expected = redactor().redact(&text).into_owned();
        for size in 1..60 {
            let redactor = redactor();
            let mut writer = redactor.writer(Vec::new());
            for chunk in text.as_bytes().chunks(size) {
                writer.write_all(chunk).unwrap();
                writer.flush().unwrap();
            }
            assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), expected, "chunks of {size}");
        }
    }
}
