//! What a replayed edit is worth.

use super::history::Attempt;
use super::replay::Deed;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The file that it met, or what the model did next, is not known.
    Unknown,
    /// Landed there, and here with the same bytes.
    Same,
    /// Landed there and here. There, a deleted text took the newline behind it along, although that was not asked for.
    Literal,
    /// Landed there, and is refused here as a placeholder for left-out code.
    Placeholder,
    /// Landed there, and is refused here for another reason.
    Missing,
    /// Landed there, and has another result here.
    Differs,
    /// Failed there; here the file is as after the model's own next attempt.
    AsNext,
    /// Failed there; here the changed lines are as after the model's next attempt, which changed others too.
    PartOfNext,
    /// Failed there and is refused here; the model's next attempt made the same change with another old text.
    Refused,
    /// Failed there and is refused here; the model did something else next.
    RefusedForGood,
    /// Failed there and changes nothing here, since the file has the new text.
    Applied,
    /// Failed there. Here its old text is in the file exactly once, so that the result is what was asked for; the model then did
    /// something else.
    Exact,
    /// Failed there. Here it changes the lines that the model changed next, with the text of this attempt; the model then
    /// chose another text.
    SamePlace,
    /// Failed there and lands here otherwise than the next attempt did.
    Otherwise,
}

impl Verdict {
    pub(super) fn is_wrong(self) -> bool {
        matches!(self, Verdict::Missing | Verdict::Differs | Verdict::Otherwise)
    }

    pub(super) fn is_worth_a_look(self) -> bool {
        !matches!(self, Verdict::Unknown | Verdict::Same | Verdict::AsNext | Verdict::PartOfNext)
    }
}

pub(super) fn judge(attempt: &Attempt, deed: Option<&Deed>) -> Verdict {
    let (Some(deed), Some(file)) = (deed, &attempt.file) else { return Verdict::Unknown };
    if attempt.failure.is_none() {
        return match &attempt.later[..] {
            [landed, ..] if deed.file == *landed => Verdict::Same,
            _ if deed.file == asked_for(attempt, file) => Verdict::Literal,
            _ if !deed.is_error => Verdict::Differs,
            _ if deed.message.contains("is a placeholder for") => Verdict::Placeholder,
            _ => Verdict::Missing,
        };
    }
    let (old, new) = (attempt.edit.old.as_str(), attempt.edit.new.as_str());
    let is_retry = attempt.next.as_ref().is_some_and(|next| change(old, new) == change(&next.0, &next.1));
    if deed.file == *file {
        let says_so = deed.message.contains("already");
        return match (is_retry, says_so) {
            (true, _) => Verdict::Refused,
            (false, true) => Verdict::Applied,
            (false, false) => Verdict::RefusedForGood,
        };
    }
    if attempt.later.contains(&deed.file) {
        return Verdict::AsNext;
    }
    let is_exact = file.matches(old).count() == 1 || attempt.edit.replace_all && file.contains(old);
    if is_exact && deed.file == asked_for(attempt, file) {
        return Verdict::Exact;
    }
    let touched = lines_changed(file, &deed.file);
    let made = lines_changed(&deed.file, file);
    let lines: Vec<&str> = deed.file.split('\n').collect();
    let around = lines[made.start.saturating_sub(2)..(made.end + 2).min(lines.len())].join("\n");
    if attempt.later.iter().any(|later| later.contains(&around)) {
        return Verdict::PartOfNext;
    }
    let is_same_place = attempt.later.iter().any(|later| {
        let changed = lines_changed(file, later);
        touched.start <= changed.end && changed.start <= touched.end
    });
    if !is_retry && is_same_place { Verdict::SamePlace } else { Verdict::Otherwise }
}

/// The file with the exact old text replaced.
fn asked_for(attempt: &Attempt, file: &str) -> String {
    let (old, new) = (&attempt.edit.old, &attempt.edit.new);
    if attempt.edit.replace_all { file.replace(old, new) } else { file.replacen(old, new, 1) }
}

/// The lines that a change takes away and those that it adds, without their spaces.
fn change(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let bare = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.split_whitespace().collect());
        lines.filter(|line: &String| !line.is_empty()).collect()
    };
    let (mut removed, mut added) = (Vec::new(), bare(new));
    for line in bare(old) {
        match added.iter().position(|other| *other == line) {
            Some(at) => drop(added.remove(at)),
            None => removed.push(line),
        }
    }
    (removed, added)
}

/// The lines of the first text between those that it shares with the second one at its beginning and end.
fn lines_changed(before: &str, after: &str) -> std::ops::Range<usize> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    let shortest = before.len().min(after.len());
    let head = (0..shortest).take_while(|at| before[*at] == after[*at]).count();
    let tail = (0..shortest - head)
        .take_while(|at| before[before.len() - 1 - at] == after[after.len() - 1 - at])
        .count();
    head..before.len() - tail
}
