//! `toolpost init`: an example configuration where there is none.

use crate::cli::Flags;
use crate::config::env::Environment;
use crate::config::{cwd, open_disk, roots, write_project, write_user};
use crate::output::{Printer, Tone, one_line};
use serde_json::json;
use toolpost_core::ToolError;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: &Environment, is_user: bool) -> u8 {
    match write(printer, flags, environment, is_user) {
        Ok(()) => 0,
        Err(error) => printer.invocation_error(&error),
    }
}

fn write(
    printer: &Printer,
    flags: &Flags,
    environment: &Environment,
    is_user: bool,
) -> Result<(), ToolError> {
    let examples = match is_user {
        true => write_user(environment)?,
        false => write_project(&open_disk(roots(flags, environment, &cwd(environment)?))?)?,
    };
    if printer.is_json() {
        let files: Vec<_> =
            examples.iter().map(|one| json!({"path": one.path, "written": one.is_new})).collect();
        printer.json(&json!({ "files": files }));
        return Ok(());
    }
    for example in &examples {
        let what = if example.is_new { "wrote" } else { "left as it is:" };
        printer.page(&format!("{what} {}\n", one_line(&example.path)));
    }
    let next = match examples.first() {
        Some(file) if file.is_new => "everything in it is a comment: take away the # before what you want",
        _ => "the file was there before and is never overwritten",
    };
    printer.say(Tone::Note, &format!("{next}; `toolpost doctor` shows what holds"));
    Ok(())
}
