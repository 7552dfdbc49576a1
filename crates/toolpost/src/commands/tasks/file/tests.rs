//! Files of tasks: what is read, and what becomes of it in a store.

use super::*;
use toolpost_core::store::Store;
use toolpost_store::StoreUrl;

fn store() -> std::sync::Arc<dyn Store> {
    toolpost_store::open(&StoreUrl::Memory).unwrap()
}

fn by() -> By {
    By { session: "boss".to_owned(), ..By::default() }
}

fn read_text(text: &str) -> Result<(Vec<Item>, Vec<String>), ToolError> {
    understood("file", text, None)
}

/// Each task as `title status (titles that it depends on)`.
fn shown(store: &dyn Store) -> Vec<String> {
    let tasks = store.tasks(None).unwrap();
    let title = |id: &String| tasks.iter().find(|task| task.id == *id).unwrap().title.clone();
    let show = |task: &Task| {
        let needed: Vec<String> = task.depends_on.iter().map(title).collect();
        format!("{} {} ({})", task.title, task.status.as_str(), needed.join(" "))
    };
    tasks.iter().map(show).collect()
}

#[test]
fn json_is_created_with_what_is_done() {
    let store = store();
    let text = r#"{"tasks": [
        {"title": "c", "dependsOn": ["b", "a"], "status": "pending"},
        {"id": "b", "title": "b", "dependsOn": ["a"], "status": "completed", "result": "ok", "claim": 4},
        {"id": "a", "title": "a", "status": "completed"},
        {"title": "d", "status": "claimed", "owner": "w"}
    ]}"#;
    let (items, notes) = read_text(text).unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let created = create(&*store, &by(), items).unwrap();
    assert_eq!(shown(&*store), ["c ready (b a)", "b completed (a)", "a completed ()", "d ready ()"]);
    assert_eq!(created, store.tasks(None).unwrap());
    let results: Vec<_> = created.iter().map(|task| task.result.as_deref()).collect();
    assert_eq!(results, [None, Some("ok"), Some(DONE_BEFORE), None]);
    // A file may build on what is there.
    let (items, _) = read_text(r#"[{"title": "e", "dependsOn": ["t1"]}]"#).unwrap();
    create(&*store, &by(), items).unwrap();
    assert_eq!(shown(&*store)[4], "e pending (c)");
}

#[test]
fn what_is_wrong_creates_nothing() {
    let store = store();
    for (text, expected) in [
        (r#"[{"title": "a", "dependsOn": ["x"]}]"#, "`x`"),
        (r#"[{"id": "x", "title": "a", "dependsOn": ["x"]}]"#, "circle"),
        (r#"[{"id": "x", "title": "a"}, {"id": "x", "title": "b"}]"#, "`x`"),
        (r#"[{"title": "a"}, {"titel": "b"}]"#, "task 2 of file"),
        (r#"[{"title": "a", "status": "done"}]"#, "`done`"),
        (
            r#"[{"id": "x", "title": "a"}, {"title": "b", "status": "completed", "dependsOn": ["x"]}]"#,
            "mark both",
        ),
        (r#"{"tasks": [], "more": 1}"#, "not a list of tasks"),
        (r#"{"todo": []}"#, "not a list of tasks"),
        ("[", "--format markdown"),
        ("- [x] parent\n  - [ ] child", "`parent` is completed, but depends on `child`"),
    ] {
        let error = read_text(text).and_then(|(items, _)| create(&*store, &by(), items)).unwrap_err();
        assert_eq!(error.code(), Code::ValidationError, "{text}");
        assert!(error.message().contains(expected), "{text}: {}", error.message());
    }
    assert_eq!(store.tasks(None).unwrap(), []);
}

#[test]
fn long_chains_of_done_tasks_end() {
    let item = |number: usize| Item {
        key: Some(format!("k{number}")),
        title: format!("{number}"),
        depends_on: if number < 60 { vec![format!("k{}", number + 1)] } else { Vec::new() },
        is_completed: true,
        ..Item::default()
    };
    let created = create(&*store(), &by(), (0..=60).map(item).collect()).unwrap();
    assert!(created.iter().all(|task| task.status == TaskStatus::Completed));
}
