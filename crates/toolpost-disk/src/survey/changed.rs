//! What git runs or reads, for the few names that a file tool is about to change. No tree is walked for it.
//!
//! The configuration and the hooks are read of the repositories around each name, and of those that the last survey of
//! this process has found. So a repository elsewhere in the workspace whose configuration names a file outside of its
//! own folder is known only after a survey.

use super::links::{self, Links};
use super::remembered::Remembered;
use super::{Survey, git, walk};
use crate::git::{UserGit, pointed_repository};
use crate::look::READ;
use crate::roots::Roots;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::implement::place::Place;
use toolpost_core::workspace::{Kind, Mark, Owner, RunByGit, Surveyor, WorkspacePath};

/// What makes a folder a repository: all names of a row.
const REPOSITORY: [&[&str]; 2] = [&["HEAD", "objects", "refs"], &["HEAD", "commondir"]];

/// See [`Workspace::run_by_git`](toolpost_core::workspace::Workspace::run_by_git).
pub(crate) fn run_by_git(
    roots: &Roots,
    remembered: &Remembered,
    user_git: &UserGit,
    changed: &[String],
) -> Vec<RunByGit> {
    let mut targets: BTreeSet<PathBuf> = BTreeSet::new();
    for name in changed {
        let Ok(place) = Place::parse(&WorkspacePath::new(name.as_str()), &roots.names) else { continue };
        let spelled = Path::new(&roots.names[place.root].path).join(place.parts.join("/"));
        let Links { end, .. } = links::follow(&spelled);
        targets.extend([spelled, end]);
    }
    let mut survey = Survey::new(roots, &Everything, user_git);
    targets.retain(|target| survey.name(target).is_some());
    let folders: BTreeSet<&Path> = targets.iter().flat_map(|target| target.ancestors()).collect();
    let mut found: BTreeSet<PathBuf> = remembered.repositories();
    for folder in folders.into_iter().filter(|folder| survey.name(folder).is_some()) {
        let git = folder.join(".git");
        if let Ok(entry) = git.symlink_metadata() {
            let pointed = if entry.is_dir() { None } else { pointed_repository(folder) };
            found.extend(pointed.filter(|pointed| survey.name(pointed).is_some()));
            found.insert(git);
        }
        if is_repository(folder) {
            found.insert(folder.to_path_buf());
        }
    }
    git::protect(&mut survey, &found.into_iter().collect::<Vec<_>>());
    if survey.unread.is_some() || survey.closed.is_some() {
        return targets.iter().filter_map(|target| survey.name(target)).map(RunByGit::Named).collect();
    }
    let protected: BTreeSet<&PathBuf> = survey.marks.keys().chain(&survey.missing).collect();
    let mut run: BTreeSet<RunByGit> = BTreeSet::new();
    for target in &targets {
        let is_meant = |(folder, glob): &&(PathBuf, String)| {
            target.strip_prefix(folder).is_ok_and(|rest| has_form(glob, &rest.to_string_lossy()))
        };
        if survey.globs.iter().any(|glob| is_meant(&glob)) {
            run.extend(survey.name(target).map(RunByGit::Named));
        }
        let named = target.ancestors().filter(|path| protected.contains(&path.to_path_buf()));
        run.extend(named.filter_map(|path| survey.name(path)).map(RunByGit::Named));
        if target.file_name().is_some_and(is_part) && target.parent().is_some_and(is_repository) {
            run.extend(survey.name(target).map(RunByGit::Identifies));
        }
        let completing = target.ancestors().filter(|path| completes(path, &targets));
        run.extend(completing.filter_map(|path| survey.name(path)).map(RunByGit::Completes));
    }
    run.extend(linked(&survey, &targets));
    run.into_iter().collect()
}

/// The names that links in the folders above give to what changes. Links elsewhere are not known without a walk.
fn linked(survey: &Survey<'_>, targets: &BTreeSet<PathBuf>) -> Vec<RunByGit> {
    let folders: BTreeSet<&Path> = targets.iter().flat_map(|target| target.ancestors().skip(1)).collect();
    let mut found = Vec::new();
    for folder in folders.into_iter().filter(|folder| survey.name(folder).is_some()) {
        let flags = READ | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let Ok(mut listing) = openat(CWD, folder, flags, Mode::empty()).and_then(Dir::new) else { continue };
        while let Some(Ok(entry)) = listing.read() {
            if walk::kind_of(&listing, &entry) != Ok(Kind::Link) {
                continue;
            }
            let link = folder.join(OsStr::from_bytes(entry.file_name().to_bytes()));
            let end = links::follow(&link).end;
            for target in targets {
                let Ok(rest) = target.strip_prefix(&end) else { continue };
                let name = if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) };
                if let (Some(path), Some(name)) = (survey.name(target), survey.name(&name)) {
                    found.push(RunByGit::Linked { path, name });
                }
            }
        }
    }
    found
}

