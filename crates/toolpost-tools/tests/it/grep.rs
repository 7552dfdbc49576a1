//! `grep`: which lines are found, how they are shown, what is held back, and odd files.

use super::glob::{SECRET_RULES, check_stopping, everywhere, secrets, touch, under};
use super::{call, code, data, disk, folder, memory, one_file, run, shown};
use crate::load::stretched;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_core::host::Redactor;
use toolpost_core::workspace::Overlay;
use toolpost_core::{Call, Context, Memory, Workspace, WorkspacePath};
use toolpost_disk::Disk;

const FIXTURE: &str = "\
//- .gitignore
/target
//- .hidden.rs
fn hidden() {}
//- src/main.rs
fn main() {
    let a = 1;
    helper(a);
}
//- src/helper.rs
// Helper
fn helper(a: i32) {
    println!(\"{}\", a); // costs $1.50 (a+b)
}
//- docs/guide.md
Call helper() first.
//- target/x.rs
fn made() {}
";

/// The text with its files in the order of their names.
fn sorted(text: &str) -> String {
    let (body, note) = match text.rfind("\n(") {
        Some(at) => text.split_at(at + 1),
        None => (text, ""),
    };
    let mut files: Vec<&str> = body.trim_end().split("\n\n").collect();
    files.sort_unstable();
    format!("{}\n{note}", files.join("\n\n"))
}

fn check(args: Value, expected: &str) {
    let (_folder, contexts) = everywhere(FIXTURE);
    for (place, ctx) in contexts {
        let shown = shown(&call(&ctx, "grep", args.clone()));
        let shown = if shown.starts_with('(') { shown } else { sorted(&shown) };
        assert_eq!(shown, expected, "{args} in {place}");
    }
}

#[test]
fn lines_are_shown_by_file() {
    check(
        json!({"pattern": "fn \\w+"}),
        "src/helper.rs\n2: fn helper(a: i32) {\n\nsrc/main.rs\n1: fn main() {\n",
    );
    check(json!({"pattern": "helper", "include": "*.md"}), "docs/guide.md\n1: Call helper() first.\n");
    check(
        json!({"pattern": "helper", "include": "!*.rs", "path": "."}),
        "docs/guide.md\n1: Call helper() first.\n",
    );
    check(
        json!({"pattern": "HELPER", "ignoreCase": true, "path": "src/main.rs"}),
        "src/main.rs\n3:     helper(a);\n",
    );
    check(
        json!({"pattern": "$1.50 (a+b)", "literal": true}),
        "src/helper.rs\n3:     println!(\"{}\", a); // costs $1.50 (a+b)\n",
    );
    check(
        json!({"pattern": "let a", "context": 1}),
        "src/main.rs\n1- fn main() {\n2:     let a = 1;\n3-     helper(a);\n",
    );
    check(
        json!({"pattern": "main|\\}$", "context": 0, "path": "src/main.rs"}),
        "src/main.rs\n1: fn main() {\n4: }\n",
    );
    check(
        json!({"pattern": "main\\(.*helper", "multiline": true}),
        "src/main.rs\n1: fn main() {\n2:     let a = 1;\n3:     helper(a);\n",
    );
    check(json!({"pattern": "made", "noIgnore": true}), "target/x.rs\n1: fn made() {}\n");
    check(json!({"pattern": "made", "path": "target"}), "target/x.rs\n1: fn made() {}\n");
    check(json!({"pattern": "made", "path": "target/x.rs"}), "target/x.rs\n1: fn made() {}\n");
    check(json!({"pattern": "hidden", "hidden": true}), ".hidden.rs\n1: fn hidden() {}\n");
    check(
        json!({"pattern": "nowhere"}),
        "(nothing matches; look further with ignoreCase=true, hidden=true or noIgnore=true)",
    );
}

#[test]
fn files_and_counts_instead_of_lines() {
    let (_folder, contexts) = everywhere(FIXTURE);
    for (place, ctx) in contexts {
        for (mode, expected) in [
            ("files", ["docs/guide.md", "src/helper.rs", "src/main.rs"]),
            ("count", ["docs/guide.md: 1", "src/helper.rs: 1", "src/main.rs: 1"]),
        ] {
            let outcome = call(&ctx, "grep", json!({"pattern": "helper\\(", "mode": mode}));
            let text = shown(&outcome);
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, expected, "{mode} in {place}");
            assert_eq!(data(&outcome)["files"].as_array().unwrap().len(), 3);
        }
    }
}

