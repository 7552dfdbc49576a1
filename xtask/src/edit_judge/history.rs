//! Changes that people have made, from the history of git checkouts: a file before a commit, and its hunks.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};

use super::random::Choices;
use crate::process;

/// Files of these kinds are edited by agents every day.
const EXTENSIONS: [&str; 24] = [
    "java", "go", "rs", "py", "c", "h", "ts", "tsx", "js", "mjs", "rb", "toml", "yml", "yaml", "json", "md",
    "sh", "cfg", "xml", "css", "html", "kt", "erb", "txt",
];

/// Larger files make each case slow and show nothing new.
const LARGEST: usize = 60_000;

/// One changed file of one commit.
pub(super) struct Change {
    pub(super) repository: String,
    pub(super) commit: String,
    pub(super) path: String,
    /// The text before the commit.
    pub(super) before: Rc<str>,
    pub(super) hunks: Vec<Replacement>,
}

/// Lines that a commit replaced by others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replacement {
    /// Index of the first removed line, or of the line before which the new ones go.
    pub(super) first: usize,
    pub(super) removed: Vec<String>,
    pub(super) added: Vec<String>,
}

/// Up to `most` changes of each checkout in the folder, taken from all of its history.
pub(super) fn changes(folder: &Path, most: usize, choices: &mut Choices) -> Result<Vec<Change>> {
    let mut checkouts: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder of checkouts {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(".git").exists())
        .collect();
    checkouts.sort();
    if checkouts.is_empty() {
        bail!("no git checkout directly below {}; clone some there", folder.display());
    }
    let mut all = Vec::new();
    for checkout in checkouts {
        all.extend(of_checkout(&checkout, most, choices)?);
    }
    Ok(all)
}

fn git(checkout: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(checkout).args(["-c", "core.quotepath=off"]);
    command
}

fn of_checkout(checkout: &Path, most: usize, choices: &mut Choices) -> Result<Vec<Change>> {
    let repository =
        checkout.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut commits: Vec<String> = process::capture(git(checkout).args(["rev-list", "--no-merges", "HEAD"]))?
        .lines()
        .map(str::to_owned)
        .collect();
    let mut found: Vec<(Change, String)> = Vec::new();
    while found.len() < most && !commits.is_empty() {
        // Many commits for each start of git.
        let mut batch = Vec::new();
        for _ in 0..commits.len().min(200) {
            let at = choices.below(commits.len());
            batch.push(commits.swap_remove(at));
        }
        found.extend(of_commits(checkout, &repository, &batch)?);
    }
    found.truncate(most);
    let ids: Vec<&str> = found.iter().map(|(_, id)| id.as_str()).collect();
    let contents = contents(checkout, &ids)?;
    let mut all = Vec::new();
    for ((mut change, _), bytes) in found.into_iter().zip(contents) {
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if text.len() > LARGEST || text.contains(['\r', '\0', '\u{feff}']) || !text.ends_with('\n') {
            continue;
        }
        change.before = text.into();
        all.push(change);
    }
    Ok(all)
}

fn of_commits(checkout: &Path, repository: &str, commits: &[String]) -> Result<Vec<(Change, String)>> {
    let mut command = git(checkout);
    command.args(["log", "--no-walk", "--no-renames", "--diff-filter=M", "--full-index", "--no-color"]);
    command.args(["--no-ext-diff", "--no-textconv", "-p", "-U0", "--format=commit %H"]).args(commits);
    let output = command.stderr(Stdio::inherit()).output().context("cannot start git")?;
    if !output.status.success() {
        bail!("`{}` ended with {}", process::shown(&command), output.status);
    }
    let log = String::from_utf8_lossy(&output.stdout);
    Ok(parse(&log, repository))
}

/// Changes with the ids of their old contents, from the output of `git log`.
fn parse(log: &str, repository: &str) -> Vec<(Change, String)> {
    let mut found = Vec::new();
    let mut commit = String::new();
    let mut parts = log.split("\ndiff --git ");
    commit_of(parts.next().unwrap_or_default(), &mut commit);
    for part in parts {
        found.extend(parse_file(part, repository, &commit));
        commit_of(part, &mut commit);
    }
    found
}

/// The commit that the text names last.
fn commit_of(text: &str, commit: &mut String) {
    if let Some(id) = text.lines().rev().find_map(|line| line.strip_prefix("commit ")) {
        id.clone_into(commit);
    }
}

fn parse_file(part: &str, repository: &str, commit: &str) -> Option<(Change, String)> {
    let (head, body) = part.split_once("\n@@ ")?;
    let path = head.lines().find_map(|line| line.strip_prefix("--- a/"))?.to_owned();
    let (_, extension) = path.rsplit_once('.')?;
    if !EXTENSIONS.contains(&extension) || body.contains("\n\\ No newline") {
        return None;
    }
    let id = head.lines().find_map(|line| line.strip_prefix("index "))?.split("..").next()?.to_owned();
    let mut hunks = Vec::new();
    for hunk in body.split("\n@@ ") {
        let (header, lines) = hunk.split_once('\n')?;
        let (start, count) = range(header.strip_prefix('-')?.split(' ').next()?)?;
        let first = if count == 0 { start } else { start - 1 };
        let mut replacement = Replacement { first, removed: Vec::new(), added: Vec::new() };
        for line in lines.lines() {
            if let Some(text) = line.strip_prefix('-') {
                replacement.removed.push(text.to_owned());
            } else if let Some(text) = line.strip_prefix('+') {
                replacement.added.push(text.to_owned());
            }
        }
        if replacement.removed.len() != count {
            return None;
        }
        hunks.push(replacement);
    }
    let (repository, commit) = (repository.to_owned(), commit.to_owned());
    Some((Change { repository, commit, path, before: "".into(), hunks }, id))
}

/// `12,3` or `12` as a start and a count.
fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

fn contents(checkout: &Path, ids: &[&str]) -> Result<Vec<Vec<u8>>> {
    let mut command = git(checkout);
    let mut child = command
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start git")?;
    let mut stdin = child.stdin.take().context("git has no standard input")?;
    let mut stdout = BufReader::new(child.stdout.take().context("git has no standard output")?);
    let mut all = Vec::new();
    for id in ids {
        writeln!(stdin, "{id}")?;
        stdin.flush()?;
        let mut header = String::new();
        stdout.read_line(&mut header)?;
        let size: usize = header
            .trim_end()
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse().ok())
            .with_context(|| format!("git does not have {id}"))?;
        let mut bytes = vec![0; size + 1];
        stdout.read_exact(&mut bytes)?;
        bytes.pop();
        all.push(bytes);
    }
    drop(stdin);
    child.wait()?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_read_with_their_places() {
        let log = "commit abc\n\ndiff --git a/x.py b/x.py\nindex 11..22 100644\n--- a/x.py\n+++ b/x.py\n\
                   @@ -3,2 +3 @@ def f\n-a\n-b\n+c\n@@ -9,0 +9,1 @@\n+d\n";
        let found = parse(log, "r");
        assert_eq!(found.len(), 1);
        let (change, id) = &found[0];
        assert_eq!((change.path.as_str(), change.commit.as_str(), id.as_str()), ("x.py", "abc", "11"));
        assert_eq!(change.hunks[0].first, 2);
        assert_eq!(change.hunks[0].removed, ["a", "b"]);
        assert_eq!(change.hunks[1], Replacement { first: 9, removed: vec![], added: vec!["d".to_owned()] });
    }
}
