//! A model that needs no provider: the steps stand in the agent file. Free, offline, and the same every time.
//!
//! ```yaml
//! script:
//!   - call: glob                            # a call; its result is saved under a name
//!     args: { pattern: "**/*.rs" }
//!     save: files
//!   - each: "{{files.data.files}}"          # the same call for each item of a data array, or for each line of a text
//!     call: read
//!     args: { filePath: "{{item}}", limit: 5 }
//!     save: heads
//!   - parallel:                             # calls that run at the same time
//!       - { call: list, args: { path: "." }, save: root }
//!       - { call: grep, args: { pattern: TODO }, save: todos, optional: true }
//!   - say: "{{files.data.files.count}} files.\n{{heads.output}}"
//! ```
//!
//! A reference is `{{NAME.output}}` (the text), `{{NAME.data.PATH}}` (data, by keys and places), `{{NAME.lines}}` (the lines
//! of the text that are not empty), `{{NAME.count}}`, `{{NAME.error}}`, `{{task}}`, and in `each` `{{item}}`. What is nothing but a
//! reference keeps its type. In JSON, which may stand between other words of a `say`, what stands for a reference is JSON too: in a
//! string it is escaped.
//! `\{{` is a plain `{{`. A call that fails ends the run, unless it is `optional`; so does a command
//! that ends with another code than 0. There is no condition, no loop and no arithmetic: what needs them is a tool, or a task for a model.
//!
//! The model keeps no state: it finds its place from the results in the conversation. So a run that was interrupted goes on.
//! In a conversation the steps are made anew for each message, which is `{{task}}` then: of what was said before, it gets nothing.
//! Of a call that was running then, the log says whether its change was made: if so, it counts as done; if not, it is made
//! again; and where nobody knows, it has failed.

mod json_text;
mod parse;
mod template;

pub use parse::ScriptError;

use futures_util::stream::{self, BoxStream, StreamExt};
use parse::{Call, Step};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use template::{Bindings, Saved};
use tokio_util::sync::CancellationToken;
use toolpost_core::Code;
use toolpost_core::model::{
    Arguments, Delta, Finish, Message, Model, ModelError, ModelErrorKind, Part, Profile, Request, Response,
    Role, ToolCall, ToolResult, Usage,
};

/// Maximum number of items of one `each`.
const MAX_ITEMS: usize = 1_000;
/// Maximum number of calls in one turn, as many as a kernel runs; more are made in further turns.
const MAX_CALLS: usize = 64;

/// The steps of an agent, as a model.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Arc<[Step]>,
    /// What its references stand for from the beginning on.
    given: Map<String, Value>,
    profile: Profile,
}

/// A call that stands in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCall<'a> {
    /// Where: `script[2].call`.
    pub field: String,
    /// The tool, as the script names it.
    pub tool: &'a str,
    /// Whether the run goes on where it fails.
    pub is_optional: bool,
}

impl Script {
    /// The script of an agent, as its file has it.
    pub fn new(script: &Value, agent: &str) -> Result<Script, ScriptError> {
        let profile = Profile {
            vendor: "script".to_owned(),
            model: agent.to_owned(),
            provider: "script".to_owned(),
            price: Some(toolpost_core::model::Price::default()),
            reads_data: true,
            ..Profile::default()
        };
        Ok(Script { steps: Arc::from(parse::steps(script, &[])?), given: Map::new(), profile })
    }

    /// Everything that is wrong with a script.
    pub fn problems(script: &Value) -> Vec<ScriptError> {
        parse::read(script, &[]).1
    }

    /// The script of a tool that an agent defines: steps like those of an agent, or the text that is the answer. Its arguments
    /// are there by their names; those that may be absent are empty then.
    pub fn of_tool(
        script: &Value,
        name: &str,
        parameters: &[String],
        arguments: &Value,
    ) -> Result<Script, ScriptError> {
        let steps = match script {
            Value::String(text) => serde_json::json!([{ "say": text }]),
            steps => steps.clone(),
        };
        let value = |name: &String| (name.clone(), arguments.get(name).cloned().unwrap_or_default());
        let given = parameters.iter().map(value).collect();
        let steps = Arc::from(parse::steps(&steps, parameters)?);
        Ok(Script { steps, given, ..Script::new(&serde_json::json!([{ "say": "" }]), name)? })
    }

