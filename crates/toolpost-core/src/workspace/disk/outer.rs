//! Ignore rules that hold in a root and lie outside of it: of the folders above in the same repository, of a
//! repository whose folder is elsewhere (a worktree, a submodule), and the user's own.
//!
//! These files are read by path and only for their patterns; nothing of them is ever shown.

use crate::workspace::rules::{IgnoreFiles, LARGEST, OuterRules, Repository, Tracked};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where the user's own excludes are.
#[derive(Debug, Clone, Default)]
pub(super) enum Excludes {
    /// Where git would look: `core.excludesFile`, else `$XDG_CONFIG_HOME/git/ignore`.
    #[default]
    OfGit,
    /// In this file.
    File(PathBuf),
}

/// A pointer to a repository's folder is one line.
const LONGEST_POINTER: u64 = 8 * 1024;

/// The rules from outside for the root of this absolute path.
pub(super) fn rules(root: &str, excludes: &Excludes) -> OuterRules {
    let excludes = match excludes {
        Excludes::OfGit => ignore::gitignore::gitconfig_excludes_path(),
        Excludes::File(path) => Some(path.clone()),
    };
    let excludes = excludes.and_then(|path| read(&path, LARGEST));
    let root = Path::new(root);
    if let Ok(git) = root.join(".git").symlink_metadata() {
        let at_root = if git.is_dir() { None } else { repository(root) };
        return OuterRules { above: Vec::new(), at_root, excludes };
    }
    let Some(top) = root.ancestors().skip(1).find(|folder| folder.join(".git").symlink_metadata().is_ok())
    else {
        return OuterRules { above: Vec::new(), at_root: None, excludes };
    };
    let mut above: Vec<(String, IgnoreFiles)> = root
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(top))
        .map(|folder| {
            let files = IgnoreFiles {
                ignore: read(&folder.join(".ignore"), LARGEST),
                gitignore: read(&folder.join(".gitignore"), LARGEST),
                repository: if folder == top { repository(top) } else { None },
            };
            (folder.to_string_lossy().into_owned(), files)
        })
        .collect();
    above.reverse();
    OuterRules { above, at_root: None, excludes }
}

/// The repository whose working tree begins in this folder.
pub(super) fn repository(top: &Path) -> Option<Repository> {
    let git = top.join(".git");
    let folder = match git.is_dir() {
        true => git,
        false => top.join(pointer(&git, "gitdir:")?),
    };
    // A worktree shares all but its own state with the repository it belongs to.
    let shared = pointer(&folder.join("commondir"), "").map_or_else(|| folder.clone(), |to| folder.join(to));
    let index = folder.join("index");
    let tracked = Tracked::new(&top.to_string_lossy(), move || read(&index, Tracked::LARGEST));
    Some(Repository { exclude: read(&shared.join("info/exclude"), LARGEST), tracked: Some(tracked) })
}

fn pointer(file: &Path, begin: &str) -> Option<PathBuf> {
    let text = String::from_utf8(read(file, LONGEST_POINTER)?).ok()?;
    let path = text.strip_prefix(begin)?.trim();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// The bytes of a regular file that is not too large.
fn read(path: &Path, largest: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = openat(CWD, path, flags, Mode::empty()).ok()?;
    let stat = fstat(&handle).ok()?;
    let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= largest);
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_small {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::from(handle).take(largest).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
