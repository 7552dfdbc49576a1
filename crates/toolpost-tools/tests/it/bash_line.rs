//! Command lines are judged by every command in them: those that try to pass a rule, and those that people type.

mod attacks;
mod families;
mod harmless;
mod lines;
mod nesting;
mod oracle;
mod recorder;
mod runners;
mod told;

use std::time::Duration;
use toolpost_core::policy::{Effect, Layer, Origin, Policy, Profile, Request, Rule};
use toolpost_core::{Access, Capability};
use toolpost_tools::shell::{Confinement, line};

/// A user who may write in the workspace and has allowed these commands, and no others.
fn policy(rules: &[&str]) -> Policy {
    let rules = rules.iter().map(|rule| {
        let origin = Origin::new(Layer::User, "rules.toml", 1);
        Rule::new(Effect::Allow, "bash", rule, origin).unwrap()
    });
    Policy::profile(Profile::Standard).with_rules(Layer::User, rules.collect())
}

fn decide(policy: &Policy, line: &str) -> Effect {
    let accesses = line::accesses(line);
    policy.decide(&Request { tool: "bash", accesses: &accesses }).effect()
}

/// What a line needs; what is only mentioned is left out.
fn check(line: &str, expected: &[&str]) {
    check_in("", line, expected);
}

fn check_in(folder: &str, line: &str, expected: &[&str]) {
    let accesses = line::accesses_in(folder, line);
    let needed = accesses.iter().filter(|access| access.action != Capability::Trace);
    let shown: Vec<String> = needed.map(Access::to_string).collect();
    assert_eq!(shown, expected, "{line:?} {:?}", line::read(line).unclear);
}

#[test]
fn each_command_is_an_access_in_canonical_text() {
    check("git   log  --oneline", &["exec `git log --oneline`"]);
    check("g'i't \"log\" 'a b'", &["exec `git log 'a b'`"]);
    check("git log | head -5 && ls; pwd", &["exec `git log`", "exec `head -5`", "exec `ls`"]);
    check("ls $(git status)", &["exec `git status`", "exec `ls $(…)`"]);
    check("cat <(git log) \"$x\" *.md", &["exec `git log`", "exec `cat <(…) \"$x\" *.md`"]);
    check("sh -c 'git log; ls'", &["exec `git log`", "exec `ls`"]);
    check("timeout 5 nice -n 3 git log", &["exec `git log`"]);
    check("sudo -u bob ls x", &["exec `sudo -u bob ls x`", "exec `ls x`"]);
    check(
        "find . -name '*.rs' -exec grep x {} \\;",
        &["exec `find . -name '*.rs' -exec grep x {} ';'`", "exec `grep x $…`"],
    );
    check("ls | xargs wc -l", &["exec `ls`", "exec `wc -l $…`"]);
    check("/usr/bin/git log", &["exec `/usr/bin/git log`", "exec `git log`"]);
    check("./run.sh a", &["exec `./run.sh a`"]);
    check("git --no-pager log -3", &["exec `git log -3`"]);
    check("echo hi", &["exec `echo hi`"]);
    check("cd src && ls", &["exec `ls`"]);
    check(
        "git commit -m \"$(cat <<'EOF'\nit's (done)\nEOF\n)\"",
        &["exec `cat`", "exec `git commit -m \"$(…)\"`"],
    );
    check("ls a=~/x", &["exec `ls a=~/x`"]);
    check("ls 'a=~/x'", &["exec `ls a=~/x`"]);
    check("", &["exec anything"]);
}

