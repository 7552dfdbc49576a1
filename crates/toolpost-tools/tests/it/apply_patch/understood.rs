//! A patch is understood as a whole, or refused as a whole with the line: no line with a mark is ever skipped.

use super::{applied, check, refused, update};

const FILE: &str = "a()\nb()\nold()\nc()\nd()\n";

/// A unified diff of the file `f`.
fn unified(hunks: &str) -> String {
    format!("--- a/f\n+++ b/f\n{hunks}")
}

#[test]
fn a_line_without_a_mark_refuses_the_patch() {
    for (hunks, line) in [
        ("@@ -1,5 +1,5 @@\n a()\n b()\n-old()\n# the new call\n+new()\n c()\n d()\n", 7),
        ("@@ -3,1 +3,1 @@\n-old()\n# the new call\n+new()\n", 5),
        ("@@ -3 +3 @@\n-old()\nnew()\n", 5),
        // A line of context that lost its mark, at the beginning and at the end.
        ("@@ -2,3 +2,3 @@\nb()\n-old()\n+new()\n c()\n", 4),
        ("@@ -2,3 +2,3 @@\n b()\n-old()\n+new()\nc()\n", 7),
        ("@@\n b()\n-old()\n+new()\nc()\n", 7),
        // The numbers fit what has a mark; the rest is still unclear.
        ("@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\nnewer()\n", 7),
        ("@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\n// more\n@@ -4 +4 @@\n-c()\n+C()\n", 7),
        ("@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\n}\n", 7),
        ("@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\nEOF\n", 7),
        ("@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\n```\nmore\n", 7),
        ("@@ -2,2 +2,2 @@\n b()\n-old()\n\\section{new}\n+new()\n", 6),
        ("@@ -2,2 +2,3 @@\n b()\n-old()\n+new()\n\tnewer()\n", 7),
    ] {
        refused(
            &[("f", FILE)],
            &unified(hunks),
            &["VALIDATION_ERROR", &format!("line {line} of the patch"), "has no mark"],
        );
    }
}

#[test]
fn a_line_with_a_mark_is_never_skipped() {
    let hunk = "@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\n";
    let change = unified(hunk);
    for (patch, line) in [
        (format!("{change}\nA sentence.\n+newer()\n"), 9),
        (format!("{change}\nA sentence.\n@@ -4 +4 @@\n-c()\n+C()\n"), 9),
        (format!("@@ -4 +4 @@\n-c()\n+C()\n{change}"), 1),
        (format!("-    c()\n+    C()\n{change}"), 1),
        (format!("{change}*** End Patch\n@@ -4 +4 @@\n-c()\n+C()\n"), 8),
        (format!("*** Begin Patch\n{change}*** End Patch\n+newer()\n"), 9),
        (format!("{change}-- \n2.39.2\n\n+newer()\n"), 10),
    ] {
        refused(&[("f", FILE)], &patch, &["VALIDATION_ERROR", &format!("line {line} of the patch")]);
    }
    // A diff that only renames, and lines behind it.
    let renamed = "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\nsomething else\n@@\n-old()\n+new()\n";
    refused(&[("f", FILE)], renamed, &["line 5 of the patch", "has no mark"]);
    // An empty line of a new file that lost its mark is a line of it.
    let added = "--- /dev/null\n+++ b/g\n@@ -0,0 +1,3 @@\n+one\n\n+three\n";
    assert_eq!(applied(&[], added).unwrap()["g"], "one\n\nthree\n");
}

