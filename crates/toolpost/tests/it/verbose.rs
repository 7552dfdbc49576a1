//! `-v`, `-vv` and `TOOLPOST_LOG`: what happens, on standard error, for people and programs.

use crate::{Home, Ran};
use serde_json::Value;

/// What a call says on standard error with these flags before it, and this variable.
fn run(flags: &[&str], variable: Option<&str>, call: &[&str]) -> Ran {
    let home = Home::new();
    let mut command = home.command([flags, &["call"], call].concat());
    command.env("API_TOKEN", "tok-0123456789").env_remove("TOOLPOST_LOG");
    if let Some(variable) = variable {
        command.env("TOOLPOST_LOG", variable);
    }
    Ran::of(command.output().unwrap())
}

const READ: &[&str] = &["read", "README.md", "limit=1"];

#[test]
fn nothing_is_shown_unless_it_is_asked_for() {
    for (flags, variable) in
        [(&[][..], None), (&[], Some("")), (&[], Some("off")), (&[], Some("error")), (&["--json"], None)]
    {
        let ran = run(flags, variable, READ);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{flags:?} {variable:?}");
    }
}

#[test]
fn lines_name_the_session_and_the_call() {
    for (flags, variable, has, has_not) in [
        (&["-v"][..], None, "toolpost::event: read succeeded after ", "was called with"),
        (&["--verbose"], None, "toolpost::event: read succeeded after ", "was called with"),
        (&["-vv"], None, "toolpost::event: read was called with {", "nothing"),
        (&[], Some("info"), "toolpost::event: read succeeded after ", "was called with"),
        (&[], Some("toolpost::event=debug"), "toolpost::event: decided: allow", "nothing"),
        // The flag comes before the variable.
        (&["-v"], Some("debug"), "toolpost::event: read succeeded after ", "was called with"),
    ] {
        let ran = run(flags, variable, READ);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.starts_with("1: # fixture\n"), "{}", ran.stdout);
        assert!(
            ran.stderr.contains(has) && !ran.stderr.contains(has_not),
            "{flags:?} {variable:?}: {}",
            ran.stderr
        );
        let line = ran.stderr.lines().find(|line| line.contains(has)).unwrap();
        assert!(
            line.contains(" session=") && line.contains(" call=") && line.contains(" tool=read"),
            "{line}"
        );
    }
}

#[test]
fn programs_get_an_object_a_line() {
    let ran = run(&["-v", "--json"], None, READ);
    let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines: Vec<Value> = ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended = lines.last().unwrap();
    assert_eq!(ended["call"], envelope["callId"]);
    assert_eq!((&ended["level"], &ended["target"]), (&"info".into(), &"toolpost::event".into()));
    assert!(ended["session"].is_string() && ended["atMs"].is_u64(), "{ended}");
}

#[test]
fn lines_have_no_secret_and_are_not_obeyed() {
    let name = "tok-0123456789\u{1b}[2J\nfake line";
    for flags in [&["-vv"][..], &["-vv", "--json"]] {
        let ran = run(flags, None, &["read", &format!("filePath={name}")]);
        // The error of the call follows the log.
        let log = ran.stderr.split("error[").next().unwrap();
        assert!(log.contains("[redacted:API_TOKEN]"), "{log}");
        for part in ["tok-0123456789", "\u{1b}", "\nfake"] {
            assert!(!log.contains(part), "{flags:?} {part:?}: {log}");
        }
    }
}

#[test]
fn a_level_that_is_none_is_an_error() {
    let ran = run(&[], Some("inof"), READ);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("TOOLPOST_LOG has `inof`, which is no level")
            && ran.stderr.contains("did you mean `info`")
    );
}

#[test]
fn the_version_is_a_capital_letter() {
    let ran = Home::new().run(&["-V"]);
    assert!(ran.status == 0 && ran.stdout.starts_with("toolpost "), "{}", ran.stdout);
}

#[test]
fn lines_of_a_run_name_the_agent() {
    let home = Home::new();
    home.write(
        "repo/reader.md",
        "---\nname: reader\ndescription: d\ntools: [read]\nscript:\n  - call: read\n    args: { filePath: README.md }\n  - say: done\n---\nx\n",
    );
    let ran = home.run(&["-v", "run", "reader.md"]);
    let line = ran.stderr.lines().find(|line| line.contains("read succeeded"));
    assert!(line.is_some_and(|line| line.contains(" agent=reader")), "{}", ran.stderr);
}
