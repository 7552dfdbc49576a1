//! Indentation: lost, added, or of another style.

use super::{Kind, Noisy, Place, decidable, in_context, indentation, is_blank, lossy};
use crate::edits::hunks::Edit;

pub(super) const KINDS: &[Kind] = &[
    decidable("dedent-all", "every line of both strings has lost the same indentation", |edit, _| {
        let cut = common(edit)?;
        let noisy = shifted(edit, &dedented(&edit.old, &cut), &dedented(&edit.new, &cut))?;
        // One line that begins after its indentation says nothing about the indentation of further lines.
        Some(
            noisy
                .unless(text_lines(&edit.old) == 1 && edit.new.len() > 1 && is_whole_indentation(edit, &cut)),
        )
    }),
    decidable(
        "dedent-newline",
        "both strings begin with a line ending and have lost their indentation",
        |edit, _| {
            edit.start.checked_sub(1)?;
            let cut = common(edit)?;
            let mut noisy = shifted(edit, &dedented(&edit.old, &cut), &dedented(&edit.new, &cut))?;
            noisy.old.insert(0, '\n');
            noisy.new.insert(0, '\n');
            Some(noisy)
        },
    ),
    decidable(
        "dedent-part",
        "every line of both strings has lost a part of the indentation",
        |edit, random| {
            let all = common(edit)?;
            if all.len() < 2 {
                return None;
            }
            let cut = &all[..1 + random.below(all.len() - 1)];
            shifted(edit, &dedented(&edit.old, cut), &dedented(&edit.new, cut))
        },
    ),
    decidable(
        "indent-more",
        "every line of both strings has the same indentation too much",
        |edit, random| {
            let has_tabs = edit.old.iter().any(|line| line.starts_with('\t'));
            let more = if has_tabs { "\t" } else { ["  ", "    ", " ", "        "][random.below(4)] };
            let put = |lines: &[String]| -> Vec<String> {
                lines
                    .iter()
                    .map(|line| if is_blank(line) { line.clone() } else { format!("{more}{line}") })
                    .collect()
            };
            shifted(edit, &put(&edit.old), &put(&edit.new))
        },
    ),
    decidable(
        "dedent-old",
        "`oldString` has lost its indentation, `newString` has that of the file",
        |edit, _| {
            let cut = common(edit)?;
            // A context line shows how `newString` is to be read.
            let shows =
                edit.context().iter().any(|(index, _)| edit.old[*index].contains(char::is_alphanumeric));
            Some(Noisy::lines(edit, &dedented(&edit.old, &cut), &edit.new)?.at_depth().unless(!shows))
        },
    ),
    lossy(
        "dedent-new",
        "`newString` alone has lost its indentation: the exact match writes what it says",
        |edit, _| {
            let cut = common(edit)?;
            Noisy::lines(edit, &edit.old, &dedented(&edit.new, &cut))
        },
    ),
    decidable("start-inside", "both strings begin after the indentation of their first line", |edit, _| {
        let (first, second) = (edit.old.first()?, edit.new.first()?);
        let spaces = indentation(first);
        if spaces.is_empty() || is_blank(first) || is_blank(second) || indentation(second) != spaces {
            return None;
        }
        let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
        old[0] = old[0][spaces.len()..].to_owned();
        new[0] = new[0][spaces.len()..].to_owned();
        // One line of `oldString` alone would fit as well if every line had lost its indentation.
        let is_read_twice = text_lines(&edit.old) == 1 && edit.new.len() > 1;
        Some(Noisy::lines(edit, &old, &new)?.at_depth().unless(is_read_twice))
    }),
    decidable(
        "start-part",
        "both strings begin within the indentation of their first line",
        |edit, random| {
            let (first, second) = (edit.old.first()?, edit.new.first()?);
            let spaces = indentation(first);
            if spaces.len() < 2 || edit.old.len() < 2 || is_blank(first) || !second.starts_with(spaces) {
                return None;
            }
            let cut = 1 + random.below(spaces.len() - 1);
            let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
            old[0] = old[0][cut..].to_owned();
            new[0] = new[0][cut..].to_owned();
            Some(Noisy::lines(edit, &old, &new)?.at_depth().unless(text_lines(&edit.old) == 1))
        },
    ),
    decidable("tabs-as-4", "the file has tabs, the strings four spaces for each", |edit, _| {
        untabbed(edit, "    ")
    }),
    decidable("tabs-as-2", "the file has tabs, the strings two spaces for each", |edit, _| {
        untabbed(edit, "  ")
    }),
    decidable("tabs-as-8", "the file has tabs, the strings eight spaces for each", |edit, _| {
        untabbed(edit, "        ")
    }),
    decidable("tabs-for-spaces", "the file has spaces, the strings a tab for each level", |edit, _| {
        let unit = unit(edit)?;
        let tabbed = |line: &String| {
            let width = indentation(line).len();
            format!("{}{}", "\t".repeat(width / unit), &line[width..])
        };
        scaled(edit, unit, tabbed)
    }),
    decidable("width-halved", "each level of both strings is half as deep as in the file", |edit, _| {
        let unit = unit(edit)?;
        let halved = |line: &String| {
            let width = indentation(line).len();
            format!("{}{}", " ".repeat(width / 2), &line[width..])
        };
        if unit.is_multiple_of(2) { scaled(edit, unit, halved) } else { None }
    }),
    decidable("width-doubled", "each level of both strings is twice as deep as in the file", |edit, _| {
        let doubled = |line: &String| format!("{}{line}", indentation(line));
        scaled(edit, unit(edit)?, doubled)
    }),
    decidable("line-shifted", "one context line is a level too deep in both strings", |edit, random| {
        let lines = edit.context();
        let chosen = random.below(lines.len().max(1));
        let mut index = 0;
        let (old, new) = in_context(edit, |line| {
            index += 1;
            let is_chosen = index == chosen + 1 && !is_blank(line);
            if is_chosen { format!("    {line}") } else { line.to_owned() }
        });
        let is_long = text_lines(&edit.old) > 2;
        is_long.then(|| Noisy::lines(edit, &old, &new)).flatten()
    }),
    decidable("line-shifted-removed", "one removed line has another depth in `oldString`", |edit, random| {
        let lines = edit.head..edit.old.len() - edit.tail;
        let index = lines.start + random.below(lines.len().max(1));
        if lines.is_empty() || is_blank(&edit.old[index]) || text_lines(&edit.old) < 3 {
            return None;
        }
        let mut old = edit.old.clone();
        old[index].insert_str(0, "  ");
        // A line that `newString` has as well reads as one that stays.
        let reads_as_kept = edit.new.contains(&old[index]);
        Some(Noisy::lines(edit, &old, &edit.new)?.unless(reads_as_kept))
    }),
    decidable(
        "rest-dedented",
        "every line but the first has lost the indentation of the first, in both",
        |edit, _| {
            let cut = indentation(edit.old.first()?).to_owned();
            let is_first_kept = edit.head > 0 && !is_blank(&edit.old[0]);
            let is_common = common(edit).is_some_and(|common| common == cut);
            if !is_first_kept || !is_common || text_lines(&edit.old) < 3 {
                return None;
            }
            let rest = |lines: &[String]| [&lines[..1], &dedented(&lines[1..], &cut)].concat();
            shifted(edit, &rest(&edit.old), &rest(&edit.new))
        },
    ),
];

