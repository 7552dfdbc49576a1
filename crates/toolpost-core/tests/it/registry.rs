//! Which tools there are.

use crate::stage::{Stage, any, code, echo, said, spec};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::dialect::Alias;
use toolpost_core::registry::Entry;
use toolpost_core::tool::{Amendment, Setting, Texts};
use toolpost_core::{Capability, Context, Dialect, Memory, Output, Registry, Spec, Tool, ToolError, dynamic};

fn names(entries: Vec<Arc<Entry>>) -> Vec<String> {
    entries.iter().map(|entry| entry.name().to_owned()).collect()
}

fn filled(tools: &[&'static str]) -> Registry {
    let registry = Registry::new();
    for name in tools {
        registry.register(echo(name)).unwrap();
    }
    registry
}

#[test]
fn a_name_is_taken_once_and_free_again_when_its_tool_has_gone() {
    let registry = filled(&["b", "a"]);
    registry.add_alias(Alias::new("c", "a")).unwrap();
    for taken in ["a", "c"] {
        assert_eq!(
            registry.register(echo(taken)).unwrap_err().message(),
            format!("a tool or alias named `{taken}` is already registered; unregister it first")
        );
        assert!(registry.add_alias(Alias::new(taken, "b")).is_err());
    }
    assert_eq!(registry.names(), ["b", "a"]);
    assert!(registry.has("a") && !registry.has("c") && registry.get("c").is_none());
    assert_eq!(registry.unregister("a").unwrap().name(), "a");
    assert!(registry.unregister("a").is_none());
    registry.register(echo("c")).unwrap();
    assert_eq!(names(registry.all()), ["b", "c"], "its aliases went with it");
    assert_eq!(
        registry.add_alias(Alias::new("d", "a")).unwrap_err().message(),
        "alias `d` leads to `a`, which is not registered"
    );
}

#[test]
fn a_schema_that_takes_no_object_is_refused_when_the_tool_is_registered() {
    for (schema, expected) in [
        (json!({"type": "string"}), "arguments are always an object, and the schema takes only `string`"),
        (
            json!({"type": ["array", "null"]}),
            "arguments are always an object, and the schema takes only `array` or `null`",
        ),
        (json!(false), "arguments are always an object, and the schema takes nothing"),
        (json!([]), "the schema itself is not valid: a schema must be an object, `true` or `false`"),
    ] {
        let tool = dynamic(Spec::new("a", "1.0.0", "x"), schema, |_, _| std::future::pending());
        let error = Registry::new().register(tool).unwrap_err();
        assert!(
            error.message().starts_with(&format!("the tool `a` cannot be registered: {expected}")),
            "{error}"
        );
    }
    for schema in [json!({}), json!(true), json!({"type": ["object", "null"]}), json!({"type": "object"})] {
        let tool = dynamic(Spec::new("a", "1.0.0", "x"), schema, |_, _| std::future::pending());
        Registry::new().register(tool).unwrap();
    }
}

#[test]
fn names_and_versions_that_nobody_would_take_are_refused() {
    let registry = Registry::new();
    let long = "x".repeat(65);
    for name in ["", "two words", "größe", "a.b", "a/b", &long] {
        let error = registry.register(echo("ok").renamed(name)).unwrap_err();
        assert!(error.message().contains("cannot name a tool"), "{error}");
    }
    for version in ["", "1", "1.0", "v1.0.0", "one"] {
        let tool = any(Spec::new("ok", version, ""), |_, _| async { said("") });
        assert!(registry.register(tool).unwrap_err().message().contains("write it as 1.0.0"));
    }
    assert!(registry.names().is_empty());
}

/// A closure tool under another name.
trait Renamed {
    fn renamed(self, name: &str) -> toolpost_core::tool::DynamicTool;
}

impl Renamed for toolpost_core::tool::DynamicTool {
    fn renamed(self, name: &str) -> toolpost_core::tool::DynamicTool {
        any(spec(name), |_, _| async { said("") })
    }
}

#[test]
fn tools_are_found_by_capability_and_provider() {
    let registry = Registry::new();
    let quiet = |spec| any(spec, |_, _| async { said("") });
    registry.register(quiet(spec("all").requires(Capability::Read))).unwrap();
    registry.register(quiet(spec("fetch").may_use(Capability::Network).for_provider("openai"))).unwrap();
    registry.register(quiet(spec("patch").requires(Capability::Write).for_provider("anthropic"))).unwrap();
    for (capability, expected) in [
        (Capability::Read, vec!["all"]),
        (Capability::Network, vec!["fetch"]),
        (Capability::Write, vec!["patch"]),
        (Capability::Exec, vec![]),
    ] {
        assert_eq!(names(registry.with_capability(capability)), expected);
    }
    for (provider, expected) in
        [("openai", ["all", "fetch"].as_slice()), ("Anthropic", &["all", "patch"]), ("google", &["all"])]
    {
        assert_eq!(names(registry.for_provider(provider)), expected);
    }
}

#[test]
fn several_changes_are_one_or_none() {
    let registry = filled(&["a"]);
    registry.add_alias(Alias::new("first", "a")).unwrap();
    let (before, snapshot) = (registry.snapshot().generation(), registry.snapshot());
    let failed = registry.change(|draft| {
        draft.unregister("a");
        draft.register(Arc::new(echo("b")))?;
        draft.add_alias(Alias::new("other", "missing"))
    });
    assert!(failed.is_err());
    assert_eq!((registry.names(), registry.snapshot().generation()), (vec!["a".to_owned()], before));
    assert!(registry.snapshot().find("first", &Dialect::canonical()).is_ok());
    registry
        .change(|draft| {
            draft.unregister("a");
            draft.register(Arc::new(echo("b")))?;
            draft.add_alias(Alias::new("first", "b"))
        })
        .unwrap();
    assert_eq!((registry.names(), registry.snapshot().generation()), (vec!["b".to_owned()], before + 1));
    assert!(snapshot.find("a", &Dialect::canonical()).is_ok(), "who has the old state keeps it");
}

#[test]
fn descriptions_are_filled_in_and_can_be_replaced() {
    let texts = Texts::new(&Memory::new(), "/workspace/src").with_override("b", "  Better, in ${cwd}.\n");
    let registry = Registry::with_texts(texts);
    for name in ["a", "b"] {
        let spec = Spec::new(name, "1.0.0", "Reads below ${directory}; not ${else}.");
        registry.register(any(spec, |_, _| async { said("") })).unwrap();
    }
    let described =
        |name: &str| registry.get(name).unwrap().prepared().unwrap().definition.description.clone();
    assert_eq!(described("a"), "Reads below /workspace/src; not ${else}.");
    assert_eq!(described("b"), "Better, in /workspace/src.");
}

/// A tool that writes down when it begins and ends.
struct Diarist {
    name: &'static str,
    fails: bool,
    hangs: bool,
    diary: Arc<Mutex<Vec<String>>>,
}

impl Tool for Diarist {
    type Args = serde_json::Map<String, serde_json::Value>;
    type Data = ();

    fn spec(&self) -> Spec {
        spec(self.name)
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        self.diary.lock().unwrap().push(format!("{} up in {}", self.name, setting.workspace.root()));
        match self.fails {
            true => Err(ToolError::execution("not today")),
            false => Ok(None),
        }
    }

    async fn call(&self, _: &Context, _: Self::Args) -> Result<Output<()>, ToolError> {
        Ok(Output::text("done"))
    }

    async fn shutdown(&self) {
        self.diary.lock().unwrap().push(format!("{} down", self.name));
        assert_ne!(self.name, "crashing");
        if self.hangs {
            std::future::pending::<()>().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn all_tools_are_made_ready_and_shut_down_in_reverse_order_each_in_bounded_time() {
    let diary = Arc::new(Mutex::new(Vec::new()));
    let stage =
        ["first", "failing", "hanging", "crashing", "last"].into_iter().fold(Stage::new(), |stage, name| {
            let diary = diary.clone();
            stage.tool(Diarist { name, fails: name == "failing", hangs: name == "hanging", diary })
        });
    let setting = Setting {
        workspace: stage.memory.clone(),
        agent: None,
        services: toolpost_core::host::Services::default(),
    };
    let failed = stage.registry.initialize_all(&setting, Duration::from_secs(5)).await;
    let failed: Vec<String> =
        failed.iter().map(|(name, error)| format!("{name}: {}", error.code())).collect();
    assert_eq!(failed, ["failing: INIT_FAILED"]);
    assert!(stage.registry.initialize_all(&setting, Duration::from_secs(5)).await.len() == 1, "tried again");
    let up = std::mem::take(&mut *diary.lock().unwrap());
    assert_eq!(up.len(), 6);
    assert_eq!(up.iter().filter(|line| *line == "first up in /workspace").count(), 1);
    let start = tokio::time::Instant::now();
    let late = stage.registry.shutdown_all(Duration::from_secs(2)).await;
    assert_eq!(late, ["crashing", "hanging"]);
    assert_eq!(start.elapsed().as_secs(), 2);
    assert_eq!(*diary.lock().unwrap(), ["last down", "crashing down", "hanging down", "first down"]);
    assert!(stage.registry.shutdown_all(Duration::from_secs(2)).await.is_empty(), "once is enough");
    assert_eq!(diary.lock().unwrap().len(), 4);
    let outcome = stage.call("first").await;
    assert!(outcome.to_text().contains("`first` was shut down; register it again"), "{}", outcome.to_text());
}

#[tokio::test]
async fn a_call_in_flight_keeps_its_tool() {
    let stage = Stage::new();
    let registry = stage.registry.clone();
    let tool = any(spec("old"), move |_, _| {
        let registry = registry.clone();
        async move {
            registry.unregister("old").unwrap();
            said("done all the same")
        }
    });
    let stage = stage.tool(tool);
    assert_eq!(code(&stage.call("old").await), "done all the same");
    let outcome = stage.executor().call(&stage.ctx().build(), "old", json!({})).await;
    assert_eq!(outcome.to_text(), "Error: no tool `old`; there are no tools");
}
