//! What a text for a shell says about the files that it runs: folders it changes to, folders in which it looks for
//! programs, and names that it computes.
//!
//! The text is read as a shell would read it, but nothing is run, and no construct is followed that a hook does not
//! commonly have. `words.rs` finds the plain words of the same text.

use std::collections::BTreeMap;

/// How deep texts may stand in each other, as in `sh -c "…"` and `$(…)`.
const DEEPEST: usize = 4;

/// Maximum number of values that are put together for one computed name.
const MOST_VALUES: usize = 32;

/// Words that stand before a command.
const BEFORE: &[&str] = &[
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "exec", "command", "builtin",
    "env", "sudo", "nohup", "nice", "eval", "export", "local", "readonly", "declare",
];

/// Programs whose first argument is a file that they run.
const RUN_THEIR_ARGUMENT: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "source", ".", "python", "python2", "python3", "node",
    "deno", "bun", "ruby", "perl", "php", "lua",
];

/// What one text says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Words in which a quoted or computed part is known by now. They name programs, scripts or other files.
    pub(crate) names: Vec<String>,
    /// The first words of commands.
    pub(crate) programs: Vec<String>,
    /// Folders that it changes to.
    pub(crate) entered: Vec<String>,
    /// Folders that it puts into `PATH`.
    pub(crate) searched: Vec<String>,
    /// What it runs under a name that cannot be told.
    pub(crate) computed: Vec<Computed>,
}

/// A program or script whose name cannot be told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Computed {
    /// What is written before the first computed part.
    pub(crate) before: String,
    /// What is written after the last.
    pub(crate) after: String,
}

impl Script {
    pub(crate) fn read(text: &str) -> Script {
        let mut commands = Vec::new();
        Lexer::read(text, 0, &mut commands);
        let mut reader = Reader::default();
        for command in &commands {
            reader.assignments(command);
        }
        for command in &commands {
            reader.command(command);
        }
        reader.script
    }
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Variable(String),
    /// An argument of the script or function.
    Argument,
    /// What a command prints, or what a pattern matches.
    Anything,
}

type Word = Vec<Piece>;

struct Lexer<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    depth: usize,
    word: Word,
    /// An empty text in quotes is a word too.
    is_word: bool,
    command: Vec<Word>,
    commands: &'a mut Vec<Vec<Word>>,
}

impl Lexer<'_> {
    fn read(text: &str, depth: usize, commands: &mut Vec<Vec<Word>>) {
        if depth > DEEPEST {
            return;
        }
        let mut inner = Vec::new();
        let mut lexer = Lexer {
            letters: text.chars().peekable(),
            depth,
            word: Vec::new(),
            is_word: false,
            command: Vec::new(),
            commands: &mut inner,
        };
        lexer.run();
        commands.append(&mut inner);
    }

    fn run(&mut self) {
        while let Some(letter) = self.letters.next() {
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
                '$' => self.dollar(),
                '`' => {
                    let text = self.until('`');
                    self.substituted(&text);
                }
                '#' if !self.is_word => while self.letters.next_if(|letter| *letter != '\n').is_some() {},
                '*' | '?' => self.push_piece(Piece::Anything),
                '[' if self.is_word => self.push_piece(Piece::Anything),
                '~' if !self.is_word => self.push_piece(Piece::Variable("HOME".to_owned())),
                '<' | '>' => {
                    self.end_word();
                    self.letters.next_if_eq(&'&');
                }
                '\n' | ';' | '&' | '|' | '(' | ')' => self.end_command(),
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.push(letter),
            }
        }
        self.end_command();
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
                    self.dollar();
                    match self.word.last() {
                        Some(Piece::Variable(name)) => whole.push_str(&format!("${{{name}}}")),
                        Some(Piece::Argument) => whole.push_str("$@"),
                        // What was in it has been read; something computed stands there.
                        Some(Piece::Anything) => whole.push('?'),
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
            Lexer::read(text, self.depth + 1, self.commands);
        }
    }

    fn substituted(&mut self, text: &str) {
        Lexer::read(text, self.depth + 1, self.commands);
        self.push_piece(Piece::Anything);
    }

    /// What follows a `$`.
    fn dollar(&mut self) {
        match self.letters.peek() {
            Some('(') => {
                self.letters.next();
                let mut depth = 1;
                let mut text = String::new();
                for letter in self.letters.by_ref() {
                    match letter {
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    text.push(letter);
                }
                self.substituted(&text);
            }
            Some('{') => {
                self.letters.next();
                let text = self.until('}');
                let name: String = text
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                self.push_piece(match (name.len() == text.len(), is_argument(&text)) {
                    (_, true) => Piece::Argument,
                    (true, false) => Piece::Variable(name),
                    (false, false) => Piece::Anything,
                });
            }
            Some(letter) if letter.is_ascii_digit() || "@*#?!-".contains(*letter) => {
                self.letters.next();
                self.push_piece(Piece::Argument);
            }
            Some(letter) if letter.is_ascii_alphabetic() || *letter == '_' => {
                let mut name = String::new();
                let is_of_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
                while let Some(letter) = self.letters.next_if(is_of_name) {
                    name.push(letter);
                }
                self.push_piece(Piece::Variable(name));
            }
            _ => self.push('$'),
        }
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
            self.commands.push(std::mem::take(&mut self.command));
        }
    }
}

