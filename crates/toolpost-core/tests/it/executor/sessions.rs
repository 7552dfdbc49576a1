//! One executor, many sessions: each has its own tools and its own policy.

use crate::stage::{Stage, any, echo, said, spec};
use serde_json::json;
use std::sync::Arc;
use toolpost_core::dialect::Alias;
use toolpost_core::event::{EventKind, MemoryLog};
use toolpost_core::executor::Verdict;
use toolpost_core::host::{BoxFuture, Ids, Selection};
use toolpost_core::policy::Profile;
use toolpost_core::registry::{Shelves, ToolSource};
use toolpost_core::tool::Amendment;
use toolpost_core::tool::Setting;
use toolpost_core::{Capability, Code, Context, Executor, Hook, Policy, Registry, ToolError};
use toolpost_core::{Output, Spec, Tool};

fn code(outcome: &toolpost_core::Outcome) -> Option<Code> {
    outcome.result.as_ref().err().map(ToolError::code)
}

#[tokio::test]
async fn policy_and_tools_belong_to_the_session() {
    let executor = Executor::new();
    let common =
        Stage::new().tool(any(spec("change").requires(Capability::Write), |_, _| async { said("changed") }));
    let writer =
        common.ctx().tools(common.registry.clone()).policy(Policy::profile(Profile::Standard)).build();
    let reader = writer.with_policy(Policy::profile(Profile::ReadOnly));
    assert_eq!(executor.call(&writer, "change", json!({})).await.to_text(), "changed");
    assert_eq!(code(&executor.call(&reader, "change", json!({})).await), Some(Code::PermissionDenied));
    // An agent has the tools of its runtime and its own; nobody else has those.
    let own = Arc::new(Registry::over(&common.registry.snapshot()));
    own.register(echo("mine")).unwrap();
    let agent = writer.with_tools(own);
    assert_eq!(executor.call(&agent, "mine", json!({})).await.to_text(), "mine");
    assert_eq!(executor.call(&agent, "change", json!({})).await.to_text(), "changed");
    assert_eq!(code(&executor.call(&writer, "mine", json!({})).await), Some(Code::ToolNotFound));
    // All are counted by the one executor.
    assert_eq!(executor.stats().tools["change"].total, 3);
}

#[tokio::test]
async fn a_tool_of_a_role_is_there_for_that_role_alone() {
    let executor = Executor::new();
    let lead = any(spec("lead").for_role("boss").for_role("owner"), |_, _| async { said("led") });
    let stage = Stage::new().tool(lead).tool(echo("hello"));
    for (role, is_allowed) in
        [(None, false), (Some("owner"), true), (Some("boss"), true), (Some("bos"), false)]
    {
        let ids = Ids { session: "s".to_owned(), role: role.map(str::to_owned), ..Ids::default() };
        // Another session of the same host keeps the role.
        let session = stage.ctx().ids(ids).tools(stage.registry.clone()).build();
        let session = session.rebuild().session("other").build();
        let outcome = executor.call(&session, "lead", json!({})).await;
        assert_eq!(code(&outcome), (!is_allowed).then_some(Code::RoleForbidden), "{role:?}");
        assert_eq!(executor.validate(&session, "lead", json!({})).is_ok(), is_allowed, "{role:?}");
        let listed: Vec<String> =
            executor.listing(&session).listed.iter().map(|entry| entry.name().to_owned()).collect();
        assert_eq!(listed.contains(&"lead".to_owned()), is_allowed, "{role:?}");
        assert!(listed.contains(&"hello".to_owned()));
        if !is_allowed {
            let own = role.map_or_else(|| "no role".to_owned(), |role| format!("the role {role}"));
            let expected = format!("`lead` is for the role boss or owner, and this session has {own}");
            assert!(outcome.to_text().contains(&expected), "{}", outcome.to_text());
        }
    }
}

struct Blocks;

impl Hook for Blocks {
    fn name(&self) -> &str {
        "blocks"
    }

    fn before<'a>(&'a self, _: &'a Context, _: &'a str, _: &'a serde_json::Value) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::Block("not today".to_owned()) })
    }
}

