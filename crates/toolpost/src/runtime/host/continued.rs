//! Runs that have ended and go on with more: how they are found, and who may go on with which.

use super::TreeHost;
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_agent::kernel::State;
use toolpost_core::store::EventQuery;
use toolpost_core::{Code, Context, ToolError};

impl TreeHost {
    /// How a run of this session stands, by the log.
    pub(super) async fn recorded(
        &self,
        ctx: &Context,
        agent: &AgentFile,
        id: &str,
    ) -> Result<State, ToolError> {
        let (store, id) = (Arc::clone(ctx.store()?), id.to_owned());
        let query = EventQuery {
            session: Some(ctx.session().to_owned()),
            agent: Some(agent.name.clone()),
            ..EventQuery::default()
        };
        ctx.committed().await?;
        ctx.blocking_in_pool(move |_| {
            let events = store.events(&query)?;
            Ok(State::of(&id, events.iter().map(|logged| &logged.event)))
        })
        .await
    }
}

/// Whether a run is one that this agent may go on with.
pub(super) fn check_continued(
    ctx: &Context,
    agent: &AgentFile,
    id: &str,
    state: &State,
) -> Result<(), ToolError> {
    let start = state.start().filter(|start| start.parent == ctx.ids().activation);
    let Some(start) = start else { return Err(unknown(id)) };
    check_agent(agent, id, &start.agent)
}

/// Refuses another agent than the one of the run.
pub(super) fn check_agent(agent: &AgentFile, id: &str, of_run: &str) -> Result<(), ToolError> {
    if of_run == agent.name {
        return Ok(());
    }
    let message = format!(
        "the task `{}` is one of the agent `{of_run}`, and not of `{}`; name that agent to continue it",
        shown(id),
        agent.name
    );
    Err(ToolError::new(Code::ValidationError, message))
}

/// There is no such run, for this caller.
pub(super) fn unknown(id: &str) -> ToolError {
    let message =
        format!("you have no task with the session_id `{}`; leave it out to begin a new one", shown(id));
    ToolError::new(Code::ValidationError, message)
}

fn shown(id: &str) -> String {
    id.chars().take(100).collect()
}

/// Refuses to go on with a run whose file has changed since it began.
pub(super) fn check_same(agent: &AgentFile, state: Option<&State>) -> Result<(), ToolError> {
    let before = state.and_then(State::start).and_then(|start| start.file_hash.as_ref());
    match before.is_none_or(|hash| *hash == agent.hash) {
        true => Ok(()),
        false => {
            let message =
                format!("{} has changed since the agent began, so that it cannot go on", agent.file);
            Err(ToolError::new(Code::ValidationError, message))
        }
    }
}