#[test]
fn what_needs_no_right_is_mentioned() {
    for (line, expected) in [
        ("cd src && ls", vec!["cd src"]),
        ("sh -c 'git log; ls'", vec!["sh -c 'git log; ls'"]),
        ("timeout 5 nice git log", vec!["nice git log", "timeout 5 nice git log"]),
        ("ls | xargs wc", vec!["xargs wc"]),
        ("eval 'ls'", vec!["eval ls"]),
        ("sudo ls", vec![]),
    ] {
        let accesses = line::accesses(line);
        let mentions = accesses.iter().filter(|access| access.action == Capability::Trace);
        let shown: Vec<String> = mentions.map(|access| access.resource.to_string()).collect();
        let expected: Vec<String> = expected.iter().map(|text| format!("`{text}`")).collect();
        assert_eq!(shown, expected, "{line}");
    }
}

#[test]
fn a_program_is_named_by_where_it_lies() {
    check_in("evil", "./run x", &["exec `./evil/run x`"]);
    check_in("a/../evil", "./run x", &["exec `./evil/run x`"]);
    check_in("sub", "../run x", &["exec `./run x`", "exec `./sub/../run x`"]);
    check("sub/../run x", &["exec `./run x`", "exec `./sub/../run x`"]);
    check("cd evil && ./run x", &["exec `./run x`", "exec `./evil/run x`"]);
    check("scripts/./test a", &["exec `./scripts/test a`"]);
    check("/bin/../bin/touch x", &["exec `/bin/touch x`", "exec `/bin/../bin/touch x`", "exec `touch x`"]);
    check("cd /usr/bin && ./touch x", &["exec `./touch x`", "exec `/usr/bin/touch x`", "exec `touch x`"]);
    check("../run", &["exec `../run`"]);
    check("git -C sub push", &["exec `git -C sub push`", "exec `git push`"]);
}

#[test]
fn redirections_are_files_and_hosts() {
    check("ls > out.txt 2>&1", &["write `out.txt`", "exec `ls`"]);
    check("ls > /dev/null 2>/dev/null", &["exec `ls`"]);
    check("cat < in.txt >> /tmp/x", &["read `in.txt`", "write `/tmp/x`", "exec `cat`"]);
    check("cd sub && ls > out", &["write `sub/out`", "exec `ls`"]);
    check("ls > out && (cd sub && ls)", &["write `out`", "exec `ls`"]);
    check("(cd sub); ls > out; cd /etc", &["write `out`", "write anything", "exec `$PWD/out`", "exec `ls`"]);
    check("cd a && cd b && ls > out", &["write `a/b/out`", "write anything", "exec `$PWD/out`", "exec `ls`"]);
    // Without a sandbox nothing judges the file when the line runs, so that it may be each of them.
    let free = line::accesses_under(Confinement::None, "", "cd sub && ls > out");
    for path in ["out", "sub/out"] {
        assert!(free.contains(&Access::path(Capability::Write, path)), "{free:?}");
    }
    check("cd \"$x\"; ls > out", &["write anything", "exec `$PWD/out`", "exec `ls`"]);
    check("ls > \"$x\"", &["network anything", "exec `\"$x\"`", "write anything", "exec `ls`"]);
    check("cat < $f.txt", &["network anything", "exec `$f.txt`", "read anything", "exec `cat`"]);
    check("cat < in/$f.txt", &["read anything", "exec `cat`"]);
    check("ls > ~/x", &["write `~/x`", "exec `~/x`", "exec `ls`"]);
    // No rule opens start-up files of the temporary home folder, and /tmp is the command's own.
    check("ls > ~/.bash_profile", &["write anything", "exec `~/.bash_profile`", "exec `ls`"]);
    check("ls > /etc/x", &["exec `/etc/x`", "write `/etc/x`", "exec `ls`"]);
    check("ls > ../x", &["exec `../x`", "write `../x`", "exec `ls`"]);
    check_in("sub", "ls > ../x", &["write `x`", "exec `ls`"]);
    check(
        "ls | tee ~/x out",
        &["exec `ls`", "exec `tee ~/x out`", "write `~/x`", "exec `~/x`", "write `out`"],
    );
    check("ls > /tmp/.profile", &["exec `/tmp/.profile`", "write anything", "exec `ls`"]);
    check("cd ~; ls > .x*", &["write anything", "exec `\".x*\"`", "exec `ls`"]);
    check("cd /home; ls > x*", &["write anything", "exec `\"x*\"`", "exec `ls`"]);
    check("sed -i s/a/b/ src/*.rs", &["exec `sed -i s/a/b/ src/*.rs`", "write anything"]);
    check("cat < /dev/tcp/example.com/80", &["network `example.com`", "exec `cat`"]);
    check("git log --output=x", &["exec `git log --output=x`", "write `x`"]);
    check("sed -i s/a/b/ src/a.rs", &["exec `sed -i s/a/b/ src/a.rs`", "write `src/a.rs`"]);
    check("find . -name x -delete", &["exec `find . -name x -delete`", "write anything"]);
}

