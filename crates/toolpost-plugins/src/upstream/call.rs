//! A call of one of the server's tools, and what becomes of a server that does not answer.

use super::Upstream;
use crate::connection::Connection;
use crate::fault::{Fault, take};
use crate::listed::Listed;
use crate::resource;
use crate::result;
use crate::running::Running;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::{Context, Output, ToolError};

/// So often a server may want to know something before it does what it was asked for.
const MOST_ROUNDS: usize = 8;

/// A server that has let a call run out of time must answer something within this, or is ended.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

impl Upstream {
    /// Calls a tool. Permission, arguments and time are the executor's.
    pub(crate) async fn call(
        self: &Arc<Upstream>,
        ctx: Context,
        tool: &Listed,
        arguments: Value,
    ) -> Result<Output<Value>, ToolError> {
        let headers = toolpost_mcp::header::mirrored(&tool.input, &arguments);
        let running = Arc::new(Running::new(ctx.clone(), &self.server.name, headers));
        let calling = async {
            let connection = self.connected().await?;
            match self.rounds(&connection, &running, tool, &arguments).await {
                // It has forgotten us and done nothing: once more, after a new greeting.
                Err(Fault::Expired) => {
                    let connection = self.connected().await?;
                    let answer = self.rounds(&connection, &running, tool, &arguments).await;
                    Ok((connection, answer))
                }
                answer => Ok((connection, answer)),
            }
        };
        let called: Result<_, ToolError> = tokio::select! {
            biased;
            () = ctx.cancel().cancelled() => {
                if ctx.time_left().is_some_and(|left| left.is_zero()) {
                    self.look_after();
                }
                return Err(ctx.checkpoint().err().unwrap_or_else(|| ToolError::execution("the call has ended")));
            }
            called = calling => called,
        };
        let (connection, answer) = called?;
        match answer {
            Ok(answer) if tool.name == resource::READER => resource::read(answer),
            Ok(answer) => {
                self.resources.note_links(&answer);
                let shown = |uri: &str| {
                    let address = resource::address(self.part(), uri);
                    ctx.reading(&address).unwrap_or(address)
                };
                result::read(answer, tool, &shown, running.take_notes())
            }
            Err(fault) => Err(self.fault(&connection, fault, &running)),
        }
    }

    /// The call, as often as the server wants to know something first.
    async fn rounds(
        &self,
        connection: &Connection,
        running: &Arc<Running>,
        tool: &Listed,
        arguments: &Value,
    ) -> Result<Value, Fault> {
        let (method, mut params) = match tool.name == resource::READER {
            true => {
                self.check_resource(connection, arguments).await?;
                ("resources/read", arguments.as_object().cloned().unwrap_or_default())
            }
            false => ("tools/call", result::call(&tool.name, arguments.clone())),
        };
        for _ in 0..MOST_ROUNDS {
            let mut answer = connection.request(method, params.clone(), Some(Arc::clone(running))).await?;
            match answer["resultType"].as_str() {
                Some("input_required") => {}
                None | Some("complete") => return Ok(answer),
                Some(other) => {
                    let shown: String = other.chars().take(40).collect();
                    return Err(Fault::Gone(format!(
                        "it answered with a `{shown}`, which was not asked for"
                    )));
                }
            }
            let Value::Object(wanted) = take(&mut answer, "inputRequests") else {
                return Err(Fault::Gone("it asks for input and does not say which".to_owned()));
            };
            let mut responses = Map::new();
            for (key, mut request) in wanted {
                if request["method"] != "elicitation/create" {
                    let method: String =
                        request["method"].as_str().unwrap_or("nothing").chars().take(80).collect();
                    return Err(Fault::Gone(format!(
                        "it wants `{method}` of its client, which is not done here"
                    )));
                }
                let asked = match take(&mut request, "params") {
                    Value::Object(asked) => asked,
                    _ => Map::new(),
                };
                responses.insert(key, running.asked(&asked).await);
            }
            params.insert("inputResponses".to_owned(), Value::Object(responses));
            match take(&mut answer, "requestState") {
                Value::Null => params.remove("requestState"),
                state => params.insert("requestState".to_owned(), state),
            };
        }
        Err(Fault::Gone(format!("it asked {MOST_ROUNDS} times and still has no result")))
    }

    fn fault(&self, connection: &Connection, fault: Fault, running: &Running) -> ToolError {
        let name = &self.server.name;
        let message = match (&fault, connection.is_alive()) {
            (Fault::Refused(refusal), _) => format!("the MCP server `{name}` refused the call: {refusal}"),
            (fault, true) => format!("the call of the MCP server `{name}` did not work: {fault}"),
            (fault, false) => format!(
                "the MCP server `{name}` was lost during the call: {}; the next call starts it again",
                connection.link.explained(&fault.to_string())
            ),
        };
        let notes = running.take_notes().iter().map(|note| format!("; {note}")).collect::<String>();
        ToolError::execution(format!("{message}{notes}")).with("server", name.as_str())
    }

    /// Ends a server that gives no sign of life, so that it costs the call that ran out of time and no other.
    fn look_after(self: &Arc<Upstream>) {
        let Some(connection) = self.alive() else { return };
        tokio::spawn(async move {
            let method = if connection.revision.is_modern() { "server/discover" } else { "ping" };
            let sign = connection.request(method, Map::new(), None);
            if tokio::time::timeout(SIGN_OF_LIFE, sign).await.is_err() {
                connection.link.close("it did not answer any more");
            }
        });
    }

    pub(super) fn alive(&self) -> Option<Arc<Connection>> {
        match &self.lock().phase {
            super::Phase::Up(connection) if connection.is_alive() => Some(Arc::clone(connection)),
            _ => None,
        }
    }
}
