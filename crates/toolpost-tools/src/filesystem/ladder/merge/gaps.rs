//! Blanks within the lines of a new text, written as the file writes them.

use super::super::fold::{Level, is_word};
use super::super::lines::is_blank;
use super::Merge;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

const GAPS: &str =
    "oldString has other blanks within its lines than the file, and not everywhere in the same way";

/// What stands on both sides of a gap: a sign, or any word.
type Sides = (Option<char>, Option<char>);

/// How many blanks of the old text are how many in the file, by what stands around them.
pub(super) struct Gaps {
    known: BTreeMap<(Sides, usize), BTreeSet<usize>>,
}

impl Gaps {
    pub(super) fn new(merge: &Merge<'_>) -> Gaps {
        let mut known: BTreeMap<(Sides, usize), BTreeSet<usize>> = BTreeMap::new();
        if merge.level == Level::Blanks {
            for (old, part) in merge.olds.iter().zip(merge.parts) {
                for (asked, there) in gaps(old).into_iter().zip(gaps(part)) {
                    known.entry((asked.sides, asked.width)).or_default().insert(there.width);
                }
            }
        }
        Gaps { known }
    }

    /// A line of the new text without its indentation. What it shares with the line that it replaces, at the beginning and
    /// at the end, is as the file has it.
    pub(super) fn plain<'b>(
        &self,
        text: &'b str,
        replaced: Option<(&str, &str)>,
    ) -> Result<Cow<'b, str>, &'static str> {
        let new = gaps(text);
        let (old, there) = replaced.map_or_else(Default::default, |(old, part)| (gaps(old), gaps(part)));
        let same = |(one, other): &(&Gap, &Gap)| one == other;
        let head = new.iter().zip(&old).take_while(same).count();
        let most = new.len().min(old.len()) - head;
        let tail = new.iter().rev().zip(old.iter().rev()).take_while(same).count().min(most);
        let mut plain = String::with_capacity(text.len());
        for (at, gap) in new.iter().enumerate() {
            let width = match at {
                at if at < head => there.get(at).map(|gap| gap.width),
                at if at >= new.len() - tail => {
                    (at + there.len()).checked_sub(new.len()).map(|at| there[at].width)
                }
                _ => None,
            };
            let width = match width {
                Some(width) => width,
                None => self.width(gap)?,
            };
            // Blanks that the old text lacks may be left out of the new one on purpose.
            let width = width.min(gap.width);
            // The blanks of a gap are kept where there are as many.
            match width == gap.width {
                true => plain.push_str(&text[gap.from..gap.to]),
                false => plain.extend(std::iter::repeat_n(' ', width)),
            }
            plain.push(gap.next);
        }
        plain.push_str(&text[text.trim_end_matches(is_blank).len()..]);
        Ok(if plain == text { Cow::Borrowed(text) } else { Cow::Owned(plain) })
    }

    /// How many blanks the file would have.
    fn width(&self, gap: &Gap) -> Result<usize, &'static str> {
        let one = |widths: &BTreeSet<usize>| match widths.iter().collect::<Vec<_>>().as_slice() {
            [width] => Ok(**width),
            _ => Err(GAPS),
        };
        if let Some(widths) = self.known.get(&(gap.sides, gap.width)) {
            return one(widths);
        }
        // Several blanks are told by those around other words.
        let alike = self.known.iter().filter(|((_, width), _)| *width == gap.width && gap.width > 1);
        let widths: BTreeSet<usize> = alike.flat_map(|(_, widths)| widths.iter().copied()).collect();
        let is_widened = || self.known.iter().any(|((_, width), there)| *width > 1 && !there.contains(width));
        match widths.is_empty() {
            true if gap.width > 1 && is_widened() => Err(GAPS),
            true => Ok(gap.width),
            false => one(&widths),
        }
    }
}

/// A character and what stands before it.
#[derive(Debug)]
struct Gap {
    sides: Sides,
    width: usize,
    from: usize,
    to: usize,
    next: char,
    before: Option<char>,
}

impl PartialEq for Gap {
    fn eq(&self, other: &Gap) -> bool {
        (self.before, self.width, self.next) == (other.before, other.width, other.next)
    }
}

/// The gap before each character that is no blank, behind the indentation.
fn gaps(line: &str) -> Vec<Gap> {
    let kind = |character: char| (!is_word(character)).then_some(character);
    let text = line.trim_end_matches(is_blank);
    let mut all = Vec::new();
    let mut end = text.len() - text.trim_start_matches(is_blank).len();
    let mut before: Option<char> = None;
    for (at, next) in text.char_indices().filter(|(_, character)| !is_blank(*character)) {
        // Within a word there is no gap.
        let sides = (before.map_or(Some('\n'), kind), kind(next));
        all.push(Gap { sides, width: at.saturating_sub(end), from: end.min(at), to: at, next, before });
        end = at + next.len_utf8();
        before = Some(next);
    }
    all
}
