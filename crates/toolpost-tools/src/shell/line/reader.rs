//! Reads a command line the way bash does, and gives up on whatever is not certainly read alike.
//!
//! This is not a whole shell grammar on purpose: a form that people rarely type, that shells read differently, or that
//! evaluates text at run time is an error here, and such a line needs the right to any command. Nothing is expanded.

mod compound;
mod document;
mod dollar;
mod simple;
mod test;

use super::word::{Part, Quoting, Word};
use document::Document;
pub(super) use dollar::NPROC;

/// How deep a line may nest.
const DEEPEST: usize = 40;

/// Why a line cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unclear(pub(super) &'static str);

pub(super) type Read<T> = Result<T, Unclear>;

/// Which shell reads the text.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Dialect {
    #[default]
    Bash,
    /// `sh`, which may be any shell: only what all of them read alike.
    Posix,
}

/// One command without any structure, in the order in which they stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
    pub(super) redirections: Vec<Redirection>,
    /// Whether it stands in a loop or a function, so that it may run more than once or later.
    pub(super) is_repeated: bool,
    /// The shells within the line in which it runs, the outermost first: subshells and substitutions.
    pub(super) scope: Vec<usize>,
}

/// `name=value`, or a name that a loop sets.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) values: Vec<Word>,
}

/// A file that a command reads or writes by `<` or `>`.
#[derive(Debug, Clone)]
pub(super) struct Redirection {
    pub(super) direction: Direction,
    pub(super) target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Direction {
    Read,
    Write,
    Both,
}

/// What a whole text is made of.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Simple>,
    /// The words of each `[[ … ]]`, and how many commands are before it.
    pub(super) tests: Vec<(usize, Vec<Word>)>,
    /// Variables whose value is evaluated as arithmetic.
    pub(super) evaluated: Vec<String>,
    /// Where `time` stands before a command.
    pub(super) timed: Vec<usize>,
    /// Whether it defines functions, which may give any name another meaning.
    pub(super) has_functions: bool,
}

pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    dialect: Dialect,
    depth: usize,
    substitutions: usize,
    loops: usize,
    /// Whether `time` at this place is a word of the shell.
    is_timed: bool,
    documents: Vec<Document>,
    /// The shells within the line in which the reader is.
    scope: Vec<usize>,
    /// How many there were.
    scopes: usize,
    script: Script,
}

