//! Which tools an agent has: names in any spelling, and definitions of its own.

use super::AgentFile;
use super::format::Format;
use super::node::{At, Content, Key, Node};
use super::parameters::{OF_PARAMETERS, check_gaps, parameters};
use super::policy::Narrowing;
use super::reader::Reader;
use super::yaml::short;
use serde::Serialize;
use toolpost_core::tool::PromptToolDef;

/// A name that a file chooses tools or packs by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolChoice {
    /// The name, in any spelling; it may have `*` in it.
    pub name: String,
    /// The line that it stands on.
    pub line: usize,
    /// And the column.
    pub column: usize,
}

impl ToolChoice {
    fn new(name: &str, at: At) -> ToolChoice {
        ToolChoice { name: name.to_owned(), line: at.line, column: at.column }
    }

    /// Where it stands.
    pub fn at(&self) -> At {
        At { line: self.line, column: self.column }
    }
}

/// The words by which Copilot's files choose several tools at once.
const COPILOT: [(&str, &[&str]); 7] = [
    ("execute", &["bash", "bash_output", "bash_kill"]),
    ("shell", &["bash", "bash_output", "bash_kill"]),
    ("read", &["read", "list"]),
    ("edit", &["edit", "write", "apply_patch", "delete"]),
    ("search", &["grep", "glob"]),
    ("web", &["webfetch", "websearch"]),
    ("todo", &["todowrite", "todoread"]),
];

/// The tools by which Claude's agents change files. Ours has two more, which a file that names one of them cannot know.
const CLAUDE_CHANGES: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
const OWN_CHANGES: [&str; 2] = ["apply_patch", "delete"];

/// A list of names, or one text with commas.
pub(super) fn names(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<Vec<ToolChoice>> {
    match &node.content {
        Content::Null => None,
        Content::Text(text) => Some(split(text).map(|name| ToolChoice::new(name, node.at)).collect()),
        Content::List(items) => Some(
            items
                .iter()
                .filter_map(|item| Some(ToolChoice::new(reader.text(item, field)?.trim(), item.at)))
                .collect(),
        ),
        _ => {
            reader.broken(node.at, field, format!("`{field}` is {}; write a list of names", node.kind()));
            None
        }
    }
}

/// Tools that the agent does not get: whole, or what a condition in brackets says of them.
pub(super) fn take_away(
    reader: &mut Reader<'_>,
    node: &Node,
    field: &str,
    agent: &mut AgentFile,
    narrowing: &mut Narrowing,
) {
    for choice in names(reader, node, field).unwrap_or_default() {
        let at = choice.at();
        let Some((name, rest)) = choice.name.split_once('(') else {
            if !is_name(&choice.name) {
                let message = format!(
                    "`{}` is not the name of a tool, so this removes nothing; write a name, or `Write(src/**)`, or a rule under `policy`",
                    short(&choice.name)
                );
                reader.broken(at, field, message);
                continue;
            }
            agent.without.push(ToolChoice::new(&spelled(&choice.name), at));
            if reader.format == Format::Claude && CLAUDE_CHANGES.contains(&choice.name.as_str()) {
                agent.without.extend(OWN_CHANGES.iter().map(|tool| ToolChoice::new(tool, at)));
            }
            continue;
        };
        let (name, condition) = (name.trim(), rest.strip_suffix(')').map(str::trim));
        match condition {
            Some("" | "*" | "**") => agent.without.push(ToolChoice::new(&spelled(name), at)),
            Some(condition) if narrowing.never(reader, name, condition, at) => {}
            // A condition that cannot be read must not leave the tool wider than the file wants.
            _ => {
                let message = format!(
                    "`{}`: the condition is not understood, so that the whole tool is taken away",
                    short(&choice.name)
                );
                reader.warn(at, field, message);
                agent.without.push(ToolChoice::new(&spelled(name), at));
            }
        }
    }
}

/// Whether a tool may be called this, in any host. It may have wildcards.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '*' | '?'))
}

/// The names of a text with commas between them; those inside of brackets do not count.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|name| !name.is_empty())
}

