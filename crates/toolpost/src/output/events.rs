//! The lines of `--output stream-json`: what each has, in a type that is also its schema and its page of the reference.
//!
//! A line has one event. Later versions may add types and fields; what is here keeps its name and its meaning.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};
use toolpost_core::activation::Reason;
use toolpost_core::model::{Finish, ModelError, Usage};
use toolpost_core::{Code, ToolError};

/// The version of the events: raised when something that is here changes its meaning or goes away.
pub(crate) const VERSION: u32 = 1;

/// One line: an event, and whose it is.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    pub(crate) event: RunEvent,
    /// The agent; none where no run had begun.
    pub(crate) agent: Option<String>,
    /// The run of the agent, as the log names it; none where no run had begun.
    pub(crate) activation: Option<String>,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum RunEvent {
    /// The first agent is ready. The first line of every run.
    Init {
        /// The version of these events.
        version: u32,
        /// The model, as `vendor/name`.
        model: String,
        /// The session, by which the run is found again.
        session: String,
        /// What the user should know before it begins.
        notes: Vec<String>,
    },
    /// Of a conversation that goes on: something that was said in it before.
    Past {
        /// Who said it: `user` or `agent`.
        from: String,
        /// What.
        text: String,
    },
    /// An agent below another one has begun.
    Agent {
        /// The run of the agent that has started it.
        parent: Option<String>,
        /// The call that has started it.
        call_id: Option<String>,
        /// What it has to do.
        task: String,
    },
    /// More of the text of an answer. A `retry` makes all text since the last `message` of the same activation void.
    Text {
        /// The piece.
        text: String,
    },
    /// More of what the model thinks, where its provider shows it.
    Thinking {
        /// The piece.
        text: String,
    },
    /// A request to the model failed and is made again.
    Retry {
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long until the next one, in milliseconds.
        delay_ms: u64,
        /// Why.
        error: ModelFault,
    },
    /// The model gave no answer. `result` or `agent_end` follows, or the conversation is shortened and the model asked again.
    ModelFailed {
        /// Why.
        error: ModelFault,
    },
    /// A call of a tool: one of the answer that follows as `message`, or one that a running tool makes.
    ToolUse {
        /// The call; its `tool_result` has the same.
        call_id: String,
        /// The tool, as the model wrote it.
        name: String,
        /// The arguments, as the model wrote them; an object with `__unparsable__` where they are not JSON.
        arguments: Value,
        /// The call of the tool that makes this one; none where the model does.
        parent_call_id: Option<String>,
    },
    /// The answer of the model is complete.
    Message {
        /// Its whole text.
        text: String,
        /// Why it ended.
        finish: String,
        /// Tokens of the request and the answer.
        usage: Tokens,
    },
    /// A running call says how far it is.
    Progress {
        /// The call.
        call_id: String,
        /// A few words.
        title: String,
        /// More, by the tool: `bash` has the last line of its `output` there.
        metadata: Value,
    },
    /// An attempt of a call failed, and another one follows.
    ToolRetry {
        /// The call.
        call_id: String,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long until the next one, in milliseconds.
        delay_ms: u64,
        /// Why.
        error: Fault,
    },
    /// A person is asked whether a call may run.
    Question {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The question.
        text: String,
    },
    /// A call has ended.
    ToolResult {
        /// The call.
        call_id: String,
        /// The tool's own name.
        tool: String,
        /// Whether it worked.
        success: bool,
        /// A few words for a person; none where it failed.
        title: Option<String>,
        /// What the model is told; none where it failed.
        output: Option<String>,
        /// Why it failed; none where it worked.
        error: Option<Fault>,
        /// How long it ran, in milliseconds.
        duration_ms: f64,
    },
    /// A call was answered without being run.
    ToolRefused {
        /// The call; none for calls that were too many to be kept.
        call_id: Option<String>,
        /// The tool, as the model wrote it.
        name: String,
        /// What the model is told.
        text: String,
    },
    /// The beginning of the conversation is being replaced by a summary.
    Compacting {},
    /// The agent waits for agents that it has started in the background.
    Waiting {},
    /// An agent below another one has ended.
    AgentEnd {
        /// Why.
        reason: String,
        /// More of why it failed, where there is more.
        error: Option<String>,
        /// Its last text.
        text: String,
        /// Tokens of all its requests and answers.
        usage: Tokens,
        /// What they cost, in US dollars, where that is known.
        cost_usd: Option<f64>,
        /// Tokens whose price is not known.
        unpriced_tokens: u64,
    },
    /// The last line of a run, and of each answer of a conversation.
    Result(Box<RunResult>),
    /// The last line where no run began, or a run broke off.
    #[serde(rename = "result")]
    Refused {
        /// It did not work.
        success: bool,
        /// Why.
        error: Fault,
    },
}

