//! What a change of a file looks like, as a unified diff of bounded size.

use similar::{Algorithm, TextDiff, udiff::UnifiedDiff};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Bytes of a diff that are kept.
const MAX_BYTES: usize = 20_000;
/// How long a shorter diff is looked for; after that it is only a correct one.
const PATIENCE: Duration = Duration::from_millis(500);
/// Texts of more bytes are compared only between what they begin and end with alike.
const TRIMMED: usize = 256 << 10;
/// Lines that are kept of what is alike, so that a change has its surroundings.
const AROUND: usize = 20;
/// Texts that differ in more bytes or lines than this are not compared line by line.
const MOST_COMPARED_BYTES: usize = 8 << 20;
const MOST_COMPARED_LINES: usize = 100_000;
/// Bytes of each side that are shown where they are not compared.
const SHOWN_UNCOMPARED: usize = 8 << 10;

/// The difference between two texts.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// Unified, three lines of context, cut where it is long.
    pub(crate) text: String,
    /// Lines that are new.
    pub(crate) added: usize,
    /// Lines that are gone.
    pub(crate) removed: usize,
    /// Whether the text does not have all of it.
    pub(crate) is_cut: bool,
}

impl Diff {
    /// `None` stands for a file that is not there.
    pub(crate) fn between(name: &str, before: Option<&str>, after: Option<&str>) -> Diff {
        let names = [before.map(|_| name), after.map(|_| name)];
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let mut diff = Diff::whole(names, old, new, Instant::now() + PATIENCE);
        diff.cut();
        diff
    }

    /// However long it is. The names are those before and after; `None` stands for a file that is not there.
    pub(crate) fn whole(names: [Option<&str>; 2], old: &str, new: &str, deadline: Instant) -> Diff {
        let (skipped, old, new) = differing(old, new);
        let [before, after] = Diff::sides(names);
        let (old_lines, new_lines) = (count_lines(old), count_lines(new));
        if old.len() + new.len() > MOST_COMPARED_BYTES || old_lines + new_lines > MOST_COMPARED_LINES {
            let ranges = [skipped..skipped + old_lines, skipped..skipped + new_lines];
            return Diff::uncompared([&before, &after], ranges, old, new);
        }
        let diff = TextDiff::configure().algorithm(Algorithm::Myers).deadline(deadline).diff_lines(old, new);
        let (mut added, mut removed) = (0, 0);
        for op in diff.ops().iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
            added += op.new_range().len();
            removed += op.old_range().len();
        }
        let mut unified = diff.unified_diff();
        let unified = unified.header(&before, &after).context_radius(3);
        let text = match skipped {
            0 => unified.to_string(),
            _ => shifted(unified, [&before, &after], skipped),
        };
        Diff { text, added, removed, is_cut: false }
    }

    /// A change that is too large to be compared: the beginnings of what goes and of what comes.
    fn uncompared(sides: [&str; 2], ranges: [Range<usize>; 2], old: &str, new: &str) -> Diff {
        let [old_range, new_range] = ranges;
        let (removed, added) = (old_range.len(), new_range.len());
        let mut text = head(sides);
        text.push_str(&hunk_head(&old_range, &new_range));
        for (mark, side) in [('-', old), ('+', new)] {
            let shown = &side[..side.floor_char_boundary(SHOWN_UNCOMPARED)];
            for line in shown.lines() {
                text.push(mark);
                text.push_str(line);
                text.push('\n');
            }
        }
        text.push_str("(diff cut: the change is too large to be compared line by line)\n");
        Diff { text, added, removed, is_cut: true }
    }

    /// The two names as the head of a diff has them.
    pub(crate) fn sides(names: [Option<&str>; 2]) -> [String; 2] {
        let side = |mark: &str, name: Option<&str>| {
            name.map_or_else(|| "/dev/null".to_owned(), |name| format!("{mark}/{}", crate::one_line(name)))
        };
        [side("a", names[0]), side("b", names[1])]
    }

    fn cut(&mut self) {
        let text = &mut self.text;
        if text.len() > MAX_BYTES {
            let mut end = MAX_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
            let left_out = text[end..].lines().count();
            text.truncate(end);
            self.is_cut = true;
            text.push_str(&format!("(diff cut: {left_out} more lines)\n"));
        }
    }

    /// The diff for a model or a terminal: without the carriage returns of the file.
    pub(crate) fn shown(&self) -> String {
        self.text.replace("\r\n", "\n")
    }
}

