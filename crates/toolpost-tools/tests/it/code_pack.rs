//! What the seven code tools have in common: no engine, hidden files, answers that are not whole.

use super::{Executor, code, data, executor, run, shown};
use crate::fake_engine::{FILES, session, whole, without_secrets};
use serde_json::{Value, json};
use toolpost_core::code::Coverage;
use toolpost_core::{Call, Context, Outcome};

/// A call of each tool that is about everything.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("search_code", json!({"query": "parse"})),
        ("search_code", json!({"query": "$X.parse()"})),
        ("get_codebase_map", json!({})),
        ("get_symbol_info", json!({"symbol": "Reader"})),
        ("get_imports_exports", json!({"file": "src/main.rs"})),
        ("build_dependency_graph", json!({})),
        ("build_dependency_graph", json!({"format": "svg", "level": "folder"})),
        ("build_dependency_graph", json!({"format": "mermaid", "level": "package"})),
        ("build_dependency_graph", json!({"format": "dot"})),
        ("resolve_symbol", json!({"symbol": "parse", "file": "src/main.rs", "line": 4})),
        ("find_references", json!({"symbol": "Reader.parse"})),
    ]
}

fn called(ctx: &Context, tool: &str, args: Value) -> Outcome {
    let executor = executor();
    run(executor.run(ctx, Call::new(tool, args)))
}

#[test]
fn without_an_engine_every_tool_says_so() {
    for (tool, args) in calls() {
        let outcome = called(&super::memory(FILES), tool, args);
        assert_eq!(code(&outcome), "ENGINE_NOT_AVAILABLE", "{tool}");
    }
}

#[test]
fn nothing_of_a_hidden_file_is_in_any_answer() {
    let ctx = session(whole());
    let policy = without_secrets();
    for (tool, args) in calls() {
        let open = called(&ctx, tool, args.clone());
        let closed = run(Executor::new(executor().registry().clone(), policy.clone())
            .run(&ctx, Call::new(tool, args.clone())));
        let shown = format!("{}{}", shown(&closed), data(&closed));
        assert!(!shown.contains("keys.rs") && !shown.contains("secret/"), "{tool} {args}: {shown}");
        let is_named =
            |outcome: &Outcome| format!("{}{}", super::shown(outcome), data(outcome)).contains("secret");
        if is_named(&open) {
            assert_eq!(data(&closed)["heldBack"], 1, "{tool} {args}: {shown}");
            assert!(shown.contains("1 hidden by the policy"), "{tool} {args}: {shown}");
        }
    }
}

#[test]
fn an_answer_that_is_not_whole_says_why() {
    let note = "2 of 9 files are indexed".to_owned();
    let ctx = session(Coverage { complete: false, note: Some(note.clone()) });
    for (tool, args) in calls() {
        let outcome = called(&ctx, tool, args);
        assert!(shown(&outcome).contains(&note), "{tool}: {}", shown(&outcome));
        assert_eq!(data(&outcome)["complete"], false, "{tool}");
        assert_eq!(data(&outcome)["note"], note.as_str(), "{tool}");
    }
    let ctx = session(Coverage { complete: false, note: None });
    assert!(shown(&called(&ctx, "search_code", json!({"query": "parse"}))).contains("this may not be all"));
}

#[test]
fn paths_that_are_not_there_are_explained() {
    let ctx = session(whole());
    for (tool, args, expected) in [
        (
            "search_code",
            json!({"query": "a", "path": "scr"}),
            "FILE_NOT_FOUND: no file `scr`; nearest: `src`",
        ),
        ("resolve_symbol", json!({"symbol": "a", "file": "src"}), "NOT_A_FILE: `src` is not a file"),
        ("get_imports_exports", json!({"file": "src/mian.rs"}), "nearest: `src/main.rs`"),
        ("find_references", json!({"symbol": "a", "line": 0}), "`line`: expected at least 1"),
        ("search_code", json!({"query": ""}), "query"),
        ("build_dependency_graph", json!({"format": "png"}), "format"),
        ("get_symbol_info", json!({"symbol": "../x", "file": "../../etc/passwd"}), "PATH_ESCAPE"),
    ] {
        let text = shown(&called(&ctx, tool, args.clone()));
        assert!(text.contains(expected), "{tool} {args}: {text}");
    }
}
