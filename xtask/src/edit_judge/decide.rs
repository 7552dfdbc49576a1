//! What a finished call demands, from its strings, the file and the claim of its noise.

use super::claim::{Claim, Form};
use super::draft::{Block, Draft, Mark};
use super::kinds::{Family, Noise};

/// A call, and what is right.
pub(super) struct Trial {
    pub(super) form: Form,
    /// The names of its kinds of noise.
    pub(super) names: Vec<&'static str>,
    pub(super) draft: Draft,
    pub(super) file: String,
    pub(super) claim: Claim,
    /// The results that are right; the first one is the truth.
    pub(super) right: Vec<String>,
    /// The lines of the result that the call names. Unless its text is exact, spaces at their ends are not looked at.
    pub(super) loose_ends: std::ops::Range<usize>,
}

impl Trial {
    /// Whether a result is right.
    pub(super) fn is_right(&self, text: &str) -> bool {
        self.right.iter().any(|right| right == text)
            || self.right.iter().any(|right| self.differs_in_ends(right, text))
    }

    fn differs_in_ends(&self, right: &str, text: &str) -> bool {
        let bare = |line: &str| line.trim_end_matches([' ', '\t']).to_owned();
        let (right, text): (Vec<&str>, Vec<&str>) = (right.split('\n').collect(), text.split('\n').collect());
        right.len() == text.len()
            && (0..right.len()).all(|at| {
                right[at] == text[at] || self.loose_ends.contains(&at) && bare(right[at]) == bare(text[at])
            })
    }
}

/// The words of a text: no spaces and no blank lines, with a newline before and behind each line.
pub(super) fn skeleton(text: &str) -> String {
    let mut bare = String::from("\n");
    for line in text.lines() {
        let before = bare.len();
        bare.extend(line.chars().filter(|character| !character.is_whitespace() && *character != '\u{feff}'));
        if bare.len() > before {
            bare.push('\n');
        }
    }
    bare
}

/// How often a text occurs, also where occurrences overlap.
fn occurrences(text: &str, part: &str) -> usize {
    let mut count = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find(part) {
        count += 1;
        from += at + text[from + at..].chars().next().map_or(1, char::len_utf8);
        if from >= text.len() {
            break;
        }
    }
    count
}

/// How often the lines occur as whole lines.
fn as_lines(file: &str, lines: &[&str]) -> usize {
    let clean = |text: &str| text.trim_start_matches('\u{feff}').replace('\r', "");
    let file = format!("\n{}\n", clean(file));
    occurrences(&file, &format!("\n{}\n", clean(&lines.join("\n"))))
}

fn is_loose(noises: &[&Noise]) -> bool {
    noises.iter().any(|noise| matches!(noise.family, Family::Whitespace | Family::Lines))
}

/// The demand of the call; `None` if the noise made nothing that is worth asking.
pub(super) fn settle(draft: Draft, form: Form, noises: &[&Noise], claim: Claim) -> Option<Trial> {
    let file = draft.file();
    let truth = draft.truth();
    if truth == file && !draft.applied {
        return None;
    }
    let mut right = vec![truth];
    right.extend(draft.accepted.iter().cloned());
    let claim = match form {
        Form::Edit => of_edit(&draft, &file, noises, claim, &mut right)?,
        _ => of_patch(&draft, form, &file, noises, claim)?,
    };
    let target = draft.block();
    let gone: Vec<&str> = texts(target, Mark::Gone);
    if form != Form::Edit && !gone.is_empty() && gone == texts(target, Mark::New) {
        return None;
    }
    if contradicts_itself(target) {
        return None;
    }
    let exact = noises.iter().all(|noise| noise.name == "as it is")
        || form == Form::Edit && file.contains(&draft.old);
    let loose_ends = if exact { 0..0 } else { of_block(&draft) };
    let claim = if !exact && claim == Claim::Decidable && is_lopsided(&draft) {
        Claim::TruthOrRefusal
    } else {
        claim
    };
    let names = noises.iter().map(|noise| noise.name).collect();
    Some(Trial { form, names, draft, file, claim, right, loose_ends })
}

/// Whether noise has made a removed line equal to a new one, so that the call no longer asks for the change.
fn contradicts_itself(block: &Block) -> bool {
    let new = texts(block, Mark::New);
    let truth: Vec<&str> = block.truth.iter().map(|row| row.old.as_str()).collect();
    texts(block, Mark::Gone).into_iter().any(|gone| !truth.contains(&gone) && new.contains(&gone))
}

/// Whether the change opens brackets that it does not close, or closes others: a part of a commit that does not parse
/// alone, which a careful tool refuses unless the old text is exact.
fn is_lopsided(draft: &Draft) -> bool {
    let depth = |text: String| {
        [('(', ')'), ('[', ']'), ('{', '}')]
            .map(|(open, close)| text.matches(open).count().wrapping_sub(text.matches(close).count()))
    };
    depth(draft.file()) != depth(draft.truth())
}

fn texts(block: &Block, mark: Mark) -> Vec<&str> {
    block
        .rows
        .iter()
        .filter(|row| row.mark == mark)
        .map(|row| if mark == Mark::New { row.new.as_str() } else { row.old.as_str() })
        .collect()
}

