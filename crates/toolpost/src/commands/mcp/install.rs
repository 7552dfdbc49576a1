//! `toolpost mcp install`: the entry for `toolpost mcp` in the configuration of an agent or editor.

use crate::cli::{Flags, Install};
use crate::config::env::Environment;
use crate::config::install::{Action, Plan, Scope};
use crate::output::{Printer, Tone};
use serde_json::json;
use toolpost_core::ToolError;

pub(super) fn run(printer: &Printer, flags: &Flags, environment: &Environment, install: &Install) -> u8 {
    match go(printer, flags, environment, install) {
        Ok(()) => 0,
        Err(error) => printer.invocation_error(&error),
    }
}

fn go(
    printer: &Printer,
    flags: &Flags,
    environment: &Environment,
    install: &Install,
) -> Result<(), ToolError> {
    let host = install.client;
    let scope = match (install.project, install.user) {
        (true, _) => Scope::Project,
        (_, true) => Scope::User,
        (false, false) => host.usual_scope(),
    };
    let plan = Plan::make(host, scope, flags, environment)?;
    if !install.print {
        plan.carry_out()?;
    }
    let is_written = !install.print && plan.action != Action::Nothing;
    if printer.is_json() {
        printer.json(&json!({
            "client": host, "scope": scope, "file": plan.path, "action": plan.action, "entry": plan.snippet,
            "written": is_written,
        }));
        return Ok(());
    }
    let (title, path) = (host.title(), plan.path.display());
    if install.print {
        printer.data(&plan.snippet);
    }
    let said = match (plan.action, install.print) {
        (Action::Nothing, _) => format!("nothing to change: {title} has this entry in {path}"),
        (Action::Create, true) => format!("{path} would be made with this entry for {title}"),
        (Action::Create, false) => format!("made {path} with the entry for {title}"),
        (Action::Add, true) => format!("this entry for {title} would be added to {path}"),
        (Action::Add, false) => format!("added the entry for {title} to {path}"),
        (Action::Replace, true) => format!("this would take the place of another `toolpost` entry in {path}"),
        (Action::Replace, false) => format!("replaced another `toolpost` entry of {title} in {path}"),
    };
    printer.say(Tone::Plain, &said);
    if plan.is_of_this_machine() {
        let note = "note: the entry names a path of this machine; before you share the file, put toolpost on the PATH \
                    and run this again";
        printer.say(Tone::Note, note);
    }
    if is_written {
        printer.say(Tone::Note, &format!("note: {title} reads it when it starts next"));
    }
    Ok(())
}
