//! `edit-judge`: edits and patches made from real commits, with noise as models make it, against the true files.
//!
//! It knows the tools from outside alone. Each case says what it demands before the tool is asked, by reasoning about the
//! strings and the file; nothing here knows how the tool matches.

mod options;
mod random;

mod history;

mod claim;
mod draft;
mod patch_text;

mod decide;
mod kinds;

mod cases;

mod counts;
mod drive;
mod findings;
mod others;
mod ruling;

mod corpus;
mod page;
mod undecidable;

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Result, bail};

use cases::Cases;
use counts::Results;
use drive::Subject;
use findings::Findings;
use history::Change;
use options::Request;
use others::Others;
use random::Choices;
use ruling::{Ruling, rule};

/// Changes taken from each checkout.
const CHANGES: usize = 1_500;

/// Cases between two looks at the findings.
const BATCH: usize = 512;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let request = Request::parse(words)?;
    let binary = request.binary.clone().unwrap_or_else(|| root.join("target/release/toolpost"));
    let changes = history::changes(&request.repos, CHANGES, &mut Choices::new(request.seed))?;
    println!("{} changed files", changes.len());
    let scratch = root.join("target/edits");
    let mut others = if request.peers { Some(Others::start(&scratch)?) } else { None };
    let results = judge(&request, &changes, &binary, others.as_mut())?;
    let (table, goals) = (results.table(), counts::goals(&results));
    print!("{table}\n{goals}");
    if let Some(others) = &others {
        print!("\n{}", others.table());
    }
    if request.write {
        write(root, &request, &results, others.as_ref())?;
    }
    let wrong = results.total(|_, _| true).with(Ruling::Wrong);
    if wrong > 0 {
        bail!("{wrong} results are wrong");
    }
    Ok(())
}

/// Writes the parts of the page.
fn write(root: &Path, request: &Request, results: &Results, others: Option<&Others>) -> Result<()> {
    let title = format!("{} cases, seed {}.", results.total(|_, _| true).cases(), request.seed);
    let goals = counts::goals(results);
    page::replace(root, "outside", &format!("{title}\n\n```text\n{goals}```\n\n{}", results.table()))?;
    let folder = std::env::temp_dir().join(format!("toolpost-edit-corpus-{}", std::process::id()));
    corpus::check_out(&folder)?;
    let own = history::changes(&folder, CHANGES, &mut Choices::new(1));
    std::fs::remove_dir_all(&folder)?;
    page::replace(root, "undecidable", &undecidable::section(&own?, 1))?;
    if let Some(others) = others {
        page::replace(root, "outside-peers", &others.table())?;
    }
    Ok(())
}

/// Runs the cases, and writes findings while it does so.
fn judge(
    request: &Request,
    changes: &[Change],
    binary: &Path,
    mut others: Option<&mut Others>,
) -> Result<Results> {
    let mut cases = Cases::new(changes, request.seed, request.kind.as_deref());
    if cases.is_empty() {
        bail!("no kind of noise has `{}` in its name", request.kind.as_deref().unwrap_or_default());
    }
    let mut subject = Subject::new(binary)?;
    let mut findings = request.findings.as_deref().map(Findings::new).transpose()?;
    let mut results = Results::default();
    let mut done = 0;
    let mut empty = 0;
    while done < request.cases && empty < request.cases + BATCH {
        let mut trials = Vec::new();
        while trials.len() < BATCH.min(request.cases - done) && empty < request.cases + BATCH {
            match cases.next() {
                Some(trial) => trials.push(trial),
                None => empty += 1,
            }
        }
        done += trials.len();
        let deeds = subject.run(&trials)?;
        for (trial, deed) in trials.iter().zip(&deeds) {
            let ruling = rule(trial, deed);
            results.add(&trial.names, trial.form, trial.claim, ruling);
            if let Some(others) = others.as_deref_mut() {
                others.run(trial, ruling)?;
            }
            if let Some(findings) = &mut findings {
                findings.add(trial, deed, ruling)?;
            }
        }
        if let Some(findings) = &findings {
            findings.summary(&format!("{}\n{}", counts::goals(&results), results.table()))?;
        }
    }
    Ok(results)
}
