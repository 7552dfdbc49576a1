//! `tools/call`: one call of the executor, and what came of it as content blocks.

use crate::Server;
use crate::client_call::ClientCall;
use crate::dispatch::Exchange;
use crate::extension::TaskStart;
use crate::output::{self, Reader};
use crate::progress::Progress;
use crate::structured::Shape;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use toolpost_core::text::hex;
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
    let session = &exchange.session;
    let registry = session.context.tools();
    // A tool of a server that has yet to start may still come: the executor waits for it.
    if !registry.has(&name)
        && registry.snapshot().find(&name, session.context.dialect()).is_err()
        && registry.sources_of(&name).is_empty()
    {
        return Err(RpcError::params(server.executor.unknown_tool(&session.context, &name).message()));
    }
    // Only what must be known again in another round is worth a hash, and only a modern client is asked by ending its call.
    let asked_again = if exchange.client.is_modern() { arguments.clone() } else { Value::Null };
    let subject = || self::subject(session.context.session(), &name, &asked_again);
    let answers = answers(server, exchange, &mut params, subject)?;
    let says_yes = server.options.says_yes;
    let client_call = Arc::new(ClientCall::new(
        exchange.client.clone(),
        Arc::clone(session),
        Arc::clone(&exchange.outlet),
        says_yes,
        answers,
    ));
    let is_followed = exchange.client.can_follow_tasks();
    let task = match &server.extension {
        Some(extension) => extension.task(&name, &client_call)?,
        None => TaskStart::default(),
    };
    // Of its own, because a call may also end to wait for an answer, or go on when the request has been answered.
    let cancel = if is_followed { session.cancel.child_token() } else { exchange.cancel.child_token() };
    let mut context = session.context.rebuild().cancel(cancel.clone()).confirm(client_call.clone());
    let progress = params.get("_meta").and_then(|meta| meta.get("progressToken")).map(|token| {
        let has_messages = exchange.client.revision >= Revision::V2025_03_26;
        let outlet = Arc::clone(&exchange.outlet);
        Arc::new(Progress::new(token.clone(), has_messages, outlet, cancel.clone()))
    });
    if let Some(progress) = &progress {
        context = context.events(progress.clone());
    }
    if server.extension.is_some() {
        context = context.extra(Arc::clone(&client_call));
    }
    let mut call = Call::new(name.as_str(), arguments);
    if let Some(timeout) = server.options.timeout {
        call = call.timeout(timeout);
    }
    let executor = server.executor.clone();
    let made = Made {
        executor,
        context: context.build(),
        call,
        client_call: Arc::clone(&client_call),
        progress: progress.clone(),
        is_structured: server.options.structured,
    };
    if let (true, TaskStart::After(limit)) = (is_followed, task) {
        let mut running = AbortOnDropHandle::new(tokio::spawn(made.run()));
        return tokio::select! {
            biased;
            result = &mut running => result.unwrap_or_else(|error| Err(RpcError::internal(error.to_string()))),
            () = exchange.cancel.cancelled() => {
                cancel.cancel();
                // Nobody hears of it, but what it has started must have ended.
                let _ = running.await;
                Ok(json!({}))
            }
            wanted = client_call.wants_input(), if !limit.is_zero() => {
                cancel.cancel();
                let _ = running.await;
                Ok(input_required(server, &subject(), &client_call, wanted))
            }
            () = tokio::time::sleep(limit) => {
                if let Some(progress) = progress {
                    progress.end();
                }
                server.tasks.add(session, running, client_call, cancel)
            }
        };
    }
    let mut running = std::pin::pin!(made.run());
    tokio::select! {
        biased;
        result = &mut running => result,
        wanted = client_call.wants_input() => {
            cancel.cancel();
            let _ = running.await;
            Ok(input_required(server, &subject(), &client_call, wanted))
        }
    }
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

/// The result of a call that cannot go on without its client.
pub(crate) fn input_required(
    server: &Server,
    subject: &str,
    client_call: &ClientCall,
    wanted: Map<String, Value>,
) -> Value {
    let state = json!({"of": subject, "answers": client_call.answers()});
    json!({
        "resultType": "input_required",
        "inputRequests": wanted,
        "requestState": server.seal.seal(&state),
    })
}

/// What was answered in earlier rounds of this call and in this one. A yes to the policy's question counts only with
/// the state that came with the question, so that it is to this call and to no other.
pub(crate) fn answers(
    server: &Server,
    exchange: &Exchange,
    params: &mut Map<String, Value>,
    subject: impl FnOnce() -> String,
) -> Result<Map<String, Value>, RpcError> {
    let mut answers = Map::new();
    if !exchange.client.is_modern() {
        return Ok(answers);
    }
    let state = params.remove("requestState");
    let has_state = state.is_some();
    if let Some(state) = state {
        let mut state = state.as_str().and_then(|state| server.seal.open(state)).ok_or_else(|| {
            RpcError::params(
                "requestState was changed, used before, or is too old; make the call again without it",
            )
        })?;
        if state["of"].as_str() != Some(&subject()) {
            return Err(RpcError::params("requestState is of another call; make this one without it"));
        }
        if let Value::Object(earlier) = state["answers"].take() {
            answers = earlier;
        }
    }
    if let Some(Value::Object(more)) = params.remove("inputResponses") {
        let counts = |(key, answer): &(String, Value)| {
            is_answer(answer) && (has_state || !ClientCall::is_question(key))
        };
        answers.extend(more.into_iter().filter(counts));
    }
    Ok(answers)
}

/// Whether this answers a form, a request for a message or one for roots; anything else is asked for again.
pub(crate) fn is_answer(answer: &Value) -> bool {
    let content = answer.get("content");
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => content.is_none_or(Value::is_object),
        Some("decline" | "cancel") => true,
        Some(_) => false,
        None => {
            answer.get("roots").is_some_and(Value::is_array)
                || content.is_some() && answer.get("role").is_some()
        }
    }
}

/// What a state belongs to: this very call of this very session.
pub(crate) fn subject(session: &str, name: &str, arguments: &Value) -> String {
    let text = json!([session, name, arguments]).to_string();
    hex(&Sha256::digest(text)[..16])
}
