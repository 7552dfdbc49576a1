//! A terminal, a pipe, and neither: colours, escapes, readers that leave.

use crate::{Home, Ran};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

/// Everything that reaches the screen of a pseudo-terminal, and the exit status.
pub(crate) fn on_a_terminal(command: Command) -> (i32, String) {
    typed_on_a_terminal(command, "")
}

/// The same, with somebody typing.
pub(crate) fn typed_on_a_terminal(command: Command, typed: &str) -> (i32, String) {
    let mut typed = Some(typed);
    talking_on_a_terminal(command, |_| typed.take().map(str::to_owned))
}

/// The same, with somebody who types a line whenever an answer is asked for.
pub(crate) fn answered_on_a_terminal(command: Command, typed: &str) -> (i32, String) {
    let mut lines: Vec<&str> = typed.split_inclusive('\n').rev().collect();
    let mut answered = 0;
    talking_on_a_terminal(command, |seen| {
        let is_asked = seen.matches("your answer: ").count() > answered;
        answered += usize::from(is_asked);
        lines.pop_if(|_| is_asked).map(str::to_owned)
    })
}

/// The same, with somebody who looks at the screen, before anything is on it and after each change, and then types.
pub(crate) fn talking_on_a_terminal(
    command: Command,
    answer: impl FnMut(&str) -> Option<String>,
) -> (i32, String) {
    talking_on_columns(0, command, answer)
}

/// The same on a terminal of so many columns; 0 means that nobody knows.
pub(crate) fn talking_on_columns(
    columns: u16,
    mut command: Command,
    mut answer: impl FnMut(&str) -> Option<String>,
) -> (i32, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let no_control = rustix::fs::OFlags::NOCTTY.bits() as i32;
    let screen = OpenOptions::new().read(true).write(true).custom_flags(no_control).open(path).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&screen, size).unwrap();
    command.stdin(screen.try_clone().unwrap()).stdout(screen.try_clone().unwrap()).stderr(screen);
    let mut child = command.spawn().unwrap();
    // The command holds the other end as long as it lives; ours must go, or reading never ends.
    drop(command);
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    let mut master = File::from(master);
    loop {
        if let Some(typed) = answer(&String::from_utf8_lossy(&seen)) {
            master.write_all(typed.as_bytes()).unwrap();
        }
        // Linux says EIO where the other end is closed.
        let Ok(count @ 1..) = master.read(&mut chunk) else { break };
        seen.extend_from_slice(&chunk[..count]);
    }
    let status = child.wait().unwrap().code().unwrap();
    (status, String::from_utf8_lossy(&seen).replace("\r\n", "\n"))
}

#[test]
fn colours_are_for_terminals_and_those_who_want_them() {
    let home = Home::new();
    for args in [&["tools"][..], &["call", "raed"], &["tools", "show", "read"]] {
        let (_, seen) = on_a_terminal(home.command(args));
        assert!(seen.contains("\x1b["), "{args:?}: {seen:?}");
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let mut command = home.command(args);
            command.env(name, value);
            let (_, seen) = on_a_terminal(command);
            assert!(!seen.contains('\x1b'), "{args:?} {name}: {seen:?}");
        }
        let ran = home.run(args);
        assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{args:?}");
    }
    let (status, seen) = on_a_terminal(home.command(["call", "read", "filePath=src/main.rs"]));
    assert_eq!((status, seen.as_str()), (0, "1: fn main() {}\n"));
}

/// The escapes that are our own.
const OURS: [&str; 4] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m"];

