//! What a text for a shell says about the files that it runs: folders it changes to, folders in which it looks for
//! programs, and names that it computes.
//!
//! Nothing is run. What cannot be told is reported as such, and then more is protected. `words.rs` finds the plain words
//! of the same text, `code.rs` reads texts in other languages.

use super::shell::{Command, Piece, Word, commands, literal};
use super::words::INTERPRETERS;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Maximum number of values that are put together for one computed name, and of steps for all of them.
const MOST_VALUES: usize = 32;
const MOST_STEPS: usize = 50_000;

/// How deep variables may be set from each other, and commands stand in each other.
const DEEPEST: usize = 4;

/// A variable for what is not known, of a name that nobody uses.
const UNKNOWN: &str = "__toolpost_unknown";

/// Words that stand before a command.
const BEFORE: &[&str] = &[
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "export", "local", "readonly", "declare",
];

/// Programs that run what follows them, with options of their own.
const WRAPPERS: &[&str] = &[
    "time", "exec", "command", "builtin", "env", "sudo", "doas", "nohup", "nice", "ionice", "timeout",
    "setsid", "stdbuf", "eval", "chronic", "flock", "strace", "unbuffer", "busybox",
];

/// Programs that read their commands from their input where they are given no file.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Programs in whose options `-c` or `-e` a text of their own language stands.
const LANGUAGES: &[&str] =
    &["python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua"];

/// What one text says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Words that are known as a whole. They name programs, scripts or other files.
    pub(crate) names: Vec<String>,
    /// The first words of commands.
    pub(crate) programs: Vec<String>,
    /// What is given to interpreters; a folder is run too.
    pub(crate) interpreted: Vec<String>,
    /// Modules that Python is told to run, and folders in which it looks for them.
    pub(crate) modules: Vec<String>,
    pub(crate) libraries: Vec<String>,
    /// Texts in other languages.
    pub(crate) codes: Vec<String>,
    /// Folders that it changes to.
    pub(crate) entered: Vec<String>,
    /// Folders that it puts into `PATH`.
    pub(crate) searched: Vec<String>,
    /// What it runs under a name that cannot be told.
    pub(crate) computed: Vec<Computed>,
    /// Whether it runs something of which not even a name is known.
    pub(crate) is_unclear: bool,
}

/// A program or script whose name cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Computed {
    /// What is written before the first computed part.
    pub(crate) before: String,
    /// What is written after the last.
    pub(crate) after: String,
    /// The glob for it, where only patterns are computed.
    pub(crate) glob: Option<String>,
    /// Whether an interpreter is told to run it: then it need not be executable.
    pub(crate) is_interpreted: bool,
}

impl Script {
    /// Reads a text. `home` is what `~` stands for.
    pub(crate) fn read(text: &str, home: Option<&str>) -> Script {
        let mut reader = Reader::default();
        if let Some(home) = home {
            reader.assigned.insert("HOME".to_owned(), vec![vec![Piece::Text(home.to_owned())]]);
        }
        reader.commands(text, 0);
        if reader.runs_found || reader.script.is_unclear {
            reader.script.computed.append(&mut reader.found);
        }
        let Script { names, interpreted, computed, .. } = &mut reader.script;
        for all in [names, interpreted] {
            all.sort();
            all.dedup();
        }
        computed.dedup();
        reader.script
    }
}

#[derive(Default)]
struct Reader {
    script: Script,
    assigned: BTreeMap<String, Vec<Word>>,
    /// What `find` is told to look for.
    found: Vec<Computed>,
    /// Whether what is found is run.
    runs_found: bool,
    steps: Cell<usize>,
}

impl Reader {
    fn commands(&mut self, text: &str, depth: usize) {
        if depth > DEEPEST {
            self.script.is_unclear = true;
            return;
        }
        let commands = commands(text);
        for command in &commands {
            self.assignments(&command.words);
        }
        for Command { words, is_quoted } in &commands {
            match is_quoted {
                true => self.quoted(words),
                false => self.command(words, depth),
            }
        }
    }

