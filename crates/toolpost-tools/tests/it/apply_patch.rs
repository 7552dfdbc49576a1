//! `apply_patch`: both forms of patch, every place a hunk may belong, and all files or none.

mod drift;
mod git;
mod staged;
mod understood;
mod whole;

mod places;

use super::{call, code, data, disk, executor, folder, memory, one_file, run, shown};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toolpost_core::{Call, Context, Memory, Outcome, WorkspacePath};

/// A seeded source of choices, the same in every run.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Every file below a folder with its bytes and mode, and every folder.
pub(super) fn tree(root: &Path) -> BTreeMap<String, (Vec<u8>, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if name == ".git" {
                continue;
            }
            let kind = entry.file_type().unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            let content = match () {
                () if kind.is_dir() => {
                    open.push(entry.path());
                    b"folder".to_vec()
                }
                () if kind.is_symlink() => {
                    std::fs::read_link(entry.path()).unwrap().to_str().unwrap().as_bytes().to_vec()
                }
                () if kind.is_file() => std::fs::read(entry.path()).unwrap(),
                () => b"special".to_vec(),
            };
            found.insert(name, (content, mode));
        }
    }
    found
}

fn apply(ctx: &Context, patch: &str) -> Outcome {
    call(ctx, "apply_patch", json!({"patch": patch}))
}

/// Applies a patch to files and gives them back: the files, or `CODE: message` and the files untouched.
fn applied(files: &[(&str, &str)], patch: &str) -> Result<BTreeMap<String, String>, String> {
    let folder = folder();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let before = tree(folder.path());
    let outcome = apply(&disk(folder.path()), patch);
    if !outcome.is_success() {
        assert_eq!(tree(folder.path()), before, "a refused patch changes nothing: {}", shown(&outcome));
        return Err(shown(&outcome));
    }
    let files = tree(folder.path()).into_iter().filter(|(_, (content, _))| content != b"folder");
    Ok(files.map(|(name, (content, _))| (name, String::from_utf8(content).unwrap())).collect())
}

/// One file, one patch, what the file becomes.
fn check(before: &str, patch: &str, after: &str) {
    let result = applied(&[("f", before)], patch);
    assert_eq!(result.map(|files| files["f"].clone()).as_deref(), Ok(after), "{patch}");
}

/// A patch of files that is refused with this code and these words.
fn refused(files: &[(&str, &str)], patch: &str, words: &[&str]) {
    let refusal = applied(files, patch).expect_err(patch);
    for word in words {
        assert!(refusal.contains(word), "no {word:?} in: {refusal}\n{patch}");
    }
}

/// The body of a patch of the file `f`.
fn update(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

#[test]
fn every_known_case() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../data/apply_patch.json")).unwrap();
    let (mut right, mut refused) = (0, 0);
    for case in &cases {
        let texts = |key: &str| -> Vec<(String, String)> {
            let files = case[key].as_object().unwrap().iter();
            files.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned())).collect()
        };
        let (input, expected) = (texts("input"), texts("expected"));
        let files: Vec<(&str, &str)> =
            input.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        match (applied(&files, case["patch"].as_str().unwrap()), case["rejects"] == true) {
            (Ok(found), false) => {
                assert_eq!(found, expected.into_iter().collect(), "{}", case["id"]);
                right += 1;
            }
            (Err(_), true) => refused += 1,
            (other, _) => panic!("{}: {other:?}", case["id"]),
        }
    }
    assert_eq!(right + refused, cases.len());
    println!("measure: patch cases: {} of {}: {right} applied, {refused} refused", cases.len(), cases.len());
}

#[test]
fn wrappings_are_looked_through() {
    let patch = update("@@\n-a\n+b");
    for wrapped in [
        patch.clone(),
        format!("```\n{patch}```\n"),
        format!("```diff\n{patch}\n```"),
        format!("apply_patch <<'EOF'\n{patch}EOF\n"),
        format!("<<EOF\n{patch}EOF"),
        format!("cat <<'PATCH' | apply_patch\n{patch}PATCH\n"),
        format!("bash -lc 'apply_patch <<\"EOF\"\n{patch}EOF'\n"),
        format!("Here is the patch:\n\n{patch}\n\n"),
        format!("\n\n  {patch}"),
        patch.replace('\n', "\r\n"),
        format!("\u{feff}{patch}"),
        patch.replace("*** Update File: f", "*** Update File: f  "),
        patch.replace("*** End Patch", "\n*** End Patch"),
        patch.replace("+b", "+b\n*** End of File"),
        patch.trim_end().to_owned(),
        "*** Begin Patch\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n*** End Patch\n".to_owned(),
        "*** Begin Patch\n*** Update File: f\n@@ -1,1 +1,1 @@\n-a\n+b\n*** End Patch\n".to_owned(),
        "```diff\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n```\n".to_owned(),
        "--- f.orig\t2024-01-01\n+++ f\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "--- a/f\n+++ b/f\n@@ -7,9 +7,9 @@ miscounted\n-a\n+b\ndiff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
            .to_owned(),
        "--- a/f\n+++ b/f\n@@\n-a\n+b\n".to_owned(),
    ] {
        check("a\n", &wrapped, "b\n");
    }
}

