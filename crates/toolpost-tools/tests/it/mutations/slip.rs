//! The ways in which lines come to be asked for otherwise than they are.

use super::indent;

/// What becomes of lines that were meant to be something else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Slip {
    /// The lines are other ones.
    Dropped,
    Doubled,
    Swapped,
    Typo,
    Stale,
    /// The lines are the same ones, written otherwise.
    IndentedAll,
    IndentedOne,
    OutdentedAll,
    OtherBlanks,
    HalfTheWidth,
    TrailingBlanks,
    BlanksWithin,
    SmartCharacters,
    HardSpaces,
    Crlf,
    Numbered,
    Escaped,
    NoFinalNewline,
}

pub(super) const SLIPS: [Slip; 18] = [
    Slip::Dropped,
    Slip::Doubled,
    Slip::Swapped,
    Slip::Typo,
    Slip::Stale,
    Slip::IndentedAll,
    Slip::IndentedOne,
    Slip::OutdentedAll,
    Slip::OtherBlanks,
    Slip::HalfTheWidth,
    Slip::TrailingBlanks,
    Slip::BlanksWithin,
    Slip::SmartCharacters,
    Slip::HardSpaces,
    Slip::Crlf,
    Slip::Numbered,
    Slip::Escaped,
    Slip::NoFinalNewline,
];

pub(super) fn without_final_newline(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

impl Slip {
    /// Whether the lines are other ones than those of the file, not only written otherwise.
    pub(super) fn changes_lines(self) -> bool {
        matches!(self, Slip::Dropped | Slip::Doubled | Slip::Swapped | Slip::Typo | Slip::Stale)
    }

    /// Other lines first, then how each is written, last what is put around them.
    pub(super) fn order(self) -> usize {
        match self {
            Slip::Dropped | Slip::Doubled | Slip::Swapped => 0,
            Slip::Typo | Slip::Stale => 1,
            slip if slip.is_of_one_line() => 2,
            Slip::Numbered => 4,
            Slip::Escaped | Slip::Crlf | Slip::NoFinalNewline => 5,
            _ => 3,
        }
    }

    pub(super) fn is_of_one_line(self) -> bool {
        matches!(self, Slip::IndentedOne | Slip::TrailingBlanks | Slip::BlanksWithin | Slip::HardSpaces)
    }

    /// `at` and `seed` are chosen once, so that the old and the new text can be treated alike.
    pub(super) fn apply(self, text: &str, at: usize, seed: usize) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let at = at % lines.len().max(1);
        if lines.is_empty() {
            return String::new();
        }
        let filled = |line: &str| !line.trim().is_empty();
        match self {
            Slip::Dropped => drop(lines.remove(at)),
            Slip::Doubled => lines.insert(at, lines[at].clone()),
            Slip::Swapped => {
                let other = (at + 1) % lines.len();
                lines.swap(at, other);
            }
            Slip::Typo => {
                let characters: Vec<char> = lines[at].chars().collect();
                let place = seed % characters.len();
                let mut changed = characters.clone();
                match seed % 3 {
                    0 if characters[place] != '\n' => drop(changed.remove(place)),
                    1 if characters[0] != '\n' => changed.insert(place, characters[seed % place.max(1)]),
                    _ if characters[place] != '\n' => changed[place] = 'q',
                    _ => {}
                }
                lines[at] = changed.into_iter().collect();
            }
            Slip::Stale => {
                // Another number, another word, another operator, or one more digit: another meaning.
                let (from, to) =
                    [("1", "2"), ("if", "while"), ("<", "<="), ("0", "00"), ("(", "(!"), ("=", "==")]
                        [seed % 6];
                lines[at] = lines[at].replace(from, to);
            }
            Slip::IndentedAll => {
                let more = [" ", "  ", "    ", "\t"][seed % 4];
                lines.iter_mut().filter(|line| filled(line)).for_each(|line| line.insert_str(0, more));
            }
            Slip::IndentedOne => {
                let more = ["  ", "    ", "\t"][seed % 3];
                match seed % 2 {
                    0 => lines[at].insert_str(0, more),
                    _ => lines[at] = lines[at].trim_start_matches([' ', '\t']).to_owned(),
                }
            }
            Slip::OutdentedAll => {
                let least =
                    lines.iter().filter(|line| filled(line)).map(|line| indent(line)).min().unwrap_or(0);
                lines.iter_mut().filter(|line| filled(line)).for_each(|line| drop(line.drain(..least)));
            }
            Slip::OtherBlanks => {
                for line in &mut lines {
                    let rest = line.split_off(indent(line));
                    *line = match line.contains('\t') {
                        true => line.replace('\t', "    "),
                        false => line.replace("    ", "\t"),
                    } + &rest;
                }
            }
            Slip::HalfTheWidth => {
                // Where half of it is not enough to tell the depth, nothing is halved.
                if lines.iter().all(|line| !line.starts_with('\t') && indent(line).is_multiple_of(4)) {
                    for line in &mut lines {
                        let rest = line.split_off(indent(line));
                        *line = line[..line.len() / 2].to_owned() + &rest;
                    }
                }
            }
            Slip::TrailingBlanks => lines[at] = lines[at].replace('\n', [" \n", "\t\n", "   \n"][seed % 3]),
            Slip::BlanksWithin => {
                let (head, rest) = lines[at].split_at(indent(&lines[at]));
                lines[at] = head.to_owned() + &rest.replace(' ', "  ").replace("  \n", "\n");
            }
            Slip::SmartCharacters => {
                return text.replace('"', "“").replace('\'', "’").replace('-', "–");
            }
            Slip::HardSpaces => {
                let (head, rest) = lines[at].split_at(indent(&lines[at]));
                lines[at] = head.to_owned() + &rest.replace(' ', "\u{a0}");
            }
            Slip::Crlf => return text.replace('\n', "\r\n"),
            Slip::Numbered => {
                let sign = [": ", " | ", "\t", "→"][seed % 4];
                for (index, line) in lines.iter_mut().enumerate() {
                    line.insert_str(0, &format!("{}{sign}", seed / 4 + index));
                }
            }
            Slip::Escaped => return text.replace('\\', "\\\\").replace('"', "\\\"").replace('\'', "\\'"),
            Slip::NoFinalNewline => return without_final_newline(text).to_owned(),
        }
        lines.concat()
    }
}
