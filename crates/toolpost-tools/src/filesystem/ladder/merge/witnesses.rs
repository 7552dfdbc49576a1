//! What tells whether the new text is indented as the old one or as the file: a list of witnesses, and one tally.
//!
//! Each witness is asked by itself and says `old`, `file` or that it cannot tell, with the reason. Where they contradict
//! each other nothing is decided, except that a decisive one outweighs the rest.

use super::super::indentation::Mapping;
use super::super::lines::{is_blank, is_filled, is_telling, split_indent};
use super::super::nearest::Pairs;
use super::Merge;
use super::indenting::{is_closed, opens};
use similar::DiffOp;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What a witness says, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    /// The new text is indented as the old one is.
    Old(&'static str),
    /// The new text is indented as the file is.
    File(&'static str),
    /// Nothing can be told.
    Unclear(&'static str),
}

/// How much a witness can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Decides by itself.
    Decisive,
    /// Decides if no other of this weight or less contradicts it.
    Firm,
    /// Decides nothing, but contradicts.
    Weak,
}

/// Somebody to ask.
struct Witness {
    #[cfg_attr(not(test), expect(dead_code, reason = "it tells the reader and the tests which one it is"))]
    name: &'static str,
    weight: Weight,
    ask: fn(&Merge<'_>, &Mapping<'_>) -> Vote,
}

/// All of them, the most reliable first.
const WITNESSES: [Witness; 13] = [
    Witness { name: "lines before the first change", weight: Weight::Decisive, ask: before_changes },
    Witness { name: "tabs or spaces", weight: Weight::Decisive, ask: characters },
    Witness { name: "lines after the last change", weight: Weight::Firm, ask: after_changes },
    Witness { name: "whole steps", weight: Weight::Firm, ask: whole_steps },
    Witness { name: "the shape of the text", weight: Weight::Firm, ask: shape },
    Witness { name: "lines around the place", weight: Weight::Firm, ask: lines_around },
    Witness { name: "the margin", weight: Weight::Firm, ask: margin },
    Witness { name: "the depth of blocks", weight: Weight::Firm, ask: block_steps },
    Witness { name: "lines in both texts", weight: Weight::Firm, ask: shared_lines },
    Witness { name: "lines that were changed one by one", weight: Weight::Firm, ask: changed_lines },
    Witness { name: "the first line", weight: Weight::Weak, ask: first_line },
    Witness { name: "lines that are elsewhere in the file", weight: Weight::Weak, ask: lines_elsewhere },
    Witness { name: "depths that only one of the two has", weight: Weight::Weak, ask: known_depths },
];

/// What the witnesses say together.
pub(super) fn tally(merge: &Merge<'_>, mapping: &Mapping<'_>) -> Vote {
    let votes = |weight: Weight| -> Vec<Vote> {
        let asked = WITNESSES.iter().filter(|witness| witness.weight == weight);
        asked.map(|witness| (witness.ask)(merge, mapping)).collect()
    };
    let decisive = together(votes(Weight::Decisive).into_iter());
    // Lines that are as the old text has them to the end of both were not written as the file is.
    if matches!((decisive, after_changes(merge, mapping)), (Vote::File(_), Vote::Old(_))) {
        return Vote::Unclear(CONTRADICTION);
    }
    if !matches!(decisive, Vote::Unclear(NOBODY)) {
        return decisive;
    }
    match together(votes(Weight::Firm).into_iter()) {
        vote @ Vote::Unclear(_) => vote,
        vote => together(votes(Weight::Weak).into_iter().chain([vote])),
    }
}

/// Where a line stands in the old text, in the file and in the new text.
#[derive(Clone, Copy)]
struct Depths<'a> {
    old: &'a str,
    file: &'a str,
    new: &'a str,
}

