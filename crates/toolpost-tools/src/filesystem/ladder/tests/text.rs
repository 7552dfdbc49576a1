//! Slips of models on real files: numbers, escapes, characters, fences and blank lines that are undone, or refused as unclear.

use super::*;

#[test]
fn numbers_that_are_content_stay() {
    check(
        "x:\n  80: http\nend: 1\n",
        "2:   80: http",
        "  80: web",
        "line-number prefixes: x:\n  80: web\nend: 1\n",
    );
    // Whatever the sign between them, and whatever number the content begins with.
    for sign in [": ", "\t", "→", " | ", "|"] {
        for key in [3, 7, 80, 8000] {
            let file = format!("start\n{key}{sign}alpha\n9{sign}omega\n");
            let old = format!("2{sign}{key}{sign}alpha\n");
            check(
                &file,
                &old,
                &format!("{key}0{sign}gamma\n"),
                &format!("line-number prefixes: start\n{key}0{sign}gamma\n9{sign}omega\n"),
            );
        }
    }
    // Numbers of other lines.
    check("fn a() {\n    one();\n}\n", "41:     one();", "    two();", "doubt (line-number prefixes)");
}

#[test]
fn new_lines_within_literals_stay_escaped() {
    check(
        "a = 1\nb = 2\n",
        r"a = 1\nb = 2",
        r#"a = 1\nprint("x\ny")\nb = 2"#,
        "over-escaped text: a = 1\nprint(\"x\\ny\")\nb = 2\n",
    );
    // The old text has one too.
    check(
        "say(\"x\\ny\")\nend(1)\n",
        r#"say("x\ny")\nend(1)"#,
        r#"say("x\nz")\nend(1)"#,
        "over-escaped text: say(\"x\\nz\")\nend(1)\n",
    );
    // Apostrophes and lifetimes are no quotes; what may be a literal over two lines is in doubt.
    check(
        "one(1)\nend(2)\n",
        r"one(1)\nend(2)",
        r"// don't\n// won't\nend(2)",
        "over-escaped text: // don't\n// won't\nend(2)\n",
    );
    check(
        "one(1)\nend(2)\n",
        r"one(1)\nend(2)",
        r"if b == b'\n' || c('x\ny') {\nend(2)",
        "over-escaped text: if b == b'\\n' || c('x\\ny') {\nend(2)\n",
    );
    // Quotes in a comment or in prose may go on on the next line.
    for new in [r#"// see, "x\n// y"\nend(2)"#, r#"the "x\ny" of it\nend(2)"#] {
        check("one(1)\nend(2)\n", r"one(1)\nend(2)", new, "doubt (over-escaped text)");
    }
    for new in [r"a(`x\ny`)\nend(2)", r#"5" wide\nend(2)"#, r#"say("x\n  y")\nend(2)"#] {
        check("one(1)\nend(2)\n", r"one(1)\nend(2)", new, "doubt (over-escaped text)");
    }
}

