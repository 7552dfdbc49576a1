//! The virtual files of a session as resources: those that its policy lets the model read.
//!
//! What decides is the tool that reads them: where it is not offered, there are no such resources.

use crate::Server;
use crate::dispatch::Exchange;
use crate::session::Session;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use toolpost_core::event::EventKind;
use toolpost_core::policy::{Effect, Policy, Request, is_protected};
use toolpost_core::store::{EventQuery, FileVersion, Store};
use toolpost_core::{Access, Capability, ToolError};
use toolpost_mcp::RpcError;

/// What their addresses begin with.
pub(crate) const PREFIX: &str = "toolpost-vfs:///";

/// The tool that reads them.
const READER: &str = "vfs_read";

/// Maximum number of bytes in one answer.
const MOST: usize = 8 << 20;

/// How often a session whose client has asked for the list looks for changes by others.
const PAUSE: Duration = Duration::from_millis(250);

/// Events that are read at once.
const STEP: usize = 1_000;

/// What a session may see of its virtual files.
struct View {
    store: Arc<dyn Store>,
    session: Arc<Session>,
    policy: Policy,
}

impl View {
    /// None where the tool that reads them is not offered.
    fn of(server: &Server, session: &Arc<Session>) -> Option<View> {
        let context = &session.context;
        let store = Arc::clone(context.store().ok()?);
        let entry = context.tools().get(READER)?;
        let policy = server.executor.policy_for(context);
        let is_offered = policy.offers(READER, entry.spec().required);
        is_offered.then(|| View { store, session: Arc::clone(session), policy })
    }

    fn id(&self) -> &str {
        self.session.context.session()
    }

    fn shows(&self, path: &str) -> bool {
        // As the tool itself is judged.
        let mut accesses = vec![Access::stored(Capability::Read, path)];
        if is_protected(Capability::Read, path) {
            accesses.push(Access::path(Capability::Read, path));
        }
        self.policy.decide(&Request { tool: READER, accesses: &accesses }).effect() == Effect::Allow
    }
}

/// Whether a session has them.
pub(crate) fn are_offered(server: &Server, session: &Arc<Session>) -> bool {
    View::of(server, session).is_some()
}

/// All of them, as `resources/list` shows them. From now on the client hears when the list changes.
pub(crate) async fn list(server: &Server, exchange: &Exchange) -> Result<Vec<Value>, RpcError> {
    let Some(view) = View::of(server, &exchange.session) else { return Ok(Vec::new()) };
    follow(server, &exchange.session).await;
    let listed = off_thread(move || {
        let files = view.store.files(view.id(), "")?;
        Ok(files.iter().filter(|file| view.shows(&file.path)).map(resource).collect())
    });
    listed.await
}

fn resource(file: &FileVersion) -> Value {
    let mut resource = json!({"uri": uri(&file.path), "name": file.path, "size": file.size});
    if let Some(media_type) = media_type(&file.path) {
        resource["mimeType"] = media_type.into();
    }
    resource
}

/// The content of one, if the address is of one; `Ok(None)` where there is no such file.
pub(crate) async fn read(
    server: &Server,
    exchange: &Exchange,
    uri: &str,
) -> Option<Result<Option<Value>, RpcError>> {
    let path = path(uri)?;
    let Some(view) = View::of(server, &exchange.session).filter(|view| view.shows(&path)) else {
        return Some(Ok(None));
    };
    let uri = uri.to_owned();
    let content = off_thread(move || {
        // A path that no file could have is one that no file has.
        let Ok(Some(file)) = view.store.file(view.id(), &path, None) else { return Ok(None) };
        if file.content.len() > MOST {
            let message = format!(
                "`{path}` has {} bytes, and a resource at most {MOST}; read it in parts with `{READER}`",
                file.content.len()
            );
            return Err(ToolError::new(toolpost_core::Code::TooLarge, message));
        }
        let media_type = media_type(&path);
        Ok(Some(match String::from_utf8(file.content) {
            Ok(text) => {
                let text = view.session.context.redactor().redact(&text).into_owned();
                json!({"uri": uri, "mimeType": media_type.unwrap_or("text/plain"), "text": text})
            }
            Err(bytes) => {
                let blob = STANDARD.encode(bytes.as_bytes());
                json!({"uri": uri, "mimeType": media_type.unwrap_or("application/octet-stream"), "blob": blob})
            }
        }))
    });
    Some(content.await)
}

