//! What git runs in the workspace: the files that the configuration and the hooks of its repositories name.
//!
//! What those files run further is not looked for.

use super::Survey;
use super::links::{self, Links};
use crate::git::code::{Code, ENDINGS, is_code};
use crate::git::config::{Config, Value};
use crate::git::script::{Computed, Script};
use crate::git::words::{Word, words};
use crate::git::{Repository, read, repository};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::Mark;

/// Maximum number of files that are read for one repository, and their largest size in bytes.
const MOST_FILES: usize = 1_000;
const LARGEST: u64 = 1 << 20;

/// Maximum number of words of all of them that are looked up.
const MOST_WORDS: usize = 20_000;

/// Maximum number of files and words for all repositories together. Beyond that the survey fails, since folders that
/// were made to look like repositories must not use up what is left for a real one.
const MOST_IN_ALL: usize = 40 * MOST_WORDS;

/// Maximum number of folders that one text is taken to change to, and that it is taken to mention.
const MOST_FOLDERS: usize = 32;

/// Maximum number of entries of a folder of hooks that are looked at.
const MOST_HOOKS: usize = 256;

/// Maximum number of entries of any other folder that are looked at.
const MOST_ENTRIES: usize = 2_000;

/// How many names in quotes are put together to a path.
const DEEPEST_JOIN: usize = 3;

/// Folders in which programs that are installed or built lie: the mention of something in them does not protect them whole.
const MADE: &[&str] = &["node_modules", "target", "dist", "build", "vendor", ".venv", "venv"];

/// How deep configurations may include each other; git's own limit is 10.
const DEEPEST_INCLUDE: usize = 10;

/// The hooks that git runs.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// What chooses programs and other repositories, in a repository's folder.
const OWN_FILES: &[&str] = &[
    "config",
    "config.worktree",
    "hooks",
    "commondir",
    "info/attributes",
    "objects/info/alternates",
    "objects/info/http-alternates",
];

/// Keys whose values git runs, in whatever section.
const RUN: &[&str] = &[
    "alternaterefscommand",
    "askpass",
    "cccmd",
    "clean",
    "cmd",
    "command",
    "defaultkeycommand",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "headercmd",
    "helper",
    "httpd",
    "packobjectshook",
    "pager",
    "process",
    "program",
    "receivepack",
    "sendmailcmd",
    "sequenceeditor",
    "smtpserver",
    "smudge",
    "sshcommand",
    "textconv",
    "tocmd",
    "tunnel",
    "uploadarchive",
    "uploadpack",
    "vcs",
];

/// Programs in these folders know nothing of a workspace.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store"];

/// Marks what the repositories run, and reserves what they would run if it were there.
pub(super) fn protect(survey: &mut Survey<'_>, found: &[PathBuf]) {
    let mut programs = Programs { survey, files: 0, words: 0, read: BTreeSet::new() };
    let user_git = programs.survey.user_git;
    // What the user's own configuration names by a whole path runs in repositories elsewhere, too.
    let nowhere = Path::new("/");
    let at = Place { top: nowhere, own: nowhere, script: nowhere };
    user_git.files.iter().for_each(|file| programs.survey.inherit(file, Mark::Locked));
    programs.configurations(at, &user_git.files);
    let mut all = 0;
    for (top, repository) in programs.repositories(found) {
        (programs.files, programs.words) = (0, 0);
        programs.of(&top, &repository);
        all += programs.files + programs.words;
        if all > MOST_IN_ALL {
            programs.survey.unread = Some(top);
            return;
        }
    }
}

/// Where a text stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Where git runs it.
    top: &'a Path,
    /// The repository's own folder.
    own: &'a Path,
    /// The folder that the text itself lies in.
    script: &'a Path,
}

/// Where a text in another language looks for its modules first.
#[derive(Clone, Copy, PartialEq)]
enum From {
    /// Where git runs it.
    Top,
    /// Where the script lies.
    Script,
}

struct Programs<'a, 'b> {
    survey: &'a mut Survey<'b>,
    files: usize,
    words: usize,
    read: BTreeSet<(PathBuf, PathBuf)>,
}

