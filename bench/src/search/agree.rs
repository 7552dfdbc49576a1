//! Whether both sides find the same, before anybody is timed.

use super::case::{Case, Kind, Shown};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Compares what two commands find; a sentence on it. Fails where they do not agree.
pub(super) fn check(case: &Case, theirs: &mut Command, ours: &mut Command) -> Result<String> {
    let theirs = text(theirs, &[0, 1])?;
    let outcome: Value = serde_json::from_str(&text(ours, &[0])?)?;
    let data = outcome.get("data").context("our answer has no data")?;
    let files = data["files"].as_array().context("our answer has no files")?;
    if case.kind == Kind::Names {
        let (their_count, our_count) = (theirs.lines().count(), files.len() as u64 + number(data, "leftOut"));
        ensure!(
            their_count as u64 == our_count + number(data, "heldBack"),
            "fd finds {their_count} files, we find {our_count}"
        );
        return Ok(format!("Both find {our_count} files."));
    }
    let counted = theirs.lines().map(|line| {
        let (name, count) = line.rsplit_once(':').context("rg gave no count")?;
        Ok((name.to_owned(), count.parse()?))
    });
    let counted: BTreeMap<String, u64> = counted.collect::<Result<_>>()?;
    for file in files {
        let name = file["path"].as_str().context("one of our files has no path")?;
        let (their_count, our_count) = (counted.get(name).copied(), number(file, "matches"));
        ensure!(their_count == Some(our_count), "`{name}`: rg counts {their_count:?}, we {our_count}");
    }
    let lines: u64 = counted.values().sum();
    let held_back = number(data, "heldBack");
    if data["truncated"] == Value::Bool(true) {
        return Ok(format!(
            "rg finds {lines} lines in {} files; the newest {}, which our answer has room for, are the same.",
            counted.len(),
            files.len()
        ));
    }
    let missing = counted.len() - files.len();
    if missing as u64 > held_back {
        bail!("rg finds {} files, we find {} and hold back {held_back}", counted.len(), files.len());
    }
    Ok(format!(
        "Both find {} files; of the {held_back} that ours holds back, rg finds {missing}.",
        files.len()
    ))
}

/// The arguments that `check` needs.
pub(super) fn shown() -> Shown {
    Shown::Counts
}

fn text(command: &mut Command, codes: &[i32]) -> Result<String> {
    let output = command.stdout(std::process::Stdio::piped()).output()?;
    ensure!(
        output.status.code().is_some_and(|code| codes.contains(&code)),
        "{command:?} ended with {}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}
