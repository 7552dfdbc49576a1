//! Splits a text for a shell into its commands and their words, as a shell would read it. Nothing is run.

/// How deep texts may stand in each other, as in `sh -c "…"` and `$(…)`.
const DEEPEST: usize = 4;

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Variable(String),
    /// A variable in capital or in small letters.
    Cased(String),
    /// One of several: `{a,b}`, or what stands for a variable that is not set.
    Choice(Vec<Word>),
    /// An unquoted `*`, `?` or `[`.
    Pattern(char),
    /// An argument of the script or function.
    Argument,
    /// What a command prints, or what else cannot be told.
    Anything,
}

pub(super) type Word = Vec<Piece>;

/// A command by its words.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Whether it stands in a text in quotes, which may be something else than commands.
    pub(super) is_quoted: bool,
}

/// The commands of a text, also of those inside quotes and substitutions.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    Lexer::read(text, 0, false, &mut commands);
    commands
}

/// The text of a word in which nothing is computed.
pub(super) fn literal(word: &Word) -> Option<String> {
    match word.as_slice() {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

struct Lexer<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    depth: usize,
    is_quoted: bool,
    /// How many `(` are open: a `)` without one ends a pattern of `case`.
    open: usize,
    word: Word,
    /// An empty text in quotes is a word too.
    is_word: bool,
    command: Vec<Word>,
    commands: &'a mut Vec<Command>,
}

impl Lexer<'_> {
    fn read(text: &str, depth: usize, is_quoted: bool, commands: &mut Vec<Command>) {
        if depth > DEEPEST {
            return;
        }
        let mut inner = Vec::new();
        let mut lexer = Lexer::new(text, depth, is_quoted, &mut inner);
        lexer.run();
        commands.append(&mut inner);
    }

    fn new<'a>(text: &'a str, depth: usize, is_quoted: bool, commands: &'a mut Vec<Command>) -> Lexer<'a> {
        let (letters, word, command) = (text.chars().peekable(), Vec::new(), Vec::new());
        Lexer { letters, depth, is_quoted, open: 0, word, is_word: false, command, commands }
    }

    /// The pieces of a text that is a part of a word.
    fn part(&mut self, text: &str) -> Word {
        if self.depth >= DEEPEST {
            return vec![Piece::Anything];
        }
        let mut inner = Vec::new();
        let mut lexer = Lexer::new(text, self.depth + 1, self.is_quoted, &mut inner);
        while let Some(letter) = lexer.letters.next() {
            match letter {
                letter if letter.is_whitespace() || ";|&()<>#".contains(letter) => lexer.push(letter),
                letter => lexer.letter(letter),
            }
        }
        let word = std::mem::take(&mut lexer.word);
        self.commands.append(&mut inner);
        word
    }

    fn run(&mut self) {
        while let Some(letter) = self.letters.next() {
            self.letter(letter);
        }
        self.end_command();
    }

    fn letter(&mut self, letter: char) {
        match letter {
            '\\' => match self.letters.next() {
                Some('\n') | None => {}
                Some(letter) => self.push(letter),
            },
            '\'' => {
                let text = self.until('\'');
                self.quoted(&text);
                self.push_text(&text);
            }
            '"' => self.double_quoted(),
            '$' => self.dollar(true),
            '`' => {
                let text = self.until('`');
                self.substituted(&text);
            }
            '#' if !self.is_word => while self.letters.next_if(|letter| *letter != '\n').is_some() {},
            '*' | '?' => self.push_piece(Piece::Pattern(letter)),
            '[' if self.is_word => self.push_piece(Piece::Pattern(letter)),
            '~' if !self.is_word => self.tilde(),
            '{' => self.brace(),
            '<' | '>' => {
                self.end_word();
                self.letters.next_if_eq(&'&');
            }
            '(' => {
                self.open += 1;
                self.end_command();
            }
            ')' if self.open == 0 => {
                self.end_word();
                self.command.clear();
            }
            ')' => {
                self.open -= 1;
                self.end_command();
            }
            '\n' | ';' | '&' | '|' => self.end_command(),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.push(letter),
        }
    }

    fn until(&mut self, end: char) -> String {
        let mut text = String::new();
        for letter in self.letters.by_ref() {
            if letter == end {
                break;
            }
            text.push(letter);
        }
        text
    }

    /// The text up to the bracket that belongs to the one that was just read; none where there is none.
    fn until_closed(&mut self, open: char, close: char) -> Option<String> {
        let mut text = String::new();
        let mut depth = 1;
        let mut letters = self.letters.clone();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => {
                    text.push(letter);
                    text.extend(letters.next());
                    continue;
                }
                letter if letter == open => depth += 1,
                letter if letter == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.letters = letters;
                return Some(text);
            }
            text.push(letter);
        }
        None
    }

    fn tilde(&mut self) {
        let is_own = self.letters.peek().is_none_or(|next| *next == '/' || !next.is_alphanumeric());
        self.push_piece(if is_own { Piece::Variable("HOME".to_owned()) } else { Piece::Anything });
    }

    /// `{a,b}` is a choice and `{1..9}` a row; anything else is itself.
    fn brace(&mut self) {
        let before = self.letters.clone();
        let inside = self.until_closed('{', '}').filter(|inside| !inside.contains(char::is_whitespace));
        match inside {
            Some(inside) if inside.contains(',') => {
                let words = split(&inside).iter().map(|part| self.part(part)).collect();
                self.push_piece(Piece::Choice(words));
            }
            Some(inside) if inside.contains("..") => self.push_piece(Piece::Pattern('*')),
            _ => {
                self.letters = before;
                self.push('{');
            }
        }
    }

    fn double_quoted(&mut self) {
        self.is_word = true;
        let mut whole = String::new();
        while let Some(letter) = self.letters.next() {
            match letter {
                '"' => break,
                '\\' => {
                    if let Some(letter) = self.letters.next().filter(|letter| *letter != '\n') {
                        whole.push(letter);
                        self.push(letter);
                    }
                }
                '$' => {
                    self.dollar(false);
                    match self.word.last() {
                        Some(Piece::Variable(name) | Piece::Cased(name)) => {
                            whole.push_str(&format!("${{{name}}}"));
                        }
                        Some(Piece::Argument) => whole.push_str("$@"),
                        // What was in it has been read; something computed stands there.
                        Some(Piece::Anything | Piece::Choice(_) | Piece::Pattern(_)) => whole.push('?'),
                        Some(Piece::Text(_)) | None => whole.push('$'),
                    }
                }
                '`' => {
                    let text = self.until('`');
                    self.substituted(&text);
                }
                letter => {
                    whole.push(letter);
                    self.push(letter);
                }
            }
        }
        self.quoted(&whole);
    }

    /// A text in quotes may be one for a shell.
    fn quoted(&mut self, text: &str) {
        self.is_word = true;
        if text.contains([' ', ';', '\n', '&', '|']) {
            Lexer::read(text, self.depth + 1, true, self.commands);
        }
    }

    fn substituted(&mut self, text: &str) {
        Lexer::read(text, self.depth + 1, self.is_quoted, self.commands);
        self.push_piece(Piece::Anything);
    }

    /// What follows a `$`.
    fn dollar(&mut self, may_quote: bool) {
        match self.letters.peek() {
            Some('(') => {
                self.letters.next();
                match self.until_closed('(', ')') {
                    Some(text) => self.substituted(&text),
                    None => self.push_piece(Piece::Anything),
                }
            }
            Some('{') => {
                self.letters.next();
                match self.until_closed('{', '}') {
                    Some(text) => self.parameter(&text),
                    None => self.push_piece(Piece::Anything),
                }
            }
            Some('\'') if may_quote => {
                self.letters.next();
                let text = self.escaped();
                self.quoted(&text);
                self.push_text(&text);
            }
            // A text that is translated.
            Some('"') if may_quote => {}
            Some(letter) if letter.is_ascii_digit() || "@*#?!-".contains(*letter) => {
                self.letters.next();
                self.push_piece(Piece::Argument);
            }
            Some(letter) if letter.is_ascii_alphabetic() || *letter == '_' => {
                let mut name = String::new();
                while let Some(letter) = self.letters.next_if(is_of_name) {
                    name.push(letter);
                }
                self.push_piece(Piece::Variable(name));
            }
            _ => self.push('$'),
        }
    }

    /// What stands in `${…}`.
    fn parameter(&mut self, text: &str) {
        let name: String = text.chars().take_while(is_of_name).collect();
        let rest = &text[name.len()..];
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            let is_indirect = text.starts_with('!') && text.len() > 1;
            let first_of_default = rest.find([':', '-', '=', '+']).filter(|_| !name.is_empty());
            match first_of_default {
                Some(at) => self.with_default(Piece::Argument, &rest[at..]),
                None => self.push_piece(if is_indirect { Piece::Anything } else { Piece::Argument }),
            }
            return;
        }
        match rest.chars().next() {
            None => self.push_piece(Piece::Variable(name)),
            Some(',' | '^') => self.push_piece(Piece::Cased(name)),
            Some(':' | '-' | '=' | '+' | '?') => self.with_default(Piece::Variable(name), rest),
            Some(_) => self.push_piece(Piece::Anything),
        }
    }

    /// `:-text` and the like: the variable, or the text.
    fn with_default(&mut self, piece: Piece, rest: &str) {
        let operator = rest.strip_prefix(':').unwrap_or(rest);
        match operator.chars().next() {
            Some('-' | '=' | '+') => {
                let text = self.part(&operator[1..]);
                self.push_piece(Piece::Choice(vec![text, vec![piece]]));
            }
            Some('?') => self.push_piece(piece),
            // A part of the value.
            _ => self.push_piece(Piece::Anything),
        }
    }

    /// The text of `$'…'`.
    fn escaped(&mut self) -> String {
        let mut text = String::new();
        while let Some(letter) = self.letters.next() {
            match letter {
                '\'' => break,
                '\\' => match self.letters.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('x') => text.extend(self.number(16, 2)),
                    Some('u') => text.extend(self.number(16, 4)),
                    Some('U') => text.extend(self.number(16, 8)),
                    Some(digit @ '0'..='7') => {
                        let first = digit.to_digit(8).unwrap_or(0);
                        let rest = self.digits(8, 2);
                        let value = rest.iter().fold(first, |value, digit| value * 8 + digit);
                        text.extend(char::from_u32(value & 0xff));
                    }
                    Some(other) => text.push(other),
                    None => break,
                },
                letter => text.push(letter),
            }
        }
        text
    }

    fn digits(&mut self, radix: u32, most: usize) -> Vec<u32> {
        let mut digits = Vec::new();
        while digits.len() < most {
            let Some(letter) = self.letters.next_if(|letter| letter.is_digit(radix)) else { break };
            digits.extend(letter.to_digit(radix));
        }
        digits
    }

    fn number(&mut self, radix: u32, most: usize) -> Option<char> {
        let digits = self.digits(radix, most);
        let value = digits.iter().fold(0u32, |value, digit| value.wrapping_mul(radix).wrapping_add(*digit));
        char::from_u32(value)
    }

    fn push(&mut self, letter: char) {
        self.is_word = true;
        match self.word.last_mut() {
            Some(Piece::Text(text)) => text.push(letter),
            _ => self.word.push(Piece::Text(letter.to_string())),
        }
    }

    fn push_text(&mut self, text: &str) {
        text.chars().for_each(|letter| self.push(letter));
    }

    fn push_piece(&mut self, piece: Piece) {
        self.is_word = true;
        self.word.push(piece);
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.is_word) {
            self.command.push(std::mem::take(&mut self.word));
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.command.is_empty() {
            let words = std::mem::take(&mut self.command);
            self.commands.push(Command { words, is_quoted: self.is_quoted });
        }
    }
}

fn is_of_name(letter: &char) -> bool {
    letter.is_ascii_alphanumeric() || *letter == '_'
}

/// The parts between commas that are in no other braces.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match (letter, parts.last_mut()) {
            (',', _) if depth == 0 => parts.push(String::new()),
            (letter, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    parts
}
