//! `toolpost tools`: what there is.

mod export;

pub(crate) use export::price;

use crate::cli::{Call as CallFlags, Tools};
use crate::output::{Printer, Tone, on_terminal};
use crate::runtime::{MissingTool, Offer, Runtime, grouped, lack, remedy};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::executor::{Absence, AbsentTool};
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
    let Offer { listing, missing } = runtime.offer();
    let offered = listing.definitions()?;
    if printer.is_json() {
        let all = offered.iter().map(|(entry, definition)| describe(runtime, entry, definition, None));
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
    for AbsentTool { entry, why } in &listing.absent {
        if let Absence::Dialect(name, reason) = why {
            let message = format!("not offered in the dialect {name}: {} ({reason})", entry.name());
            printer.say(Tone::Note, &message);
        }
    }
    match listing.held_back.len() {
        0 => {}
        count => {
            let held_back = &listing.held_back;
            let names: Vec<&str> = held_back.iter().map(|entry| entry.name()).take(MOST_NAMED).collect();
            let more = if count > names.len() { ", …" } else { "" };
            let message = format!(
                "{count} more can be called, and are left out of the list to save tokens; a model finds them by `tool_search`: {}{more}",
                names.join(", ")
            );
            printer.say_fitted(Tone::Note, &message, 4);
        }
    }
    for AbsentTool { entry, why } in &listing.absent {
        let name = entry.name();
        let message = match why {
            // Who has no role does not ask for them, and who selects tools not for the others.
            Absence::Role(_) if runtime.context.ids().role.is_none() => continue,
            Absence::Selection(_) | Absence::Dialect(..) | Absence::NothingToFind => continue,
            Absence::Role(_) => format!("not offered to this role: {name} ({})", lack(why)),
            Absence::Policy(_) => format!("not offered under this policy: {name} ({})", lack(why)),
            Absence::Service(..) => {
                format!("not offered here: {name} ({}: {})", lack(why), remedy(why))
            }
            Absence::Provider(_) | Absence::UnknownProvider(_) => {
                format!("not offered here: {name} ({})", lack(why))
            }
        };
        printer.say_fitted(Tone::Note, &message, 4);
    }
    for (names, why) in grouped(&missing) {
        if !matches!(why, Absence::Selection(_)) {
            let message = format!("not offered here: {} ({}: {})", names.join(", "), lack(why), remedy(why));
            printer.say_fitted(Tone::Note, &message, 4);
        }
    }
    Ok(())
}

/// A tool, and why the session is not offered it.
struct ShownTool {
    snapshot: Arc<Snapshot>,
    entry: Arc<Entry>,
    definition: Definition,
    why: Option<Absence>,
}

/// The tool that a name means, also a built-in one that is not here.
fn found(runtime: &Runtime, name: &str) -> Result<ShownTool, ToolError> {
    let dialect = runtime.context.dialect();
    let Offer { listing, missing } = runtime.offer();
    let (snapshot, entry, why) = match listing.snapshot.find(name, dialect) {
        Ok(found) => {
            let why = listing.absent.into_iter().find(|absent| absent.entry.name() == found.entry.name());
            (listing.snapshot, found.entry, why.map(|absent| absent.why))
        }
        Err(error) => {
            let tool = toolpost_tools::names().tool(name);
            let missing = missing.into_iter().find(|missing| Some(missing.spec.name.as_str()) == tool);
            let Some(MissingTool { spec, why }) = missing else {
                return Err(runtime.untrusted_tool(name).unwrap_or(error));
            };
            let snapshot = Runtime::all_built_in()?.snapshot();
            let entry = snapshot.get(&spec.name).cloned().ok_or(error)?;
            (snapshot, entry, Some(why))
        }
    };
    let definition = match snapshot.offer(&entry, dialect)? {
        Some(definition) => definition,
        None => entry.prepared()?.definition.clone(),
    };
    Ok(ShownTool { snapshot, entry, definition, why })
}

fn show(runtime: &Runtime, printer: &Printer, name: &str) -> Result<(), ToolError> {
    let ShownTool { snapshot, entry, definition, why } = found(runtime, name)?;
    if printer.is_json() {
        printer.json(&describe_in(&snapshot, runtime, &entry, &definition, why.as_ref())?);
        return Ok(());
    }
    let others = other_names(&snapshot, &entry, &definition);
    let mut page = format!(
        "{} {}\n{}\n",
        printer.bold(&definition.name),
        definition.version,
        on_terminal(&definition.description)
    );
    page.push_str(&format!("\n{}\n", printer.bold("Arguments")));
    page.push_str(&arguments(&definition.input));
    let accepted = snapshot.also_accepted(&entry, runtime.context.dialect())?;
    if !accepted.is_empty() {
        page.push_str(&format!(
            "\n{}\n",
            printer.bold("Accepted too, and not declared to models, to save tokens")
        ));
        page.push_str(&arguments(&json!({ "properties": accepted })));
    }
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
    match &why {
        None => {}
        Some(why) => {
            let state = if why.can_be_called() { "not listed " } else { "not offered" };
            page.push_str(&format!(
                "  {state}  {}; {}\n",
                on_terminal(&lack(why)),
                on_terminal(&remedy(why))
            ));
        }
    }
    if runtime.offer().listing.held_back.iter().any(|held_back| held_back.name() == entry.name()) {
        page.push_str("  not listed   to save tokens; it can be called, and `tool_search` finds it\n");
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

fn describe(
    runtime: &Runtime,
    entry: &Entry,
    definition: &Definition,
    why: Option<&Absence>,
) -> Result<Value, ToolError> {
    describe_in(&runtime.context.tools().snapshot(), runtime, entry, definition, why)
}

/// A tool for programs, as it is in a snapshot.
fn describe_in(
    snapshot: &Snapshot,
    runtime: &Runtime,
    entry: &Entry,
    definition: &Definition,
    why: Option<&Absence>,
) -> Result<Value, ToolError> {
    let mut value = serde_json::to_value(definition)
        .map_err(|error| ToolError::execution(format!("`{}` cannot be described: {error}", entry.name())))?;
    value["canonicalName"] = json!(entry.name());
    value["aliases"] = json!(other_names(snapshot, entry, definition));
    value["alsoAccepts"] = snapshot.also_accepted(entry, runtime.context.dialect())?.into();
    value["offered"] = json!(why.is_none());
    value["why"] = json!(why.map(lack));
    value["remedy"] = json!(why.map(remedy));
    Ok(value)
}

/// What else leads to a tool, beside the name it is shown by.
fn other_names(snapshot: &Snapshot, entry: &Entry, shown: &Definition) -> Vec<String> {
    let mut names = vec![entry.name().to_owned()];
    names.extend(snapshot.other_names(entry.name()));
    names.retain(|name| *name != shown.name);
    names
}