impl Programs<'_, '_> {
    /// Working trees with their repositories: those found, and those that the roots lie in.
    fn repositories(&self, found: &[PathBuf]) -> Vec<(PathBuf, Repository)> {
        let mut all: Vec<(PathBuf, Repository)> = Vec::new();
        let mut tops: BTreeSet<PathBuf> = BTreeSet::new();
        for path in found {
            if path.file_name() == Some(OsStr::new(".git")) {
                tops.extend(path.parent().map(Path::to_path_buf));
            } else {
                // The repository of a submodule or a worktree, or a bare one.
                let named = read(&path.join("config"), LARGEST).map(|text| Config::parse(&text));
                let worktree = named.as_ref().and_then(|config| config.last("core", "worktree"));
                let top = worktree.map_or_else(|| path.clone(), |named| path.join(OsStr::from_bytes(named)));
                let top = links::follow(&top).end;
                all.push((top, Repository { own: path.clone(), shared: path.clone() }));
            }
        }
        for root in &self.survey.roots.names {
            let above = Path::new(&root.path)
                .ancestors()
                .find(|folder| folder.join(".git").symlink_metadata().is_ok());
            tops.extend(above.map(Path::to_path_buf));
        }
        for (top, repository) in tops.into_iter().filter_map(|top| Some((top.clone(), repository(&top)?))) {
            // Its hooks may run in another folder.
            let named = read(&repository.shared.join("config"), LARGEST).map(|text| Config::parse(&text));
            let worktree = named.as_ref().and_then(|config| config.last("core", "worktree"));
            let worktree =
                worktree.map(|named| links::follow(&repository.own.join(OsStr::from_bytes(named))).end);
            all.extend(worktree.filter(|other| *other != top).map(|other| (other, repository.clone())));
            all.push((top, repository));
        }
        all
    }

    fn of(&mut self, top: &Path, repository: &Repository) {
        for folder in BTreeSet::from([&repository.own, &repository.shared]) {
            self.own_files(folder);
        }
        let at = Place { top, own: &repository.own, script: &repository.own };
        self.hooks(Place { script: &repository.shared.join("hooks"), ..at });
        let own = [repository.shared.join("config"), repository.own.join("config.worktree")];
        let files: Vec<PathBuf> = self.survey.user_git.files.iter().cloned().chain(own).collect();
        self.configurations(at, &files);
    }

    /// What configurations name, and the hooks in the folders that they choose.
    fn configurations(&mut self, at: Place<'_>, files: &[PathBuf]) {
        let mut folders = Vec::new();
        for file in files {
            self.config(at, file, &mut folders, 0);
        }
        for folder in folders {
            self.hooks(Place { script: &folder, ..at });
        }
    }

