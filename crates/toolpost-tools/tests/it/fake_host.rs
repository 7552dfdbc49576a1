//! A host of agents that starts none: it keeps what it was asked for, and answers with it.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use toolpost_core::host::{AgentHost, AgentType, BoxFuture, Ids, Services, SpawnOrder, SpawnedAgent};
use toolpost_core::model::Usage;
use toolpost_core::{Context, Executor, Memory, Outcome, Registry, ToolError};
use toolpost_tools::Settings;

#[derive(Default)]
pub(crate) struct FakeHost {
    pub(crate) orders: Mutex<Vec<SpawnOrder>>,
    pub(crate) signals: Mutex<Vec<String>>,
}

impl AgentHost for FakeHost {
    fn types(&self, _: Option<&str>) -> Vec<AgentType> {
        let one = |name: &str, description: &str| AgentType {
            name: name.to_owned(),
            description: description.to_owned(),
        };
        vec![one("finder", "Finds\nthings."), one("plain", "")]
    }

    fn spawn<'a>(
        &'a self,
        _: &'a Context,
        order: SpawnOrder,
    ) -> BoxFuture<'a, Result<SpawnedAgent, ToolError>> {
        let data = order.result_schema.as_ref().map(|_| json!({"n": 1}));
        let text = format!("done: {}", order.prompt);
        self.orders.lock().unwrap().push(order);
        let spawned =
            SpawnedAgent { id: "run".to_owned(), text, data, turns: 2, usage: Usage::default(), cost: None };
        Box::pin(std::future::ready(Ok(spawned)))
    }

    fn signal_parent<'a>(&'a self, _: &'a Context, text: String) -> BoxFuture<'a, Result<String, ToolError>> {
        self.signals.lock().unwrap().push(text);
        Box::pin(std::future::ready(Ok("boss".to_owned())))
    }
}

/// A session with the tools of the pack `spawn`, in a dialect, and its host.
pub(crate) struct Session {
    pub(crate) host: Arc<FakeHost>,
    pub(crate) context: Context,
    executor: Executor,
}

impl Session {
    pub(crate) fn new(dialect: &str) -> Session {
        let host = Arc::new(FakeHost::default());
        let services = Services { agents: Some(Arc::clone(&host) as _), ..Services::default() };
        let registry = Arc::new(Registry::new());
        toolpost_tools::register_default(&registry, &services, &Settings::default()).unwrap();
        let dialect = registry.snapshot().dialects().named(dialect).unwrap();
        let context = Context::builder(Arc::new(Memory::new()))
            .services(services)
            .tools(registry)
            .dialect(dialect)
            .ids(Ids { parent_activation: Some("above".to_owned()), ..Ids::default() })
            .build();
        Session { host, context, executor: Executor::new() }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.executor.call(&self.context, tool, arguments).await
    }

    /// The definition of a tool once it is ready.
    pub(crate) async fn ready(&self, tool: &str) -> toolpost_core::tool::Definition {
        assert!(self.executor.ready_by_agent(&self.context).await.is_empty());
        self.context.tools().get(tool).unwrap().prepared().unwrap().definition.clone()
    }
}
