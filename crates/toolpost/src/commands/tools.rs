//! `toolpost tools`: what there is.

mod export;

pub(crate) use export::price;

use crate::cli::{Call as CallFlags, Tools};
use crate::output::{Printer, Tone, on_terminal};
use crate::runtime::Runtime;
use serde_json::{Value, json};
use toolpost_core::executor::Listing;
use toolpost_core::registry::Entry;
use toolpost_core::tool::Definition;
use toolpost_core::{Snapshot, ToolError};

/// Maximum number of tools that are named though they are not in the list.
const MOST_NAMED: usize = 40;

pub(crate) fn run(runtime: Runtime, printer: &Printer, command: Option<&Tools>) -> u8 {
    let command = command.unwrap_or(&Tools::List);
    let notes = match command {
        // It waits for its server itself, and in its own words.
        Tools::Call { .. } => Vec::new(),
        Tools::Show { name } => {
            runtime.know(name).err().map(|error| error.message().to_owned()).into_iter().collect()
        }
        Tools::List | Tools::Export { .. } | Tools::Lint | Tools::Discover => runtime.know_all(),
    };
    notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {}", on_terminal(note))));
    let result = match command {
        Tools::List => list(&runtime, printer),
        Tools::Show { name } => show(&runtime, printer, name),
        Tools::Export { format } => export::run_export(&runtime, printer, *format),
        Tools::Discover => export::run_discover(&runtime, printer),
        Tools::Call { name } => return super::call::run(runtime, printer, &CallFlags::from_stdin(name)),
        Tools::Lint => match export::run_lint(&runtime, printer) {
            Ok(status) => return status,
            Err(error) => Err(error),
        },
    };
    match result {
        Ok(()) => 0,
        Err(error) => printer.invocation_error(&error),
    }
}

fn list(runtime: &Runtime, printer: &Printer) -> Result<(), ToolError> {
    let Listing { snapshot, listed, held_back, refused } = runtime.executor.listing(&runtime.context);
    let dialect = runtime.context.dialect();
    let mut offered = Vec::new();
    let mut unknown_there = Vec::new();
    for entry in &listed {
        match snapshot.offer(entry, dialect)? {
            Some(definition) => offered.push((entry, definition)),
            None => unknown_there.push(entry),
        }
    }
    if printer.is_json() {
        let all = offered.iter().map(|(entry, definition)| describe(&snapshot, entry, definition));
        printer.json(&json!({ "tools": all.collect::<Result<Vec<_>, _>>()? }));
        return Ok(());
    }
    let width = offered.iter().map(|(_, definition)| definition.name.len()).max().unwrap_or(0);
    let mut page = String::new();
    for (entry, definition) in &offered {
        let causes = entry.capabilities().to_string();
        let name = format!("{:width$}", definition.name);
        let line = format!("{name}  {causes:12}  {}", on_terminal(&definition.description));
        let line = printer.fitted_data(&line, 4);
        // On a terminal narrower than the name, the line is broken within its padding.
        let line = match line.strip_prefix(&name) {
            Some(rest) => format!("{}{rest}\n", printer.bold(&name)),
            None => format!("{line}\n"),
        };
        page.push_str(&line);
    }
    printer.page(&page);
    for entry in unknown_there {
        let reason = dialect.reason_against(entry.name()).unwrap_or_default();
        let message = format!("not offered in the dialect {}: {} ({reason})", dialect.name(), entry.name());
        printer.say(Tone::Note, &message);
    }
    match held_back.len() {
        0 => {}
        count => {
            let names: Vec<&str> = held_back.iter().map(|entry| entry.name()).take(MOST_NAMED).collect();
            let more = if count > names.len() { ", …" } else { "" };
            let message = format!(
                "{count} more can be called, and are left out of the list to save tokens; a model finds them by `tool_search`: {}{more}",
                names.join(", ")
            );
            printer.say_fitted(Tone::Note, &message, 4);
        }
    }
    let (of_role, refused): (Vec<_>, Vec<_>) = refused
        .into_iter()
        .partition(|entry| !entry.spec().is_for_role(runtime.context.ids().role.as_deref()));
    // Who has no role does not ask for them.
    for entry in of_role.iter().filter(|_| runtime.context.ids().role.is_some()) {
        let roles = entry.spec().roles.join(" or ");
        printer
            .say(Tone::Note, &format!("not offered to this role: {} (needs --role {roles})", entry.name()));
    }
    for entry in refused {
        let (name, spec) = (entry.name(), entry.spec());
        // The policy comes first: a tool that it offers lacks a service.
        let is_allowed = runtime.context.policy().offers(&spec.name, spec.required);
        let service = spec.needs.iter().find(|need| is_allowed && !runtime.context.has(**need));
        let message = match service {
            Some(service) => {
                let advice = spec.missing_advice.map(|advice| format!(": {advice}")).unwrap_or_default();
                format!("not offered here: {name} (needs the {} service{advice})", service.as_str())
            }
            None => format!("not offered under this policy: {name} (needs {})", spec.required),
        };
        printer.say_fitted(Tone::Note, &message, 4);
    }
    Ok(())
}