    /// What git reads its programs and pointers from. In a repository that is called `.git`, the protected list has
    /// these names, and only what they lead to as links is left.
    fn own_files(&mut self, folder: &Path) {
        if folder.components().any(|part| part.as_os_str() == ".git") {
            for link in OWN_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_symlink()) {
                self.survey.inherit(&link, Mark::Locked);
            }
            return;
        }
        for name in OWN_FILES {
            self.survey.inherit(&folder.join(name), Mark::Locked);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(handle) = openat(CWD, folder.join("worktrees"), flags, Mode::empty()) else { return };
        let Ok(listing) = Dir::read_from(&handle) else { return };
        for entry in listing.flatten().take(MOST_HOOKS) {
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                let own = folder.join("worktrees").join(OsStr::from_bytes(name));
                let files = ["commondir", "gitdir", "config.worktree"].map(|file| own.join(file));
                files.iter().for_each(|file| self.survey.inherit(file, Mark::Locked));
            }
        }
    }

    fn config(&mut self, at: Place<'_>, file: &Path, hooks: &mut Vec<PathBuf>, depth: usize) {
        let top = at.top;
        let Some(text) = self.text(top, file) else { return };
        let config = Config::parse(&text);
        // A configuration may be a link; what it includes is meant from where it is, or from where it seems to be.
        let folders: BTreeSet<PathBuf> = [file.to_path_buf(), links::follow(file).end]
            .iter()
            .filter_map(|file| Some(file.parent()?.to_path_buf()))
            .collect();
        for Value { section, key, value, .. } in config.values() {
            let path = || self.survey.user_git.path(value);
            match (section.as_str(), key.as_str()) {
                // Whatever the condition: a branch or a folder that it asks for may come.
                ("include" | "includeif", "path") => {
                    let Some(path) = path() else { continue };
                    for included in folders.iter().map(|folder| folder.join(&path)) {
                        self.survey.inherit(&included, Mark::Locked);
                        if depth < DEEPEST_INCLUDE {
                            self.config(at, &included, hooks, depth + 1);
                        }
                    }
                }
                // What is copied into every new repository.
                ("init", "templatedir") => {
                    let Some(path) = path() else { continue };
                    self.survey.inherit(&top.join(&path), Mark::Locked);
                    hooks.push(links::follow(&top.join(path).join("hooks")).end);
                }
                ("core", "hookspath") => {
                    let Some(path) = path() else { continue };
                    let chosen = links::follow(&top.join(&path)).end;
                    self.survey.inherit(&top.join(path), Mark::Locked);
                    if self.survey.roots.names.iter().any(|root| Path::new(&root.path) == chosen) {
                        HOOKS.iter().for_each(|name| self.survey.inherit(&chosen.join(name), Mark::Locked));
                    }
                    hooks.push(chosen);
                }
                ("alias", _) if value.starts_with(b"!") => self.command(at, value),
                // `git -c core.pager=… log`
                ("alias", _) if value.windows(2).any(|two| two == b"-c") => self.command(at, value),
                ("submodule", "update") if value.starts_with(b"!") => self.command(at, value),
                ("pager", _) | ("mergetool" | "difftool" | "browser" | "man", "path") => {
                    self.command(at, value)
                }
                ("sequence", "editor") => self.command(at, value),
                (_, key) if RUN.contains(&key) => self.command(at, value),
                (_, key) if key.ends_with("path") && section == "lfs" => self.command(at, value),
                _ => {}
            }
        }
    }

    /// The hooks in the folder of scripts, which itself is marked by whoever named it.
    fn hooks(&mut self, at: Place<'_>) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(handle) = openat(CWD, at.script, flags, Mode::empty()) else { return };
        let Ok(listing) = Dir::read_from(&handle) else { return };
        let mut names: Vec<Vec<u8>> = listing
            .filter_map(|entry| Some(entry.ok()?.file_name().to_bytes().to_vec()))
            .filter(|name| !name.starts_with(b".") && !name.ends_with(b".sample"))
            .take(MOST_HOOKS)
            .collect();
        names.sort();
        for name in names {
            let script = at.script.join(OsStr::from_bytes(&name));
            if script.is_symlink() {
                self.survey.inherit(&script, Mark::Locked);
            }
            let Some(text) = self.text(at.top, &script).filter(|text| !text.contains(&0)) else { continue };
            self.script_or_code(at, &String::from_utf8_lossy(&text));
        }
    }

    /// Protects what a script runs, in the language that its first line names.
    fn script_or_code(&mut self, at: Place<'_>, text: &str) {
        let interpreter = text.strip_prefix("#!").and_then(|text| text.lines().next()).unwrap_or_default();
        for word in interpreter.split_whitespace().filter(|word| word.contains(['/', '.'])) {
            self.word(at.top, &written(word));
        }
        match is_code(text) {
            true => {
                self.plain_words(at, &[at.top.to_path_buf()], text, |_| false);
                self.code(at, text, From::Script);
            }
            false => self.script(at, text),
        }
    }

    fn command(&mut self, at: Place<'_>, value: &[u8]) {
        let text = String::from_utf8_lossy(value).into_owned();
        let text = text.trim_start_matches('!');
        // Some programs are started without a shell: then a space is a part of the name.
        if text.contains(' ') && at.top.join(text).is_file() {
            self.word(at.top, &written(text));
        }
        self.script(at, text);
        for word in words(text) {
            self.outside(at, &word);
        }
    }

    /// Reads a program that lies outside of the workspace and that git's configuration names by a whole path: it may run
    /// files of the workspace. What is a part of the system does not.
    fn outside(&mut self, at: Place<'_>, word: &Word) {
        let Some(path) = self.survey.user_git.path(word.text.as_bytes()).filter(|path| path.is_absolute())
        else {
            return;
        };
        let file = links::follow(&path).end;
        let is_of_system =
            SYSTEM.iter().any(|folder| file.starts_with(folder)) && !file.starts_with("/usr/local");
        if word.is_continued || is_of_system || self.survey.name(&file).is_some() {
            return;
        }
        if let Some(text) = self.text(at.top, &file).filter(|text| !text.contains(&0)) {
            let folder = file.parent().unwrap_or(at.script).to_path_buf();
            self.script_or_code(Place { script: &folder, ..at }, &String::from_utf8_lossy(&text));
        }
    }

    /// Protects what a text for a shell runs.
    fn script(&mut self, at: Place<'_>, text: &str) {
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
    fn plain_words(
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
            let bases = entered.iter().cloned().chain([at.own, at.script].map(Path::to_path_buf));
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
    fn code(&mut self, at: Place<'_>, text: &str, from: From) {
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
    fn word(&mut self, base: &Path, Word { text, is_run, is_continued }: &Word) {
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

    /// The text of a file, once for each working tree.
    fn text(&mut self, top: &Path, file: &Path) -> Option<Vec<u8>> {
        let is_new = self.read.insert((top.to_path_buf(), file.to_path_buf()));
        if !is_new || self.files == MOST_FILES {
            return None;
        }
        self.files += 1;
        read(file, LARGEST)
    }
}

/// A name that is known to be run.
fn written(text: &str) -> Word {
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
