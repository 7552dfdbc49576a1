//! `daily`: runs the corpus of daily command lines, with and without the network, and shows what works and why the rest does
//! not. The lines, the projects and the judgement are those of the tests of `toolpost`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::executables;
use crate::metadata::{Metadata, Scope};
use crate::process;
use crate::report::Report;
use crate::soak::machine;

const PAGE: &str = "docs/daily.md";
const BEGIN: &str = "<!-- daily:begin -->\n";
const END: &str = "<!-- daily:end -->";

/// What the name of the test contains.
const FILTER: &str = "daily::daily_commands";

/// Runs all lines and prints the tables; with `--write` they go to the page. An error if a line is not as it should be.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let is_written = match words {
        [] => false,
        ["--write"] => true,
        _ => bail!("unknown arguments `{}`; `--write` is all there is", words.join(" ")),
    };
    let metadata = Metadata::load(root, Scope::Workspace)?;
    let mut command = executables::program_tests(root)?.command(&metadata)?;
    command.args([FILTER, "--nocapture"]).env("TOOLPOST_DAILY", "full");
    let mut report = Report::default();
    let mut rows = Vec::new();
    let status = process::stream(&mut command, |line| {
        report.read(line);
        match row(line) {
            Some(row) => rows.push(row),
            None => println!("{line}"),
        }
    })?;
    let tables = tables(&rows, &machine::today()?, &machine::facts());
    // Whose home it was says nothing.
    let tables = match std::env::var("HOME") {
        Ok(home) if home.len() > 1 => tables.replace(&format!("{home}/"), "~/"),
        _ => tables,
    };
    println!("{tables}");
    if is_written && !rows.is_empty() {
        let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
        let page = rewrite(&page, &tables).with_context(|| format!("cannot rewrite {PAGE}"))?;
        fs::write(root.join(PAGE), page).with_context(|| format!("cannot write {PAGE}"))?;
    }
    if !status.success() || report.failed > 0 || report.passed == 0 {
        bail!("{} lines were run, and not all are as they should be", rows.len());
    }
    Ok(())
}

/// What came of one line.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Row {
    project: String,
    line: String,
    needs_network: bool,
    exec: Outcome,
    network: Option<Outcome>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
enum Outcome {
    Works(bool),
    Refused(String),
    Differs(String),
}

impl Outcome {
    fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Works(_) => None,
            Outcome::Refused(said) => Some(said),
            Outcome::Differs(how) => Some(how),
        }
    }
}

fn row(line: &str) -> Option<Row> {
    let (_, row) = line.split_once("daily: {")?;
    serde_json::from_str(&format!("{{{row}")).ok()
}

fn tables(rows: &[Row], date: &str, facts: &str) -> String {
    let mut text = format!("{date}, {facts}.\n\n");
    text.push_str(
        "| project | lines | work with `--allow exec` | with `--allow network` too | need the network |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- |\n");
    let mut projects: Vec<&str> = Vec::new();
    for row in rows {
        if !projects.contains(&row.project.as_str()) {
            projects.push(&row.project);
        }
    }
    for project in projects {
        count(&mut text, project, rows.iter().filter(|row| row.project == project));
    }
    count(&mut text, "all", rows.iter());
    let alone: Vec<&Row> = rows.iter().filter(|row| !row.needs_network).collect();
    let working = alone.iter().filter(|row| row.exec.reason().is_none()).count();
    let share = 100.0 * working as f64 / alone.len().max(1) as f64;
    let _ =
        writeln!(text, "\nOf the {} lines that need no network, {working} work: {share:.1} %.", alone.len());
    text.push_str(
        "\n| what does not work with `--allow exec`, and needs no network | what is said |\n| --- | --- |\n",
    );
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &alone {
        if let Some(reason) = row.exec.reason() {
            by_reason.entry(reason).or_default().push(&row.line);
        }
    }
    for (reason, lines) in by_reason {
        let lines: Vec<String> = lines.into_iter().map(code).collect();
        let _ = writeln!(text, "| {} | {} |", lines.join("<br>"), cell(reason));
    }
    let cut_off: Vec<&Row> = rows.iter().filter(|row| row.needs_network).collect();
    text.push_str(
        "\n| needs the network | with `--allow exec` alone | with `--allow network` |\n| --- | --- | --- |\n",
    );
    for row in cut_off {
        let network = row.network.as_ref().and_then(Outcome::reason).unwrap_or("works");
        let exec = row.exec.reason().unwrap_or("works");
        let _ = writeln!(text, "| {} | {} | {} |", code(&row.line), cell(exec), cell(network));
    }
    text
}

fn count<'a>(text: &mut String, name: &str, rows: impl Iterator<Item = &'a Row>) {
    let rows: Vec<&Row> = rows.collect();
    let exec = rows.iter().filter(|row| row.exec.reason().is_none()).count();
    let works = |row: &&&Row| row.network.as_ref().is_some_and(|outcome| outcome.reason().is_none());
    let network = rows.iter().filter(works).count();
    let needing = rows.iter().filter(|row| row.needs_network).count();
    let _ = writeln!(text, "| {name} | {} | {exec} | {network} | {needing} |", rows.len());
}

/// A line in a cell of a table.
fn code(line: &str) -> String {
    let line = line.replace('\n', " ⏎ ");
    format!("`{}`", line.replace('|', "\\|"))
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// The page with these tables between its markers.
fn rewrite(page: &str, tables: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no line `{}`", BEGIN.trim()))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("no line `{END}`"))?;
    Ok(format!("{before}{BEGIN}{}\n{END}{after}", tables.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_counted() {
        let printed = [
            r#"daily: {"project":"git","line":"git log | cat","needsNetwork":false,"exec":{"works":true},"network":{"works":true}}"#,
            r#"test x ... daily: {"project":"git","line":"git init","needsNetwork":false,"exec":{"refused":"no"},"network":{"refused":"no"}}"#,
            r#"daily: {"project":"node","line":"npm i","needsNetwork":true,"exec":{"differs":"x"},"network":{"works":true}}"#,
            "measure: daily: 1 of 2",
        ];
        let rows: Vec<Row> = printed.iter().filter_map(|line| row(line)).collect();
        let tables = tables(&rows, "2026-01-01", "a machine");
        for expected in [
            "| git | 2 | 1 | 1 | 0 |",
            "| all | 3 | 1 | 2 | 1 |",
            "Of the 2 lines that need no network, 1 work: 50.0 %.",
            "| `git init` | no |",
            "| `npm i` | x | works |",
        ] {
            assert!(tables.contains(expected), "{expected}\n{tables}");
        }
    }

    #[test]
    fn the_page_of_this_repository_can_be_rewritten() {
        let page = include_str!("../../docs/daily.md");
        assert!(rewrite(page, "x\n").unwrap().contains("x\n<!-- daily:end -->"));
    }
}
