//! The ladder on small texts: one line of data a danger.

use super::*;

/// Enough for everything here.
fn find(text: &str, old: &str, new: &str, wanted: Wanted) -> Result<Vec<Found>, Failure> {
    super::find(&Effort::limited(10_000_000), text, old, new, wanted)
}

/// The step and the text after the edit, or what went wrong.
fn edited(text: &str, old: &str, new: &str, wanted: Wanted) -> String {
    match find(text, old, new, wanted) {
        Ok(found) => {
            let mut after = text.to_owned();
            for one in found.iter().rev() {
                after.replace_range(one.range.clone(), &one.replacement);
            }
            format!("{}: {after}", found[0].step)
        }
        Err(Failure::Ambiguous { step, lines }) => format!("ambiguous ({step}) {lines:?}"),
        Err(Failure::NoMatch { doubt: Some(doubt), .. }) => format!("doubt ({})", doubt.step),
        Err(Failure::NoMatch { .. }) => "none".to_owned(),
        Err(Failure::Stopped(error)) => error.to_string(),
    }
}

fn check(text: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(edited(text, old, new, Wanted::One), expected, "{old:?} in {text:?}");
}

fn check_all(text: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(edited(text, old, new, Wanted::All), expected, "{old:?} in {text:?}");
}

#[test]
fn exact_and_line_endings() {
    check("a = 1\n", "a = 1", "a = 2", "exact: a = 2\n");
    check("a a\n", "a", "b", "ambiguous (exact) [1, 1]");
    check("aaa", "aa", "b", "ambiguous (exact) [1, 1]");
    check_all("aaaaa", "aa", "b", "exact: bba");
    check("x\n", "", "y", "none");
    check("one\r\ntwo\r\n", "one\ntwo\n", "1\n2\n", "line endings: 1\r\n2\r\n");
    check("one\r\ntwo\r\n", "two", "2\n3", "exact: one\r\n2\r\n3\r\n");
    // Half a line ending is no place.
    check("one\r\ntwo\r\n", "\ntwo", "\n2", "line endings: one\r\n2\r\n");
    check("one\r\ntwo\r\n", "one\r", "1", "none");
    // A file of both kinds: each line keeps its own, and what looks the same is the same.
    check("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", "line endings: a\r\nB\nc\r\n");
    check("one\r\ntwo\nX\none\ntwo\n", "one\ntwo", "1", "ambiguous (exact) [1, 4]");
    check("one\r\ntwo\r\nX\none\ntwo\n", "one\ntwo", "1", "ambiguous (exact) [1, 4]");
    check_all("one\r\ntwo\r\nX\none\ntwo\n", "one\ntwo", "1\n2", "exact: 1\r\n2\r\nX\n1\n2\n");
    check_all("a  \nb\n", "a\nb", "c", "none");
}

#[test]
fn whitespace_at_the_edges() {
    check(
        "fn a() {  \n    x();\n}\n",
        "fn a() {\n    x();\n}",
        "fn a() {\n    y();\n}",
        "trailing whitespace: fn a() {  \n    y();\n}\n",
    );
    check(
        "let total = 1;\nend",
        "let total = 1;\nend\n",
        "let total = 2;\nend\n",
        "line endings: let total = 2;\nend",
    );
    // Brackets alone, at the end.
    check("f(1);\ng(2, {\n});", "});\n", "};\n", "line endings: f(1);\ng(2, {\n};");
    // Blanks that separate are no trailing ones.
    check("return;\n", "return ", "yield ", "none");
    check("    \n\t\n", "  \t", "x", "none");
    check("  alpha\n  beta\n", "alpha\nbeta\n", "gamma\ndelta\n", "indentation:   gamma\n  delta\n");
}

