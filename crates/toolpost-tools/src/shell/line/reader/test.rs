//! `[[ … ]]`: its operands are words, and some of its operators evaluate them.

use super::{Read, Reader, Unclear, Word};

/// Operators that look at files and texts only.
const PLAIN: [&str; 22] = [
    "-z", "-n", "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-p", "-S", "-t", "-nt", "-ot", "-ef",
    "=", "==", "!=", "=~", "!",
];

const ARITHMETIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Reader<'_> {
    /// Reads what follows `[[`.
    pub(super) fn test(&mut self) -> Read<()> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.newlines()?;
            if words.last().is_some_and(|word| word.is_bare("=~")) && self.starts("(") {
                return Err(Unclear("a regular expression begins with a parenthesis"));
            }
            if self.take("&&") || self.take("||") || self.take("(") || self.take(")") {
                continue;
            }
            if (self.starts("<") || self.starts(">")) && !self.starts("<(") && !self.starts(">(") {
                self.at += 1;
                continue;
            }
            let word = self.word()?;
            if word.parts.is_empty() {
                return Err(Unclear("a test is not closed"));
            }
            if word.is_bare("]]") {
                break;
            }
            if self.starts("(") || word.literal().as_deref() == Some("]]") {
                return Err(Unclear("a test holds an odd word"));
            }
            words.push(word);
        }
        for (place, word) in words.iter().enumerate() {
            let Some(text) = word.literal() else { continue };
            if ARITHMETIC.contains(&text.as_str()) {
                let before = place.checked_sub(1).and_then(|before| words.get(before));
                let is_number = |word: Option<&Word>| word.is_some_and(Word::is_number);
                if !is_number(before) || !is_number(words.get(place + 1)) {
                    return Err(Unclear("a test evaluates a variable"));
                }
            } else if text.starts_with('-') && !PLAIN.contains(&text.as_str()) {
                return Err(Unclear("a test has an operator that may evaluate"));
            }
        }
        words.insert(0, Word::literal_of("[["));
        self.script.tests.push((self.script.commands.len(), words));
        Ok(())
    }
}
