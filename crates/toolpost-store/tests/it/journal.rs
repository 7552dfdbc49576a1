//! The journal of a running session: what its calls change is kept before it shows, and what they did not change is not.

use crate::{Fresh, on_every_store};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use toolpost_core::prelude::*;
use toolpost_core::store::{ChangeQuery, Held, Store};
use toolpost_core::workspace::{CommandBefore, CommandChange, Journal};
use toolpost_store::{Faults, StoreJournal, StoreUrl};

on_every_store!(
    a_call_is_kept_with_what_it_left,
    what_a_call_did_not_change_is_not_kept,
    what_a_command_has_changed_is_kept_as_one,
);

/// What the tool of these tests does, step by step.
#[derive(Deserialize, JsonSchema)]
struct Args {
    steps: Vec<Vec<String>>,
}

struct World {
    store: Arc<dyn Store>,
    files: Arc<Memory>,
    session: Context,
}

fn world(store: Arc<dyn Store>) -> World {
    let spec = Spec::new("steps", "1.0.0", "Changes files.").requires(Capability::Write);
    let tool = function(spec, |ctx: Context, args: Args| async move {
        ctx.blocking(move |ctx| {
            let files = ctx.workspace();
            let path = |name: &String| WorkspacePath::new(name.clone());
            for step in &args.steps {
                match (step[0].as_str(), &step[1..]) {
                    ("write", [name, text]) => drop(files.write(&path(name), text.as_bytes())?),
                    ("remove", [name]) => files.remove(&path(name))?,
                    ("rename", [from, to]) => files.rename(&path(from), &path(to))?,
                    ("folder", [name]) => files.create_folder(&path(name))?,
                    ("fail", []) => return Err(ToolError::execution("as it was told")),
                    other => panic!("{other:?}"),
                }
            }
            Ok(Output::text("done"))
        })
        .await
    });
    let tools = Arc::new(Registry::new());
    tools.register(tool).unwrap();
    let files = Arc::new(Memory::from_fixture("//- a\na\n//- b\nb\n"));
    let journal = StoreJournal::new(Arc::clone(&store), "/w");
    let workspace: Arc<dyn Workspace> = files.clone();
    let session = Context::builder(workspace).tools(tools).journal(Arc::new(journal)).build();
    World { store, files, session }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

impl World {
    fn call(&self, steps: Value) -> Outcome {
        run(Executor::new().call(&self.session, "steps", json!({"steps": steps})))
    }

    /// The changes of the last call: name, before, after.
    fn last(&self) -> Vec<String> {
        let query = ChangeQuery { workspace: "/w".to_owned(), is_last: true, ..ChangeQuery::default() };
        let all = self.store.changes(&query).unwrap();
        all.iter()
            .map(|one| format!("{}: {} > {}", one.name, self.shown(&one.before), self.shown(&one.after)))
            .collect()
    }

    fn shown(&self, held: &Held) -> String {
        match held {
            Held::File { hash, mode, .. } => {
                let content = self.store.content(hash).unwrap().expect("the bytes are kept");
                let mode = mode.map_or("usual".to_owned(), |mode| format!("{mode:o}"));
                format!("{mode} {}", String::from_utf8(content).unwrap().trim_end())
            }
            Held::Absent => "-".to_owned(),
            Held::Folder { .. } => "folder".to_owned(),
            other => format!("{other:?}"),
        }
    }

    fn count(&self) -> usize {
        let query = ChangeQuery { workspace: "/w".to_owned(), ..ChangeQuery::default() };
        self.store.changes(&query).unwrap().len()
    }
}

fn a_call_is_kept_with_what_it_left(fresh: &Fresh) {
    let world = world(fresh.open());
    assert!(world.call(json!([["write", "a", "A\n"]])).is_success());
    assert_eq!(world.last(), ["a: 644 a > 644 A"]);
    assert!(world.call(json!([["write", "deep/er/new", "n\n"], ["remove", "b"]])).is_success());
    assert_eq!(
        world.last(),
        ["deep: - > folder", "deep/er: - > folder", "deep/er/new: - > usual n", "b: 644 b > -"]
    );
    // Twice in one call: what was there before the first counts, and what is there in the end.
    assert!(world.call(json!([["write", "a", "1\n"], ["write", "a", "2\n"]])).is_success());
    assert_eq!(world.last(), ["a: 644 A > 644 2"]);
    assert!(world.call(json!([["rename", "a", "c"]])).is_success());
    assert_eq!(world.last(), ["a: 644 2 > -", "c: - > 644 2"]);
    // A call that fails after it has changed something has changed it.
    assert!(!world.call(json!([["write", "c", "half\n"], ["fail"]])).is_success());
    assert_eq!(world.last(), ["c: 644 2 > 644 half"]);
    assert!(world.call(json!([["folder", "x/y"]])).is_success());
    assert_eq!(world.last(), ["x: - > folder", "x/y: - > folder"]);
}

fn what_a_call_did_not_change_is_not_kept(fresh: &Fresh) {
    let world = world(fresh.open());
    // The same content; there and back; a removal that fails; a folder that is there.
    assert!(world.call(json!([["write", "a", "a\n"]])).is_success());
    assert!(world.call(json!([["write", "a", "x\n"], ["write", "a", "a\n"]])).is_success());
    assert!(!world.call(json!([["remove", "nothing"]])).is_success());
    assert!(!world.call(json!([["rename", "nothing", "deep/er"]])).is_success());
    assert_eq!(world.count(), 0);
    assert!(!world.call(json!([["fail"]])).is_success());
    let dry = Call::new("steps", json!({"steps": [["write", "a", "x\n"]]})).dry_run();
    assert!(run(Executor::new().run(&world.session, dry)).is_success());
    assert_eq!(world.count(), 0);
}

fn what_a_command_has_changed_is_kept_as_one(fresh: &Fresh) {
    let world = world(fresh.open());
    let journal = StoreJournal::new(Arc::clone(&world.store), "/w");
    let file = |text: &str| CommandBefore::File { content: Arc::from(text.as_bytes()), mode: 0o755 };
    let change = |name: &str, before, after| CommandChange { name: name.to_owned(), at_us: 1, before, after };
    let changes = vec![
        change("a", file("a"), file("A")),
        change("same", file("a"), file("a")),
        change("big", CommandBefore::TooLarge { bytes: 1 << 40 }, CommandBefore::Absent),
        change("link", CommandBefore::Absent, CommandBefore::Link("a".to_owned())),
        change("folder", CommandBefore::Folder { mode: 0o700 }, CommandBefore::Absent),
    ];
    journal.command_changed("s", "c", changes).unwrap();
    let expected = [
        "a: 755 a > 755 A",
        "big: TooLarge { size: 1099511627776 } > -",
        "link: - > Link { text: \"a\" }",
        "folder: folder > -",
    ];
    assert_eq!(world.last(), expected);
    journal.command_changed("s", "d", Vec::new()).unwrap();
    assert_eq!(world.count(), 4);
}

#[test]
fn what_cannot_be_kept_does_not_happen() {
    let text = "new\n";
    // Kept in the table, and in a file.
    for (fresh, repeated) in [(Fresh::memory(), 1), (Fresh::sqlite(), 1), (Fresh::sqlite(), 100_000)] {
        let faults = Arc::new(Faults::default());
        let world = world(toolpost_store::open_with(&fresh.url, Some(Arc::clone(&faults))).unwrap());
        let text = text.repeat(repeated);
        let mut statement = 0;
        loop {
            faults.after(statement);
            let outcome = world.call(json!([["write", "a", text], ["remove", "b"]]));
            let has_happened = faults.has_happened();
            faults.after(u32::MAX);
            if !has_happened {
                assert!(outcome.is_success());
                break;
            }
            assert!(!outcome.is_success(), "{statement}");
            assert!(outcome.to_text().contains("a fault of the test"), "{}", outcome.to_text());
            // Either nothing has happened, or what has happened is kept.
            let is_changed = world.files.stat(&"a".into()).unwrap().size != 2;
            assert_eq!(is_changed, world.count() > 0, "{statement}");
            assert!(world.files.stat(&"b".into()).is_ok(), "{statement}");
            if is_changed {
                break;
            }
            statement += 1;
        }
        assert!(statement >= 3, "{statement}");
    }
}

#[test]
fn the_journal_knows_the_hash_of_what_was_written() {
    let spec = Spec::new("hashes", "1.0.0", "Writes a file.").requires(Capability::Write);
    let tool = function(spec, |ctx: Context, _: Args| async move {
        ctx.blocking(move |ctx| {
            let mut told = String::new();
            // The second time the journal was not told before.
            for content in [&b"one"[..], b"two"] {
                ctx.workspace().write(&"a".into(), content)?;
                told += &format!("{} ", ctx.hash_of("a", content));
            }
            for content in [&b"three"[..], b"a\n", b"one"] {
                told += &format!("{} ", ctx.hash_of("a", content));
            }
            Ok(Output::text(told))
        })
        .await
    });
    let fresh = Fresh::sqlite();
    let world = world(fresh.open());
    world.session.tools().register(tool).unwrap();
    let told = run(Executor::new().call(&world.session, "hashes", json!({"steps": []}))).to_text();
    let expected = [&b"one"[..], b"two", b"three", b"a\n", b"one"].map(crate::contents::hash).join(" ");
    assert_eq!(told.trim(), expected);
    assert_eq!(world.last(), ["a: 644 a > 644 two"]);
}

#[test]
fn of_many_changes_of_one_call_each_is_kept() {
    let fresh = Fresh::sqlite();
    let world = world(fresh.open());
    let steps: Vec<Vec<String>> =
        (0..200).map(|number| vec!["write".to_owned(), format!("f{number}"), "x".to_owned()]).collect();
    assert!(world.call(json!(steps)).is_success());
    assert_eq!(world.count(), 200);
}

#[test]
fn a_spool_is_private_locked_and_taken_over() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    let folder = fresh.url.spools(None).unwrap();
    assert!(folder.starts_with(path.parent().unwrap()));
    let reader = || -> Option<toolpost_store::ReadSpool> {
        Some(Box::new(|file| {
            let mut text = String::new();
            std::io::Read::read_to_string(file, &mut text).unwrap();
            let before = CommandBefore::File { content: Arc::from(text.as_bytes()), mode: 0o644 };
            Ok(vec![CommandChange { name: "a".to_owned(), at_us: 1, before, after: CommandBefore::Absent }])
        }))
    };
    let journal = |workspace: &str| {
        StoreJournal::new(Arc::clone(&store), workspace).with_spools(folder.clone(), reader())
    };
    let running = journal("/w");
    let mut spool = running.spool("my session", "call/1").unwrap().expect("there is one");
    std::io::Write::write_all(&mut spool, b"old").unwrap();
    let files = || -> Vec<std::path::PathBuf> {
        let sessions =
            std::fs::read_dir(&folder).unwrap().flat_map(|of| std::fs::read_dir(of.unwrap().path()).unwrap());
        sessions
            .flat_map(|of| std::fs::read_dir(of.unwrap().path()).unwrap())
            .map(|file| file.unwrap().path())
            .collect()
    };
    assert_eq!(files().len(), 1);
    assert_eq!(std::fs::metadata(&files()[0]).unwrap().permissions().mode() & 0o777, 0o600);
    drop(spool);
    let query = ChangeQuery { workspace: "/w".to_owned(), ..ChangeQuery::default() };
    // Its process lives: the journal holds it.
    assert!(journal("/w").take_over().is_empty());
    assert_eq!((store.changes(&query).unwrap().len(), files().len()), (0, 1));
    // A process that died: the file stays, and nobody holds it.
    drop(running);
    assert!(journal("/other").take_over().is_empty());
    assert_eq!(files().len(), 1, "that of another workspace");
    assert!(journal("/w").take_over().is_empty());
    let kept = store.changes(&query).unwrap();
    assert_eq!((kept.len(), kept[0].session.as_str(), kept[0].call.as_str()), (1, "my session", "call/1"));
    assert_eq!(files().len(), 0);
    // One that had handed everything over is only removed.
    let running = journal("/w");
    drop(running.spool("my session", "call/1").unwrap());
    drop(running);
    assert!(journal("/w").take_over().is_empty());
    assert_eq!((store.changes(&query).unwrap().len(), files().len()), (1, 0));
    // The end of a call does not remove it: its command may go on in the background, until it has handed over what it changed.
    let running = journal("/w");
    let mut spool = running.spool("s", "d").unwrap().expect("there is one");
    std::io::Write::write_all(&mut spool, b"old").unwrap();
    running.ended("s", "d", true).unwrap();
    assert_eq!((files().len(), journal("/w").running()), (1, vec!["d".to_owned()]));
    let change = CommandChange {
        name: "b".to_owned(),
        at_us: 1,
        before: CommandBefore::Absent,
        after: CommandBefore::Folder { mode: 0o755 },
    };
    running.command_changed("s", "d", vec![change]).unwrap();
    assert_eq!((files().len(), journal("/w").running()), (0, Vec::new()));
}