impl Depths<'_> {
    fn vote(self, reason: &'static str) -> Vote {
        match self {
            Depths { old, file, .. } if old == file => Vote::Unclear("the old text and the file agree"),
            Depths { old, new, .. } if old == new => Vote::Old(reason),
            Depths { file, new, .. } if file == new => Vote::File(reason),
            _ => Vote::Unclear(MOVED),
        }
    }
}

const NOBODY: &str = "nobody can tell";
const MOVED: &str = "the line has been moved";

/// What several say together, if none of the lines has been moved: the others may have been moved with it, to where they
/// are in the file by chance.
fn unless_moved(votes: Vec<Vote>) -> Vote {
    match votes.contains(&Vote::Unclear(MOVED)) {
        true => Vote::Unclear(MOVED),
        false => together(votes.into_iter()),
    }
}

/// What several say together, with the reason of the first: nothing where they contradict each other.
fn together(votes: impl Iterator<Item = Vote>) -> Vote {
    votes.fold(Vote::Unclear(NOBODY), |all, vote| match (all, vote) {
        (Vote::Old(_), Vote::File(_)) | (Vote::File(_), Vote::Old(_)) | (Vote::Unclear(CONTRADICTION), _) => {
            Vote::Unclear(CONTRADICTION)
        }
        (Vote::Unclear(_), vote @ (Vote::Old(_) | Vote::File(_))) => vote,
        (_, Vote::Unclear(CONTRADICTION)) => Vote::Unclear(CONTRADICTION),
        (all, _) => all,
    })
}

const CONTRADICTION: &str = "they contradict each other";

impl<'a> Merge<'a> {
    fn depths(&self, old: usize, new: usize) -> Depths<'a> {
        let (in_old, in_file) = self.indents(old);
        Depths { old: in_old, file: in_file, new: split_indent(self.news[new]).0 }
    }

    /// What these lines say, and brackets too that are there once: only of others it is unclear which one is which.
    fn aligned_votes(&self, pairs: impl Iterator<Item = (usize, usize)>, reason: &'static str) -> Vec<Vote> {
        let count = |lines: &[&str], line: &str| {
            lines.iter().filter(|other| other.trim_matches(is_blank) == line.trim_matches(is_blank)).count()
        };
        let is_clear = |(old, new): &(usize, usize)| {
            let (line, other) = (self.olds[*old], self.news[*new]);
            is_telling(line)
                || (is_filled(line) && count(self.olds, line) == 1 && count(self.news, other) == 1)
        };
        let pairs: Vec<(usize, usize)> = pairs.collect();
        match pairs.iter().any(|(old, _)| is_telling(self.olds[*old])) {
            true => {
                let clear = pairs.into_iter().filter(is_clear);
                clear.map(|(old, new)| self.depths(old, new).vote(reason)).collect()
            }
            false => self.kept_votes(pairs.into_iter(), reason),
        }
    }

    fn kept_votes(&self, pairs: impl Iterator<Item = (usize, usize)>, reason: &'static str) -> Vec<Vote> {
        let mut pairs: Vec<(usize, usize)> = pairs.filter(|(old, _)| is_filled(self.olds[*old])).collect();
        // Which bracket is which is not told by the text.
        if pairs.iter().any(|(old, _)| is_telling(self.olds[*old])) {
            pairs.retain(|(old, _)| is_telling(self.olds[*old]));
        }
        pairs.into_iter().map(|(old, new)| self.depths(old, new).vote(reason)).collect()
    }
}

/// Nothing has changed above these lines, so they are as deep as they were.
fn before_changes(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let Some(DiffOp::Equal { old_index, new_index, len }) = merge.ops.first() else {
        return Vote::Unclear("the first line has changed");
    };
    let lines = (0..*len).map(|at| (old_index + at, new_index + at));
    unless_moved(merge.aligned_votes(lines, "nothing has changed above it"))
}

/// Nothing has changed below these lines. What was above them may have been taken away, and they with it to another depth.
fn after_changes(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let Some(DiffOp::Equal { old_index, new_index, len }) = merge.ops.last() else {
        return Vote::Unclear("the last line has changed");
    };
    let lines = (0..*len).map(|at| (old_index + at, new_index + at));
    unless_moved(merge.aligned_votes(lines, "nothing has changed below it"))
}