fn is_argument(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit() || "@*#?!-".contains(first))
}

#[derive(Default)]
struct Reader {
    script: Script,
    assigned: BTreeMap<String, Vec<Word>>,
}

impl Reader {
    /// Notes what variables are set to, wherever in the text.
    fn assignments(&mut self, command: &[Word]) {
        for word in command {
            if let Some((name, value)) = assignment(word) {
                if name == "PATH" {
                    self.search(&value);
                }
                self.assigned.entry(name).or_default().push(value);
            }
        }
        let text = |at: usize| command.get(at).and_then(literal);
        if let (Some("for"), Some(name), Some("in")) = (text(0).as_deref(), text(1), text(2).as_deref()) {
            self.assigned.entry(name).or_default().extend(command[3..].iter().cloned());
        }
    }

    /// The folders of a value of `PATH`. Of one that begins with something computed, the rest counts.
    fn search(&mut self, value: &Word) {
        let text: String = value
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                _ => "\0",
            })
            .collect();
        for folder in text.split(':') {
            let folder = folder.rsplit('\0').next().unwrap_or_default();
            let is_relative_rest = folder.len() < text.len() && text.contains(&format!("\0{folder}"));
            let folder = if is_relative_rest { folder.trim_start_matches('/') } else { folder };
            if !folder.is_empty() {
                self.script.searched.push(folder.to_owned());
            }
        }
    }

    fn command(&mut self, command: &[Word]) {
        let is_before = |word: &&Word| {
            assignment(word).is_some() || literal(word).is_some_and(|text| BEFORE.contains(&text.as_str()))
        };
        let words = &command[command.iter().take_while(is_before).count()..];
        let Some((program, arguments)) = words.split_first() else { return };
        self.names(command);
        for (flag, folder) in arguments.iter().zip(arguments.iter().skip(1)) {
            if literal(flag).is_some_and(|flag| matches!(flag.as_str(), "-C" | "--directory" | "--prefix")) {
                self.enter(folder);
            }
        }
        let Some(name) = literal(program) else {
            self.computed(program);
            return;
        };
        let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let is_option =
            |word: &&Word| matches!(word.first(), Some(Piece::Text(text)) if text.starts_with('-'));
        let first = arguments.iter().find(|word| !is_option(word));
        match first {
            Some(folder) if matches!(last.as_str(), "cd" | "pushd") => self.enter(folder),
            Some(script) if RUN_THEIR_ARGUMENT.contains(&last.as_str()) && literal(script).is_none() => {
                self.computed(script);
            }
            _ => {}
        }
        self.script.programs.push(name);
    }

    /// Words that are known as a whole only here.
    fn names(&mut self, command: &[Word]) {
        for word in command {
            let value = assignment(word).map(|(_, value)| value);
            let text = literal(value.as_ref().unwrap_or(word));
            let is_name = |text: &String| {
                text.contains(char::is_whitespace)
                    && text.contains('/')
                    && !text.contains([';', '&', '|', '\n'])
            };
            self.script.names.extend(text.filter(is_name));
        }
    }

    fn enter(&mut self, folder: &Word) {
        match self.values(folder) {
            Some(values) => self.script.entered.extend(values),
            // `cd "$ROOT/tools"`
            None => {
                let rest = ends(folder).1;
                let rest = rest.trim_start_matches('/');
                if !rest.is_empty() {
                    self.script.entered.push(rest.to_owned());
                }
            }
        }
    }

    fn computed(&mut self, word: &Word) {
        match self.values(word) {
            Some(values) => self.script.names.extend(values),
            None => {
                let (before, after) = ends(word);
                let is_from_outside = |piece: &Piece| match piece {
                    Piece::Variable(name) => !self.assigned.contains_key(name),
                    Piece::Argument => true,
                    Piece::Text(_) | Piece::Anything => false,
                };
                // `"$@"` and `$EDITOR` are the user's own.
                if word.len() > 1 || !word.iter().all(is_from_outside) {
                    self.script.computed.push(Computed { before, after });
                }
            }
        }
    }

    /// All that a word may be, if every variable in it is set to something that is written out.
    fn values(&self, word: &Word) -> Option<Vec<String>> {
        let mut values = vec![String::new()];
        for piece in word {
            let parts: Vec<String> = match piece {
                Piece::Text(text) => vec![text.clone()],
                Piece::Variable(name) => {
                    self.assigned.get(name)?.iter().map(literal).collect::<Option<_>>()?
                }
                Piece::Argument | Piece::Anything => return None,
            };
            values = values
                .iter()
                .flat_map(|value| parts.iter().map(move |part| format!("{value}{part}")))
                .collect();
            if values.len() > MOST_VALUES {
                return None;
            }
        }
        Some(values)
    }
}

