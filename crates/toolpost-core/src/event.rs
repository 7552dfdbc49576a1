//! Everything that happens, as one closed enum; logs, consoles and progress reports are subscribers.

use crate::activation::Fact;
use crate::confirm::{Answer, Question};
use crate::error::ToolError;
use crate::future::BoxFuture;
use crate::outcome::{Metadata, Output};
use crate::store::TaskStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use toolpost_schema::Repair;
use toolpost_text::map_strings;

/// One thing that happened, and where it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The session it belongs to.
    pub session: String,
    /// Its place among the events of the session, from 1, as far as one context and those made from it know.
    pub sequence: u64,
    /// The agent that acts, if one does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The run of that agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub activation: Option<String>,
    /// The call it belongs to; none for what concerns no call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened. Matched exhaustively by every subscriber of ours, so that a new kind shows every place to visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum EventKind {
    /// Somebody asked for a call.
    CallRequested {
        /// The name as it was given.
        tool: String,
        /// The arguments as they were given.
        arguments: Value,
        /// The call that made this one, if a tool did.
        parent: Option<String>,
    },
    /// A tool was made ready for its first call.
    ToolInitialized {
        /// Its name.
        tool: String,
    },
    /// Arguments were repaired.
    ArgumentsRepaired {
        /// Each change.
        repairs: Vec<Repair>,
    },
    /// A hook stopped the call or changed its arguments.
    HookIntervened {
        /// The hook's name.
        hook: String,
        /// What it did, in a few words.
        what: String,
    },
    /// The policy decided.
    CallDecided {
        /// `allow`, `ask` or `deny`.
        effect: String,
        /// Why, in one sentence.
        reason: String,
    },
    /// A person was asked.
    Asked {
        /// What.
        question: Question,
    },
    /// And answered.
    Answered {
        /// What was said.
        answer: Answer,
    },
    /// The tool is about to run. For a tool that is not idempotent this is durable before it does.
    CallStarted {
        /// The tool's canonical name.
        tool: String,
        /// Which attempt, from 1.
        attempt: u32,
        /// Whether nothing will be changed.
        dry_run: bool,
    },
    /// A running tool says how far it is.
    Progress {
        /// A few words.
        title: String,
        /// Anything more.
        metadata: Value,
    },
    /// An attempt failed and another one follows.
    CallRetried {
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        error: ToolError,
        /// How long until the next one, in milliseconds.
        delay_ms: u64,
    },
    /// An output was too long and was kept whole under a handle.
    OutputSpilled {
        /// `spill:ID`.
        handle: String,
        /// Bytes kept.
        bytes: u64,
    },
    /// The call ended.
    CallFinished {
        /// The tool's canonical name.
        tool: String,
        /// What the model got, if it worked: a run can be told again from its events alone.
        output: Option<Told>,
        /// Why it failed, if it did.
        error: Option<ToolError>,
        /// How it went; where the text was cut, with the handle of the whole.
        metadata: Metadata,
    },
    /// A virtual file has a new version. The store records it together with the change.
    FileStored {
        /// The path.
        path: String,
        /// The new version.
        version: u64,
        /// Whether the file is gone by it.
        deleted: bool,
    },
    /// A task was created, or stands elsewhere. The store records it together with the change.
    TaskChanged {
        /// Its id.
        task: String,
        /// Where it stands now.
        status: TaskStatus,
        /// Who has it.
        owner: Option<String>,
        /// The number of the last claim.
        claim: u64,
    },
    /// The todos of the session were replaced. The store records it together with the change.
    TodosChanged {
        /// How many there are.
        count: usize,
    },
    /// What calls have changed was taken back, or made again. The store records it together with the change.
    ChangesUndone {
        /// The call whose changes they were; of several the last.
        of: String,
        /// How many files, folders and links.
        files: usize,
        /// Whether an undo was taken back.
        is_redo: bool,
    },
    /// A fact of an agent's run.
    Activation {
        /// Which.
        fact: Fact,
    },
    /// Something went wrong beside the call: a sink crashed, a spill could not be kept.
    Warning {
        /// What, and what to do.
        message: String,
    },
}

/// What a call has given to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// A few words for a person.
    pub title: String,
    /// The text, as far as [`Told::MOST_TEXT`].
    pub text: String,
    /// Bytes of the text that are missing here.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub left_out: usize,
    /// The files that came with it: media type and name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub attachments: Vec<(String, String)>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Told {
    /// So many bytes of the text are told at most. Tools return less, unless their budget is larger.
    pub const MOST_TEXT: usize = 256 * 1024;

    /// Of an output that has no secrets any more and is within its budget.
    pub(crate) fn of(output: &Output<Value>) -> Told {
        // Where there is no text, the data is the text.
        let data = (output.text.is_empty() && !output.data.is_null()).then(|| output.data.to_string());
        let text = data.as_deref().unwrap_or(&output.text);
        let end = text.floor_char_boundary(Told::MOST_TEXT);
        Told {
            title: output.title.clone(),
            text: text[..end].to_owned(),
            left_out: text.len() - end,
            attachments: output
                .attachments
                .iter()
                .map(|attachment| (attachment.media_type.clone(), attachment.filename.clone()))
                .collect(),
        }
    }
}

