//! What `refs`, `map` and `graph` share: one call of a tool through the executor, and its outcome for a person or a program.

use super::call::{finish, run_until_interrupted};
use crate::output::{Printer, Tone};
use crate::runtime::{Runtime, threads};
use serde_json::{Map, Value};
use toolpost_core::{Call, Code, Outcome};

/// Calls a tool and prints its outcome; `page` makes of its text what a person sees.
pub(super) fn run(
    runtime: Runtime,
    printer: &Printer,
    tool: &str,
    arguments: Vec<(&str, Option<Value>)>,
    page: impl FnOnce(&str) -> String,
) -> u8 {
    let given = arguments.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let arguments: Map<String, Value> = given.collect();
    let threads = match threads() {
        Ok(threads) => threads,
        Err(error) => return printer.invocation_error(&error),
    };
    let mut call = Call::new(tool, Value::Object(arguments));
    if let Some(timeout) = runtime.config.timeout {
        call = call.timeout(timeout);
    }
    let outcome = finish(threads, &runtime, printer, run_until_interrupted(&runtime, call));
    print(printer, &outcome, page);
    outcome.exit_status()
}

fn print(printer: &Printer, outcome: &Outcome, page: impl FnOnce(&str) -> String) {
    if printer.is_json() {
        return printer.json(&outcome.to_json());
    }
    match &outcome.result {
        Ok(output) if printer.can_redraw() => printer.page(&page(&output.text)),
        Ok(output) => printer.data(&output.text),
        Err(error) => {
            printer.error(error);
            if error.code() == Code::AmbiguousMatch {
                printer
                    .say(Tone::Note, "`--file FILE`, if need be with `--line N`, tells which one is meant");
            } else if error.code() == Code::PathEscape {
                printer.say(Tone::Note, "`--workspace DIR` adds a folder to the workspace");
            }
        }
    }
}
