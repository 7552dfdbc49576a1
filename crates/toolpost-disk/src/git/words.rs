//! The words of a command line or a script that may name a file: no shell is understood here, only its words.

/// Programs that run the file they are given.
pub(super) const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "ash",
    "source",
    ".",
    "exec",
    "env",
    "python",
    "python2",
    "python3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "ruby",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "Rscript",
    "osascript",
    "pwsh",
    "awk",
    "sed",
    "make",
    "java",
    "groovy",
    "julia",
    "xargs",
    "nohup",
    "sudo",
];

/// A word that may name a file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Whether it follows a program that runs the file it is given.
    pub(crate) is_run: bool,
    /// Whether it continues a word whose beginning is known only when it runs, such as `$ROOT/lint.sh`.
    pub(crate) is_continued: bool,
}

/// The words of a text. `#` begins a comment where a shell would take it for one.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for line in text.replace("\\\n", "").lines() {
        for command in without_comment(line).split([';', '|', '&', '`', '(']) {
            of_command(command, &mut words);
        }
    }
    words.sort();
    words.dedup();
    words
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') if before.is_whitespace() => return &line[..at],
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
        before = letter;
    }
    line
}

fn of_command(command: &str, words: &mut Vec<Word>) {
    let mut is_run = false;
    let mut letters = command.char_indices().peekable();
    let mut is_continued = command.starts_with(')');
    while let Some((start, letter)) = letters.next() {
        match letter {
            '$' => {
                skip_variable(&mut letters);
                is_continued = true;
            }
            ')' | '}' => is_continued = true,
            // `"$(dirname "$0")"/lint.sh`
            '"' | '\'' => {}
            letter if is_of_name(letter) => {
                let mut end = start + letter.len_utf8();
                while let Some((at, letter)) =
                    letters.peek().copied().filter(|(_, letter)| is_of_name(*letter))
                {
                    end = at + letter.len_utf8();
                    letters.next();
                }
                let text = &command[start..end];
                let is_option = text.starts_with('-');
                if !is_option && !text.starts_with("//") {
                    words.push(Word { text: text.to_owned(), is_run, is_continued });
                }
                let last = text.rsplit('/').next().unwrap_or(text);
                is_run = is_run || INTERPRETERS.contains(&last);
                is_continued = false;
            }
            _ => is_continued = false,
        }
    }
}

fn skip_variable(letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    if letters.next_if(|(_, letter)| *letter == '{').is_some() {
        for (_, letter) in letters.by_ref() {
            if letter == '}' {
                return;
            }
        }
        return;
    }
    if letters.next_if(|(_, letter)| letter.is_ascii_digit() || "@*#?!$-".contains(*letter)).is_some() {
        return;
    }
    while letters.next_if(|(_, letter)| letter.is_ascii_alphanumeric() || *letter == '_').is_some() {}
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || "_./+@%~-,".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words(text)
            .into_iter()
            .map(|word| {
                let run = if word.is_run { "!" } else { "" };
                let continued = if word.is_continued { "…" } else { "" };
                format!("{run}{continued}{}", word.text)
            })
            .collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_that_may_name_files() {
        check("./lint.sh --fix src/a # ./no.sh", &["./lint.sh", "src/a"]);
        check("python3 -u check.py", &["python3", "!check.py"]);
        check("#!/bin/sh\nexec scripts/run \"$@\"", &["exec", "!scripts/run"]);
        check("\"$ROOT/tools/x.sh\"", &["…/tools/x.sh"]);
        check(". \"$(dirname -- \"$0\")/_/h.sh\"", &[".", "dirname", "…/_/h.sh"]);
        check("${DIR:-a}/b.sh; c", &["…/b.sh", "c"]);
        check("curl https://example.com/x", &["curl", "https"]);
        check("X='a b' \"it's #\" y", &["X", "a", "b", "it", "s", "y"]);
    }
}