/// The key `tools`: names, definitions, or OpenCode's switches.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node, agent: &mut AgentFile, narrowing: &mut Narrowing) {
    let mut chosen: Vec<ToolChoice> = Vec::new();
    let mut has_names = false;
    match &node.content {
        Content::Null if reader.format == Format::Toolpost => {
            let message =
                "`tools` is empty; write names, `[]` for no tool, or leave the key out for all tools";
            return reader.broken(node.at, "tools", message);
        }
        Content::Null => return,
        Content::Text(text) => {
            has_names = true;
            split(text).for_each(|name| choose(reader, name, node.at, &mut chosen, narrowing));
        }
        Content::List(items) => {
            has_names = items.is_empty();
            for (index, item) in items.iter().enumerate() {
                match &item.content {
                    Content::Map(_) => define(reader, item, index, agent),
                    Content::Text(name) => {
                        has_names = true;
                        choose(reader, name.trim(), item.at, &mut chosen, narrowing);
                    }
                    _ => {
                        let field = format!("tools[{index}]");
                        let message = format!(
                            "`{field}` is {}; write the name of a tool, or a definition with `name` and `prompt`",
                            item.kind()
                        );
                        reader.left_out(item.at, &field, message);
                    }
                }
            }
        }
        Content::Map(entries) => {
            // `"*": false` takes everything away but what the other switches turn on.
            let is_off =
                |(key, value): &(Key, Node)| key.text == "*" && value.content == Content::Boolean(false);
            has_names = entries.iter().any(is_off);
            for (key, value) in entries {
                match &value.content {
                    Content::Boolean(true) if has_names => {
                        chosen.push(ToolChoice::new(&spelled(&key.text), key.at));
                    }
                    Content::Boolean(false) if key.text == "*" => {}
                    Content::Boolean(true) => {}
                    Content::Boolean(false) => agent.without.push(ToolChoice::new(&key.text, key.at)),
                    _ => {
                        let field = format!("tools.{}", key.text);
                        let message = format!("`{field}` is {}; write `true` or `false`", value.kind());
                        reader.broken(value.at, &field, message);
                    }
                }
            }
        }
        _ => reader.broken(node.at, "tools", format!("`tools` is {}; write a list of names", node.kind())),
    }
    if has_names {
        agent.tools = Some(chosen);
    }
}

/// One name: as it is, or with a condition in brackets, which narrows the policy.
fn choose(
    reader: &mut Reader<'_>,
    text: &str,
    at: At,
    chosen: &mut Vec<ToolChoice>,
    narrowing: &mut Narrowing,
) {
    let (name, condition) = match text.split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(condition) => (name.trim(), Some(condition.trim())),
            None => {
                let message = format!("`{}` lacks its closing `)`", short(text));
                return reader.left_out(at, "tools", message);
            }
        },
        None => (text, None),
    };
    if name.is_empty() {
        return reader.left_out(at, "tools", "a tool has no name; remove the entry");
    }
    if let Some(condition) = condition.filter(|condition| !matches!(*condition, "" | "*" | "**"))
        && !narrowing.only(reader, name, condition, at)
    {
        // Without its condition the tool would be wider than the file wants.
        return;
    }
    let several = match reader.format {
        Format::Copilot => {
            let word = name.to_ascii_lowercase();
            COPILOT.iter().find(|(known, _)| *known == word).map(|(_, tools)| *tools)
        }
        _ => None,
    };
    match several {
        Some(tools) => chosen.extend(tools.iter().map(|tool| ToolChoice::new(tool, at))),
        None => chosen.push(ToolChoice::new(&spelled(name), at)),
    }
}

/// A tool of an MCP server in our spelling: `server/tool` is `mcp__server__tool`.
fn spelled(name: &str) -> String {
    match name.split_once('/') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => format!("mcp__{server}__{tool}"),
        _ => name.to_owned(),
    }
}

const KNOWN: [&str; 7] = ["name", "description", "model", "parameters", "result_schema", "prompt", "script"];

