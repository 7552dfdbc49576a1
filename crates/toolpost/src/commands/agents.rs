//! `toolpost agents`: the agent files there are, and what is wrong with them.

use crate::cli::Agents;
use crate::config::{FoundAgent, FoundAgents, State};
use crate::output::{Mark, Printer, Tone, on_terminal, one_line};
use crate::runtime::Runtime;
use serde_json::{Value, json};
use toolpost_agent::agent_file::{Loaded, Problem, Severity};
use toolpost_core::{Code, ToolError};

pub(crate) fn run(runtime: &Runtime, printer: &Printer, command: Option<&Agents>) -> u8 {
    // Files may name tools that other files define.
    runtime.offer_agents_tools();
    match command {
        None | Some(Agents::List) => list(runtime, printer),
        Some(Agents::Check { files }) => check(runtime, printer, files),
    }
}

fn list(runtime: &Runtime, printer: &Printer) -> u8 {
    let FoundAgents { agents, refused } = runtime.config.agents();
    if printer.is_json() {
        let agents: Vec<Value> = agents.iter().map(|agent| describe(runtime, agent)).collect();
        let refused: Vec<Value> =
            refused.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
        printer.json(&json!({"agents": agents, "refused": refused}));
        return 0;
    }
    if agents.is_empty() {
        printer.say(
            Tone::Note,
            "there are no agents yet; put a file into .toolpost/agents, or run one by its path",
        );
    }
    let width = agents.iter().map(|agent| one_line(&agent.name()).chars().count()).max().unwrap_or(0);
    for agent in &agents {
        let name = one_line(&agent.name());
        let about = agent.loaded.agent.as_ref().map(|agent| agent.description.as_str()).unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        printer.page(&format!(
            "{} {}  {}\n",
            printer.mark(mark(agent)),
            printer.bold(&format!("{name:width$}")),
            one_line(about)
        ));
        let whose = match agent.format {
            toolpost_agent::agent_file::Format::Toolpost => String::new(),
            format => format!(", of {}", format.title()),
        };
        printer.page(&format!("       {}{whose}{}\n", one_line(&agent.path), state(agent)));
        if let Some(path) = &agent.hidden_by {
            let path = one_line(path);
            printer.page(&format!("       not used: {path} has the same name; run this one by its path\n"));
        }
    }
    for (path, why) in refused {
        printer.say(Tone::Note, &format!("note: {} {}", one_line(&path), one_line(&why)));
    }
    0
}

fn mark(agent: &FoundAgent) -> Mark {
    match (&agent.loaded.agent, agent.state) {
        (None, _) => Mark::Broken,
        (Some(_), State::Trusted) => Mark::Good,
        (Some(_), State::Waiting | State::Changed) => Mark::Note,
    }
}

fn state(agent: &FoundAgent) -> String {
    let trust = match agent.state {
        State::Trusted => "",
        State::Waiting => "; waits for `toolpost trust`",
        State::Changed => "; has changed since you trusted it: run `toolpost trust`",
    };
    let problems = match agent.loaded.problems.iter().map(|problem| problem.severity).max() {
        Some(Severity::Broken) => "; cannot be used: `toolpost agents check` says why",
        Some(Severity::LeftOut) => "; not everything in it can be used: `toolpost agents check` says why",
        Some(Severity::Warning) | None => "",
    };
    format!("{trust}{problems}")
}

fn describe(runtime: &Runtime, found: &FoundAgent) -> Value {
    let agent = found.loaded.agent.as_ref();
    let tools = |choices: &Option<Vec<toolpost_agent::agent_file::ToolChoice>>| {
        choices.as_ref().map(|all| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>())
    };
    json!({
        "name": found.name(),
        "path": found.path,
        "format": found.format,
        "workspace": found.is_of_workspace,
        "trust": found.state,
        "usable": agent.is_some() && found.state == State::Trusted && found.hidden_by.is_none(),
        "hiddenBy": found.hidden_by,
        "description": agent.map(|agent| agent.description.as_str()),
        "models": agent.map(|agent| agent.models.clone()),
        "toolPacks": agent.and_then(|agent| tools(&agent.tool_packs)),
        "tools": agent.and_then(|agent| tools(&agent.tools)),
        "promptTools": agent.map(|agent| agent.prompt_tools.clone()),
        "limits": agent.map(|agent| agent.limits.clone()),
        "role": agent.and_then(|agent| agent.role.clone()),
        "dialect": agent.and_then(|agent| agent.dialect.clone()),
        "script": agent.map(|agent| agent.script.is_some()),
        "problems": problems(runtime, &found.loaded),
    })
}

