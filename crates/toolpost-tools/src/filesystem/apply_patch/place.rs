//! Where in a file a hunk belongs, and what it puts there. Exact lines first; then the edit ladder.
//!
//! A hunk is only placed where there is no other place that fits as well. A line number may choose between exact
//! places; it never makes a place fit.

mod applied;
mod climb;
mod scope;

use super::lines::{Lines, key};
use super::patch::{Hunk, HunkLine, Role};
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::{Failure, Step};
use crate::filesystem::sequence::occurrences;
use std::ops::Range;
use toolpost_core::ToolError;

/// So many exact places are looked for; more are as ambiguous.
const MOST_PLACES: usize = 1_000;

/// A hunk at its place.
#[derive(Debug)]
pub(super) struct Placed {
    /// The lines of the file that it stands for.
    pub(super) lines: Range<usize>,
    /// What stands there afterwards.
    pub(super) pieces: Vec<Piece>,
    pub(super) step: Step,
    pub(super) old_unended: bool,
    pub(super) new_unended: bool,
}

/// One line of the new file.
#[derive(Debug)]
pub(super) enum Piece {
    /// A line that was there, as it was.
    Keep(usize),
    /// A new line and its ending; the usual one of the file where there is none.
    Put(String, Option<&'static str>),
}

/// Why a hunk has no place.
#[derive(Debug)]
pub(super) enum Miss {
    /// The line it should stand below is not in the file.
    Header(usize),
    /// It has only new lines, and nothing says where they go.
    NoContext,
    /// Several places fit; their lines, from 1.
    Ambiguous(Step, Vec<usize>),
    /// The lines fit at one place, counting from 1, and the place that the header names, too, is like them.
    Named { fits: usize, named: usize },
    /// Its new lines are there already, from this line on, counting from 1.
    Applied(usize),
    /// None fits. The ladder looked from this line on, from 0.
    Nowhere(Failure, usize),
    /// The call has ended, or has taken too many steps.
    Stopped(ToolError),
}

impl From<ToolError> for Miss {
    fn from(error: ToolError) -> Miss {
        Miss::Stopped(error)
    }
}

/// What is known from the hunks before.
pub(super) struct Before<'a> {
    /// The lines that they stand for.
    pub(super) taken: &'a [Range<usize>],
    /// The same without the context around their changes, which the next hunk may show again.
    pub(super) changed: &'a [Range<usize>],
    /// How far the last of them was from where its header said.
    pub(super) drift: isize,
    /// Whether each of them was where its header said, and there is one.
    pub(super) is_as_named: bool,
    /// Whether the hunk is the last of its file.
    pub(super) is_last: bool,
}

/// Finds the place of a hunk.
pub(super) fn place(
    effort: &Effort,
    file: &Lines<'_>,
    hunk: &Hunk,
    before: &Before<'_>,
) -> Result<Placed, Miss> {
    let shared = Before { taken: before.changed, ..*before };
    let shorter = hunk.without_bare_end();
    let miss = match place_whole(effort, file, hunk, before) {
        Err(miss @ Miss::Nowhere(..)) => miss,
        result => return result,
    };
    let attempts = [(shorter.as_ref(), before), (Some(hunk), &shared), (shorter.as_ref(), &shared)];
    for (hunk, before) in attempts {
        match hunk.map(|hunk| place_whole(effort, file, hunk, before)) {
            None | Some(Err(Miss::Nowhere(..))) => {}
            Some(result) => return result,
        }
    }
    Err(miss)
}

impl Placed {
    /// With the endings of the lines of the place for new lines, where these all have the same one, and most of the file another.
    pub(super) fn in_endings_of(mut self, file: &Lines<'_>) -> Placed {
        let mut endings = file.all[self.lines.clone()].iter().map(|line| line.ending);
        let first = ["\r\n", "\n"].into_iter().find(|ending| endings.clone().next() == Some(*ending));
        let Some(first) =
            first.filter(|first| *first != file.ending && endings.all(|ending| ending == *first))
        else {
            return self;
        };
        for piece in &mut self.pieces {
            if let Piece::Put(_, ending @ None) = piece {
                *ending = Some(first);
            }
        }
        self
    }