    /// Notes what variables are set to, wherever in the text.
    fn assignments(&mut self, command: &[Word]) {
        for word in command {
            let Some((name, value, is_appended)) = assignment(word) else { continue };
            if name == "PATH" {
                self.search(&value);
            }
            if name == "PYTHONPATH" {
                let folders = value.iter().filter_map(|piece| match piece {
                    Piece::Text(text) => {
                        Some(text.split(':').map(|folder| folder.trim_start_matches('/').to_owned()))
                    }
                    _ => None,
                });
                self.script.libraries.extend(folders.flatten().filter(|folder| !folder.is_empty()));
            }
            let values = self.assigned.entry(name).or_default();
            match values.last().filter(|_| is_appended) {
                Some(last) => values.push(joined(last, &value)),
                None => values.push(value),
            }
        }
        let is_before = |word: &&Word| literal(word).is_some_and(|text| BEFORE.contains(&text.as_str()));
        let rest = &command[command.iter().take_while(is_before).count()..];
        let text = |at: usize| rest.get(at).and_then(literal);
        match text(0).as_deref() {
            Some("for" | "select") => {
                if let (Some(name), Some("in")) = (text(1), text(2).as_deref()) {
                    self.assigned.entry(name).or_default().extend(rest[3..].iter().cloned());
                }
            }
            Some("read" | "mapfile" | "readarray" | "getopts" | "printf") => {
                for name in rest[1..].iter().filter_map(literal) {
                    self.assigned.entry(name).or_default().push(vec![Piece::Anything]);
                }
            }
            _ => {}
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

    /// What may be a command: the names in it count, and the folder that it changes to.
    fn quoted(&mut self, command: &[Word]) {
        self.names(command);
        let place =
            command.iter().position(|word| literal(word).is_some_and(|text| text == "cd" || text == "pushd"));
        if let Some(folder) = place.and_then(|at| command.get(at + 1)) {
            self.enter(folder);
        }
    }

    fn command(&mut self, command: &[Word], depth: usize) {
        self.names(command);
        let mut words = command;
        let (mut is_wrapped, mut has_options, mut is_evaluated) = (false, false, false);
        while let Some((first, rest)) = words.split_first() {
            let text = literal(first);
            let text = text.as_deref();
            let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
            let is_option = text.is_some_and(|text| text.starts_with('-') || is_number(text));
            if text.is_some_and(|text| WRAPPERS.contains(&text)) {
                is_wrapped = true;
                is_evaluated |= text == Some("eval");
            } else if is_wrapped && is_option {
                has_options = true;
            } else if assignment(first).is_none() && !text.is_some_and(|text| BEFORE.contains(&text)) {
                break;
            }
            words = rest;
        }
        if is_evaluated {
            self.evaluated(words, depth);
        }
        let Some((program, arguments)) = words.split_first() else { return };
        for (flag, folder) in arguments.iter().zip(arguments.iter().skip(1)) {
            if literal(flag).is_some_and(|flag| matches!(flag.as_str(), "-C" | "--directory" | "--prefix")) {
                self.enter(folder);
            }
        }
        if has_options {
            // An option of the wrapper may have taken the place of the program.
            arguments.iter().filter(|word| literal(word).is_none()).for_each(|word| self.computed(word));
        }
        self.computed(program);
        for name in self.expand(program, 0).iter().filter_map(literal) {
            self.program(&name, arguments, depth);
            self.script.programs.push(name);
        }
    }

    /// What a text put together from these words runs.
    fn evaluated(&mut self, words: &[Word], depth: usize) {
        let mut text = Word::new();
        for word in words {
            text = joined(&joined(&text, &vec![Piece::Text(" ".to_owned())]), word);
        }
        for word in self.expand(&text, 0) {
            self.assigned.insert(UNKNOWN.to_owned(), vec![vec![Piece::Anything]]);
            let pieces = word.iter().map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Argument => "$@".to_owned(),
                Piece::Variable(name) => format!("${{{name}}}"),
                _ => format!("${UNKNOWN}"),
            });
            let text: String = pieces.collect();
            // What the unknown part is, runs.
            self.script.is_unclear |= text.trim_start().starts_with('$');
            self.commands(&text, depth + 1);
        }
    }