/// The kind of resource, as `resources/templates/list` shows it.
pub(crate) fn template() -> Value {
    json!({
        "uriTemplate": format!("{PREFIX}{{+path}}"),
        "name": "virtual-file",
        "title": "Virtual file",
        "description": "The newest version of a virtual file of this session.",
    })
}

/// Looks for changes of the list until the session ends, so that the client hears of those by other processes too. Begins
/// once: a client that never asks costs nothing.
pub(crate) async fn follow(server: &Server, session: &Arc<Session>) {
    if View::of(server, session).is_none() || session.is_followed.swap(true, Ordering::Relaxed) {
        return;
    }
    let Ok(store) = session.context.store().cloned() else { return };
    let first = Arc::clone(&store);
    // Changes count from here on, not from when the task has its turn.
    let Ok(mut seen) = off_thread(move || first.last_position()).await else { return };
    let (closing, session) = (session.closing.clone(), Arc::downgrade(session));
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
            let Some(session) = session.upgrade() else { return };
            let (store, id) = (Arc::clone(&store), session.context.session().to_owned());
            // A store that cannot be read now may be read the next time.
            let looked = off_thread(move || news(&*store, &id, seen)).await;
            let Ok((position, has_changed)) = looked else { continue };
            seen = position;
            if has_changed {
                session.files_changed.send_modify(|count| *count += 1);
            }
        }
    });
}

/// The position up to which the log was read, and whether a file has come or gone since the one given.
fn news(store: &dyn Store, session: &str, mut seen: u64) -> Result<(u64, bool), ToolError> {
    let last = store.last_position()?;
    let mut has_changed = false;
    while seen < last {
        let query = EventQuery {
            session: Some(session.to_owned()),
            after: Some(seen),
            limit: Some(STEP),
            ..EventQuery::default()
        };
        let events = store.events(&query)?;
        for logged in &events {
            if let EventKind::FileStored { path, version, deleted } = &logged.event.kind
                && !has_changed
            {
                has_changed =
                    *deleted || *version == 1 || store.file(session, path, Some(version - 1))?.is_none();
            }
        }
        seen = match events.last() {
            Some(event) if events.len() == STEP => event.position,
            Some(event) => event.position.max(last),
            None => last,
        };
    }
    Ok((seen, has_changed))
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, RpcError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(RpcError::internal(error.message().to_owned())),
        Err(error) => Err(RpcError::internal(format!("the work on virtual files stopped: {error}"))),
    }
}

/// The address of a file.
fn uri(path: &str) -> String {
    let mut uri = PREFIX.to_owned();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

/// The file of an address; none where it is no such address.
fn path(uri: &str) -> Option<String> {
    let mut bytes = uri.strip_prefix(PREFIX)?.bytes();
    let mut path = Vec::new();
    while let Some(byte) = bytes.next() {
        path.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                u8::try_from(digit(bytes.next())? * 16 + digit(bytes.next())?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(path).ok()
}

/// What a name tells of the content.
fn media_type(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1 {
        "md" => "text/markdown",
        "txt" => "text/plain",
        "json" => "application/json",
        "html" => "text/html",
        "csv" => "text/csv",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_back() {
        for (name, address) in [
            ("notes/plan.md", "toolpost-vfs:///notes/plan.md"),
            ("ä b%/#?.md", "toolpost-vfs:///%C3%A4%20b%25/%23%3F.md"),
        ] {
            assert_eq!(uri(name), address);
            assert_eq!(path(address).as_deref(), Some(name));
        }
        for wrong in
            ["spill:a", "toolpost-vfs://a", "toolpost-vfs:///%", "toolpost-vfs:///%+1", "toolpost-vfs:///%ff"]
        {
            assert_eq!(path(wrong), None, "{wrong}");
        }
    }
}
