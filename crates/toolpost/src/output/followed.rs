//! The log of what happens, on standard error, for those who ask for it: `-v`, `-vv` and `TOOLPOST_LOG`.
//!
//! Each line has its time, its level, and the session, agent and call that it belongs to. Secrets are taken out, and a line
//! obeys nothing and stays one line. Without the flag and the variable nothing is installed.

use crate::calendar::{moment, now_ms};
use serde_json::{Map, Value};
use std::fmt;
use std::io::Write;
use std::sync::{PoisonError, RwLock};
use toolpost_core::host::Redactor;
use toolpost_core::text::{nearest, shown};
use toolpost_core::{Code, ToolError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber, span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// What is taken out of each line. The secrets of the environment are known before those of the configuration.
static SECRETS: RwLock<Option<Redactor>> = RwLock::new(None);

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Begins the log, if one is asked for. `verbosity` is how often the flag was given; it comes before the variable.
pub(crate) fn begin(
    verbosity: u8,
    variable: Option<&str>,
    is_json: bool,
    secrets: Redactor,
) -> Result<(), ToolError> {
    let filter = match (verbosity, variable) {
        (0, None) => return Ok(()),
        (0, Some(text)) => Filter::read(text)?,
        (1, _) => Filter::of(LevelFilter::INFO),
        (2, _) => Filter::of(LevelFilter::DEBUG),
        _ => Filter::of(LevelFilter::TRACE),
    };
    without(secrets);
    let subscriber = tracing_subscriber::registry().with(Lines { filter, is_json });
    // A program that embeds this one may have a log of its own, which stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Takes these secrets out of every line from now on.
pub(crate) fn without(secrets: Redactor) {
    *SECRETS.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
}

fn redacted(text: &str) -> String {
    match &*SECRETS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(secrets) => secrets.redact(text).into_owned(),
        None => text.to_owned(),
    }
}

/// Which lines are shown.
#[derive(Debug, PartialEq)]
struct Filter {
    /// Of our own parts.
    level: LevelFilter,
    /// Of parts that are named; the longest name that fits holds.
    parts: Vec<(String, LevelFilter)>,
}

impl Filter {
    fn of(level: LevelFilter) -> Filter {
        Filter { level, parts: Vec::new() }
    }

    /// `LEVEL`, or several of `LEVEL` and `PART=LEVEL`, with commas between them.
    fn read(text: &str) -> Result<Filter, ToolError> {
        let mut filter = Filter::of(LevelFilter::OFF);
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            match one.split_once('=') {
                Some((part, level)) => filter.parts.push((part.trim().to_owned(), level_of(level.trim())?)),
                None => filter.level = level_of(one)?,
            }
        }
        filter.parts.sort_by_key(|(part, _)| std::cmp::Reverse(part.len()));
        Ok(filter)
    }

    fn shows(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level_for(metadata.target())
    }

    fn level_for(&self, target: &str) -> LevelFilter {
        let fits = |part: &str| {
            let rest = target.strip_prefix(part);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::") || rest.starts_with('_'))
        };
        match self.parts.iter().find(|(part, _)| fits(part)) {
            Some((_, level)) => *level,
            None if fits_us(target) => self.level,
            None => LevelFilter::OFF,
        }
    }

    fn highest(&self) -> LevelFilter {
        self.parts.iter().map(|(_, level)| *level).fold(self.level, LevelFilter::max)
    }
}

/// Whether a part is one of ours: those of libraries are shown only where they are named.
fn fits_us(target: &str) -> bool {
    target.starts_with("toolpost")
}

fn level_of(word: &str) -> Result<LevelFilter, ToolError> {
    let known = LEVELS.iter().position(|level| level.eq_ignore_ascii_case(word));
    match known {
        Some(0) => Ok(LevelFilter::OFF),
        Some(1) => Ok(LevelFilter::ERROR),
        Some(2) => Ok(LevelFilter::WARN),
        Some(3) => Ok(LevelFilter::INFO),
        Some(4) => Ok(LevelFilter::DEBUG),
        Some(_) => Ok(LevelFilter::TRACE),
        None => {
            let near = nearest(word, LEVELS.iter().copied(), 1);
            let near = near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!(
                "TOOLPOST_LOG has `{}`, which is no level; write {}, or PART=LEVEL{near}",
                super::one_line(word),
                LEVELS.join(", ")
            );
            Err(ToolError::new(Code::ValidationError, message))
        }
    }
}

