//! Stores that cannot be used say why; those that can are for their user alone.

use crate::Fresh;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use toolpost_core::Code;
use toolpost_core::store::EventQuery;
use toolpost_store::StoreUrl;

fn refusal(path: &Path) -> String {
    let error = toolpost_store::open(&StoreUrl::Sqlite(path.to_owned())).err().expect("it cannot be opened");
    assert_eq!(error.code(), Code::StoreNotAvailable);
    error.message().to_owned()
}

#[test]
fn files_are_for_their_user_alone() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    store.append(&[crate::warning("a", 1, "x")]).unwrap();
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let names = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let modes: Vec<_> = names.map(|path| (mode(&path), path)).collect();
    assert!(modes.len() >= 2 && modes.iter().all(|(mode, _)| *mode == 0o600), "{modes:?}");
}

#[test]
fn a_store_from_the_future_is_left_alone() {
    let fresh = Fresh::sqlite();
    drop(fresh.open());
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.pragma_update(None, "user_version", 1_000).unwrap();
    drop(connection);
    let said = refusal(path);
    assert!(said.contains("version 1000") && said.contains("newer program"), "{said}");
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let said = refusal(&other);
    assert!(said.contains("another program"), "{said}");
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "this is a text and no database at all, whatever somebody thinks".repeat(20))
        .unwrap();
    let said = refusal(&text);
    assert!(said.contains("is not a store"), "{said}");
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("this is a text"));
    let said = refusal(folder.path());
    assert!(said.contains("not a regular file"), "{said}");
}

#[test]
fn two_open_a_new_store_at_once() {
    for fresh in [Fresh::sqlite(), Fresh::postgres()] {
        std::thread::scope(|threads| {
            (0..6).for_each(|_| drop(threads.spawn(|| fresh.open().last_position().unwrap())));
        });
    }
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let url: StoreUrl = "postgres://me:secret@127.0.0.1:9/db".parse().unwrap();
    let error = toolpost_store::open(&url).err().expect("nobody is there");
    let said = error.message();
    assert!(
        said.contains("127.0.0.1:9/db") && said.contains("see that it runs") && !said.contains("secret"),
        "{said}"
    );
}

#[test]
fn a_database_that_is_not_there_is_named() {
    let StoreUrl::Postgres(url) = Fresh::postgres().url else { panic!("a server") };
    let missing = format!("{}_missing", url);
    let error = toolpost_store::open(&missing.parse().unwrap()).err().expect("it is not there");
    assert!(error.message().contains("createdb"), "{}", error.message());
}

#[test]
fn the_log_beside_the_file_stays_short() {
    let fresh = Fresh::sqlite();
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    let log = format!("{}-wal", path.display());
    for number in 0..40 {
        let store = fresh.open();
        store.append(&[crate::warning("a", number, &"x".repeat(50_000))]).unwrap();
        drop(store);
        let length = std::fs::metadata(&log).map_or(0, |about| about.len());
        assert!(length < 700_000, "{length} bytes after {number}");
    }
    assert_eq!(fresh.open().last_position().unwrap(), 40);
}

/// A store as a program of an earlier version has left it: its tables, and two events.
fn of_version(path: &Path, version: usize) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    for step in 1..=version {
        let file = format!("{}/migrations/{step}.sql", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        connection.execute_batch(&text.replace("{bytes}", "BLOB").replace("{number}", "INTEGER")).unwrap();
    }
    let body = |number: u64| serde_json::to_string(&*crate::warning("s", number, "kept")).unwrap();
    // Since the fourth, new events wait in a table of their own, several in a row.
    let rows = match version {
        1..4 => format!(
            "INSERT INTO log (position, session, sequence, at_ms, call, kind, body) VALUES
             (1, 's', 1, 1, 'call-1', 'warning', '{}'), (2, 's', 2, 2, 'call-2', 'warning', '{}')",
            body(1),
            body(2)
        ),
        _ => format!(
            "INSERT INTO fresh (position, session, sequence, at_ms, kind, body) VALUES
             (1, '', 2, 0, 'batch', '[[1,null,null,null,null,{}],[2,null,null,null,null,{}]]')",
            body(1),
            body(2)
        ),
    };
    let more = format!(
        "CREATE VIRTUAL TABLE log_words USING fts5 (words, content='', contentless_delete=1, tokenize='unicode61');
         INSERT INTO sessions VALUES ('s', 1, 2, 2, 0, 0);
         UPDATE counters SET last = 2 WHERE name = 'log';
         PRAGMA journal_mode = WAL; PRAGMA application_id = 1953460076; PRAGMA user_version = {version};"
    );
    connection.execute_batch(&format!("{rows}; {more}")).unwrap();
}

#[test]
fn a_store_of_every_earlier_version_goes_on() {
    for version in 1..8 {
        let fresh = Fresh::sqlite();
        let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
        of_version(path, version);
        let store = fresh.open();
        store.append(&[crate::warning("s", 3, "added"), crate::warning("s", 4, "added")]).unwrap();
        let told = |query: EventQuery| -> Vec<(u64, u64, u64)> {
            let events = store.events(&query).unwrap();
            events.iter().map(|one| (one.position, one.event.sequence, one.event.at_ms)).collect()
        };
        let all = [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)];
        // As they wait, and when they are put in order.
        assert_eq!(told(EventQuery::default()), all, "from version {version}");
        let words = EventQuery { words: Some("kept".to_owned()), ..EventQuery::default() };
        assert_eq!(told(words), all[..2], "from version {version}");
        assert_eq!(told(EventQuery::default()), all, "from version {version}");
    }
}

#[test]
fn a_damaged_row_of_events_is_told() {
    let fresh = Fresh::sqlite();
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    let store = fresh.open();
    store.append(&[crate::warning("s", 1, "kept")]).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    for body in ["x'00'", "x'ffffffff00'", "x'0400000050616263'"] {
        connection.execute_batch(&format!("UPDATE fresh SET body = {body}")).unwrap();
        let error = store.events(&EventQuery::default()).unwrap_err();
        assert!(error.message().contains("a row of events is damaged"), "{}", error.message());
    }
}
