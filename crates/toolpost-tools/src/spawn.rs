//! The spawn pack: agents that start agents. Depth, fan-out, budget and policy are the host's to keep.

mod signal_parent;
mod spawn_agent;
mod task;

pub use signal_parent::SignalParent;
pub use spawn_agent::SpawnAgent;
pub use task::Task;

use std::time::Duration;
use toolpost_core::capability::Need;
use toolpost_core::host::AgentType;
use toolpost_core::pack::RiskProfile;
use toolpost_core::tool::{Amendment, Annotations, Definition, OutputBudget, Setting};
use toolpost_core::{Pack, Spec, ToolError};

/// The limits of the tree end an agent, and not the time-out of the call that waits for it.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long an agent that is told to end may take to hand over what it has.
const GRACE: Duration = Duration::from_millis(1_500);
/// Maximum number of letters of a description of an agent.
const MOST_LETTERS: usize = 200;

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "spawn",
        "Agents that start agents; what those may do is at most what the one that starts them may.",
        RiskProfile::Dynamic,
        &["agents"],
    )
    .only_with(Need::Agents)
    .with(SpawnAgent)
    .with(Task)
    .with(SignalParent)
}

/// What the tools that start agents have in common. The same call made again goes on with the same agent.
fn spec(name: &str, description: &str) -> Spec {
    let mut spec = Spec::new(name, "1.0.0", description)
        .needs(Need::Agents)
        .idempotent()
        .parallel_safe()
        .calls_tools()
        .init_by_agent()
        .timeout(LONGEST, LONGEST)
        .grace(GRACE)
        .budget(OutputBudget { bytes: 100_000, lines: 5_000 })
        .own_dry_run();
    spec.annotations =
        Some(Annotations { read_only: false, destructive: true, idempotent: false, open_world: true });
    spec
}

/// The agents that there are, in the description and as the only values of an argument.
fn amended(setting: &Setting, declared: Definition, argument: &str) -> Option<Amendment> {
    let host = setting.services.agents.as_ref()?;
    let types = host.types(setting.agent.as_deref());
    let lines: Vec<String> = types.iter().map(line).collect();
    let agents = match lines.is_empty() {
        true => "There are no agents to start.".to_owned(),
        false => format!("Agents:\n{}", lines.join("\n")),
    };
    let description = format!("{}\n{agents}", declared.spec.description);
    let mut input = declared.input;
    if let Some(value) = input.pointer_mut(&format!("/properties/{argument}"))
        && !types.is_empty()
    {
        value["enum"] = types.iter().map(|one| one.name.as_str()).collect();
    }
    Some(Amendment { description: Some(description), input: Some(input) })
}

fn line(agent: &AgentType) -> String {
    let text = agent.description.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("- {}: {}…", agent.name, &text[..end]),
        None if text.is_empty() => format!("- {}", agent.name),
        None => format!("- {}: {text}", agent.name),
    }
}

/// A call that only tells what it would do.
fn would_start(agent: &str) -> Result<(String, String), ToolError> {
    Ok((agent.to_owned(), format!("would start the agent `{agent}`; what it does is its own to decide")))
}
