//! Wildcards over plain text: `*` is any run of characters, `?` is one, `\` takes the next character as it is.
//!
//! Time is bounded by the product of both lengths; nothing is allocated. Paths are matched in `pattern.rs`.

/// Stands for a blank in quotes, which separates no words.
const QUOTED_BLANK: char = '\u{E0A0}';

/// Whether the pattern matches the whole command line. A blank of the pattern stands for one blank or several between
/// words, never for one in quotes, and a pattern that ends in ` *` also matches the command without arguments.
///
/// A program of the workspace may be written with `./` or without: `./scripts/test` and `scripts/test` are the same.
pub fn command_matches(pattern: &str, command: &str) -> bool {
    let command = command.trim_matches([' ', '\t']);
    let other = command.strip_prefix("./").filter(|rest| program_has_folder(rest));
    text_matches(pattern, command) || other.is_some_and(|other| text_matches(pattern, other))
}

fn program_has_folder(command: &str) -> bool {
    command.split(' ').next().is_some_and(|program| program.contains('/') && !program.starts_with(['/', '.']))
}

fn text_matches(pattern: &str, command: &str) -> bool {
    let command = Blanks::of_command(command);
    matches(Blanks::of_pattern(pattern), command.clone())
        || pattern
            .strip_suffix(" *")
            .is_some_and(|bare| !bare.ends_with('\\') && matches(Blanks::of_pattern(bare), command))
}

/// The characters of a command or a pattern, with the blanks that stand in quotes changed into another character, so
/// that `git * --dry-run *` is not met by a message that says `--dry-run`.
#[derive(Clone)]
struct Blanks<'a> {
    letters: std::str::Chars<'a>,
    quote: Option<char>,
    is_escaped: bool,
    /// In a pattern a backslash takes the next character as it is, and only what remains is a command's.
    is_pattern: bool,
    is_taken: bool,
}

impl<'a> Blanks<'a> {
    fn of_command(text: &'a str) -> Blanks<'a> {
        Blanks { letters: text.chars(), quote: None, is_escaped: false, is_pattern: false, is_taken: false }
    }

    fn of_pattern(text: &'a str) -> Blanks<'a> {
        Blanks { is_pattern: true, ..Blanks::of_command(text) }
    }
}

impl Iterator for Blanks<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let letter = self.letters.next()?;
        if self.is_pattern && !self.is_taken && letter == '\\' {
            self.is_taken = true;
            return Some(letter);
        }
        self.is_taken = false;
        if self.is_escaped {
            self.is_escaped = false;
            return Some(letter);
        }
        match (self.quote, letter) {
            (None, '\'' | '"') => self.quote = Some(letter),
            (Some(quote), letter) if letter == quote => self.quote = None,
            // In `'…'` a backslash is itself; in `$'…'` the canonical text of a quote is `\'`.
            (None | Some('"'), '\\') => self.is_escaped = true,
            (Some(_), ' ' | '\t') => return Some(QUOTED_BLANK),
            _ => {}
        }
        Some(letter)
    }
}

/// Whether the pattern matches the host, whatever its case and a final dot.
pub fn host_matches(pattern: &str, host: &str) -> bool {
    let host = host.trim().trim_end_matches('.');
    matches(
        pattern.chars().map(|letter| letter.to_ascii_lowercase()),
        host.chars().map(|letter| letter.to_ascii_lowercase()),
    )
}

/// Whether the pattern matches the whole name of a tool.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    matches(pattern.chars(), name.chars())
}

/// Whether the pattern has a character with a meaning of its own.
pub fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?', '\\'])
}

