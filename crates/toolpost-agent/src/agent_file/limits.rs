//! How far an agent may go: levels, children, turns, tokens, money and time.

use super::node::{Content, Node};
use super::reader::Reader;
use std::time::Duration;
use toolpost_core::activation::BeyondFanOut;
pub use toolpost_core::activation::Limits;

const KNOWN: [&str; 8] = ["depth", "fanOut", "beyondFanOut", "children", "turns", "tokens", "cost", "time"];

pub(super) fn read(reader: &mut Reader<'_>, node: &Node, limits: &mut Limits) {
    let Content::Map(entries) = &node.content else {
        return reader.broken(
            node.at,
            "limits",
            format!("`limits` is {}; write a mapping, such as `limits: {{ turns: 20 }}`", node.kind()),
        );
    };
    for (index, (key, value)) in entries.iter().enumerate() {
        let field = format!("limits.{}", key.text);
        let folded = super::reader::folded(&key.text);
        if entries[..index].iter().any(|(first, _)| super::reader::folded(&first.text) == folded) {
            reader.broken(
                key.at,
                &field,
                format!("`{}` stands twice in `limits`; keep one of them", key.text),
            );
        }
        match folded.as_str() {
            "depth" => lower(&mut limits.depth, whole(reader, value, &field, 0, "depth: 3")),
            "fanout" => lower(&mut limits.fan_out, whole(reader, value, &field, 0, "fanOut: 8")),
            "beyondfanout" => {
                lower(&mut limits.beyond_fan_out, beyond_fan_out(reader, value, &field));
            }
            "children" => lower(&mut limits.children, whole(reader, value, &field, 0, "children: 20")),
            "turns" => lower(&mut limits.turns, whole(reader, value, &field, 1, "turns: 20")),
            "tokens" => lower(&mut limits.tokens, tokens(reader, value, &field)),
            "cost" => lower(&mut limits.cost, cost(reader, value, &field)),
            "time" => lower(&mut limits.time_ms, time(reader, value, &field)),
            _ => reader.misspelt_key(key, &field, &KNOWN, "`limits`"),
        }
    }
}

/// Sets a limit. Of two that a file sets by different keys the lower one holds.
pub(super) fn lower<T: PartialOrd>(limit: &mut Option<T>, set: Option<T>) {
    if set.as_ref().is_some_and(|set| limit.as_ref().is_none_or(|limit| set < limit)) {
        *limit = set;
    }
}

/// A whole number of at least `least`.
pub(super) fn whole(
    reader: &mut Reader<'_>,
    node: &Node,
    field: &str,
    least: u64,
    example: &str,
) -> Option<u64> {
    let number = match &node.content {
        Content::Number(number) => number.as_u64().filter(|number| *number >= least),
        _ => None,
    };
    if number.is_none() {
        let is = shown(node);
        reader.broken(
            node.at,
            field,
            format!("`{field}` is {is}; write a whole number from {least}, such as `{example}`"),
        );
    }
    number
}

/// What becomes of a child beyond `fanOut`.
fn beyond_fan_out(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<BeyondFanOut> {
    match node.text().map(str::trim) {
        Some("wait") => Some(BeyondFanOut::Wait),
        Some("refuse") => Some(BeyondFanOut::Refuse),
        other => {
            let is = other.map_or_else(
                || shown(node),
                |text| format!("`{}`", text.chars().take(40).collect::<String>()),
            );
            let message =
                format!("`{field}` is {is}; write `wait` or `refuse`, such as `beyondFanOut: refuse`");
            reader.broken(node.at, field, message);
            None
        }
    }
}

/// A number, or one with `k` or `M` behind it.
fn tokens(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<u64> {
    let read = match &node.content {
        Content::Number(number) => number.as_u64(),
        Content::Text(text) => {
            let text = text.trim().replace('_', "");
            let (digits, scale) = match text.as_bytes().last() {
                Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
                Some(b'm' | b'M') => (&text[..text.len() - 1], 1_000_000),
                _ => (text.as_str(), 1),
            };
            digits.parse::<u64>().ok().and_then(|number| number.checked_mul(scale))
        }
        _ => None,
    };
    let read = read.filter(|number| *number > 0);
    if read.is_none() {
        let is = shown(node);
        reader.broken(
            node.at,
            field,
            format!("`{field}` is {is}; write a number of tokens, such as `tokens: 200k`"),
        );
    }
    read
}

/// US dollars, as a number or with a `$`.
fn cost(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<f64> {
    let read = match &node.content {
        Content::Number(number) => number.as_f64(),
        Content::Text(text) => {
            let text = text.trim().trim_start_matches('$').trim_end_matches("USD").trim();
            text.parse::<f64>().ok()
        }
        _ => None,
    };
    let read = read.filter(|cost| cost.is_finite() && *cost >= 0.0);
    if read.is_none() {
        let is = shown(node);
        reader.broken(node.at, field, format!("`{field}` is {is}; write US dollars, such as `cost: 0.50`"));
    }
    read
}

/// A time with its unit.
fn time(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<u64> {
    let read = node.text().and_then(duration);
    match read {
        Some(time) => u64::try_from(time.as_millis()).ok(),
        None => {
            let is = shown(node);
            reader.broken(
                node.at,
                field,
                format!("`{field}` is {is}; write a time with its unit, such as `time: 30m`"),
            );
            None
        }
    }
}

/// `500ms`, `90s`, `30m` or `2h`.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let seconds = match text[digits.len()..].trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    let number: f64 = digits.trim().parse().ok()?;
    let seconds = number * seconds;
    (seconds > 0.0 && seconds <= 30.0 * 86_400.0).then(|| Duration::from_secs_f64(seconds))
}

/// A value in a message: a short one as it is, others by their kind.
pub(super) fn shown(node: &Node) -> String {
    match &node.content {
        Content::Number(number) => number.to_string(),
        Content::Boolean(is) => is.to_string(),
        _ => node.kind().to_owned(),
    }
}
