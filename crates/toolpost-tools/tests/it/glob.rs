//! `glob`: which names match, in which order, what is held back, and odd trees.

use super::{call, code, data, disk, executor, folder, memory, run, shown};
use crate::fixed::Fixed as Executor;
use crate::load::stretched;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, openat};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolpost_core::policy::Profile;
use toolpost_core::policy::{Effect, Layer, Origin, Rule};
use toolpost_core::workspace::Overlay;
use toolpost_core::{Call, Context, Memory, Outcome, Policy, Registry};
use toolpost_disk::Disk;

const FIXTURE: &str = "\
//- .gitignore
*.log
/target
!keep.log
//- .github/ci.yml
//- Cargo.toml
//- a.log
//- keep.log
//- src/main.rs
//- src/deep/b.rs
//- src/gen/.gitignore
*
!kept.rs
//- src/gen/kept.rs
//- src/gen/made.rs
//- target/debug/x.rs
";

/// The files of a fixture on disk, all of one time.
pub(super) fn on_disk(fixture: &str) -> TempDir {
    let folder = folder();
    let mut path = None;
    for line in fixture.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("//- ") {
            let file = folder.path().join(name.trim_end());
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            path = Some(file);
        } else if let Some(path) = &path {
            let mut text = std::fs::read_to_string(path).unwrap();
            text.push_str(line);
            std::fs::write(path, text).unwrap();
        }
    }
    folder
}

/// The same files in memory, on disk, and under an overlay.
pub(super) fn everywhere(fixture: &str) -> (TempDir, Vec<(&'static str, Context)>) {
    let folder = on_disk(fixture);
    let overlay = Overlay::over(Arc::new(Disk::open([folder.path()]).unwrap()));
    let contexts = vec![
        ("memory", memory(fixture)),
        ("disk", disk(folder.path())),
        ("overlay", Context::builder(Arc::new(overlay)).build()),
    ];
    (folder, contexts)
}

/// The built-in tools under rules such as `deny read: secret.txt`.
pub(super) fn under(rules: &[&str]) -> Executor {
    let mut policy = Policy::profile(Profile::Standard);
    for (index, rule) in rules.iter().enumerate() {
        let (effect, short) = rule.split_once(' ').unwrap();
        let effect: Effect = effect.parse().unwrap();
        let origin = Origin::new(Layer::User, "rules.toml", index + 1);
        policy = policy.with_rules(Layer::User, vec![Rule::parse_short(effect, short, origin).unwrap()]);
    }
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    Executor::new(registry, policy)
}

fn check(args: Value, expected: &str) {
    let (_folder, contexts) = everywhere(FIXTURE);
    for (place, ctx) in contexts {
        let shown = shown(&call(&ctx, "glob", args.clone()));
        let mut lines: Vec<&str> = shown.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines.join(" "), expected, "{args} in {place}");
    }
}

#[test]
fn a_pattern_finds_files_as_git_sees_them() {
    check(json!({"pattern": "*.rs"}), "src/deep/b.rs src/gen/kept.rs src/main.rs");
    check(json!({"pattern": "**/*.rs"}), "src/deep/b.rs src/gen/kept.rs src/main.rs");
    check(json!({"pattern": "src/*.rs"}), "src/main.rs");
    check(json!({"pattern": "*.rs", "path": "src/deep"}), "src/deep/b.rs");
    check(json!({"pattern": "gen/*", "path": "src"}), "src/gen/kept.rs");
    check(json!({"pattern": "*.{toml,log}"}), "Cargo.toml keep.log");
    check(json!({"pattern": "*.rs", "path": "src/gen", "noIgnore": true}), "src/gen/kept.rs src/gen/made.rs");
    check(json!({"pattern": "*.rs", "path": "target"}), "target/debug/x.rs");
    check(json!({"pattern": "*.yml", "hidden": true}), ".github/ci.yml");
    check(json!({"pattern": ".github/**"}), ".github/ci.yml");
    check(json!({"pattern": "*.py"}), "(no file matches; look further with hidden=true or noIgnore=true)");
    check(json!({"pattern": "*.py", "hidden": true}), "(no file matches; look further with noIgnore=true)");
}

