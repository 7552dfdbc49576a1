//! Virtual files: versions, compare-and-set, sessions apart.

use crate::{Fresh, by, on_every_store, on_shared_stores};
use toolpost_core::event::EventKind;
use toolpost_core::store::{EventQuery, FileChange, Store};
use toolpost_core::{Code, ToolError};

on_every_store!(
    every_change_is_a_version,
    a_version_that_is_not_the_newest_is_refused,
    several_files_change_together_or_not_at_all,
    paths_are_looked_at,
    sessions_are_apart,
    nothing_is_a_file_and_a_folder,
    prefixes_are_beginnings,
);
on_shared_stores!(of_two_who_expect_the_same_version_one_wins);

fn put(
    store: &dyn Store,
    session: &str,
    path: &str,
    content: &str,
    expected: Option<u64>,
) -> Result<u64, ToolError> {
    let change = FileChange { path: path.to_owned(), content: Some(content.into()), expected, mode: None };
    store.change_files(&by(session), vec![change]).map(|versions| versions[0])
}

fn delete(store: &dyn Store, path: &str, expected: Option<u64>) -> Result<u64, ToolError> {
    let change = FileChange { path: path.to_owned(), content: None, expected, mode: None };
    store.change_files(&by("s"), vec![change]).map(|versions| versions[0])
}

fn text(store: &dyn Store, path: &str, version: Option<u64>) -> Option<String> {
    let file = store.file("s", path, version).unwrap()?;
    Some(String::from_utf8(file.content).unwrap())
}

fn every_change_is_a_version(fresh: &Fresh) {
    let store = fresh.open();
    assert_eq!(put(&*store, "s", "notes/a.md", "one", None).unwrap(), 1);
    assert_eq!(put(&*store, "s", "/notes/a.md", "two", Some(1)).unwrap(), 2);
    assert_eq!(delete(&*store, "notes/a.md", None).unwrap(), 3);
    assert_eq!(text(&*store, "notes/a.md", None), None);
    assert_eq!(text(&*store, "notes/a.md", Some(1)).as_deref(), Some("one"));
    assert_eq!(text(&*store, "notes/a.md", Some(3)), None);
    assert_eq!(text(&*store, "notes/a.md", Some(9)), None);
    assert_eq!(put(&*store, "s", "notes/a.md", "three", Some(0)).unwrap(), 4);
    put(&*store, "s", "b_c.md", "", None).unwrap();
    put(&*store, "s", "bxc.md", "x", None).unwrap();
    let names = |prefix: &str| -> Vec<String> {
        store.files("s", prefix).unwrap().into_iter().map(|file| file.path).collect()
    };
    assert_eq!(names(""), ["b_c.md", "bxc.md", "notes/a.md"]);
    assert_eq!(names("b_"), ["b_c.md"], "a sign of a pattern is a sign like any other");
    assert_eq!(names("notes/"), ["notes/a.md"]);
    let versions = store.file_versions("s", "notes/a.md").unwrap();
    let told: Vec<_> = versions.iter().map(|one| (one.version, one.size, one.hash.is_some())).collect();
    assert_eq!(told, [(1, 3, true), (2, 3, true), (3, 0, false), (4, 5, true)]);
    let stored = store.events(&EventQuery::default()).unwrap();
    let path = "notes/a.md".to_owned();
    assert_eq!(stored[2].event.kind, EventKind::FileStored { path, version: 3, deleted: true });
}

fn a_version_that_is_not_the_newest_is_refused(fresh: &Fresh) {
    let store = fresh.open();
    put(&*store, "s", "a", "one", Some(0)).unwrap();
    let exists = put(&*store, "s", "a", "two", Some(0)).unwrap_err();
    assert_eq!(exists.code(), Code::StaleFile);
    assert!(exists.message().contains("version 1"), "{}", exists.message());
    let other = put(&*store, "s", "a", "two", Some(7)).unwrap_err();
    assert!(other.message().contains("has version 1 now, not 7"), "{}", other.message());
    assert_eq!(delete(&*store, "a", Some(2)).unwrap_err().code(), Code::StaleFile);
    assert_eq!(delete(&*store, "b", None).unwrap_err().code(), Code::FileNotFound);
    assert_eq!(text(&*store, "a", None).as_deref(), Some("one"));
    assert_eq!(store.last_position().unwrap(), 1);
}

