//! The changes of calls, kept so that they can be taken back.

use crate::{Fresh, by, on_every_store, on_shared_stores};
use std::sync::Arc;
use toolpost_core::event::EventKind;
use toolpost_core::store::{
    ChangeKind, ChangeQuery, Correction, EventQuery, Finished, Held, KeptChange, NewChange, Retention, Store,
    Takes,
};
use toolpost_store::StoreUrl;

on_every_store!(
    changes_are_kept_with_their_bytes,
    what_a_call_has_really_made_corrects_what_it_said,
    an_undo_marks_what_it_took_back_and_a_redo_what_holds_again,
    of_an_undo_only_what_was_made_is_kept,
    queries_are_narrowed,
    bytes_stay_as_long_as_a_change_needs_them,
    a_journal_that_is_too_large_loses_its_oldest_calls,
);
on_shared_stores!(calls_of_several_processes_have_numbers_of_their_own);

/// Not the hash of anything: a store takes the word of who computes it.
fn file(text: &str, mode: u32) -> Held {
    Held::File { hash: format!("hash of {text}"), size: text.len() as u64, mode: Some(mode) }
}

pub(crate) fn change(call: &str, at_ms: u64, name: &str, before: &str, after: &str) -> NewChange {
    let content = |text: &str| (format!("hash of {text}"), Arc::<[u8]>::from(text.as_bytes()).into());
    NewChange {
        workspace: "/w".to_owned(),
        session: "s".to_owned(),
        call: call.to_owned(),
        at_ms,
        kind: ChangeKind::Tool,
        by_command: false,
        touched_us: 0,
        name: name.to_owned(),
        before: file(before, 0o644),
        after: file(after, 0o644),
        contents: vec![content(before), content(after)],
        takes: Takes::default(),
    }
}

fn all() -> ChangeQuery {
    ChangeQuery { workspace: "/w".to_owned(), ..ChangeQuery::default() }
}

fn shown(changes: &[KeptChange]) -> Vec<(u64, u64, &str, &str)> {
    changes.iter().map(|one| (one.set, one.number, one.call.as_str(), one.name.as_str())).collect()
}

fn finished(call: &str, made: &[&str], is_redo: bool) -> Finished {
    Finished {
        workspace: "/w".to_owned(),
        call: call.to_owned(),
        made: made.iter().map(|name| (*name).to_owned()).collect(),
        of: "c1".to_owned(),
        is_redo,
    }
}

fn changes_are_kept_with_their_bytes(fresh: &Fresh) {
    let store = fresh.open();
    store.keep_changes(vec![change("c1", 5, "a", "old", "new"), change("c1", 5, "b", "x", "")]).unwrap();
    store.keep_changes(vec![change("c1", 6, "c", "1", "2"), change("c2", 7, "a", "new", "newer")]).unwrap();
    let kept = store.changes(&all()).unwrap();
    assert_eq!(shown(&kept), [(1, 1, "c1", "a"), (1, 2, "c1", "b"), (1, 3, "c1", "c"), (2, 1, "c2", "a")]);
    assert_eq!((&kept[0].before, &kept[0].after), (&file("old", 0o644), &file("new", 0o644)));
    assert_eq!((kept[0].at_ms, kept[0].kind, kept[0].undone_by), (5, ChangeKind::Tool, None));
    assert_eq!(store.content("hash of newer").unwrap().as_deref(), Some(&b"newer"[..]));
    assert_eq!(store.content("hash of nothing").unwrap(), None);
    // Every kind of thing comes back as it was.
    let kinds = [
        Held::Absent,
        Held::TooLarge { size: 1 << 40 },
        Held::Folder { mode: None },
        Held::Folder { mode: Some(0o2750) },
        Held::Link { text: "../ä\n\"".to_owned() },
        Held::Unknown,
    ];
    for (number, kind) in kinds.iter().enumerate() {
        let mut one = change("c3", 8, &format!("n{number}"), "", "");
        (one.before, one.after) = (kind.clone(), Held::Absent);
        store.keep_changes(vec![one]).unwrap();
    }
    let back = store.changes(&ChangeQuery { call: Some("c3".to_owned()), ..all() }).unwrap();
    assert_eq!(back.into_iter().map(|one| one.before).collect::<Vec<_>>(), kinds);
    // A name that a call changes twice is what it was before the first time.
    store.keep_changes(vec![change("c1", 9, "a", "new", "newest")]).unwrap();
    let kept = store.changes(&ChangeQuery { call: Some("c1".to_owned()), ..all() }).unwrap();
    assert_eq!((&kept[0].before, &kept[0].after), (&file("old", 0o644), &file("newest", 0o644)));
}

