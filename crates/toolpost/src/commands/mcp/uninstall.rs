//! `toolpost mcp uninstall`: what `install` has written is taken back.

use crate::cli::{Flags, Uninstall};
use crate::config::env::Environment;
use crate::config::install::{Removal, Scope, Undo};
use crate::output::{Printer, Tone};
use serde_json::json;
use toolpost_core::ToolError;

pub(super) fn run(printer: &Printer, flags: &Flags, environment: &Environment, uninstall: &Uninstall) -> u8 {
    match go(printer, flags, environment, uninstall) {
        Ok(()) => 0,
        Err(error) => printer.invocation_error(&error),
    }
}

fn go(
    printer: &Printer,
    flags: &Flags,
    environment: &Environment,
    uninstall: &Uninstall,
) -> Result<(), ToolError> {
    let host = uninstall.client;
    let scope = match (uninstall.project, uninstall.user) {
        (true, _) => Scope::Project,
        (_, true) => Scope::User,
        (false, false) => host.usual_scope(),
    };
    let removal = Removal::make(host, scope, flags, environment)?;
    if !uninstall.print {
        removal.carry_out()?;
    }
    let is_written = !uninstall.print && removal.action != Undo::Nothing;
    if printer.is_json() {
        printer.json(&json!({
            "client": host, "scope": scope, "file": removal.path, "action": removal.action, "written": is_written,
        }));
        return Ok(());
    }
    let (title, path) = (host.title(), removal.path.display());
    let said = match (removal.action, uninstall.print) {
        (Undo::Nothing, _) => {
            let other = if scope == Scope::Project { "--user" } else { "--project" };
            format!(
                "nothing to change: {path} has no entry for toolpost; {other} looks in the other file of {title}"
            )
        }
        (Undo::Restore, true) => {
            format!("{path} would be as it was before the entry for {title} was written")
        }
        (Undo::Restore, false) => format!("{path} is as it was before the entry for {title} was written"),
        (Undo::Delete, true) => format!("{path} would be removed: it was made for the entry"),
        (Undo::Delete, false) => format!("removed {path}, which was made for the entry"),
        (Undo::Remove, true) => {
            format!("only the entry would be taken out of {path}, which has changed since")
        }
        (Undo::Remove, false) => format!("took only the entry out of {path}, which has changed since"),
    };
    printer.say(Tone::Plain, &said);
    if is_written {
        printer.say(Tone::Note, &format!("note: {title} reads it when it starts next"));
    }
    Ok(())
}