#[test]
fn what_was_changed_throughout_is_undone() {
    let file = "fn main() {\n    let a = \"x\"; // ...\n    call(a, -- b);\n}\n";
    let after = |step: &str| format!("{step}: fn main() {{\n    let a = \"x\"; // ...\n    call(c);\n}}\n");
    let (old, new) =
        ("    let a = \"x\"; // ...\n    call(a, -- b);", "    let a = \"x\"; // ...\n    call(c);");
    let both = |change: fn(&str) -> String, step: &str| {
        check(file, &change(old), &change(new), &after(step));
    };
    both(|text| text.replace('\n', "\r"), "line endings");
    both(|text| text.replace('"', "”"), "look-alike characters");
    both(|text| text.replace("...", "…"), "look-alike characters");
    both(|text| text.replace("--", "—"), "look-alike characters");
    both(|text| text.replace("    ", "\u{a0}\u{a0}\u{a0}\u{a0}"), "look-alike characters");
    both(|text| text.replace("let", "\u{200b}let"), "look-alike characters");
    check(
        "    if a:\n        one(1)\n        two(2)\n",
        "    if a:\n    one(1)\n    two(2)",
        "    if a:\n    one(1)\n    if b:\n        two(3)",
        "indentation:     if a:\n        one(1)\n        if b:\n            two(3)\n",
    );
    both(|text| format!("{text}\n```"), "code fences");
    both(|text| format!("\"{text}\""), "wrapping");
    both(|text| format!("`{text}`"), "wrapping");
    both(|text| text.lines().map(|line| format!("> {line}\n")).collect(), "wrapping");
    let tags = "wrapping";
    check(
        file,
        &format!("<old_string>\n{old}\n</old_string>"),
        &format!("<new_string>\n{new}\n</new_string>"),
        &after(tags),
    );
    check(
        file,
        "     let a = \"x\"; // ...\n-    call(a, -- b);",
        "     let a = \"x\"; // ...\n+    call(c);",
        &after(tags),
    );
    // Characters that the file has may be meant.
    check("say(…);\nend(“x”);\nlist(...);\n", "list(…);", "list(…, 1);", "none");
    // Both have lost what the first line has, and the rest is at another place to the letter.
    check(
        "    one(1)\n    two(2)\n\n    one(1)\ntwo(2)\n",
        "    one(1)\ntwo(2)",
        "    one(1)\ntwo(3)",
        "exact:     one(1)\n    two(2)\n\n    one(1)\ntwo(3)\n",
    );
}

#[test]
fn blank_lines_in_doubt() {
    // After a newline, one line shows its own depth and not that of those which take its place.
    check("f {\n    a(1);\n        call(1);\n}\n", "\ncall(1);", "\ncall\n    .x(1);", "doubt (blank lines)");
    // Brackets that are alike: which of them the blank line stands before is unclear.
    check(
        "a {\n  b {\n    c(1);\n  }\n}\n",
        "  b {\n    c(1);\n  }\n\n}",
        "  if x {\n    b {\n      c(1);\n    }\n  }\n\n}",
        "doubt (blank lines)",
    );
    // Nothing but blank lines is to change.
    check("one(1);\n\n\ntwo(2);\n", "one(1);\n\ntwo(2);", "one(1);\n \ntwo(2);", "doubt (blank lines)");
}

#[test]
fn a_fence_around_the_old_text_alone() {
    check("one(1);\ntwo(2);\n", "```\none(1);\n```", "three(3);", "code fences: three(3);\ntwo(2);\n");
    check(
        "zero();\n\none(1);\n\n\ntwo(2);\n",
        "```\n\none(1);\n\n\n```",
        "\nthree(3);\n\n",
        "code fences: zero();\n\nthree(3);\n\n\ntwo(2);\n",
    );
    // A blank line at the end, or the end of the last line.
    check("\none(1);\ntwo(2);\n", "```\n\none(1);\n```", "\n", "none");
    check("one(1);\ntwo(2);\n", "```\none(1);\n```", "", "none");
}

#[test]
fn blank_lines_that_both_texts_begin_or_end_with_are_not_looked_for() {
    let file = "start(0)\n    one(1)\n    two(2)\n\n    three(3)\nend(4)\n";
    let after = "blank lines: start(0)\n    one(1)\n    zwei(2)\n\n    three(3)\nend(4)\n";
    check(file, "\none(1)\ntwo(2)", "\none(1)\nzwei(2)", after);
    check(file, "\n\n    one(1)\n    two(2)\n", "\n\n    one(1)\n    zwei(2)\n", after);
    // A blank line stands on the other side of it.
    check(file, "    two(2)\n\n\n", "    zwei(2)\n\n\n", after);
    check(file, "\ntwo(2)", "\nzwei(2)", after);
    check(
        file,
        "\n    three(3)\n\n",
        "\n    drei(3)\n\n",
        &after.replace("zwei", "two").replace("three", "drei"),
    );
    // Only one of the texts has it, or it is unclear how deep the new lines are.
    check(file, "    three(3)\n\n\n", "    drei(3)\n\n", "doubt (blank lines)");
    check(file, "\ntwo(2)", "\nzwei(2)\ndrei(3)", "doubt (blank lines)");
}

