//! A script from the value in an agent file: every mistake has a place and says what to do.

use super::template::{Template, is_name};
use serde_json::Value;
use std::fmt;

/// Maximum number of steps.
const MAX_STEPS: usize = 500;

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Say(Template),
    /// Calls that are made at the same time.
    Calls {
        calls: Vec<Call>,
        /// Whether the step is one call, and not a list of them.
        is_alone: bool,
    },
}

/// A call, or one for each item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Vec<(String, Template)>,
    pub(super) save: Option<String>,
    pub(super) each: Option<Template>,
    pub(super) optional: bool,
}

/// What is wrong with a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// Where: `script[2].args.path`.
    pub field: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for ScriptError {}

fn wrong(field: impl Into<String>, message: impl Into<String>) -> ScriptError {
    ScriptError { field: field.into(), message: message.into() }
}

/// The steps of a script that may refer to these names from its beginning on; else the first thing that is wrong with it.
pub(super) fn steps(script: &Value, given: &[String]) -> Result<Vec<Step>, ScriptError> {
    let (steps, errors) = read(script, given);
    errors.into_iter().next().map_or(Ok(steps), Err)
}

/// The steps that can be read, and what is wrong with the others: of each step one thing.
pub(super) fn read(script: &Value, given: &[String]) -> (Vec<Step>, Vec<ScriptError>) {
    let list = match script.as_array().filter(|list| !list.is_empty()) {
        Some(list) if list.len() <= MAX_STEPS => list,
        Some(list) => {
            let message = format!("{} steps; a script has at most {MAX_STEPS}", list.len());
            return (Vec::new(), vec![wrong("script", message)]);
        }
        None => {
            let message = "a script is a list of steps: `- call: …` and `- say: …`";
            return (Vec::new(), vec![wrong("script", message)]);
        }
    };
    let mut names: Vec<String> = given.to_vec();
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    for (number, value) in list.iter().enumerate() {
        let field = format!("script[{number}]");
        // Whatever else is wrong with a step, later ones may refer to the names that it saves.
        let saved = saved_by(value);
        let twice = saved
            .iter()
            .enumerate()
            .find(|(place, name)| names.contains(name) || saved[..*place].contains(name));
        match (step(value, &field, Names { names: &names, given }), twice) {
            (Ok(_), Some((_, name))) => {
                errors.push(wrong(&field, format!("`{name}` is saved twice; use another name")));
            }
            (Ok(step), None) => steps.push(step),
            (Err(error), _) => errors.push(error),
        }
        names.extend(saved);
    }
    (steps, errors)
}

/// The names under which a step saves its results.
fn saved_by(value: &Value) -> Vec<String> {
    let together = value.get("parallel").and_then(Value::as_array);
    let calls = together.map_or(std::slice::from_ref(value), Vec::as_slice);
    calls.iter().filter_map(|call| call.get("save")?.as_str()).map(str::to_owned).collect()
}

/// The names that a step may refer to.
#[derive(Clone, Copy)]
struct Names<'a> {
    /// All of them.
    names: &'a [String],
    /// Those that are there from the beginning on.
    given: &'a [String],
}

fn step(value: &Value, field: &str, names: Names<'_>) -> Result<Step, ScriptError> {
    match (value.get("call"), value.get("parallel"), value.get("say")) {
        (Some(_), None, None) => Ok(Step::Calls { calls: vec![call(value, field, names)?], is_alone: true }),
        (None, Some(calls), None) => {
            only(value, &["parallel"], field)?;
            let calls = calls.as_array().filter(|calls| !calls.is_empty());
            let calls = calls.ok_or_else(|| wrong(format!("{field}.parallel"), "write a list of calls"))?;
            let calls = calls.iter().enumerate();
            let calls = calls.map(|(place, value)| call(value, &format!("{field}.parallel[{place}]"), names));
            Ok(Step::Calls { calls: calls.collect::<Result<_, _>>()?, is_alone: false })
        }
        (None, None, Some(text)) => {
            only(value, &["say"], field)?;
            if !text.is_string() {
                return Err(wrong(format!("{field}.say"), "write a text"));
            }
            Ok(Step::Say(template(text, &format!("{field}.say"), names, false)?))
        }
        _ => Err(wrong(field, "a step has exactly one of `call`, `parallel` and `say`")),
    }
}

fn call(value: &Value, field: &str, names: Names<'_>) -> Result<Call, ScriptError> {
    only(value, &["call", "args", "save", "each", "optional"], field)?;
    let tool = value["call"].as_str().filter(|name| !name.trim().is_empty());
    let tool = tool.ok_or_else(|| wrong(format!("{field}.call"), "write the name of a tool"))?;
    let each =
        value.get("each").map(|each| template(each, &format!("{field}.each"), names, false)).transpose()?;
    let arguments = match value.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(object)) => {
            let pairs = object.iter().map(|(key, value)| {
                Ok((key.clone(), template(value, &format!("{field}.args.{key}"), names, each.is_some())?))
            });
            pairs.collect::<Result<_, _>>()?
        }
        Some(_) => return Err(wrong(format!("{field}.args"), "write the arguments as `name: value`")),
    };
    let save = match value.get("save") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) if is_name(name) && name != "task" && name != "item" => Some(name.clone()),
        Some(_) => {
            return Err(wrong(
                format!("{field}.save"),
                "write a name of letters, digits, `_` and `-`, which is not `task` or `item`",
            ));
        }
    };
    let optional = match value.get("optional") {
        None => false,
        Some(Value::Bool(optional)) => *optional,
        Some(_) => return Err(wrong(format!("{field}.optional"), "write `true` or `false`")),
    };
    Ok(Call { tool: tool.trim().to_owned(), arguments, save, each, optional })
}

fn template(
    value: &Value,
    field: &str,
    Names { names, given }: Names<'_>,
    has_item: bool,
) -> Result<Template, ScriptError> {
    let mut known = |reference: &super::template::Reference| {
        let is_known = match reference.name.as_str() {
            "task" => true,
            "item" => has_item,
            name => names.iter().any(|known| known == name),
        };
        if is_known {
            // The arguments of a tool and the items of a list may have parts of any name.
            let is_saved = reference.name != "item" && !given.contains(&reference.name);
            let shown = reference.shown();
            return match reference.is_wrong(is_saved) {
                Some(why) => Err(format!("`{{{{{shown}}}}}`: {why}")),
                None => Ok(()),
            };
        }
        let mut there: Vec<&str> = vec!["task"];
        there.extend(has_item.then_some("item"));
        there.extend(names.iter().map(String::as_str));
        let shown = reference.shown();
        Err(format!(
            "`{{{{{shown}}}}}`: no step before this one saves `{}`; there are {}",
            reference.name,
            there.join(", ")
        ))
    };
    Template::parse(value, &mut known).map_err(|message| wrong(field, message))
}

/// Refuses keys that mean nothing.
fn only(value: &Value, keys: &[&str], field: &str) -> Result<(), ScriptError> {
    let Value::Object(object) = value else {
        return Err(wrong(field, "a step is written as `call: …`, `parallel: …` or `say: …`"));
    };
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => {
            let near = toolpost_core::text::nearest(key, keys.iter().copied(), 1);
            let hint = match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", keys.join(", ")),
            };
            Err(wrong(format!("{field}.{key}"), format!("a step has no key `{key}`; {hint}")))
        }
        None => Ok(()),
    }
}
