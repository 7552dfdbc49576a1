//! `recorded`: replays the edits of recorded coding sessions, each on the file as it was then.
//!
//! What landed there must land here with the same bytes. What failed there may land here only as the model's own next
//! attempt did. It shares no code with the tools. What it reads belongs to others and is written nowhere but to the
//! folder of `--findings`.

mod calls;
mod history;
mod page;
mod replay;
mod tally;
mod verdict;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use calls::Edit;
use history::Attempt;
use replay::Replay;
use tally::Tally;
use verdict::Verdict;

/// What a run does.
#[derive(Default)]
struct Request {
    /// One file of calls for each repository, as `recorded-sessions` lists them.
    calls: Vec<PathBuf>,
    /// The `toolpost` that is judged; otherwise the one of the release build.
    binary: Option<PathBuf>,
    /// Where what did not land is written.
    findings: Option<PathBuf>,
    /// The section of `docs/edits.md` is written.
    write: bool,
}

impl Request {
    fn parse(words: &[&str]) -> Result<Request> {
        let mut request = Request::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
            match *word {
                "--calls" => request.calls.push(value()?.into()),
                "--binary" => request.binary = Some(value()?.into()),
                "--findings" => request.findings = Some(value()?.into()),
                "--write" => request.write = true,
                _ => bail!("unknown argument `{word}` of recorded"),
            }
        }
        if request.calls.is_empty() {
            bail!("`--calls FILE` is missing: calls of recorded sessions as lines of JSON");
        }
        Ok(request)
    }
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let request = Request::parse(words)?;
    let binary = request.binary.clone().unwrap_or_else(|| root.join("target/release/toolpost"));
    let mut tallies = Vec::new();
    for file in &request.calls {
        let name = file.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let attempts = history::attempts(calls::read(file)?);
        println!("{name}: {} edits", attempts.len());
        tallies.push((name, judge(&request, &binary, &attempts)?));
    }
    let section = page::section(&tallies);
    print!("{section}");
    if request.write {
        page::write(root, &section)?;
    }
    let wrong: usize = tallies.iter().map(|(_, tally)| tally.wrong()).sum();
    if wrong > 0 {
        bail!("{wrong} edits did something else than in the session");
    }
    Ok(())
}

fn judge(request: &Request, binary: &Path, attempts: &[Attempt]) -> Result<Tally> {
    let mut replay = Replay::new(binary)?;
    let mut tally = Tally::default();
    for attempt in attempts {
        let deed = match &attempt.file {
            Some(file) if attempt.is_asked() => Some(replay.run(&attempt.edit, file)?),
            _ => None,
        };
        let verdict = verdict::judge(attempt, deed.as_ref());
        if let (Some(folder), Some(deed), true) = (&request.findings, &deed, verdict.is_worth_a_look()) {
            keep(folder, attempt, deed, verdict)?;
        }
        tally.add(attempt, deed.as_ref(), verdict);
    }
    Ok(tally)
}

/// Writes one case to a file, for a person.
fn keep(folder: &Path, attempt: &Attempt, deed: &replay::Deed, verdict: Verdict) -> Result<()> {
    let Edit { id, old, new, replace_all, .. } = &attempt.edit;
    let value = json!({
        "verdict": format!("{verdict:?}"),
        "failedThere": attempt.failure.map(|failure| format!("{failure:?}")),
        "message": deed.message,
        "oldString": old,
        "newString": new,
        "replaceAll": replace_all,
        "before": attempt.file,
        "later": attempt.later,
        "after": deed.file,
    });
    let folder = folder.join(format!("{verdict:?}"));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("{id}.json")), serde_json::to_string_pretty(&value)?)?;
    Ok(())
}

#[cfg(test)]
mod tests;
