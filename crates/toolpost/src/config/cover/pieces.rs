//! The parts of a command line that may be names of files.
//!
//! A word is taken whole and in every part that a program or a shell may take as a name: behind `=`, in lists, in
//! quotes, in the line of `sh -c`. A part that is not a file name matches no file.

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
/// What node adds to a name.
const EXTENSIONS: &[&str] = &[".js", ".json", ".node", ".mjs", ".cjs", ".ts"];

/// A command line, taken apart.
pub(super) struct Reading<'a> {
    line: &'a CommandLine,
    /// Names to look for in the program's folder, and in the folders of the workspace that the line names.
    pub(super) pieces: BTreeSet<String>,
    /// Folders that are run as packages, where they are folders.
    pub(super) packages: BTreeSet<String>,
    /// Names of programs that package managers look for.
    installed: BTreeSet<String>,
    runs_scripts: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn new(line: &'a CommandLine, folder: &Path) -> Result<Reading<'a>, String> {
        let mut reading = Reading {
            line,
            pieces: BTreeSet::new(),
            packages: BTreeSet::new(),
            installed: BTreeSet::new(),
            runs_scripts: false,
        };
        let mut variables = line.variables.clone();
        variables.insert("PWD".to_owned(), folder.to_string_lossy().into_owned());
        let too_many = || {
            format!(
                "its command line has more than {MOST_PIECES} words and parts of words, which cannot all be looked at; \
                 shorten it"
            )
        };
        let program = line.words.first().filter(|program| program.contains('/'));
        // `PWD` is the caller's folder, not the program's.
        let is_place = |name: &&String| !matches!(name.as_str(), "PWD" | "OLDPWD");
        let values = line.variables.iter().filter(|(name, _)| is_place(name)).map(|(_, value)| value);
        let texts = program.into_iter().chain(line.words.iter().skip(1)).chain(values);
        for text in texts {
            reading.pieces.extend(pieces(text, &variables, folder));
            if reading.pieces.len() > MOST_PIECES {
                return Err(too_many());
            }
        }
        // The line itself, and each word that may be a line for a shell or a list of options.
        let options = ["NODE_OPTIONS", "BUN_OPTIONS"].iter().filter_map(|name| line.variables.get(*name));
        reading.commands(&line.words);
        for text in line.words.iter().skip(1).filter(|word| word.contains(char::is_whitespace)) {
            for command in text.split(['\n', ';', '&', '|', '(', ')', '`']) {
                reading.commands(&shell_words(command));
            }
        }
        for text in options {
            reading.packages.extend(pieces(text, &variables, folder));
        }
        let added: Vec<String> = reading.packages.iter().cloned().collect();
        reading.pieces.extend(added);
        if reading.pieces.len() > MOST_PIECES {
            return Err(too_many());
        }
        Ok(reading)
    }

    /// What one command says of packages and modules.
    fn commands(&mut self, words: &[String]) {
        let name = |word: &String| base_name(word).to_owned();
        let is_of = |list: &[&str], word: &String| {
            let word = name(word);
            let plain = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            list.contains(&word.as_str()) || list.contains(&plain)
        };
        if words.iter().any(|word| is_of(RUN_FOLDERS, word)) {
            for word in words.iter().skip(1) {
                self.packages.insert(word.clone());
                self.packages.extend(word.split_once('=').map(|(_, value)| value.to_owned()));
                self.pieces.extend(EXTENSIONS.iter().map(|extension| format!("{word}{extension}")));
            }
        }
        for (index, _) in words.iter().enumerate().filter(|(_, word)| is_of(RUN_PACKAGES, word)) {
            self.runs_scripts |= RUN_SCRIPTS.contains(&base_name(&words[index]));
            let mut rest = words[index + 1..].iter().peekable();
            while let Some(word) = rest.next() {
                if PACKAGE_FLAGS.contains(&word.as_str()) {
                    self.packages.extend(rest.next().cloned());
                } else if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
                    if PACKAGE_FLAGS.contains(&flag) {
                        self.packages.insert(value.to_owned());
                    }
                } else if !word.starts_with('-') && !RUN_WORDS.contains(&word.as_str()) {
                    self.packages.insert(word.clone());
                    self.installed.insert(without_version(word).to_owned());
                    break;
                }
            }
        }
        let modules = words.iter().enumerate().filter_map(|(index, word)| match word.strip_prefix("-m") {
            Some("") => words.get(index + 1).map(String::as_str),
            module => module,
        });
        for module in modules {
            let mut path = String::new();
            for part in module.split('.') {
                path.push_str(part);
                self.pieces.insert(format!("{path}/__init__.py"));
                self.pieces.insert(format!("{path}.py"));
                path.push('/');
            }
            self.pieces.insert(format!("{path}__main__.py"));
        }
    }

    /// Further names to look for in each folder: installed programs, and the file that says what `npm start` means.
    pub(super) fn in_folders(&self) -> impl Iterator<Item = String> + '_ {
        let installed = self.installed.iter().flat_map(|name| {
            let name = base_name(name);
            INSTALLED.iter().map(move |folder| format!("{folder}/{name}"))
        });
        installed.chain(self.runs_scripts.then(|| "package.json".to_owned()))
    }

    /// Where the program is looked for, if it is given by its name alone.
    pub(super) fn programs(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let path = self.line.variables.get("PATH").map_or("", String::as_str);
        let program = self.line.words.first().filter(|program| !program.contains('/'));
        let folders = path.split(':').filter(|folder| folder.starts_with('/'));
        program
            .into_iter()
            .flat_map(move |program| folders.clone().map(move |folder| Path::new(folder).join(program)))
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
        // `-r./x.js` has its value behind one letter.
        let joined = piece.strip_prefix('-').and_then(|rest| rest.get(rest.chars().next()?.len_utf8()..));
        let name = |text: &str| located(text, variables, folder);
        all.extend([name(&piece), name(bare), name(&decoded)]);
        all.extend(joined.map(name));
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
fn shell_words(line: &str) -> Vec<String> {
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

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The name of a package without `@1.2.3`.
fn without_version(word: &str) -> &str {
    let at = word.char_indices().skip(1).find(|(_, letter)| *letter == '@').map(|(at, _)| at);
    &word[..at.unwrap_or(word.len())]
}
