//! One word of a command line: what is known of it before it runs, and the text that rules are held against.

/// A word: literal text, and what is only known when the line runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    /// Where it begins in the text that was read.
    pub(super) start: usize,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Text that stands for itself.
    Text(String, Quoting),
    /// `~` or `~name` at the beginning.
    Home(String),
    /// A variable or a substitution, as it is shown.
    Value { shown: String, quoting: Quoting, is_number: bool },
    /// `*`, `?` or `[`, which name files, or `{`, which makes several words.
    Pattern(char),
}

/// Whether a part stands in quotes, so that it is one word whatever it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quoting {
    Quoted,
    Bare,
}

impl Word {
    /// A word that is known.
    pub(super) fn literal_of(text: &str) -> Word {
        Word { parts: vec![Part::Text(text.to_owned(), Quoting::Quoted)], start: 0 }
    }

    /// Some words that are only known when the line runs.
    pub(super) fn unknown() -> Word {
        let value = Part::Value { shown: "$…".to_owned(), quoting: Quoting::Bare, is_number: false };
        Word { parts: vec![value], start: 0 }
    }

    /// The word itself, if it is known.
    pub(super) fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(more, _) => text.push_str(more),
                Part::Home(_) | Part::Value { .. } | Part::Pattern(_) => return None,
            }
        }
        Some(text)
    }

    /// The known beginning of the word.
    pub(super) fn beginning(&self) -> String {
        let texts = self.parts.iter().map_while(|part| match part {
            Part::Text(text, _) => Some(text.as_str()),
            Part::Home(_) => Some("~"),
            Part::Value { .. } | Part::Pattern(_) => None,
        });
        texts.collect()
    }

    /// Whether it is this text, without any quotes.
    pub(super) fn is_bare(&self, wanted: &str) -> bool {
        matches!(self.parts.as_slice(), [Part::Text(text, Quoting::Bare)] if text == wanted)
    }

    /// Whether it is exactly one word, whatever its values are.
    pub(super) fn is_one(&self) -> bool {
        !self.parts.is_empty()
            && self.parts.iter().all(|part| match part {
                Part::Text(..) | Part::Home(_) => true,
                Part::Value { quoting, shown, is_number } => {
                    *is_number || (*quoting == Quoting::Quoted && !shown.contains('@'))
                }
                Part::Pattern(_) => false,
            })
    }

    /// Whether it is a number, whatever its values are.
    pub(super) fn is_number(&self) -> bool {
        !self.parts.is_empty()
            && self.parts.iter().all(|part| match part {
                Part::Text(text, _) => text.bytes().all(|byte| byte.is_ascii_digit()),
                Part::Value { is_number, .. } => *is_number,
                Part::Home(_) | Part::Pattern(_) => false,
            })
    }

    /// The word with some digit for each number that is only known when the line runs; none if more is unknown.
    pub(super) fn with_any_number(&self) -> Option<String> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text, _) => Some(text.as_str()),
            Part::Value { is_number: true, .. } => Some("1"),
            Part::Home(_) | Part::Value { .. } | Part::Pattern(_) => None,
        });
        texts.collect()
    }

    /// Whether it is not known and may turn out to be an option, or to bring one along.
    pub(super) fn may_hide_an_option(&self) -> bool {
        if self.literal().is_some() || self.is_number() {
            return false;
        }
        let beginning = self.beginning();
        let has_bare_value = self
            .parts
            .iter()
            .any(|part| matches!(part, Part::Value { quoting: Quoting::Bare, is_number: false, .. }));
        beginning.is_empty() || beginning.starts_with('-') || has_bare_value
    }

    /// The text that rules are held against: known words have quotes only where they need them, and of substitutions
    /// nothing is shown that a rule could take for a word.
    pub(super) fn shown(&self) -> String {
        if let Some(text) = self.literal() {
            return quote(&text);
        }
        let mut shown = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text, _) if text.is_empty() => {}
                Part::Text(text, _) => shown.push_str(&quote(text)),
                Part::Home(text) => shown.push_str(text),
                Part::Value { shown: value, quoting: Quoting::Quoted, .. } => {
                    shown.push('"');
                    shown.push_str(value);
                    shown.push('"');
                }
                Part::Value { shown: value, .. } => shown.push_str(value),
                Part::Pattern('{') => shown.push_str("{…"),
                Part::Pattern(letter) => shown.push(*letter),
            }
        }
        shown
    }
}

/// The words of one command as one line.
pub(super) fn line(words: &[Word]) -> String {
    let shown: Vec<String> = words.iter().map(Word::shown).collect();
    shown.join(" ")
}

/// The text in quotes, where it needs them.
fn quote(text: &str) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=@%+,{}~^".contains(letter);
    let is_home = text.starts_with('~');
    let has_braces = text != "{}" && text.contains('{') && !text.contains("@{");
    if matches!(text, "[" | "]") || !text.is_empty() && text.chars().all(is_safe) && !is_home && !has_braces {
        return text.to_owned();
    }
    let is_odd = |letter: char| letter.is_control() || (letter.is_whitespace() && letter != ' ');
    if text.contains(is_odd) {
        let mut quoted = String::from("$'");
        for letter in text.chars() {
            match letter {
                // As a number, so that every quote in the text of a rule opens or closes.
                '\'' => quoted.push_str("\\u0027"),
                '\\' => quoted.push_str("\\\\"),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                letter if is_odd(letter) => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
                letter => quoted.push(letter),
            }
        }
        quoted.push('\'');
        return quoted;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_word_is_quoted_where_a_rule_could_misread_it() {
        for (text, expected) in [
            ("log", "log"),
            ("--format=%h", "--format=%h"),
            ("a b", "'a b'"),
            ("", "''"),
            ("*.rs", "'*.rs'"),
            ("it's", r"'it'\''s'"),
            ("a\nb", r"$'a\nb'"),
            ("git\u{a0}log", r"$'git\u00a0log'"),
            ("~x", "'~x'"),
            ("$x", "'$x'"),
            ("{}", "{}"),
            ("stash@{0}", "stash@{0}"),
            ("{a,b}", "'{a,b}'"),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
