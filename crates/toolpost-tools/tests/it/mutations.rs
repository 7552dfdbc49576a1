//! Thousands of slightly wrong edits of real files: each is right or refused, none is wrong.
//!
//! What is right is told from the lines that were meant, before they were written otherwise; nothing here asks the
//! ladder. Where a slip makes the lines other ones, what those lines say is right too, if they are there once.

use super::edit::SOURCES;
use super::{count, executor, run};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolpost_core::{Call, Context, Memory, Outcome, Workspace, WorkspacePath};

/// Longer files, and such as repeat themselves.
const LONG_SOURCES: [(&str, &str); 3] = [
    ("layers.rs", include_str!("../data/layers.rs")),
    ("lock.toml", include_str!("../data/lock.toml")),
    ("page.md", include_str!("../data/page.md")),
];

/// Every file that mutations are made of.
pub(super) fn sources() -> Vec<(&'static str, &'static str)> {
    SOURCES.into_iter().chain(LONG_SOURCES).collect()
}

/// Numbers that are the same on every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What becomes of lines that were meant to be something else.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Slip {
    /// The lines are other ones.
    Dropped,
    Doubled,
    Swapped,
    Typo,
    Stale,
    /// The lines are the same ones, written otherwise.
    IndentedAll,
    IndentedOne,
    OutdentedAll,
    OtherBlanks,
    HalfTheWidth,
    TrailingBlanks,
    BlanksWithin,
    SmartCharacters,
    HardSpaces,
    Crlf,
    Numbered,
    Escaped,
    NoFinalNewline,
}

const SLIPS: [Slip; 18] = [
    Slip::Dropped,
    Slip::Doubled,
    Slip::Swapped,
    Slip::Typo,
    Slip::Stale,
    Slip::IndentedAll,
    Slip::IndentedOne,
    Slip::OutdentedAll,
    Slip::OtherBlanks,
    Slip::HalfTheWidth,
    Slip::TrailingBlanks,
    Slip::BlanksWithin,
    Slip::SmartCharacters,
    Slip::HardSpaces,
    Slip::Crlf,
    Slip::Numbered,
    Slip::Escaped,
    Slip::NoFinalNewline,
];

fn without_final_newline(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

impl Slip {
    /// Whether the lines are other ones than those of the file, not only written otherwise.
    fn changes_lines(self) -> bool {
        matches!(self, Slip::Dropped | Slip::Doubled | Slip::Swapped | Slip::Typo | Slip::Stale)
    }

    /// Other lines first, then how each is written, last what is put around them.
    fn order(self) -> usize {
        match self {
            Slip::Dropped | Slip::Doubled | Slip::Swapped => 0,
            Slip::Typo | Slip::Stale => 1,
            slip if slip.is_of_one_line() => 2,
            Slip::Numbered => 4,
            Slip::Escaped | Slip::Crlf | Slip::NoFinalNewline => 5,
            _ => 3,
        }
    }

    fn is_of_one_line(self) -> bool {
        matches!(self, Slip::IndentedOne | Slip::TrailingBlanks | Slip::BlanksWithin | Slip::HardSpaces)
    }

    /// `at` and `seed` are chosen once, so that the old and the new text can be treated alike.
    fn apply(self, text: &str, at: usize, seed: usize) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let at = at % lines.len().max(1);
        if lines.is_empty() {
            return String::new();
        }
        let filled = |line: &str| !line.trim().is_empty();
        match self {
            Slip::Dropped => drop(lines.remove(at)),
            Slip::Doubled => lines.insert(at, lines[at].clone()),
            Slip::Swapped => {
                let other = (at + 1) % lines.len();
                lines.swap(at, other);
            }
            Slip::Typo => {
                let characters: Vec<char> = lines[at].chars().collect();
                let place = seed % characters.len();
                let mut changed = characters.clone();
                match seed % 3 {
                    0 if characters[place] != '\n' => drop(changed.remove(place)),
                    1 if characters[0] != '\n' => changed.insert(place, characters[seed % place.max(1)]),
                    _ if characters[place] != '\n' => changed[place] = 'q',
                    _ => {}
                }
                lines[at] = changed.into_iter().collect();
            }
            Slip::Stale => {
                // Another number, another word, another operator, or one more digit: another meaning.
                let (from, to) =
                    [("1", "2"), ("if", "while"), ("<", "<="), ("0", "00"), ("(", "(!"), ("=", "==")]
                        [seed % 6];
                lines[at] = lines[at].replace(from, to);
            }
            Slip::IndentedAll => {
                let more = [" ", "  ", "    ", "\t"][seed % 4];
                lines.iter_mut().filter(|line| filled(line)).for_each(|line| line.insert_str(0, more));
            }
            Slip::IndentedOne => {
                let more = ["  ", "    ", "\t"][seed % 3];
                match seed % 2 {
                    0 => lines[at].insert_str(0, more),
                    _ => lines[at] = lines[at].trim_start_matches([' ', '\t']).to_owned(),
                }
            }
            Slip::OutdentedAll => {
                let least =
                    lines.iter().filter(|line| filled(line)).map(|line| indent(line)).min().unwrap_or(0);
                lines.iter_mut().filter(|line| filled(line)).for_each(|line| drop(line.drain(..least)));
            }
            Slip::OtherBlanks => {
                for line in &mut lines {
                    let rest = line.split_off(indent(line));
                    *line = match line.contains('\t') {
                        true => line.replace('\t', "    "),
                        false => line.replace("    ", "\t"),
                    } + &rest;
                }
            }
            Slip::HalfTheWidth => {
                // Where half of it is not enough to tell the depth, nothing is halved.
                if lines.iter().all(|line| !line.starts_with('\t') && indent(line).is_multiple_of(4)) {
                    for line in &mut lines {
                        let rest = line.split_off(indent(line));
                        *line = line[..line.len() / 2].to_owned() + &rest;
                    }
                }
            }
            Slip::TrailingBlanks => lines[at] = lines[at].replace('\n', [" \n", "\t\n", "   \n"][seed % 3]),
            Slip::BlanksWithin => {
                let (head, rest) = lines[at].split_at(indent(&lines[at]));
                lines[at] = head.to_owned() + &rest.replace(' ', "  ").replace("  \n", "\n");
            }
            Slip::SmartCharacters => {
                return text.replace('"', "“").replace('\'', "’").replace('-', "–");
            }
            Slip::HardSpaces => {
                let (head, rest) = lines[at].split_at(indent(&lines[at]));
                lines[at] = head.to_owned() + &rest.replace(' ', "\u{a0}");
            }
            Slip::Crlf => return text.replace('\n', "\r\n"),
            Slip::Numbered => {
                let sign = [": ", " | ", "\t", "→"][seed % 4];
                for (index, line) in lines.iter_mut().enumerate() {
                    line.insert_str(0, &format!("{}{sign}", seed % 90 + index));
                }
            }
            Slip::Escaped => return text.replace('\\', "\\\\").replace('"', "\\\"").replace('\'', "\\'"),
            Slip::NoFinalNewline => return without_final_newline(text).to_owned(),
        }
        lines.concat()
    }
}

