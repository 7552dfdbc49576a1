//! Resources in the notation of something else: regular expressions, lists, whole rules, paths of Windows. Each of these matches
//! only names that hardly anything has. A `\` before a sign takes its meaning away, and is how such a name is written.

use super::OddResource;

/// What a resource is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Path,
    Command,
}

/// The notation that a resource seems to be in, where that is another one than a glob.
pub(super) fn notation(text: &str, subject: Subject) -> Option<OddResource> {
    let what = match subject {
        Subject::Path => "path",
        Subject::Command => "command",
    };
    let useless = |message: String| OddResource::useless(message);
    if let Some((action, rest)) = action_before(text, subject) {
        return useless(format!(
            "`{text}` begins with the action `{action}`, where only the {what} belongs; write `{rest}`"
        ));
    }
    let bare = unescaped(text, subject);
    let first = match subject {
        Subject::Path => bare.as_str(),
        Subject::Command => bare.split(' ').next().unwrap_or_default(),
    };
    if first.starts_with('^') || bare.ends_with('$') || is_between_slashes(first, subject) {
        return useless(format!(
            "`{text}` is a regular expression, and resources are globs; write `*` for any letters"
        ));
    }
    if first.len() > 1 && first.starts_with('!') {
        return useless(format!(
            "`{text}` begins with `!`, which takes nothing out; write a rule that allows, above this one, or `\\!` for a name that begins so"
        ));
    }
    let choices = match subject {
        Subject::Path => {
            ["+(", "@(", "?(", "*(", "!("].into_iter().find(|open| bare.contains(open) && bare.contains(')'))
        }
        Subject::Command => ["(", "{", "["].into_iter().find(|open| first.contains(open) && first.len() > 2),
    };
    if let Some(open) = choices {
        let advice = match subject {
            Subject::Path => "write `{a,b}` for one of several, or `*`",
            Subject::Command => {
                "only `*` and `?` have a meaning in the name of a program; write a rule for each"
            }
        };
        return useless(format!("`{text}` has `{open}`, which is taken literally; {advice}"));
    }
    if let Some(mark) = list_mark(&bare, first, subject) {
        return useless(format!(
            "`{text}` is a list (`{mark}`), and a rule has one resource; write a rule for each, or `\\{mark}` for a name with it"
        ));
    }
    if subject == Subject::Path {
        if text.len() > 1
            && ["\"", "'", "`"].iter().any(|mark| text.starts_with(mark) && text.ends_with(mark))
        {
            return useless(format!(
                "`{text}` is in quotes, which belong to the path here; write it without"
            ));
        }
        if has_windows_separator(text) {
            return useless(format!(
                "`{text}` has a `\\`, which is no separator; write `{}`",
                text.replace('\\', "/")
            ));
        }
    }
    None
}

/// An action and what follows it, as in `write: src/**` and `write(src/**)`.
fn action_before(text: &str, subject: Subject) -> Option<(&str, &str)> {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_')
    };
    if let Some((word, rest)) = text.split_once(": ").filter(|(word, _)| is_word(word)) {
        return Some((word, rest.trim()));
    }
    let (word, rest) = text.strip_suffix(')')?.split_once('(')?;
    (subject == Subject::Path && is_word(word) && !rest.is_empty()).then_some((word, rest))
}

/// The text with every escaped sign made a letter, and for commands also what is in quotes.
fn unescaped(text: &str, subject: Subject) -> String {
    let (mut bare, mut quote, mut letters) = (String::with_capacity(text.len()), None, text.chars());
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (_, '\\') => bare.extend(letters.next().map(|_| 'x')),
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => bare.push('x'),
            (None, '"' | '\'') if subject == Subject::Command => quote = Some(letter),
            (None, letter) => bare.push(letter),
        }
    }
    bare
}

/// A regular expression between two slashes. In paths a folder of the root is written like that.
fn is_between_slashes(first: &str, subject: Subject) -> bool {
    let inner = first.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    match subject {
        Subject::Path => false,
        Subject::Command => inner.is_some_and(|inner| !inner.is_empty()),
    }
}

/// What stands between the items of a list, outside of braces.
fn list_mark(bare: &str, first: &str, subject: Subject) -> Option<&'static str> {
    let mut depth = 0_usize;
    let outside: String = bare
        .chars()
        .filter(|letter| {
            depth = match letter {
                '{' => depth + 1,
                '}' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0
        })
        .collect();
    // `a.txt,v` is the name of a file of RCS.
    let is_item = |item: &str| item.trim().contains(['.', '/', '*']);
    match subject {
        Subject::Path if outside.contains(';') => Some(";"),
        Subject::Path if outside.contains('|') => Some("|"),
        Subject::Path if outside.contains(", ") => Some(","),
        Subject::Path => outside.split_once(',').filter(|(_, rest)| is_item(rest)).map(|_| ","),
        Subject::Command => (first.len() > 1 && first.contains(',') || outside.contains(", ")).then_some(","),
    }
}

/// Whether a `\` stands before a letter, where it has nothing to escape.
fn has_windows_separator(text: &str) -> bool {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\'
            && letters.next().is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '.'))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Subject, notation};

    #[test]
    fn other_notations_are_told_from_globs() {
        for (text, expected) in [
            ("write: src/*", "begins with the action `write`"),
            ("write(src/*)", "begins with the action `write`"),
            ("^src/.*", "regular expression"),
            ("src/a\\.rs$", "regular expression"),
            ("!keep.txt", "begins with `!`"),
            ("a.txt, b.txt", "is a list (`,`)"),
            ("a.txt,b.txt", "is a list (`,`)"),
            ("src/*;lib/*", "is a list (`;`)"),
            ("(a|b).txt", "is a list (`|`)"),
            ("src/+(a)b", "has `+(`"),
            ("\"src/a.rs\"", "is in quotes"),
            ("src\\a.rs", "write `src/a.rs`"),
            ("{a,b}.txt", ""),
            ("a.txt,v", ""),
            ("\\!keep.txt", ""),
            ("a (copy).txt", ""),
            ("[^a]*.rs", ""),
            ("a\\[1\\].txt", ""),
            ("/.config/", ""),
        ] {
            let found = notation(text, Subject::Path).map_or_else(String::new, |odd| odd.message);
            assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{text}: {found}");
        }
        for (text, expected) in [
            ("bash: rm *", "begins with the action `bash`"),
            ("^rm", "regular expression"),
            ("/rm/", "regular expression"),
            ("!ls", "begins with `!`"),
            ("rm,mv", "is a list (`,`)"),
            ("rm *, mv *", "is a list (`,`)"),
            ("{rm,mv} *", "has `{`"),
            ("r[m] *", "has `[`"),
            ("(rm) *", "has `(`"),
            ("[ -f *", ""),
            ("! *", ""),
            ("awk '{print $1, $2}' *", ""),
            ("find * -exec rm {} *", ""),
            ("git commit -m \"a, b\"", ""),
            ("/bin/rm *", ""),
            ("g++ *", ""),
        ] {
            let found = notation(text, Subject::Command).map_or_else(String::new, |odd| odd.message);
            assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{text}: {found}");
        }
    }
}
