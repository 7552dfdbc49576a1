//! What holds for every tool that changes files: guarantees 6, 8 and 15, and dry runs that change nothing.

use super::edit::content;
use super::{call, code, count, data, disk, executor, folder, one_file, run, shown};
use crate::fixed::Fixed as Executor;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use toolpost_core::policy::Profile;
use toolpost_core::policy::{Effect, Layer, Origin, Rule};
use toolpost_core::{Call, Context, Policy, Registry};

/// Calls that would each change something about the file.
fn changing_calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write", json!({"filePath": path, "content": "changed\n"})),
        ("edit", json!({"filePath": path, "oldString": "one", "newString": "changed"})),
        ("edit", json!({"filePath": path, "edits": [{"oldString": "one", "newString": "changed"}]})),
        ("delete", json!({"filePath": path})),
    ]
}

/// Every name under a folder, with what is there: content, mode and link target.
fn tree(root: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let content = match () {
                () if meta.is_symlink() => {
                    std::fs::read_link(&path).unwrap().to_string_lossy().as_bytes().to_vec()
                }
                () if meta.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                () => std::fs::read(&path).unwrap(),
            };
            all.insert(path.to_string_lossy().into_owned(), (meta.mode(), content));
        }
    }
    all
}

#[test]
fn guarantee_06_what_was_not_asked_for_stays() {
    let root = folder();
    let path = |name: &str| root.path().join(name);
    let ctx = disk(root.path());
    for tool in ["edit", "write"] {
        for mode in [0o755, 0o600, 0o640] {
            let before = b"\xef\xbb\xbfone\r\ntwo\r\nthree".as_slice();
            std::fs::write(path("a.txt"), before).unwrap();
            std::fs::set_permissions(path("a.txt"), PermissionsExt::from_mode(mode)).unwrap();
            let _ = std::fs::remove_file(path("other.txt"));
            std::fs::hard_link(path("a.txt"), path("other.txt")).unwrap();
            let args = match tool {
                "edit" => {
                    json!({"filePath": "a.txt", "oldString": "one\ntwo\n", "newString": "one\n2\n2½\n"})
                }
                _ => json!({"filePath": "a.txt", "content": "one\n2\n2½\nthree"}),
            };
            let outcome = call(&ctx, tool, args);
            assert!(outcome.is_success(), "{}", shown(&outcome));
            let after = "\u{feff}one\r\n2\r\n2½\r\nthree";
            assert_eq!(String::from_utf8(std::fs::read(path("a.txt")).unwrap()).unwrap(), after, "{tool}");
            assert_eq!(path("a.txt").metadata().unwrap().mode() & 0o7777, mode, "{tool}");
            assert_eq!(std::fs::read(path("other.txt")).unwrap(), before, "{tool}: the other name");
        }
        // A link stays one, and what it leads to is changed.
        std::fs::write(path("target.txt"), "one\n").unwrap();
        let _ = std::fs::remove_file(path("link.txt"));
        symlink("target.txt", path("link.txt")).unwrap();
        let (_, args) = changing_calls("link.txt").into_iter().find(|(name, _)| *name == tool).unwrap();
        assert!(call(&ctx, tool, args).is_success());
        assert_eq!(std::fs::read_to_string(path("target.txt")).unwrap(), "changed\n");
        assert!(path("link.txt").is_symlink());
    }
}

/// The bytes after an edit of a file of other bytes.
fn recoded(before: &[u8], old: &str, new: &str, after: Result<&[u8], &str>) {
    let ctx = one_file("a.txt", before);
    let outcome = call(&ctx, "edit", json!({"filePath": "a.txt", "oldString": old, "newString": new}));
    match after {
        Ok(after) => assert_eq!(content(&ctx, "a.txt"), after, "{}", shown(&outcome)),
        Err(expected) => {
            assert_eq!(shown(&outcome), expected);
            assert_eq!(content(&ctx, "a.txt"), before);
        }
    }
}

