//! How contents are kept: what is referenced reads back byte for byte, whatever else has gone, and large ones are in files.

use crate::{Fresh, by, count, on_every_store};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolpost_core::store::{ChangeKind, ChangeQuery, FileChange, Held, NewChange, Retention, Store, Takes};
use toolpost_store::StoreUrl;

on_every_store!(
    whatever_is_referenced_reads_back_after_any_order_of_puts_and_deletions,
    a_file_that_is_edited_again_and_again_reads_back_at_every_step,
);

/// Bytes of a content that is kept in a file.
const LARGE: usize = 300_000;

/// Numbers that look random and are the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn held(bytes: &[u8]) -> Held {
    Held::File { hash: hash(bytes), size: bytes.len() as u64, mode: Some(0o644) }
}

/// A change of one file, with the true hashes of its contents.
pub(crate) fn change(call: &str, at_ms: u64, before: &[u8], after: &[u8]) -> NewChange {
    NewChange {
        workspace: "/w".to_owned(),
        session: "s".to_owned(),
        call: call.to_owned(),
        at_ms,
        kind: ChangeKind::Tool,
        by_command: false,
        touched_us: 0,
        name: "a".to_owned(),
        before: held(before),
        after: held(after),
        contents: vec![
            (hash(before), Arc::<[u8]>::from(before).into()),
            (hash(after), Arc::<[u8]>::from(after).into()),
        ],
        takes: Takes::default(),
    }
}

fn keep(age_ms: u64) -> Retention {
    Retention { age_ms, bytes: u64::MAX }
}

fn store_file(fresh: &Fresh) -> Option<&Path> {
    match &fresh.url {
        StoreUrl::Sqlite(path) => Some(path),
        _ => None,
    }
}

fn folder(fresh: &Fresh) -> PathBuf {
    PathBuf::from(format!("{}-contents", store_file(fresh).expect("a file").display()))
}

fn files_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Asks the tables themselves.
fn ask(fresh: &Fresh, question: &str) -> i64 {
    let connection = rusqlite::Connection::open(store_file(fresh).unwrap()).unwrap();
    connection.query_row(question, [], |row| row.get(0)).unwrap()
}

/// Another content, mostly made of this one.
fn edited(random: &mut Seeded, bytes: &[u8]) -> Vec<u8> {
    let from = random.below(bytes.len() + 1);
    let to = (from + random.below(200)).min(bytes.len());
    let length = random.below(200);
    let mut new = bytes[..from].to_vec();
    new.extend(random.bytes(length));
    new.extend_from_slice(&bytes[to..]);
    new
}

fn whatever_is_referenced_reads_back_after_any_order_of_puts_and_deletions(fresh: &Fresh) {
    let store = fresh.open();
    for round in 0..count(3, 60) {
        one_history(
            &*store,
            fresh,
            0x9e37_79b9_7f4a_7c15 ^ ((round as u64 + 1) << 20),
            (round as u64) * 1_000_000,
        );
    }
}

