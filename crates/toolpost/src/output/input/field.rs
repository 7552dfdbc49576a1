//! Where a person writes, as it stands on the screen: the text in rows of a width, and the cursor in it. Pure.

use crate::output::width::{fitted, width};
use crate::output::{on_terminal, prose};

/// Maximum number of rows; of a longer text, those around the cursor are shown.
const MOST_ROWS: usize = 8;

/// Maximum number of letters of a line that was entered.
const LONGEST_LINE: usize = 1_000;

/// What is shown of what is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Field {
    /// What stands before the text.
    pub(crate) label: String,
    pub(crate) text: String,
    /// Where the cursor is, in bytes of the text.
    pub(crate) cursor: usize,
    /// What was entered before and waits, above the text.
    pub(crate) waiting: Vec<String>,
}

/// Rows of the screen, none wider than it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<String>,
    /// The row and the column of the cursor.
    pub(crate) cursor: (usize, usize),
}

impl Field {
    /// The field on a screen of so many columns.
    pub(crate) fn rows(&self, columns: usize) -> Rows {
        let columns = columns.max(8);
        let indent = width(&self.label);
        let mut rows = vec![self.label.clone()];
        let mut used = indent;
        let mut cursor = (0, indent);
        let next_row = |rows: &mut Vec<String>| {
            rows.push(" ".repeat(indent));
            indent
        };
        let mut before = None;
        let mut letters = self.text.char_indices().peekable();
        while let Some((place, letter)) = letters.next() {
            let (last, next) = (before.replace(letter), letters.peek().map(|(_, letter)| *letter));
            if letter == '\n' {
                if place == self.cursor {
                    cursor = (rows.len() - 1, used);
                }
                used = next_row(&mut rows);
                continue;
            }
            let shown = shown(last, letter, next);
            // The last column stays free, so that the cursor has a place behind the text.
            if used + width(&shown) > columns - 1 {
                used = next_row(&mut rows);
            }
            if place == self.cursor {
                cursor = (rows.len() - 1, used);
            }
            used += width(&shown);
            if let Some(row) = rows.last_mut() {
                row.push_str(&shown);
            }
        }
        if self.cursor >= self.text.len() {
            cursor = (rows.len() - 1, used);
        }
        let (rows, cursor) = around(rows, cursor, columns);
        let waiting = self.waiting.iter().map(|text| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            fitted(&format!("next: {}", prose(&line)), columns - 1)
        });
        let waiting: Vec<String> = waiting.collect();
        let above = waiting.len();
        Rows { rows: waiting.into_iter().chain(rows).collect(), cursor: (cursor.0 + above, cursor.1) }
    }
}

/// The rows around the cursor, and how many there are beside them.
fn around(rows: Vec<String>, cursor: (usize, usize), columns: usize) -> (Vec<String>, (usize, usize)) {
    let all = rows.len();
    if all <= MOST_ROWS {
        return (rows, cursor);
    }
    let first = cursor.0.saturating_sub(MOST_ROWS - 1).min(all - MOST_ROWS);
    let mut shown: Vec<String> = rows.into_iter().skip(first).take(MOST_ROWS).collect();
    shown.insert(0, fitted(&format!("  … {all} rows, {} to {}", first + 1, first + MOST_ROWS), columns - 1));
    (shown, (cursor.0 - first + 1, cursor.1))
}

/// A letter as it stands on the screen, between others.
fn shown(before: Option<char>, letter: char, after: Option<char>) -> String {
    match letter {
        '\t' => "  ".to_owned(),
        // The parts of an emoji stand side by side, so that the columns are the same on every terminal.
        '\u{200d}' | '\u{fe0f}' | '\u{fe0e}' => {
            let together: String = before.into_iter().chain([letter]).chain(after).collect();
            match on_terminal(&together) == together {
                true => String::new(),
                false => letter.escape_unicode().to_string(),
            }
        }
        letter => prose(letter.encode_utf8(&mut [0; 4])).into_owned(),
    }
}

