//! Edits that can be read in two ways: lines below one that begins within a line, blanks in strings, numbers of other lines,
//! and twins of what has changed. Each is right or refused.

use super::super::{count, executor, run, seed};
use super::{Executor, Random, edited, indent, intention, sources};

/// What became of the cases of one kind.
#[derive(Default)]
struct Tally {
    right: usize,
    /// Those that were made to the letter, though something else may have been meant.
    exact: usize,
    refused: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Makes an edit; right is what the file would be if it were understood, and what was asked for to the letter where that is
    /// there once.
    async fn add(
        &mut self,
        executor: &Executor,
        file: (&str, &str),
        edit: (&str, &str),
        right: Option<&str>,
    ) {
        let (outcome, after) = edited(executor, file.0, file.1, edit.0, edit.1).await;
        match &outcome.result {
            Err(_) => {
                self.refused += 1;
                assert!(after == file.1, "a refused edit changed the file");
            }
            Ok(_) if right == Some(after.as_str()) => self.right += 1,
            Ok(_) if file.1.matches(edit.0).count() == 1 && after == file.1.replacen(edit.0, edit.1, 1) => {
                self.exact += 1;
            }
            Ok(output) => self.wrong.push(format!("{}\n{:?}\n{:?}\n{}", file.0, edit.0, edit.1, output.text)),
        }
    }

    /// Fails where one is wrong, or where fewer than so many of a hundred are right.
    fn check(&self, what: &str, least: usize) {
        let total = self.right + self.exact + self.refused + self.wrong.len();
        println!(
            "measure: guarantee 6: {total} {what}: {} right, {} to the letter, {} refused, {} wrong",
            self.right,
            self.exact,
            self.refused,
            self.wrong.len()
        );
        let shown: Vec<String> = self.wrong.iter().take(12).cloned().collect();
        assert!(self.wrong.is_empty(), "{}", shown.join("\n=====\n"));
        assert!(
            total > 20 && self.right * 100 >= total * least,
            "{what}: {} of {total} are right",
            self.right
        );
    }
}

fn is_filled(line: &str) -> bool {
    !line.trim().is_empty()
}

/// The file with other lines for some of it.
fn with(lines: &[&str], first: usize, length: usize, new: &str) -> String {
    format!("{}{new}{}", lines[..first].concat(), lines[first + length..].concat())
}

fn without_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

#[test]
fn guarantee_06_lines_below_one_without_its_indentation_are_right_or_refused() {
    let total = count(1_500, 30_000);
    let mut random = Random(seed("lines below one without its indentation"));
    let (executor, sources) = (executor(), sources());
    let (mut as_file, mut below, mut within) = (Tally::default(), Tally::default(), Tally::default());
    run(async {
        for _ in 0..total {
            let (name, source) = random.pick(&sources);
            let lines: Vec<&str> = source.split_inclusive('\n').collect();
            let (first, length, new) = intention(&mut random, &lines);
            let old = lines[first..first + length].concat();
            let depth = indent(lines[first]);
            let margin = &lines[first][..depth];
            let begins_alike = indent(&new) == depth && new.starts_with(margin);
            if depth == 0
                || !is_filled(lines[first])
                || !begins_alike
                || source.matches(&old).count() != 1
                || new == old
            {
                continue;
            }
            let right = with(&lines, first, length, &new);
            let (old, new) = (without_end(&old), without_end(&new));
            let file = (name, source);
            as_file.add(&executor, file, (&old[depth..], &new[depth..]), Some(&right)).await;
            // The further lines of the new text are as deep as they are below the first one.
            let cut: Option<Vec<&str>> = new
                .split('\n')
                .map(|line| if is_filled(line) { line.strip_prefix(margin) } else { Some(line) })
                .collect();
            if let Some(cut) = cut.filter(|cut| cut.iter().skip(1).any(|line| is_filled(line))) {
                below.add(&executor, file, (&old[depth..], &cut.join("\n")), Some(&right)).await;
            }
            // A part of a line, and a line more: as deep as the line, or not indented at all.
            let line = lines[first].trim_end();
            let edges: Vec<usize> = line.match_indices([' ', '(', '.']).map(|(at, _)| at + 1).collect();
            let edges: Vec<usize> = edges.into_iter().filter(|at| *at > depth && *at < line.len()).collect();
            if edges.is_empty() {
                continue;
            }
            let part = &line[random.pick(&edges)..];
            if source.matches(part).count() != 1 || part.starts_with([' ', '\t']) {
                continue;
            }
            let right = with(&lines, first, 1, &format!("{line}\n{margin}added(1);\n"));
            let more = random.pick(&["", margin]);
            within.add(&executor, file, (part, &format!("{part}\n{more}added(1);")), Some(&right)).await;
        }
    });
    as_file.check("edits without the indentation of their first line", 90);
    below.check("edits whose lines begin where the first one does", 55);
    within.check("edits of a part of a line and a line more", 20);
}