fn what_a_call_has_really_made_corrects_what_it_said(fresh: &Fresh) {
    let store = fresh.open();
    let changes = ["a", "b", "c"].map(|name| change("c1", 1, name, "old", "new"));
    store.keep_changes(changes.to_vec()).unwrap();
    let other = Correction {
        name: "a".to_owned(),
        after: Some(file("other", 0o600)),
        content: Some(Arc::from(&b"other"[..])),
    };
    let none = |name: &str| Correction { name: name.to_owned(), after: None, content: None };
    store.correct_changes("/w", "c1", vec![other, none("b")]).unwrap();
    let kept = store.changes(&all()).unwrap();
    assert_eq!(shown(&kept), [(1, 1, "c1", "a"), (1, 3, "c1", "c")]);
    assert_eq!(kept[0].after, file("other", 0o600));
    assert_eq!(store.content("hash of other").unwrap().as_deref(), Some(&b"other"[..]));
    store.correct_changes("/w", "c1", vec![none("a"), none("c")]).unwrap();
    store.correct_changes("/w", "unknown", vec![none("a")]).unwrap();
    assert_eq!(store.changes(&all()).unwrap(), []);
}

fn undo(call: &str, name: &str, takes: Takes, kind: ChangeKind) -> NewChange {
    NewChange { kind, takes, ..change(call, 9, name, "new", "old") }
}

fn an_undo_marks_what_it_took_back_and_a_redo_what_holds_again(fresh: &Fresh) {
    let store = fresh.open();
    store
        .keep_changes(vec![change("c1", 1, "a", "old", "new"), change("c2", 2, "a", "new", "newer")])
        .unwrap();
    let both = Takes { undone: vec![(1, 1), (2, 1)], redone: vec![] };
    store.keep_changes(vec![undo("u", "a", both, ChangeKind::Undo)]).unwrap();
    let open = store.changes(&ChangeQuery { is_open: true, ..all() }).unwrap();
    assert_eq!(shown(&open), [(3, 1, "u", "a")], "it is begun and not done");
    assert!(store.changes(&ChangeQuery { is_undone: Some(true), ..all() }).unwrap().is_empty());
    store.finish_undo(&by("s"), finished("u", &["a"], false)).unwrap();
    assert!(store.changes(&ChangeQuery { is_open: true, ..all() }).unwrap().is_empty());
    let marked = |store: &dyn Store| -> Vec<Option<u64>> {
        store.changes(&all()).unwrap().iter().map(|one| one.undone_by).collect()
    };
    assert_eq!(marked(&*store), [Some(3), Some(3), None]);
    let again = Takes { undone: vec![(3, 1)], redone: vec![(1, 1), (2, 1)] };
    store.keep_changes(vec![undo("r", "a", again.clone(), ChangeKind::Redo)]).unwrap();
    assert_eq!(store.changes(&ChangeQuery { is_open: true, ..all() }).unwrap()[0].takes, again);
    store.finish_undo(&by("s"), finished("r", &["a"], true)).unwrap();
    assert_eq!(marked(&*store), [None, None, Some(4), None]);
    let told: Vec<_> = store.events(&EventQuery::default()).unwrap();
    let told: Vec<_> = told.into_iter().map(|one| one.event.kind).collect();
    let event = |is_redo| EventKind::ChangesUndone { of: "c1".to_owned(), files: 1, is_redo };
    assert_eq!(told, [event(false), event(true)]);
    store.finish_undo(&by("s"), finished("unknown", &["a"], true)).unwrap_err();
}

fn of_an_undo_only_what_was_made_is_kept(fresh: &Fresh) {
    let store = fresh.open();
    store.keep_changes(vec![change("c1", 1, "a", "old", "new"), change("c1", 1, "b", "old", "new")]).unwrap();
    let takes = |number| Takes { undone: vec![(1, number)], redone: vec![] };
    let undos = [undo("u", "a", takes(1), ChangeKind::Undo), undo("u", "b", takes(2), ChangeKind::Undo)];
    store.keep_changes(undos.to_vec()).unwrap();
    store.finish_undo(&by("s"), finished("u", &["b"], false)).unwrap();
    let kept = store.changes(&all()).unwrap();
    assert_eq!(shown(&kept), [(1, 1, "c1", "a"), (1, 2, "c1", "b"), (2, 2, "u", "b")]);
    assert_eq!(kept.iter().map(|one| one.undone_by).collect::<Vec<_>>(), [None, Some(2), None]);
    // One that has made nothing is forgotten, without a word in the log.
    store.keep_changes(vec![undo("v", "a", takes(1), ChangeKind::Undo)]).unwrap();
    store.finish_undo(&by("s"), finished("v", &[], false)).unwrap();
    assert_eq!(store.changes(&all()).unwrap().len(), 3);
    assert_eq!(store.last_position().unwrap(), 1);
}

