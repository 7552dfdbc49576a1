//! Reads a manifest: everything wrong with it is told at once, each with its place.

use super::manifest::{Manifest, ManifestFile};
use super::profile::RiskProfile;
use toolpost_text::json::{self, Json, Node, Syntax};
use toolpost_text::nearest;
use toolpost_text::{Errors, Source};

const KEYS: [&str; 6] = ["schemaVersion", "name", "description", "tools", "riskProfile", "tags"];

/// More entries in a list than anybody means.
const MOST_ENTRIES: usize = 1_000;

/// The longest name or tag, in bytes.
const LONGEST_NAME: usize = 64;

/// The longest description, in bytes.
const LONGEST_DESCRIPTION: usize = 1_000;

pub(super) fn manifest(file: &str, bytes: &[u8]) -> Result<ManifestFile, Errors> {
    let source = Source::new(file, bytes)?;
    let root = json::parse(&source, Syntax::Strict)?;
    let mut reader = Reader { source: &source, errors: Errors::none() };
    let Json::Object(entries) = &root.value else {
        let message = format!("a manifest is an object, not {}; begin it with `{{`", root.value.kind());
        return Err(Errors::one(source.located(root.at, message)));
    };
    reader.refuse_other_keys(entries);
    let version = reader.version(&root);
    let name = reader.name(&root);
    let description = reader.needed(&root, "description", "\"What it is for.\"").and_then(|node| {
        let text = reader.text(node, "`description`")?;
        reader.bounded(node, "`description`", text, LONGEST_DESCRIPTION)
    });
    let tools = reader.needed(&root, "tools", "[\"read\"]").and_then(|node| reader.tools(node));
    let risk_profile = reader.needed(&root, "riskProfile", "\"read-only\"").and_then(|node| {
        let text = reader.text(node, "`riskProfile`")?;
        text.parse::<RiskProfile>().map_err(|error| reader.error(node.at, error)).ok()
    });
    let tags = match root.get("tags") {
        Some(node) => reader.texts(node, "tags"),
        None => Some(Vec::new()),
    };
    match (version, name, description, tools, risk_profile, tags) {
        (
            Some(schema_version),
            Some(name),
            Some(description),
            Some(tools),
            Some(risk_profile),
            Some(tags),
        ) => {
            let manifest = Manifest { schema_version, name, description, tools, risk_profile, tags };
            reader.errors.or(ManifestFile { manifest })
        }
        _ => Err(reader.errors),
    }
}

struct Reader<'a, 'b> {
    source: &'b Source<'a>,
    errors: Errors,
}

impl Reader<'_, '_> {
    fn error(&mut self, at: usize, message: impl Into<String>) {
        self.errors.push(self.source.located(at, message));
    }

    fn refuse_other_keys(&mut self, entries: &[(String, Node)]) {
        for (key, node) in entries.iter().filter(|(key, _)| !KEYS.contains(&key.as_str())).take(20) {
            let shown: String = key.chars().take(60).collect();
            let advice = match nearest(&shown, KEYS.into_iter(), 1).first() {
                Some(near) => format!("did you mean `{near}`"),
                None => format!("known are {}", KEYS.join(", ")),
            };
            self.error(node.key_at, format!("`{shown}` means nothing in a manifest; {advice}"));
        }
    }

    /// A value that must be there.
    fn needed<'n>(&mut self, root: &'n Node, key: &str, example: &str) -> Option<&'n Node> {
        let node = root.get(key);
        if node.is_none() {
            self.error(
                root.at,
                format!("the manifest has no `{key}`; add one, such as `\"{key}\": {example}`"),
            );
        }
        node
    }

    fn version(&mut self, root: &Node) -> Option<u32> {
        let node = self.needed(root, "schemaVersion", "1")?;
        match node.value {
            Json::Number(1.0) => Some(Manifest::SCHEMA_VERSION),
            Json::Number(number) => {
                let message =
                    format!("`schemaVersion` {number} is not known here; write 1, or update toolpost");
                self.error(node.at, message);
                None
            }
            _ => {
                self.error(node.at, format!("`schemaVersion` is {}; write the number 1", node.value.kind()));
                None
            }
        }
    }

    fn name(&mut self, root: &Node) -> Option<String> {
        let node = self.needed(root, "name", "\"my-pack\"")?;
        let name = self.text(node, "`name`")?;
        self.word(node, "name", name)
    }

    fn tools(&mut self, node: &Node) -> Option<Vec<String>> {
        let tools = self.texts(node, "tools")?;
        if tools.is_empty() {
            self.error(node.at, "`tools` is empty; name at least one tool, or delete the pack");
            return None;
        }
        Some(tools)
    }

    /// Names in a list, each once.
    fn texts(&mut self, node: &Node, key: &str) -> Option<Vec<String>> {
        let Json::List(items) = &node.value else {
            let message = format!("`{key}` is {}; write a list of texts", node.value.kind());
            self.error(node.at, message);
            return None;
        };
        if items.len() > MOST_ENTRIES {
            let message = format!("`{key}` has {} entries; at most {MOST_ENTRIES} are taken", items.len());
            self.error(node.at, message);
            return None;
        }
        let mut texts: Vec<String> = Vec::with_capacity(items.len());
        let mut is_good = true;
        for item in items {
            let text = self.text(item, &format!("an entry of `{key}`"));
            let text = text.and_then(|text| match key {
                "tools" => self.word(item, "tool name", text),
                _ => self.bounded(item, "a tag", text, LONGEST_NAME),
            });
            match text {
                Some(text) if texts.contains(&text) => {}
                Some(text) => texts.push(text),
                None => is_good = false,
            }
        }
        is_good.then_some(texts)
    }

    /// A text without blanks around it, of which something is left.
    fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        let Some(text) = node.text() else {
            self.error(node.at, format!("{what} is {}; write a text", node.value.kind()));
            return None;
        };
        let text = text.trim();
        if text.is_empty() {
            self.error(node.at, format!("{what} is empty; write something, or take it out"));
            return None;
        }
        if let Some(control) = text.chars().find(|letter| letter.is_control()) {
            let shown = control.escape_default();
            self.error(node.at, format!("{what} has the control character `{shown}`; take it out"));
            return None;
        }
        Some(text.to_owned())
    }

    fn bounded(&mut self, node: &Node, what: &str, text: String, longest: usize) -> Option<String> {
        if text.len() > longest {
            self.error(node.at, format!("{what} has {} bytes; at most {longest} are taken", text.len()));
            return None;
        }
        Some(text)
    }

    /// A name as packs have them, which every provider takes, or that of a tool of any origin.
    fn word(&mut self, node: &Node, what: &str, text: String) -> Option<String> {
        // The tools of agents and of servers are written with the name of their owner before them.
        let (longest, more, advice) = match what {
            "tool name" => (2 * LONGEST_NAME, &b"/."[..], "`_`, `-`, `.` and `/`"),
            _ => (LONGEST_NAME, &b""[..], "`_` and `-`"),
        };
        let is_fine =
            |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || more.contains(&byte);
        if text.len() > longest || !text.bytes().all(is_fine) {
            let shown: String = text.chars().take(80).collect();
            let message =
                format!("`{shown}` is not a valid {what}; write 1 to {longest} letters, digits, {advice}");
            self.error(node.at, message);
            return None;
        }
        Some(text)
    }
}