/// Both strings are shifted alike. A context line shows it, or else that both begin at the same depth. Nothing tells it
/// where a line of `new` is just as the file has it: then `new` may not be shifted at all.
fn shifted(edit: &Edit<'_>, old: &[String], new: &[String]) -> Option<Noisy> {
    let is_telling = |line: &&String| line.contains(char::is_alphanumeric);
    // At the margin, a line stands in any steps.
    let is_shown = edit
        .context()
        .iter()
        .any(|(index, _)| is_telling(&&edit.old[*index]) && old[*index] != edit.old[*index]);
    let depth = |lines: &[String]| lines.iter().find(is_telling).map(|line| indentation(line).len());
    let is_as_file = new.iter().any(|line| is_telling(&line) && edit.old.contains(line));
    let is_read_twice = !is_shown && (is_as_file || depth(old) != depth(new));
    Some(Noisy::lines(edit, old, new)?.at_depth().unless(is_read_twice))
}

/// How many lines are not blank.
fn text_lines(lines: &[String]) -> usize {
    lines.iter().filter(|line| !is_blank(line)).count()
}

/// The indentation that all lines of both strings share; `None` if there is none.
fn common(edit: &Edit) -> Option<String> {
    let mut lines = edit.old.iter().chain(&edit.new).filter(|line| !is_blank(line));
    let mut common = indentation(lines.next()?);
    for line in lines {
        let shared = common.bytes().zip(line.bytes()).take_while(|(one, other)| one == other).count();
        common = &common[..shared];
    }
    (!common.is_empty()).then(|| common.to_owned())
}

