//! What sessions have seen of files: the later one holds, it is bounded, and it goes with its session and with time.

use crate::{Fresh, on_every_store};
use std::sync::Arc;
use toolpost_core::host::{FileMark, KnownVersion, Viewer};
use toolpost_core::store::{KnownFile, Retention, Store};
use toolpost_core::text::hex;

on_every_store!(
    the_last_version_is_known,
    many_versions_are_bounded,
    what_was_seen_goes_with_its_session_and_with_time
);

fn hash(text: &str) -> String {
    use sha2::Digest;
    hex(&sha2::Sha256::digest(text))
}

fn version(text: &str) -> KnownVersion {
    KnownVersion { mark: FileMark::Hash(hash(text)), content: Some(text.as_bytes().into()) }
}

fn seen(session: &str, name: &str, at_us: u64, version: Option<KnownVersion>) -> KnownFile {
    let [workspace, session, name] = ["/repo", session, name].map(str::to_owned);
    KnownFile { workspace, session, activation: String::new(), name, at_us, version }
}

fn known(store: &Arc<dyn Store>, session: &str, name: &str) -> Option<KnownVersion> {
    store.known_file("/repo", Viewer { session, activation: "" }, name).unwrap()?.version
}

fn the_last_version_is_known(fresh: &Fresh) {
    let store = fresh.open();
    let keep = |files: Vec<KnownFile>| store.keep_known(files).unwrap();
    keep(vec![seen("s", "a", 1, Some(version("one"))), seen("t", "a", 1, Some(version("one")))]);
    keep(vec![seen("s", "a", 3, Some(version("three"))), seen("s", "b", 3, Some(version("b")))]);
    // From a process that was slower.
    keep(vec![seen("s", "a", 2, Some(version("two"))), seen("s", "b", 2, None)]);
    assert_eq!(known(&store, "s", "a"), Some(version("three")));
    assert_eq!(known(&store, "s", "b"), Some(version("b")));
    assert_eq!(known(&store, "t", "a"), Some(version("one")));
    let elsewhere = store.known_file("/other", Viewer { session: "s", activation: "" }, "a").unwrap();
    let of_run = store.known_file("/repo", Viewer { session: "s", activation: "r" }, "a").unwrap();
    assert_eq!((elsewhere, of_run), (None, None));
    let stamp = KnownVersion { mark: FileMark::Stamp { size: 9, modified_ms: 7 }, content: None };
    keep(vec![seen("s", "a", 4, Some(stamp.clone())), seen("s", "b", 4, None)]);
    assert_eq!((known(&store, "s", "a"), known(&store, "s", "b")), (Some(stamp), None));
    // What is needed by one stays, although it went for the other.
    keep(vec![seen("s", "a", 5, Some(version("one")))]);
    keep(vec![seen("s", "a", 6, None)]);
    assert_eq!(known(&store, "t", "a"), Some(version("one")));
}

fn many_versions_are_bounded(fresh: &Fresh) {
    let store = fresh.open();
    let text = |number: u64| format!("{number} {}", "x".repeat(100_000));
    let large =
        (0..250).map(|number| seen("s", &format!("large{number}"), number + 1, Some(version(&text(number)))));
    store.keep_known(large.collect()).unwrap();
    let content = |name: &str| known(&store, "s", name).and_then(|version| version.content);
    assert!(content("large249").is_some() && content("large100").is_some() && content("large50").is_none());
    assert_eq!(known(&store, "s", "large50").unwrap().mark, version(&text(50)).mark, "its hash stays");
    if fresh.url.to_string().contains("sqlite") {
        assert_eq!(store.content(&hash(&text(50))).unwrap(), None, "nobody needs it any more");
    }
    let small =
        (0..1_000).map(|number| seen("s", &format!("small{number}"), 1_000 + number, Some(version("x"))));
    store.keep_known(small.collect()).unwrap();
    assert_eq!((known(&store, "s", "large249"), known(&store, "s", "small0")), (None, Some(version("x"))));
}

fn what_was_seen_goes_with_its_session_and_with_time(fresh: &Fresh) {
    let store = fresh.open();
    let at = |ms: u64| ms * 1_000;
    store.append(&[crate::warning("s", 1, "x")]).unwrap();
    let files = [("s", "a", 10), ("t", "a", 10), ("t", "b", 90)];
    let files = files
        .map(|(session, name, ms)| seen(session, name, at(ms), Some(version(&format!("{session}{name}")))));
    store.keep_known(files.to_vec()).unwrap();
    assert!(store.remove_session("s").unwrap());
    assert_eq!((known(&store, "s", "a"), store.content(&hash("sa")).unwrap()), (None, None));
    store.collect(&Retention { age_ms: 50, bytes: 1 << 30 }, 100).unwrap();
    assert_eq!((known(&store, "t", "a"), store.content(&hash("ta")).unwrap()), (None, None));
    assert_eq!(known(&store, "t", "b"), Some(version("tb")));
    // Too large for the store, it goes as well.
    let large = |number: u64| {
        seen("t", &number.to_string(), at(91 + number), Some(version(&format!("{number}").repeat(200_000))))
    };
    store.keep_known((0..20).map(large).collect()).unwrap();
    store.collect(&Retention { age_ms: 1_000, bytes: 1 << 20 }, 200).unwrap();
    assert_eq!(known(&store, "t", "b"), None);
}
