//! What running one command means: what must be allowed, and what else would run.

use super::reader::Dialect;
use super::word::Word;

/// One consequence of a command.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// The command itself must be allowed.
    Own,
    /// Another command runs.
    Run(Vec<Word>),
    /// A text is run by a shell; without a dialect, by the one that runs the command.
    Script(String, Option<Dialect>),
    /// The same command runs in another folder, which is named.
    Elsewhere(Vec<Word>, Word),
    /// A file is written.
    Write(Word),
    /// A repository is made: its folder `.git`, from where the command runs.
    NewRepository(String),
    /// A file of the repository that the command runs in is written, named from the top of its working tree.
    Repository(&'static str),
    /// Files that the command finds by itself are changed or removed.
    Change,
    /// It cannot be told what runs.
    Unclear(&'static str),
}

/// The options before the operands of a command, by a closed list.
#[derive(Default)]
pub(super) struct Options {
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value.
    pub(super) valued: &'static str,
    /// Long options without a value.
    pub(super) long: &'static [&'static str],
    /// Long options with a value, after `=` or as the next word.
    pub(super) long_valued: &'static [&'static str],
    /// Long options with a value after `=`, or none.
    pub(super) long_optional: &'static [&'static str],
}

impl Options {
    /// The first operand, and the values of the options; none where an option is not in the list or not known.
    pub(super) fn operands(&self, words: &[Word]) -> Option<(usize, Vec<(String, Word)>)> {
        let mut values = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let Some(text) = word.literal() else {
                // What is computed may be an option, or nothing at all.
                return (word.is_one() && !word.may_hide_an_option()).then_some((at, values));
            };
            at += 1;
            if text == "--" {
                return Some((at, values));
            }
            let mut take = |name: &str| {
                let value = words.get(at).filter(|value| value.is_one())?;
                values.push((name.to_owned(), value.clone()));
                at += 1;
                Some(())
            };
            if let Some(long) = text.strip_prefix("--") {
                match long.split_once('=') {
                    Some((name, value))
                        if self.long_valued.contains(&name) || self.long_optional.contains(&name) =>
                    {
                        values.push((name.to_owned(), Word::literal_of(value)));
                    }
                    None if self.long_valued.contains(&long) => take(long)?,
                    None if self.long_optional.contains(&long) => {
                        values.push((long.to_owned(), Word::unknown()));
                    }
                    None if self.long.contains(&long) => {}
                    _ => return None,
                }
                continue;
            }
            let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                return Some((at - 1, values));
            };
            for (place, letter) in letters.char_indices() {
                if self.flags.contains(letter) {
                    continue;
                }
                if !self.valued.contains(letter) {
                    return None;
                }
                let rest = &letters[place + letter.len_utf8()..];
                match rest.is_empty() {
                    true => take(&letter.to_string())?,
                    false => values.push((letter.to_string(), Word::literal_of(rest))),
                }
                break;
            }
        }
        Some((at, values))
    }
}
