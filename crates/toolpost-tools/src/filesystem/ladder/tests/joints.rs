//! What is overlooked at the edge of a place, or right beside new text: no lines are joined, nothing lands on the wrong side.

use super::*;

/// The edit is refused, or gives this text.
fn never_else(text: &str, old: &str, new: &str, right: &str) {
    let outcome = edited(text, old, new, Wanted::One);
    let is_refused =
        outcome.starts_with("doubt") || outcome.starts_with("none") || outcome.starts_with("ambiguous");
    assert!(is_refused || outcome.ends_with(&format!(": {right}")), "{old:?} in {text:?}: {outcome}");
}

#[test]
fn a_step_that_overlooks_something_never_joins_lines() {
    let file = "x = 1  \nb = 2\nc = 3\n";
    let after = "x = 1  \nb = 5\nc = 3\n";
    for old in ["x = 1\nb = 2\n\n", "x = 1\nb = 2\n", "x = 1\nb = 2\n\n\n", "x = 1\nb = 2\n  \n"] {
        never_else(file, old, "x = 1\nb = 5", after);
    }
    check(file, "x = 1\nb = 2\n\n", "x = 1\nb = 5", &format!("blank lines: {after}"));
    check(file, "x = 1\nb = 2\n", "x = 1\nb = 5", &format!("trailing whitespace: {after}"));
    // Another depth on top of it.
    let file = "f:\n    x = 1  \n    b = 2\n    c = 3\n";
    let after = "f:\n    x = 1  \n    b = 5\n    c = 3\n";
    for old in ["x = 1\nb = 2\n\n", "x = 1\nb = 2\n", "  x = 1\n  b = 2\n\n", "\tx = 1\n\tb = 2\n"] {
        let margin = &old[..old.len() - old.trim_start().len()];
        never_else(file, old, &format!("{margin}x = 1\n{margin}b = 5"), after);
    }
    // CRLF, prefixes, fences, marks, escapes.
    check("a\r\nb\r\nc\r\n", "a\nb\n", "a\nB", "line endings: a\r\nB\r\nc\r\n");
    for (old, new) in [
        ("1: x = 1\n2: b = 2\n", "1: x = 1\n2: b = 5"),
        ("```\nx = 1\nb = 2\n```\n", "x = 1\nb = 5"),
        ("-x = 1\n-b = 2\n", "+x = 1\n+b = 5"),
        ("> x = 1\n> b = 2\n", "> x = 1\n> b = 5"),
        ("x\u{a0}= 1\nb = 2\n", "x = 1\nb = 5"),
        ("x  = 1\nb = 2\n", "x = 1\nb = 5"),
    ] {
        never_else("x = 1\nb = 2\nc = 3\n", old, new, "x = 1\nb = 5\nc = 3\n");
    }
    // An empty line at the end of the old text, whose newline is that of the line before: it goes only where the new text has it.
    check("call(1)  \n\nb(2)\n", "call(1)\n", "c(3)", "doubt (trailing whitespace)");
    check("call(1)  \n\nb(2)\n", "call(1)\n", "c(3)\n\nd(4)", "trailing whitespace: c(3)\n\nd(4)\nb(2)\n");
    // A text that begins or ends with a part of the next line's indentation.
    never_else("  a(1);\n  b(2);\n", "a(1) ;\n  ", "a(3);\n", "  a(3);\n  b(2);\n");
}

#[test]
fn a_new_line_beside_one_at_another_depth_is_refused_unless_its_own_is_plain() {
    // The two lines around it are too deep, and so is the new one.
    let file = "def f():\n    a(1)\n    b(2)\n    c(3)\n    d(4)\n";
    let right = "def f():\n    a(1)\n    b(2)\n    new(5)\n    c(3)\n    d(4)\n";
    let old = "def f():\n    a(1)\n        b(2)\n        c(3)\n    d(4)\n";
    for depth in ["        ", "    "] {
        let new = format!("def f():\n    a(1)\n        b(2)\n{depth}new(5)\n        c(3)\n    d(4)\n");
        never_else(file, old, &new, right);
    }
    let old = "def f():\n    a(1)\n        b(2)\n    c(3)\n    d(4)\n";
    let new = "def f():\n    a(1)\n        b(2)\n        new(5)\n    c(3)\n    d(4)\n";
    never_else(file, old, new, right);
    // One line has lost its indentation: the others are not indented twice.
    let file = "class A:\n    def f(self):\n        if x:\n            a(1)\n        b(2)\n";
    let right =
        "class A:\n    def f(self):\n        if x:\n            a(1)\n            c(3)\n        b(2)\n";
    let lost = "if x:\n            a(1)\n        b(2)  \n";
    never_else(file, lost, "        if x:\n            a(1)\n            c(3)\n        b(2)\n", right);
    never_else(file, lost, "if x:\n            a(1)\n            c(3)\n        b(2)\n", right);
    // A bracket is missing: what comes behind the block does not go into it.
    let file = "func f() {\n\tlock()\n\tfor k := range m {\n\t\tdelete(m, k)\n\t}\n}\n";
    let right = "func f() {\n\tlock()\n\tfor k := range m {\n\t\tdelete(m, k)\n\t}\n\tunlock()\n}\n";
    let old = "\tlock()\n\tfor k := range m {\n\t\tdelete(m, k)\n}\n";
    never_else(file, old, "\tlock()\n\tfor k := range m {\n\t\tdelete(m, k)\n\tunlock()\n}\n", right);
}

#[test]
fn what_goes_on_behind_blank_lines_that_the_file_lacks_is_refused() {
    for file in [
        "call(\n    one(1),\n)\n",
        "f {\n    one(1),\n}\nnext()\n",
        "f():\n    \"\"\"Says\n    one(1),\n    \"\"\"\n",
    ] {
        let old = "    one(1),\n\n";
        check(file, old, "    one(1),\n\ndef g():\n    pass\n", "doubt (blank lines)");
        check(file, old, "    one(1),\n\n    two(2),\n\n", "doubt (blank lines)");
        // What takes the place of the line, and what comes right behind it, is told.
        let after = file.replace("one(1),", "two(2),");
        check(file, old, "    two(2),\n\n", &format!("blank lines: {after}"));
    }
}

#[test]
fn an_edit_that_was_made_before_is_not_made_again() {
    for (file, old, new) in [
        ("if a:\n    b(1)\n    c(2)\n", "  b(1)  ", "  b(1)\n  c(2)"),
        ("f {\n  one(1);\n  two(2);\n}\n", "one(1); \n", "one(1);\ntwo(2);\n"),
        ("f {\n\tone(1);\n\ttwo(2);\n\tthree(3);\n}\n", "    two(2);  \n", "    one(1);\n    two(2);\n"),
    ] {
        let Err(Failure::NoMatch { already_applied, .. }) = find(file, old, new, Wanted::One) else {
            panic!("{old:?} in {file:?}: {}", edited(file, old, new, Wanted::One));
        };
        assert!(already_applied, "{old:?} in {file:?}");
    }
    // Made at one of two places that are alike: the other one is not what is meant.
    let block = |call: &str| format!("    first_line(argument);\n    {call};\n    last_line(argument);\n");
    let file = format!("a {{\n{}}}\nb {{\n{}}}\n", block("changed_call(of, it)"), block("call(of, it)"));
    let spaced = block("call(of, it)").replace(";\n", ";  \n");
    assert_eq!(edited(&file, &spaced, &block("changed_call(of, it)"), Wanted::One), "none");
}
