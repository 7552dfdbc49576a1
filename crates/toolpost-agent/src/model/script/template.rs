//! Texts with references to earlier results, and what they stand for.

use super::json_text;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolpost_core::model::ToolResult;

/// How much of a value a message shows.
const QUOTED: usize = 60;

/// A value with references in its texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Template {
    /// Without references.
    Plain(Value),
    /// A text of pieces.
    Text(Vec<Piece>),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Reference(Reference),
}

/// `{{name.path.to.it}}`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reference {
    pub(super) name: String,
    path: Vec<String>,
}

impl Template {
    /// Reads a value. `each` sees every reference.
    pub(super) fn parse(
        value: &Value,
        each: &mut dyn FnMut(&Reference) -> Result<(), String>,
    ) -> Result<Template, String> {
        match value {
            Value::String(text) => {
                let pieces = pieces(text)?;
                for piece in &pieces {
                    if let Piece::Reference(reference) = piece {
                        each(reference)?;
                    }
                }
                match pieces.as_slice() {
                    [] => Ok(Template::Plain(value.clone())),
                    [Piece::Text(text)] => Ok(Template::Plain(text.clone().into())),
                    _ => Ok(Template::Text(pieces)),
                }
            }
            Value::Array(list) => Ok(Template::List(
                list.iter().map(|value| Template::parse(value, each)).collect::<Result<_, _>>()?,
            )),
            Value::Object(object) => {
                let pairs =
                    object.iter().map(|(key, value)| Ok((key.clone(), Template::parse(value, each)?)));
                Ok(Template::Object(pairs.collect::<Result<_, String>>()?))
            }
            other => Ok(Template::Plain(other.clone())),
        }
    }

    /// The value. What is nothing but a reference keeps its type.
    pub(super) fn fill(&self, bindings: &Bindings) -> Result<Value, String> {
        match self {
            Template::Plain(value) => Ok(value.clone()),
            Template::Text(pieces) => match pieces.as_slice() {
                [Piece::Reference(reference)] => reference.value(bindings),
                _ => Ok(self.text(bindings)?.into()),
            },
            Template::List(list) => list.iter().map(|template| template.fill(bindings)).collect(),
            Template::Object(pairs) => {
                let filled = pairs.iter().map(|(key, template)| Ok((key.clone(), template.fill(bindings)?)));
                Ok(Value::Object(filled.collect::<Result<Map<_, _>, String>>()?))
            }
        }
    }

    /// The text of it.
    pub(super) fn text(&self, bindings: &Bindings) -> Result<String, String> {
        let Template::Text(pieces) = self else {
            return Ok(shown(&self.fill(bindings)?));
        };
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Reference(reference) => text.push_str(&shown(&reference.value(bindings)?)),
            }
        }
        Ok(text)
    }

    /// The text of an answer. What is an object or a list of JSON in it is one with everything filled in too.
    pub(super) fn said(&self, bindings: &Bindings) -> Result<String, String> {
        let Template::Text(pieces) = self else { return self.text(bindings) };
        let mut text = String::new();
        let mut places = json_text::places(pieces).into_iter();
        for piece in pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Reference(reference) => {
                    let value = reference.value(bindings)?;
                    text.push_str(&match places.next().flatten() {
                        Some(place) => json_text::filled(&value, place),
                        None => shown(&value),
                    });
                }
            }
        }
        Ok(text)
    }

    /// What `each` goes over: the items of a list, or the lines of a text.
    pub(super) fn items(&self, bindings: &Bindings) -> Result<Vec<Value>, String> {
        match self.fill(bindings)? {
            Value::Array(list) => Ok(list),
            Value::String(text) => Ok(lines(&text)),
            Value::Null => Ok(Vec::new()),
            other => Err(format!("`each` goes over a list or lines, and not over {}", quoted(&other))),
        }
    }
}

fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        if let Some(before) = rest[..at].strip_suffix('\\') {
            plain.push_str(before);
            plain.push_str("{{");
            rest = &rest[at + 2..];
            continue;
        }
        let end = rest[at..].find("}}").ok_or_else(|| {
            format!("`{}` has no `}}}}`; a plain `{{{{` is written `\\{{{{`", cut(&rest[at..]))
        })?;
        plain.push_str(&rest[..at]);
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(Piece::Reference(reference(&rest[at + 2..at + end])?));
        rest = &rest[at + end + 2..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

fn reference(text: &str) -> Result<Reference, String> {
    let mut words = text.trim().split('.').map(str::to_owned);
    let name = words.next().unwrap_or_default();
    let path: Vec<String> = words.collect();
    match is_name(&name) && path.iter().all(|word| !word.is_empty()) {
        true => Ok(Reference { name, path }),
        false => Err(format!("`{{{{{}}}}}` is no reference; write it as `{{{{name.output}}}}`", cut(text))),
    }
}

/// Whether results can be saved under this name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || "_-".contains(character))
}

/// What references stand for.
#[derive(Debug, Clone)]
pub(super) struct Bindings {
    task: String,
    item: Option<Value>,
    /// The arguments of a tool.
    given: Map<String, Value>,
    saved: BTreeMap<String, Saved>,
}

