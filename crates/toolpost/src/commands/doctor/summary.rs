//! The report on one screen: what is broken and what to do about it, then what holds in a few lines.

use super::starts::Start;
use super::{Finding, Report};
use crate::commands::stored::size;
use crate::config::{ConfigFile, FileState, ServerState};
use crate::output::{Mark, Printer, one_line};
use toolpost_process::Need;
use toolpost_tools::shell::Confinement;

/// Maximum number of lines, unless more is broken.
const MOST_LINES: usize = 24;

/// Lines for what holds, the head and the end.
const OTHER_LINES: usize = 13;

/// Maximum number of names in a line.
const MOST_NAMES: usize = 4;

pub(super) fn page(printer: &Printer, report: &Report) -> String {
    let head = format!("toolpost {} on {}", env!("CARGO_PKG_VERSION"), one_line(&report.kernel));
    let mut lines = vec![format!("{}  ({head})", printer.bold(report.verdict()))];
    lines.extend(findings(printer, report));
    lines.push(String::new());
    let rows = [
        ("workspace", workspace(report)),
        ("rights", rights(report)),
        ("configured", configured(report)),
        ("tools", tools(report)),
        ("servers", servers(report)),
        ("commands", commands(report)),
        ("data", data(report)),
        ("store", store(report)),
    ];
    lines.extend(rows.iter().map(|(name, text)| format!("  {name:11} {}", one_line(text))));
    lines.push(String::new());
    lines.push("`toolpost doctor --all` shows each part in full; `--json` is for programs".to_owned());
    lines.join("\n") + "\n"
}

/// What is broken, and then notes, as many as there is room for.
fn findings(printer: &Printer, report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut broken, mut notes) = (0, 0);
    for finding in report.findings_in_order() {
        let shown = shown(printer, finding);
        let has_room = lines.len() + shown.len() < MOST_LINES - OTHER_LINES;
        match finding.mark {
            Mark::Broken if has_room && broken == 0 => lines.extend(shown),
            Mark::Broken => broken += 1,
            _ if has_room && broken + notes == 0 => lines.extend(shown),
            _ => notes += 1,
        }
    }
    let more = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 more {one}")),
        count => Some(format!("{count} more {many}")),
    };
    let left_out =
        [more(broken, "thing that is broken", "things that are broken"), more(notes, "note", "notes")];
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    if !left_out.is_empty() {
        lines.push(format!("  … and {}", left_out.join(", and ")));
    }
    lines
}

fn shown(printer: &Printer, finding: &Finding) -> Vec<String> {
    let mut lines = vec![format!("  {} {}", printer.mark(finding.mark), one_line(&finding.what))];
    if !finding.fix.is_empty() {
        lines.push(format!("         → {}", one_line(&finding.fix)));
    }
    lines
}

/// Some names of many.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn workspace(report: &Report) -> String {
    let roots: Vec<String> = report.roots.iter().map(|root| root.path.clone()).collect();
    format!("{} ({})", some(&roots), report.config.roots_origin)
}

fn rights(report: &Report) -> String {
    let each = report.config.values.rights.iter();
    let each = each.map(|(capability, right)| format!("{} {}", capability.as_str(), right.value.as_str()));
    let rules = match report.rules.len() {
        0 => "no rules".to_owned(),
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    format!("{}; {rules}", each.collect::<Vec<_>>().join(", "))
}

fn configured(report: &Report) -> String {
    let files = report.config.layers.files.iter().filter(|file| file.state != FileState::Missing);
    let name = |file: &ConfigFile| match file.state {
        FileState::LeftOut => format!("{} (left out by --no-project-config)", file.path),
        _ => file.path.clone(),
    };
    let files: Vec<String> = files.map(name).collect();
    match files.is_empty() {
        true => "by no file; the built-in values are used".to_owned(),
        false => format!("by {}", some(&files)),
    }
}

fn tools(report: &Report) -> String {
    let offered = report.tools.iter().filter(|tool| tool.withheld.is_none()).count();
    let listed = report.tools.iter().filter(|tool| tool.is_listed).count();
    format!(
        "{offered} offered, {listed} of them listed, which cost about {} tokens in every request",
        report.total_tokens()
    )
}

fn servers(report: &Report) -> String {
    let each = report.servers.reports.iter().map(|server| {
        let start = report.starts.by_name.get(&server.name).filter(|_| server.state == ServerState::Trusted);
        let state = start.map_or_else(|| server.state.as_str().to_owned(), Start::in_short);
        format!("{} ({state})", server.name)
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { "none are described".to_owned() } else { some(&each) }
}

fn commands(report: &Report) -> String {
    let is_missing =
        |need: Need| report.sandbox.iter().any(|layer| layer.need == need && layer.state.is_err());
    let sandbox = match report.confinement() {
        Confinement::Strict => "strict",
        Confinement::None => "none",
    };
    match (is_missing(Need::Commands), is_missing(Need::Sandbox)) {
        (true, _) => "cannot be run on this machine".to_owned(),
        (false, true) => format!("sandbox {}; this machine lacks layers of it", sandbox),
        (false, false) => format!("sandbox {}; this machine has every layer of it", sandbox),
    }
}

fn data(report: &Report) -> String {
    let path = report.data.path.as_ref().map(|path| path.display().to_string());
    path.unwrap_or_else(|| "none".to_owned())
}

fn store(report: &Report) -> String {
    match &report.store {
        None => "none".to_owned(),
        Some(store) if store.path.is_some() && store.exists => {
            format!("{} ({})", store.url, size(store.bytes))
        }
        Some(store) => store.url.clone(),
    }
}
