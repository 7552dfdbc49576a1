//! Real changes: each hunk between two releases, with the smallest context that makes its place unique.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::corpus::Change;
use super::decide;
use super::diff::{Replaced, diff};
use super::random::Random;

/// Hunks with more lines on one side are left out.
const MAX_LINES: usize = 40;
/// Context grows to this many lines at most.
const MAX_CONTEXT: usize = 12;

/// One changed file with its hunks.
pub(super) struct History {
    pub(super) name: String,
    pub(super) extension: String,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
    /// The hunks, in order.
    pub(super) hunks: Vec<Hunk>,
    /// Whether the older file ends with a line ending.
    pub(super) has_final_newline: bool,
    /// The older file, squeezed, computed on first use.
    squeezed: OnceCell<String>,
}

/// Lines that changed between the releases.
pub(super) struct Hunk {
    pub(super) replaced: Replaced,
    /// How many lines around it make its place unique, computed on first use.
    smallest: OnceCell<Option<usize>>,
}

/// A hunk with its context, as lines: the true edit.
pub(super) struct Edit<'a> {
    /// The whole file before, without line endings.
    pub(super) before: &'a [String],
    /// Index in `before` of the first line of `old`.
    pub(super) start: usize,
    /// Context, the removed lines, context.
    pub(super) old: Vec<String>,
    /// Context, the added lines, context.
    pub(super) new: Vec<String>,
    /// Number of lines of context above and below the change.
    pub(super) head: usize,
    pub(super) tail: usize,
}

impl Edit<'_> {
    /// The whole file with this hunk alone.
    pub(super) fn truth(&self) -> Vec<String> {
        [&self.before[..self.start], &self.new, &self.before[self.start + self.old.len()..]].concat()
    }

    /// Index in `old` and in `new` of each line of context.
    pub(super) fn context(&self) -> Vec<(usize, usize)> {
        let below =
            (0..self.tail).map(|line| (self.old.len() - self.tail + line, self.new.len() - self.tail + line));
        (0..self.head).map(|line| (line, line)).chain(below).collect()
    }
}

impl History {
    /// The history of a changed file; `None` if no hunk can be used.
    pub(super) fn new(change: &Change, seen: &mut HashSet<u64>) -> Option<History> {
        let (before, after) = (lines(&change.before), lines(&change.after));
        let hunks = diff(&before, &after);
        let is_new = |hunk: &Replaced| {
            let mut hasher = DefaultHasher::new();
            (&before[hunk.before.clone()], &after[hunk.after.clone()], &change.extension).hash(&mut hasher);
            let below = hunk.before.end.min(before.len())..(hunk.before.end + 1).min(before.len());
            before[below].hash(&mut hasher);
            seen.insert(hasher.finish())
        };
        let fits = |hunk: &Replaced| hunk.before.len() <= MAX_LINES && hunk.after.len() <= MAX_LINES;
        let hunk = |replaced| Hunk { replaced, smallest: OnceCell::new() };
        let hunks: Vec<Hunk> = hunks.into_iter().filter(fits).filter(is_new).map(hunk).collect();
        let owned = |lines: Vec<&str>| lines.into_iter().map(str::to_owned).collect();
        let history = History {
            name: change.name.clone(),
            extension: change.extension.clone(),
            before: owned(before),
            after: owned(after),
            hunks,
            has_final_newline: change.before.ends_with('\n'),
            squeezed: OnceCell::new(),
        };
        (!history.hunks.is_empty()).then_some(history)
    }

    /// The older file without spaces; see `decide`.
    pub(super) fn squeezed(&self) -> &str {
        self.squeezed.get_or_init(|| decide::squeeze(&self.before.join("\n")))
    }

    /// How many lines around a hunk make its place unique; `None` if many do not, or if there is nothing to look for.
    pub(super) fn smallest_context(&self, hunk: &Hunk) -> Option<usize> {
        let replaced = &hunk.replaced;
        let first = usize::from(replaced.before.is_empty() || replaced.after.is_empty());
        let find = || (first..=MAX_CONTEXT).find(|context| self.is_unique(&self.around(replaced, *context)));
        *hunk.smallest.get_or_init(find)
    }

    /// The edit of one hunk, with just enough context for its place to be unique and sometimes a little more.
    pub(super) fn edit(&self, hunk: usize, random: &mut Random) -> Option<Edit<'_>> {
        let hunk = self.hunks.get(hunk)?;
        let smallest = self.smallest_context(hunk)?;
        let hunk = &hunk.replaced;
        let more = [0, 0, 1, 2, 3][random.below(5)];
        let range = self.around(hunk, smallest + more);
        let (head, tail) = (hunk.before.start - range.start, range.end - hunk.before.end);
        let old = self.before[range.clone()].to_vec();
        let added = &self.after[hunk.after.clone()];
        let (above, below) =
            (&self.before[range.start..hunk.before.start], &self.before[hunk.before.end..range.end]);
        let new = [above, added, below].concat();
        let is_useful = !new.is_empty() && new != old;
        is_useful.then_some(Edit { before: &self.before, start: range.start, old, new, head, tail })
    }

    fn around(&self, hunk: &Replaced, context: usize) -> std::ops::Range<usize> {
        hunk.before.start.saturating_sub(context)..(hunk.before.end + context).min(self.before.len())
    }

    /// Whether these lines are in the file once, also as a part of longer lines.
    fn is_unique(&self, range: &std::ops::Range<usize>) -> bool {
        let lines = &self.before[range.clone()];
        if lines.iter().all(|line| line.trim().is_empty()) {
            return false;
        }
        count_lines(&self.before, lines) == 1
    }

    /// The text of lines of this file.
    pub(super) fn text(&self, lines: &[String]) -> String {
        let mut text = lines.join("\n");
        if self.has_final_newline && !lines.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// How often the joined lines occur in the joined text.
fn count_lines(text: &[String], lines: &[String]) -> usize {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return 0 };
    if let [line] = lines {
        return text.iter().map(|other| other.matches(line.as_str()).count()).sum();
    }
    let inner = &lines[1..lines.len() - 1];
    let fits = |window: &&[String]| {
        window[0].ends_with(first.as_str())
            && window[window.len() - 1].starts_with(last.as_str())
            && window[1..window.len() - 1] == *inner
    };
    text.windows(lines.len()).filter(fits).count()
}

fn lines(text: &str) -> Vec<&str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').collect()
}
