//! Characters that hide or turn text are shown by their codes to people, and reach models as they are.

use crate::terminal::talking_on_a_terminal;
use crate::{Home, Ran};
use serde_json::Value;

/// Each with the code that a person sees.
const HIDDEN: &[(char, &str)] = &[
    ('\u{202e}', "\\u{202e}"),
    ('\u{2066}', "\\u{2066}"),
    ('\u{200b}', "\\u{200b}"),
    ('\u{feff}', "\\u{feff}"),
    ('\u{fe01}', "\\u{fe01}"),
    ('\u{9b}', "\\u{9b}"),
    ('\u{e0041}', "\\u{e0041}"),
];

fn all() -> String {
    HIDDEN.iter().map(|(hidden, _)| format!("a{hidden}")).collect()
}

fn check_seen(what: &str, seen: &str) {
    for (hidden, code) in HIDDEN {
        assert!(!seen.contains(*hidden), "{what}: {} reached a terminal: {}", code, seen.escape_unicode());
        assert!(seen.contains(code), "{what}: {code} is not shown: {seen}");
    }
}

#[test]
fn questions_and_terminals_show_codes() {
    let home = Home::new();
    let name = format!("x{}.txt", all());
    home.write("repo/a.txt", format!("text {}\n", all()));
    let mut is_answered = false;
    let command = home.command(["call", "bash", &format!("command=touch '{name}'"), "--allow", "network"]);
    let mut command = command;
    home.write(".config/toolpost/config.toml", "ask = ['exec', 'write']\n");
    command.env("TERM", "xterm");
    let (_, seen) = talking_on_a_terminal(command, |seen| {
        (seen.contains("your answer:") && !std::mem::replace(&mut is_answered, seen.contains("your answer:")))
            .then(|| "n\n".to_owned())
    });
    assert!(is_answered, "{seen}");
    check_seen("a question", &seen);
    let (_, seen) = talking_on_a_terminal(home.command(["call", "read", "filePath=a.txt"]), |_| None);
    check_seen("a result on a terminal", &seen);
    let (_, seen) =
        talking_on_a_terminal(home.command(["call", "read", &format!("filePath={name}")]), |_| None);
    check_seen("an error on a terminal", &seen);
    let (_, seen) =
        talking_on_a_terminal(home.command(["call", "read", "filePath=a.txt", "--json"]), |_| None);
    assert!(HIDDEN.iter().all(|(hidden, _)| !seen.contains(*hidden)), "{}", seen.escape_unicode());
    let value: Value = serde_json::from_str(seen.trim()).unwrap();
    assert!(value.to_string().contains(&all()), "JSON on a terminal stays the same JSON: {value}");
}

#[test]
fn what_is_told_of_sessions_shows_codes() {
    let home = Home::new();
    home.write(
        "repo/says.md",
        "---\nname: says\ndescription: d\nscript: [ { say: \"{{task}}\" } ]\n---\nx\n",
    );
    assert_eq!(home.run(&["run", "says.md", &format!("do {}", all()), "--session", "s"]).status, 0);
    for args in [&["sessions", "show", "s"][..], &["sessions", "replay", "s"]] {
        let (_, seen) = talking_on_a_terminal(home.command(args), |_| None);
        check_seen(&args.join(" "), &seen);
    }
    check_seen("the exported page", &home.run(&["sessions", "export", "s"]).stdout);
}

#[test]
fn models_get_every_character() {
    let home = Home::new();
    home.write("repo/a.txt", format!("text {}\n", all()));
    let ran: Ran = home.run(&["call", "read", "filePath=a.txt"]);
    assert!(ran.stdout.contains(&all()), "{}", ran.stdout.escape_unicode());
    let (_, value) = home.json(&["call", "read", "filePath=a.txt"]);
    assert!(value.to_string().contains(&all()));
    // The next edit matches what was read.
    let old = format!("oldString=text {}", all());
    assert_eq!(home.run(&["call", "edit", "filePath=a.txt", &old, "newString=new"]).status, 0);
    assert_eq!(std::fs::read_to_string(home.path("repo/a.txt")).unwrap(), "new\n");
}
