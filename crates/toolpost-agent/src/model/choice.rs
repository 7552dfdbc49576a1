//! Which model a run uses when nobody, or somebody, says so.

use super::catalog::{Catalog, Origin, VendorRow};
use super::draft::{items, text};
use super::key::{Key, Keys};
use futures_util::future::join_all;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;
use toolpost_core::model::{ModelError, ModelErrorKind};
use toolpost_http::{Client, HeaderMap, HeaderName, HeaderValue, Request, Target};

/// How long a server on this machine may take to say that it is there.
const PROBE: Duration = Duration::from_millis(500);
/// How long it may take to accept a connection.
const GLANCE: Duration = Duration::from_millis(100);
/// Maximum size of its list of models.
const MAX_LIST: usize = 1 << 20;

/// Who names a model; the first who does counts.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// `--model-for-all`.
    pub for_all: Option<String>,
    /// `--model`.
    pub flag: Option<String>,
    /// The agent file.
    pub agent: Option<String>,
    /// The configuration.
    pub configured: Option<String>,
    /// Whose model it is.
    pub level: Level,
}

impl Wanted {
    /// The model that is named, and by whom.
    fn named(&self) -> Option<(&str, &'static str)> {
        let named = [
            (&self.for_all, "`--model-for-all`"),
            (&self.flag, "`--model`"),
            (&self.agent, "the agent file"),
            (&self.configured, "the configuration"),
        ];
        // Agent files of other hosts say `inherit` for "whatever the others use".
        let says = |name: &&str| !name.is_empty() && *name != "inherit";
        named.into_iter().find_map(|(name, who)| Some((name.as_deref().map(str::trim).filter(says)?, who)))
    }
}

/// Whose model is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Level {
    /// That of the agent that the user starts.
    #[default]
    First,
    /// That of an agent or a tool below it, which `--model` leaves alone.
    Below,
}

impl Level {
    /// The flag that replaces such a model.
    fn flag(self) -> &'static str {
        match self {
            Level::First => "--model",
            Level::Below => "--model-for-all",
        }
    }
}

/// The model that a run uses.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Its vendor; for a server on this machine, at the address where it is.
    pub vendor: VendorRow,
    /// Its name.
    pub model: String,
    /// The vendor's key.
    pub key: Option<Key>,
    /// Why this one, in a few words.
    pub reason: String,
}

/// Chooses: what is named; else the first vendor whose key is there; else a server on this machine that answers.
///
/// A vendor that a workspace brought is used only if it is named.
pub async fn choose(
    wanted: &Wanted,
    catalog: &Catalog,
    keys: &dyn Keys,
    client: &Client,
) -> Result<Choice, ModelError> {
    if let Some((name, who)) = wanted.named() {
        return by_name(name, (who, wanted.level), catalog, keys, client).await;
    }
    let own = || unnamed(catalog);
    for row in own().filter(|row| row.probe.is_none()) {
        if let (Some(model), Some(key)) = (&row.model, row.key.find(keys).await?) {
            let reason = format!("{} is there", key.source());
            return Ok(Choice { vendor: row.clone(), model: model.clone(), key: Some(key), reason });
        }
    }
    let local: Vec<VendorRow> =
        own().filter(|row| row.probe.is_some()).map(|row| placed(row, keys)).collect();
    let asked = join_all(local.iter().map(|row| listed(row, keys, client))).await;
    for (row, models) in local.iter().zip(asked) {
        if let Some((model, key)) = models.and_then(|(models, key)| Some((preferred(&models)?, key))) {
            let reason = format!("{} answers at {}", row.name, row.shown_url());
            return Ok(Choice { vendor: row.clone(), model, key, reason });
        }
    }
    Err(nothing(catalog, &local))
}

/// Whether a model can probably be chosen. No command is started, and no file with a key is read; a server on this machine is
/// there if something listens at its port.
pub fn may_choose(wanted: &Wanted, catalog: &Catalog, keys: &dyn Keys) -> bool {
    let has_key = |row: &VendorRow| {
        let set = |name: &String| keys.variable(name).is_some_and(|text| !text.trim().is_empty());
        row.key.variables.iter().any(set) || row.key.file.is_some() || !row.key.command.is_empty()
    };
    match wanted.named() {
        Some((name, _)) => {
            catalog.find(name).is_ok_and(|(row, _)| row.probe.is_some() || row.key.is_empty() || has_key(row))
        }
        None => unnamed(catalog).any(|row| match row.probe {
            None => row.model.is_some() && has_key(row),
            Some(_) => listens(&placed(row, keys)),
        }),
    }
}

/// The vendors of which one may be chosen that nobody names.
fn unnamed(catalog: &Catalog) -> impl Iterator<Item = &VendorRow> {
    catalog.vendors().iter().filter(|row| !matches!(row.origin, Origin::Workspace(_)))
}

