//! The driver of one process: a loop for each run.

use super::steps::LocalSteps;
use super::{Activation, Driver, Heartbeat, Signal, Steps};
use crate::kernel::{Ended, State};
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use toolpost_core::activation::{Fact, Todo};
use toolpost_core::host::BoxFuture;
use toolpost_core::{Context, ToolError};

type Result = std::result::Result<Ended, ToolError>;

/// Runs activations in this process.
#[derive(Default)]
pub struct LocalDriver {
    steps: Arc<LocalSteps>,
    ends: Mutex<HashMap<String, watch::Receiver<Option<Result>>>>,
}

impl LocalDriver {
    /// A driver without any run.
    pub fn new() -> LocalDriver {
        LocalDriver::default()
    }

    /// Takes on a run; [`Driver::start`] starts it.
    pub fn add(&self, activation: Activation) -> std::result::Result<(), ToolError> {
        self.steps.add(activation)
    }

    /// Records a fact of a run that was taken on: it goes on after its end, or it has started another.
    pub fn record(&self, activation: &str, fact: Fact) -> std::result::Result<(), ToolError> {
        self.steps.get(activation)?.record(fact);
        Ok(())
    }

    /// What the calls of a run reach.
    pub fn context(&self, activation: &str) -> std::result::Result<Context, ToolError> {
        Ok(self.steps.get(activation)?.context.clone())
    }

    /// How a run stands.
    pub fn state(&self, activation: &str) -> std::result::Result<State, ToolError> {
        Ok(self.steps.get(activation)?.fold.state().clone())
    }

    /// Runs an agent to its end.
    pub async fn run(&self, activation: Activation) -> Result {
        let id = activation.id.clone();
        self.add(activation)?;
        self.finish(&id).await
    }

    /// Runs an agent that was taken on to its end.
    pub async fn finish(&self, activation: &str) -> Result {
        let ended = drive(&self.steps, activation).await;
        self.steps.remove(activation);
        ended
    }

    /// Lets a run that has ended go on with something more to do, to its next end. Returns how it stands then, too.
    pub async fn go_on(&self, activation: &str, more: Option<Fact>) -> (Result, Option<State>) {
        let running = match self.steps.get(activation) {
            Ok(running) => running,
            Err(error) => return (Err(error), None),
        };
        let begun = more.map_or(Ok(()), |more| {
            running.record(more);
            running.record_new_tools()
        });
        // What the agent was told is kept, whatever becomes of its answer.
        let begun = match begun {
            Ok(()) => running.context.committed().await,
            Err(error) => Err(error),
        };
        let ended = match begun {
            Ok(()) => drive(&self.steps, activation).await,
            Err(error) => Err(error),
        };
        self.steps.remove(activation);
        let state = running.fold.state().clone();
        (ended, Some(state))
    }

    fn ends(&self) -> MutexGuard<'_, HashMap<String, watch::Receiver<Option<Result>>>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for LocalDriver {
    fn start(&self, activation: &str) {
        let (tell, told) = watch::channel(None);
        self.ends().insert(activation.to_owned(), told);
        let (steps, id) = (Arc::clone(&self.steps), activation.to_owned());
        tokio::spawn(async move {
            let ended = drive(&steps, &id).await;
            steps.remove(&id);
            let _ = tell.send(Some(ended));
        });
    }

    fn signal<'a>(
        &'a self,
        activation: &'a str,
        signal: Signal,
    ) -> BoxFuture<'a, std::result::Result<(), ToolError>> {
        Box::pin(async move {
            let running = self.steps.get(activation)?;
            running.hear(signal)?;
            running.signalled.notify_one();
            running.context.committed().await
        })
    }

    fn cancel(&self, activation: &str) {
        if let Ok(running) = self.steps.get(activation) {
            running.record(Fact::StopAsked);
            running.cancel.cancel();
        }
    }

    fn wait<'a>(&'a self, activation: &'a str) -> BoxFuture<'a, Result> {
        Box::pin(async move {
            let unknown =
                || Err(ToolError::execution(format!("the run `{activation}` was not started here")));
            let told = self.ends().get(activation).cloned();
            let Some(mut told) = told else { return unknown() };
            let ended = match told.wait_for(Option::is_some).await {
                Ok(ended) => ended.clone().unwrap_or_else(unknown),
                Err(_) => Err(ToolError::execution(format!("the run `{activation}` ended without a word"))),
            };
            self.ends().remove(activation);
            ended
        })
    }
}

/// Runs to the end, which is also that of everything below, whatever it comes from.
async fn drive(steps: &LocalSteps, id: &str) -> Result {
    let ended = step_by_step(steps, id).await;
    if ended.is_err()
        && let Ok(running) = steps.get(id)
    {
        running.end_below().await;
    }
    ended
}

/// The loop: what is decided is done, step by step.
async fn step_by_step(steps: &LocalSteps, id: &str) -> Result {
    let running = steps.get(id)?;
    // It may have ended in another process.
    if let Some(ended) = running.ended() {
        return Ok(ended);
    }
    let (mut seq, limit) = {
        let state = running.fold.state();
        let limit = state.start().and_then(|start| start.limits.time_ms);
        (state.next_seq(), limit.map(|limit| limit.saturating_sub(state.elapsed_ms())))
    };
    let deadline =
        limit.map(|limit| tokio::time::Instant::now() + Duration::from_millis(limit.saturating_add(20)));
    loop {
        let todos = steps.advance(id, seq).await?;
        if todos.is_empty() {
            return running
                .ended()
                .ok_or_else(|| ToolError::execution("nothing is left to do, and the run has not ended"));
        }
        let is_last = todos.iter().any(|todo| matches!(todo, Todo::Finish { .. }));
        let mut done = join_all(
            todos
                .into_iter()
                .map(|todo| steps.perform(id, seq, todo, running.cancel.clone(), Heartbeat::default())),
        );
        let results = match deadline {
            Some(deadline) if !is_last => tokio::select! {
                results = &mut done => results,
                () = tokio::time::sleep_until(deadline) => {
                    // The kernel sees by its clock that the time is over.
                    running.is_out_of_time.store(true, Ordering::Release);
                    running.cancel.cancel();
                    done.await
                }
            },
            _ => done.await,
        };
        // Boxed results of what failed: a store that cannot be written ends the run before the next call.
        results.into_iter().collect::<std::result::Result<Vec<()>, ToolError>>()?;
        if is_last {
            return running.ended().ok_or_else(|| ToolError::execution("the run did not end"));
        }
        seq += 1;
    }
}
