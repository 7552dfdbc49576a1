//! `list`: the tree as a model sees it, what is left out, and names that try to deceive.

use super::{call, code, data, disk, executor, folder, memory, run, shown};
use crate::load::stretched;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, mkfifoat, openat};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use toolpost_core::{Call, Context};
use toolpost_disk::Disk;

const FIXTURE: &str = "\
//- .gitignore
*.log
/target
!keep.log
//- .dot
//- Cargo.toml
//- a.log
//- keep.log
//- src/main.rs
//- src/deep/deeper/deepest/x.rs
//- src/deep/b.rs
//- src/gen/.gitignore
*
!kept.rs
//- src/gen/kept.rs
//- src/gen/made.rs
//- target/debug/x
//- void/
";

fn check(args: Value, expected: &str) {
    assert_eq!(shown(&call(&memory(FIXTURE), "list", args.clone())), expected, "{args}");
}

#[test]
fn the_tree_is_drawn_as_git_sees_it() {
    let usual = "\
./
  Cargo.toml
  keep.log
  src/
    deep/
      b.rs
      deeper/
    gen/
      kept.rs
    main.rs
  void/
(folders on level 3 are not opened)";
    check(json!({}), usual);
    check(json!({"path": "."}), usual);
    check(json!({"path": "/workspace"}), usual);
    check(json!({"path": "src/deep"}), "src/deep/\n  b.rs\n  deeper/\n    deepest/\n      x.rs\n");
    check(json!({"path": "src/gen"}), "src/gen/\n  kept.rs\n");
}

#[test]
fn depth_ignore_hidden_and_no_ignore_change_what_is_shown() {
    check(
        json!({"depth": 1}),
        "./\n  Cargo.toml\n  keep.log\n  src/\n  void/\n(folders on level 1 are not opened)",
    );
    check(
        json!({"depth": 64, "path": "src/deep", "ignore": ["*.rs"]}),
        "src/deep/\n  deeper/\n    deepest/\n",
    );
    check(json!({"ignore": ["src", "*.toml"]}), "./\n  keep.log\n  void/\n");
    check(
        json!({"depth": 1, "hidden": true, "ignore": ["src", "void"]}),
        "./\n  .dot\n  .gitignore\n  Cargo.toml\n  keep.log\n",
    );
    check(
        json!({"depth": 1, "noIgnore": true, "ignore": ["src", "void"]}),
        "./\n  Cargo.toml\n  a.log\n  keep.log\n  target/\n(folders on level 1 are not opened)",
    );
    check(json!({"path": "void"}), "void/\n(nothing here; hidden=true and noIgnore=true show more)");
}

#[test]
fn what_the_limit_leaves_out_is_counted() {
    check(
        json!({"limit": 2}),
        "./\n  Cargo.toml\n  keep.log\n(8 more left out, most of them in src; list one folder, or raise `limit`)",
    );
    let outcome = call(&memory(FIXTURE), "list", json!({"limit": 5}));
    assert_eq!(data(&outcome)["entries"].as_array().unwrap().len(), 5);
    assert_eq!(data(&outcome)["entries"][3], json!({"path": "src/deep", "kind": "folder"}));
    assert_eq!(data(&outcome)["leftOut"], 5);
}

#[test]
fn every_level_is_shown_before_the_next_is_opened() {
    // The first folder alone has more than can be shown.
    let many: String = (0..50).map(|number| format!("//- a/deep/{number}.txt\n")).collect();
    let fixture = format!("{many}//- b/1.txt\n//- b/2.txt\n//- c/x/y.txt\n//- z.txt\n");
    let listed = |args: Value| shown(&call(&memory(&fixture), "list", args));
    assert_eq!(
        listed(json!({"limit": 8})),
        "./\n  a/\n    deep/ (50 more)\n  b/\n    1.txt\n    2.txt\n  c/\n    x/ (1 more)\n  z.txt\n(51 more left out, \
         most of them in a/deep; list one folder, or raise `limit`)"
    );
    assert_eq!(
        listed(json!({"limit": 5})),
        "./\n  a/\n    deep/ (50 more)\n  b/ (2 more)\n  c/ (1 more)\n  z.txt\n(54 more left out, most of them in \
         a/deep; list one folder, or raise `limit`)"
    );
    let text = listed(json!({"limit": 20}));
    assert!(text.contains("  b/\n    1.txt\n    2.txt\n  c/\n    x/ (1 more)\n"), "{text}");
    assert!(text.contains("deep/ (38 more)\n      0.txt\n"), "{text}");
    assert!(listed(json!({})).contains("      y.txt\n  z.txt\n"));
}

#[test]
fn what_is_no_folder_and_wrong_arguments_are_explained() {
    for (args, part) in [
        (json!({"path": "Cargo.toml"}), "NOT_A_FILE: `Cargo.toml` is not a folder"),
        (json!({"path": "scr"}), "FILE_NOT_FOUND: no file `scr`; nearest: `src`"),
        (json!({"depth": 0}), "`depth`: expected at least 1, got 0"),
        (json!({"limit": 10_001}), "`limit`: expected at most 10000"),
        (json!({"ignore": ["{a"]}), "write it as in .gitignore"),
        (json!({"dept": 1}), "did you mean `depth`?"),
    ] {
        let shown = shown(&call(&memory(FIXTURE), "list", args.clone()));
        assert!(shown.contains(part), "{args}: {shown}");
    }
}