/// A text that was entered, for the scroll-back: its first lines, each of bounded length, and how many more there are.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let (shown, more) = match lines.len() > most + 1 {
        true => (&lines[..most], format!("\n… {} more lines", lines.len() - most)),
        false => (&lines[..], String::new()),
    };
    let shown = shown.iter().map(|line| match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{} … {} more letters", &line[..end], line[end..].chars().count()),
        None => (*line).to_owned(),
    });
    format!("{}{more}", shown.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text has `|` where the cursor is.
    fn check(text: &str, columns: usize, expected: &[&str], cursor: (usize, usize)) {
        let place = text.find('|').unwrap();
        let field = Field {
            label: "> ".to_owned(),
            text: text.replacen('|', "", 1),
            cursor: place,
            ..Field::default()
        };
        let rows = field.rows(columns);
        assert_eq!(
            (rows.rows.iter().map(String::as_str).collect::<Vec<_>>(), rows.cursor),
            (expected.to_vec(), cursor)
        );
        assert!(rows.rows.iter().all(|row| width(row) < columns), "{rows:?}");
        assert!(rows.cursor.1 < columns, "{rows:?}");
    }

    #[test]
    fn a_text_stands_in_rows() {
        check("|", 10, &["> "], (0, 2));
        check("abc|", 10, &["> abc"], (0, 5));
        check("a|bc", 10, &["> abc"], (0, 3));
        check("abcdefghi|", 10, &["> abcdefg", "  hi"], (1, 4));
        check("abcdefg|hi", 10, &["> abcdefg", "  hi"], (1, 2));
        check("abcdefg|", 10, &["> abcdefg"], (0, 9));
        check("漢字漢字|", 10, &["> 漢字漢", "  字"], (1, 4));
        check("ab|\nc", 10, &["> ab", "  c"], (0, 4));
        check("ab\n|", 10, &["> ab", "  "], (1, 2));
        check("a\tb\x1b|", 12, &["> a  b␛"], (0, 7));
        check("👩\u{200d}👧❤\u{fe0f}|", 14, &["> 👩👧❤"], (0, 7));
        check("a\u{200d}b|", 14, &["> a\\u{200d}b"], (0, 12));
    }

    #[test]
    fn a_long_text_shows_the_rows_around_the_cursor() {
        let lines: Vec<String> = (1..=200).map(|number| format!("line {number}")).collect();
        let text = lines.join("\n");
        let mut field = Field { label: "> ".to_owned(), cursor: text.len(), text, ..Field::default() };
        let rows = field.rows(40);
        assert_eq!((rows.rows.len(), rows.cursor), (9, (8, 10)));
        assert_eq!(
            (rows.rows[0].as_str(), rows.rows[8].as_str()),
            ("  … 200 rows, 193 to 200", "  line 200")
        );
        field.cursor = 0;
        let rows = field.rows(40);
        assert_eq!((rows.rows[0].as_str(), rows.rows[1].as_str()), ("  … 200 rows, 1 to 8", "> line 1"));
        assert_eq!(rows.cursor, (1, 2));
    }

    #[test]
    fn what_waits_stands_above() {
        let waiting = vec!["and\nthen".to_owned()];
        let field = Field { label: "> ".to_owned(), waiting, ..Field::default() };
        assert_eq!(
            field.rows(40),
            Rows { rows: vec!["next: and then".to_owned(), "> ".to_owned()], cursor: (1, 2) }
        );
    }

    #[test]
    fn what_was_entered_is_shortened() {
        assert_eq!(shortened("a\nb\n", 5), "a\nb");
        let lines: String = (0..200).map(|number| format!("{number}\n")).collect();
        assert_eq!(shortened(&lines, 2), "0\n1\n… 198 more lines");
        let long = format!("{}\nb", "ä".repeat(3_000));
        assert_eq!(shortened(&long, 2), format!("{} … 2000 more letters\nb", "ä".repeat(1_000)));
    }
}
