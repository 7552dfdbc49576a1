//! The facts of an agent's run. From these, and from the events of its calls, a run can be told again, resumed and forked.
//!
//! What comes next is decided by the kernel, in the crate of agents; here are only the words of the log.

use crate::capability::Capability;
use crate::error::Code;
use crate::model::{Arguments, Message, ModelError, Opaque, Part, Profile, Response, Usage};
use crate::outcome::Attachment;
use crate::policy::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolpost_text::map_strings;

/// One fact of a run. `seq` is the step that it belongs to, from 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "fact")]
pub enum Fact {
    /// The run began.
    Started {
        /// With all that it depends on.
        start: Box<Start>,
    },
    /// These tools are offered from now on, beside those that were.
    Offered {
        /// Which.
        tools: Vec<OfferedTool>,
    },
    /// The kernel decided what is to be done at a step.
    Decided {
        /// The step.
        seq: u64,
        /// All of it may be done side by side.
        todos: Vec<Todo>,
    },
    /// The model answered. This is durable before any call of the answer is run.
    Answered {
        /// The step.
        seq: u64,
        /// The whole answer.
        response: Box<Response>,
        /// What it cost, in US dollars, where that is known.
        cost: Option<f64>,
    },
    /// The model gave no answer.
    ModelFailed {
        /// The step.
        seq: u64,
        /// Why.
        error: ModelError,
        /// What it had said until then.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Tokens of the request and of what it had said; none where it had said nothing.
        #[serde(default)]
        usage: Usage,
        /// What that cost, in US dollars, where that is known.
        #[serde(default)]
        cost: Option<f64>,
    },
    /// Requests of a step failed, and there were pauses before they were made again.
    Paused {
        /// The step.
        seq: u64,
        /// How many.
        times: u64,
        /// How long, in milliseconds.
        ms: u64,
        /// What the last one came after: `status 429`.
        why: String,
    },
    /// A call gave the model more than the text that its events have.
    Returned {
        /// The step of the answer that asked for the call.
        seq: u64,
        /// The place of the call in that answer, from 0.
        index: usize,
        /// Its images; under handles, where they are too long for the log.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Its data, for a model that reads them.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        data: Value,
        /// The handle of data that are too long for the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data_handle: Option<String>,
    },
    /// The oldest turns were replaced by a summary.
    Compacted {
        /// The step.
        seq: u64,
        /// How many were replaced by this, those not counted that a summary stands for already.
        turns: usize,
        /// What stands in their place.
        summary: String,
        /// Tokens of making it.
        usage: Usage,
        /// What that cost.
        cost: Option<f64>,
    },
    /// The budget of the tree that the run belongs to is used up, or its own time while it waits.
    Spent {
        /// The step at which the model was not asked any more, or nothing was waited for.
        seq: u64,
        /// What is used up.
        reason: Reason,
        /// Tokens of attempts at this step that gave no answer.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
        /// What those cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// An agent was started that the run does not wait for.
    Spawned {
        /// Its run.
        child: String,
        /// Its name.
        agent: String,
    },
    /// Somebody tells the agent something while it runs.
    Signalled {
        /// Who.
        from: String,
        /// What.
        text: String,
        /// What tells this signal from others; one that comes again is heard once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The run whose end it tells of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<String>,
    },
    /// The run had ended, and goes on with something more to do.
    Continued {
        /// What tells this continuation from others; one that comes again changes nothing.
        id: String,
        /// What it has to do.
        text: String,
        /// The images that come with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// The model from now on, where it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Box<Profile>>,
    },
    /// Another process goes on with the run.
    Resumed {
        /// The calls that had started when the process before it ended.
        interrupted: Vec<InterruptedCall>,
    },
    /// Somebody wants the run to end.
    StopAsked,
    /// The run ended.
    Ended {
        /// The step.
        seq: u64,
        /// Why.
        reason: Reason,
        /// Its last text.
        text: String,
        /// More of why it failed.
        error: Option<String>,
        /// The code of the call that it failed by, if it did by one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        /// Tokens of all requests and answers.
        usage: Usage,
        /// What they cost, in US dollars, as far as that is known.
        cost: Option<f64>,
        /// Tokens whose price is not known: their cost is not in `cost`.
        #[serde(default, skip_serializing_if = "is_zero")]
        unpriced: u64,
    },
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a run depends on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Start {
    /// The agent's name.
    pub agent: String,
    /// Its file.
    pub file: Option<String>,
    /// The run that started this one.
    pub parent: Option<String>,
    /// What the agent is told before everything else.
    pub system: String,
    /// What it has to do.
    pub task: String,
    /// The images that come with the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The model.
    pub model: Profile,
    /// The tools that it is offered.
    pub tools: Vec<OfferedTool>,
    /// The dialect in which it is offered them.
    pub dialect: String,
    /// How far it may go.
    pub limits: Limits,
    /// The root of its workspace.
    pub workspace: String,
    /// Levels of agents above it.
    pub depth: u64,
    /// The call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// JSON schema of its result, where that is data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_schema: Option<Value>,
    /// The hash of the content of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_hash: Option<String>,
    /// What was said about its rights; none below another agent, which has no more than that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<StatedRights>,
}

/// What flags and configuration said about the rights of a run when it began. Whoever goes on with the run has no more,
/// unless flags say so again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatedRights {
    /// Capabilities that were withheld.
    pub withheld: Vec<Capability>,
    /// Capabilities that a person had to be asked for.
    pub asked: Vec<Capability>,
    /// Rules that deny or ask, of a file that was named for this run.
    pub rules: Vec<StatedRule>,
    /// Whether a flag said that commands are confined.
    pub is_confined: bool,
}

/// A rule in its short form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatedRule {
    /// What it decides.
    pub effect: Effect,
    /// `action: resource`.
    pub rule: String,
}