#[test]
fn guarantee_06_encodings_stay_or_are_refused() {
    let little = |text: &str| {
        [b"\xff\xfe".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()
    };
    let big = |text: &str| {
        [b"\xfe\xff".to_vec(), text.encode_utf16().flat_map(u16::to_be_bytes).collect()].concat()
    };
    recoded(&little("one ü\r\ntwo\r\n"), "ü\ntwo", "ö\n😀", Ok(&little("one ö\r\n😀\r\n")));
    recoded(&big("one ü\n"), "ü", "ö", Ok(&big("one ö\n")));
    recoded(b"caf\xe9 one\n", "one", "zw\u{f6}", Ok(b"caf\xe9 zw\xf6\n"));
    recoded(b"caf\xe9 one\n", "café", "cafe", Ok(b"cafe one\n"));
    recoded(
        b"caf\xe9 one\n",
        "one",
        "€",
        Err(
            "WRITE_ERROR: `a.txt` is latin-1, which has no `€`; use other characters, or convert the file to UTF-8 first",
        ),
    );
    recoded(
        b"caf\xe9 \xc3\xbc one\n",
        "one",
        "zwö",
        Err(
            "WRITE_ERROR: `a.txt` is neither UTF-8 nor latin-1 throughout, so it is unclear how to write new characters beyond ASCII; use ASCII, or convert the file first",
        ),
    );
    recoded(b"caf\xe9 \xc3\xbc one\n", "one", "two", Ok(b"caf\xe9 \xc3\xbc two\n"));
    let late = [vec![b'x'; 70_000], b"\n\xff one\n".to_vec()].concat();
    recoded(
        &late,
        "one",
        "two",
        Err(
            "IS_BINARY: `a.txt` looks like utf-8 but is not valid at byte 70001, and could not be written back as it is; change it with a command",
        ),
    );
    recoded(
        b"\x89PNG\r\n\x1a\n one",
        "one",
        "two",
        Err("IS_BINARY: `a.txt` is not text; change it with a command that knows the format"),
    );
    recoded(b"\xef\xbb\xbfone\n", "\u{feff}one", "\u{feff}two", Ok(b"\xef\xbb\xbftwo\n"));
}

#[test]
fn guarantee_08_edits_of_one_file_are_all_there_or_refused() {
    let root = folder();
    let (writers, edits) = (12, count(20, 100));
    let start: String = (0..writers).map(|writer| format!("writer {writer}: 0\n")).collect();
    std::fs::write(root.path().join("a.txt"), start).unwrap();
    let executor = Arc::new(executor());
    let ctx = disk(root.path());
    let done = run(async {
        let mut tasks = Vec::new();
        for writer in 0..writers {
            let (executor, ctx) = (executor.clone(), ctx.clone());
            tasks.push(tokio::spawn(async move {
                let mut done = 0;
                for _ in 0..edits {
                    let line = |number: usize| format!("writer {writer}: {number}\n");
                    let args =
                        json!({"filePath": "a.txt", "oldString": line(done), "newString": line(done + 1)});
                    done += usize::from(executor.run(&ctx, Call::new("edit", args)).await.is_success());
                }
                done
            }));
        }
        let mut done = Vec::new();
        for task in tasks {
            done.push(task.await.unwrap());
        }
        done
    });
    let expected: String =
        done.iter().enumerate().map(|(writer, done)| format!("writer {writer}: {done}\n")).collect();
    assert_eq!(std::fs::read_to_string(root.path().join("a.txt")).unwrap(), expected);
    let all: usize = done.iter().sum();
    println!(
        "measure: guarantee 8: {writers} writers in one process, {edits} edits each: {all} there, {} refused, 0 lost",
        writers * edits - all
    );
    assert!(all > 0);
}

#[test]
fn guarantee_15_protected_and_asking_files_are_not_written() {
    let root = folder();
    let names = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".gitmodules",
        ".mcp.json",
        ".bashrc",
        "asks/a.txt",
        "denied/a.txt",
    ];
    for name in names {
        std::fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(root.path().join(name), "one\n").unwrap();
    }
    symlink(".mcp.json", root.path().join("innocent.json")).unwrap();
    symlink(".git/hooks", root.path().join("scripts")).unwrap();
    symlink(".git/hooks/pre-push", root.path().join("dangling")).unwrap();
    symlink("asks", root.path().join("fine")).unwrap();
    symlink("denied/a.txt", root.path().join("link.txt")).unwrap();
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let rule =
        |effect, files| Rule::new(effect, "write", files, Origin::new(Layer::User, "test", 1)).unwrap();
    let rules = vec![rule(Effect::Ask, "asks/**"), rule(Effect::Deny, "denied/**")];
    let policy = Policy::profile(Profile::Standard).with_rules(Layer::User, rules);
    let executor = Executor::new(registry, policy);
    let before = tree(root.path());
    let ctx = disk(root.path());
    let links = ["innocent.json", "scripts/pre-commit", "fine/a.txt", "link.txt"];
    // Where they do not exist yet as well.
    let new = [
        ".git/hooks/post-merge",
        "scripts/post-merge",
        ".vscode/tasks.json",
        "asks/new.txt",
        "denied/new/deep.txt",
    ];
    let mut tried = 0;
    for name in names.into_iter().chain(links).chain(new) {
        for (tool, args) in changing_calls(name) {
            let outcome = run(executor.run(&ctx, Call::new(tool, args)));
            assert!(!outcome.is_success(), "{tool} {name}: {}", shown(&outcome));
            tried += 1;
        }
        let create = json!({"filePath": name, "oldString": "", "newString": "x"});
        assert!(!run(executor.run(&ctx, Call::new("edit", create))).is_success(), "{name}");
    }
    assert!(tree(root.path()) == before);
    println!("measure: writes to protected, asking and denied files: 0 of {tried} got through");
}