/// Writes the lines.
struct Lines {
    filter: Filter,
    is_json: bool,
}

/// What a span says of the lines within it, in order.
struct Said(Map<String, Value>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Lines {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // A span is needed by the lines within it, however few of them are shown.
        (metadata.is_span() && fits_us(metadata.target())) || self.filter.shows(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        match self.filter.highest() {
            LevelFilter::OFF => Some(LevelFilter::OFF),
            level => Some(level.max(LevelFilter::INFO)),
        }
    }

    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = ctx.span(id) {
            span.extensions_mut().insert(Said(fields.named));
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        if !self.filter.shows(event.metadata()) {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut around = Map::new();
        for span in ctx.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(Said(said)) = span.extensions().get::<Said>() {
                // What is further in is more exact.
                around.extend(said.clone());
            }
        }
        let line = match self.is_json {
            true => json_line(event.metadata(), around, fields),
            false => plain_line(event.metadata(), &around, &fields),
        };
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

fn plain_line(metadata: &Metadata<'_>, around: &Map<String, Value>, fields: &Fields) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = |all: &Map<String, Value>| -> String {
        all.iter().map(|(name, value)| format!(" {name}={}", plain(value))).collect()
    };
    let text = format!(
        "{} {:5}{} {}: {}{}",
        moment(now_ms()),
        metadata.level().as_str(),
        pairs(around),
        metadata.target(),
        fields.message,
        pairs(&fields.named)
    );
    harmless(&redacted(&text)) + "\n"
}

fn json_line(metadata: &Metadata<'_>, around: Map<String, Value>, fields: Fields) -> String {
    let mut line = Map::new();
    line.insert("atMs".to_owned(), now_ms().into());
    line.insert("level".to_owned(), metadata.level().as_str().to_ascii_lowercase().into());
    line.insert("target".to_owned(), metadata.target().into());
    line.extend(around);
    line.insert("message".to_owned(), fields.message.into());
    line.extend(fields.named);
    let without = |value: Value| match value {
        Value::String(text) => redacted(&text).into(),
        other => other,
    };
    let line: Map<String, Value> = line.into_iter().map(|(name, value)| (name, without(value))).collect();
    super::harmless_json(&Value::Object(line).to_string()).into_owned() + "\n"
}

/// One line that a terminal shows and does not obey.
fn harmless(text: &str) -> String {
    let one = text.replace('\n', "␊").replace('\t', " ");
    shown(&one, |hidden, shown| shown.extend(hidden.escape_unicode())).into_owned()
}

/// The fields of a span or a line.
#[derive(Default)]
struct Fields {
    message: String,
    named: Map<String, Value>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("message", value) => self.message = value.to_string(),
            (name, value) => {
                self.named.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_hold_for_us_and_for_parts_that_are_named() {
        let check = |text: &str, target: &str, expected: LevelFilter| {
            assert_eq!(Filter::read(text).unwrap().level_for(target), expected, "{text}: {target}");
        };
        check("warn", "toolpost::event", LevelFilter::WARN);
        check("warn", "toolpost_disk::lock", LevelFilter::WARN);
        check("warn", "hyper::client", LevelFilter::OFF);
        check("INFO, hyper=debug", "hyper::client", LevelFilter::DEBUG);
        check("info,toolpost_disk=trace", "toolpost_disk::lock", LevelFilter::TRACE);
        check("info,toolpost_disk=trace", "toolpost::event", LevelFilter::INFO);
        check("hyper=debug", "toolpost::event", LevelFilter::OFF);
        check("trace,toolpost::event=off", "toolpost::event", LevelFilter::OFF);
        let wrong = Filter::read("inof").unwrap_err();
        assert!(
            wrong.message().contains("`inof`") && wrong.message().contains("did you mean `info`"),
            "{wrong}"
        );
    }

    #[test]
    fn a_line_stays_one_and_is_not_obeyed() {
        assert_eq!(harmless("a\nb\x1b[2Jc\u{202e}"), "a␊b\\u{1b}[2Jc\\u{202e}");
    }
}