/// How a run ended; also what `--output json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunResult {
    /// Whether the agent is done.
    pub(crate) success: bool,
    /// Why it ended: `done`, or what ended it before.
    pub(crate) reason: String,
    /// The model, as `vendor/name`.
    pub(crate) model: String,
    /// The session, by which the run is found again.
    pub(crate) session: String,
    /// The agent's last text.
    pub(crate) text: String,
    /// Answers of its model.
    pub(crate) turns: u64,
    /// Calls of the agent and of all agents below it.
    pub(crate) calls: u64,
    /// The tools whose calls were denied.
    pub(crate) denials: Vec<String>,
    /// Tokens of the agent's requests and answers.
    pub(crate) usage: Tokens,
    /// What they cost, in US dollars, where that is known.
    pub(crate) cost_usd: Option<f64>,
    /// Whether the cost is estimated, because the provider did not count the tokens.
    pub(crate) cost_is_estimated: bool,
    /// Tokens of the agent whose price is not known.
    pub(crate) unpriced_tokens: u64,
    /// Tokens of the agent and of all agents below it.
    pub(crate) tree_tokens: u64,
    /// What these cost, in US dollars, as far as that is known.
    pub(crate) tree_cost_usd: Option<f64>,
    /// Tokens of all these whose price is not known.
    pub(crate) tree_unpriced_tokens: u64,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: u64,
    /// Why it is not done; absent where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Fault>,
}

/// A failure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Fault {
    /// What failed, as a word for programs: see the page of error codes.
    code: String,
    /// What failed, with which value, and what to try next.
    message: String,
    /// More for programs, by the code.
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
    /// Whether another attempt may work.
    retryable: bool,
}

impl From<&ToolError> for Fault {
    fn from(error: &ToolError) -> Fault {
        Fault {
            code: error.code().as_str().to_owned(),
            message: error.message().to_owned(),
            details: error.details().clone(),
            retryable: error.is_retryable(),
        }
    }
}

impl Fault {
    /// A failure of which no more is known.
    pub(crate) fn new(code: Code, message: &str) -> Fault {
        Fault::from(&ToolError::new(code, message))
    }
}

/// Why a model gave no answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelFault {
    /// What happened: `rateLimited`, `server`, `network`, `timedOut`, `authentication`, `invalid`, `notFound`, `tooLong`, `protocol` or `cancelled`.
    kind: String,
    /// What failed, and what to try next.
    message: String,
    /// The HTTP status, if there was one.
    status: Option<u16>,
    /// The provider's own name for it.
    code: Option<String>,
    /// When the provider wants to be asked again, in milliseconds.
    retry_after_ms: Option<u64>,
    /// Whether the same request may succeed later.
    retryable: bool,
}

impl From<&ModelError> for ModelFault {
    fn from(error: &ModelError) -> ModelFault {
        ModelFault {
            kind: word(&error.kind),
            message: error.message.clone(),
            status: error.status,
            code: error.code.clone(),
            retry_after_ms: error.retry_after_ms,
            retryable: error.retryable,
        }
    }
}

/// Tokens of a request and its answer.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    /// Of the request, cached ones included.
    input: u64,
    /// Of these, read from the provider's cache.
    cached: u64,
    /// Of these, written to the provider's cache.
    cache_write: u64,
    /// Of the answer, thinking included.
    output: u64,
    /// Of these, for thinking.
    reasoning: u64,
    /// Present and true where they are estimated, at least in part, because the provider did not count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Tokens {
        let Usage { input, cached, cache_write, output, reasoning, estimated } = *usage;
        Tokens { input, cached, cache_write, output, reasoning, estimated }
    }
}

/// The word for why an answer ended.
pub(crate) fn finish(finish: Finish) -> String {
    word(&finish)
}