/// A line with one blank more within a string, or outside of any; nothing where there is none to double.
fn wider(random: &mut Random, line: &str, in_string: bool) -> Option<String> {
    let mut open: Option<char> = None;
    let mut places = Vec::new();
    for (at, sign) in line.char_indices().filter(|(at, _)| *at > indent(line)) {
        match sign {
            '"' | '`' if open.is_none() => open = Some(sign),
            '"' | '`' if open == Some(sign) => open = None,
            ' ' if open.is_some() == in_string => places.push(at),
            _ => {}
        }
    }
    // An apostrophe or a backslash makes it unclear where a string ends.
    if places.is_empty() || open.is_some() || line.contains(['\'', '\\']) {
        return None;
    }
    let at = random.pick(&places);
    Some(format!("{} {}", &line[..at], &line[at..]))
}

#[test]
fn guarantee_06_blanks_within_strings_are_right_or_refused() {
    let total = count(1_500, 30_000);
    let mut random = Random(seed("blanks within strings"));
    let (executor, sources) = (executor(), sources());
    let (mut outside, mut inside, mut tables) = (Tally::default(), Tally::default(), Tally::default());
    run(async {
        for round in 0..total {
            let (name, source) = random.pick(&sources);
            let lines: Vec<&str> = source.split_inclusive('\n').collect();
            let is_string = round % 2 == 0;
            let has_blank = |line: &str| wider(&mut Random(1), line, is_string).is_some();
            let lines_with: Vec<usize> = (2..lines.len() - 2).filter(|at| has_blank(lines[*at])).collect();
            if lines_with.is_empty() {
                continue;
            }
            let at = random.below(3);
            let first = random.pick(&lines_with) - at;
            let block = &lines[first..first + 3];
            if !block.iter().all(|line| is_filled(line)) || source.matches(&block.concat()).count() != 1 {
                continue;
            }
            let Some(other) = wider(&mut random, block[at], is_string) else { continue };
            // The slip is in the old text or in the file; a line comes that has several blanks in a string, or none does.
            let mut noisy: Vec<String> = block.iter().map(|line| (*line).to_owned()).collect();
            noisy[at] = other;
            let added = random.pick(&["say(\"a  b\");\n", "say(1);\n"]);
            let margin = &block[2][..indent(block[2])];
            let comes = format!("{margin}{added}");
            let noisy_file = with(&lines, first, 3, &noisy.concat());
            let (file, old, kept) = match random.below(2) {
                0 => (source.to_owned(), noisy.concat(), block.concat()),
                _ => (noisy_file, block.concat(), noisy.concat()),
            };
            let before = lines[..first].concat();
            let right = format!("{before}{kept}{comes}{}", &file[before.len() + kept.len()..]);
            let new = format!("{old}{comes}");
            let edit = (without_end(&old), without_end(&new));
            let tally = if is_string { &mut inside } else { &mut outside };
            tally.add(&executor, (name, &file), edit, Some(&right)).await;
            // Words of the file in columns between tabs.
            let words: Vec<&str> =
                source.split(|one: char| !one.is_ascii_alphabetic()).filter(|word| word.len() > 2).collect();
            let mut row =
                || [random.pick(&words), random.pick(&words), random.pick(&words)].join("\t") + "\n";
            let (one, two, three) = (row(), row(), row());
            if one == two {
                continue;
            }
            let blanks = ["    ", " ", "        "][round % 3];
            let spaced = |text: &str| text.replace('\t', blanks);
            let edit = (spaced(&format!("{one}{two}")), spaced(&format!("{one}{three}{two}")));
            let right = format!("{one}{three}{two}");
            tables
                .add(&executor, ("table.tsv", &format!("{one}{two}")), (&edit.0, &edit.1), Some(&right))
                .await;
        }
    });
    outside.check("edits with other blanks", 50);
    inside.check("edits with other blanks in a string", 0);
    tables.check("edits of columns between tabs", 55);
}