/// What is kept of a result.
#[derive(Debug, Clone)]
pub(super) enum Saved {
    One {
        output: String,
        data: Value,
        error: Option<String>,
    },
    /// Of an `each`.
    List(Vec<Saved>),
}

impl Saved {
    pub(super) fn of(result: &ToolResult) -> Saved {
        // Where the data was not kept, the text may be it.
        let data = match &result.data {
            Value::Null => serde_json::from_str(&result.text).unwrap_or(Value::Null),
            data => data.clone(),
        };
        match result.is_error {
            true => Saved::One { output: String::new(), data: Value::Null, error: Some(result.text.clone()) },
            false => Saved::One { output: result.text.clone(), data, error: None },
        }
    }

    fn output(&self) -> String {
        match self {
            Saved::One { output, .. } => output.clone(),
            Saved::List(list) => {
                let outputs: Vec<String> =
                    list.iter().map(|saved| saved.output().trim_end().to_owned()).collect();
                outputs.join("\n")
            }
        }
    }

    /// What is found by the words of a path.
    fn get(&self, path: &[String]) -> Result<Value, String> {
        let Some((word, rest)) = path.split_first() else { return Ok(self.output().into()) };
        match (word.as_str(), self) {
            ("output", _) if rest.is_empty() => Ok(self.output().into()),
            ("lines", _) => walk(&Value::Array(lines(&self.output())), rest),
            ("count", Saved::List(list)) if rest.is_empty() => Ok(list.len().into()),
            ("count", Saved::One { data: Value::Array(list), .. }) if rest.is_empty() => {
                Ok(list.len().into())
            }
            ("count", _) if rest.is_empty() => Ok(lines(&self.output()).len().into()),
            ("data", Saved::One { data, .. }) => walk(data, rest),
            ("data", Saved::List(list)) if rest.is_empty() => list
                .iter()
                .map(|saved| saved.get(path))
                .collect::<Result<Vec<Value>, String>>()
                .map(Value::Array),
            ("error", Saved::One { error, .. }) if rest.is_empty() => {
                Ok(error.as_deref().unwrap_or_default().into())
            }
            (place, Saved::List(list)) => match place.parse::<usize>().ok().and_then(|place| list.get(place))
            {
                Some(saved) => saved.get(rest),
                None => Err(format!("there are {} results, and none of them is `{place}`", list.len())),
            },
            (word, _) => {
                Err(format!("a result has `output`, `data`, `lines`, `count` and `error`, but no `{word}`"))
            }
        }
    }
}

impl Bindings {
    pub(super) fn new(task: String, given: Map<String, Value>) -> Bindings {
        Bindings { task, item: None, given, saved: BTreeMap::new() }
    }

    pub(super) fn save(&mut self, name: &str, saved: Saved) {
        self.saved.insert(name.to_owned(), saved);
    }

    pub(super) fn with_item(&self, item: Value) -> Bindings {
        Bindings { item: Some(item), ..self.clone() }
    }
}

impl Reference {
    fn value(&self, bindings: &Bindings) -> Result<Value, String> {
        let found = match (self.name.as_str(), &bindings.item) {
            ("task", _) if self.path.is_empty() => Ok(bindings.task.clone().into()),
            ("item", Some(item)) => walk(item, &self.path),
            (name, _) => match (bindings.saved.get(name), bindings.given.get(name)) {
                (Some(saved), _) => saved.get(&self.path),
                (None, Some(value)) => walk(value, &self.path),
                (None, None) => Err("nothing was saved under this name".to_owned()),
            },
        };
        found.map_err(|why| format!("`{{{{{}}}}}`: {why}", self.shown()))
    }

    /// Why it cannot lead anywhere, whatever the results are; none where it may.
    pub(super) fn is_wrong(&self, is_saved: bool) -> Option<String> {
        let first = self.path.first()?;
        let known = ["output", "data", "lines", "count", "error"];
        match (self.name.as_str(), is_saved) {
            ("task", _) => Some("`task` is a text and has no parts".to_owned()),
            (_, true) if !known.contains(&first.as_str()) && first.parse::<usize>().is_err() => {
                let near = toolpost_core::text::nearest(first, known.into_iter(), 1);
                let hint = near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                Some(format!("a result has `{}`, but no `{first}`{hint}", known.join("`, `")))
            }
            _ => None,
        }
    }

    pub(super) fn shown(&self) -> String {
        let mut words = vec![self.name.as_str()];
        words.extend(self.path.iter().map(String::as_str));
        words.join(".")
    }
}

fn walk(value: &Value, path: &[String]) -> Result<Value, String> {
    let mut found = value;
    for word in path {
        let next = match found {
            Value::Object(object) => object.get(word),
            Value::Array(list) if word == "count" => return Ok(list.len().into()),
            Value::Array(list) => word.parse::<usize>().ok().and_then(|place| list.get(place)),
            _ => None,
        };
        found = next.ok_or_else(|| format!("no `{word}` in {}", quoted(found)))?;
    }
    Ok(found.clone())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(Value::from).collect()
}

pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn quoted(value: &Value) -> String {
    format!("`{}`", cut(&value.to_string()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
