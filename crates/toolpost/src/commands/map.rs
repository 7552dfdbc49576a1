//! `toolpost map`: the most important symbols of the code.

use super::asked;
use crate::cli::MapFlags;
use crate::output::{Printer, on_terminal};
use crate::runtime::Runtime;
use serde_json::Value;

pub(crate) fn run(runtime: Runtime, printer: &Printer, map: &MapFlags) -> u8 {
    let focus = (!map.focus.is_empty()).then(|| Value::from(map.focus.clone()));
    let arguments = vec![
        ("path", map.path.clone().map(Value::from)),
        ("maxTokens", Some(Value::from(map.tokens))),
        ("focus", focus),
    ];
    asked::run(runtime, printer, "get_codebase_map", arguments, |text| coloured(printer, text))
}

/// Files in colour; of a signature, everything but its first words stays plain.
fn coloured(printer: &Printer, text: &str) -> String {
    let mut page = String::new();
    for line in on_terminal(text).lines() {
        match line {
            line if line.starts_with('(') => page.push_str(&printer.dim(line)),
            line if line.starts_with(' ') => page.push_str(line),
            line => page.push_str(&printer.file_name(line)),
        }
        page.push('\n');
    }
    page
}
