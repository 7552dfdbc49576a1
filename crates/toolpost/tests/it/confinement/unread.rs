//! Files that commands may not read, in repositories that track them; and what is beside a workspace in `/tmp`.

use super::{CANARY, User};
use crate::{Home, Ran};
use std::process::Command;
use std::time::{Duration, SystemTime};

const TRACKED: [&str; 5] = [".npmrc", "certs/ca.pem", "certs/server.key", "deploy/.env", "a.txt"];

/// A repository whose files were committed a while ago, as most are.
fn commit(user: &User) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(args).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", user.home.path(""));
        let done = user.as_user(command).current_dir(user.home.path("repo")).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    user.home.write(".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n");
    for name in TRACKED {
        user.write(name, &format!("{CANARY} {name}\n"));
        let file =
            std::fs::File::options().write(true).open(user.home.path(&format!("repo/{name}"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3_600)).unwrap();
    }
    std::fs::remove_dir(user.home.path("repo/.git")).unwrap();
    user.settle();
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
}

#[test]
fn git_takes_files_that_it_cannot_read_for_unchanged() {
    for user in User::all() {
        commit(&user);
        for (line, expected) in [
            ("git status --short", ""),
            ("git diff --stat", ""),
            ("git diff HEAD --name-only", ""),
            ("git stash", "No local changes to save\n"),
            ("git reset -q --hard", ""),
            ("git checkout -q -b other", ""),
            ("echo more >> a.txt; git status --short", " M a.txt\n"),
            ("git stash -q && git stash pop -q && git status --short", " M a.txt\n"),
            (
                "git add -A && git commit -q -m second && git show --stat --format= HEAD | cat",
                " a.txt | 1 +\n",
            ),
            ("echo more >> a.txt; git commit -q -am third && git status --short", ""),
            ("git checkout -q main && git status --short", ""),
            ("git reset -q --hard other && git log --format=%s | cat", "third\nsecond\nfirst\n"),
        ] {
            let done = user.bash(line);
            assert_eq!(done.code, Some(0), "{}: {line}: {}", user.name(), done.text);
            let is_said = match expected {
                "" => done.text == "[no output, exit code 0]",
                expected => done.text.starts_with(expected) && !done.text.contains('['),
            };
            assert!(is_said, "{}: {line}: {:?}", user.name(), done.text);
        }
        for name in &TRACKED[..4] {
            let done = user.bash(&format!("cat {name}"));
            assert!(done.code != Some(0) && !done.text.contains(CANARY), "{}: {}", user.name(), done.text);
            assert_eq!(user.read(name), format!("{CANARY} {name}\n"));
        }
    }
}

/// Where git has to look inside, one sentence names the files and the right that is missing.
#[test]
fn what_git_cannot_compare_is_named_with_the_rule_for_reading() {
    let user = User { home: Home::new(), id: None };
    commit(&user);
    for name in [".npmrc", "certs/ca.pem"] {
        user.write(name, "changed by the user\n");
    }
    for line in ["git status --short", "git diff --stat", "git add -A"] {
        let done = user.bash(line);
        for said in [
            "`.npmrc` and `certs/ca.pem` cannot be read by commands",
            "'read: /.npmrc'",
            "'read: certs/ca.pem'",
        ] {
            assert!(done.text.contains(said), "{line}: {}", done.text);
        }
        assert!(!done.text.contains("'write: "), "{line}: {}", done.text);
        assert!(!done.text.contains("server.key"), "{line}: {}", done.text);
    }
}