/// Whether a path has the form of a glob with `*`, `?` and, before a name, `**/`.
fn has_form(glob: &str, path: &str) -> bool {
    if let Some(name) = glob.strip_prefix("**/") {
        return has_form(name, path.rsplit('/').next().unwrap_or(path));
    }
    let (glob, path): (Vec<char>, Vec<char>) = (glob.chars().collect(), path.chars().collect());
    // The places in the glob to which the path leads so far.
    let mut places = vec![false; glob.len() + 1];
    places[0] = true;
    let pass_stars = |places: &mut Vec<bool>| {
        for at in 0..glob.len() {
            places[at + 1] |= places[at] && glob[at] == '*';
        }
    };
    pass_stars(&mut places);
    for letter in path {
        let mut next = vec![false; glob.len() + 1];
        for at in (0..glob.len()).filter(|at| places[*at]) {
            match glob[at] {
                '*' if letter != '/' => next[at] = true,
                '?' if letter != '/' => next[at + 1] = true,
                wanted if wanted == letter => next[at + 1] = true,
                _ => {}
            }
        }
        pass_stars(&mut next);
        places = next;
    }
    places[glob.len()]
}

/// Whether the folder is a repository, or was one and still has its configuration. A folder called `.git` is known by
/// its name.
fn is_repository(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let has_config = folder.join("config").symlink_metadata().is_ok_and(|found| !found.is_dir());
    let parts = ["HEAD", "objects", "refs"].map(has);
    (has_config && parts.contains(&true)) || (parts[1] && parts[2])
}

/// Whether a name is one of those that make a folder a repository.
fn is_part(name: &OsStr) -> bool {
    REPOSITORY.iter().flat_map(|row| row.iter()).any(|part| name.eq_ignore_ascii_case(part))
}

/// See [`Workspace::possible_repositories`](toolpost_core::workspace::Workspace::possible_repositories).
pub(crate) fn possible_repositories(path: &str) -> Vec<String> {
    let parts = Path::new(path).ancestors().filter(|path| path.file_name().is_some_and(is_part));
    parts.filter_map(|part| part.parent()?.to_str().map(str::to_owned)).collect()
}

/// Whether this path does not exist and makes a repository of the folder above it, together with what is there and with
/// the other changes.
fn completes(path: &Path, targets: &BTreeSet<PathBuf>) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let rows = REPOSITORY.iter().filter(|row| row.iter().any(|part| name.eq_ignore_ascii_case(part)));
    let mut rows = rows.peekable();
    if rows.peek().is_none() || path.symlink_metadata().is_ok() {
        return false;
    }
    let comes = |part: &str| {
        let other = folder.join(part);
        name.eq_ignore_ascii_case(part)
            || other.symlink_metadata().is_ok()
            || targets.range(other.clone()..).next().is_some_and(|target| target.starts_with(&other))
    };
    rows.any(|row| row.iter().all(|part| comes(part)))
}

/// Opens nothing: what a rule opens is decided by whoever asked.
struct Everything;

impl Surveyor for Everything {
    fn mark(&self, _: &str, _: Kind, _: Owner) -> Mark {
        Mark::Free
    }

    fn inherited(&self, _: &str, mark: Mark) -> Mark {
        mark
    }

    fn is_removable(&self, _: &str) -> bool {
        false
    }

    fn denies(&self, _: &str, _: Mark) -> bool {
        false
    }

    fn progress(&self, _: &str, _: Owner) -> Option<Vec<(usize, u64)>> {
        None
    }

    fn hides_sockets(&self) -> bool {
        false
    }

    fn identity(&self) -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::has_form;

    #[test]
    fn globs_are_held_against_paths() {
        for (glob, path, expected) in [
            ("*.sh", "a.sh", true),
            ("*.sh", ".sh", true),
            ("*.sh", "d/a.sh", false),
            ("*.sh", "a.shx", false),
            ("x?-*", "x1-", true),
            ("x?-*", "x/-", false),
            ("**/*.sh", "d/e/a.sh", true),
            ("**/*.sh", "a.sh", true),
            ("d/*", "d/e", true),
            ("d/*", "d/e/f", false),
        ] {
            assert_eq!(has_form(glob, path), expected, "{glob} {path}");
        }
    }
}
