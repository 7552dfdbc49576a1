//! `toolpost undo` and `toolpost redo`: what tools have changed, taken back and made again.

use super::stored::{Reads, Stored, moment, with_store};
use crate::cli::{Flags, Undo as UndoFlags};
use crate::config::env::Environment;
use crate::output::{Printer, Tone, one_line};
use crate::runtime::undo_journal;
use crate::undo::{Item, Report, Undo, Verdict, Wish};
use serde_json::json;
use toolpost_core::{Code, ToolError, Workspace};
use toolpost_disk::Exact;

pub(crate) fn run(
    printer: &Printer,
    flags: &Flags,
    environment: Environment,
    undo: &UndoFlags,
    is_redo: bool,
) -> u8 {
    with_store(printer, flags, environment, Reads::Only, |stored| {
        take_back(printer, flags, stored, undo, is_redo)
    })
}

fn take_back(
    printer: &Printer,
    flags: &Flags,
    stored: &Stored,
    asked: &UndoFlags,
    is_redo: bool,
) -> Result<u8, ToolError> {
    let config = &stored.config;
    if config.virtual_session.is_some() {
        let message = "virtual files keep all their versions: `toolpost vfs history PATH` shows them, and `toolpost vfs show \
                       PATH --version N` an old one";
        return Err(ToolError::new(Code::ValidationError, message));
    }
    let disk = config.workspace.as_ref().map_err(ToolError::clone)?;
    for left in undo_journal(config, &stored.store, disk.root()).take_over() {
        let message = format!("note: what a command has changed could not be taken over: {}", left.message());
        printer.say(Tone::Note, &message);
    }
    let undo = Undo { store: &*stored.store, disk, policy: &config.policy, session: &config.session };
    let wish =
        Wish { what: asked.what.as_deref(), is_redo, is_partial: asked.partial, is_dry_run: asked.dry_run };
    let asks = printer.can_ask() && !flags.yes;
    let report = undo.run(&wish, |report| {
        if !asks {
            return true;
        }
        printer.page(&page(printer, report, is_redo, true));
        printer.agrees(if is_redo { "make this again?" } else { "take this back?" })
    })?;
    let is_refused = report.id.is_none() && report.conflicts().next().is_some() && !asked.dry_run;
    if printer.is_json() {
        printer.json(&as_json(&report, is_redo, asked.dry_run));
        return Ok(u8::from(is_refused));
    }
    if is_refused {
        let (count, first) = (report.conflicts().count(), report.conflicts().next());
        for (item, why) in report.conflicts() {
            printer.say(Tone::Error, &format!("conflict: {}: {why}", one_line(&item.name)));
        }
        let rest = report.items.len() - count;
        let hint = if rest > 0 { format!("; --partial does the other {rest}") } else { String::new() };
        let conflicts = if count == 1 { "a conflict".to_owned() } else { format!("{count} conflicts") };
        let message = format!("nothing was changed, because of {conflicts}{hint}");
        let error = ToolError::new(Code::StaleFile, message);
        let error = first.into_iter().fold(error, |error, (item, _)| error.with("path", item.name.as_str()));
        printer.error(&error);
        return Ok(error.code().exit_status());
    }
    if asks && report.id.is_none() && !asked.dry_run {
        printer.say(Tone::Note, "nothing was changed");
        return Ok(0);
    }
    if !asks || asked.dry_run {
        printer.page(&page(printer, &report, is_redo, asked.dry_run));
    }
    for (item, why) in report.conflicts() {
        printer.say(Tone::Note, &format!("left out: {}: {why}", one_line(&item.name)));
    }
    if report.id.is_some() && !is_redo {
        printer.say(Tone::Note, "`toolpost redo` takes this back");
    }
    Ok(0)
}

/// What is meant and what becomes of each name, for people.
fn page(printer: &Printer, report: &Report, is_redo: bool, is_to_come: bool) -> String {
    let mut page = String::new();
    let what = match (is_redo, is_to_come) {
        (false, true) => "would undo",
        (false, false) => "undone",
        (true, true) => "would redo",
        (true, false) => "redone",
    };
    for call in &report.target.calls {
        let tool = one_line(call.tool.as_deref().unwrap_or("a tool"));
        let (id, session, at) = (one_line(&call.call), one_line(&call.session), moment(call.at_ms));
        page.push_str(&printer.bold(&format!("{what}: {tool}, {at} UTC, call {id}, session {session}")));
        page.push('\n');
    }
    for item in &report.items {
        let counts = match item.verdict.is_work().then(|| item.counts()).flatten() {
            Some((added, removed)) => format!("  +{added} -{removed}"),
            None => String::new(),
        };
        page.push_str(&format!("  {:9} {}{counts}\n", word(item), one_line(&item.name)));
    }
    page
}

/// What becomes of a name, in one word.
fn word(item: &Item) -> &'static str {
    match (&item.verdict, &item.now, &item.wanted) {
        (Verdict::Nothing, ..) => "as before",
        (Verdict::Stays, ..) => "stays",
        (Verdict::Conflict(_), ..) => "conflict",
        (Verdict::Merge, ..) => "merged",
        (Verdict::Restore, _, Exact::Absent) => "removed",
        (Verdict::Restore, Exact::Absent, _) => "back",
        (Verdict::Restore, ..) => "restored",
    }
}

fn as_json(report: &Report, is_redo: bool, is_dry_run: bool) -> serde_json::Value {
    let files: Vec<serde_json::Value> = report
        .items
        .iter()
        .map(|item| {
            let mut file = json!({"name": item.name, "result": word(item)});
            if let Some((added, removed)) = item.verdict.is_work().then(|| item.counts()).flatten() {
                file["added"] = added.into();
                file["removed"] = removed.into();
            }
            if let Verdict::Conflict(why) = &item.verdict {
                file["reason"] = why.as_str().into();
            }
            file
        })
        .collect();
    let calls: Vec<serde_json::Value> = report
        .target
        .calls
        .iter()
        .map(
            |call| json!({"call": call.call, "session": call.session, "atMs": call.at_ms, "tool": call.tool}),
        )
        .collect();
    json!({
        "success": report.id.is_some() || is_dry_run,
        "redo": is_redo,
        "dryRun": is_dry_run,
        "id": report.id,
        "calls": calls,
        "files": files,
    })
}