/// Whether something listens where a server should be. One on another machine, which only the user can have named, is
/// believed.
fn listens(row: &VendorRow) -> bool {
    let Ok(url) = row.url("") else { return false };
    let Target { host, port, .. } = url.target();
    let address = match host.as_str() {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        host => host.parse::<IpAddr>(),
    };
    match address {
        Ok(address) if address.is_loopback() => {
            TcpStream::connect_timeout(&SocketAddr::new(address, *port), GLANCE).is_ok()
        }
        _ => true,
    }
}

async fn by_name(
    name: &str,
    (who, level): (&str, Level),
    catalog: &Catalog,
    keys: &dyn Keys,
    client: &Client,
) -> Result<Choice, ModelError> {
    let (row, model) = catalog.find(name).map_err(|error| {
        ModelError::new(error.kind, format!("{who} names a model that is not known: {}", error.message))
    })?;
    let key = row.key.find(keys).await?;
    let row = placed(row, keys);
    if key.is_none() && row.probe.is_none() && !row.key.is_empty() {
        let places = row.key.shown();
        let message = format!(
            "{who} names `{name}`, and there is no key for {}: set {places}, or choose another model with `{}`",
            row.name,
            level.flag()
        );
        return Err(ModelError::new(ModelErrorKind::Authentication, message));
    }
    let mut model = model;
    if model.is_empty() {
        let models = listed(&row, keys, client).await.map(|(models, _)| models);
        let found = models.and_then(|models| preferred(&models));
        model = found.ok_or_else(|| {
            let message = format!("{who} names `{name}`, and no model is served at {}; start one, or name a model as `{}/MODEL`", row.shown_url(), row.name);
            ModelError::new(ModelErrorKind::NotFound, message)
        })?;
    }
    Ok(Choice { vendor: row, model, key, reason: format!("{who} names it") })
}

/// The row at the address that a variable gives.
fn placed(row: &VendorRow, keys: &dyn Keys) -> VendorRow {
    let mut row = row.clone();
    let given = row.base_url_variable.as_ref().and_then(|name| keys.variable(name));
    if let Some(given) =
        given.map(|text| text.trim().trim_end_matches('/').to_owned()).filter(|text| !text.is_empty())
    {
        let (scheme, rest) = given.split_once("://").unwrap_or(("http", &given));
        // A server that listens everywhere is reached here.
        let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
        let host = rest.split('/').next().unwrap_or_default();
        let port =
            row.base_url.split(':').next_back().and_then(|end| end.split('/').next()).unwrap_or_default();
        let has_port = host
            .rsplit(':')
            .next()
            .is_some_and(|end| end != host && end.bytes().all(|byte| byte.is_ascii_digit()));
        let host = if has_port { host.to_owned() } else { format!("{host}:{port}") };
        let path = row.base_url.splitn(4, '/').nth(3).unwrap_or_default();
        row.base_url = format!("{scheme}://{host}/{path}");
    }
    row
}

/// The models that a server lists; none if it does not answer.
async fn listed(row: &VendorRow, keys: &dyn Keys, client: &Client) -> Option<(Vec<String>, Option<Key>)> {
    let url = row.url(row.probe.as_deref()?).ok()?;
    let key = row.key.find(keys).await.ok()?;
    let mut headers = HeaderMap::new();
    if let Some(key) = &key {
        let (name, begin) = row.key_header();
        let mut value = HeaderValue::from_str(&format!("{begin}{}", key.expose())).ok()?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_bytes(name.as_bytes()).ok()?, value);
    }
    let response = client.send(Request::get(url).headers(headers).timeout(PROBE)).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let body: Value = serde_json::from_slice(&response.bytes(MAX_LIST).await.ok()?).ok()?;
    let models = items(&body["models"]).iter().map(|model| text(&model["name"]));
    let data = items(&body["data"]).iter().map(|model| text(&model["id"]));
    let names: Vec<String> = models.chain(data).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some((names, key))
}

/// The first that can talk.
fn preferred(models: &[String]) -> Option<String> {
    models.iter().find(|name| !name.to_lowercase().contains("embed")).cloned()
}

fn nothing(catalog: &Catalog, local: &[VendorRow]) -> ModelError {
    let vendors = catalog.vendors().iter().filter(|row| row.probe.is_none());
    let variables: Vec<&str> =
        vendors.flat_map(|row| row.key.variables.first()).map(String::as_str).collect();
    let servers: Vec<String> =
        local.iter().map(|row| format!("{} at {}", row.name, row.shown_url())).collect();
    let message = format!(
        "no model: neither `--model` nor the agent file nor the configuration names one; no vendor's key is set ({}); and no \
         server answers on this machine ({}); set a key, start a server, or use an agent with a `script`, which needs no model",
        variables.join(", "),
        servers.join(", ")
    );
    ModelError::new(ModelErrorKind::NotFound, message)
}
