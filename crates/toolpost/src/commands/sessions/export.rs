//! A session as one page, or as JSON: who did what, in which order, for how much. From the log alone.

use super::page::{Page, escaped};
use super::standing;
use crate::calendar::moment;
use crate::output::cost_in_words;
use crate::runtime::Recorded;
use serde_json::{Value, json};
use std::collections::HashMap;
use toolpost_agent::kernel::State;
use toolpost_agent::tree::Amount;
use toolpost_core::activation::{Fact, Todo};
use toolpost_core::event::EventKind;

/// Maximum number of bytes of a text that the page shows.
const MOST_TEXT: usize = 20_000;
/// More calls of one tool in a row are folded into one row.
const MOST_ALIKE: usize = 8;

/// One agent for programs.
pub(super) fn agent(id: &str, state: &State) -> Value {
    let start = state.start();
    json!({
        "id": id,
        "agent": start.map(|start| start.agent.as_str()),
        "parent": start.and_then(|start| start.parent.as_deref()),
        "call": start.and_then(|start| start.call.as_deref()),
        "depth": start.map(|start| start.depth),
        "model": start.map(|start| format!("{}/{}", start.model.vendor, start.model.model)),
        "task": start.map(|start| start.task.as_str()),
        "state": standing(state),
        "text": state.ended().map(|ended| ended.text.as_str()),
        "turns": state.answers(),
        "usage": state.usage(),
        "costUsd": state.whole_cost(),
        "unpricedTokens": state.spent().unpriced,
    })
}

/// Everything for programs: the tree, and the events as they are in the log.
pub(super) fn json(recorded: &Recorded) -> Value {
    let agents: Vec<Value> = recorded.tree().into_iter().map(|(id, state)| agent(id, state)).collect();
    json!({ "session": recorded.session, "run": recorded.root, "agents": agents, "events": recorded.events })
}

/// One page that needs nothing else.
pub(super) fn html(recorded: &Recorded) -> String {
    let tree = recorded.tree();
    let costs = costs(&tree);
    let mut page = Page::new(&recorded.session);
    head(&mut page, recorded, &tree);
    page.open("<h2>Agents</h2>\n<table class=\"tree\">\n<tr><th>agent</th><th>state</th><th>turns</th><th>tokens</th><th>cost</th><th>cost of branch</th><th>task</th></tr>\n");
    for (id, state) in &tree {
        let Some(start) = state.start() else { continue };
        let (usage, below) = (state.usage(), costs.get(id).copied().unwrap_or_default());
        let task: String = start.task.split_whitespace().collect::<Vec<_>>().join(" ");
        page.open(&format!(
            "<tr><td style=\"padding-left:{}em\"><a href=\"#a-{}\">{}</a></td><td><span class=\"state {}\">{}</span></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"task\">{}</td></tr>\n",
            start.depth.min(20) as f64 * 1.2 + 0.5,
            escaped(id),
            escaped(&start.agent),
            standing(state),
            standing(state),
            state.answers(),
            usage.input + usage.output,
            cost_of(state.spent()),
            cost_of(below),
            escaped(&short(&task, 120)),
        ));
    }
    page.open("</table>\n<h2>Timeline</h2>\n");
    timeline(&mut page, recorded, &tree);
    page.end()
}

fn head(page: &mut Page, recorded: &Recorded, tree: &[(&str, &State)]) {
    let first = recorded.events.first().map(|event| event.at_ms).unwrap_or_default();
    let last = recorded.events.last().map(|event| event.at_ms).unwrap_or_default();
    let calls =
        recorded.events.iter().filter(|event| matches!(event.kind, EventKind::CallFinished { .. })).count();
    let failed = recorded
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::CallFinished { error: Some(_), .. }))
        .count();
    let total = tree.iter().fold(Amount::default(), |total, (_, state)| total.plus(state.spent()));
    let tokens: u64 = tree.iter().map(|(_, state)| state.usage().input + state.usage().output).sum();
    let root = tree.first().and_then(|(_, state)| state.start());
    page.open("<dl>\n");
    let mut row = |name: &str, value: &str| page.row(name, value);
    if let Some(start) = root {
        row("agent", &start.agent);
        row("model", &format!("{}/{}", start.model.vendor, start.model.model));
        row("task", &short(&start.task, 600));
        row("workspace", &start.workspace);
    }
    row("began (UTC)", &moment(first));
    row("took", &format!("{:.1} s", last.saturating_sub(first) as f64 / 1000.0));
    row("agents", &tree.len().to_string());
    row("calls", &format!("{calls}, of which {failed} failed"));
    row("tokens", &tokens.to_string());
    row("cost", &cost_of(total));
    page.open("</dl>\n");
}

