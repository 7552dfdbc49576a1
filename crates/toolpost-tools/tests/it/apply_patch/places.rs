//! Where the hunks of a patch go: by their header, by their lines, and when neither says it.

use super::*;

#[test]
fn hunks_find_their_place() {
    let code = "class A:\n    def run(self):\n        x = 1\n        return x\n\nclass B:\n    def run(self):\n        x = 1\n        return x\n";
    let changed = |class: &str| {
        let (first, second) = code.split_once("\nclass B").unwrap();
        let change = |text: &str| text.replace("x = 1", "x = 2");
        match class {
            "A" => format!("{}\nclass B{second}", change(first)),
            _ => format!("{first}\nclass B{}", change(second)),
        }
    };
    // Headers, nested headers, the beginning of a header, one that is repeated as context.
    check(code, &update("@@ class B:\n-        x = 1\n+        x = 2"), &changed("B"));
    check(code, &update("@@ class A:\n-        x = 1\n+        x = 2"), &changed("A"));
    check(code, &update("@@ class B\n@@ def run(self):\n-        x = 1\n+        x = 2"), &changed("B"));
    check(code, &update("@@ class A:\n@@     def run(self):\n-        x = 1\n+        x = 2"), &changed("A"));
    check(
        code,
        &update("@@ class B:\n class B:\n     def run(self):\n-        x = 1\n+        x = 2"),
        &changed("B"),
    );
    // The line number of a unified hunk chooses between exact places where one of them is there.
    for (line, class) in [(3, "A"), (2, "A"), (8, "B"), (9, "B"), (40, "B")] {
        let diff = format!("--- a/f\n+++ b/f\n@@ -{line} +{line} @@\n-        x = 1\n+        x = 2\n");
        match line {
            // Near one or far from both: what moved it may have moved another to where it was.
            2 | 9 | 40 => refused(&[("f", code)], &diff, &["AMBIGUOUS_MATCH", "lines 3, 8"]),
            _ => check(code, &diff, &changed(class)),
        }
    }
    // Where there is one place, the number does not matter.
    check("a\nb\nc\nd\n", "--- a/f\n+++ b/f\n@@ -40 +40 @@\n-b\n+B\n", "a\nB\nc\nd\n");
    // A header that stands several times does not choose.
    let twice = "if x:\n    go(1)\n    keep()\nelse:\n    go(2)\nwhile y:\n    keep()\nif x:\n    stop()\n";
    let patch = update("@@ if x:\n-    keep()\n+    gone()");
    refused(&[("f", twice)], &patch, &["AMBIGUOUS_MATCH", "lines 3, 7"]);
    // Several hunks follow one another.
    check(
        code,
        &update(
            "@@\n class A:\n     def run(self):\n-        x = 1\n+        x = 2\n@@\n-        x = 1\n+        x = 2",
        ),
        &code.replace("x = 1", "x = 2"),
    );
    // In another order than the file.
    check("a\nb\nc\n", &update("@@\n-c\n+C\n@@\n-a\n+A"), "A\nb\nC\n");
    check("a\nb\na\n", &update("@@\n-a\n+c\n*** End of File"), "a\nb\nc\n");
    check("a\nb\n", &update("@@\n+c\n*** End of File"), "a\nb\nc\n");
    // An empty line between hunks is no context where the file has none.
    check("a\nb\n", &update("@@\n-a\n+A\n\n@@\n-b\n+B\n"), "A\nB\n");
    check("a\n\nb\n", &update("@@\n a\n\n-b\n+B"), "a\n\nB\n");
    // The context of one hunk may be shown again by the next.
    check("a\nb\nc\nd\n", &update("@@\n-a\n+A\n b\n c\n@@\n b\n c\n-d\n+D"), "A\nb\nc\nD\n");
    // The same file twice, in order.
    check(
        "a\n",
        "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** Update File: f\n@@\n-b\n+c\n*** End Patch\n",
        "c\n",
    );
}

