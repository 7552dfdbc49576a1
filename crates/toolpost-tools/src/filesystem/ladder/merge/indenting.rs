//! How the lines of a new text are indented: as the file is, or as an old text that is indented otherwise.

use super::super::fold::Level;
use super::super::further::{Further, Reading};
use super::super::indentation::Mapping;
use super::super::lines::{Lines, is_blank, is_filled, is_telling, split_indent};
use super::super::suspicion;
use super::Merge;
use super::witnesses::{self, Vote};
use std::collections::{HashMap, HashSet};

pub(super) const MIXED: &str = "newString is not indented like oldString throughout, nor like the file";
const PART_OF_LINE: &str =
    "oldString begins within a line, so it is unclear how the lines of newString are to be indented";

/// How the lines of the new text are indented.
pub(super) enum Indenting<'a> {
    /// As the file is.
    AsFile,
    /// As the file is, but for single lines that are indented otherwise in both texts.
    MostlyAsFile,
    /// As the old text is, which is not as the file is.
    AsOld(Mapping<'a>),
    /// As the file is but for the first line, which lacks this.
    FirstWithout(&'a str),
    /// From where the first line begins, which lacks a part of its indentation: that part, and all of it.
    BelowFirst(&'a str, &'a str),
}

impl<'a> Merge<'a> {
    /// The indentation of a line of the old text, and of the same line in the file.
    pub(super) fn indents(&self, old: usize) -> (&'a str, &'a str) {
        (split_indent(self.olds[old]).0, split_indent(self.parts[old]).0)
    }

    /// The lines of the old text that are not blank.
    pub(super) fn filled(&self) -> Vec<usize> {
        (0..self.olds.len()).filter(|index| is_filled(self.olds[*index])).collect()
    }

    pub(super) fn indenting(&self) -> Result<Indenting<'a>, &'static str> {
        let filled = self.filled();
        let is_same = |index: &usize| self.indents(*index).0 == self.indents(*index).1;
        // What the old text shows is as the file has it, so the new text is taken at its word.
        let is_deleted = !self.news.iter().any(|line| is_filled(line));
        if self.level < Level::Indentation || is_deleted || filled.iter().all(is_same) {
            return Ok(Indenting::AsFile);
        }
        if let Some(found) = self.first_line_alone(&filled)? {
            return Ok(found);
        }
        // Of brackets the indentation is all that tells one from the next.
        let (says, brackets): (Vec<usize>, Vec<usize>) =
            filled.iter().partition(|index| is_telling(self.olds[**index]));
        if !filled.iter().any(|index| self.olds[*index].contains(char::is_alphanumeric)) {
            return Err(MIXED);
        }
        let pairs = |lines: &[usize]| lines.iter().map(|index| self.indents(*index)).collect();
        let step = suspicion::usual_step(&Lines::of(self.file));
        let mapping = match Mapping::new(pairs(&says), pairs(&brackets), step) {
            Ok(mapping) => mapping,
            Err(why) => {
                // A line that slipped by itself: the rest of what says something has to be there to the letter.
                let (told, other): (Vec<usize>, Vec<usize>) = says.iter().partition(|index| is_same(index));
                let is_as_file = match brackets.iter().copied().find(|index| !is_same(index)) {
                    None => {
                        told.len() > other.len()
                            && !self.repeats_text(&other)
                            && (self.is_as_file(&filled) && !self.repeats_slip(&other)
                                || self.is_slip_of_both(&other))
                    }
                    Some(bracket) => {
                        let slipped = brackets.iter().filter(|index| !is_same(index)).count() + other.len();
                        slipped == 1 && told.len() > 1 && self.is_slip_of_bracket(bracket)
                    }
                };
                let is_as_file = is_as_file && !self.is_beside_its_own(&filled);
                return if is_as_file { Ok(Indenting::MostlyAsFile) } else { Err(why) };
            }
        };
        if self.is_dedented_by_itself(&filled) {
            return Err(MIXED);
        }
        match witnesses::tally(self, &mapping) {
            Vote::Old(_) => {
                self.check_opened(&mapping)?;
                self.check_steps(&mapping)?;
                Ok(Indenting::AsOld(mapping))
            }
            Vote::File(_) => Ok(Indenting::AsFile),
            Vote::Unclear(_) if self.is_same_either_way(&mapping) => Ok(Indenting::AsFile),
            Vote::Unclear(_) => Err(MIXED),
        }
    }

    /// Whether the line of the file above or below the place is, to the letter, one that the old text has at another depth than
    /// the file: then a line is missing in the old text, and another one was taken for it.
    fn is_beside_its_own(&self, filled: &[usize]) -> bool {
        let is = |at: Option<&usize>, line: Option<&str>| {
            let slipped = at.filter(|at| self.indents(**at).0 != self.indents(**at).1);
            let (Some(at), Some(line)) = (slipped, line) else { return false };
            self.olds[*at].trim_end_matches(is_blank) == line.trim_end_matches(is_blank)
        };
        is(filled.first(), self.above) || is(filled.last(), self.below)
    }

    /// Whether each line of the new text is as deep in the file as it is written.
    fn is_same_either_way(&self, mapping: &Mapping<'_>) -> bool {
        let mut indents = self.news.iter().filter(|line| is_filled(line)).map(|line| split_indent(line).0);
        indents.all(|indent| {
            mapping.knows_old(indent) && mapping.apply(indent).is_ok_and(|there| there == indent)
        })
    }

    /// Whether each of the texts was moved to the margin by itself, so that what they share is not as deep any more.
    fn is_dedented_by_itself(&self, filled: &[usize]) -> bool {
        let least =
            |lines: &mut dyn Iterator<Item = &str>| lines.map(|line| split_indent(line).0.len()).min();
        let old = least(&mut filled.iter().map(|at| self.olds[*at]));
        let new = least(&mut self.news.iter().copied().filter(|line| is_filled(line)));
        let kept: Vec<(usize, usize)> = self.kept().filter(|(old, _)| is_telling(self.olds[*old])).collect();
        let is_moved =
            |(old, new): &(usize, usize)| split_indent(self.news[*new]).0.len() != self.indents(*old).0.len();
        old == Some(0) && new == Some(0) && !kept.is_empty() && kept.iter().all(is_moved)
    }

    /// Whether the lines that are indented otherwise in the old text stay, are so in the new text too, and have nothing to
    /// do with what is new: no line that comes stands beside one of them, or is as deep.
    fn is_slip_of_both(&self, slipped: &[usize]) -> bool {
        let kept: Vec<(usize, usize)> = self.kept().filter(|(old, _)| is_filled(self.olds[*old])).collect();
        let (come, shown): (Vec<usize>, HashSet<&str>) = (self.come().collect(), self.shown(slipped));
        let depths: HashSet<&str> = come.iter().map(|at| split_indent(self.news[*at]).0).collect();
        // Where the lines around it are moved, it may be moved with them.
        let is_moved = |(old, new): &(usize, usize)| self.indents(*old).1 != split_indent(self.news[*new]).0;
        slipped.iter().all(|old| {
            let indent = self.indents(*old).0;
            let Some(at) = kept.iter().position(|(kept, _)| kept == old) else { return false };
            let place = kept[at].1;
            let mut around = kept[..at].last().into_iter().chain(kept.get(at + 1));
            split_indent(self.news[place]).0 == indent
                && !self.explains_depth(&come, place)
                && !around.any(is_moved)
                && (!depths.contains(indent) || shown.contains(indent))
        })
    }

    /// Whether a bracket that is indented otherwise in the old text stays, is so in the new text too, and cannot be taken
    /// for another one; and every line that comes is as deep as a line of the old text that is as the file has it.
    fn is_slip_of_bracket(&self, bracket: usize) -> bool {
        let line = self.olds[bracket];
        let count = |lines: &[&str]| lines.iter().filter(|other| **other == line).count();
        let shown = self.shown(&[bracket]);
        let come: Vec<usize> = self.come().collect();
        let Some((_, place)) = self.kept().find(|(old, _)| *old == bracket) else { return false };
        let mut depths = come.iter().map(|at| split_indent(self.news[*at]).0);
        count(self.olds) == 1
            && count(self.news) == 1
            && self.news[place] == line
            && !self.explains_depth(&come, place)
            && depths.all(|depth| shown.contains(depth))
            && self.kept().all(|(old, new)| {
                old == bracket || !is_filled(self.olds[old]) || self.olds[old] == self.news[new]
            })
    }

    /// Whether a line that comes right beside another may be why that has its depth: it has the same one, or it opens or
    /// ends a block.
    fn explains_depth(&self, come: &[usize], place: usize) -> bool {
        let comes = |at: Option<usize>| at.filter(|at| come.contains(at)).map(|at| self.news[at]);
        let indent = split_indent(self.news[place]).0;
        let is_as_deep = |at: Option<usize>| comes(at).is_some_and(|line| split_indent(line).0 == indent);
        if is_as_deep(place.checked_sub(1)) || is_as_deep(place.checked_add(1)) {
            return true;
        }
        let above = comes(place.checked_sub(1)).is_some_and(|line| !is_complete(line));
        let below = comes(place.checked_add(1)).is_some_and(|line| {
            let text = line.trim_matches(is_blank);
            // Such as `fi`, `done` and `end`.
            text.starts_with(['}', ')', ']', '<'])
                || text.starts_with("end")
                || text.chars().all(char::is_alphabetic)
        });
        above || below
    }

    /// Whether the new text has a line more than once that slipped in the old text: which of them it was is not told.
    fn repeats_text(&self, slipped: &[usize]) -> bool {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for line in self.news {
            *counts.entry(line.trim_matches(is_blank)).or_default() += 1;
        }
        let count = |old: &usize| counts.get(self.olds[*old].trim_matches(is_blank)).copied();
        slipped.iter().any(|old| count(old) > Some(1))
    }

    /// Whether a line that comes is as deep as a line of the old text that is indented otherwise than the file.
    fn repeats_slip(&self, slipped: &[usize]) -> bool {
        let shown = self.shown(slipped);
        let depths: HashSet<&str> = self.come().map(|at| split_indent(self.news[at]).0).collect();
        let mut indents = slipped.iter().map(|old| self.indents(*old).0);
        indents.any(|indent| !shown.contains(indent) && depths.contains(indent))
    }

    /// The lines that only the new text has.
    fn come(&self) -> impl Iterator<Item = usize> + '_ {
        let kept: HashSet<usize> = self.kept().map(|(_, new)| new).collect();
        (0..self.news.len()).filter(move |at| is_filled(self.news[*at]) && !kept.contains(at))
    }

    /// The depths of the lines of the old text that are as the file has them.
    fn shown(&self, slipped: &[usize]) -> HashSet<&'a str> {
        let slipped: HashSet<&usize> = slipped.iter().collect();
        self.filled().into_iter().filter(|at| !slipped.contains(at)).map(|at| self.indents(at).0).collect()
    }

    /// Whether every line that both texts have and the file has otherwise is in the new one as the file has it.
    fn is_as_file(&self, filled: &[usize]) -> bool {
        let filled: HashSet<&usize> = filled.iter().collect();
        self.kept().filter(|(old, _)| filled.contains(old)).all(|(old, new)| {
            let (in_old, in_file) = self.indents(old);
            let in_new = split_indent(self.news[new]).0;
            in_old == in_file || in_new == in_file
        })
    }

    /// A text that was cut out from behind the indentation of its first line: the rest is as the file has it.
    fn first_line_alone(&self, filled: &[usize]) -> Result<Option<Indenting<'a>>, &'static str> {
        let Some((first, rest)) = filled.split_first() else { return Ok(None) };
        let (in_old, in_file) = self.indents(*first);
        let Some(lost) = in_file.strip_suffix(in_old).filter(|lost| !lost.is_empty()) else {
            return Ok(None);
        };
        // Of brackets nobody knows which one is meant, unless everything else is there to the letter.
        let is_exact = rest.iter().any(|index| is_telling(self.olds[*index]))
            && self.olds.iter().zip(self.parts).skip(first + 1).all(|(old, part)| old == part);
        if !(is_telling(self.olds[*first]) || is_exact) || (rest.is_empty() && !in_old.is_empty()) {
            return Ok(None);
        }
        let first_new = self.news.iter().find(|line| is_filled(line));
        let others = || self.news.iter().filter(|line| is_filled(line)).skip(1);
        let reading = || {
            let from = self.first().unwrap_or(0);
            let (olds, news) = (&self.olds[*first..], &self.news[from..]);
            let further = Further { indent: in_file, olds, news, below: self.below };
            further.reading(|| suspicion::usual_step(&Lines::of(self.file)))
        };
        if rest.is_empty() {
            // One line shows no more than its own depth; the lines that are new tell which of the two is meant.
            if others().next().is_none() || first_new.is_some_and(|line| line.starts_with(is_blank)) {
                return Ok(None);
            }
            return match reading() {
                Reading::BelowFirst => Ok(None),
                Reading::AsFile => Ok(Some(Indenting::FirstWithout(in_file))),
                Reading::Unclear => Err(PART_OF_LINE),
            };
        }
        let is_same = |index: &usize| self.indents(*index).0 == self.indents(*index).1;
        if !rest.iter().all(is_same) {
            return Ok(None);
        }
        // Lines at the margin are there in any steps, so they do not show how deep the others are.
        let is_at_margin = rest.iter().all(|index| self.indents(*index).0.is_empty());
        if is_at_margin && others().any(|line| line.starts_with(is_blank)) {
            return Err(PART_OF_LINE);
        }
        match first_new {
            // Another line may have lost as much as the first line of the old text has.
            Some(line) if split_indent(line).0 == in_file => {
                let is_same = line.trim_matches(is_blank) == self.olds[*first].trim_matches(is_blank);
                match is_same && reading() == Reading::AsFile {
                    true => Ok(Some(Indenting::AsFile)),
                    false => Err(PART_OF_LINE),
                }
            }
            Some(line) if split_indent(line).0 != in_old => Err(PART_OF_LINE),
            _ => match reading() {
                Reading::AsFile => Ok(Some(Indenting::FirstWithout(lost))),
                Reading::BelowFirst if in_old.is_empty() => Ok(Some(Indenting::BelowFirst(lost, in_file))),
                _ => Err(PART_OF_LINE),
            },
        }
    }

    /// Fails where a line that is as deep as blocks of the file are would come out at a depth that is none of a block: then
    /// only single lines of the old text may be indented otherwise.
    fn check_steps(&self, mapping: &Mapping<'a>) -> Result<(), &'static str> {
        let Some(step) = mapping.step().filter(|step| *step > 1) else { return Ok(()) };
        let is_whole = |indent: &str| indent.contains('\t') || indent.len().is_multiple_of(step);
        let is_odd = |at: usize| {
            let indent = split_indent(self.news[at]).0;
            !mapping.knows_old(indent)
                && is_whole(indent)
                && mapping.apply(indent).is_ok_and(|there| !is_whole(&there))
        };
        if self.come().any(is_odd) { Err(MIXED) } else { Ok(()) }
    }

    /// Fails where a line that is new would come out no deeper than what opens its block, or, as deep as the file is at
    /// this place, deeper than a line that opens nothing: it was written as the file is, among lines that are not.
    fn check_opened(&self, mapping: &Mapping<'a>) -> Result<(), &'static str> {
        let kept: HashSet<usize> = self.kept().map(|(_, new)| new).collect();
        let is_kept = |at: usize| kept.contains(&at);
        let mut above: Option<&str> = None;
        for (at, line) in self.news.iter().enumerate().filter(|(_, line)| is_filled(line)) {
            let indent = split_indent(line).0;
            let is_end = line.trim_matches(is_blank).starts_with(['}', ')', ']']);
            // A block that is deeper by another step than those of the file is written in other steps.
            if let (Some(above), Some(step)) = (above, mapping.step())
                && above.trim_end_matches(is_blank).ends_with(['{', ':'])
                && !mapping.knows_old(indent)
                && let (Ok(deeper), Ok(shallower)) =
                    (mapping.apply(indent), mapping.apply(split_indent(above).0))
                && !deeper.contains('\t')
                && !deeper.len().abs_diff(shallower.len()).is_multiple_of(step)
            {
                return Err(MIXED);
            }
            let is_in_block =
                above.is_some_and(|above| opens(above) && indent.len() <= split_indent(above).0.len());
            if is_in_block && !is_end && !is_kept(at) {
                return Err(MIXED);
            }
            if let Some(above) = above
                && !is_kept(at)
                && indent.len() > split_indent(above).0.len()
                && mapping.knows_file(indent)
                && !mapping.knows_old(indent)
                && is_closed(above)
            {
                return Err(MIXED);
            }
            above = Some(line);
        }
        Ok(())
    }
}

/// Whether a line opens a block.
pub(super) fn opens(line: &str) -> bool {
    line.trim_end_matches(is_blank).ends_with(['{', '(', '[', ':']) || is_control(line)
}

/// Whether a line is a condition or a loop over the one statement below it, without a brace.
pub(super) fn is_control(line: &str) -> bool {
    let text = line.trim_matches(is_blank).trim_start_matches(['}', ' ']);
    let begins = |word: &str| {
        text.strip_prefix(word).is_some_and(|rest| rest.trim_start_matches(is_blank).starts_with('('))
    };
    text == "else"
        || (text.ends_with(')') && ["if", "for", "while", "else if"].iter().any(|word| begins(word)))
}

/// Whether a line is a whole statement, in most languages: no block begins with it.
fn is_complete(line: &str) -> bool {
    let text = line.trim_matches(is_blank);
    let first = text.split(|one: char| !one.is_alphanumeric()).next().unwrap_or_default();
    let begins_block = [
        "begin", "case", "catch", "class", "def", "do", "else", "elsif", "elseif", "fn", "for", "foreach",
        "func", "function", "if", "loop", "module", "repeat", "sub", "switch", "then", "try", "unless",
        "until", "when", "while", "with",
    ];
    text.ends_with([';', ')', '}', ']', '"', '\'']) && !begins_block.contains(&first)
}

/// Whether a line is complete, so that the next one is no deeper.
pub(super) fn is_closed(line: &str) -> bool {
    if is_control(line) {
        return false;
    }
    line.trim_end_matches(is_blank).ends_with([';', ')', '}', ']', '"', '\''])
        || line.trim_end_matches(is_blank).ends_with(|last: char| last.is_alphanumeric())
}
