//! Which method does what, for clients of either era.

use crate::client::Client;
use crate::extension::Extension;
use crate::session::{Outlet, Session};
use crate::{Server, list, listen, prompt, resource, task, tool};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_mcp::meta::{SERVER_INFO, TASKS};
use toolpost_mcp::{Revision, RpcError};

/// One request and who made it.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) session: Arc<Session>,
    pub(crate) client: Client,
    pub(crate) outlet: Arc<dyn Outlet>,
    pub(crate) id: Value,
    /// Fires when the answer is not wanted any more.
    pub(crate) cancel: CancellationToken,
    /// Whether that may only mean that the connection was lost, so that the client may come again.
    pub(crate) may_return: bool,
}

impl Server {
    /// The result of a handshake.
    pub(crate) fn welcome(&self, client: &Client) -> Value {
        json!({
            "protocolVersion": client.revision.name(),
            "capabilities": self.capabilities(client),
            "serverInfo": self.info(),
            "instructions": (self.options.instructions)(),
        })
    }

    /// The result of any other request.
    pub(crate) async fn answer(
        &self,
        exchange: &Exchange,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Value, RpcError> {
        let is_modern = exchange.client.is_modern();
        let result = match (method, is_modern) {
            ("tools/call", _) => tool::call(self, exchange, params).await?,
            ("tools/list", _) => {
                self.await_servers(&exchange.session.context).await;
                list::tools(self, exchange, &params)?
            }
            ("resources/list", _) => list::resources(self, exchange, &params).await?,
            ("resources/templates/list", _) => list::templates(self, exchange, &params)?,
            ("resources/read", _) => resource::read(self, exchange, &params).await?,
            ("server/discover", true) => self.discover(&exchange.client),
            ("subscriptions/listen", true) => listen::run(self, exchange, &params).await,
            ("tasks/get" | "tasks/update" | "tasks/cancel", true) => {
                task::answer(self, exchange, method, params).await?
            }
            ("ping", false) => json!({}),
            _ => match &self.extension {
                Some(extension) => self.more(extension, exchange, method, params).await?,
                None => return Err(RpcError::no_method(method)),
            },
        };
        Ok(match is_modern {
            true => self.with_meta(method, result),
            false => result,
        })
    }

    /// The methods that only an extension has.
    async fn more(
        &self,
        extension: &Arc<dyn Extension>,
        exchange: &Exchange,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Value, RpcError> {
        match (method, extension.prompts()) {
            ("prompts/list", Some(prompts)) => list::prompts(self, &prompts, &params),
            ("prompts/get", Some(_)) => prompt::get(self, extension, exchange, params).await,
            _ => extension
                .method(&exchange.client, method, &params)
                .unwrap_or_else(|| Err(RpcError::no_method(method))),
        }
    }

    /// A modern result with what each of them says beside its own.
    fn with_meta(&self, method: &str, mut result: Value) -> Value {
        let Some(fields) = result.as_object_mut() else { return result };
        if !fields.contains_key("resultType") {
            fields.insert("resultType".to_owned(), "complete".into());
        }
        let lifetime = match method {
            "server/discover" => Some(60_000),
            // Short, or a tool that was just added seems to be missing to those who do not listen.
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => Some(5_000),
            "resources/read" => Some(60_000),
            _ => None,
        };
        if let Some(milliseconds) = lifetime {
            fields.entry("ttlMs").or_insert_with(|| milliseconds.into());
            fields.insert("cacheScope".to_owned(), "private".into());
        }
        let meta = fields.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(SERVER_INFO.to_owned(), self.info());
        }
        result
    }

    fn discover(&self, client: &Client) -> Value {
        json!({
            // Those with a handshake are spoken too, but not by this way in.
            "supportedVersions": &Revision::NAMES[..1],
            "capabilities": self.capabilities(client),
            "instructions": (self.options.instructions)(),
        })
    }

    fn info(&self) -> Value {
        json!({"name": "toolpost", "title": "toolpost", "version": self.options.version})
    }

    fn capabilities(&self, client: &Client) -> Value {
        let mut all = json!({"tools": {"listChanged": true}, "resources": {"listChanged": true}});
        if client.is_modern() {
            all["extensions"] = json!({TASKS: {}});
        }
        if let Some(extension) = &self.extension {
            extension.declare(client, &mut all);
            if extension.prompts().is_some() && all.get("prompts").is_none() {
                all["prompts"] = json!({"listChanged": extension.prompt_changes().is_some()});
            }
        }
        all
    }
}
