//! Hooks of the host, before and after a call.

use crate::stage::{Stage, code, message, said, spec};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use toolpost_core::executor::Verdict;
use toolpost_core::host::BoxFuture;
use toolpost_core::{Context, Hook, Outcome, Policy, dynamic};

/// A hook that does one thing before each call and writes down what it sees.
#[derive(Default)]
struct Watcher {
    name: &'static str,
    before: Option<fn(&Value) -> Verdict>,
    crashes_after: bool,
    seen: Mutex<Vec<String>>,
}

impl Hook for Watcher {
    fn name(&self) -> &str {
        self.name
    }

    fn before<'a>(&'a self, _: &'a Context, tool: &'a str, arguments: &'a Value) -> BoxFuture<'a, Verdict> {
        self.seen.lock().unwrap().push(format!("{tool} {arguments}"));
        let verdict = self.before.map_or(Verdict::Continue, |before| before(arguments));
        Box::pin(std::future::ready(verdict))
    }

    fn after<'a>(&'a self, _: &'a Context, outcome: &'a Outcome) -> BoxFuture<'a, ()> {
        self.seen.lock().unwrap().push(format!("→ {}", code(outcome)));
        assert!(!self.crashes_after, "after all");
        Box::pin(std::future::ready(()))
    }
}

/// Runs `count {"n": 1}` past these hooks: what came of it, what each hook saw, what happened.
async fn check(hooks: Vec<Watcher>, expected: &str, seen: &[&str], trace: &str) {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false});
    let stage =
        Stage::new().tool(dynamic(spec("count"), schema, |_, args| async move { said(args.to_string()) }));
    let hooks: Vec<Arc<Watcher>> = hooks.into_iter().map(Arc::new).collect();
    let mut builder = stage.builder(Policy::default());
    for hook in &hooks {
        builder = builder.hook(hook.clone());
    }
    let outcome = builder.build().call(&stage.ctx().build(), "count", json!({"n": 1})).await;
    let text = if outcome.is_success() { code(&outcome) } else { message(&outcome) };
    assert_eq!(text, expected);
    let all: Vec<String> = hooks.iter().flat_map(|hook| hook.seen.lock().unwrap().clone()).collect();
    assert_eq!(all, seen);
    stage.check(&format!("requested count · initialized count · {trace}"));
}

fn watcher(name: &'static str, before: fn(&Value) -> Verdict) -> Watcher {
    Watcher { name, before: Some(before), ..Watcher::default() }
}

#[tokio::test]
async fn a_hook_that_only_looks_on_sees_both_ends() {
    check(
        vec![watcher("eye", |_| Verdict::Continue)],
        r#"{"n":1}"#,
        &[r#"count {"n":1}"#, r#"→ {"n":1}"#],
        "allow · started 1 · finished",
    )
    .await;
}

#[tokio::test]
async fn a_hook_can_block_and_those_after_it_are_not_asked() {
    check(
        vec![
            watcher("guard", |_| Verdict::Block("not on a Sunday".to_owned())),
            watcher("eye", |_| Verdict::Continue),
        ],
        "hook `guard` blocked `count`: not on a Sunday",
        &[r#"count {"n":1}"#, "→ PERMISSION_DENIED", "→ PERMISSION_DENIED"],
        "guard blocked the call: not on a Sunday · finished PERMISSION_DENIED",
    )
    .await;
}

#[tokio::test]
async fn changed_arguments_are_checked_once_more_and_hooks_are_not_asked_again() {
    check(
        vec![
            watcher("first", |_| Verdict::Replace(json!({"n": "7"}))),
            watcher("second", |_| Verdict::Continue),
        ],
        r#"{"n":7}"#,
        &[r#"count {"n":1}"#, r#"→ {"n":7}"#, r#"count {"n":"7"}"#, r#"→ {"n":7}"#],
        "first changed the arguments · repaired 1 · allow · started 1 · finished",
    )
    .await;
    check(
        vec![watcher("first", |_| Verdict::Replace(json!({"m": 7})))],
        "hook `first` changed the arguments: the arguments of `count` do not fit: `m`: expected only `n`, got an unknown argument; did you mean `n`?; \
         `n`: expected an integer, got nothing",
        &[r#"count {"n":1}"#, "→ VALIDATION_ERROR"],
        "first changed the arguments · finished VALIDATION_ERROR",
    )
    .await;
}

#[tokio::test]
async fn a_hook_that_crashes_blocks_before_and_is_a_warning_after() {
    check(
        vec![watcher("guard", |_| panic!("no rules"))],
        "hook `guard` blocked `count`: the hook crashed",
        &[r#"count {"n":1}"#, "→ PERMISSION_DENIED"],
        "guard blocked the call: the hook crashed · finished PERMISSION_DENIED",
    )
    .await;
    check(
        vec![Watcher { name: "eye", crashes_after: true, ..Watcher::default() }],
        r#"{"n":1}"#,
        &[r#"count {"n":1}"#, r#"→ {"n":1}"#],
        "allow · started 1 · finished · warning hook `eye` crashed after `count`",
    )
    .await;
}