impl EventKind {
    /// Applies `change` to every text that came from arguments, tools, hooks or people.
    pub(crate) fn map_text(self, change: &dyn Fn(&str) -> String) -> EventKind {
        match self {
            EventKind::CallRequested { tool, arguments, parent } => EventKind::CallRequested {
                tool: change(&tool),
                arguments: map_strings(arguments, change),
                parent,
            },
            EventKind::ToolInitialized { tool } => EventKind::ToolInitialized { tool },
            EventKind::ArgumentsRepaired { repairs } => EventKind::ArgumentsRepaired {
                repairs: repairs.into_iter().map(|repair| repair.map_text(change)).collect(),
            },
            EventKind::HookIntervened { hook, what } => {
                EventKind::HookIntervened { hook, what: change(&what) }
            }
            EventKind::CallDecided { effect, reason } => {
                EventKind::CallDecided { effect, reason: change(&reason) }
            }
            EventKind::Asked { question } => EventKind::Asked { question: question.map_text(change) },
            EventKind::Answered { answer: Answer::No(why) } => {
                EventKind::Answered { answer: Answer::No(change(&why)) }
            }
            EventKind::Answered { answer } => EventKind::Answered { answer },
            EventKind::CallStarted { tool, attempt, dry_run } => {
                EventKind::CallStarted { tool, attempt, dry_run }
            }
            EventKind::Progress { title, metadata } => {
                EventKind::Progress { title: change(&title), metadata: map_strings(metadata, change) }
            }
            EventKind::CallRetried { attempt, error, delay_ms } => {
                EventKind::CallRetried { attempt, error: error.map_text(change), delay_ms }
            }
            EventKind::OutputSpilled { handle, bytes } => EventKind::OutputSpilled { handle, bytes },
            EventKind::CallFinished { tool, output, error, metadata } => EventKind::CallFinished {
                tool: change(&tool),
                // Secrets were taken out before it was cut.
                output,
                error: error.map(|error| error.map_text(change)),
                metadata: metadata.map_text(change),
            },
            // They come from the store and were never in a sink's hands.
            stored @ (EventKind::FileStored { .. }
            | EventKind::TaskChanged { .. }
            | EventKind::TodosChanged { .. }
            | EventKind::ChangesUndone { .. }) => stored,
            EventKind::Activation { fact } => EventKind::Activation { fact: fact.map_text(change) },
            EventKind::Warning { message } => EventKind::Warning { message: change(&message) },
        }
    }
}

/// Takes events. Implemented by logs, consoles and tests; called by the executor and by contexts, from any thread.
///
/// `record` must not block for long. `commit` returns when everything recorded so far is durable; the executor waits
/// for it before it runs a tool that is not idempotent.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn record(&self, event: &Arc<Event>);

    /// Waits until all that was recorded is as durable as it will be.
    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether more was recorded than the sink can take for long. The executor then waits for a `commit` before it ends a call.
    fn is_overloaded(&self) -> bool {
        false
    }

    /// Whether anybody is listening; where not, events are not even made.
    fn is_listening(&self) -> bool {
        true
    }

    /// The event as this sink keeps it. A log may keep less of a long or secret text; what is decided from the log later is
    /// decided from this.
    fn kept(&self, event: &Arc<Event>) -> Arc<Event> {
        Arc::clone(event)
    }
}

/// For where nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn record(&self, _: &Arc<Event>) {}

    fn is_listening(&self) -> bool {
        false
    }
}

/// The last events, in memory.
#[derive(Debug)]
pub struct MemoryLog {
    events: Mutex<VecDeque<Arc<Event>>>,
    capacity: usize,
}

impl MemoryLog {
    /// A log that keeps the last `capacity` events.
    pub fn new(capacity: usize) -> MemoryLog {
        MemoryLog { events: Mutex::new(VecDeque::new()), capacity }
    }

    /// The events kept, oldest first.
    pub fn events(&self) -> Vec<Event> {
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .map(|event| (**event).clone())
            .collect()
    }
}

impl Default for MemoryLog {
    fn default() -> MemoryLog {
        MemoryLog::new(10_000)
    }
}

impl EventSink for MemoryLog {
    fn record(&self, event: &Arc<Event>) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() >= self.capacity {
            events.pop_front();
        }
        events.push_back(event.clone());
    }
}

/// Several sinks as one.
#[derive(Default)]
pub struct Sinks(pub Vec<Arc<dyn EventSink>>);

impl EventSink for Sinks {
    fn record(&self, event: &Arc<Event>) {
        for sink in &self.0 {
            sink.record(event);
        }
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            for sink in &self.0 {
                sink.commit().await?;
            }
            Ok(())
        })
    }

    fn is_overloaded(&self) -> bool {
        self.0.iter().any(|sink| sink.is_overloaded())
    }

    fn is_listening(&self) -> bool {
        self.0.iter().any(|sink| sink.is_listening())
    }

    fn kept(&self, event: &Arc<Event>) -> Arc<Event> {
        self.0.iter().fold(Arc::clone(event), |event, sink| sink.kept(&event))
    }
}

/// Hands every event to a closure; see [`ContextBuilder::on_event`](crate::host::ContextBuilder::on_event).
pub(crate) struct Tells<F>(pub(crate) F);

impl<F: Fn(&Event) + Send + Sync> EventSink for Tells<F> {
    fn record(&self, event: &Arc<Event>) {
        (self.0)(event);
    }
}