#[test]
fn proposals_are_narrow() {
    for (line, expected) in [
        ("cargo test --all", vec!["cargo test *"]),
        ("git log -3 | head", vec!["git log *", "head *"]),
        ("npm run build", vec!["npm run build"]),
        ("rm -rf target", vec!["rm -rf target"]),
        ("rm \"$x\"", vec![]),
        ("python3 -c 'print(1)'", vec!["python3 -c 'print(1)'"]),
        ("curl https://example.com", vec!["curl https://example.com"]),
        ("sudo ls", vec!["sudo ls", "ls *"]),
        ("git push origin main", vec!["git push origin main"]),
        ("bash x.sh", vec!["bash x.sh"]),
        ("python3 x.py", vec!["python3 x.py"]),
        ("python3 - <<'E'\nx\nE", vec![]),
        ("echo x | node", vec![]),
        ("git -C sub log", vec!["git -C sub log", "git log *"]),
        ("eval \"$x\"", vec![]),
        ("node a.js 'x*'", vec![r"node a.js 'x\*'"]),
    ] {
        assert_eq!(line::proposal(line), expected, "{line}");
    }
    for line in
        ["cargo test --all", "git log -3 | head", "rm -rf target", "node a.js 'x*' 'it is'", "sudo ls"]
    {
        let rules = line::proposal(line);
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        assert_eq!(decide(&policy(&rules), line), Effect::Allow, "{line}");
    }
}

/// What this thread has had of a processor, whatever else goes on.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn guarantee_23_a_hostile_line_is_judged_quickly() {
    let big = 1_000_000;
    let deep = 100_000;
    let lines = [
        "a".repeat(big),
        "(".repeat(deep),
        "$(".repeat(49_000),
        "`".repeat(deep),
        "{ ".repeat(49_000),
        "\"$(".repeat(33_000),
        "if ".repeat(33_000),
        "a;".repeat(49_000),
        "a|".repeat(49_000),
        "<<A ".repeat(24_000),
        "${x:-".repeat(19_000),
        "$((".repeat(33_000),
        "[[ ".repeat(33_000),
        "eval ".repeat(19_000),
        "a=(".repeat(33_000),
        "case x in ".repeat(9_900),
        "sh -c '".repeat(14_000),
        "x ".repeat(49_000),
        "x\\ ".repeat(33_000),
        "x{".repeat(49_000),
        "cat <<A\n".repeat(12_000),
        "$x".repeat(49_000),
        format!("{}{}", "(".repeat(30), ")".repeat(30)),
        format!("git log{}", "; git log".repeat(10_000)),
    ];
    for line in &lines {
        let started = processor_time();
        let accesses = line::accesses(line);
        let took = processor_time() - started;
        println!("{took:?} {:?}", &line[..20]);
        assert!(took.as_millis() < 3_000, "{took:?} for {:?}", &line[..20]);
        assert!(!accesses.is_empty());
    }
    for line in &lines[..2] {
        assert_eq!(line::accesses(line), [Access::any(Capability::Exec), Access::any(Capability::Network)]);
    }
}