#[tokio::test]
async fn hooks_are_exchanged_at_run_time() {
    let stage = Stage::new().tool(echo("hello"));
    let executor = Executor::new();
    let session = stage.ctx().tools(stage.registry.clone()).build();
    assert!(executor.call(&session, "hello", json!({})).await.is_success());
    executor.set_hooks(vec![Arc::new(Blocks)]);
    assert_eq!(code(&executor.call(&session, "hello", json!({})).await), Some(Code::PermissionDenied));
    executor.set_hooks(Vec::new());
    assert!(executor.call(&session, "hello", json!({})).await.is_success());
}

/// A source of tools that are there as soon as somebody needs them.
struct Folder {
    name: &'static str,
    tools: &'static [&'static str],
    most: usize,
    registry: std::sync::Weak<Registry>,
}

impl ToolSource for Folder {
    fn name(&self) -> &str {
        self.name
    }

    fn may_have(&self, name: &str) -> bool {
        self.tools.contains(&name)
    }

    fn ready<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
        self.reload()
    }

    fn all_ready(&self) -> BoxFuture<'_, Vec<(String, ToolError)>> {
        Box::pin(async {
            self.reload().await.err().map(|why| (self.name.to_owned(), why)).into_iter().collect()
        })
    }

    fn reload(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            self.registry.upgrade().unwrap().change(|draft| {
                for name in self.tools {
                    draft.unregister(name);
                    draft.register(Arc::new(echo(name)))?;
                }
                let names: Vec<String> = self.tools.iter().map(|&name| name.to_owned()).collect();
                let groups = names.iter().map(|name| vec![(name.clone(), 1)]).collect();
                let shelves = Shelves { groups, most_tools: self.most, most_tokens: 100 };
                draft.arrange(self.name, names, shelves);
                Ok(())
            })
        })
    }
}

#[tokio::test]
async fn every_source_has_its_own_place_limit_and_reload() {
    let stage = Stage::new().tool(echo("built_in"));
    let folder = |name, tools, most| {
        let registry = Arc::downgrade(&stage.registry);
        Arc::new(Folder { name, tools, most, registry })
    };
    stage.registry.add_source(folder("servers", &["s2", "s1"], 1)).unwrap();
    stage.registry.add_source(folder("folders", &["f1", "f2", "f3"], 2)).unwrap();
    let twice = stage.registry.add_source(folder("servers", &[], 0)).unwrap_err();
    assert!(twice.message().contains("`servers` already"), "{}", twice.message());
    let executor = Executor::new();
    let session = stage.ctx().tools(stage.registry.clone()).build();
    // The second source comes first; its tools stand behind those of the first all the same.
    assert_eq!(executor.call(&session, "f3", json!({})).await.to_text(), "f3");
    assert_eq!(executor.call(&session, "s1", json!({})).await.to_text(), "s1");
    assert_eq!(stage.registry.names(), ["built_in", "s2", "s1", "f1", "f2", "f3"]);
    let listing = executor.listing(&session);
    let names = |list: &[Arc<toolpost_core::registry::Entry>]| -> Vec<String> {
        list.iter().map(|entry| entry.name().to_owned()).collect()
    };
    assert_eq!(names(&listing.listed), ["built_in", "s2", "f1", "f2"]);
    assert_eq!(names(&listing.held_back), ["s1", "f3"]);
    for source in stage.registry.sources().iter() {
        source.reload().await.unwrap();
    }
    assert_eq!(stage.registry.names(), ["built_in", "s2", "s1", "f1", "f2", "f3"]);
}

#[tokio::test]
async fn events_say_whose_they_are_and_tell_the_run_again() {
    let stage = Stage::new().tool(echo("hello"));
    let more = Arc::new(MemoryLog::default());
    let ids = Ids {
        session: "s".to_owned(),
        agent: Some("writer".to_owned()),
        activation: Some("a1".to_owned()),
        ..Ids::default()
    };
    let session = stage.ctx().ids(ids).tools(stage.registry.clone()).build();
    // One who listens to a call does not take the place of who listens to the session.
    let watched = session.rebuild().events(more.clone()).build();
    let executor = Executor::new();
    executor.call(&session, "hello", json!({})).await;
    executor.call(&watched, "hello", json!({})).await;
    let all = stage.log.events();
    let sequences: Vec<u64> = all.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(all[all.len() - more.events().len()..], more.events());
    for event in &all {
        assert_eq!(
            (event.agent.as_deref(), event.activation.as_deref(), event.call.is_some()),
            (Some("writer"), Some("a1"), true)
        );
    }
    let Some(EventKind::CallFinished { output: Some(told), .. }) = all.last().map(|event| &event.kind) else {
        panic!("{all:?}");
    };
    assert_eq!((told.text.as_str(), told.left_out), ("hello", 0));
    let text = serde_json::to_string(&all).unwrap();
    let again: Vec<toolpost_core::Event> = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
}

