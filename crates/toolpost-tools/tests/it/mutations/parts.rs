//! A few characters of one line, with a slip in what is asked for.

use super::super::{count, executor, run, seed};
use super::slip::Slip;
use super::{Random, edited, indent, sources};

#[test]
fn guarantee_06_mutated_parts_of_lines_are_right_or_refused() {
    let total = count(1_500, 30_000);
    let mut random = Random(seed("mutated parts of lines"));
    let (executor, sources) = (executor(), sources());
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    run(async {
        for _ in 0..total {
            let (name, source) = random.pick(&sources);
            let lines: Vec<&str> =
                source.split_inclusive('\n').filter(|line| line.trim().len() > 3).collect();
            let line = random.pick(&lines);
            let start = line.as_ptr() as usize - source.as_ptr() as usize;
            let text = line.trim_end();
            let edges: Vec<usize> = text
                .char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .filter(|at| *at >= indent(text))
                .collect();
            let (one, other) = (random.pick(&edges), random.pick(&edges));
            let (from, to) = (one.min(other), one.max(other));
            let asked = &text[from..to];
            let slip = random.pick(&[
                Slip::BlanksWithin,
                Slip::SmartCharacters,
                Slip::HardSpaces,
                Slip::Escaped,
                Slip::Typo,
                Slip::TrailingBlanks,
                Slip::IndentedAll,
                Slip::Stale,
            ]);
            if asked.is_empty() {
                continue;
            }
            let mut old = slip.apply(asked, 0, random.below(1_000));
            let is_cut_off = random.below(3) == 0 && old.pop().is_some();
            let new = format!("{} Zz9", asked.trim());
            let put = |at: usize, length: usize, new: &str| {
                format!("{}{new}{}", &source[..at], &source[at + length..])
            };
            let mut accepted = vec![put(start + from, asked.len(), &new)];
            // Blanks around the words are the file's, where the old text has its own.
            let inner = start + from + asked.len() - asked.trim_start().len();
            accepted.push(put(inner, asked.trim().len(), &new));
            let is_word =
                |character: Option<char>| character.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let mut more = |letters: &str| {
                // There once; or once as it is, and elsewhere only within longer words.
                let all: Vec<usize> = source.match_indices(letters).map(|(at, _)| at).collect();
                let splits = |at: usize| {
                    let (before, after) = (&source[..at], &source[at + letters.len()..]);
                    is_word(before.chars().next_back()) && is_word(letters.chars().next())
                        || is_word(after.chars().next()) && is_word(letters.chars().next_back())
                };
                let whole: Vec<usize> = all.iter().copied().filter(|at| !splits(*at)).collect();
                for at in [all, whole].iter().filter(|places| places.len() == 1).map(|places| places[0]) {
                    accepted.push(put(at, letters.len(), &new));
                }
            };
            if !old.is_empty() {
                more(&old);
            }
            if !old.trim().is_empty() {
                more(old.trim());
            }
            // What is left of something cut off is there too, unless it is cut within a word.
            let left = if is_cut_off { &asked[..asked.char_indices().next_back().unwrap().0] } else { asked };
            let is_split = is_cut_off
                && is_word(asked.chars().next_back())
                && is_word(left.chars().next_back())
                && source.matches(left.trim()).count() == 1;
            if !slip.changes_lines() && !is_split && !left.trim().is_empty() {
                more(left);
                more(left.trim());
            }
            let (outcome, after) = edited(&executor, name, source, &old, &new).await;
            match &outcome.result {
                Err(_) => {
                    refused += 1;
                    assert!(after == source, "a refused edit changed the file");
                }
                Ok(_) if accepted.contains(&after) => right += 1,
                Ok(output) => wrong.push(format!("{name}, {slip:?}\n{old:?} for {asked:?}\n{}", output.text)),
            }
        }
    });
    println!(
        "measure: guarantee 6: {total} mutated parts of lines: {right} right, {refused} refused, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n=====\n"));
}
