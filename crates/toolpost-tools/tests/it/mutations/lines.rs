//! Whole lines, with one slip or two in what is asked for.
//!
//! Where a slip makes the lines other ones, what those lines say is right too, if they are there once.

use super::super::{count, executor, run, seed};
use super::slip::{SLIPS, Slip, without_final_newline};
use super::{Random, edited, indent, intention, sources};
use std::collections::BTreeMap;
use toolpost_core::Outcome;

/// Which of the texts the slip is in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum In {
    Old,
    Both,
}

/// The lines with a second copy of the block and some of what is around it, perhaps a little different, and where the
/// block is now.
fn with_twin(
    random: &mut Random,
    lines: &[&str],
    first: usize,
    length: usize,
    slips: &[Slip],
) -> (String, usize) {
    let from = first.saturating_sub(random.below(4));
    let to = (first + length + random.below(4)).min(lines.len());
    let mut twin: Vec<String> = lines[from..to].iter().map(|line| (*line).to_owned()).collect();
    if random.below(4) > 0 {
        let at = random.below(twin.len());
        // Lines that were slipped into other ones may be those of a copy that is indented otherwise.
        let is_told = !slips.iter().any(|slip| slip.changes_lines() || *slip == Slip::IndentedOne);
        twin[at] = match random.below(5) {
            0 => twin[at].replacen(|c: char| c.is_alphanumeric(), "x", 1),
            1 if is_told && !twin[at].trim().is_empty() => format!("  {}", twin[at]),
            2 => twin[at].replacen(|c: char| c.is_ascii_digit(), "10", 1),
            3 => twin[at].replacen('a', "aa", 1),
            _ => String::new(),
        };
    }
    let twin = twin.concat();
    match random.below(2) {
        0 => {
            let at = random.below(from + 1);
            let text = [lines[..at].concat(), twin.clone(), lines[at..].concat()].concat();
            (text, first + twin.matches('\n').count())
        }
        _ => {
            let at = to + random.below(lines.len() - to + 1);
            ([lines[..at].concat(), twin, lines[at..].concat()].concat(), first)
        }
    }
}

/// The text without the numbers that `Slip::Numbered` put before its lines.
fn unnumbered(text: &str) -> String {
    let bare = |line: &str| -> String {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let sign = [": ", " | ", "\t", "→"].into_iter().find(|sign| rest.starts_with(sign));
        rest[sign.map_or(0, str::len)..].to_owned()
    };
    text.split_inclusive('\n').map(bare).collect()
}

/// Why an edit was refused, in a few words.
fn reason(outcome: &Outcome) -> Option<String> {
    let error = outcome.result.as_ref().err()?;
    let why = error.message().split("what to put there: ").nth(1).and_then(|why| why.split(';').next());
    let why = why.map(|why| format!(" ({why})"));
    Some(format!("{}{}", error.code().as_str(), why.unwrap_or_default()))
}

/// What counts as the same: all of it, but for blanks on a line that the new text has just so.
fn same(right: &str, after: &str, spaced: &[String]) -> bool {
    let bare = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_written = |line: &str| spaced.iter().any(|new| bare(new) == bare(line));
    let is_same = |(right, after): (&str, &str)| {
        let (depth, right_depth) = (&after[..indent(after)], &right[..indent(right)]);
        right == after || (depth == right_depth && bare(right) == bare(after) && is_written(after))
    };
    right.matches('\n').count() == after.matches('\n').count()
        && right.matches('\r').count() == after.matches('\r').count()
        && right.ends_with('\n') == after.ends_with('\n')
        && right.lines().zip(after.lines()).all(is_same)
}

/// The new text with each line that is new as deep in the file as those lines of the block beside which it was written.
fn beside(block: &str, old: &str, new: &str, written: &str) -> String {
    let depth = |line: &'_ str| line[..indent(line)].to_owned();
    let line = |meant: &str| -> Option<String> {
        let new = written.lines().find(|line| line.trim() == meant.trim() && !meant.trim().is_empty())?;
        let olds = old.lines().filter(|old| !old.trim().is_empty() && depth(old) == depth(new));
        let mut there: Vec<String> =
            olds.filter_map(|old| block.lines().find(|line| line.trim() == old.trim())).map(depth).collect();
        there.dedup();
        match there.as_slice() {
            [one] if !block.contains(meant) => Some(format!("{one}{}", meant.trim_start())),
            _ => None,
        }
    };
    new.split_inclusive('\n').map(|meant| line(meant).unwrap_or_else(|| meant.to_owned())).collect()
}

