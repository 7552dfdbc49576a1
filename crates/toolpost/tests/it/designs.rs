//! Tools in the forms that readers know from other layers of tools: an agent file, a manifest of a pack, an executor with options, a
//! definition with `init` and a description in a file, a round trip through LangChain. The guide `coming-from.md` names their parts.

use crate::brain::{Said, serve, texts};
use crate::installed::pip;
use crate::{Home, Ran};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::Pack;
use toolpost_core::executor::Retry;
use toolpost_core::pack::{Manifest, RiskProfile, assert_allowed, resolve_packs};
use toolpost_core::policy::Profile;
use toolpost_core::prelude::*;
use toolpost_core::tool::{Amendment, Setting, Texts};

#[test]
fn a_tool_of_an_agent_file_has_the_model_and_the_result_that_it_names() {
    let home = Home::new();
    let models: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&models);
    let (url, _) = serve(move |request: &Value| {
        log.lock().unwrap().push(request["model"].as_str().unwrap().to_owned());
        match texts(request).contains("Outline:\n\na {{text}} of two parts") {
            true => Said::text("Sure:\n```json\n{\"bullets\": [\"one\", \"two\"]}\n```"),
            false => Said::text("no prompt"),
        }
    });
    // The vendor's row at another address, without its key.
    let row = format!("[[vendor]]\nname = \"gemini\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\n");
    home.write(".config/toolpost/config.toml", row);
    home.write("repo/outliner.md", include_str!("designs/outliner.md"));
    home.write(".config/toolpost/agents/outliner.md", include_str!("designs/outliner.md"));
    let checked = home.run(&["agents", "check", "outliner.md"]);
    assert_eq!(checked.status, 0, "{}{}", checked.stdout, checked.stderr);
    let arguments = json!({"text": "a {{text}} of two parts", "depth": 2});
    let (status, called) = home.json(&["call", "outliner.md/outline", &arguments.to_string()]);
    assert_eq!((status, &called["data"]), (0, &json!({"bullets": ["one", "two"]})), "{called}");
    let served = crate::mcp::one_call(&home, &[], "outliner__outline", arguments);
    assert!(served.contains("bullets") && served.contains("\"isError\":false"), "{served}");
    assert_eq!(*models.lock().unwrap(), ["gemini-2.0-flash-lite"; 2]);
}

#[test]
fn a_manifest_in_a_file_names_the_tools_of_a_pack_and_what_they_may_cause() {
    let file = Manifest::parse("filesystem.json", include_bytes!("designs/filesystem.json")).unwrap();
    let manifest = file.manifest;
    assert_eq!((manifest.tools().len(), manifest.tags()), (3, &["core".to_owned(), "local".to_owned()][..]));
    assert_eq!(manifest.risk_profile(), RiskProfile::Fixed(Profile::Standard));
    let meant = |name: &String| toolpost_tools::names().tool(name).map(str::to_owned);
    let tools: Vec<Option<String>> = manifest.tools().iter().map(meant).collect();
    assert_eq!(tools, ["read", "list", "edit"].map(|name| Some(name.to_owned())));
    assert_allowed(&manifest, &Policy::standard()).unwrap();
    let refused = assert_allowed(&manifest, &Policy::read_only()).unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let tool = |name: &'static str, about: &'static str| {
        dynamic(Spec::new(name, "1.0.0", about), json!({"type": "object"}), |_, _| async { Ok(text("ran")) })
    };
    let pack = |name: &str| Pack::compiled_in(name, "A pack.", RiskProfile::Fixed(Profile::ReadOnly), &[]);
    let packs = [pack("one").with(tool("a", "old")).with(tool("b", "b")), pack("two").with(tool("a", "new"))];
    let resolved = resolve_packs(&packs, &["one", "two"]).unwrap();
    let shown: Vec<(&str, &str)> =
        resolved.iter().map(|tool| (tool.name(), tool.spec().description.as_str())).collect();
    assert_eq!(shown, [("a", "new"), ("b", "b")]);
    assert!(resolve_packs(&packs, &["ones"]).err().unwrap().message().contains("`one`"));
}