#[test]
fn what_cannot_be_read_names_its_line() {
    let a = [("f", "a\n")];
    for (patch, words) in [
        ("", &["line 1 of the patch", "not a patch", "*** Begin Patch"][..]),
        ("hello", &["line 1", "not a patch"]),
        ("*** Update File: f\n@@\n-a\n+b\n", &["has no `*** End Patch`", "cut off"]),
        ("@@ -1 +1 @@\n-a\n+b\n", &["line 1", "belongs to no file", "--- a/path"]),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", &["has no `*** End Patch`", "cut off"]),
        (
            "*** Begin Patch\n*** Update File: f\n@@\n-a\nb\n*** End Patch\n",
            &["line 5", "`b` is not a line of a hunk", "`+` (comes)"],
        ),
        (
            "*** Begin Patch\n*** Add File: g\n+a\nb\n*** End Patch\n",
            &["line 4", "`b`", "begin every line of the file with `+`"],
        ),
        ("*** Begin Patch\n*** Update File: f\n@@\n*** End Patch\n", &["line 3", "no lines follow"]),
        ("*** Begin Patch\n*** Update File:\n@@\n-a\n*** End Patch\n", &["line 2", "names no file"]),
        (
            "*** Begin Patch\n*** Change File: f\n*** End Patch\n",
            &["line 2", "is not a section", "*** Update File: path"],
        ),
        ("*** Begin Patch\n*** Move to: g\n*** End Patch\n", &["line 2", "directly below"]),
        ("*** Begin Patch\n*** Delete File: f\n*** End Patch\nmore\n", &["line 4", "after `*** End Patch`"]),
        ("*** Begin Patch\n*** End Patch\n", &["names no file"]),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", &["line 1", "or two", "rename from"]),
        ("--- a/f\n+++ b/f\n", &["line 1", "no hunk follows for `f`"]),
        (
            "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+b\n",
            &["line 3", "promises 3 old and 3 new lines, and 1 and 1 follow", "cut off"],
        ),
        ("--- a/f\n+++ b/f\n@@ one @@\n-a\n", &["line 3", "not a hunk header"]),
        ("--- /dev/null\n+++ b/g\n@@ -1 +1,2 @@\n a\n+b\n", &["line 4", "only lines that begin with `+`"]),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            &["line 2", "a link"],
        ),
        (
            "diff --git a/f b/f\nindex 1..2 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            &["line 2", "a submodule"],
        ),
        ("--- \"a/\\3\"\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", &["line 1", "cannot be read"]),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n*** Add File: x\n+a\n", &["line 6", "one form of patch"]),
    ] {
        refused(&a, patch, &[&["VALIDATION_ERROR"], words].concat());
    }
    let binary = "diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\nA\n";
    refused(&a, binary, &["IS_BINARY", "line 3", "`f`"]);
    refused(
        &a,
        "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n",
        &["IS_BINARY", "`f`"],
    );
}

#[test]
fn what_a_model_gets_slightly_wrong_still_lands() {
    let text = "def f():\n    if x:\n        return \"a\"\n    return 2   \n";
    for (hunk, after) in [
        // Lost indentation comes back with the file's, trailing blanks that stay are kept.
        (
            "@@\n if x:\n-    return \"a\"\n+    return \"b\"",
            "def f():\n    if x:\n        return \"b\"\n    return 2   \n",
        ),
        (
            "@@\n-        return \"a\"\n+        return \"b\"\n     return 2",
            "def f():\n    if x:\n        return \"b\"\n    return 2   \n",
        ),
        (
            "@@\n     if x:\n-        return “a”\n+        return \"b\"",
            "def f():\n    if x:\n        return \"b\"\n    return 2   \n",
        ),
        ("@@\n-return \"a\"\n+return \"b\"", "def f():\n    if x:\n        return \"b\"\n    return 2   \n"),
    ] {
        check(text, &update(hunk), after);
    }
    let ctx = memory("//- f\ndef f():\n    if x:\n        return 1\n");
    let outcome = apply(&ctx, &update("@@\n-  if x:\n-    return 1\n+  if x:\n+    return 2"));
    assert_eq!(data(&outcome)["files"][0]["step"], "indentation", "{}", shown(&outcome));
    // Never within a line.
    refused(&[("f", "max = 1\n")], &update("@@\n-x = 1\n+x = 2"), &["NO_MATCH"]);
}

