//! Processes that are killed while they write, and what their disk was told before they spoke.

use crate::{Fresh, by, count, warning};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use toolpost_core::event::EventKind;
use toolpost_core::store::{
    ChangeQuery, EventQuery, FileChange, Held, NewChange, NewTask, Store, TaskChange,
};
use toolpost_store::StoreUrl;

/// Where a child of these tests finds its store; it is none without it.
const STORE: &str = "TOOLPOST_TEST_STORE";
/// Which child it is.
const NAME: &str = "TOOLPOST_TEST_NAME";

/// Started by the tests below as a process of its own: changes the store in every way, and says so after each change.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(url) = std::env::var(STORE).ok() else { return };
    let name = std::env::var(NAME).unwrap();
    let store = toolpost_store::open(&url.parse().unwrap()).unwrap();
    let mut out = std::io::stdout();
    for round in 1.. {
        store.append(&[warning(&name, round, "x"), warning(&name, round, "y")]).unwrap();
        say(&mut out, &format!("events {round}"));
        let content = Some(round.to_string().into_bytes());
        let change = FileChange { path: "file".into(), content, expected: None, mode: None };
        let version = store.change_files(&by(&name), vec![change]).unwrap()[0];
        say(&mut out, &format!("file {version}"));
        let new = NewTask { title: format!("{name} {round}"), ..NewTask::default() };
        let task = store.create_tasks(&by(&name), vec![new]).unwrap().remove(0);
        let submit = TaskChange::Submit { result: "done".to_owned(), claim: None };
        store.change_task(&by(&name), &task.id, submit).unwrap();
        say(&mut out, &format!("task {}", task.id));
        let call = format!("{name}-{round}");
        store
            .keep_changes(vec![
                crate::undo::change(&call, 1, "a", &call, "new"),
                crate::undo::change(&call, 1, "b", "x", "y"),
            ])
            .unwrap();
        say(&mut out, &format!("change {call}"));
        let large = large(&call);
        store
            .keep_changes(vec![
                crate::contents::change(&format!("{call}-large"), 1, &large, &large[1..]),
                NewChange {
                    name: "b".to_owned(),
                    ..crate::contents::change(&format!("{call}-large"), 1, b"x", b"y")
                },
            ])
            .unwrap();
        say(&mut out, &format!("large {call}"));
    }
}

/// A content that is kept in a file, of this call alone.
fn large(call: &str) -> Vec<u8> {
    call.bytes().cycle().take(300_000).collect()
}

fn say(out: &mut impl Write, line: &str) {
    writeln!(out, "ack {line}").unwrap();
    out.flush().unwrap();
}

fn child(program: &mut Command, url: &StoreUrl, name: &str) -> Child {
    let address = match url {
        StoreUrl::Memory => panic!("processes do not share memory"),
        StoreUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        StoreUrl::Postgres(url) => url.clone(),
    };
    program
        .args(["kills::child_that_writes_until_it_is_killed", "--exact", "--nocapture"])
        .env(STORE, address)
        .env(NAME, name)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts")
}

fn acknowledged(line: &str) -> Option<&str> {
    line.split_once("ack ").map(|(_, said)| said)
}

/// Lets children write, kills each at some moment, and looks at what they had said.
fn kill_and_look(fresh: &Fresh, rounds: usize) -> usize {
    drop(fresh.open());
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..rounds {
        let name = format!("child-{round}");
        let mut running = child(&mut Command::new(std::env::current_exe().unwrap()), &fresh.url, &name);
        let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let mut heard = Vec::new();
        for line in lines.by_ref() {
            heard.extend(acknowledged(&line.unwrap()).map(str::to_owned));
            if heard.len() as u64 > seed % 9 {
                break;
            }
        }
        assert!(!heard.is_empty(), "{name} has said nothing");
        std::thread::sleep(std::time::Duration::from_micros(seed % 3_000));
        running.kill().unwrap();
        // What it had said before it died counts too.
        heard.extend(lines.map_while(Result::ok).filter_map(|line| acknowledged(&line).map(str::to_owned)));
        running.wait().unwrap();
        said.insert(name, heard);
    }
    let store = fresh.open();
    said.iter().map(|(name, heard)| look(&*store, name, heard)).sum::<usize>() + whole_log(&*store)
}