fn queries_are_narrowed(fresh: &Fresh) {
    let store = fresh.open();
    let other = NewChange { session: "t".to_owned(), ..change("c2", 2, "b", "1", "2") };
    let elsewhere = NewChange { workspace: "/x".to_owned(), ..change("c9", 2, "a", "1", "2") };
    let again = change("c3", 3, "a", "2", "3");
    store.keep_changes(vec![change("c1", 1, "a", "1", "2"), other, elsewhere, again]).unwrap();
    let found = |query: ChangeQuery| -> Vec<String> {
        store.changes(&query).unwrap().into_iter().map(|one| one.call).collect()
    };
    assert_eq!(found(all()), ["c1", "c2", "c3"]);
    assert_eq!(found(ChangeQuery { session: Some("t".to_owned()), ..all() }), ["c2"]);
    assert_eq!(found(ChangeQuery { name: Some("a".to_owned()), after: Some(1), ..all() }), ["c3"]);
    assert_eq!(found(ChangeQuery { is_last: true, ..all() }), ["c3"]);
    assert_eq!(found(ChangeQuery { is_last: true, session: Some("t".to_owned()), ..all() }), ["c2"]);
    assert_eq!(found(ChangeQuery { is_undo: Some(true), ..all() }), [""; 0]);
    assert_eq!(found(ChangeQuery { workspace: "/x".to_owned(), ..ChangeQuery::default() }), ["c9"]);
}

fn bytes_stay_as_long_as_a_change_needs_them(fresh: &Fresh) {
    let store = fresh.open();
    store.keep_changes(vec![change("c1", 1_000, "a", "first", "shared")]).unwrap();
    store.keep_changes(vec![change("c2", 9_000, "a", "shared", "last")]).unwrap();
    let keep = Retention { age_ms: 5_000, bytes: u64::MAX };
    let gone = store.collect(&keep, 10_000).unwrap();
    assert_eq!(gone.changes, 1);
    let has = |text: &str| store.content(&format!("hash of {text}")).unwrap().is_some();
    assert!(!has("first") && has("shared") && has("last"));
    assert_eq!(shown(&store.changes(&all()).unwrap()), [(2, 1, "c2", "a")]);
    assert_eq!(store.collect(&keep, 20_000).unwrap().changes, 1);
    assert!(!has("shared") && !has("last"));
}

fn a_journal_that_is_too_large_loses_its_oldest_calls(fresh: &Fresh) {
    let store = fresh.open();
    for number in 0..30_u64 {
        let mut one = change(&format!("c{number}"), number, "a", "x", "y");
        // Bytes that no database makes shorter.
        let mut state = number + 1;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(100_000)
        .collect();
        one.contents = vec![(format!("noise {number}"), Arc::<[u8]>::from(noise).into())];
        one.after = Held::File { hash: format!("noise {number}"), size: 100_000, mode: None };
        store.keep_changes(vec![one]).unwrap();
    }
    // A server gives the room of what was deleted back in its own time, so that only what is in a file shrinks at once.
    if !matches!(fresh.url, StoreUrl::Postgres(_)) {
        let half = Retention { age_ms: u64::MAX, bytes: 1_700_000 };
        let gone = store.collect(&half, 100).unwrap();
        assert!(gone.changes > 5 && gone.bytes_after <= half.bytes, "{gone:?}");
        let left = store.changes(&all()).unwrap();
        assert_eq!(left.len() as u64, 30 - gone.changes, "{gone:?}");
        assert_eq!(left.last().unwrap().call, "c29", "the last ones stay");
        assert_eq!(store.content("noise 29").unwrap().map(|bytes| bytes.len()), Some(100_000));
        assert_eq!(store.content("noise 0").unwrap(), None);
    }
    store.collect(&Retention { age_ms: u64::MAX, bytes: 0 }, 100).unwrap();
    assert_eq!(store.changes(&all()).unwrap(), []);
    assert_eq!(store.content("noise 29").unwrap(), None);
}

fn calls_of_several_processes_have_numbers_of_their_own(fresh: &Fresh) {
    let stores = [fresh.open(), fresh.open(), fresh.open()];
    std::thread::scope(|threads| {
        for (index, store) in stores.iter().enumerate() {
            threads.spawn(move || {
                for number in 0..20 {
                    store
                        .keep_changes(vec![change(&format!("c{index}-{number}"), 1, "a", "1", "2")])
                        .unwrap();
                }
            });
        }
    });
    let kept = stores[0].changes(&all()).unwrap();
    assert_eq!(kept.iter().map(|one| one.set).collect::<Vec<_>>(), (1..=60).collect::<Vec<_>>());
}
