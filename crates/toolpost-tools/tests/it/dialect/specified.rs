//! The tools that the specification names, as data: from `tools.txt` to definitions and sample arguments.

use serde_json::{Map, Value, json};
use toolpost_core::Spec;
use toolpost_core::tool::Definition;

/// One tool of the specification.
pub(super) struct Specified {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Argument>,
}

pub(super) struct Argument {
    pub(super) name: &'static str,
    is_required: bool,
    is_hidden: bool,
    kind: Kind,
}

enum Kind {
    Text,
    Integer,
    Truth,
    Texts,
    Object,
    Choice(Vec<&'static str>),
    Items(Vec<Argument>),
}

pub(super) fn all() -> Vec<Specified> {
    include_str!("tools.txt").lines().filter(|line| !line.starts_with('#')).map(tool).collect()
}

fn tool(line: &'static str) -> Specified {
    let mut words = line.split_whitespace();
    Specified { name: words.next().unwrap(), arguments: words.map(argument).collect() }
}

fn argument(text: &'static str) -> Argument {
    let (name, kind) = match text.split_once(':') {
        Some((name, kind)) => (name, self::kind(kind)),
        None => (text, Kind::Text),
    };
    let (is_required, is_hidden) = (name.ends_with('!'), name.ends_with('?'));
    Argument { name: name.trim_end_matches(['!', '?']), is_required, is_hidden, kind }
}

fn kind(text: &'static str) -> Kind {
    match text {
        "i" => Kind::Integer,
        "b" => Kind::Truth,
        "t" => Kind::Texts,
        "o" => Kind::Object,
        list if list.starts_with('[') => {
            Kind::Items(list.trim_matches(['[', ']']).split(',').map(argument).collect())
        }
        choice => Kind::Choice(choice.split('|').collect()),
    }
}

impl Specified {
    pub(super) fn definition(&self) -> Definition {
        let spec = Spec::new(self.name, "1.0.0", "Does what the specification says.");
        Definition { spec, input: schema(&self.arguments), output: None }
    }

    /// Whether `filePath` or `edits[].oldString` is one of its arguments.
    pub(super) fn has(&self, path: &str) -> bool {
        let (list, name) = path.split_once("[].").map_or((None, path), |(list, name)| (Some(list), name));
        let arguments = match list {
            None => &self.arguments,
            Some(list) => match self.arguments.iter().find(|argument| argument.name == list) {
                Some(Argument { kind: Kind::Items(items), .. }) => items,
                _ => return false,
            },
        };
        arguments.iter().any(|argument| argument.name == name)
    }

    /// Whether an argument is offered only by dialects that have a name for it.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name && argument.is_hidden)
    }

    /// Sample arguments in which `round` picks the choices, without those that `is_left_out` names.
    pub(super) fn sample(&self, round: usize, is_left_out: &dyn Fn(&str) -> bool) -> Value {
        sample(&self.arguments, "", round, is_left_out)
    }
}

fn schema(arguments: &[Argument]) -> Value {
    let properties: Map<String, Value> =
        arguments.iter().map(|argument| (argument.name.to_owned(), property(argument))).collect();
    let required: Vec<&str> =
        arguments.iter().filter(|argument| argument.is_required).map(|argument| argument.name).collect();
    json!({"type": "object", "additionalProperties": false, "properties": properties, "required": required})
}

fn property(argument: &Argument) -> Value {
    let mut property = match &argument.kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Integer => json!({"type": "integer", "minimum": 0, "default": 1}),
        Kind::Truth => json!({"type": "boolean", "default": false}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Object => json!({"type": "object"}),
        Kind::Choice(values) => json!({"type": "string", "enum": values}),
        Kind::Items(fields) => json!({"type": "array", "items": schema(fields)}),
    };
    property["description"] = "Counting from 1, see `filePath`.".into();
    if argument.is_hidden {
        property["x-toolpost-hidden"] = true.into();
    }
    property
}

fn sample(arguments: &[Argument], list: &str, round: usize, is_left_out: &dyn Fn(&str) -> bool) -> Value {
    let path = |name: &str| format!("{list}{name}");
    let given = arguments.iter().filter(|argument| !is_left_out(&path(argument.name)));
    let pairs = given.map(|argument| {
        let name = argument.name;
        let value = match &argument.kind {
            Kind::Text => json!(format!("some {name}")),
            Kind::Integer => json!(round + 3),
            Kind::Truth => json!(round.is_multiple_of(2)),
            Kind::Texts => json!(["a", "b"]),
            Kind::Object => json!({"filePath": "inside"}),
            Kind::Choice(values) => json!(values[round % values.len()]),
            Kind::Items(fields) => {
                let item = |round| sample(fields, &format!("{name}[]."), round, is_left_out);
                json!([item(round), item(round + 1)])
            }
        };
        (name.to_owned(), value)
    });
    pairs.collect()
}