#[test]
fn an_apostrophe_that_nothing_shows_may_be_meant() {
    let file = "mark = \"x\"\nlast = 1\n";
    let old = "mark = “x“\nlast = 1";
    check(
        file,
        old,
        "mark = “x“\n# Longer than the browser’s own.\nlast = 1",
        "doubt (look-alike characters)",
    );
    // Quotes around something were put there like the others.
    let expected = "look-alike characters: mark = \"x\"\nname = 'y'\nlast = 1\n";
    check(file, old, "mark = “x“\nname = ‘y’\nlast = 1", expected);
}

#[test]
fn blanks_in_a_string_are_a_part_of_what_it_says() {
    check("x = 1\ny = 2\n", "x  = 1\ny = 2", "x  = 1\ns = \"a  b\"\ny = 2", "doubt (blanks within lines)");
    for quote in ["\"", "'", "`"] {
        let file = format!("log({quote}a:  %d{quote}, x)\ny = 1\n");
        let old = format!("log({quote}a: %d{quote}, x)\ny = 1");
        let new = format!("log({quote}a: %d{quote}, x + 1)\ny = 1");
        check(&file, &old, &new, "doubt (blanks within lines)");
        check(&file, &old, &old.replace("y = 1", "y = 2"), "doubt (blanks within lines)");
    }
    check("s = \"\"\"\na  b\nc\n\"\"\"\n", "a b\nc and more", "a b\nd", "none");
    check(
        "s = \"\"\"\nsome  text\nmore\n\"\"\"\n",
        "some text\nmore",
        "some text\nless",
        "doubt (blanks within lines)",
    );
    // What stands in a string and is the same does not matter.
    check(
        "log( x, \"a:  %d\")\ny = 1\n",
        "log(x, \"a:  %d\")\ny = 1",
        "log(x, \"a:  %d\")\ny = 2",
        "blanks within lines: log( x, \"a:  %d\")\ny = 2\n",
    );
    // Fields between tabs.
    let file = "xx\tyy\tzz\nqq\trr\tss\n";
    check(
        file,
        "xx    yy    zz\nqq    rr    ss",
        "xx    yy    zz\naa    bb    cc\nqq    rr    ss",
        "blanks within lines: xx\tyy\tzz\naa\tbb\tcc\nqq\trr\tss\n",
    );
    check(file, "xx yy zz\nqq rr ss", "xx yy zz\naa bb cc\nqq rr ss", "doubt (blanks within lines)");
}

#[test]
fn strings_of_several_lines_are_not_moved() {
    let file = "main() {\n    echo a\n    echo b\n}\n";
    let old = "echo a\necho b\n";
    for inner in [
        "cat <<EOF\nhello\nEOF",
        "s = \"\"\"\nhello\n\"\"\"",
        "q = `\nhello\n`",
        "r(r#\"\nhello\n\"#)",
        "echo \"x\ny\"",
    ] {
        check(file, old, &format!("echo a\n{inner}\necho b\n"), "doubt (indentation)");
    }
    // A text of documentation that is as deep as the code around it was moved with it.
    check(
        "class A:\n    def f(self):\n        a(1)\n        b(2)\n",
        "def f(self):\n    a(1)\n    b(2)\n",
        "def f(self):\n    \"\"\"One.\n\n    Two.\n    \"\"\"\n    a(1)\n    b(2)\n",
        "indentation: class A:\n    def f(self):\n        \"\"\"One.\n\n        Two.\n        \"\"\"\n        a(1)\n        b(2)\n",
    );
    check(
        "class A:\n    def f(self):\n        a(1)\n        b(2)\n",
        "def f(self):\n    a(1)\n    b(2)\n",
        "def f(self):\n    s = \"\"\"\nhello\n  there\n\"\"\"\n    a(1)\n    b(2)\n",
        "doubt (indentation)",
    );
    check(
        "    if a:\n        one(1)\n        two(2)\n",
        "    if a:\n    one(1)\n    two(2)",
        "    if a:\n    one(1)\n    s = \"\"\"\nx\n\"\"\"\n    two(2)",
        "doubt (indentation)",
    );
}

