//! `[[languageServer]]`: its errors come with changes, only after trust where a project names it, and mistakes are located.

use crate::Home;

const SERVER: &str = include_str!("../../../toolpost-tools/tests/it/diagnostics/server.mjs");

const CONFIG: &str = "[[languageServer]]\ncommand = \"node\"\nargs = [\"server.mjs\", \"asked\"]\nfiles = [\"*.x\"]\ntime = \"60s\"\n";

const ERROR: &str = "1 new error in a.x, by node:\n1:1: bad thing: one [B1]\n";

/// What a change that brings an error says.
fn change(home: &Home) -> String {
    home.write("repo/a.x", "good\n");
    let ran = home.run(&["call", "edit", "filePath=a.x", "oldString=good", "newString=BAD one"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(home.path("repo/a.x")).unwrap(), "BAD one\n");
    ran.stdout + &ran.stderr
}

#[test]
fn a_server_of_a_project_waits_for_trust() {
    let home = Home::new();
    home.write("repo/server.mjs", SERVER);
    assert!(!change(&home).contains("by node"));
    home.write("repo/.toolpost/config.toml", CONFIG);
    let said = change(&home);
    assert!(
        !said.contains("by node:") && said.contains("runs the language server `node server.mjs asked`"),
        "{said}"
    );
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    let said = change(&home);
    assert!(said.contains(ERROR), "{said}");
    // Another program than the trusted one is not started.
    home.write("repo/server.mjs", format!("{SERVER}// other\n"));
    let said = change(&home);
    assert!(
        !said.contains(ERROR) && said.contains("`server.mjs`") && said.contains("toolpost trust"),
        "{said}"
    );
}

#[test]
fn a_server_of_the_user_is_started() {
    let home = Home::new();
    home.write("repo/server.mjs", SERVER);
    home.write(".config/toolpost/config.toml", CONFIG);
    let said = change(&home);
    assert!(said.contains(ERROR), "{said}");
    // A dry run asks nobody.
    home.write("repo/a.x", "good\n");
    let ran = home.run(&["call", "edit", "filePath=a.x", "oldString=good", "newString=BAD one", "--dry-run"]);
    assert!(ran.status == 0 && !ran.stdout.contains("by node"), "{}", ran.stdout);
}

#[test]
fn mistakes_are_located() {
    for (text, expected) in [
        (
            "languageServer = 7\n",
            "config.toml:1:18: `languageServer` is a whole number; write each as a table under",
        ),
        ("[[languageServer]]\nfiles = ['*.x']\n", "`command` is missing"),
        ("[[languageServer]]\ncommand = 'x'\n", "looks at no files"),
        (
            "[[languageServer]]\ncommand = 'x'\nlanguages = ['pyhton']\n",
            "config.toml:3:13: `pyhton` is no known language; did you mean `python`",
        ),
        ("[[languageServer]]\ncommand = 'x'\nfiles = ['[']\n", "config.toml:3:9: `[` is no glob"),
        ("[[languageServer]]\ncommand = 'x'\nfiles = '*.x'\n", "write a list of texts"),
        (
            "[[languageServer]]\ncomand = 'x'\n",
            "config.toml:2:1: `comand` means nothing in a language server; did you mean `command`",
        ),
        ("[[languageServer]]\ncommand = 'x'\nfiles = ['*.x']\ntime = 'soon'\n", "config.toml:4:8: "),
    ] {
        let home = Home::new();
        home.write(".config/toolpost/config.toml", text);
        let ran = home.run(&["call", "list"]);
        assert!(ran.status == 2 && ran.stderr.contains(expected), "{text}: {}", ran.stderr);
    }
}
