//! A disk that is full, one that may not be written, and a file that somebody else keeps locked: a clear error, and nothing
//! half done.

use crate::{Fresh, by, warning};
use std::path::Path;
use std::process::Command;
use toolpost_core::Code;
use toolpost_core::store::{EventQuery, FileChange, Store};
use toolpost_store::StoreUrl;

/// Where a child finds the disk that was made for it; a process is none without it.
const DISK: &str = "TOOLPOST_TEST_DISK";

/// Runs a test of this program with a disk of its own, which only that process sees: `mount` makes it at `$DISK`.
fn on_a_disk(test: &str, mount: &str) {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!("set -e\nDISK=${DISK}\n{mount}\nexec \"$0\" \"$@\"");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(DISK, &disk)
        .output()
        .expect("`unshare` of the package `util-linux` runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("looked at the disk"), "{said}");
}

fn is_child() -> Option<StoreUrl> {
    let disk = std::env::var_os(DISK)?;
    Some(StoreUrl::Sqlite(Path::new(&disk).join("store.db")))
}

#[test]
fn guarantee_31_a_full_disk_is_named_and_loses_nothing() {
    on_a_disk("disk::child_on_a_full_disk", "mount -t tmpfs -o size=3m tmpfs \"$DISK\"");
}

/// Started by the test above, with a disk of three megabytes.
#[test]
fn child_on_a_full_disk() {
    let Some(url) = is_child() else { return };
    let store = toolpost_store::open(&url).unwrap();
    let StoreUrl::Sqlite(path) = &url else { panic!("a file") };
    let filler = path.with_file_name("filler");
    let mut kept = Vec::new();
    let refused = loop {
        let number = kept.len() as u64;
        let events = [warning("s", number, &"x".repeat(3_000)), warning("s", number, &"y".repeat(3_000))];
        match store.append(&events) {
            Ok(()) => kept.push(number),
            Err(error) => break error,
        }
        assert!(kept.len() < 10_000, "three megabytes are full by now");
        std::fs::write(&filler, vec![0; 4096 * kept.len()]).ok();
    };
    assert_eq!(refused.code(), Code::StoreNotAvailable);
    assert!(refused.message().contains("the disk is full: make room"), "{refused}");
    let change =
        FileChange { path: "a".to_owned(), content: Some(vec![1; 1 << 20]), expected: None, mode: None };
    let refused = store.change_files(&by("s"), vec![change]).unwrap_err();
    assert!(refused.message().contains("the disk is full: make room"), "{refused}");
    // Nothing of it is left, which would take the room that is missing.
    let contents = path.with_file_name("store.db-contents");
    assert_eq!(std::fs::read_dir(&contents).into_iter().flatten().count(), 0);
    // What was acknowledged is there, whole; nothing else is; and with room again the store goes on.
    let look = |store: &dyn Store| store.events(&EventQuery::default()).unwrap().len();
    assert_eq!(look(&*store), kept.len() * 2);
    assert_eq!(store.files("s", "").unwrap(), []);
    std::fs::remove_file(&filler).unwrap();
    store.append(&[warning("s", 1, "there is room again")]).unwrap();
    drop(store);
    let store = toolpost_store::open(&url).unwrap();
    assert_eq!(look(&*store), kept.len() * 2 + 1);
    println!("looked at the disk");
}

#[test]
fn guarantee_31_a_disk_that_may_not_be_written_is_named() {
    let make = "mount -t tmpfs tmpfs \"$DISK\"";
    on_a_disk("disk::child_on_a_disk_to_read", make);
}

/// Started by the test above, with a disk that it makes read-only while the store is open.
#[test]
fn child_on_a_disk_to_read() {
    let Some(url) = is_child() else { return };
    let StoreUrl::Sqlite(path) = &url else { panic!("a file") };
    toolpost_store::open(&url).unwrap().append(&[warning("s", 1, "before")]).unwrap();
    let disk = path.parent().unwrap();
    let mount = |options: &str| {
        assert!(Command::new("mount").args(["-o", options]).arg(disk).status().unwrap().success());
    };
    mount("remount,ro");
    let refused = toolpost_store::open(&url).and_then(|store| store.append(&[warning("s", 2, "late")]));
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), Code::StoreNotAvailable);
    let said = refused.message();
    assert!(
        said.contains("store.db") && (said.contains("may not be written") || said.contains("may be written")),
        "{said}"
    );
    mount("remount,rw");
    let store = toolpost_store::open(&url).unwrap();
    assert_eq!(store.last_position().unwrap(), 1);
    println!("looked at the disk");
}

#[test]
fn guarantee_31_a_locked_file_is_waited_for_and_then_named() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    store.append(&[warning("s", 1, "before")]).unwrap();
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.append(&[warning("s", 2, "while it is locked")]).unwrap_err();
    assert_eq!(refused.code(), Code::StoreNotAvailable);
    assert!(refused.message().contains("locked"), "{refused}");
    // Who reads does not wait.
    assert_eq!(store.last_position().unwrap(), 1);
    other.execute_batch("COMMIT").unwrap();
    store.append(&[warning("s", 3, "after")]).unwrap();
    assert_eq!(store.last_position().unwrap(), 2);
}
