//! The last list of each server, kept between runs: its tools are offered at once, and corrected when it has started.

use crate::listed::{self, Listed, Listing};
use crate::server::{Reach, Server};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// Keeps lists between runs. Implemented by a host; called when tools are listed for the first time and whenever a server
/// has told its list. What is kept is looked at like what a server sends.
pub trait Lists: fmt::Debug + Send + Sync {
    /// All lists that are kept, by their keys.
    fn load(&self) -> BTreeMap<String, Value>;

    /// Keeps a list in place of the one of this key. One that cannot be kept is forgotten.
    fn save(&self, key: &str, list: Value);
}

/// The key of a server's list: another configuration, down to its variables, has another one.
pub(crate) fn key(server: &Server) -> String {
    let Server { name, reach, only, without, hints, .. } = server;
    let text = format!("{:?}", (name, reach, only, without, hints));
    toolpost_core::text::hex(&Sha256::digest(text))
}

/// A list as it is kept.
pub(crate) fn kept(tools: &[Listed], version: &str) -> Value {
    let tools: Vec<Value> = tools.iter().map(tool).collect();
    json!({"version": version, "tools": tools})
}

fn tool(listed: &Listed) -> Value {
    let Listed { name, title, description, input, output, annotations } = listed;
    let mut tool = Map::new();
    tool.insert("name".to_owned(), name.as_str().into());
    if let Some(title) = title {
        tool.insert("title".to_owned(), title.as_str().into());
    }
    tool.insert("description".to_owned(), description.as_str().into());
    tool.insert("inputSchema".to_owned(), input.clone());
    if let Some(output) = output {
        tool.insert("outputSchema".to_owned(), output.clone());
    }
    tool.insert("annotations".to_owned(), Value::Object(annotations.clone()));
    Value::Object(tool)
}

/// A list that was kept, and the version of its server; nothing where it cannot be read.
pub(crate) fn recalled(mut list: Value, server: &Server) -> Option<(Listing, String)> {
    let version = list.get("version").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Value::Array(tools) = list.get_mut("tools")?.take() else { return None };
    let mirrors_headers = matches!(server.reach, Reach::Http { .. });
    Some((listed::read(tools, server, mirrors_headers), version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Hints;
    use toolpost_core::host::StartCheck;

    fn server(argument: &str) -> Server {
        Server {
            name: "s".to_owned(),
            reach: Reach::Stdio {
                command: "x".to_owned(),
                args: vec![argument.to_owned()],
                env: BTreeMap::new(),
                cwd: None,
            },
            start: None,
            call: None,
            only: None,
            without: Vec::new(),
            hints: Hints::Ignored,
            origin: String::new(),
            check: StartCheck::default(),
        }
    }

    #[test]
    fn a_list_comes_back_as_it_was_told() {
        let raw = vec![json!({
            "name": "t", "title": "T", "description": "Does it.", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
        })];
        let told = listed::read(raw, &server("a"), false);
        let (again, version) = recalled(kept(&told.tools, "1.2.3"), &server("a")).unwrap();
        assert_eq!((again.tools, version.as_str()), (told.tools, "1.2.3"));
        assert!(recalled(json!({"tools": 1}), &server("a")).is_none());
        assert!(recalled(json!([]), &server("a")).is_none());
    }

    #[test]
    fn another_configuration_has_another_key() {
        assert_eq!(key(&server("a")), key(&server("a")));
        assert_ne!(key(&server("a")), key(&server("b")));
    }
}