#[test]
fn what_stands_around_a_patch_is_passed() {
    let hunk = "@@ -2,2 +2,2 @@\n b()\n-old()\n+new()\n";
    let change = unified(hunk);
    for patch in [
        format!("I change one call:\n\n- the old one goes\n- the new one comes\n\n{change}"),
        format!("```diff\n{change}```\n"),
        format!("```diff\n{change}```\nThis is all.\n").replace("This is all.\n", "\nThis is all.\n"),
        format!("{change}\nThis replaces the call.\n"),
        format!("patch -p1 <<'EOF'\n{change}EOF\n"),
        format!("{change}-- \n2.39.2\n\n"),
        format!("{change}*** End Patch\n"),
        format!(
            "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] x\n\n\
             - text\n---\n f | 2 +-\n 1 file changed\n\n{change}-- \n2.39.2\n"
        ),
        format!("commit 0123456789abcdef\nAuthor: A <a@b>\nDate: today\n\n    A message\n\n{change}"),
        format!("Index: f\n===================================================================\n{change}"),
    ] {
        check(FILE, &patch, &FILE.replace("old", "new"));
    }
    // Between two files, too.
    let second = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    for between in ["\nAnd the other one:\n\n", "Index: g\n", "diff -u f g\n", "\n"] {
        let files = applied(&[("f", FILE), ("g", "x\n")], &format!("{change}{between}{second}")).unwrap();
        assert_eq!((files["f"].as_str(), files["g"].as_str()), (&*FILE.replace("old", "new"), "y\n"));
    }
    // One count too many does not swallow the names of the next file.
    let long = change.replace("-2,2 +2,2", "-2,3 +2,3");
    let files = applied(&[("f", FILE), ("g", "x\n")], &format!("{long}{second}")).unwrap();
    assert_eq!((files["f"].as_str(), files["g"].as_str()), (&*FILE.replace("old", "new"), "y\n"));
}

#[test]
fn forms_with_something_left_out_are_understood() {
    let after = FILE.replace("old", "new");
    for patch in [
        "+++ b/f\n@@ -2,3 +2,3 @@\n b()\n-old()\n+new()\n c()\n",
        "+++ f.txt\n@@ -2,3 +2,3 @@\n b()\n-old()\n+new()\n c()\n",
        "diff --git a/f b/f\n+++ b/f\n@@ -2,3 +2,3 @@\n b()\n-old()\n+new()\n c()\n",
        "*** Update File: f\n@@\n b()\n-old()\n+new()\n c()\n*** End Patch\n",
        "*** Update File: f\n@@\n b()\n-old()\n+new()\n c()\n",
        "*** Begin Patch\n*** Update File: f\n--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n b()\n-old()\n+new()\n c()\n*** End Patch\n",
    ] {
        let (name, patch) = (if patch.contains("f.txt") { "f.txt" } else { "f" }, patch);
        assert_eq!(
            applied(&[(name, FILE)], patch).map(|files| files[name].clone()),
            Ok(after.clone()),
            "{patch}"
        );
    }
    let added = "+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(applied(&[], added).unwrap()["new.txt"], "x\n");
}

#[test]
fn a_patch_that_was_applied_before_is_not_applied_again() {
    let hunk = "    first_call(argument);\n    second_call(argument);\n";
    let added = format!("{hunk}    third_call(argument);\n");
    let file = format!("a {{\n{added}}}\nb {{\n{hunk}}}\n");
    let context = " first_call(argument);\n     second_call(argument);\n";
    for (patch, before) in [
        // New lines below a place that shows nothing behind them.
        (unified("@@ -4,2 +4,3 @@\n c()\n d()\n+e()\n"), "a()\nb()\nold()\nc()\nd()\ne()\n"),
        (unified("@@\n c()\n d() \n+e()\n"), "a()\nb()\nold()\n  c()\n  d()\n  e()\n"),
        // Another place has what the first one had.
        (unified(&format!("@@ -2,2 +2,3 @@\n    {context}+    third_call(argument);\n")), &file),
        (
            format!(
                "*** Begin Patch\n*** Update File: f\n@@\n    {context}+    third_call(argument);\n }}\n*** End Patch\n"
            ),
            &file,
        ),
    ] {
        refused(&[("f", before)], &patch, &["NO_MATCH"]);
    }
    refused(
        &[("f", "a()\nb()\nold()\nc()\nd()\ne()\n")],
        &unified("@@ -4,2 +4,3 @@\n c()\n d()\n+e()\n"),
        &["already, from line 4 on"],
    );
    // What only changes blanks, and lines that are there twice on purpose.
    check("a\n  b\n", &unified("@@ -1,2 +1,2 @@\n a\n-  b\n+    b\n"), "a\n    b\n");
    check("x\n}\n", &unified("@@ -1,2 +1,3 @@\n x\n }\n+}\n"), "x\n}\n}\n");
}