fn look(store: &dyn Store, name: &str, heard: &[String]) -> usize {
    let query = EventQuery { session: Some(name.to_owned()), ..EventQuery::default() };
    let events = store.events(&query).unwrap();
    let sequences: Vec<u64> = events.iter().map(|one| one.event.sequence).collect();
    assert_eq!(sequences, (1..=events.len() as u64).collect::<Vec<_>>(), "{name}: no gap");
    let is_own = |kind: &EventKind| matches!(kind, EventKind::Warning { .. });
    let own: Vec<u64> =
        events.iter().filter(|one| is_own(&one.event.kind)).map(|one| one.event.at_ms).collect();
    let rounds = own.len() as u64 / 2;
    let expected: Vec<u64> = (1..=rounds).flat_map(|round| [round, round]).collect();
    assert_eq!(own, expected, "{name}: whole parts, in order, once");
    let versions = store.file_versions(name, "file").unwrap();
    let stored = events.iter().filter(|one| matches!(one.event.kind, EventKind::FileStored { .. })).count();
    assert_eq!(versions.len(), stored, "{name}: the log tells of every version");
    for line in heard {
        match line.split_once(' ').unwrap() {
            ("events", round) => assert!(round.parse::<u64>().unwrap() <= rounds, "{name}: {line}"),
            ("file", version) => {
                assert!(version.parse::<u64>().unwrap() <= versions.len() as u64, "{name}: {line}")
            }
            ("task", id) => {
                assert_eq!(store.task(id).unwrap().result.as_deref(), Some("done"), "{name}: {line}")
            }
            ("change", call) => {
                let query =
                    ChangeQuery { workspace: "/w".into(), call: Some(call.into()), ..ChangeQuery::default() };
                assert_eq!(store.changes(&query).unwrap().len(), 2, "{name}: {line}");
                let content = store.content(&format!("hash of {call}")).unwrap();
                assert_eq!(content.as_deref(), Some(call.as_bytes()), "{name}: {line}");
            }
            ("large", call) => {
                let large = large(call);
                for content in [&large[..], &large[1..]] {
                    let kept = store.content(&crate::contents::hash(content)).unwrap();
                    assert!(kept.as_deref() == Some(content), "{name}: {line}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
    heard.len()
}

fn whole_log(store: &dyn Store) -> usize {
    let all = store.events(&EventQuery::default()).unwrap();
    let positions: Vec<u64> = all.iter().map(|one| one.position).collect();
    assert_eq!(positions, (1..=all.len() as u64).collect::<Vec<_>>(), "the whole log has no gap");
    let changes = store.changes(&ChangeQuery { workspace: "/w".into(), ..ChangeQuery::default() }).unwrap();
    for whole in changes.chunk_by(|one, other| one.set == other.set) {
        assert_eq!(whole.len(), 2, "the changes of a call are kept together");
        // Acknowledged or not: what is named is there.
        for held in whole.iter().flat_map(|one| [&one.before, &one.after]) {
            let Held::File { hash, size, .. } = held else { panic!("{held:?}") };
            assert_eq!(store.content(hash).unwrap().map(|content| content.len() as u64), Some(*size));
        }
    }
    for task in store.tasks(None).unwrap() {
        let told = all.iter().rev().find_map(|one| match &one.event.kind {
            EventKind::TaskChanged { task: id, status, .. } if *id == task.id => Some(*status),
            _ => None,
        });
        assert_eq!(told, Some(task.status), "the log agrees about {}", task.id);
    }
    0
}

#[test]
fn guarantee_29_what_a_killed_process_has_said_is_there() {
    let (sqlite, postgres) = (count(15, 1_000), count(4, 200));
    let first = kill_and_look(&Fresh::sqlite(), sqlite);
    let second = kill_and_look(&Fresh::postgres(), postgres);
    println!(
        "measure: guarantee 29: {} processes killed on SQLite and {postgres} on PostgreSQL, {} acknowledgements, 0 lost, 0 twice",
        sqlite,
        first + second
    );
}

/// The system calls of a child, as strace shows them.
fn traced(url: &StoreUrl) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("trace");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-y", "-e", "trace=fsync,fdatasync,pwrite64,write,rename,renameat,renameat2", "-o"])
        .arg(&log);
    strace.arg(std::env::current_exe().unwrap());
    let mut running = child(&mut strace, url, "traced");
    let lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let heard = lines.map_while(Result::ok).filter(|line| acknowledged(line).is_some()).take(12).count();
    assert_eq!(heard, 12, "the child runs under strace");
    running.kill().unwrap();
    running.wait().unwrap();
    std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect()
}

/// A call of a trace that has begun or ended, or both. `strace` writes two lines for a call beside which another one ended,
/// and only the first of them has its arguments.
struct Traced {
    call: String,
    begins: bool,
    ends: bool,
    /// The number of the line on which it began.
    begun: usize,
}

fn calls(trace: &[String]) -> Vec<Traced> {
    let mut open: HashMap<&str, (usize, &str)> = HashMap::new();
    let mut all = Vec::new();
    for (number, line) in trace.iter().enumerate() {
        // A short number of a process has blanks behind it.
        let Some((process, call)) = line.trim_start().split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some((begin, _)) = call.split_once("<unfinished ...>") {
            open.insert(process, (number, begin));
            all.push(Traced { call: begin.to_owned(), begins: true, ends: false, begun: number });
        } else if call.contains(" resumed>") {
            let Some((begun, begin)) = open.remove(process) else { continue };
            all.push(Traced { call: format!("{begin}{call}"), begins: false, ends: true, begun });
        } else {
            all.push(Traced { call: call.to_owned(), begins: true, ends: true, begun: number });
        }
    }
    all
}

/// Whether a call is a sync that has ended well.
fn is_synced(traced: &Traced) -> bool {
    let call = &traced.call;
    let is_sync = call.starts_with("fdatasync(") || call.starts_with("fsync(");
    is_sync && traced.ends && call.ends_with("= 0")
}

/// How many acknowledgements came while something was written and not yet synced, or after a row was made durable while
/// the file that it may name was not; and how many in all.
fn unsynced(trace: &[String]) -> (usize, usize) {
    let (mut is_ahead, mut early, mut all) = (false, 0, 0);
    // Where that was written last which is not yet on the disk: of the store, of a file with a content, and of the folder
    // with its name. Only a sync that began later covers it.
    let (mut store, mut bytes, mut name): (Option<usize>, Option<usize>, Option<usize>) = (None, None, None);
    for traced in calls(trace) {
        let Traced { call, begins, begun, .. } = &traced;
        let is_of_content = call.contains("store.db-contents");
        let is_of_store = call.contains("store.db") && !is_of_content;
        let is_write = call.starts_with("write(");
        let covered = |written: Option<usize>| written.filter(|written| written > begun);
        if is_of_content && is_write {
            bytes = Some(*begun);
        } else if is_of_content && call.starts_with("rename") {
            name = Some(*begun);
        } else if is_of_content && is_synced(&traced) {
            match call.contains("store.db-contents>") {
                true => name = covered(name),
                false => bytes = covered(bytes),
            }
        } else if is_of_store && call.starts_with("pwrite64(") && !call.contains("-shm>") {
            store = Some(*begun);
        } else if is_of_store && is_synced(&traced) {
            store = covered(store);
            is_ahead |= bytes.is_some() || name.is_some();
        } else if *begins && call.contains("\"ack ") {
            all += 1;
            early += usize::from(is_ahead || store.is_some() || bytes.is_some() || name.is_some());
            is_ahead = false;
        }
    }
    (early, all)
}

#[test]
fn guarantee_29_nothing_is_said_before_the_disk_has_it() {
    let fresh = Fresh::sqlite();
    drop(fresh.open());
    let trace = traced(&fresh.url);
    let (early, all) = unsynced(&trace);
    assert!(all >= 10, "the recorder has seen {all} acknowledgements");
    assert_eq!(early, 0, "of {all}");
    assert!(
        trace.iter().any(|line| line.contains("store.db-contents/new>")),
        "the recorder has seen a file of a content"
    );
    println!(
        "measure: guarantee 29: {all} acknowledgements recorded with their system calls, none before its sync"
    );
}

#[test]
fn the_recorder_sees_a_sync_that_is_missing() {
    let trace = |lines: &[&str]| unsynced(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    let write = "7 pwrite64(9</x/store.db-wal>, \"..\", 4096, 0) = 4096";
    let sync = "7 fdatasync(9</x/store.db-wal>) = 0";
    let ack = "8 write(1<pipe:[5]>, \"ack events 1\\n\", 13) = 13";
    assert_eq!(trace(&[write, sync, ack]), (0, 1));
    assert_eq!(trace(&[write, ack, sync]), (1, 1));
    assert_eq!(trace(&[write, sync, write, ack]), (1, 1));
    // The same for a content in a file: its bytes, its name, and both before the row that names it.
    let bytes = "7 write(9</x/store.db-contents/new>, \"..\", 4096) = 4096";
    let sync_bytes = "7 fsync(9</x/store.db-contents/new>) = 0";
    let rename = "7 rename(\"/x/store.db-contents/new\", \"/x/store.db-contents/ab\") = 0";
    let sync_name = "7 fsync(9</x/store.db-contents>) = 0";
    assert_eq!(trace(&[bytes, sync_bytes, rename, sync_name, write, sync, ack]), (0, 1));
    assert_eq!(trace(&[bytes, rename, sync_name, write, sync, ack]), (1, 1));
    assert_eq!(trace(&[bytes, sync_bytes, rename, write, sync, ack]), (1, 1));
    assert_eq!(trace(&[write, sync, bytes, sync_bytes, rename, ack]), (1, 1));
    assert_eq!(trace(&[bytes, write, sync, sync_bytes, rename, sync_name, ack]), (1, 1));
    // A sync that is written on two lines counts when it ends, and only for what was written before it began.
    let (begin, end) = ("7 fdatasync(9</x/store.db-wal> <unfinished ...>", "7 <... fdatasync resumed>) = 0");
    let failed = "7 <... fdatasync resumed>) = -1 EIO (Input/output error)";
    assert_eq!(trace(&[write, begin, "8 write(2<x>, \"\", 0) = 0", end, ack]), (0, 1));
    assert_eq!(trace(&[write, begin, ack, end]), (1, 1));
    assert_eq!(trace(&[write, begin, failed, ack]), (1, 1));
    assert_eq!(trace(&[begin, &write.replacen('7', "9", 1), end, ack]), (1, 1));
    assert_eq!(trace(&[write, begin, end, "8     write(1<pipe:[5]>, \"ack x\", 5 <unfinished ...>"]), (0, 1));
    assert_eq!(trace(&["7     pwrite64(9</x/store.db-wal>, \"..\", 4096, 0) = 4096", ack]), (1, 1));
    // And a store that does not sync at all is caught, by the same recorder on a real one.
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("trace");
    let script = "import os,sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.execute('pragma journal_mode=wal')\n\
        c.execute('pragma synchronous=off')\nc.execute('create table t(x)')\n\
        [(c.execute('insert into t values(1)'),c.commit(),os.write(1,b'ack x\\n')) for _ in range(5)]\n";
    let ran = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=fsync,fdatasync,pwrite64,write,rename,renameat,renameat2", "-o"])
        .arg(&log)
        .args(["python3", "-c", script])
        .arg(folder.path().join("store.db"))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(ran.success());
    let lines: Vec<String> = std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(unsynced(&lines), (5, 5));
}