    /// Without the context before its first and behind its last change.
    pub(super) fn core(mut self) -> Placed {
        let is_kept =
            |piece: Option<&Piece>, at: usize| matches!(piece, Some(Piece::Keep(kept)) if *kept == at);
        while !self.lines.is_empty() && is_kept(self.pieces.last(), self.lines.end - 1) {
            self.pieces.pop();
            self.lines.end -= 1;
        }
        let start = self.lines.start;
        let leading = self
            .pieces
            .iter()
            .enumerate()
            .take_while(|(index, piece)| is_kept(Some(piece), start + index))
            .count();
        self.pieces.drain(..leading);
        self.lines.start += leading;
        self
    }
}

impl Before<'_> {
    fn is_free(&self, lines: &Range<usize>) -> bool {
        self.taken.iter().all(|taken| lines.end <= taken.start || lines.start >= taken.end)
    }

    /// Where a hunk is by its header, and by how far the last one was from there.
    fn expected(&self, hunk: &Hunk) -> Option<usize> {
        hunk.old_start?.checked_sub(1)?.checked_add_signed(self.drift)
    }

    /// Where the last hunk ends.
    fn end(&self) -> usize {
        self.taken.last().map_or(0, |taken| taken.end)
    }
}

fn place_whole(effort: &Effort, file: &Lines<'_>, hunk: &Hunk, before: &Before<'_>) -> Result<Placed, Miss> {
    let old: Vec<&HunkLine> = hunk.old().collect();
    if old.is_empty() {
        return added(file, hunk, before);
    }
    let scopes = scope::scopes(effort, file, hunk)?;
    for comparison in [Comparison::Exact, Comparison::Endings] {
        let places = places(effort, file, &old, hunk, before, comparison)?;
        let places = scope::below(places, &scopes);
        match choose(&places, hunk, before) {
            Some(first) => {
                check_named(file, &old, first, hunk, before)?;
                let placed = at(file, hunk, first, old.len(), comparison);
                applied::check(effort, file, hunk, &placed, before)?;
                return Ok(placed);
            }
            None if places.is_empty() => {}
            None => {
                let lines = places.iter().map(|place| place + 1).collect();
                return Err(Miss::Ambiguous(comparison.step(), lines));
            }
        }
    }
    let placed = climb::climb(effort, file, hunk, before, &scopes)?;
    check_named(file, &old, placed.lines.start, hunk, before)?;
    applied::check(effort, file, hunk, &placed, before)?;
    Ok(placed)
}

/// Fails where the lines that the header names are those of the hunk in all but a few: they may have changed since, and
/// the place that fits be another one.
fn check_named(
    file: &Lines<'_>,
    old: &[&HunkLine],
    first: usize,
    hunk: &Hunk,
    before: &Before<'_>,
) -> Result<(), Miss> {
    let Some(named) = before.expected(hunk).filter(|named| *named != first) else { return Ok(()) };
    let is_filled = |line: &&&HunkLine| !line.text.trim().is_empty();
    let filled = old.iter().filter(is_filled).count();
    let is_same = |(at, line): &(usize, &&HunkLine)| {
        file.all.get(named + at).is_some_and(|there| there.text.trim() == line.text.trim() && is_filled(line))
    };
    let same = old.iter().enumerate().filter(is_same).count();
    // Of a single line, none is left as it was.
    let is_alike = |(at, line): &(usize, &&HunkLine)| {
        is_filled(line) && file.all.get(named + at).is_some_and(|there| is_alike(&line.text, there.text))
    };
    let is_like_one = filled == 1 && old.iter().enumerate().any(|line| is_alike(&line));
    match is_like_one || (same > 0 && same + 1.max(filled / 3) >= filled) {
        true => Err(Miss::Named { fits: first + 1, named: named + 1 }),
        false => Ok(()),
    }
}

