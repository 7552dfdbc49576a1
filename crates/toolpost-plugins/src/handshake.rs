//! The first words: which era a server belongs to, and what it says of itself.
//!
//! A modern request comes first. What a modern server would answer decides for its era; anything else, silence
//! included, is answered with the handshake of old.

use crate::connection::{Connection, Link};
use crate::era::{self, Era, MODERN};
use crate::rpc::{Fault, Refusal};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long silence is taken for slowness.
const PATIENCE: Duration = Duration::from_secs(5);

/// Greets a server. `known` is the era that it had before.
pub(crate) async fn greet(
    link: Link,
    known: Option<Era>,
    limit: Duration,
    changed: &Arc<Notify>,
) -> Result<Connection, Fault> {
    if let Some(Era::Legacy(_)) = known {
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
    let ask = || link.request("server/discover", Era::Modern.dressed(Map::new()), None);
    match ask().await {
        Err(Fault::Refused(Refusal { code: -32022, data, .. })) if speaks_modern(&data["supported"]) => {
            judged(ask().await)
        }
        answer => judged(answer),
    }
}

fn speaks_modern(versions: &Value) -> bool {
    versions.as_array().is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

/// What a modern server says of itself; none where the answer is not one of a modern server that we can speak to.
fn judged(answer: Result<Value, Fault>) -> Result<Option<Value>, Fault> {
    match answer {
        Ok(about) => Ok(speaks_modern(&about["supportedVersions"]).then_some(about)),
        // Headers or capabilities can only be wrong for a modern server.
        Err(Fault::Refused(Refusal { code: -32021 | -32020, .. })) => Ok(Some(Value::Null)),
        Err(Fault::Refused(_)) => Ok(None),
        // Who may not come in now may not come in with a handshake either.
        Err(fault @ Fault::Status { status: 401 | 403, .. }) => Err(fault),
        Err(Fault::Status { .. }) => Ok(None),
        Err(fault @ (Fault::Gone(_) | Fault::Expired)) => Err(fault),
    }
}

fn modern(link: Link, about: &Value, changed: &Arc<Notify>) -> Connection {
    link.greeted(Era::Modern);
    let info = &about["_meta"]["io.modelcontextprotocol/serverInfo"];
    connection(link, Era::Modern, info, &about["capabilities"], changed)
}

async fn shake_hands(link: Link, changed: &Arc<Notify>) -> Result<Connection, Fault> {
    let about = link.request("initialize", era::hello(), None).await?;
    let version = about["protocolVersion"].as_str().unwrap_or_default();
    let Some(era) = Era::chosen(version) else {
        let shown: String = version.chars().take(40).collect();
        return Err(Fault::Gone(format!("it speaks revision `{shown}` of MCP, which is not known here")));
    };
    let connection = connection(link, era, &about["serverInfo"], &about["capabilities"], changed);
    connection.link.greeted(era);
    connection.link.notify("notifications/initialized", &json!({}));
    Ok(connection)
}

fn connection(link: Link, era: Era, info: &Value, capabilities: &Value, changed: &Arc<Notify>) -> Connection {
    Connection {
        link,
        era,
        version: info["version"].as_str().unwrap_or_default().to_owned(),
        tells_changes: capabilities["tools"]["listChanged"] == true,
        since: Instant::now(),
        changed: Arc::clone(changed),
    }
}
