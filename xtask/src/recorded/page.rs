//! The section of `docs/edits.md` about recorded sessions.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::history::Failure;
use super::tally::Tally;
use super::verdict::Verdict;

const PAGE: &str = "docs/edits.md";

pub(super) fn section(tallies: &[(String, Tally)]) -> String {
    let mut text = landed(tallies);
    for (name, tally) in tallies {
        for placeholder in &tally.placeholders {
            let _ = writeln!(text, "- {name}: `{placeholder}`");
        }
    }
    text.push_str(&failed(tallies));
    text.push_str(&retried(tallies));
    text
}

/// The edits that landed there.
fn landed(tallies: &[(String, Tally)]) -> String {
    let mut text = String::from(
        "Edits that landed in the session:\n\n\
         | repository | edits | the file is not known | same bytes | exactly as asked | placeholder | refused otherwise | other \
         bytes |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (name, tally) in tallies {
        let count = |wanted| tally.sum(|failure, verdict| failure.is_none() && verdict == wanted);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            tally.sum(|failure, _| failure.is_none()),
            count(Verdict::Unknown),
            count(Verdict::Same),
            count(Verdict::Literal),
            count(Verdict::Placeholder),
            count(Verdict::Missing),
            count(Verdict::Differs),
        );
    }
    text.push_str(
        "\n*Exactly as asked*: `newString` is empty, and the tool of the session also removed the newline behind the text. \
         The lines that are refused as placeholders for left-out code:\n\n",
    );
    text
}

/// Why edits failed there.
fn failed(tallies: &[(String, Tally)]) -> String {
    let names: Vec<&str> = tallies.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = format!(
        "\nEdits that failed in the session:\n\n| reason | {} |\n| --- |{}\n",
        names.join(" | "),
        " ---: |".repeat(names.len())
    );
    for failure in FAILURES {
        let cells: Vec<String> = tallies
            .iter()
            .map(|(_, tally)| tally.sum(|found, _| found == Some(failure)).to_string())
            .collect();
        let _ = writeln!(text, "| {} | {} |", failure.title(), cells.join(" | "));
    }
    text
}

const FAILURES: [Failure; 9] = [
    Failure::NotFound,
    Failure::SeveralPlaces,
    Failure::NotRead,
    Failure::ChangedSince,
    Failure::NoChange,
    Failure::NoFile,
    Failure::Declined,
    Failure::Sibling,
    Failure::Other,
];

/// What becomes of them here.
fn retried(tallies: &[(String, Tally)]) -> String {
    let mut text = String::from(
        "\nThe same calls here, where the file and the next change of it are known. *As next*: the file, or each line \
         that is changed, is as after the model's own next attempt. *Asked for*: the old text is in the file once, or the lines are those that the model changed next, \
         but with another text.\n\n\
         | reason | known | as next | asked for | refused, model tried again | refused, model did something else | \
         applied before | otherwise |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut total = [0; 7];
    for failure in FAILURES {
        let count = |wanted: &[Verdict]| -> usize {
            let of = |tally: &Tally| {
                tally.sum(|found, verdict| found == Some(failure) && wanted.contains(&verdict))
            };
            tallies.iter().map(|(_, tally)| of(tally)).sum()
        };
        let mut cells = [
            0,
            count(&[Verdict::AsNext, Verdict::PartOfNext]),
            count(&[Verdict::Exact, Verdict::SamePlace]),
            count(&[Verdict::Refused]),
            count(&[Verdict::RefusedForGood]),
            count(&[Verdict::Applied]),
            count(&[Verdict::Otherwise]),
        ];
        cells[0] = cells.iter().sum();
        if cells[0] > 0 {
            text.push_str(&row(failure.title(), &cells));
            total.iter_mut().zip(cells).for_each(|(total, cell)| *total += cell);
        }
    }
    text.push_str(&row("all", &total));
    text
}

fn row(title: &str, cells: &[usize]) -> String {
    let cells: Vec<String> = cells.iter().map(usize::to_string).collect();
    format!("| {title} | {} |\n", cells.join(" | "))
}

/// Replaces the section of the page.
pub(super) fn write(root: &Path, section: &str) -> Result<()> {
    let (begin, end) = ("<!-- recorded:begin -->", "<!-- recorded:end -->");
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let from = page.find(begin).with_context(|| format!("{PAGE} has no `{begin}`"))? + begin.len();
    let to = page.find(end).with_context(|| format!("{PAGE} has no `{end}`"))?;
    fs::write(&path, format!("{}\n\n{}\n\n{}", &page[..from], section.trim_matches('\n'), &page[to..]))?;
    Ok(())
}
