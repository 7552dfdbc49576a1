//! Places in code as people and models name them: lines of imports, columns in characters, exported names; and what an
//! answer says of files that it does not have.

use crate::Home;
use serde_json::{Value, json};

const CORE: &str = "def run(x):\n    return x\n";
const INIT: &str = "from .core import run as launch\n";
const MAIN: &str = "import os\nfrom pkg import launch as fire\nw = \"\u{e9}\u{e9}\"; fire(1); fire(os)\n";

fn home() -> Home {
    let home = Home::new();
    std::fs::remove_file(home.path("repo/src/main.rs")).unwrap();
    home.write("repo/pkg/core.py", CORE);
    home.write("repo/pkg/__init__.py", INIT);
    home.write("repo/main.py", MAIN);
    home
}

fn ask(home: &Home, tool: &str, args: &Value) -> Value {
    home.json(&["call", tool, &args.to_string()]).1
}

/// The places of references, as `file:line:column`.
fn places(found: &Value) -> Vec<String> {
    let references = found["data"]["references"].as_array().unwrap_or_else(|| panic!("{found}"));
    references
        .iter()
        .map(|one| format!("{}:{}:{}", one["file"].as_str().unwrap(), one["line"], one["column"]))
        .collect()
}

const USES: [&str; 6] = [
    "main.py:2:17",
    "main.py:2:27",
    "main.py:3:11",
    "main.py:3:20",
    "pkg/__init__.py:1:19",
    "pkg/core.py:1:5",
];

#[test]
fn the_line_of_an_import_is_a_place_like_any_other() {
    let home = home();
    for args in [
        json!({"symbol": "run"}),
        json!({"symbol": "launch"}),
        json!({"symbol": "pkg.launch"}),
        json!({"symbol": "fire", "file": "main.py", "line": 2}),
        json!({"symbol": "launch", "file": "main.py", "line": 2, "column": 17}),
        json!({"symbol": "fire", "file": "main.py", "line": 3, "column": 11}),
        json!({"symbol": "launch", "file": "pkg/__init__.py", "line": 1}),
        json!({"symbol": "run", "file": "pkg/__init__.py", "line": 1}),
    ] {
        let found = ask(&home, "find_references", &args);
        let mut places = places(&found);
        places.retain(|place| place != "pkg/__init__.py:1:26");
        assert_eq!(places, USES, "{args}");
        assert_eq!(found["data"]["complete"], true, "{args}: {found}");
    }
    let found = ask(&home, "find_references", &json!({"symbol": "os", "file": "main.py", "line": 1}));
    assert_eq!(places(&found), ["main.py:1:8", "main.py:3:25"]);
    assert!(found["data"]["note"].as_str().unwrap().contains("defined outside of the workspace"), "{found}");
}

#[test]
fn columns_count_characters_and_a_wrong_one_is_not_passed_over() {
    let home = home();
    home.write("repo/mark.py", "\u{feff}def first(): pass\n");
    let found = ask(&home, "find_references", &json!({"symbol": "first"}));
    assert_eq!(places(&found), ["mark.py:1:5"]);
    let one = |column: u32| json!({"symbol": "fire", "file": "main.py", "line": 3, "column": column});
    let found = ask(&home, "resolve_symbol", &one(11));
    assert_eq!(found["data"]["definition"]["file"], "pkg/core.py", "{found}");
    for (args, expected) in [
        (one(2), "`fire` does not stand at main.py:3:2; the line has `fire` (column 11), `fire` (column 20)"),
        (
            json!({"symbol": "nope", "file": "main.py", "line": 1, "column": 8}),
            "`nope` does not stand at main.py:1:8; the line has `os` (column 8)",
        ),
        (json!({"symbol": "nope", "file": "main.py", "line": 90}), "`main.py` has 4 lines"),
    ] {
        for tool in ["find_references", "resolve_symbol"] {
            let found = ask(&home, tool, &args);
            assert!(found["error"]["message"].as_str().unwrap().contains(expected), "{tool} {args}: {found}");
        }
    }
    let found =
        ask(&home, "resolve_symbol", &json!({"symbol": "w", "file": "main.py", "line": 3, "column": 9}));
    assert_eq!(found["data"]["note"], "`w` does not stand at main.py:3:9 but in column 1", "{found}");
}

#[test]
fn a_module_is_its_file() {
    let home = Home::new();
    home.write("repo/Cargo.toml", "[package]\nname = \"fixture\"\nversion = \"0.1.0\"\n");
    home.write("repo/src/lib.rs", "mod inner;\npub use inner::One;\n");
    home.write("repo/src/inner.rs", "pub struct One;\n");
    let found = ask(&home, "resolve_symbol", &json!({"symbol": "inner", "file": "src/lib.rs", "line": 2}));
    let definition = &found["data"]["definition"];
    assert_eq!((&definition["file"], &definition["line"]), (&json!("src/inner.rs"), &json!(1)), "{found}");
}