#[test]
fn an_escaped_new_line_may_be_meant_in_a_comment_and_in_an_expression() {
    let (file, old) = ("a = 1\nb = 2\n", r"a = 1\nb = 2");
    for new in [
        r"a = 1\n# split at \n only\nb = 2",
        r"a = 1\n# split at \n\nb = 2",
        r"a = 1\n// one\nof many\nb = 2",
        r"a = 1\ns.split(/\n/)\nb = 2",
        r"a = 1\nx = /a\nb/g\nb = 2",
        r"a = 1\ntr -d \n < x\nb = 2",
    ] {
        check(file, old, new, "doubt (over-escaped text)");
    }
    for line in ["# one\n# two", "// one\ncall(2);", "c = a / b", "if a:\n    c = 3", "x = [\n    1,\n]"] {
        let new = format!("a = 1\n{line}\nb = 2");
        let after = format!("over-escaped text: {new}\n");
        check(file, old, &new.replace('\n', "\\n"), &after);
    }
    // A backslash at the end of a line, or an escaped one.
    check(
        "a = 1\nall: b \\\n\tc\n",
        r"a = 1\nall: b \",
        r"a = 1\nall: b \\n# more",
        "doubt (over-escaped text)",
    );
    // A tab, too, unless it stands before what a line says.
    let file = "if a {\n\tone(1);\n}\n";
    check(file, r"\tone(1);", r"\ttwo(2);", "over-escaped text: if a {\n\ttwo(2);\n}\n");
    check(file, r"\tone(1);", r"\ttwo(2); // split at \t", "doubt (over-escaped text)");
    check(file, r"if a {\n\tone(1);\n}", r"if a {\n\ts.split(/\t/);\n}", "doubt (over-escaped text)");
    // With quotes escaped too, what stands between them may be meant as it is.
    check(
        "log(\"a\");\nend(1);\n",
        r#"log(\"a\");\nend(1);"#,
        r#"log(\"a\nb\");\nend(1);"#,
        "doubt (over-escaped text)",
    );
}

#[test]
fn lines_in_one_line_are_not_written_as_one() {
    check("a = 1\nb = 2\n", "a = 1", r"a = 1\nc = 3", "doubt (exact)");
    check("    one();\n", "one();", r"one();\n    two();", "doubt (exact)");
    check("## One\ntext\n", "## One", r"## One\n## Two", "doubt (exact)");
    for (file, old, new) in [
        ("x = 1\n", "x = 1", r#"x = "a\nb""#),
        ("say $x$\n", "say $x$", r"say $x$ \nabla"),
        ("# a\n", "# a", r"# a and \n"),
        ("a\\nb\nx = 1\n", "x = 1", r"x = 1\ny = 2"),
        ("say $x$ \\b\n", "say $x$ \\b", r"say $x$ \b\nabla"),
    ] {
        check(file, old, new, &format!("exact: {}", file.replace(old, new)));
    }
}

#[test]
fn numbers_are_not_written_whatever_stands_behind_them() {
    let file = "one(1)\n\n    two(2)\n    three(3)\n";
    check(
        file,
        "2|\n3|    two(2)\n4|    three(3)",
        "2|more(0)\n3|    two(2)\n4|    three(3)",
        "line-number prefixes: one(1)\nmore(0)\n    two(2)\n    three(3)\n",
    );
}

#[test]
fn several_fences_are_no_text() {
    check(
        "x = 1\ny = 2\n",
        "```python\nx = 1\ny = 2\n```",
        "```python\nx = 1\n```\nand\n```python\ny = 3\n```",
        "doubt (code fences)",
    );
}

#[test]
fn one_slip_in_the_blanks_tells_nothing_about_new_lines() {
    let file = "try:\n    run(1, 2)\nexcept Missing:\n    import warnings\n";
    check(
        file,
        "except Missing:\n    import  warnings\n",
        "except Missing:\n    import  warnings\n    import extra  # noqa\n",
        "doubt (blanks within lines)",
    );
    check(
        file,
        "except Missing:\n    import  warnings\n",
        "except Missing:\n    import  warnings\n    import extra # noqa\n",
        "blanks within lines: try:\n    run(1, 2)\nexcept Missing:\n    import warnings\n    import extra # noqa\n",
    );
}
