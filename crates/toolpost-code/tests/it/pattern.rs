//! Code by its form.

use toolpost_code::answers::pattern::Pattern;
use toolpost_code::languages;

fn check(path: &str, pattern: &str, source: &str, expected: &[&str]) {
    let languages = languages::all();
    let language = languages[usize::from(languages::of_path(&languages, path).expect("a language"))];
    let pattern = Pattern::new(language, path, pattern).expect("a pattern");
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&language.grammar(path)).expect("a grammar");
    let tree = parser.parse(source, None).expect("a tree");
    let matches = pattern.matches(source.as_bytes(), &tree, 100);
    let shown: Vec<&str> = matches.iter().map(|found| &source[found.start..found.end]).collect();
    assert_eq!(shown, expected, "{:?}", pattern.words());
}

#[test]
fn finds_forms() {
    check(
        "a.go",
        "foo($X)",
        "package p\nfunc f() { foo(1); bar(foo(g(2))); foo(1, 2) }",
        &["foo(1)", "foo(g(2))"],
    );
    check(
        "a.go",
        "foo($$$)",
        "package p\nfunc f() { foo(1); foo(1, 2); foo() }",
        &["foo(1)", "foo(1, 2)", "foo()"],
    );
    check("a.go", "$X == $X", "package p\nvar _ = a == b || c.d == c.d", &["c.d == c.d"]);
    check(
        "a.go",
        "if err != nil { $$$ }",
        "package p\nfunc f() { if err != nil { return\n } }",
        &["if err != nil { return\n }"],
    );
    check("a.rs", "$X.unwrap()", "fn f() { a.b().unwrap(); c.expect(\"\"); }", &["a.b().unwrap()"]);
    check("a.rs", "fn $NAME() { $$$ }", "fn a() { x(); }\nfn b(y: u8) {}", &["fn a() { x(); }"]);
    check(
        "a.py",
        "print($X, file=$F)",
        "print(1)\nprint(2, file=sys.stderr)\n",
        &["print(2, file=sys.stderr)"],
    );
}

#[test]
fn refuses_what_is_no_code() {
    let languages = languages::all();
    let go = languages[usize::from(languages::of_path(&languages, "a.go").expect("go"))];
    let refused = |text: &str| Pattern::new(go, "a.go", text).err().unwrap_or_default();
    assert!(refused("if (((").contains("is not valid go"), "{}", refused("if ((("));
    assert!(refused(" ").contains("empty"));
    assert!(refused("$X").contains("nothing but a placeholder"));
}
