//! Where the repository of a working tree is: a folder `.git`, or a file that points to another place.

use super::config::Config;
use super::read;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A pointer to a repository's folder is one line.
const LONGEST_POINTER: u64 = 8 * 1024;

/// Largest configuration that is read, in bytes.
const LARGEST_CONFIG: u64 = 1 << 20;

/// The folders of a repository, without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// What belongs to this working tree alone.
    pub(crate) own: PathBuf,
    /// What all working trees of the repository share.
    pub(crate) shared: PathBuf,
}

/// The repository whose working tree begins in this folder; none where there is none, or where it does not say so.
pub(crate) fn repository(top: &Path) -> Option<Repository> {
    let git = top.join(".git");
    let found = git.symlink_metadata().ok()?;
    if found.is_dir() {
        let own = git.canonicalize().ok()?;
        return Some(Repository { shared: own.clone(), own });
    }
    if found.is_symlink() {
        // A link may lead to anywhere; a repository knows nothing of it.
        let own = git.canonicalize().ok()?;
        let is_inside = own.is_dir() && own.starts_with(top.canonicalize().ok()?);
        return is_inside.then(|| Repository { shared: own.clone(), own });
    }
    let own = pointed(&git, b"gitdir:", top)?.canonicalize().ok()?;
    worktree(&git, &own).or_else(|| submodule(top, &own))
}

/// Where the file `.git` of this folder says that its repository is, whatever is there.
pub(crate) fn pointed_repository(top: &Path) -> Option<PathBuf> {
    pointed(&top.join(".git"), b"gitdir:", top)?.canonicalize().ok()
}

/// The repository that the working tree in this folder belongs to, where it lies elsewhere and says so itself: commands
/// may look things up in it.
pub fn linked_repository(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    let own = pointed(&git, b"gitdir:", top)?.canonicalize().ok()?;
    let shared = worktree(&git, &own)?.shared;
    let is_repository = shared.join("HEAD").is_file() && shared.join("objects").is_dir();
    is_repository.then_some(shared)
}

/// A worktree: git keeps its own state in `worktrees/NAME` of the repository, with the way back in `gitdir`.
fn worktree(git: &Path, own: &Path) -> Option<Repository> {
    let back = pointed(&own.join("gitdir"), b"", own)?;
    if back.canonicalize().ok()? != git.canonicalize().ok()? {
        return None;
    }
    let shared = pointed(&own.join("commondir"), b"", own)?.canonicalize().ok()?;
    // Whoever can write there owns the repository; a folder made to look like one lies elsewhere.
    let is_its_own = own.parent()? == shared.join("worktrees");
    (is_its_own && is_of_one_user(git, own) && is_of_one_user(git, &shared))
        .then(|| Repository { own: own.to_owned(), shared })
}

/// A submodule: its repository lies in `modules` of one above, and names the working tree in its configuration.
fn submodule(top: &Path, own: &Path) -> Option<Repository> {
    let above = top.ancestors().skip(1).find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let modules = repository(above)?.own.join("modules");
    if !own.starts_with(modules) || !is_of_one_user(&top.join(".git"), own) {
        return None;
    }
    let config = Config::parse(&read(&own.join("config"), LARGEST_CONFIG)?);
    let named = config.last("core", "worktree")?;
    let back = own.join(OsStr::from_bytes(named)).canonicalize().ok()?;
    (back == top.canonicalize().ok()?).then(|| Repository { own: own.to_owned(), shared: own.to_owned() })
}

fn is_of_one_user(one: &Path, other: &Path) -> bool {
    let owner = |path: &Path| path.symlink_metadata().ok().map(|found| found.uid());
    owner(one).is_some() && owner(one) == owner(other)
}

/// The path in a file of one line, from the folder that it is meant from.
fn pointed(file: &Path, begin: &[u8], from: &Path) -> Option<PathBuf> {
    let text = read(file, LONGEST_POINTER)?;
    let path = text.strip_prefix(begin)?.trim_ascii();
    (!path.is_empty() && !path.contains(&0)).then(|| from.join(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests;