#[test]
fn lines_around_matches_need_lines() {
    let outcome =
        call(&memory(FIXTURE), "Grep", json!({"pattern": "helper", "-A": 1, "output_mode": "count"}));
    assert!(shown(&outcome).contains("no lines around the matches"), "{}", shown(&outcome));
    let outcome =
        call(&memory(FIXTURE), "Grep", json!({"pattern": "helper", "-A": 1, "output_mode": "content"}));
    assert!(!shown(&outcome).contains("no lines around"), "{}", shown(&outcome));
}

#[test]
fn data_has_lines_and_columns() {
    let outcome = call(&memory("//- a.txt\nä b\nb b\n"), "grep", json!({"pattern": "b", "context": 1}));
    let expected = json!({
        "files": [{"path": "a.txt", "lines": [
            {"line": 1, "column": 3, "text": "ä b"},
            {"line": 2, "column": 1, "text": "b b"},
        ]}],
        "truncated": false, "partial": false, "heldBack": 0, "unreadable": 0, "unsearched": [],
    });
    assert_eq!(*data(&outcome), expected);
}

#[test]
fn wrong_arguments_are_explained() {
    for (args, parts) in [
        (
            json!({"pattern": "foo("}),
            [
                "VALIDATION_ERROR: `pattern` is not a valid regular expression",
                "unclosed group",
                "literal=true",
            ],
        ),
        (json!({"pattern": "a{2,1}"}), ["VALIDATION_ERROR", "^", "literal=true"]),
        (json!({"pattern": "(?=x)"}), ["VALIDATION_ERROR", "looks around a match", "literal=true"]),
        (json!({"pattern": "a\\nb"}), ["VALIDATION_ERROR", "line", "multiline=true"]),
        (json!({"pattern": "a\nb", "literal": true}), ["VALIDATION_ERROR", "line", "multiline=true"]),
        (json!({"pattern": "x", "path": "scr"}), ["FILE_NOT_FOUND", "no file `scr`", "nearest: `src`"]),
        (
            json!({"pattern": "x", "include": "{a"}),
            ["VALIDATION_ERROR", "`include`", "not a valid name pattern"],
        ),
        (json!({"pattern": "x", "mode": "lines"}), ["VALIDATION_ERROR", "mode", "content"]),
        (json!({"pattern": ""}), ["VALIDATION_ERROR", "pattern", "1"]),
    ] {
        let shown = shown(&call(&memory(FIXTURE), "grep", args.clone()));
        for part in parts {
            assert!(shown.contains(part), "{args}: {part}: {shown}");
        }
    }
}

#[test]
fn other_names_have_their_own_arguments() {
    for (tool, args) in [
        (
            "Grep",
            json!({"pattern": "HELPER", "glob": "*.md", "output_mode": "content", "-i": true, "-n": true}),
        ),
        ("grep_search", json!({"pattern": "Helper", "include_pattern": "*.md", "case_sensitive": false})),
        ("search_file_content", json!({"pattern": "helper", "dir_path": "docs"})),
        ("grep_files", json!({"pattern": "helper", "include": "*.md"})),
    ] {
        let expected = "docs/guide.md\n1: Call helper() first.\n";
        assert_eq!(shown(&call(&memory(FIXTURE), tool, args)), expected, "{tool}");
    }
    let names =
        call(&memory(FIXTURE), "Grep", json!({"pattern": "Call", "output_mode": "files_with_matches"}));
    assert_eq!(shown(&names), "docs/guide.md\n");
}

#[test]
fn the_newest_files_fill_the_limit() {
    let folder = folder();
    for index in 0..50_u64 {
        let path = folder.path().join(format!("{index:02}.txt"));
        std::fs::write(&path, "hit\nmiss\nhit\n").unwrap();
        touch(&path, 1_000 + index);
    }
    let ctx = disk(folder.path());
    let outcome = call(&ctx, "grep", json!({"pattern": "hit", "limit": 3}));
    let expected = "49.txt\n1: hit\n3: hit\n\n48.txt\n1: hit\n(there may be more lines in older files; narrow `pattern`, `path` or `include`)";
    assert_eq!(shown(&outcome), expected);
    assert_eq!(data(&outcome)["truncated"], true);
    let outcome = call(&ctx, "grep", json!({"pattern": "hit", "limit": 100}));
    assert_eq!((data(&outcome)["truncated"].clone(), shown(&outcome).lines().count()), (json!(false), 199));
    let outcome = call(&ctx, "grep", json!({"pattern": "hit", "limit": 2, "mode": "count"}));
    assert!(
        shown(&outcome).starts_with("49.txt: 2\n48.txt: 2\n(there may be more files"),
        "{}",
        shown(&outcome)
    );
}