    /// The calls that stand in the script, in its order.
    pub fn calls(&self) -> impl Iterator<Item = ScriptCall<'_>> {
        self.steps.iter().enumerate().flat_map(|(number, step)| {
            let (calls, is_alone) = match step {
                Step::Say(_) => (&[][..], true),
                Step::Calls { calls, is_alone } => (calls.as_slice(), *is_alone),
            };
            calls.iter().enumerate().map(move |(place, call)| {
                let field = match is_alone {
                    true => format!("script[{number}].call"),
                    false => format!("script[{number}].parallel[{place}].call"),
                };
                ScriptCall { field, tool: &call.tool, is_optional: call.optional }
            })
        })
    }

    /// What comes next in this conversation.
    fn respond(&self, request: &Request) -> Result<Response, ModelError> {
        let results = results(&request.messages);
        let mut bindings = Bindings::new(task(&request.messages), self.given.clone());
        let mut said = String::new();
        let mut last = String::new();
        for (number, step) in self.steps.iter().enumerate() {
            let failed = |Failure { message, code }: Failure| {
                let message = format!("step {} of the script: {message}", number + 1);
                ModelError { of_call: code, ..ModelError::new(ModelErrorKind::Invalid, message) }
            };
            match step {
                Step::Say(template) => {
                    let text = template.said(&bindings).map_err(Failure::from).map_err(failed)?;
                    if !said.is_empty() {
                        said.push('\n');
                    }
                    said.push_str(&text);
                }
                Step::Calls { calls, .. } => {
                    let planned =
                        plan(number, calls, &bindings, &results).map_err(Failure::from).map_err(failed)?;
                    let missing: Vec<&Planned<'_>> =
                        planned.iter().filter(|call| !results.contains_key(call.id.as_str())).collect();
                    if !missing.is_empty() {
                        // What was said before is said with the first calls after it, and not again.
                        let is_begun = missing.len() < planned.len();
                        let text = if is_begun { String::new() } else { said };
                        return Ok(calling(text, missing.into_iter().take(MAX_CALLS)));
                    }
                    // What goes before an `each` over nothing is not said yet.
                    if !planned.is_empty() {
                        said.clear();
                    }
                    save(calls, &planned, &results, &mut bindings, &mut last).map_err(failed)?;
                }
            }
        }
        let text = if said.is_empty() { last } else { said };
        Ok(response(vec![Part::text(text)], Finish::Stop))
    }
}

impl Model for Script {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let next = match cancel.is_cancelled() {
            true => Err(ModelError::new(ModelErrorKind::Cancelled, "the request was cancelled")),
            false => self.respond(&request),
        };
        let deltas: Vec<Result<Delta, ModelError>> = match next {
            Err(error) => vec![Err(error)],
            Ok(response) => {
                let shown = response.parts.iter().filter_map(|part| match part {
                    Part::Text { text, .. } if !text.is_empty() => Some(Ok(Delta::Text(text.clone()))),
                    Part::ToolCall(call) => {
                        Some(Ok(Delta::ToolCall { id: call.id.clone(), name: call.name.clone() }))
                    }
                    _ => None,
                });
                let mut deltas: Vec<Result<Delta, ModelError>> = shown.collect();
                deltas.push(Ok(Delta::Done(Box::new(response))));
                deltas
            }
        };
        stream::iter(deltas).boxed()
    }
}

/// Why a step failed.
struct Failure {
    message: String,
    /// The code of its call, where one failed.
    code: Option<Code>,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { message, code: None }
    }
}

/// A call with everything filled in.
struct Planned<'a> {
    id: String,
    call: &'a Call,
    arguments: Value,
    is_each: bool,
}

/// The calls of a step. Ids tell the step, the call in it, and the item.
///
/// A call that was interrupted before it changed anything is made again, under another id.
fn plan<'a>(
    number: usize,
    calls: &'a [Call],
    bindings: &Bindings,
    results: &HashMap<&str, &ToolResult>,
) -> Result<Vec<Planned<'a>>, String> {
    let mut planned = Vec::new();
    let open = |id: String| {
        let mut open = id.clone();
        let mut attempt = 2;
        while results.get(open.as_str()).is_some_and(|result| landed(result) == Some(false)) {
            open = format!("{id}_attempt{attempt}");
            attempt += 1;
        }
        open
    };
    for (place, call) in calls.iter().enumerate() {
        let id = format!("step{}_{}", number + 1, place + 1);
        let Some(each) = &call.each else {
            let arguments = call.arguments(bindings)?;
            planned.push(Planned { id: open(id), call, arguments, is_each: false });
            continue;
        };
        let items = each.items(bindings)?;
        if items.len() > MAX_ITEMS {
            return Err(format!(
                "`each` has {} items, and may have {MAX_ITEMS}; narrow what it goes over",
                items.len()
            ));
        }
        for (index, item) in items.into_iter().enumerate() {
            let arguments = call.arguments(&bindings.with_item(item))?;
            let id = open(format!("{id}_{}", index + 1));
            planned.push(Planned { id, call, arguments, is_each: true });
        }
    }
    Ok(planned)
}

