//! The steps of runs in this process: decisions by the kernel, answers by models, calls by the executor.

use super::activation::{Activation, Running};
use super::count::Asked;
use super::listener::Heard;
use super::pauses::Pauses;
use super::{Heartbeat, Steps};
use crate::kernel::{self, Ended, surplus};
use crate::tree::{Amount, Drawn, Undrawn, Wanted};
use futures_util::StreamExt;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_core::activation::{Fact, Reason, Todo};
use toolpost_core::host::{BoxFuture, Seen};
use toolpost_core::model::{Arguments, Delta, ModelError, ModelErrorKind, Request, Response, Usage};
use toolpost_core::{Call, Code, ToolError};

/// Maximum number of tokens of an answer that are set aside where the model's own limit is not known.
const USUAL_OUTPUT: u64 = 8_192;

/// How long a run that ends waits for what those that it has started say at their own end, when they have ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// Maximum number of requests for one answer, each for a shorter one than that before, because attempts that broke off have
/// used a part of the budget.
const MOST_REQUESTS: u32 = 5;

/// A model gave no answer.
pub(super) struct Unanswered {
    /// Why.
    why: Why,
    /// What it had said until then.
    text: String,
    /// Tokens of the request and of that text, where there is some: providers bill them.
    pub(super) usage: Usage,
}

/// Why a model gave no answer.
enum Why {
    Failed(ModelError),
    /// The budget of the tree has nothing left for it.
    Spent(Reason),
}

fn stopped() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "the run was stopped")
}

/// The steps of all runs of this process.
#[derive(Default)]
pub struct LocalSteps {
    running: Mutex<HashMap<String, Arc<Running>>>,
}

impl LocalSteps {
    /// Without any run.
    pub fn new() -> LocalSteps {
        LocalSteps::default()
    }

    /// Takes on a run, and records its beginning.
    pub fn add(&self, activation: Activation) -> Result<(), ToolError> {
        let running = activation.begin()?;
        self.all().insert(running.id.clone(), Arc::new(running));
        Ok(())
    }

    /// Lets go of a run.
    pub(super) fn remove(&self, activation: &str) {
        self.all().remove(activation);
    }

    pub(super) fn get(&self, activation: &str) -> Result<Arc<Running>, ToolError> {
        self.all()
            .get(activation)
            .cloned()
            .ok_or_else(|| ToolError::execution(format!("there is no run `{activation}` in this process")))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Steps for LocalSteps {
    fn advance<'a>(&'a self, activation: &'a str, seq: u64) -> BoxFuture<'a, Result<Vec<Todo>, ToolError>> {
        Box::pin(async move { self.get(activation)?.advance(seq) })
    }

    fn perform<'a>(
        &'a self,
        activation: &'a str,
        seq: u64,
        todo: Todo,
        cancel: CancellationToken,
        beat: Heartbeat,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let running = self.get(activation)?;
            match todo {
                Todo::Ask => running.ask(seq, &cancel, &beat).await,
                Todo::Call { index, call } => running.call(index, call).await,
                // It is answered by having been decided.
                Todo::Refuse { index, text } => {
                    let call =
                        running.fold.state().last_call(index).map(|(seq, call)| (seq, call.name.clone()));
                    let (answer, tool) = call.unwrap_or_default();
                    let call_id = kernel::call_id(&running.id, answer, index);
                    running.tell(Heard::Refused { call: Some(&call_id), tool: &tool, text: &text });
                    Ok(())
                }
                Todo::Compact { turns } => running.compact(seq, turns, &cancel).await,
                Todo::Wait => {
                    running.wait(seq, &cancel).await;
                    Ok(())
                }
                Todo::Finish { reason } => running.finish(seq, reason).await,
            }
        })
    }
}

impl Running {
    fn advance(&self, seq: u64) -> Result<Vec<Todo>, ToolError> {
        // Nothing comes between what is looked at and what is decided, in the log either.
        let mut state = self.fold.state();
        if let Some(todos) = state.decided(seq) {
            return Ok(todos.to_vec());
        }
        if seq != state.next_seq() {
            let message = format!("step {seq} of `{}` cannot be decided before those before it", self.id);
            return Err(ToolError::execution(message));
        }
        let todos = kernel::decide(&state);
        self.record_in(&mut state, Fact::Decided { seq, todos: todos.clone() });
        Ok(todos)
    }

    pub(super) fn tell(&self, heard: Heard<'_>) {
        self.listener.heard(&self.id, heard);
    }

