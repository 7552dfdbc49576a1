//! The files and hosts that a line names literally, and what each command does with them, as far as that is known. For
//! explanations: nothing is allowed because of it.
//!
//! A few programs are known to open exactly what their operands name. Of all others the line does not tell what they open,
//! so each of their arguments may be a file, and what else they open is their own affair.

mod addresses;
mod programs;

use super::reader::{Direction, Redirection};
use super::word::{Part, Word};
pub(super) use addresses::hosts;
use programs::Usage;
use toolpost_core::policy::PlaceUse;

/// Maximum number of places that are named.
const MOST: usize = 200;

/// What a line names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Named {
    /// Files and folders.
    pub files: Vec<NamedFile>,
    /// Hosts, as they are written, without a port.
    pub hosts: Vec<(String, PlaceUse)>,
    /// Programs that open more than their operands, by what the line tells.
    pub started: Vec<String>,
    /// Words that are known only when the line runs, of programs that open their operands.
    pub computed: Vec<String>,
    /// Relative names of commands before which the line may have changed the folder: which files they are is not known.
    pub astray: Vec<String>,
    /// Whether there was more than is listed.
    pub is_cut: bool,
    /// Whether the folder of the command at hand is not known.
    pub(super) folder_is_unknown: bool,
}

/// A file or folder that a line names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedFile {
    /// The path from the workspace root, or an absolute one; with `~` in front, one from the home folder.
    pub path: String,
    /// What the command does with it.
    pub used: PlaceUse,
    /// How it would come to be there, if it is not.
    pub creation: Creation,
    /// Whether all that is in a folder is meant.
    pub with_content: bool,
    /// Whether it is named as a file for certain; otherwise the text may be anything.
    pub is_certain: bool,
}

/// How a command would create a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It creates nothing: what is not there stays away.
    Never,
    /// As a file.
    File,
    /// As an empty folder.
    Folder,
    /// As a link.
    Link,
    /// As what another name was.
    Moved,
    /// As what another name was, if the folder is there.
    Inside,
}

impl Named {
    /// Takes note of the arguments of a command. Each name is resolved by `paths`, which gives all that it may be.
    pub(super) fn command(&mut self, program: &str, words: &[Word], paths: &dyn Fn(&str) -> Vec<String>) {
        let reached = addresses::operands(program, words);
        for host in &reached {
            self.host(host.clone(), PlaceUse::Reach);
        }
        let host_use =
            if programs::prints(program) { PlaceUse::Nothing } else { addresses::used_by(program) };
        for text in words[1..].iter().flat_map(texts) {
            hosts(&text).into_iter().for_each(|host| self.host(host, host_use));
        }
        match programs::usage(program, words) {
            Some(Usage { operands, scope }) => {
                let sources: Vec<String> = operands
                    .iter()
                    .filter(|operand| operand.creation != Creation::Inside)
                    .filter_map(|operand| words[operand.at].literal())
                    .collect();
                for operand in &operands {
                    let word = &words[operand.at];
                    let Some(text) = word.literal() else {
                        self.computed(word, operand.used);
                        continue;
                    };
                    let file = |path, creation, is_first: bool| NamedFile {
                        path,
                        used: operand.used,
                        creation,
                        with_content: scope == programs::Scope::Trees,
                        is_certain: (operand.used != PlaceUse::Nothing
                            || looks_like_path(&text)
                            || programs::looks_at(program, words, operand.at))
                            && is_first,
                    };
                    for (at, path) in paths(&text).into_iter().enumerate() {
                        if operand.creation == Creation::Inside {
                            // Where the last operand is a folder, the names come into it.
                            for source in sources.iter().filter_map(|source| last_part(source)) {
                                self.file(file(format!("{path}/{source}"), Creation::Inside, false));
                            }
                        }
                        let creation = match operand.creation {
                            Creation::Inside => Creation::Moved,
                            creation => creation,
                        };
                        self.file(file(path, creation, at == 0));
                    }
                }
            }
            None => {
                self.started(program);
                // The name of a host is none of a file.
                let is_host = |word: &&Word| {
                    let host = word.literal().and_then(|text| addresses::operand(&text));
                    host.is_some_and(|host| reached.contains(&host))
                };
                for word in words[1..].iter().filter(|word| !is_host(word)) {
                    self.unknown(word, paths);
                    // Of a program that opens its operands, each word that is no option may be one.
                    let operand =
                        word.literal().filter(|text| programs::is_known(program) && !text.starts_with('-'));
                    if let Some(path) = operand.and_then(|text| paths(&text).into_iter().next()) {
                        self.file(NamedFile {
                            path,
                            used: PlaceUse::Unknown,
                            creation: Creation::File,
                            with_content: true,
                            is_certain: true,
                        });
                    }
                }
            }
        }
    }

