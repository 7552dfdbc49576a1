//! Commands that need no shell: a program and words that mean what they say.

/// Names that a shell gives a meaning of its own. `true` and `false` are not among them: theirs is the same.
const OF_THE_SHELL: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
];

/// The words of a line that a shell would only pass on; none if it would do more.
pub(super) fn words(line: &str) -> Option<Vec<&str>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@%+,- ".contains(&byte);
    if !line.bytes().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let first = words.first()?;
    let is_program = !first.contains('=') && !first.starts_with(['-', '%']) && !OF_THE_SHELL.contains(first);
    is_program.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_pass_on_is_taken() {
        for (line, expected) in [
            ("cargo test --all", Some(vec!["cargo", "test", "--all"])),
            ("  git   log -5 ", Some(vec!["git", "log", "-5"])),
            ("./run a=b", Some(vec!["./run", "a=b"])),
            ("true", Some(vec!["true"])),
            ("", None),
            ("A=1 b", None),
            ("echo hi", None),
            ("cd src", None),
            ("ls *.rs", None),
            ("ls ~", None),
            ("a | b", None),
            ("a\nb", None),
            ("a\tb", None),
            ("echo $x", None),
            ("ls 'a'", None),
            ("ls ü", None),
        ] {
            assert_eq!(words(line), expected, "{line:?}");
        }
    }
}
