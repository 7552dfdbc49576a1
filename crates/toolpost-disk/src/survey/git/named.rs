//! What scripts name: hooks, and the programs of git's configuration.
//!
//! The readers of texts are in `crate::git`. Here names become paths of the workspace, and are protected.

use super::super::links::{self, Links};
use super::{From, LARGEST, MOST_WORDS, Place, Programs};
use crate::git::code::{Code, ENDINGS};
use crate::git::read;
use crate::git::script::{Computed, Script};
use crate::git::words::{Word, words};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::Mark;

/// Maximum number of folders that one text is taken to change to, and that it is taken to mention.
const MOST_FOLDERS: usize = 32;

/// Maximum number of entries of any other folder that are looked at.
const MOST_ENTRIES: usize = 2_000;

/// How many names in quotes are put together to a path.
const DEEPEST_JOIN: usize = 3;

/// Folders in which programs that are installed or built lie: the mention of something in them does not protect them whole.
const MADE: &[&str] = &["node_modules", "target", "dist", "build", "vendor", ".venv", "venv"];

impl Programs<'_, '_> {
    /// Protects what a text for a shell runs.
    pub(super) fn script(&mut self, at: Place<'_>, text: &str) {
        let home = self.survey.user_git.home.as_ref().and_then(|home| home.to_str());
        let script = Script::read(text, home);
        let mut entered = vec![at.top.to_path_buf()];
        for folder in &script.entered {
            // `cd "${0%/*}/../../tools"`
            let others = [at.own, at.script].map(Path::to_path_buf).into_iter();
            let others = others.filter(|_| folder.contains(".."));
            for base in entered.iter().cloned().chain(others).collect::<Vec<_>>() {
                let found = links::follow(&base.join(folder)).end;
                let is_new = entered.len() < MOST_FOLDERS && !entered.contains(&found);
                if is_new && found.is_dir() && self.survey.name(&found).is_some() {
                    entered.push(found);
                }
            }
        }
        // A folder of programs need not be there; what is looked for in it is protected below.
        let is_searched =
            |name: &str| script.searched.iter().any(|folder| folder.trim_end_matches('/') == name);
        let words = self.plain_words(at, &entered, text, is_searched);
        for name in script.names.iter().filter(|name| !is_searched(name)) {
            entered.iter().for_each(|base| self.word(base, &written(name)));
        }
        for name in &script.interpreted {
            for base in &entered {
                self.word(base, &written(name));
                self.folder(at, &base.join(name));
                // `node tools/run` runs `tools/run.js`.
                for name in ENDINGS.iter().map(|ending| format!("{name}.{ending}")) {
                    if base.join(&name).is_file() {
                        self.word(base, &written(&name));
                    }
                }
            }
        }
        for module in script.modules.iter().map(|module| module.replace('.', "/")) {
            for base in &entered {
                self.module(base, &module);
                for library in &script.libraries {
                    self.module_there(&base.join(library), &module);
                }
            }
        }
        for folder in &script.searched {
            let is_name =
                |program: &&String| !program.contains('/') && program.contains(char::is_alphanumeric);
            let programs = script.programs.iter().filter(is_name);
            for name in programs.map(|program| format!("{folder}/{program}")) {
                entered.iter().for_each(|base| self.word(base, &written(&name)));
            }
        }
        for computed in &script.computed {
            self.computed(at, &entered, &words, &script, computed);
        }
        for code in &script.codes {
            self.code(at, code, From::Top);
        }
        if script.is_unclear {
            self.mentioned(at, &entered, &words, &script);
        }
    }

    /// Protects what the plain words of a text name, in whatever language it is.
    pub(super) fn plain_words(
        &mut self,
        at: Place<'_>,
        entered: &[PathBuf],
        text: &str,
        is_searched: impl Fn(&str) -> bool,
    ) -> Vec<Word> {
        // What is computed before a `/` is often the top; before `/..` also `$GIT_DIR` and the folder of the script.
        let continued: Vec<PathBuf> =
            entered.iter().cloned().chain([at.own.to_path_buf(), at.script.to_path_buf()]).collect();
        let words = words(text);
        for word in words.iter().filter(|word| !is_searched(word.text.trim_start_matches('/'))) {
            let bases = if word.is_continued && word.text.contains("..") { &continued[..] } else { entered };
            bases.iter().for_each(|base| self.word(base, word));
        }
        words
    }

