//! The lines that shells are given with `-c`, read into the words of their commands.
//!
//! A line is read only if each word that may name a program or a file is known before it runs. Of every other line the
//! error says what is not known.

use super::pieces::base_name;
use std::collections::BTreeMap;

/// Shells whose lines are read here.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "hush", "yash"];
/// Shells with another grammar: only their plainest lines are read.
const OTHER_SHELLS: &[&str] =
    &["fish", "csh", "tcsh", "pwsh", "powershell", "nu", "elvish", "xonsh", "osh", "ysh"];
/// Other programs that hand a line to a shell.
const LINE_RUNNERS: &[&str] = &["su", "runuser", "sg", "script", "flock", "nix-shell", "npx", "npm", "pnpm"];
/// Their flags for it, and those of shells.
const LINE_FLAGS: &[&str] = &["--command", "--call", "--run", "--session-command"];
/// Programs whose lines run on another machine or in a container.
const ELSEWHERE: &[&str] = &["docker", "podman", "nerdctl", "kubectl", "ssh"];
/// Commands that run none of their arguments.
const HARMLESS: &[&str] = &[
    "echo", "printf", "true", "false", ":", "test", "[", "[[", "exit", "return", "sleep", "kill", "wait",
    "umask", "ulimit", "mkdir", "chmod", "rm", "ls", "touch",
];
/// Commands of a shell that run or change what only the shell itself can tell.
const UNREADABLE: &[&str] = &["eval", "alias", "trap", "function", "select", "coproc", "fc", "shift"];
/// Programs that read from their input what they run.
const READS_NAMES: &[&str] = &["xargs", "parallel"];
/// Words before a command.
const KEYWORDS: &[&str] =
    &["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "command", "builtin"];
/// Variables that a shell or a package manager sets by itself.
const COMPUTED: &[&str] = &["OLDPWD", "RANDOM", "SECONDS", "LINENO", "REPLY", "OPTARG", "OPTIND", "IFS", "_"];

/// A line for a shell.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// `$0`, `$1` and so on.
    parameters: Vec<String>,
    is_other: bool,
    /// Whether `$NAME:h` is a part of the value, as in zsh.
    has_modifiers: bool,
}

/// A line with no parameters.
pub(super) fn plain(text: &str) -> Line {
    Line { text: text.to_owned(), parameters: Vec::new(), is_other: false, has_modifiers: false }
}

/// The lines that a command hands to shells.
pub(super) fn lines(words: &[String]) -> Vec<Line> {
    let mut lines = Vec::new();
    if words.first().is_some_and(|word| ELSEWHERE.contains(&base_name(word))) {
        return lines;
    }
    for (index, word) in words.iter().enumerate() {
        let name = base_name(word);
        let is_other = OTHER_SHELLS.contains(&name);
        let rest = &words[index + 1..];
        if is_shell(name) || is_other {
            let line = line_of_shell(rest, is_other);
            lines.extend(line.map(|line| Line { has_modifiers: name.starts_with("zsh"), ..line }));
        } else if LINE_RUNNERS.contains(&name) {
            let is_flag = |word: &str| LINE_FLAGS.contains(&word) || is_short_flag(word, 'c');
            let separate = rest.windows(2).filter(|pair| is_flag(&pair[0])).map(|pair| plain(&pair[1]));
            lines.extend(separate.chain(rest.iter().filter_map(|word| behind_line_flag(word))));
        } else if name == "env" {
            for (at, word) in rest.iter().enumerate() {
                let joined = word.strip_prefix("--split-string=").or_else(|| {
                    let behind = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
                    behind.split_once('S').map(|(_, text)| text)
                });
                let text = match joined {
                    Some("") => rest.get(at + 1).map(String::as_str),
                    joined => joined,
                };
                // `env` has escapes of its own.
                lines.extend(text.map(|text| Line { is_other: text.contains('\\'), ..plain(text) }));
            }
        }
    }
    lines
}

/// Whether this is the name of a shell, in any version: `bash-5.2` is `bash`.
pub(super) fn is_shell(name: &str) -> bool {
    let end = name.find(|c: char| c.is_ascii_digit() || "-._".contains(c)).unwrap_or(name.len());
    SHELLS.contains(&&name[..end])
}

