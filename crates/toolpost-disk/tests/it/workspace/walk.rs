//! The walk: what it shows, in which order, and what it counts instead.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolpost_core::workspace::Overlay;
use toolpost_core::{Code, Memory, Workspace, WorkspacePath};
use toolpost_disk::Disk;
use toolpost_walk::{Walk, WalkOptions, walk};

const TREE: &str = "\
//- .gitignore
*.log
/target
!keep.log
build/
//- .ignore
secret/
//- .git/config
//- .git/info/exclude
excluded.txt
//- .hidden/file
//- a.log
//- a.rs
//- build/out
//- excluded.txt
//- keep.log
//- secret/x
//- src/.gitignore
!special.log
generated/
/a.rs
//- src/a.rs
//- src/deep/a.rs
//- src/deep/b.log
//- src/generated/x
//- src/special.log
//- src/target/file
//- src-more
//- target/debug/x
";

fn walked(from: &str, options: &WalkOptions) -> Walk {
    let memory = Memory::from_fixture(TREE);
    walk(&memory, &WorkspacePath::new(from), options, &|| false, &|_| false).unwrap()
}

fn check(from: &str, options: &WalkOptions, expected: &str) {
    let names: Vec<String> = walked(from, options).found.into_iter().map(|found| found.name).collect();
    assert_eq!(names.join(" "), expected, "{from} {options:?}");
}

#[test]
fn ignore_files_are_followed_deeper_ones_first() {
    let plain = WalkOptions::default();
    check(
        ".",
        &plain,
        "a.rs keep.log src src/deep src/deep/a.rs src/special.log src/target src/target/file src-more",
    );
    check("src", &plain, "src/deep src/deep/a.rs src/special.log src/target src/target/file");
    check("src/deep", &plain, "src/deep/a.rs");
    check("target", &plain, "target/debug target/debug/x");
}

#[test]
fn options_widen_and_narrow() {
    let narrow = WalkOptions { max_depth: Some(1), ignore: vec!["src*".into()], ..WalkOptions::default() };
    check(".", &narrow, "a.rs keep.log");
    let hidden = WalkOptions { hidden: true, max_depth: Some(1), ..WalkOptions::default() };
    check(".", &hidden, ".gitignore .hidden .ignore a.rs keep.log src src-more");
    let everything =
        WalkOptions { hidden: true, no_ignore: true, max_depth: Some(1), ..WalkOptions::default() };
    check(
        ".",
        &everything,
        ".git .gitignore .hidden .ignore a.log a.rs build excluded.txt keep.log secret src src-more target",
    );
    let no_ignore = WalkOptions { no_ignore: true, max_depth: Some(1), ..WalkOptions::default() };
    check(".", &no_ignore, "a.log a.rs build excluded.txt keep.log secret src src-more target");
}

#[test]
fn what_the_limit_leaves_out_is_counted() {
    let walked = walked(".", &WalkOptions { limit: 4, ..WalkOptions::default() });
    let names: Vec<_> = walked.found.iter().map(|found| (found.name.as_str(), found.depth)).collect();
    assert_eq!(names, [("a.rs", 1), ("keep.log", 1), ("src", 1), ("src/deep", 2)]);
    let left_out: Vec<_> =
        walked.left_out_by_folder.iter().map(|left| (left.folder.as_str(), left.entries)).collect();
    assert_eq!(left_out, [(".", 1), ("src", 2), ("src/deep", 1)]);
    assert_eq!(walked.left_out, 4);
    check(".", &WalkOptions { limit: 0, ..WalkOptions::default() }, "");
}

#[test]
fn entries_held_back_are_counted_and_not_entered() {
    let memory = Memory::from_fixture(TREE);
    let hold_back = |name: &str| name == "src" || name == "a.rs";
    let root = WorkspacePath::root();
    let walked = walk(&memory, &root, &WalkOptions::default(), &|| false, &hold_back).unwrap();
    let names: Vec<_> = walked.found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!((names, walked.held_back), (vec!["keep.log", "src-more"], 2));
}

#[test]
fn a_walk_that_is_stopped_says_so() {
    let folder = super::fast_folder();
    for index in 0..5000 {
        std::fs::write(folder.path().join(format!("{index:04}")), "").unwrap();
    }
    let disk = Disk::open([folder.path()]).unwrap();
    let asked = AtomicUsize::new(0);
    let should_stop = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
    let options = WalkOptions { limit: 100_000, ..WalkOptions::default() };
    let walked = walk(&disk, &WorkspacePath::root(), &options, &should_stop, &|_| false).unwrap();
    assert!(walked.stopped);
    assert_eq!(walked.found.len(), 2000);
}

#[test]
fn names_that_are_not_utf8_and_huge_ignore_files_do_no_harm() {
    let folder = super::fast_folder();
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xff");
    std::fs::write(folder.path().join(odd), "").unwrap();
    std::fs::write(folder.path().join("a.txt"), "").unwrap();
    std::fs::write(folder.path().join(".gitignore"), "*\n".repeat(600_000)).unwrap();
    let disk = Disk::open([folder.path()]).unwrap();
    let root = WorkspacePath::root();
    let walked = walk(&disk, &root, &WalkOptions::default(), &|| false, &|_| false).unwrap();
    assert_eq!((walked.found.len(), walked.not_utf8), (1, 1));
}

#[test]
fn bad_starts_and_patterns_are_refused() {
    let memory = Memory::from_fixture(TREE);
    let bad = WalkOptions { ignore: vec!["a[".into(), "{".into()], ..WalkOptions::default() };
    for (from, options, code) in [
        ("a.rs", &WalkOptions::default(), Code::NotAFile),
        ("none", &WalkOptions::default(), Code::FileNotFound),
        (".", &bad, Code::ValidationError),
    ] {
        let error = walk(&memory, &WorkspacePath::new(from), options, &|| false, &|_| false).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
}

#[test]
fn a_walk_goes_over_every_workspace_and_every_root() {
    let folder = super::fast_folder();
    let base = folder.path().canonicalize().unwrap();
    for name in ["one/sub", "two/sub/target"] {
        std::fs::create_dir_all(base.join(name)).unwrap();
    }
    std::fs::write(base.join("two/.gitignore"), "target/\n").unwrap();
    std::fs::write(base.join("two/sub/file"), "").unwrap();
    let overlay = Overlay::over(Arc::new(Disk::open([base.join("one"), base.join("two")]).unwrap()));
    let two = base.join("two").to_str().unwrap().to_owned();
    overlay.write(&WorkspacePath::new(format!("{two}/sub/new")), b"").unwrap();
    overlay.remove(&WorkspacePath::new(format!("{two}/sub/file"))).unwrap();
    for (from, expected) in [(two.clone(), vec!["sub", "sub/new"]), (format!("{two}/sub"), vec!["sub/new"])] {
        let from = WorkspacePath::new(from);
        let walked = walk(&overlay, &from, &WalkOptions::default(), &|| false, &|_| false).unwrap();
        let names: Vec<_> = walked.found.iter().map(|found| &found.name[two.len() + 1..]).collect();
        assert_eq!(names, expected);
    }
}