fn show(runtime: &Runtime, printer: &Printer, name: &str) -> Result<(), ToolError> {
    let snapshot = runtime.context.tools().snapshot();
    let dialect = runtime.context.dialect();
    let found = snapshot.find(name, dialect)?;
    let entry = &*found.entry;
    let definition = match snapshot.offer(entry, dialect)? {
        Some(definition) => definition,
        None => entry.prepared()?.definition.clone(),
    };
    if printer.is_json() {
        printer.json(&describe(&snapshot, entry, &definition)?);
        return Ok(());
    }
    let others = other_names(&snapshot, entry, &definition);
    let mut page = format!(
        "{} {}\n{}\n",
        printer.bold(&definition.name),
        definition.version,
        on_terminal(&definition.description)
    );
    page.push_str(&format!("\n{}\n", printer.bold("Arguments")));
    page.push_str(&arguments(&definition.input));
    page.push_str(&format!("\n{}\n", printer.bold("Facts")));
    page.push_str(&format!("  can cause    {}\n", definition.required));
    if !definition.optional.is_empty() {
        page.push_str(&format!("  where granted {}\n", definition.optional));
    }
    page.push_str(&format!(
        "  time-out     {} s (at most {} s)\n",
        definition.timeout.as_secs_f64(),
        definition.max_timeout.as_secs_f64()
    ));
    page.push_str(&format!(
        "  output       {} bytes or {} lines\n",
        definition.budget.bytes, definition.budget.lines
    ));
    if !others.is_empty() {
        page.push_str(&format!("  also called  {}\n", others.join(", ")));
    }
    if let Some(reason) = dialect.reason_against(entry.name()) {
        page.push_str(&format!("  not offered  in the dialect {}: {reason}\n", dialect.name()));
    }
    printer.page(&page);
    Ok(())
}

/// One line an argument: name, type, default, what it is.
fn arguments(schema: &Value) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty())
    else {
        return "  none\n".to_owned();
    };
    let width = properties.keys().map(String::len).max().unwrap_or(0) + 1;
    let mut text = String::new();
    for (name, property) in properties {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let kind = property.get("type").and_then(Value::as_str);
        let kind = kind.unwrap_or(if values(property).is_empty() { "any" } else { "string" });
        let usual = property.get("default").map_or_else(String::new, |value| format!(" (usually {value})"));
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let one_of = match values(property).as_slice() {
            [] => String::new(),
            values => format!(" One of {}.", values.join(", ")),
        };
        text.push_str(&format!(
            "  {:width$}  {kind:8} {}{}{usual}\n",
            format!("{name}{mark}"),
            on_terminal(about),
            on_terminal(&one_of)
        ));
    }
    text
}

/// The values that an argument may have, where these are all.
fn values(property: &Value) -> Vec<String> {
    let list = |key: &str| property.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut values: Vec<String> = list("enum").map(Value::to_string).collect();
    for form in list("oneOf").chain(list("anyOf")) {
        values.extend(form.get("const").map(Value::to_string));
        values.extend(form.get("enum").and_then(Value::as_array).into_iter().flatten().map(Value::to_string));
    }
    values
}

fn describe(snapshot: &Snapshot, entry: &Entry, definition: &Definition) -> Result<Value, ToolError> {
    let mut value = serde_json::to_value(definition)
        .map_err(|error| ToolError::execution(format!("`{}` cannot be described: {error}", entry.name())))?;
    value["canonicalName"] = json!(entry.name());
    value["aliases"] = json!(other_names(snapshot, entry, definition));
    Ok(value)
}

/// What else leads to a tool, beside the name it is shown by.
fn other_names(snapshot: &Snapshot, entry: &Entry, shown: &Definition) -> Vec<String> {
    let mut names = vec![entry.name().to_owned()];
    names.extend(snapshot.other_names(entry.name()));
    names.retain(|name| *name != shown.name);
    names
}