    /// Protects the folders in which a program with a computed name may lie: the one that is written before the computed
    /// part or, where there is none, all that the text mentions.
    fn computed(
        &mut self,
        at: Place<'_>,
        entered: &[PathBuf],
        words: &[Word],
        script: &Script,
        Computed { before, after, glob, is_interpreted }: &Computed,
    ) {
        let written_before = before.rsplit_once('/').map(|(folder, _)| folder).unwrap_or_default();
        if written_before.chars().any(|letter| letter != '.' && letter != '/') {
            entered.iter().for_each(|base| self.folder(at, &base.join(written_before)));
            return;
        }
        if let Some(glob) = glob {
            entered.iter().for_each(|base| self.survey.close_glob(base, glob));
            return;
        }
        if after.contains('/') {
            let others = [at.own, at.script].map(Path::to_path_buf).into_iter();
            let others = others.filter(|_| after.contains(".."));
            let bases = entered.iter().cloned().chain(others);
            bases.for_each(|base| self.word(&base, &written(after.trim_start_matches('/'))));
        }
        let searched = |text: &str| script.searched.iter().any(|folder| folder == text);
        let mentioned: Vec<PathBuf> = words
            .iter()
            .map(|word| word.text.trim_start_matches('/'))
            .filter(|text| !searched(text) && text.chars().any(|letter| letter != '.' && letter != '/'))
            .flat_map(|text| entered.iter().map(move |base| base.join(text)))
            .filter(|folder| folder.is_dir())
            .take(MOST_FOLDERS)
            .collect();
        for folder in mentioned.iter().chain(&entered[1..]) {
            match (after.contains('/'), is_interpreted) {
                (true, _) => self.word(folder, &written(after.trim_start_matches('/'))),
                (false, true) => self.folder(at, folder),
                (false, false) => self.programs_in(at, folder),
            }
        }
        if !after.contains('/') {
            self.mentioned(at, entered, words, script);
        }
    }

    /// Protects every folder of which a text speaks that runs something unknown: written out, as the folder of a file, or
    /// in other letters.
    fn mentioned(&mut self, at: Place<'_>, entered: &[PathBuf], words: &[Word], script: &Script) {
        let texts: BTreeSet<&str> = words
            .iter()
            .map(|word| word.text.as_str())
            .chain(script.names.iter().map(String::as_str))
            .collect();
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for text in texts.into_iter().map(|text| text.trim_start_matches('/')) {
            if script.searched.iter().any(|folder| text.starts_with(folder.as_str())) {
                continue;
            }
            for base in entered {
                let found = in_any_case(base, text);
                let is_itself = found.components().count()
                    == base.components().count() + Path::new(text).components().count();
                let is_made = found.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made));
                if folders.len() < MOST_FOLDERS && found != *base && (is_itself || !is_made) {
                    folders.insert(found);
                }
            }
        }
        folders.iter().chain(&entered[1..]).for_each(|folder| self.programs_in(at, folder));
    }

    /// Protects a folder whole if most of its files are programs, and the programs in it otherwise.
    fn programs_in(&mut self, at: Place<'_>, folder: &Path) {
        let (programs, all) = programs(folder);
        if !programs.is_empty() && programs.len() * 2 >= all {
            self.folder(at, folder);
            return;
        }
        if !at.top.starts_with(links::follow(folder).end) {
            programs.iter().for_each(|program| self.survey.inherit(program, Mark::Locked));
        }
    }

    /// Protects what a text in another language names: files whose name, or the parts of it, stand in quotes, modules in
    /// the folders that it mentions and, if it goes through folders, those that hold programs.
    pub(super) fn code(&mut self, at: Place<'_>, text: &str, from: From) {
        let code = Code::read(text);
        let mut folders = vec![at.top.to_path_buf(), at.script.to_path_buf()];
        for _ in 0..DEEPEST_JOIN {
            for folder in folders.clone() {
                for name in &code.strings {
                    let found = links::follow(&folder.join(name)).end;
                    let is_new = folders.len() < MOST_FOLDERS && !folders.contains(&found);
                    if is_new
                        && found.is_dir()
                        && self.survey.name(&found).is_some_and(|name| !name.is_empty())
                    {
                        folders.push(found);
                    }
                }
            }
        }
        for (index, folder) in folders.iter().enumerate() {
            for name in &code.strings {
                let has_ending = |name: &str| {
                    ENDINGS
                        .iter()
                        .any(|ending| name.strip_suffix(ending).is_some_and(|stem| stem.ends_with('.')))
                };
                let is_run = index > 1 || has_ending(name);
                let word = |name: &str| Word { text: name.to_owned(), is_run, is_continued: false };
                if folder.join(name).is_file() {
                    self.word(folder, &word(name));
                }
                for name in ENDINGS.iter().map(|ending| format!("{name}.{ending}")) {
                    if (index > 1 || name.contains('/')) && folder.join(&name).is_file() {
                        self.word(folder, &written(&name));
                    }
                }
            }
            if index != 0 || from == From::Top || text.contains("sys.path") {
                code.modules.iter().for_each(|module| self.module_there(folder, module));
            }
            if index > 1 && code.searches {
                self.programs_in(at, folder);
            }
        }
    }

    /// Protects the files that a module of Python is made of, whether they are there or not.
    fn module(&mut self, base: &Path, module: &str) {
        let parents = Path::new(module).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        let mut files: Vec<PathBuf> = parents.map(|parent| parent.join("__init__.py")).collect();
        files.extend(
            [format!("{module}.py"), format!("{module}/__init__.py"), format!("{module}/__main__.py")]
                .map(PathBuf::from),
        );
        for file in files.iter().filter_map(|file| file.to_str()) {
            self.word(base, &written(file));
        }
    }

    /// The same for a module that may lie elsewhere: only what is there counts.
    fn module_there(&mut self, base: &Path, module: &str) {
        let endings = [".py", "/__init__.py", ".pm", ".rb", ".js"].iter();
        for file in endings.map(|ending| format!("{module}{ending}")) {
            if base.join(&file).is_file() {
                self.word(base, &written(&file));
            }
        }
    }

    /// Protects a folder of the workspace, unless it holds the working tree itself.
    fn folder(&mut self, at: Place<'_>, folder: &Path) {
        let end = links::follow(folder).end;
        let is_inside = end.is_dir() && self.survey.name(&end).is_some();
        if is_inside && !at.top.starts_with(&end) && !end.starts_with(at.own) {
            self.survey.inherit(folder, Mark::Locked);
        }
    }

    /// Protects the file that a word names. Without a `/` a word names a program of the machine, unless it is given to
    /// one that runs files, or such a program is there.
    pub(super) fn word(&mut self, base: &Path, Word { text, is_run, is_continued }: &Word) {
        let is_path = text.contains('/');
        let in_home = text.starts_with('~').then(|| self.survey.user_git.path(text.as_bytes())).flatten();
        let is_plain = text.chars().any(|letter| letter != '.' && letter != '/')
            && (!text.starts_with('~') || in_home.is_some());
        if !is_plain || self.words == MOST_WORDS {
            return;
        }
        self.words += 1;
        let is_absolute = text.starts_with('/') && !is_continued;
        let path = match in_home {
            Some(path) => path,
            None if is_absolute => PathBuf::from(text),
            None => base.join(text.trim_start_matches('/')),
        };
        let Links { end, is_there, links, .. } = links::follow(&path);
        if self.survey.name(&end).is_none() && links.iter().all(|link| self.survey.name(link).is_none()) {
            return;
        }
        let found = end.symlink_metadata().ok();
        let is_file = found.as_ref().is_some_and(std::fs::Metadata::is_file);
        let is_program = found.is_some_and(|found| found.permissions().mode() & 0o111 != 0);
        let is_named = match is_there {
            true => is_file && (is_path || *is_run || is_program),
            // Nothing is reserved for words such as `check`; a file has an ending, or stands in a folder.
            false => is_path || (*is_run && text.contains('.')),
        };
        if is_named {
            self.survey.inherit(&path, Mark::Locked);
        }
    }
}