#[test]
fn what_an_answer_does_not_have_is_said() {
    let home = home();
    home.write("repo/broken.py", "def bad(x:\n    return run(\n");
    home.write("repo/other.py", "def ( unrelated\n");
    home.write("repo/big.py", "def lost(): pass\n".repeat(300_000));
    let found = ask(&home, "find_references", &json!({"symbol": "run"}));
    let note = found["data"]["note"].as_str().unwrap_or_default();
    assert_eq!(found["data"]["complete"], false, "{found}");
    assert!(note.contains("1 file could not be parsed completely: broken.py:1"), "{note}");
    assert!(note.contains("1 file too large to be indexed: big.py"), "{note}");
    let found = ask(&home, "find_references", &json!({"symbol": "lost"}));
    let told = found["error"]["message"].as_str().unwrap();
    assert!(told.contains("big.py") && told.contains("broken.py"), "{told}");
    let found = ask(&home, "resolve_symbol", &json!({"symbol": "lost", "file": "big.py"}));
    assert!(found["error"]["message"].as_str().unwrap().contains("is too large to be indexed"), "{found}");
}

#[test]
fn what_is_hidden_is_counted_and_not_named() {
    let home = home();
    home.write("repo/secret/vault.py", "def run2(): pass\n");
    home.write("repo/keys/k.py", "def key(): pass\n");
    home.write("repo/node_modules/q/i.js", "export function quux() {}\n");
    home.write(
        "policy.toml",
        "[[rule]]\neffect = \"deny\"\naction = \"read\"\nresource = \"/secret/**\"\n\
         [[rule]]\neffect = \"deny\"\naction = \"read\"\nresource = \"/keys\"\n",
    );
    let config = home.path("policy.toml").display().to_string();
    for args in [
        &["refs", "run"][..],
        &["map"],
        &["call", "search_code", "query=run"],
        &["call", "get_symbol_info", "symbol=run"],
        &["call", "get_imports_exports", "file=main.py"],
        &["call", "resolve_symbol", "symbol=fire", "file=main.py"],
        &["graph", "--format", "json"],
    ] {
        let (_, found) = home.json(&[args, &["--config", &config]].concat());
        assert_eq!(found["data"]["heldBack"], 2, "{args:?}: {found}");
        let text = found.to_string().replace("/secret/**", "").replace("/keys (", "");
        assert!(!text.contains("secret") && !text.contains("vault") && !text.contains("k.py"), "{found}");
    }
    let (_, found) = home.json(&["call", "get_project_overview", "--config", &config]);
    let text = found["output"].as_str().unwrap().replace("/secret/**", "").replace("/keys (", "");
    assert!(!text.contains("secret") && !text.contains("keys/"), "{text}");
    let (_, found) = home.json(&["call", "search_code", "query=quux"]);
    assert_eq!(found["data"]["symbols"], json!([]), "folders of dependencies are not indexed");
}

#[test]
fn what_is_hidden_may_be_what_is_missing() {
    let home = home();
    home.write("repo/vault.py", "def open_it(): pass\n");
    home.write("repo/user.py", "import vault\nfrom vault import open_it\nvault.open_it()\n");
    home.write("policy.toml", "[[rule]]\neffect = \"deny\"\naction = \"read\"\nresource = \"/vault.py\"\n");
    let config = home.path("policy.toml").display().to_string();
    let plain = ["call", "find_references", "symbol=run"];
    assert_eq!(home.json(&plain).1["data"]["complete"], true);
    for args in [
        &["call", "find_references", "symbol=run"][..],
        &["call", "search_code", "query=run"],
        &["call", "get_symbol_info", "symbol=run"],
        &["call", "get_codebase_map"],
        &["graph", "--format", "json"],
        &["call", "resolve_symbol", "symbol=open_it", "file=user.py", "line=2"],
        &["call", "resolve_symbol", "symbol=vault", "file=user.py", "line=1"],
    ] {
        let (_, found) = home.json(&[args, &["--config", &config]].concat());
        assert_eq!(found["data"]["complete"], false, "{args:?}: {found}");
        assert_eq!(found["data"]["heldBack"], 1, "{args:?}: {found}");
        let text = found["output"].as_str().unwrap_or_default();
        assert!(!text.contains("outside of the workspace:"), "{args:?}: {text}");
    }
}

