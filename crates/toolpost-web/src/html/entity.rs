//! Character references: `&amp;`, `&#233;`, `&#x1F600;`.

use std::sync::LazyLock;

/// The names of the HTML standard with the characters that they stand for, sorted; some end without a semicolon.
static NAMED: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (name, codes) = line.split_once(' ')?;
        let letters = codes.split(' ').map(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?));
        Some((name, letters.collect::<Option<String>>()?))
    };
    include_str!("entities.txt").lines().filter_map(line).collect()
});

/// Maximum number of bytes of a name.
const LONGEST: usize = 32;

/// Where a reference stands: in a value, `&copy=1` is no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    Value,
}

/// Adds a text to another, its references replaced.
pub(super) fn decode_into(text: &str, place: Place, into: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        into.push_str(&rest[..at]);
        rest = &rest[at..];
        let used = reference(rest, place, into);
        if used == 0 {
            into.push('&');
            rest = &rest[1..];
        } else {
            rest = &rest[used..];
        }
    }
    into.push_str(rest);
}

/// Adds what the reference at the beginning stands for. Returns its length; 0 where there is none.
fn reference(text: &str, place: Place, into: &mut String) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        return numeric(text, into);
    }
    let end = bytes[1..].iter().take(LONGEST).position(|byte| !byte.is_ascii_alphanumeric());
    let end = 1 + end.unwrap_or(bytes.len().min(LONGEST + 1) - 1);
    let name = &text[1..end];
    if bytes.get(end) == Some(&b';')
        && let Some(letters) = named(&text[1..=end])
    {
        into.push_str(letters);
        return end + 1;
    }
    // Without a semicolon, the longest old name counts.
    for length in (2..=name.len().min(6)).rev() {
        let Some(letters) = named(&name[..length]) else { continue };
        let next = bytes.get(1 + length);
        if place == Place::Value && next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'=') {
            return 0;
        }
        into.push_str(letters);
        return 1 + length;
    }
    0
}

fn named(name: &str) -> Option<&'static str> {
    let found = NAMED.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    NAMED.get(found).map(|(_, letters)| letters.as_str())
}

fn numeric(text: &str, into: &mut String) -> usize {
    let bytes = text.as_bytes();
    let (start, radix) = if matches!(bytes.get(2), Some(b'x' | b'X')) { (3, 16) } else { (2, 10) };
    let digits = bytes[start.min(bytes.len())..].iter();
    let length = digits.take_while(|byte| char::from(**byte).is_digit(radix)).count();
    if length == 0 {
        return 0;
    }
    let digits = text[start..start + length].trim_start_matches('0');
    let code = if digits.len() > 8 { u32::MAX } else { u32::from_str_radix(digits, radix).unwrap_or(0) };
    into.push(match code {
        // Pages mean the letters of Windows.
        0x80..=0x9f => windows(code as u8),
        0 => '\u{fffd}',
        code => char::from_u32(code).unwrap_or('\u{fffd}'),
    });
    let end = start + length;
    if bytes.get(end) == Some(&b';') { end + 1 } else { end }
}

fn windows(code: u8) -> char {
    let byte = [code];
    let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
    text.chars().next().unwrap_or('\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, place: Place, expected: &str) {
        let mut decoded = String::new();
        decode_into(text, place, &mut decoded);
        assert_eq!(decoded, expected, "{text}");
    }

    #[test]
    fn references_are_replaced() {
        check("a &amp; b &lt;c&gt; &copy 1 &notin; &notit;", Place::Text, "a & b <c> © 1 ∉ ¬it;");
        check(
            "&#233;&#xE9;&#x1F600;&#150;&#0;&#xD800;&#99999999999;",
            Place::Text,
            "éé😀–\u{fffd}\u{fffd}\u{fffd}",
        );
        check("&#;&#x;&;&unknown; & &", Place::Text, "&#;&#x;&;&unknown; & &");
        check("?a=1&copy=2&lt=3&amp;b=1&para", Place::Value, "?a=1&copy=2&lt=3&b=1¶");
        check("&NotEqualTilde;&CounterClockwiseContourIntegral;", Place::Text, "≂̸∳");
    }
}
