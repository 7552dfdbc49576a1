//! What the reader says that a line runs, as far as it is known, and whether a program that started is among it.

use super::recorder::Started;
use toolpost_core::access::Resource;
use toolpost_core::{Access, Capability};
use toolpost_tools::shell::line;

/// One command that was told: a program and words, some of which are only known when the line runs.
#[derive(Debug)]
pub(super) struct Told(Vec<Part>);

#[derive(Debug)]
enum Part {
    Word(String),
    /// One word that begins so.
    One(String),
    /// Any number of words, of which the first begins so.
    Many(String),
}

/// All that the reader tells of a line; none if it cannot tell.
pub(super) fn told(line: &str) -> Option<Vec<Told>> {
    let accesses = line::accesses(line);
    if accesses.contains(&Access::any(Capability::Exec)) {
        return None;
    }
    let commands = accesses.iter().filter_map(|access| match &access.resource {
        Resource::Command(text) => Some(Told(parts(text))),
        Resource::Path(_) | Resource::Stored(_) | Resource::Host(_) | Resource::Any => None,
    });
    Some(commands.collect())
}

/// Reads the text of an access: words between blanks, in quotes where they need them.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut letters = text.chars().peekable();
    while letters.peek().is_some() {
        let mut word = String::new();
        let mut kind: fn(String) -> Part = Part::Word;
        let mut is_many = false;
        let mut known = true;
        while let Some(letter) = letters.next_if(|letter| *letter != ' ') {
            let is_alone = word.is_empty() && matches!(letters.peek(), None | Some(' '));
            let may_be_home = word.is_empty() || word.ends_with(['=', ':']);
            let mut add = |more: char| {
                if known {
                    word.push(more);
                }
            };
            match letter {
                '\'' => {
                    while let Some(inside) = letters.next_if(|inside| *inside != '\'') {
                        add(inside);
                    }
                    letters.next();
                }
                '\\' => letters.next().into_iter().for_each(add),
                '$' if letters.peek() == Some(&'\'') => {
                    letters.next();
                    while let Some(inside) = letters.next_if(|inside| *inside != '\'') {
                        add(match (inside, (inside == '\\').then(|| letters.next()).flatten()) {
                            ('\\', Some('n')) => '\n',
                            ('\\', Some('t')) => '\t',
                            ('\\', Some('u')) => {
                                let digits: String = letters.by_ref().take(4).collect();
                                char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                            }
                            ('\\', Some(other)) => other,
                            _ => inside,
                        });
                    }
                    letters.next();
                }
                '"' => {
                    let mut inside = String::new();
                    while let Some(letter) = letters.next_if(|letter| *letter != '"') {
                        inside.push(letter);
                    }
                    letters.next();
                    known = false;
                    is_many |= inside.contains('@');
                    kind = Part::One;
                }
                '~' if !may_be_home => add(letter),
                '$' | '*' | '?' | '~' | '<' => (known, is_many) = (false, true),
                '[' if !is_alone => {
                    (known, is_many) = (false, true);
                }
                '{' if letters.peek() == Some(&'…') => (known, is_many) = (false, true),
                letter => add(letter),
            }
        }
        letters.next();
        parts.push(if is_many { Part::Many(word) } else { kind(word) });
    }
    parts
}

/// Whether the program is one of those that were told, with the same arguments.
pub(super) fn has(told: &[Told], started: &Started) -> bool {
    told.iter().any(|told| {
        let Some((Part::Word(name), parts)) = told.0.split_first() else { return false };
        let is_program = match name.contains('/') {
            true if name.starts_with('/') => *name == started.path,
            true => started.path == format!("/work/{}", name.trim_start_matches("./")),
            // Some programs look in the folders of the system when they are given no path.
            false => ["/usr/bin", "/bin"].iter().any(|folder| started.path == format!("{folder}/{name}")),
        };
        let arguments: Vec<&str> = started.arguments[1..].iter().map(String::as_str).collect();
        is_program
            && (covers(parts, &arguments) || (name == "git" && covers(parts, &without_looks(&arguments))))
    })
}

/// `git --no-pager log` is told as `git log`.
fn without_looks<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let looks = ["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];
    let mut kept = Vec::new();
    let mut rest = arguments;
    loop {
        rest = match rest {
            [first, after @ ..] if looks.contains(first) => after,
            ["-C", folder, after @ ..] => {
                kept.extend(["-C", folder]);
                after
            }
            _ => break,
        };
    }
    kept.extend(rest);
    kept
}

fn covers(parts: &[Part], arguments: &[&str]) -> bool {
    let Some((part, parts)) = parts.split_first() else { return arguments.is_empty() };
    match part {
        Part::Word(word) => {
            arguments.split_first().is_some_and(|(first, rest)| first == word && covers(parts, rest))
        }
        Part::One(beginning) => arguments
            .split_first()
            .is_some_and(|(first, rest)| first.starts_with(beginning.as_str()) && covers(parts, rest)),
        Part::Many(beginning) => {
            let may_begin = arguments.first().is_none_or(|first| first.starts_with(beginning.as_str()));
            (may_begin || beginning.is_empty())
                && (0..=arguments.len()).any(|count| covers(parts, &arguments[count..]))
        }
    }
}