    /// What a program of this name does with its arguments.
    fn program(&mut self, name: &str, arguments: &[Word], depth: usize) {
        let last = name.rsplit('/').next().unwrap_or(name);
        match last {
            "cd" | "pushd" => {
                if let Some(folder) = arguments.iter().find(|word| !is_option(word)) {
                    self.enter(folder);
                }
            }
            "run-parts" => {
                for folder in arguments.iter().filter(|word| !is_option(word)) {
                    let folder = joined(folder, &vec![Piece::Text("/".to_owned()), Piece::Pattern('*')]);
                    self.computed(&folder);
                }
            }
            "find" => self.find(arguments),
            "xargs" | "parallel" => self.xargs(arguments, depth),
            "trap" | "watch" => {
                let first = arguments.iter().find(|word| !is_option(word));
                first.iter().for_each(|text| self.evaluated(std::slice::from_ref(*text), depth));
            }
            _ if INTERPRETERS.contains(&last) => self.interpreter(last, arguments, depth),
            // `su -c "…"`
            _ => {
                let code = arguments.iter().position(|word| literal(word).is_some_and(|text| text == "-c"));
                if let Some(code) =
                    code.and_then(|at| arguments.get(at + 1)).filter(|code| literal(code).is_some())
                {
                    self.evaluated(std::slice::from_ref(code), depth);
                }
            }
        }
    }

    fn interpreter(&mut self, name: &str, arguments: &[Word], depth: usize) {
        let is_shell = SHELLS.contains(&name);
        let mut rest = arguments.iter();
        let mut reads_input = is_shell || LANGUAGES.contains(&name);
        while let Some(word) = rest.next() {
            let text = literal(word).unwrap_or_default();
            let is_code = text.starts_with('-')
                && !text.starts_with("--")
                && text.ends_with(['c', 'e'])
                && text.len() < 5;
            if text == "-" || (is_shell && text.starts_with("-") && text.ends_with('s')) {
                continue;
            }
            if name.starts_with("python") && text.starts_with("-m") {
                let next =
                    if text == "-m" { rest.next().and_then(literal) } else { Some(text[2..].to_owned()) };
                self.script.modules.extend(next);
                return;
            }
            if is_code && (is_shell && text.ends_with('c') || LANGUAGES.contains(&name)) {
                reads_input = false;
                let Some(code) = rest.next() else { break };
                for code in self.expand(code, 0) {
                    match literal(&code) {
                        Some(text) if is_shell => self.commands(&text, depth + 1),
                        Some(text) => self.script.codes.push(text),
                        None => self.script.is_unclear |= is_shell && !self.is_from_outside(&code),
                    }
                }
                continue;
            }
            if is_option(word) {
                reads_input &= !text.starts_with("--") && !text.eq_ignore_ascii_case("-v");
                continue;
            }
            // The file; what follows is for it.
            reads_input = false;
            self.computed_for(word, true);
            let texts: Vec<String> = self.expand(word, 0).iter().filter_map(literal).collect();
            if LANGUAGES.contains(&name) {
                self.script.interpreted.extend(texts);
            } else {
                let is_run = is_shell || matches!(name, "." | "source");
                let is_file = |text: &String| may_be_file(text) || (is_run && is_name(text));
                self.script.names.extend(texts.into_iter().filter(is_file));
            }
            let more = rest.by_ref().flat_map(|word| self.expand(word, 0)).filter_map(|word| literal(&word));
            let more: Vec<String> = more.filter(|text| may_be_file(text)).collect();
            self.script.names.extend(more);
            break;
        }
        if reads_input {
            self.script.is_unclear = true;
        }
    }