fn line_of_shell(rest: &[String], is_other: bool) -> Option<Line> {
    let mut is_line = false;
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if let Some(line) = behind_line_flag(word) {
            return Some(Line { is_other, ..line });
        }
        let is_option = word.starts_with(['-', '+']);
        if is_line && !is_option {
            return Some(Line { parameters: rest[at + 1..].to_vec(), is_other, ..plain(word) });
        }
        if !is_option {
            return None;
        }
        is_line |= LINE_FLAGS.contains(&word.as_str()) || is_short_flag(word, 'c');
        let takes_value = !word.starts_with("--") && word.ends_with(['o', 'O']);
        at += if takes_value || matches!(word.as_str(), "--rcfile" | "--init-file") { 2 } else { 1 };
    }
    None
}

fn behind_line_flag(word: &str) -> Option<Line> {
    let (flag, text) = word.split_once('=')?;
    LINE_FLAGS.contains(&flag).then(|| plain(text))
}

/// Whether a word is a bundle of one-letter flags with this one among them.
fn is_short_flag(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.contains(letter) && letters.chars().all(|letter| letter.is_ascii_alphabetic())
    })
}

/// One word of a line.
#[derive(Default)]
struct Word {
    text: String,
    /// Why its value is not known before the line runs.
    unknown: Option<String>,
}

struct Reader<'a> {
    letters: Vec<char>,
    at: usize,
    line: &'a Line,
    variables: &'a BTreeMap<String, String>,
    /// Everything that may assign a variable.
    around: &'a str,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
    word: Option<Word>,
    /// The index of each command that reads the output of another.
    piped: Vec<usize>,
}

/// The commands of a line, each as its words. The error says which part is not known before the line runs.
pub(super) fn commands(
    line: &Line,
    variables: &BTreeMap<String, String>,
    around: &str,
) -> Result<Vec<Vec<String>>, String> {
    if line.is_other && line.text.contains(['$', '`', '(', '*', '?', '[', '{', '~', '\\', '%', '=']) {
        return Err("characters with a meaning of their own in a shell other than sh".to_owned());
    }
    let mut reader = Reader {
        letters: line.text.chars().collect(),
        at: 0,
        line,
        variables,
        around,
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
        piped: Vec::new(),
    };
    reader.read()?;
    for (index, command) in reader.commands.iter().enumerate() {
        judge(command, reader.piped.contains(&index))?;
    }
    let texts = |command: Vec<Word>| command.into_iter().map(|word| word.text).collect();
    Ok(reader.commands.into_iter().map(texts).collect())
}

