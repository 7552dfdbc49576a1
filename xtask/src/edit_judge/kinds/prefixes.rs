//! Line numbers and marks that tools put before or behind each line.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::{Draft, Mark};
use super::super::random::Choices;
use super::Family::Wrapper;
use super::Goal::Understood;
use super::Stage::Strings;
use super::{EDIT, Noise, each_line, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    known("prefix: 12 and a tab", numbered::<0>),
    known("prefix: cat -n", numbered::<1>),
    known("prefix: 12: ", numbered::<2>),
    known("prefix: 12:", numbered::<3>),
    known("prefix: 12 | ", numbered::<4>),
    known("prefix: 12→", numbered::<5>),
    understood("prefix: [12] ", numbered::<6>),
    understood("prefix: 12#", numbered::<7>),
    understood("prefix: f.c:12:", numbered::<8>),
    understood("prefix: f.c-12-", numbered::<9>),
    known("prefix: L12: ", numbered::<10>),
    known("prefix: 0012 ", numbered::<11>),
    known("prefix: 12. ", numbered::<12>),
    known("prefix: 12|", numbered::<13>),
    known("prefix: Line 12: ", numbered::<14>),
    known("prefix: (12) ", numbered::<15>),
    known("prefix: #12 ", numbered::<16>),
    known("prefix: <12> ", numbered::<17>),
    known("prefix: 12-", numbered::<18>),
    noise("line numbers on some lines", Strings, Wrapper, EDIT, numbered_partly),
    understood("cat -A", cat_all),
    understood("ANSI colours on lines", ansi_lines),
    understood("ANSI colours on words", ansi_words),
    known("> before each line", quoted),
    known("- and + before each line", marked),
    known("a diff in both strings", hunk_marks),
    known("| before each line", barred),
];

const fn known(name: &'static str, apply: super::Apply) -> Noise {
    noise(name, Strings, Wrapper, EDIT, apply)
}

const fn understood(name: &'static str, apply: super::Apply) -> Noise {
    toward(Understood, known(name, apply))
}

fn prefix(format: usize, number: usize, path: &str) -> String {
    match format {
        0 => format!("{number}\t"),
        1 => format!("{number:>6}\t"),
        2 => format!("{number}: "),
        3 => format!("{number}:"),
        4 => format!("{number:>4} | "),
        5 => format!("{number:>5}→"),
        6 => format!("[{number}] "),
        7 => format!("{number}#"),
        8 => format!("{path}:{number}:"),
        9 => format!("{path}-{number}-"),
        10 => format!("L{number}: "),
        11 => format!("{number:04} "),
        12 => format!("{number}. "),
        13 => format!("{number}|"),
        14 => format!("Line {number}: "),
        15 => format!("({number}) "),
        16 => format!("#{number} "),
        17 => format!("<{number}> "),
        _ => format!("{number}-"),
    }
}

/// Numbers on old and new, or on old alone.
fn numbered<const FORMAT: usize>(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let first = draft.block().first + 1;
    let path = draft.path.clone();
    draft.bare();
    draft.is_numbered = true;
    let add = |text: &str| {
        let lines = text.split('\n').enumerate();
        let lines: Vec<String> =
            lines.map(|(index, line)| format!("{}{line}", prefix(FORMAT, first + index, &path))).collect();
        lines.join("\n")
    };
    draft.old = add(&draft.old);
    if choices.percent(70) {
        draft.new = add(&draft.new);
    }
    // One line with a short prefix may also be text.
    let single = !draft.old.contains('\n') && matches!(FORMAT, 11 | 12 | 15..=18);
    Some(if single { TruthOrRefusal } else { Decidable })
}

fn numbered_partly(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let first = draft.block().first + 1;
    let step = 2 + choices.below(2);
    if draft.old.trim().lines().count() < step + 1 {
        return None;
    }
    each_line(draft, |index, line| {
        if index % step == 0 { format!("{:>6}\t{line}", first + index) } else { line.to_owned() }
    });
    Some(TruthOrRefusal)
}

fn cat_all(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if !draft.old.is_ascii() || !draft.new.is_ascii() || draft.old.contains('^') {
        return None;
    }
    each_line(draft, |_, line| format!("{}$", line.replace('\t', "^I")));
    for text in [&mut draft.old, &mut draft.new] {
        // The newline at the end of a text has no line behind it.
        if text.ends_with("\n$") {
            text.pop();
        }
    }
    (!draft.old.trim().is_empty()).then_some(Decidable)
}

fn ansi_lines(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let colour = *choices.pick(&["32", "31;1", "0;36"])?;
    each_line(draft, |_, line| {
        if line.is_empty() { String::new() } else { format!("\u{1b}[{colour}m{line}\u{1b}[0m") }
    });
    Some(Decidable)
}

fn ansi_words(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    each_line(draft, |_, line| match line.rsplit_once(' ') {
        Some((head, word)) if !word.is_empty() => format!("{head} \u{1b}[1;31m{word}\u{1b}[m\u{1b}[K"),
        _ => line.to_owned(),
    });
    draft.old.contains('\u{1b}').then_some(Decidable)
}

fn each_full_line(draft: &mut Draft, mark: &str) {
    draft.bare();
    for text in [&mut draft.old, &mut draft.new] {
        let lines: Vec<String> = text.split('\n').map(|line| format!("{mark}{line}")).collect();
        *text = lines.join("\n");
    }
}

fn quoted(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    each_full_line(draft, "> ");
    Some(if draft.old.contains('\n') { Decidable } else { TruthOrRefusal })
}

fn barred(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    each_full_line(draft, "| ");
    Some(TruthOrRefusal)
}

/// `-` before each old line and `+` before each new one.
fn marked(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.bare();
    let mark = |text: &str, sign: &str| {
        let lines: Vec<String> = text.split('\n').map(|line| format!("{sign}{line}")).collect();
        lines.join("\n")
    };
    draft.old = mark(&draft.old, "-");
    draft.new = mark(&draft.new, "+");
    Some(if draft.old.contains('\n') { Decidable } else { TruthOrRefusal })
}

/// The lines as a diff has them: kept ones after a space.
fn hunk_marks(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let line = |mark: Mark, text: &str| match mark {
        Mark::Keep => format!(" {text}"),
        Mark::Gone => format!("-{text}"),
        Mark::New => format!("+{text}"),
    };
    let old: Vec<String> =
        rows.iter().filter(|row| row.is_old()).map(|row| line(row.mark, &row.old)).collect();
    let new: Vec<String> =
        rows.iter().filter(|row| row.mark != Mark::Gone).map(|row| line(row.mark, &row.new)).collect();
    draft.old = old.join("\n");
    draft.new = new.join("\n");
    Some(TruthOrRefusal)
}
