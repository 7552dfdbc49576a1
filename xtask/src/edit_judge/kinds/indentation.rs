//! Lines at another depth, and tabs for spaces.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::{Draft, Mark, Row, split_indentation};
use super::super::random::Choices;
use super::Family::Whitespace;
use super::Stage::Rows;
use super::{ANY, Noise, each_row, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("all lines deeper", Rows, Whitespace, ANY, deeper),
    noise("all lines at the left edge", Rows, Whitespace, ANY, dedented),
    noise("all lines one level up", Rows, Whitespace, ANY, one_level_up),
    noise("one context line at another depth", Rows, Whitespace, ANY, one_context),
    noise("one context line has lost its indentation", Rows, Whitespace, ANY, one_flat),
    noise("one removed line at another depth", Rows, Whitespace, ANY, one_removed),
    noise("old text alone at another depth", Rows, Whitespace, ANY, old_alone),
    noise("lines around an insertion at another depth", Rows, Whitespace, ANY, around_insertion),
    noise("all old and new lines without indentation", Rows, Whitespace, ANY, flattened),
    noise("tabs for 4 spaces", Rows, Whitespace, ANY, tabs_for_4),
    noise("tabs for 2 spaces", Rows, Whitespace, ANY, tabs_for_2),
    noise("4 spaces for tabs", Rows, Whitespace, ANY, four_for_tabs),
    noise("2 spaces for tabs", Rows, Whitespace, ANY, two_for_tabs),
    noise("2 spaces for 4", Rows, Whitespace, ANY, two_for_4),
    noise("4 spaces for 2", Rows, Whitespace, ANY, four_for_2),
    noise("one line with tabs for spaces", Rows, Whitespace, ANY, one_with_tabs),
    noise("first line without indentation, as whole lines", Rows, Whitespace, ANY, first_flat),
];

fn solid(row: &Row) -> bool {
    !row.is_blank() && !row.new.trim().is_empty()
}

/// Another depth for every line keeps their relation, which is all that is needed.
fn deeper(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let indented = draft.rows().iter().any(|row| row.old.starts_with(' '));
    let tabbed = draft.rows().iter().any(|row| row.old.starts_with('\t'));
    if indented && tabbed {
        return None;
    }
    let by = if tabbed { "\t" } else { choices.pick(&["    ", "  ", " ", "        "])? };
    each_row(draft, |line| if line.trim().is_empty() { line.to_owned() } else { format!("{by}{line}") });
    Some(Decidable)
}

fn common(draft: &Draft) -> Option<String> {
    let texts = draft.rows().iter().filter(|row| solid(row)).map(|row| split_indentation(&row.old).0);
    texts
        .map(str::to_owned)
        .reduce(|one, other| {
            let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
            same.map(|(one, _)| one).collect()
        })
        .filter(|common| !common.is_empty())
}

fn dedented(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let common = common(draft)?;
    each_row(draft, |line| line.strip_prefix(common.as_str()).unwrap_or(line).to_owned());
    Some(Decidable)
}

fn one_level_up(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let common = common(draft)?;
    let unit = if common.starts_with('\t') {
        "\t"
    } else if common.len() >= 4 {
        "    "
    } else {
        "  "
    };
    if common.len() <= unit.len() {
        return None;
    }
    each_row(draft, |line| line.strip_prefix(unit).unwrap_or(line).to_owned());
    Some(Decidable)
}

/// How many old lines, blank ones aside, the noise has left alone.
fn untouched(draft: &Draft) -> usize {
    let old: Vec<&Row> = draft.rows().iter().filter(|row| row.is_old()).collect();
    let truth = draft.true_old();
    old.iter().zip(truth).filter(|(row, truth)| !row.is_blank() && row.old == *truth).count()
}

/// Most lines are exact, so they tell the depth; otherwise either reading is possible.
fn by_majority(draft: &Draft, altered: usize) -> Claim {
    match untouched(draft) {
        // The old lines can be all at another depth, with the new ones, or alone.
        0 => Claim::Undecidable,
        exact if exact > altered.max(1) => Decidable,
        _ => TruthOrRefusal,
    }
}

fn shifted(line: &str, choices: &mut Choices) -> String {
    let (indentation, rest) = split_indentation(line);
    let tabs = indentation.starts_with('\t');
    let unit = if tabs { "\t" } else { ["  ", "    ", " "][choices.below(3)] };
    match indentation.strip_prefix(unit) {
        Some(less) if choices.percent(50) => format!("{less}{rest}"),
        _ => format!("{unit}{line}"),
    }
}

fn one_context(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let kept = draft.find(|row| row.mark == Mark::Keep && solid(row));
    let at = *choices.pick(&kept)?;
    let text = shifted(&draft.rows()[at].old, choices);
    draft.rows_mut()[at].set(&text);
    Some(by_majority(draft, 1))
}

