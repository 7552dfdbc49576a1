//! What "always allow" would save: the narrowest rule that is of use.

use super::judge::HARMFUL;
use super::word::{self, Word};

/// Programs that only read and print, whatever they are given; options that do more are judged apart.
pub(super) const READING: [&str; 42] = [
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "find",
    "fd",
    "stat",
    "du",
    "df",
    "tree",
    "file",
    "which",
    "diff",
    "cmp",
    "jq",
    "date",
    "uname",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "sort",
    "uniq",
    "cut",
    "tr",
    "ps",
    "whoami",
    "id",
    "hostname",
    "md5sum",
    "sha256sum",
    "nproc",
    "free",
    "uptime",
    "seq",
    "echo",
    "column",
];

/// Programs whose first argument says what they do.
const WITH_SUBCOMMAND: [&str; 21] = [
    "git", "cargo", "npm", "pnpm", "yarn", "bun", "go", "rustup", "pip", "pip3", "uv", "poetry", "dotnet",
    "mix", "bundle", "gradle", "mvn", "make", "just", "brew", "helm",
];

/// Subcommands that run whatever they are given, or change what cannot be got back.
const HARMFUL_SUBCOMMANDS: [&str; 33] = [
    "branch",
    "checkout",
    "restore",
    "stash",
    "tag",
    "worktree",
    "run",
    "exec",
    "x",
    "dlx",
    "push",
    "reset",
    "clean",
    "rebase",
    "config",
    "filter-branch",
    "rm",
    "publish",
    "login",
    "install",
    "uninstall",
    "add",
    "remove",
    "alias",
    "api",
    "delete",
    "yank",
    "owner",
    "generate",
    "tool",
    "extension",
    "secret",
    "auth",
];

/// Programs that run what they read from their input when they are given nothing else: a rule for that would be one for
/// anything.
#[rustfmt::skip]
const INTERPRETERS: [&str; 16] = [
    "python", "python2", "python3", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "Rscript", "psql", "mysql",
    "sqlite3", "tclsh",
];

fn is_input(word: &Word) -> bool {
    word.literal().is_some_and(|text| matches!(text.as_str(), "-" | "-u" | "-i" | "/dev/stdin"))
}

/// The rule for one command; none where only the right to any command would do.
pub(super) fn rule(words: &[Word]) -> Option<String> {
    let texts: Option<Vec<String>> = words.iter().map(Word::literal).collect();
    let exact = texts.is_some().then(|| escape(&word::line(words)));
    let program = words.first()?.literal()?;
    if HARMFUL.contains(&program.as_str()) {
        return exact;
    }
    if INTERPRETERS.contains(&program.as_str()) && words[1..].iter().all(is_input) {
        return None;
    }
    // Expressions of `find` may remove files or run commands.
    let acts = |word: &Word| {
        let text = word.literal().unwrap_or_else(|| "-".to_owned());
        ["-d", "-exec", "-ok", "-f"].iter().any(|action| text.starts_with(action)) || text == "-"
    };
    if program == "find" && words[1..].iter().any(acts) {
        return exact;
    }
    if READING.contains(&program.as_str()) {
        return Some(format!("{program} *"));
    }
    let is_word = |text: &String| {
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter))
    };
    let subcommand = words.get(1).and_then(Word::literal).filter(is_word);
    match subcommand {
        Some(subcommand)
            if WITH_SUBCOMMAND.contains(&program.as_str())
                && !HARMFUL_SUBCOMMANDS.contains(&subcommand.as_str()) =>
        {
            Some(format!("{program} {subcommand} *"))
        }
        _ => exact,
    }
}

/// The pattern that matches exactly this text.
fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '\\' | '[' | ']' | '{' | '}') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