/// A name that is known to be run.
pub(super) fn written(text: &str) -> Word {
    Word { text: text.to_owned(), is_run: true, is_continued: false }
}

/// The longest part of a path from here that is a folder, whatever the case of its letters.
fn in_any_case(base: &Path, text: &str) -> PathBuf {
    let mut folder = base.to_path_buf();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        let exact = folder.join(part);
        let next = match exact.is_dir() {
            true => Some(exact),
            false => entries(&folder)
                .into_iter()
                .filter(|name| name.eq_ignore_ascii_case(part))
                .map(|name| folder.join(name))
                .find(|path| path.is_dir()),
        };
        let Some(next) = next else { break };
        folder = next;
    }
    folder
}

/// The files of a folder that are programs, and how many files there are. A program may be executed, begins as a script
/// does, or is called like one.
fn programs(folder: &Path) -> (Vec<PathBuf>, usize) {
    let files = entries(folder).into_iter().map(|name| folder.join(name)).filter(|path| path.is_file());
    let files: Vec<PathBuf> = files.collect();
    let is_program = |file: &&PathBuf| {
        let may_run = || file.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
        let is_called_so = file.extension().is_some_and(|ending| ending == "sh" || ending == "bash");
        is_called_so || may_run() || read(file, LARGEST).is_some_and(|text| text.starts_with(b"#!"))
    };
    (files.iter().filter(is_program).cloned().collect(), files.len())
}

fn entries(folder: &Path) -> Vec<std::ffi::OsString> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(handle) = openat(CWD, folder, flags, Mode::empty()) else { return Vec::new() };
    let Ok(listing) = Dir::read_from(&handle) else { return Vec::new() };
    let names = listing.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    names.filter(|name| name != "." && name != "..").take(MOST_ENTRIES).collect()
}
