//! A true change, cut out of a file with some context, while noise is added to it. The file, the truth and the strings
//! of the call are kept apart, so that a kind of noise alters exactly one of them.

use super::history::{Change, Replacement};
use super::random::Choices;

/// Hunks with more lines are rare in edits of agents.
const LONGEST: usize = 24;

/// On which side of the change a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Gone,
    New,
}

/// One line of a hunk, as each side of the call has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) mark: Mark,
    pub(super) old: String,
    pub(super) new: String,
}

impl Row {
    pub(super) fn of(mark: Mark, text: &str) -> Row {
        Row { mark, old: text.to_owned(), new: text.to_owned() }
    }

    pub(super) fn is_old(&self) -> bool {
        self.mark != Mark::New
    }

    pub(super) fn is_blank(&self) -> bool {
        self.old.trim().is_empty()
    }

    /// Sets the text of both sides.
    pub(super) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.old);
        text.clone_into(&mut self.new);
    }
}

/// A hunk with its context.
#[derive(Clone)]
pub(super) struct Block {
    /// Index of the first line in the file.
    pub(super) first: usize,
    /// The true lines.
    pub(super) truth: Vec<Row>,
    /// The lines that the call has.
    pub(super) rows: Vec<Row>,
}

impl Block {
    pub(super) fn old_count(&self) -> usize {
        self.truth.iter().filter(|row| row.is_old()).count()
    }

    pub(super) fn end(&self) -> usize {
        self.first + self.old_count()
    }
}

/// What a call will be made of.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) source: String,
    pub(super) path: String,
    pub(super) before: Vec<String>,
    pub(super) ends_with_newline: bool,
    pub(super) crlf: bool,
    pub(super) bom: bool,
    /// In the order of the file.
    pub(super) blocks: Vec<Block>,
    /// The block that gets the noise.
    pub(super) target: usize,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) patch: String,
    /// Other results that are as good as the truth.
    pub(super) accepted: Vec<String>,
    /// The file already has the change.
    pub(super) applied: bool,
    /// Whether headers of a patch have the true line numbers.
    pub(super) has_numbers: bool,
    /// Whether the strings of an edit have the true line numbers.
    pub(super) is_numbered: bool,
    /// Whether the strings begin and end with a newline that is no line of theirs.
    edges: (bool, bool),
    /// The patch has its hunks from the last to the first.
    pub(super) is_reversed: bool,
}

impl Draft {
    /// One hunk of a change, or some of them, with random amounts of context.
    pub(super) fn cut(change: &Change, most: usize, path: String, choices: &mut Choices) -> Option<Draft> {
        let before: Vec<String> = change.before.lines().map(str::to_owned).collect();
        let wanted = |hunk: &Replacement| {
            hunk.removed.len() + hunk.added.len() <= LONGEST
                && hunk.first + hunk.removed.len() <= before.len()
        };
        let usable: Vec<&Replacement> = change.hunks.iter().filter(|hunk| wanted(hunk)).collect();
        let first = choices.below(usable.len());
        let count = 1 + choices.below(most);
        let chosen: Vec<&Replacement> = usable.into_iter().skip(first).take(count).collect();
        let mut blocks: Vec<Block> = Vec::new();
        for hunk in &chosen {
            let block = with_context(&before, hunk, choices)?;
            if blocks.last().is_none_or(|last| last.end() < block.first) {
                blocks.push(block);
            }
        }
        let target = choices.below(blocks.len());
        blocks.get(target)?;
        Some(Draft {
            source: format!("{} {} {}", change.repository, change.commit, change.path),
            path,
            before,
            ends_with_newline: true,
            crlf: false,
            bom: false,
            blocks,
            target,
            old: String::new(),
            new: String::new(),
            patch: String::new(),
            accepted: Vec::new(),
            applied: false,
            has_numbers: true,
            is_numbered: false,
            edges: (false, false),
            is_reversed: false,
        })
    }

    pub(super) fn block(&self) -> &Block {
        &self.blocks[self.target]
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.blocks[self.target].rows
    }

    pub(super) fn rows_mut(&mut self) -> &mut Vec<Row> {
        &mut self.blocks[self.target].rows
    }

    /// The file that the tool finds.
    pub(super) fn file(&self) -> String {
        if self.applied { self.text(&self.changed_lines()) } else { self.text(&self.before) }
    }

    /// The file that the true change makes.
    pub(super) fn truth(&self) -> String {
        self.text(&self.changed_lines())
    }

