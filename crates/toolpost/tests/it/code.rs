//! The code tools with the real engine, as people, programs and MCP clients use them; and a cache that is shared, cut off,
//! damaged, of another version, or not there.

use crate::mcp::Connection;
use crate::terminal::typed_on_a_terminal;
use crate::{Home, Ran};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

const CARGO: &str = "[package]\nname = \"fixture\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
const LIB: &str = "\
//! A fixture.
mod reader;
mod writer;

pub use reader::Reader;

/// Reads everything.
pub fn read_all(reader: &Reader) -> usize {
    let writer = writer::Writer::new();
    writer.parse();
    reader.parse() + reader.parse()
}
";
const READER: &str = "\
/// Reads pages.
pub struct Reader {
    pub size: usize,
}

impl Reader {
    /// Parses a page.
    pub fn parse(&self) -> usize {
        self.size
    }
}
";
const WRITER: &str = "\
pub struct Writer;

impl Writer {
    pub fn new() -> Writer {
        Writer
    }

    pub fn parse(&self) {}
}
";

fn home() -> Home {
    let home = Home::new();
    home.write("repo/Cargo.toml", CARGO);
    home.write("repo/src/lib.rs", LIB);
    home.write("repo/src/reader.rs", READER);
    home.write("repo/src/writer.rs", WRITER);
    std::fs::remove_file(home.path("repo/src/main.rs")).unwrap();
    home
}

/// The uses of `Reader.parse`, as lines.
fn uses(home: &Home) -> Vec<String> {
    let (status, found) = home.json(&["refs", "Reader.parse"]);
    assert_eq!(status, 0, "{found}");
    assert_eq!(found["data"]["complete"], true, "{found}");
    let references = found["data"]["references"].as_array().unwrap().iter();
    references
        .map(|one| {
            format!("{}:{} {}", one["file"].as_str().unwrap(), one["line"], one["role"].as_str().unwrap())
        })
        .collect()
}

const USES: [&str; 3] = ["src/lib.rs:11 member", "src/lib.rs:11 member", "src/reader.rs:8 definition"];

/// The files of the cache.
fn kept(home: &Home) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![home.path(".cache/toolpost/code")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn refs_finds_uses_and_not_names() {
    let home = home();
    let ran = home.run(&["refs", "Reader.parse"]);
    let expected = "\
defined: method parse in Reader, src/reader.rs:8

src/lib.rs
11: reader.parse() + reader.parse()  [typed]

src/reader.rs
8: pub fn parse(&self) -> usize {
(3 references in 2 files)
";
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, expected, ""));
    assert_eq!(uses(&home), USES);
    let ran = home.run(&["refs", "parse", "--file", "src/lib.rs", "--line", "10"]);
    assert!(ran.stdout.contains("in Writer, src/writer.rs:8"), "{}", ran.stdout);
    let ran = home.run(&["refs", "Reader.parse", "--path", "src/lib.rs"]);
    assert!(!ran.stdout.contains("\nsrc/reader.rs\n"), "{}", ran.stdout);
}

