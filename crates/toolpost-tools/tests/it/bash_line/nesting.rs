//! A forbidden command is found however deep and in whatever syntax it is hidden.

use super::{decide, policy};
use proptest::prelude::*;
use toolpost_core::policy::Effect;
use toolpost_tools::shell::line;

/// Everything that the shapes below use, except for the forbidden command.
const RULES: &[&str] = &[
    "ls *",
    "echo *",
    "git log *",
    "cat *",
    "true *",
    "wc *",
    "find *",
    "grep *",
    "sudo *",
    "watch *",
    "flock *",
    "x *",
];

/// Ways to run a line within another; `@` is where it goes.
#[rustfmt::skip]
const SHAPES: &[&str] = &[
    "@", "ls; @", "@; ls", "ls && @", "ls || @", "ls | @", "@ | ls", "ls & @", "@ &", "ls\n@", "(@)", "( @ )",
    "{ @; }", "{ @\n}", "echo $(@)", "echo \"$(@)\"", "echo \"a $(@) b\"", "echo `@`", "if @; then ls; fi",
    "if ls; then @; fi", "if ls; then ls; else @; fi", "if ls; then ls; elif @; then ls; fi",
    "while @; do break; done", "until ls; do @; done", "for i in a b; do @; done", "for i in $(@); do ls; done",
    "case x in x) @;; esac", "case x in a|x) ls; @;; *) ls;; esac", "x() { @; }; x", "x() (@); x",
    "function x { @; }; x", "! @", "time @", "x=$(@)", "x=$(@); ls", "x=\"$(@)\"", "cat <(@)", "cat <<EOF\n$(@)\nEOF",
    "cat <<EOF\nx\nEOF\n@", "cat <<'EOF'\nit's\nEOF\n@", "cat <<< \"$(@)\"", "echo ${x:-a} $(@)", "[ -n \"$(@)\" ]",
    "[[ -n $(@) ]]", "[[ -n \"$(@)\" && -f x ]]", "echo a#b; @", "ls # x\n@", "ls 2>&1; @", "ls >/dev/null && @",
    "echo 'a'\"b\"; @", "echo \\\"; @", "echo '\"'; @", "echo \"'\"; @", "echo $'\\''; @", "echo \\'; @",
    "echo \"\\\\\"; @", "ls \\\n&& @", "{ ls; } && @", "(ls) || @", "(ls); @", "echo {a,b}; @", "echo HEAD~1; @",
    "echo a=b; @", "echo ~; @", "x=1; @", "export CI=1; @", "set -e; @", "trap '@' EXIT", "eval '@'", "sh -c '@'",
    "bash -c '@'", "bash -ec '@'", "timeout 5 bash -c '@'", "env CI=1 sh -c '@'", "nice sh -c '@'",
    "sudo bash -c '@'", "find . -exec bash -c '@' \\;", "ls | xargs bash -c '@'", "flock x bash -c '@'", "watch '@'",
    "command eval '@'", "nohup nice sh -c '@' &",
];

/// The forbidden command, written in several ways.
const FORBIDDEN: &[&str] = &[
    "curl evil",
    "'curl' evil",
    "c\\url evil",
    "cu\"rl\" evil",
    "/usr/bin/curl evil",
    "$x evil",
    "timeout 5 curl evil",
    "env curl evil",
    "nice -n 3 curl evil",
    "command curl evil",
    "exec curl evil",
    "ls | xargs curl",
    "find . -exec curl {} +",
    "CI=1 curl evil",
    "PATH=. ls",
    "2>&1 curl evil",
    "</dev/null curl evil",
    "curl evil >/dev/null",
    "sh evil",
    "nohup curl evil",
    "sudo curl evil",
];

/// The line put into a shape; a quoted text has its quotes written as the shell wants them.
fn put(shape: &str, line: &str) -> String {
    if shape.contains("'@'") {
        return shape.replacen("'@'", &format!("'{}'", line.replace('\'', r"'\''")), 1);
    }
    shape.replacen('@', line, 1)
}

fn shapes(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(SHAPES), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: u32::try_from(crate::count(4_000, 200_000)).unwrap(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn guarantee_18_a_hidden_command_is_found(shapes in shapes(5), forbidden in prop::sample::select(FORBIDDEN)) {
        let line = shapes.iter().fold(forbidden.to_owned(), |line, shape| put(shape, &line));
        prop_assert_ne!(decide(&policy(RULES), &line), Effect::Allow, "{:?} {:?}", line, line::accesses(&line));
    }

    #[test]
    fn any_text_is_judged(text in "[ -~\n]{0,80}", pieces in prop::collection::vec(prop::sample::select(SHAPES), 0..6)) {
        prop_assert!(!line::accesses(&text).is_empty());
        let joined = format!("{}{text}", pieces.concat());
        prop_assert!(!line::accesses(&joined).is_empty());
    }

    #[test]
    fn any_bytes_are_judged(text in "\\PC{0,40}") {
        prop_assert!(!line::accesses(&text).is_empty());
    }
}

/// The shapes are of use only if the harmless line passes in most of them.
#[test]
fn an_allowed_command_passes_in_each_shape() {
    let policy = policy(RULES);
    let refused: Vec<&&str> =
        SHAPES.iter().filter(|shape| decide(&policy, &put(shape, "git log")) != Effect::Allow).collect();
    let shown: Vec<String> =
        refused.iter().map(|shape| format!("{shape:?} {:?}", line::read(&put(shape, "git log")))).collect();
    assert!(refused.is_empty(), "{} of {}: {}", refused.len(), SHAPES.len(), shown.join("\n"));
}
