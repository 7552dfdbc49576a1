//! Lines that a shell reads: which are started, and which files they are held to.

use super::{OTHER, SCRIPT, line, put, runs, state};
use crate::Home;

#[test]
fn guarantee_41_a_shell_line_that_does_not_tell_what_it_runs_is_never_started() {
    let nested = (0..8).fold("./s.sh".to_owned(), |line, _| {
        format!("sh -c \"{}\"", line.replace('\\', "\\\\").replace('"', "\\\""))
    });
    for words in [
        &["bash", "-c", "D=sub; $D/s.sh"][..],
        &["bash", "-c", "D=sub; \"$D/s.sh\""],
        &["env", "D=sub", "bash", "-c", "$D/s.sh"],
        &["bash", "-c", "read D <x; node $D"],
        &["bash", "-c", "export D=sub; sh -c '$D/s.sh'"],
        &["bash", "-c", "for f in s; do ./$f.sh; done"],
        &["bash", "-c", "$'./s\\x2esh'"],
        &["bash", "-c", "$(cat name)"],
        &["bash", "-c", "echo \"$(./s.*)\""],
        &["bash", "-c", "`cat name`"],
        &["bash", "-c", "echo x; ./s.s?"],
        &["bash", "-c", "sh ./*.sh"],
        &["bash", "-c", "./s.{sh,x}"],
        &["bash", "-c", "./[s].sh"],
        &["bash", "-c", "[[s].sh"],
        &["bash", "-c", "exec -a echo sh ./s.*"],
        &["bash", "-c", "./echo s.*"],
        &["bash", "-c", "command -p eval './s.s'h"],
        &["zsh", "-c", "sh (s|x).sh"],
        &["zsh", "-c", "sh s<1-9>.sh"],
        &["zsh", "-c", "$PLACE:h/s.sh"],
        &["bash", "-c", "eval './s.s'h"],
        &["bash", "-c", "trap 'sh s.s\"\"h' EXIT"],
        &["bash", "-c", "printf './s%ssh' . | sh"],
        &["bash", "-c", "ls | xargs -n1 sh"],
        &["bash", "-c", "find . -name 's.*' -exec sh {} \\;"],
        &["bash", "-c", "sh <(cat s.sh)"],
        &["bash", "-c", "sh <<< ./s.sh"],
        &["bash", "-c", "f() { sh \"$1\"; }; f s.sh"],
        &["bash", "-c", "set -- s.sh; sh \"$1\"", "x", "y"],
        &["bash", "-c", "~+/s.sh"],
        &["bash", "-c", "a=(s.sh); sh x"],
        &["bash", "-euo", "pipefail", "-c", "./s.*"],
        &["bash", "-c", "-e", "./s.*"],
        &["bash", "-lc", "./s.*"],
        &["env", "-S", "bash -c './s.*'"],
        &["busybox", "sh", "-c", "./s.*"],
        &["bash-5.2", "-c", "./s.*"],
        &["./link", "-c", "./s.*"],
        &["env", "./link", "-c", "./s.*"],
        &["script", "-qc", "./s.*", "/dev/null"],
        &["fish", "-c", "./s.*"],
        &["npx", "-c", "./s.*"],
        &["sh", "-c", &nested],
        &["npm", "run", "glob"],
    ] {
        let home = Home::new();
        for path in ["s.sh", "sub/s.sh"] {
            put(&home, path, SCRIPT);
        }
        put(&home, "name", "./s.sh");
        put(&home, "link", "-> /bin/sh");
        put(&home, "package.json", r#"{"scripts": {"glob": "sh ./s.*"}}"#);
        let entry = line(words);
        home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
        assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{words:?}");
        let (now, why) = state(&home);
        assert!(now == "unusable" && why.contains("cannot be covered"), "{words:?}: {now} {why}");
        assert!(why.contains("start the script file directly"), "{words:?}: {why}");
        assert!(!runs(&home), "{words:?}");
    }
}

#[test]
fn ordinary_shell_lines_are_started() {
    for (shell, text) in [
        ("sh", "cd sub && cd .. && true"),
        ("sh", "FOO=bar true"),
        ("sh", "set -eu"),
        ("bash", "set -euo pipefail"),
        ("sh", "if [ -f s.sh ]; then true; fi"),
        ("sh", "test -f s.sh || exit 1"),
        ("sh", "echo \"$$ $? done\" >/dev/null 2>&1"),
        ("sh", "mkdir -p tmp; rm -f tmp/*"),
        ("sh", "export FOO=bar"),
        ("sh", "{ true; }; (true)"),
        ("sh", "cd \"$PWD\"; cd $(pwd)"),
        ("sh", "true --home \"$HOME\""),
        ("sh", "true '$x' \\$x \"a * b\" # a $(remark)"),
        ("bash", "[[ s.sh == s* ]]; true"),
    ] {
        let home = Home::new();
        put(&home, "s.sh", SCRIPT);
        put(&home, "sub/y", "");
        let text = format!("{text}\nsh s.sh");
        let entry = line(&[shell, "-c", &text]);
        home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
        assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{text}");
        assert_eq!(state(&home), ("trusted".to_owned(), String::new()), "{text}");
        assert!(runs(&home), "{text}");
    }
}

#[test]
fn a_shell_line_of_the_users_own_is_started_and_covered_as_far_as_it_can_be_read() {
    let home = Home::new();
    put(&home, "x.sh", SCRIPT);
    home.write(
        ".config/toolpost/config.toml",
        "[mcpServers.s]\ncommand = 'sh'\nargs = ['-c', 'A=$(date) sh x.sh']\n",
    );
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert!(runs(&home), "{:?}", state(&home));
    put(&home, "x.sh", OTHER);
    assert!(!runs(&home));
}
