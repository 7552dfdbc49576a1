//! The log: in order, without gaps, and findable.

use crate::{Fresh, by, event, on_every_store, on_shared_stores, warning};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::event::{EventKind, Told};
use toolpost_core::outcome::Metadata;
use toolpost_core::store::{By, EventQuery, FileChange, Logged, OutcomeFilter, Retention, Store};
use toolpost_core::{Code, Event, ToolError};

on_every_store!(
    events_get_their_places,
    queries_find_what_they_ask_for,
    words_are_found,
    statistics_count_calls,
    what_is_old_goes,
    what_is_old_goes_once_a_day,
    a_clock_that_is_ahead_once_deletes_nothing,
    strange_texts_come_back_as_they_were,
    a_slow_clock_makes_no_session_older,
    events_of_a_call_are_found_by_its_tool,
    calls_are_found_by_their_endings,
    virtual_files_do_not_empty_the_log,
    a_growing_log_is_asked_like_a_list,
);
on_shared_stores!(one_opening_sees_what_the_other_writes, two_writers_leave_no_gap);

fn places(events: &[Logged]) -> Vec<(u64, String, u64)> {
    events.iter().map(|one| (one.position, one.event.session.clone(), one.event.sequence)).collect()
}

fn events_get_their_places(fresh: &Fresh) {
    let store = fresh.open();
    store.append(&[warning("a", 1, "one"), warning("b", 2, "two"), warning("a", 3, "three")]).unwrap();
    store.append(&[]).unwrap();
    store.append(&[warning("b", 4, "four")]).unwrap();
    let all = store.events(&EventQuery::default()).unwrap();
    let expected = [(1, "a", 1), (2, "b", 1), (3, "a", 2), (4, "b", 2)];
    assert_eq!(places(&all), expected.map(|(at, session, sequence)| (at, session.to_owned(), sequence)));
    assert_eq!(store.last_position().unwrap(), 4);
    assert_eq!(store.wait(3, Duration::ZERO).unwrap(), 4);
    let sessions = store.sessions().unwrap();
    let told: Vec<_> =
        sessions.iter().map(|one| (one.session.as_str(), one.events, one.first_ms, one.last_ms)).collect();
    assert_eq!(told, [("b", 2, 2, 4), ("a", 2, 1, 3)]);
}

fn finished(session: &str, at_ms: u64, tool: &str, error: Option<Code>) -> Arc<Event> {
    let metadata = Metadata { execution_time_ms: at_ms as f64, ..Metadata::default() };
    let output = error.is_none().then(|| Told {
        title: tool.to_owned(),
        text: format!("the {tool} has read everything"),
        left_out: 0,
        attachments: Vec::new(),
    });
    let error = error.map(|code| ToolError::new(code, "it did not work out"));
    event(session, at_ms, EventKind::CallFinished { tool: tool.to_owned(), output, error, metadata })
}

fn some_calls(store: &dyn Store) {
    let mut by_agent = (*finished("s2", 40, "grep", None)).clone();
    by_agent.agent = Some("scout".to_owned());
    let calls = [
        finished("s1", 10, "read", None),
        finished("s1", 20, "read", Some(Code::FileNotFound)),
        finished("s2", 30, "bash", Some(Code::Timeout)),
        Arc::new(by_agent),
        finished("s2", 50, "read", None),
    ];
    store.append(&calls).unwrap();
}

fn queries_find_what_they_ask_for(fresh: &Fresh) {
    let store = fresh.open();
    some_calls(&*store);
    let found = |query: EventQuery| -> Vec<u64> {
        store.events(&query).unwrap().iter().map(|one| one.event.at_ms).collect()
    };
    let all = EventQuery::default;
    assert_eq!(found(EventQuery { session: Some("s1".into()), ..all() }), [10, 20]);
    assert_eq!(found(EventQuery { tool: Some("read".into()), ..all() }), [10, 20, 50]);
    assert_eq!(found(EventQuery { agent: Some("scout".into()), ..all() }), [40]);
    assert_eq!(found(EventQuery { call: Some("call-30".into()), ..all() }), [30]);
    assert_eq!(found(EventQuery { since_ms: Some(20), until_ms: Some(50), ..all() }), [20, 30, 40]);
    assert_eq!(found(EventQuery { outcome: Some(OutcomeFilter::Success), ..all() }), [10, 40, 50]);
    assert_eq!(found(EventQuery { outcome: Some(OutcomeFilter::Failure), ..all() }), [20, 30]);
    assert_eq!(found(EventQuery { outcome: Some(OutcomeFilter::Code("TIMEOUT".into())), ..all() }), [30]);
    assert_eq!(found(EventQuery { after: Some(2), limit: Some(2), ..all() }), [30, 40]);
    assert_eq!(found(EventQuery { limit: Some(2), is_newest: true, ..all() }), [40, 50]);
    assert_eq!(found(EventQuery { tool: Some("' OR 1=1 --".into()), ..all() }), [0_u64; 0]);
}