#[test]
fn guarantee_32_no_escape_of_a_tool_reaches_the_terminal() {
    let home = Home::new();
    let evil = "a\x1b[31mred\x1b]0;title\x07\x1bPq\x1b\\\u{9b}2J\u{9d}0;x\u{9c}\u{7f}\x08\rover\x0e\x00";
    let name = "n\x1b[2Jame\u{9b}1m";
    home.write("repo/evil.txt", evil.replace('\0', ""));
    home.write(&format!("repo/{name}"), "x");
    home.write("mine/read.txt", evil.replace('\0', ""));
    home.write(&format!("mine/{name}.txt"), "x");
    let misspelt = format!("filePath={}x", name);
    let batch = r#"{"calls":[{"tool":"read","args":{"filePath":"evil.txt"}},{"tool":"list"},{"tool":"x\u001b[31m"}]}"#;
    let mut attempts = 0;
    for args in [
        &["call", "read", "filePath=evil.txt"][..],
        &["call", "list"],
        &["call", "read", "filePath=."],
        &["call", "read", &misspelt],
        &["call", "batch", batch],
        &["call", "x\x1b[31m"],
        &["call", "read", "{\x1b[31m"],
        &["call", "read", "\x1b[31m"],
        &["call", "read", &misspelt, "--check"],
        &["call", "read", "filePath=x", "x\x1b[31m=1"],
        &["tools", "--descriptions", "../mine"],
        &["tools", "show", "read", "--descriptions", "../mine"],
        &["tools", "show", "x\x1b[31m"],
    ] {
        for json in [&[][..], &["--json"]] {
            for colour in ["", "1"] {
                let mut command = home.command([args, json].concat());
                command.env("NO_COLOR", colour);
                let (_, seen) = on_a_terminal(command);
                let seen = OURS.iter().fold(seen, |seen, own| seen.replace(own, ""));
                let harmful = seen.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
                assert_eq!(harmful, None, "{args:?} {json:?}: {seen:?}");
                attempts += 1;
            }
        }
    }
    println!("measure: guarantee 32: {attempts} commands on a pseudo-terminal, 0 raw escapes");
}

#[test]
fn a_pipe_gets_the_bytes_as_they_are() {
    let home = Home::new();
    home.write("repo/colour.txt", "a\x1b[31mb\n");
    assert_eq!(home.run(&["call", "read", "filePath=colour.txt"]).stdout, "1: a\x1b[31mb\n");
}

#[test]
fn a_reader_that_leaves_is_no_error_and_a_full_disk_is() {
    let home = Home::new();
    for index in 0..3_000 {
        home.write(&format!("repo/many/a-long-name-for-a-file-{index}"), "");
    }
    let binary = env!("CARGO_BIN_EXE_toolpost");
    let bash = |line: &str| {
        let mut command = home.command([] as [&str; 0]);
        let mut bash = Command::new("bash");
        bash.args(["-c", line]).current_dir(home.path("repo")).env_clear();
        bash.envs(
            command.env("TOOLPOST", binary).get_envs().filter_map(|(name, value)| Some((name, value?))),
        );
        Ran::of(bash.output().unwrap())
    };
    for reader in ["head -1", "head -c 10", "true"] {
        let line =
            format!("\"$TOOLPOST\" call list limit=10000 --json | {reader}; echo \"${{PIPESTATUS[0]}}\" >&2");
        assert_eq!(bash(&line).stderr, "0\n", "{reader}");
    }
    for args in ["call list", "call list --json", "tools", "doctor", "log", "completions bash"] {
        let ran = bash(&format!("\"$TOOLPOST\" {args} >/dev/full"));
        assert!(
            ran.status == 1 && ran.stderr.matches("standard output could not be written").count() == 1,
            "{args}: {}",
            ran.stderr
        );
    }
    for line in
        ["\"$TOOLPOST\" call list >&-", "\"$TOOLPOST\" call raed 2>&-", "\"$TOOLPOST\" call raed 2>/dev/full"]
    {
        assert!([0, 2].contains(&bash(line).status), "{line}");
    }
}

#[test]
fn a_server_that_is_started_by_hand_says_what_it_waits_for() {
    let (status, seen) = typed_on_a_terminal(Home::new().command(["mcp"]), "\x04");
    assert!(status == 0 && seen.contains("waiting for messages of an MCP client"), "{seen}");
}

#[test]
fn the_list_of_tools_fits_the_terminal() {
    let home = Home::new();
    for columns in [60, 100] {
        let mut command = home.command(["tools"]);
        let (_, seen) = talking_on_columns(
            columns,
            {
                command.env("NO_COLOR", "1");
                command
            },
            |_| None,
        );
        let longest = seen.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= usize::from(columns), "{columns}: {longest}");
        assert!(seen.contains("\n    "), "{seen}");
    }
    // Narrower than any name: nothing breaks.
    assert_eq!(talking_on_columns(10, home.command(["tools"]), |_| None).0, 0);
    // In a pipe a tool is a line.
    let piped = home.run(&["tools"]).stdout;
    assert!(piped.lines().all(|line| !line.starts_with(' ')), "{piped}");
}