/// Whether a block of lines is told from everything else in the file, whatever blanks, quotes and dashes are overlooked.
fn is_told(file: &str, block: &str) -> bool {
    let loose = |text: &str| -> String {
        text.chars().filter(|character| *character == '\n' || !character.is_whitespace()).collect()
    };
    let block = loose(block);
    block.chars().filter(|character| character.is_alphanumeric()).count() > 2
        && loose(file).matches(block.trim_matches('\n')).count() == 1
}

#[test]
fn guarantee_06_mutated_edits_are_right_or_refused() {
    let total = count(2_500, 100_000);
    let mut random = Random(seed("mutated edits"));
    let sources = sources();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let executor = executor();
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    let mut told = (0, 0);
    let mut landed_by_slip = vec![(0, 0); SLIPS.len()];
    run(async {
        for _ in 0..total {
            let (name, source) = random.pick(&sources);
            let lines: Vec<&str> = source.split_inclusive('\n').collect();
            let (first, length, new) = intention(&mut random, &lines);
            let slips: Vec<Slip> = (0..1 + random.below(2)).map(|_| random.pick(&SLIPS)).collect();
            let (plain, first) = match random.below(3) {
                0 => with_twin(&mut random, &lines, first, length, &slips),
                _ => (source.to_owned(), first),
            };
            let source = if random.below(4) == 0 { plain.replace('\n', "\r\n") } else { plain.clone() };
            let lines: Vec<&str> = plain.split_inclusive('\n').collect();
            let block = lines[first..first + length].concat();
            let place = random.pick(&[In::Old, In::Both]);
            // The lines that are asked for, before they are written otherwise.
            let (mut asked, mut old, mut written) = (block.clone(), block.clone(), new.clone());
            let mut all_asked = vec![block.clone()];
            let mut overwrites_stale = false;
            // Lines of the new text that have other blanks than they should.
            let mut spaced: Vec<String> = Vec::new();
            // Both without what is put around the lines.
            let (mut bare, mut bare_written) = (block.clone(), new.clone());
            let mut ordered = slips.clone();
            ordered.sort_by_key(|slip| slip.order());
            for slip in &ordered {
                let (at, seed) = (random.below(length), random.below(1_000));
                // Numbers are those of the lines in the file, or of others.
                let seed = match slip {
                    Slip::Numbered if seed % 8 > 0 => (first + 1) * 4 + seed % 4,
                    _ => seed,
                };
                old = slip.apply(&old, at, seed);
                if slip.changes_lines() {
                    let line = asked.split_inclusive('\n').nth(at).unwrap_or_default();
                    let is_changed = !line.is_empty() && slip.apply(line, 0, seed) != line;
                    if *slip == Slip::Stale && is_changed {
                        // What the file says otherwise by now must not go unseen.
                        overwrites_stale |= !new.contains(line);
                    } else if *slip == Slip::Typo
                        && is_changed
                        && place == In::Both
                        && asked.matches(line).count() == 1
                        && written.matches(line).count() == 1
                    {
                        written = written.replacen(line, &slip.apply(line, 0, seed), 1);
                    }
                    asked = slip.apply(&asked, at, seed);
                    // Of two slips either may be seen through.
                    let more: Vec<String> =
                        all_asked.iter().map(|asked| slip.apply(asked, at, seed)).collect();
                    all_asked.extend(more);
                } else if place == In::Both && slip.is_of_one_line() {
                    // In both texts alike: the same line, where the new one still has it.
                    let line = asked.split_inclusive('\n').nth(at).unwrap_or_default();
                    let is_once = written.split_inclusive('\n').filter(|other| *other == line).count() == 1;
                    let changed = |other: &str| match other == line && is_once {
                        true => slip.apply(other, 0, seed),
                        false => other.to_owned(),
                    };
                    written = written.split_inclusive('\n').map(changed).collect();
                    if matches!(slip, Slip::BlanksWithin | Slip::TrailingBlanks) {
                        spaced.push(slip.apply(line, 0, seed));
                    }
                } else if place == In::Both {
                    written = slip.apply(&written, at, seed);
                }
                if slip.order() < Slip::Numbered.order() {
                    (bare, bare_written) = (old.clone(), written.clone());
                }
            }
            let is_cut = slips.contains(&Slip::NoFinalNewline);
            let is_new_cut = is_cut && place == In::Both;
            let meant_new = if is_new_cut { without_final_newline(&new) } else { &new };
            // What was asked for to the letter is right; else what was meant, if those lines are there at all.
            let mut accepted = Vec::new();
            let endings = |text: String| if source == plain { text } else { text.replace('\n', "\r\n") };
            let old_plain = old.replace("\r\n", "\n");
            // Blanks at the ends of lines, which the files do not have, are no letters.
            let trimmed: Vec<&str> =
                old_plain.split('\n').map(|line| line.trim_end_matches([' ', '\t'])).collect();
            if slips.contains(&Slip::Numbered)
                && let [(at, _)] = plain.match_indices(&bare).collect::<Vec<_>>().as_slice()
            {
                let bare_new = if place == In::Both { unnumbered(&written) } else { written.clone() };
                accepted.push(endings(format!("{}{bare_new}{}", &plain[..*at], &plain[at + bare.len()..])));
            }
            // Or the very lines that the numbers name, if those are the same: then it does not matter where else they are.
            let digits: String = old.trim_start().chars().take_while(char::is_ascii_digit).collect();
            if slips.contains(&Slip::Numbered)
                && let Some(named) = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1))
                && named < lines.len()
                && lines[named..].concat().starts_with(&bare)
            {
                let (before, after) = (lines[..named].concat(), lines[named..].concat());
                let bare_new = if place == In::Both { unnumbered(&written) } else { written.clone() };
                accepted.push(endings(format!("{before}{bare_new}{}", &after[bare.len()..])));
            }
            for letters in [old_plain.clone(), trimmed.join("\n")] {
                if !letters.is_empty() && plain.matches(&letters).count() == 1 {
                    accepted.push(endings(plain.replacen(&letters, &written.replace("\r\n", "\n"), 1)));
                }
            }
            let at_lines = |(at, _): &(usize, &str)| *at == 0 || plain[..*at].ends_with('\n');
            for asked in all_asked.iter().filter(|asked| asked.len() > 1) {
                let meant_old = if is_cut { without_final_newline(asked) } else { asked };
                let places: Vec<(usize, &str)> = plain.match_indices(meant_old).filter(at_lines).collect();
                if let [(at, _)] = places.as_slice() {
                    let (before, after) = (&plain[..*at], &plain[at + meant_old.len()..]);
                    accepted.push(endings(format!("{before}{meant_new}{after}")));
                }
            }
            // Or the slip was seen through.
            let rest = if is_cut { "\n" } else { "" };
            let (before, after) = (lines[..first].concat(), lines[first + length..].concat());
            let seen_through = endings(format!("{before}{meant_new}{rest}{after}"));
            // Where the one line was written as deep as a new one, in both texts, nobody can tell that it is not.
            if place == In::Both && slips.contains(&Slip::IndentedOne) {
                let beside = beside(&block, &bare, &new, &bare_written);
                accepted.push(endings(format!("{before}{beside}{after}")));
            }
            match overwrites_stale {
                true => accepted.retain(|text| *text != seen_through),
                false => accepted.push(seen_through),
            }
            let (outcome, after) = edited(&executor, name, &source, &old, &written).await;
            match &outcome.result {
                Err(_) => {
                    refused += 1;
                    assert!(after == source, "a refused edit changed the file");
                }
                Ok(_) if accepted.iter().any(|text| same(text, &after, &spaced)) => right += 1,
                Ok(output) => {
                    let step = &output.data["steps"];
                    wrong.push(format!(
                        "{name}, {slips:?} in {place:?}, {step}\n{old}---\n{written}\n{}",
                        output.text
                    ));
                }
            }
            if !slips.iter().any(|slip| slip.changes_lines()) && new != block && is_told(&plain, &block) {
                told.1 += 1;
                told.0 += usize::from(outcome.is_success());
            }
            if let [slip] = slips.as_slice() {
                if let Some(reason) = reason(&outcome) {
                    let lines = if slip.changes_lines() { "other lines" } else { "same lines" };
                    *reasons.entry(format!("{lines}, {reason}")).or_default() += 1;
                }
                let entry = &mut landed_by_slip[SLIPS.iter().position(|known| known == slip).unwrap()];
                entry.1 += 1;
                entry.0 += usize::from(outcome.is_success());
            }
        }
    });
    let landed: Vec<String> = SLIPS
        .iter()
        .zip(&landed_by_slip)
        .map(|(slip, (landed, all))| format!("{slip:?} {landed}/{all}"))
        .collect();
    println!(
        "measure: guarantee 6: {total} mutated edits: {right} right, {refused} refused, {} wrong",
        wrong.len()
    );
    println!(
        "measure: edits of lines that are told from all others, written otherwise: {} of {} land",
        told.0, told.1
    );
    println!("measure: edits that land: {}", landed.join(", "));
    let mut reasons: Vec<(usize, String)> = reasons.into_iter().map(|(why, count)| (count, why)).collect();
    reasons.sort_by(|one, other| other.cmp(one));
    let reasons: Vec<String> = reasons.iter().map(|(count, why)| format!("{count} {why}")).collect();
    println!("measure: edits refused: {}", reasons.join("; "));
    // A ladder that refuses everything is never wrong.
    assert!(told.0 * 10 >= told.1 * 8, "only {} of {} land", told.0, told.1);
    assert!(wrong.is_empty(), "{}", wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n=====\n"));
}
