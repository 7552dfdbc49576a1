//! `toolpost undo` and `toolpost redo`: what tools have changed, taken back and made again.

use super::stored::{Reads, Stored, with_store};
use crate::calendar::moment;
use crate::cli::{Flags, Undo as UndoFlags};
use crate::config::Config;
use crate::config::env::Environment;
use crate::output::{Printer, Tone, one_line};
use crate::runtime::undo_journal;
use crate::undo::{Item, Report, Undo, Verdict, Wish};
use serde_json::json;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_core::store::{ChangeQuery, Store};
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
    let journal = undo_journal(config, &stored.store, disk.root());
    let running = journal.running();
    for left in journal.take_over() {
        let message = format!("note: what a command has changed could not be taken over: {}", left.message());
        printer.say(Tone::Note, &message);
    }
    let far = Far::new(printer);
    let undo = Undo {
        store: &*stored.store,
        disk,
        policy: &config.policy,
        session: &config.session,
        brings_back: asked.bring_back,
        progress: &|what, done, all| far.show(what, done, all),
    };
    let asks = printer.can_ask() && !flags.yes;
    let wish = Wish {
        what: asked.what.as_deref(),
        is_redo,
        is_partial: asked.partial,
        is_dry_run: asked.dry_run,
        asks,
    };
    let ran = undo.run(&wish, |report| {
        far.end();
        printer.page(&page(printer, report, is_redo, Tense::Plan));
        printer.agrees(if is_redo { "make this again?" } else { "take this back?" })
    });
    far.end();
    let report = ran.map_err(|error| with_running(error, &running))?;
    for note in notes(&report, &running) {
        printer.say(Tone::Note, &format!("note: {note}"));
    }
    let error = report.is_refused(&wish).then(|| refusal(&report, &wish));
    if printer.is_json() {
        printer.json(&as_json(&report, &wish, error.as_ref()));
        return Ok(error.map_or(0, |error| error.code().exit_status()));
    }
    if let Some(error) = error {
        printer.say(Tone::Plain, heads(printer, &report, is_redo, Tense::Plan).trim_end());
        for (item, why) in report.conflicts() {
            printer.say(Tone::Error, &format!("conflict: {}: {why}", one_line(&item.name)));
        }
        printer.error(&error);
        return Ok(error.code().exit_status());
    }
    match (report.id.is_some(), asks && !asked.dry_run) {
        (false, true) => printer.say(Tone::Note, "nothing was changed"),
        // The plan stands above.
        (true, true) => {}
        (true, false) => printer.page(&page(printer, &report, is_redo, Tense::Past)),
        (false, false) => printer.page(&page(printer, &report, is_redo, Tense::Plan)),
    }
    if report.id.is_none() && !asked.dry_run {
        return Ok(0);
    }
    for (item, why) in report.conflicts() {
        printer.say(Tone::Note, &format!("left out: {}: {why}", one_line(&item.name)));
    }
    if report.id.is_some() {
        printer.say(Tone::Note, &summary(&report, is_redo));
    }
    Ok(0)
}

/// Takes back the last change of a session that is not undone. Returns what became of which names.
pub(super) fn take_back_last(
    config: &Config,
    store: &Arc<dyn Store>,
    session: &str,
) -> Result<Vec<String>, ToolError> {
    let disk = config.workspace.as_ref().map_err(ToolError::clone)?;
    let journal = undo_journal(config, store, disk.root());
    journal.take_over();
    let query = ChangeQuery {
        workspace: disk.root().to_owned(),
        session: Some(session.to_owned()),
        is_undo: Some(false),
        is_undone: Some(false),
        is_last: true,
        ..ChangeQuery::default()
    };
    let changes = store.changes(&query)?;
    let Some(last) = changes.first() else {
        return Err(ToolError::new(Code::NoChange, "nothing in this conversation is left to be taken back"));
    };
    let undo = Undo {
        store: &**store,
        disk,
        policy: &config.policy,
        session,
        brings_back: false,
        progress: &|_, _, _| {},
    };
    let wish =
        Wish { what: Some(&last.call), is_redo: false, is_partial: false, is_dry_run: false, asks: false };
    let report = undo.run(&wish, |_| true)?;
    if report.is_refused(&wish) {
        let conflicts: Vec<String> =
            report.conflicts().map(|(item, why)| format!("{}: {why}", one_line(&item.name))).collect();
        let message = format!("{}: {}", refusal(&report, &wish).message(), conflicts.join("; "));
        return Err(ToolError::new(Code::StaleFile, message));
    }
    let work = report.items.iter().filter(|item| item.verdict.is_work());
    Ok(work.map(|item| format!("{} {}", result(item), one_line(&item.name))).collect())
}