/// A call that had started when its process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedCall {
    /// Its id.
    pub call: String,
    /// Whether its change was made; none where that cannot be known.
    pub landed: Option<bool>,
    /// What is known, for the model.
    pub known: String,
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OfferedTool {
    /// The name that the model knows.
    pub name: String,
    /// The tool's own name.
    pub tool: String,
    /// Whether calls of it may run side by side.
    pub parallel: bool,
    /// Whether calling it again changes nothing more.
    pub idempotent: bool,
}

/// What becomes of a child that would be one more than may be at work at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BeyondFanOut {
    /// The call that starts it fails.
    Refuse,
    /// It begins when another one has ended.
    Wait,
}

/// How far an agent may go; what is not set has no limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Levels of agents below the first.
    pub depth: Option<u64>,
    /// Children of one agent at once.
    pub fan_out: Option<u64>,
    /// What becomes of a child beyond `fan_out`; it waits where this is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond_fan_out: Option<BeyondFanOut>,
    /// Children of one agent in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u64>,
    /// Answers of the model.
    pub turns: Option<u64>,
    /// Tokens of all requests and answers.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
    /// Milliseconds.
    pub time_ms: Option<u64>,
}

impl Limits {
    /// What holds where nothing is set: 3 levels, 8 children, 50 turns, 30 minutes.
    pub fn usual() -> Limits {
        Limits {
            depth: Some(3),
            fan_out: Some(8),
            beyond_fan_out: None,
            children: None,
            turns: Some(50),
            tokens: None,
            cost: None,
            time_ms: Some(30 * 60 * 1000),
        }
    }

    /// These limits, and where one is not set, that of `other`.
    #[must_use]
    pub fn or(&self, other: &Limits) -> Limits {
        Limits {
            depth: self.depth.or(other.depth),
            fan_out: self.fan_out.or(other.fan_out),
            beyond_fan_out: self.beyond_fan_out.or(other.beyond_fan_out),
            children: self.children.or(other.children),
            turns: self.turns.or(other.turns),
            tokens: self.tokens.or(other.tokens),
            cost: self.cost.or(other.cost),
            time_ms: self.time_ms.or(other.time_ms),
        }
    }

    /// The lower of both, limit by limit.
    #[must_use]
    pub fn meet(&self, other: &Limits) -> Limits {
        fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(if other < one { other } else { one }),
                (one, other) => one.or(other),
            }
        }
        Limits {
            depth: lower(self.depth, other.depth),
            fan_out: lower(self.fan_out, other.fan_out),
            beyond_fan_out: lower(self.beyond_fan_out, other.beyond_fan_out),
            children: lower(self.children, other.children),
            turns: lower(self.turns, other.turns),
            tokens: lower(self.tokens, other.tokens),
            cost: lower(self.cost, other.cost),
            time_ms: lower(self.time_ms, other.time_ms),
        }
    }
}

/// Something to be done at a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "do")]
pub enum Todo {
    /// Ask the model.
    Ask,
    /// Run a call of the last answer.
    Call {
        /// Which, from 0.
        index: usize,
        /// The id under which it runs.
        call: String,
    },
    /// Answer a call of the last answer without running it.
    Refuse {
        /// Which, from 0.
        index: usize,
        /// What the model is told.
        text: String,
    },
    /// Replace the oldest turns by a summary.
    Compact {
        /// How many.
        turns: usize,
    },
    /// Wait until an agent that was started tells of its end.
    Wait,
    /// End the run.
    Finish {
        /// Why.
        reason: Reason,
    },
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The agent is done.
    Done,
    /// Somebody stopped it.
    Stopped,
    /// It has used all its turns.
    Turns,
    /// It has used all its tokens.
    Tokens,
    /// It has cost as much as it may.
    Cost,
    /// It has run as long as it may.
    Time,
    /// It made the same call again and again, with the same result.
    Loop,
    /// The model's answer was cut off by its own limit of tokens.
    Length,
    /// The model refused, or its provider withheld the answer.
    Refused,
    /// The model gave no answer.
    Model,
    /// A step of its script failed.
    Script,
}

