//! `delete`: files, links and empty folders, and what stays.

use super::{call, data, disk, folder, memory, shown};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use toolpost_core::host::{Always, Scope};
use toolpost_core::{Answer, Context, Memory};

#[test]
fn files_and_empty_folders_go() {
    let ctx = memory("//- a.txt\none\n//- sub/b.txt\ntwo\n//- empty/\n");
    for (path, expected) in [
        ("a.txt", "a.txt: removed, 4 bytes"),
        ("a.txt", "FILE_NOT_FOUND: no file `a.txt`; list its folder to see what is there"),
        ("empty", "empty: removed, an empty folder"),
        (
            "sub",
            "WRITE_ERROR: the folder `sub` is not empty; remove what is in it first; recursive=true deletes a folder with everything in it",
        ),
        ("sub/../sub/./b.txt", "sub/b.txt: removed, 4 bytes"),
        ("sub", "sub: removed, an empty folder"),
        (".", "WRITE_ERROR: `.` is a root of the workspace and stays; name a file inside it"),
        ("/workspace", "WRITE_ERROR: `.` is a root of the workspace and stays; name a file inside it"),
    ] {
        assert_eq!(shown(&call(&ctx, "delete", json!({"filePath": path}))), expected, "{path}");
    }
    for (tool, args) in [("delete_file", json!({"path": "x"})), ("Delete", json!({"file_path": "x"}))] {
        let ctx = memory("//- x\none\n");
        assert_eq!(shown(&call(&ctx, tool, args)), "x: removed, 4 bytes");
    }
}

#[test]
fn links_go_and_what_they_lead_to_stays() {
    let root = folder();
    let path = |name: &str| root.path().join("ws").join(name);
    std::fs::create_dir_all(path("folder")).unwrap();
    std::fs::write(path("folder/a.txt"), "one\n").unwrap();
    std::fs::write(root.path().join("outside.txt"), "outside").unwrap();
    let ctx = disk(&root.path().join("ws"));
    for (link, target) in [
        ("to-file", "folder/a.txt"),
        ("to-folder", "folder"),
        ("to-nothing", "gone"),
        ("out", "../outside.txt"),
        ("loop", "loop"),
    ] {
        symlink(target, path(link)).unwrap();
        let outcome = call(&ctx, "delete", json!({"filePath": link}));
        assert_eq!(shown(&outcome), format!("{link}: removed, a link; what it leads to stays"), "{link}");
        assert_eq!(data(&outcome)["kind"], "link");
        assert!(path(link).symlink_metadata().is_err(), "{link}");
    }
    symlink("folder", path("to-folder")).unwrap();
    assert_eq!(
        shown(&call(&ctx, "delete", json!({"filePath": "to-folder/a.txt"}))),
        "folder/a.txt: removed, 4 bytes"
    );
    assert_eq!(std::fs::read_to_string(root.path().join("outside.txt")).unwrap(), "outside");
}

#[test]
fn nothing_inside_git_goes() {
    let root = folder();
    let path = |name: &str| root.path().join(name);
    for name in [".git/refs", "sub/.git", "sub/x"] {
        std::fs::create_dir_all(path(name)).unwrap();
    }
    for name in [".git/index", ".git/refs/a", "sub/.git/index", "file"] {
        std::fs::write(path(name), "x").unwrap();
    }
    symlink(".git", path("link")).unwrap();
    let ctx = disk(root.path());
    for name in [".git", ".git/index", ".git/refs/a", "sub/x/../.git/index", "link/index"] {
        let shown = shown(&call(&ctx, "delete", json!({"filePath": name})));
        assert!(shown.starts_with("PROTECTED_FILE: ") && shown.contains(".git"), "{name}: {shown}");
        assert!(path(name).exists());
    }
    assert!(call(&ctx, "delete", json!({"filePath": "file"})).is_success());
}

#[test]
fn a_folder_goes_with_everything_in_it_if_a_person_agrees() {
    const FIXTURE: &str =
        "//- build/a/b.txt\none\n//- build/.hidden\n//- build/x.log\n//- .gitignore\n*.log\n//- keep\n";
    let recursive = json!({"filePath": "build", "recursive": true});
    let refused = call(&memory(FIXTURE), "delete", recursive.clone());
    let text = shown(&refused);
    assert!(
        text.starts_with(
            "PERMISSION_DENIED: `delete` would write `build`, and write needs a person's consent"
        ),
        "{text}"
    );
    let agreed = |fixture: &str| {
        let workspace = Arc::new(Memory::from_fixture(fixture));
        Context::builder(workspace).confirm(Arc::new(Always(Answer::Yes(Scope::Once)))).build()
    };
    let ctx = agreed(FIXTURE);
    let gone = call(&ctx, "delete", recursive.clone());
    assert_eq!(shown(&gone), "build: removed, a folder with 4 entries");
    assert_eq!(data(&gone)["removed"], 4);
    assert_eq!(shown(&call(&ctx, "list", json!({"hidden": true}))), "./\n  .gitignore\n  keep\n");
    // What may not go keeps all of it.
    let ctx = agreed("//- build/a.txt\n//- build/.git/config\n//- build/z.txt\n");
    let text = shown(&call(&ctx, "delete", recursive.clone()));
    assert!(text.contains("`build` is not deleted, and nothing in it: `build/.git` is git's own"), "{text}");
    assert!(shown(&call(&ctx, "read", json!({"filePath": "build/z.txt"}))).contains("empty"));
    let ctx = agreed("//- build/a.txt\n//- build/.github/workflows/ci.yml\n//- build/z.txt\n");
    let text = shown(&call(&ctx, "delete", json!({"filePath": "."  , "recursive": true})));
    assert!(text.contains("is a root of the workspace") || text.contains("not deleted"), "{text}");
    assert!(shown(&call(&ctx, "list", json!({}))).contains("z.txt"));
    // A file or a link is one thing, also so.
    let ctx = agreed(FIXTURE);
    let file = json!({"filePath": "keep", "recursive": true});
    assert_eq!(shown(&call(&ctx, "delete", file)), "keep: removed, 0 bytes");
}