#[test]
fn endings_marks_and_last_newlines_are_kept() {
    for (before, hunk, after) in [
        ("a\r\nb\r\n", "@@\n-a\n+A\n+B", "A\r\nB\r\nb\r\n"),
        ("a\r\nb", "@@\n-b\n+c\n+d", "a\r\nc\r\nd"),
        ("a\nb", "@@\n-b\n+c", "a\nc"),
        ("a\nb", "@@\n+c", "a\nb\nc"),
        ("\u{feff}a\nb\n", "@@\n-a\n+A", "\u{feff}A\nb\n"),
        ("\u{feff}a\r\nb\r\n", "@@\n+0\n a", "\u{feff}0\r\na\r\nb\r\n"),
        ("\u{feff}a\nb\n", "@@\n-a\n+\u{feff}c\n b", "\u{feff}c\nb\n"),
        ("a\rb\rc\r", "@@\n a\n-b\n+B", "a\rB\rc\r"),
        ("a\nb\r\nc\n", "@@\n-c\n+C", "a\nb\r\nC\n"),
        ("", "@@\n+a", "a\n"),
        ("a\n", "@@\n-a", ""),
        ("a\nb\n", "@@\n a\n-b\n+c\n\\ No newline at end of file", "a\nc"),
        ("a\nb", "@@\n a\n-b\n\\ No newline at end of file\n+c", "a\nc\n"),
    ] {
        check(before, &update(hunk), after);
    }
    let replaced = "*** Begin Patch\n*** Add File: f\n+x\n+y\n*** End Patch\n";
    check("\u{feff}a\r\n", replaced, "\u{feff}x\r\ny\r\n");
    check("a\n", replaced, "x\ny\n");
    // A patch that was made with CRLF, for a file that has none.
    check("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", "a\nc\n");
}

#[test]
fn latin_1_stays_latin_1() {
    let ctx = super::one_file("f", b"caf\xe9\nb\n");
    let outcome = apply(&ctx, &update("@@\n-b\n+na\u{ef}ve"));
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert_eq!(bytes(&ctx, "f"), b"caf\xe9\nna\xefve\n");
    let outcome = apply(&ctx, &update("@@\n caf\u{e9}\n-na\u{ef}ve\n+\u{2192}"));
    assert_eq!(code(&outcome), "WRITE_ERROR", "{}", shown(&outcome));
    assert_eq!(bytes(&ctx, "f"), b"caf\xe9\nna\xefve\n");
}

#[test]
fn utf_16_stays_utf_16_and_what_is_no_text_stays_as_it_is() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let ctx = super::one_file("f", &utf16("one\r\ntwo\r\n"));
    let outcome = apply(&ctx, &update("@@\n-two\n+zwölf"));
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert_eq!(bytes(&ctx, "f"), utf16("one\r\nzwölf\r\n"));
    let ctx = super::one_file("f", b"\x7fELF\0\x01\x02a\n");
    let outcome = apply(&ctx, &update("@@\n-a\n+b"));
    assert_eq!(code(&outcome), "IS_BINARY", "{}", shown(&outcome));
}

#[test]
fn code_that_is_left_out_is_refused() {
    let f = [("f", "a\n// ... kept as before ...\n// ... existing code ...\n")];
    refused(&f, &update("@@\n-a\n+b\n+// ... rest of the code ..."), &["OMISSION", "rest of the code"]);
    let add = "*** Begin Patch\n*** Add File: g\n+a\n+// ... existing code ...\n*** End Patch\n";
    refused(&f, add, &["OMISSION", "`g`"]);
    check(f[0].1, &update("@@\n-a\n+b"), &f[0].1.replacen('a', "b", 1));
}

fn bytes(ctx: &Context, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = ctx.workspace().open(&WorkspacePath::new(name)).unwrap();
    std::io::Read::read_to_end(&mut { file.reader }, &mut bytes).unwrap();
    bytes
}

