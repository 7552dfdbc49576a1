//! `toolpost policy`: what is decided, why, and what would change it.

mod import;

use super::call::arguments;
use crate::cli::Policy;
use crate::output::{Printer, on_terminal};
use crate::runtime::Runtime;
use toolpost_core::access::ResourceKind;
use toolpost_core::policy::{Explanation, Request};
use toolpost_core::{Access, Capability, Code, ToolError};

pub(crate) fn run(runtime: &Runtime, printer: &Printer, command: &Policy) -> u8 {
    let result = match command {
        Policy::Explain { tool, arguments } => explain(runtime, printer, tool, arguments),
        Policy::Show => show(runtime, printer),
        Policy::Import(flags) => import::run(runtime, printer, flags),
    };
    match result {
        Ok(()) => 0,
        Err(error) => printer.invocation_error(&error.redacted(runtime.context.redactor())),
    }
}

fn explain(runtime: &Runtime, printer: &Printer, tool: &str, words: &[String]) -> Result<(), ToolError> {
    let explanation = match tool.split_once(':') {
        Some((tool, resource)) if words.is_empty() => explain_access(runtime, tool.trim(), resource.trim())?,
        _ => {
            let explain = || {
                let arguments = arguments::parse(runtime, tool, words)?;
                runtime.executor.explain(&runtime.context, tool, arguments)
            };
            match explain() {
                // What is allowed may start its server, where only that knows what its tool requires.
                Err(error) if error.code() == Code::ToolNotFound => {
                    runtime.know(tool)?;
                    explain()?
                }
                explained => explained?,
            }
        }
    };
    let redactor = runtime.context.redactor();
    match printer.is_json() {
        true => {
            let value = serde_json::to_value(&explanation).unwrap_or_default();
            printer.json(&redactor.redact_json(value));
        }
        false => printer.data(&on_terminal(&redactor.redact(&explanation.to_string()))),
    }
    Ok(())
}

/// `'bash: git push'`: what a tool or a capability does to one command, host or file. A command line is read as a call
/// would read it.
fn explain_access(runtime: &Runtime, tool: &str, resource: &str) -> Result<Explanation, ToolError> {
    let snapshot = runtime.context.tools().snapshot();
    let access = match tool {
        "bash" | "exec" | "execute" => {
            let arguments = serde_json::json!({ "command": resource });
            return runtime.executor.explain(&runtime.context, "bash", arguments);
        }
        "network" => Access::host(resource),
        "write" => Access::path(Capability::Write, resource),
        "read" => Access::path(Capability::Read, resource),
        other => {
            let explained = runtime.executor.explain(&runtime.context, other, serde_json::json!({}));
            // Tools of servers need not be there yet.
            if let Err(error) = explained
                && error.code() == Code::ToolNotFound
                && !other.starts_with("mcp__")
            {
                return Err(error);
            }
            match snapshot.get(other).map(|entry| entry.spec()) {
                Some(spec) if spec.about == Some(ResourceKind::Host) => Access::host(resource),
                Some(spec) if spec.about == Some(ResourceKind::Stored) => {
                    let is_write = spec.required.has(Capability::Write);
                    Access::stored(if is_write { Capability::Write } else { Capability::Read }, resource)
                }
                Some(spec) if spec.required.has(Capability::Write) => {
                    Access::path(Capability::Write, resource)
                }
                _ => Access::path(Capability::Read, resource),
            }
        }
    };
    let sources = runtime.context.tools().sources_of(tool);
    let expected = sources.iter().flat_map(|source| source.expected(tool)).next();
    let policy = match expected.filter(|_| snapshot.get(tool).is_none()) {
        Some(expected) => runtime.policy().with_names(&snapshot.names().with(&expected.spec)),
        None => runtime.policy(),
    };
    Ok(policy.explain(&Request { tool, accesses: &[access] }))
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
