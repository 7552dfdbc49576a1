//! What the author of a tool should know about its declaration, for `toolpost tools lint`.

use super::keyword::{each_inner, types};
use super::normal::normal;
use super::note::{Notes, Path, shorten};
use super::{Format, Source, declare};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;
use toolpost_core::text::tokens;

/// Hosts put a prefix before the name (`mcp__server__`), and 64 characters is the limit of most providers.
const WISE_NAME: usize = 40;
/// The longest description of a tool that every provider takes.
const MAX_DESCRIPTION: usize = 1024;

/// The kinds of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Problem {
    /// The name leaves no room for the prefix of a host.
    LongName,
    /// The model is told nothing about the tool.
    NoDescription,
    /// The description is longer than some provider takes.
    LongDescription,
    /// The model is told nothing about a parameter.
    UndescribedParameter,
    /// The answer is not an object, which MCP clients before 2026-07-28 refuse.
    OutputNotObject,
    /// A format says something other than the tool's own schema.
    Changed,
    /// A format cannot declare the tool at all.
    Refused,
    /// What the declaration over MCP costs, for comparison; not a fault.
    Price,
}

/// One thing to know about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which kind it is.
    pub problem: Problem,
    /// The format it is about; none if it holds for all.
    pub format: Option<Format>,
    /// Where in the schema, as a JSON pointer; empty for the tool itself.
    pub path: String,
    /// What was found, for a person.
    pub message: String,
}

impl Finding {
    /// Whether the author of the tool should do something; the others only tell.
    pub fn needs_mending(&self) -> bool {
        match self.problem {
            Problem::LongName
            | Problem::NoDescription
            | Problem::LongDescription
            | Problem::UndescribedParameter
            | Problem::Refused => true,
            Problem::OutputNotObject | Problem::Changed | Problem::Price => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(format) = self.format {
            write!(f, "{format}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// The findings on a tool in one format, and what its declaration there costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// The tool's name.
    pub tool: String,
    /// The format looked at.
    pub format: Format,
    /// About how many tokens the declaration is; 0 if it is refused.
    pub tokens: usize,
    /// What was found, for this format and for all.
    pub findings: Vec<Finding>,
}

/// Everything there is to know about a tool, over all formats.
pub fn lint(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = general(source);
    for format in Format::ALL {
        findings.extend(in_format(source, format).0);
    }
    if let Some(price) = price(source) {
        findings.push(Finding {
            problem: Problem::Price,
            format: Some(Format::Mcp),
            path: String::new(),
            message: format!("about {price} tokens in every request"),
        });
    }
    findings
}

/// About how many tokens the tool costs in every request that offers it: the name, the description and the input schema of
/// its declaration over MCP, which are what a host passes on to its model. None where MCP cannot declare it.
pub fn price(source: &Source<'_>) -> Option<usize> {
    let mut declaration = declare(source, Format::Mcp).ok()?.value;
    if let Value::Object(fields) = &mut declaration {
        fields.retain(|field, _| ["name", "description", "inputSchema"].contains(&field.as_str()));
    }
    Some(tokens(&declaration.to_string()))
}

/// What there is to know about a tool in one format.
pub fn report(source: &Source<'_>, format: Format) -> Lint {
    let mut findings = general(source);
    let (more, tokens) = in_format(source, format);
    findings.extend(more);
    Lint { tool: source.name.to_owned(), format, tokens, findings }
}

/// What holds whatever the format.
fn general(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |problem, path: String, message: String| {
        findings.push(Finding { problem, format: None, path, message });
    };
    let length = source.name.chars().count();
    if length > WISE_NAME {
        let message = format!("the name has {length} characters; hosts prefix names, so keep to {WISE_NAME}");
        add(Problem::LongName, String::new(), message);
    }
    let length = source.description.chars().count();
    if source.description.trim().is_empty() {
        add(Problem::NoDescription, String::new(), "there is no description".into());
    } else if length > MAX_DESCRIPTION {
        let message =
            format!("the description has {length} characters; some providers take {MAX_DESCRIPTION}");
        add(Problem::LongDescription, String::new(), message);
    }
    if let Ok(Value::Object(schema)) = normal(source.input, &mut Notes::default()) {
        undescribed(&schema, &schema, Path::ROOT, &mut |path, name| {
            let message = format!("the parameter `{}` is not described", shorten(name));
            add(Problem::UndescribedParameter, path, message);
        });
    }
    if let Some(Ok(Value::Object(output))) = source.output.map(|output| normal(output, &mut Notes::default()))
        && !types(&output).contains(&"object")
    {
        let message = "the output is not an object; older MCP clients refuse the list".to_owned();
        add(Problem::OutputNotObject, String::new(), message);
    }
    findings
}

/// The findings of one conversion, and the price of what it made.
fn in_format(source: &Source<'_>, format: Format) -> (Vec<Finding>, usize) {
    let finding = |problem, path, message| Finding { problem, format: Some(format), path, message };
    match declare(source, format) {
        Err(refusal) => (vec![finding(Problem::Refused, refusal.path, refusal.reason)], 0),
        Ok(declaration) => {
            let price = tokens(&declaration.value.to_string());
            let notes = declaration.notes.into_iter();
            let changed = notes.map(|note| {
                finding(Problem::Changed, note.path, format!("{} ({})", note.change, note.reason))
            });
            (changed.collect(), price)
        }
    }
}

/// Finds each property, at any depth, of which nothing is said. A reference is described by its target.
fn undescribed(
    schema: &Map<String, Value>,
    root: &Map<String, Value>,
    path: Path<'_>,
    found: &mut dyn FnMut(String, &str),
) {
    for (keyword, value) in schema {
        let here = path.then(keyword);
        match value {
            Value::Object(named) if keyword == "properties" => {
                for (name, property) in named {
                    let here = here.then(name);
                    if !is_described(property, root) {
                        found(here.to_string(), name);
                    }
                    if let Value::Object(property) = property {
                        undescribed(property, root, here, found);
                    }
                }
            }
            Value::Object(named) if keyword == "$defs" => {
                for (name, definition) in named {
                    if let Value::Object(definition) = definition {
                        undescribed(definition, root, here.then(name), found);
                    }
                }
            }
            Value::Object(inner) if matches!(keyword.as_str(), "items" | "additionalProperties") => {
                undescribed(inner, root, here, found);
            }
            Value::Array(list) if matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf") => {
                for (index, inner) in list.iter().enumerate() {
                    if let Value::Object(inner) = inner {
                        undescribed(inner, root, here.then(&index.to_string()), found);
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_described(property: &Value, root: &Map<String, Value>) -> bool {
    let has_text = |schema: &Value| {
        schema["description"].as_str().is_some_and(|text| !text.trim().is_empty())
            || schema.get("const").is_some()
    };
    let mut described = has_text(property);
    let target = |schema: &Value| {
        let name = schema["$ref"].as_str()?.strip_prefix("#/$defs/")?;
        root.get("$defs")?.get(name).map(has_text)
    };
    described |= target(property) == Some(true);
    if let Value::Object(property) = property {
        each_inner(property, |inner| described |= target(inner) == Some(true));
    }
    described
}