#[test]
fn indentation_of_the_file() {
    let file = "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n\t\treturn 2\n";
    // Blanks for tabs, deeper lines too.
    check(
        file,
        "    def f(self):\n        if x:\n            return 1\n",
        "    def f(self):\n        if x:\n            while y:\n                z()\n            return 3\n",
        "indentation: class A:\n\tdef f(self):\n\t\tif x:\n\t\t\twhile y:\n\t\t\t\tz()\n\t\t\treturn 3\n\t\treturn 2\n",
    );
    // The new text is written as the file is, though the old one was not.
    check(
        file,
        "if x:\n    return 1\n",
        "\t\tif x:\n\t\t\treturn 5\n",
        "indentation: class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 5\n\t\treturn 2\n",
    );
    // One half like this, the other like that.
    check(file, "if x:\n    return 1\n", "if x:\n\t\t\treturn 1\n", "doubt (indentation)");
    // The nesting is another: in Python that is another program.
    check(file, "if x:\nreturn 1\n", "if x:\nreturn 5\n", "doubt (indentation)");
    check("    a()\n        b()\n", "a()\nb()", "c()\nd()", "none");
}

#[test]
fn parts_of_lines() {
    let file = "    total = compute( a,  b ) + 1\n";
    check(file, "compute( a,  b )", "compute(a, c)", "exact:     total = compute(a, c) + 1\n");
    check(
        file,
        "total = compute(a, b) + 1",
        "sum = compute(a, c) + 1",
        "blanks within lines:     sum = compute(a, c) + 1\n",
    );
    check(file, "total = compute(a, b) + 1", "if x:\n    total = 1", "doubt (blanks within lines)");
    // A part of a line is there to the letter or not at all: what was overlooked could be what tells it from others.
    check(file, "compute(a, b)", "compute(a, c)", "none");
    check("cap =  buf->cap;\n", "cap = buf-", "cap = x", "none");
    check("x  = 1.5\n", "x = 1", "x = 2", "none");
    check("subtotal  = 1\n", "total = 1", "total = 2", "none");
    check("state: State,\nother(State, T)\n", "State,  ", "Zz", "none");
}

#[test]
fn only_one_place_under_any_reading() {
    // Within a line, behind other blanks, is a place as well.
    check("x =  f(a);\nif y { x  = f( a); }\n", "x = f(a);", "z", "ambiguous (blanks within lines) [1, 2]");
    check(
        "    enum Presence {\nlet enum  Presence {\n",
        "      enum Presence {",
        "z",
        "ambiguous (indentation) [1, 2]",
    );
    check("say(\"a\")\nsay(‘a’)\nsay('a')\n", "say(´a´)", "z", "ambiguous (look-alike characters) [2, 3]");
    // More of it to the letter elsewhere: that may be what is meant, and have changed.
    check(
        "{\n    push(job);\n    next(one);\n}\n{\n        push(job);!\n        next(one);\n}\n",
        "        push(job);\n        next(one);\n",
        "        push(job);\n        more(1);\n        next(one);\n",
        "doubt (indentation)",
    );
}