#[test]
fn dry_runs_show_the_diff_and_change_nothing() {
    let root = folder();
    std::fs::write(root.path().join("a.txt"), "one\ntwo\n").unwrap();
    std::fs::create_dir(root.path().join("empty")).unwrap();
    symlink("a.txt", root.path().join("link.txt")).unwrap();
    let before = tree(root.path());
    let ctx: Context = disk(root.path());
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+changed\n two\n";
    for (tool, args, part, kind) in [
        ("edit", json!({"filePath": "a.txt", "oldString": "one", "newString": "changed"}), diff, "change"),
        ("edit", json!({"filePath": "link.txt", "oldString": "one", "newString": "changed"}), diff, "change"),
        ("write", json!({"filePath": "a.txt", "content": "changed\ntwo\n"}), diff, "change"),
        (
            "write",
            json!({"filePath": "new/b.txt", "content": "x\n"}),
            "created, 1 lines, 2 bytes\n--- /dev/null\n+++ b/new/b.txt\n",
            "createcreate",
        ),
        (
            "edit",
            json!({"filePath": "new/b.txt", "oldString": "", "newString": "x\n"}),
            "+++ b/new/b.txt\n",
            "createcreate",
        ),
        ("delete", json!({"filePath": "a.txt"}), "+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", "delete"),
        ("delete", json!({"filePath": "empty"}), "empty: removed, an empty folder", "delete"),
        ("delete", json!({"filePath": "link.txt"}), "link.txt: removed, a link", "delete"),
    ] {
        let outcome = run(executor().run(&ctx, Call::new(tool, args.clone()).dry_run()));
        let text = format!("{}{}", shown(&outcome), data(&outcome)["diff"].as_str().unwrap_or_default());
        assert!(text.contains(part), "{tool} {args}: {text}");
        let planned = outcome.metadata.dry_run.unwrap().changes;
        let kinds: Vec<&str> = planned.iter().map(|change| change.kind.as_str()).collect();
        assert_eq!(kinds.concat(), kind, "{tool} {args}");
        assert!(tree(root.path()) == before, "{tool} {args}");
    }
    let outcome =
        call(&ctx, "edit", json!({"filePath": "a.txt", "oldString": "none such", "newString": "x"}));
    assert_eq!(code(&outcome), "NO_MATCH");
    assert!(tree(root.path()) == before);
}
