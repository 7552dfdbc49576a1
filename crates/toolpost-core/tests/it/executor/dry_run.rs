//! Calls that only tell what they would do.

use crate::stage::{Stage, any, code, message, said, spec, writer};
use serde_json::json;
use toolpost_core::policy::Profile;
use toolpost_core::{Call, Capability, Context, Outcome, Output, Policy, Spec, Tool, ToolError};

fn changes(outcome: &Outcome) -> Vec<String> {
    let planned = outcome.metadata.dry_run.as_ref().unwrap();
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    let line = |change: &toolpost_core::outcome::PlannedChange| {
        format!("{} {} {}→{}", change.kind, change.path, size(change.bytes_before), size(change.bytes_after))
    };
    planned.changes.iter().map(line).collect()
}

fn all_kinds() -> toolpost_core::tool::DynamicTool {
    any(spec("tidy").requires(Capability::Write), |ctx, _| async move {
        assert!(ctx.is_dry_run());
        ctx.workspace().write(&"new".into(), b"abc")?;
        ctx.workspace().write(&"old".into(), b"abcdef")?;
        ctx.workspace().remove(&"gone".into())?;
        said("tidied")
    })
}

#[tokio::test]
async fn a_dry_run_writes_nothing_and_says_what_it_would_change() {
    let stage = Stage::with_files("//- old\nx\n//- gone\ny\n").tool(all_kinds());
    let outcome = stage.executor().run(&stage.ctx().build(), Call::new("tidy", json!({})).dry_run()).await;
    assert_eq!(code(&outcome), "tidied");
    assert_eq!(changes(&outcome), ["delete gone 2→-", "create new -→3", "change old 2→6"]);
    assert_eq!(stage.memory.text("old").as_deref(), Some("x\n"));
    assert_eq!((stage.memory.text("new"), stage.memory.text("gone").is_some()), (None, true));
    stage.check("requested tidy · initialized tidy · allow · started dry · finished");
}

#[tokio::test]
async fn the_calls_of_a_dry_run_are_dry_and_see_each_other() {
    let stage = Stage::new().tool(writer(spec("write"))).tool(any(spec("both"), |ctx, _| async move {
        let mut found = Vec::new();
        for (path, content) in [("a", "one"), ("b", "three")] {
            let call = Call::new("write", json!({"path": path, "content": content}));
            found.extend(changes(&ctx.call(call).await.unwrap()));
        }
        said(found.join(", "))
    }));
    let outcome = stage.executor().run(&stage.ctx().build(), Call::new("both", json!({})).dry_run()).await;
    assert_eq!(code(&outcome), "create a -→3, create b -→5", "each has its own");
    assert_eq!(changes(&outcome), ["create a -→3", "create b -→5"], "and the whole has all");
    assert_eq!(stage.memory.text("a"), None);
}

struct Deploy {
    has_own: bool,
    capability: Capability,
}

impl Tool for Deploy {
    type Args = serde_json::Map<String, serde_json::Value>;
    type Data = ();

    fn spec(&self) -> Spec {
        let spec = spec("deploy").requires(self.capability);
        if self.has_own { spec.own_dry_run() } else { spec }
    }

    async fn call(&self, _: &Context, _: Self::Args) -> Result<Output<()>, ToolError> {
        Ok(Output::text("deployed"))
    }

    async fn dry_run(&self, _: &Context, _: Self::Args) -> Result<Output<()>, ToolError> {
        Ok(Output::text("would deploy"))
    }
}

#[tokio::test]
async fn what_an_overlay_cannot_hold_back_needs_a_dry_run_of_its_own() {
    for capability in [Capability::Exec, Capability::Network] {
        for (has_own, expected) in [(true, "would deploy"), (false, "EXECUTION_ERROR")] {
            let stage = Stage::new().tool(Deploy { has_own, capability });
            let executor = stage.builder(Policy::profile(Profile::Privileged)).build();
            let call = Call::new("deploy", json!({})).dry_run();
            let outcome = executor.run(&stage.ctx().build(), call).await;
            assert_eq!(code(&outcome), expected);
            if !has_own {
                let told = format!(
                    "`deploy` can do more than change files ({capability}) and has no dry run of its own"
                );
                assert_eq!(message(&outcome), told);
            }
        }
    }
}

#[tokio::test]
async fn a_dry_run_needs_the_same_permission() {
    let stage = Stage::new().tool(writer(spec("write")));
    let executor = stage.builder(Policy::profile(Profile::ReadOnly)).build();
    let call = Call::new("write", json!({"path": "a"})).dry_run();
    assert_eq!(code(&executor.run(&stage.ctx().build(), call).await), "PERMISSION_DENIED");
}
