//! `resources/read`: whole outputs of this session that were too long to show, its virtual files, and resources of other
//! servers.

use crate::Server;
use crate::dispatch::Exchange;
use crate::virtual_file;
use serde_json::{Map, Value, json};
use std::io::Read;
use toolpost_core::host::HANDLE_PREFIX;
use toolpost_core::registry::ResourceCall;
use toolpost_core::{Call, WorkspacePath};
use toolpost_mcp::RpcError;
use toolpost_mcp::error::RESOURCE_NOT_FOUND;

/// So much of an output goes into one answer.
const MOST: u64 = 8 << 20;

pub(crate) async fn read(
    server: &Server,
    exchange: &Exchange,
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    let Some(uri) = params.get("uri").and_then(Value::as_str) else {
        return Err(RpcError::params("a resource is read by its `uri`"));
    };
    if let Some(contents) = server.extension.as_ref().and_then(|extension| extension.resource(uri)) {
        return Ok(json!({"contents": [contents]}));
    }
    let not_found = |why: &str| {
        let error = RpcError::params(why).with_data(json!({"uri": uri}));
        // The revisions with a handshake have a code of its own for it.
        match exchange.client.is_modern() {
            true => error,
            false => RpcError { code: RESOURCE_NOT_FOUND, ..error },
        }
    };
    match virtual_file::read(server, exchange, uri).await {
        Some(Ok(Some(contents))) => {
            let mut result = json!({"contents": [contents]});
            if exchange.client.is_modern() {
                // Unlike an output, it may change at any time.
                result["ttlMs"] = 0.into();
            }
            return Ok(result);
        }
        Some(Ok(None)) => {
            let shown: String = uri.chars().take(200).collect();
            return Err(not_found(&format!("there is no virtual file `{shown}` here; list the resources")));
        }
        Some(Err(error)) => return Err(error),
        None => {}
    }
    if !uri.starts_with(HANDLE_PREFIX)
        && let Some(contents) = of_other_server(server, exchange, uri).await.map_err(|why| not_found(&why))?
    {
        return Ok(contents);
    }
    if !uri.starts_with(HANDLE_PREFIX) {
        let shown: String = uri.chars().take(200).collect();
        return Err(not_found(&format!(
            "there is no resource `{shown}`; `{HANDLE_PREFIX}` handles and the resources that are listed can be read"
        )));
    }
    let path = WorkspacePath::new(uri);
    let reading = exchange.session.context.blocking(move |ctx| {
        Ok(ctx.open(&path).map(|file| {
            let mut bytes = Vec::new();
            let read = file.reader.take(MOST).read_to_end(&mut bytes).map(|_| bytes);
            (file.stat.size, read)
        }))
    });
    let opened = reading.await.map_err(|error| RpcError::internal(format!("reading `{uri}`: {error}")))?;
    let (total, read) = opened.map_err(|error| not_found(error.message()))?;
    let bytes = read.map_err(|error| RpcError::internal(format!("`{uri}` cannot be read: {error}")))?;
    let shown = bytes.len();
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if total > MOST {
        let more = total - shown as u64;
        text.push_str(&format!("\n[… {more} more bytes; call read with filePath `{uri}` and an offset]"));
    }
    Ok(json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}))
}

/// What another server says is at this address. It is read by a call of that server's tool, which the policy decides on.
async fn of_other_server(server: &Server, exchange: &Exchange, uri: &str) -> Result<Option<Value>, String> {
    let context = &exchange.session.context;
    for source in context.tools().sources().iter() {
        let call = source.resource(uri).await.map_err(|error| error.message().to_owned())?;
        let Some(ResourceCall { tool, arguments }) = call else { continue };
        let context = context.rebuild().cancel(exchange.cancel.child_token()).build();
        let outcome = server.executor.run(&context, Call::new(tool, arguments)).await;
        let mut data = outcome.result.map_err(|error| error.message().to_owned())?.data;
        let mut contents = data["contents"].take();
        for content in contents.as_array_mut().into_iter().flatten() {
            // Under the address that was asked for, as clients expect it.
            content["uri"] = uri.into();
        }
        return Ok(Some(json!({"contents": contents})));
    }
    Ok(None)
}

/// The resources of other servers that this session may read, as `resources/list` shows them.
pub(crate) async fn listed(server: &Server, exchange: &Exchange) -> Vec<Value> {
    let context = &exchange.session.context;
    let policy = server.executor.policy_for(context);
    let mut all = Vec::new();
    for source in context.tools().sources().iter() {
        for resource in source.resources().await {
            let entry = context.tools().get(&resource.tool);
            let is_offered = |required| policy.offers(&resource.tool, required);
            if entry.is_some_and(|entry| is_offered(entry.spec().required)) {
                all.push(resource.about);
            }
        }
    }
    all
}
