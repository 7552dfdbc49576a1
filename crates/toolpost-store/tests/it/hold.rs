//! Who goes on with a run: one at a time, and who has lost it writes nothing more.

use crate::{Fresh, by, on_every_store, on_shared_stores, warning};
use std::sync::{Arc, Barrier};
use toolpost_core::Code;
use toolpost_core::store::{EventQuery, FileChange, HeldBy};

on_shared_stores!(
    a_run_has_one_holder,
    of_many_at_once_one_gets_it,
    who_was_evicted_writes_nothing,
    a_process_that_has_released_a_run_writes_on
);
on_every_store!(a_session_is_removed_whole, a_process_holds_several_runs, a_run_is_held_once_in_a_process);

fn a_run_has_one_holder(fresh: &Fresh) {
    let (one, other) = (fresh.open(), fresh.open());
    let hold = one.hold("run", "one", HeldBy::Nobody).unwrap();
    assert_eq!(other.holder("run").unwrap().as_deref(), Some("one"));
    let refused = other.hold("run", "other", HeldBy::Nobody).unwrap_err();
    assert_eq!(refused.code(), Code::TaskConflict);
    assert!(refused.message().contains("held by one"), "{refused}");
    assert!(other.hold("another", "other", HeldBy::Nobody).is_ok(), "runs are held one by one");
    drop(hold);
    let _hold = other.hold("run", "other", HeldBy::Nobody).unwrap();
    assert_eq!(one.holder("run").unwrap().as_deref(), Some("other"));
}

fn of_many_at_once_one_gets_it(fresh: &Fresh) {
    drop(fresh.open());
    let barrier = Barrier::new(8);
    let held: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let store = fresh.open();
                    barrier.wait();
                    let hold = store.hold("run", &format!("number {number}"), HeldBy::Nobody);
                    let is_held = hold.is_ok();
                    barrier.wait();
                    is_held
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(held.iter().filter(|is_held| **is_held).count(), 1, "{held:?}");
}

fn who_was_evicted_writes_nothing(fresh: &Fresh) {
    let (hung, next) = (fresh.open(), fresh.open());
    let _old = hung.hold("run", "hung", HeldBy::Nobody).unwrap();
    hung.append(&[warning("s", 1, "before")]).unwrap();
    let new = next.hold("run", "next", HeldBy::Anybody).unwrap();
    let late = hung.append(&[warning("s", 2, "late")]).unwrap_err();
    assert_eq!(late.code(), Code::Interrupted);
    let change =
        FileChange { path: "a".to_owned(), content: Some(b"late".to_vec()), expected: None, mode: None };
    assert!(hung.change_files(&by("s"), vec![change]).is_err());
    next.append(&[warning("s", 3, "after")]).unwrap();
    let query = EventQuery { session: Some("s".to_owned()), ..EventQuery::default() };
    assert_eq!(next.events(&query).unwrap().len(), 2);
    // The lock of the evicted one says nothing any more.
    drop(_old);
    assert!(Arc::clone(&fresh.open()).hold("run", "third", HeldBy::Nobody).is_err());
    drop(new);
    assert!(fresh.open().hold("run", "third", HeldBy::Nobody).is_ok());
}

fn a_session_is_removed_whole(fresh: &Fresh) {
    let store = fresh.open();
    store.append(&[warning("a", 1, "of a"), warning("b", 2, "of b")]).unwrap();
    let change =
        FileChange { path: "x".to_owned(), content: Some(b"text".to_vec()), expected: None, mode: None };
    store.change_files(&by("a"), vec![change]).unwrap();
    assert!(store.remove_session("a").unwrap());
    assert!(!store.remove_session("a").unwrap());
    let sessions: Vec<String> = store.sessions().unwrap().into_iter().map(|one| one.session).collect();
    assert_eq!(sessions, ["b"]);
    assert!(store.file("a", "x", None).unwrap().is_none());
    assert_eq!(store.events(&EventQuery::default()).unwrap().len(), 1);
}

fn a_process_holds_several_runs(fresh: &Fresh) {
    let store = fresh.open();
    let one = store.hold("one", "this", HeldBy::Nobody).unwrap();
    let two = store.hold("two", "this", HeldBy::Nobody).unwrap();
    store.append(&[warning("s", 1, "both")]).unwrap();
    drop(one);
    store.append(&[warning("s", 2, "one left")]).unwrap();
    two.release();
    store.append(&[warning("s", 3, "none left")]).unwrap();
}

fn a_run_is_held_once_in_a_process(fresh: &Fresh) {
    let store = fresh.open();
    let hold = store.hold("run", "this", HeldBy::Nobody).unwrap();
    assert_eq!(store.hold("run", "this", HeldBy::Nobody).unwrap_err().code(), Code::TaskConflict);
    store.append(&[warning("s", 1, "still held")]).unwrap();
    hold.release();
    store.hold("run", "this", HeldBy::Nobody).unwrap().release();
}

fn a_process_that_has_released_a_run_writes_on(fresh: &Fresh) {
    let (server, next) = (fresh.open(), fresh.open());
    let kept = server.hold("kept", "server", HeldBy::Nobody).unwrap();
    server.hold("run", "server", HeldBy::Nobody).unwrap().release();
    let _hold = next.hold("run", "next", HeldBy::Nobody).unwrap();
    server.append(&[warning("s", 1, "another run")]).unwrap();
    // What it still holds can be taken from it.
    let _taken = next.hold("kept", "next", HeldBy::Anybody).unwrap();
    assert_eq!(server.append(&[warning("s", 2, "late")]).unwrap_err().code(), Code::Interrupted);
    kept.release();
    server.append(&[warning("s", 3, "another run")]).unwrap();
}