#[test]
fn guarantee_06_numbers_of_other_lines_are_right_or_refused() {
    let total = count(2_000, 40_000);
    let mut random = Random(seed("numbers of other lines"));
    let (executor, sources) = (executor(), sources());
    let (mut named, mut other, mut blocks) = (Tally::default(), Tally::default(), Tally::default());
    run(async {
        for _ in 0..total {
            let (name, source) = random.pick(&sources);
            let lines: Vec<&str> = source.split_inclusive('\n').collect();
            let length = 1 + random.below(3);
            let first = random.below(lines.len() - length);
            let block = &lines[first..first + length];
            let telling =
                block.iter().filter(|line| line.chars().filter(|one| one.is_alphanumeric()).count() > 3);
            if telling.count() < length {
                continue;
            }
            let off = random.pick(&[0, 0, 1, 2, 5, 17, 40, 4_000]);
            let start = if random.below(2) == 0 { first + off } else { first.saturating_sub(off) };
            let sign = random.pick(&[": ", "\t", "→", " | "]);
            let numbered = |lines: &[String]| -> String {
                lines.iter().enumerate().map(|(at, line)| format!("{}{sign}{line}", start + at + 1)).collect()
            };
            let old: Vec<String> = block.iter().map(|line| (*line).to_owned()).collect();
            let mut new = old.clone();
            new[length - 1] = new[length - 1].trim_end().to_owned() + " Zz9\n";
            // The file may have the line that the number names with other blanks.
            let mut there: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            if let Some(twin) = there.get_mut(start).filter(|_| start != first && random.below(2) == 0)
                && let Some(wide) = wider(&mut random, block[0], false)
            {
                *twin = wide;
            }
            let file = there.concat();
            let at = |at: usize| -> Option<String> {
                let there: Vec<&str> = there.iter().map(String::as_str).collect();
                let is_there = there.get(at..at + length).is_some_and(|there| there == old.as_slice());
                is_there.then(|| with(&there, at, length, &new.concat()))
            };
            // Where the number says, if the lines are there; lines that were moved together may be where they are.
            let right = at(start).or_else(|| at(first).filter(|_| length > 1));
            let (old, new) = (numbered(&old), numbered(&new));
            let tally = match (start == first, length) {
                (true, _) => &mut named,
                (false, 1) => &mut other,
                (false, _) => &mut blocks,
            };
            tally
                .add(&executor, (name, &file), (without_end(&old), without_end(&new)), right.as_deref())
                .await;
        }
    });
    named.check("edits with line numbers", 95);
    other.check("edits of one line with the number of another", 0);
    blocks.check("edits of several lines with numbers of others", 25);
}

#[test]
fn guarantee_06_twins_of_what_has_changed_are_refused() {
    let total = count(2_000, 40_000);
    let mut random = Random(seed("twins of what has changed"));
    let (executor, sources) = (executor(), sources());
    let (mut twins, mut alone) = (Tally::default(), Tally::default());
    run(async {
        for _ in 0..total {
            let (name, source) = random.pick(&sources);
            let lines: Vec<&str> = source.split_inclusive('\n').collect();
            let length = 3 + random.below(3);
            let first = random.below(lines.len() - length);
            let block = &lines[first..first + length];
            let is_telling = |line: &&str| line.chars().filter(|one| one.is_alphanumeric()).count() > 6;
            if !block.iter().all(is_telling) || source.matches(&block.concat()).count() != 1 {
                continue;
            }
            let (at, changed) = (random.below(length), random.below(length));
            let Some(wide) = wider(&mut random, block[at], false).filter(|_| at != changed) else { continue };
            let mut twin: Vec<String> = block.iter().map(|line| (*line).to_owned()).collect();
            twin[at] = wide;
            let mut new: Vec<&str> = block.to_vec();
            new.remove(changed);
            let (old, new) = (block.concat(), new.concat());
            let edit = (without_end(&old), without_end(&new));
            // What is meant, with one blank more: there is nothing else.
            let file = with(&lines, first, length, &twin.concat());
            let mut kept = twin.clone();
            kept.remove(changed);
            let right = with(&lines, first, length, &kept.concat());
            alone.add(&executor, (name, &file), edit, Some(&right)).await;
            // What is meant has one word changed, and what is elsewhere has one blank more.
            let mut meant: Vec<String> = block.iter().map(|line| (*line).to_owned()).collect();
            let word = meant[changed].rfind(char::is_alphanumeric).unwrap();
            let end = word + meant[changed][word..].chars().next().unwrap().len_utf8();
            meant[changed].insert(end, '2');
            let before = with(&lines, first, length, &meant.concat());
            let file = match random.below(2) {
                0 => format!("{before}\n{}", twin.concat()),
                _ => format!("{}\n{before}", twin.concat()),
            };
            twins.add(&executor, (name, &file), edit, None).await;
        }
    });
    alone.check("edits with one blank less", 80);
    twins.check("edits of twins", 0);
}