/// What else a person should know.
fn notes(report: &Report, running: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for call in &report.target.passed {
        let tool = one_line(call.tool.as_deref().unwrap_or("a tool"));
        let (id, at) = (one_line(&call.call), moment(call.at_ms));
        notes.push(format!(
            "the later call {id} ({tool}, {at} UTC) can never be undone, because what it changed was too large to be kept"
        ));
    }
    const UNCOVERED: &str = "dependency folders, and names and links that are not UTF-8,";
    let not_recorded = report.target.calls.iter().chain(&report.target.left_out);
    for call in not_recorded.filter(|call| !call.not_undone.is_empty()) {
        let folders: Vec<String> =
            call.not_undone.iter().map(|folder| format!("`{}`", one_line(folder))).collect();
        notes.push(format!(
            "what the call {} has changed in {} stays as it is: {UNCOVERED} are not recorded",
            one_line(&call.call),
            folders.join(", ")
        ));
    }
    if report.target.deleted > 0 {
        let calls = match report.target.deleted {
            1 => "1 call".to_owned(),
            count => format!("{count} calls"),
        };
        notes.push(format!(
            "the changes of {calls} of this session were deleted (key `keep`) and cannot be undone any more"
        ));
    }
    notes.extend(still_runs(running));
    notes
}

fn still_runs(running: &[String]) -> Option<String> {
    let calls: Vec<String> = running.iter().map(|call| one_line(call)).collect();
    (!calls.is_empty()).then(|| {
        format!(
            "a command still runs (call {}): what it changes can be undone when it has ended",
            calls.join(", ")
        )
    })
}

fn with_running(error: ToolError, running: &[String]) -> ToolError {
    match still_runs(running) {
        Some(note) if error.code() == Code::NoChange => {
            ToolError::new(error.code(), format!("{}; {note}", error.message()))
        }
        _ => error,
    }
}

/// Whether something is to be done or is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    Plan,
    Past,
}

/// Shows how far a long undo is.
struct Far<'a> {
    printer: &'a Printer,
    started: Instant,
    shown: Cell<Option<Instant>>,
}