impl Reason {
    /// The reason in one word, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Done => "done",
            Reason::Stopped => "stopped",
            Reason::Turns => "turns",
            Reason::Tokens => "tokens",
            Reason::Cost => "cost",
            Reason::Time => "time",
            Reason::Loop => "loop",
            Reason::Length => "length",
            Reason::Refused => "refused",
            Reason::Model => "model",
            Reason::Script => "script",
        }
    }
}

impl Fact {
    /// Applies `change` to every text that came from people, models and tools, names and ids of calls included. What a
    /// provider wants back unchanged is changed too where a secret is in it: the log is read by others.
    pub(crate) fn map_text(mut self, change: &dyn Fn(&str) -> String) -> Fact {
        match &mut self {
            Fact::Started { start } => {
                start.system = change(&start.system);
                start.task = change(&start.task);
                start.attachments.iter_mut().for_each(|one| one.filename = change(&one.filename));
            }
            Fact::Decided { todos, .. } => {
                for todo in todos {
                    if let Todo::Refuse { text, .. } = todo {
                        *text = change(text);
                    }
                }
            }
            Fact::Answered { response, .. } => map_response(response, change),
            Fact::ModelFailed { error, text, .. } => {
                error.message = change(&error.message);
                map_all([&mut error.code], change);
                *text = change(text);
            }
            Fact::Paused { why, .. } => *why = change(why),
            Fact::Returned { attachments, data, .. } => {
                *data = map_strings(data.take(), change);
                attachments.iter_mut().for_each(|one| one.filename = change(&one.filename));
            }
            Fact::Compacted { summary: text, .. } | Fact::Signalled { text, .. } => *text = change(text),
            Fact::Continued { text, attachments, .. } => {
                *text = change(text);
                attachments.iter_mut().for_each(|one| one.filename = change(&one.filename));
            }
            Fact::Resumed { interrupted } => {
                interrupted.iter_mut().for_each(|call| call.known = change(&call.known));
            }
            Fact::Ended { text, error, .. } => {
                *text = change(text);
                map_all([error], change);
            }
            Fact::Offered { .. } | Fact::Spent { .. } | Fact::Spawned { .. } | Fact::StopAsked => {}
        }
        self
    }
}

fn map_response(response: &mut Response, change: &dyn Fn(&str) -> String) {
    response.parts.iter_mut().for_each(|part| map_part(part, change));
    map_all([&mut response.note, &mut response.finish_raw, &mut response.model], change);
    response.queries.iter_mut().for_each(|query| *query = change(query));
    for source in &mut response.sources {
        for text in [&mut source.title, &mut source.url, &mut source.snippet] {
            *text = change(text);
        }
    }
}

fn map_all<const N: usize>(texts: [&mut Option<String>; N], change: &dyn Fn(&str) -> String) {
    texts.into_iter().flatten().for_each(|text| *text = change(text));
}

fn map_part(part: &mut Part, change: &dyn Fn(&str) -> String) {
    let map_opaque = |opaque: &mut Opaque| opaque.value = map_strings(opaque.value.take(), change);
    match part {
        Part::Text { text, opaque } | Part::Thinking { text, opaque } => {
            *text = change(text);
            opaque.iter_mut().for_each(map_opaque);
        }
        Part::ToolCall(call) => {
            (call.id, call.name) = (change(&call.id), change(&call.name));
            match &mut call.arguments {
                Arguments::Json(value) => *value = map_strings(value.take(), change),
                Arguments::Unparsable(text) => *text = change(text),
            }
            call.opaque.iter_mut().for_each(map_opaque);
        }
        Part::ToolResult(result) => {
            (result.id, result.name) = (change(&result.id), change(&result.name));
            result.text = change(&result.text);
            result.data = map_strings(result.data.take(), change);
        }
        Part::File(file) => file.filename = change(&file.filename),
        Part::Opaque(opaque) => map_opaque(opaque),
    }
}

impl From<&Response> for Message {
    fn from(response: &Response) -> Message {
        Message { role: crate::model::Role::Assistant, parts: response.parts.clone() }
    }
}
