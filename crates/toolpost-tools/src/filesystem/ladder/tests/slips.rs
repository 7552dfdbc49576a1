//! Slips of models on real files: which of them are undone, and which are refused as unclear.

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
fn a_difference_in_meaning_is_no_slip() {
    let pairs = [
        ("if user.is_inactive():", "if user.is_active():"),
        ("value = unsafe_get(1)", "value = safe_get(1)"),
        ("if not ready(now):", "if ready(now):"),
        ("total <= limit(1)", "total < limit(1)"),
        ("retry(times=10)", "retry(times=1)"),
        ("say('yes now')", "say('yes')"),
        ("self.items += 1", "self.item += 1"),
    ];
    for (there, asked) in pairs {
        let file = format!("def start():\n    keep(1)\n    {there}\n    more(2)\n    end()\n");
        let old = format!("def start():\n    keep(1)\n    {asked}\n    more(2)\n    end()");
        let outcome = edited(&file, &old, "def start():\n    gone(3)\n    end()", Wanted::One);
        assert_eq!(outcome, "none", "{asked} for {there}");
    }
    // Nor is a part of a longer word the word.
    check("x = unsafe_get(1)\n", "safe_get(1)\n", "get(1)\n", "doubt (exact)");
}

#[test]
fn lines_that_begin_within_an_indentation_are_indented_as_lines() {
    check(
        "def f():\n        return 1\n",
        "    return 1",
        "    x = 1\n    return x",
        "indentation: def f():\n        x = 1\n        return x\n",
    );
    for wide in [4, 6, 8, 12] {
        for less in 1..wide {
            let (indent, short) = (" ".repeat(wide), " ".repeat(wide - less));
            check(
                &format!("a {{\n{indent}call(one);\n}}\n"),
                &format!("{short}call(one);"),
                &format!("{short}before();\n{short}call(one);"),
                &format!("indentation: a {{\n{indent}before();\n{indent}call(one);\n}}\n"),
            );
        }
    }
    // A part of the first line's indentation is lost, and the rest is as the file has it.
    check(
        "f {\n    call(\n        one,\n    );\n}\n",
        " call(\n        one,\n    );",
        " call(\n        two,\n    )?;",
        "exact: f {\n    call(\n        two,\n    )?;\n}\n",
    );
    check(
        "f {\n    jest\n        .spy(one)\n        .mock(two);\n}\n",
        " jest\n        .spy(one)\n        .mock(two);",
        " vi.spy(one).mock(\n        two,\n    );",
        "exact: f {\n    vi.spy(one).mock(\n        two,\n    );\n}\n",
    );
    // The new text has the indentation that the old one lost.
    check("if a:\n    b(1)\n", "b(1)\n", "    b(1)\n    c(2)\n", "indentation: if a:\n    b(1)\n    c(2)\n");
    check(
        "def f():\n\n    import sqlite3\n",
        "\nimport sqlite3",
        "\nimport sqlite3\n    import os",
        "indentation: def f():\n\n    import sqlite3\n    import os\n",
    );
}

