//! Answers of a server that stays are those of a process that begins with nothing, whatever was done to the files in
//! between: an edit made before the question is in the answer.

use crate::Home;
use crate::mcp::Connection;
use serde_json::json;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

const LIB: &str = "pub mod a;\npub mod b;\n\npub fn used() {}\n";
const CALLS: &str = "pub fn calls() {\n    crate::used();\n}\n";

/// After this long a file's time tells whether it has changed; before, it is read again each time, which hides mistakes.
const SETTLED: Duration = Duration::from_millis(2_100);

/// One thing that is done to the files.
type Change = (&'static str, fn(&Home));

const CHANGES: &[Change] = &[
    ("a file written", |home| {
        let calls = CALLS.replace("crate::used();", "crate::used(); crate::used();");
        home.write("repo/src/a.rs", format!("pub mod inner;\n{calls}"));
    }),
    ("the same size and time", |home| {
        let path = home.path("repo/src/b.rs");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, CALLS.replace("crate::used", "crate::usad")).unwrap();
        fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }),
    ("another file of the same size and time moved there", |home| {
        let (path, beside) = (home.path("repo/src/b.rs"), home.path("repo/src/b.new"));
        fs::write(&beside, CALLS).unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::File::open(&beside).unwrap().set_modified(time).unwrap();
        fs::rename(beside, path).unwrap();
    }),
    ("a file added", |home| home.write("repo/src/a/inner.rs", CALLS)),
    ("a folder replaced by another", |home| {
        home.write("repo/other/inner.rs", CALLS.repeat(2));
        fs::rename(home.path("repo/src/a"), home.path("repo/aside")).unwrap();
        fs::rename(home.path("repo/other"), home.path("repo/src/a")).unwrap();
    }),
    ("an ignore file written", |home| home.write("repo/.gitignore", "aside\nb.rs\n")),
    ("an ignore file changed in place", |home| home.write("repo/.gitignore", "aside\na.rs\n")),
    ("an ignore file removed", |home| fs::remove_file(home.path("repo/.gitignore")).unwrap()),
    ("a file removed", |home| fs::remove_file(home.path("repo/aside/inner.rs")).unwrap()),
    ("a file that cannot be read", |home| {
        fs::set_permissions(home.path("repo/src/b.rs"), fs::Permissions::from_mode(0o000)).unwrap();
    }),
    ("a file that can be read again", |home| {
        fs::set_permissions(home.path("repo/src/b.rs"), fs::Permissions::from_mode(0o644)).unwrap();
    }),
    ("a folder replaced by a link to it", |home| {
        fs::rename(home.path("repo/src/a"), home.path("repo/src/c")).unwrap();
        symlink("c", home.path("repo/src/a")).unwrap();
    }),
    ("a manifest changed", |home| {
        home.write("repo/Cargo.toml", "[package]\nname = \"other\"\nversion = \"1.0.0\"\n");
    }),
    ("a folder removed", |home| fs::remove_dir_all(home.path("repo/src/c")).unwrap()),
];

fn home() -> Home {
    let home = Home::new();
    home.write("repo/Cargo.toml", "[package]\nname = \"fixture\"\nversion = \"0.1.0\"\n");
    home.write("repo/src/lib.rs", LIB);
    home.write("repo/src/a.rs", format!("pub mod inner;\n{CALLS}"));
    home.write("repo/src/a/inner.rs", "");
    home.write("repo/src/b.rs", CALLS);
    fs::remove_file(home.path("repo/src/main.rs")).unwrap();
    home
}

/// The text of the answer of a process that finds nothing kept.
fn anew(home: &Home) -> String {
    let _ = fs::remove_dir_all(home.path(".cache"));
    let (status, found) = home.json(&["call", "find_references", "symbol=used", "file=src/lib.rs"]);
    assert_eq!(status, 0, "{found}");
    found["output"].as_str().unwrap().to_owned()
}

fn open(home: &Home) -> Connection {
    Connection::legacy(home, &[], "2025-11-25", json!({}))
}

/// The answer of the server; each question has a number of its own.
fn ask(server: &mut Connection, number: usize) -> String {
    let answer = server.call(number, "find_references", json!({"symbol": "used", "file": "src/lib.rs"}));
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_server_that_stays_sees_every_change() {
    let home = home();
    let mut server = open(&home);
    assert_eq!(ask(&mut server, 1), anew(&home), "at first");
    let mut answers = HashSet::new();
    for (number, (what, change)) in CHANGES.iter().enumerate() {
        change(&home);
        let answer = ask(&mut server, number + 2);
        assert_eq!(answer, anew(&home), "after {what}");
        answers.insert(answer);
    }
    assert!(answers.len() > 5, "the changes change the answer: {answers:?}");
}

#[test]
fn a_server_that_stays_sees_every_change_of_settled_files() {
    std::thread::scope(|scope| {
        for number in 0..CHANGES.len() {
            scope.spawn(move || {
                let home = home();
                CHANGES[..number].iter().for_each(|(_, change)| change(&home));
                std::thread::sleep(SETTLED);
                let mut server = open(&home);
                // The first question lists the folders, the second finds them as they were.
                assert_eq!(ask(&mut server, 1), ask(&mut server, 2));
                let (what, change) = CHANGES[number];
                change(&home);
                assert_eq!(ask(&mut server, 3), anew(&home), "after {what}");
            });
        }
    });
}