    /// `find` with a folder, perhaps a pattern for names, and perhaps a program for what it finds.
    fn find(&mut self, arguments: &[Word]) {
        let folders: Vec<&Word> = arguments.iter().take_while(|word| !is_option(word)).collect();
        let mut glob = None;
        let mut words = arguments.iter().peekable();
        while let Some(word) = words.next() {
            let option = literal(word).unwrap_or_default();
            match option.as_str() {
                "-name" | "-iname" => glob = words.peek().and_then(|word| as_glob(word)),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let text = words.peek().map(|word| (literal(word), word));
                    self.runs_found |= match text {
                        Some((Some(text), _)) => runs_argument(&text),
                        Some((None, _)) => true,
                        None => false,
                    };
                }
                _ => {}
            }
        }
        for folder in folders {
            for folder in self.expand(folder, 0) {
                let (before, _) = ends(&folder);
                let is_here = literal(&folder)
                    .is_some_and(|text| text.chars().all(|letter| matches!(letter, '.' | '/')));
                let whole =
                    if is_here { String::new() } else { format!("{}/", before.trim_end_matches('/')) };
                let glob = glob.as_ref().filter(|_| is_here).map(|name| format!("**/{name}"));
                let after = String::new();
                self.found.push(Computed { before: whole, after, glob, is_interpreted: true });
            }
        }
    }

    fn xargs(&mut self, arguments: &[Word], depth: usize) {
        let mut words = arguments;
        let mut replaced = "{}".to_owned();
        while let Some((word, rest)) = words.split_first() {
            let Some(text) = literal(word) else { break };
            if !text.starts_with('-') {
                break;
            }
            words = rest;
            if matches!(text.as_str(), "-I" | "-n" | "-P" | "-L" | "-d" | "-s" | "-a" | "-E" | "-j") {
                if let (true, Some(name)) = (text == "-I", rest.first().and_then(literal)) {
                    replaced = name;
                }
                words = rest.get(1..).unwrap_or_default();
            } else if let Some(name) = text.strip_prefix("-I") {
                replaced = name.to_owned();
            }
        }
        let Some((program, arguments)) = words.split_first() else { return };
        match literal(program) {
            Some(text) if runs_argument(&text) || text.contains(&replaced) => {
                self.script.is_unclear = true;
                self.runs_found = true;
            }
            Some(text) => self.program(&text, arguments, depth),
            None => self.computed(program),
        }
    }

    /// Words that are known as a whole only here.
    fn names(&mut self, command: &[Word]) {
        for word in command {
            let value = assignment(word).map(|(_, value, _)| value);
            for text in self.expand(value.as_ref().unwrap_or(word), 0).iter().filter_map(literal) {
                if !text.contains("://") && !text.contains([';', '&', '|', '\n', '<', '>', '(']) {
                    let parts =
                        text.split(['=', ':', ',']).filter(|part| is_name(part) && part.contains('/'));
                    self.script.names.extend(parts.map(str::to_owned));
                }
            }
        }
    }

    fn enter(&mut self, folder: &Word) {
        for folder in self.expand(folder, 0) {
            match literal(&folder) {
                Some(text) => self.script.entered.push(text),
                // `cd "$ROOT/tools"`
                None => {
                    let rest = ends(&folder).1;
                    let rest = rest.trim_start_matches('/');
                    if !rest.is_empty() {
                        self.script.entered.push(rest.to_owned());
                    }
                }
            }
        }
    }

    /// A word that is run.
    fn computed(&mut self, word: &Word) {
        self.computed_for(word, false);
    }

    fn computed_for(&mut self, word: &Word, is_interpreted: bool) {
        for word in self.expand(word, 0) {
            if let Some(text) = literal(&word) {
                self.script.names.extend(Some(text).filter(|text| may_be_file(text)));
                continue;
            }
            // `"$@"` and `$EDITOR` are the user's own.
            if !(word.len() == 1 && self.is_from_outside(&word)) {
                let (before, after) = ends(&word);
                self.script.computed.push(Computed { before, after, glob: as_glob(&word), is_interpreted });
            }
        }
    }

    fn is_from_outside(&self, word: &Word) -> bool {
        word.iter().all(|piece| match piece {
            Piece::Variable(name) | Piece::Cased(name) => !self.assigned.contains_key(name),
            Piece::Argument => true,
            Piece::Text(text) => text.trim().is_empty(),
            Piece::Anything | Piece::Choice(_) | Piece::Pattern(_) => false,
        })
    }

    /// All that a word may be, with the variables that the text sets replaced.
    fn expand(&self, word: &Word, depth: usize) -> Vec<Word> {
        let mut all: Vec<Word> = vec![Vec::new()];
        for piece in word {
            self.steps.set(self.steps.get() + all.len());
            let parts: Vec<Word> = match piece {
                _ if depth > DEEPEST || self.steps.get() > MOST_STEPS => vec![vec![Piece::Anything]],
                Piece::Variable(name) => match self.assigned.get(name) {
                    Some(values) => values.iter().flat_map(|value| self.expand(value, depth + 1)).collect(),
                    None => vec![vec![piece.clone()]],
                },
                Piece::Cased(name) => match self.assigned.get(name) {
                    Some(values) => values
                        .iter()
                        .flat_map(|value| self.expand(value, depth + 1))
                        .flat_map(|value| match literal(&value) {
                            Some(text) => [text.to_lowercase(), text.to_uppercase()]
                                .map(|text| vec![Piece::Text(text)])
                                .to_vec(),
                            None => vec![vec![Piece::Anything]],
                        })
                        .collect(),
                    None => vec![vec![piece.clone()]],
                },
                Piece::Choice(words) => words.iter().flat_map(|word| self.expand(word, depth + 1)).collect(),
                other => vec![vec![other.clone()]],
            };
            let parts =
                if all.len() * parts.len() > MOST_VALUES { vec![vec![Piece::Anything]] } else { parts };
            all = all.iter().flat_map(|one| parts.iter().map(move |part| joined(one, part))).collect();
        }
        all
    }
}