/// The word for why a run ended.
pub(crate) fn reason(reason: Reason) -> String {
    reason.as_str().to_owned()
}

/// The word by which an enum is written in JSON.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The schema of a line.
pub(crate) fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generated(generator);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "A line of `toolpost run --output stream-json`".into();
    schema["description"] =
        "One JSON object a line. Later versions may add types and fields: read past what you do not know."
            .into();
    for variant in schema["anyOf"].as_array_mut().into_iter().flatten() {
        let shared = [
            ("agent", "The agent; null where no run had begun."),
            ("activation", "The run of the agent, as the log names it; null where no run had begun."),
        ];
        for (name, about) in shared {
            variant["properties"][name] = json!({"type": ["string", "null"], "description": about});
            if let Some(required) = variant["required"].as_array_mut() {
                required.push(name.into());
            }
        }
    }
    schema
}

/// The events as a schema, each variant with all of its own properties.
fn generated(mut generator: SchemaGenerator) -> Value {
    let events = RunEvent::json_schema(&mut generator).to_value();
    let mut schema = json!({"anyOf": events["oneOf"].clone()});
    let definitions = generator.take_definitions(true);
    // `type` stands beside a reference to the fields of the result: one object is easier to read.
    for variant in schema["anyOf"].as_array_mut().into_iter().flatten() {
        let name = variant["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        let Some(target) = name.and_then(|name| definitions.get(&name)) else { continue };
        if let Some(fields) = target["properties"].as_object() {
            for (field, property) in fields {
                variant["properties"][field] = property.clone();
            }
        }
        if let Some(required) = variant["required"].as_array_mut() {
            required.extend(target["required"].as_array().cloned().unwrap_or_default());
        }
        variant.as_object_mut().into_iter().for_each(|variant| drop(variant.remove("$ref")));
    }
    let used = definitions.into_iter().filter(|(name, _)| name != "RunResult");
    schema["$defs"] = used.collect::<Map<String, Value>>().into();
    schema
}

/// The page of the reference.
pub(crate) fn page() -> String {
    let schema = schema();
    let mut page = String::new();
    for variant in schema["anyOf"].as_array().into_iter().flatten() {
        let name = variant["properties"]["type"]["const"].as_str().unwrap_or_default();
        let about = text(&variant["description"]);
        match page.contains(&format!("\n## `{name}`\n")) {
            false => page.push_str(&format!("\n## `{name}`\n\n{about}\n\n")),
            // The same type where there is less to say.
            true => page.push_str(&format!("\n{about}\n\n")),
        }
        page.push_str(&fields(variant, &["type", "agent", "activation"]));
    }
    for (name, shape) in schema["$defs"].as_object().into_iter().flatten() {
        page.push_str(&format!("\n## {name}\n\n{}\n\n{}", text(&shape["description"]), fields(shape, &[])));
    }
    page
}

/// The table of the fields of an object.
fn fields(shape: &Value, but: &[&str]) -> String {
    let required = |name: &String| {
        shape["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name.as_str()))
    };
    let rows = shape["properties"].as_object().into_iter().flatten();
    let rows = rows.filter(|(name, _)| !but.contains(&name.as_str()));
    let rows: String = rows
        .map(|(name, property)| {
            let absent = if required(name) { "" } else { ", may be absent" };
            format!("| `{name}` | {}{absent} | {} |\n", kind(property), text(&property["description"]))
        })
        .collect();
    match rows.is_empty() {
        true => "No fields of its own.\n".to_owned(),
        false => format!("| field | type | meaning |\n| --- | --- | --- |\n{rows}"),
    }
}

/// The type of a field, for people.
fn kind(property: &Value) -> String {
    let of_reference = |shape: &Value| -> Option<String> {
        let name = shape["$ref"].as_str()?.rsplit('/').next()?;
        Some(format!("[{name}](#{})", name.to_ascii_lowercase()))
    };
    if let Some(name) = of_reference(property) {
        return name;
    }
    if let Some(either) = property["anyOf"].as_array() {
        return either.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &property["type"] {
        Value::String(kind) if kind == "array" => format!("array of {}", kind_of_items(property)),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

fn kind_of_items(property: &Value) -> String {
    kind(&property["items"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
