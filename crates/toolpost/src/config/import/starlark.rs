//! Calls such as `prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")`, read from Starlark.
//!
//! Only calls at the top with texts and lists as named arguments are understood; all else is reported with its line and
//! passed over.

use toolpost_core::text::Source;

/// A call with its named arguments.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) arguments: Vec<(String, Argument)>,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Text(String),
    List(Vec<Argument>),
}

impl Call {
    /// The argument of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// Every call, or the line and what is not understood there.
pub(super) fn calls(source: &Source<'_>) -> Vec<Result<Call, (usize, String)>> {
    let tokens = tokens(source);
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let mut calls = Vec::new();
    while let Some((line, token)) = reader.peek() {
        let start = reader.at;
        match reader.call() {
            Ok(call) => calls.push(Ok(call)),
            Err(reason) => {
                let what = match token {
                    Token::Word(word) => format!("`{word}`: {reason}"),
                    _ => reason,
                };
                calls.push(Err((*line, what)));
                reader.at = start;
                reader.pass_over();
            }
        }
    }
    calls
}

struct Reader<'a> {
    tokens: &'a [(usize, Token)],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a (usize, Token)> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        self.at += 1;
        token
    }

    fn take(&mut self, sign: char) -> bool {
        let is_there = matches!(self.tokens.get(self.at), Some((_, Token::Sign(found))) if *found == sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn call(&mut self) -> Result<Call, String> {
        let line = self.peek().map_or(0, |(line, _)| *line);
        let Some(Token::Word(name)) = self.next() else {
            return Err("a call such as `prefix_rule(…)` is missing".into());
        };
        if !self.take('(') {
            return Err("only calls are understood".into());
        }
        let mut arguments = Vec::new();
        while !self.take(')') {
            let Some(Token::Word(key)) = self.next() else {
                return Err("only named arguments are understood".into());
            };
            if !self.take('=') {
                return Err(format!("a `=` is missing after `{key}`"));
            }
            arguments.push((key, self.argument(0)?));
            if !self.take(',') && !matches!(self.peek(), Some((_, Token::Sign(')')))) {
                return Err("only texts and lists of them are understood".into());
            }
        }
        Ok(Call { line, name, arguments })
    }

    fn argument(&mut self, depth: usize) -> Result<Argument, String> {
        match self.next() {
            Some(Token::Text(text)) => Ok(Argument::Text(text)),
            Some(Token::Sign('[')) if depth < 4 => {
                let mut items = Vec::new();
                while !self.take(']') {
                    items.push(self.argument(depth + 1)?);
                    if !self.take(',') && !matches!(self.peek(), Some((_, Token::Sign(']')))) {
                        return Err("only texts and lists of them are understood".into());
                    }
                }
                Ok(Argument::List(items))
            }
            _ => Err("only texts and lists of them are understood".into()),
        }
    }

    /// Goes on behind the statement that begins here: its line, and brackets that it opens.
    fn pass_over(&mut self) {
        let Some((first, _)) = self.peek() else { return };
        let mut line = *first;
        let mut open = 0usize;
        while let Some((at, token)) = self.peek() {
            if open == 0 && *at > line {
                return;
            }
            match token {
                Token::Sign('(' | '[' | '{') => open += 1,
                Token::Sign(')' | ']' | '}') => open = open.saturating_sub(1),
                _ => {}
            }
            line = *at;
            self.at += 1;
        }
    }
}

fn tokens(source: &Source<'_>) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    let mut rest = source.text();
    let mut line = 1;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => {
                let (string, length) = string(rest, letter);
                tokens.push((line, Token::Text(string)));
                length
            }
            _ if letter.is_whitespace() => letter.len_utf8(),
            _ if letter.is_alphanumeric() || letter == '_' => {
                let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
                let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
                tokens.push((line, Token::Word(rest[..end].to_owned())));
                end
            }
            _ => {
                tokens.push((line, Token::Sign(letter)));
                letter.len_utf8()
            }
        };
        let (passed, behind) = rest.split_at(length);
        line += passed.bytes().filter(|byte| *byte == b'\n').count();
        rest = behind;
    }
    tokens
}

/// The string that begins here and how many bytes it takes; triple quotes run over lines.
fn string(rest: &str, quote: char) -> (String, usize) {
    let triple = quote.to_string().repeat(3);
    if let Some(inner) = rest.strip_prefix(triple.as_str()) {
        let end = inner.find(triple.as_str()).unwrap_or(inner.len());
        return (inner[..end].to_owned(), (end + 6).min(rest.len()));
    }
    let mut string = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => string.push('\n'),
                Some((_, 't')) => string.push('\t'),
                Some((_, other)) => string.push(other),
                None => break,
            },
            letter if letter == quote => return (string, at + 1),
            '\n' => return (string, at),
            letter => string.push(letter),
        }
    }
    (string, rest.len())
}
