//! The files of git's own folders. Objects are shared by content with everything that was committed since, so they are never
//! removed or changed; the other files of a repository go back together or not at all.
//!
//! Git itself is not run here.

use super::judge::{Item, Verdict};
use super::target::Target;
use super::{Undo, judge};
use std::collections::{HashMap, HashSet};
use toolpost_core::store::{Held, KeptChange};
use toolpost_core::text::GitIndex;
use toolpost_core::{ToolError, WorkspacePath};
use toolpost_disk::{Disk, Exact};

/// What a name is to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Nothing that git keeps for itself.
    Ordinary,
    /// In the store of objects of the repository whose folder this is.
    Object(&'a str),
    /// Another file in the folder of a repository.
    Member(&'a str),
}

/// The repositories that some names belong to.
pub(super) struct Repositories {
    /// Folders of repositories that are not called `.git`.
    bare: HashSet<String>,
}

impl Repositories {
    /// Those of these names. A folder is one if it has what git asks for, on the disk or among the names.
    pub(super) fn of<'a>(disk: &Disk, names: impl Iterator<Item = &'a str> + Clone) -> Repositories {
        let known: HashSet<&str> = names.clone().collect();
        let is_there = |name: String| {
            known.contains(name.as_str())
                || disk.exact(&WorkspacePath::new(name), 0).is_ok_and(|now| now != Exact::Absent)
        };
        let mut looked_at: HashMap<&str, bool> = HashMap::new();
        for name in names.filter(|name| !name.split('/').any(|part| part == ".git")) {
            for (start, part) in parts(name) {
                if !["objects", "refs", "HEAD", "packed-refs"].contains(&part) {
                    continue;
                }
                let (above, _) = name.split_at(start);
                looked_at.entry(above).or_insert_with(|| {
                    ["HEAD", "objects", "refs"].iter().all(|part| is_there(format!("{above}{part}")))
                });
            }
        }
        let found = looked_at.into_iter().filter(|(_, is_one)| *is_one);
        Repositories { bare: found.map(|(folder, _)| folder.to_owned()).collect() }
    }

    /// What this name is to git.
    pub(super) fn part<'a>(&self, name: &'a str) -> Part<'a> {
        for (start, part) in parts(name) {
            let end = start + part.len();
            if part == ".git" {
                return part_of(&name[..end], name.get(end + 1..).unwrap_or_default());
            }
            if self.bare.contains(&name[..start]) {
                return part_of(name[..start].trim_end_matches('/'), &name[start..]);
            }
        }
        Part::Ordinary
    }
}

/// The parts of a name, each with the place where it begins.
fn parts(name: &str) -> impl Iterator<Item = (usize, &str)> {
    name.split('/').scan(0, |next, part| {
        let start = *next;
        *next += part.len() + 1;
        Some((start, part))
    })
}

fn part_of<'a>(folder: &'a str, rest: &str) -> Part<'a> {
    // Repositories of submodules have any number of folders above them; a branch may be called `objects`.
    const OTHERS: [&str; 6] = ["refs", "logs", "hooks", "info", "rebase-merge", "rebase-apply"];
    for part in rest.split('/') {
        match part {
            "objects" => return Part::Object(folder),
            other if OTHERS.contains(&other) => break,
            _ => {}
        }
    }
    Part::Member(folder)
}

/// Whether an object of this name can be put back by itself: other files in the store of objects are lists of what is there.
fn is_plain_object(name: &str) -> bool {
    let mut parts = name.rsplit('/');
    let (Some(last), Some(above)) = (parts.next(), parts.next()) else { return false };
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match above {
        "pack" => [".pack", ".idx", ".rev"].iter().any(|ending| last.ends_with(ending)),
        above => above.len() == 2 && is_hex(above) && is_hex(last),
    }
}

/// Judges a name in a store of objects: what is there stays, and what a command has removed comes back.
pub(super) fn object(undo: &Undo<'_>, target: &Target, name: String) -> Result<Item, ToolError> {
    let by_command = target.of_name(&name).any(|step| step.by_command);
    let left = target.of_name(&name).next().map_or(Held::Unknown, |step| step.after.clone());
    let before = target.of_name(&name).last().map_or(Held::Unknown, |step| step.before.clone());
    let now = undo.disk.exact(&WorkspacePath::new(name.clone()), 0);
    let now = now.unwrap_or(Exact::Other("not to be reached"));
    let is_missing = now == Exact::Absent
        && is_plain_object(&name)
        && matches!(before, Held::File { .. } | Held::TooLarge { .. } | Held::Unknown);
    let (wanted, verdict) = match is_missing {
        false => (now.clone(), Verdict::Stays),
        true => match judge::exact(undo.store, &before)? {
            Ok(wanted) => (wanted, Verdict::Restore),
            Err(why) => (now.clone(), Verdict::Conflict(why)),
        },
    };
    Ok(Item { name, now, wanted, by_command, verdict, object: Some((left, before)) })
}

/// What an index counts as when a change is taken back: the state that it left, or the one before, where only the times
/// and other marks differ by which git tells whether a file has changed.
pub(super) fn settled_index(
    undo: &Undo<'_>,
    now: &Exact,
    left: &Held,
    before: &Held,
) -> Result<Exact, ToolError> {
    let Exact::File { content, mode } = now else { return Ok(now.clone()) };
    for kept in [left, before] {
        if let Held::File { .. } = kept
            && let Ok(Exact::File { content: known, .. }) = judge::exact(undo.store, kept)?
            && let (Some(now), Some(kept)) = (GitIndex::read(content), GitIndex::read(&known))
            && now.is_same(&kept)
        {
            return Ok(Exact::File { content: known, mode: *mode });
        }
    }
    Ok(now.clone())
}

