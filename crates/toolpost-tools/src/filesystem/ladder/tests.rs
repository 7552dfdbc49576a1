//! The ladder on small texts: one line of data a danger.

mod bounds;
mod depth;
mod joints;
mod place;
mod text;
mod understood;

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

/// The edit is made to the letter: what is there once is replaced.
fn literal(text: &str, old: &str, new: &str) {
    check(text, old, new, &format!("exact: {}", text.replacen(old, new, 1)));
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
