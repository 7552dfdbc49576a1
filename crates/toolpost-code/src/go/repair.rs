//! Helps the grammar. It wants a separator behind the last constant or variable of a group: `const ( A = 1; B )`. A
//! space before the parenthesis becomes the separator, so places stay true; where there is none, nothing is changed. And it
//! wants a type in `new(…)`, where the language takes any expression: another word of that length is a function like others.

/// The text with separators where the grammar needs them; none if there is nothing to change.
pub(super) fn repaired(source: &[u8]) -> Option<Vec<u8>> {
    let mut text: Option<Vec<u8>> = None;
    // For each open parenthesis, whether it is one of a group.
    let mut open: Vec<bool> = Vec::new();
    let (mut at, mut is_group_next, mut last) = (0, false, b';');
    while let Some(&byte) = source.get(at) {
        let rest = &source[at..];
        let length = match byte {
            b' ' | b'\t' | b'\r' => 1,
            b'\n' => {
                last = b';';
                1
            }
            b'/' if rest.get(1) == Some(&b'/') => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.get(1) == Some(&b'*') => {
                memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4)
            }
            b'`' => memchr::memchr(b'`', &rest[1..]).map_or(rest.len(), |end| end + 2),
            b'"' | b'\'' => quoted(rest),
            _ if is_word(byte) => {
                let length = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
                is_group_next = matches!(&rest[..length], b"const" | b"var");
                if &rest[..length] == b"new" && last != b'.' && has_expression(&rest[length..]) {
                    text.get_or_insert_with(|| source.to_vec())[at..at + length].copy_from_slice(b"neW");
                }
                last = b'a';
                at += length;
                continue;
            }
            b'(' => {
                open.push(is_group_next);
                1
            }
            b')' => {
                let is_group = open.pop().unwrap_or(false);
                let has_room = at > 0 && matches!(source[at - 1], b' ' | b'\t');
                if is_group && has_room && !matches!(last, b';' | b'(') {
                    text.get_or_insert_with(|| source.to_vec())[at - 1] = b';';
                }
                1
            }
            _ => 1,
        };
        if !byte.is_ascii_whitespace() && !rest.starts_with(b"//") && !rest.starts_with(b"/*") {
            (last, is_group_next) = (byte, false);
        }
        at += length;
    }
    text
}

/// Whether what stands in the parentheses that begin here cannot be a type.
fn has_expression(rest: &[u8]) -> bool {
    let Some((b'(', inside)) = rest.split_first() else { return false };
    let inside = inside.trim_ascii_start();
    let starts_type = [&b"func"[..], b"struct", b"interface", b"map[", b"chan ", b"chan(", b"[", b"<-"];
    let is_literal = inside.first().is_some_and(|byte| {
        byte.is_ascii_digit() || matches!(byte, b'"' | b'`' | b'\'' | b'&' | b'-' | b'+' | b'!' | b'^' | b'.')
    });
    if is_literal {
        return true;
    }
    let is_type_word = starts_type.iter().any(|word| {
        inside.strip_prefix(*word).is_some_and(|rest| {
            !is_word(word[word.len() - 1]) || rest.first().is_none_or(|next| !is_word(*next))
        })
    });
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = inside.get(at) {
        match byte {
            b'(' if depth == 0 && !is_type_word && at > 0 && is_word(inside[at - 1]) => return true,
            b'{' if depth == 0 && at > 0 => {
                let before = inside[..at].trim_ascii_end();
                return !before.ends_with(b"struct") && !before.ends_with(b"interface");
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => return false,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'+' | b'-' | b'/' | b'%' | b'|' | b'&' | b'!' | b'=' | b'<' | b'>' | b'"' | b'`' | b'\''
                if depth == 0 && !is_type_word =>
            {
                return true;
            }
            b'\n' if depth == 0 => return false,
            _ => {}
        }
        at += 1;
    }
    false
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The length of a literal in quotes, which ends with its line at the latest.
fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            _ if byte == rest[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}