#[test]
fn wrong_arguments_are_explained() {
    let (_folder, contexts) = everywhere(FIXTURE);
    for (_, ctx) in &contexts {
        for (args, part) in [
            (json!({"pattern": "*", "path": "Cargo.toml"}), "NOT_A_FILE: `Cargo.toml` is not a folder"),
            (json!({"pattern": "*", "path": "scr"}), "FILE_NOT_FOUND: no file `scr`; nearest: `src`"),
            (json!({"pattern": "{a"}), "`pattern` is not a valid name pattern ("),
            (json!({"pattern": "*", "limit": 0}), "`limit`: expected at least 1"),
            (json!({"pattern": "*", "path": ".."}), "PATH_ESCAPE"),
            (json!({}), "pattern"),
        ] {
            let shown = shown(&call(ctx, "glob", args.clone()));
            assert!(shown.contains(part), "{args}: {shown}");
        }
    }
}

#[test]
fn other_names_have_their_own_arguments() {
    for (tool, args) in [
        ("Glob", json!({"pattern": "**/*.rs", "path": "src/deep"})),
        ("glob", json!({"pattern": "**/*.rs", "dir_path": "src/deep"})),
    ] {
        assert_eq!(shown(&call(&memory(FIXTURE), tool, args)), "src/deep/b.rs\n", "{tool}");
    }
}

/// Sets when a file was last changed, in seconds.
pub(super) fn touch(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_newest_come_first_and_the_rest_is_counted() {
    let folder = folder();
    for (name, seconds) in [("old", 1), ("b/newest", 9), ("mid-a", 5), ("mid-b", 5), ("a/new", 8)] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        touch(&path, seconds);
    }
    let ctx = disk(folder.path());
    assert_eq!(shown(&call(&ctx, "glob", json!({"pattern": "**"}))), "b/newest\na/new\nmid-a\nmid-b\nold\n");
    let outcome = call(&ctx, "glob", json!({"pattern": "**", "limit": 3}));
    let expected = "b/newest\na/new\nmid-a\n(2 more, older; narrow the pattern, or raise `limit`)";
    assert_eq!(shown(&outcome), expected);
    assert_eq!(data(&outcome)["files"], json!(["b/newest", "a/new", "mid-a"]));
    assert_eq!(
        (data(&outcome)["leftOut"].clone(), data(&outcome)["truncated"].clone()),
        (json!(2), json!(true))
    );
}

#[test]
fn links_special_files_and_odd_names_do_no_harm() {
    let folder = folder();
    let root = folder.path();
    std::fs::create_dir(root.join("dir")).unwrap();
    std::fs::write(root.join("dir/file"), "").unwrap();
    for (target, link) in [
        ("dir", "to-folder"),
        ("dir/file", "to-file"),
        ("/etc/passwd", "out"),
        ("../..", "up"),
        ("nowhere", "dead"),
        ("round", "round"),
        ("..", "dir/loop"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    mkfifoat(CWD, root.join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    std::fs::write(root.join("new\nline\u{1b}[31m"), "").unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"bad-\xff")), "").unwrap();
    let outcome = call(&disk(root), "glob", json!({"pattern": "**"}));
    let shown = shown(&outcome);
    let mut lines: Vec<&str> = shown.lines().collect();
    lines.sort_unstable();
    let expected = ["(1 names are not UTF-8)", "dir/file", "new\\nline\\u{1b}[31m", "to-file"];
    assert_eq!(lines, expected);
}