#[test]
fn the_result_says_what_became_of_each_file() {
    let ctx = memory("//- a.txt\none\ntwo\n//- b.txt\nb\n//- c.txt\nc\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: new/d.txt\n+d\n*** Delete File: b.txt\n\
                 *** Update File: c.txt\n*** Move to: e.txt\n*** End Patch\n";
    let outcome = apply(&ctx, patch);
    assert_eq!(
        shown(&outcome),
        "M a.txt +1 −1\nA new/d.txt +1 −0\nD b.txt +0 −1\nR c.txt → e.txt +0 −0\n\n\
         --- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\
         --- /dev/null\n+++ b/new/d.txt\n@@ -0,0 +1 @@\n+d\n\
         --- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\
         --- a/c.txt\n+++ b/e.txt\n"
    );
    assert_eq!(
        data(&outcome)["files"],
        json!([
            {"path": "a.txt", "kind": "modify", "added": 1, "removed": 1},
            {"path": "new/d.txt", "kind": "add", "added": 1, "removed": 0},
            {"path": "b.txt", "kind": "delete", "added": 0, "removed": 1},
            {"path": "c.txt", "kind": "move", "movedTo": "e.txt", "added": 0, "removed": 0},
        ])
    );
    // Absolute paths inside the workspace, and the other spellings of the tool and its argument.
    let outcome = call(
        &ctx,
        "patch",
        json!({"input": "*** Begin Patch\n*** Delete File: /workspace/e.txt\n*** End Patch"}),
    );
    assert!(shown(&outcome).starts_with("D e.txt"), "{}", shown(&outcome));
}

#[test]
fn no_text_makes_the_parser_crash() {
    let seeds = [
        update("@@ class A\n@@ def f\n a\n-b\n+c\n*** End of File"),
        "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n@@\n-a\n+b\n*** End Patch\n".to_owned(),
        "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n@@ -1,3 +1,3 @@ f\n a\n-b\n+c\n d\n\\ No newline at end of file\n".to_owned(),
        "diff --git \"a/\\303\\266\" \"b/\\303\\266\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/\\303\\266\"\n@@ -0,0 +1,2 @@\n+a\n+\u{e9}\n".to_owned(),
    ];
    let parts = [
        "*** ",
        "@@",
        "@@ -1,99999999999999999999 +1 @@",
        "@@ -0,0 +0,0 @@",
        "\n",
        "\r",
        "\\ ",
        "\"",
        "+++ ",
        "--- ",
        "\0",
        "ö",
        "/dev/null",
        "..",
        "*** End Patch",
        "diff --git ",
        "@@ -18446744073709551615,2 +3 @@\n",
    ];
    let mut seeded = Seeded(0x5eed);
    let rounds = super::count(3_000, 60_000);
    let executor = executor();
    let mut applied = 0;
    run(async {
        for round in 0..rounds {
            let mut text = seeds[round % seeds.len()].clone();
            for _ in 0..=seeded.below(4) {
                let boundaries: Vec<usize> =
                    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let one = *seeded.pick(&boundaries);
                match seeded.below(4) {
                    0 => text.insert_str(one, seeded.pick::<&str>(&parts)),
                    1 => {
                        let at = seeded.below(boundaries.len());
                        let end = (at + seeded.below(9)).min(boundaries.len() - 1);
                        text.replace_range(boundaries[at]..boundaries[end], "");
                    }
                    2 => {
                        let mut lines: Vec<&str> = text.split('\n').collect();
                        let line = lines.remove(seeded.below(lines.len()));
                        lines.insert(seeded.below(lines.len() + 1), line);
                        text = lines.join("\n");
                    }
                    _ => text.truncate(one),
                }
            }
            let ctx = memory("//- a\na\nb\n//- c\na\n//- x\na\nb\nd\n//- f\nclass A\ndef f\na\nb\n");
            let outcome = executor.run(&ctx, Call::new("apply_patch", json!({"patch": text}))).await;
            applied += usize::from(outcome.is_success());
            if let Err(error) = &outcome.result {
                assert_ne!(error.code().as_str(), "PANIC", "{text:?}: {error}");
                assert!(error.message().len() < 20_000, "{error}");
            }
        }
    });
    println!("measure: mutated patches: {rounds}, {applied} applied, 0 crashes");
}

#[test]
fn what_the_model_reads_is_short() {
    let definition = toolpost_core::tool::AnyTool::definition(&toolpost_tools::filesystem::ApplyPatch);
    let description = toolpost_core::text::tokens(&definition.spec.description);
    assert!((10..=40).contains(&description), "{description}");
    let grammar = definition.input["properties"]["patch"]["description"].as_str().unwrap();
    assert!(toolpost_core::text::tokens(grammar) <= 150, "{}", toolpost_core::text::tokens(grammar));
    assert!(
        grammar.contains("\n*** Update File: path\n") && grammar.contains("\n line that stays\n"),
        "{grammar}"
    );
}

/// A session over a memory workspace that the test keeps.
fn shared(memory: &Arc<Memory>) -> Context {
    Context::builder(memory.clone()).build()
}