/// The name and the value of `NAME=value`.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let Some(Piece::Text(first)) = word.first() else { return None };
    let (name, begin) = first.split_once('=')?;
    let name = name.trim_end_matches('+');
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let mut value: Word = Vec::new();
    if !begin.is_empty() {
        value.push(Piece::Text(begin.to_owned()));
    }
    value.extend_from_slice(&word[1..]);
    is_name.then(|| (name.to_owned(), value))
}

/// The text of a word in which nothing is computed.
fn literal(word: &Word) -> Option<String> {
    match word.as_slice() {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// What is written before the first and after the last computed part.
fn ends(word: &Word) -> (String, String) {
    let text = |piece: Option<&Piece>| match piece {
        Some(Piece::Text(text)) => text.clone(),
        _ => String::new(),
    };
    (text(word.first()), text(word.last()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let script = Script::read(text);
        let computed = script.computed.iter().map(|one| format!("{}…{}", one.before, one.after));
        let parts = [
            ("names", script.names.clone()),
            ("entered", script.entered.clone()),
            ("searched", script.searched.clone()),
            ("computed", computed.collect()),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(_, all)| !all.is_empty())
            .map(|(what, all)| format!("{what} {}", all.join(", ")))
            .collect();
        assert_eq!(parts.join("; "), expected, "{text:?}");
    }

    #[test]
    fn what_a_script_runs_is_found() {
        check("\"my tools/d.sh\" x", "names my tools/d.sh");
        check("my\\ tools/d.sh", "names my tools/d.sh");
        check("cd tools && ./f.sh", "entered tools");
        check("bash -c \"cd tools; ./k\"", "entered tools");
        check("(cd 'sub/deep'; ./z.sh)", "entered sub/deep");
        check("cd \"$ROOT/tools\"", "entered tools");
        check("make -C sub all", "entered sub");
        check("DIR=scripts\n$DIR/s7.sh", "names scripts/s7.sh");
        check("for s in a b; do sh scripts/$s.sh; done", "names scripts/a.sh, scripts/b.sh");
        check("for s in $X; do sh scripts/$s.sh; done", "computed scripts/….sh");
        check("PATH=node_modules/.bin:$PATH lint", "searched node_modules/.bin");
        check("export PATH=\"$ROOT/bin:$PATH\"", "searched bin");
        check("tools/?", "computed tools/…");
        check("$GIT_DIR/../tools/p", "computed …/../tools/p");
        check("s=$(dirname \"$0\")/$n; sh -e \"$s\" \"$@\"", "computed …");
        check("exec \"$@\"; $EDITOR x; [ -n \"$x\" ] && echo *", "");
        check("git diff --name-only | xargs prettier \"$f\" # cd no", "");
        check("f() { ./x \"$1\"; }; f a 2>&1 >/dev/null", "");
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        let mut state = 1u32;
        for _ in 0..5_000 {
            let text: String = (0..60)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    char::from(b"a/$(){}\"'`\\ ;=#\n*[:~"[(state >> 16) as usize % 20])
                })
                .collect();
            Script::read(&text);
        }
    }
}
