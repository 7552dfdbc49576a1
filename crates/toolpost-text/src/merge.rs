//! Three texts made one, line by line and to the byte; or why that cannot be. Undo and stale edits merge with it.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Texts of more bytes are not merged.
const LARGEST: usize = 8 << 20;
/// How long the shortest difference is looked for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A change of some lines of the base into some of the other text.
#[derive(Debug, Clone)]
struct Hunk {
    base: Range<usize>,
    other: Range<usize>,
}

/// What `mine` and `theirs` have both made of `base`. Lines that both have changed, or that touch, must be changed alike.
pub fn merged(base: &[u8], mine: &[u8], theirs: &[u8]) -> Result<Vec<u8>, String> {
    check(base, mine, theirs)?;
    let (base, mine, theirs) = (lines(base), lines(mine), lines(theirs));
    let until = Instant::now() + PATIENCE;
    let hunks = |other: &[&[u8]]| hunks(Algorithm::Myers, &base, other, until);
    combined(&base, (&mine, &hunks(&mine)), (&theirs, &hunks(&theirs)))
}

/// The same, and an error also where lines that repeat leave open which of them was changed, so that what `mine` has made
/// could land at another place than the one that it was made for, or within the lines of `theirs`.
pub fn surely_merged(base: &[u8], mine: &[u8], theirs: &[u8]) -> Result<Vec<u8>, String> {
    check(base, mine, theirs)?;
    let (base, mine, theirs) = (lines(base), lines(mine), lines(theirs));
    let until = Instant::now() + PATIENCE;
    let mut made = None;
    for algorithm in [Algorithm::Myers, Algorithm::Patience] {
        let (ours, others) = (hunks(algorithm, &base, &mine, until), hunks(algorithm, &base, &theirs, until));
        for hunk in &ours {
            let reach = reach(hunk, &base, &mine);
            let touches = |other: &&Hunk| {
                let reached = self::reach(other, &base, &theirs);
                reach.start <= reached.end && reached.start <= reach.end
            };
            let is_same = |other: &Hunk| {
                other.base == hunk.base && theirs[other.other.clone()] == mine[hunk.other.clone()]
            };
            if let Some(other) = others.iter().find(touches).filter(|other| !is_same(other)) {
                return Err(changed_otherwise(hunk.base.start.min(other.base.start)));
            }
        }
        let merged = combined(&base, (&mine, &ours), (&theirs, &others))?;
        if made.as_ref().is_some_and(|made| *made != merged) {
            return Err("lines that repeat leave open which of them were changed since".to_owned());
        }
        made = Some(merged);
    }
    if until <= Instant::now() {
        return Err("the texts differ too much to be compared line by line in time".to_owned());
    }
    Ok(made.unwrap_or_default())
}

/// Where a change may just as well have been made: lines that were added or removed between lines that are alike could be any
/// of these.
fn reach(hunk: &Hunk, base: &[&[u8]], other: &[&[u8]]) -> Range<usize> {
    let (text, range) = match (hunk.base.is_empty(), hunk.other.is_empty()) {
        (true, false) => (other, &hunk.other),
        (false, true) => (base, &hunk.base),
        _ => return hunk.base.clone(),
    };
    let up = (1..=range.start.min(hunk.base.start))
        .take_while(|by| text[range.start - by] == text[range.end - by])
        .count();
    let down =
        (0..text.len() - range.end).take_while(|by| text[range.start + by] == text[range.end + by]).count();
    hunk.base.start - up..(hunk.base.end + down).min(base.len())
}

fn check(base: &[u8], mine: &[u8], theirs: &[u8]) -> Result<(), String> {
    if [base, mine, theirs].iter().any(|text| text.contains(&0)) {
        return Err("it is not text, so the two changes cannot be merged".to_owned());
    }
    if [base, mine, theirs].iter().any(|text| text.len() > LARGEST) {
        return Err(format!(
            "it is larger than {LARGEST} bytes, so that the two changes are not put together"
        ));
    }
    Ok(())
}

/// A text and what was changed in it.
type Side<'a, 'b> = (&'b [&'a [u8]], &'b [Hunk]);

fn combined<'a>(base: &[&'a [u8]], mine: Side<'a, '_>, theirs: Side<'a, '_>) -> Result<Vec<u8>, String> {
    let ((mine, ours), (theirs, others)) = (mine, theirs);
    let (mut next_mine, mut next_theirs) = (0, 0);
    let mut out: Vec<&[u8]> = Vec::new();
    let mut done = 0;
    loop {
        let starts = [ours.get(next_mine), others.get(next_theirs)];
        let Some(start) = starts.into_iter().flatten().map(|hunk| hunk.base.start).min() else { break };
        let (first_mine, first_theirs) = (next_mine, next_theirs);
        let mut end = start;
        loop {
            if let Some(hunk) = ours.get(next_mine).filter(|hunk| hunk.base.start <= end) {
                end = end.max(hunk.base.end);
                next_mine += 1;
            } else if let Some(hunk) = others.get(next_theirs).filter(|hunk| hunk.base.start <= end) {
                end = end.max(hunk.base.end);
                next_theirs += 1;
            } else {
                break;
            }
        }
        let own = part(&ours[first_mine..next_mine], &(start..end), mine);
        let other = part(&others[first_theirs..next_theirs], &(start..end), theirs);
        out.extend(&base[done..start]);
        done = end;
        match (own, other) {
            (Some(own), Some(other)) if own != other => {
                return Err(changed_otherwise(start));
            }
            (Some(part), _) | (None, Some(part)) => out.extend(part),
            (None, None) => {}
        }
    }
    out.extend(&base[done..]);
    Ok(out.concat())
}

