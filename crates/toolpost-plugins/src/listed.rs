//! The tools that a server says it has: page by page, within bounds, each looked at before it is believed to be one.

use crate::complaint::harmless;
use crate::connection::Connection;
use crate::fault::{Fault, take};
use crate::http::header_problem;
use crate::resource;
use crate::server::Server;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use toolpost_core::schema::Schema;
use toolpost_mcp::RpcError;
use toolpost_mcp::error::METHOD_NOT_FOUND;

/// So many tools of one server are taken.
const MOST_TOOLS: usize = 1_000;

/// So many pages are asked for.
const MOST_PAGES: usize = 200;

/// The largest schema of one tool, as text.
const LARGEST_SCHEMA: usize = 256 << 10;

/// The schemas of all tools of a server together.
const LARGEST_LIST: usize = 8 << 20;

/// The longest name for people.
const LONGEST_TITLE: usize = 200;

/// The longest description.
const LONGEST_DESCRIPTION: usize = 8_000;

/// One tool, as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// Its name there.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
    pub(crate) annotations: Map<String, Value>,
}

impl Listed {
    /// What the server says of the tool: `readOnlyHint` and the like; none where it says nothing.
    pub(crate) fn hint(&self, name: &str) -> Option<bool> {
        self.annotations.get(name).and_then(Value::as_bool)
    }
}

/// What a server has.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Listed>,
    /// What was left out, and why.
    pub(crate) notes: Vec<String>,
}

/// Asks for all tools.
pub(crate) async fn fetch(connection: &Connection, server: &Server) -> Result<Listing, Fault> {
    let mut raw = Vec::new();
    let (mut cursor, mut seen) = (None::<String>, HashSet::new());
    for _ in 0..MOST_PAGES {
        let params = cursor.iter().map(|cursor| ("cursor".to_owned(), json!(cursor))).collect();
        let mut page = match connection.request("tools/list", params, None).await {
            // A server without tools need not know the question.
            Err(Fault::Refused(RpcError { code: METHOD_NOT_FOUND, .. })) => break,
            page => page?,
        };
        match take(&mut page, "tools") {
            Value::Array(tools) => raw.extend(tools),
            _ => return Err(Fault::Gone("its list of tools has no `tools`".to_owned())),
        }
        match page["nextCursor"].as_str() {
            Some(next) if raw.len() <= MOST_TOOLS => {
                if !seen.insert(next.to_owned()) {
                    return Err(Fault::Gone("its list of tools goes round in circles".to_owned()));
                }
                cursor = Some(next.to_owned());
            }
            _ => break,
        }
    }
    let server = server.clone();
    let mirrors_headers = connection.mirrors_headers();
    // A thousand schemas are some work, which must not hold up other calls.
    let has_resources = connection.has_resources && !server.is_without(resource::READER);
    let names: Vec<&str> = raw
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .chain([resource::READER])
        .take(MOST_TOOLS)
        .collect();
    if let Some(why) = server.misspelt_exclusion(&names) {
        return Err(Fault::Gone(why));
    }
    let read = tokio::task::spawn_blocking(move || {
        let mut listing = read(raw, &server, mirrors_headers);
        listing.tools.retain(|tool| tool.name != resource::READER);
        listing.tools.extend(has_resources.then(resource::reader));
        listing
    });
    read.await.map_err(|error| Fault::Gone(format!("its list of tools could not be read: {error}")))
}

/// The tools of a list as they came, each looked at.
pub(crate) fn read(raw: Vec<Value>, server: &Server, mirrors_headers: bool) -> Listing {
    let mut listing = Listing::default();
    let mut names = HashSet::new();
    let mut room = LARGEST_LIST;
    for (index, tool) in raw.into_iter().enumerate() {
        if index >= MOST_TOOLS {
            listing.notes.push(format!("there are more than {MOST_TOOLS} tools; the others are left out"));
            break;
        }
        let name = tool["name"].as_str().unwrap_or_default().to_owned();
        if !server.wants(&name) {
            continue;
        }
        let read = one(tool, &name, &mut room).and_then(|listed| match header_problem(&listed.input) {
            Some(problem) if mirrors_headers => Err(problem),
            _ => Ok(listed),
        });
        match read {
            Ok(_) if !names.insert(name.clone()) => {}
            Ok(listed) => listing.tools.push(listed),
            Err(why) => {
                let shown: String = harmless(&name).chars().take(80).collect();
                listing.notes.push(format!("tool `{shown}` is left out: {why}"));
            }
        }
    }
    listing
}

fn one(mut tool: Value, name: &str, room: &mut usize) -> Result<Listed, String> {
    if name.is_empty() || name.len() > 200 {
        return Err("a name has 1 to 200 letters".to_owned());
    }
    let input = match take(&mut tool, "inputSchema") {
        Value::Object(mut input) => {
            input.entry("type").or_insert_with(|| "object".into());
            Value::Object(input)
        }
        Value::Null => json!({"type": "object"}),
        _ => return Err("its schema is not an object".to_owned()),
    };
    let size = input.to_string().len();
    if size > LARGEST_SCHEMA || size > *room {
        return Err(format!(
            "its schema has {size} bytes; one may have {LARGEST_SCHEMA}, all {LARGEST_LIST}"
        ));
    }
    *room -= size;
    if input["type"] != "object" {
        return Err("its arguments are not an object".to_owned());
    }
    Schema::compile(input.clone()).map_err(|error| error.to_string())?;
    // An answer's schema that is no schema promises nothing.
    let output = Some(take(&mut tool, "outputSchema"))
        .filter(|output| output.is_object() && output.to_string().len() <= LARGEST_SCHEMA)
        .filter(|output| Schema::compile(output.clone()).is_ok());
    let description = tool["description"].as_str().unwrap_or_default().to_owned();
    let end = description.floor_char_boundary(LONGEST_DESCRIPTION.min(description.len()));
    let annotations = match take(&mut tool, "annotations") {
        Value::Object(annotations) => annotations,
        _ => Map::new(),
    };
    let is_shown = |letter: &char| !letter.is_control() || *letter == '\n';
    // Where a tool has its name for people before 2025-06-18 is among its annotations.
    let title = tool["title"].as_str().or_else(|| annotations.get("title").and_then(Value::as_str));
    let title = title.map(|title| harmless(title).chars().take(LONGEST_TITLE).collect::<String>());
    Ok(Listed {
        name: name.to_owned(),
        title: title.filter(|title| !title.trim().is_empty()),
        description: description[..end].chars().filter(is_shown).collect(),
        input,
        output,
        annotations,
    })
}
