//! The fixtures of the official conformance suite: tools, prompts and resources with the names it calls. Hidden unless
//! they are asked for by name; nobody else has a use for them.
//!
//! They are also the only place where we use what the protocol has deprecated (sampling, roots, logging), because the
//! suite wants to see it.

mod asking;
mod prompts;
mod tasks;
mod tools;

pub(crate) use tasks::escalation;

use crate::dispatch::Exchange;
use crate::port::Port;
use crate::rpc::RpcError;
use crate::{Server, list, tool};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::watch;
use toolpost_core::{Registry, ToolError};

/// The way from a fixture tool to its client.
pub(crate) struct Reach(pub(crate) Arc<Port>);

/// A picture of one red dot.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// What is there beside the tools.
pub(crate) struct Fixtures {
    prompts: watch::Sender<u64>,
}

impl Fixtures {
    /// Adds the tools to the registry.
    pub(crate) fn register(registry: &Arc<Registry>) -> Result<Fixtures, ToolError> {
        let prompts = watch::Sender::new(0);
        registry.change(|draft| {
            for tool in tools::all(registry, &prompts).into_iter().chain(asking::all()).chain(tasks::all()) {
                draft.register(Arc::new(tool))?;
            }
            Ok(())
        })?;
        Ok(Fixtures { prompts })
    }

    pub(crate) fn prompt_changes(&self) -> watch::Receiver<u64> {
        self.prompts.subscribe()
    }

    /// The methods that only fixtures serve.
    pub(crate) async fn answer(
        &self,
        server: &Server,
        exchange: &Exchange,
        method: &str,
        mut params: Map<String, Value>,
    ) -> Result<Value, RpcError> {
        match (method, exchange.client.is_modern()) {
            ("prompts/list", _) => list::prompts(server, &prompts::all(*self.prompts.borrow()), &params),
            ("prompts/get", _) => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                let arguments = params.get("arguments").cloned().unwrap_or_default();
                let subject = || tool::subject(exchange.session.context.session(), &name, &arguments);
                let answers = tool::answers(server, exchange, &mut params, subject)?;
                let port = Port::new(
                    exchange.client.clone(),
                    Arc::clone(&exchange.session),
                    Arc::clone(&exchange.outlet),
                    false,
                    answers,
                );
                tokio::select! {
                    result = prompts::get(&port, &name, &arguments) => result,
                    wanted = port.wants_input() => Ok(tool::input_required(server, &subject(), &port, wanted)),
                }
            }
            ("completion/complete", _) => {
                Ok(json!({"completion": {"values": ["test", "testing"], "total": 2, "hasMore": false}}))
            }
            ("logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", false) => Ok(json!({})),
            _ => Err(RpcError::no_method(method)),
        }
    }

    pub(crate) fn resources(&self) -> Vec<Value> {
        let resource = |uri: &str, name: &str, kind: &str| json!({"uri": uri, "name": name, "description": "A fixture of the conformance suite.", "mimeType": kind});
        vec![
            resource("test://static-text", "static-text", "text/plain"),
            resource("test://static-binary", "static-binary", "image/png"),
            resource("test://watched-resource", "watched-resource", "text/plain"),
        ]
    }

    pub(crate) fn templates(&self) -> Vec<Value> {
        vec![json!({
            "uriTemplate": "test://template/{id}/data",
            "name": "template",
            "description": "A fixture of the conformance suite.",
            "mimeType": "application/json",
        })]
    }

    /// The content of a fixture, if this is one.
    pub(crate) fn read(&self, uri: &str) -> Option<Value> {
        let text = |text: &str| json!({"uri": uri, "mimeType": "text/plain", "text": text});
        match uri {
            "test://static-text" => Some(text("This is the content of the static text resource.")),
            "test://watched-resource" => Some(text("This resource never changes.")),
            "test://static-binary" => Some(json!({"uri": uri, "mimeType": "image/png", "blob": PNG})),
            _ => {
                let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                Some(json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()}))
            }
        }
    }
}
