//! What the tests play on: a registry, a memory workspace and a log, and tools that do one thing each.

use crate::fixed::Fixed as Executor;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::event::{EventKind, MemoryLog};
use toolpost_core::executor::ExecutorBuilder;
use toolpost_core::host::ContextBuilder;
use toolpost_core::tool::DynamicTool;
use toolpost_core::{
    Answer, Capability, Context, Hook, Memory, Outcome, Output, Policy, Registry, Spec, ToolError,
    WorkspacePath, dynamic,
};

pub(crate) struct Stage {
    pub(crate) registry: Arc<Registry>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) log: Arc<MemoryLog>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage::with_files("")
    }

    /// Files as one text, each after a line `//- path`.
    pub(crate) fn with_files(fixture: &str) -> Stage {
        Stage {
            registry: Arc::new(Registry::new()),
            memory: Arc::new(Memory::from_fixture(fixture)),
            log: Arc::new(MemoryLog::default()),
        }
    }

    pub(crate) fn tool(self, tool: impl toolpost_core::tool::AnyTool + 'static) -> Stage {
        self.registry.register(tool).unwrap();
        self
    }

    pub(crate) fn ctx(&self) -> ContextBuilder {
        Context::builder(self.memory.clone()).session("s").events(self.log.clone())
    }

    pub(crate) fn builder(&self, policy: Policy) -> Builder {
        Builder { inner: toolpost_core::Executor::builder(), tools: self.registry.clone(), policy }
    }

    pub(crate) fn executor(&self) -> Executor {
        self.builder(Policy::default()).build()
    }

    /// Runs a tool with no arguments.
    pub(crate) async fn call(&self, tool: &str) -> Outcome {
        self.executor().call(&self.ctx().build(), tool, json!({})).await
    }

    /// What happened, a few words each.
    pub(crate) fn trace(&self) -> Vec<String> {
        self.log.events().into_iter().map(|event| words(&event.kind)).collect()
    }

    /// What happened, as one line.
    #[track_caller]
    pub(crate) fn check(&self, expected: &str) {
        assert_eq!(self.trace().join(" · "), expected);
    }
}

/// Makes an executor with the stage's tools and a policy.
pub(crate) struct Builder {
    inner: ExecutorBuilder,
    tools: Arc<Registry>,
    policy: Policy,
}

impl Builder {
    fn with(self, change: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Builder {
        Builder { inner: change(self.inner), ..self }
    }

    pub(crate) fn hook(self, hook: Arc<dyn Hook>) -> Builder {
        self.with(|inner| inner.hook(hook))
    }

    pub(crate) fn on_result(self, sink: impl Fn(&Outcome) + Send + Sync + 'static) -> Builder {
        self.with(|inner| inner.on_result(sink))
    }

    pub(crate) fn init_limit(self, limit: Duration) -> Builder {
        self.with(|inner| inner.init_limit(limit))
    }

    pub(crate) fn build(self) -> Executor {
        Executor::with(self.inner, self.tools, self.policy)
    }
}

fn words(kind: &EventKind) -> String {
    match kind {
        EventKind::CallRequested { tool, parent: None, .. } => format!("requested {tool}"),
        EventKind::CallRequested { tool, .. } => format!("requested {tool} inside"),
        EventKind::ToolInitialized { tool } => format!("initialized {tool}"),
        EventKind::ArgumentsRepaired { repairs } => format!("repaired {}", repairs.len()),
        EventKind::HookIntervened { hook, what } => format!("{hook} {what}"),
        EventKind::CallDecided { effect, .. } => effect.clone(),
        EventKind::Asked { .. } => "asked".to_owned(),
        EventKind::Answered { answer: Answer::Yes(_) } => "yes".to_owned(),
        EventKind::Answered { answer: Answer::No(why) } => format!("no ({why})"),
        EventKind::Answered { answer: Answer::DryRun } => "dry run first".to_owned(),
        EventKind::Answered { answer: Answer::Nobody } => "nobody".to_owned(),
        EventKind::CallStarted { attempt, dry_run: false, .. } => format!("started {attempt}"),
        EventKind::CallStarted { dry_run: true, .. } => "started dry".to_owned(),
        EventKind::Progress { title, .. } => format!("progress {title}"),
        EventKind::CallRetried { attempt, delay_ms, .. } => format!("retried {attempt} in {delay_ms}"),
        EventKind::OutputSpilled { .. } => "spilled".to_owned(),
        EventKind::CallFinished { error: None, .. } => "finished".to_owned(),
        EventKind::CallFinished { error: Some(error), .. } => format!("finished {}", error.code()),
        EventKind::FileStored { path, .. } => format!("stored {path}"),
        EventKind::TaskChanged { task, status, .. } => format!("{task} {}", status.as_str()),
        EventKind::TodosChanged { count } => format!("{count} todos"),
        EventKind::Activation { fact } => format!("{fact:?}"),
        EventKind::ChangesUndone { of, .. } => format!("undone {of}"),
        EventKind::Warning { message } => format!("warning {message}"),
    }
}

/// A tool's spec with nothing special about it.
pub(crate) fn spec(name: &str) -> Spec {
    Spec::new(name, "1.0.0", "Does one thing for a test.")
}

/// A tool that takes any arguments.
pub(crate) fn any<F, R>(spec: Spec, function: F) -> DynamicTool
where
    F: Fn(Context, Value) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output<Value>, ToolError>> + Send + 'static,
{
    dynamic(spec, json!({"type": "object"}), function)
}

/// An output that is only text.
pub(crate) fn said(text: impl Into<String>) -> Result<Output<Value>, ToolError> {
    Ok(Output::new("", text, Value::Null))
}

/// A tool that says its name.
pub(crate) fn echo(name: &'static str) -> DynamicTool {
    any(spec(name), move |_, _| async move { said(name) })
}

/// A tool that writes `content` to `path`, both arguments.
pub(crate) fn writer(spec: Spec) -> DynamicTool {
    dynamic(spec.requires(Capability::Write), path_schema(), |ctx, args| async move {
        let path = WorkspacePath::new(args["path"].as_str().unwrap());
        let content = args["content"].as_str().unwrap_or("new").to_owned();
        ctx.blocking_in_pool(move |ctx| ctx.workspace().write(&path, content.as_bytes())).await?;
        said("written")
    })
}

/// Arguments of which `path` and each of `paths` name a file of the workspace.
pub(crate) fn path_schema() -> Value {
    let path = json!({"type": "string", "x-toolpost-path": true});
    json!({
        "type": "object",
        "properties": {
            "path": path,
            "paths": {"type": "array", "items": path},
            "content": {"type": "string"}
        }
    })
}

/// The code of a failed call, or its text.
#[track_caller]
pub(crate) fn code(outcome: &Outcome) -> &str {
    outcome.result.as_ref().map_or_else(|error| error.code().as_str(), |output| output.text.as_str())
}

/// The message of a failed call.
#[track_caller]
pub(crate) fn message(outcome: &Outcome) -> &str {
    outcome.result.as_ref().expect_err("the call should have failed").message()
}