/// An output can say anything, and a name after `cd` is that of another file.
#[test]
fn files_are_named_by_where_they_are() {
    let user = User { home: Home::new(), id: None };
    for name in [".env", "p/.env.local", "node_modules/a/.env", "certs/s.pem", "p/.npmrc"] {
        user.write(name, CANARY);
    }
    user.write("p/Makefile", "all:\n\tcat .env.local\n");
    for (line, rule) in [
        ("cd node_modules/a && cat .env", "read: node_modules/a/.env"),
        ("(cd p; cat .env.local)", "read: p/.env.local"),
        ("make -s -C p", "read: p/.env.local"),
        ("tar cf /tmp/a.tar -C node_modules/a .", "read: node_modules/a/.env"),
        ("sh -c 'cd certs; cat s.pem'", "read: certs/s.pem"),
        ("pushd p >/dev/null; cat .npmrc", "read: p/.npmrc"),
        ("cat .env", "read: /.env"),
        ("cat p/.npmrc", "read: p/.npmrc"),
    ] {
        let done = user.bash(line);
        assert!(done.text.contains(&format!("'{rule}'")), "{line}: {}", done.text);
        assert_eq!(done.text.matches("--allow-rule").count(), 1, "{line}: {}", done.text);
    }
    for line in [
        "echo 'cat: .env: Permission denied'; false",
        "echo \"touch: cannot touch '.git/hooks/pre-commit': Permission denied\"; false",
    ] {
        let done = user.bash(line);
        assert!(!done.text.contains("refused") && !done.text.contains("'write: "), "{line}: {}", done.text);
    }
    let done = user.bash("cat /etc/shadow; false");
    assert!(done.text.contains("[`/etc/shadow` is closed to commands: outside"), "{}", done.text);
    let done = user.bash("mkdir -p /opt/x");
    assert!(done.text.contains("[`/opt/x` "), "{}", done.text);
    // Also where the line has ended well, and the name is a relative one.
    let done = user.bash("mkdir ../../../../../../beside-$$; echo went on");
    assert!(
        done.text.contains("[`../../../../../../beside-")
            && done.text.contains("is closed to commands: outside"),
        "{}",
        done.text
    );
    let done = user.bash("cd p && mkdir ../inside && echo 'Permission denied: ../inside'");
    assert!(!done.text.contains("closed to commands"), "{}", done.text);
    let done = user.bash("mv p q");
    for rule in ["read: p/.env.local", "read: p/.npmrc", "write: p/.npmrc"] {
        assert!(done.text.contains(rule), "{}", done.text);
    }
    let done = user.bash("sed -i s/a/b/ p/.npmrc");
    for rule in ["'write: p/.npmrc'", "'read: p/.npmrc'"] {
        assert!(done.text.contains(rule), "{}", done.text);
    }
    for line in
        ["cat /home/nobody-at-all/x", "cat /home/nobody-at-all/x | head -1", "cat ../../../../../../notes"]
    {
        let done = user.bash(line);
        assert!(done.text.contains("` is not seen by commands, whether it exists or not"), "{}", done.text);
    }
    for line in ["cat nowhere", "cat /usr/nowhere", "cd p && cat ../nowhere"] {
        let done = user.bash(line);
        assert!(!done.text.contains("is not seen by commands"), "{}", done.text);
    }
    let done = user.bash("cat /tmp/kept-for-later");
    assert!(done.text.contains("each command has a /tmp of its own"), "{}", done.text);
}

#[test]
fn what_lies_beside_a_workspace_in_tmp_is_not_thrown_away() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let (root, home) = (folder.path().join("work/project"), folder.path().join("home"));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolpost"));
        command.args(["call", "bash", "--allow", "exec", "--workspace", "."]).arg(format!("command={line}"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &home).current_dir(&root);
        let ran = Ran::of(command.output().unwrap());
        format!("{}{}", ran.stdout, ran.stderr)
    };
    for line in ["echo x > ../outside.txt", "mkdir ../other", "touch ../../x"] {
        let text = run(line);
        assert!(text.contains("[exit code 1]"), "{line}: {text}");
    }
    let text = run("echo x > ../outside.txt");
    assert!(text.contains("work/outside.txt` was refused: outside of the workspace"), "{text}");
    for line in ["echo x > in && cat in", "echo x > /tmp/y && cat /tmp/y", "echo x > ~/z && cat ~/z"] {
        assert_eq!(run(line), "x\n", "{line}");
    }
}

/// A hard link that a command has made is no second way to a protected file.
#[test]
fn guarantee_38_another_name_of_a_protected_file_is_closed() {
    for user in User::all() {
        user.settle();
        let done = user.bash("echo one > c && ln c keep && ln c kept");
        assert_eq!(done.code, Some(0), "{}", done.text);
        let rule = ["--allow-rule", "write: /.mcp.json"];
        let line = "command=mv c .mcp.json";
        let args =
            ["call", "bash", "--allow", "exec", "--workspace", "."].into_iter().chain(rule).chain([line]);
        let ran = Ran::of(user.as_user(user.home.command(args)).output().unwrap());
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(user.read(".mcp.json"), "one\n");
        for line in [
            "echo two > keep",
            "echo two >> keep",
            "truncate -s 0 kept",
            "exec 3< keep; echo two > /proc/self/fd/3",
            "python3 -c \"open('keep','r+').write('two')\"",
        ] {
            let done = user.bash(line);
            assert_eq!(user.read(".mcp.json"), "one\n", "{}: {line}: {}", user.name(), done.text);
        }
        let done = user.bash("cat keep; rm keep; echo three > keep; cat keep");
        assert_eq!((done.text.as_str(), user.read(".mcp.json").as_str()), ("one\nthree\n", "one\n"));
    }
}
