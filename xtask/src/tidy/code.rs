//! Rust source without its comments, literals and tests, so that a rule can look for words and mean code. What is
//! taken out becomes blanks: every position stays where it was. This is no parser: it knows where things end.

use std::ops::Range;

/// The source with comments, strings and characters blanked out.
pub(super) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut kept = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match blank_end(bytes, at) {
            Some(end) => end.min(bytes.len()),
            None => {
                at += 1;
                continue;
            }
        };
        blank(&mut kept, at..end);
        at = end;
    }
    text_of(kept)
}

/// The text with every item under `#[cfg(test)]` blanked out, comments and strings kept.
pub(super) fn without_tests(source: &str) -> String {
    let mut kept = source.as_bytes().to_vec();
    for range in test_items(&code_only(source)) {
        blank(&mut kept, range);
    }
    text_of(kept)
}

/// The code alone, without tests.
pub(super) fn code_without_tests(source: &str) -> String {
    code_only(&without_tests(source))
}

/// Where `word` stands by itself, not as part of a longer name.
pub(super) fn positions_of_word(code: &str, word: &str) -> Vec<usize> {
    let starts = code.match_indices(word).map(|(start, _)| start);
    starts
        .filter(|start| {
            let before = code[..*start].chars().next_back();
            let after = code[start + word.len()..].chars().next();
            !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name)
        })
        .collect()
}

/// The number of the line in which a position lies.
pub(super) fn line_at(text: &str, position: usize) -> usize {
    text.as_bytes()[..position].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The end of the comment or literal that begins here, if one does.
fn blank_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => Some(at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(comment_end(bytes, at)),
        [b'"', ..] => Some(string_end(bytes, at)),
        [b'\'', ..] => character_end(bytes, at),
        [b'r', b'"' | b'#', ..] => raw_string_end(bytes, at),
        _ => None,
    }
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// A raw string, unless the `r` ends a name or begins a raw name such as `r#type`.
fn raw_string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let is_prefix_of_literal = match &bytes[..start] {
        [.., before, b'b' | b'c'] => !is_byte_of_name(*before),
        [b'b' | b'c'] | [] => true,
        [.., before] => !is_byte_of_name(*before),
    };
    if !is_prefix_of_literal {
        return None;
    }
    let hashes = bytes[start + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let inside = &bytes[open + 1..];
    let length = inside.windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

/// A character, unless it is a lifetime.
fn character_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = std::str::from_utf8(&bytes[start + 1..]).ok()?;
    let first = rest.chars().next()?;
    if first == '\\' {
        let close = rest.get(2..)?.find('\'')?;
        return Some(start + 1 + 2 + close + 1);
    }
    let after = start + 1 + first.len_utf8();
    (bytes.get(after) == Some(&b'\'')).then_some(after + 1)
}

/// Each item that only tests see: from its `#[cfg(test)]` to its closing brace or semicolon.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items: Vec<Range<usize>> = Vec::new();
    for mark in ["#[cfg(test)]", "#[cfg(all(test,"] {
        items.extend(code.match_indices(mark).map(|(start, _)| start..item_end(code, start)));
    }
    items
}

fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut braces = 0_usize;
    for (offset, byte) in code.as_bytes()[start..].iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' => braces += 1,
            b'}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return start + offset + 1;
                }
            }
            b';' if depth == 0 && braces == 0 => return start + offset + 1,
            _ => {}
        }
    }
    code.len()
}

fn blank(bytes: &mut [u8], range: Range<usize>) {
    for byte in &mut bytes[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Whole characters were blanked, so the text is still text.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_byte_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blanks are squeezed, so that the expected code can be read.
    fn check(blanked: String, source: &str, expected: &str) {
        assert_eq!(blanked.len(), source.len());
        assert_eq!(blanked.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{source}");
    }

    fn check_code(source: &str, expected: &str) {
        check(code_only(source), source, expected);
    }

    #[test]
    fn comments_go() {
        check_code("a // b\nc /* d /* e */ f */ g", "a c g");
        check_code("/// a \"\nb", "b");
        check_code("a /* never closed", "a");
    }

    #[test]
    fn literals_go() {
        check_code(r#"a "b // c \" d" e"#, "a e");
        check_code(r##"a r"b\" c r#"d " e"# f"##, "a c f");
        check_code(r##"a br#"b"# c b"d" e"##, "a b c b e");
        check_code(r"a 'b' c '\'' d '\u{1f600}' e 'é' f", "a c d e f");
        check_code("\"never closed \\", "");
    }

    #[test]
    fn names_stay() {
        check_code("fn f<'a>(x: &'a str, r#type: u8) -> bar\"b\"", "fn f<'a>(x: &'a str, r#type: u8) -> bar");
        check_code("'outer: loop { break 'outer; }", "'outer: loop { break 'outer; }");
    }

    #[test]
    fn tests_go_and_what_follows_them_stays() {
        let source =
            "a;\n#[cfg(test)]\nmod tests;\nb;\n#[cfg(test)]\n#[path = \"x\"]\nmod m { fn f() { \"}\" } }\nc;";
        check(without_tests(source), source, "a; b; c;");
        let source = "#[cfg(all(test, unix))]\nfn f(x: [u8; 2]) { x }\nd";
        check(without_tests(source), source, "d");
    }

    #[test]
    fn words_stand_alone() {
        assert_eq!(positions_of_word("fs fsx xfs a::fs", "fs"), [0, 14]);
        assert_eq!(line_at("a\nb\nc", 4), 3);
    }
}
