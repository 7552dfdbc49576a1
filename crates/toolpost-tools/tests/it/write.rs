//! `write`: new and replaced files, line endings, omissions, hashes.

use super::edit::content;
use super::{call, code, data, disk, executor, folder, memory, one_file, run, shown};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::host::Seen;
use toolpost_core::{Call, Context, Memory, Workspace as _, WorkspacePath};

/// What is said when this content replaces that, and what is there afterwards.
fn check(before: &[u8], new: &str, said: &str, after: &[u8]) {
    let ctx = one_file("a.txt", before);
    let outcome = call(&ctx, "write", json!({"filePath": "a.txt", "content": new}));
    assert_eq!(shown(&outcome).lines().next().unwrap(), said, "{new:?}");
    assert_eq!(content(&ctx, "a.txt"), after, "{new:?}");
}

#[test]
fn files_are_created_with_the_folders_above() {
    let ctx = memory("//- a.txt\none\n");
    let outcome = call(&ctx, "write", json!({"filePath": "x/y/b.txt", "content": "one\ntwo\n"}));
    assert_eq!(shown(&outcome), "x/y/b.txt: created, 2 lines, 8 bytes");
    assert_eq!(content(&ctx, "x/y/b.txt"), b"one\ntwo\n");
    let read = call(&ctx, "read", json!({"filePath": "x/y/b.txt"}));
    assert_eq!(data(&outcome)["hash"], data(&read)["hash"]);
    assert_eq!(data(&outcome)["diff"], "--- /dev/null\n+++ b/x/y/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
    for (path, expected) in
        [("a.txt/b", "NOT_A_FILE"), ("x", "NOT_A_FILE"), ("../b", "PATH_ESCAPE"), ("", "VALIDATION_ERROR")]
    {
        let outcome = call(&ctx, "write", json!({"filePath": path, "content": ""}));
        assert_eq!(code(&outcome), expected, "{path}: {}", shown(&outcome));
    }
}

#[test]
fn other_names_have_their_own_arguments() {
    for (tool, args) in [
        ("Write", json!({"file_path": "b.txt", "content": "x"})),
        ("write_file", json!({"path": "b.txt", "content": "x"})),
        ("write_file", json!({"file_path": "b.txt", "content": "x"})),
    ] {
        let ctx = memory("");
        let outcome = call(&ctx, tool, args);
        assert_eq!(shown(&outcome), "b.txt: created, 1 lines, 1 bytes", "{tool}");
    }
}

#[test]
fn line_endings_and_mark_are_those_of_the_file() {
    check(b"a\nb\n", "a\nc\n", "a.txt: replaced, +1 -1", b"a\nc\n");
    check(
        b"a\r\nb\r\n",
        "a\nc\n",
        "a.txt: replaced, +1 -1 (line endings made CRLF as they were)",
        b"a\r\nc\r\n",
    );
    check(b"a\r\nb\r\n", "a\r\nc\r\n", "a.txt: replaced, +1 -1", b"a\r\nc\r\n");
    check(b"a\nb\n", "a\r\nc\r\n", "a.txt: replaced, +1 -1 (line endings made LF as they were)", b"a\nc\n");
    check(
        b"a\r\nb\nc\r\n",
        "a\nb\nd\nc\n",
        "a.txt: replaced, +1 -0 (line endings made CRLF as they were)",
        b"a\r\nb\nd\nc\r\n",
    );
    check(b"\xef\xbb\xbfa\n", "b\n", "a.txt: replaced, +1 -1", b"\xef\xbb\xbfb\n");
    check(b"\xef\xbb\xbfa\n", "\u{feff}b\n", "a.txt: replaced, +1 -1", b"\xef\xbb\xbfb\n");
    check(b"a", "b\r\nc\n", "a.txt: replaced, +2 -1", b"b\r\nc\n");
    check(b"\xff\xfea\0\n\0", "b\n", "a.txt: replaced, +1 -1", b"\xff\xfeb\0\n\0");
    check(b"\0\x01\x02binary\xff", "text\n", "a.txt: replaced, 5 bytes", b"text\n");
    check(b"a\n", "a\n", "a.txt: unchanged, it has this content already", b"a\n");
    check(b"a\r\n", "a\n", "a.txt: unchanged, it has this content already", b"a\r\n");
}

#[test]
fn what_was_left_out_is_refused() {
    let ctx = memory("//- a.rs\nfn a() {}\n// ... existing code ...\n");
    for (line, is_refused) in [
        ("// ... rest of the code ...", true),
        ("    # rest of the code…", true),
        ("/* ... existing implementation ... */", true),
        ("(rest of methods ...)", true),
        ("<!-- rest of the file unchanged -->", true),
        ("// ... existing code ...", false),
        ("let s = \"// ... rest of the code ...\";", false),
        ("// the rest of the code relies on it", false),
        ("...", false),
    ] {
        let outcome = call(
            &ctx,
            "write",
            json!({"filePath": "a.rs", "content": format!("fn b() {{}}\n{line}\n// ... existing code ...\n")}),
        );
        match is_refused {
            true => {
                let trimmed = line.trim();
                assert_eq!(
                    shown(&outcome),
                    format!(
                        "OMISSION: line 2 of the new text of `a.rs` is a placeholder for text that is left out: `{trimmed}`; write out what belongs there, or change less"
                    )
                );
            }
            false => assert!(outcome.is_success(), "{}", shown(&outcome)),
        }
    }
}

#[test]
fn what_was_seen_must_be_what_is_there() {
    let ctx = memory("//- a.txt\none\n");
    let hash = |outcome: &toolpost_core::Outcome| -> Value { data(outcome)["hash"].clone() };
    let seen = hash(&call(&ctx, "read", json!({"filePath": "a.txt"})));
    let write = |content: &str| {
        call(&ctx, "write", json!({"filePath": "a.txt", "content": content, "expectedHash": seen}))
    };
    let now = hash(&write("two\n"));
    assert_eq!(
        shown(&write("three\n")),
        format!(
            "STALE_FILE: `a.txt` is not what was expected: its hash is now {}; read it again before changing it",
            now.as_str().unwrap()
        )
    );
    assert_eq!(content(&ctx, "a.txt"), b"two\n");
    ctx.workspace().remove(&WorkspacePath::new("a.txt")).unwrap();
    assert_eq!(
        shown(&write("three\n")),
        "STALE_FILE: `a.txt` does not exist (any more), so it has no hash; expect none to create it"
    );
}

#[test]
fn a_huge_file_is_replaced_without_being_read() {
    let root = folder();
    let path = root.path().join("huge.log");
    std::fs::write(&path, "first\r\n").unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(20 << 30).unwrap();
    let ctx = disk(root.path());
    let outcome =
        call(&ctx, "write", json!({"filePath": "huge.log", "content": "x\n", "expectedHash": "00"}));
    assert_eq!(code(&outcome), "TOO_LARGE");
    let outcome = call(&ctx, "write", json!({"filePath": "huge.log", "content": "x\n"}));
    assert!(outcome.is_success() && data(&outcome).get("diff").is_none(), "{}", shown(&outcome));
    assert!(path.metadata().unwrap().len() < 10);
}

#[test]
fn what_a_kernel_run_has_not_seen_is_not_overwritten() {
    let large = "x\n".repeat(20_000);
    let files = Memory::from_fixture(&format!("//- a.txt\none\n//- b.txt\n1\n2\n3\n//- large.txt\n{large}"));
    let files = Arc::new(files);
    let ctx = Context::builder(files.clone()).extra(Seen::new()).build();
    let write =
        |name: &str, content: &str| call(&ctx, "write", json!({"filePath": name, "content": content}));
    let somebody = |name: &str, content: &str| {
        files.write(&WorkspacePath::new(name), content.as_bytes()).unwrap();
    };
    // Not seen at all: refused with hash and text, which is seeing it.
    let outcome = write("a.txt", "two\n");
    let error = outcome.result.unwrap_err();
    let hash = error.details()["hash"].as_str().unwrap().to_owned();
    assert_eq!(error.details()["text"], "one\n");
    assert_eq!(
        error.to_string(),
        format!(
            "STALE_FILE: `a.txt` has not been seen as it is now; its hash is {hash}. Write again if what it holds may \
             go:\none\n"
        )
    );
    assert_eq!(content(&ctx, "a.txt"), b"one\n");
    // A refusal for another reason shows nothing.
    let omission = write("b.txt", "// ... rest of the code ...\n");
    assert_eq!(code(&omission), "OMISSION", "{}", shown(&omission));
    assert_eq!(code(&write("b.txt", "2\n")), "STALE_FILE");
    assert!(write("a.txt", "two\n").is_success());
    // What one wrote oneself is known, also after an edit and a patch of it.
    assert!(write("a.txt", "three\n").is_success());
    let edit = json!({"filePath": "a.txt", "oldString": "three", "newString": "four"});
    assert!(call(&ctx, "edit", edit).is_success());
    let patch =
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-four\n+five\n*** Add File: n.txt\n+n\n*** End Patch\n";
    assert!(call(&ctx, "apply_patch", json!({"patch": patch})).is_success());
    assert!(write("a.txt", "six\n").is_success() && write("n.txt", "m\n").is_success());
    // Somebody else's change is not.
    somebody("a.txt", "somebody else\n");
    let dry =
        run(executor().run(&ctx, Call::new("write", json!({"filePath": "a.txt", "content": "7"})).dry_run()));
    assert_eq!(code(&dry), "STALE_FILE");
    let refused = write("a.txt", "seven\n");
    assert_eq!(code(&refused), "STALE_FILE", "a dry run shows nothing to the model");
    // Content that is there already may be written by anybody.
    somebody("a.txt", "somebody else again\n");
    assert!(write("a.txt", "somebody else again\n").is_success());
    // An edit needs no more than its place, and does not make the rest known.
    somebody("b.txt", "1\n2\n3\n4\n");
    let edit = json!({"filePath": "b.txt", "oldString": "2\n", "newString": "two\n"});
    assert!(call(&ctx, "edit", edit).is_success());
    assert_eq!(code(&write("b.txt", "x\n")), "STALE_FILE");
    // Reading the whole makes it known, reading a part does not.
    somebody("b.txt", "1\n2\n3\n4\n5\n");
    assert!(call(&ctx, "read", json!({"filePath": "b.txt", "limit": 2})).is_success());
    assert_eq!(code(&write("b.txt", "x\n")), "STALE_FILE");
    somebody("b.txt", "1\n2\n3\n4\n5\n6\n");
    assert!(call(&ctx, "read", json!({"filePath": "b.txt"})).is_success());
    assert!(write("b.txt", "x\n").is_success());
    // Too long to be shown: its hash says that one knows it.
    let error = write("large.txt", "x\n").result.unwrap_err();
    assert!(error.details().get("text").is_none() && error.message().contains("expectedHash="), "{error}");
    assert_eq!(code(&write("large.txt", "x\n")), "STALE_FILE");
    let hash = &error.details()["hash"];
    let outcome =
        call(&ctx, "write", json!({"filePath": "large.txt", "content": "x\n", "expectedHash": hash}));
    assert!(outcome.is_success(), "{}", shown(&outcome));
    // Outside of a kernel run nobody keeps account.
    let outside = Context::builder(files.clone()).build();
    assert!(call(&outside, "write", json!({"filePath": "a.txt", "content": "8\n"})).is_success());
}