/// A tree with secrets, some of them behind links; `grep` uses it too.
pub(super) fn secrets() -> TempDir {
    let folder = folder();
    let root = folder.path();
    for (name, text) in [
        ("open.txt", "open CANARY-not\n"),
        ("secret.txt", "SECRET\n"),
        ("asked.txt", "SECRET\n"),
        ("deep/private/key.txt", "SECRET\n"),
        ("deep/fine.txt", "open\n"),
    ] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    symlink("secret.txt", root.join("alias-a.txt")).unwrap();
    symlink("../asked.txt", root.join("deep/alias-b.txt")).unwrap();
    symlink("deep/private", root.join("alias-folder")).unwrap();
    symlink("open.txt", root.join("alias-open.txt")).unwrap();
    folder
}

pub(super) const SECRET_RULES: [&str; 3] =
    ["deny read: secret.txt", "ask read: asked.txt", "deny read: deep/private/**"];

#[test]
fn what_is_denied_or_asks_is_counted_and_not_shown() {
    let folder = secrets();
    let overlay = Overlay::over(Arc::new(Disk::open([folder.path()]).unwrap()));
    for ctx in [disk(folder.path()), Context::builder(Arc::new(overlay)).build()] {
        let call = Call::new("glob", json!({"pattern": "**", "noIgnore": true}));
        let outcome = run(under(&SECRET_RULES).run(&ctx, call));
        let mut files: Vec<String> =
            serde_json::from_value(data(&outcome)["files"].clone()).unwrap_or_else(|_| panic!("{outcome:?}"));
        files.sort();
        assert_eq!(files, ["alias-open.txt", "deep/fine.txt", "open.txt"]);
        assert_eq!(data(&outcome)["heldBack"], 5, "{}", shown(&outcome));
        let text = shown(&outcome);
        assert!(text.contains("5 hidden by the policy: "), "{text}");
        assert!(text.contains("2 by `deny read: secret.txt (rules.toml"), "{text}");
        // Nobody may look into what is denied by naming it.
        for path in ["deep/private", "alias-folder"] {
            let call = Call::new("glob", json!({"pattern": "**", "path": path}));
            let outcome = run(under(&SECRET_RULES).run(&ctx, call));
            let files = outcome.result.as_ref().map(|output| output.data["files"].clone());
            assert!(files.is_err() || files == Ok(json!([])), "{path}: {}", shown(&outcome));
        }
    }
}