/// A result that is a text alone.
fn text(text: &str) -> Output<Value> {
    Output::new("", text, Value::Null)
}

/// A tool that answers on its third attempt, and one that never does.
fn registry(attempts: &Arc<AtomicU32>) -> Arc<Registry> {
    let (registry, attempts) = (Arc::new(Registry::new()), Arc::clone(attempts));
    let spec = Spec::new("fetch_page", "1.2.0", "Fetches a page.").idempotent().retryable();
    let schema = json!({
        "type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}, "limit": {"type": "number", "exclusiveMinimum": 0}},
    });
    let fetch = dynamic(spec, schema, move |_, arguments: Value| {
        let attempt = attempts.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            match attempt {
                1 | 2 => Err(ToolError::execution("busy").retryable()),
                _ => Ok(text(&format!("page {}", arguments["path"]))),
            }
        }
    });
    registry.register(fetch).unwrap();
    let spec = Spec::new("wait_forever", "1.0.0", "Never ends.");
    let forever = dynamic(spec, json!({"type": "object"}), |_, _| async {
        std::future::pending::<()>().await;
        Ok(text(""))
    });
    registry.register(forever).unwrap();
    registry
}

#[tokio::test]
async fn an_executor_has_time_outs_retries_and_statistics() {
    let attempts = Arc::new(AtomicU32::new(0));
    let registry = registry(&attempts);
    let again = registry
        .register(dynamic(Spec::new("fetch_page", "1.0.0", "x"), json!({}), |_, _| async { Ok(text("")) }));
    assert!(again.is_err() && registry.has("fetch_page") && registry.names().len() == 2);
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&heard);
    let executor =
        Executor::builder().on_result(move |outcome| log.lock().unwrap().push(outcome.to_text())).build();
    let session = Context::in_memory().with_tools(Arc::clone(&registry));
    let checked = |arguments: Value| executor.validate(&session, "fetch_page", arguments).map(|_| ());
    assert!(checked(json!({"path": "a", "limit": 10})).is_ok());
    for wrong in [json!({}), json!({"path": "a", "limit": 0}), json!({"path": ["a", "b"]})] {
        assert_eq!(checked(wrong).unwrap_err().code(), Code::ValidationError);
    }
    let retry = Retry { attempts: 3, delay: Duration::from_millis(1), backoff: 2.0 };
    let fetched = executor.run(&session, Call::new("fetch_page", json!({"path": "a"})).retry(retry)).await;
    assert_eq!((fetched.to_text().as_str(), fetched.metadata.attempts), ("page \"a\"", 3));
    let late = Call::new("wait_forever", json!({})).timeout(Duration::from_millis(20));
    let late = executor.run(&session, late).await;
    assert_eq!(late.result.as_ref().unwrap_err().code(), Code::Timeout);
    let unknown = executor.call(&session, "fetch_pge", json!({})).await;
    assert!(
        unknown.to_text().starts_with("Error: ") && unknown.to_text().contains("fetch_page"),
        "{unknown:?}"
    );
    let stats = executor.stats();
    assert_eq!((stats.tools["fetch_page"].success, stats.tools["wait_forever"].error), (1, 1));
    assert!(stats.all.total >= 2 && stats.all.average_ms > 0.0, "{stats:?}");
    assert_eq!((executor.last_results(session.session()).len(), heard.lock().unwrap().len()), (3, 3));
    assert!(registry.unregister("wait_forever").is_some() && !registry.has("wait_forever"));
}

/// What the model may ask for.
#[derive(Deserialize, JsonSchema)]
struct Poem {
    /// Which poem.
    title: String,
}

/// What a program gets beside the text.
#[derive(Serialize, JsonSchema)]
struct Recited {
    lines: usize,
}

/// A tool that looks for its poems when it is made ready.
struct Recite {
    inits: Arc<AtomicU32>,
}

impl Tool for Recite {
    type Args = Poem;
    type Data = Recited;