/// Where the one is indented with tabs and the other with spaces, the new text is written as one of them.
fn characters(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let of = |lines: &mut dyn Iterator<Item = &str>| -> (bool, bool) {
        let (mut tabs, mut spaces) = (false, false);
        for line in lines.filter(|line| is_filled(line)) {
            let indent = split_indent(line).0;
            tabs |= indent.contains('\t');
            spaces |= indent.contains(' ');
        }
        (tabs, spaces)
    };
    let old = of(&mut merge.olds.iter().copied());
    let file = of(&mut merge.parts.iter().copied());
    let new = of(&mut merge.news.iter().copied());
    match () {
        () if old == file || old == (false, false) || file == (false, false) => {
            Vote::Unclear("both are indented with the same characters")
        }
        () if new == old => Vote::Old("it is indented with the characters of the old text"),
        () if new == file => Vote::File("it is indented with the characters of the file"),
        () => Vote::Unclear("it is indented with characters of both, or with none"),
    }
}

/// A replacement begins where the text that it replaces does.
fn first_line(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let old = (0..merge.olds.len()).find(|at| is_filled(merge.olds[*at]));
    let new = (0..merge.news.len()).find(|at| is_filled(merge.news[*at]));
    match (old, new) {
        (Some(old), Some(new)) => merge.depths(old, new).vote("it begins where the old text does"),
        _ => Vote::Unclear("there is no first line"),
    }
}

/// Where only one of the two has the depths of whole blocks, the new text is written as that one or the other.
fn whole_steps(merge: &Merge<'_>, mapping: &Mapping<'_>) -> Vote {
    let Some(step) = mapping.step().filter(|step| *step > 1) else {
        return Vote::Unclear("the file has no usual step");
    };
    // Lines that go on from the one above stand at any depth, so most of them tell.
    let are_whole = |lines: &[&str]| -> Option<bool> {
        let indents = lines.iter().filter(|line| is_filled(line)).map(|line| split_indent(line).0);
        let (mut whole, mut all) = (0, 0);
        for indent in indents {
            whole += usize::from(!indent.contains('\t') && indent.len().is_multiple_of(step));
            all += 1;
        }
        match () {
            () if whole * 3 >= all * 2 => Some(true),
            () if whole * 3 <= all => Some(false),
            () => None,
        }
    };
    // Every line of the new text has to be, and at least one deeper than the margin, which is there in any steps.
    let is_indented = merge.news.iter().any(|line| is_filled(line) && line.starts_with(is_blank));
    let is_every = merge.news.iter().filter(|line| is_filled(line)).all(|line| {
        let indent = split_indent(line).0;
        !indent.contains('\t') && indent.len().is_multiple_of(step)
    });
    let news = are_whole(merge.news).filter(|is_whole| is_indented && *is_whole == is_every);
    match (are_whole(merge.olds), are_whole(merge.parts), news) {
        (Some(false), Some(true), Some(true)) => {
            Vote::File("its depths are those of whole blocks, as in the file")
        }
        (Some(false), Some(true), Some(false)) => {
            Vote::Old("its depths are none of whole blocks, as in the old text")
        }
        _ => Vote::Unclear("the old text and the file do not differ in that"),
    }
}

/// As many lines as before, each as deep as the one that it takes the place of.
fn shape(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let indents = |lines: &[&'_ str]| -> Vec<String> {
        lines.iter().filter(|line| is_filled(line)).map(|line| split_indent(line).0.to_owned()).collect()
    };
    let new = indents(merge.news);
    match () {
        () if new == indents(merge.olds) => {
            Vote::Old("its lines are as deep as those of the old text, one by one")
        }
        () if new == indents(merge.parts) => {
            Vote::File("its lines are as deep as those of the file, one by one")
        }
        () => Vote::Unclear("it has another shape"),
    }
}

