//! A call in a line, and what it has changed below that.

use super::region::{Running, columns};
use crate::output::width::{fitted, for_terminal, width};
use crate::output::{on_terminal, one_line};
use serde_json::Value;
use toolpost_core::ToolError;
use toolpost_core::event::Told;
use toolpost_core::outcome::Metadata;

/// Arguments that say the most, in this order.
const TELLING: [&str; 12] = [
    "command",
    "cmd",
    "filePath",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "symbol",
    "file",
    "title",
    "prompt",
];
/// Maximum number of lines of a diff.
const MOST_LINES: usize = 24;

/// What a call is about, in a few words.
pub(super) fn summary(arguments: &Value) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let first = || arguments.as_object()?.values().find_map(Value::as_str);
    let text = TELLING.into_iter().find_map(text).or_else(first).unwrap_or_default();
    one_line(&text.chars().take(200).collect::<String>())
}

/// The line of a call that has ended, with its diff.
pub(super) fn finished_line(
    running: &Running,
    output: Option<&Told>,
    error: Option<&ToolError>,
    metadata: &Metadata,
    has_color: bool,
) -> String {
    let color = |code: &str, text: &str| match has_color {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let columns = columns();
    // Without the time that a person took to answer a question.
    let seconds = metadata.execution_time_ms / 1_000.0;
    let time = if seconds < 1.0 { String::new() } else { format!("  {seconds:.1} s") };
    let (tool, what) = (one_line(&running.tool), &running.what);
    let room = columns.saturating_sub(width(&tool) + width(&time) + 4).max(10);
    let what = fitted(what, room);
    match error {
        Some(error) => {
            let message = fitted(&one_line(error.message()), columns.max(24) * 2);
            let message = for_terminal(&format!("  {}: {message}", error.code()), 2);
            format!(
                "{} {} {what}{}\n{}",
                color("31", "✗"),
                color("1", &tool),
                color("2", &time),
                color("31", &message)
            )
        }
        None => {
            let head = format!("{} {} {what}{}", color("32", "✓"), color("1", &tool), color("2", &time));
            let diff = output.map(|output| diff(&output.text, columns, has_color)).unwrap_or_default();
            format!("{head}{diff}")
        }
    }
}

/// The lines of a unified diff, in colour; nothing where the text has none.
fn diff(text: &str, columns: usize, has_color: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_head = |pair: &[&str]| pair[0].starts_with("--- ") && pair[1].starts_with("+++ ");
    let Some(start) = lines.windows(2).position(is_head) else { return String::new() };
    let is_part = |line: &&&str| line.starts_with(['+', '-', ' ', '@']) || line.is_empty();
    let body: Vec<&&str> = lines[start + 2..].iter().take_while(is_part).collect();
    let mut shown = String::new();
    for line in body.iter().take(MOST_LINES) {
        let safe = fitted(&on_terminal(line), columns.saturating_sub(2).max(10));
        let code = match line.as_bytes().first() {
            Some(b'+') => "32",
            Some(b'-') => "31",
            Some(b'@') => "36",
            _ => "2",
        };
        shown.push_str("\n  ");
        match has_color {
            true => shown.push_str(&format!("\x1b[{code}m{safe}\x1b[0m")),
            false => shown.push_str(&safe),
        }
    }
    if body.len() > MOST_LINES {
        shown.push_str(&format!("\n  … {} more lines", body.len() - MOST_LINES));
    }
    shown
}
