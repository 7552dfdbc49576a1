//! The first words: which era a server belongs to, and what it says of itself.
//!
//! A modern request comes first. What a modern server would answer decides for its era; anything else, silence
//! included, is answered with the handshake of old.

use crate::connection::{Connection, Link};
use crate::fault::Fault;
use crate::identity::{hello, with_meta};
use crate::recalled;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use toolpost_mcp::error::{HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION};
use toolpost_mcp::meta::SERVER_INFO;
use toolpost_mcp::{Revision, RpcError};

/// How long silence is taken for slowness.
const PATIENCE: Duration = Duration::from_secs(5);

/// Greets a server. `known` is the revision that it had before.
pub(crate) async fn greet(
    link: Link,
    known: Option<Revision>,
    limit: Duration,
    changed: &Arc<Notify>,
) -> Result<Connection, Fault> {
    if known.is_some_and(|known| !known.is_modern()) {
        return shake_hands(link, changed).await;
    }
    let asking = link.clone();
    let mut discovery = std::pin::pin!(discover(&asking));
    match tokio::time::timeout(PATIENCE.min(limit / 2), &mut discovery).await {
        Ok(found) => match found? {
            Some(about) => Ok(modern(link, &about, changed)),
            None => shake_hands(link, changed).await,
        },
        Err(_) => {
            let mut shaking = std::pin::pin!(shake_hands(link.clone(), changed));
            tokio::select! {
                biased;
                found = &mut discovery => match found? {
                    Some(about) => Ok(modern(link, &about, changed)),
                    None => shaking.await,
                },
                shaken = &mut shaking => shaken,
            }
        }
    }
}

/// Asks as one asks a modern server; once more if it says that it speaks what it was just asked in.
async fn discover(link: &Link) -> Result<Option<Value>, Fault> {
    let ask = || link.request("server/discover", with_meta(Revision::MODERN, Map::new()), None);
    match ask().await {
        Err(Fault::Refused(RpcError { code: UNSUPPORTED_VERSION, data: Some(data), .. }))
            if speaks_modern(&data["supported"]) =>
        {
            judged(ask().await)
        }
        answer => judged(answer),
    }
}

fn speaks_modern(versions: &Value) -> bool {
    versions
        .as_array()
        .is_some_and(|versions| versions.iter().any(|version| version == Revision::MODERN.name()))
}

/// What a modern server says of itself; none where the answer is not one of a modern server that we can speak to.
fn judged(answer: Result<Value, Fault>) -> Result<Option<Value>, Fault> {
    match answer {
        Ok(about) => Ok(speaks_modern(&about["supportedVersions"]).then_some(about)),
        // Headers or capabilities can only be wrong for a modern server.
        Err(Fault::Refused(RpcError { code: MISSING_CAPABILITY | HEADER_MISMATCH, .. })) => {
            Ok(Some(Value::Null))
        }
        Err(Fault::Refused(_)) => Ok(None),
        // Who may not come in now may not come in with a handshake either.
        Err(fault @ Fault::Status { status: 401 | 403, .. }) => Err(fault),
        Err(Fault::Status { .. }) => Ok(None),
        Err(fault @ (Fault::Gone(_) | Fault::Expired)) => Err(fault),
    }
}

fn modern(link: Link, about: &Value, changed: &Arc<Notify>) -> Connection {
    link.greeted(Revision::MODERN);
    let info = &about["_meta"][SERVER_INFO];
    connection(link, Revision::MODERN, info, about, changed)
}

async fn shake_hands(link: Link, changed: &Arc<Notify>) -> Result<Connection, Fault> {
    let about = link.request("initialize", hello(), None).await?;
    let version = about["protocolVersion"].as_str().unwrap_or_default();
    let Some(revision) = Revision::legacy_named(version) else {
        let shown: String = version.chars().take(40).collect();
        return Err(Fault::Gone(format!("it speaks revision `{shown}` of MCP, which is not known here")));
    };
    let connection = connection(link, revision, &about["serverInfo"], &about, changed);
    connection.link.greeted(revision);
    connection.link.notify("notifications/initialized", &json!({}));
    Ok(connection)
}

fn connection(
    link: Link,
    revision: Revision,
    info: &Value,
    about: &Value,
    changed: &Arc<Notify>,
) -> Connection {
    let instructions = about["instructions"].as_str().unwrap_or_default();
    Connection {
        link,
        revision,
        version: info["version"].as_str().unwrap_or_default().to_owned(),
        instructions: recalled::short(instructions),
        has_resources: about["capabilities"]["resources"].is_object(),
        tells_changes: about["capabilities"]["tools"]["listChanged"] == true,
        since: Instant::now(),
        changed: Arc::clone(changed),
    }
}
