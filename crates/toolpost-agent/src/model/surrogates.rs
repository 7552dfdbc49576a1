//! Characters that a provider cuts in two: half of a surrogate pair at the end of one string, the other half at the
//! beginning of the next.
//!
//! Each half alone makes its string invalid JSON. A half is held until the other one comes; one that stays alone is shown
//! as U+FFFD where another character follows it, and left out at the end of a string.

use serde_json::Value;

/// Joins halves over the values of one stream.
#[derive(Default)]
pub(super) struct Surrogates {
    high: Option<u16>,
}

impl Surrogates {
    /// The value of a text that is JSON but for its halves of surrogate pairs, or for bytes that are not UTF-8.
    pub(super) fn parse(&mut self, json: &[u8]) -> serde_json::Result<Value> {
        serde_json::from_slice(json).or_else(|error| {
            let text = String::from_utf8_lossy(json);
            let mended = self.mended(&text);
            serde_json::from_str(&mended).map_err(|_| error)
        })
    }

    fn mended(&mut self, text: &str) -> String {
        let mut mended = String::with_capacity(text.len());
        let mut rest = text;
        let mut is_string = false;
        // Whether nothing stands in the string yet.
        let mut is_begin = false;
        while let Some(letter) = rest.chars().next() {
            let (mut taken, mut was_begin) = (letter.len_utf8(), false);
            match letter {
                '"' => {
                    is_string = !is_string;
                    was_begin = is_string;
                    mended.push('"');
                }
                '\\' if is_string => match escaped(rest) {
                    Some(high @ 0xd800..=0xdbff) => {
                        taken = 6;
                        match escaped(&rest[6..]) {
                            Some(0xdc00..=0xdfff) => {
                                taken = 12;
                                mended.push_str(&rest[..12]);
                            }
                            _ if rest[6..].starts_with('"') => self.high = Some(high),
                            _ => mended.push('\u{fffd}'),
                        }
                    }
                    Some(low @ 0xdc00..=0xdfff) => {
                        taken = 6;
                        let high = self.high.take().filter(|_| is_begin);
                        let joined = high.and_then(|high| char::decode_utf16([high, low]).next()?.ok());
                        mended.push(joined.unwrap_or('\u{fffd}'));
                    }
                    _ => {
                        taken = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                        mended.push_str(&rest[..taken]);
                    }
                },
                other => mended.push(other),
            }
            is_begin = was_begin;
            rest = &rest[taken..];
        }
        mended
    }
}

/// The unit of UTF-16 that an escape at the beginning of a text stands for.
fn escaped(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of JSON, one after another, and the strings that they are.
    fn check(texts: &[&str], expected: &[&str]) {
        let mut surrogates = Surrogates::default();
        let found: Vec<Value> = texts.iter().map(|text| surrogates.parse(text.as_bytes()).unwrap()).collect();
        assert_eq!(found, expected, "{texts:?}");
    }

    #[test]
    fn halves_are_joined_over_strings() {
        check(&[r#""a\ud83d""#, r#""\ude00b""#], &["a", "😀b"]);
        check(&[r#""\ud83d\ude00""#], &["😀"]);
        check(&[r#""a\ud83d""#, r#""x""#, r#""\ude00b""#], &["a", "x", "😀b"]);
        check(&[r#""\ud83d x""#, r#""\ude00""#], &["\u{fffd} x", "\u{fffd}"]);
        check(&[r#""\ud83d""#, r#""x\ude00""#], &["", "x\u{fffd}"]);
        check(&[r#""\\ud83d \" \ud83d""#, r#""\ude00""#], &["\\ud83d \" ", "😀"]);
    }

    #[test]
    fn other_mistakes_stay_mistakes() {
        for text in ["", "{", r#""\ud83""#, r#""\uzzzz""#, r#""\ud83d"#, "\"\\"] {
            assert!(Surrogates::default().parse(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(Surrogates::default().parse(b"\"a\xffb\"").unwrap(), "a\u{fffd}b");
    }
}