fn one_history(store: &dyn Store, fresh: &Fresh, seed: u64, start: u64) {
    let mut random = Seeded(seed | 1);
    let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    // The changes that are kept, as time, hash before, hash after; and the versions of virtual files.
    let mut changes: Vec<(u64, String, String)> = Vec::new();
    let mut virtual_files: Vec<String> = Vec::new();
    let mut last_virtual = 0;
    let length = [600, 5_000, 40_000, LARGE][random.below(4)];
    let mut current = random.bytes(length);
    for step in 0..60 {
        let now = start + 1_000 + step;
        match random.below(10) {
            0 => {
                let before_ms = start + 1_000 + random.below(60) as u64;
                store.collect(&keep(now - before_ms.min(now)), now).unwrap();
                let limit = before_ms.min(now);
                changes.retain(|(at, _, _)| *at >= limit);
                if last_virtual < limit {
                    virtual_files.clear();
                }
            }
            1 => {
                let content = Some(current.clone());
                let change = FileChange { path: "v".to_owned(), content, expected: None, mode: None };
                let who = toolpost_core::store::By { at_ms: now, ..by("virtual") };
                store.change_files(&who, vec![change]).unwrap();
                all.insert(hash(&current), current.clone());
                virtual_files.push(hash(&current));
                last_virtual = now;
            }
            kind => {
                let new = match kind {
                    // Another content altogether, an old one again, the same.
                    2 => {
                        let length = [0, 10, 700, 9_000, LARGE][random.below(5)];
                        random.bytes(length)
                    }
                    3 if !all.is_empty() => all.values().nth(random.below(all.len())).unwrap().clone(),
                    _ => edited(&mut random, &current),
                };
                store.keep_changes(vec![change(&format!("c{start}-{step}"), now, &current, &new)]).unwrap();
                changes.push((now, hash(&current), hash(&new)));
                all.insert(hash(&current), current);
                all.insert(hash(&new), new.clone());
                current = new;
            }
        }
        let mut needed: BTreeSet<&String> = virtual_files.iter().collect();
        needed.extend(changes.iter().flat_map(|(_, before, after)| [before, after]));
        // All of them now and then, the newest always.
        let every = if step % 10 == 9 { needed.len() } else { 2 };
        for hash in needed.iter().rev().take(every) {
            let kept = store.content(hash).unwrap();
            assert!(kept.as_deref() == Some(&all[*hash]), "seed {seed:x}, step {step}: {hash}");
        }
    }
    // What nothing needs goes in the end, with its file.
    store.collect(&keep(0), start + 900_000).unwrap();
    for hash in all.keys() {
        assert!(store.content(hash).unwrap().is_none(), "seed {seed:x}: {hash}");
    }
    if store_file(fresh).is_some() {
        assert_eq!(ask(fresh, "SELECT (SELECT count(*) FROM contents) + (SELECT count(*) FROM parts)"), 0);
        assert_eq!(files_in(&folder(fresh)), BTreeSet::new());
    }
}

fn a_file_that_is_edited_again_and_again_reads_back_at_every_step(fresh: &Fresh) {
    let store = fresh.open();
    let mut random = Seeded(77);
    let mut versions = vec![random.bytes(20_000)];
    for step in 0..40 {
        let last = versions.last().unwrap();
        let new = edited(&mut random, last);
        store.keep_changes(vec![change(&format!("c{step}"), step, last, &new)]).unwrap();
        versions.push(new);
    }
    for version in &versions {
        assert!(store.content(&hash(version)).unwrap().as_ref() == Some(version));
    }
    if store_file(fresh).is_some() {
        let links = ask(fresh, "SELECT max(links) FROM parts");
        assert_eq!(links, 16, "chains are bounded");
        let bytes = ask(fresh, "SELECT sum(length(content)) FROM contents");
        assert!(bytes < 4 * 20_000, "three whole ones and many differences, not {bytes} bytes");
    }
    // The first ones go, and what needs them does not suffer.
    store.collect(&keep(0), 35).unwrap();
    for version in &versions[35..] {
        assert!(store.content(&hash(version)).unwrap().as_ref() == Some(version));
    }
}

#[test]
fn large_contents_are_files_for_their_user_alone_and_count() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let mut random = Seeded(5);
    let before = random.bytes(LARGE);
    // A second content whose own part is large too, and a small one, which is in the table.
    let mut after = before.clone();
    after.extend(random.bytes(LARGE));
    store
        .keep_changes(vec![change("c1", 1, &before, &after), change("c2", 1, b"small", b"smaller")])
        .unwrap();
    let content =
        FileChange { path: "v".to_owned(), content: Some(vec![7; LARGE]), expected: None, mode: None };
    store.change_files(&by("s"), vec![content]).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder(&fresh)), 0o700);
    let names = files_in(&folder(&fresh));
    let expected = [hash(&before), hash(&after[LARGE..]), hash(&vec![7; LARGE])];
    assert_eq!(names, expected.into_iter().collect());
    for name in &names {
        assert_eq!(mode(&folder(&fresh).join(name)), 0o600);
        assert_eq!(&hash(&std::fs::read(folder(&fresh).join(name)).unwrap()), name);
    }
    assert!(ask(&fresh, "SELECT sum(length(content)) FROM contents") < 100);
    assert!(store.content(&hash(&after)).unwrap() == Some(after));
    assert_eq!(store.file("s", "v", None).unwrap().unwrap().content.len(), LARGE);
    let all = store.collect(&keep(u64::MAX), 1_000).unwrap();
    assert!(all.bytes_after >= 3 * LARGE as u64, "{all:?}");
    // Too much: the oldest call goes, with its files; what is in a virtual file stays.
    let little = Retention { age_ms: u64::MAX, bytes: 2 * LARGE as u64 };
    let gone = store.collect(&little, 1_000).unwrap();
    assert!(gone.changes == 1 && gone.bytes_after <= little.bytes, "{gone:?}");
    assert_eq!(files_in(&folder(&fresh)), [hash(&vec![7; LARGE])].into_iter().collect());
}