fn one_flat(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let flat = |row: &Row| row.mark == Mark::Keep && solid(row) && row.old.starts_with([' ', '\t']);
    let at = *choices.pick(&draft.find(flat))?;
    let text = draft.rows()[at].old.trim_start().to_owned();
    draft.rows_mut()[at].set(&text);
    Some(by_majority(draft, 1))
}

fn one_removed(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let gone = draft.find(|row| row.mark == Mark::Gone && solid(row));
    let at = *choices.pick(&gone)?;
    let text = shifted(&draft.rows()[at].old, choices);
    draft.rows_mut()[at].set(&text);
    Some(by_majority(draft, 1))
}

/// The old lines all at one wrong depth, the new ones right: the new text is what the model wants to see.
fn old_alone(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    if draft.rows().iter().any(|row| row.old.starts_with('\t')) {
        return None;
    }
    let by = *choices.pick(&["    ", "  "])?;
    for row in draft.rows_mut().iter_mut().filter(|row| !row.is_blank()) {
        row.old.insert_str(0, by);
    }
    // Whether the new text has its depth from the file or from the old text is for the reader to guess.
    Some(Claim::Undecidable)
}

fn around_insertion(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    if !draft.only_inserts() {
        return None;
    }
    let beside: Vec<usize> = draft
        .find(|row| row.mark == Mark::Keep && solid(row))
        .into_iter()
        .filter(|at| draft.is_beside_change(*at))
        .collect();
    if beside.is_empty() {
        return None;
    }
    let by = *choices.pick(&["    ", "  ", "        "])?;
    for at in &beside {
        let text = format!("{by}{}", draft.rows()[*at].old);
        draft.rows_mut()[*at].set(&text);
    }
    Some(if untouched(draft) > beside.len() { TruthOrRefusal } else { Claim::Undecidable })
}

/// Without any indentation the depth of a new line is only known where the language does not care or lines beside it
/// tell; a reader cannot tell in general.
fn flattened(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let depths: std::collections::BTreeSet<&str> =
        draft.rows().iter().filter(|row| solid(row)).map(|row| split_indentation(&row.old).0).collect();
    let one_depth = depths.len() == 1;
    if depths.iter().all(|depth| depth.is_empty()) {
        return None;
    }
    each_row(draft, |line| line.trim_start().to_owned());
    Some(if one_depth { Decidable } else { Claim::Undecidable })
}

/// Writes indentation in other units. Only whole units can be told back.
fn in_units(draft: &mut Draft, from: &str, to: &str) -> Option<Claim> {
    let whole = |line: &str| {
        let (indentation, _) = split_indentation(line);
        indentation.replace(from, "").is_empty()
    };
    let rows = draft.rows();
    // Some old line shows which unit the file has; one level is what the least of them shows.
    let least = rows
        .iter()
        .filter(|row| row.is_old() && solid(row))
        .map(|row| split_indentation(&row.old).0.len())
        .filter(|depth| *depth > 0)
        .min()?;
    if least != from.len() && from.starts_with(' ') && to.starts_with(' ') {
        return None;
    }
    if !rows.iter().filter(|row| solid(row)).all(|row| whole(&row.old) && whole(&row.new)) {
        return None;
    }
    each_row(draft, |line| {
        let (indentation, rest) = split_indentation(line);
        if rest.is_empty() { line.to_owned() } else { format!("{}{rest}", indentation.replace(from, to)) }
    });
    Some(Decidable)
}

fn tabs_for_4(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.before.iter().any(|line| line.starts_with("  ") && !line.starts_with("    ")) {
        return None;
    }
    in_units(draft, "    ", "\t")
}

fn tabs_for_2(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.before.iter().find(|line| line.starts_with("  ") && !line.starts_with("   "))?;
    in_units(draft, "  ", "\t")
}

fn four_for_tabs(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    in_units(draft, "\t", "    ")
}

fn two_for_tabs(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    in_units(draft, "\t", "  ")
}

fn two_for_4(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    in_units(draft, "    ", "  ")
}

fn four_for_2(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.before.iter().find(|line| line.starts_with("  ") && !line.starts_with("   "))?;
    in_units(draft, "  ", "    ")
}

fn one_with_tabs(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let fits = |row: &Row| row.mark == Mark::Keep && solid(row) && row.old.starts_with("    ");
    let at = *choices.pick(&draft.find(fits))?;
    let (indentation, rest) = split_indentation(&draft.rows()[at].old);
    let text = format!("{}{rest}", indentation.replace("    ", "\t"));
    draft.rows_mut()[at].set(&text);
    Some(by_majority(draft, 1))
}

/// A first line that begins at its first letter. In an edit this is often exact; in a patch it is not.
fn first_flat(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let row = draft.rows().first()?;
    if row.mark != Mark::Keep || !row.old.starts_with([' ', '\t']) {
        return None;
    }
    let text = row.old.trim_start().to_owned();
    draft.rows_mut()[0].set(&text);
    Some(by_majority(draft, 1))
}