fn words_are_found(fresh: &Fresh) {
    let store = fresh.open();
    store
        .append(&[
            warning("a", 1, "the quick brown fox"),
            warning("a", 2, "a slow fox"),
            warning("b", 3, "nothing"),
        ])
        .unwrap();
    let found = |words: &str| -> Vec<u64> {
        let query = EventQuery { words: Some(words.to_owned()), ..EventQuery::default() };
        store.events(&query).unwrap().iter().map(|one| one.event.at_ms).collect()
    };
    assert_eq!(found("fox"), [1, 2]);
    assert_eq!(found("FOX quick"), [1]);
    assert_eq!(found("message"), [0_u64; 0], "names of fields are no words of the log");
    assert_eq!(found("  "), [1, 2, 3]);
    for strange in ["\"", "fox AND", "NEAR(", "a:b", "*", "'", "(", "-fox", "fox OR quick"] {
        found(strange);
    }
    let places = "src/main.rs https://example.com/docs/intro.html joe@example.org foo-bar.baz 1.25.3";
    store.append(&[warning("c", 5, places)]).unwrap();
    for word in ["main", "main.rs", "example", "intro", "joe", "org", "baz", "foo-bar", "25", "src/main.rs"] {
        assert_eq!(found(word), [5], "{word}");
    }
    store.append(&[warning("b", 4, "another fox")]).unwrap();
    assert_eq!(found("fox"), [1, 2, 4], "what came later is learnt too");
}

fn statistics_count_calls(fresh: &Fresh) {
    let store = fresh.open();
    some_calls(&*store);
    let stats = store.stats(&EventQuery::default()).unwrap();
    let names: Vec<_> = stats.iter().map(|one| (one.tool.as_str(), one.calls)).collect();
    assert_eq!(names, [("bash", 1), ("grep", 1), ("read", 3)]);
    let read = &stats[2];
    assert_eq!((read.p50_ms, read.p95_ms), (20.0, 50.0));
    assert_eq!(read.failures.iter().collect::<Vec<_>>(), [(&"FILE_NOT_FOUND".to_owned(), &1)]);
    assert_eq!(read.bytes, 2 * "the read has read everything".len() as u64);
    let sessions = store.sessions().unwrap();
    assert_eq!((sessions[0].calls, sessions[0].failures), (3, 1));
    let of_one = store.stats(&EventQuery { session: Some("s1".into()), ..EventQuery::default() }).unwrap();
    assert_eq!((of_one.len(), of_one[0].calls), (1, 2));
}

fn what_is_old_goes(fresh: &Fresh) {
    use toolpost_core::store::Retention;
    let store = fresh.open();
    let old: Vec<_> = (0..50).map(|at| warning("old", at, "an old story")).collect();
    store.append(&old).unwrap();
    store.append(&[warning("new", 1_000_000, "a new story")]).unwrap();
    let query = |words: &str| EventQuery { words: Some(words.to_owned()), ..EventQuery::default() };
    assert_eq!(store.events(&query("story")).unwrap().len(), 51);
    let gone = store.collect(&Retention { age_ms: 1_000, bytes: u64::MAX }, 1_000_500).unwrap();
    assert_eq!((gone.events, gone.sessions), (50, 1));
    assert_eq!(store.events(&query("story")).unwrap().len(), 1);
    store.append(&[warning("new", 1_000_001, "more")]).unwrap();
    let left = store.events(&EventQuery::default()).unwrap();
    assert_eq!(places(&left), [(51, "new".to_owned(), 1), (52, "new".to_owned(), 2)]);
    let many: Vec<_> = (0..400).map(|at| warning("big", 1_000_100 + at, &"x".repeat(10_000))).collect();
    store.append(&many).unwrap();
    let before = store.collect(&Retention { age_ms: 1_000_000, bytes: u64::MAX }, 1_000_500).unwrap();
    assert_eq!(before.events, 0);
    let half = before.bytes_after / 2;
    let some = store.collect(&Retention { age_ms: 1_000_000, bytes: half }, 1_000_500).unwrap();
    assert!((150..300).contains(&some.events) && some.bytes_after <= half, "{some:?}");
    let by_size = store.collect(&Retention { age_ms: 1_000_000, bytes: 0 }, 1_000_500).unwrap();
    assert_eq!(some.events + by_size.events, 402, "the oldest go until it is small enough: {by_size:?}");
    assert_eq!(store.events(&EventQuery::default()).unwrap(), []);
}

