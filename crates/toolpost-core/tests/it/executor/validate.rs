//! Finding the tool and checking its arguments, with and without running it.

use crate::stage::{Stage, any, code, echo, message, said, spec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolpost_core::dialect::Alias;
use toolpost_core::policy::Outlook;
use toolpost_core::policy::Profile;
use toolpost_core::{
    Access, Call, Capability, Context, Output, Policy, Spec, Tool, ToolError, WorkspacePath,
};

/// What the model may ask for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Args {
    /// File to read.
    file_path: WorkspacePath,
    /// Lines wanted.
    limit: Option<usize>,
}

struct Reader(Arc<AtomicUsize>);

impl Tool for Reader {
    type Args = Args;
    type Data = ();

    fn spec(&self) -> Spec {
        spec("read").requires(Capability::Read).argument_alias("path", "filePath")
    }

    fn accesses(&self, args: &Args, usual: Vec<Access>) -> Vec<Access> {
        assert_ne!(args.limit, Some(13), "unlucky");
        usual
    }

    async fn call(&self, _: &Context, args: Args) -> Result<Output<()>, ToolError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Output::text(format!("{} {:?}", args.file_path, args.limit)))
    }
}

fn stage() -> (Stage, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let stage = Stage::new().tool(Reader(runs.clone()));
    stage
        .registry
        .add_alias(Alias::new("view", "read").argument("file", "filePath").shifted("limit", "limit", 1))
        .unwrap();
    (stage, runs)
}

/// The same arguments checked and run: the tool's answer or the message, and the repairs.
async fn check(tool: &str, arguments: Value, expected: &str, repairs: &[&str]) {
    let (stage, runs) = stage();
    let ctx = stage.ctx().build();
    let checked = stage.executor().validate(&ctx, tool, arguments.clone());
    assert_eq!((runs.load(Ordering::SeqCst), stage.trace().len()), (0, 0), "nothing runs");
    let outcome = stage.executor().call(&ctx, tool, arguments).await;
    let text = if outcome.is_success() { code(&outcome) } else { message(&outcome) };
    assert_eq!(text, expected);
    let told: Vec<String> = outcome.metadata.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(told, repairs);
    match checked {
        Ok(checked) => {
            assert!(outcome.is_success());
            assert_eq!((checked.tool.as_str(), checked.effect), ("read", Outlook::Allow));
            assert_eq!(checked.repairs, outcome.metadata.repairs);
            let path = checked.arguments["filePath"].as_str().unwrap();
            assert_eq!(checked.accesses, [Access::path(Capability::Read, path)]);
        }
        Err(error) => assert_eq!(error, outcome.result.unwrap_err()),
    }
}

#[tokio::test]
async fn arguments_that_fit_pass_and_what_is_plainly_meant_is_mended() {
    check("read", json!({"filePath": "a", "limit": 5}), "a Some(5)", &[]).await;
    check(
        "read",
        json!({"filepath": "a", "limit": "5"}),
        "a Some(5)",
        &["`filepath`: `filepath` → `filePath`", "`limit`: \"5\" → 5"],
    )
    .await;
    check("read", json!({"path": "a"}), "a None", &["`path`: `path` → `filePath`"]).await;
    check("read", json!({"filePath": "a", "limit": 5.0}), "a Some(5)", &["`limit`: 5.0 → 5"]).await;
    check(
        "view",
        json!({"file": "a", "limit": 4}),
        "a Some(5)",
        &["`tool`: `view` → `read`", "`limit`: 4 → limit=5, since it counts from 0"],
    )
    .await;
}

#[tokio::test]
async fn what_does_not_fit_is_told_with_its_place() {
    check(
        "read",
        json!({"filePath": true}),
        "the arguments of `read` do not fit: `filePath`: expected a string, got true",
        &[],
    )
    .await;
    check(
        "read",
        json!({"filePath": "a", "limt": 7}),
        "the arguments of `read` do not fit: `limt`: expected only `filePath`, `limit`, got an unknown argument; \
         did you mean `limit`?",
        &[],
    )
    .await;
    check("raed", json!({}), "no tool `raed`; nearest: `read`", &[]).await;
    check("veiw", json!({}), "no tool `veiw`; nearest: `read`", &[]).await;
    let deep = (0..200).fold(json!(0), |inner, _| json!([inner]));
    let told = "the arguments are nested deeper than 128 levels; send them flat";
    check("read", json!({"filePath": deep}), told, &[]).await;
}

#[tokio::test]
async fn a_crash_of_the_tools_own_account_is_a_failed_call() {
    check(
        "read",
        json!({"filePath": "a", "limit": 13}),
        "`read` crashed: assertion `left != right` failed: unlucky\n  left: Some(13)\n right: Some(13)",
        &[],
    )
    .await;
}

#[tokio::test]
async fn a_hundred_thousand_wrong_arguments_are_told_at_once() {
    let (stage, _) = stage();
    let many: serde_json::Map<String, Value> =
        (0..100_000).map(|n| (format!("file_{n}"), json!(n))).collect();
    let start = std::time::Instant::now();
    let outcome = stage.executor().call(&stage.ctx().build(), "read", many.into()).await;
    let bar = crate::load::stretched(std::time::Duration::from_secs(5));
    assert!(start.elapsed() < bar, "{:?}", start.elapsed());
    assert!(message(&outcome).len() < 2_000, "{}", message(&outcome));
}

#[tokio::test]
async fn a_caller_that_has_checked_already_can_skip_it() {
    let stage = Stage::new().tool(any(spec("free"), |_, args| async move { said(args.to_string()) })).tool(
        toolpost_core::dynamic(
            spec("strict"),
            json!({"type": "object", "required": ["a"]}),
            |_, args| async move { said(args.to_string()) },
        ),
    );
    let ctx = stage.ctx().build();
    let call = Call::new("strict", json!({"b": "5"})).skip_validation();
    assert_eq!(code(&stage.executor().run(&ctx, call).await), r#"{"b":"5"}"#);
    assert_eq!(code(&stage.executor().call(&ctx, "strict", json!({"b": "5"})).await), "VALIDATION_ERROR");
    let (typed, _) = self::stage();
    let call = Call::new("read", json!({"limit": []})).skip_validation();
    let outcome = typed.executor().run(&typed.ctx().build(), call).await;
    assert_eq!(code(&outcome), "VALIDATION_ERROR", "the type still holds");
}

#[test]
fn a_check_tells_what_the_policy_would_do() {
    let stage = Stage::new().tool(crate::stage::writer(spec("write"))).tool(echo("fine"));
    let ctx = stage.ctx().build();
    let check = |policy: Policy, tool: &str| {
        let checked = stage.builder(policy).build().validate(&ctx, tool, json!({"path": "a"}));
        checked.map(|checked| checked.effect).map_err(|error| error.code().as_str())
    };
    let read_only = || Policy::profile(Profile::ReadOnly);
    assert_eq!(check(Policy::default(), "write"), Ok(Outlook::Allow));
    assert_eq!(check(read_only().ask(Capability::Write), "write"), Ok(Outlook::Ask));
    assert_eq!(check(read_only(), "write"), Err("PERMISSION_DENIED"));
    assert_eq!(check(read_only(), "fine"), Ok(Outlook::Allow));
}