struct Spawner;

impl Tool for Spawner {
    type Args = serde_json::Map<String, serde_json::Value>;
    type Data = ();

    fn spec(&self) -> Spec {
        spec("spawn").init_by_agent()
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        let description = format!("for {}", setting.agent.clone().unwrap_or_default());
        Ok(Some(Amendment { description: Some(description), ..Amendment::default() }))
    }

    async fn call(&self, _: &Context, _: Self::Args) -> Result<Output, ToolError> {
        Ok(Output::text(""))
    }
}

#[tokio::test]
async fn what_init_computes_may_differ_by_agent() {
    let stage = Stage::new().tool(Spawner);
    let executor = Executor::new();
    for name in ["one", "two"] {
        let own = Arc::new(Registry::over(&stage.registry.snapshot()));
        let ids = Ids { session: "s".to_owned(), agent: Some(name.to_owned()), ..Ids::default() };
        let agent = stage.ctx().ids(ids).tools(own.clone()).build();
        assert!(executor.call(&agent, "spawn", json!({})).await.is_success());
        let prepared = own.get("spawn").unwrap();
        assert_eq!(prepared.prepared().unwrap().definition.description, format!("for {name}"));
    }
}

/// The tools that a session lists, and those that it can call, of one for all models and one for those of `openai`.
fn of_provider(provider: Option<&str>) -> (Vec<String>, Vec<String>) {
    let made = any(spec("made").for_provider("OpenAI "), |_, _| async { said("made") });
    let stage = Stage::new().tool(echo("hello")).tool(made);
    let session = stage.ctx().tools(stage.registry.clone()).provider(provider).build();
    let executor = Executor::new();
    let listed = executor.listing(&session).listed.iter().map(|entry| entry.name().to_owned()).collect();
    let can_be_called = |tool: &&str| executor.validate(&session, tool, json!({})).is_ok();
    (listed, ["hello", "made"].into_iter().filter(can_be_called).map(str::to_owned).collect())
}

#[test]
fn a_tool_of_a_provider_is_offered_to_no_other() {
    for (provider, listed, called) in [
        (Some("openai"), &["hello", "made"][..], &["hello", "made"][..]),
        (Some(" OPENAI"), &["hello", "made"], &["hello", "made"]),
        (Some("anthropic"), &["hello"], &["hello"]),
        (Some(""), &["hello"], &["hello"]),
        // Whose model it is nobody knows; a person may call it.
        (None, &["hello"], &["hello", "made"]),
    ] {
        let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(of_provider(provider), (words(listed), words(called)), "{provider:?}");
    }
}

#[tokio::test]
async fn a_session_has_the_tools_that_it_selects_and_no_others() {
    let stage = Stage::new().tool(echo("read")).tool(echo("mcp__gh__issues")).tool(echo("other"));
    stage.registry.add_alias(Alias::new("read_file", "read")).unwrap();
    for (selected, expected) in [
        (&["read"][..], &["read"][..]),
        (&["read_file"], &["read"]),
        (&["mcp__gh__*", "READ"], &["read", "mcp__gh__issues"]),
        (&["mcp__g__*", "no_such"], &[]),
    ] {
        let selection = Selection::new("--pack mine", selected.iter().map(|name| (*name).to_owned()));
        let session = stage.ctx().tools(stage.registry.clone()).selection(Some(selection)).build();
        let executor = Executor::new();
        let listing = executor.listing(&session);
        let listed: Vec<&str> = listing.listed.iter().map(|entry| entry.name()).collect();
        assert_eq!(listed, expected, "{selected:?}");
        for tool in ["read", "mcp__gh__issues", "other"] {
            let outcome = executor.call(&session, tool, json!({})).await;
            let refused = (!expected.contains(&tool)).then_some(Code::ToolNotFound);
            assert_eq!(code(&outcome), refused, "{selected:?} {tool}");
            if refused.is_some() {
                assert!(outcome.to_text().contains("has only those of --pack mine"), "{}", outcome.to_text());
                assert_eq!(session.tool_name(tool), None);
            }
        }
    }
}
