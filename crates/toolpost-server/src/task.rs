//! The tasks extension: a call that takes long goes on when its request has been answered, and the client asks after it.

mod clock;

use crate::client_call::ClientCall;
use crate::dispatch::Exchange;
use crate::seal::random;
use crate::session::{Running, Session};
use crate::tool::is_answer;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolpost_core::text::hex;
use toolpost_mcp::RpcError;
use toolpost_mcp::meta::TASKS;

/// How long a task is remembered, from its beginning; one that runs longer is, until it ends.
const LIFE: Duration = Duration::from_secs(3600);

/// How often a client should ask.
const POLL: Duration = Duration::from_millis(500);

/// So many are remembered.
const MOST: usize = 1_000;

#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Arc<Task>>>);

struct Task {
    session: String,
    began: Instant,
    created: String,
    client_call: Arc<ClientCall>,
    cancel: CancellationToken,
    state: Mutex<State>,
}

struct State {
    changed: String,
    is_cancelled: bool,
    result: Option<Result<Value, RpcError>>,
}

impl Tasks {
    /// Lets a call go on by itself. Returns what its client is told.
    pub(crate) fn add(
        &self,
        session: &Arc<Session>,
        running: AbortOnDropHandle<Result<Value, RpcError>>,
        client_call: Arc<ClientCall>,
        cancel: CancellationToken,
    ) -> Result<Value, RpcError> {
        let id = hex(&random::<16>());
        // It runs as far as the end of the session is concerned, which waits for it.
        let place = session.start(&Value::from(format!("task {id}"))).inspect_err(|_| cancel.cancel())?;
        let now = clock::shown(SystemTime::now());
        let state = State { changed: now.clone(), is_cancelled: false, result: None };
        let task = Arc::new(Task {
            session: session.context.session().to_owned(),
            began: Instant::now(),
            created: now,
            client_call,
            cancel,
            state: Mutex::new(state),
        });
        let mut all = lock(&self.0);
        all.retain(|_, task| task.began.elapsed() < LIFE || lock(&task.state).result.is_none());
        if all.len() >= MOST {
            task.cancel.cancel();
            return Err(RpcError::internal("too many tasks are remembered; wait until some are forgotten"));
        }
        all.insert(id.clone(), Arc::clone(&task));
        drop(all);
        let mut told = task.envelope(&id);
        told["resultType"] = "task".into();
        tokio::spawn(task.follow(running, place));
        Ok(told)
    }

    pub(crate) fn answer(
        &self,
        exchange: &Exchange,
        method: &str,
        mut params: Map<String, Value>,
    ) -> Result<Value, RpcError> {
        if !exchange.client.can_follow_tasks() {
            return Err(RpcError::missing_extension(TASKS));
        }
        let id = params.get("taskId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let task = lock(&self.0).get(&id).cloned();
        let own = task.filter(|task| task.session == exchange.session.context.session());
        let Some(task) = own else {
            let shown: String = id.chars().take(80).collect();
            return Err(RpcError::params(format!("no task `{shown}`; it may have expired")));
        };
        match method {
            "tasks/get" => return Ok(task.detailed(&id)),
            "tasks/update" => {
                if let Some(Value::Object(answers)) = params.remove("inputResponses") {
                    task.client_call
                        .deliver(answers.into_iter().filter(|(_, answer)| is_answer(answer)).collect());
                    lock(&task.state).changed = clock::shown(SystemTime::now());
                }
            }
            _ => task.end(),
        }
        Ok(json!({}))
    }
}

impl Task {
    async fn follow(self: Arc<Task>, running: AbortOnDropHandle<Result<Value, RpcError>>, place: Running) {
        let result = running.await.unwrap_or_else(|error| Err(RpcError::internal(error.to_string())));
        let mut state = lock(&self.state);
        state.result = Some(result);
        state.changed = clock::shown(SystemTime::now());
        drop(state);
        drop(place);
    }

    /// Cancels it, unless it has ended.
    fn end(&self) {
        let mut state = lock(&self.state);
        if state.result.is_none() && !state.is_cancelled {
            state.is_cancelled = true;
            state.changed = clock::shown(SystemTime::now());
            self.cancel.cancel();
        }
    }

    fn envelope(&self, id: &str) -> Value {
        let state = lock(&self.state);
        let status = match &state.result {
            _ if state.is_cancelled => "cancelled",
            Some(Ok(_)) => "completed",
            Some(Err(_)) => "failed",
            None if !self.client_call.wanted().is_empty() => "input_required",
            None => "working",
        };
        json!({
            "taskId": id,
            "status": status,
            "createdAt": self.created,
            "lastUpdatedAt": state.changed,
            "ttlMs": LIFE.as_millis() as u64,
            "pollIntervalMs": POLL.as_millis() as u64,
        })
    }

    fn detailed(&self, id: &str) -> Value {
        let mut told = self.envelope(id);
        match told["status"].as_str() {
            Some("input_required") => told["inputRequests"] = self.client_call.wanted().into(),
            Some("completed") => {
                if let Some(Ok(result)) = &lock(&self.state).result {
                    told["result"] = result.clone();
                    told["result"]["resultType"] = "complete".into();
                }
            }
            Some("failed") => {
                if let Some(Err(error)) = &lock(&self.state).result {
                    told["error"] = json!({"code": error.code, "message": error.message});
                }
            }
            _ => {}
        }
        told
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