/// Where the whole text begins further out or in than in the file, the new text has the margin of one of the two.
fn margin(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let least = |lines: &[&str]| {
        lines.iter().filter(|line| is_filled(line)).map(|line| split_indent(line).0.len()).min()
    };
    let first =
        |lines: &[&str]| lines.iter().find(|line| is_filled(line)).map(|line| split_indent(line).0.len());
    let margin = |lines: &[&str]| (least(lines), first(lines));
    let (old, file, new) = (margin(merge.olds), margin(merge.parts), margin(merge.news));
    let is_one_line = merge.olds.iter().filter(|line| is_filled(line)).count() < 2;
    match () {
        () if is_one_line || old.0 == file.0 => Vote::Unclear("the old text and the file have one margin"),
        () if new == old => Vote::Old("it has the margin of the old text, and begins as that does"),
        () if new == file => Vote::File("it has the margin of the file, and begins as that does"),
        () => Vote::Unclear("it has another margin"),
    }
}

/// Where a block is deeper by other steps in the old text than in the file, those of the new text are of one of the two.
fn block_steps(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let steps = |lines: &[&str]| -> BTreeSet<usize> {
        let filled: Vec<&str> = lines.iter().copied().filter(|line| is_filled(line)).collect();
        let depth = |line: &str| split_indent(line).0.len();
        let blocks = filled.windows(2).filter(|pair| opens(pair[0]) && depth(pair[1]) > depth(pair[0]));
        blocks.map(|pair| depth(pair[1]) - depth(pair[0])).collect()
    };
    let (old, file, new) = (steps(merge.olds), steps(merge.parts), steps(merge.news));
    match () {
        () if old.len() != 1 || file.len() != 1 || old == file => {
            Vote::Unclear("the old text and the file have the same steps, or none")
        }
        () if new == old => Vote::Old("its blocks are as deep as those of the old text"),
        () if new == file => Vote::File("its blocks are as deep as those of the file"),
        () => Vote::Unclear("its blocks are as deep as none of them"),
    }
}

/// What comes out has to fit between the line above and the line below.
fn lines_around(merge: &Merge<'_>, mapping: &Mapping<'_>) -> Vote {
    let filled = || merge.news.iter().filter(|line| is_filled(line));
    let (Some(first), Some(last)) = (filled().next(), filled().next_back()) else {
        return Vote::Unclear("there is no new line");
    };
    let depth = |line: &str| split_indent(line).0.len();
    let as_old = |line: &str| mapping.apply(split_indent(line).0).ok().map(|indent| indent.len());
    let is_braced = {
        let ends = |sign: char| merge.file.lines().filter(|line| line.ends_with(sign)).count();
        ends('{') > ends(':')
    };
    let fits = |first_depth: usize, last_depth: usize| {
        let is_above =
            merge.above.is_none_or(|above| follows(above, depth(above), first, first_depth, is_braced));
        is_above && merge.below.is_none_or(|below| follows(last, last_depth, below, depth(below), is_braced))
    };
    let file = fits(depth(first), depth(last));
    let old = as_old(first).zip(as_old(last)).is_some_and(|(first, last)| fits(first, last));
    match (old, file) {
        (true, false) => Vote::Old("as the file is, it would not fit between the lines around it"),
        (false, true) => Vote::File("as the old text is, it would not fit between the lines around it"),
        _ => Vote::Unclear("it fits or does not fit either way"),
    }
}

/// Whether a line may stand below another, as deep as they are.
fn follows(above: &str, above_depth: usize, line: &str, depth: usize, is_braced: bool) -> bool {
    let text = line.trim_matches(is_blank);
    let is_end = text.starts_with(['}', ')', ']']);
    // What stands at another depth than the code around it.
    let is_apart = text.starts_with(['#', '/', '*', '<']) || text.ends_with(':');
    match () {
        () if opens(above) => depth > above_depth || is_end,
        () if is_closed(above) && depth > above_depth => false,
        () if is_closed(above) && is_braced && !is_end && !is_apart => depth == above_depth,
        () => true,
    }
}

