//! A fault at each statement of each change: an error that says so, and nothing of the change.

use crate::undo::change;
use crate::{Fresh, by, on_every_store, warning};
use std::sync::Arc;
use toolpost_core::store::{
    ChangeKind, ChangeQuery, Correction, EventQuery, FileChange, Finished, Held, NewChange, NewTask, Store,
    Takes, TaskChange, Todo, TodoPriority, TodoStatus,
};
use toolpost_core::{Code, ToolError};
use toolpost_store::Faults;

on_every_store!(guarantee_31_a_fault_leaves_nothing_behind);

type Change = fn(&dyn Store) -> Result<(), ToolError>;

const CHANGES: [(&str, Change); 12] = [
    ("append", |store| store.append(&[warning("a", 1, "x"), warning("b", 2, "y")])),
    ("files", |store| {
        let change = |path: &str| FileChange {
            path: path.to_owned(),
            content: Some(b"new".to_vec()),
            expected: None,
            mode: None,
        };
        store.change_files(&by("s"), vec![change("one"), change("two")]).map(drop)
    }),
    ("create", |store| {
        let new =
            |depends_on: Vec<String>| NewTask { title: "new".to_owned(), depends_on, ..NewTask::default() };
        store.create_tasks(&by("boss"), vec![new(vec!["t1".to_owned()]), new(Vec::new())]).map(drop)
    }),
    ("submit", |store| {
        let submit = TaskChange::Submit { result: "done".to_owned(), claim: None };
        store.change_task(&by("w"), "t3", submit).map(drop)
    }),
    ("complete", |store| store.change_task(&by("boss"), "t1", TaskChange::Complete).map(drop)),
    ("keep", |store| {
        store.keep_changes(vec![change("c1", 1, "a", "1", "2"), change("c1", 1, "b", "1", "2")])
    }),
    ("keep large", |store| {
        let before = vec![b'x'; 300_000];
        store.keep_changes(vec![crate::contents::change("c2", 1, &before, &before[..299_999])])
    }),
    ("large files", |store| {
        let content = Some(vec![b'y'; 300_000]);
        let change = FileChange { path: "large".to_owned(), content, expected: None, mode: None };
        store.change_files(&by("s"), vec![change]).map(drop)
    }),
    ("correct", |store| {
        let correction = |name: &str, after| Correction { name: name.to_owned(), after, content: None };
        let corrections = vec![correction("a", Some(Held::Absent)), correction("b", None)];
        store.correct_changes("/w", "c1", corrections)
    }),
    ("begin of undo", |store| {
        let takes = Takes { undone: vec![(1, 1)], redone: Vec::new() };
        store.keep_changes(vec![NewChange { kind: ChangeKind::Undo, takes, ..change("u", 1, "a", "2", "1") }])
    }),
    ("end of undo", |store| {
        let finished = Finished {
            workspace: "/w".to_owned(),
            call: "u".to_owned(),
            made: vec!["a".to_owned()],
            of: "c1".to_owned(),
            is_redo: false,
        };
        store.finish_undo(&by("s"), finished)
    }),
    ("todos", |store| {
        let todo = Todo {
            id: "1".to_owned(),
            content: "x".to_owned(),
            status: TodoStatus::Pending,
            priority: TodoPriority::High,
        };
        store.set_todos(&by("s"), vec![todo]).map(drop)
    }),
];

fn every() -> ChangeQuery {
    ChangeQuery { workspace: "/w".to_owned(), ..ChangeQuery::default() }
}

/// Everything that a store shows. Whatever it names can be read.
fn everything(store: &dyn Store) -> String {
    let hashes = store.changes(&every()).unwrap().into_iter().flat_map(|one| [one.before, one.after]);
    for held in hashes {
        if let Held::File { hash, size, .. } = held {
            assert_eq!(store.content(&hash).unwrap().map(|content| content.len() as u64), Some(size));
        }
    }
    let all = (
        store.events(&EventQuery::default()).unwrap(),
        store.sessions().unwrap(),
        store.files("s", "").unwrap(),
        store.file_versions("s", "one").unwrap(),
        store.tasks(None).unwrap(),
        store.todos("s").unwrap(),
        store.changes(&every()).unwrap(),
    );
    format!("{all:?}")
}

fn guarantee_31_a_fault_leaves_nothing_behind(fresh: &Fresh) {
    let faults = Arc::new(Faults::default());
    let store = toolpost_store::open_with(&fresh.url, Some(Arc::clone(&faults))).unwrap();
    // t2 waits for t1, which is submitted; t3 is ready.
    let new = |depends_on: &[&str]| NewTask {
        title: "task".to_owned(),
        depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
        ..NewTask::default()
    };
    for needs in [&[][..], &["t1"], &[]] {
        store.create_tasks(&by("boss"), vec![new(needs)]).unwrap();
    }
    store.change_task(&by("w"), "t1", TaskChange::Submit { result: "done".to_owned(), claim: None }).unwrap();
    CHANGES[1].1(&*store).unwrap();
    for (name, change) in CHANGES {
        let before = everything(&*store);
        let mut statement = 0;
        loop {
            faults.after(statement);
            let done = change(&*store);
            if !faults.has_happened() {
                faults.after(u32::MAX);
                done.unwrap_or_else(|error| panic!("{name} works without a fault: {}", error.message()));
                break;
            }
            faults.after(u32::MAX);
            let error = done.expect_err(name);
            assert_eq!(error.code(), Code::StoreNotAvailable);
            assert!(error.message().contains("a fault of the test"), "{}", error.message());
            assert_eq!(everything(&*store), before, "{name}, statement {statement}");
            statement += 1;
        }
        assert!(statement >= 3, "{name} has only {statement} statements");
        assert_ne!(everything(&*store), before, "{name} has changed something in the end");
    }
}
