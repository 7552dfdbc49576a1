//! What is like the old text where it is not found, and whether the new text is there instead.

use super::lines::{Lines, is_blank};
use super::{Effort, Near};
use std::collections::HashMap;
use toolpost_core::ToolError;

/// Places that are shown.
const MOST: usize = 3;
/// Places that are compared line by line.
const CANDIDATES: usize = 40;
/// Characters of a line that are compared.
const COMPARED: usize = 200;
/// Characters that are compared in all; of the rest of a large file only lines that are the same count.
const MOST_COMPARED: usize = 8_000_000;
/// Maximum number of places that one line of the file counts for.
const MOST_VOTES: usize = 16;
/// What is less alike than this is no help.
const LEAST: f64 = 0.4;
/// Lines shown of a place.
const SHOWN_LINES: usize = 24;
/// Lines shown before and after it.
const AROUND: usize = 2;

/// The places most like `old`, best first.
pub(super) fn nearest(effort: &Effort, lines: &Lines<'_>, old: &str) -> Result<Vec<Near>, ToolError> {
    let old = Lines::of(old);
    let wanted: Vec<&str> = old.all.iter().map(|line| line.text.trim_matches(is_blank)).collect();
    let Some(longest) = (0..wanted.len()).max_by_key(|index| wanted[*index].len().min(COMPARED)) else {
        return Ok(Vec::new());
    };
    let mut by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.len() > 2) {
        let at = by_text.entry(line).or_default();
        if at.len() < MOST_VOTES {
            at.push(index);
        }
    }
    // Each line votes for where the text would begin.
    let mut votes: HashMap<usize, f64> = HashMap::new();
    let like = Pairs::of(wanted[longest]);
    let mut compared = 0;
    for (index, line) in lines.all.iter().enumerate() {
        effort.spend(line.text.len() + 8)?;
        let line = line.text.trim_matches(is_blank);
        for at in by_text.get(line).into_iter().flatten() {
            *votes.entry(index.saturating_sub(*at)).or_default() += 1.0;
        }
        if !line.is_empty() && compared < MOST_COMPARED {
            compared += line.len().min(COMPARED);
            effort.spend(line.len().min(COMPARED) * 8)?;
            let similarity = like.similarity(line);
            if similarity > LEAST {
                *votes.entry(index.saturating_sub(longest)).or_default() += similarity;
            }
        }
    }
    let mut votes: Vec<(usize, f64)> = votes.into_iter().collect();
    votes.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let pairs: Vec<Pairs> = wanted.iter().take(200).map(|line| Pairs::of(line)).collect();
    let mut best: Vec<(usize, f64)> = votes
        .into_iter()
        .take(CANDIDATES)
        .map(|(first, _)| {
            let there = lines.all[first..].iter().map(|line| line.text.trim_matches(is_blank));
            let alike: f64 = pairs.iter().zip(there).map(|(pairs, line)| pairs.similarity(line)).sum();
            (first, alike / pairs.len() as f64)
        })
        .filter(|(_, similarity)| *similarity >= LEAST)
        .collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let mut shown: Vec<Near> = Vec::new();
    for (first, similarity) in best {
        let is_apart = |near: &Near| (near.line - 1).abs_diff(first) >= wanted.len().max(1);
        if shown.len() < MOST && shown.iter().all(is_apart) {
            shown.push(near(lines, &old, first, similarity));
        }
    }
    Ok(shown)
}

fn near(lines: &Lines<'_>, old: &Lines<'_>, first: usize, similarity: f64) -> Near {
    let there = |index: usize| lines.all.get(first + index).map_or("", |line| line.text);
    let differs = |index: &usize| old.all[*index].text != there(*index);
    // Other words tell more than other blanks.
    let differs_in_words =
        |index: &usize| old.all[*index].text.split_whitespace().ne(there(*index).split_whitespace());
    let mut all = 0..old.all.len();
    let at = all.clone().find(differs_in_words).or_else(|| all.find(differs)).unwrap_or(0);
    let from = first.saturating_sub(AROUND);
    let to = (first + old.all.len() + AROUND).min(lines.all.len()).min(from + SHOWN_LINES);
    let cut = |line: &str| -> String { line.chars().take(COMPARED * 2).collect() };
    Near {
        line: first + 1,
        similarity,
        diverging_line: first + at + 1,
        expected: cut(old.all.get(at).map_or("", |line| line.text)),
        found: cut(there(at)),
        around: lines.all[from..to].iter().map(|line| cut(line.text) + "\n").collect(),
        around_line: from + 1,
    }
}

/// Whether the new text stands where the old one is not: the edit was made before.
pub(super) fn is_applied(text: &str, old: &str, new: &str) -> bool {
    let plain = |text: &str| -> String {
        let lines = Lines::of(text);
        let trimmed: Vec<&str> = lines.all.iter().map(|line| line.text.trim_matches(is_blank)).collect();
        trimmed.join("\n")
    };
    let (text, old, new) = (plain(text), plain(old), plain(new));
    let new = new.trim();
    let substance = new.chars().filter(|character| character.is_alphanumeric()).take(4).count();
    substance == 4 && !old.contains(new) && text.contains(new)
}

/// The pairs of neighbouring characters of a line, which tell how alike two lines are.
pub(super) struct Pairs {
    counts: HashMap<(char, char), u32>,
    total: u32,
    line: String,
}

impl Pairs {
    pub(super) fn of(line: &str) -> Pairs {
        let mut counts = HashMap::new();
        let mut total = 0;
        for pair in pairs(line) {
            *counts.entry(pair).or_default() += 1;
            total += 1;
        }
        Pairs { counts, total, line: line.to_owned() }
    }

    pub(super) fn similarity(&self, line: &str) -> f64 {
        if self.line == line {
            return 1.0;
        }
        let mut used: HashMap<(char, char), u32> = HashMap::new();
        let (mut shared, mut total) = (0, 0);
        for pair in pairs(line) {
            total += 1;
            if let Some(count) = self.counts.get(&pair) {
                let used = used.entry(pair).or_default();
                if *used < *count {
                    *used += 1;
                    shared += 1;
                }
            }
        }
        match self.total + total {
            0 => 0.0,
            all => f64::from(2 * shared) / f64::from(all),
        }
    }
}

fn pairs(line: &str) -> impl Iterator<Item = (char, char)> + '_ {
    let characters = || line.chars().take(COMPARED);
    characters().zip(characters().skip(1))
}