impl<'a> Far<'a> {
    fn new(printer: &'a Printer) -> Far<'a> {
        Far { printer, started: Instant::now(), shown: Cell::default() }
    }

    fn show(&self, what: &str, done: usize, all: usize) {
        const FIRST: Duration = Duration::from_millis(500);
        const NEXT: Duration = Duration::from_millis(100);
        let is_due = self.shown.get().map_or(self.started.elapsed() > FIRST, |at| at.elapsed() > NEXT);
        if is_due {
            self.shown.set(Some(Instant::now()));
            self.printer.far(&format!("{what} {done} of {}", names(all)));
        }
    }

    fn end(&self) {
        if self.shown.take().is_some() {
            self.printer.far("");
        }
    }
}

fn names(count: usize) -> String {
    if count == 1 { "1 name".to_owned() } else { format!("{count} names") }
}

/// Why nothing is done, and what can be done instead.
fn refusal(report: &Report, wish: &Wish<'_>) -> ToolError {
    let count = report.conflicts().count();
    let conflicts = if count == 1 { "a conflict".to_owned() } else { format!("{count} conflicts") };
    let was = if wish.is_dry_run { "would be" } else { "was" };
    let mut message = format!("nothing {was} changed, because of {conflicts}");
    let rest = report.items.len() - count;
    if !wish.is_partial && report.has_work() {
        message.push_str(&format!("; --partial leaves {} out and does the other {rest}", names(count)));
    }
    if let (Some(before), None, false) = (&report.before, wish.what, wish.is_redo) {
        let tool = one_line(before.tool.as_deref().unwrap_or("a tool"));
        let (call, at) = (one_line(&before.call), moment(before.at_ms));
        message
            .push_str(&format!("; `toolpost undo {call}` takes back the call before it ({tool}, {at} UTC)"));
    }
    let error = ToolError::new(Code::StaleFile, message);
    report
        .conflicts()
        .next()
        .into_iter()
        .fold(error, |error, (item, _)| error.with("path", item.name.as_str()))
}

/// What was done, in a line.
fn summary(report: &Report, is_redo: bool) -> String {
    let count = report.items.iter().filter(|item| item.verdict.is_work()).count();
    match is_redo {
        true => format!("redone: {}; `toolpost undo` takes this back", names(count)),
        false => format!("undone: {}; `toolpost redo` takes this back", names(count)),
    }
}

/// The calls that are meant, for people.
fn heads(printer: &Printer, report: &Report, is_redo: bool, tense: Tense) -> String {
    let what = match (is_redo, tense) {
        (false, Tense::Plan) => "to undo",
        (false, Tense::Past) => "undone",
        (true, Tense::Plan) => "to redo",
        (true, Tense::Past) => "redone",
    };
    let mut heads = String::new();
    for call in &report.target.calls {
        let tool = one_line(call.tool.as_deref().unwrap_or("a tool"));
        let (id, session, at) = (one_line(&call.call), one_line(&call.session), moment(call.at_ms));
        heads.push_str(&printer.bold(&format!("{what}: {tool}, {at} UTC, call {id}, session {session}")));
        heads.push('\n');
    }
    heads
}

/// What is meant and what becomes of each name, for people.
fn page(printer: &Printer, report: &Report, is_redo: bool, tense: Tense) -> String {
    let mut page = heads(printer, report, is_redo, tense);
    let is_object = |item: &Item| item.object.is_some() && item.verdict == Verdict::Stays;
    for item in report.items.iter().filter(|item| !is_object(item)) {
        let counts = match item.verdict.is_work().then(|| item.counts()).flatten() {
            Some((added, removed)) => format!("  +{added} -{removed}"),
            None => String::new(),
        };
        let word = match (result(item), tense) {
            ("restored", Tense::Plan) => "restore",
            ("removed", Tense::Plan) => "remove",
            ("merged", Tense::Plan) => "merge",
            ("back", Tense::Plan) => "bring back",
            ("back", Tense::Past) => "brought back",
            (word, _) => word,
        };
        page.push_str(&format!("  {word:12} {}{counts}\n", one_line(&item.name)));
    }
    if report.items.iter().any(is_object) {
        page.push_str("  stays        objects of git, until git itself collects them\n");
    }
    page
}

/// What becomes of a name, for programs.
fn result(item: &Item) -> &'static str {
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

fn as_json(report: &Report, wish: &Wish<'_>, error: Option<&ToolError>) -> serde_json::Value {
    let files: Vec<serde_json::Value> = report
        .items
        .iter()
        .map(|item| {
            let mut file = json!({"name": item.name, "result": result(item)});
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
        .map(|call| {
            let mut known =
                json!({"call": call.call, "session": call.session, "atMs": call.at_ms, "tool": call.tool});
            if !call.not_undone.is_empty() {
                known["notUndone"] = json!(call.not_undone);
            }
            known
        })
        .collect();
    let mut all = json!({
        "success": error.is_none(),
        "redo": wish.is_redo,
        "dryRun": wish.is_dry_run,
        "id": report.id,
        "calls": calls,
        "files": files,
    });
    if !report.target.passed.is_empty() {
        all["passed"] = report.target.passed.iter().map(|call| call.call.as_str()).collect();
    }
    if !report.target.left_out.is_empty() {
        let left_out = report.target.left_out.iter();
        all["leftOut"] =
            left_out.map(|call| json!({"call": call.call, "notUndone": call.not_undone})).collect();
    }
    if report.target.deleted > 0 {
        all["deletedCalls"] = report.target.deleted.into();
    }
    if let Some(error) = error {
        all["error"] = json!(error);
    }
    all
}
