//! Which protected files of a repository a subcommand of git writes, where its arguments tell.
//!
//! This only lets a line be refused before it runs rather than in the middle. What is not told here is judged by the
//! sandbox when it is written.

use super::super::effect::Effect;
use super::super::word::Word;

const CONFIG: Effect = Effect::Repository(".git/config");

/// Options of `init`, `clone` and `worktree add` that take the next word as their value.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "-b", "-B", "-o", "-j", "--branch", "--initial-branch", "--object-format", "--ref-format", "--origin", "--depth",
    "--jobs", "--reference", "--reference-if-able", "--filter", "--shallow-since", "--shallow-exclude", "--bundle-uri",
    "--server-option", "--reason",
];

/// Options by which the repository lies elsewhere.
const ELSEWHERE: &[&str] = &["--bare", "--mirror", "--separate-git-dir"];

/// Names that remotes usually have: what begins with one is a branch of a remote.
const REMOTES: &[&str] = &["origin/", "upstream/"];

pub(super) fn effects(subcommand: &str, arguments: &[Word]) -> Vec<Effect> {
    // Where one is computed, the others may not be what they seem.
    let Some(texts) = arguments.iter().map(Word::literal).collect::<Option<Vec<String>>>() else {
        return Vec::new();
    };
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let has = |wanted: &[&str]| texts.iter().any(|text| wanted.contains(text));
    match (subcommand, texts.as_slice()) {
        (_, words) if words.iter().any(|word| matches!(*word, "-h" | "--help")) => Vec::new(),
        ("init" | "init-db", words) if !is_elsewhere(words) => {
            let folder = operands(words).first().copied().unwrap_or("");
            vec![new_in(folder)]
        }
        ("clone", words) if !is_elsewhere(words) => match operands(words).as_slice() {
            [_, folder] => vec![new_in(folder)],
            [address] => vec![new_in(name_of(address))],
            _ => Vec::new(),
        },
        ("worktree", ["add", words @ ..]) => match operands(words).first() {
            Some(folder) => vec![Effect::Repository(".git/worktrees"), new_in(folder)],
            None => Vec::new(),
        },
        ("remote", ["add" | "rm" | "remove" | "rename" | "set-url" | "set-branches", _, ..]) => vec![CONFIG],
        ("branch", words)
            if has(&["-u", "--unset-upstream", "--edit-description"])
                || has_long(words, "--set-upstream-to") =>
        {
            vec![CONFIG]
        }
        ("push", _) if has(&["-u", "--set-upstream"]) => vec![CONFIG],
        ("checkout" | "switch", words) => {
            let is_remote = |word: &&str| REMOTES.iter().any(|remote| word.starts_with(remote));
            let is_new = has(&["-b", "-B", "-c", "-C"]) && words.iter().any(is_remote);
            let is_tracked = (is_new || has(&["-t", "--track"])) && !has(&["--no-track"]);
            if is_tracked { vec![CONFIG] } else { Vec::new() }
        }
        ("submodule", ["add", ..]) => {
            [".gitmodules", ".git/config", ".git/modules"].map(Effect::Repository).into()
        }
        ("submodule", ["init" | "deinit" | "sync", ..]) => vec![CONFIG],
        _ => Vec::new(),
    }
}

fn is_elsewhere(words: &[&str]) -> bool {
    ELSEWHERE.iter().any(|option| has_long(words, option))
}

fn has_long(words: &[&str], option: &str) -> bool {
    let is =
        |word: &&str| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    words.iter().any(is)
}

/// The words that are neither options nor their values.
fn operands<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut operands = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--" => {
                operands.extend(words.by_ref());
            }
            option if VALUED.contains(&option) => drop(words.next()),
            option if option.starts_with('-') => {}
            operand => operands.push(operand),
        }
    }
    operands
}

fn new_in(folder: &str) -> Effect {
    let folder = folder.trim_end_matches('/');
    Effect::NewRepository(if folder.is_empty() { ".git".to_owned() } else { format!("{folder}/.git") })
}

/// The folder that `git clone` makes of an address.
fn name_of(address: &str) -> &str {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix("/.git").unwrap_or(address);
    let last = address.rsplit(['/', ':']).next().unwrap_or(address);
    last.strip_suffix(".git").unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_of_git_writes_is_told() {
        for (line, expected) in [
            ("init", ".git"),
            ("init -q -b main", ".git"),
            ("init --initial-branch main pkg/", "pkg/.git"),
            ("init --bare x.git", ""),
            ("clone https://example.org/a/tool.git", "tool/.git"),
            ("clone git@example.org:a/tool", "tool/.git"),
            ("clone --depth 1 -b main ../x/.git sub/y", "sub/y/.git"),
            ("clone --mirror x y", ""),
            ("worktree add -b topic ../tree", ".git/worktrees ../tree/.git"),
            ("worktree list", ""),
            ("remote add origin x", ".git/config"),
            ("remote -v", ""),
            ("remote show origin", ""),
            ("branch -u origin/main", ".git/config"),
            ("branch --set-upstream-to=origin/main", ".git/config"),
            ("branch -a", ""),
            ("push -u origin main", ".git/config"),
            ("push origin main", ""),
            ("checkout -b topic origin/main", ".git/config"),
            ("checkout --no-track -b topic origin/main", ""),
            ("checkout -b feature/x", ""),
            ("switch -c topic", ""),
            ("submodule add x y", ".gitmodules .git/config .git/modules"),
            ("init --help", ""),
            ("status", ""),
        ] {
            let words: Vec<Word> = line.split(' ').map(Word::literal_of).collect();
            let subcommand = words[0].literal().unwrap();
            let told: Vec<String> = effects(&subcommand, &words[1..])
                .into_iter()
                .map(|effect| match effect {
                    Effect::NewRepository(folder) => folder,
                    Effect::Repository(file) => file.to_owned(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(told.join(" "), expected, "{line}");
        }
    }
}