    fn spec(&self) -> Spec {
        Spec::new("recite", "1.0.0", include_str!("designs/recite.txt"))
            .requires(Capability::Read)
            .may_use(Capability::Network)
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        self.inits.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let name = format!("{}/poems/", setting.workspace.root());
        let mut input = toolpost_core::tool::AnyTool::definition(self).input;
        input["properties"]["title"]["enum"] = json!(["spring", "winter"]);
        let description = format!("{} Poems are in {name}.", include_str!("designs/recite.txt").trim());
        Ok(Some(Amendment { description: Some(description), input: Some(input) }))
    }

    async fn call(&self, ctx: &Context, args: Poem) -> Result<Output<Recited>, ToolError> {
        ctx.progress(
            format!("looking for {}", args.title),
            json!({"granted": ctx.granted(Capability::Network)}),
        );
        let text = ctx.read_text(&WorkspacePath::new(format!("poems/{}.txt", args.title))).await?;
        ctx.checkpoint()?;
        let lines = text.lines().count();
        Ok(Output::new(args.title, text, Recited { lines }))
    }
}

#[tokio::test]
async fn a_definition_is_made_ready_once_and_described_in_a_file() {
    let memory = Memory::from_fixture("//- poems/spring.txt\ngreen\nleaves\n");
    let (inits, told): (Arc<AtomicU32>, Arc<Mutex<Vec<String>>>) = Default::default();
    let registry = Arc::new(Registry::with_texts(Texts::new(&memory, "/desk")));
    registry.register(Recite { inits: Arc::clone(&inits) }).unwrap();
    let log = Arc::clone(&told);
    let session = Context::builder(Arc::new(memory))
        .tools(Arc::clone(&registry))
        .session("s1")
        .on_event(move |event| {
            if let EventKind::Progress { title, .. } = &event.kind {
                log.lock().unwrap().push(title.clone());
            }
        })
        .build();
    let executor = Executor::new();
    let spring = || executor.call(&session, "recite", json!({"title": "spring"}));
    let (one, two) = tokio::join!(spring(), spring());
    let output = one.result.unwrap();
    assert_eq!((output.title.as_str(), output.text.as_str()), ("spring", "green\nleaves\n"));
    assert_eq!((output.data["lines"].clone(), two.is_success()), (json!(2), true));
    assert_eq!((inits.load(Ordering::SeqCst), told.lock().unwrap().len()), (1, 2));
    let definition = registry.get("recite").unwrap().prepared().unwrap().definition.clone();
    assert!(definition.description.contains("stands in /desk. Poems are in"), "{}", definition.description);
    assert_eq!(definition.input["properties"]["title"]["enum"], json!(["spring", "winter"]));
    let other = executor.call(&session, "recite", json!({"title": "summer"})).await;
    assert_eq!(other.result.unwrap_err().code(), Code::ValidationError);
    let ended = session.rebuild().build();
    ended.cancel().cancel();
    let cancelled = executor.call(&ended, "recite", json!({"title": "spring"})).await;
    assert_eq!(cancelled.result.unwrap_err().code(), Code::Cancelled);
    let closed = session.with_policy(Policy::default().deny("read: *").unwrap());
    assert!(executor.call(&closed, "recite", json!({"title": "spring"})).await.result.is_err());
}

#[test]
fn langchain_delegates_to_an_agent_and_goes_on_with_it() {
    let home = crate::delegated::home(&[("helper", "tools: []")]);
    home.write("delegate.py", include_str!("designs/delegate.py"));
    let folder = Path::new(env!("CARGO_BIN_EXE_toolpost")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut command = Command::new(pip(&crate::langchain::ADAPTER).join("bin/python"));
    command
        .arg(home.path("delegate.py"))
        .arg(home.path("repo"))
        .arg(&path)
        .arg(home.path(""))
        .arg(home.path("data"));
    command.env_clear().env("PATH", &path).env("HOME", home.path("")).current_dir(home.path(""));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "one\none|two\n"), "{}", ran.stderr);
}
