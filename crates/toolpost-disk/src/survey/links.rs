//! Where a path leads, with every link on the way.

use rustix::fs::{CWD, readlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux itself follows.
const MOST_LINKS: usize = 40;

/// Where a path leads. All paths are absolute and without `.` and `..`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Links {
    /// The links on the way, the path itself included if it is one.
    pub(super) links: Vec<PathBuf>,
    /// What is at the end.
    pub(super) end: PathBuf,
    /// Whether anything is there.
    pub(super) is_there: bool,
}

/// Follows an absolute path by hand, so that names need not be UTF-8 and need not exist.
///
/// Nothing is opened, and what lies outside of the workspace is followed like the rest: a link may lead out and in again.
pub(super) fn follow(path: &Path) -> Links {
    let mut end = PathBuf::from("/");
    let mut links = Vec::new();
    let mut is_there = true;
    let mut todo = parts(path);
    todo.reverse();
    while let Some(part) = todo.pop() {
        if part == OsStr::new("..") {
            end.pop();
            continue;
        }
        end.push(&part);
        if !is_there {
            continue;
        }
        match readlinkat(CWD, &end, Vec::new()) {
            Ok(target) if links.len() < MOST_LINKS => {
                links.push(end.clone());
                let target = Path::new(OsStr::from_bytes(target.as_bytes()));
                end.pop();
                if target.is_absolute() {
                    end = PathBuf::from("/");
                }
                todo.extend(parts(target).into_iter().rev());
            }
            // A loop of links; all of them are marked by now.
            Ok(_) => return Links { links, end, is_there: true },
            // Not a link.
            Err(Errno::INVAL) => {}
            Err(Errno::NOENT | Errno::NOTDIR) => is_there = false,
            // What cannot be looked at is hidden whole, with all that is in it.
            Err(_) => {}
        }
    }
    Links { links, end, is_there }
}

fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "lays out files by hand")]
    fn links_are_followed_to_what_is_and_what_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let at = |name: &str| top.join(name);
        std::fs::create_dir(at("real")).unwrap();
        symlink("real", at("folder")).unwrap();
        symlink("folder/../folder/file", at("link")).unwrap();
        symlink(at("link"), at("chain")).unwrap();
        symlink("me", at("me")).unwrap();
        for _ in 0..2 {
            let is_there = at("real/file").exists();
            let links = vec![at("chain"), at("link"), at("folder"), at("folder")];
            assert_eq!(follow(&at("chain")), Links { links, end: at("real/file"), is_there });
            std::fs::write(at("real/file"), "").unwrap();
        }
        assert_eq!(
            follow(&at("real/none/x")),
            Links { links: vec![], end: at("real/none/x"), is_there: false }
        );
        assert!(follow(&at("me")).links.contains(&at("me")));
    }
}
