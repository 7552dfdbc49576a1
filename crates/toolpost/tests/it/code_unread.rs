//! Code in languages that are not read: what may be used there makes an answer incomplete, and the tools say first what they
//! do not read.

use crate::Home;
use serde_json::Value;

const CORE: &str = "export function launch(x: number) { return x }\nexport class MyBox {}\nfunction inner(p: number) { return p }\n";

fn home(files: &[(&str, &str)]) -> Home {
    let home = Home::new();
    std::fs::remove_file(home.path("repo/src/main.rs")).unwrap();
    for (name, text) in files {
        home.write(&format!("repo/{name}"), text);
    }
    home
}

fn refs(home: &Home, symbol: &str) -> Value {
    home.json(&["call", "find_references", &format!("symbol={symbol}")]).1
}

#[test]
fn a_use_in_a_file_that_is_not_read_makes_an_answer_incomplete() {
    let home = home(&[("core.ts", CORE)]);
    let whole = |symbol: &str| refs(&home, symbol)["data"]["complete"].clone();
    assert_eq!(whole("launch"), true);
    for (name, text) in [
        ("App.vue", "<script setup>\nimport { launch } from './core'\n</script>\n"),
        ("App.svelte", "<script>launch(1)</script>"),
        ("deep/page.astro", "---\nlaunch()\n---\n"),
        ("note.ipynb", "{\"cells\": [{\"source\": [\"a()\\nlaunch()\"]}]}"),
        ("Main.java", "class Main { void f() { core.launch(); } }"),
        ("a.c", "int launch(void);"),
        ("a.unheard", "x = launch\n"),
        ("run", "#!/usr/bin/env python3\nlaunch()\n"),
        ("page.html", "<button onclick=\"launch()\">"),
        ("setup.cfg", "[entry]\nrun = package.core:launch\n"),
    ] {
        home.write(&format!("repo/{name}"), text);
        let found = refs(&home, "launch");
        assert_eq!(found["data"]["complete"], false, "{name}: {found}");
        assert!(found["output"].as_str().unwrap().contains(name), "{name}: {found}");
        assert_eq!(whole("MyBox"), true, "{name}");
        std::fs::remove_file(home.path(&format!("repo/{name}"))).unwrap();
        assert_eq!(whole("launch"), true, "without {name}");
    }
    // Prose, pictures, settings with a word of their own, and parts of words.
    home.write("repo/README.md", "`launch` starts it\n");
    home.write("repo/settings.json", "{\"launch\": true}\n");
    home.write("repo/logo.png", "launch");
    home.write("repo/more.java", "class More { void relaunch() {} int p; }\n");
    home.write("repo/LICENSE", "launch\n");
    assert_eq!(whole("launch"), true);
    home.write("repo/Box.vue", "<template><my-box/></template>\n");
    assert_eq!(whole("MyBox"), false, "a page writes names with dashes");
    let found = home.json(&["call", "find_references", "symbol=p", "file=core.ts", "line=3"]).1;
    assert_eq!(found["data"]["complete"], true, "a parameter is used nowhere else: {found}");
    let found = home.json(&["call", "get_symbol_info", "symbol=MyBox"]).1;
    assert_eq!(found["data"]["complete"], false, "{found}");
    for args in [
        &["call", "get_codebase_map"][..],
        &["call", "search_code", "query=MyBox"],
        &["graph", "--format", "json"],
    ] {
        let found = home.json(args).1;
        assert_eq!(found["data"]["complete"], false, "{found}");
        assert!(found["output"].as_str().unwrap().contains("Box.vue"), "{args:?}: {found}");
    }
    let found = home.json(&["call", "search_code", "query=MyBox", "language=typescript"]).1;
    assert_eq!(found["data"]["complete"], true, "{found}");
}

#[test]
fn what_a_file_imports_may_be_in_one_that_is_not_read() {
    let home = home(&[(
        "core.ts",
        "import Panel from './Panel.vue'\nimport fs from 'fs'\nPanel.open()\nfs.read()\n",
    )]);
    home.write("repo/Panel.vue", "<template/>\n");
    let resolved = |name: &str, line: u32| {
        home.json(&[
            "call",
            "resolve_symbol",
            &format!("symbol={name}"),
            "file=core.ts",
            &format!("line={line}"),
        ])
        .1
    };
    let found = resolved("Panel", 3);
    assert_eq!(found["data"]["complete"], false, "{found}");
    assert_eq!(resolved("fs", 4)["data"]["complete"], true);
}