#[test]
fn a_file_that_is_lost_or_damaged_is_named_and_never_read_as_right() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let before = Seeded(9).bytes(LARGE);
    let mut after = before.clone();
    after[10] ^= 1;
    store.keep_changes(vec![change("c1", 1, &before, &after)]).unwrap();
    let file = folder(&fresh).join(hash(&before));
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[LARGE / 2] ^= 1;
    for damaged in [Some(&flipped[..]), Some(&whole[1..]), Some(b""), None] {
        match damaged {
            Some(bytes) => std::fs::write(&file, bytes).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        for wanted in [&before, &after] {
            let said = store.content(&hash(wanted)).unwrap_err().message().to_owned();
            let word = if damaged.is_some() { "is damaged" } else { "is missing" };
            assert!(said.contains(file.to_str().unwrap()) && said.contains(word), "{said}");
        }
    }
    std::fs::write(&file, &whole).unwrap();
    assert!(store.content(&hash(&after)).unwrap() == Some(after));
}

#[test]
fn a_small_content_that_is_damaged_is_never_read_as_right() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let (before, after) = (Seeded(5).bytes(3_000), Seeded(6).bytes(3_000));
    store.keep_changes(vec![change("c1", 1, &before, &after)]).unwrap();
    let other = rusqlite::Connection::open(store_file(&fresh).unwrap()).unwrap();
    let mut damaged = before.clone();
    damaged[1_000] ^= 1;
    let update = "UPDATE contents SET content = ?1 WHERE hash = ?2";
    assert_eq!(other.execute(update, rusqlite::params![damaged, hash(&before)]).unwrap(), 1);
    let said = store.content(&hash(&before)).unwrap_err().message().to_owned();
    assert!(said.contains(&hash(&before)) && said.contains("is damaged"), "{said}");
    assert!(store.content(&hash(&after)).unwrap() == Some(after));
}

#[test]
fn what_is_kept_again_is_there_again_though_its_file_was_lost() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let before = Seeded(11).bytes(LARGE);
    let mut after = before.clone();
    after[1_000] ^= 1;
    let mut last = after.clone();
    last[2_000] ^= 1;
    store.keep_changes(vec![change("c1", 1, &before, &after), change("c2", 1, &after, &last)]).unwrap();
    for (call, damage) in [("c3", None), ("c4", Some("x"))] {
        for name in files_in(&folder(&fresh)) {
            match damage {
                Some(text) => std::fs::write(folder(&fresh).join(name), text).unwrap(),
                None => std::fs::remove_file(folder(&fresh).join(name)).unwrap(),
            }
        }
        assert!(store.content(&hash(&after)).is_err());
        // It is the content before another change: that one may not be made without it.
        store.keep_changes(vec![change(call, 2, &after, b"")]).unwrap();
        assert!(store.content(&hash(&after)).unwrap().as_ref() == Some(&after));
        assert!(store.content(&hash(&last)).unwrap().as_ref() == Some(&last), "and what is made from it");
    }
}

#[test]
fn files_that_no_content_names_go_and_those_of_others_stay() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let content = Seeded(3).bytes(LARGE);
    store.keep_changes(vec![change("c1", 1, &content, b"")]).unwrap();
    let folder = folder(&fresh);
    // Left by processes that died, and by somebody else.
    for name in ["new", &hash(b"orphan"), "notes.txt"] {
        std::fs::write(folder.join(name), "x").unwrap();
    }
    store.collect(&keep(u64::MAX), 10).unwrap();
    assert_eq!(files_in(&folder), [hash(&content), "notes.txt".to_owned()].into_iter().collect());
}