#[test]
fn a_hunk_without_its_place_says_what_is_there() {
    let text = "fn one() {\n    let a = 1;\n    let b = 2;\n    a + b\n}\n\nfn two() {}\n";
    let files = [("src/a.rs", text)];
    let patch = |hunk: &str| {
        format!(
            "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-fn two() {{}}\n+fn two() {{ }}\n@@ fn one() {{\n{hunk}\n*** End Patch\n"
        )
    };
    refused(
        &files,
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n     let a = 1;\n-    let b = 3;\n+    let b = 4;\n     a + b\n*** End Patch\n",
        &[
            "NO_MATCH",
            "`src/a.rs`, hunk 1 (line 3 of the patch)",
            "line 3 differs",
            "`    let b = 3;`",
            "(line 5 of the patch)",
            "`    let b = 2;`",
            "3:     let b = 2;",
        ],
    );
    refused(
        &files,
        &patch("-    let z = 9;\n+    let z = 8;"),
        &["NO_MATCH", "hunk 2", "line 6 of the patch"],
    );
    refused(&files, &update("@@\n-a\n+b").replace(": f", ": src/b.rs"), &["FILE_NOT_FOUND", "src/a.rs"]);
    refused(
        &files,
        "*** Begin Patch\n*** Delete File: src/aa.rs\n*** End Patch\n",
        &["FILE_NOT_FOUND", "nearest: `src/a.rs`"],
    );
    let f = [("f", "one\ntwo\none\n")];
    refused(
        &f,
        &update("@@\n-one\n+1"),
        &["AMBIGUOUS_MATCH", "hunk 1", "lines 1, 3", "more lines of context"],
    );
    refused(&f, &update("@@ three\n-one\n+1"), &["NO_MATCH", "header `three`", "line 3 of the patch"]);
    refused(
        &f,
        &update("@@ two\n+1"),
        &["NO_MATCH", "only new lines", "its header `two` does not say how far below that line they go"],
    );
    refused(&f, &update("@@\n+1\n@@\n-two\n+2"), &["NO_MATCH", "in the last hunk alone", "*** End of File"]);
    refused(&f, "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+1\n", &["NO_MATCH", "only new lines"]);
    refused(&f, &update("@@\n-2\n+two"), &["NO_MATCH", "there already"]);
    // A part of a line is no line.
    refused(&f, &update("@@\n-2\n+tw"), &["NO_MATCH", "its old lines are not in the file"]);
    refused(&f, &update("@@\n one\n two"), &["NO_CHANGE"]);
    refused(
        &f,
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n",
        &["NO_MATCH", "`f` exists already", "*** Add File"],
    );
    refused(
        &f,
        "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n",
        &["NO_MATCH", "more lines than the diff deletes"],
    );
    refused(&f, "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", &["NO_CHANGE", "mode 100755"]);
    refused(
        &f,
        "*** Begin Patch\n*** Delete File: f\n*** Update File: f\n@@\n-one\n+1\n*** End Patch\n",
        &["FILE_NOT_FOUND", "further up"],
    );
}

/// A file of numbered lines, with a block at some of them.
fn with_blocks(blocks: &[(usize, &str)]) -> String {
    let lines = (1..=60).map(|number| {
        let block = blocks.iter().find(|(at, _)| *at == number);
        block.map_or(format!("line {number}\n"), |(_, text)| (*text).to_owned())
    });
    lines.collect()
}

#[test]
fn a_place_far_from_the_named_line_needs_more_than_the_named_one() {
    let twin = "open(door)\nwalk(through)\nclose(door)\n";
    // What is meant has changed in a word since; the same lines stand elsewhere to the letter.
    for (word, other) in [("walk", "run"), ("open", "opens"), ("close", "shut")] {
        let file = with_blocks(&[(10, twin), (40, &twin.replace(word, other))]);
        let patch =
            "--- a/f\n+++ b/f\n@@ -42,3 +42,3 @@\n open(door)\n-walk(through)\n+jump(over)\n close(door)\n";
        let ctx = one_file("f", file.as_bytes());
        let outcome = call(&ctx, "apply_patch", json!({"patch": patch}));
        assert_eq!(code(&outcome), "NO_MATCH", "{word}: {}", shown(&outcome));
        assert!(shown(&outcome).contains("names line 42"), "{}", shown(&outcome));
    }
}

#[test]
fn a_hunk_of_one_line_does_not_go_far_from_a_named_line_that_is_like_it() {
    let line = "import open from door";
    for changed in ["import opens from door", "import open  from gate", "  import open from the_door"] {
        let file = with_blocks(&[(1, &format!("{changed}\n\n")), (40, &format!("{line}\n\n"))]);
        let patch = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n+import wall\n {line}\n \n");
        let ctx = one_file("f", file.as_bytes());
        let outcome = call(&ctx, "apply_patch", json!({ "patch": patch }));
        assert_eq!(code(&outcome), "NO_MATCH", "{changed}: {}", shown(&outcome));
        assert!(shown(&outcome).contains("names line 1"), "{}", shown(&outcome));
    }
    // Another line is there: the number is off.
    let file = with_blocks(&[(1, "use walls of house\n\n"), (40, &format!("{line}\n\n"))]);
    let patch = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n+import wall\n {line}\n \n");
    let after = file.replace(line, &format!("import wall\n{line}"));
    check(&file, &patch, &after);
}

#[test]
fn hunks_that_name_their_lines_come_in_any_order() {
    let twin = "open(door)\nwalk(through)\nclose(door)\n";
    let file = with_blocks(&[(10, twin), (50, twin)]);
    let patch = "--- a/f\n+++ b/f\n@@ -42 +42 @@\n-line 40\n+line forty\n\
                 @@ -10,3 +10,3 @@\n open(door)\n-walk(through)\n+jump(over)\n close(door)\n";
    let ctx = one_file("f", file.as_bytes());
    let outcome = call(&ctx, "apply_patch", json!({"patch": patch}));
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert!(shown(&outcome).contains("@@ -8,7 +8,7 @@"), "{}", shown(&outcome));
}

#[test]
fn new_lines_alone_do_not_go_to_the_end_before_other_hunks() {
    let ctx = one_file("f", with_blocks(&[]).as_bytes());
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n+new\n@@\n-line 40\n+line forty\n*** End Patch\n";
    let outcome = call(&ctx, "apply_patch", json!({"patch": patch}));
    assert_eq!(code(&outcome), "NO_MATCH", "{}", shown(&outcome));
}