/// What each agent and all below it cost.
fn costs<'a>(tree: &[(&'a str, &'a State)]) -> HashMap<&'a str, Amount> {
    let mut costs: HashMap<&str, Amount> = HashMap::new();
    // Children come after their parents.
    for (id, state) in tree.iter().rev() {
        let own = costs.get(id).copied().unwrap_or_default().plus(state.spent());
        costs.insert(id, own);
        if let Some(parent) = state.start().and_then(|start| start.parent.as_deref()) {
            let above = costs.entry(parent).or_default();
            *above = above.plus(own);
        }
    }
    costs
}

fn cost_of(amount: Amount) -> String {
    cost_in_words(amount).unwrap_or_else(|| "–".to_owned())
}

/// What happened, in its order: one row for each answer, call, signal and end.
fn timeline(page: &mut Page, recorded: &Recorded, tree: &[(&str, &State)]) {
    let agents: HashMap<&str, (&str, u64)> = tree
        .iter()
        .filter_map(|(id, state)| state.start().map(|start| (*id, (start.agent.as_str(), start.depth))))
        .collect();
    let mut arguments: HashMap<&str, &Value> = HashMap::new();
    let mut alike: Vec<Call<'_>> = Vec::new();
    let first = recorded.events.first().map(|event| event.at_ms).unwrap_or_default();
    for event in &recorded.events {
        let Some(id) = event.activation.as_deref() else { continue };
        let Some((agent, depth)) = agents.get(id).copied() else { continue };
        let row = Row { at: event.at_ms.saturating_sub(first), agent, depth, id };
        match &event.kind {
            EventKind::CallRequested { arguments: given, .. } => {
                if let Some(call) = &event.call {
                    arguments.insert(call, given);
                }
            }
            EventKind::CallFinished { tool, output, error, metadata } => {
                let given = event.call.as_deref().and_then(|call| arguments.get(call));
                let given = given.map(|value| value.to_string()).unwrap_or_default();
                let body = output.as_ref().map(|output| output.text.as_str()).unwrap_or_default();
                let millis = metadata.execution_time_ms;
                match error {
                    Some(error) => {
                        add_calls(page, &mut alike);
                        let title = format!("{}: {}", error.code(), error.message());
                        let label = format!("{tool} · {millis:.1} ms · {}", short(&title, 160));
                        row.add(page, "failed", &label, &[("arguments", &given), ("result", body)]);
                    }
                    None => {
                        if alike.last().is_some_and(|last| (last.row.id, last.tool) != (id, tool)) {
                            add_calls(page, &mut alike);
                        }
                        let title = output.as_ref().map(|output| output.title.as_str()).unwrap_or_default();
                        alike.push(Call { row, tool, millis, title, given, body });
                    }
                }
            }
            EventKind::Activation { fact } if is_shown(fact) => {
                add_calls(page, &mut alike);
                told(page, &row, fact);
            }
            _ => {}
        }
    }
    add_calls(page, &mut alike);
}

/// A call that worked.
struct Call<'a> {
    row: Row<'a>,
    tool: &'a str,
    millis: f64,
    title: &'a str,
    given: String,
    body: &'a str,
}

/// Adds calls of one tool that stand behind one another: many of them folded into one row.
fn add_calls(page: &mut Page, calls: &mut Vec<Call<'_>>) {
    let is_folded = calls.len() > MOST_ALIKE;
    if let (true, Some(first)) = (is_folded, calls.first()) {
        let all: f64 = calls.iter().map(|call| call.millis).sum();
        let label = format!("{} × {} · {all:.1} ms in all", first.tool, calls.len());
        page.begin_group(first.row.at, first.row.agent, first.row.depth, &label);
    }
    for Call { mut row, tool, millis, title, given, body } in calls.drain(..) {
        if is_folded {
            row.depth = 1;
        }
        let label = format!("{tool} · {millis:.1} ms · {}", short(title, 160));
        row.add(page, "call", &label, &[("arguments", &given), ("result", body)]);
    }
    if is_folded {
        page.end_group();
    }
}

/// Whether a fact has a row of its own.
fn is_shown(fact: &Fact) -> bool {
    match fact {
        Fact::Decided { todos, .. } => todos.iter().any(|todo| matches!(todo, Todo::Refuse { .. })),
        Fact::Offered { .. } | Fact::Returned { .. } | Fact::Spawned { .. } => false,
        _ => true,
    }
}

