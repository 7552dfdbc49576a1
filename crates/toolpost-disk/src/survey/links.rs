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
    /// All other names on the way, the end included, whether they exist or not: a link in the place of any of them would
    /// lead to somewhere else.
    pub(super) way: Vec<PathBuf>,
    /// What is at the end.
    pub(super) end: PathBuf,
    /// Whether anything is there.
    pub(super) is_there: bool,
}

/// Follows an absolute path by hand, so that names need not be UTF-8 and need not exist.
///
/// What does not exist counts as an empty folder, since somebody may create it: behind `..` the path goes on. Nothing is
/// opened, and what lies outside of the workspace is followed like the rest: a link may lead out and in again.
pub(super) fn follow(path: &Path) -> Links {
    let mut end = PathBuf::from("/");
    let mut links = Vec::new();
    let mut way = Vec::new();
    // Everything below this name is missing too.
    let mut missing: Option<PathBuf> = None;
    let mut todo = parts(path);
    todo.reverse();
    while let Some(part) = todo.pop() {
        if part == OsStr::new("..") {
            end.pop();
            continue;
        }
        end.push(&part);
        if missing.as_ref().is_some_and(|missing| end.starts_with(missing)) {
            way.push(end.clone());
            continue;
        }
        missing = None;
        match readlinkat(CWD, &end, Vec::new()) {
            Ok(target) if links.len() < MOST_LINKS => {
                links.push(end.clone());
                let target = Path::new(OsStr::from_bytes(target.as_bytes()));
                end.pop();
                if target.is_absolute() {
                    end = PathBuf::from("/");
                }
                todo.extend(parts(target).into_iter().rev());
                continue;
            }
            // A loop of links; all of them are marked by now.
            Ok(_) => return Links { links, way, end, is_there: true },
            // Not a link.
            Err(Errno::INVAL) => {}
            Err(Errno::NOENT | Errno::NOTDIR) => missing = Some(end.clone()),
            // What cannot be looked at is hidden whole, with all that is in it.
            Err(_) => {}
        }
        way.push(end.clone());
    }
    let is_there = !missing.is_some_and(|missing| end.starts_with(missing));
    Links { links, way, end, is_there }
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
        let way = |path: &Path| -> Vec<PathBuf> {
            let mut way: Vec<PathBuf> = path.ancestors().map(Path::to_path_buf).collect();
            way.pop();
            way.reverse();
            way
        };
        for _ in 0..2 {
            let is_there = at("real/file").exists();
            let found = follow(&at("chain"));
            assert_eq!(found.links, [at("chain"), at("link"), at("folder"), at("folder")]);
            assert_eq!((&found.end, found.is_there), (&at("real/file"), is_there));
            assert!(found.way.contains(&at("real")) && found.way.contains(&at("real/file")), "{found:?}");
            assert!(!found.way.iter().any(|path| found.links.contains(path)), "{found:?}");
            std::fs::write(at("real/file"), "").unwrap();
        }
        let none = at("real/none/x");
        assert_eq!(
            follow(&none),
            Links { links: vec![], way: way(&none), end: none.clone(), is_there: false }
        );
        assert!(follow(&at("me")).links.contains(&at("me")));
        // Behind what is missing the path goes on, with the links that are there.
        symlink("gone/deep/../../folder/file", at("around")).unwrap();
        let around = follow(&at("around"));
        assert_eq!((around.end, around.is_there), (at("real/file"), true));
        assert_eq!(around.links, [at("around"), at("folder")]);
        assert!(
            around.way.contains(&at("gone")) && around.way.contains(&at("gone/deep")),
            "{:?}",
            around.way
        );
    }
}