#[test]
fn encodings_binary_files_and_line_ends() {
    let utf_16: Vec<u8> = [0xfffe_u16.swap_bytes()]
        .into_iter()
        .chain("one\r\nneedle ü\r\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let big_endian: Vec<u8> =
        [0xfeff_u16].into_iter().chain("needle\n".encode_utf16()).flat_map(u16::to_be_bytes).collect();
    for (bytes, pattern, expected) in [
        (utf_16, "needle", "file\n2: needle ü\n"),
        (big_endian, "needle$", "file\n1: needle\n"),
        (b"\xef\xbb\xbfneedle\n".to_vec(), "^needle", "file\n1: needle\n"),
        (b"a\r\nneedle\r\n".to_vec(), "needle$", "file\n2: needle\n"),
        (b"caf\xe9 needle\n".to_vec(), "needle", "file\n1: caf\u{fffd} needle\n"),
        (b"needle without an end".to_vec(), "needle", "file\n1: needle without an end\n"),
        (b"needle\n\0binary".to_vec(), "binary", "IS_BINARY: `file` is not text"),
    ] {
        let shown =
            shown(&call(&one_file("file", &bytes), "grep", json!({"pattern": pattern, "path": "file"})));
        assert!(shown.starts_with(expected), "{shown}");
    }
    let ctx = one_file("file", b"\0\0needle\n");
    assert!(shown(&call(&ctx, "grep", json!({"pattern": "needle"}))).starts_with("(nothing matches"));
}

/// Small files are read at once, larger ones in pieces: what is found must not depend on it.
#[test]
fn a_file_of_any_size_is_searched_to_its_end() {
    for size in [7, 65_534, 65_535, 65_536, 65_537, 200_000] {
        let mut text = "a line\n".repeat(size / 7);
        text.truncate(size - 7);
        text.push_str("\nneedle");
        assert_eq!(text.len(), size);
        let number = text.matches('\n').count() + 1;
        let outcome = call(&one_file("file", text.as_bytes()), "grep", json!({"pattern": "needle"}));
        assert_eq!(shown(&outcome), format!("file\n{number}: needle\n"), "{size}");
        text.insert(0, '\0');
        let outcome = call(&one_file("file", text.as_bytes()), "grep", json!({"pattern": "needle"}));
        assert!(shown(&outcome).starts_with("(nothing matches"), "{size}: {}", shown(&outcome));
    }
    let outcome = call(&one_file("file", b""), "grep", json!({"pattern": "$"}));
    assert!(shown(&outcome).starts_with("(nothing matches"), "{}", shown(&outcome));
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let line = format!("{}needle{}\n", "a".repeat(1_000_000), "b".repeat(1_000_000));
    let ctx = one_file("file", line.as_bytes());
    let outcome = call(&ctx, "grep", json!({"pattern": "needle"}));
    let text = shown(&outcome);
    assert!(text.contains("aaneedlebb") && text.contains("1: …aa") && text.len() < 1_000, "{text}");
    assert!(text.ends_with("(1 long lines cut at 500 characters, marked …)"), "{text}");
    assert_eq!(data(&outcome)["files"][0]["lines"][0]["column"], 1_000_001);
}

#[test]
fn what_is_denied_or_asks_is_neither_opened_nor_shown() {
    let folder = secrets();
    let overlay = Overlay::over(Arc::new(Disk::open([folder.path()]).unwrap()));
    for ctx in [disk(folder.path()), Context::builder(Arc::new(overlay)).build()] {
        for mode in ["content", "files", "count"] {
            let call = Call::new("grep", json!({"pattern": "SECRET|open", "mode": mode, "noIgnore": true}));
            let outcome = run(under(&SECRET_RULES).run(&ctx, call));
            let text = shown(&outcome);
            assert!(
                !text.contains("SECRET") && text.contains("open.txt") && text.contains("fine.txt"),
                "{text}"
            );
            assert!(!data(&outcome).to_string().contains("private"), "{}", data(&outcome));
            let held_back = data(&outcome)["heldBack"].as_u64().unwrap();
            assert!(held_back >= 3 && text.contains("hidden by the policy"), "{text}");
            let touched = &outcome.metadata.files_accessed;
            assert!(
                !touched.iter().any(|name| name.contains("secret") || name.contains("private")),
                "{touched:?}"
            );
        }
        for path in
            ["secret.txt", "alias-a.txt", "deep/private", "alias-folder", "deep/alias-b.txt", "asked.txt"]
        {
            let call = Call::new("grep", json!({"pattern": "SECRET", "path": path}));
            let outcome = run(under(&SECRET_RULES).run(&ctx, call));
            let found = outcome.result.as_ref().map(|output| output.data["files"].clone());
            assert!(found.is_err() || found == Ok(json!([])), "{path}: {}", shown(&outcome));
        }
    }
}

#[test]
fn links_and_special_files_are_not_followed() {
    let folder = folder();
    let root = folder.path();
    std::fs::create_dir(root.join("dir")).unwrap();
    std::fs::write(root.join("dir/file"), "root:x:0 inside\n").unwrap();
    symlink("/etc/passwd", root.join("out")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    symlink("nowhere", root.join("dead")).unwrap();
    symlink("..", root.join("dir/loop")).unwrap();
    mkfifoat(CWD, root.join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let start = Instant::now();
    let outcome = call(&disk(root), "grep", json!({"pattern": "root:x:0", "noIgnore": true, "hidden": true}));
    assert_eq!(shown(&outcome), "dir/file\n1: root:x:0 inside\n");
    assert_eq!(code(&call(&disk(root), "grep", json!({"pattern": "x", "path": "fifo"}))), "NOT_A_FILE");
    assert_eq!(code(&call(&disk(root), "grep", json!({"pattern": "x", "path": "out"}))), "PATH_ESCAPE");
    assert!(start.elapsed() < stretched(Duration::from_secs(5)));
}

#[test]
fn a_short_time_gives_a_part_and_a_cancelled_call_nothing() {
    check_stopping("grep", &json!({"pattern": "x"}));
}

#[test]
fn guarantee_24_patterns_are_bounded() {
    let haystack = format!("{}!\n", "a".repeat(100_000)).repeat(20);
    let ctx = one_file("file", haystack.as_bytes());
    let mut slowest = Duration::ZERO;
    let names = "a".repeat(200);
    for args in [
        json!({"pattern": "(a+)+$"}),
        json!({"pattern": "(a|aa)+b"}),
        json!({"pattern": "(a*)*b"}),
        json!({"pattern": "(.*)*(.*)*(.*)*x"}),
        json!({"pattern": "a{0,1000}{0,1000}"}),
        json!({"pattern": "(?:(?:(?:a{1,100}){1,100}){1,100}){1,100}"}),
        json!({"pattern": "\\w{500}\\pL{500}x"}),
        json!({"pattern": "(?i)\\pL+\\pN{200}"}),
        json!({"pattern": "(".repeat(5_000)}),
        json!({"pattern": format!("{}{}", "(".repeat(5_000), ")".repeat(5_000))}),
        json!({"pattern": "a|".repeat(9_000)}),
        json!({"pattern": "[a-z]".repeat(4_000)}),
        json!({"pattern": "x".repeat(1 << 20)}),
        json!({"pattern": "a.*b.*c.*d", "multiline": true}),
        json!({"pattern": "a", "include": "{a,b}".repeat(300)}),
        json!({"pattern": "a", "include": "*a".repeat(900)}),
        json!({"pattern": "a", "include": "{".repeat(1_000)}),
        json!({"pattern": "a", "include": "**/".repeat(600)}),
        json!({"pattern": names, "ignoreCase": true}),
    ] {
        let start = Instant::now();
        let outcome = call(&ctx, "grep", args.clone());
        let took = start.elapsed();
        let code = outcome.result.as_ref().err().map(|error| error.code().as_str());
        assert!(took < stretched(Duration::from_secs(8)), "{args}: {took:?}");
        assert!(matches!(code, None | Some("VALIDATION_ERROR" | "SEARCH_ERROR")), "{}", shown(&outcome));
        assert!(shown(&outcome).len() < 60_000, "{}", shown(&outcome).len());
        slowest = slowest.max(took);
    }
    println!("measure: guarantee 24: 19 regex and glob bombs, the slowest {} ms", slowest.as_millis());
}

#[test]
fn a_cut_shows_no_part_of_a_secret() {
    let secret = "sk-0123456789abcdef";
    let redactor = Redactor::new([("KEY", secret)]);
    for gap in [0, 40, 101, 102, 110, 119, 120, 121, 370, 371, 380, 489, 490, 500] {
        for filling in ["x", "😀", "é"] {
            let memory = Memory::new();
            let (near, far) = (filling.repeat(gap), filling.repeat(3_000));
            let text = format!("{far}{secret}{near}MATCH{near}{secret}{far}\n");
            memory.write(&WorkspacePath::new("a.txt"), text.as_bytes()).unwrap();
            let ctx = Context::builder(Arc::new(memory)).redactor(redactor.clone()).build();
            let shown = call(&ctx, "grep", json!({"pattern": "MATCH"})).to_text();
            assert!(shown.contains("MATCH") || gap > 400, "{gap} of {filling}: {shown}");
            let bare = shown.replace("[redacted KEY]", "");
            assert!(!bare.contains("sk-") && !bare.contains("cdef"), "{gap} of {filling}: {shown}");
        }
    }
}

#[test]
fn context_stands_only_beside_what_is_shown() {
    let memory = Memory::new();
    memory.write(&WorkspacePath::new("a.txt"), b"1\nhit\n3\n4\n5\nhit\n7\n").unwrap();
    let ctx = Context::builder(Arc::new(memory)).build();
    let shown = call(&ctx, "grep", json!({"pattern": "hit", "context": 1, "limit": 1})).to_text();
    assert!(shown.contains("3") && !shown.contains("5"), "{shown}");
}

#[test]
fn what_is_not_searched_or_not_shown_is_said() {
    // Text with a NUL far behind its beginning.
    let late = format!("needle\n{}\0needle\n", "a line\n".repeat(20_000));
    let ctx = one_file("late.txt", late.as_bytes());
    for args in [json!({"pattern": "needle"}), json!({"pattern": "needle", "path": "late.txt"})] {
        let outcome = call(&ctx, "grep", args);
        assert_eq!(
            shown(&outcome),
            "late.txt\n1: needle\n(late.txt not searched to the end: a NUL byte or too long a line)"
        );
        assert_eq!(data(&outcome)["unsearched"], json!(["late.txt"]));
    }
    // More lines than the output holds, though the limit would let them through.
    let many = "a hit on a line of some length, so that not all of them are shown\n".repeat(2_000);
    let text = shown(&call(
        &one_file("many.txt", many.as_bytes()),
        "grep",
        json!({"pattern": "hit", "limit": 10_000}),
    ));
    let lines = text.lines().filter(|line| line.contains("a hit on")).count();
    assert!(lines > 400 && lines < 2_000, "{lines}");
    assert!(
        text.contains(&format!("({lines} of 2000 lines shown, which is what fits into the output")),
        "{lines}"
    );
}

#[test]
fn a_pattern_may_name_the_carriage_return_of_a_line() {
    let ctx = one_file("file", b"one\r\ntwo\r\nthree\n");
    for (pattern, expected) in [
        (r"two\r?$", "file\n2: two\n"),
        (r"three\r?$", "file\n3: three\n"),
        (r"o\r$", "file\n2: two\n"),
        ("two$", "file\n2: two\n"),
    ] {
        assert_eq!(shown(&call(&ctx, "grep", json!({ "pattern": pattern }))), expected, "{pattern}");
    }
}

#[test]
fn more_lines_of_one_file_are_counted() {
    let text: String = (0..3_000).map(|line| format!("hit {line}\n")).collect();
    let ctx = super::one_file("a.txt", text.as_bytes());
    for path in ["a.txt", "."] {
        let outcome = call(&ctx, "grep", json!({"pattern": "hit", "path": path, "limit": 10}));
        let shown = shown(&outcome);
        let note = "(10 of 3000 lines of this file shown; narrow `pattern`, `path` or `include`, or give a higher `limit`)";
        assert!(shown.ends_with(note), "{shown}");
        assert_eq!(data(&outcome)["truncated"], true);
    }
    let outcome = call(&ctx, "grep", json!({"pattern": "hit 1\\d\\d$", "limit": 200}));
    assert!(!shown(&outcome).contains("shown"), "{}", shown(&outcome));
}

#[test]
fn a_carriage_return_within_a_line_is_seen() {
    let ctx = super::one_file("a.txt", b"a\rb\r\nc\n");
    assert_eq!(shown(&call(&ctx, "grep", json!({"pattern": "a"}))), "a.txt\n1: a\u{240d}b\n");
}
