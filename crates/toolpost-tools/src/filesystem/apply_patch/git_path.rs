//! Names of files as diffs write them: with prefixes, time stamps and git's quotes.

/// One of the two names above a diff; `None` for `/dev/null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side(Option<String>);

impl Side {
    /// What follows `--- ` or `+++ `; `None` where it cannot be read.
    pub(super) fn parse(text: &str) -> Option<Side> {
        let text = text.trim_end_matches('\r');
        let name = match text.starts_with('"') {
            true => quoted(text)?.0,
            // A tab ends the name: diff puts the time behind it, git nothing.
            false => text.split('\t').next()?.trim_end().to_owned(),
        };
        match name.as_str() {
            "" => None,
            "/dev/null" => Some(Side(None)),
            _ => Some(Side(Some(name))),
        }
    }

    /// The name by itself, without a prefix of git.
    pub(super) fn bare(self) -> Option<String> {
        names(Side(None), self).1
    }
}

/// Both names without git's prefixes, where they have them.
pub(super) fn names(old: Side, new: Side) -> (Option<String>, Option<String>) {
    match (old.0, new.0) {
        (Some(old), Some(new)) => match (unprefixed(&old), unprefixed(&new)) {
            (Some((old_prefix, old)), Some((new_prefix, new))) if old_prefix != new_prefix => {
                (Some(old.to_owned()), Some(new.to_owned()))
            }
            _ => (Some(old), Some(new)),
        },
        (old, new) => {
            let bare = |name: String| unprefixed(&name).map(|(_, name)| name.to_owned()).unwrap_or(name);
            (old.map(bare), new.map(bare))
        }
    }
}

/// `a/`, `b/`, and the prefixes of `diff.mnemonicPrefix`.
fn unprefixed(name: &str) -> Option<(&str, &str)> {
    let (prefix, rest) = name.split_once('/')?;
    (["a", "b", "i", "w", "c", "o"].contains(&prefix) && !rest.is_empty()).then_some((prefix, rest))
}

/// The one name on a line `diff --git a/name b/name`; `None` where there are two, or it cannot be told.
pub(super) fn same_name(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    let halves = if text.starts_with('"') {
        let (old, rest) = quoted(text)?;
        (old, whole(rest.strip_prefix(' ')?)?)
    } else {
        // Names may have blanks in them: the two halves are equally long.
        let middle = text.len() / 2;
        if text.as_bytes().get(middle) != Some(&b' ') {
            return None;
        }
        (text[..middle].to_owned(), whole(&text[middle + 1..])?)
    };
    match (unprefixed(&halves.0), unprefixed(&halves.1)) {
        (Some((old_prefix, old)), Some((new_prefix, new))) if old_prefix != new_prefix => {
            (old == new).then(|| new.to_owned())
        }
        _ => (halves.0 == halves.1).then_some(halves.1),
    }
}

/// A name that reaches to the end of the line, perhaps in quotes.
pub(super) fn whole(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    match text.starts_with('"') {
        true => quoted(text).map(|(name, _)| name),
        false if text.is_empty() => None,
        false => Some(text.to_owned()),
    }
}

/// A name in git's quotes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut name = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'"' => break,
            b'\\' => {
                at += 1;
                match *bytes.get(at)? {
                    digit @ b'0'..=b'3' => {
                        let (high, low) = (*bytes.get(at + 1)?, *bytes.get(at + 2)?);
                        if !(b'0'..=b'7').contains(&high) || !(b'0'..=b'7').contains(&low) {
                            return None;
                        }
                        name.push((digit - b'0') << 6 | (high - b'0') << 3 | (low - b'0'));
                        at += 2;
                    }
                    b'a' => name.push(7),
                    b'b' => name.push(8),
                    b't' => name.push(b'\t'),
                    b'n' => name.push(b'\n'),
                    b'v' => name.push(11),
                    b'f' => name.push(12),
                    b'r' => name.push(b'\r'),
                    other @ (b'"' | b'\\') => name.push(other),
                    _ => return None,
                }
            }
            byte => name.push(byte),
        }
        at += 1;
    }
    Some((String::from_utf8(name).ok().filter(|name| !name.is_empty())?, text.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_on_the_line_of_git() {
        for (text, expected) in [
            ("a/x b/x", Some("x")),
            ("a/with blank b/with blank", Some("with blank")),
            ("a/b/x b/b/x", Some("b/x")),
            ("a/x b/y", None),
            ("x x", Some("x")),
            ("a/x a/x", Some("a/x")),
            ("\"a/\\303\\266\" \"b/\\303\\266\"", Some("ö")),
            ("a/ö b/ö", Some("ö")),
            ("\"a/\\3", None),
            ("", None),
        ] {
            assert_eq!(same_name(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn prefixes_are_taken_off_in_pairs() {
        for (old, new, expected) in [
            ("a/x", "b/x", (Some("x"), Some("x"))),
            ("i/x", "w/x", (Some("x"), Some("x"))),
            ("x", "x\t2024-01-01 00:00:00", (Some("x"), Some("x"))),
            ("a/x", "a/x", (Some("a/x"), Some("a/x"))),
            ("/dev/null", "b/x", (None, Some("x"))),
            ("a/x", "/dev/null", (Some("x"), None)),
            ("\"a/t\\tb\"", "\"b/t\\tb\"", (Some("t\tb"), Some("t\tb"))),
        ] {
            let found = names(Side::parse(old).unwrap(), Side::parse(new).unwrap());
            assert_eq!((found.0.as_deref(), found.1.as_deref()), expected, "{old} {new}");
        }
    }
}