/// Of a call that was interrupted, whether its change was made; none where nobody knows, and for other calls.
fn landed(result: &ToolResult) -> Option<bool> {
    (result.code == Some(Code::Interrupted)).then(|| result.data.get("landed")?.as_bool()).flatten()
}

fn save(
    calls: &[Call],
    planned: &[Planned<'_>],
    results: &HashMap<&str, &ToolResult>,
    bindings: &mut Bindings,
    last: &mut String,
) -> Result<(), Failure> {
    let mut lists: HashMap<&str, Vec<Saved>> = HashMap::new();
    for Planned { id, call, is_each, .. } in planned {
        let Some(result) = results.get(id.as_str()) else { continue };
        if let Some(failure) = failure(call, result).filter(|_| !call.optional) {
            return Err(failure);
        }
        let is_landed = landed(result) == Some(true);
        last.clone_from(&result.text);
        let saved = match is_landed {
            true => Saved::of(&ToolResult { is_error: false, ..(*result).clone() }),
            false => Saved::of(result),
        };
        match (&call.save, is_each) {
            (None, _) => {}
            (Some(name), false) => bindings.save(name, saved),
            (Some(name), true) => lists.entry(name).or_default().push(saved),
        }
    }
    // An `each` over nothing saves an empty list.
    for name in calls.iter().filter(|call| call.each.is_some()).filter_map(|call| call.save.as_deref()) {
        lists.entry(name).or_default();
    }
    lists.into_iter().for_each(|(name, list)| bindings.save(name, Saved::List(list)));
    Ok(())
}

/// Why a call failed, if it did. A command has failed if it ended with another code than 0, or by a signal.
fn failure(call: &Call, result: &ToolResult) -> Option<Failure> {
    if result.is_error {
        let message = format!("`{}` failed: {}", call.tool, result.text);
        return (landed(result) != Some(true)).then_some(Failure { message, code: result.code });
    }
    let ended = match (&result.data["exitCode"], &result.data["signal"]) {
        (Value::Number(code), _) if code.as_i64() != Some(0) => format!("exit code {code}"),
        (_, Value::Number(signal)) => format!("signal {signal}"),
        (_, Value::String(signal)) => format!("signal {signal}"),
        _ => return None,
    };
    let advice = "write `optional: true` at the step if the script is to go on";
    let message = format!("the command of `{}` failed ({ended}; {advice}): {}", call.tool, result.text);
    Some(Failure { message, code: Some(Code::ExecutionError) })
}

fn calling<'a>(said: String, calls: impl Iterator<Item = &'a Planned<'a>>) -> Response {
    let mut parts = Vec::new();
    if !said.is_empty() {
        parts.push(Part::text(said));
    }
    parts.extend(calls.map(|planned| {
        let (id, name) = (planned.id.clone(), planned.call.tool.clone());
        let arguments = Arguments::Json(planned.arguments.clone());
        Part::ToolCall(ToolCall { id, name, arguments, opaque: None })
    }));
    response(parts, Finish::ToolCalls)
}

fn response(parts: Vec<Part>, finish: Finish) -> Response {
    let usage = Usage::default();
    let (queries, sources) = (Vec::new(), Vec::new());
    Response {
        parts,
        finish,
        finish_raw: None,
        note: None,
        usage,
        queries,
        sources,
        model: None,
        surplus_calls: 0,
    }
}

/// The results so far, by the ids of their calls.
fn results(messages: &[Message]) -> HashMap<&str, &ToolResult> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let results = parts.filter_map(|part| match part {
        Part::ToolResult(result) => Some((result.id.as_str(), result)),
        _ => None,
    });
    results.collect()
}

/// What the user asked for.
fn task(messages: &[Message]) -> String {
    let first = messages.iter().find(|message| message.role == Role::User);
    let texts = first.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

impl Call {
    fn arguments(&self, bindings: &Bindings) -> Result<Value, String> {
        let mut arguments = Map::new();
        for (key, value) in &self.arguments {
            arguments.insert(key.clone(), value.fill(bindings)?);
        }
        Ok(arguments.into())
    }
}
