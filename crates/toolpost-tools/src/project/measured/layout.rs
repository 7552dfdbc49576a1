//! Indentation, quotes, semicolons, the lengths of lines.

use super::lexer::Lexed;
use super::{Convention, most_frequent};
use std::collections::BTreeMap;

/// Lines that are longer are no measure.
const LONGEST: usize = 400;

/// How files are laid out.
#[derive(Default)]
pub(super) struct Layout {
    /// Files by their indentation: 0 for tabs, otherwise spaces.
    indentation: BTreeMap<usize, usize>,
    single: usize,
    double: usize,
    with_semicolon: usize,
    without_semicolon: usize,
    /// Lines by their length in characters.
    lengths: BTreeMap<usize, usize>,
    carriage_returns: usize,
    line_feeds: usize,
}

impl Layout {
    pub(super) fn add(&mut self, language: &str, text: &str, lexed: &Lexed) {
        if let Some(indentation) = indentation(&lexed.code) {
            *self.indentation.entry(indentation).or_default() += 1;
        }
        self.single += lexed.single;
        self.double += lexed.double;
        match text.contains("\r\n") {
            true => self.carriage_returns += 1,
            false => self.line_feeds += 1,
        }
        for line in text.lines() {
            let length = line.chars().count();
            if (1..=LONGEST).contains(&length) {
                *self.lengths.entry(length).or_default() += 1;
            }
        }
        if matches!(language, "TypeScript" | "JavaScript") {
            self.semicolons(&lexed.code);
        }
    }

    /// Counts only lines that are whole statements: they begin with a word that begins one, and nothing goes on after them.
    fn semicolons(&mut self, code: &str) {
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for pair in lines.windows(2) {
            let (line, next) = (pair[0], pair[1]);
            let begins = ["const ", "let ", "var ", "return ", "import ", "throw "];
            if !begins.iter().any(|word| line.starts_with(word)) {
                continue;
            }
            let goes_on = next.starts_with([
                '.', '?', ':', '+', '-', '*', '/', '&', '|', '(', '[', '=', ',', ')', '}', ']',
            ]) && !next.starts_with('}');
            match line.chars().next_back() {
                Some(';') => self.with_semicolon += 1,
                Some(last) if (last.is_alphanumeric() || matches!(last, ')' | ']' | '_')) && !goes_on => {
                    self.without_semicolon += 1;
                }
                _ => {}
            }
        }
    }

    pub(super) fn report(&self, language: &str, lengths: &[usize], conventions: &mut Vec<Convention>) {
        let files: usize = self.indentation.values().sum();
        if let Some((width, count)) = most_frequent(&self.indentation) {
            let value = match width {
                0 => "tabs".to_owned(),
                width => format!("{width} spaces"),
            };
            conventions.push(Convention::new("indentation", language, value, count, files, "files"));
        }
        let has_choice = matches!(language, "TypeScript" | "JavaScript" | "Python" | "Ruby" | "PHP" | "Dart");
        let texts = self.single + self.double;
        if has_choice && texts >= 10 {
            let (value, count) = match self.single > self.double {
                true => ("single", self.single),
                false => ("double", self.double),
            };
            conventions.push(Convention::new("quotes", language, value, count, texts, "literals"));
        }
        let statements = self.with_semicolon + self.without_semicolon;
        if statements >= 10 {
            let (value, count) = match self.with_semicolon >= self.without_semicolon {
                true => ("with", self.with_semicolon),
                false => ("without", self.without_semicolon),
            };
            conventions.push(Convention::new("semicolons", language, value, count, statements, "statements"));
        }
        self.length(language, lengths, conventions);
        if self.carriage_returns > 0 {
            let all = self.carriage_returns + self.line_feeds;
            let (value, count) = match self.carriage_returns > self.line_feeds {
                true => ("CRLF", self.carriage_returns),
                false => ("LF", self.line_feeds),
            };
            conventions.push(Convention::new("line ends", language, value, count, all, "files"));
        }
    }

    /// The length that 99 of 100 lines keep to; rounded up to one that people choose, or that is configured.
    fn length(&self, language: &str, lengths: &[usize], conventions: &mut Vec<Convention>) {
        let all: usize = self.lengths.values().sum();
        if all < 200 {
            return;
        }
        let up_to = |most: usize| self.lengths.range(..=most).map(|(_, count)| count).sum::<usize>();
        let mut usual = vec![72, 80, 88, 90, 100, 110, 120, 130, 140, 160];
        usual.extend_from_slice(lengths);
        usual.sort_unstable();
        let Some(limit) = usual.into_iter().find(|most| up_to(*most) * 1_000 >= all * 985) else { return };
        let value = format!("at most {limit}");
        conventions.push(Convention::new("line length", language, value, up_to(limit), all, "lines"));
    }
}

/// How a file is indented: 0 for tabs, otherwise the number of spaces that is added most often.
fn indentation(code: &str) -> Option<usize> {
    let (mut tabs, mut spaces) = (0, 0);
    let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
    let mut before = (0, true);
    for line in code.lines() {
        let content = line.trim_start();
        if content.is_empty() {
            continue;
        }
        let white = &line[..line.len() - content.len()];
        if white.starts_with('\t') {
            tabs += 1;
            continue;
        }
        let width = white.len();
        spaces += usize::from(width > 0);
        // Only after what opens a block: lines that are aligned with others say nothing.
        if width > before.0 && before.1 {
            *steps.entry(width - before.0).or_default() += 1;
        }
        before = (width, line.trim_end().ends_with(['{', ':', '(', '[', '>']) || is_word_of_block(content));
    }
    if tabs + spaces < 3 {
        return None;
    }
    if tabs > spaces {
        return Some(0);
    }
    most_frequent(&steps).map(|(width, _)| width).filter(|width| (1..=8).contains(width))
}

/// Whether a line opens a block by a word, as in Ruby and Lua.
fn is_word_of_block(line: &str) -> bool {
    let first =
        ["def ", "class ", "module ", "if ", "unless ", "while ", "begin", "function ", "local function "];
    first.iter().any(|word| line.starts_with(word)) || line.trim_end().ends_with(" do") || line.ends_with('|')
}
