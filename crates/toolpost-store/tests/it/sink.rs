//! The log as a sink of events.

use crate::{Fresh, on_every_store, warning};
use std::sync::Arc;
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::store::EventQuery;
use toolpost_core::store::Retention;
use toolpost_core::{Code, Event};
use toolpost_store::{Faults, StoreLog};

on_every_store!(what_is_committed_is_there, what_is_recorded_is_there_in_the_end, what_is_old_goes_by_itself);

/// Nothing is too old or too much.
const ALL: Retention = Retention { age_ms: u64::MAX, bytes: u64::MAX };

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn plain() -> toolpost_store::Shape {
    Box::new(Arc::clone)
}

fn what_is_committed_is_there(fresh: &Fresh) {
    let store = fresh.open();
    let log = StoreLog::new(Arc::clone(&store), plain(), ALL);
    for round in 1..=20_u64 {
        log.record(&warning("a", round, "x"));
        log.record(&warning("a", round, "y"));
        wait(log.commit()).unwrap();
        assert_eq!(store.last_position().unwrap(), round * 2);
    }
}

fn what_is_old_goes_by_itself(fresh: &Fresh) {
    let store = fresh.open();
    let log = StoreLog::new(Arc::clone(&store), plain(), Retention::default());
    log.record(&warning("a", 1, "of 1970"));
    wait(log.commit()).unwrap();
    drop(log);
    assert_eq!(store.last_position().unwrap(), 1);
    assert_eq!(store.events(&EventQuery::default()).unwrap(), []);
}

fn what_is_recorded_is_there_in_the_end(fresh: &Fresh) {
    let store = fresh.open();
    let hide = |event: &Arc<Event>| {
        let kind = EventKind::Warning { message: "shaped".to_owned() };
        Arc::new(Event { kind, ..(**event).clone() })
    };
    let log = StoreLog::new(Arc::clone(&store), Box::new(hide), ALL);
    std::thread::scope(|threads| {
        for thread in 0..4_u64 {
            let log = &log;
            threads.spawn(move || {
                (0..500).for_each(|round| log.record(&warning("a", thread * 1_000 + round, "x")))
            });
        }
    });
    drop(log);
    let events = store.events(&EventQuery::default()).unwrap();
    assert_eq!(events.len(), 2_000);
    for thread in 0..4 {
        let own: Vec<u64> =
            events.iter().map(|one| one.event.at_ms).filter(|at| at / 1_000 == thread).collect();
        assert!(own.is_sorted(), "what one thread has recorded stays in its order");
    }
    assert!(events.iter().all(|one| one.event.kind == EventKind::Warning { message: "shaped".to_owned() }));
}

#[test]
fn a_log_without_events_opens_no_store() {
    let fresh = Fresh::sqlite();
    let log = StoreLog::new(toolpost_store::open_when_used(&fresh.url), plain(), ALL);
    wait(log.commit()).unwrap();
    drop(log);
    let files = fresh.url.files();
    assert!(!files.is_empty());
    assert!(files.iter().all(|file| !file.exists()), "{files:?}");
}

#[test]
fn who_waits_hears_that_something_is_not_written_yet() {
    let fresh = Fresh::sqlite();
    let faults = Arc::new(Faults::default());
    let store = toolpost_store::open_with(&fresh.url, Some(Arc::clone(&faults))).unwrap();
    let log = StoreLog::new(Arc::clone(&store), plain(), ALL);
    log.record(&warning("a", 1, "x"));
    wait(log.commit()).unwrap();
    // The second time, whatever follows the first is over.
    wait(log.commit()).unwrap();
    faults.after(0);
    log.record(&warning("a", 2, "x"));
    let refused = wait(log.commit()).unwrap_err();
    assert_eq!(refused.code(), Code::StoreNotAvailable);
    // The fault is over: what could not be written is, once and in its place, and nobody has to start anew.
    log.record(&warning("a", 3, "x"));
    wait(log.commit()).unwrap();
    let events = store.events(&EventQuery::default()).unwrap();
    let times: Vec<u64> = events.iter().map(|one| one.event.at_ms).collect();
    assert_eq!(times, [1, 2, 3]);
}