#[test]
fn blocks_to_search_for_and_wrapped_patches_are_understood() {
    let after = FILE.replace("old", "new");
    let block = "<<<<<<< SEARCH\nb()\nold()\nc()\n=======\nb()\nnew()\nc()\n>>>>>>> REPLACE\n";
    let diff = unified("@@ -2,3 +2,3 @@\n b()\n-old()\n+new()\n c()\n");
    let json = |text: &str| serde_json::to_string(text).unwrap();
    for patch in [
        format!("f\n{block}"),
        format!("f\n```python\n{block}```\n"),
        format!("```python\nf\n{block}```\n"),
        format!("I change the call:\n\n**`f`**\n{block}\nThat is all.\n"),
        format!(
            "f\n{}",
            block.replace("<<<<<<< SEARCH", "------- SEARCH").replace(">>>>>>> REPLACE", "+++++++ REPLACE")
        ),
        format!("<![CDATA[\n{diff}]]>"),
        json(&diff),
        json(&json(&diff)),
        json(&json(&json(&diff))),
        diff.trim_end().replace('\n', "\\n"),
        format!("{{\"patch\": {}}}", json(&diff)),
    ] {
        check(FILE, &patch, &after);
    }
    let two = format!(
        "f\n{block}<<<<<<< SEARCH\nd()\n=======\nd()\ne()\n>>>>>>> REPLACE\n\ng/h.txt\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"
    );
    let files = applied(&[("f", FILE)], &two).unwrap();
    assert_eq!((files["f"].clone(), files["g/h.txt"].as_str()), (format!("{after}e()\n"), "x\n"));
    for (patch, words) in [
        (block.to_owned(), ["line 1", "no path"]),
        (format!("f\n{}", block.replace(">>>>>>> REPLACE\n", "")), ["does not end", "cut off"]),
        (format!("f\n{}", block.replace("new()", "=======")), ["line 8", "within the block"]),
        (format!("f\n{block}>>>>>>> REPLACE\n"), ["line 11", "outside of any block"]),
        (format!("f\n{block}@@\n-c()\n"), ["line 11", "outside of any block"]),
    ] {
        refused(&[("f", FILE)], &patch, &words);
    }
}

#[test]
fn entities_are_undone_in_the_whole_of_a_patch_or_nowhere() {
    let file = "if a < b {\n    one();\n}\ntwo();\nthree();\n";
    let first = "@@ -1,2 +1,2 @@\n if a &lt; b {\n-    one();\n+    one(&amp;a);\n";
    // The second hunk shows no entity in its old lines.
    let second = "@@ -4,2 +4,2 @@\n-two();\n+two(a -&gt; b, &#38;&#38;c);\n three();\n";
    let after = "if a < b {\n    one(&a);\n}\ntwo(a -> b, &&c);\nthree();\n";
    check(file, &unified(&format!("{first}{second}")), after);
    let mixed = second.replace("-&gt;", "->").replace("&#38;&#38;", "&&");
    refused(
        &[("f", file)],
        &unified(&format!("{first}{mixed}")),
        &["VALIDATION_ERROR", "line 9 of the patch", "entities"],
    );
    // Entities that the file has are its own.
    let page = "<p>a &lt; b</p>\n<p>c</p>\n";
    let hunk = "@@ -1,2 +1,2 @@\n <p>a &lt; b</p>\n-<p>c</p>\n+<p>c &gt; d</p>\n";
    check(page, &unified(hunk), "<p>a &lt; b</p>\n<p>c &gt; d</p>\n");
}

