//! Questions: on a terminal each answer does what it says, without one an ask is a denial at once.

use crate::Home;
use crate::load::stretched;
use crate::terminal::answered_on_a_terminal;
use std::time::{Duration, Instant};

fn home() -> Home {
    let home = Home::new();
    home.write("repo/.env", "A=1\n");
    home.write("repo/sub/.env", "B=2\n");
    home.write("other/.env", "C=3\n");
    std::fs::create_dir_all(home.path("other/.git")).unwrap();
    home
}

/// Asks for `.env` on a terminal and types an answer. Whether it was read.
#[track_caller]
fn answered(home: &Home, arguments: &[&str], typed: &str) -> (bool, String) {
    let (status, seen) = answered_on_a_terminal(home.command([&["call", "read"], arguments].concat()), typed);
    assert_eq!(status, if seen.contains("=1\n") { 0 } else { 3 }, "{seen}");
    (status == 0, seen)
}

/// Whether `.env` can be read without a question.
fn is_allowed(home: &Home, arguments: &[&str]) -> bool {
    home.run(&[&["call", "read"], arguments].concat()).status == 0
}

#[test]
fn without_a_terminal_an_ask_is_a_denial_at_once() {
    let home = home();
    let start = Instant::now();
    let ran = home.run(&["call", "read", "filePath=.env"]);
    assert_eq!(ran.status, 3, "{}", ran.stderr);
    for words in ["PROTECTED_FILE", "no person can be asked", "--allow-rule 'read: /.env'"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert_eq!(home.run(&["call", "read", "filePath=.env", "--yes"]).status, 3, "--yes is not for key files");
    assert!(start.elapsed() < stretched(Duration::from_secs(5)));
    assert!(is_allowed(&home, &["filePath=.env", "--allow-rule", "read: /.env"]));
}

#[test]
fn once_is_once() {
    let home = home();
    let (was_read, seen) = answered(&home, &["filePath=.env"], "y\n");
    assert!(was_read);
    for words in ["which is protected", "yes, once", "read: /.env", "your answer: "] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    assert!(!is_allowed(&home, &["filePath=.env"]));
    assert!(!home.path("data/toolpost/answers").exists(), "nothing was written");
}

#[test]
fn no_is_no_and_the_reason_is_passed_on() {
    let home = home();
    let (was_read, seen) = answered(&home, &["filePath=.env"], "n use the example file\n");
    assert!(!was_read && seen.contains("the user said no to `read`: use the example file"), "{seen}");
    let (was_read, seen) = answered(&home, &["filePath=.env"], "what\nno\n");
    assert!(!was_read && seen.contains("one of these letters"), "{seen}");
    let (was_read, _) = answered(&home, &["filePath=.env"], "\u{4}");
    assert!(!was_read, "the end of input is no consent");
}

#[test]
fn always_in_this_workspace_survives_and_grants_exactly_the_shown_rule() {
    let home = home();
    let (was_read, seen) = answered(&home, &["filePath=.env"], "p\n");
    let file = std::fs::read_dir(home.path("data/toolpost/answers"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("workspace-"))
        .unwrap();
    assert!(
        was_read && seen.contains(&file.display().to_string()) && seen.contains("`read: /.env`"),
        "{seen}"
    );
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("[[rule]]").count(), 1, "{text}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(is_allowed(&home, &["filePath=.env"]), "after a restart");
    assert!(!is_allowed(&home, &["filePath=sub/.env"]), "not another file");
    let other = home.path("other").display().to_string();
    assert!(!is_allowed(&home, &["filePath=.env", "--workspace", &other]), "not another workspace");
    let explained = home.run(&["policy", "explain", "read", "filePath=.env"]).stdout;
    assert!(explained.contains(&format!("{}:", file.display())), "{explained}");
    assert!(!home.path("repo/.toolpost").exists(), "never in the repository");
}

#[test]
fn always_everywhere_holds_in_every_workspace() {
    let home = home();
    let (was_read, _) = answered(&home, &["filePath=.env"], "u\n");
    let other = home.path("other").display().to_string();
    assert!(was_read && is_allowed(&home, &["filePath=.env", "--workspace", &other]));
    assert!(!is_allowed(&home, &["filePath=sub/.env"]));
}

#[test]
fn a_named_session_remembers_until_its_name_changes() {
    let home = home();
    let (was_read, seen) = answered(&home, &["filePath=.env", "--session", "monday"], "s\n");
    assert!(was_read && seen.contains("for this session"), "{seen}");
    assert!(is_allowed(&home, &["filePath=.env", "--session", "monday"]));
    assert!(!is_allowed(&home, &["filePath=.env", "--session", "tuesday"]));
    assert!(!is_allowed(&home, &["filePath=.env"]));
}

#[test]
fn a_broken_file_of_answers_is_named() {
    let home = home();
    answered(&home, &["filePath=.env"], "u\n");
    let file = home.path("data/toolpost/answers/user.toml");
    std::fs::write(&file, "[[rule]]\neffect = \"alow\"\n").unwrap();
    let ran = home.run(&["call", "read", "filePath=README.md"]);
    assert!(ran.status != 0 && ran.stderr.contains(&format!("{}:2:", file.display())), "{}", ran.stderr);
    assert!(ran.stderr.contains("fix or remove"), "{}", ran.stderr);
}