/// What a command has put back is kept where another call has changed something meanwhile, or runs; it is no change.
#[test]
fn what_a_command_has_put_back_is_kept_where_it_had_company() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    let folder = fresh.url.spools(None).unwrap();
    let journal = StoreJournal::new(Arc::clone(&store), "/w").with_spools(folder, None);
    let now_us =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as u64;
    let touched = |name: &str, at_us: u64, is_changed: bool| {
        let file = |text: &str| CommandBefore::File { content: Arc::from(text.as_bytes()), mode: 0o644 };
        let after = if is_changed { file("new") } else { file("old") };
        CommandChange { name: name.to_owned(), at_us, before: file("old"), after }
    };
    let changes = |since_ms: Option<u64>| {
        let query = ChangeQuery { workspace: "/w".to_owned(), since_ms, ..ChangeQuery::default() };
        store.changes(&query).unwrap()
    };
    // Alone.
    journal.command_changed("s", "alone", vec![touched("a", now_us, false)]).unwrap();
    assert_eq!(changes(Some(0)).len(), 0);
    // Another one runs.
    let mut other = journal.spool("s", "other").unwrap().expect("there is one");
    std::io::Write::write_all(&mut other, b"x").unwrap();
    journal.command_changed("s", "first", vec![touched("a", now_us, false)]).unwrap();
    let kept = changes(Some(0));
    assert_eq!((kept.len(), kept[0].touched_us, kept[0].before == kept[0].after), (1, now_us, true));
    assert_eq!(changes(None).len(), 0, "it is no change");
    assert_eq!(changes(Some(now_us / 1_000 + 60_000)).len(), 0);
    // Another one has changed something meanwhile.
    journal.command_changed("s", "other", vec![touched("a", now_us + 1, true)]).unwrap();
    journal
        .command_changed("s", "second", vec![touched("a", now_us, false), touched("b", now_us, true)])
        .unwrap();
    assert_eq!((changes(None).len(), changes(Some(0)).len()), (2, 4));
    // It is deleted with the rest.
    store
        .collect(&toolpost_core::store::Retention { age_ms: 0, bytes: u64::MAX }, now_us / 1_000 + 60_000)
        .unwrap();
    assert_eq!(changes(Some(0)).len(), 0);
}

#[test]
fn a_store_of_the_first_version_gets_its_journal() {
    let fresh = Fresh::sqlite();
    let StoreUrl::Sqlite(path) = &fresh.url else { panic!("a file") };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let old =
        include_str!("../../migrations/1.sql").replace("{bytes}", "BLOB").replace("{number}", "INTEGER");
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(&old).unwrap();
    let words = "CREATE VIRTUAL TABLE log_words USING fts5 (words, content='', contentless_delete=1)";
    connection.execute_batch(words).unwrap();
    connection.execute_batch("INSERT INTO contents VALUES ('h', x'41')").unwrap();
    connection.execute_batch("PRAGMA application_id = 1953460076; PRAGMA user_version = 1").unwrap();
    drop(connection);
    let world = world(fresh.open());
    assert_eq!(world.store.content("h").unwrap().as_deref(), Some(&b"A"[..]));
    assert!(world.call(json!([["write", "a", "A\n"]])).is_success());
    assert_eq!(world.last(), ["a: 644 a > 644 A"]);
}