#[test]
fn code_points_are_undone_in_the_whole_of_a_patch_or_nowhere() {
    let file = "if a < b {\n    one('x');\n}\ntwo();\nthree();\n";
    let first =
        "@@ -1,2 +1,2 @@\n if a \\u003c b {\n-    one(\\u0027x\\u0027);\n+    one(\\u0027y\\u0027);\n";
    let second = "@@ -4,2 +4,2 @@\n-two();\n+two(\\u0027z\\u0027 \\u003c 1);\n three();\n";
    let after = "if a < b {\n    one('y');\n}\ntwo('z' < 1);\nthree();\n";
    check(file, &unified(&format!("{first}{second}")), after);
    // Code points that the file has are its own.
    let page = "a = '\\u003c'\nb\n";
    check(
        page,
        &unified("@@ -1,2 +1,2 @@\n a = '\\u003c'\n-b\n+b = '\\u003e'\n"),
        "a = '\\u003c'\nb = '\\u003e'\n",
    );
}

#[test]
fn what_a_patch_shows_otherwise_than_the_file() {
    // Lines that were broken or joined, in what stays and in what goes.
    let file = "a()\ncall(one, two, three)\nf(\n    x,\n    y,\n)\nz()\n";
    check(
        file,
        &update("@@\n call(one,\n     two, three)\n f(x, y,)\n-z()\n+w()"),
        &file.replace("z()", "w()"),
    );
    check(
        file,
        &update("@@\n a()\n-call(one,\n-     two, three)\n+call()"),
        &file.replace("one, two, three", ""),
    );
    // Blank lines, without numbers too.
    let file = "fn a() {\n    x();\n}\n\nfn b() {\n    y();\n}\n";
    let patch = update("@@\n     x();\n\n }\n \n-fn b() {\n+fn c() {");
    check(file, &patch, &file.replace("fn b", "fn c"));
    // A first line that has lost its indentation, as nothing else has.
    let file = "if a:\n    if b:\n        c()\n        d()\n";
    check(file, &update("@@\n if b:\n-        c()\n+        e()"), &file.replace("c()", "e()"));
    refused(&[("f", file)], &update("@@\n c()\n+e()\n         d()"), &["NO_MATCH"]);
    // Accents in one character or in two.
    let (one, two) = ("caf\u{e9}", "cafe\u{301}");
    for (there, asked) in [(one, two), (two, one)] {
        let file = format!("a\n{there}\nb\n");
        let patch = update(&format!("@@\n {asked}\n-b\n+{asked}2"));
        check(&file, &patch, &format!("a\n{there}\n{there}2\n"));
    }
    // New lines between lines of one ending have this one.
    let file = "a\nb\nc\nd\ne( f )\r\ng\r\n";
    check(file, &update("@@\n e(f)\n+x\n g"), "a\nb\nc\nd\ne( f )\r\nx\r\ng\r\n");
    // Colours, and sentences around the patch.
    let coloured = "\u{1b}[31m--- a/f\u{1b}[m\n\u{1b}[32m+++ b/f\u{1b}[m\n\u{1b}[36m@@ -1,2 +1,2 @@\u{1b}[m\n\u{1b}[31m-a\u{1b}[m\n\u{1b}[32m+A\u{1b}[m\n b\n";
    check("a\nb\n", coloured, "A\nb\n");
    let talk =
        format!("Here it is:\n\n```diff\n{}\n```\n\nThis changes a line.\n", update("@@\n-a\n+A").trim_end());
    check("a\nb\n", &talk, "A\nb\n");
    let more = format!("{}\n-b\n", update("@@\n-a\n+A").trim_end());
    refused(&[("f", "a\nb\n")], &more, &["stands after"]);
}