fn is_whole_indentation(edit: &Edit, cut: &str) -> bool {
    edit.old.iter().filter(|line| !is_blank(line)).any(|line| indentation(line) == cut)
}

fn dedented(lines: &[String], cut: &str) -> Vec<String> {
    lines.iter().map(|line| line.strip_prefix(cut).unwrap_or(line).to_owned()).collect()
}

fn untabbed(edit: &Edit, spaces: &str) -> Option<Noisy> {
    let is_tabbed = |line: &String| indentation(line).bytes().all(|byte| byte == b'\t');
    if !edit.old.iter().chain(&edit.new).filter(|line| !is_blank(line)).all(is_tabbed) {
        return None;
    }
    let put = |line: &String| line.replacen('\t', spaces, indentation(line).len());
    let old: Vec<String> = edit.old.iter().map(put).collect();
    let new: Vec<String> = edit.new.iter().map(put).collect();
    if old == edit.old {
        return None;
    }
    Some(shifted(edit, &old, &new)?.unless(!shows_scale(edit, "\t".len())))
}

/// The depth of one level: what all indentations of the file are multiples of, if it is 2, 3, 4 or 8 spaces.
fn unit(edit: &Edit) -> Option<usize> {
    let lines = || edit.old.iter().chain(&edit.new).filter(|line| !is_blank(line));
    if lines().any(|line| indentation(line).contains('\t')) {
        return None;
    }
    let widths = || edit.before.iter().filter(|line| !is_blank(line)).map(|line| indentation(line).len());
    let smallest = widths().filter(|width| *width > 1).min()?;
    let fits = [2, 3, 4, 8].contains(&smallest)
        && lines().all(|line| indentation(line).len().is_multiple_of(smallest));
    fits.then_some(smallest)
}

fn scaled(edit: &Edit, unit: usize, change: impl Fn(&String) -> String) -> Option<Noisy> {
    let put = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| if is_blank(line) { line.clone() } else { change(line) }).collect()
    };
    let old = put(&edit.old);
    if old == edit.old {
        return None;
    }
    Some(shifted(edit, &old, &put(&edit.new))?.unless(!shows_scale(edit, unit)))
}

/// Whether the lines of `old` show how depths are to be read: two different depths, or no depth in `new` that `old` does
/// not have.
fn shows_scale(edit: &Edit, unit: usize) -> bool {
    let depths = |lines: &[String]| -> Vec<usize> {
        let mut depths: Vec<usize> = lines
            .iter()
            .filter(|line| !is_blank(line))
            .map(|line| indentation(line).len() / unit.max(1))
            .collect();
        depths.sort_unstable();
        depths.dedup();
        depths
    };
    let (old, new) = (depths(&edit.old), depths(&edit.new));
    old.len() > 1 || new.iter().all(|depth| old.contains(depth))
}

impl Noisy {
    fn at_depth(mut self) -> Noisy {
        self.place = Place::Depth;
        self
    }
}