#[test]
fn indentation_that_can_be_read_in_two_ways() {
    // A bracket as deep as the file, and a line as deep as the old text: one of them is not as it was meant.
    check(
        "int f()\n{\n    char small[64];\n    int need;\n}\n",
        "        char small[64];\n",
        "    {\n        replaced(1);\n",
        "doubt (indentation)",
    );
    // Of several brackets, the indentation tells which one goes.
    check(
        "    for a {\n        if b {\n            call();\n        }\n    }\n    end();\n",
        "      call();\n    }\n  }\n  end();\n",
        "            call();\n    }\n    end();\n",
        "indentation:     for a {\n        if b {\n            call();\n    }\n    end();\n",
    );
    // Of brackets the indentation is all that tells one from the next, at the start too.
    check(
        "    }\n}\n\nenum Presence {\n    Optional,\n",
        "}\n}\n\nenum Presence {  \n    Optional,\n",
        "\nenum Presence {\n    Optional,\n",
        "doubt (indentation)",
    );
    // Nor is one the measure of a tab.
    check(
        "        Self {\n                .chain(one)\n                .collect(),\n        }\n",
        "\t\t\t\t.chain(one)\n\t\t\t\t.collect(),\n}\n",
        "\t\t\t\t.chain(one)\n\t\t\t\t.collect(),\n\t\tmore(3);\n}\n",
        "doubt (indentation)",
    );
    check(
        "class A:\n    def total(self):\n        return price\n\n",
        "def total(self):\n\t\treturn price\n\n",
        "def total(self):\n\t\treturn price\nmore(2)\n",
        "doubt (indentation)",
    );
    // Half as wide, or six blanks less: the bracket is another one in each case.
    check(
        "    for a {\n        if b {\n            call();\n        }\n    }\n    end();\n",
        "      call();\n  }\n",
        "            call();\n        }\n    }\n",
        "doubt (indentation)",
    );
    // What opens a block, and a line below it that would not be in it.
    check(
        "func f() {\n\tif ttl > 0 {\n\t\texpire(ttl)\n\t}\n}\n",
        "\t\tif ttl > 0 {\n",
        "\t\tif ttl > 0 {\n\t\tbefore(ttl)\n",
        "doubt (indentation)",
    );
    // Further out than anything that the old text shows.
    check(
        "fn f() {\n        if x {\n            work(1);\n        }\n}\n",
        "                    work(1);\n",
        "                before(0);\n                    work(1);\n",
        "doubt (indentation)",
    );
    // As deep as the file is, among lines that lost their indentation.
    check(
        "mod a {\n    fn b() {\n        one(1);\n        two(2);\n    }\n}\n",
        "one(1);\ntwo(2);\n",
        "one(1);\n        more(1);\ntwo(2);\n",
        "doubt (indentation)",
    );
    check(
        "int f() {\n    need = print(small);\n    va_end(args);\n}\n",
        "need = print(small);\nva_end(args);\n",
        "need = print(small);\n    va_stop(args);\n",
        "doubt (indentation)",
    );
    // As it stands elsewhere in the file.
    check(
        "fn s() {\n    let table = 1;\n}\n",
        "    fn s() {\n",
        "    let table = 1;\n",
        "doubt (indentation)",
    );
    check(
        "if line == sku:\n    amount += 1\n    return\n",
        "        amount += 1\n",
        "    if line == sku:\n",
        "doubt (indentation)",
    );
    // The one line that says something is the one that differs: these are other lines.
    check(
        "        }\n    }\n    table\n}\n",
        "    }\ntable\n}\n",
        "    }\n}\nwrap {\n    table\n}\n",
        "doubt (indentation)",
    );
    // Further out than it was; the old text is indented as the file is, so the new one is too.
    check(
        "    if few {\n      fail(\"a few\");\n    }\n  }\n",
        "      fail(“a few“);\n    }\n",
        "  }\n",
        "look-alike characters:     if few {\n  }\n  }\n",
    );
    // A slip of its own in each of the texts.
    check(
        "mod a {\n    #[test]\n    fn b() {}\n}\n",
        "    #[test  ]\n",
        "    wrap {\n        #[test ]\n    }\n",
        "doubt (blanks within lines)",
    );
}

#[test]
fn look_alikes() {
    check(
        "say(\"hello\", 1)\n",
        "say(“hello”, 1)",
        "say(“bye”, 1)",
        "look-alike characters: say(\"bye\", 1)\n",
    );
    check(
        "say(“hello”, 1)\n",
        "say(\"hello\", 1)",
        "say(\"hello\", 2)",
        "look-alike characters: say(“hello”, 2)\n",
    );
    check(
        "// it’s here\nlet a = 1;\n",
        "// it's here\nlet a = 1;",
        "// it's here\nlet c = 'x';",
        "look-alike characters: // it’s here\nlet c = 'x';\n",
    );
    check(
        "print(\"a\")\nend\n",
        "print(“a”)\nend",
        "print(“a”)\nprint(“b”)\nend",
        "look-alike characters: print(\"a\")\nprint(\"b\")\nend\n",
    );
    check(
        "p(“a”, \"b\")\nend\n",
        "p(“a”, “b”)\nend",
        "p(“a”, “b”)\np(“c”)\nend",
        "doubt (look-alike characters)",
    );
    check("a – b = 10\n", "a - b = 10", "a - b = 11", "look-alike characters: a – b = 11\n");
}