fn what_is_old_goes_once_a_day(fresh: &Fresh) {
    use toolpost_core::store::Retention;
    const DAY: u64 = 24 * 60 * 60 * 1000;
    let store = fresh.open();
    let keep = Retention { age_ms: 1_000, bytes: u64::MAX };
    store.append(&[warning("old", 1, "x")]).unwrap();
    assert_eq!(store.collect_daily(&keep, 3 * DAY).unwrap().map(|gone| gone.events), Some(1));
    store.append(&[warning("old", 1, "x")]).unwrap();
    assert_eq!(store.collect_daily(&keep, 4 * DAY - 1).unwrap(), None);
    assert_eq!(store.collect_daily(&keep, 4 * DAY).unwrap().map(|gone| gone.events), Some(1));
    // A clock that is behind deletes nothing.
    assert_eq!(store.collect_daily(&keep, DAY).unwrap(), None);
}

fn a_clock_that_is_ahead_once_deletes_nothing(fresh: &Fresh) {
    use toolpost_core::store::Retention;
    const DAY: u64 = 24 * 60 * 60 * 1000;
    let store = fresh.open();
    let keep = Retention { age_ms: 30 * DAY, bytes: u64::MAX };
    let deleted = |day: u64| store.collect_daily(&keep, day * DAY).unwrap().map(|gone| gone.events);
    store.append(&[warning("young", 100 * DAY, "x")]).unwrap();
    assert_eq!(deleted(100), Some(0));
    assert_eq!(deleted(200), Some(0), "the clock is ahead");
    assert_eq!(deleted(101), None, "it is right again");
    assert_eq!(deleted(102), Some(0));
    assert_eq!(deleted(300), Some(0), "nobody was here for long");
    assert_eq!(deleted(301), Some(1), "the day after, it is believed");
}

fn strange_texts_come_back_as_they_were(fresh: &Fresh) {
    let store = fresh.open();
    let text = "ünï\u{1f980}\n\t\"quoted\" \\ \u{7f} 'single' %s ?1 $1 \u{202e}";
    store.append(&[warning("s'é \u{1f980}", 1, text)]).unwrap();
    let back =
        store.events(&EventQuery { session: Some("s'é \u{1f980}".into()), ..EventQuery::default() }).unwrap();
    assert_eq!(back[0].event.kind, EventKind::Warning { message: text.to_owned() });
    store.append(&[warning("nul", 2, "a\0b")]).unwrap();
    assert_eq!(store.last_position().unwrap(), 2);
}

fn one_opening_sees_what_the_other_writes(fresh: &Fresh) {
    let (one, other) = (fresh.open(), fresh.open());
    let waiting = std::thread::spawn(move || other.wait(0, Duration::from_secs(30)).unwrap());
    one.append(&[warning("a", 1, "hello")]).unwrap();
    assert_eq!(waiting.join().unwrap(), 1);
}

fn two_writers_leave_no_gap(fresh: &Fresh) {
    let stores = [fresh.open(), fresh.open(), fresh.open()];
    std::thread::scope(|threads| {
        for (number, store) in stores.iter().enumerate() {
            threads.spawn(move || {
                for round in 0..40_u64 {
                    let own = format!("own-{number}");
                    store.append(&[warning("shared", round, "x"), warning(&own, round, "y")]).unwrap();
                }
            });
        }
    });
    let all = stores[0].events(&EventQuery::default()).unwrap();
    let positions: Vec<u64> = all.iter().map(|one| one.position).collect();
    assert_eq!(positions, (1..=240).collect::<Vec<_>>());
    let shared: Vec<u64> =
        all.iter().filter(|one| one.event.session == "shared").map(|one| one.event.sequence).collect();
    assert_eq!(shared, (1..=120).collect::<Vec<_>>());
}

fn a_slow_clock_makes_no_session_older(fresh: &Fresh) {
    let store = fresh.open();
    for at_ms in [5_000, 9_000, 2_000, 7_000] {
        store.append(&[warning("s", at_ms, "x")]).unwrap();
    }
    let session = store.sessions().unwrap().remove(0);
    assert_eq!((session.first_ms, session.last_ms, session.events), (2_000, 9_000, 4));
    let kept = store.collect(&Retention { age_ms: 1_500, bytes: u64::MAX }, 10_000).unwrap();
    assert_eq!((kept.events, kept.sessions), (3, 0), "the session was active within the time");
}