/// Reads a whole text.
pub(super) fn read(text: &str, dialect: Dialect) -> Read<Script> {
    let is_odd = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if text.contains(is_odd) {
        return Err(Unclear("it holds a control character"));
    }
    let mut reader = Reader {
        text,
        at: 0,
        end: text.len(),
        dialect,
        depth: 0,
        substitutions: 0,
        loops: 0,
        is_timed: true,
        documents: Vec::new(),
        scope: Vec::new(),
        scopes: 0,
        script: Script::default(),
    };
    reader.list(&[])?;
    if reader.at < reader.end || !reader.documents.is_empty() {
        return Err(Unclear("it ends in the middle"));
    }
    Ok(reader.script)
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..self.end]
    }

    fn starts(&self, wanted: &str) -> bool {
        self.rest().starts_with(wanted)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let is_there = self.starts(wanted);
        if is_there {
            self.at += wanted.len();
        }
        is_there
    }

    fn bash_only(&self) -> Read<()> {
        match self.dialect {
            Dialect::Bash => Ok(()),
            Dialect::Posix => Err(Unclear("shells read it differently")),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            return Err(Unclear("it nests too deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads what a shell of its own runs.
    fn in_shell<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.scopes += 1;
        self.scope.push(self.scopes);
        let result = read(self);
        self.scope.pop();
        result
    }

    /// Skips blanks, continued lines and a comment.
    fn blanks(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    // In the middle of a word or an operator it would join what this reader keeps apart.
                    let before = self.text[..self.at].bytes().last();
                    if !matches!(before, Some(b' ' | b'\t' | b'\n')) || !self.documents.is_empty() {
                        return Err(Unclear("a line is continued in the middle of a word"));
                    }
                    self.at += 2;
                }
                Some(b'#') if self.is_at_word_start() => {
                    if self.substitutions > 0 {
                        return Err(Unclear("there is a comment in a substitution"));
                    }
                    self.at += self.rest().find('\n').unwrap_or(self.end - self.at);
                }
                _ => return Ok(()),
            }
        }
    }

    fn is_at_word_start(&self) -> bool {
        let before = self.text[..self.at].bytes().last();
        matches!(before, None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'))
    }

    /// Skips blanks and ends of lines; the here-documents of a line follow its end.
    fn newlines(&mut self) -> Read<()> {
        loop {
            self.blanks()?;
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn newline(&mut self) -> Read<()> {
        self.at += 1;
        let documents = std::mem::take(&mut self.documents);
        for document in &documents {
            self.document(document)?;
        }
        // Bash 5.2 loses what separates the commands that follow a here-document in a substitution.
        if !documents.is_empty() && self.substitutions > 0 {
            let rest = self.rest().trim_start_matches([' ', '\t', '\n']);
            if !rest.starts_with(')') {
                return Err(Unclear("commands follow a here-document in a substitution"));
            }
        }
        Ok(())
    }

    /// Reads one word; nothing of it is there at an operator.
    fn word(&mut self) -> Read<Word> {
        let mut word = Word { parts: Vec::new(), start: self.at };
        let mut braces = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.bash_only()?;
                    self.at += 2;
                    self.substitution()?;
                    word.parts.push(value("<(…)", Quoting::Bare));
                }
                b'<' | b'>' => break,
                b'\'' => {
                    self.at += 1;
                    let text = self.until('\'')?.to_owned();
                    word.parts.push(Part::Text(text, Quoting::Quoted));
                }
                b'"' => self.double_quoted(&mut word)?,
                b'`' => word.parts.push(self.backquoted(Quoting::Bare)?),
                b'$' => {
                    let part = self.dollar(Quoting::Bare)?;
                    word.parts.push(part);
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek() {
                        None | Some(b'\n') => {
                            return Err(Unclear("a line is continued in the middle of a word"));
                        }
                        Some(_) => {
                            let letter = self.letter();
                            word.parts.push(Part::Text(letter, Quoting::Quoted));
                        }
                    }
                }
                // The command `[`, which names no files.
                b'[' if word.parts.is_empty() && matches!(self.peek_at(1), Some(b' ' | b'\t')) => {
                    self.at += 1;
                    push_bare(&mut word, "[");
                }
                b'*' | b'?' | b'[' => {
                    self.at += 1;
                    word.parts.push(Part::Pattern(char::from(byte)));
                }
                b'{' => {
                    if let Some(literal) = literal_braces(self.rest(), &word) {
                        self.at += literal;
                        let text = self.text[self.at - literal..self.at].to_owned();
                        push_bare(&mut word, &text);
                    } else {
                        self.at += 1;
                        braces += 1;
                        word.parts.push(Part::Pattern('{'));
                    }
                }
                b'}' if braces > 0 => {
                    self.at += 1;
                    braces -= 1;
                    push_bare(&mut word, "}");
                }
                // Bash also expands it in arguments that look like assignments.
                b'~' if word.parts.is_empty() || matches!(self.text.as_bytes()[self.at - 1], b'=' | b':') => {
                    let name = |letter: char| !letter.is_ascii_alphanumeric() && !"~_-+.".contains(letter);
                    let length = self.rest().find(name).unwrap_or(self.end - self.at);
                    self.at += length;
                    word.parts.push(Part::Home(self.text[self.at - length..self.at].to_owned()));
                }
                _ => {
                    let letter = self.letter();
                    push_bare(&mut word, &letter);
                }
            }
        }
        Ok(word)
    }

    fn letter(&mut self) -> String {
        let letter: String = self.rest().chars().take(1).collect();
        self.at += letter.len();
        letter
    }

    /// The text up to a quote, which is taken too.
    fn until(&mut self, quote: char) -> Read<&str> {
        let from = self.at;
        let Some(length) = self.rest().find(quote) else { return Err(Unclear("a quote is not closed")) };
        self.at += length + 1;
        let text = &self.text[from..from + length];
        if text.contains('\n') && !self.documents.is_empty() {
            return Err(Unclear("a here-document begins in the middle of a quote"));
        }
        Ok(text)
    }

    fn double_quoted(&mut self, word: &mut Word) -> Read<()> {
        self.at += 1;
        word.parts.push(Part::Text(String::new(), Quoting::Quoted));
        loop {
            let text = match self.peek() {
                None => return Err(Unclear("a quote is not closed")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'$') => {
                    let part = self.dollar(Quoting::Quoted)?;
                    word.parts.push(part);
                    continue;
                }
                Some(b'`') => {
                    let part = self.backquoted(Quoting::Quoted)?;
                    word.parts.push(part);
                    continue;
                }
                Some(b'\n') if !self.documents.is_empty() => {
                    return Err(Unclear("a here-document begins in the middle of a quote"));
                }
                Some(b'\\') => match self.peek_at(1) {
                    Some(b'$' | b'"' | b'\\' | b'`') => {
                        self.at += 1;
                        self.letter()
                    }
                    Some(b'\n') => {
                        self.at += 2;
                        continue;
                    }
                    _ => self.letter(),
                },
                Some(_) => self.letter(),
            };
            match word.parts.last_mut() {
                Some(Part::Text(more, Quoting::Quoted)) => more.push_str(&text),
                _ => word.parts.push(Part::Text(text, Quoting::Quoted)),
            }
        }
    }

    /// A command in backquotes. With quotes or backslashes inside, shells differ in where it ends.
    fn backquoted(&mut self, quoting: Quoting) -> Read<Part> {
        self.at += 1;
        let length = self.rest().find('`').ok_or(Unclear("a backquote is not closed"))?;
        if self.rest()[..length].contains(['\\', '\'', '"', '#', '\n']) {
            return Err(Unclear("there are quotes in backquotes"));
        }
        let end = std::mem::replace(&mut self.end, self.at + length);
        let inside = self.deeper(|reader| {
            reader.substitutions += 1;
            let result = reader.in_shell(|reader| reader.list(&[]));
            reader.substitutions -= 1;
            result
        });
        let is_whole = self.at == self.end;
        self.end = end;
        inside?;
        if !is_whole || !self.documents.is_empty() {
            return Err(Unclear("what is in backquotes cannot be read"));
        }
        self.at += 1;
        Ok(value("$(…)", quoting))
    }

    /// The commands of a substitution, up to its parenthesis.
    fn substitution(&mut self) -> Read<()> {
        if !self.documents.is_empty() {
            return Err(Unclear("a here-document begins before a substitution"));
        }
        self.deeper(|reader| {
            reader.substitutions += 1;
            let stopped = reader.in_shell(|reader| reader.list(&[")"]));
            reader.substitutions -= 1;
            stopped
        })?;
        if !self.documents.is_empty() || !self.take(")") {
            return Err(Unclear("a substitution is not closed"));
        }
        Ok(())
    }
}