#[test]
fn what_git_ignores_may_be_what_is_missing() {
    let home = home();
    let complete = |args: &[&str]| home.json(args).1["data"]["complete"].clone();
    let asked = ["call", "find_references", "symbol=run"];
    home.write("repo/.gitignore", "/made\n/cache\n/one.py\nnode_modules\n/old\n");
    home.write("repo/node_modules/q/i.js", "export function quux() {}\n");
    home.write("repo/cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    home.write("repo/cache/built.py", "run()\n");
    home.write("repo/made/notes.txt", "run\n");
    assert_eq!(complete(&asked), true, "no code is ignored");
    home.write("repo/made/deep/more.py", "from pkg.core import run\nrun()\n");
    let (_, found) = home.json(&asked);
    assert_eq!(found["data"]["complete"], false, "{found}");
    assert!(found["output"].as_str().unwrap().contains("git ignores"), "{found}");
    std::fs::remove_dir_all(home.path("repo/made")).unwrap();
    assert_eq!(complete(&asked), true);
    home.write("repo/one.py", "def lonely(): pass\n");
    home.write("repo/user.py", "import os\nfrom one import lonely\nlonely()\nos.getcwd()\n");
    assert_eq!(complete(&asked), false);
    let (_, found) = home.json(&["call", "resolve_symbol", "symbol=lonely", "file=user.py", "line=3"]);
    let text = found["output"].as_str().unwrap_or_default();
    assert!(!text.contains("outside of the workspace:") && text.contains("git ignores"), "{found}");
    let (_, found) = home.json(&["call", "resolve_symbol", "symbol=os", "file=user.py", "line=4"]);
    assert!(found["output"].as_str().unwrap().contains("outside of the workspace: os"), "{found}");
    home.write("repo/.gitignore", "node_modules\n/cache\n");
    assert_eq!(complete(&asked), true, "it is not ignored any more");
}

#[test]
fn a_module_that_is_named_like_a_type_is_not_the_type() {
    let home = home();
    home.write("repo/reader.py", "class Reader:\n    def parse(self): pass\n\ndef parse(): pass\n");
    let line = |symbol: &str| {
        let (_, found) = home.json(&["call", "find_references", &format!("symbol={symbol}")]);
        found["data"]["definitions"]
            .as_array()
            .map(|all| all.iter().map(|one| one["line"].clone()).collect::<Vec<_>>())
    };
    assert_eq!(line("Reader.parse"), Some(vec![json!(2)]));
    assert_eq!(line("reader.parse"), Some(vec![json!(4)]));
    home.write("repo/Loud.py", "def shout(): pass\n");
    assert_eq!(line("loud.shout"), Some(vec![json!(1)]), "any case, where nothing else is meant");
}

#[test]
fn why_a_use_is_only_possible_is_told() {
    let home = home();
    let output = || {
        let (_, found) = home.json(&["call", "find_references", "symbol=lonely"]);
        assert_eq!(found["data"]["complete"], false, "{found}");
        found["output"].as_str().unwrap().to_owned()
    };
    home.write("repo/lonely.py", "def lonely(): pass\n");
    let deep = format!("x = {}lonely{}\n", "[".repeat(900), "]".repeat(900));
    home.write("repo/deep.py", &deep);
    assert!(
        output()
            .contains("possible (1), because the code around it cannot be parsed, or is nested too deeply:")
    );
    std::fs::remove_file(home.path("repo/deep.py")).unwrap();
    home.write("repo/lost.py", "from pkg.gone import lonely\n");
    assert!(output().contains("possible (1), because it could not be resolved:"), "{}", output());
}

#[test]
fn an_import_has_the_role_of_one() {
    let home = home();
    let found = ask(&home, "find_references", &json!({"symbol": "run"}));
    let role = |place: &str| {
        let all = found["data"]["references"].as_array().unwrap();
        let one =
            all.iter().find(|one| format!("{}:{}", one["file"].as_str().unwrap(), one["line"]) == place);
        one.map(|one| one["role"].clone()).unwrap_or_else(|| panic!("{place}: {found}"))
    };
    assert_eq!(role("pkg/core.py:1"), "definition");
    assert_eq!(role("main.py:2"), "import");
}

#[test]
fn words_that_mean_nothing_are_refused() {
    let home = home();
    for (tool, args, expected) in [
        (
            "search_code",
            json!({"query": "run", "kind": "functoin"}),
            "no kind `functoin` is known; nearest: `function`",
        ),
        (
            "search_code",
            json!({"query": "run", "language": "cobol"}),
            "no language `cobol` is known; known: go, rust",
        ),
        ("search_code", json!({"query": "run($X)", "language": "cobol"}), "no language `cobol` is known"),
        ("get_codebase_map", json!({"focus": ["nowhere.py"]}), "focus names no file or symbol that is known"),
    ] {
        let found = ask(&home, tool, &args);
        assert!(found["error"]["message"].as_str().unwrap_or_default().contains(expected), "{args}: {found}");
    }
    let found = ask(&home, "get_codebase_map", &json!({"focus": ["nowhere.py", "run"]}));
    assert_eq!(found["data"]["note"], "nothing is known of `nowhere.py`", "{found}");
}

#[test]
fn pipes_among_the_files_are_not_waited_for() {
    let home = home();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    for name in ["repo/pipe.py", "repo/go.mod", "repo/package.json", "repo/tsconfig.json"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, home.path(name), mode).unwrap();
    }
    let found = ask(&home, "find_references", &json!({"symbol": "run"}));
    assert_eq!(found["data"]["total"], 7, "{found}");
    for tool in ["detect_project_type", "extract_conventions", "get_project_overview", "get_codebase_map"] {
        let (status, found) = home.json(&["call", tool]);
        assert_eq!(status, 0, "{tool}: {found}");
    }
}
