//! What a tool says to those who follow it: its level, its span, no secrets, and nothing where nobody follows.

use crate::stage::{Stage, any, said, spec};
use serde_json::json;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use toolpost_core::Call;
use toolpost_core::host::{Ids, Redactor};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber, span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Keeps lines as `LEVEL target [fields of the span] message`.
#[derive(Clone)]
struct Kept {
    most: Level,
    lines: Arc<Mutex<Vec<String>>>,
}

struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.0.push_str(&format!("{value:?}")),
            name => self.0.push_str(&format!("{name}={value:?} ")),
        }
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Kept {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.is_span() || *metadata.level() <= self.most
    }

    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, ctx: Context<'_, S>) {
        let mut words = Words(String::new());
        attributes.record(&mut words);
        ctx.span(id).unwrap().extensions_mut().insert(words);
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        let span = ctx.event_scope(event).and_then(|mut scope| scope.next());
        let around =
            span.map_or_else(String::new, |span| span.extensions().get::<Words>().unwrap().0.clone());
        let metadata = event.metadata();
        let line = format!("{} {} [{}] {}", metadata.level(), metadata.target(), around.trim_end(), words.0);
        self.lines.lock().unwrap().push(line);
    }
}

/// Something whose words are counted when they are made.
struct Counted<'a>(&'a AtomicUsize);

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fetch_add(1, Ordering::Relaxed);
        f.write_str("counted")
    }
}

/// What is kept of a call of a tool that says something at each level.
async fn lines(most: Option<Level>) -> (Vec<String>, usize) {
    let made = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&made);
    let stage = Stage::new().tool(any(spec("talker"), move |ctx, _| {
        let made = Arc::clone(&counter);
        async move {
            let log = ctx.log();
            log.debug(Counted(&made));
            log.info("the key is sk-0123456789abcdef");
            log.warn(format_args!("{} left", 3));
            log.error("gone");
            said("")
        }
    }));
    let ids = Ids { session: "s1".to_owned(), agent: Some("clerk".to_owned()), ..Ids::default() };
    let ctx = stage.ctx().ids(ids).redactor(Redactor::new([("API_KEY", "sk-0123456789abcdef")])).build();
    let kept = Kept { most: most.unwrap_or(Level::ERROR), lines: Arc::default() };
    let call = Call::new("talker", json!({})).id("c1");
    let guard =
        most.map(|_| tracing::subscriber::set_default(tracing_subscriber::registry().with(kept.clone())));
    stage.executor().run(&ctx, call).await;
    drop(guard);
    let lines = kept.lines.lock().unwrap().clone();
    (lines, made.load(Ordering::Relaxed))
}

#[tokio::test]
async fn lines_stand_in_the_span_of_their_call_without_secrets() {
    let span = "[session=\"s1\" agent=\"clerk\" call=\"c1\" tool=\"talker\"]";
    let said = |line: &&String| line.contains("toolpost::tool");
    let (all, _) = lines(Some(Level::DEBUG)).await;
    let expected = [
        format!("DEBUG toolpost::tool {span} counted"),
        format!("INFO toolpost::tool {span} the key is [redacted:API_KEY]"),
        format!("WARN toolpost::tool {span} 3 left"),
        format!("ERROR toolpost::tool {span} gone"),
    ];
    assert_eq!(all.iter().filter(said).collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    let happened = format!("INFO toolpost::event {span} talker succeeded after ");
    assert!(all.iter().any(|line| line.starts_with(&happened)), "{all:?}");
    let (few, _) = lines(Some(Level::WARN)).await;
    assert_eq!(few.iter().filter(said).collect::<Vec<_>>(), expected[2..].iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_line_that_nobody_follows_is_not_made() {
    assert_eq!(lines(None).await, (Vec::new(), 0));
    assert_eq!(lines(Some(Level::INFO)).await.1, 0);
    assert_eq!(lines(Some(Level::DEBUG)).await.1, 1);
}