#[test]
fn a_file_that_another_process_is_about_to_name_stays() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let content = Seeded(3).bytes(LARGE);
    store.keep_changes(vec![change("c1", 1, &content, b"")]).unwrap();
    // Another process is in the middle of keeping a content: the file is there, and no row yet.
    let other = rusqlite::Connection::open(store_file(&fresh).unwrap()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let new = Seeded(4).bytes(LARGE);
    std::fs::write(folder(&fresh).join(hash(&new)), &new).unwrap();
    std::thread::scope(|threads| {
        let collecting = threads.spawn(|| store.collect(&keep(u64::MAX), 10).unwrap());
        other.execute("INSERT INTO contents (hash, content) VALUES (?1, x'')", [hash(&new)]).unwrap();
        let insert =
            "INSERT INTO parts (hash, head, tail, links, file, file_bytes) VALUES (?1, 0, 0, 0, ?1, ?2)";
        other.execute(insert, (hash(&new), LARGE as i64)).unwrap();
        let name = "INSERT INTO files (session, path, version, hash, size, mode, at_ms) VALUES ('s', 'p', 1, ?1, ?2, 420, 1)";
        other.execute(name, (hash(&new), LARGE as i64)).unwrap();
        other.execute_batch("COMMIT").unwrap();
        collecting.join().unwrap();
    });
    assert!(store.content(&hash(&new)).unwrap() == Some(new));
}

#[test]
fn what_is_kept_while_another_process_deletes_is_there() {
    let fresh = Fresh::sqlite();
    let (one, other) = (fresh.open(), fresh.open());
    let contents: Vec<Vec<u8>> = (1..4).map(|seed| Seeded(seed).bytes(LARGE)).collect();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                // Everything before the moment 1,000 is old.
                other.collect(&keep(0), 1_000).unwrap();
            }
        });
        threads.spawn(|| {
            // Whoever reads sees the right bytes or none.
            while !is_done.load(Ordering::Acquire) {
                for content in &contents {
                    let read = fresh.open().content(&hash(content)).unwrap();
                    assert!(read.is_none_or(|read| read == *content));
                }
            }
        });
        for round in 0..count(30, 1_000) {
            let content = &contents[round % contents.len()];
            // One that may go at once, and one that may not, of the same bytes.
            one.keep_changes(vec![change(&format!("old{round}"), 1, content, b"")]).unwrap();
            one.keep_changes(vec![change(&format!("new{round}"), 2_000, b"", content)]).unwrap();
            let read = one.content(&hash(content));
            is_done.fetch_or(read.is_err(), Ordering::AcqRel);
            assert!(read.unwrap().as_ref() == Some(content), "round {round}");
            one.correct_changes("/w", &format!("new{round}"), vec![nothing()]).unwrap();
        }
        is_done.store(true, Ordering::Release);
    });
    other.collect(&keep(0), 1_000).unwrap();
    assert_eq!(files_in(&folder(&fresh)), BTreeSet::new());
}

fn nothing() -> toolpost_core::store::Correction {
    toolpost_core::store::Correction { name: "a".to_owned(), after: None, content: None }
}

#[test]
fn a_store_of_each_earlier_version_keeps_what_it_has() {
    let steps = [include_str!("../../migrations/1.sql"), include_str!("../../migrations/2.sql")];
    for version in 1..=steps.len() {
        let fresh = Fresh::sqlite();
        let path = store_file(&fresh).unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        for step in &steps[..version] {
            let step = step.replace("{bytes}", "BLOB").replace("{number}", "INTEGER");
            connection.execute_batch(&step).unwrap();
        }
        let words = "CREATE VIRTUAL TABLE log_words USING fts5 (words, content='', contentless_delete=1)";
        connection.execute_batch(words).unwrap();
        // As a store of that version has it: a large content is in the table.
        let old = Seeded(8).bytes(LARGE);
        connection.execute("INSERT INTO contents VALUES (?1, ?2)", (hash(&old), &old)).unwrap();
        let mark = format!("PRAGMA application_id = 1953460076; PRAGMA user_version = {version}");
        connection.execute_batch(&mark).unwrap();
        drop(connection);
        let store = fresh.open();
        assert!(store.content(&hash(&old)).unwrap().as_ref() == Some(&old));
        let mut new = old.clone();
        new.truncate(LARGE - 5);
        store.keep_changes(vec![change("c1", 1, &old, &new)]).unwrap();
        assert!(store.content(&hash(&new)).unwrap() == Some(new));
        assert_eq!(files_in(&folder(&fresh)), BTreeSet::new(), "what is there is not written again");
        let kept =
            store.changes(&ChangeQuery { workspace: "/w".to_owned(), ..ChangeQuery::default() }).unwrap();
        assert_eq!(kept.len(), 1);
    }
}