#[test]
fn a_name_that_is_ambiguous_wrong_or_outside_is_explained() {
    let home = home();
    for (args, status, expected) in [
        (
            &["refs", "parse"][..],
            1,
            "error[AMBIGUOUS_MATCH]: `parse` may mean 2 definitions; name one by its file, also its line, or as \
             Type.name:\n  method parse in Reader, src/reader.rs:8\n  method parse in Writer, src/writer.rs:8\n",
        ),
        (&["refs", "parse"], 1, "\n`--file FILE`, if need be with `--line N`, tells which one is meant"),
        (&["refs", "Raeder"], 1, "error[NO_MATCH]: no symbol `Raeder`; nearest: `Reader` (src/reader.rs:2)"),
        (&["refs", "parse", "--file", "src/lob.rs"], 1, "nearest: `src/lib.rs`"),
        (&["refs", "parse", "--file", "../../x.rs"], 1, "PATH_ESCAPE"),
        (&["refs", "parse", "--file", "README.md"], 1, "is not in the index"),
        (&["refs", "parse", "--line", "3"], 2, "--file"),
        (&["map", "nowhere"], 1, "FILE_NOT_FOUND"),
        (&["graph", "--format", "png"], 2, "mermaid"),
        (&["call", "search_code", "query=fn ("], 2, "no language reads the pattern"),
    ] {
        let ran = home.run(args);
        assert_eq!(ran.status, status, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn map_and_graph_are_drawn() {
    let home = home();
    let ran = home.run(&["map"]);
    for part in ["src/reader.rs\n  pub struct Reader\n", "    pub fn parse(&self) -> usize\n"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert_eq!(ran.stderr, "");
    let (status, map) = home.json(&["map", "src", "--tokens", "100", "--focus", "Writer"]);
    assert_eq!(status, 0);
    assert!(map["data"]["tokens"].as_u64().unwrap() <= 100, "{map}");
    let (_, graph) = home.json(&["graph", "--level", "file", "--format", "json"]);
    let edges = graph["data"]["edges"].as_array().unwrap();
    let leads = |to: &str| edges.iter().any(|edge| edge["from"] == "src/lib.rs" && edge["to"] == to);
    assert!(leads("src/reader.rs"), "{graph}");
    let svg = home.run(&["graph", "--level", "file", "--format", "svg"]).stdout;
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(home.run(&["graph", "--level", "package"]).stdout.starts_with("graph LR\n"));
}

/// Every code tool answers from the same index, and over MCP like on the command line.
#[test]
fn all_seven_answer_over_mcp_too() {
    let home = home();
    let calls = [
        ("search_code", json!({"query": "pars"}), "8: pub fn parse(&self) -> usize  in Reader"),
        ("search_code", json!({"query": "$X.parse()", "language": "rust"}), "10: writer.parse();"),
        ("get_codebase_map", json!({}), "pub struct Reader"),
        ("get_symbol_info", json!({"symbol": "Reader"}), "| Reads pages."),
        ("get_imports_exports", json!({"file": "src/lib.rs"}), "-> src/reader.rs"),
        ("build_dependency_graph", json!({}), "\"from\":\"src/lib.rs\""),
        ("resolve_symbol", json!({"symbol": "parse", "file": "src/lib.rs", "line": 10}), "src/writer.rs:8"),
        ("find_references", json!({"symbol": "Writer"}), "src/lib.rs"),
    ];
    let mut connection = Connection::legacy(&home, &[], "2025-06-18", json!({}));
    for (number, (tool, args, expected)) in calls.iter().enumerate() {
        let answer = connection.call(u64::try_from(number).unwrap() + 10, tool, args.clone());
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(expected), "{tool} {args}: {answer}");
        let ran = home.run(&["call", tool, &args.to_string()]);
        assert_eq!((ran.status, ran.stdout.trim_end()), (0, text.trim_end()), "{tool} {args}");
    }
}

#[test]
fn an_edit_is_in_the_next_answer() {
    let home = home();
    assert_eq!(uses(&home), USES);
    let mut connection = Connection::legacy(&home, &[], "2025-06-18", json!({}));
    let count = |connection: &mut Connection, id: u64| {
        let answer = connection.call(id, "find_references", json!({"symbol": "Reader.parse"}));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert!(count(&mut connection, 10).contains("(3 references in 2 files)"));
    // Of the same size, and within the same moment.
    home.write(
        "repo/src/lib.rs",
        LIB.replace("reader.parse() + reader.parse()", "reader.parse() + reader.sizes()"),
    );
    assert!(count(&mut connection, 11).contains("(2 references in 2 files)"));
    home.write("repo/src/more.rs", "pub fn more(reader: &crate::Reader) -> usize {\n    reader.parse()\n}\n");
    home.write("repo/src/lib.rs", LIB.replace("mod reader;", "mod more;\nmod reader;"));
    assert!(count(&mut connection, 12).contains("(4 references in 3 files)"));
    std::fs::remove_file(home.path("repo/src/more.rs")).unwrap();
    assert!(count(&mut connection, 13).contains("(3 references in 2 files)"));
    home.write("repo/src/lib.rs", LIB);
    assert_eq!(uses(&home), USES);
}

#[test]
fn what_the_policy_hides_is_in_no_answer() {
    let home = home();
    assert!(home.run(&["refs", "Writer"]).stdout.contains("src/writer.rs"));
    home.write(
        "policy.toml",
        "[[rule]]\neffect = \"deny\"\naction = \"read\"\nresource = \"src/writer.rs\"\n",
    );
    let config = home.path("policy.toml").display().to_string();
    for args in [
        &["refs", "Reader.parse"][..],
        &["map"],
        &["graph", "--level", "file", "--format", "json"],
        &["call", "search_code", "query=Writer"],
        &["call", "search_code", "query=$X.parse()"],
        &["call", "get_imports_exports", "file=src/lib.rs"],
        &["call", "get_symbol_info", "symbol=parse"],
        &["call", "resolve_symbol", "{\"symbol\":\"parse\",\"file\":\"src/lib.rs\",\"line\":10}"],
    ] {
        let (_, found) = home.json(&[args, &["--config", &config]].concat());
        let mut text = found.to_string();
        // What `src/lib.rs` itself says may be shown.
        let own = ["mod writer", "writer::Writer::new", "writer.parse", "\"writer\"", "`writer`"];
        // So may the rule that hides.
        for own in own.into_iter().chain(["deny read: src/writer.rs"]) {
            text = text.replace(own, "");
        }
        assert!(!text.contains("writer.rs") && !text.contains("in Writer"), "{args:?}: {found}");
    }
}

/// Whatever is wrong with the cache, answers are right.
#[test]
fn a_cache_that_is_damaged_old_or_not_there_costs_time_only() {
    let home = home();
    // The index itself is kept once the times of its files tell whether they have changed.
    std::thread::sleep(Duration::from_millis(2_100));
    assert_eq!(uses(&home), USES);
    let files = kept(&home);
    assert!(files.len() >= 3, "{files:?}");
    // One bit of every file, at places all over it.
    for round in 0..6_usize {
        for (number, path) in kept(&home).iter().enumerate() {
            let mut bytes = std::fs::read(path).unwrap();
            if !bytes.is_empty() {
                let at = (bytes.len() * (round * 7 + number)) / 43 % bytes.len();
                bytes[at] ^= 1 << (round % 8);
                std::fs::write(path, bytes).unwrap();
            }
        }
        assert_eq!(uses(&home), USES, "round {round}");
    }
    for content in [&b""[..], b"v", &[0xff; 4096]] {
        kept(&home).iter().for_each(|path| std::fs::write(path, content).unwrap());
        assert_eq!(uses(&home), USES);
    }
    // Cut off in the middle.
    for path in kept(&home) {
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!(uses(&home), USES);
    // Each under the name of another.
    let files = kept(&home);
    let contents: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for (path, content) in files.iter().zip(contents.iter().cycle().skip(1)) {
        std::fs::write(path, content).unwrap();
    }
    assert_eq!(uses(&home), USES);
    std::fs::remove_dir_all(home.path(".cache")).unwrap();
    assert_eq!(uses(&home), USES);
    // Another version's folder is not read.
    let folder = home.path(".cache/toolpost/code");
    let own = std::fs::read_dir(&folder).unwrap().flatten().next().unwrap().path();
    std::fs::rename(&own, folder.join("v0-9.9.9")).unwrap();
    assert_eq!(uses(&home), USES);
    // Nothing can be kept at all.
    std::fs::remove_dir_all(home.path(".cache")).unwrap();
    home.write(".cache", "in the way");
    assert_eq!(uses(&home), USES);
}

/// Many files, so that indexing takes a while.
fn large(home: &Home, files: usize) {
    for number in 0..files {
        let body: String = (0..40)
            .map(|line| format!("pub fn made_{number}_{line}(reader: &crate::Reader) -> usize {{\n    reader.parse() + {line}\n}}\n\n"))
            .collect();
        home.write(&format!("repo/src/made/m{number}.rs"), body);
    }
    let modules: String = (0..files).map(|number| format!("pub mod m{number};\n")).collect();
    home.write("repo/src/made.rs", modules);
    home.write("repo/src/lib.rs", LIB.replace("mod reader;", "pub mod made;\nmod reader;"));
}

fn total(found: &Value) -> u64 {
    found["data"]["total"].as_u64().unwrap_or_else(|| panic!("{found}"))
}

#[test]
fn processes_that_are_killed_or_run_at_once_leave_right_answers() {
    let home = home();
    large(&home, 150);
    let expected = 150 * 40 + 3;
    for delay in [5, 20, 60, 120, 250, 400] {
        let mut child = home
            .command(["refs", "Reader.parse"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (_, found) = home.json(&["refs", "Reader.parse"]);
    assert_eq!((total(&found), &found["data"]["complete"]), (expected, &json!(true)));
    std::fs::remove_dir_all(home.path(".cache")).unwrap();
    let children: Vec<_> = (0..4)
        .map(|_| {
            home.command(["refs", "Reader.parse", "--json"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let (status, found) = Ran::of(child.wait_with_output().unwrap()).json();
        assert_eq!((status, total(&found)), (0, expected));
    }
    let (_, found) = home.json(&["refs", "Reader.parse"]);
    assert_eq!(total(&found), expected);
}

#[test]
fn a_call_without_time_answers_from_a_part_and_says_so() {
    let home = home();
    large(&home, 150);
    let (status, found) = home.json(&["call", "find_references", "symbol=Reader.parse", "--timeout", "60ms"]);
    match status {
        0 => {
            // The index was not made in time, or it was, and the search in it ended early.
            let note = found["data"]["note"].as_str().unwrap_or_default();
            let is_told =
                note.contains("the index is still being made") || note.contains("in the time there is");
            let is_complete = found["data"]["complete"] == true;
            assert!(is_complete || (is_told && found["output"].as_str().unwrap().contains(note)), "{found}");
        }
        4 => assert_eq!(found["error"]["code"], "TIMEOUT"),
        1 => assert_eq!(found["error"]["code"], "NO_MATCH"),
        other => panic!("{other}: {found}"),
    }
}

/// Files that nobody should have, and everybody does.
#[test]
fn odd_files_cost_nothing_but_themselves() {
    let home = home();
    home.write("repo/src/broken.rs", "fn ( { ]]] pub struct Reader impl \"never closed");
    home.write(
        "repo/src/latin.rs",
        b"// caf\xe9\npub fn latin(reader: &crate::Reader) -> usize { reader.parse() }\n",
    );
    home.write("repo/src/windows.rs", "\u{feff}pub fn windows() {}\r\n\r\npub fn second() {}\r\n");
    home.write("repo/src/picture.rs", b"\x89PNG\0\0\0\xff\xfe");
    home.write("repo/src/deep.rs", format!("fn deep() {{ {} }}", "(".repeat(20_000)));
    home.write("repo/src/long.rs", format!("const A: &str = \"{}\";", "x".repeat(3_000_000)));
    home.write("repo/src/huge.rs", "fn a() {}\n".repeat(600_000));
    home.write("repo/src/empty.rs", "");
    // Generated code of 100 MB, minified code, another language behind an extension, a submodule, and code of others.
    home.write("repo/src/generated.rs", "fn generated() {}\n");
    let generated = std::fs::OpenOptions::new().write(true).open(home.path("repo/src/generated.rs")).unwrap();
    generated.set_len(100 << 20).unwrap();
    home.write("repo/web/app.min.js", "function a(b){return b.parse()};".repeat(60_000));
    home.write("repo/src/wrong.py", "pub fn rust_in_python(reader: &Reader) -> usize { reader.parse() }\n");
    home.write("repo/sub/.git", "gitdir: ../.git/modules/sub\n");
    home.write("repo/sub/lib.rs", "pub struct InSubmodule;\n");
    home.write("repo/vendor/dep/src/lib.rs", "pub struct InVendor;\n");
    std::os::unix::fs::symlink("..", home.path("repo/src/up")).unwrap();
    std::os::unix::fs::symlink("/etc", home.path("repo/src/out")).unwrap();
    let (status, found) = home.json(&["refs", "Reader.parse"]);
    assert_eq!(status, 0, "{found}");
    let found = found.to_string();
    assert!(found.contains("2 files too large to be indexed: src/generated.rs, src/huge.rs"), "{found}");
    for name in ["InSubmodule", "InVendor"] {
        let (_, symbols) = home.json(&["call", "search_code", &format!("query={name}")]);
        assert_eq!(symbols["data"]["symbols"][0]["name"], name, "{symbols}");
    }
    let (_, symbols) = home.json(&["call", "search_code", "query=second"]);
    assert_eq!(symbols["data"]["symbols"][0]["line"], 3, "{symbols}");
}

#[test]
fn colours_are_for_terminals_and_names_cannot_fake_them() {
    let home = home();
    home.write(
        "repo/src/e\u{1b}[31mvil.rs",
        "pub fn evil(reader: &crate::Reader) -> usize {\n    reader.parse()\n}\n",
    );
    for args in [&["map"][..], &["refs", "Reader"], &["graph", "--level", "file"]] {
        let (status, seen) = typed_on_a_terminal(home.command(args), "");
        assert_eq!(status, 0, "{args:?}: {seen:?}");
        assert_eq!(seen.contains("\x1b[35m"), args[0] != "graph", "{args:?}: {seen:?}");
        assert!(!seen.contains("\x1b[31m"), "{args:?}: {seen:?}");
        let ran = home.run(args);
        assert!(!ran.stdout.contains("\x1b[35m") && ran.stderr.is_empty(), "{args:?}: {}", ran.stdout);
    }
}