fn changed_otherwise(at: usize) -> String {
    format!("line {} was changed in another way since", at + 1)
}

/// What has become of a range of the base in the other text; none where it is not changed there.
fn part<'a, 'b>(hunks: &[Hunk], range: &Range<usize>, other: &'b [&'a [u8]]) -> Option<&'b [&'a [u8]]> {
    let (first, last) = (hunks.first()?, hunks.last()?);
    let start = first.other.start - (first.base.start - range.start);
    let end = last.other.end + (range.end - last.base.end);
    Some(&other[start..end])
}

fn hunks(algorithm: Algorithm, base: &[&[u8]], other: &[&[u8]], until: Instant) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices_deadline(algorithm, base, other, Some(until)) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (base, other) = (op.old_range(), op.new_range());
        match hunks.last_mut().filter(|last| last.base.end == base.start) {
            Some(last) => {
                last.base.end = base.end;
                last.other.end = other.end;
            }
            None => hunks.push(Hunk { base, other }),
        }
    }
    hunks
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Lines that are new and lines that are gone; none for what is no text.
pub fn counts(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    if before.contains(&0) || after.contains(&0) || before.len().max(after.len()) > LARGEST {
        return None;
    }
    let hunks = hunks(Algorithm::Myers, &lines(before), &lines(after), Instant::now() + PATIENCE);
    Some((hunks.iter().map(|hunk| hunk.other.len()).sum(), hunks.iter().map(|hunk| hunk.base.len()).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides are alike, and what is surely merged is what is merged.
    fn check(base: &str, mine: &str, theirs: &str, expected: Option<&str>) {
        for (mine, theirs) in [(mine, theirs), (theirs, mine)] {
            let merged = merged(base.as_bytes(), mine.as_bytes(), theirs.as_bytes());
            let merged = merged.ok().map(|merged| String::from_utf8(merged).unwrap());
            assert_eq!(merged.as_deref(), expected, "{base:?} {mine:?} {theirs:?}");
            if let Ok(sure) = surely_merged(base.as_bytes(), mine.as_bytes(), theirs.as_bytes()) {
                assert_eq!(std::str::from_utf8(&sure).ok(), expected, "{base:?} {mine:?} {theirs:?}");
            }
        }
    }

    fn check_sure(base: &str, mine: &str, theirs: &str, expected: Option<&str>) {
        let merged = surely_merged(base.as_bytes(), mine.as_bytes(), theirs.as_bytes()).ok();
        assert_eq!(merged.as_deref(), expected.map(str::as_bytes), "{base:?} {mine:?} {theirs:?}");
    }

    #[test]
    fn lines_that_repeat_are_not_surely_merged() {
        check_sure("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", Some("A\nb\nc\nD\n"));
        check_sure("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", Some("a\nX\nc\n"));
        // One of three equal lines is gone, and a line was added behind the first.
        check_sure("a\nx\nx\nx\nb\n", "a\nx\nnew\nx\nx\nb\n", "a\nx\nx\nb\n", None);
        // A block was copied: which of the two is the old one cannot be told.
        let (base, copied) = ("f\n x\ng\n", "f\n x\nf\n x\ng\n");
        check_sure(base, "f\n y\ng\n", copied, None);
        check_sure("f\n x\ng\nh\ni\n", "f\n y\ng\nh\ni\n", "f\n x\ng\nh\nh\n", Some("f\n y\ng\nh\nh\n"));
    }

    #[test]
    fn changes_apart_are_put_together_and_others_refused() {
        check("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", Some("A\nb\nc\nD\n"));
        check("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", None);
        check("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", Some("a\nX\nc\n"));
        // They touch.
        check("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n", None);
        check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", Some("A\nb\nC\n"));
        check("a\nb\n", "a\nb\nnew\n", "a\nb\nother\n", None);
        check("a\nb\nc\n", "new\na\nb\nc\n", "a\nb\n", Some("new\na\nb\n"));
        check("", "a\n", "b\n", None);
        check("a", "a", "b", Some("b"));
    }

    #[test]
    fn endings_are_kept_to_the_byte() {
        check("a\r\nb\r\nc", "A\r\nb\r\nc", "a\r\nb\r\nC", Some("A\r\nb\r\nC"));
        check("a\nb\nc", "a\nb\nc\n", "A\nb\nc", Some("A\nb\nc\n"));
        check("\u{feff}a\nb\nc\n", "\u{feff}a\nb\nC\n", "\u{feff}A\nb\nc\n", Some("\u{feff}A\nb\nC\n"));
        check("a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nb\nC\n", None);
    }

    #[test]
    fn what_is_no_text_is_not_merged() {
        assert!(merged(b"a\nb\nc\n", b"a\0\nb\nc\n", b"a\nb\nC\n").is_err());
        assert_eq!(merged(b"\xff\nb\nc\n", b"\xfe\nb\nc\n", b"\xff\nb\nC\n").unwrap(), b"\xfe\nb\nC\n");
    }
}