/// Whether this program runs what it is given, or is itself what is given.
fn runs_argument(program: &str) -> bool {
    let last = program.rsplit('/').next().unwrap_or(program);
    program.contains("{}")
        || (INTERPRETERS.contains(&last) && !matches!(last, "awk" | "sed" | "make" | "xargs"))
}

fn is_option(word: &Word) -> bool {
    matches!(word.first(), Some(Piece::Text(text)) if text.starts_with('-'))
}

/// Whether a text may name a file.
fn is_name(text: &str) -> bool {
    !text.starts_with('-') && text.len() < 1_000 && text.chars().any(|letter| letter != '.' && letter != '/')
}

/// The same for a word that may be something else, such as a target of `make`.
fn may_be_file(text: &str) -> bool {
    is_name(text) && text.contains(['/', '.'])
}

/// Two words in a row, as one.
fn joined(one: &Word, other: &Word) -> Word {
    let mut word = one.clone();
    for piece in other {
        match (word.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(more),
            _ => word.push(piece.clone()),
        }
    }
    word
}

/// The name and the value of `NAME=value`, and whether it is added to what the variable holds.
fn assignment(word: &Word) -> Option<(String, Word, bool)> {
    let Some(Piece::Text(first)) = word.first() else { return None };
    let (name, begin) = first.split_once('=')?;
    let is_appended = name.ends_with('+');
    let name = name.trim_end_matches('+');
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let mut value: Word = Vec::new();
    if !begin.is_empty() {
        value.push(Piece::Text(begin.to_owned()));
    }
    value.extend_from_slice(&word[1..]);
    is_name.then(|| (name.to_owned(), value, is_appended))
}

/// What is written before the first and after the last computed part.
fn ends(word: &Word) -> (String, String) {
    let text = |piece: Option<&Piece>| match piece {
        Some(Piece::Text(text)) => text.clone(),
        _ => String::new(),
    };
    (text(word.first()), text(word.last()))
}

/// The glob that a word is, if it has letters and nothing in it is computed but patterns. One in `[…]` may be any letter.
fn as_glob(word: &Word) -> Option<String> {
    let mut glob = String::new();
    let mut has_letters = false;
    for piece in word {
        match piece {
            // In quotes it is a pattern for `find`, and never a name.
            Piece::Text(text) if word.len() == 1 => {
                glob.push_str(&text.replace(['[', ']', '{', '}', '\\', '/'], "?"))
            }
            Piece::Text(text) => glob.push_str(&text.replace([']', '{', '}', '\\'], "?")),
            Piece::Pattern('?') => glob.push('?'),
            Piece::Pattern(_) => glob.push('*'),
            _ => return None,
        }
        has_letters |= matches!(piece, Piece::Text(text) if text.chars().any(char::is_alphanumeric));
    }
    while glob.contains("**") {
        glob = glob.replace("**", "*");
    }
    has_letters.then(|| glob.trim_start_matches("./").to_owned())
}

#[cfg(test)]
mod tests;