/// A fact of a run.
fn told(page: &mut Page, row: &Row<'_>, fact: &Fact) {
    match fact {
        Fact::Started { start } => {
            page.open(&format!("<a id=\"a-{}\"></a>", escaped(row.id)));
            let task = start.task.split_whitespace().collect::<Vec<_>>().join(" ");
            let label =
                format!("began with {}/{}: {}", start.model.vendor, start.model.model, short(&task, 120));
            row.add(page, "began", &label, &[("instruction", &start.system), ("task", &start.task)]);
        }
        Fact::Answered { response, cost, .. } => {
            let calls = counted(response.tool_calls().map(|call| call.name.as_str()));
            let calls = if calls.is_empty() { String::new() } else { format!("→ {calls}") };
            let tokens = response.usage.input + response.usage.output;
            let spent = match tokens {
                0 => String::new(),
                tokens => format!(" · {tokens} tokens {}", cost_of(Amount::of(&response.usage, *cost))),
            };
            let text = response.text();
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let said = short(&line, 160);
            let gap = if said.is_empty() || calls.is_empty() { "" } else { " " };
            row.add(page, "model", &format!("{said}{gap}{calls}{spent}"), &[("answer", &text)]);
        }
        Fact::ModelFailed { error, .. } => row.add(page, "failed", &error.message, &[]),
        Fact::Signalled { from, text, .. } => {
            row.add(page, "signal", &format!("from {from}"), &[("signal", text)])
        }
        Fact::Continued { text, attachments, .. } => {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let images = attachments.iter().map(|image| format!(" [{}]", image.filename)).collect::<String>();
            row.add(page, "signal", &format!("was told: {}{images}", short(&line, 160)), &[("task", text)]);
        }
        Fact::Paused { times, ms, why, .. } => {
            row.add(page, "signal", &format!("paused {times} times, {ms} ms, last after {why}"), &[]);
        }
        Fact::Compacted { turns, summary, .. } => {
            row.add(page, "signal", &format!("{turns} turns became a summary"), &[("summary", summary)]);
        }
        Fact::Resumed { interrupted } => {
            let calls: Vec<&str> = interrupted.iter().map(|call| call.known.as_str()).collect();
            row.add(page, "signal", "another process went on", &[("interrupted calls", &calls.join("\n"))]);
        }
        Fact::Spent { reason, .. } => {
            row.add(page, "failed", &format!("the budget of the tree is used up: {}", reason.as_str()), &[])
        }
        Fact::StopAsked => row.add(page, "signal", "was told to stop", &[]),
        Fact::Ended { reason, text, .. } => {
            let kind = if *reason == toolpost_core::activation::Reason::Done { "ended" } else { "failed" };
            row.add(page, kind, &format!("ended: {}", reason.as_str()), &[("last text", text)]);
        }
        Fact::Decided { todos, .. } => {
            let refused = todos.iter().filter_map(|todo| match todo {
                Todo::Refuse { text, .. } => Some(text.as_str()),
                _ => None,
            });
            let refused: Vec<&str> = refused.collect();
            if !refused.is_empty() {
                let label = format!("{} calls were answered without being run", refused.len());
                row.add(page, "failed", &label, &[("answers", &refused.join("\n"))]);
            }
        }
        Fact::Offered { .. } | Fact::Returned { .. } | Fact::Spawned { .. } => {}
    }
}

/// Names in a row, each with how often it stands there in a row: `read, grep × 3`.
fn counted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.last_mut().filter(|(last, _)| *last == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let shown = counts.iter().map(|(name, count)| match count {
        1 => (*name).to_owned(),
        count => format!("{name} × {count}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Where a row of the timeline belongs.
struct Row<'a> {
    at: u64,
    agent: &'a str,
    depth: u64,
    id: &'a str,
}

impl Row<'_> {
    fn add(&self, page: &mut Page, kind: &str, label: &str, bodies: &[(&str, &str)]) {
        let bodies: Vec<(&str, String)> = bodies
            .iter()
            .filter(|(_, body)| !body.trim().is_empty() && *body != "{}")
            .map(|(name, body)| (*name, short(body, MOST_TEXT)))
            .collect();
        page.entry(self.at, self.agent, self.depth, kind, label, &bodies);
    }
}

fn short(text: &str, most: usize) -> String {
    match text.len() > most {
        true => format!(
            "{}… ({} bytes more)",
            &text[..text.floor_char_boundary(most)],
            text.len() - text.floor_char_boundary(most)
        ),
        false => text.to_owned(),
    }
}
