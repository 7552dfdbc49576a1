//! Ignore rules that hold in a root and lie outside of it: of the folders above in the same repository, of a
//! repository whose folder is elsewhere (a worktree, a submodule), and the user's own.
//!
//! These files are read by path and only for their patterns; nothing of them is ever shown.

use super::git;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::{IgnoreFiles, OuterRules, Repository, Tracked};

/// Where the user's own excludes are.
#[derive(Debug, Clone, Default)]
pub(super) enum Excludes {
    /// Where git would look: `core.excludesFile`, else `$XDG_CONFIG_HOME/git/ignore`.
    #[default]
    OfGit,
    /// In this file.
    File(PathBuf),
}

/// The rules from outside for the root of this absolute path.
pub(super) fn rules(root: &str, excludes: &Excludes) -> OuterRules {
    let excludes = match excludes {
        Excludes::OfGit => ignore::gitignore::gitconfig_excludes_path(),
        Excludes::File(path) => Some(path.clone()),
    };
    let excludes = excludes.and_then(|path| git::read(&path, IgnoreFiles::LARGEST));
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
                ignore: IgnoreFiles::for_tools(
                    git::read(&folder.join(".ignore"), IgnoreFiles::LARGEST),
                    git::read(&folder.join(".rgignore"), IgnoreFiles::LARGEST),
                ),
                gitignore: git::read(&folder.join(".gitignore"), IgnoreFiles::LARGEST),
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
    let git::Repository { own, shared } = git::repository(top)?;
    let index = own.join("index");
    let tracked = Tracked::new(&top.to_string_lossy(), move || read_inside(&own, &index, Tracked::LARGEST));
    let exclude = read_inside(&shared, &shared.join("info/exclude"), IgnoreFiles::LARGEST);
    Some(Repository { exclude, tracked: Some(tracked) })
}

/// The bytes of a file, unless a link leads from it out of its repository.
fn read_inside(repository: &Path, file: &Path, largest: u64) -> Option<Vec<u8>> {
    let file = file.canonicalize().ok().filter(|file| file.starts_with(repository))?;
    git::read(&file, largest)
}
