//! `prompts/get`: a prompt of an extension, for which the client may be asked something first.

use crate::Server;
use crate::client_call::ClientCall;
use crate::dispatch::Exchange;
use crate::extension::Extension;
use crate::tool;
use serde_json::{Map, Value};
use std::sync::Arc;
use toolpost_mcp::RpcError;

pub(crate) async fn get(
    server: &Server,
    extension: &dyn Extension,
    exchange: &Exchange,
    mut params: Map<String, Value>,
) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    let subject = || tool::subject(exchange.session.context.session(), &name, &arguments);
    let answers = tool::answers(server, exchange, &mut params, subject)?;
    let (session, outlet) = (Arc::clone(&exchange.session), Arc::clone(&exchange.outlet));
    let call = ClientCall::new(exchange.client.clone(), session, outlet, false, answers);
    tokio::select! {
        result = extension.prompt(&call, &name, &arguments) => result,
        wanted = call.wants_input() => Ok(tool::input_required(server, &subject(), &call, wanted)),
    }
}
