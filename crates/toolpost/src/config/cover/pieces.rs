//! The parts of a command line that may be names of files.
//!
//! A word is taken whole and in every part that a program or a shell may take as a name: behind `=`, in lists, in
//! quotes, in the line of `sh -c`. A part that is not a file name matches no file.

use super::languages::{self, is_of};
use super::shell::{self, Line};
use super::{CommandLine, MOST_PIECES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Programs that run a folder as a package, whatever argument it is.
const RUN_FOLDERS: &[&str] =
    &["node", "nodejs", "bun", "deno", "tsx", "ts-node", "nodemon", "python", "pypy", "uv", "uvx", "pipx"];
/// Programs whose first argument is a package, which may be a folder or an installed program.
const RUN_PACKAGES: &[&str] = &["npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "uvx", "uv", "pipx"];
/// Their words for "run it".
const RUN_WORDS: &[&str] = &["exec", "dlx", "x", "run", "run-script", "tool", "--"];
/// Their flags whose value is a package.
const PACKAGE_FLAGS: &[&str] =
    &["-p", "--package", "--from", "--with", "--spec", "-C", "--prefix", "--directory", "--project"];
/// Programs of which `run NAME` and `start` mean what `package.json` says.
const RUN_SCRIPTS: &[&str] = &["npm", "pnpm", "yarn", "bun"];
/// Where package managers put the programs that they run by name.
const INSTALLED: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];
/// Maximum number of lines for shells inside each other.
const DEEPEST: usize = 6;

/// What happens if a line for a shell does not tell what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The line is of a workspace: it cannot be covered.
    Refused,
    /// The line is the user's own: what can be read of it is covered.
    Accepted,
}

