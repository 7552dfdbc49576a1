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

/// Maximum number of characters of a server's instructions that are passed on.
const LONGEST_INSTRUCTIONS: usize = 1_000;

/// The instructions of a server, within bounds and without control characters.
pub(crate) fn short(instructions: &str) -> String {
    let is_shown = |letter: &char| !letter.is_control() || *letter == '\n';
    let mut shown: String = instructions.chars().filter(is_shown).take(LONGEST_INSTRUCTIONS + 1).collect();
    if shown.chars().count() > LONGEST_INSTRUCTIONS {
        shown.pop();
        shown.push('…');
    }
    shown.trim().to_owned()
}

/// What is known of a server beside its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) version: String,
    pub(crate) instructions: String,
}

/// A list as it is kept.
pub(crate) fn kept(tools: &[Listed], about: &About) -> Value {
    let tools: Vec<Value> = tools.iter().map(tool).collect();
    json!({"version": about.version, "instructions": about.instructions, "tools": tools})
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

/// A list that was kept, and what is known of its server; nothing where it cannot be read.
pub(crate) fn recalled(mut list: Value, server: &Server) -> Option<(Listing, About)> {
    let text = |name: &str| list.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let about = About { version: text("version"), instructions: short(&text("instructions")) };
    let Value::Array(tools) = list.get_mut("tools")?.take() else { return None };
    let mirrors_headers = matches!(server.reach, Reach::Http { .. });
    Some((listed::read(tools, server, mirrors_headers), about))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Hints;
    use toolpost_process::StartCheck;

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
        let about = About { version: "1.2.3".to_owned(), instructions: "Use it well.".to_owned() };
        let (again, known) = recalled(kept(&told.tools, &about), &server("a")).unwrap();
        assert_eq!((again.tools, known), (told.tools, about));
        assert_eq!(short("a\u{1b}[0m\nb "), "a[0m\nb");
        assert_eq!(short(&"x".repeat(5_000)).chars().count(), LONGEST_INSTRUCTIONS + 1);
        assert!(recalled(json!({"tools": 1}), &server("a")).is_none());
        assert!(recalled(json!([]), &server("a")).is_none());
    }

    #[test]
    fn another_configuration_has_another_key() {
        assert_eq!(key(&server("a")), key(&server("a")));
        assert_ne!(key(&server("a")), key(&server("b")));
    }
}