    /// Takes note of a program that is named by its path.
    pub(super) fn program(&mut self, paths: Vec<String>) {
        for path in paths {
            self.file(NamedFile {
                path,
                used: PlaceUse::Read,
                creation: Creation::Never,
                with_content: false,
                is_certain: true,
            });
        }
    }

    /// Takes note of a text of which only the command knows what it is.
    pub(super) fn unknown(&mut self, word: &Word, paths: &dyn Fn(&str) -> Vec<String>) {
        let mut add = |text: &str, is_certain: bool| {
            for (at, path) in paths(text).into_iter().enumerate() {
                self.file(NamedFile {
                    path,
                    used: PlaceUse::Unknown,
                    creation: Creation::File,
                    with_content: true,
                    is_certain: is_certain && at == 0,
                });
            }
        };
        if let Some(text) = word.literal()
            && !text.is_empty()
            && !text.starts_with('-')
            && !text.contains(['=', ':'])
        {
            add(&text, looks_like_path(&text));
        }
        for text in texts(word) {
            let is_option = text.starts_with('-') || text.contains('=');
            // `dd if=NAME of=NAME`.
            if let Some(name) = text.strip_prefix("if=").or_else(|| text.strip_prefix("of=")) {
                add(name, true);
            }
            for token in tokens(&text) {
                add(token, is_option && looks_like_path(token) && !token.starts_with('-'));
            }
        }
        if word.literal().is_none() && matches!(word.parts.first(), Some(Part::Home(_))) {
            self.computed(word, PlaceUse::Unknown);
        }
    }

    /// Takes note of a file that the shell itself opens.
    pub(super) fn redirection(&mut self, redirection: &Redirection, paths: &dyn Fn(&str) -> Vec<String>) {
        let used = match redirection.direction {
            Direction::Read => PlaceUse::Read,
            Direction::Write => PlaceUse::Change,
            Direction::Both => PlaceUse::Unknown,
        };
        let Some(text) = redirection.target.literal() else {
            return self.computed(&redirection.target, used);
        };
        if let Some(host) = host_of_device(&text) {
            return self.host(host, PlaceUse::Reach);
        }
        for (at, path) in paths(&text).into_iter().enumerate() {
            let is_certain = at == 0;
            self.file(NamedFile { path, used, creation: Creation::File, with_content: false, is_certain });
        }
    }

    /// Takes note of all words of a text that could not be read for certain.
    pub(super) fn unread(&mut self, text: &str, paths: &dyn Fn(&str) -> Vec<String>) {
        for (word, is_first) in rough_words(text) {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_./+-".contains(letter);
            if is_first && word.chars().all(is_name) && !programs::is_of_shell(&word) {
                self.started(&word);
            }
            for host in hosts(&word) {
                self.host(host, PlaceUse::Unknown);
            }
            if let Some(host) = host_of_device(&word) {
                self.host(host, PlaceUse::Reach);
            }
            self.unknown(&Word::literal_of(&word), paths);
        }
    }

    fn computed(&mut self, word: &Word, used: PlaceUse) {
        let shown = word.shown();
        if used != PlaceUse::Nothing && !self.computed.contains(&shown) {
            self.computed.push(shown);
        }
    }

    fn started(&mut self, program: &str) {
        if !self.started.iter().any(|known| known == program) {
            self.started.push(program.to_owned());
        }
    }

