//! Which resources a server has: those that its results have linked to, and those that it lists.

use super::Upstream;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::names;
use crate::resource;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolpost_core::registry::{ListedResource, ResourceCall};

/// Maximum number of addresses that are remembered of a server.
const MOST: usize = 5_000;

/// Maximum number of pages of a list.
const MOST_PAGES: usize = 20;

/// How long a list of resources is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The addresses that a server has named.
#[derive(Default)]
pub(super) struct Known(Mutex<BTreeSet<String>>);

impl Known {
    fn note(&self, uri: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST {
            known.insert(uri.to_owned());
        }
    }

    fn has(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }

    /// Notes what the result of a call links to.
    pub(super) fn note_links(&self, result: &Value) {
        for block in result["content"].as_array().into_iter().flatten() {
            let uri = match block["type"].as_str() {
                Some("resource_link") => &block["uri"],
                Some("resource") => &block["resource"]["uri"],
                _ => continue,
            };
            uri.as_str().into_iter().for_each(|uri| self.note(uri));
        }
    }
}

impl Upstream {
    /// The call that reads a resource by the server's own address.
    pub(crate) fn resource_call(&self, uri: &str) -> ResourceCall {
        let tool = names::canonical(self.part(), resource::READER);
        ResourceCall { tool, arguments: json!({"uri": uri}) }
    }

    /// Whether the server, if it has started, has named this address as one of its own.
    pub(crate) async fn has_resource(&self, uri: &str) -> bool {
        if self.resources.has(uri) {
            return true;
        }
        let Some(connection) = self.alive().filter(|connection| connection.has_resources) else {
            return false;
        };
        let _ = self.listed_resources(&connection).await;
        self.resources.has(uri)
    }

    /// The resources that the server lists, if it has started and answers soon.
    pub(crate) async fn resources(&self) -> Vec<ListedResource> {
        let Some(connection) = self.alive().filter(|connection| connection.has_resources) else {
            return Vec::new();
        };
        let listed = self.listed_resources(&connection).await.unwrap_or_default();
        let here = |mut about: Value| {
            let address = resource::address(self.part(), about["uri"].as_str()?);
            about["uri"] = address.into();
            Some(ListedResource { tool: names::canonical(self.part(), resource::READER), about })
        };
        listed.into_iter().filter_map(here).collect()
    }

    /// Refuses an address that the server has not named: a model sends it nothing by addresses of its own.
    pub(super) async fn check_resource(
        &self,
        connection: &Connection,
        arguments: &Value,
    ) -> Result<(), Fault> {
        let uri = arguments["uri"].as_str().unwrap_or_default();
        if self.resources.has(uri) {
            return Ok(());
        }
        self.listed_resources(connection).await?;
        if self.resources.has(uri) || self.fits_template(connection, uri).await {
            return Ok(());
        }
        let shown: String = uri.chars().take(200).collect();
        Err(Fault::Gone(format!(
            "it has named no resource `{shown}`; its results and its list of resources say which there are"
        )))
    }

    /// Whether the address begins like one of the server's templates.
    async fn fits_template(&self, connection: &Connection, uri: &str) -> bool {
        let asked = connection.request("resources/templates/list", Map::new(), None);
        let Ok(Ok(page)) = tokio::time::timeout(PATIENCE, asked).await else { return false };
        let templates = page["resourceTemplates"].as_array().into_iter().flatten();
        templates.filter_map(|template| template["uriTemplate"].as_str()).any(|template| {
            let fixed = template.split('{').next().unwrap_or_default();
            fixed.contains("://") && uri.len() > fixed.len() && uri.starts_with(fixed)
        })
    }

    /// Asks for the list, within bounds, and notes its addresses.
    async fn listed_resources(&self, connection: &Connection) -> Result<Vec<Value>, Fault> {
        let mut all = Vec::new();
        let mut cursor = None::<String>;
        let asking = async {
            for _ in 0..MOST_PAGES {
                let params = cursor.iter().map(|cursor| ("cursor".to_owned(), json!(cursor))).collect();
                let mut page = connection.request("resources/list", params, None).await?;
                if let Value::Array(resources) = crate::fault::take(&mut page, "resources") {
                    all.extend(resources.into_iter().filter(|one| one["uri"].is_string()));
                }
                cursor = page["nextCursor"].as_str().map(str::to_owned);
                if cursor.is_none() || all.len() >= MOST {
                    break;
                }
            }
            Ok::<(), Fault>(())
        };
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(asked) => asked?,
            Err(_) => return Err(Fault::Gone("it did not list its resources in time".to_owned())),
        }
        all.truncate(MOST);
        all.iter().filter_map(|one| one["uri"].as_str()).for_each(|uri| self.resources.note(uri));
        Ok(all)
    }
}
