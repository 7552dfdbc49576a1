//! Which of the tools on tasks each role has: offered, called, checked, and called through another tool.

use crate::stored::Shared;
use crate::{code, shown};
use serde_json::{Value, json};

/// The tools, whether a worker and an orchestrator have them, and arguments that work on the task `t1`.
fn matrix() -> [(&'static str, bool, bool, Value); 6] {
    [
        ("list_tasks", true, true, json!({})),
        ("get_task", true, true, json!({"taskId": "t1"})),
        ("submit_result", true, false, json!({"taskId": "t1", "result": "done"})),
        ("create_task", false, true, json!({"title": "more"})),
        ("complete_task", false, true, json!({"taskId": "t1"})),
        ("reject_task", false, true, json!({"taskId": "t1", "reason": "no"})),
    ]
}

/// A store with one task, submitted where that is what the tool works on.
fn prepared(tool: &str) -> Shared {
    let shared = Shared::new();
    shared.boss("create_task", json!({"title": "one"}));
    if matches!(tool, "complete_task" | "reject_task") {
        shared.worker("w", "submit_result", json!({"taskId": "t1", "result": "done"}));
    }
    shared
}

#[test]
fn every_cell_of_the_matrix_holds() {
    for (tool, worker, orchestrator, args) in matrix() {
        for (role, is_allowed) in
            [(None, false), (Some("worker"), worker), (Some("orchestrator"), orchestrator)]
        {
            let shared = prepared(tool);
            let ctx = shared.session("s", role, "toolpost");
            let place = format!("{tool} as {role:?}");
            let listing = shared.executor.listing(&ctx);
            let is_listed = listing.listed.iter().any(|entry| entry.name() == tool);
            let is_refused = listing.absent.iter().any(|absent| absent.entry.name() == tool);
            assert_eq!((is_listed, is_refused), (is_allowed, !is_allowed), "{place}");
            assert!(listing.held_back.iter().all(|entry| entry.name() != tool), "{place}");
            let checked = shared.executor.validate(&ctx, tool, args.clone());
            assert_eq!(checked.is_ok(), is_allowed, "{place}");
            let before = shared.store.tasks(None).unwrap();
            let dry = shared.dry_run(&ctx, tool, args.clone());
            assert_eq!(dry.is_success(), is_allowed, "{place}: {}", shown(&dry));
            let batch = shared.dry_run(&ctx, "batch", json!({"calls": [{"tool": tool, "args": args}]}));
            let verdict = if is_allowed { "ok" } else { "failed" };
            assert!(shown(&batch).starts_with(&format!("## 1. {tool}: {verdict}")), "{}", shown(&batch));
            assert_eq!(shared.store.tasks(None).unwrap(), before, "{place}: a dry run changes nothing");
            let outcome = shared.call(&ctx, tool, args.clone());
            match is_allowed {
                true => assert!(outcome.is_success(), "{place}: {}", shown(&outcome)),
                false => {
                    assert_eq!((code(&outcome), outcome.exit_status()), ("ROLE_FORBIDDEN", 3), "{place}");
                    let own = role.map_or("no role".to_owned(), |role| format!("the role {role}"));
                    assert!(
                        shown(&outcome).contains(&format!("this session has {own}")),
                        "{}",
                        shown(&outcome)
                    );
                    assert_eq!(shared.store.tasks(None).unwrap(), before, "{place}");
                }
            }
        }
    }
}

#[test]
fn a_role_that_nobody_knows_has_none_of_them() {
    let shared = Shared::new();
    let ctx = shared.session("s", Some("Worker"), "toolpost");
    for (tool, _, _, args) in matrix() {
        assert_eq!(code(&shared.call(&ctx, tool, args)), "ROLE_FORBIDDEN", "{tool}");
    }
}

#[test]
fn without_a_store_there_is_no_pack() {
    let registry = toolpost_core::Registry::new();
    let services = toolpost_core::host::Services::default();
    toolpost_tools::register_default(&registry, &services, &toolpost_tools::Settings::default()).unwrap();
    for tool in ["todowrite", "todoread", "list_tasks", "create_task"] {
        assert!(!registry.has(tool), "{tool}");
    }
    // A host that registers them anyway gets a clear refusal.
    let outcome = crate::call(&crate::memory(""), "todoread", json!({}));
    assert_eq!(code(&outcome), "STORE_NOT_AVAILABLE");
}

#[test]
fn clients_are_told_which_of_them_change_something() {
    let shared = Shared::new();
    let snapshot = shared.executor.registry().snapshot();
    let is_read_only = |tool: &str| {
        let definition = snapshot.get(tool).unwrap().prepared().unwrap().definition.clone();
        let source = toolpost_declaration::Source::of(&definition);
        assert!(!source.destructive && !source.open_world, "{tool}");
        source.read_only
    };
    let changing = ["todowrite", "get_task", "submit_result", "create_task", "complete_task", "reject_task"];
    assert!(changing.into_iter().all(|tool| !is_read_only(tool)));
    assert!(is_read_only("todoread") && is_read_only("list_tasks"));
}