/// Whether a change of an index is only of what git notes about the times of files.
pub(super) fn is_note(undo: &Undo<'_>, change: &KeptChange) -> Result<bool, ToolError> {
    let is_file = |held: &Held| matches!(held, Held::File { .. });
    if !change.name.ends_with("/index") || !is_file(&change.before) || !is_file(&change.after) {
        return Ok(false);
    }
    let before = judge::exact(undo.store, &change.before)?;
    let (Ok(Exact::File { content, .. }), Ok(Exact::File { content: left, .. })) =
        (before, judge::exact(undo.store, &change.after)?)
    else {
        return Ok(false);
    };
    let (before, left) = (GitIndex::read(&content), GitIndex::read(&left));
    Ok(before.zip(left).is_some_and(|(before, left)| left.is_same(&before)))
}

/// Whether this is the index of a repository.
pub(super) fn is_index(part: Part<'_>, name: &str) -> bool {
    matches!(part, Part::Member(_)) && name.ends_with("/index")
}

/// What matters less in a repository stands in nobody's way, and what git must find as it left it is not merged.
pub(super) fn weigh(repositories: &Repositories, items: &mut [Item]) {
    for item in items.iter_mut() {
        let Part::Member(folder) = repositories.part(&item.name) else { continue };
        let rest = item.name[folder.len()..].trim_start_matches('/');
        let last = rest.rsplit('/').next().unwrap_or_default();
        // Git only shows what stands there.
        let is_note = ["COMMIT_EDITMSG", "FETCH_HEAD", "gc.log"].contains(&last);
        let is_text = rest.starts_with("logs/") || rest.starts_with("info/") || rest == "config";
        match &item.verdict {
            Verdict::Conflict(_) if is_note && !matches!(item.now, Exact::Other(_)) => {
                item.verdict = Verdict::Stays;
            }
            Verdict::Merge if !is_text => {
                item.verdict =
                    Verdict::Conflict("it was changed since; change it back, then try again".to_owned());
            }
            _ => continue,
        }
        item.wanted = item.now.clone();
    }
}

/// Makes one of the files of each repository: where one is in conflict, all are. Returns whether that was new.
pub(super) fn together(undo: &Undo<'_>, repositories: &Repositories, items: &mut [Item]) -> bool {
    let mut causes: HashMap<String, String> = HashMap::new();
    let mut folders: HashSet<String> = HashSet::new();
    for item in items.iter() {
        let (Part::Object(folder) | Part::Member(folder)) = repositories.part(&item.name) else { continue };
        match &item.verdict {
            Verdict::Conflict(_) => {
                causes.entry(folder.to_owned()).or_insert_with(|| format!("`{}` is in conflict", item.name));
            }
            verdict if verdict.is_work() => drop(folders.insert(folder.to_owned())),
            _ => {}
        }
    }
    let own: HashSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    for folder in folders {
        let locks = ["index.lock", "HEAD.lock", "packed-refs.lock"];
        let held = locks.iter().map(|lock| format!("{folder}/{lock}")).find(|lock| {
            let now = undo.disk.exact(&WorkspacePath::new(lock.clone()), 0);
            !own.contains(lock.as_str()) && now.is_ok_and(|now| now != Exact::Absent)
        });
        if let Some(lock) = held {
            causes.entry(folder).or_insert_with(|| {
                format!("git is changing it: wait until it is done, or remove `{lock}` if no git runs")
            });
        }
    }
    let mut is_new = false;
    for item in items.iter_mut().filter(|item| !matches!(item.verdict, Verdict::Conflict(_))) {
        let Part::Member(folder) = repositories.part(&item.name) else { continue };
        let Some(cause) = causes.get(folder) else { continue };
        let why = format!("the files of the repository `{folder}` go together or not at all, and {cause}");
        item.verdict = Verdict::Conflict(why);
        item.wanted = item.now.clone();
        is_new = true;
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Part<'_>) {
        let repositories = Repositories { bare: HashSet::from(["x/store.git/".to_owned()]) };
        assert_eq!(repositories.part(name), expected, "{name}");
    }

    #[test]
    fn names_are_told_apart() {
        check("src/objects/a", Part::Ordinary);
        check(".gitignore", Part::Ordinary);
        check(".git/objects/ab/cd", Part::Object(".git"));
        check(".git/objects", Part::Object(".git"));
        check("a/.git/modules/lib/x/objects/pack/pack-1.pack", Part::Object("a/.git"));
        check(".git/lfs/objects/aa/bb/cc", Part::Object(".git"));
        check(".git/refs/heads/objects/x", Part::Member(".git"));
        check(".git/logs/refs/heads/objects", Part::Member(".git"));
        check(".git/worktrees/w/index", Part::Member(".git"));
        check("/other/.git/HEAD", Part::Member("/other/.git"));
        check(".git", Part::Member(".git"));
        check("x/store.git/objects/ab/cd", Part::Object("x/store.git"));
        check("x/store.git/HEAD", Part::Member("x/store.git"));
        check("x/other.git/HEAD", Part::Ordinary);
    }

    #[test]
    fn objects_come_back_and_lists_of_them_do_not() {
        for name in
            [".git/objects/ab/cdef01", ".git/objects/pack/pack-1.pack", ".git/objects/pack/pack-1.idx"]
        {
            assert!(is_plain_object(name), "{name}");
        }
        for name in [".git/objects/info/packs", ".git/objects/pack/multi-pack-index", ".git/objects/ab"] {
            assert!(!is_plain_object(name), "{name}");
        }
    }
}
