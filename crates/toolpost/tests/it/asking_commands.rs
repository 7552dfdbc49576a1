//! Questions about commands, on a real pseudo-terminal: what would run, the dry run on a key, and what "always" keeps.

use crate::Home;
use crate::terminal::{answered_on_a_terminal, talking_on_a_terminal};

const USER: &str = ".config/toolpost/config.toml";

fn home() -> Home {
    let home = Home::new();
    home.write(USER, "ask = ['exec']\n");
    home.write("repo/x.py", "print('from python')\n");
    home.write("repo/x/in", "in\n");
    home
}

/// Runs a command line on a terminal where each question is answered by the next of `answers`.
#[track_caller]
fn asked(home: &Home, command: &str, answers: &[&str]) -> (i32, String) {
    let mut given = 0;
    let line = format!("command={command}");
    let (status, seen) = talking_on_a_terminal(home.command(["call", "bash", &line]), |seen| {
        let asked = seen.matches("your answer: ").count();
        if asked > given && given < answers.len() {
            given += 1;
            return Some(answers[given - 1].to_owned());
        }
        None
    });
    assert_eq!(given, answers.len(), "not everything was asked: {seen}");
    (status, seen)
}

/// Whether the command runs without a question.
fn is_allowed(home: &Home, command: &str) -> bool {
    home.run(&["call", "bash", &format!("command={command}")]).status == 0
}

#[test]
fn the_question_says_what_runs_where_how_confined_and_why_it_is_asked() {
    let home = home();
    home.write(
        USER,
        "ask = ['exec']\n[[rule]]\neffect = 'ask'\naction = 'bash'\nresource = 'cargo publish *'\n",
    );
    let (status, seen) = asked(&home, "echo start && cargo publish --dry-run", &["n not today\n"]);
    assert_eq!(status, 3, "{seen}");
    for words in [
        "`bash` would run `",
        "  command: echo start && cargo publish --dry-run\n",
        &format!("  folder: {}\n", home.path("repo").display()),
        "  sandbox: strict: changes files of the workspace only, and no protected ones; no network\n",
        "  d  dry run first",
        "the user said no to `bash`: not today",
    ] {
        assert!(seen.contains(words), "{words:?} is not in {seen}");
    }
    let (_, seen) = asked(&home, "cargo publish", &["n\n"]);
    let place = format!("the user rule `bash: cargo publish *` ({}:2) asks first", home.path(USER).display());
    assert!(seen.contains(&place), "{place} is not in {seen}");
    let arguments = ["call", "bash", "command=ls", "workdir=src", "--sandbox", "none", "--allow", "network"];
    let (_, seen) = answered_on_a_terminal(home.command(arguments), "n\n");
    assert!(seen.contains(&format!("  folder: {}\n", home.path("repo/src").display())), "{seen}");
    assert!(seen.contains("  sandbox: none: it can do what you can\n"), "{seen}");
}

#[test]
fn the_dry_run_comes_on_a_key_and_then_it_asks_again() {
    let home = home();
    let line = "echo working; echo new > made.txt; rm README.md";
    let (status, seen) = asked(&home, line, &["d\n", "n\n"]);
    assert_eq!(status, 3, "{seen}");
    for words in [
        "  | working\n",
        "  | [dry run: nothing has changed; it would create 1 file, delete 1 file]\n",
        "  | create made.txt (4 bytes)\n",
        "  | +new\n",
        "  | delete README.md",
    ] {
        assert!(seen.contains(words), "{words:?} is not in {seen}");
    }
    assert_eq!(seen.matches("  d  dry run first").count(), 1, "only before it was run: {seen}");
    assert!(home.path("repo/README.md").exists() && !home.path("repo/made.txt").exists(), "nothing happened");
    let (status, seen) = asked(&home, line, &["d\n", "y\n"]);
    assert_eq!(status, 0, "{seen}");
    assert!(!home.path("repo/README.md").exists() && home.path("repo/made.txt").exists(), "now it has");
    assert_eq!(std::fs::read_dir(home.path("data/toolpost/scratch")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn always_keeps_the_narrowest_rules_that_the_line_needs() {
    let home = home();
    let (status, seen) = asked(&home, "git --version; ls src && make build | head -3", &["p\n"]);
    assert_eq!(status, 0, "{seen}");
    for rule in ["`bash: ls *`", "`bash: make build *`", "`bash: head *`", "`bash: git --version`"] {
        assert!(seen.contains(rule), "{rule}: {seen}");
    }
    assert!(is_allowed(&home, "git --version; ls src && make build | head -3"), "the next call does not ask");
    assert!(is_allowed(&home, "ls x"));
    assert!(!is_allowed(&home, "git push") && !is_allowed(&home, "make") && !is_allowed(&home, "rm x"));
}

#[test]
fn what_is_dangerous_is_kept_by_its_exact_text_or_not_at_all() {
    let home = home();
    let (status, seen) = asked(&home, "rm -rf x", &["p\n"]);
    assert!(status == 0 && seen.contains("writes allow `bash: rm -rf x` to"), "{seen}");
    assert!(is_allowed(&home, "rm -rf x"), "the next call does not ask");
    assert!(!is_allowed(&home, "rm -rf src") && !is_allowed(&home, "rm -rf x src"));

    let (status, seen) = asked(&home, "python3 x.py", &["p\n"]);
    assert!(status == 0 && seen.contains("writes allow `bash: python3 x.py` to"), "{seen}");
    assert!(is_allowed(&home, "python3 x.py"));
    assert!(!is_allowed(&home, "python3 x.py y") && !is_allowed(&home, "python3 -c 1"));

    let (status, seen) = asked(&home, "$(cat src/main.rs)", &["p\n", "n\n"]);
    assert!(status == 3 && !seen.contains("always"), "no rule but any command would do: {seen}");
    assert!(seen.contains("one of these letters"), "{seen}");
}