/// A command line, taken apart.
pub(super) struct Reading<'a> {
    line: &'a CommandLine,
    /// Names to look for in the program's folder, and in the folders of the workspace that the line names.
    pub(super) pieces: BTreeSet<String>,
    /// Folders that are run as packages, where they are folders.
    pub(super) packages: BTreeSet<String>,
    /// Names of programs that package managers look for.
    installed: BTreeSet<String>,
    /// Files that programs look for by themselves.
    defaults: BTreeSet<String>,
    /// Endings of files that programs take for their project.
    endings: BTreeSet<&'static str>,
    /// Words that may be names of programs in `pyproject.toml`.
    objects: BTreeSet<String>,
    /// Words that may be names of scripts in `package.json`.
    scripts: BTreeSet<String>,
    variables: BTreeMap<String, String>,
    folder: PathBuf,
    /// All words, as a place where variables may be set.
    around: String,
    unreadable: Unreadable,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        line: &'a CommandLine,
        folder: &Path,
        unreadable: Unreadable,
    ) -> Result<Reading<'a>, String> {
        let mut variables = line.variables.clone();
        variables.insert("PWD".to_owned(), folder.to_string_lossy().into_owned());
        let mut reading = Reading {
            line,
            pieces: BTreeSet::new(),
            packages: BTreeSet::new(),
            installed: BTreeSet::new(),
            defaults: BTreeSet::new(),
            endings: BTreeSet::new(),
            objects: BTreeSet::new(),
            scripts: BTreeSet::new(),
            variables,
            folder: folder.to_owned(),
            around: line.words.join("\n"),
            unreadable,
        };
        // `PWD` is the caller's folder, not the program's.
        for (name, value) in
            line.variables.iter().filter(|(name, _)| !matches!(name.as_str(), "PWD" | "OLDPWD"))
        {
            reading.text(value)?;
            reading.variable(name, value)?;
        }
        reading.command(&line.words, 0)?;
        Ok(reading)
    }

    /// Every part of a text.
    fn text(&mut self, text: &str) -> Result<(), String> {
        self.pieces.extend(pieces(text, &self.variables, &self.folder));
        self.bounded()
    }

    fn bounded(&self) -> Result<(), String> {
        match self.pieces.len() > MOST_PIECES {
            true => Err(format!(
                "its command line has more than {MOST_PIECES} words and parts of words, which cannot all be looked at; \
                 shorten it"
            )),
            false => Ok(()),
        }
    }

    /// What the value of a variable means to the program that reads it.
    fn variable(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name == "PYTHONPATH" {
            languages::python_path(value, &mut self.pieces);
        }
        if let Some(words) = languages::options(name, value) {
            self.packages.extend(pieces(value, &self.variables, &self.folder));
            self.programs_of(&words);
        }
        self.bounded()
    }

    /// One command, and the lines for shells among its words.
    fn command(&mut self, words: &[String], depth: usize) -> Result<(), String> {
        let program = words.first().filter(|program| program.contains('/') || depth > 0);
        for text in program.into_iter().chain(words.iter().skip(1)) {
            self.text(text)?;
            if let Some((name, value)) = text.split_once('=').filter(|(name, _)| shell::is_name(name)) {
                self.variable(name, value)?;
            }
        }
        self.programs_of(words);
        // A word may be a line for a program that is not known as a shell.
        for text in words.iter().skip(1).filter(|word| word.contains(char::is_whitespace)) {
            for command in text.split(['\n', ';', '&', '|', '(', ')', '`']) {
                self.programs_of(&shell_words(command));
            }
        }
        self.bounded()?;
        // A link may give a shell another name.
        let real = |word: &String| {
            let place = word.contains('/').then(|| self.folder.join(word).canonicalize().ok()).flatten();
            let name = place.and_then(|place| place.file_name()?.to_str().map(str::to_owned));
            name.filter(|name| shell::is_shell(name)).unwrap_or_else(|| word.clone())
        };
        let words: Vec<String> = words.iter().map(real).collect();
        for line in shell::lines(&words) {
            self.shell_line(&line, depth + 1)?;
        }
        Ok(())
    }

    fn shell_line(&mut self, line: &Line, depth: usize) -> Result<(), String> {
        let commands = match depth > DEEPEST {
            true => Err("too many lines for shells inside each other".to_owned()),
            false => shell::commands(line, &self.variables, &self.around),
        };
        match commands {
            Ok(commands) => commands.iter().try_for_each(|command| self.command(command, depth)),
            Err(_) if self.unreadable == Unreadable::Accepted => Ok(()),
            Err(what) => {
                let text: String = line.text.chars().take(80).collect();
                Err(format!(
                    "its shell line `{text}` has {what}, so the files that it runs cannot be covered; start the script \
                     file directly, write the names out, or keep the line in a script outside of the workspace"
                ))
            }
        }
    }

    /// Reads the scripts of a `package.json` that the line may run. Returns whether there was a new one.
    pub(super) fn read_scripts(&mut self, scripts: &BTreeMap<String, String>) -> Result<bool, String> {
        let before = self.pieces.len();
        let named: Vec<String> = self.scripts.iter().cloned().collect();
        for name in named {
            for name in [format!("pre{name}"), format!("post{name}"), name] {
                let Some(text) = scripts.get(&name) else { continue };
                if !self.around.contains(&format!("\n{text}\n")) {
                    self.around.push_str(&format!("\n{text}\n"));
                }
                self.text(text)?;
                let programs = shell_words(text);
                self.installed.extend(programs.iter().filter(|word| !word.contains('/')).cloned());
                self.shell_line(&shell::plain(text), 1)?;
            }
        }
        Ok(self.pieces.len() > before)
    }

    /// Takes the modules of the programs that a `pyproject.toml` defines and the line runs.
    pub(super) fn read_objects(&mut self, programs: &BTreeMap<String, String>) {
        let named = programs.iter().filter(|(name, _)| self.objects.contains(*name));
        for (_, object) in named {
            languages::python_object(object, &mut self.defaults);
        }
    }

    pub(super) fn runs_python_project(&self) -> bool {
        !self.objects.is_empty()
    }

    /// Whether a file of this name is taken for the project.
    pub(super) fn is_project(&self, name: &str) -> bool {
        self.endings.iter().any(|ending| name.ends_with(ending))
    }

    pub(super) fn looks_for_projects(&self) -> bool {
        !self.endings.is_empty()
    }

    pub(super) fn runs_scripts(&self) -> bool {
        !self.scripts.is_empty()
    }

    /// What one command says of packages and modules.
    fn programs_of(&mut self, words: &[String]) {
        languages::names(words, &mut self.pieces);
        languages::defaults(words, &mut self.defaults);
        languages::endings(words, &mut self.endings);
        if languages::runs_python_project(words) {
            self.objects.extend(words.iter().cloned());
            self.installed.extend(words.iter().skip(1).filter(|word| !word.contains('/')).cloned());
        }
        let node_path = self.variables.get("NODE_PATH").cloned().unwrap_or_default();
        for module in languages::node_modules(words) {
            let package = languages::package_of(&module);
            for folder in node_path.split(':').filter(|folder| !folder.is_empty()) {
                self.defaults.extend(languages::with_extensions(&format!("{folder}/{module}")));
                self.packages.insert(format!("{folder}/{package}"));
            }
            for place in languages::module_places(&module) {
                self.defaults.extend(languages::with_extensions(&place));
                self.packages.insert(place);
            }
            self.packages.extend(languages::module_places(package));
        }
        if words.iter().any(|word| is_of(RUN_FOLDERS, word)) {
            for word in words.iter().skip(1) {
                let names =
                    [word.clone()].into_iter().chain(word.split_once('=').map(|(_, value)| value.to_owned()));
                for name in names {
                    self.pieces.insert(name.clone());
                    self.packages.insert(name);
                }
            }
        }
        if words.iter().any(|word| {
            is_of(&["node", "nodejs"], word) && words.iter().any(|word| word.starts_with("--run"))
        }) {
            languages::defaults(&["npm".to_owned()], &mut self.defaults);
            self.scripts.extend(words.iter().map(|word| word.trim_start_matches("--run=").to_owned()));
        }
        for (index, _) in words.iter().enumerate().filter(|(_, word)| is_of(RUN_PACKAGES, word)) {
            if RUN_SCRIPTS.contains(&base_name(&words[index])) {
                self.defaults.insert("package.json".to_owned());
                self.scripts.extend(words[index + 1..].iter().cloned());
                if words[index + 1..].iter().any(|word| word == "start") {
                    self.pieces.insert("server.js".to_owned());
                }
            }
            let mut rest = words[index + 1..].iter().peekable();
            while let Some(word) = rest.next() {
                if PACKAGE_FLAGS.contains(&word.as_str()) {
                    self.package(rest.next().map_or("", String::as_str));
                } else if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
                    if PACKAGE_FLAGS.contains(&flag) {
                        self.package(value);
                    }
                } else if !word.starts_with('-') {
                    // A word for "run it" may be the name of a program as well.
                    self.package(word);
                    self.installed.insert(without_version(word).to_owned());
                    if !RUN_WORDS.contains(&word.as_str()) {
                        break;
                    }
                }
            }
        }
    }

    fn package(&mut self, name: &str) {
        self.pieces.insert(name.to_owned());
        self.packages.insert(name.to_owned());
    }

    /// Further names to look for in each folder: installed programs, and the files that programs look for by themselves.
    pub(super) fn in_folders(&self) -> impl Iterator<Item = String> + '_ {
        let installed = self.installed.iter().flat_map(|name| {
            let name = base_name(name);
            INSTALLED.iter().map(move |folder| format!("{folder}/{name}"))
        });
        installed.chain(self.defaults.iter().cloned())
    }

    /// Where the program is looked for, if it is given by its name alone.
    pub(super) fn programs(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let path = self.line.variables.get("PATH").map_or("", String::as_str);
        let program = self.line.words.first().filter(|program| !program.contains('/'));
        let folders = path.split(':').map(|folder| self.folder.join(folder));
        program.into_iter().flat_map(move |program| folders.clone().map(move |folder| folder.join(program)))
    }
}

