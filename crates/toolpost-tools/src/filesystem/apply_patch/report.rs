//! What a patch did, file by file, and as one diff.

use super::plan::{Plan, Planned};
use crate::filesystem::diagnosed::NewError;
use crate::filesystem::diff::Diff;
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::Step;
use crate::filesystem::versions::MergedData;
use crate::one_line;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use toolpost_core::code::TextChange;
use toolpost_core::text::Redactor;
use toolpost_core::{Output, ToolError};

/// Bytes of the diff that a program gets; the text is bounded by the output budget.
const MOST_DIFF: usize = 256 * 1024;
/// Bytes of diffs after which no more are shown.
const MOST_SHOWN: usize = 4 << 20;
/// Time for computing diffs; what is not done by then is told in larger pieces.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// Every file that changed, in the order of the patch.
    files: Vec<FileData>,
    /// The changes as a unified diff.
    diff: String,
    /// Whether the diff was cut because it is too long.
    #[serde(skip_serializing_if = "is_false")]
    diff_cut: bool,
    /// What the patch asks for and was not done: modes of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The errors that the change has brought, as language servers find them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) new_errors: Vec<NewError>,
    #[serde(skip)]
    pub(super) changes: Vec<TextChange>,
}

impl Data {
    /// The files that are there after the patch, by their new names.
    pub(super) fn remaining(&self) -> Vec<String> {
        let there = self.files.iter().filter(|file| file.kind != "delete");
        there.map(|file| file.moved_to.clone().unwrap_or_else(|| file.path.clone())).collect()
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One file that changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData {
    /// Its name, before it was moved.
    path: String,
    /// `add`, `modify`, `delete` or `move`.
    kind: String,
    /// Its new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
    /// Lines that came.
    added: usize,
    /// Lines that went.
    removed: usize,
    /// What was overlooked to find the places, where they are not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    /// What was changed since the session has read the file, where the patch was merged with that.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergedData>,
}

/// Tells what a plan changes.
pub(super) fn report(effort: &Effort, plan: &Plan, redactor: &Redactor) -> Result<Output<Data>, ToolError> {
    let deadline = Instant::now() + DIFF_TIME;
    let moved: HashSet<&str> =
        plan.files.iter().filter_map(|file| moved_from(plan, file)).map(|from| from.name.as_str()).collect();
    let (mut files, mut text, mut diff) = (Vec::new(), String::new(), String::new());
    let mut diffs_since = String::new();
    for file in &plan.files {
        let is_moved_away = file.after.is_none() && moved.contains(file.name.as_str());
        if !file.is_changed() || is_moved_away {
            continue;
        }
        effort.check()?;
        let (data, part) = one(plan, file, redactor, deadline);
        text.push_str(&line(&data));
        if let Some(since) = &file.since {
            text.push_str(&format!("  ({})\n", since.merged()));
            diffs_since.push_str(&format!("changed since it was read:\n{}", since.diff.shown()));
        }
        files.push(data);
        // What is left out of the text as well is not shown anywhere, only counted.
        if diff.len() <= MOST_SHOWN {
            diff.push_str(&part);
        }
    }
    for note in &plan.notes {
        text.push_str(&format!("({note})\n"));
    }
    let title = match files.as_slice() {
        [file] => file.path.clone(),
        files => format!("{} files", files.len()),
    };
    let text = format!("{text}\n{diff}{diffs_since}");
    let diff_cut = diff.len() > MOST_DIFF;
    if diff_cut {
        let end = (0..=MOST_DIFF).rev().find(|at| diff.is_char_boundary(*at)).unwrap_or(0);
        diff.truncate(end);
    }
    let notes = plan.notes.clone();
    let data = Data { files, diff, diff_cut, notes, new_errors: Vec::new(), changes: Vec::new() };
    Ok(Output::new(title, text, data))
}

/// The file that was moved here and is not where it was any more.
fn moved_from<'a>(plan: &'a Plan, file: &Planned) -> Option<&'a Planned> {
    plan.get(file.moved_from.as_deref()?).filter(|from| from.before.is_some() && from.after.is_none())
}

fn one(plan: &Plan, file: &Planned, redactor: &Redactor, deadline: Instant) -> (FileData, String) {
    let from = moved_from(plan, file);
    let before = from.map_or(&file.before, |from| &from.before);
    let (kind, old, new) = match (before, &file.after) {
        _ if from.is_some() => ("move", from.map(|from| from.name.as_str()), Some(file.name.as_str())),
        (None, _) => ("add", None, Some(file.name.as_str())),
        (_, None) => ("delete", Some(file.name.as_str()), None),
        _ => ("modify", Some(file.name.as_str()), Some(file.name.as_str())),
    };
    let diff = difference(before.as_deref(), file.after.as_deref(), [old, new], redactor, deadline);
    let data = FileData {
        path: old.or(new).unwrap_or_default().to_owned(),
        kind: kind.to_owned(),
        moved_to: from.map(|_| file.name.clone()),
        added: diff.added,
        removed: diff.removed,
        step: file.step.filter(|step| *step > Step::LineEndings).map(|step| step.word().to_owned()),
        merged: file.since.as_ref().map(MergedData::of),
    };
    (data, diff.text)
}

fn line(data: &FileData) -> String {
    let mark = match data.kind.as_str() {
        "add" => 'A',
        "delete" => 'D',
        "move" => 'R',
        _ => 'M',
    };
    let to = data.moved_to.as_ref().map_or_else(String::new, |to| format!(" → {}", one_line(to)));
    let step = data.step.as_ref().map_or_else(String::new, |step| format!(" (found by: {step})"));
    format!("{mark} {}{to} +{} −{}{step}\n", one_line(&data.path), data.added, data.removed)
}

fn difference(
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    names: [Option<&str>; 2],
    redactor: &Redactor,
    deadline: Instant,
) -> Diff {
    let [old, new] = Diff::sides(names);
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if memchr::memchr(0, before).is_some() || memchr::memchr(0, after).is_some() {
        return Diff { text: format!("Binary files {old} and {new} differ\n"), ..Diff::default() };
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let (before, after) = (redactor.redact_lines(&before), redactor.redact_lines(&after));
    let diff = Diff::whole(names, &before, &after, deadline);
    match diff.text.is_empty() {
        true => Diff { text: format!("--- {old}\n+++ {new}\n"), ..diff },
        false => diff,
    }
}