#[test]
fn tools_say_first_what_they_do_not_read() {
    let home = home(&[("src/Main.java", "class Main {}\n"), ("src/Other.kt", "class Other\n")]);
    let first = "the code here is in languages that are not read (Java: 1, Kotlin: 1); read are go, rust, python, typescript";
    for args in [&["call", "search_code", "query=Main"][..], &["call", "get_codebase_map"]] {
        let (_, found) = home.json(args);
        let text = found["output"].as_str().unwrap_or_default();
        assert!(text.starts_with(first), "{args:?}: {found}");
    }
    let (status, found) = home.json(&["call", "find_references", "symbol=Main"]);
    assert_eq!(status, 1);
    assert!(found["error"]["message"].as_str().unwrap().starts_with(first), "{found}");
    let (_, found) = home.json(&["call", "get_imports_exports", "filePath=src/Main.java"]);
    assert!(found["error"]["message"].as_str().unwrap().contains("is in Java, which is not read"), "{found}");
    home.write("repo/a.py", "def run(): pass\n");
    let (_, found) = home.json(&["call", "search_code", "query=run"]);
    assert!(found["output"].as_str().unwrap().starts_with("most of the code here is in"), "{found}");
    let (_, found) = home.json(&["call", "search_code", "query=run", "path=a.py"]);
    assert!(found["output"].as_str().unwrap().starts_with("a.py\n"), "{found}");
}

#[test]
fn code_in_folders_with_a_dot_is_read() {
    let home = home(&[
        ("core.ts", CORE),
        (".storybook/preview.ts", "import { launch } from '../core'\nlaunch(1)\n"),
    ]);
    home.write("repo/.eslintrc.js", "const { launch } = require('./core')\n");
    home.write("repo/.cache/made.ts", "import { launch } from '../core'\nlaunch(1)\n");
    let found = refs(&home, "launch");
    let text = found["output"].as_str().unwrap();
    assert!(text.contains(".storybook/preview.ts") && text.contains(".eslintrc.js"), "{text}");
    assert!(!text.contains(".cache"), "{text}");
}

#[test]
fn a_container_is_looked_at_before_any_cut() {
    let mut text = String::from("package a\n");
    for number in 0..2_300 {
        text.push_str(&format!(
            "type T{number} struct{{}}\nfunc (t *T{number}) DeepCopy() *T{number} {{ return t }}\n"
        ));
    }
    text.push_str("type Foo struct{}\nfunc (f *Foo) DeepCopy() *Foo { return f }\n");
    let home = home(&[("go.mod", "module example.com/a\n"), ("a.go", &text)]);
    let found = refs(&home, "Foo.DeepCopy");
    assert_eq!(found["data"]["definitions"][0]["container"], "Foo", "{found}");
    let (_, found) = home.json(&["call", "search_code", "query=Foo.DeepCopy"]);
    assert_eq!(found["data"]["symbols"][0]["container"], "Foo", "{found}");
}

#[test]
fn a_loop_has_no_symbols() {
    let home = home(&[("a.py", "for turn in range(3):\n    print(turn)\ndef run(): pass\nrun()\n")]);
    home.write("repo/b.ts", "for (let step = 0; step < 3; step++) go(step)\nfor (const one of all) go(one)\nexport function go(n: number) {}\n");
    let found = home.json(&["map"]).1;
    let text = found["output"].as_str().unwrap();
    assert!(!text.contains("turn") && !text.contains("step") && !text.contains("one"), "{text}");
    assert!(text.contains("run") && text.contains("go"), "{text}");
}

#[test]
fn broken_files_are_named_with_their_line() {
    let home = home(&[("a.py", "def run(): pass\n"), ("b.py", "x = 1\ny = 2\ndef (:\n")]);
    let found = home.json(&["map"]).1;
    assert!(found["output"].as_str().unwrap().contains("b.py:3"), "{found}");
}