/// Whether all is known that the command may run.
fn judge(command: &[Word], is_piped: bool) -> Result<(), String> {
    let is_prefix = |word: &&Word| {
        word.unknown.is_none() && (KEYWORDS.contains(&word.text.as_str()) || is_assignment(&word.text))
    };
    let own: Vec<&Word> = command.iter().skip_while(is_prefix).collect();
    let before = &command[..command.len() - own.len()];
    if before.iter().any(|word| word.text.starts_with("IFS=")) {
        return Err("an assignment of `IFS`".to_owned());
    }
    let Some(program) = own.first() else { return Ok(()) };
    if program.unknown.is_none() && HARMLESS.contains(&program.text.as_str()) {
        return Ok(());
    }
    if let Some(what) = command.iter().find_map(|word| word.unknown.as_ref()) {
        return Err(what.clone());
    }
    let texts = || own.iter().map(|word| word.text.as_str());
    let name = texts().find(|word| !word.starts_with('-')).map_or("", base_name);
    let reads_names = texts().map(base_name).find(|name| READS_NAMES.contains(name));
    if let Some(name) = reads_names.or(UNREADABLE.contains(&name).then_some(name)) {
        return Err(format!("`{name}`"));
    }
    if name == "set" && texts().skip(1).any(|word| word == "--" || word == "-") {
        return Err("`set --`".to_owned());
    }
    if name == "find" && texts().any(|word| word.starts_with("-exec") || word.starts_with("-ok")) {
        return Err("`find -exec`".to_owned());
    }
    let last_operand = texts().rfind(|word| !word.starts_with(['-', '+']));
    if is_piped && last_operand.is_some_and(|word| is_shell(base_name(word))) {
        return Err("a shell that reads its commands from a pipe".to_owned());
    }
    Ok(())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

pub(super) fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_letter)
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn follows(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, letter)| self.peek(ahead) == Some(letter))
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn unknown(&mut self, what: &str) {
        self.word().unknown.get_or_insert_with(|| what.to_owned());
    }

    fn read(&mut self) -> Result<(), String> {
        while let Some(letter) = self.peek(0) {
            if self.word.is_none() && self.follows("\"$@\"") && self.peek(4).is_none_or(ends_word) {
                let given = self.line.parameters.iter().skip(1);
                self.words.extend(given.map(|text| Word { text: text.clone(), unknown: None }));
                self.at += 4;
                continue;
            }
            match letter {
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '$' => self.dollar(Quoting::None)?,
                '`' => self.backquote()?,
                '\\' => {
                    if self.peek(1) != Some('\n') {
                        let escaped = self.peek(1);
                        self.word().text.extend(escaped);
                    }
                    self.at += 2;
                }
                '#' if self.word.is_none() => {
                    while self.peek(0).is_some_and(|letter| letter != '\n') {
                        self.at += 1;
                    }
                }
                '\n' | ';' | '&' | '|' | '(' | ')' => self.operator(letter)?,
                '<' | '>' => self.redirection(letter)?,
                letter if letter.is_whitespace() => {
                    self.end_word();
                    self.at += 1;
                }
                letter => self.plain(letter),
            }
        }
        self.end_command();
        Ok(())
    }

    fn plain(&mut self, letter: char) {
        let is_alone = self.word.is_none() && self.peek(1).is_none_or(ends_word);
        let is_group = is_alone
            || self.follows("{}")
            || (self.word.is_none() && self.follows("[[") && self.peek(2).is_none_or(ends_word));
        match letter {
            '*' | '?' => self.unknown("a pattern that the shell completes"),
            '[' | '{' if !is_group => self.unknown("a pattern that the shell completes"),
            '~' if self.peek(1).is_some_and(|next| next != '/' && !ends_word(next)) => {
                self.unknown("a folder behind `~`");
            }
            _ => {}
        }
        self.word().text.push(letter);
        self.at += 1;
        // `[[` and `{}` are words of their own.
        if is_group && !is_alone && matches!(letter, '[' | '{') {
            let second = self.peek(0);
            self.word().text.extend(second);
            self.at += 1;
        }
    }

    fn operator(&mut self, letter: char) -> Result<(), String> {
        // A group begins a command; elsewhere parentheses belong to functions, lists and patterns.
        let begins = self.words.iter().all(|word| KEYWORDS.contains(&word.text.as_str()));
        if letter == '(' && (self.word.is_some() || !begins) {
            return Err("a function, a list or a pattern in parentheses".to_owned());
        }
        self.end_command();
        self.at += 1;
        match (letter, self.peek(0)) {
            ('|', Some('|')) => self.at += 1,
            ('|', _) => self.piped.push(self.commands.len()),
            _ => {}
        }
        Ok(())
    }

    fn redirection(&mut self, letter: char) -> Result<(), String> {
        match self.peek(1) {
            Some('(') => return Err("a command in `<(…)`".to_owned()),
            Some('<') if letter == '<' => return Err("an input written into the line (`<<`)".to_owned()),
            // In zsh `<1-9>` is a pattern.
            Some('0'..='9' | '-') if letter == '<' => {
                return Err("a pattern or a descriptor behind `<`".to_owned());
            }
            _ => {}
        }
        self.end_word();
        self.at += 1;
        // `>&2`, `&>`, `>|`
        while self.peek(0).is_some_and(|letter| matches!(letter, '>' | '&' | '|')) {
            self.at += 1;
        }
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), String> {
        self.at += 1;
        self.word();
        loop {
            let letter = self.peek(0).ok_or_else(open_quote)?;
            self.at += 1;
            if letter == '\'' {
                return Ok(());
            }
            self.word().text.push(letter);
        }
    }

    fn double_quoted(&mut self) -> Result<(), String> {
        self.at += 1;
        self.word();
        loop {
            match self.peek(0).ok_or_else(open_quote)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '$' => self.dollar(Quoting::Double)?,
                '`' => self.backquote()?,
                '\\' => {
                    match self.peek(1) {
                        Some('\n') => {}
                        Some(letter @ ('$' | '`' | '"' | '\\')) => self.word().text.push(letter),
                        other => {
                            self.word().text.push('\\');
                            self.word().text.extend(other);
                        }
                    }
                    self.at += 2;
                }
                letter => {
                    self.word().text.push(letter);
                    self.at += 1;
                }
            }
        }
    }

    /// Only `pwd` is known among the commands whose output is put in.
    fn backquote(&mut self) -> Result<(), String> {
        match self.follows("`pwd`") {
            true => self.folder(5),
            false => Err("a command in backquotes".to_owned()),
        }
    }

    /// The folder that the line is in by then: names behind it are looked for in each.
    fn folder(&mut self, length: usize) -> Result<(), String> {
        self.word().text.push('.');
        self.at += length;
        Ok(())
    }

    fn dollar(&mut self, quoting: Quoting) -> Result<(), String> {
        if self.follows("$(pwd)") {
            return self.folder(6);
        }
        let next = self.peek(1);
        match (next, quoting) {
            (Some('('), _) => return Err("a substitution (`$(…)`)".to_owned()),
            (Some('\''), Quoting::None) => return Err("a text with escapes (`$'…'`)".to_owned()),
            (Some('"'), Quoting::None) => return Err("a translated text (`$\"…\"`)".to_owned()),
            (Some('['), _) => return Err("a computed number".to_owned()),
            _ => {}
        }
        let is_letter = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        let (inner, length) = match next {
            Some('{') => {
                let rest = self.letters[self.at + 2..].iter();
                let inner: String = rest.take_while(|letter| **letter != '}').collect();
                let length = inner.chars().count() + 3;
                (inner, length)
            }
            Some(letter) if letter.is_ascii_digit() => (letter.to_string(), 2),
            Some(letter) if is_letter(&letter) => {
                let name: String =
                    self.letters[self.at + 1..].iter().take_while(|letter| is_letter(letter)).collect();
                let length = name.len() + 1;
                (name, length)
            }
            Some(letter) if "@*#?-$!".contains(letter) => (letter.to_string(), 2),
            _ => {
                self.word().text.push('$');
                self.at += 1;
                return Ok(());
            }
        };
        if next == Some('{') && inner.contains(['`', '$', '\'', '"', '\\']) {
            return Err(format!("the expansion `${{{inner}}}`"));
        }
        self.at += length;
        let is_modified = self.line.has_modifiers && self.peek(0) == Some(':');
        match self.value(&inner).filter(|_| !is_modified) {
            Some(value) if quoting == Quoting::Double || is_plain(&value) => {
                self.word().text.push_str(&value)
            }
            _ => self.unknown(&format!("the expansion `${inner}`")),
        }
        Ok(())
    }

    /// The value of what stands behind `$`, if it is known.
    fn value(&self, inner: &str) -> Option<String> {
        if let Ok(index) = inner.parse::<usize>() {
            return self.line.parameters.get(index).cloned();
        }
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, default) = inner.split_at(end);
        let is_computed = COMPUTED.contains(&name) || name.starts_with("BASH") || name.starts_with("npm_");
        if !is_name(name) || is_computed || is_named_plainly(name, self.around) {
            return None;
        }
        let known = match name {
            "PWD" => Some(".".to_owned()),
            name => self.variables.get(name).cloned(),
        };
        if default.is_empty() {
            return known;
        }
        let (otherwise, is_set) = match (default.strip_prefix(":-"), default.strip_prefix('-')) {
            (Some(text), _) => (text, known.as_ref().is_some_and(|value| !value.is_empty())),
            (None, Some(text)) => (text, known.is_some()),
            (None, None) => return None,
        };
        if is_set { known } else { is_plain(otherwise).then(|| otherwise.to_owned()) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Double,
}

/// Whether a text stays one word, and itself, without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "/._-+:,@%=".contains(c))
}

fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || ";&|<>()".contains(letter)
}

fn open_quote() -> String {
    "a quote that is not closed".to_owned()
}

/// Whether a variable's name stands somewhere without `$`, so that something there may set it.
fn is_named_plainly(name: &str, text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(is_letter) && !behind.starts_with(is_letter);
        let is_expanded = before.ends_with('$') || before.ends_with("${");
        is_whole
            && (!is_expanded
                || behind.starts_with([':', '=']) && !behind.starts_with(":-") && before.ends_with('{'))
    })
}