#[test]
fn a_hundred_thousand_files_in_a_folder_are_bounded() {
    let folder = folder();
    let handle = openat(CWD, folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for index in 0..100_000 {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        openat(&handle, format!("a-rather-long-name-{index:06}"), flags, Mode::from_raw_mode(0o644)).unwrap();
    }
    let start = Instant::now();
    for (tool, args) in [
        ("glob", json!({"pattern": "*", "limit": 10_000})),
        ("glob", json!({"pattern": "*-05000?"})),
        ("grep", json!({"pattern": "x"})),
    ] {
        let outcome = call(&disk(folder.path()), tool, args);
        assert!(outcome.is_success() && outcome.to_json().to_string().len() < 1 << 20);
        assert!(outcome.metadata.truncated.is_none(), "the list ends between files");
        if let Some(left_out) = data(&outcome)["leftOut"].as_u64() {
            let shown = data(&outcome)["files"].as_array().unwrap().len() as u64;
            assert!(left_out + shown == 100_000 || shown == 10, "{left_out} {shown}");
        }
    }
    assert!(start.elapsed() < stretched(Duration::from_secs(15)), "{:?}", start.elapsed());
}

/// A tree that takes a while.
pub(super) fn wide() -> TempDir {
    let folder = folder();
    for index in 0..300 {
        let level = folder.path().join(format!("{index:03}/a"));
        std::fs::create_dir_all(&level).unwrap();
        for index in 0..20 {
            std::fs::write(level.join(index.to_string()), "x\n").unwrap();
        }
    }
    folder
}

/// A short time gives a part of it that says so, and a cancelled call nothing.
pub(super) fn check_stopping(tool: &str, args: &Value) {
    let folder = wide();
    let cancel = CancellationToken::new();
    let workspace = Arc::new(Disk::open([folder.path()]).unwrap());
    let ctx = Context::builder(workspace).cancel(cancel.clone()).build();
    let (mut parts, mut wholes) = (0, 0);
    run(async {
        let executor = executor();
        for limit in [1, 1, 1, 2, 2, 2, 3, 5, 8, 12, 20, 5_000] {
            let call = Call::new(tool, args.clone()).timeout(Duration::from_millis(limit));
            let outcome: Outcome = executor.run(&ctx, call).await;
            match &outcome.result {
                Ok(output) if output.data["partial"] == true => {
                    assert!(output.text.contains("out of time: this is only a part"), "{}", output.text);
                    assert!(
                        !output.text.contains("no file matches") && !output.text.contains("nothing matches")
                    );
                    parts += 1;
                }
                Ok(_) => wholes += 1,
                Err(error) => assert_eq!(error.code().as_str(), "TIMEOUT"),
            }
        }
        cancel.cancel();
        assert_eq!(code(&executor.run(&ctx, Call::new(tool, args.clone())).await), "CANCELLED");
    });
    assert!(parts > 0 && wholes > 0, "{parts} parts, {wholes} wholes");
}

#[test]
fn a_short_time_gives_a_part_and_a_cancelled_call_nothing() {
    check_stopping("glob", &json!({"pattern": "*"}));
}

#[test]
fn several_roots_are_searched_by_their_names() {
    let (first, second) = (folder(), folder());
    std::fs::write(first.path().join("a.txt"), "one\n").unwrap();
    std::fs::write(second.path().join("b.txt"), "one\n").unwrap();
    let other = second.path().canonicalize().unwrap();
    let other = other.to_str().unwrap();
    let ctx = Context::builder(Arc::new(Disk::open([first.path(), second.path()]).unwrap())).build();
    assert_eq!(shown(&call(&ctx, "glob", json!({"pattern": "*.txt"}))), "a.txt\n");
    let named = call(&ctx, "glob", json!({"pattern": "*.txt", "path": other}));
    assert_eq!(shown(&named), format!("{other}/b.txt\n"));
    let found = call(&ctx, "grep", json!({"pattern": "one", "path": other}));
    assert_eq!(shown(&found), format!("{other}/b.txt\n1: one\n"));
}

#[test]
fn an_empty_workspace_has_nothing() {
    let ctx = Context::builder(Arc::new(Memory::new())).build();
    assert!(shown(&call(&ctx, "glob", json!({"pattern": "**"}))).starts_with("(no file matches"));
}

#[test]
fn rgignore_leaves_out_what_ripgrep_leaves_out() {
    let files = [
        (".ignore", "*.one\n"),
        (".rgignore", "*.two\n!b.one\n"),
        ("a.one", ""),
        ("b.one", ""),
        ("c.two", ""),
    ];
    let folder = folder();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("sub/d.two"), "").unwrap();
    std::fs::write(folder.path().join("sub/e.txt"), "").unwrap();
    let on_disk = disk(folder.path());
    assert_eq!(found(&on_disk, "**/*.*"), ["b.one", "sub/e.txt"]);
    assert_eq!(found(&on_disk, "sub/*"), ["sub/e.txt"], "those above the folder hold, too");
    let fixture: String = files.iter().map(|(name, content)| format!("//- {name}\n{content}")).collect();
    assert_eq!(found(&memory(&fixture), "*.*"), ["b.one"]);
}

/// The names that a pattern finds, sorted.
fn found(ctx: &Context, pattern: &str) -> Vec<String> {
    let outcome = call(ctx, "glob", json!({"pattern": pattern}));
    let mut names: Vec<String> = shown(&outcome).lines().map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn a_bare_name_is_found_anywhere() {
    let ctx = memory("//- src/deep/x.ts\n//- x.tsx\n//- y/ax.ts\n");
    assert_eq!(shown(&call(&ctx, "glob", json!({"pattern": "x.ts"}))), "src/deep/x.ts\n");
}