#[test]
fn line_numbers() {
    let file = "fn a() {\n    one();\n}\n";
    check(
        file,
        "1: fn a() {\n2:     one();\n3: }",
        "fn a() {\n    two();\n}",
        "line-number prefixes: fn a() {\n    two();\n}\n",
    );
    check(file, "2:     one();\n", "2:     two();\n", "line-number prefixes: fn a() {\n    two();\n}\n");
    check(file, "     2\t    one();", "    two();", "line-number prefixes: fn a() {\n    two();\n}\n");
    check(
        file,
        "     2→    one();\n     3→}",
        "    two();\n}",
        "line-number prefixes: fn a() {\n    two();\n}\n",
    );
    check(file, "1: fn a() {\n3:     one();", "x", "none");
    check(
        file,
        "1: fn a() {\n2:     one();",
        "1: fn a() {\n    two();",
        "line-number prefixes: fn a() {\n    two();\n}\n",
    );
    check(file, "1: fn a() {\n2:     one();", "1: fn b() {\n    two();", "doubt (line-number prefixes)");
    // Numbers that are the text.
    check("1: one\n2: two\n", "2: two", "2: zwei", "exact: 1: one\n2: zwei\n");
}

#[test]
fn escapes() {
    check("log(\"x y\");\n", r#"log(\"x y\");"#, r#"log(\"z\");"#, "over-escaped text: log(\"z\");\n");
    check("log(\"x y\");\n", r#"log(\"x y\");"#, "log(\"z\");", "over-escaped text: log(\"z\");\n");
    check("log(\"x y\");\n", r#"log(\"x y\");"#, r#"log(\"z\n\");"#, "doubt (over-escaped text)");
    check("log(\"x y\");\n", r#"log(\"x y\");"#, r#"log(\"z\", "w");"#, "doubt (over-escaped text)");
    check("one();\ntwo();\n", r"one();\ntwo();", r"one();\n2();", "over-escaped text: one();\n2();\n");
    check("log(\"x y\");\n", r#"log(\"x y", \d);"#, "x", "none");
}

#[test]
fn anchored_blocks() {
    let file = "const config = {\n  enableFeature: true,\n  retries: 3\n};\n";
    let old = "const config = {\n  enableFeature: true\n  retries: 3\n};";
    check(
        file,
        old,
        "const config = {\n  enableFeature: false,\n  retries: 3\n};",
        "anchored block: const config = {\n  enableFeature: false,\n  retries: 3\n};\n",
    );
    // The slip would get into the file.
    check(file, old, "const config = {\n  enableFeature: true\n  retries: 5\n};", "doubt (anchored block)");
    for (line, other) in [
        ("retries: 33,", "retries: 3,"),
        ("load_a(value)", "load_b(value)"),
        ("loads(value)", "load(value)"),
        ("!is_enabled_now", "is_enabled_now"),
    ] {
        check(
            &format!("start {{\n  keep;\n  {line}\n}}\n"),
            &format!("start {{\n  keep;\n  {other}\n}}"),
            "start {\n  keep;\n  gone\n}",
            "none",
        );
    }
    // A line that nobody has seen is not replaced.
    check("start {\n  one;\n  unseen;\n  two;\n}\n", "start {\n  one;\n  two;\n}", "start {\n}", "none");
}

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
fn what_is_unambiguous_lands() {
    // One level less; the old text is indented as the file is.
    check(
        "f {\n    if a {  \n        b();\n    }\n}\n",
        "    if a {\n        b();\n    }\n",
        "    b();\n",
        "trailing whitespace: f {\n    b();\n}\n",
    );
    // The same blank line at the end of both.
    check("one(1);\ntwo(2);\n", "one(1);\n\n", "three(3);\n\n", "blank lines: three(3);\ntwo(2);\n");
    // One blank line lost, and one added.
    check(
        "one(1);\n\ntwo(2);\nend(3);\n",
        "one(1);\ntwo(2);\nend(3);\n",
        "one(1);\ntwo(2);\nend(4);\n",
        "blank lines: one(1);\n\ntwo(2);\nend(4);\n",
    );
    check(
        "zero(0);\none(1);\ntwo(2);\nend(3);\n",
        "one(1);\n\ntwo(2);\nend(3);\n",
        "one(1);\n\ntwo(2);\nend(4);\n",
        "blank lines: zero(0);\none(1);\ntwo(2);\nend(4);\n",
    );
    check(
        "if a < b && c {\n",
        "if a &lt; b &amp;&amp; c {",
        "if a &gt; b {",
        "over-escaped text: if a > b {\n",
    );
    check(
        "one(1);\ntwo(2);\n",
        "```rust\none(1);\n```",
        "```rust\nthree(3);\n```",
        "code fences: three(3);\ntwo(2);\n",
    );
    // A numbered old text, and a clean new one.
    check(
        "f {\n    call(1);\n}\n",
        "2:     call(1);",
        "    if x {\n        call(1);\n    }",
        "line-number prefixes: f {\n    if x {\n        call(1);\n    }\n}\n",
    );
    // Deeper or further out than anything that the old text shows.
    check(
        "class A:\n    def f(self):\n        self.a = 1\n",
        "            self.a = 1\n",
        "            self.a = 1\n\n        def g(self):\n            pass\n",
        "indentation: class A:\n    def f(self):\n        self.a = 1\n\n    def g(self):\n        pass\n",
    );
    // A missing line that the file has right below is not added twice.
    check(
        "struct A {\n    one: u8,\n    two: u8,\n}\n",
        "    one: u8,\n    two: u8,\n\n",
        "    one: u8,\n    two: u8,\n}\nmore();\n\n",
        "doubt (blank lines)",
    );
}

#[test]
fn failures_say_what_helps() {
    let text = "fn one() {\n    first();\n}\n\nfn two() {\n    second(1);\n}\n";
    let Err(Failure::NoMatch { nearest, already_applied, tried, .. }) =
        find(text, "fn two() {\n    second(2);\n}", "fn two() {\n    third();\n}", Wanted::One)
    else {
        panic!("found")
    };
    assert_eq!(tried, Step::ALL);
    assert!(!already_applied);
    let near = &nearest[0];
    assert_eq!((near.line, near.diverging_line), (5, 6));
    assert_eq!((near.expected.as_str(), near.found.as_str()), ("    second(2);", "    second(1);"));
    assert!(near.around.starts_with("}\n\nfn two"), "{}", near.around);
    let Err(Failure::NoMatch { already_applied, .. }) =
        find(text, "    zeroth();", "    first();", Wanted::One)
    else {
        panic!("found")
    };
    assert!(already_applied);
}

/// Texts that grow, and an edit of each that is nearly there: what a ladder has most to do with.
fn near_misses(bytes: usize) -> Vec<(&'static str, String, String)> {
    let lines = |line: &dyn Fn(usize) -> String| -> String {
        let mut text = String::with_capacity(bytes + 100);
        for number in 0.. {
            text.push_str(&line(number));
            if text.len() >= bytes {
                break;
            }
        }
        text
    };
    // As long as an edit may be, or a part of the text.
    let share = (bytes / 20).clamp(60, 20_000);
    let part = |text: &str| -> String {
        let from = text.floor_char_boundary(text.len() / 2);
        let from = text[from..].find('\n').map_or(0, |at| from + at + 1);
        let to = text.floor_char_boundary((from + share).min(text.len()));
        text[from..to].to_owned()
    };
    let same = lines(&|_| "    same(line);\n".to_owned());
    let unique = lines(&|number| format!("    let value_{number} = compute({number}, other);\n"));
    let blocks = lines(&|number| match number % 5 {
        0 => "fn block() {\n".to_owned(),
        4 => "}\n".to_owned(),
        at => format!("    step_{at}();\n"),
    });
    let quotes = lines(&|number| format!("say(“{number}”, ‘x’ – y)\n"));
    let one_line = "word ".repeat(bytes / 5);
    let periodic = "ab".repeat(bytes / 2);
    let blank = lines(&|_| "   \n".to_owned());
    let returns = lines(&|number| format!("line {}\r\n", number % 7));
    let mut all = vec![
        ("unique lines, one other word", unique.clone(), part(&unique).replacen("compute", "computed", 1)),
        ("unique lines, other blanks", unique.clone(), part(&unique).replace("    ", "\t")),
        ("unique lines, nothing like it", unique.clone(), "entirely different text\n".repeat(share / 24)),
        ("the same line, one other at the end", same.clone(), format!("{}    other(line);\n", part(&same))),
        ("the same line, less indented", same.clone(), part(&same).replace("    ", "  ")),
        ("blocks, the last line other", blocks.clone(), format!("{}x\n", part(&blocks))),
        ("blocks, one slip", blocks.clone(), part(&blocks).replacen("step_2", "stp_2", 1)),
        ("quotes", quotes.clone(), part(&quotes).replace(['“', '”'], "\"")),
        ("one line", one_line.clone(), format!("{}x", &one_line[..share / 5 * 5])),
        ("a period", periodic.clone(), format!("{}c", &periodic[..share])),
        ("blanks", blank.clone(), format!("{}abc\n", part(&blank))),
        ("CRLF", returns.clone(), part(&returns).replace("\r\n", "\n").replacen("line 3", "line x", 1)),
        ("numbers", unique.clone(), {
            part(&unique).lines().zip(1..).map(|(line, at)| format!("{at}: {line}x\n")).collect()
        }),
    ];
    all.push(("escapes", unique.clone(), part(&unique).replace('\n', "\\n")));
    all
}

/// Ten times the text is about ten times the work, whatever the text is: counted in steps, so that it does not matter how
/// busy the machine is.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment how much to try")]
fn the_work_grows_with_the_text_and_no_faster() {
    let is_soak = std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1");
    let sizes: &[usize] =
        if is_soak { &[10_000, 100_000, 1_000_000, 10_000_000] } else { &[10_000, 100_000] };
    let work = |bytes: usize| -> Vec<(&'static str, u64)> {
        let spent = |(what, text, old): (&'static str, String, String)| {
            let effort = Effort::limited(u64::MAX);
            let _ = super::find(&effort, &text, &old, "new text\n", Wanted::One);
            (what, effort.spent())
        };
        near_misses(bytes).into_iter().map(spent).collect()
    };
    let mut before = work(sizes[0]);
    for (size, times) in sizes.windows(2).map(|pair| (pair[1], pair[1] / pair[0])) {
        let now = work(size);
        for ((what, few), (_, many)) in before.iter().zip(&now) {
            // The edit grows too, up to its bound: so much more for what depends on both.
            assert!(*many < few * times as u64 * 3, "{what}, {size} bytes: {few} steps became {many}");
            assert!(*many < size as u64 * 400, "{what}: {many} steps for {size} bytes");
        }
        before = now;
    }
}

#[test]
fn a_ladder_ends_when_its_steps_are_used_up() {
    for (what, text, old) in near_misses(20_000) {
        let whole = Effort::limited(u64::MAX);
        let _ = super::find(&whole, &text, &old, "new\n", Wanted::One);
        let effort = Effort::limited(whole.spent() / 2);
        let failure = super::find(&effort, &text, &old, "new\n", Wanted::One).unwrap_err();
        let Failure::Stopped(error) = failure else { panic!("{what}: {failure:?}") };
        assert_eq!(error.code(), toolpost_core::Code::TooLarge, "{what}");
    }
}