/// The lines of the target in the file that the change makes.
fn of_block(draft: &Draft) -> std::ops::Range<usize> {
    let new = |block: &Block| block.truth.iter().filter(|row| row.mark != Mark::Gone).count();
    let before = &draft.blocks[..draft.target];
    let first = draft.block().first + before.iter().map(new).sum::<usize>()
        - before.iter().map(Block::old_count).sum::<usize>();
    first..first + new(draft.block())
}

fn of_edit(
    draft: &Draft,
    file: &str,
    noises: &[&Noise],
    claim: Claim,
    right: &mut Vec<String>,
) -> Option<Claim> {
    if draft.old.trim().is_empty() || (draft.old == draft.new && claim != Claim::TruthOrRefusal) {
        return None;
    }
    if claim == Claim::Forbidden {
        return Some(claim);
    }
    match occurrences(file, &draft.old) {
        0 => {}
        1 => {
            // Exact and unique text is right by definition, whatever it was made from.
            let plain = file.replacen(&draft.old, &draft.new, 1);
            if plain == *file {
                return None;
            }
            let exact = if draft.applied { Claim::TruthOrRefusal } else { Claim::Decidable };
            if claim > Claim::TruthOrRefusal {
                right.clear();
            }
            right.extend(at_the_depth_of_its_line(draft, file));
            right.insert(0, plain);
            return Some(exact);
        }
        _ if claim == Claim::Applied => return None,
        _ => return Some(Claim::Refusal),
    }
    if claim >= Claim::Undecidable {
        return Some(claim);
    }
    let found = by_places(draft.block(), &draft.true_old(), file, is_loose(noises), claim);
    // Numbers settle what the text leaves open, if a tool believes them.
    let settled = draft.is_numbered && found == Claim::Refusal;
    Some(if settled { Claim::TruthOrRefusal } else { found })
}

/// Old text of one line that begins inside of the indentation: new lines may go as deep as the line is.
fn at_the_depth_of_its_line(draft: &Draft, file: &str) -> Option<String> {
    let at = file.find(&draft.old)?;
    let missing = &file[file[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    if missing.is_empty() || !missing.trim().is_empty() || draft.old.contains('\n') {
        return None;
    }
    let mut lines = draft.new.split('\n');
    let mut new = lines.next()?.to_owned();
    for line in lines {
        new.push('\n');
        new.push_str(if line.trim().is_empty() { "" } else { missing });
        new.push_str(line);
    }
    Some(file.replacen(&draft.old, &new, 1))
}

/// Two places that the old text fits alike.
fn by_places(block: &Block, old: &[&str], file: &str, is_loose: bool, claim: Claim) -> Claim {
    if as_lines(file, old) > 1 {
        return Claim::Refusal;
    }
    let words = skeleton(&old.join("\n"));
    let letters = words.chars().filter(|character| character.is_alphanumeric()).count();
    if is_loose && (occurrences(&skeleton(file), &words) > 1 || letters == 0) {
        return Claim::Undecidable;
    }
    if is_loose && fits_elsewhere(block, old, file) {
        return Claim::Undecidable;
    }
    if letters < 4 { claim.max(Claim::TruthOrRefusal) } else { claim }
}

/// Whether the file has the old lines as the call has them, spaces aside, although the noise has taken lines away.
fn fits_elsewhere(block: &Block, old: &[&str], file: &str) -> bool {
    let called: Vec<&str> =
        block.rows.iter().filter(|row| row.is_old()).map(|row| row.old.as_str()).collect();
    let called = skeleton(&called.join("\n"));
    called != skeleton(&old.join("\n")) && occurrences(&skeleton(file), &called) > 0
}

fn of_patch(draft: &Draft, form: Form, file: &str, noises: &[&Noise], claim: Claim) -> Option<Claim> {
    if matches!(claim, Claim::Forbidden | Claim::Applied) {
        return Some(claim);
    }
    if noises.iter().any(|noise| noise.family == Family::Meaning) && draft.old_lines() == draft.true_old() {
        return None;
    }
    let loose = is_loose(noises);
    let placed = form == Form::Unified && draft.has_numbers;
    let mut worst = claim;
    for (index, block) in draft.blocks.iter().enumerate() {
        let old: Vec<&str> =
            block.truth.iter().filter(|row| row.is_old()).map(|row| row.old.as_str()).collect();
        let called: Vec<&str> =
            block.rows.iter().filter(|row| row.is_old()).map(|row| row.old.as_str()).collect();
        if called != old && as_lines(file, &called) > 0 {
            return None;
        }
        let target = loose && index == draft.target;
        if target && fits_elsewhere(block, &old, file) {
            worst = worst.max(Claim::Undecidable);
        }
        let found = by_places(block, &old, file, target, Claim::Decidable);
        if found >= Claim::Undecidable {
            // Numbers settle what the text leaves open, if a tool believes them.
            let settled = if placed { Claim::TruthOrRefusal } else { Claim::Undecidable };
            worst = worst.max(settled);
        } else {
            worst = worst.max(found);
        }
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_may_overlap() {
        assert_eq!(occurrences("aaa", "aa"), 2);
        assert_eq!(occurrences("äää", "ä"), 3);
        assert_eq!(as_lines("a\nab\r\na", &["a"]), 2);
    }

    #[test]
    fn a_skeleton_has_no_spaces() {
        assert_eq!(skeleton(" a b\n\n\tc\n"), "\nab\nc\n");
    }
}
