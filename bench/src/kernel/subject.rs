//! Agents with a script: each step calls a tool that returns at once.

use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_agent::driver::{Activation, Listener};
use toolpost_agent::model::Script;
use toolpost_agent::tree::Branch;
use toolpost_core::activation::{Limits, Start};
use toolpost_core::host::Ids;
use toolpost_core::model::Model;
use toolpost_core::store::Retention;
use toolpost_core::{Capability, Context, Executor, Memory, Output, Registry, Spec, dynamic};
use toolpost_store::{StoreLog, StoreUrl};

/// Bytes of the result of a call.
const RESULT: usize = 1024;

/// What runs share: the store that they are recorded in, and the executor.
pub(super) struct World {
    pub(super) context: Context,
    executor: Executor,
}

impl World {
    /// Every event goes to the store at this address, as `toolpost run` does it.
    pub(super) fn new(url: &StoreUrl, tools: Arc<Registry>) -> Result<World> {
        let log = StoreLog::new(toolpost_store::open(url)?, Box::new(Arc::clone), Retention::default());
        let context = Context::builder(Arc::new(Memory::new())).tools(tools).events(Arc::new(log)).build();
        Ok(World { context, executor: Executor::new() })
    }

    /// A run with an id, a session of its own, and a limit of turns that it does not reach; the first of its tree.
    pub(super) fn run(&self, id: String, model: Arc<dyn Model>, listener: Arc<dyn Listener>) -> Activation {
        let branch = Branch::root(&id, &Limits::usual(), self.context.cancel().child_token());
        self.run_at(branch, id, model, listener)
    }

    /// The same at a place in a tree.
    pub(super) fn run_at(
        &self,
        branch: Branch,
        id: String,
        model: Arc<dyn Model>,
        listener: Arc<dyn Listener>,
    ) -> Activation {
        let ids = Ids {
            session: format!("session-{id}"),
            agent: Some("bench".to_owned()),
            activation: Some(id.clone()),
            ..Ids::default()
        };
        let start = Start {
            agent: "bench".to_owned(),
            system: "You call the tool.".to_owned(),
            task: "Go on until you are done.".to_owned(),
            model: model.profile().clone(),
            limits: Limits { turns: Some(10_000), ..Limits::usual() },
            ..Start::default()
        };
        Activation {
            id,
            start,
            model,
            context: self.context.rebuild().ids(ids).build(),
            executor: self.executor.clone(),
            offers_all: false,
            temperature: None,
            thinking: None,
            listener,
            branch,
            state: None,
        }
    }
}

/// A tool that returns a text of 1 KiB at once.
pub(super) fn one_tool() -> Result<Arc<Registry>> {
    let tools = Arc::new(Registry::new());
    let spec = Spec::new("look", "1.0.0", "Looks.").requires(Capability::Read).idempotent().quick();
    let schema =
        json!({"type": "object", "properties": {"place": {"type": "integer"}}, "required": ["place"]});
    tools.register(dynamic(spec, schema, |_, _: Value| async {
        Ok(Output::new("look", "x".repeat(RESULT), Value::Null))
    }))?;
    Ok(tools)
}

/// A script of so many calls, one in each turn, no two the same.
pub(super) fn script(calls: usize) -> Result<Script> {
    let mut steps: Vec<Value> =
        (0..calls).map(|place| json!({"call": "look", "args": {"place": place}})).collect();
    steps.push(json!({"say": "done"}));
    Ok(Script::new(&Value::Array(steps), "bench")?)
}