/// What two large texts have different, with some lines around it, and how many lines come before.
fn differing<'a>(old: &'a str, new: &'a str) -> (usize, &'a str, &'a str) {
    if old.len().max(new.len()) <= TRIMMED {
        return (0, old, new);
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let alike = common_prefix(a, b);
    let start = back(&a[..alike], AROUND + 1);
    let (a, b) = (&a[start..], &b[start..]);
    let most = a.len().min(b.len());
    let alike = common_suffix(&a[a.len() - most..], &b[b.len() - most..]);
    let behind = ahead(&a[a.len() - alike..], AROUND + 1);
    let tail = alike - behind;
    (count_lines(&old[..start]), &old[start..old.len() - tail], &new[start..new.len() - tail])
}

/// Bytes that are compared at once.
const AT_ONCE: usize = 4096;

/// How many bytes two texts begin with alike.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let whole =
        a.chunks_exact(AT_ONCE).zip(b.chunks_exact(AT_ONCE)).take_while(|(a, b)| a == b).count() * AT_ONCE;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes two texts end with alike.
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let whole =
        a.rchunks_exact(AT_ONCE).zip(b.rchunks_exact(AT_ONCE)).take_while(|(a, b)| a == b).count() * AT_ONCE;
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    whole + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Where the last lines of a text begin, the unfinished one counted.
fn back(text: &[u8], lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', text).nth(lines).map_or(0, |at| at + 1)
}

/// Where the first lines of a text end, the one that was begun before counted.
fn ahead(text: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', text).nth(lines).map_or(text.len(), |at| at + 1)
}

/// How many lines a text has, as they are compared: a carriage return alone ends one, too.
fn count_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let newlines = memchr::memchr_iter(b'\n', bytes).count();
    let returns = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    newlines + returns + usize::from(!text.is_empty() && !text.ends_with(['\n', '\r']))
}

/// A unified diff whose lines are counted from further up.
fn shifted(unified: &UnifiedDiff<'_, '_, '_, str>, sides: [&str; 2], by: usize) -> String {
    let mut text = String::new();
    for hunk in unified.iter_hunks() {
        if text.is_empty() {
            text.push_str(&head(sides));
        }
        let (Some(first), Some(last)) = (hunk.ops().first(), hunk.ops().last()) else { continue };
        let old = first.old_range().start + by..last.old_range().end + by;
        let new = first.new_range().start + by..last.new_range().end + by;
        text.push_str(&hunk_head(&old, &new));
        let whole = hunk.to_string();
        text.push_str(whole.split_once('\n').map_or("", |(_, lines)| lines));
    }
    text
}

fn head([before, after]: [&str; 2]) -> String {
    format!("--- {before}\n+++ {after}\n")
}

fn hunk_head(old: &Range<usize>, new: &Range<usize>) -> String {
    let side = |range: &Range<usize>| match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        length => format!("{},{length}", range.start + 1),
    };
    format!("@@ -{} +{} @@\n", side(old), side(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The diff of two texts that are long, as it is without leaving out what they have alike.
    fn check(old: &str, new: &str) {
        let far = || Instant::now() + Duration::from_secs(3600);
        let names = [Some("f"); 2];
        let diff = Diff::whole(names, old, new, far());
        let plain = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(old, new);
        let expected = plain.unified_diff().header("a/f", "b/f").context_radius(3).to_string();
        assert_eq!(diff.text, expected);
    }

    #[test]
    fn a_large_text_is_compared_where_it_differs() {
        let line = |number: usize| format!("line {number} of a long text\r\n");
        let old: String = (0..20_000).map(line).collect();
        assert!(old.len() > TRIMMED);
        for (from, to) in
            [("line 9999 ", "line x "), ("line 0 ", ""), ("line 19999 ", "y\ny\nline "), ("\r\n", "\n")]
        {
            check(&old, &old.replacen(from, to, 1));
            check(&old.replacen(from, to, 1), &old);
        }
        let two = old.replacen("line 100 ", "a ", 1).replacen("line 18000 ", "b\n", 1);
        check(&old, &two);
        check(&old, &format!("{old}end"));
        check(&format!("é{old}ä"), &format!("è{old}ö"));
        check(&old, &old);
    }

    #[test]
    fn what_is_too_large_is_shown_in_part() {
        let old = "a\n".repeat(MOST_COMPARED_LINES);
        let diff = Diff::between("f", Some(&old), Some("b\n"));
        assert_eq!((diff.added, diff.removed), (1, MOST_COMPARED_LINES));
        assert!(
            diff.text.starts_with("--- a/f\n+++ b/f\n@@ -1,100000 +1 @@\n-a\n-a\n"),
            "{}",
            &diff.text[..80]
        );
        assert!(diff.text.ends_with("+b\n(diff cut: the change is too large to be compared line by line)\n"));
    }
}