/// Every part of a text that may be a name.
fn pieces(text: &str, variables: &BTreeMap<String, String>, folder: &Path) -> Vec<String> {
    let mut raw: Vec<String> = vec![text.to_owned()];
    raw.extend(text.match_indices('=').map(|(at, _)| text[at + 1..].to_owned()));
    raw.extend(text.split(['"', '\'', '`']).map(str::to_owned));
    raw.extend(shell_words(text));
    let separates = |c: char| c.is_whitespace() || "\"'`;&|<>(){}[],=:!^".contains(c);
    raw.extend(text.split(separates).map(str::to_owned));
    raw.extend(shell_words(text).iter().flat_map(|word| word.split(separates)).map(str::to_owned));
    let mut all = Vec::new();
    for piece in raw {
        let piece = expanded(&piece, variables);
        let bare = piece.trim_start_matches(['-', '@', '+', '$']);
        let decoded = decoded(&piece);
        let name = |text: &str| located(text, variables, folder);
        all.extend([name(&piece), name(bare), name(&decoded)]);
        all.extend(languages::suffixes(&piece).map(name));
        // Behind a substitution that is not followed here, a name from the root may be one from some folder.
        all.push(piece.trim_start_matches('/').to_owned());
    }
    all.retain(|piece| !piece.trim_matches('/').is_empty() && !piece.contains('\0') && piece.len() < 4_096);
    all.sort_unstable();
    all.dedup();
    all
}

/// The name with what stands for a folder put in: `~`, and the folder of a process under `/proc`.
fn located(text: &str, variables: &BTreeMap<String, String>, folder: &Path) -> String {
    if let (Some(rest), Some(home)) = (text.strip_prefix("~/"), variables.get("HOME")) {
        return format!("{home}/{rest}");
    }
    let behind = |part: &str| {
        let rest = text.strip_prefix("/proc/")?.split_once('/')?.1;
        let rest =
            rest.strip_prefix("task/").and_then(|rest| rest.split_once('/')).map_or(rest, |(_, rest)| rest);
        rest.strip_prefix(part)?.strip_prefix('/')
    };
    match (behind("cwd"), behind("root")) {
        (Some(rest), _) => folder.join(rest).to_string_lossy().into_owned(),
        (None, Some(rest)) => format!("/{rest}"),
        (None, None) => text.to_owned(),
    }
}

/// The text with the variables of a shell put in, where they are known.
fn expanded(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let is_braced = rest.starts_with('{');
        let name = rest.trim_start_matches('{');
        let length = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
        let Some(value) = variables.get(&name[..length]) else {
            result.push('$');
            continue;
        };
        result.push_str(value);
        rest = &name[length..];
        if is_braced {
            rest = rest.split_once('}').map_or(rest, |(_, behind)| behind);
        }
    }
    result.push_str(rest);
    result
}

/// The text with `%41` as `A`, as in addresses of files.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                result.push(byte);
                at += 3;
            }
            None => {
                result.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&result).into_owned()
}

/// The words of a line as a shell would take them, without their quotes.
pub(super) fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (end, Some(open)) if end == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() || ";&|<>()".contains(letter) => {
                words.extend(word.take())
            }
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The name of a package without `@1.2.3`.
fn without_version(word: &str) -> &str {
    let at = word.char_indices().skip(1).find(|(_, letter)| *letter == '@').map(|(at, _)| at);
    &word[..at.unwrap_or(word.len())]
}