fn events_of_a_call_are_found_by_its_tool(fresh: &Fresh) {
    let store = fresh.open();
    let of = |call: &str, kind: EventKind| {
        let mut event = (*event("s", 1, kind)).clone();
        event.call = Some(call.to_owned());
        Arc::new(event)
    };
    let asked = |tool: &str| EventKind::CallRequested {
        tool: tool.to_owned(),
        arguments: serde_json::Value::Null,
        parent: None,
    };
    let decided = || EventKind::CallDecided { effect: "allow".to_owned(), reason: "x".to_owned() };
    let started = |tool: &str| EventKind::CallStarted { tool: tool.to_owned(), attempt: 1, dry_run: false };
    let note = || EventKind::Warning { message: "x".to_owned() };
    // By another name at first; in one part, and in several.
    store.append(&[of("a", asked("Read")), of("a", decided()), of("a", started("read"))]).unwrap();
    store.append(&[of("b", asked("bash")), of("b", decided())]).unwrap();
    store.append(&[of("a", note()), of("b", note()), of("c", note())]).unwrap();
    let found = |tool: &str| {
        let query = EventQuery { tool: Some(tool.to_owned()), ..EventQuery::default() };
        let events = store.events(&query).unwrap();
        events.into_iter().map(|one| one.position).collect::<Vec<_>>()
    };
    assert_eq!(found("read"), [1, 2, 3, 6]);
    assert_eq!(found("bash"), [4, 5, 7]);
    assert_eq!(found("Read"), [0_u64; 0]);
}

fn calls_are_found_by_their_endings(fresh: &Fresh) {
    let store = fresh.open();
    let events: Vec<_> = [11, 211, 311, 12].map(|at_ms| warning("s", at_ms, "x")).into();
    store.append(&events).unwrap();
    store.append(&events).unwrap();
    assert_eq!(store.calls_ending("11").unwrap(), ["call-311", "call-211", "call-11"]);
    assert_eq!(store.calls_ending("-11").unwrap(), ["call-11"]);
    assert_eq!(store.calls_ending("%12").unwrap(), Vec::<String>::new());
    assert_eq!(store.calls_ending("and a call-12").unwrap(), Vec::<String>::new());
}

fn virtual_files_do_not_empty_the_log(fresh: &Fresh) {
    let store = fresh.open();
    let content = (0..400_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let large = content.len() as u64;
    let change = FileChange { path: "large".to_owned(), content: Some(content), expected: None, mode: None };
    let by = By { at_ms: 1_000, ..by("s") };
    store.change_files(&by, vec![change]).unwrap();
    for round in 0..40 {
        store
            .append(&(0..50).map(|at| warning("s", at + round, &"x".repeat(400))).collect::<Vec<_>>())
            .unwrap();
    }
    // The files alone are more than is allowed; what has happened is not forgotten for it.
    let keep = |bytes: u64| Retention { age_ms: u64::MAX, bytes };
    let kept = store.collect(&keep(large), 2_000).unwrap();
    assert_eq!(kept.file_bytes, large);
    assert!(store.events(&EventQuery::default()).unwrap().len() > 200, "{kept:?}");
    // And a log is not without bounds because of them.
    // An empty store has some forty pages.
    let kept = store.collect(&keep(large / 10), 2_000).unwrap();
    assert!(kept.events > 0 && kept.bytes_after < large + large / 7, "{kept:?}");
    assert!(store.file("s", "large", None).unwrap().is_some());
}

/// A small generator of numbers.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn maybe<T>(&mut self, one: impl FnOnce(&mut Seeded) -> T) -> Option<T> {
        (self.below(3) == 0).then(|| one(self))
    }
}

/// What a query is to find, by a look at every event.
fn found(all: &[Arc<Event>], asked: &EventQuery) -> Vec<u64> {
    let is_of = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
    let fits = |(index, event): &(usize, &Arc<Event>)| {
        let EventKind::CallFinished { tool, error, .. } = &event.kind else { return false };
        let outcome = match &asked.outcome {
            None => true,
            Some(OutcomeFilter::Success) => error.is_none(),
            Some(OutcomeFilter::Failure) => error.is_some(),
            Some(OutcomeFilter::Code(code)) => {
                error.as_ref().is_some_and(|error| error.code().as_str() == code.as_str())
            }
        };
        outcome
            && is_of(&asked.session, &event.session)
            && is_of(&asked.tool, tool)
            && asked.since_ms.is_none_or(|since| event.at_ms >= since)
            && asked.until_ms.is_none_or(|until| event.at_ms < until)
            && asked.after.is_none_or(|after| *index as u64 + 1 > after)
    };
    let mut places: Vec<u64> =
        all.iter().enumerate().filter(fits).map(|(index, _)| index as u64 + 1).collect();
    if let Some(limit) = asked.limit.filter(|limit| *limit < places.len()) {
        match asked.is_newest {
            true => drop(places.drain(..places.len() - limit)),
            false => places.truncate(limit),
        }
    }
    places
}