#[test]
fn wrong_counts_in_the_last_hunk_do_not_matter() {
    let hunk = " line 9\n-line 10\n+line ten\n line 11\n";
    for counts in ["-9,3 +9,3", "-9,4 +9,5", "-9,2 +9,2", "-9,6 +9,3", "-9 +9"] {
        let ctx = one_file("f", with_blocks(&[]).as_bytes());
        let patch = format!("--- a/f\n+++ b/f\n@@ {counts} @@\n{hunk}");
        let outcome = call(&ctx, "apply_patch", json!({"patch": patch}));
        assert!(outcome.is_success(), "{counts}: {}", shown(&outcome));
        assert!(shown(&outcome).contains("+line ten"), "{counts}");
    }
}

#[test]
fn a_patch_without_its_end_or_its_lines_still_lands() {
    let file = "one(1)\ntwo(2)\nthree(3)\n";
    let after = "one(1)\n2\nthree(3)\n";
    let hunk = " one(1)\n-two(2)\n+2\n three(3)\n";
    check(file, &format!("*** Begin Patch\n*** Update File: f\n@@\n{hunk}"), after);
    // What ends with a change, or is a new file, may go on.
    let cut = "*** Begin Patch\n*** Update File: f\n@@\n one(1)\n-two(2)\n+2\n";
    refused(&[("f", file)], cut, &["has no `*** End Patch`"]);
    refused(&[("f", file)], "*** Begin Patch\n*** Add File: g\n+x\n", &["has no `*** End Patch`"]);
    let unified = format!("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n{hunk}");
    check(file, &unified.replace('\n', "\\n"), after);
    // With other backslashes it is unclear which of them are meant.
    let escaped = unified.replace('\n', "\\n").replace("+2", "+\\t2");
    refused(&[("f", file)], &escaped, &["not a patch"]);
}

#[test]
fn a_hunk_that_lost_a_blank_line_keeps_that_of_the_file() {
    let file = "zero(0)\n\none(1)\n\ntwo(2)\nthree(3)\nfour(4)\n";
    let hunk = " one(1)\n two(2)\n three(3)\n-four(4)\n+vier(4)\n";
    let after = "zero(0)\n\none(1)\n\ntwo(2)\nthree(3)\nvier(4)\n";
    check(file, &format!("--- a/f\n+++ b/f\n@@ -3,4 +3,4 @@\n{hunk}"), after);
    // Next to the change it is unclear on which side it is.
    let hunk = " one(1)\n+new(1)\n two(2)\n three(3)\n four(4)\n";
    refused(&[("f", file)], &format!("--- a/f\n+++ b/f\n@@ -3,4 +3,5 @@\n{hunk}"), &["blank lines"]);
    // Nothing but blank lines changes.
    let hunk = " one(1)\n-\n+ \n two(2)\n-x\n+y\n";
    refused(&[("f", file)], &format!("--- a/f\n+++ b/f\n@@ -3,4 +3,4 @@\n{hunk}"), &["not in the file"]);
}

#[test]
fn numbers_before_the_lines_of_a_later_hunk_are_those_of_the_file() {
    let file: String = (1..=30).map(|number| format!("line {number}\n")).collect();
    let patch = "--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n 2: line 2\n-3: line 3\n+three\n@@ -20,2 +20,2 @@\n 20: line 20\n\
                 -21: line 21\n+twenty-one\n";
    check(&file, patch, &file.replace("line 3\n", "three\n").replace("line 21\n", "twenty-one\n"));
}

#[test]
fn new_lines_alone_go_where_the_header_says_if_other_hunks_are_where_theirs_do() {
    let file: String = (1..=30).map(|number| format!("line {number}\n")).collect();
    let insertion = "@@ -4,0 +5,1 @@\n+new\n";
    let other = "@@ -20,1 +21,1 @@\n-line 20\n+zwanzig\n";
    let after = file.replace("line 4\n", "line 4\nnew\n").replace("line 20\n", "zwanzig\n");
    for hunks in [format!("{insertion}{other}"), format!("{other}{insertion}")] {
        check(&file, &format!("--- a/f\n+++ b/f\n{hunks}"), &after);
    }
    // The other one is not where its header says, or there is none.
    for hunks in [format!("{insertion}{}", other.replace("-20,1", "-18,1")), insertion.to_owned()] {
        refused(&[("f", &file)], &format!("--- a/f\n+++ b/f\n{hunks}"), &["only new lines"]);
    }
}

#[test]
fn counts_that_are_too_small_on_one_side_show_that_they_are_wrong() {
    let file = "one(1)\ntwo(2)\nthree(3)\n";
    let hunk = "-one(1)\n+1\n two(2)\n-three(3)\n+3\n";
    check(file, &format!("--- a/f\n+++ b/f\n@@ -1,9 +1,1 @@\n{hunk}"), "1\ntwo(2)\n3\n");
    refused(&[("f", file)], &format!("--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n{hunk}"), &["cut off"]);
}
