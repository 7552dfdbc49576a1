//! Slips of models on real files: how deep new lines are, or that it is unclear.

use super::*;

/// What a refusal or an edit of the ladder comes to, in one word and the text.
fn landed(file: &str, old: &str, new: &str) -> Option<String> {
    let outcome = edited(file, old, new, Wanted::One);
    let (step, after) = outcome.split_once(": ")?;
    Step::ALL.iter().any(|one| one.word() == step).then(|| after.to_owned())
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
    literal(
        "x {\n    if (a) {\n      throw b(1);\n    }\n}\n",
        "  if (a) {\n      throw b(1);",
        "    throw c(\n        2\n      );",
    );
    // Lines at the margin do not show how deep the others are: it may be the steps that differ, or the first line alone.
    for (old, new) in
        [(" one: 1,\n): X;", " one: 1,\n two: 2,\n): Y;"), ("f(\n one: 1\n): X", "f(\n one: 1,\n): X")]
    {
        let file = "f(\n  one: 1,\n): X;\nf(\n  one: 1\n): X\n";
        match old.starts_with(' ') {
            true => literal(file, old, new),
            false => check(file, old, new, "doubt (indentation)"),
        }
    }
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
        literal(file, old, new);
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
fn lines_below_a_part_of_a_line_are_as_deep_as_the_file_or_as_given() {
    let file = "def f():\n    x = g()\n    return x\n";
    literal(file, "g()", "g()\ny = h()");
    literal(file, "g()", "g(\n    1,\n)");
    literal(file, "x = g", "y = 1\nx = g");
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
    literal(file, "g()\n    return x", "g()\ny = 2\nreturn x");
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
        assert!(after.is_none_or(|after| after == right || after == file.replacen(old, &new, 1)), "{old:?}");
    }
    // Words that open a block.
    for opener in ["loop do", "if x then", "each do |y|", "begin"] {
        let file = "f\n  one(1)\n  two(2)\n";
        let right = format!("f\n  {opener}\n    one(1)\n  end\n  two(2)\n");
        let new = format!("{opener}\n  one(1)\nend");
        let after = landed(file, "one(1)", &new).unwrap();
        assert!(after == right || after == file.replacen("one(1)", &new, 1), "{opener}");
        literal(file, "one(1)", &format!("{opener}\n  one(1)"));
    }
}

#[test]
fn a_line_that_takes_the_place_of_the_first_one_is_not_as_deep_as_that() {
    literal(
        "if a:\n    raise E(\"x\" %\n            (obj, test))\nelse:\n    b()\n",
        "(obj, test))\nelse:",
        "else:",
    );
    literal(
        "f {\n    if (c) {\n      one(1)\n    }\n    two(2)\n}\n",
        "one(1)\n    }\n    two(2)",
        "}\n    two(2)",
    );
    // A bracket that ends a block further out than anything that is shown.
    literal(
        "func main() {\n\ta := A{\n\t\tb: 1,\n\t}\n\ta.Work(2)\n}\n",
        "}\n\ta.Work(2)",
        "if (cond) {\n\t}\n\ta.Work(2)\n}",
    );
}

#[test]
fn a_block_that_comes_a_level_out_is_not_taken_for_lines_below_the_first_one() {
    let file = "class Cart:\n    def total(\n        self, rate, cut\n    ) -> int:\n        try:\n            if rate > 1:\n                \
                return cut\n        finally:\n            close()\n";
    literal(
        file,
        "def total(\n        self, rate, cut\n    ) -> int:\n        try:\n            if rate > 1:\n                return cut\n",
        "def total(\n        self,\n        rate: int,\n        cut: int,\n    ) -> float:\n        if is_high(rate):\n            \
         return cut\n",
    );
    let file = "static void end(\n  Shop *shop\n) {\n  if (shop->open) {\n    if (shop->staff) {\n      send_home(\n        \
                shop->staff\n      );\n    }\n  }\n}\n";
    literal(
        file,
        "Shop *shop\n) {\n  if (shop->open) {\n    if (shop->staff) {\n      send_home(\n        shop->staff\n      );\n    }\n  }\n}",
        "Shop *shop\n) {\n  if (shop->open && shop->staff) {\n    send_home(\n      shop->staff\n    );\n  }\n}",
    );
}
