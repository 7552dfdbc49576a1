//! `toolpost run --resume` of a run that has ended: nothing is left to do, and its result is printed once more.

use super::{Facts, Wanted, report, result, status_of, why};
use crate::cli::RunOutput;
use crate::output::{Beginning, Printer, Stage, Tone};
use crate::runtime::{Recorded, Runtime};
use std::time::Duration;
use toolpost_agent::tree::Amount;
use toolpost_core::ToolError;
use toolpost_core::event::EventKind;

/// Prints the result of the run that is to go on, if that has ended. Returns the exit status that it had; none where there is
/// something to do.
pub(super) fn status(
    runtime: &Runtime,
    printer: &Printer,
    stage: &Stage,
    wanted: &Wanted,
    output: RunOutput,
) -> Result<Option<u8>, ToolError> {
    let Wanted::Resume { session, from } = wanted else { return Ok(None) };
    let Some(recorded) = runtime.finished(session, *from)? else { return Ok(None) };
    let state = recorded.states.get(&recorded.root);
    let (Some(state), Some(ended)) = (state, state.and_then(|state| state.ended())) else { return Ok(None) };
    let start = recorded.start()?;
    let name = recorded.name_of(&recorded.root);
    let note = format!(
        "the run of the session `{}` has ended ({}), and this is its result; `toolpost chat --resume {name}` tells it more, \
         and `toolpost sessions fork` begins another one from it",
        recorded.session,
        ended.reason.as_str(),
    );
    let (calls, denials) = calls(&recorded);
    let tree = spent(&recorded);
    let facts = Facts {
        agent: start.agent.clone(),
        model: format!("{}/{}", start.model.vendor, start.model.model),
        session: recorded.session.clone(),
        id: recorded.root.clone(),
        calls,
        denials,
        why: why(ended, &start.limits, tree).map(|(code, message)| (ended.code.unwrap_or(code), message)),
        elapsed: Duration::from_millis(state.elapsed_ms()),
        tree,
    };
    let redactor = runtime.context.redactor();
    printer.begin_run(&facts.agent, &facts.id);
    let notes = [note];
    stage.begin(
        &Beginning {
            agent: &facts.agent,
            activation: &facts.id,
            model: &facts.model,
            session: &facts.session,
            notes: &notes,
        },
        redactor,
    );
    stage.end();
    if output != RunOutput::StreamJson {
        printer.say(Tone::Note, &format!("note: {}", notes[0]));
    }
    match output {
        RunOutput::Text => {
            let text = redactor.redact(&ended.text).into_owned();
            if !text.trim().is_empty() {
                printer.data(&text);
            }
            report(printer, ended, &facts, redactor);
        }
        RunOutput::Json | RunOutput::StreamJson => {
            printer.json(&redactor.redact_json(result(ended, &facts, output)));
        }
    }
    Ok(Some(status_of(ended, false)))
}

/// How many calls the agents of the run have made, and the tools of those that were denied.
fn calls(recorded: &Recorded) -> (u64, Vec<String>) {
    let (mut calls, mut denials) = (0, Vec::new());
    let runs: Vec<&str> = recorded.tree().into_iter().map(|(run, _)| run).collect();
    let is_of_run = |run: Option<&str>| run.is_some_and(|run| runs.contains(&run));
    for event in recorded.events.iter().filter(|event| is_of_run(event.activation.as_deref())) {
        match &event.kind {
            EventKind::CallRequested { parent: None, .. } => calls += 1,
            EventKind::CallFinished { tool, error: Some(error), .. } if error.code().exit_status() == 3 => {
                denials.push(tool.clone());
            }
            _ => {}
        }
    }
    (calls, denials)
}

/// What the agents of the run have spent together.
fn spent(recorded: &Recorded) -> Amount {
    let (mut tokens, mut cost) = (0_u64, None);
    for (_, state) in recorded.tree() {
        let usage = state.usage();
        tokens = tokens.saturating_add(usage.input).saturating_add(usage.output);
        cost = state.cost().map_or(cost, |more| Some(cost.unwrap_or(0.0) + more));
    }
    Amount::new(tokens, cost)
}
