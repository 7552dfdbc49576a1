//! `tools/call`: one call of the executor, and what came of it as content blocks.

use crate::Server;
use crate::client_call::ClientCall;
use crate::dispatch::Exchange;
use crate::extension::TaskStart;
use crate::output::{self, Reader};
use crate::pending::{self, Begun, Recalled, Subject};
use crate::progress::Progress;
use crate::report::{self, Loss};
use crate::structured::Shape;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::text::id::new_shared_id;
use toolpost_core::{Call, Code, Context, Executor, Registry};
use toolpost_mcp::{Revision, RpcError};

pub(crate) async fn call(
    server: &Server,
    exchange: &Exchange,
    mut params: Map<String, Value>,
) -> Result<Value, RpcError> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(RpcError::params("a call says the tool's `name`"));
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(arguments @ Value::Object(_)) => arguments,
        Some(_) => return Err(RpcError::params("`arguments` is an object")),
    };
    let subject = Subject { method: "tools/call", name, arguments };
    let is_modern = exchange.client.is_modern();
    let answers = if is_modern { pending::answers(&mut params) } else { Map::new() };
    if let Some(state) = pending::state(&mut params, &exchange.client) {
        return answered(server, exchange, (&state, answers), &subject, &params).await;
    }
    pending::refuse_stray(&answers)?;
    begin(server, exchange, subject, answers, &params).await
}

/// A call that its client makes for the first time, or anew.
async fn begin(
    server: &Server,
    exchange: &Exchange,
    subject: Subject,
    answers: Map<String, Value>,
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    let session = &exchange.session;
    let registry = session.context.tools();
    let name = subject.name.as_str();
    // A tool of a server that has yet to start may still come: the executor waits for it.
    if !registry.has(name)
        && registry.snapshot().find(name, session.context.dialect()).is_err()
        && registry.sources_of(name).is_empty()
    {
        return Err(RpcError::params(server.executor.unknown_tool(&session.context, name).message()));
    }
    let client_call = Arc::new(ClientCall::new(
        exchange.client.clone(),
        Arc::clone(session),
        Arc::clone(&exchange.outlet),
        server.options.says_yes,
        server.options.answer_wait,
        answers,
    ));
    let limit = task_limit(server, exchange, name, &client_call)?;
    let is_modern = exchange.client.is_modern();
    // A call that may be kept does not end with the request that it came with.
    let cancel = if is_modern { session.cancel.child_token() } else { exchange.cancel.child_token() };
    let mut context = session.context.rebuild().cancel(cancel.clone()).confirm(client_call.clone());
    let progress = progress_token(params).map(|token| {
        let has_messages = exchange.client.revision >= Revision::V2025_03_26;
        let outlet = Arc::clone(&exchange.outlet);
        Arc::new(Progress::new(token, has_messages, outlet, cancel.clone()))
    });
    if let Some(progress) = &progress {
        context = context.events(progress.clone());
    }
    if server.extension.is_some() {
        context = context.extra(Arc::clone(&client_call));
    }
    let id = new_shared_id(server.context.clock().now_ms());
    // What must be known again when it is answered is only kept for clients that are asked in this way.
    let arguments = if is_modern { subject.arguments.clone() } else { Value::Null };
    let mut call = Call::new(name, subject.arguments).id(Arc::clone(&id));
    let subject = Subject { name: call.tool.clone(), arguments, method: subject.method };
    if let Some(timeout) = server.options.timeout {
        call = call.timeout(timeout);
    }
    let made = Made {
        executor: server.executor.clone(),
        context: context.build(),
        call,
        client_call: Arc::clone(&client_call),
        progress: progress.clone(),
        is_structured: server.options.structured,
    };
    if !is_modern {
        return made.run().await;
    }
    let work = Box::pin(made.run());
    Begun { id, subject, client_call, progress, cancel, work }.run(server, exchange, limit).await
}

/// A request that brings answers to a call: the call itself goes on, and is not made again.
async fn answered(
    server: &Server,
    exchange: &Exchange,
    (state, answers): (&Value, Map<String, Value>),
    subject: &Subject,
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    match pending::recall(server, &exchange.session, state, subject).await? {
        Recalled::Pending(found) => {
            found.deliver(answers);
            let limit = task_limit(server, exchange, &subject.name, &found.client_call)?;
            found.follow(server, exchange, limit, progress_token(params)).await
        }
        Recalled::Gone(id) => report::lost(server, &subject.name, &id, Loss::NotHere, &exchange.client).await,
    }
}

/// The time after which a call becomes a task; none where it never does.
fn task_limit(
    server: &Server,
    exchange: &Exchange,
    name: &str,
    client_call: &ClientCall,
) -> Result<Option<Duration>, RpcError> {
    let start = match &server.extension {
        Some(extension) => extension.task(name, client_call)?,
        None => TaskStart::default(),
    };
    Ok(match start {
        TaskStart::After(limit) if exchange.client.can_follow_tasks() => Some(limit),
        TaskStart::After(_) | TaskStart::Never => None,
    })
}

/// The token under which a request wants to hear of progress.
fn progress_token(params: &Map<String, Value>) -> Option<Value> {
    params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned()
}

/// A call with all it needs.
struct Made {
    executor: Executor,
    context: Context,
    call: Call,
    client_call: Arc<ClientCall>,
    progress: Option<Arc<Progress>>,
    is_structured: bool,
}

impl Made {
    async fn run(self) -> Result<Value, RpcError> {
        let outcome = self.executor.run(&self.context, self.call).await;
        if let Some(progress) = self.progress {
            progress.end();
        }
        match (self.client_call.take_refusal(), &outcome.result) {
            (Some(refusal), _) => Err(refusal),
            // It could have been one of a server's, and is not.
            (None, Err(unknown)) if unknown.code() == Code::ToolNotFound => {
                Err(RpcError::params(unknown.message()))
            }
            (None, _) => {
                let reader = match self.is_structured {
                    true => Reader::Program(shape(self.context.tools(), &outcome.tool)),
                    false => Reader::Model,
                };
                Ok(output::result(
                    outcome,
                    self.client_call.take_content(),
                    self.client_call.client(),
                    reader,
                ))
            }
        }
    }
}

/// The shape in which the list announces the data of this tool.
fn shape(tools: &Registry, tool: &str) -> Shape {
    let entry = tools.get(tool);
    let prepared = entry.as_ref().and_then(|entry| entry.prepared().ok());
    Shape::of(prepared.and_then(|prepared| prepared.definition.output.as_ref()))
}
