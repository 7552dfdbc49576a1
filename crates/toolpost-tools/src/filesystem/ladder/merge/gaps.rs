//! Blanks within the lines of a new text, written as the file writes them.

use super::super::fold::{Level, is_word};
use super::super::lines::{is_blank, split_indent};
use super::super::literals;
use super::Merge;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const GAPS: &str =
    "oldString has other blanks within its lines than the file, and not everywhere in the same way";

const IN_LITERAL: &str = "oldString and the file differ in the blanks of a string, which are a part of what it says, or newString \
                          has several blanks in a string, which may be a slip or not";

/// What stands on both sides of a gap: a sign, or any word.
type Sides = (Option<char>, Option<char>);

/// Which blanks of the old text are which in the file, by what stands around them.
pub(super) struct Gaps<'a> {
    known: BTreeMap<(Sides, &'a str), BTreeSet<&'a str>>,
    /// Where the lines of the new text begin that stand in a string of several lines.
    in_literal: BTreeSet<*const u8>,
}

impl<'a> Gaps<'a> {
    /// Fails where the blanks of a string differ.
    pub(super) fn new(merge: &Merge<'a>) -> Result<Gaps<'a>, &'static str> {
        let mut gaps = Gaps { known: BTreeMap::new(), in_literal: BTreeSet::new() };
        if merge.level != Level::Blanks {
            return Ok(gaps);
        }
        let mut is_open = literals::is_open(&merge.file[..merge.start]);
        for (old, part) in merge.olds.iter().zip(merge.parts) {
            let (in_old, in_part) = (literals::in_quotes(old), literals::in_quotes(part));
            let begins_open = is_open;
            is_open ^= literals::is_open(part);
            for (asked, there) in self::gaps(old).into_iter().zip(self::gaps(part)) {
                let holds =
                    |parts: &[Range<usize>], gap: &Gap<'_>| parts.iter().any(|part| part.contains(&gap.at));
                let is_inside = begins_open || is_open || holds(&in_old, &asked) || holds(&in_part, &there);
                if asked.text != there.text && is_inside {
                    return Err(IN_LITERAL);
                }
                gaps.known.entry((asked.sides, asked.text)).or_default().insert(there.text);
            }
        }
        let inner = literals::several(merge.news).into_iter().flat_map(|one| one.inner);
        gaps.in_literal = inner.map(|at| split_indent(merge.news[at]).1.as_ptr()).collect();
        Ok(gaps)
    }

    /// A line of the new text without its indentation. What it shares with the line that it replaces, at the beginning and
    /// at the end, is as the file has it.
    pub(super) fn plain<'b>(
        &self,
        text: &'b str,
        replaced: Option<(&str, &str)>,
    ) -> Result<Cow<'b, str>, &'static str> {
        let new = gaps(text);
        let in_quotes = literals::in_quotes(text);
        let (old, there) = replaced.map_or_else(Default::default, |(old, part)| (gaps(old), gaps(part)));
        let same = |(one, other): &(&Gap<'_>, &Gap<'_>)| one == other;
        let head = new.iter().zip(&old).take_while(same).count();
        let most = new.len().min(old.len()) - head;
        let tail = new.iter().rev().zip(old.iter().rev()).take_while(same).count().min(most);
        let mut plain = String::with_capacity(text.len());
        for (at, gap) in new.iter().enumerate() {
            let shared = match at {
                at if at < head => there.get(at).map(|gap| gap.text),
                at if at >= new.len() - tail => {
                    (at + there.len()).checked_sub(new.len()).map(|at| there[at].text)
                }
                _ => None,
            };
            let blanks = match shared {
                Some(blanks) => blanks,
                None => self.blanks(gap)?,
            };
            // Blanks that the old text lacks may be left out of the new one on purpose; tabs are what separates.
            let is_tab = blanks.contains('\t') || gap.text.contains('\t');
            let blanks = if blanks.len() > gap.text.len() && !is_tab { gap.text } else { blanks };
            let is_inside = self.in_literal.contains(&text.as_ptr())
                || in_quotes.iter().any(|part| part.contains(&gap.at));
            match () {
                () if blanks == gap.text => {}
                () if is_inside => return Err(IN_LITERAL),
                // One blank for a tab, or the other way round, may be meant.
                () if is_tab && gap.text.len() == 1 && shared.is_none() => return Err(GAPS),
                () => {}
            }
            plain.push_str(blanks);
            plain.push(gap.next);
        }
        plain.push_str(&text[text.trim_end_matches(is_blank).len()..]);
        Ok(if plain == text { Cow::Borrowed(text) } else { Cow::Owned(plain) })
    }

    /// The blanks that the file would have.
    fn blanks<'b>(&self, gap: &Gap<'b>) -> Result<&'b str, &'static str>
    where
        'a: 'b,
    {
        let one = |all: &BTreeSet<&'a str>| match all.iter().collect::<Vec<_>>().as_slice() {
            [blanks] => Ok(**blanks),
            _ => Err(GAPS),
        };
        let is_several = gap.text.len() > 1;
        if let Some(all) = self.known.get(&(gap.sides, gap.text)) {
            return one(all);
        }
        // Several blanks are told by those around other words, unless only some of the old text's blanks are a slip.
        if is_several && self.known.iter().any(|((_, text), there)| *text == " " && there.contains(" ")) {
            let is_slip = |((_, text), there): (&(Sides, &str), &BTreeSet<&str>)| {
                *text == gap.text && !there.contains(text)
            };
            return if self.known.iter().any(is_slip) { Err(GAPS) } else { Ok(gap.text) };
        }
        let alike = self.known.iter().filter(|((_, text), _)| *text == gap.text && is_several);
        let all: BTreeSet<&'a str> = alike.flat_map(|(_, all)| all.iter().copied()).collect();
        let is_widened =
            || self.known.iter().any(|((_, text), there)| text.len() > 1 && !there.contains(text));
        match all.is_empty() {
            true if is_several && is_widened() => Err(GAPS),
            true => Ok(gap.text),
            false => one(&all),
        }
    }
}

/// A character and what stands before it.
#[derive(Debug)]
struct Gap<'a> {
    sides: Sides,
    text: &'a str,
    /// Where the character is in the line.
    at: usize,
    next: char,
    before: Option<char>,
}

impl PartialEq for Gap<'_> {
    fn eq(&self, other: &Gap<'_>) -> bool {
        (self.before, self.text, self.next) == (other.before, other.text, other.next)
    }
}

/// The gap before each character that is no blank, behind the indentation.
fn gaps(line: &str) -> Vec<Gap<'_>> {
    let kind = |character: char| (!is_word(character)).then_some(character);
    let text = line.trim_end_matches(is_blank);
    let mut all = Vec::new();
    let mut end = text.len() - text.trim_start_matches(is_blank).len();
    let mut before: Option<char> = None;
    for (at, next) in text.char_indices().filter(|(_, character)| !is_blank(*character)) {
        // Within a word there is no gap.
        let sides = (before.map_or(Some('\n'), kind), kind(next));
        all.push(Gap { sides, text: &text[end.min(at)..at], at, next, before });
        end = at + next.len_utf8();
        before = Some(next);
    }
    all
}
