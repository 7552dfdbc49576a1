//! `toolpost policy`: what is decided, why, and what would change it.

mod import;

use super::call::arguments;
use super::call::named::full_name;
use crate::cli::Policy;
use crate::output::{Printer, on_terminal};
use crate::runtime::{Runtime, threads};
use toolpost_core::access::ResourceKind;
use toolpost_core::policy::{Explanation, Outlook};
use toolpost_core::{Access, Capability, Code, ToolError};

/// The exit status of an explanation that is not `allow`, where one is wanted.
const NOT_ALLOWED: u8 = 3;

pub(crate) fn run(runtime: &Runtime, printer: &Printer, command: &Policy) -> u8 {
    let result = match command {
        Policy::Explain { tool, arguments, exit_code } => {
            explain(runtime, printer, tool, arguments).map(|outlook| match outlook {
                Outlook::Limited | Outlook::Ask | Outlook::Deny if *exit_code => NOT_ALLOWED,
                _ => 0,
            })
        }
        Policy::Show => show(runtime, printer).map(|()| 0),
        Policy::Import(flags) => import::run(runtime, printer, flags).map(|()| 0),
    };
    result.unwrap_or_else(|error| printer.invocation_error(&error.redacted(runtime.context.redactor())))
}

fn explain(runtime: &Runtime, printer: &Printer, tool: &str, words: &[String]) -> Result<Outlook, ToolError> {
    let explanation = match tool.split_once(':') {
        Some((tool, resource)) if words.is_empty() => {
            explain_resource(runtime, tool.trim(), resource.trim())?
        }
        _ => explain_call(runtime, tool, words)?,
    };
    let redactor = runtime.context.redactor();
    match printer.is_json() {
        true => {
            let value = serde_json::to_value(&explanation).unwrap_or_default();
            printer.json(&redactor.redact_json(value));
        }
        false => printer.data(&on_terminal(&redactor.redact(&explanation.to_string()))),
    }
    Ok(explanation.effect)
}

/// A call, as `toolpost call` would make it. What is allowed may start its server, where only that knows what its tool
/// requires.
fn explain_call(runtime: &Runtime, tool: &str, words: &[String]) -> Result<Explanation, ToolError> {
    let tool = &match &runtime.plugins {
        Some(_) => threads()?.block_on(full_name(runtime, tool))?,
        None => tool.to_owned(),
    };
    let explain = || {
        let arguments = arguments::parse(runtime, tool, words)?;
        runtime.executor.explain(&runtime.context, tool, arguments)
    };
    match explain() {
        Err(error) if error.code() == Code::ToolNotFound => {
            runtime.know(tool)?;
            explain()
        }
        explained => explained,
    }
}

/// `'bash: git push'`: what a tool or a capability does to one command, host or file. A command line is read as a call
/// would read it.
fn explain_resource(runtime: &Runtime, tool: &str, resource: &str) -> Result<Explanation, ToolError> {
    let access = match tool {
        "bash" | "exec" | "execute" => {
            let arguments = serde_json::json!({ "command": resource });
            return runtime.executor.explain(&runtime.context, "bash", arguments);
        }
        "network" => Access::host(resource),
        "write" => Access::path(Capability::Write, resource),
        "read" => Access::path(Capability::Read, resource),
        // As a call with its main argument, where that is enough for one.
        other => match explain_call(runtime, other, &[resource.to_owned()]) {
            Err(error) if error.code() == Code::ValidationError => access_of(runtime, other, resource),
            explained => return explained,
        },
    };
    Ok(runtime.executor.explain_access(&runtime.context, tool, access))
}

/// What a tool does to a file, a virtual file or a host of which nothing else is known.
fn access_of(runtime: &Runtime, tool: &str, resource: &str) -> Access {
    let snapshot = runtime.context.tools().snapshot();
    let found = snapshot.find(tool, runtime.context.dialect()).ok();
    let Some(spec) = found.as_ref().map(|found| found.entry.spec()) else {
        return Access::path(Capability::Read, resource);
    };
    let action = if spec.required.has(Capability::Write) { Capability::Write } else { Capability::Read };
    match spec.about {
        Some(ResourceKind::Host) => Access::host(resource),
        Some(ResourceKind::Command) => Access::command(resource),
        Some(ResourceKind::Stored) => Access::stored(action, resource),
        Some(ResourceKind::Path) | None => Access::path(action, resource),
    }
}

fn show(runtime: &Runtime, printer: &Printer) -> Result<(), ToolError> {
    let policy = runtime.policy();
    match printer.is_json() {
        true => printer.json(&serde_json::json!({
            "granted": policy.granted(),
            "askable": policy.askable(),
            "rules": toolpost_core::policy::Layer::ALL
                .into_iter()
                .flat_map(|layer| policy.rules(layer).cloned().collect::<Vec<_>>())
                .collect::<Vec<_>>(),
        })),
        false => printer.data(&toolpost_rules::policy_to_toml(&policy)),
    }
    Ok(())
}
