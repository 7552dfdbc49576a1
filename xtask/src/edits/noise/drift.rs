//! Lines that the model remembers wrongly. What it wants changed is the difference between its strings; a context line
//! is no part of that, so the true file keeps its own. Landing with the wrong memory written into the file is wrong.

use super::{Kind, Noisy, Place, contradictory, is_blank, lossy};
use crate::edits::hunks::Edit;
use crate::edits::random::Random;

pub(super) const KINDS: &[Kind] = &[
    contradictory("drift-word", "a word of a context line differs in both strings", |edit, random| {
        staying(edit, random, other_word)
    }),
    contradictory(
        "drift-prefix",
        "a word of a context line has a prefix such as `in` or `un` in both",
        |edit, random| staying(edit, random, prefixed_word),
    ),
    contradictory("drift-number", "a number of a context line differs in both strings", |edit, random| {
        staying(edit, random, |line, _| {
            let at = line.find(|one: char| one.is_ascii_digit())?;
            let digit = line.as_bytes()[at];
            let other = if digit == b'9' { '1' } else { char::from(digit + 1) };
            Some(format!("{}{other}{}", &line[..at], &line[at + 1..]))
        })
    }),
    contradictory(
        "drift-operator",
        "an operator of a context line differs in both strings",
        |edit, random| {
            staying(edit, random, |line, _| {
                let pairs = [
                    (" == ", " != "),
                    (" < ", " <= "),
                    (" > ", " >= "),
                    (" + ", " - "),
                    ("&&", "||"),
                    (" and ", " or "),
                ];
                let (from, to) = pairs.into_iter().find(|(from, _)| line.contains(from))?;
                Some(line.replacen(from, to, 1))
            })
        },
    ),
    contradictory("drift-negation", "a context line is negated in both strings", |edit, random| {
        staying(edit, random, |line, _| {
            let pairs = [
                ("if (", "if (!"),
                ("if ", "if not "),
                ("return ", "return !"),
                (" is ", " is not "),
                ("true", "false"),
            ];
            let (from, to) = pairs.into_iter().find(|(from, _)| line.contains(from))?;
            Some(line.replacen(from, to, 1))
        })
    }),
    contradictory(
        "drift-literal",
        "a quoted text of a context line differs in both strings",
        |edit, random| {
            staying(edit, random, |line, _| {
                let at = line.find(['"', '\''])? + 1;
                let first = line[at..].chars().next().filter(|one| one.is_alphabetic())?;
                let other = if first == 'x' { "y" } else { "x" };
                Some(format!("{}{other}{}", &line[..at], &line[at + first.len_utf8()..]))
            })
        },
    ),
    contradictory(
        "drift-case",
        "a word of a context line has other capitals in both strings",
        |edit, random| {
            staying(edit, random, |line, random| {
                changed_word(line, random, |word| {
                    let first = word.chars().next()?;
                    let rest = &word[first.len_utf8()..];
                    let other = if first.is_lowercase() {
                        first.to_uppercase().to_string()
                    } else {
                        first.to_lowercase().to_string()
                    };
                    Some(format!("{other}{rest}"))
                })
            })
        },
    ),
    contradictory(
        "drift-semicolon",
        "a context line has lost its last `;` or `,` in both strings",
        |edit, random| staying(edit, random, |line, _| Some(line.strip_suffix([';', ','])?.to_owned())),
    ),
    contradictory("drift-comment", "a context line has lost its comment in both strings", |edit, random| {
        staying(edit, random, |line, _| {
            let at = [" //", "  #", " /*"].into_iter().find_map(|mark| line.find(mark))?;
            (!is_blank(&line[..at])).then(|| line[..at].trim_end().to_owned())
        })
    }),
    contradictory("drift-removed", "a word of a removed line differs in `oldString`", |edit, random| {
        going(edit, random, other_word)
    }),
    contradictory(
        "drift-removed-prefix",
        "a word of a removed line has a prefix such as `in` or `un` in `oldString`",
        |edit, random| going(edit, random, prefixed_word),
    ),
    contradictory(
        "drift-removed-letter",
        "a word of a removed line lacks a letter in `oldString`",
        |edit, random| {
            going(edit, random, |line, random| changed_word(line, random, |word| Some(word[1..].to_owned())))
        },
    ),
    contradictory(
        "drift-first",
        "a word of the first line (context) differs in both strings",
        |edit, random| {
            if edit.head == 0 {
                return None;
            }
            at(edit, (0, 0), random, other_word)
        },
    ),
    contradictory(
        "drift-last",
        "a word of the last line (context) differs in both strings",
        |edit, random| {
            if edit.tail == 0 {
                return None;
            }
            at(edit, (edit.old.len() - 1, edit.new.len() - 1), random, other_word)
        },
    ),
    contradictory(
        "drift-line-lost",
        "a context line between two others is missing in both strings",
        |edit, random| {
            let staying = edit.context();
            let inner = staying.iter().filter(|(old, _)| {
                let stays = |index: usize| staying.iter().any(|(other, _)| *other == index);
                *old > 0 && stays(old - 1) && stays(old + 1) && !is_blank(&edit.old[*old])
            });
            let (old_index, new_index) = **random.pick(&inner.collect::<Vec<_>>())?;
            let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
            old.remove(old_index);
            new.remove(new_index);
            Some(Noisy::lines(edit, &old, &new)?.by_most_lines())
        },
    ),
    lossy(
        "drift-changed-elsewhere",
        "the file has another word in a removed line: which is meant is lost",
        |edit, random| {
            let lines = edit.head..edit.old.len() - edit.tail;
            if lines.is_empty() {
                return None;
            }
            let index = edit.start + lines.start + random.below(lines.len());
            let mut before = edit.before.to_vec();
            before[index] = other_word(&before[index], random)?;
            Noisy::in_file(edit, before, edit.truth())
        },
    ),
];