#[test]
fn other_names_have_their_own_arguments() {
    for (tool, args) in [
        ("list_directory", json!({"dir_path": "src/gen"})),
        ("list_files", json!({"directory": "src/gen"})),
        ("LS", json!({"path": "src/gen"})),
    ] {
        assert_eq!(shown(&call(&memory(FIXTURE), tool, args)), "src/gen/\n  kept.rs\n", "{tool}");
    }
}

#[test]
fn links_special_files_and_odd_names_are_marked() {
    let folder = folder();
    let root = folder.path();
    std::fs::create_dir(root.join("dir")).unwrap();
    std::fs::write(root.join("dir/file"), "").unwrap();
    symlink("dir", root.join("link")).unwrap();
    symlink("/etc", root.join("out")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    mkfifoat(CWD, root.join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    std::fs::write(root.join("new\nline\u{1b}[31m"), "").unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"bad-\xff")), "").unwrap();
    let outcome = call(&disk(root), "list", json!({}));
    let expected = "\
./
  dangling@
  dir/
    file
  fifo!
  link@
  new\\nline\\u{1b}[31m
  out@
(1 names are not UTF-8)";
    assert_eq!(shown(&outcome), expected);
    let entries = data(&outcome)["entries"].as_array().unwrap();
    let kind = |path: &str| entries.iter().find(|entry| entry["path"] == path).unwrap()["kind"].clone();
    assert_eq!([kind("out"), kind("fifo"), kind("dir")], ["link", "special", "folder"]);
    assert_eq!(kind("new\nline\u{1b}[31m"), "file");
    assert_eq!(data(&outcome)["notUtf8"], 1);
    // A link that stays inside may be named; one that leads out may not.
    assert_eq!(shown(&call(&disk(root), "list", json!({"path": "link"}))), "link/\n  file\n");
    assert_eq!(code(&call(&disk(root), "list", json!({"path": "out"}))), "PATH_ESCAPE");
}

#[test]
fn a_folder_that_cannot_be_read_is_named() {
    // Its path is longer than the system takes, which holds for root too.
    let folder = folder();
    let name = "d".repeat(250);
    let mut handle = openat(CWD, folder.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..18 {
        mkdirat(&handle, &name, Mode::from_raw_mode(0o755)).unwrap();
        handle = openat(&handle, &name, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let outcome = call(&disk(folder.path()), "list", json!({"depth": 64}));
    assert_eq!(data(&outcome)["unreadable"].as_array().unwrap().len(), 1, "{}", shown(&outcome));
    assert!(shown(&outcome).contains("(could not read ddd"));
}

#[test]
fn a_hundred_thousand_entries_are_bounded() {
    let folder = folder();
    let handle = openat(CWD, folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for index in 0..100_000 {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        openat(&handle, format!("a-rather-long-name-{index:06}"), flags, Mode::from_raw_mode(0o644)).unwrap();
    }
    let start = Instant::now();
    for limit in [1_000, 10_000] {
        let outcome = call(&disk(folder.path()), "list", json!({"limit": limit}));
        let entries = data(&outcome)["entries"].as_array().unwrap().len() as u64;
        assert!(outcome.metadata.truncated.is_none(), "the tree ends between entries");
        assert_eq!(data(&outcome)["leftOut"].as_u64().unwrap() + entries, 100_000);
        assert_eq!(shown(&outcome).lines().count() as u64, entries + 2);
        assert!(outcome.to_json().to_string().len() < 1 << 20);
    }
    assert!(start.elapsed() < stretched(Duration::from_secs(15)), "{:?}", start.elapsed());
}

#[test]
fn a_short_time_gives_a_part_and_a_cancelled_call_nothing() {
    let outcome = run(async {
        let call = Call::new("list", json!({})).timeout(Duration::from_millis(400));
        executor().run(&memory(FIXTURE), call).await
    });
    assert!(shown(&outcome).contains("main.rs"), "400 ms are enough for ten files: {}", shown(&outcome));

    let folder = folder();
    for index in 0..300 {
        let level = folder.path().join(format!("{index:03}/a"));
        std::fs::create_dir_all(&level).unwrap();
        for index in 0..20 {
            std::fs::write(level.join(index.to_string()), "").unwrap();
        }
    }
    let cancel = CancellationToken::new();
    let workspace = std::sync::Arc::new(Disk::open([folder.path()]).unwrap());
    let ctx = Context::builder(workspace).cancel(cancel.clone()).build();
    let (mut parts, mut cancelled) = (0, 0);
    run(async {
        let executor = executor();
        for limit in [1, 2, 3, 5, 8, 12, 18, 25] {
            let call = Call::new("list", json!({"limit": 10_000})).timeout(Duration::from_millis(limit));
            let outcome = executor.run(&ctx, call).await;
            match &outcome.result {
                Ok(output) if output.data["partial"] == true => {
                    assert!(output.text.ends_with("out of time: this is only a part)"), "{}", output.text);
                    assert!(!output.text.contains("nothing here"));
                    parts += 1;
                }
                Ok(_) => {}
                Err(error) => assert_eq!(error.code().as_str(), "TIMEOUT"),
            }
        }
        let running = executor.run(&ctx, Call::new("list", json!({"limit": 10_000})));
        tokio::pin!(running);
        if tokio::time::timeout(Duration::from_millis(1), &mut running).await.is_err() {
            cancel.cancel();
            assert_eq!(code(&running.await), "CANCELLED");
            cancelled += 1;
        }
    });
    assert!(parts > 0 && cancelled == 1, "{parts} parts, {cancelled} cancelled");
}