/// Which of the texts the slip is in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum In {
    Old,
    Both,
}

/// What somebody wants: a block of lines changed a little.
pub(super) fn intention(random: &mut Random, lines: &[&str]) -> (usize, usize, String) {
    let length = 1 + random.below(9).min(lines.len() - 1);
    let first = random.below(lines.len() - length + 1);
    let mut block: Vec<String> = lines[first..first + length].iter().map(|line| (*line).to_owned()).collect();
    let at = random.below(length);
    let depth = block[at][..indent(&block[at])].to_owned();
    match random.below(5) {
        0 => block[at] = format!("{depth}replaced({at}, \"it's\");\n"),
        1 => block.insert(at, format!("{depth}inserted({at});\n")),
        2 if length > 1 => drop(block.remove(at)),
        3 => block[at] = block[at].replacen(|c: char| c.is_alphanumeric(), "Zz", 1),
        _ => {
            // Wrapped: deeper by one step, where the file shows what a step is.
            let narrowest =
                lines.iter().map(|line| &line[..indent(line)]).filter(|indent| !indent.is_empty());
            let step = narrowest.min_by_key(|indent| indent.len()).unwrap_or_default();
            block[at] = format!("{depth}wrap {{\n{depth}{step}{}{depth}}}\n", block[at].trim_start());
        }
    }
    (first, length, block.concat())
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

/// The text with less in front of each of its lines, where they all have it.
fn outdented(text: &str, less: &str) -> Option<String> {
    let line = |line: &str| match line.trim().is_empty() {
        true => Some(line.to_owned()),
        false => line.strip_prefix(less).map(str::to_owned),
    };
    text.split_inclusive('\n').map(line).collect()
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

/// What counts as the same: all of it, but for blanks that both texts were given otherwise than the file has them.
fn same(slips: &[Slip], place: In, one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if place == In::Old {
        return false;
    }
    let squeezed = |text: &str| -> Vec<String> {
        let line = |line: &str| match slips.contains(&Slip::BlanksWithin) {
            true => line[..indent(line)].to_owned() + &line.split_whitespace().collect::<Vec<_>>().join(" "),
            false => line.trim_end().to_owned(),
        };
        text.split('\n').map(|text| line(text) + if text.ends_with('\r') { "\r" } else { "" }).collect()
    };
    slips.iter().any(|slip| matches!(slip, Slip::BlanksWithin | Slip::TrailingBlanks))
        && squeezed(one) == squeezed(other)
}

#[test]
fn guarantee_06_mutated_edits_are_right_or_refused() {
    let total = count(2_500, 100_000);
    let mut random = Random(0x5eed_ed17);
    let sources = sources();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let executor = executor();
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
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
            // The same without what is put around the lines.
            let mut bare = block.clone();
            let mut ordered = slips.clone();
            ordered.sort_by_key(|slip| slip.order());
            for slip in &ordered {
                let (at, seed) = (random.below(length), random.below(1_000));
                old = slip.apply(&old, at, seed);
                if slip.order() < Slip::Numbered.order() {
                    bare = old.clone();
                }
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
                } else if place == In::Both {
                    written = slip.apply(&written, at, seed);
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
            for letters in [old_plain.clone(), trimmed.join("\n")] {
                if !letters.is_empty() && plain.matches(&letters).count() == 1 {
                    accepted.push(endings(plain.replacen(&letters, &written.replace("\r\n", "\n"), 1)));
                }
            }
            let at_lines = |(at, _): &(usize, &str)| *at == 0 || plain[..*at].ends_with('\n');
            // Indented like the old text throughout, the new one may be meant to stand as that does.
            let lines_change = slips.iter().any(|slip| slip.changes_lines());
            let shifted = |text: &str| match lines_change
                && place == In::Old
                && slips.contains(&Slip::IndentedAll)
            {
                true => [" ", "  ", "    ", "\t"].iter().filter_map(|more| outdented(text, more)).collect(),
                false => Vec::new(),
            };
            for asked in all_asked.iter().filter(|asked| asked.len() > 1) {
                let meant_old = if is_cut { without_final_newline(asked) } else { asked };
                let places: Vec<(usize, &str)> = plain.match_indices(meant_old).filter(at_lines).collect();
                if let [(at, _)] = places.as_slice() {
                    let (before, after) = (&plain[..*at], &plain[at + meant_old.len()..]);
                    accepted.push(endings(format!("{before}{meant_new}{after}")));
                    for new in shifted(meant_new) {
                        accepted.push(endings(format!("{before}{new}{after}")));
                    }
                }
            }
            // Or the slip was seen through.
            let rest = if is_cut { "\n" } else { "" };
            let (before, after) = (lines[..first].concat(), lines[first + length..].concat());
            let seen_through = endings(format!("{before}{meant_new}{rest}{after}"));
            match overwrites_stale {
                true => accepted.retain(|text| *text != seen_through),
                false => accepted.push(seen_through),
            }
            let memory = Memory::new();
            let path = WorkspacePath::new(name);
            memory.write(&path, source.as_bytes()).await.unwrap();
            let ctx = Context::builder(Arc::new(memory)).build();
            let args = json!({"filePath": name, "oldString": old, "newString": written});
            let outcome = executor.run(&ctx, Call::new("edit", args)).await;
            let mut after = String::new();
            ctx.workspace().open(&path).await.unwrap().reader.read_to_string(&mut after).unwrap();
            match &outcome.result {
                Err(_) => {
                    refused += 1;
                    assert!(after == source, "a refused edit changed the file");
                }
                Ok(_) if accepted.iter().any(|text| same(&slips, place, text, &after)) => right += 1,
                Ok(output) => {
                    let step = &output.data["steps"];
                    wrong.push(format!(
                        "{name}, {slips:?} in {place:?}, {step}\n{old}---\n{written}\n{}",
                        output.text
                    ));
                }
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
    println!("measure: edits that land: {}", landed.join(", "));
    let mut reasons: Vec<(usize, String)> = reasons.into_iter().map(|(why, count)| (count, why)).collect();
    reasons.sort_by(|one, other| other.cmp(one));
    let reasons: Vec<String> = reasons.iter().map(|(count, why)| format!("{count} {why}")).collect();
    println!("measure: edits refused: {}", reasons.join("; "));
    assert!(wrong.is_empty(), "{}", wrong.iter().take(6).cloned().collect::<Vec<_>>().join("\n=====\n"));
}

/// A few characters of one line, with a slip in what is asked for.
#[test]
fn guarantee_06_mutated_parts_of_lines_are_right_or_refused() {
    let total = count(1_500, 30_000);
    let mut random = Random(0x5eed_0001_ed17);
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
            let memory = Memory::new();
            let path = WorkspacePath::new(name);
            memory.write(&path, source.as_bytes()).await.unwrap();
            let ctx = Context::builder(Arc::new(memory)).build();
            let args = json!({"filePath": name, "oldString": old, "newString": new});
            let outcome = executor.run(&ctx, Call::new("edit", args)).await;
            let mut after = String::new();
            ctx.workspace().open(&path).await.unwrap().reader.read_to_string(&mut after).unwrap();
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
    assert!(wrong.is_empty(), "{}", wrong.iter().take(6).cloned().collect::<Vec<_>>().join("\n=====\n"));
}