    pub(super) fn changed_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut at = 0;
        for block in &self.blocks {
            lines.extend_from_slice(&self.before[at..block.first]);
            let kept = block.truth.iter().filter(|row| row.mark != Mark::Gone);
            lines.extend(kept.map(|row| row.new.clone()));
            at = block.end();
        }
        lines.extend_from_slice(&self.before[at..]);
        lines
    }

    /// A file with these lines.
    pub(super) fn text(&self, lines: &[String]) -> String {
        let mut text = String::new();
        if self.bom {
            text.push('\u{feff}');
        }
        let ending = if self.crlf { "\r\n" } else { "\n" };
        text.push_str(&lines.join(ending));
        if self.ends_with_newline {
            text.push_str(ending);
        }
        text
    }

    /// Replaces the file's line behind row `index` of the target, in the truth too. The row itself stays.
    pub(super) fn alter_file(&mut self, index: usize, text: &str) {
        let target = self.target;
        let block = &mut self.blocks[target];
        let offset = block.truth[..index].iter().filter(|row| row.is_old()).count();
        if block.truth[index].is_old() {
            text.clone_into(&mut self.before[block.first + offset]);
        }
        block.truth[index].set(text);
    }

    /// Puts lines into the file before the line `at`, outside of every block.
    pub(super) fn insert(&mut self, at: usize, lines: &[String]) -> Option<()> {
        if self.blocks.iter().any(|block| block.first < at && at < block.end()) {
            return None;
        }
        self.before.splice(at..at, lines.iter().cloned());
        for block in self.blocks.iter_mut().filter(|block| block.first >= at) {
            block.first += lines.len();
        }
        Some(())
    }

    pub(super) fn old_lines(&self) -> Vec<&str> {
        self.rows().iter().filter(|row| row.is_old()).map(|row| row.old.as_str()).collect()
    }

    pub(super) fn new_lines(&self) -> Vec<&str> {
        self.rows().iter().filter(|row| row.mark != Mark::Gone).map(|row| row.new.as_str()).collect()
    }

    /// The true old lines of the target.
    pub(super) fn true_old(&self) -> Vec<&str> {
        self.block().truth.iter().filter(|row| row.is_old()).map(|row| row.old.as_str()).collect()
    }

    /// The two strings of an edit, with or without newlines at the edges.
    pub(super) fn write_strings(&mut self, choices: &mut Choices) {
        self.old = self.old_lines().join("\n");
        self.new = self.new_lines().join("\n");
        if choices.percent(30) {
            self.edges.1 = true;
            self.old.push('\n');
            self.new.push('\n');
        } else if choices.percent(5) && self.block().first > 0 {
            self.edges.0 = true;
            self.old.insert(0, '\n');
            self.new.insert(0, '\n');
        }
    }

    /// Takes the newlines away that are no lines, so that the strings end where their lines do.
    pub(super) fn bare(&mut self) {
        for text in [&mut self.old, &mut self.new] {
            if self.edges.0 && text.starts_with('\n') {
                text.remove(0);
            }
            if self.edges.1 && text.ends_with('\n') {
                text.pop();
            }
        }
        self.edges = (false, false);
    }

    /// Whether the old lines begin or end with a blank one.
    pub(super) fn has_blank_edge(&self) -> bool {
        let old = self.true_old();
        [old.first(), old.last()].into_iter().flatten().any(|line| line.trim().is_empty())
    }

    pub(super) fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// The marks around a comment in this file's language.
    pub(super) fn comment(&self) -> (&'static str, &'static str) {
        match self.extension() {
            "py" | "rb" | "toml" | "yml" | "yaml" | "sh" | "cfg" | "txt" => ("# ", ""),
            "md" | "html" | "xml" | "erb" => ("<!-- ", " -->"),
            "css" => ("/* ", " */"),
            _ => ("// ", ""),
        }
    }

    pub(super) fn is_code(&self) -> bool {
        !matches!(self.extension(), "md" | "txt" | "html" | "xml" | "erb" | "css" | "json")
    }

    /// Whether new lines of the target have no removed ones beside them, so that only context gives their place.
    pub(super) fn only_inserts(&self) -> bool {
        self.block().truth.iter().all(|row| row.mark != Mark::Gone)
    }

    /// Indexes of rows that fit.
    pub(super) fn find(&self, fits: impl Fn(&Row) -> bool) -> Vec<usize> {
        self.rows().iter().enumerate().filter(|(_, row)| fits(row)).map(|(index, _)| index).collect()
    }

    /// Whether a row has a new or removed line beside it.
    pub(super) fn is_beside_change(&self, index: usize) -> bool {
        let rows = self.rows();
        let changed = |at: usize| rows.get(at).is_some_and(|row| row.mark != Mark::Keep);
        index.checked_sub(1).is_some_and(changed) || changed(index + 1)
    }
}

fn with_context(before: &[String], hunk: &Replacement, choices: &mut Choices) -> Option<Block> {
    let least = usize::from(hunk.removed.is_empty() || hunk.added.is_empty());
    let mut above = choices.below(5).max(least).min(hunk.first);
    let last = hunk.first + hunk.removed.len();
    let mut below = choices.below(5).min(before.len() - last);
    // Models give as much context as makes the place unique, or a fixed number of lines.
    let careful = choices.percent(90);
    while careful && places(before, &before[hunk.first - above..last + below]) > 1 && above + below < 14 {
        if above < hunk.first && (choices.percent(50) || below == before.len() - last) {
            above += 1;
        } else if below < before.len() - last {
            below += 1;
        } else {
            break;
        }
    }
    if above + below + hunk.removed.len() == 0 || above + below < least {
        return None;
    }
    let first = hunk.first - above;
    let keep = |lines: &[String]| lines.iter().map(|line| Row::of(Mark::Keep, line)).collect::<Vec<_>>();
    let mut rows = keep(&before[first..hunk.first]);
    rows.extend(hunk.removed.iter().map(|line| Row::of(Mark::Gone, line)));
    rows.extend(hunk.added.iter().map(|line| Row::of(Mark::New, line)));
    rows.extend(keep(&before[last..last + below]));
    Some(Block { first, truth: rows.clone(), rows })
}

/// How often the lines occur, as whole lines.
pub(super) fn places(lines: &[String], part: &[String]) -> usize {
    if part.is_empty() {
        return 0;
    }
    lines.windows(part.len()).filter(|window| *window == part).count()
}

/// The spaces and tabs at the beginning, and the rest.
pub(super) fn split_indentation(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start_matches([' ', '\t']).len())
}
