//! `prompts/get`: a prompt of an extension, for which the client may be asked something first.

use crate::Server;
use crate::client_call::ClientCall;
use crate::dispatch::Exchange;
use crate::extension::Extension;
use crate::pending::{self, Begun, Recalled, Subject};
use crate::report::{self, Loss};
use serde_json::{Map, Value};
use std::sync::Arc;
use toolpost_core::text::id::new_shared_id;
use toolpost_mcp::RpcError;

pub(crate) async fn get(
    server: &Server,
    extension: &Arc<dyn Extension>,
    exchange: &Exchange,
    mut params: Map<String, Value>,
) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    let subject = Subject { method: "prompts/get", name: name.clone(), arguments: arguments.clone() };
    let is_modern = exchange.client.is_modern();
    let answers = if is_modern { pending::answers(&mut params) } else { Map::new() };
    if let Some(state) = pending::state(&mut params, &exchange.client) {
        return match pending::recall(server, &exchange.session, &state, &subject).await? {
            Recalled::Pending(found) => {
                found.deliver(answers);
                found.follow(server, exchange, None, None).await
            }
            Recalled::Gone(id) => {
                Err(RpcError::internal(report::gone(server, &name, &id, Loss::NotHere).await))
            }
        };
    }
    pending::refuse_stray(&answers)?;
    let client_call = Arc::new(ClientCall::new(
        exchange.client.clone(),
        Arc::clone(&exchange.session),
        Arc::clone(&exchange.outlet),
        false,
        server.options.answer_wait,
        answers,
    ));
    let (called, extension) = (Arc::clone(&client_call), Arc::clone(extension));
    let work = async move { extension.prompt(&called, &name, &arguments).await };
    if !is_modern {
        return work.await;
    }
    let cancel = exchange.session.cancel.child_token();
    let ended = cancel.clone();
    // A prompt knows no cancellation: it is dropped.
    let work = Box::pin(async move {
        tokio::select! {
            biased;
            () = ended.cancelled() => Err(RpcError::internal("the prompt was cancelled")),
            result = work => result,
        }
    });
    let id = new_shared_id(server.context.clock().now_ms());
    Begun { id, subject, client_call, progress: None, cancel, work }.run(server, exchange, None).await
}
