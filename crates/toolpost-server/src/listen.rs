//! How clients hear that a list has changed: those with a handshake simply do, modern ones listen for it.

use crate::Server;
use crate::dispatch::Exchange;
use crate::session::{Outlet, Session};
use crate::virtual_file;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::watch;
use toolpost_mcp::message;
use toolpost_mcp::meta::SUBSCRIPTION;

/// `subscriptions/listen`: tells what was asked for until the client or the server ends it.
pub(crate) async fn run(server: &Server, exchange: &Exchange, params: &Map<String, Value>) -> Value {
    let asked = params.get("notifications");
    let wants = |what: &str| asked.and_then(|asked| asked.get(what)).and_then(Value::as_bool) == Some(true);
    let meta = json!({SUBSCRIPTION: exchange.id});
    let mut honoured = Map::new();
    let mut tools = wants("toolsListChanged").then(|| {
        honoured.insert("toolsListChanged".to_owned(), true.into());
        server.context.tools().changes()
    });
    let mut prompts = prompt_changes(server).filter(|_| wants("promptsListChanged"));
    if prompts.is_some() {
        honoured.insert("promptsListChanged".to_owned(), true.into());
    }
    let mut files =
        match wants("resourcesListChanged") && virtual_file::are_offered(server, &exchange.session) {
            true => {
                honoured.insert("resourcesListChanged".to_owned(), true.into());
                let files = exchange.session.files_changed.subscribe();
                virtual_file::follow(server, &exchange.session).await;
                Some(files)
            }
            false => None,
        };
    let tell = |method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        exchange.outlet.send(message::notification(method, &params));
    };
    tell("notifications/subscriptions/acknowledged", json!({"notifications": honoured}));
    loop {
        tokio::select! {
            // A cancelled subscription gets no further notifications, also of earlier changes.
            biased;
            () = exchange.cancel.cancelled() => return json!({"_meta": meta}),
            () = exchange.session.closing.cancelled() => return json!({"_meta": meta}),
            () = changed(&mut tools) => tell("notifications/tools/list_changed", json!({})),
            () = changed(&mut files) => tell("notifications/resources/list_changed", json!({})),
            () = changed(&mut prompts) => tell("notifications/prompts/list_changed", json!({})),
        }
    }
}

/// Tells a client that has shaken hands of every change, until its session ends. Changes count from this call on, not
/// from when the future is first polled: by then the client may have caused one.
pub(crate) fn tell_all(
    server: &Server,
    session: Arc<Session>,
    outlet: Arc<dyn Outlet>,
) -> impl Future<Output = ()> + Send + 'static {
    let mut tools = Some(server.context.tools().changes());
    let mut prompts = prompt_changes(server);
    let mut files = Some(session.files_changed.subscribe());
    async move {
        loop {
            let method = tokio::select! {
                biased;
                () = session.closing.cancelled() => return,
                () = changed(&mut tools) => "notifications/tools/list_changed",
                () = changed(&mut files) => "notifications/resources/list_changed",
                () = changed(&mut prompts) => "notifications/prompts/list_changed",
            };
            outlet.send(json!({"jsonrpc": "2.0", "method": method}).to_string());
        }
    }
}

fn prompt_changes(server: &Server) -> Option<watch::Receiver<u64>> {
    server.extension.as_ref().and_then(|extension| extension.prompt_changes())
}

/// Returns at the next change; never where nothing is watched.
async fn changed(watched: &mut Option<watch::Receiver<u64>>) {
    if let Some(receiver) = watched
        && receiver.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
