//! What git runs in the workspace: the files that the configuration and the hooks of its repositories name.
//!
//! What those files run further is not looked for.

mod named;

use super::Survey;
use super::links;
use crate::git::code::is_code;
use crate::git::config::{Config, Value};
use crate::git::words::{Word, words};
use crate::git::{Repository, is_refused, read, repository};
use named::written;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
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

/// Maximum number of entries of a folder of hooks that are looked at.
const MOST_HOOKS: usize = 256;

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
        for root in self.survey.roots.names.iter() {
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
        let handle = match openat(CWD, at.script, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::ACCESS) => return self.survey.must_see(Some(at.script)),
            Err(_) => return,
        };
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

    /// The text of a file, once for each working tree.
    fn text(&mut self, top: &Path, file: &Path) -> Option<Vec<u8>> {
        let is_new = self.read.insert((top.to_path_buf(), file.to_path_buf()));
        if !is_new || self.files == MOST_FILES {
            return None;
        }
        self.files += 1;
        let text = read(file, LARGEST);
        if text.is_none() && is_refused(file) {
            self.survey.must_see(Some(file));
        }
        text
    }
}
