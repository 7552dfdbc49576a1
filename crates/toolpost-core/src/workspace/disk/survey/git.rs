//! What git runs in the workspace: the files that the configuration and the hooks of its repositories name.
//!
//! What those files run further is not looked for.

use super::Survey;
use super::links::{self, Links};
use crate::workspace::Mark;
use crate::workspace::disk::git::config::{Config, Value};
use crate::workspace::disk::git::words::{Word, words};
use crate::workspace::disk::git::{Repository, read, repository};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Maximum number of files that are read for one survey, and their largest size in bytes.
const MOST_FILES: usize = 1_000;
const LARGEST: u64 = 1 << 20;

/// Maximum number of words of all of them that are looked up.
const MOST_WORDS: usize = 20_000;

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

/// Marks what the repositories run, and reserves what they would run if it were there.
pub(super) fn protect(survey: &mut Survey<'_>, found: &[PathBuf]) {
    let mut programs = Programs { survey, files: 0, words: 0, read: BTreeSet::new() };
    for (top, repository) in programs.repositories(found) {
        programs.of(&top, &repository);
    }
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
        all.extend(tops.into_iter().filter_map(|top| Some((top.clone(), repository(&top)?))));
        all
    }

    fn of(&mut self, top: &Path, repository: &Repository) {
        for folder in BTreeSet::from([&repository.own, &repository.shared]) {
            self.own_files(folder);
        }
        let mut folders = vec![repository.shared.join("hooks")];
        for file in [repository.shared.join("config"), repository.own.join("config.worktree")] {
            self.config(top, &file, &mut folders, 0);
        }
        for folder in folders {
            self.hooks(top, &folder);
        }
    }

    /// What git reads its programs and pointers from, in a repository that is not called `.git`. The protected list has
    /// the others.
    fn own_files(&mut self, folder: &Path) {
        if folder.components().any(|part| part.as_os_str() == ".git") {
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

    fn config(&mut self, top: &Path, file: &Path, hooks: &mut Vec<PathBuf>, depth: usize) {
        let Some(text) = self.text(top, file) else { return };
        let config = Config::parse(&text);
        let folder = file.parent().unwrap_or(top).to_path_buf();
        for Value { section, key, value, .. } in config.values() {
            let path = || Path::new(OsStr::from_bytes(value));
            match (section.as_str(), key.as_str()) {
                ("include" | "includeif", "path") => {
                    let included = folder.join(path());
                    self.survey.inherit(&included, Mark::Locked);
                    if depth < DEEPEST_INCLUDE && self.survey.name(&included).is_some() {
                        self.config(top, &included, hooks, depth + 1);
                    }
                }
                ("core", "hookspath") => {
                    let chosen = links::follow(&top.join(path())).end;
                    self.survey.inherit(&top.join(path()), Mark::Locked);
                    if self.survey.roots.names.iter().any(|root| Path::new(&root.path) == chosen) {
                        HOOKS.iter().for_each(|name| self.survey.inherit(&chosen.join(name), Mark::Locked));
                    }
                    hooks.push(chosen);
                }
                ("alias", _) if value.starts_with(b"!") => self.command(top, value),
                ("submodule", "update") if value.starts_with(b"!") => self.command(top, value),
                ("pager", _) | ("mergetool" | "difftool" | "browser" | "man", "path") => {
                    self.command(top, value)
                }
                ("sequence", "editor") => self.command(top, value),
                (_, key) if RUN.contains(&key) => self.command(top, value),
                (_, key) if key.ends_with("path") && section == "lfs" => self.command(top, value),
                _ => {}
            }
        }
    }

    /// The hooks in a folder, which itself is marked by whoever named it.
    fn hooks(&mut self, top: &Path, folder: &Path) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(handle) = openat(CWD, folder, flags, Mode::empty()) else { return };
        let Ok(listing) = Dir::read_from(&handle) else { return };
        let mut names: Vec<Vec<u8>> = listing
            .filter_map(|entry| Some(entry.ok()?.file_name().to_bytes().to_vec()))
            .filter(|name| !name.starts_with(b".") && !name.ends_with(b".sample"))
            .take(MOST_HOOKS)
            .collect();
        names.sort();
        for name in names {
            let script = folder.join(OsStr::from_bytes(&name));
            let Some(text) = self.text(top, &script).filter(|text| !text.contains(&0)) else { continue };
            let text = String::from_utf8_lossy(&text).into_owned();
            for word in words(&text) {
                self.word(top, &word);
            }
        }
    }

    fn command(&mut self, top: &Path, value: &[u8]) {
        let text = String::from_utf8_lossy(value).into_owned();
        for word in words(text.trim_start_matches('!')) {
            self.word(top, &word);
        }
    }

    /// Protects the file that a word names. Without a `/` a word names a program of the machine, unless it is given to
    /// one that runs files, or such a program is there.
    fn word(&mut self, top: &Path, Word { text, is_run, is_continued }: &Word) {
        let is_path = text.contains('/');
        let is_plain = text.chars().any(|letter| letter != '.' && letter != '/') && !text.starts_with('~');
        if !is_plain || self.words == MOST_WORDS {
            return;
        }
        self.words += 1;
        let is_absolute = text.starts_with('/') && !is_continued;
        let path = if is_absolute { PathBuf::from(text) } else { top.join(text.trim_start_matches('/')) };
        let Links { end, is_there, links } = links::follow(&path);
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
