//! What a call may do: capabilities, needs, and the workspace bound to the decision.

use crate::stage::{Stage, any, code, message, said, spec};
use futures_util::stream::BoxStream;
use serde_json::json;
use std::sync::{Arc, LazyLock};
use tokio_util::sync::CancellationToken;
use toolpost_core::capability::Need;
use toolpost_core::code::{
    Answer, CodeEngine, Dependencies, Description, Inquiry, Links, Match, References, Resolution, Symbol,
    SymbolQuery, Target,
};
use toolpost_core::dialect::Alias;
use toolpost_core::model::{self, Model};
use toolpost_core::policy::Profile;
use toolpost_core::{Capability, Context, Policy, Spec, ToolError};

fn quiet(spec: Spec) -> Stage {
    Stage::new().tool(any(spec, |_, _| async { said("done") }))
}

#[tokio::test]
async fn a_tool_whose_capability_is_absent_names_the_flag() {
    let stage = quiet(spec("bash").requires(Capability::Exec).requires(Capability::Network));
    stage.registry.add_alias(Alias::new("shell", "bash")).unwrap();
    let executor = stage.builder(Policy::default().ask(Capability::Network)).build();
    let outcome = executor.call(&stage.ctx().build(), "shell", json!({})).await;
    assert_eq!((code(&outcome), outcome.exit_status()), ("PERMISSION_DENIED", 3));
    assert_eq!(message(&outcome), "`bash` needs exec, which is not granted; the policy must allow exec");
    assert_eq!(outcome.tool, "bash", "an outcome has the canonical name");
    stage.check("requested shell · finished PERMISSION_DENIED");
}

#[tokio::test]
async fn a_running_tool_sees_which_optional_capability_it_has() {
    let stage = Stage::new().tool(any(
        spec("fetch").requires(Capability::Read).may_use(Capability::Network),
        |ctx, _| async move {
            let has = |capability| if ctx.granted(capability) { "yes" } else { "no" };
            said(format!("network {} exec {}", has(Capability::Network), has(Capability::Exec)))
        },
    ));
    for (policy, expected) in [
        (Policy::profile(Profile::Privileged), "network yes exec no"),
        (Policy::default(), "network no exec no"),
        (Policy::default().ask(Capability::Network), "network no exec no"),
    ] {
        let outcome = stage.builder(policy).build().call(&stage.ctx().build(), "fetch", json!({})).await;
        assert_eq!(code(&outcome), expected);
    }
}

#[tokio::test]
async fn a_tool_may_do_to_files_only_what_it_declares() {
    for (declared, reads, writes) in
        [(Capability::Read, true, false), (Capability::Write, true, true), (Capability::Trace, false, false)]
    {
        let stage = Stage::with_files("//- a\nx\n").tool(any(
            spec("sneaky").requires(declared),
            |ctx, args| async move {
                match args["write"].as_bool() {
                    Some(true) => ctx.workspace().write(&"a".into(), b"owned").map(|_| ())?,
                    _ => ctx.workspace().open(&"a".into()).map(|_| ())?,
                }
                said("done")
            },
        ));
        for (write, expected) in [(false, reads), (true, writes)] {
            let outcome =
                stage.executor().call(&stage.ctx().build(), "sneaky", json!({"write": write})).await;
            assert_eq!(code(&outcome), if expected { "done" } else { "PERMISSION_DENIED" }, "{declared}");
        }
        assert_eq!(stage.memory.text("a").as_deref(), Some(if writes { "owned" } else { "x\n" }));
    }
}

#[tokio::test]
async fn a_refusal_at_the_file_says_what_the_tool_must_declare() {
    let stage = Stage::new().tool(any(spec("sneaky").requires(Capability::Read), |ctx, _| async move {
        ctx.workspace().create_folder(&"new".into())?;
        said("done")
    }));
    assert_eq!(
        message(&stage.call("sneaky").await),
        "`sneaky` tried to write `new`, but this call was decided for read only; \
         the tool must declare the capability `write`"
    );
}