/// Everything wrong with a file: by itself, and with the tools there are.
fn problems(runtime: &Runtime, loaded: &Loaded) -> Vec<Problem> {
    let mut problems = loaded.problems.clone();
    if let Some(agent) = &loaded.agent {
        problems.extend(runtime.check_names(agent));
        problems.extend(runtime.check_script(agent));
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

fn check(runtime: &Runtime, printer: &Printer, files: &[String]) -> u8 {
    let mut checked: Vec<(String, Vec<Problem>)> = Vec::new();
    if files.is_empty() {
        let found = runtime.config.agents();
        checked.extend(found.agents.iter().map(|agent| {
            let hidden = agent.hidden_by.as_ref().map(|by| {
                let at = toolpost_agent::agent_file::At { line: 1, column: 1 };
                let message =
                    format!("`{}` is also the name of {by}, which is used; rename one of them", agent.name());
                Problem::new(&agent.path, at, Some("name"), Severity::Warning, message)
            });
            (agent.path.clone(), hidden.into_iter().chain(problems(runtime, &agent.loaded)).collect())
        }));
        for (path, why) in found.refused {
            let at = toolpost_agent::agent_file::At { line: 1, column: 1 };
            let problem = Problem::new(&path, at, None, Severity::Broken, why);
            checked.push((path, vec![problem]));
        }
    }
    for file in files {
        match runtime.config.agent(file) {
            Ok(loaded) => checked.push((file.clone(), problems(runtime, &loaded))),
            // To check a file that waits for trust is what comes before trusting it.
            Err(error) if error.code() == Code::Untrusted => {
                let path = error.details().get("path").and_then(Value::as_str).unwrap_or(file).to_owned();
                let found = runtime.config.agents().agents.into_iter().find(|agent| agent.path == path);
                checked.extend(found.map(|agent| (path, problems(runtime, &agent.loaded))));
            }
            // One that cannot be read does not keep the others from being checked.
            Err(error) if files.len() > 1 => {
                let at = toolpost_agent::agent_file::At { line: 1, column: 1 };
                let problem = Problem::new(file, at, None, Severity::Broken, error.message());
                checked.push((file.clone(), vec![problem]));
            }
            Err(error) => return printer.invocation_error(&error),
        }
    }
    if checked.is_empty() {
        let error = ToolError::new(
            Code::FileNotFound,
            "there are no agent files to check; name one, or put one into .toolpost/agents",
        );
        return printer.invocation_error(&error);
    }
    let is_sound =
        |problems: &[Problem]| problems.iter().all(|problem| problem.severity == Severity::Warning);
    let all_sound = checked.iter().all(|(_, problems)| is_sound(problems));
    if printer.is_json() {
        let files: Vec<Value> = checked
            .iter()
            .map(|(path, problems)| json!({"path": path, "sound": is_sound(problems), "problems": problems}))
            .collect();
        printer.json(&json!({"success": all_sound, "files": files}));
        return u8::from(!all_sound);
    }
    for (path, problems) in &checked {
        let worst = problems.iter().map(|problem| problem.severity).max();
        let mark = match worst {
            None => Mark::Good,
            Some(Severity::Warning) => Mark::Note,
            Some(Severity::LeftOut | Severity::Broken) => Mark::Broken,
        };
        printer.page(&format!("{} {}\n", printer.mark(mark), one_line(path)));
        for problem in problems {
            printer.page(&format!("       {}\n", on_terminal(&problem.to_string())));
        }
    }
    u8::from(!all_sound)
}