/// Whether two lines are the same but for one word that is no number, whatever the blanks.
fn is_alike(one: &str, other: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let signs = |text: &'_ str| -> String {
        text.chars().filter(|character| !is_word(*character) && !character.is_whitespace()).collect()
    };
    let words = |text: &'_ str| -> Vec<String> {
        text.split(|character| !is_word(character))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    // Lines of other lengths by far are others, however long they are.
    if one.len() > other.len() * 4 + 100 || other.len() > one.len() * 4 + 100 || signs(one) != signs(other) {
        return false;
    }
    let (one, other) = (words(one), words(other));
    let differ: Vec<(&String, &String)> =
        one.iter().zip(&other).filter(|(one, other)| one != other).collect();
    let has_letters = |word: &String| word.contains(char::is_alphabetic);
    one.len() == other.len()
        && differ.len() <= 1
        && differ.iter().all(|(one, other)| has_letters(one) && has_letters(other))
}

/// New lines without context: those of the last hunk go to the end of the file, a place that needs no other line to find it,
/// where no header says otherwise. The line that a header names by its number is one where the other hunks show that its
/// numbers are right; a header that is a line of the file does not tell whether they go right below it.
fn added(file: &Lines<'_>, hunk: &Hunk, before: &Before<'_>) -> Result<Placed, Miss> {
    let is_end = hunk.at_end
        || file.len() == 0
        || (hunk.headers.is_empty() && hunk.old_start.is_none() && before.is_last);
    let place = match hunk.old_start {
        _ if is_end => file.len(),
        // Of no lines, the header names the one before them.
        Some(line) if before.is_as_named && before.is_free(&(line..line + 1)) && line <= file.len() => line,
        _ => return Err(Miss::NoContext),
    };
    Ok(Placed {
        lines: place..place,
        pieces: hunk.new_lines().map(|line| put(line, None)).collect(),
        step: Step::Exact,
        old_unended: false,
        new_unended: hunk.new_unended,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Exact,
    /// Whatever ends the lines.
    Endings,
}

impl Comparison {
    fn step(self) -> Step {
        match self {
            Comparison::Exact => Step::Exact,
            Comparison::Endings => Step::LineEndings,
        }
    }

    /// The number that stands for a line of a hunk, among those of the file.
    fn key(self, wanted: &str) -> u64 {
        match self {
            Comparison::Exact => key(wanted, false),
            Comparison::Endings => key(wanted.strip_suffix('\r').unwrap_or(wanted), false),
        }
    }

    fn fits(self, file: &Lines<'_>, at: usize, wanted: &str) -> bool {
        let line = &file.all[at];
        let bare = wanted.strip_suffix('\r').unwrap_or(wanted);
        match self {
            Comparison::Exact if line.ending == "\r\n" => bare.len() < wanted.len() && bare == line.text,
            Comparison::Exact => wanted == line.text,
            Comparison::Endings => bare == line.text,
        }
    }
}

/// Every line that the old lines fit from, behind the hunks before or, if there is none, anywhere between them.
fn places(
    effort: &Effort,
    file: &Lines<'_>,
    old: &[&HunkLine],
    hunk: &Hunk,
    before: &Before<'_>,
    comparison: Comparison,
) -> Result<Vec<usize>, ToolError> {
    let Some(last) = file.len().checked_sub(old.len()) else { return Ok(Vec::new()) };
    let first = if hunk.at_end { last } else { 0 };
    let mut all = Vec::new();
    for start in candidates(effort, file, old, comparison)? {
        effort.spend(old.len() + before.taken.len() + 8)?;
        let fits = (first..=last).contains(&start)
            && (0..old.len()).all(|index| comparison.fits(file, start + index, &old[index].text))
            && before.is_free(&(start..start + old.len()));
        all.extend(fits.then_some(start));
        if all.len() == MOST_PLACES {
            break;
        }
    }
    // Hunks that name their lines may come in any order.
    if let Some(named) = before.expected(hunk).filter(|named| all.contains(named)) {
        return Ok(vec![named]);
    }
    let cursor = before.end();
    let behind: Vec<usize> = all.iter().copied().filter(|start| *start >= cursor).collect();
    Ok(if behind.is_empty() { all } else { behind })
}

/// Where the old lines may begin, in order: where the rarest of them is, or, where even that is on many lines, what a
/// search through all lines finds.
fn candidates(
    effort: &Effort,
    file: &Lines<'_>,
    old: &[&HunkLine],
    comparison: Comparison,
) -> Result<Vec<usize>, ToolError> {
    let index = match comparison {
        Comparison::Exact => file.exact(),
        Comparison::Endings => file.bare(),
    };
    effort.spend(old.iter().map(|line| line.text.len() + 8).sum())?;
    let keys: Vec<u64> = old.iter().map(|line| comparison.key(&line.text)).collect();
    let mut rarest: Option<(usize, &[u32])> = None;
    for (at, key) in keys.iter().enumerate() {
        let Some(places) = index.places.get(key) else { return Ok(Vec::new()) };
        if rarest.is_none_or(|(_, known)| places.len() < known.len()) {
            rarest = Some((at, places));
        }
    }
    let Some((at, places)) = rarest else { return Ok(Vec::new()) };
    if places.len().saturating_mul(keys.len()) <= file.len() {
        effort.spend(places.len())?;
        return Ok(places.iter().filter_map(|place| (*place as usize).checked_sub(at)).collect());
    }
    effort.spend(file.len())?;
    Ok(occurrences(&index.keys, &keys))
}

/// The only place, or the very one that the line number says. The nearest one would not do: lines that came above
/// move the place that is meant away from its number, and perhaps another one to it.
fn choose(places: &[usize], hunk: &Hunk, before: &Before<'_>) -> Option<usize> {
    if let [place] = places {
        return Some(*place);
    }
    let expected = before.expected(hunk)?;
    places.iter().copied().find(|place| *place == expected)
}

/// The pieces of a hunk whose old lines are those of the file, but for their endings.
fn at(file: &Lines<'_>, hunk: &Hunk, first: usize, count: usize, comparison: Comparison) -> Placed {
    let matched = &file.all[first..first + count];
    let returns = hunk.old().filter(|line| line.text.ends_with('\r')).count();
    // A patch that shows carriage returns, or stands among plain newlines, means the endings that it has.
    let is_faithful = match comparison {
        Comparison::Exact => returns > 0 || matched.iter().any(|line| line.ending == "\n"),
        Comparison::Endings => false,
    };
    // One that has them throughout, where the file has none, was made for another copy of the file.
    let is_foreign = comparison == Comparison::Endings
        && returns == count
        && matched.iter().all(|line| line.ending != "\r\n");
    let mut next = first;
    let mut pieces = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        match line.role {
            Role::Context => pieces.push(Piece::Keep(next)),
            Role::Removed => {}
            Role::Added if is_foreign => {
                pieces.push(Piece::Put(line.text.strip_suffix('\r').unwrap_or(&line.text).to_owned(), None));
            }
            Role::Added => pieces.push(put(line, is_faithful.then_some("\n"))),
        }
        next += usize::from(line.is_old());
    }
    Placed {
        lines: first..first + count,
        pieces,
        step: comparison.step(),
        old_unended: hunk.old_unended,
        new_unended: hunk.new_unended,
    }
}

/// A new line; a carriage return at its end is part of its ending.
fn put(line: &HunkLine, ending: Option<&'static str>) -> Piece {
    match line.text.strip_suffix('\r') {
        Some(text) => Piece::Put(text.to_owned(), Some("\r\n")),
        None => Piece::Put(line.text.clone(), ending),
    }
}
