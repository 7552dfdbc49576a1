//! Forms in which models wrap the two texts, copy them along with marks, or escape them: understood, or refused.

use super::*;

const FILE: &str = "fn f() {\n    let a = b < c && d;\n    call(one_two, \"x\");\n    end();\n}\n";
const OLD: &str = "    let a = b < c && d;\n    call(one_two, \"x\");";
const NEW: &str = "    let a = b < c && d;\n    call(three_four, \"x\");";

/// The file with the line changed that the edit is about.
fn after() -> String {
    FILE.replace("one_two", "three_four")
}

/// The edit lands, whatever it is found by.
fn lands(file: &str, old: &str, new: &str, after: &str) {
    let outcome = edited(file, old, new, Wanted::One);
    assert_eq!(outcome.split_once(": ").map(|(_, text)| text), Some(after), "{outcome}\n{old}\n---\n{new}");
}

fn each_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(at, line)| change(at, line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn marks_around_both_texts() {
    for (old, new) in [
        (format!("<<<<<<< SEARCH\n{OLD}\n======="), format!("{NEW}\n>>>>>>> REPLACE")),
        (format!("<<<<<<< SEARCH\n{OLD}"), NEW.to_owned()),
        (OLD.to_owned(), format!("{NEW}\n>>>>>>> REPLACE")),
        (OLD.to_owned(), format!("=======\n{NEW}\n>>>>>>> REPLACE\n")),
        (format!("<![CDATA[{OLD}]]>"), format!("<![CDATA[{NEW}]]>")),
        (format!("<![CDATA[\n{OLD}\n]]>"), format!("<![CDATA[\n{NEW}\n]]>")),
        (OLD.to_owned(), format!("<![CDATA[{NEW}]]>")),
        (format!("@@ -2,2 +2,2 @@ fn f() {{\n{OLD}"), format!("@@ -2,2 +2,2 @@ fn f() {{\n{NEW}")),
        (format!("Lines 2-3:\n{OLD}"), format!("Lines 2-3:\n{NEW}")),
        (format!("Lines 2-3:\n{OLD}"), NEW.to_owned()),
        (format!("// src/f.rs\n{OLD}"), format!("// src/f.rs\n{NEW}")),
        (format!("src/f.rs:\n{OLD}"), NEW.to_owned()),
    ] {
        lands(FILE, &old, &new, &after());
    }
    // Where the file has such marks, they are its own.
    let conflict = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    lands(
        conflict,
        "<<<<<<< SEARCH\na",
        "<<<<<<< SEARCH\nc",
        "<<<<<<< SEARCH\nc\n=======\nb\n>>>>>>> REPLACE\n",
    );
    lands("// a.rs\nx()\n", "// a.rs\nx()", "// a.rs\ny()", "// a.rs\ny()\n");
}

/// Both texts are one space too deep, so the space behind a number is the line's own.
#[test]
fn a_space_behind_a_number_may_be_the_lines_own() {
    let deeper = |text: &str| each_line(text, |_, line| format!(" {line}"));
    let numbered = each_line(&deeper(OLD), |at, line| format!("src/f.rs:{}:{line}", at + 2));
    lands(FILE, &numbered, &deeper(NEW), &after());
}

#[test]
fn what_tools_show_before_and_behind_lines() {
    let forms: [fn(usize, &str) -> String; 7] = [
        |at, line| format!("[{}] {line}", at + 2),
        |at, line| format!("{}#{line}", at + 2),
        |at, line| format!("src/f.rs:{}:{line}", at + 2),
        |at, line| format!("f.rs-{}-{line}", at + 2),
        |_, line| format!("{line}$"),
        |_, line| format!("\u{1b}[32m{line}\u{1b}[0m"),
        |_, line| format!("\u{1b}[1;31m\u{1b}[K{line}\u{1b}[m"),
    ];
    for form in forms {
        lands(FILE, &each_line(OLD, form), &each_line(NEW, form), &after());
        lands(FILE, &each_line(OLD, form), NEW, &after());
    }
    lands("\ta(1);\n\tb(2);\n", "^Ia(1);$\n^Ib(2);$", "^Ia(1);$\n^Ic(3);$", "\ta(1);\n\tc(3);\n");
}

#[test]
fn texts_that_were_escaped_as_a_whole() {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let inner = |text: &str| json(text)[1..json(text).len() - 1].to_owned();
    lands(FILE, &json(OLD), &json(NEW), &after());
    lands(FILE, &json(&json(OLD)), &json(&json(NEW)), &after());
    lands(FILE, &json(&json(&json(OLD))), &json(&json(&json(NEW))), &after());
    lands(FILE, &inner(&inner(OLD)), &inner(&inner(NEW)), &after());
    lands(FILE, &inner(&inner(&inner(OLD))), &inner(&inner(&inner(NEW))), &after());
    let points = |text: &str| text.replace('<', "\\u003c").replace('&', "\\u0026").replace('"', "\\u0022");
    lands(FILE, &points(OLD), &points(NEW), &after());
    let signs = |text: &str| text.replace('<', "\\<").replace('_', "\\_");
    lands(FILE, &signs(OLD), &signs(NEW), &after());
    lands("echo ${a} \"$b\"\n", "echo \\${a} \"\\$b\"", "echo \\${a} \"\\$c\"", "echo ${a} \"$c\"\n");
    // What the file has so stays so.
    lands("re = '\\_a'\n", "re = '\\_a'", "re = '\\_b'", "re = '\\_b'\n");
}

#[test]
fn lines_that_are_broken_otherwise() {
    let file = "f(\n    one, two,\n    three,\n)\ng(four)\nh(five)\n";
    let right = file.replace("h(five)", "h(six)");
    lands(file, "f(one, two, three,)\ng(four)\nh(five)", "f(one, two, three,)\ng(four)\nh(six)", &right);
    lands(
        file,
        "f(\n    one,\n    two,\n    three,\n)\ng(four)\nh(five)",
        "f(\n    one,\n    two,\n    three,\n)\ng(four)\nh(six)",
        &right,
    );
    // Lines that go are word for word those of the file; one of which a part stays has to be broken as there.
    lands(file, "f(one, two, three,)\ng(four)", "f(one)\ng(four)", "f(one)\ng(four)\nh(five)\n");
    let old = "f(\n    one,\n    two,\n    three,\n)\ng(four)";
    let outcome = edited(file, old, "f(\n    one,\n    three,\n)\ng(four)", Wanted::One);
    assert!(outcome.starts_with("none") || outcome.starts_with("doubt"), "{outcome}");
    // A bracket that is on a line of its own may be another one.
    let brackets = "f(\n    g(one)\n)\nh()\n";
    assert_eq!(edited(brackets, "    g(one\n)\n", "    g(one\n)\nnew()\n", Wanted::One), "none");
    // Another word, or a string with other blanks that is not kept.
    assert_eq!(
        edited(file, "f(one, too, three,)\ng(four)", "f(one, too, three,)\ng(4)", Wanted::One),
        "none"
    );
}

#[test]
fn numbers_in_other_signs() {
    type Sign = fn(usize) -> String;
    let signs: [Sign; 5] = [
        |number| format!("({number}) "),
        |number| format!("<{number}> "),
        |number| format!("#{number} "),
        |number| format!("Line {number}: "),
        |number| format!("{number}-"),
    ];
    for sign in signs {
        let shown = |text: &str| -> String {
            text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", sign(at + 2))).collect()
        };
        let file = "zero()\none(1)\n    two(2)\nthree(3)\n";
        lands(
            file,
            &shown("one(1)\n    two(2)"),
            &shown("one(1)\n    two(3)"),
            &file.replace("two(2)", "two(3)"),
        );
    }
}

#[test]
fn accents_in_one_character_or_in_two() {
    let (one, two) = ("caf\u{e9}", "cafe\u{301}");
    let file = |word: &str| format!("a()\nsay('{word}')\nb()\n");
    let changed = |word: &str| format!("a()\nsay('{word}', '{word}')\nb()\n");
    for (there, asked) in [(one, two), (two, one)] {
        let (old, new) = (format!("say('{asked}')"), format!("say('{asked}', '{asked}')"));
        lands(&file(there), &old, &new, &changed(there));
        // With another slip, too.
        lands(&file(there), &format!("a()  \n{old}"), &format!("a()\n{new}"), &changed(there));
    }
    assert_eq!(edited(&format!("{one}\n{one}\n"), two, "x", Wanted::One), "ambiguous (exact) [1, 2]");
    assert_eq!(edited(&file(one), "cafe", "x", Wanted::One), "none");
}

#[test]
fn newlines_beside_a_mark_of_cdata() {
    let file = "a\n\nb\n\nc\n";
    let after = "a\n\nx\nb\n\nc\n";
    lands(file, "<![CDATA[\nb\n]]>", "\nx\nb\n", after);
    lands(file, "<![CDATA[\nb\n]]>", "x\nb", after);
    lands(file, "<![CDATA[\nb\n]]>", "<![CDATA[\nx\nb\n]]>", after);
    lands(file, "<![CDATA[b\n]]>", "x\nb\n", after);
}
