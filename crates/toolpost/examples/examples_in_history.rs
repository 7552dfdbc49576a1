//! A run whose conversation begins with examples: small models make a call only if they have seen some.
//!
//! `examples_in_history BASE_URL FOLDER TASK [TOKENS]` asks the server at that address, in the form of OpenAI's chat. The examples
//! are messages before those of the run. All else is as in every run: the kernel decides, the executor runs the real `list`, and
//! everything is in the log, which is printed at the end. With few TOKENS for an answer, calls are cut off. The exit status is 1
//! where no call worked.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what happens")]

use anyhow::{Context as _, Result, bail};
use futures_util::stream::BoxStream;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_agent::driver::{Activation, Heard, Listener, LocalDriver};
use toolpost_agent::model::{Format, Remote, Target, Timeouts, client};
use toolpost_core::activation::{Fact, Limits, Start, Todo};
use toolpost_core::event::{EventKind, MemoryLog};
use toolpost_core::host::Ids;
use toolpost_core::model::{
    Arguments, Delta, Message, Model, ModelError, Part, Profile, Request, Role, ToolCall, ToolResult,
};
use toolpost_core::{Context, Executor, Registry};
use toolpost_disk::Disk;

/// A model that is shown examples before each conversation.
struct WithExamples {
    model: Remote,
    examples: Vec<Message>,
    /// Maximum number of tokens of an answer: a model that finds no end is cut off soon.
    tokens: u64,
}

impl Model for WithExamples {
    fn profile(&self) -> &Profile {
        self.model.profile()
    }

    fn stream(
        &self,
        mut request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        request.messages.splice(0..0, self.examples.iter().cloned());
        request.max_output_tokens = Some(self.tokens);
        self.model.stream(request, cancel)
    }
}

/// A question, the call that answers it, its result, and the answer.
fn example(number: usize, folder: &str, entry: &str) -> [Message; 4] {
    let id = format!("example{number}");
    let call = ToolCall {
        id: id.clone(),
        name: "list".to_owned(),
        arguments: Arguments::Json(json!({"path": folder})),
        opaque: None,
    };
    let result = ToolResult {
        id,
        name: "list".to_owned(),
        text: entry.to_owned(),
        attachments: Vec::new(),
        is_error: false,
        code: None,
        data: serde_json::Value::Null,
    };
    [
        Message::user(format!("What is in the folder {folder}?")),
        Message { role: Role::Assistant, parts: vec![Part::ToolCall(call)] },
        Message { role: Role::User, parts: vec![Part::ToolResult(result)] },
        Message {
            role: Role::Assistant,
            parts: vec![Part::text(format!("The folder {folder} has {entry}."))],
        },
    ]
}

/// Prints the text as it comes.
struct Printed;

impl Listener for Printed {
    fn heard(&self, _: &str, heard: Heard<'_>) {
        match heard {
            Heard::Text(text) => eprintln!("text: {text:?}"),
            Heard::WritingCall(name) => eprintln!("writes a call of {name}"),
            _ => {}
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (words, tokens) = match words.as_slice() {
        [words @ .., last] if words.len() == 3 => (words, last.parse()?),
        words => (words, 80),
    };
    let [url, folder, task] = words else {
        bail!("usage: examples_in_history BASE_URL FOLDER TASK [TOKENS]")
    };
    let registry = Registry::new();
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default())?;
    for name in registry.names().iter().filter(|name| *name != "list") {
        registry.unregister(name);
    }
    let profile = Profile {
        vendor: "local".to_owned(),
        model: "local".to_owned(),
        provider: "openai".to_owned(),
        ..Profile::default()
    };
    let client = client(&Timeouts::default(), None);
    let model = WithExamples {
        model: Remote::new(profile.clone(), Target::new(Format::OpenaiChat, "local"), url, None, client),
        examples: [("src", "main.rs"), ("docs", "guide.md"), ("tests", "it.rs")]
            .into_iter()
            .enumerate()
            .flat_map(|(number, (folder, entry))| example(number, folder, entry))
            .collect(),
        tokens,
    };
    let log = Arc::new(MemoryLog::default());
    let id = "example-run".to_owned();
    let ids = Ids { session: "examples".to_owned(), activation: Some(id.clone()), ..Ids::default() };
    let context = Context::builder(Arc::new(Disk::open([folder])?))
        .ids(ids)
        .tools(Arc::new(registry))
        .events(Arc::clone(&log) as _)
        .build();
    let start = Start {
        agent: "lister".to_owned(),
        system: "You answer with the tool list.".to_owned(),
        task: task.clone(),
        model: profile,
        limits: Limits { turns: Some(4), ..Limits::usual() },
        ..Start::default()
    };
    let activation = Activation {
        id,
        start,
        model: Arc::new(model),
        context,
        executor: Executor::new(),
        offers_all: true,
        temperature: Some(0.0),
        thinking: None,
        listener: Arc::new(Printed),
    };
    let ended = LocalDriver::new().run(activation).await?;
    let mut is_called = false;
    for event in log.events() {
        match &event.kind {
            EventKind::CallRequested { tool, arguments, .. } => println!("call: {tool} {arguments}"),
            EventKind::Activation { fact: Fact::Decided { todos, .. } } => {
                for todo in todos {
                    if let Todo::Refuse { text, .. } = todo {
                        println!("refused: {text}");
                    }
                }
            }
            EventKind::CallFinished { output: Some(output), .. } => {
                is_called = true;
                println!("result: {:?}", output.text);
            }
            EventKind::CallFinished { error: Some(error), .. } => println!("error: {}", error.message()),
            _ => {}
        }
    }
    println!("ended: {:?} after {} turns: {}", ended.reason, ended.turns, ended.text);
    is_called.then_some(()).context("the model completed no call")
}