#[tokio::test]
async fn a_service_that_is_not_there_has_its_code() {
    for (need, name, expected) in [
        (Need::Engine, "engine", "ENGINE_NOT_AVAILABLE"),
        (Need::Store, "store", "STORE_NOT_AVAILABLE"),
        (Need::Model, "model", "LLM_ASSIST_REQUIRED"),
        (Need::Agents, "agents", "LLM_ASSIST_REQUIRED"),
    ] {
        let stage = quiet(spec("needy").needs(need));
        let outcome = stage.call("needy").await;
        assert_eq!(code(&outcome), expected);
        assert_eq!(message(&outcome), format!("`needy` needs the {name} service, which is not there"));
        let ctx = stage.ctx().services(services(need)).build();
        assert_eq!(code(&stage.executor().call(&ctx, "needy", json!({})).await), "done");
    }
}

#[tokio::test]
async fn what_a_call_touched_is_counted() {
    let stage = Stage::with_files("//- a\n12345\n").tool(any(
        spec("copy").requires(Capability::Read).requires(Capability::Write),
        |ctx, _| async move {
            let mut file = ctx.open(&"./a".into())?;
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut file.reader, &mut text).unwrap();
            ctx.workspace().write(&"b".into(), &text[..2])?;
            said("copied")
        },
    ));
    let metadata = stage.call("copy").await.metadata;
    assert_eq!((metadata.bytes_read, metadata.bytes_written), (6, 2));
    assert_eq!(metadata.files_accessed, ["a", "b"]);
}

struct Nothing;

/// An engine that knows nothing.
impl CodeEngine for Nothing {
    fn symbols(&self, _: &Inquiry<'_>, _: &SymbolQuery) -> Answer<Symbol> {
        Err(nothing())
    }

    fn matches(&self, _: &Inquiry<'_>, _: &SymbolQuery) -> Answer<Match> {
        Err(nothing())
    }

    fn map(&self, _: &Inquiry<'_>, _: &SymbolQuery, _: &[String]) -> Answer<Symbol> {
        Err(nothing())
    }

    fn describe(&self, _: &Inquiry<'_>, _: &Target) -> Answer<Description> {
        Err(nothing())
    }

    fn links(&self, _: &Inquiry<'_>, _: &str) -> Result<Links, ToolError> {
        Err(nothing())
    }

    fn dependencies(&self, _: &Inquiry<'_>, _: &str) -> Result<Dependencies, ToolError> {
        Err(nothing())
    }

    fn resolve(&self, _: &Inquiry<'_>, _: &Target) -> Result<Resolution, ToolError> {
        Err(nothing())
    }

    fn references(&self, _: &Inquiry<'_>, _: &Target) -> Result<References, ToolError> {
        Err(nothing())
    }
}

fn nothing() -> ToolError {
    ToolError::execution("nothing is known")
}

impl Model for Nothing {
    fn profile(&self) -> &model::Profile {
        static PROFILE: LazyLock<model::Profile> = LazyLock::new(model::Profile::default);
        &PROFILE
    }

    fn stream(
        &self,
        _: model::Request,
        _: CancellationToken,
    ) -> BoxStream<'static, Result<model::Delta, model::ModelError>> {
        Box::pin(futures_util::stream::empty())
    }
}

impl toolpost_core::host::AgentHost for Nothing {
    fn types(&self, _: Option<&str>) -> Vec<toolpost_core::host::AgentType> {
        Vec::new()
    }

    fn spawn<'a>(
        &'a self,
        _: &'a Context,
        _: toolpost_core::host::SpawnOrder,
    ) -> toolpost_core::host::BoxFuture<'a, Result<toolpost_core::host::SpawnedAgent, ToolError>> {
        Box::pin(async { Err(ToolError::execution("nothing")) })
    }

    fn signal_parent<'a>(
        &'a self,
        _: &'a Context,
        _: String,
    ) -> toolpost_core::host::BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Err(ToolError::execution("nothing")) })
    }
}

/// All that there is.
fn services(need: Need) -> toolpost_core::host::Services {
    let mut services = toolpost_core::host::Services::default();
    match need {
        Need::Engine => services.code = Some(Arc::new(Nothing)),
        Need::Store => {
            services.store = Some(toolpost_store::open(&toolpost_store::StoreUrl::Memory).unwrap())
        }
        Need::Model => services.model = Some(Arc::new(Nothing)),
        Need::Agents => services.agents = Some(Arc::new(Nothing)),
        // Not a service: the session has it or not.
        Need::Parent => {}
    }
    services
}