/// The change in one removed line, in `old`.
fn going(
    edit: &Edit<'_>,
    random: &mut Random,
    change: impl Fn(&str, &mut Random) -> Option<String>,
) -> Option<Noisy> {
    let lines = edit.head..edit.old.len() - edit.tail;
    if lines.is_empty() {
        return None;
    }
    let index = lines.start + random.below(lines.len());
    let mut old = edit.old.clone();
    old[index] = change(&old[index], random)?;
    Some(Noisy::lines(edit, &old, &edit.new)?.by_most_lines())
}

/// The change in one context line, in both strings.
fn staying(
    edit: &Edit,
    random: &mut Random,
    change: impl Fn(&str, &mut Random) -> Option<String>,
) -> Option<Noisy> {
    let lines = edit.context();
    let pair = *random.pick(&lines)?;
    at(edit, pair, random, change)
}

fn at(
    edit: &Edit,
    (old_index, new_index): (usize, usize),
    random: &mut Random,
    change: impl Fn(&str, &mut Random) -> Option<String>,
) -> Option<Noisy> {
    let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
    old[old_index] = change(&old[old_index], random)?;
    new[new_index].clone_from(&old[old_index]);
    Some(Noisy::lines(edit, &old, &new)?.by_most_lines())
}

pub(super) fn other_word(line: &str, random: &mut Random) -> Option<String> {
    changed_word(line, random, |word| Some(format!("{}_other", &word[..word.len() / 2])))
}

fn prefixed_word(line: &str, random: &mut Random) -> Option<String> {
    let prefix = ["in", "un", "is_", "no_"][random.below(4)];
    changed_word(line, random, |word| Some(format!("{prefix}{word}")))
}

/// The line with one word changed; words have at least three letters of ASCII.
fn changed_word(line: &str, random: &mut Random, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut words = Vec::new();
    let mut start = None;
    for (index, one) in line.char_indices().chain([(line.len(), ' ')]) {
        match (one.is_ascii_alphabetic() || one == '_', start) {
            (true, None) => start = Some(index),
            (false, Some(begin)) => {
                words.push(begin..index);
                start = None;
            }
            _ => {}
        }
    }
    words.retain(|word| word.len() > 2);
    let word = random.pick(&words)?.clone();
    Some(format!("{}{}{}", &line[..word.start], change(&line[word.clone()])?, &line[word.end..]))
}

impl Noisy {
    fn by_most_lines(mut self) -> Noisy {
        self.place = Place::MostLines;
        self
    }
}