#[test]
fn a_twin_at_another_depth_is_not_taken_for_what_has_changed() {
    let twin = "        open(door)\n        walk(through)\n        close(door)\n";
    for (at, word) in [(0, "opens"), (1, "walked"), (2, "closed")] {
        let mut meant = ["    open(door)", "    walk(through)", "    close(door)"].map(str::to_owned);
        let name = meant[at].trim().split('(').next().unwrap_or_default().to_owned();
        meant[at] = meant[at].replace(&name, word);
        let file = format!("a:\n{}\nb:\n{twin}", meant.join("\n"));
        let old = "    open(door)\n    walk(through)\n    close(door)\n";
        check(&file, old, "    run()\n", "doubt (indentation)");
    }
    // Lines that say little, but many of them.
    check(
        " * // a\n * // other\n * // b\n * // c\n * end\n\n     * // a\n     * // false\n     * // b\n     * // c\n",
        " * // a\n * // false\n * // b\n * // c\n",
        " * // a\n * // false\n * // 'b'\n * // 'c'\n",
        "doubt (indentation)",
    );
    check(
        "a:\n    let total = sums(items);\nb:\n        let total = sum(items);\n",
        "    let total = sum(items);",
        "    let total = 1;",
        "doubt (exact)",
    );
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
fn lines_that_stay_may_be_written_otherwise() {
    let file = "path = \"a/b\"\nname = \"é\"\nlog(`${x}`, (y))\nold(\"1\")\n";
    let olds = ["path = \"a/b\"", "name = \"é\"", "log(`${x}`, (y))"];
    let with =
        |change: fn(&str) -> String, last: &str| -> String { olds.map(change).join("\n") + "\n" + last };
    type Change = (fn(&str) -> String, &'static str);
    let changes: [Change; 6] = [
        (|line| line.replace('"', "'"), "look-alike characters"),
        (|line| line.replace('(', "（").replace(')', "）"), "look-alike characters"),
        (|line| line.replace('/', "\\/"), "over-escaped text"),
        (|line| line.replace('`', "\\`").replace("${", "\\${"), "over-escaped text"),
        (|line| line.replace('é', "\\u00e9"), "over-escaped text"),
        (|line| line.replace('(', "( ").replace(')', " )"), "blanks within lines"),
    ];
    for (change, step) in changes {
        let after = format!("{step}: {}\nnew(2)\n", olds.join("\n"));
        check(file, &with(change, "old(\"1\")"), &with(change, "new(2)"), &after);
    }
    // What comes may have been written in the same way.
    let full = |line: &str| line.replace('(', "（").replace(')', "）");
    check(
        file,
        &with(full, "old(\"1\")").replace("\nold(\"1\")", ""),
        &with(full, "new（2）"),
        "doubt (look-alike characters)",
    );
    // A context line that differs in what it says is no other way of writing it.
    check(
        file,
        &with(|line| line.replace("a/b", "a\\/c"), "old(\"1\")"),
        &with(|line| line.replace("a/b", "a\\/c"), "new(2)"),
        "none",
    );
}

#[test]
fn what_only_looks_like_a_slip_of_both_texts_stays() {
    // The new text has plain quotes where the old one has others, so that its apostrophe is meant.
    check(
        "sep = \"x\"\n# old\nend\n",
        "sep = “x”\n# old",
        "sep = \"x\"\n# the page’s size",
        "doubt (look-alike characters)",
    );
    // A line below a condition without a brace is deeper, so this one is not as the file has it.
    check(
        "f() {\n  a;\n\n  const b = c();\n\n  let d;\n}\n",
        "\nconst b = c();",
        "\nif (d(e))\n  return f;",
        "doubt (indentation)",
    );
    // One line slipped in both texts; what is aligned with a bracket did not.
    check(
        "}\n\nint f(a, b)\nint a;\nint b;\n{\n    int ret;\n    go(a);\n    if (b)\n        stop();\n}\n",
        "\nint f(a, b)\nint a;\nint b;\n{\n        int ret;",
        "\nint f(int a,\n                          int b) {\n        int ret;",
        "doubt (indentation)",
    );
    // The line that slipped comes twice, and nobody knows which of the two it was.
    check(
        "c:\n    x(\n        1\n    )\n\n    @p\n    def q():\n        r()\n",
        "    x(\n        1\n    )\n\n        @p\n    def q():",
        "    x(\n        1\n    )\n\n    @p\n    def n():\n        pass\n\n        @p\n    def q():",
        "doubt (indentation)",
    );
}

#[test]
fn numbers_tell_which_of_two_places_is_meant() {
    let file = "start();\nsame(1);\nsame(2);\nmiddle();\nsame(1);\nsame(2);\n";
    for (first, after) in [
        (2, "start();\nsame(1);\nnew(3);\nmiddle();\nsame(1);\nsame(2);\n"),
        (5, "start();\nsame(1);\nsame(2);\nmiddle();\nsame(1);\nnew(3);\n"),
    ] {
        let numbered = |lines: [&str; 2]| format!("L{first}: {}\nL{}: {}", lines[0], first + 1, lines[1]);
        let after = format!("line-number prefixes: {after}");
        check(file, &numbered(["same(1);", "same(2);"]), &numbered(["same(1);", "new(3);"]), &after);
    }
    // They name neither.
    check(
        file,
        "3: same(1);\n4: same(2);",
        "3: same(1);\n4: new(3);",
        "ambiguous (line-number prefixes) [2, 5]",
    );
    // A few lines off, the rest to the letter and nothing of it where they say.
    let file = "one();\n    two(2);\n    three(3);\nfour();\nfive();\nsix();\n";
    check(
        file,
        "5:     two(2);\n6:     three(3);",
        "5:     two(2);\n6:     drei(3);",
        "line-number prefixes: one();\n    two(2);\n    drei(3);\nfour();\nfive();\nsix();\n",
    );
    check(file, "5: two(2);\n6: three(3);", "5: two(2);\n6: drei(3);", "doubt (line-number prefixes)");
    check(
        "one();\nline(1);\nline(2);\nline(7);\nline(9);\n",
        "4: line(2);\n5: line(7);",
        "4: line(2);\n5: line(8);",
        "line-number prefixes: one();\nline(1);\nline(2);\nline(8);\nline(9);\n",
    );
    // The lines that they name have changed since.
    check(
        "a:\n    one(door);\n    two(doors);\nb:\n    one(other);\n    two(door);\n    one(door);\n    two(door);\n",
        "2:     one(door);\n3:     two(door);",
        "2:     one(door);\n3:     new();",
        "doubt (line-number prefixes)",
    );
}

#[test]
fn of_lines_that_are_alike_it_is_unclear_which_stays() {
    // The file has one of the two blocks in other quotes, and the new text keeps one.
    check(
        "[\n  {\n    \"code\": 1\n  },\n  {\n    “code”: 1\n  }\n]\nend()\n",
        "  {\n    \"code\": 1\n  },\n  {\n    \"code\": 1\n  }\n]",
        "  {\n    \"code\": 1\n  }\n]",
        "doubt (look-alike characters)",
    );
    // The new text has the line that slipped in the old one just so, and one more above it that says the same.
    check(
        "#if A\n#pragma B\n#endif\n\n#endif // C\n",
        "#if A\n#pragma B\n    #endif",
        "#if A\n#pragma B\n#endif\n    #endif",
        "doubt (indentation)",
    );
}

#[test]
fn what_is_moved_is_not_taken_for_what_was_indented_otherwise() {
    // Both are two deeper than the file, and the new text moves the inner lines by two.
    check(
        "f(\n    | ({\n          one: 1;\n          two: 2;\n      } & X)\n    | null\n): Y;\n",
        "      | ({\n            one: 1;\n            two: 2;\n        } & X)\n      | null\n  ): Y;",
        "      | ({\n          one: 1;\n          two: 2;\n      } & X)\n      | null,\n  ): Y;",
        "doubt (indentation)",
    );
    // Each level is half as deep as in the file, and the new text is a level deeper.
    check(
        "f {\n  let i = 0\n\n  function next (err) {\n    if (err) {\n      call(err)\n",
        " function next (err) {\n  if (err) {\n   call(err)",
        "  function next (err) {\n   if (err) {\n    call(err)\n    return",
        "doubt (indentation)",
    );
    // A block that is moved with a line that is too deep in the old text, and as deep as it is to be in the new one.
    check(
        "a(\n  b: [\n    one(1)\n    two(2)\n    three(3)\n  ],\n)\n",
        "a(\n  b: [\n    one(1)\n      two(2)\n    three(3)\n  ],\n)",
        "a(\n  b: () =>\n    [\n      one(1)\n      two(2)\n      three(3)\n    ],\n)",
        "doubt (indentation)",
    );
    // The first line of each has lost as much, and the new one begins deeper.
    check(
        "x {\n    if (a) {\n      throw b(1);\n    }\n}\n",
        "  if (a) {\n      throw b(1);",
        "    throw c(\n        2\n      );",
        "doubt (exact)",
    );
    // Lines at the margin do not show how deep the others are: it may be the steps that differ, or the first line alone.
    for (old, new) in
        [(" one: 1,\n): X;", " one: 1,\n two: 2,\n): Y;"), ("f(\n one: 1\n): X", "f(\n one: 1,\n): X")]
    {
        let step = if old.starts_with(' ') { "exact" } else { "indentation" };
        check("f(\n  one: 1,\n): X;\nf(\n  one: 1\n): X\n", old, new, &format!("doubt ({step})"));
    }
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
fn one_line_at_another_depth_stays_as_it_is() {
    let file = "a {\n    one(1);\n    two(2);\n    three(3);\n    four(4);\n}\n";
    check(
        file,
        "    one(1);\n        two(2);\n    three(3);\n    four(4);",
        "    one(1);\n        two(2);\n    three(3);\n    five(5);",
        "indentation: a {\n    one(1);\n    two(2);\n    three(3);\n    five(5);\n}\n",
    );
    // Lines that are alike, of which one slipped.
    check(
        "a {\n    one(1);\n        last(0);\n    two(2);\n    last(0);\n    end(4);\n}\n",
        "    one(1);\n        last(0);\n    two(2);\n        last(0);\n    end(4);",
        "    one(1);\n    two(2);\n        last(0);\n    end(4);",
        "doubt (indentation)",
    );
    // What comes stands beside it, and just as deep.
    check(
        file,
        "    one(1);\n        two(2);\n    three(3);\n    four(4);",
        "    one(1);\n        two(2);\n        more(2);\n    three(3);\n    four(4);",
        "doubt (indentation)",
    );
}

#[test]
fn a_twin_does_not_matter_where_only_the_ends_of_lines_differ() {
    // Where the file has them, the other one may be meant, and have changed.
    check(
        "one(1);\n  two(2);\nend(3);\n\none(1); \ntwo(2);\nend(3);\n",
        "one(1);\ntwo(2);\nend(3);",
        "one(1);\nnew(2);\nend(3);",
        "ambiguous (trailing whitespace) [1, 5]",
    );
    check(
        "one(1);\n\ntwo(2);\n\n    one(1);\n\n    two(2);\n",
        "one(1);  \n  \ntwo(2);  ",
        "one(1);\n\nnew(2);",
        "trailing whitespace: one(1);\n\nnew(2);\n\n    one(1);\n\n    two(2);\n",
    );
}

#[test]
fn a_line_that_slipped_in_both_texts_stays_whatever_stands_beside_it() {
    let file = "one(1);\ntwo(2);\nthree(3);\nfour(4);\n";
    let old = "one(1);\n    two(2);\nthree(3);\nfour(4);";
    // What comes below or above it is a statement of its own.
    check(
        file,
        old,
        "one(1);\n    two(2);\ncome(5);\nthree(3);\nfour(4);",
        "indentation: one(1);\ntwo(2);\ncome(5);\nthree(3);\nfour(4);\n",
    );
    check(
        file,
        old,
        "one(1);\ncome(5);\n    two(2);\nthree(3);\nfour(4);",
        "indentation: one(1);\ncome(5);\ntwo(2);\nthree(3);\nfour(4);\n",
    );
    // It may be deeper because of what comes.
    for (above, below) in
        [("if x {", "}"), ("if x:", "five(5)"), ("if x", "end"), ("while x; do", "done"), ("<p>", "</p>")]
    {
        let new = format!("one(1);\n{above}\n    two(2);\n{below}\nthree(3);\nfour(4);");
        check(file, old, &new, "doubt (indentation)");
    }
    check(file, old, "one(1);\n    two(2);\n}\nthree(3);\nfour(4);", "doubt (indentation)");
    // What comes is as deep as it is there, and not as it is in the file.
    check(
        "{\n    one(1);\n    if x {\n        two(2);\n    }\n}\n",
        "{\n    one(1);\n    if x {\n    two(2);\n    }",
        "{\n    one(0);\n    if x {\n    two(2);\n    three(3);\n    }",
        "doubt (indentation)",
    );
    // A bracket that cannot be taken for another one.
    let file = "f(1) {\n    one(1);\n}\nlast(2);\nend(3);\n";
    let old = "f(1) {\n    one(1);\n    }\nlast(2);\nend(3);";
    check(
        file,
        old,
        "f(1) {\n    one(1);\n    }\nother(2);\nend(3);",
        "indentation: f(1) {\n    one(1);\n}\nother(2);\nend(3);\n",
    );
    // There are two, or a line comes at a depth that nothing shows.
    check(file, old, "f(1) {\n    one(1);\n    }\n    }\nother(2);\nend(3);", "doubt (indentation)");
    check(file, old, "f(1) {\n    one(1);\n    }\n  other(2);\nend(3);", "doubt (indentation)");
    check(file, old, "f(1) {\n    if x {\n    }\nlast(2);\nend(3);", "doubt (indentation)");
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
fn a_twin_is_not_taken_where_all_but_one_short_line_are_elsewhere_to_the_letter() {
    let twin = "end\n     * // run\n     * // b\n     * // c\n     * ---\n";
    check(
        &format!(" * // a\n * // walked\n * // b\n * // c\n * ---\n *\n\n{twin}"),
        " * // run\n * // b\n * // c\n * ---\n",
        " * // run\n * // 'b'\n * // 'c'\n * ---\n",
        "doubt (indentation)",
    );
}

#[test]
fn lines_that_end_both_texts_alike_contradict_those_that_begin_as_the_file_does() {
    // The old text has lost its indentation. The new one was moved a level in, so that its first lines are as deep as the
    // file has them by chance; only its last line, which is there before, shows that.
    let file = "f {\n  a\n\n  one (x) {\n    if (x) {\n      call(x, y)\n      return\n    }\n  }\n}\n";
    let old = "one (x) {\n  if (x) {\n    call(x, y)";
    let new =
        "  one (x) {\n    if (x) {\n      call(x, y)\n      leave\n    }\n  }\n\n  two (x) {\n    call(x, y)";
    check(file, old, new, "doubt (indentation)");
    // Without another line below it is written as the file is.
    check(
        file,
        old,
        "  one (x) {\n    if (y) {\n      call(x, y)",
        "indentation: f {\n  a\n\n  one (x) {\n    if (y) {\n      call(x, y)\n      return\n    }\n  }\n}\n",
    );
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
fn lines_that_would_leave_the_block_of_the_one_they_replace_are_unclear() {
    let file = "def f(x):\n    y = get(x)\n\n    result = sub(x, y)\n\n    return result\n";
    let new = "\n.. changed:: 2.0\n    Renamed from this.\n\"\"\"\nif is_bytes(x):\n    x = decode(x)";
    check(file, "\nresult = sub(x, y)", new, "doubt (indentation)");
}

#[test]
fn the_stars_of_a_comment_stand_one_deeper_whatever_the_steps_are() {
    let file = "m {\n    n {\n        a {\n            b;\n        }\n        function clear(one: Timer);\n        g();\n    }\n}\n";
    let expected = file.replace(
        "        function clear(one: Timer)",
        "        /**\n         * Sets x.\n         */\n        function clear(one: Timer)",
    );
    check(
        file,
        "  }\n  function clear(one: Timer);",
        "  }\n  /**\n   * Sets x.\n   */\n  function clear(one: Timer);",
        &format!("indentation: {expected}"),
    );
    // And what is a block in other steps is refused.
    check(
        file,
        "  }\n  function clear(one: Timer);",
        "  }\n  h {\n    i;\n  }\n  function clear(one: Timer);",
        "doubt (indentation)",
    );
}

#[test]
fn widths_that_are_no_steps_are_those_of_single_lines() {
    let file =
        "#endif\n\n#ifdef SOLO\n   typedef unsigned long size_type;\n#else\n#  define other long\n#endif\n";
    let old = "#ifdef SOLO\n     typedef unsigned long size_type;\n#else";
    let new = "#ifdef SOLO\n#  ifdef WIDE\n     typedef unsigned long long size_type;\n#  else\n     typedef unsigned long size_type;\n#  endif\n#else";
    check(file, old, new, "doubt (indentation)");
}

/// What a refusal or an edit of the ladder comes to, in one word and the text.
fn landed(file: &str, old: &str, new: &str) -> Option<String> {
    let outcome = edited(file, old, new, Wanted::One);
    let (step, after) = outcome.split_once(": ")?;
    Step::ALL.iter().any(|one| one.word() == step).then(|| after.to_owned())
}

#[test]
fn lines_below_one_that_begins_within_a_line_are_read_by_what_both_texts_have() {
    // Below the first line, as both the changed line and what it opens tell.
    check(
        "jobs:\n  build:\n    steps: 1\n  test:\n    steps: 2\n",
        "build:\n    steps: 1",
        "build:\n  steps: 3",
        "indentation: jobs:\n  build:\n    steps: 3\n  test:\n    steps: 2\n",
    );
    check(
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n        return 1",
        "def f(self):\n    return 2",
        "indentation: class A:\n    def f(self):\n        return 2\n",
    );
    // As the file has them.
    check(
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n        return 1",
        "def f(self):\n        x = 2\n        return 1",
        "exact: class A:\n    def f(self):\n        x = 2\n        return 1\n",
    );
    check(
        "f {\n    call(\n        one,\n    );\n}\n",
        "call(\n        one,\n    );",
        "send(\n        two,\n        three,\n    );",
        "exact: f {\n    send(\n        two,\n        three,\n    );\n}\n",
    );
    // Some so and some so, or nothing tells.
    let file =
        "class A:\n    def f(self):\n        a = 1\n        return a\n    def g(self):\n        pass\n";
    let old = "def f(self):\n        a = 1\n        return a";
    for new in [
        "def f(self):\n        a = 1\n    return a",
        "def f(self):\n        a = 1\n        return a\nb = 2",
        "def f(self):\nother(2)\n        return a",
    ] {
        check(file, old, new, "doubt (exact)");
    }
    // Out of the block, where that ends.
    check(
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n        return 1",
        "def f(self):\n        return 1\n\ndef g():\n    pass",
        "exact: class A:\n    def f(self):\n        return 1\n\ndef g():\n    pass\n",
    );
}

#[test]
fn lines_below_a_part_of_a_line_are_as_deep_as_the_file_or_refused() {
    let file = "def f():\n    x = g()\n    return x\n";
    check(file, "g()", "g()\ny = h()", "doubt (exact)");
    check(file, "g()", "g(\n    1,\n)", "doubt (exact)");
    check(file, "x = g", "y = 1\nx = g", "doubt (exact)");
    check(file, "g()", "g()\n    y = h()", "exact: def f():\n    x = g()\n    y = h()\n    return x\n");
    check(
        file,
        "g()",
        "g(\n        1,\n    )",
        "exact: def f():\n    x = g(\n        1,\n    )\n    return x\n",
    );
    check(
        file,
        "g()\n    return x",
        "g()\n    y = 2\n    return x",
        "exact: def f():\n    x = g()\n    y = 2\n    return x\n",
    );
    check(file, "g()\n    return x", "g()\ny = 2\nreturn x", "doubt (exact)");
    // At the margin every depth is its own.
    check("x = g()\ny = 1\n", "g()", "g(\n    1,\n)", "exact: x = g(\n    1,\n)\ny = 1\n");
}

#[test]
fn a_line_that_goes_on_is_deeper_than_the_one_it_goes_on_with() {
    let file = "fn f() {\n    a();\n\n    result.fill(0);\n\n    b();\n}\n";
    for old in ["\nresult.fill(0);", "result.fill(0);"] {
        let new = old.replace(".fill(0);", "\n    .iter_mut()\n    .zip(x)\n    .for_each(y);");
        let right = file.replace(
            "result.fill(0);",
            "result\n        .iter_mut()\n        .zip(x)\n        .for_each(y);",
        );
        let after = landed(file, old, &new);
        assert!(after.is_none_or(|after| after == right), "{old:?}");
    }
    // Words that open a block.
    for opener in ["loop do", "if x then", "each do |y|", "begin"] {
        let file = "f\n  one(1)\n  two(2)\n";
        let right = format!("f\n  {opener}\n    one(1)\n  end\n  two(2)\n");
        let after = landed(file, "one(1)", &format!("{opener}\n  one(1)\nend"));
        assert!(after.is_none_or(|after| after == right), "{opener}");
        check(file, "one(1)", &format!("{opener}\n  one(1)"), "doubt (exact)");
    }
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
fn one_line_and_its_number_belong_together() {
    check("a = 1\nfoo()\nb = 2\nfoo( )\n", "4: foo()", "4: bar()", "doubt (line-number prefixes)");
    check(
        "import a\n\ndef f():\n    return x\n\ndef g():\n    return  x\n",
        "7:     return x",
        "7:     return y",
        "doubt (line-number prefixes)",
    );
    check("a = 1\nfoo()\nb = 2\n", "9: foo()", "9: bar()", "doubt (line-number prefixes)");
    // Several lines, and those that the numbers name are the same but for their blanks.
    check(
        "one(a, 1)\ntwo(b, 2)\nmid()\none(a,  1)\ntwo(b,  2)\n",
        "4: one(a, 1)\n5: two(b, 2)",
        "4: one(a, 1)\n5: zwei()",
        "doubt (line-number prefixes)",
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
fn a_word_or_a_number_is_not_cut_in_two() {
    for (file, old) in [
        ("x = 10\n", "x = 1"),
        ("    x = 10\n", "x = 1"),
        ("y = unsafe_get(1) + 2\n", "safe_get(1)"),
        ("call(items)\n", "call(item"),
    ] {
        check(file, old, "z = 3", "doubt (exact)");
        check_all(file, old, "z = 3", &format!("exact: {}", file.replace(old, "z = 3")));
    }
    check("x = 1.5\n", "x = 1.", "x = 2.", "doubt (exact)");
    check("价格是十元\n", "价格", "成本", "exact: 成本是十元\n");
}

#[test]
fn a_block_that_has_changed_in_one_line_contradicts_a_twin_with_other_blanks() {
    check(
        "def a():\n    HTTPServer2.bind(self)\n    self.setup()\n    done = 1\n\ndef z():\n    HTTPServer.bind(self)\n    self.setup()\n    done =  1\n",
        "    HTTPServer.bind(self)\n    self.setup()\n    done = 1",
        "    HTTPServer.bind(self)\n    done = 2",
        "doubt (blanks within lines)",
    );
    // With other quotes, and with quotes that were changed throughout.
    check(
        "open(doors, \"a\")\nwalk(through)\nclose(door)\n\nopen(door, “a”)\nwalk(through)\nclose(door)\n",
        "open(door, \"a\")\nwalk(through)\nclose(door)",
        "open(door, \"a\")\nclose(door)",
        "doubt (look-alike characters)",
    );
    check(
        "open(doors, \"a\")\nwalk(through)\nclose(door)\n\nopen(door, 'a')\nwalk(through)\nclose(door)\n",
        "open(door, \"a\")\nwalk(through)\nclose(door)",
        "open(door, \"a\")\nclose(door)",
        "doubt (look-alike characters)",
    );
}

#[test]
fn a_line_to_the_letter_elsewhere_contradicts_a_twin_however_the_other_has_changed() {
    check(
        "error = (error, other)\nttr:\n\nerror  = (error, other)\ntry:\n",
        "error = (error, other)\ntry:",
        "error = (error, other)\nlist = 1\ntry:",
        "doubt (blanks within lines)",
    );
    check(
        "enum A {\n    not_Zed,\n}\n\n        Zed,\n    }\n",
        "    Zed,\n}\n",
        "    Zed,\n}\nmore {\n}\n",
        "doubt (indentation)",
    );
}

#[test]
fn a_line_that_takes_the_place_of_the_first_one_is_not_as_deep_as_that() {
    check(
        "if a:\n    raise E(\"x\" %\n            (obj, test))\nelse:\n    b()\n",
        "(obj, test))\nelse:",
        "else:",
        "doubt (exact)",
    );
    check(
        "f {\n    if (c) {\n      one(1)\n    }\n    two(2)\n}\n",
        "one(1)\n    }\n    two(2)",
        "}\n    two(2)",
        "doubt (exact)",
    );
    // A bracket that ends a block further out than anything that is shown.
    check(
        "func main() {\n\ta := A{\n\t\tb: 1,\n\t}\n\ta.Work(2)\n}\n",
        "}\n\ta.Work(2)",
        "if (cond) {\n\t}\n\ta.Work(2)\n}",
        "doubt (exact)",
    );
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
