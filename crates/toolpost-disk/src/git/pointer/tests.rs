//! Real pointers are followed, forged ones are not.

use super::*;
use tempfile::TempDir;

struct Place {
    _folder: TempDir,
    top: PathBuf,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let place = Place { _folder: folder, top };
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    #[expect(clippy::disallowed_methods, reason = "lays out repositories by hand")]
    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("TOP", self.top.to_str().unwrap())).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    fn own(&self, top: &str) -> Option<PathBuf> {
        repository(&self.at(top)).map(|found| found.own)
    }
}

/// A repository with a worktree and a submodule, and a victim beside it.
fn real() -> Place {
    Place::new(&[
        ("main/.git/HEAD", "ref: refs/heads/main"),
        ("main/.git/objects/x", ""),
        ("main/.git/worktrees/w/gitdir", "TOP/w/.git\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("w/.git", "gitdir: TOP/main/.git/worktrees/w\n"),
        ("main/.git/modules/lib/HEAD", "ref: refs/heads/main"),
        ("main/.git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n"),
        ("main/lib/.git", "gitdir: ../.git/modules/lib\n"),
        ("victim/.git/HEAD", "ref: refs/heads/main"),
        ("victim/.git/objects/x", ""),
    ])
}

#[test]
fn real_pointers_are_followed() {
    let place = real();
    assert_eq!(place.own("main"), Some(place.at("main/.git")));
    assert_eq!(place.own("w"), Some(place.at("main/.git/worktrees/w")));
    assert_eq!(repository(&place.at("w")).unwrap().shared, place.at("main/.git"));
    assert_eq!(linked_repository(&place.at("w")), Some(place.at("main/.git")));
    assert_eq!(place.own("main/lib"), Some(place.at("main/.git/modules/lib")));
    assert_eq!(linked_repository(&place.at("main/lib")), None);
}

#[test]
fn forged_pointers_are_not() {
    let place = real();
    // A pointer to a repository that knows nothing of it.
    place.write("ws/a/.git", "gitdir: TOP/victim/.git\n");
    assert_eq!(place.own("ws/a"), None);
    // To another worktree of a repository that has some.
    place.write("ws/b/.git", "gitdir: TOP/main/.git/worktrees/w\n");
    assert_eq!(place.own("ws/b"), None);
    // A worktree made by hand, with the way back in it, that names the victim as what it shares.
    place.write("ws/c/.git", "gitdir: ../forged/worktrees/c\n");
    place.write("ws/forged/worktrees/c/gitdir", "TOP/ws/c/.git\n");
    place.write("ws/forged/worktrees/c/commondir", "TOP/victim/.git\n");
    assert_eq!(place.own("ws/c"), None);
    assert_eq!(linked_repository(&place.at("ws/c")), None);
    // The same by a link.
    std::os::unix::fs::symlink(place.at("victim/.git"), place.at("ws/forged/worktrees/up")).unwrap();
    place.write("ws/forged/worktrees/c/commondir", "../up\n");
    assert_eq!(place.own("ws/c"), None);
    assert_eq!(linked_repository(&place.at("ws/c")), None);
    // A link in place of the pointer.
    std::fs::create_dir(place.at("ws/d")).unwrap();
    std::os::unix::fs::symlink(place.at("victim/.git"), place.at("ws/d/.git")).unwrap();
    assert_eq!(place.own("ws/d"), None);
    // A `commondir` in a repository that is no worktree.
    place.write("main/.git/commondir", "TOP/victim/.git\n");
    place.write("main/.git/modules/lib/commondir", "TOP/victim/.git\n");
    assert_eq!(repository(&place.at("main")).unwrap().shared, place.at("main/.git"));
    assert_eq!(repository(&place.at("main/lib")).unwrap().shared, place.at("main/.git/modules/lib"));
    // A submodule that points to one of another repository, or to one that belongs to another folder.
    place.write("main/other/.git", "gitdir: ../.git/modules/lib\n");
    assert_eq!(place.own("main/other"), None);
    place.write("ws/e/.git", "gitdir: TOP/main/.git/modules/lib\n");
    assert_eq!(place.own("ws/e"), None);
}
