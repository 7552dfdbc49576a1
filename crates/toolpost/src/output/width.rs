//! How wide texts are on a terminal: cut to a width, and broken into lines at spaces.

/// Columns of the terminal that talk goes to; none where nobody knows.
pub(crate) fn known_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Columns that a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text, cut to so many columns.
pub(crate) fn fitted(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let is_within = |letter: &char| match left.checked_sub(columns_of(*letter)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    text.chars().take_while(is_within).chain(['…']).collect()
}

/// The text in lines that fit the terminal, those that go on indented.
pub(crate) fn for_terminal(text: &str, indent: usize) -> String {
    match known_columns() {
        Some(columns) => wrapped(text, columns, indent),
        None => text.to_owned(),
    }
}

/// The text in lines of so many columns, broken at spaces; lines that go on are indented. What has no space stays whole, so
/// that it can be copied.
fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let lines = text.split('\n').map(|line| wrapped_line(line, columns, indent));
    lines.collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str, columns: usize, indent: usize) -> String {
    let mut out = String::with_capacity(line.len());
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let needed = width(word.trim_end_matches(' '));
        if used > indent && needed > 0 && used + needed > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        }
        out.push_str(word);
        used += width(word);
    }
    out
}

/// Columns of one letter: none for marks that go onto the letter before, two for the letters of East Asia and for emoji.
pub(crate) fn columns_of(letter: char) -> usize {
    match letter as u32 {
        0x300..=0x36f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xe0100..=0xe01ef => 0,
        0x1100..=0x115f
        | 0x231a..=0x231b
        | 0x23e9..=0x23ec
        | 0x25fd..=0x25fe
        | 0x2614..=0x2615
        | 0x2648..=0x2653
        | 0x26aa..=0x26ab
        | 0x2705
        | 0x270a..=0x270b
        | 0x2728
        | 0x274c
        | 0x274e
        | 0x2753..=0x2755
        | 0x2795..=0x2797
        | 0x2b1b..=0x2b1c
        | 0x2b50
        | 0x2e80..=0x303e
        | 0x3041..=0x33ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f7e0..=0x1f7eb
        | 0x1f900..=0x1f9ff
        | 0x1fa70..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_widths() {
        let check = |text: &str, expected: usize| assert_eq!(width(text), expected, "{text}");
        check("plain ä…", 8);
        check("漢字", 4);
        check("✓ 😀", 4);
        check("e\u{301}", 1);
    }

    #[test]
    fn what_is_too_wide_is_cut() {
        let check = |text: &str, most: usize, expected: &str| assert_eq!(fitted(text, most), expected);
        check("abcdef", 6, "abcdef");
        check("abcdef", 5, "abcd…");
        check("漢字漢字", 8, "漢字漢字");
        check("漢字漢字", 6, "漢字…");
        check("漢字", 0, "…");
    }

    #[test]
    fn lines_break_at_spaces() {
        let check = |text: &str, columns: usize, indent: usize, expected: &str| {
            assert_eq!(wrapped(text, columns, indent), expected);
        };
        check("one two three", 20, 2, "one two three");
        check("one two three", 8, 2, "one two\n  three");
        check("  y  yes, once more", 12, 5, "  y  yes,\n     once\n     more");
        check("to /a/very/long/path.toml", 10, 2, "to\n  /a/very/long/path.toml");
        check("/a/very/long/path.toml", 10, 2, "/a/very/long/path.toml");
        check("a\nb c", 3, 1, "a\nb c");
        check("漢字 漢字", 8, 0, "漢字\n漢字");
    }
}