fn several_files_change_together_or_not_at_all(fresh: &Fresh) {
    let store = fresh.open();
    let change = |path: &str, expected| FileChange {
        path: path.to_owned(),
        content: Some(b"new".to_vec()),
        expected,
        mode: Some(0o755),
    };
    let versions = store.change_files(&by("s"), vec![change("b", None), change("a", None)]).unwrap();
    assert_eq!(versions, [1, 1]);
    store.change_files(&by("s"), vec![change("a", None), change("c", Some(5))]).unwrap_err();
    let files = store.files("s", "").unwrap();
    let told: Vec<_> = files.iter().map(|one| (one.path.as_str(), one.version, one.mode)).collect();
    assert_eq!(told, [("a", 1, 0o755), ("b", 1, 0o755)]);
}

fn paths_are_looked_at(fresh: &Fresh) {
    let store = fresh.open();
    for path in ["", "/", "a/../b", "../a", "a//b", "a/.", "a/", "a\nb", "a\0b", &"x".repeat(2000)] {
        assert_eq!(put(&*store, "s", path, "x", None).unwrap_err().code(), Code::ValidationError, "{path:?}");
    }
    put(&*store, "s", "./ä ö/…", "x", None).unwrap();
    assert_eq!(text(&*store, "ä ö/…", None).as_deref(), Some("x"));
}

fn sessions_are_apart(fresh: &Fresh) {
    let store = fresh.open();
    put(&*store, "s", "a", "mine", None).unwrap();
    put(&*store, "t", "a", "yours", Some(0)).unwrap();
    assert_eq!(text(&*store, "a", None).as_deref(), Some("mine"));
    assert_eq!(store.files("u", "").unwrap(), []);
}

fn nothing_is_a_file_and_a_folder(fresh: &Fresh) {
    let store = fresh.open();
    put(&*store, "s", "a/b", "x", None).unwrap();
    put(&*store, "s", "a.md", "x", None).unwrap();
    for path in ["a", "a/b/c", "a/b/c/d"] {
        let refused = put(&*store, "s", path, "x", None).unwrap_err();
        assert_eq!(refused.code(), Code::NotAFile, "{path}");
        let why = if path == "a" { "`a` is a folder, because `a/b` is in it" } else { "delete `a/b` first" };
        assert!(refused.message().contains(why), "{refused}");
        assert_eq!(text(&*store, path, None), None);
    }
    put(&*store, "t", "a", "another session", None).unwrap();
    // Within one change, what is there at its end counts.
    let change = |path: &str, content: Option<&str>| FileChange {
        path: path.to_owned(),
        content: content.map(Into::into),
        expected: None,
        mode: None,
    };
    store.change_files(&by("s"), vec![change("a", Some("x")), change("a/b", None)]).unwrap();
    store.change_files(&by("s"), vec![change("b", Some("x")), change("b/c", Some("x"))]).unwrap_err();
    let names: Vec<String> = store.files("s", "").unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(names, ["a", "a.md"]);
}

fn prefixes_are_beginnings(fresh: &Fresh) {
    let store = fresh.open();
    let last = format!("z{}", char::MAX);
    let all = [
        "A",
        "a",
        "a b",
        "a/",
        "a/b",
        "a/ä",
        "a0",
        "aa",
        "ab%",
        "b",
        "ä/ö",
        "z",
        &last,
        "\u{d7ff}x",
        "\u{e000}y",
    ];
    let all: Vec<&str> =
        all.into_iter().filter(|path| !path.ends_with('/') && *path != "a" && *path != "z").collect();
    for path in &all {
        put(&*store, "s", path, "x", None).unwrap();
    }
    for prefix in ["", "a", "a/", "A", "aa", "ab%", "ä", "z", &last, "\u{d7ff}", "nothing"] {
        let found: Vec<String> =
            store.files("s", prefix).unwrap().into_iter().map(|file| file.path).collect();
        let mut expected: Vec<&str> = all.iter().filter(|path| path.starts_with(prefix)).copied().collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{prefix:?}");
    }
}

fn of_two_who_expect_the_same_version_one_wins(fresh: &Fresh) {
    let stores = [fresh.open(), fresh.open(), fresh.open(), fresh.open()];
    for round in 0..20_u64 {
        let won = std::thread::scope(|threads| {
            let all: Vec<_> = stores
                .iter()
                .map(|store| threads.spawn(move || put(&**store, "s", "a", "x", Some(round)).is_ok()))
                .collect();
            all.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(won, 1, "round {round}");
    }
}
