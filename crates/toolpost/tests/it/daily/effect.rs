//! What a line has done: how it ended, what it printed, and what became of the project and of the home folder.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Folders of the home that hold what can be made again.
const CACHES: [&str; 9] = [
    ".npm",
    ".cache",
    ".cargo",
    ".rustup",
    "go",
    ".local",
    ".config",
    ".python_history",
    ".node_repl_history",
];

/// What a line has done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effect {
    pub(super) status: i64,
    pub(super) output: String,
    tree: BTreeMap<String, String>,
}

/// Whether contents count, or names alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Contents {
    Compared,
    Ignored,
}

impl Effect {
    pub(super) fn new(status: i64, output: &str, project: &Path, home: &Path, contents: Contents) -> Effect {
        let mut tree = BTreeMap::new();
        look(project, "", contents, &mut tree);
        for name in names(home) {
            if !CACHES.contains(&name.as_str()) {
                look_at(&home.join(&name), &format!("~/{name}"), contents, &mut tree);
            }
        }
        Effect { status, output: normal(output), tree }
    }

    /// The first differences, each in a clause; none where the line has done the same.
    pub(super) fn differences(&self, other: &Effect, output_counts: bool) -> Vec<String> {
        let mut found = Vec::new();
        if self.status != other.status {
            found.push(format!("exit status {} instead of {}", other.status, self.status));
        }
        let names = self.tree.keys().chain(other.tree.keys());
        let mut names: Vec<&String> =
            names.filter(|name| self.tree.get(*name) != other.tree.get(*name)).collect();
        names.sort();
        names.dedup();
        for name in names.iter().take(3) {
            let shown = |effect: &Effect| {
                effect.tree.get(*name).map_or("nothing", String::as_str).replace('\n', "; ")
            };
            found.push(format!("`{name}` is {} instead of {}", shown(other), shown(self)));
        }
        if names.len() > 3 {
            found.push(format!("{} more files differ", names.len() - 3));
        }
        if output_counts && self.output != other.output {
            let lines = self.output.lines().zip(other.output.lines()).find(|(one, two)| one != two);
            found.push(match lines {
                Some((one, two)) => format!("it prints `{two}` instead of `{one}`"),
                None => format!("it prints {:?} instead of {:?}", tail(&other.output), tail(&self.output)),
            });
        }
        found
    }
}

fn tail(text: &str) -> String {
    let from = text.char_indices().rev().nth(150).map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn look(folder: &Path, name: &str, contents: Contents, tree: &mut BTreeMap<String, String>) {
    for entry in names(folder) {
        let whole = if name.is_empty() { entry.clone() } else { format!("{name}/{entry}") };
        look_at(&folder.join(&entry), &whole, contents, tree);
    }
}

fn look_at(path: &Path, name: &str, contents: Contents, tree: &mut BTreeMap<String, String>) {
    let Ok(found) = path.symlink_metadata() else { return };
    let mode = found.permissions().mode() & 0o7777;
    let last = name.rsplit('/').next().unwrap_or(name);
    if found.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        tree.insert(name.to_owned(), format!("a link to {}", target.display()));
    } else if found.is_dir() {
        let is_repository = ["HEAD", "objects", "refs"].iter().all(|part| path.join(part).exists());
        let text = if is_repository { repository(path) } else { String::new() };
        tree.insert(name.to_owned(), format!("a folder ({mode:o}) {text}"));
        // Names there are drawn by lot.
        if !is_repository && last != "incremental" {
            look(path, name, contents, tree);
        }
    } else {
        // Programs write times into what they can make again.
        let is_made =
            name.split('/').any(|part| matches!(part, "target" | ".pytest_cache" | "__pycache__" | "build"));
        let is_archive =
            [".tgz", ".zip", ".tar.gz", ".db", ".pyc", ".o"].iter().any(|end| last.ends_with(end));
        let held = match contents == Contents::Ignored || is_made || is_archive {
            true => String::new(),
            false => {
                let mut hasher = DefaultHasher::new();
                fs::read(path).unwrap_or_default().hash(&mut hasher);
                format!("{:x}", hasher.finish())
            }
        };
        tree.insert(name.to_owned(), format!("a file ({mode:o}) {held}"));
    }
}

/// What git says of a repository: objects have other names each time, since a commit knows its time.
fn repository(path: &Path) -> String {
    let ask = |args: &[&str]| {
        let done =
            Command::new("git").arg("--git-dir").arg(path).args(args).env("GIT_OPTIONAL_LOCKS", "0").output();
        let text = done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default();
        normal(&text)
    };
    let top = path.parent().unwrap_or(path).display().to_string();
    let hooks = names(&path.join("hooks")).join(" ");
    [
        ask(&["symbolic-ref", "-q", "HEAD"]),
        ask(&["log", "-1", "--format=%s"]),
        trees(path),
        ask(&["config", "--local", "--list"]),
        ask(&["--work-tree", &top, "status", "--porcelain", "--branch"]),
        ask(&["stash", "list", "--format=%gs"]),
        ask(&["worktree", "list"]),
        hooks,
    ]
    .join("\n")
}

/// Every reference with its tree, which knows no time.
fn trees(path: &Path) -> String {
    let format = "--format=%(refname) %(tree)%(*tree) %(subject)";
    let done = Command::new("git").arg("--git-dir").arg(path).args(["for-each-ref", format]).output();
    done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default()
}

/// An output without what differs from run to run: times, object names, lines drawn over, colours.
fn normal(text: &str) -> String {
    // News about other versions comes when there is a network, and only now and then.
    let is_news = |line: &&str| line.starts_with("npm notice") || line.starts_with("[notice]");
    let mut lines: Vec<String> = text.lines().filter(|line| !is_news(line)).map(line).collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines.join("\n")
}

fn line(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    let text = text.rsplit('\r').next().unwrap_or(text);
    let mut out = String::new();
    let mut rest = text;
    let mut before = "";
    while !rest.is_empty() {
        let is_word =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-' | '_');
        let end = rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len());
        if end == 0 {
            let letter = rest.chars().next().unwrap_or(' ');
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(end);
        let unit =
            after.trim_start().split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or("");
        out.push_str(&if before.starts_with("duration") { "T".to_owned() } else { shown(word, unit) });
        (before, rest) = (word, after);
    }
    out.trim_end().to_owned()
}

/// A word, or a letter for what differs from run to run.
fn shown(word: &str, next: &str) -> String {
    let core = word.trim_end_matches(['.', ':']);
    let tail = &word[core.len()..];
    let is_digits = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
    let number = core.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let own_unit = &core[number.len()..];
    let is_number = number.split(['.', ':']).all(is_digits);
    let is_time =
        |unit: &str| matches!(unit, "s" | "ms" | "us" | "sec" | "secs" | "second" | "seconds" | "m");
    let is_clock = number == core && core.split(':').count() >= 2 && is_number;
    let is_hash = core.len() >= 7 && core.chars().all(|letter| letter.is_ascii_hexdigit());
    let replaced = match () {
        () if is_number
            && (is_time(own_unit) || (own_unit.is_empty() && is_time(next) && number.contains('.'))) =>
        {
            "T"
        }
        () if is_clock => "T",
        () if is_hash => "H",
        () => return word.to_owned(),
    };
    format!("{replaced}{tail}")
}
