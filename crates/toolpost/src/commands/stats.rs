//! `toolpost stats`: the calls of each tool, counted.

use super::stored::{Reads, Stored, nearest_to, size, with_store};
use crate::cli::{Flags, Stats, Which};
use crate::config::env::Environment;
use crate::output::{Printer, Tone, on_terminal};
use serde_json::json;
use toolpost_core::ToolError;
use toolpost_core::store::{EventQuery, ToolStats};

/// Characters of the longest bar.
const BAR: usize = 24;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, stats: &Stats) -> u8 {
    with_store(printer, flags, environment, Reads::Only, |stored| {
        let mut tools = stored.store.stats(&stored.query(&stats.which)?)?;
        tools.sort_by(|one, other| other.calls.cmp(&one.calls).then_with(|| one.tool.cmp(&other.tool)));
        if printer.is_json() {
            printer.json(&json!({ "tools": tools }));
            return Ok(0);
        }
        match tools.is_empty() {
            true => printer.say(Tone::Note, &nothing(stored, &stats.which)?),
            false => printer.page(&page(printer, &tools)),
        }
        Ok(0)
    })
}

/// What was asked for, and that there is none of it.
fn nothing(stored: &Stored, which: &Which) -> Result<String, ToolError> {
    let asked = stored.asked_for(which);
    let asked = if asked.is_empty() { String::new() } else { format!(" {}", asked.join(" ")) };
    let hint = match &which.tool {
        Some(tool) => {
            let tools = stored.store.stats(&EventQuery::default())?;
            nearest_to(tool, tools.iter().map(|one| one.tool.as_str()).filter(|known| *known != tool))
        }
        None => None,
    };
    let hint = hint.or(stored.nearest_session()?).map(|hint| format!("; {hint}")).unwrap_or_default();
    Ok(format!("the log of {} has no call{asked} that has ended{hint}", stored.url()))
}

fn page(printer: &Printer, tools: &[ToolStats]) -> String {
    let width = tools.iter().map(|one| on_terminal(&one.tool).chars().count()).max().unwrap_or(0).max(4);
    let most = tools.iter().map(|one| one.calls).max().unwrap_or(1).max(1);
    let head = format!(
        "{:width$}  {:>7}  {:>7}  {:>10}  {:>10}  {:>10}  {:>9}",
        "tool", "calls", "failed", "p50", "p95", "text", "tokens"
    );
    let mut page = format!("{}\n", printer.bold(&head));
    for one in tools {
        let failed: u64 = one.failures.values().sum();
        // In eighths of a character, so that a small one shows too.
        let eighths = (one.calls * (BAR as u64) * 8).div_ceil(most);
        let bar = "█".repeat((eighths / 8) as usize)
            + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][(eighths % 8) as usize];
        page.push_str(&format!(
            "{:width$}  {:>7}  {failed:>7}  {:>10}  {:>10}  {:>10}  {:>9}  {bar}\n",
            on_terminal(&one.tool),
            one.calls,
            time(one.p50_ms),
            time(one.p95_ms),
            size(one.bytes),
            one.tokens,
        ));
    }
    let failures = tools.iter().flat_map(|one| one.failures.iter().map(move |failure| (one, failure)));
    for (one, (code, count)) in failures {
        page.push_str(&format!("  {} failed with {code}: {count}\n", on_terminal(&one.tool)));
    }
    page
}

fn time(ms: f64) -> String {
    match ms {
        ms if ms < 1_000.0 => format!("{ms:.1} ms"),
        ms => format!("{:.1} s", ms / 1_000.0),
    }
}