/// A tool of the agent's own. Whatever is wrong with it costs this tool alone.
fn define(reader: &mut Reader<'_>, node: &Node, index: usize, agent: &mut AgentFile) {
    let before = reader.count();
    let tool = definition(reader, node, index);
    reader.soften_since(before);
    // What a misspelt key would have narrowed is not known.
    for (key, field, known, place) in strange_keys(node, index) {
        match reader.format {
            Format::Toolpost => reader.misspelt_key(key, &field, known, place),
            _ => reader.unknown_key(key, &field, known, place),
        }
    }
    let Some(tool) = tool else { return };
    if agent.prompt_tools.iter().any(|known| known.name == tool.name) {
        let message = format!("the tool `{}` is defined twice; the second one is left out", tool.name);
        return reader.left_out(node.at, &format!("tools[{index}].name"), message);
    }
    if let (Some(_), Some(value)) = (&tool.model, node.get("model")) {
        agent.tool_models_at.insert(tool.name.clone(), value.at);
    }
    agent.prompt_tools.push(tool);
}

/// The keys of a definition that mean nothing, with their fields, what is known there, and where that is.
fn strange_keys(node: &Node, index: usize) -> Vec<(&Key, String, &'static [&'static str], &'static str)> {
    let mut strange = Vec::new();
    for (key, _) in node.entries() {
        if !KNOWN.contains(&key.text.as_str()) && key.text != "resultSchema" {
            let field = format!("tools[{index}].{}", key.text);
            strange.push((key, field, KNOWN.as_slice(), "the definition of a tool"));
        }
    }
    let parameters = node.get("parameters").map(Node::entries).unwrap_or_default();
    for (name, parameter) in parameters {
        for (key, _) in parameter.entries() {
            if !OF_PARAMETERS.contains(&key.text.as_str()) {
                let field = format!("tools[{index}].parameters.{}.{}", name.text, key.text);
                strange.push((key, field, OF_PARAMETERS.as_slice(), "a parameter"));
            }
        }
    }
    strange
}

fn definition(reader: &mut Reader<'_>, node: &Node, index: usize) -> Option<PromptToolDef> {
    let of = |key: &str| format!("tools[{index}].{key}");
    let problems = reader.count();
    let mut needed = |key: &str, example: &str| match node.get(key) {
        Some(value) => reader.text(value, &of(key)).filter(|text| !text.trim().is_empty()),
        None => {
            let message = format!("the tool has no `{key}`; add one, such as `{key}: {example}`");
            reader.broken(node.at, &of(key), message);
            None
        }
    };
    let name = needed("name", "summarize");
    let prompt = needed("prompt", "\"Summarize:\\n\\n{{text}}\"");
    let description = match node.get("description") {
        Some(value) => reader.text(value, &of("description")).unwrap_or_default(),
        None => {
            reader.warn(
                node.at,
                &of("description"),
                "the tool has no `description`, so that no model knows when to use it",
            );
            String::new()
        }
    };
    if let (Some(name), Some(value)) = (&name, node.get("name")) {
        let is_fine = name.len() <= 64
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !is_fine {
            let message = format!(
                "`{}` is no name for a tool; use 1 to 64 of the characters A-Z, a-z, 0-9, `_` and `-`, first a letter or `_`",
                short(name)
            );
            reader.broken(value.at, &of("name"), message);
        }
    }
    let model = node.get("model").and_then(|value| reader.text(value, &of("model")));
    let model =
        model.map(|name| name.trim().to_owned()).filter(|name| !matches!(name.as_str(), "" | "inherit"));
    let parameters =
        node.get("parameters").map_or_else(Vec::new, |value| parameters(reader, value, &of("parameters")));
    let result_schema = node.get("result_schema").or_else(|| node.get("resultSchema")).and_then(|value| {
        let schema = value.to_value();
        let is_object = schema.is_object();
        if !is_object {
            reader.broken(
                value.at,
                &of("result_schema"),
                format!("`result_schema` is {}; write a JSON schema", value.kind()),
            );
        } else if let Err(error) = toolpost_core::schema::Schema::compile(schema.clone()) {
            reader.broken(value.at, &of("result_schema"), format!("`result_schema` is no schema: {error}"));
        }
        is_object.then_some(schema)
    });
    let script = node.get("script").map(Node::to_value);
    if let (Some(prompt), Some(value)) = (&prompt, node.get("prompt")) {
        check_gaps(reader, value, prompt, &parameters, &of("prompt"));
    }
    reader.is_sound_since(problems).then_some(())?;
    Some(PromptToolDef {
        name: name?,
        description,
        model,
        parameters,
        result_schema,
        prompt: prompt?,
        script,
    })
}
