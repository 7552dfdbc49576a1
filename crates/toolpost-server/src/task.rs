//! The tasks extension: a call that takes long goes on when its request has been answered, and the client asks after it.

mod clock;

use crate::Server;
use crate::dispatch::Exchange;
use crate::pending::{self, End, LIFE, PendingCall};
use crate::report::{self, Loss};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use toolpost_mcp::RpcError;
use toolpost_mcp::meta::TASKS;

/// How often a client should ask.
const POLL: Duration = Duration::from_millis(500);

/// The result of a request about a task.
pub(crate) async fn answer(
    server: &Server,
    exchange: &Exchange,
    method: &str,
    mut params: Map<String, Value>,
) -> Result<Value, RpcError> {
    if !exchange.client.can_follow_tasks() {
        return Err(RpcError::missing_extension(TASKS));
    }
    let id = params.get("taskId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let key = server.seal.key().await;
    let call = key.unmark(&id);
    let task = call.and_then(|call| server.pending.find(call, &exchange.session));
    let Some(task) = task.filter(|task| task.is_task()) else {
        let shown: String = id.chars().take(80).collect();
        let done = match call {
            Some(call) => format!(". {}", report::done(server, call, Loss::NotHere).await),
            None => String::new(),
        };
        return Err(RpcError::params(format!("no task `{shown}`; it may have expired{done}")));
    };
    match method {
        "tasks/get" => return Ok(detailed(server, &task).await),
        "tasks/update" => task.deliver(pending::answers(&mut params)),
        _ => task.cancel(),
    }
    Ok(json!({}))
}

/// What is said of a task whenever it is spoken of.
pub(crate) async fn envelope(server: &Server, task: &Arc<PendingCall>) -> Value {
    let status = match task.end() {
        _ if task.is_cancelled() => "cancelled",
        Some(End::Result(Ok(_))) => "completed",
        Some(End::Result(Err(_)) | End::Lost(_)) => "failed",
        None if task.client_call.is_waiting() => "input_required",
        None => "working",
    };
    json!({
        "taskId": server.seal.key().await.mark(&task.id),
        "status": status,
        "createdAt": clock::shown(task.began),
        "lastUpdatedAt": clock::shown(task.changed()),
        "ttlMs": LIFE.as_millis() as u64,
        "pollIntervalMs": POLL.as_millis() as u64,
    })
}

async fn detailed(server: &Server, task: &Arc<PendingCall>) -> Value {
    let mut told = envelope(server, task).await;
    match (told["status"].as_str(), task.end()) {
        (Some("input_required"), _) => told["inputRequests"] = task.client_call.wanted().into(),
        (Some("completed"), Some(End::Result(Ok(result)))) => {
            told["result"] = result;
            told["result"]["resultType"] = "complete".into();
        }
        (Some("failed"), Some(End::Result(Err(error)))) => {
            told["error"] = json!({"code": error.code, "message": error.message});
        }
        (Some("failed"), Some(End::Lost(why))) => {
            let error =
                RpcError::internal(report::gone(server, &task.name, &task.id, Loss::Ended(why)).await);
            told["error"] = json!({"code": error.code, "message": error.message});
        }
        _ => {}
    }
    told
}