fn value(shown: &str, quoting: Quoting) -> Part {
    Part::Value { shown: shown.to_owned(), quoting, is_number: false }
}

fn push_bare(word: &mut Word, text: &str) {
    match word.parts.last_mut() {
        Some(Part::Text(more, Quoting::Bare)) => more.push_str(text),
        _ => word.parts.push(Part::Text(text.to_owned(), Quoting::Bare)),
    }
}

/// The length of braces that stand for themselves: `{}`, and the `{0}` of `stash@{0}`. Bash takes the first of `{},a}` for
/// the beginning of a list unless it begins the word, so no other brace may follow in the word.
fn literal_braces(rest: &str, word: &Word) -> Option<usize> {
    let ends = |letter: char| " \t\n;&|)".contains(letter);
    let has_more = |length: usize| {
        let after = rest[length..].split(ends).next().unwrap_or_default();
        after.contains(['{', '}', ',', '$', '`', '\'', '"', '\\', '(', '<', '>'])
    };
    if rest.starts_with("{}") {
        return (!has_more(2)).then_some(2);
    }
    let after_at = matches!(word.parts.last(), Some(Part::Text(text, _)) if text.ends_with('@'));
    let digits = rest[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    let is_whole = after_at && digits > 0 && rest[1 + digits..].starts_with('}');
    (is_whole && !has_more(digits + 2)).then_some(digits + 2)
}