fn a_growing_log_is_asked_like_a_list(fresh: &Fresh) {
    let store = fresh.open();
    let mut seeded = Seeded(11);
    let mut all: Vec<Arc<Event>> = Vec::new();
    // Some parts are so long that a store puts them in order before it is asked, and after some it has the time to.
    for part in [3, 1, 2_500, 40, 1, 3_000, 7] {
        let new: Vec<Arc<Event>> = (0..part)
            .map(|number| {
                let error = (seeded.below(4) == 0).then_some(Code::FileNotFound);
                let (session, tool) = (seeded.below(3), seeded.below(4));
                let event =
                    finished(&format!("s{session}"), seeded.below(500), &format!("tool{tool}"), error);
                let call = Some(format!("call {} {number}", all.len()));
                Arc::new(Event { call, ..(*event).clone() })
            })
            .collect();
        store.append(&new).unwrap();
        all.extend(new);
        if part == 40 {
            std::thread::sleep(Duration::from_millis(1_500));
        }
        for _ in 0..30 {
            let asked = EventQuery {
                session: seeded.maybe(|of| format!("s{}", of.below(4))),
                tool: seeded.maybe(|of| format!("tool{}", of.below(5))),
                since_ms: seeded.maybe(|of| of.below(500)),
                until_ms: seeded.maybe(|of| of.below(500)),
                outcome: seeded.maybe(|of| match of.below(3) {
                    0 => OutcomeFilter::Success,
                    1 => OutcomeFilter::Failure,
                    _ => OutcomeFilter::Code(Code::FileNotFound.as_str().to_owned()),
                }),
                after: seeded.maybe(|of| of.below(6_000)),
                limit: seeded.maybe(|of| of.below(60) as usize),
                is_newest: seeded.below(2) == 0,
                ..EventQuery::default()
            };
            let answer: Vec<u64> =
                store.events(&asked).unwrap().iter().map(|logged| logged.position).collect();
            assert_eq!(answer, found(&all, &asked), "{asked:?} after {} events", all.len());
            let counted: u64 = store.stats(&asked).unwrap().iter().map(|tool| tool.calls).sum();
            let whole = EventQuery { limit: None, ..asked };
            assert_eq!(counted, found(&all, &whole).len() as u64, "{whole:?}");
        }
    }
}

#[test]
fn a_log_in_memory_drops_its_oldest_events() {
    let store = Fresh::memory().open();
    let text = "x".repeat(1 << 20);
    let mut by_agent = (*warning("run", 1, "first")).clone();
    by_agent.agent = Some("scout".to_owned());
    store.append(&[Arc::new(by_agent), warning("s", 2, "second")]).unwrap();
    let positions = |query: EventQuery| -> Vec<u64> {
        store.events(&query).unwrap().iter().map(|one| one.position).collect()
    };
    for number in 3..=60 {
        store.append(&[warning("s", number, &text)]).unwrap();
    }
    assert_eq!(store.first_position().unwrap(), 1);
    assert_eq!(positions(EventQuery::default()), (1..=60).collect::<Vec<_>>());
    for number in 61..=200 {
        store.append(&[warning("s", number, &text)]).unwrap();
    }
    let kept = positions(EventQuery { session: Some("s".to_owned()), ..EventQuery::default() });
    assert!((50..=64).contains(&kept.len()), "{} events are kept", kept.len());
    // The newest ones, in one piece, at the places that they had.
    let first = 201 - kept.len() as u64;
    assert_eq!(kept, (first..=200).collect::<Vec<_>>());
    let words = EventQuery { words: Some("second".to_owned()), ..EventQuery::default() };
    assert_eq!((positions(words), store.last_position().unwrap()), (vec![], 200));
    // A run of an agent goes on from its events.
    assert_eq!(positions(EventQuery { agent: Some("scout".to_owned()), ..EventQuery::default() }), [1]);
    assert_eq!(store.first_position().unwrap(), 1);
    let summary = &store.sessions().unwrap()[0];
    assert_eq!((summary.session.as_str(), summary.events), ("s", 199));
}

#[test]
fn a_log_on_disk_drops_nothing() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    for number in 1..=70 {
        store.append(&[warning("s", number, &"x".repeat(1 << 20))]).unwrap();
    }
    assert_eq!((store.first_position().unwrap(), store.last_position().unwrap()), (1, 70));
}