/// Lines that are in both texts once, and say something.
fn shared_lines(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let key = |line: &'_ str| line.trim_matches(is_blank).to_owned();
    let is_only =
        |lines: &[&str], line: &str| lines.iter().filter(|other| key(other) == key(line)).count() == 1;
    let kept = merge.kept().filter(|(old, new)| {
        let line = merge.news[*new];
        is_telling(line) && is_only(merge.olds, merge.olds[*old]) && is_only(merge.news, line)
    });
    together(merge.kept_votes(kept, "a line that is in both texts stands there").into_iter())
}

/// As many lines as they replace: each takes the place of one that it is like.
fn changed_lines(merge: &Merge<'_>, _: &Mapping<'_>) -> Vote {
    let pairs = merge.ops.iter().flat_map(|op| match *op {
        DiffOp::Replace { old_index, old_len, new_index, new_len } if old_len == new_len => {
            (0..old_len).map(|at| (old_index + at, new_index + at)).collect()
        }
        _ => Vec::new(),
    });
    let pairs = pairs.filter(|(old, new)| is_like(merge.olds[*old], merge.news[*new]));
    together(
        pairs.map(|(old, new)| merge.depths(old, new).vote("it takes the place of a line that it is like")),
    )
}

/// A line that is new here and elsewhere in the file is as deep as it is there.
fn lines_elsewhere(merge: &Merge<'_>, mapping: &Mapping<'_>) -> Vote {
    let kept: HashSet<usize> = merge.kept().map(|(_, new)| new).collect();
    let mut depths: HashMap<&str, HashSet<&str>> = HashMap::new();
    let news = || (0..merge.news.len()).filter(|at| is_telling(merge.news[*at]) && !kept.contains(at));
    for at in news() {
        depths.entry(split_indent(merge.news[at]).1).or_default();
    }
    for (indent, text) in merge.file.lines().map(split_indent) {
        if let Some(known) = depths.get_mut(text) {
            known.insert(indent);
        }
    }
    let votes = news().map(|at| {
        let (indent, text) = split_indent(merge.news[at]);
        let is_there = |indent: &str| depths.get(text).is_some_and(|known| known.contains(indent));
        match (mapping.apply(indent).is_ok_and(|indent| is_there(&indent)), is_there(indent)) {
            (true, false) => Vote::Old("a line of it is elsewhere in the file, less or more deep"),
            (false, true) => Vote::File("a line of it is elsewhere in the file, just as deep"),
            _ => Vote::Unclear("no line of it is elsewhere in the file"),
        }
    });
    together(votes)
}

/// Depths that occur in the old text and not in the file at this place, or the other way round.
fn known_depths(merge: &Merge<'_>, mapping: &Mapping<'_>) -> Vote {
    let indents = merge.news.iter().filter(|line| is_filled(line)).map(|line| split_indent(line).0);
    let votes = indents.map(|indent| match (mapping.knows_old(indent), mapping.knows_file(indent)) {
        (true, false) => Vote::Old("only the old text has this depth"),
        (false, true) => Vote::File("only the file has this depth"),
        _ => Vote::Unclear("both or none have this depth"),
    });
    together(votes)
}

/// Whether one line may have become the other.
fn is_like(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim_matches(is_blank), other.trim_matches(is_blank));
    is_telling(one) && Pairs::of(one).similarity(other) >= 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_witness_has_its_own_name_and_they_are_ordered_by_weight() {
        for (at, witness) in WITNESSES.iter().enumerate() {
            assert!(!WITNESSES[..at].iter().any(|other| other.name == witness.name), "{}", witness.name);
            assert!(WITNESSES[..at].iter().all(|other| other.weight <= witness.weight), "{}", witness.name);
        }
    }
}
