//! Patches of real changes: some hunks of one file, with three lines of context, and how a patch is written down.

use std::fmt::Write as _;

use super::hunks::History;
use super::random::Random;

/// Lines of context around a change, as `diff -u` shows them.
const CONTEXT: usize = 3;
/// The name of the file, which is put in when the patch is sent.
pub(super) const PATH: &str = "@PATH@";

/// The true patch of one file.
pub(super) struct Patch<'a> {
    pub(super) before: &'a [String],
    pub(super) truth: Vec<String>,
    pub(super) blocks: Vec<Block>,
}

/// One hunk of a patch.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Index of its first line in the file before, and in the file after.
    pub(super) old_start: usize,
    pub(super) new_start: usize,
    pub(super) lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Line {
    /// A space for a context line, minus for a removed line, plus for an added line.
    pub(super) mark: char,
    pub(super) text: String,
}

impl Block {
    /// The lines that the file has: context and removed lines.
    pub(super) fn old_lines(&self) -> Vec<String> {
        self.side('+')
    }

    /// The lines that the file gets: context and added lines.
    pub(super) fn new_lines(&self) -> Vec<String> {
        self.side('-')
    }

    fn side(&self, other: char) -> Vec<String> {
        self.lines.iter().filter(|line| line.mark != other).map(|line| line.text.clone()).collect()
    }

    /// The numbers of a header: first line and number of lines, before and after.
    pub(super) fn numbers(&self) -> [usize; 4] {
        let (old, new) = (self.old_lines().len(), self.new_lines().len());
        // An empty side names the line before it.
        [self.old_start + usize::from(old > 0), old, self.new_start + usize::from(new > 0), new]
    }
}

impl<'a> Patch<'a> {
    /// A patch of one to four hunks of a file that follow one another, the first of which is given.
    pub(super) fn new(
        history: &'a History,
        first: usize,
        context: usize,
        random: &mut Random,
    ) -> Option<Patch<'a>> {
        let count = [1, 1, 2, 3, 4][random.below(5)];
        let hunks: Vec<_> = history.hunks.iter().skip(first).take(count).map(|hunk| &hunk.replaced).collect();
        let (before, after) = (&history.before, &history.after);
        let mut blocks: Vec<Block> = Vec::new();
        let mut truth = Vec::new();
        let mut position = 0;
        // Index in `before` up to which the last block reaches.
        let mut reached = 0;
        for (index, hunk) in hunks.iter().enumerate() {
            if before[hunk.before.clone()] == after[hunk.after.clone()] {
                return None;
            }
            truth.extend_from_slice(&before[position..hunk.before.start]);
            let start = hunk.before.start.saturating_sub(context).max(reached);
            let is_joined = index > 0 && hunk.before.start <= reached + context;
            if !is_joined {
                let new_start = truth.len() - (hunk.before.start - start);
                blocks.push(Block { old_start: start, new_start, lines: Vec::new() });
            }
            let from = if is_joined { reached } else { start };
            let next = hunks.get(index + 1).map_or(before.len(), |next| next.before.start);
            let end = (hunk.before.end + context).min(before.len()).min(next);
            let block = blocks.last_mut()?;
            let mut put = |mark: char, lines: &[String]| {
                block.lines.extend(lines.iter().map(|text| Line { mark, text: text.clone() }));
            };
            put(' ', &before[from..hunk.before.start]);
            put('-', &before[hunk.before.clone()]);
            put('+', &after[hunk.after.clone()]);
            put(' ', &before[hunk.before.end..end]);
            truth.extend_from_slice(&after[hunk.after.clone()]);
            position = hunk.before.end;
            reached = end;
        }
        truth.extend_from_slice(&before[position..]);
        (!blocks.is_empty()).then_some(Patch { before, truth, blocks })
    }

    /// With the usual context.
    pub(super) fn usual(history: &'a History, first: usize, random: &mut Random) -> Option<Patch<'a>> {
        Patch::new(history, first, CONTEXT, random)
    }
}

/// The hunks as a unified diff.
pub(super) fn unified(blocks: &[Block]) -> String {
    unified_with(blocks, |_, block| header(block.numbers()))
}

/// The same, with other headers.
pub(super) fn unified_with(blocks: &[Block], header: impl Fn(usize, &Block) -> String) -> String {
    let mut text = format!("--- a/{PATH}\n+++ b/{PATH}\n");
    for (index, block) in blocks.iter().enumerate() {
        let _ = writeln!(text, "{}", header(index, block));
        put_lines(&mut text, block);
    }
    text
}

pub(super) fn header([old_start, old, new_start, new]: [usize; 4]) -> String {
    format!("@@ -{old_start},{old} +{new_start},{new} @@")
}

/// The hunks in the form of `*** Begin Patch`, each below a line of its own.
pub(super) fn envelope(blocks: &[Block], header: impl Fn(&Block) -> String) -> String {
    let mut text = format!("*** Begin Patch\n*** Update File: {PATH}\n");
    for block in blocks {
        let _ = writeln!(text, "{}", header(block));
        put_lines(&mut text, block);
    }
    text.push_str("*** End Patch\n");
    text
}

fn put_lines(text: &mut String, block: &Block) {
    for line in &block.lines {
        let _ = writeln!(text, "{}{}", line.mark, line.text);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::corpus::Change;
    use super::*;

    fn history(before: &str, after: &str) -> History {
        let change = Change {
            name: "a".to_owned(),
            extension: "txt".to_owned(),
            before: before.replace(' ', "\n") + "\n",
            after: after.replace(' ', "\n") + "\n",
        };
        History::new(&change, &mut HashSet::new()).unwrap()
    }

    #[test]
    fn a_patch_is_what_diff_would_write() {
        let history = history("a b c d e f 1 g h i", "a b X d e f 1 g h i j");
        let patch = (0..50).map(|seed| Patch::usual(&history, 0, &mut Random::new(seed, &[])).unwrap());
        let patch = patch.max_by_key(|patch| patch.blocks.len()).unwrap();
        let expected = "--- a/@PATH@\n+++ b/@PATH@\n@@ -1,6 +1,6 @@\n a\n b\n-c\n+X\n d\n e\n f\n\
                        @@ -8,3 +8,4 @@\n g\n h\n i\n+j\n";
        assert_eq!(unified(&patch.blocks), expected);
        assert_eq!(patch.truth.join(" "), "a b X d e f 1 g h i j");
    }

    #[test]
    fn hunks_that_touch_become_one() {
        let history = history("a b c d e", "X b c d Y");
        let patch = (0..50).map(|seed| Patch::usual(&history, 0, &mut Random::new(seed, &[])).unwrap());
        let patch = patch.max_by_key(|patch| patch.blocks[0].lines.len()).unwrap();
        assert_eq!(
            unified(&patch.blocks),
            "--- a/@PATH@\n+++ b/@PATH@\n@@ -1,5 +1,5 @@\n-a\n+X\n b\n c\n d\n-e\n+Y\n"
        );
    }
}