/// The pattern that matches exactly this text.
pub fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '\\' | '[' | ']' | '{' | '}') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Whether the pattern matches the whole text.
///
/// Only the last `*` is ever tried again, one character further on, which is enough and keeps the time bounded.
pub fn matches(
    pattern: impl Iterator<Item = char> + Clone,
    text: impl Iterator<Item = char> + Clone,
) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    let mut last_star = None;
    loop {
        let mut rest = pattern.clone();
        match rest.next() {
            None if text.clone().next().is_none() => return true,
            Some('*') => {
                last_star = Some((rest.clone(), text.clone()));
                pattern = rest;
                continue;
            }
            Some(letter) => {
                let wanted = match letter {
                    '\\' => Wanted::Exactly(rest.next().unwrap_or('\\')),
                    '?' => Wanted::Anything,
                    ' ' => Wanted::Blanks,
                    other => Wanted::Exactly(other),
                };
                if let Some(after) = step(wanted, text.clone()) {
                    (pattern, text) = (rest, after);
                    continue;
                }
            }
            None => {}
        }
        let Some((after_star, from)) = &mut last_star else { return false };
        if from.next().is_none() {
            return false;
        }
        (pattern, text) = (after_star.clone(), from.clone());
    }
}

enum Wanted {
    Exactly(char),
    Anything,
    Blanks,
}

fn step<T: Iterator<Item = char> + Clone>(wanted: Wanted, mut text: T) -> Option<T> {
    let letter = text.next()?;
    match wanted {
        Wanted::Exactly(wanted) => (letter == wanted).then_some(text),
        Wanted::Anything => Some(text),
        Wanted::Blanks => {
            // The end of a line begins another command, and other blanks of Unicode are letters to a shell.
            if !matches!(letter, ' ' | '\t') {
                return None;
            }
            loop {
                let mut rest = text.clone();
                match rest.next() {
                    Some(' ' | '\t') => text = rest,
                    _ => return Some(text),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        for (pattern, command, expected) in [
            ("*", "anything at all", true),
            ("cargo test *", "cargo test", true),
            ("cargo test *", "cargo test --all -- a/b", true),
            ("cargo test *", "cargo  test   x", true),
            ("cargo test *", "cargo testing", false),
            ("cargo test*", "cargo testing", true),
            ("cargo test", "cargo test x", false),
            ("cargo test", "  cargo test ", true),
            ("git * --force", "git push origin --force", true),
            ("git * --force", "git push --force origin", false),
            ("*a*b*c", "xxaxxbxxbxc", true),
            ("*a*b*c", "xxaxxbxxbx", false),
            ("ls ?", "ls x", true),
            ("ls ?", "ls xy", false),
            (r"echo \*", "echo *", true),
            (r"echo \*", "echo x", false),
            (r"echo \ *", "echo", false),
            ("git log *", "git\nlog x", false),
            ("git log *", "git\u{a0}log x", false),
            ("git * --dry-run *", "git push --dry-run x", true),
            ("git * --dry-run *", "git push 'a --dry-run b'", false),
            ("git * --dry-run *", r"git push 'it'\''s --dry-run b' x", false),
            ("git commit -m 'a b'", "git commit -m 'a b'", true),
            (r"echo 'it'\\''s a *'", r"echo 'it'\''s a *'", true),
            ("git commit *", "git commit -m 'a b'", true),
            ("./scripts/test *", "./scripts/test x", true),
            ("scripts/test *", "./scripts/test x", true),
            ("run *", "./run x", false),
            ("etc/x *", ".//etc/x", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(command_matches(pattern, command), expected, "{pattern:?} {command:?}");
        }
    }

    #[test]
    fn hosts_ignore_case_and_a_final_dot() {
        assert!(host_matches("*.Example.com", "API.example.COM."));
        assert!(!host_matches("*.example.com", "example.com"));
        assert!(!host_matches("example.com", "example.com.evil.org"));
    }

    #[test]
    fn guarantee_23_a_pattern_of_many_stars_is_bounded() {
        let started = std::time::Instant::now();
        assert!(!command_matches(
            &"*a".repeat(500),
            &"a".repeat(400).repeat(20).replace("aaaa", "aaab")[..499]
        ));
        assert!(!command_matches(&format!("{}b", "*a".repeat(499)), &"a".repeat(20_000)));
        assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
    }
}