    /// How the run ended; none before it has.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.fold.state().ended().cloned()
    }

    /// Asks the model. Its answer is durable before this returns, where it has calls.
    async fn ask(&self, seq: u64, cancel: &CancellationToken, beat: &Heartbeat) -> Result<(), ToolError> {
        self.load_extras().await;
        self.tell(Heard::Asking);
        let price = self.model.profile().price.as_ref();
        let mut pauses = Pauses::default();
        let answered = self.asked(self.request(), cancel, beat, &mut pauses).await;
        pauses.fact(seq).into_iter().for_each(|fact| self.record(fact));
        match answered {
            Ok(response) => {
                if response.surplus_calls > 0 {
                    let text = surplus(response.surplus_calls);
                    self.tell(Heard::Refused { call: None, tool: "", text: &text });
                }
                self.tell(Heard::Answered { seq, response: &response });
                let has_calls = response.tool_calls().next().is_some();
                let cost = price.map(|price| price.of(&response.usage));
                self.record(Fact::Answered { seq, response, cost });
                if has_calls { self.context.committed().await } else { Ok(()) }
            }
            Err(Unanswered { why, text, usage }) => {
                let cost = price.filter(|_| usage.output > 0).map(|price| price.of(&usage));
                match why {
                    Why::Spent(reason) => self.record(Fact::Spent { seq, reason, usage, cost }),
                    Why::Failed(error) => {
                        self.tell(Heard::Failed(&error));
                        self.record(Fact::ModelFailed { seq, error, text, usage, cost });
                    }
                }
                Ok(())
            }
        }
    }

    /// Sets aside of the tree's budget what a request may use.
    async fn draw(&self, request: &Request, cancel: &CancellationToken) -> Result<Drawn<'_>, Why> {
        let profile = self.model.profile();
        let wanted = match Asked::of(request, profile).input() {
            None => Wanted::default(),
            Some(input) => Wanted {
                input,
                output: request.max_output_tokens.or(profile.output_tokens).unwrap_or(USUAL_OUTPUT),
                price: profile.price.clone(),
            },
        };
        self.branch.draw(&wanted, cancel).await.map_err(|undrawn| match undrawn {
            Undrawn::Stopped => Why::Failed(stopped()),
            Undrawn::Unpriced => {
                let message = format!(
                    "`limits.cost` cannot be kept, because the price of {}/{}, or of a model that was asked before it, is not known; nothing was asked",
                    profile.vendor, profile.model
                );
                Why::Failed(ModelError::new(ModelErrorKind::Invalid, message))
            }
            Undrawn::Spent(reason) => Why::Spent(reason),
        })
    }

    fn used(&self, usage: &Usage) -> Amount {
        Amount::of(usage, self.model.profile().price.as_ref().map(|price| price.of(usage)))
    }

    /// Waits until the run is told something, or is to end.
    async fn wait(&self, seq: u64, cancel: &CancellationToken) {
        self.tell(Heard::Waiting);
        tokio::select! {
            () = cancel.cancelled() => self.record(match self.is_out_of_time.load(Ordering::Acquire) {
                true => Fact::Spent { seq, reason: Reason::Time, usage: Usage::default(), cost: None },
                false => Fact::StopAsked,
            }),
            () = self.signalled.notified() => {}
        }
    }

    fn request(&self) -> Request {
        let extras = self.extras();
        let state = self.fold.state();
        let with = |seq: u64, index: usize| extras.get(&(seq, index)).cloned().unwrap_or_default();
        let (system, limit, schema) = match state.start() {
            Some(start) => (start.system.clone(), start.limits.tokens, start.result_schema.clone()),
            None => (String::new(), None, None),
        };
        let used = state.usage().input.saturating_add(state.usage().output).saturating_add(state.tokens());
        let left = limit.map(|limit| limit.saturating_sub(used).max(1));
        let most = self.model.profile().output_tokens;
        let tools = Arc::clone(&self.definitions());
        Request {
            system,
            messages: match self.model.profile().provider.as_str() {
                // It finds its place from the results of calls, and its steps are made for each task.
                "script" => state.messages_now(&with),
                _ => state.messages(&with),
            },
            // Nothing is said where the provider's own limit is the lower one, or where none is known.
            max_output_tokens: left.filter(|left| most.is_none_or(|most| *left < most)),
            temperature: self.temperature,
            thinking: self.thinking,
            cache: Some(self.id.clone()),
            // With tools at hand the model says the data at the end, and not at once.
            schema: schema.filter(|_| tools.is_empty()),
            tools,
            ..Request::default()
        }
    }

    /// The whole response to a request, with its tokens counted in it and in the budget; what is streamed is told.
    pub(super) async fn response(
        &self,
        request: Request,
        cancel: &CancellationToken,
        beat: &Heartbeat,
    ) -> Result<Box<Response>, Unanswered> {
        self.asked(request, cancel, beat, &mut Pauses::default()).await
    }

    /// The same, with the pauses before requests that were made again.
    async fn asked(
        &self,
        request: Request,
        cancel: &CancellationToken,
        beat: &Heartbeat,
        pauses: &mut Pauses,
    ) -> Result<Box<Response>, Unanswered> {
        let asked = Asked::of(&request, self.model.profile());
        let mut said = String::new();
        // What attempts before this one have used: providers bill what they have said.
        let mut lost = Usage::default();
        let unasked = |why: Why, usage: Usage| Unanswered { why, text: String::new(), usage };
        let mut drawn = self.draw(&request, cancel).await.map_err(|why| unasked(why, lost))?;
        let mut stream = self.model.stream(drawn.within(&request), cancel.child_token());
        let (mut requests, mut attempts_before) = (1, 0);
        let error = loop {
            let delta = tokio::select! {
                biased;
                () = cancel.cancelled() => break stopped(),
                delta = stream.next() => delta,
            };
            beat.beat();
            match delta {
                Some(Ok(Delta::Done(mut response))) => {
                    asked.count(&mut response);
                    drawn.settle(self.used(&response.usage));
                    response.usage = response.usage.plus(&lost);
                    return Ok(response);
                }
                Some(Ok(Delta::Text(text))) => {
                    said.push_str(&text);
                    self.tell(Heard::Text(&text));
                }
                Some(Ok(Delta::Thinking(text))) => self.tell(Heard::Thinking(&text)),
                Some(Ok(Delta::ToolCall { name, .. })) => self.tell(Heard::WritingCall(&name)),
                Some(Ok(Delta::Retry { attempt, delay_ms, error })) => {
                    let used = asked.of_unfinished(&said);
                    lost = lost.plus(&used);
                    said.clear();
                    pauses.begin(delay_ms, &error);
                    self.tell(Heard::Retry { attempt: attempts_before + attempt, delay_ms, error: &error });
                    if drawn.lose(self.used(&used)) {
                        continue;
                    }
                    if requests == MOST_REQUESTS {
                        break error;
                    }
                    // The next attempt could use more than is left: it is made by a request for a shorter answer.
                    (requests, attempts_before) = (requests + 1, attempts_before + attempt);
                    drop((stream, drawn));
                    tokio::select! {
                        () = cancel.cancelled() => return Err(unasked(Why::Failed(stopped()), lost)),
                        () = tokio::time::sleep(Duration::from_millis(delay_ms)) => {}
                    }
                    drawn = self.draw(&request, cancel).await.map_err(|why| unasked(why, lost))?;
                    stream = self.model.stream(drawn.within(&request), cancel.child_token());
                }
                Some(Err(error)) => break error,
                None => {
                    let message = "the model's stream ended without an answer; try again";
                    break ModelError::new(ModelErrorKind::Protocol, message);
                }
            }
        };
        let usage = asked.of_unfinished(&said);
        drawn.settle(self.used(&usage));
        Err(Unanswered { why: Why::Failed(error), text: said, usage: usage.plus(&lost) })
    }

    /// Runs a call of the last answer. Its events are its record.
    async fn call(&self, index: usize, id: String) -> Result<(), ToolError> {
        let call = self.fold.state().last_call(index).map(|(seq, call)| (seq, call.clone()));
        let Some((seq, call)) = call else {
            return Err(ToolError::execution(format!("the last answer has no call {index}")));
        };
        let Arguments::Json(arguments) = call.arguments else {
            return Err(ToolError::execution(format!("the arguments of call {index} cannot be read")));
        };
        // Boxed, so that the future of a step stays small.
        let outcome =
            Box::pin(self.executor.run(&self.context, Call::new(call.name, arguments).id(id))).await;
        if let Ok(mut output) = outcome.result {
            let attachments = std::mem::take(&mut output.attachments);
            self.keep_extra((seq, index), &outcome.call_id, attachments, &output.data, &outcome.metadata)
                .await;
            if self.context.tools().get(&outcome.tool).is_some_and(|entry| entry.spec().finds_unlisted) {
                let tools = output.data.get("tools").and_then(serde_json::Value::as_array);
                let names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
                self.offer_found(&names.collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    async fn compact(&self, seq: u64, turns: usize, cancel: &CancellationToken) -> Result<(), ToolError> {
        self.tell(Heard::Compacting);
        let (summary, usage) = self.summary(turns, cancel).await;
        let cost = self.model.profile().price.as_ref().map(|price| price.of(&usage));
        self.record(Fact::Compacted { seq, turns, summary, usage, cost });
        // The model no longer has what it was shown before.
        if let Some(seen) = self.context.extra().get::<Seen>() {
            seen.forget_all();
        }
        Ok(())
    }

    /// Ends whatever this run has started and not waited for, and waits until it has told of its end.
    pub(super) async fn end_below(&self) {
        self.branch.end_below().await;
        let told = async {
            while !self.fold.state().background().is_empty() {
                self.signalled.notified().await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, told).await;
    }

    async fn finish(&self, seq: u64, reason: Reason) -> Result<(), ToolError> {
        self.end_below().await;
        {
            let mut state = self.fold.state();
            let Ended { reason, text, error, code, usage, cost, unpriced, .. } =
                state.by_log().ending(reason);
            let ended = Fact::Ended { seq, reason, text, error, code, usage, cost, unpriced };
            self.record_in(&mut state, ended);
        }
        self.context.committed().await.map_err(|error| {
            ToolError::new(
                Code::StoreNotAvailable,
                format!("the end of the run is not in the log: {}", error.message()),
            )
        })
    }
}