    fn host(&mut self, host: String, used: PlaceUse) {
        let is_full = self.hosts.len() >= MOST;
        match self.hosts.iter_mut().find(|(known, _)| *known == host) {
            Some((_, known)) if *known == PlaceUse::Nothing => *known = used,
            Some((_, known)) if used == PlaceUse::Reach => *known = used,
            Some(_) => {}
            None if is_full => self.is_cut = true,
            None => self.hosts.push((host, used)),
        }
    }

    /// Equal files count once, with all that is done with them.
    fn file(&mut self, mut file: NamedFile) {
        if self.folder_is_unknown && !file.path.starts_with(['/', '~']) {
            if file.is_certain && file.used != PlaceUse::Nothing && !self.astray.contains(&file.path) {
                self.astray.push(file.path.clone());
            }
            file.is_certain = false;
        }
        let is_same = |known: &&mut NamedFile| known.path == file.path && known.creation == file.creation;
        let is_full = self.files.len() >= MOST;
        match self.files.iter_mut().find(is_same) {
            Some(known) => {
                known.used = match (known.used, file.used) {
                    (one, other) if one == other => one,
                    (PlaceUse::Nothing, other) | (other, PlaceUse::Nothing) => other,
                    _ => PlaceUse::Unknown,
                };
                known.with_content |= file.with_content;
                known.is_certain |= file.is_certain;
            }
            None if is_full => self.is_cut = true,
            None => self.files.push(file),
        }
    }
}

/// Whether a text is written like the path of a file; others may be names all the same.
fn looks_like_path(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+~%, ".contains(letter);
    let has_extension =
        || text.split('.').skip(1).any(|part| part.starts_with(|letter: char| letter.is_alphabetic()));
    text.chars().all(is_plain) && (text.contains('/') || has_extension())
}

/// The host of `/dev/tcp/HOST/PORT`, which bash connects to.
fn host_of_device(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    rest.split('/').next().filter(|host| !host.is_empty()).map(str::to_owned)
}

/// The words of a text, without their quotes, each with whether a command may begin with it: for a text that no reader
/// understands.
fn rough_words(text: &str) -> Vec<(String, bool)> {
    let mut words = vec![(String::new(), true)];
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let is_end = letter.is_whitespace() || ";|&()<>`".contains(letter);
        match letter {
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            letter if quote == Some(letter) => quote = None,
            '\\' if quote != Some('\'') => {
                words.last_mut().into_iter().for_each(|(word, _)| word.extend(letters.next()))
            }
            _ if is_end && quote.is_none() => {
                let is_first = !letter.is_whitespace() && !"<>".contains(letter) || letter == '\n';
                let is_first =
                    is_first || words.last().is_some_and(|(word, is_first)| word.is_empty() && *is_first);
                words.push((String::new(), is_first));
            }
            letter => words.last_mut().into_iter().for_each(|(word, _)| word.push(letter)),
        }
    }
    words.retain(|(word, _)| !word.is_empty());
    words
}

/// The known texts of a word.
fn texts(word: &Word) -> Vec<String> {
    match word.literal() {
        Some(text) => vec![text],
        None => {
            let text = |part: &Part| match part {
                Part::Text(text, _) => Some(text.clone()),
                Part::Home(_) | Part::Value { .. } | Part::Pattern(_) => None,
            };
            word.parts.iter().filter_map(text).collect()
        }
    }
}

/// The parts of a text that could be names of files: `--file=NAME`, `@NAME`, `-fNAME`, `open('NAME')`.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let is_end = |letter: char| {
        letter.is_whitespace() || letter.is_control() || "=,:;@'\"`()[]{}<>|&!?*$\\".contains(letter)
    };
    let mut found: Vec<&str> = Vec::new();
    for token in text.split(is_end).filter(|token| !token.is_empty() && token.len() < 4_096) {
        found.push(token);
        // A letter of an option with its value.
        if let Some(rest) = token.strip_prefix('-').filter(|rest| !rest.starts_with('-'))
            && let Some((at, _)) = rest.char_indices().nth(1)
        {
            found.push(&rest[at..]);
        }
    }
    found
}

fn last_part(path: &str) -> Option<&str> {
    let last = path.trim_end_matches('/').rsplit('/').next()?;
    (!matches!(last, "" | "." | "..")).then_some(last)
}
