//! What a refusal of a command advises is true: a program reads the advice, follows it, and the command works the second
//! time. Each alternative that a message offers is followed alone.

use crate::{Home, Ran};
use std::net::TcpListener;
use std::path::PathBuf;

const EXEC: &[&str] = &["--allow", "exec"];
const ECHO: &[&str] = &["--allow-rule", "bash: echo *"];
const NONE: &[&str] = &["--sandbox", "none", "--allow", "exec"];

/// What is done about a refusal.
enum Then {
    /// The flags that it names are passed.
    Flags,
    /// It names no flag, and this line does what it says instead.
    Instead(&'static str),
    /// The sandbox is not switched off.
    Confined,
}

use Then::{Confined, Flags, Instead};

/// A line, the flags that it is run with first, what is done about the refusal, and the file that is there afterwards, or
/// gone with a `!` before it.
type Case = (&'static str, &'static [&'static str], Then, &'static str);

const CASES: &[Case] = &[
    // Repositories, wherever the line makes them.
    ("cd src && git init -q", EXEC, Flags, "src/.git/HEAD"),
    ("git -C src init -q", EXEC, Flags, "src/.git/HEAD"),
    ("(cd src && git init -q)", EXEC, Flags, "src/.git/HEAD"),
    ("D=p; git init -q \"$D\"", EXEC, Flags, "p/.git/HEAD"),
    ("D=src; git -C \"$D\" init -q", EXEC, Flags, "src/.git/HEAD"),
    ("mkdir -p a/b && cd a && cd b && git init -q", EXEC, Flags, "a/b/.git/HEAD"),
    ("(cd src); git init -q x && git -C x remote add o y", EXEC, Flags, "x/.git/HEAD"),
    ("rm -rf .git", EXEC, Flags, "!.git"),
    // Folders of which all is protected.
    ("mkdir -p .husky && echo x > .husky/pre-commit", EXEC, Flags, ".husky/pre-commit"),
    (
        "mkdir -p .github/workflows && echo x > .github/workflows/a.yml",
        EXEC,
        Flags,
        ".github/workflows/a.yml",
    ),
    ("mkdir -p .circleci && echo x > .circleci/config.yml", EXEC, Flags, ".circleci/config.yml"),
    ("mkdir -p .claude && echo '{}' > .claude/settings.json", EXEC, Flags, ".claude/settings.json"),
    ("mkdir -p .cursor && echo '{}' > .cursor/mcp.json", EXEC, Flags, ".cursor/mcp.json"),
    (
        "mkdir -p .devcontainer && echo '{}' > .devcontainer/devcontainer.json",
        EXEC,
        Flags,
        ".devcontainer/devcontainer.json",
    ),
    ("mkdir -p .vscode && echo '{}' > .vscode/tasks.json", EXEC, Flags, ".vscode/tasks.json"),
    ("mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", EXEC, Flags, ".git/hooks/pre-commit"),
    ("mkdir -p src/.husky; cd src && echo x > .husky/pre-commit", EXEC, Flags, "src/.husky/pre-commit"),
    ("echo x > .mcp.json && echo y > src/.envrc", EXEC, Flags, "src/.envrc"),
    ("cd src && echo a > .npmrc", EXEC, Flags, "src/.npmrc"),
    ("f=.npmrc; echo a > \"$f\"", EXEC, Flags, ".npmrc"),
    ("python3 -c 'import os; os.mkdir(\".husky\"); open(\".husky/a\", \"w\")'", EXEC, Flags, ".husky/a"),
    // Links into dependency folders.
    ("mkdir -p node_modules/.bin; ln -s node_modules/.bin bin", EXEC, Flags, "bin"),
    ("mkdir -p node_modules/x; ln -s ../node_modules/x src/x", EXEC, Flags, "src/x"),
    ("mkdir -p target/debug; echo x > target/debug/app; ln -s target/debug/app app", EXEC, Flags, "app"),
    // Where no rule helps, none is named.
    ("echo a >> ~/.bashrc", EXEC, Instead("echo a >> bashrc"), "bashrc"),
    ("echo a > /etc/toolpost-test", EXEC, Instead("echo a > /tmp/x && cp /tmp/x x"), "x"),
    ("echo a > /etc/toolpost-test", ECHO, Instead("echo a > x"), "x"),
    ("echo a >> ~/.bashrc", ECHO, Instead("echo a >> x"), "x"),
    ("O=out; echo hi > \"$O\"", ECHO, Flags, "out"),
    ("O=out; echo hi > \"$O\"", ECHO, Instead("echo hi > out"), "out"),
    // Several things at once.
    ("ls src && cat README.md > out", &[], Flags, "out"),
    ("wc -l README.md > .mcp.json && wc src/main.rs", &["--allow-rule", "bash: ls *"], Flags, ".mcp.json"),
    ("echo hi > /dev/tcp/127.0.0.1/PORT && echo x > out", EXEC, Flags, "out"),
    ("echo hi > /dev/tcp/127.0.0.1/PORT && echo x > out", ECHO, Flags, "out"),
    // Without a sandbox.
    ("O=out; echo hi > \"$O\"", NONE, Confined, "out"),
    ("((1)); echo hi > out", NONE, Confined, "out"),
    ("exec {fd}> out; echo hi >&$fd", NONE, Confined, "out"),
    ("i=1; a[$i]=3; touch out", NONE, Flags, "out"),
];

fn home() -> Home {
    let home = Home::new();
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    home
}

fn run(home: &Home, line: &str, flags: &[&str]) -> (i32, String) {
    let line = format!("command={line}");
    let args =
        ["call", "bash", "--workspace", "."].into_iter().chain(flags.iter().copied()).chain([line.as_str()]);
    let ran = Ran::of(home.command(args).output().unwrap());
    (ran.status, format!("{}{}", ran.stdout, ran.stderr))
}

/// Whether a text says that something was refused, or that a command failed.
fn has_failed((status, text): &(i32, String)) -> bool {
    *status != 0
        || text.contains("was refused")
        || text.contains("were refused")
        || text.contains(" by commands: ")
        || text.contains("[exit code")
}

/// The flags of each alternative that a message offers.
fn alternatives(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for part in text.split(", or ") {
        let mut flags = Vec::new();
        let mut rest = part;
        while let Some(at) = rest.find("--allow") {
            rest = &rest[at..];
            let (flag, value, after) = match rest.strip_prefix("--allow-rule '") {
                Some(rule) => {
                    let end = rule.find('\'').unwrap();
                    ("--allow-rule", &rule[..end], &rule[end..])
                }
                None => {
                    let value = rest.strip_prefix("--allow ").unwrap();
                    let end = value.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(value.len());
                    ("--allow", &value[..end], &value[end..])
                }
            };
            flags.extend([flag.to_owned(), value.to_owned()]);
            rest = after;
        }
        if !flags.is_empty() {
            found.push(flags);
        }
    }
    found
}

fn is_made(home: &Home, made: &str) -> bool {
    let is_there = |name: &str| home.path("repo").join(name).symlink_metadata().is_ok();
    match made.strip_prefix('!') {
        Some(gone) => !is_there(gone),
        None => is_there(made),
    }
}

#[test]
fn advice_that_is_followed_makes_the_command_work() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut wrong = Vec::new();
    for (line, flags, then, made) in CASES {
        let line = line.replace("PORT", &port);
        let first = run(&home(), &line, flags);
        if !has_failed(&first) {
            wrong.push(format!("`{line}` {flags:?} is not refused any more: {first:?}"));
            continue;
        }
        let ways: Vec<(String, Vec<String>)> = match then {
            Flags => alternatives(&first.1).into_iter().map(|more| (line.clone(), more)).collect(),
            Instead(other) => vec![((*other).to_owned(), Vec::new())],
            Confined => vec![(line.clone(), Vec::new())],
        };
        if ways.is_empty() {
            wrong.push(format!("`{line}` {flags:?}: no flag is named: {}", first.1));
        }
        if matches!(then, Confined) && !first.1.contains("leave out `--sandbox none`") {
            wrong.push(format!("`{line}` {flags:?}: the sandbox is not named: {}", first.1));
        }
        if matches!(then, Instead(_)) && !line.contains("$O") && !alternatives(&first.1).is_empty() {
            wrong.push(format!("`{line}` {flags:?}: a flag is named that does not help: {}", first.1));
        }
        for (line, more) in ways {
            let home = home();
            let before: Vec<&str> = match then {
                Confined => EXEC.to_vec(),
                _ => flags.to_vec(),
            };
            let all: Vec<&str> = before.into_iter().chain(more.iter().map(String::as_str)).collect();
            let second = run(&home, &line, &all);
            if has_failed(&second) || !is_made(&home, made) {
                wrong.push(format!("`{line}` {all:?}: {}\nwas advised by {}", second.1, first.1));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n\n"));
}

/// What is nobody's but the command's own is not refused, and names are those that the command means.
#[test]
fn lines_that_need_no_advice_get_none() {
    for (line, made) in [
        (
            "mkdir -p node_modules/x; echo a > node_modules/x/.npmrc && (cd /tmp && ls)",
            "node_modules/x/.npmrc",
        ),
        ("mkdir -p node_modules/x; cd node_modules/x && echo a > .npmrc", "node_modules/x/.npmrc"),
        ("echo a > /tmp/.npmrc && cp /tmp/.npmrc out", "out"),
        (
            "mkdir -p /tmp/p/.github/workflows && echo a > /tmp/p/.github/workflows/ci.yml && \
             cp /tmp/p/.github/workflows/ci.yml out",
            "out",
        ),
        ("(cd /tmp && echo a > .bashrc) && cp /tmp/.bashrc out", "out"),
    ] {
        let home = home();
        let done = run(&home, line, EXEC);
        assert!(!has_failed(&done) && is_made(&home, made), "{line}: {}", done.1);
    }
    let (_, text) = run(&home(), "(cd src); cd src; echo a > .npmrc; cd /tmp", EXEC);
    assert!(text.contains("would write `src/.npmrc`"), "{text}");
}

/// A commit leaves nothing running, and what is missing is called by its name.
#[test]
fn what_is_missing_is_called_by_its_name() {
    let make = "git init -q && git -c user.email=a@example.org -c user.name=a commit -q --allow-empty -m x";
    let flags = ["--allow", "exec", "--allow-rule", "write: /.git"];
    let fresh = Home::new();
    std::fs::remove_dir(fresh.path("repo/.git")).unwrap();
    let (_, text) = run(&fresh, make, &flags);
    assert!(!text.contains("left running") && !text.contains("exit code 1"), "{text}");

    let (_, text) = run(&home(), "rsync nofile z || cp nofile z", EXEC);
    assert!(text.contains("exit code 1") && !text.contains("network"), "{text}");

    let (_, text) = run(&home(), "python3 -c 'import pty; pty.openpty()'", EXEC);
    assert!(text.contains("commands can make no terminals here"), "{text}");

    // A repository outside of the workspace is not seen until it may be read.
    let home = Home::new();
    std::fs::remove_dir(home.path("repo/.git")).unwrap();
    let git = |folder: &str, args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.email=a@example.org", "-c", "user.name=a"]).args(args);
        assert!(command.current_dir(home.path(folder)).output().unwrap().status.success(), "{args:?}");
    };
    std::fs::create_dir(home.path("other")).unwrap();
    git("other", &["init", "-q", "-b", "main"]);
    git("other", &["commit", "-q", "--allow-empty", "-m", "x"]);
    git("repo", &["init", "-q"]);
    let line = "git fetch -q ../other main";
    let (_, text) = run(&home, line, EXEC);
    let outside: PathBuf = home.path("other");
    let named = format!("`{}` is outside of the workspace", outside.display());
    assert!(text.contains(&named) && text.contains("TOOLPOST_READABLE"), "{text}");
    let line = format!("command={line}");
    let args = ["call", "bash", "--workspace", ".", "--allow", "exec", line.as_str()];
    let ran = Ran::of(home.command(args).env("TOOLPOST_READABLE", &outside).output().unwrap());
    assert!(ran.status == 0 && !ran.stdout.contains("[exit code"), "{}{}", ran.stdout, ran.stderr);
}

/// Without a sandbox nothing judges files when they are opened: what cannot be told meets every rule that could be about it.
#[test]
fn guarantee_40_without_a_sandbox_what_cannot_be_told_opens_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for line in [
        "((1)); echo no > locked/f",
        "O=locked/f; exec {fd}> \"$O\"; echo no >&$fd",
        "coproc cat; touch locked/f",
        "i=1; a[$i]=3; touch locked/f",
        "i=1; a[$i]=3; echo no > locked/f",
        "O=locked/f; echo no > \"$O\"",
        "((1)); eval 'echo no > locked/f'",
        "exec {fd}<secret; cat <&$fd",
        "((1)); cat < secret",
        "O=secret; cat < \"$O\"",
        "exec 3<>/dev/tcp/127.0.0.1/PORT",
        "((1)); echo > /dev/tcp/127.0.0.1/PORT",
        "C=eval; $C 'echo > /dev/tcp/127.0.0.1/PORT'",
    ] {
        let line = line.replace("PORT", &port);
        for more in [&[][..], &["--yes"]] {
            let home = home();
            std::fs::create_dir(home.path("repo/locked")).unwrap();
            home.write("repo/secret", "CANARY\n");
            let rules = "[[rule]]\neffect = 'deny'\naction = 'write'\nresource = '/locked/**'\n\
                         [[rule]]\neffect = 'deny'\naction = 'read'\nresource = '/secret'\n";
            home.write(".config/toolpost/config.toml", rules);
            let flags: Vec<&str> = NONE.iter().chain(more).copied().collect();
            let (status, text) = run(&home, &line, &flags);
            assert!(status != 0 && text.contains("PERMISSION_DENIED"), "{line} {more:?}: {text}");
            assert!(!home.path("repo/locked/f").exists() && !text.contains("CANARY"), "{line}: {text}");
        }
        assert!(listener.accept().is_err(), "{line}");
    }
}

/// A host that a rule denies is denied however a line writes it, also where the line cannot be told.
#[test]
fn guarantee_40_a_denied_host_is_denied_in_every_spelling() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for line in [
        "echo > /dev/tcp/127.0.0.1/PORT",
        "((1)); echo > /dev/tcp/127.0.0.1/PORT",
        "exec 3<>/dev/tcp/127.0.0.1/PORT",
        "exec {fd}<>/dev/tcp/127.0.0.1/PORT",
        "echo > /dev/tcp/localhost/PORT",
        "echo > /dev/tcp/127.1/PORT",
        "echo > /dev/tcp/0/PORT",
        "echo > /dev/tcp/0x7f000001/PORT",
        "echo > /dev/tcp/::ffff:127.0.0.1/PORT",
        "H=127.0.0.1; echo > \"/dev/tcp/$H/PORT\"",
        "F=/dev/tcp/127.0.0.1/PORT; echo > $F",
        "bash -c '((1)); echo > /dev/tcp/127.0.0.1/PORT'",
    ] {
        let line = line.replace("PORT", &port);
        for sandbox in [&[][..], &["--sandbox", "none"]] {
            let home = home();
            let rule = "[[rule]]\neffect = 'deny'\naction = 'network'\nresource = '127.0.0.1'\n";
            home.write(".config/toolpost/config.toml", rule);
            let flags: Vec<&str> =
                EXEC.iter().chain(&["--allow", "network", "--yes"]).chain(sandbox).copied().collect();
            let (status, text) = run(&home, &line, &flags);
            assert!(status != 0 && text.contains("PERMISSION_DENIED"), "{line} {sandbox:?}: {text}");
            assert!(listener.accept().is_err(), "{line} {sandbox:?}");
        }
    }
}
