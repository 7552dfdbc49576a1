//! Slips of models on real files: which place is meant, and when none is taken.

use super::*;

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
    // What is there to the letter is replaced, in a longer word too.
    literal("x = unsafe_get(1)\n", "safe_get(1)\n", "get(1)\n");
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
        "    let total = sum(items);  ",
        "    let total = 1;",
        "doubt (indentation)",
    );
}

#[test]
fn exact_text_lands_where_it_is_although_another_place_is_nearly_it() {
    let file = "a:\n    let total = sums(items);\nb:\n        let total = sum(items);\n";
    literal(file, "    let total = sum(items);", "    let total = 1;");
    let file = "if a {\n\tx := T{\n\t\tWhen: &last,\n\t}\n}\nif b {\n\tif c {\n\t\tx := T{\n\t\t\tWhen: &recent,\n\t\t}\n\t}\n}\n";
    literal(file, "\t\tWhen: &recent,", "\t\tTime: &recent,");
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
fn text_that_is_there_once_is_replaced_within_a_word_or_a_number_too() {
    for (file, old) in [
        ("x = 10\n", "x = 1"),
        ("    x = 10\n", "x = 1"),
        ("y = unsafe_get(1) + 2\n", "safe_get(1)"),
        ("call(items)\n", "call(item"),
    ] {
        literal(file, old, "z = 3");
        check_all(file, old, "z = 3", &format!("exact: {}", file.replace(old, "z = 3")));
    }
    literal("x = 1.5\n", "x = 1.", "x = 2.");
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
