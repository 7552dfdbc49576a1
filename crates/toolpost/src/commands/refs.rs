//! `toolpost refs`: every use of a symbol.

use super::asked;
use crate::cli::Refs;
use crate::output::{Printer, on_terminal};
use crate::runtime::Runtime;
use serde_json::Value;

pub(crate) fn run(runtime: Runtime, printer: &Printer, refs: &Refs) -> u8 {
    let text = |value: &Option<String>| value.clone().map(Value::from);
    let arguments = vec![
        ("symbol", Some(Value::from(refs.symbol.clone()))),
        ("file", text(&refs.file)),
        ("line", refs.line.map(Value::from)),
        ("column", refs.column.map(Value::from)),
        ("path", text(&refs.path)),
    ];
    let name = refs.symbol.rsplit(['.', ':']).next().unwrap_or(&refs.symbol).to_owned();
    asked::run(runtime, printer, "find_references", arguments, |text| coloured(printer, text, &name))
}

/// Files in colour, the name in bold where it stands alone.
fn coloured(printer: &Printer, text: &str, name: &str) -> String {
    let mut page = String::new();
    for line in on_terminal(text).lines() {
        let is_file =
            !line.is_empty() && !line.starts_with(['(', ' ']) && !line.contains(": ") && !line.ends_with(':');
        let number =
            line.split_once(": ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        match (is_file, number) {
            (true, _) => page.push_str(&printer.file_name(line)),
            (_, Some((number, rest))) => {
                page.push_str(&format!("{}: {}", printer.dim(number), with_bold(printer, rest, name)));
            }
            _ => page.push_str(&printer.dim(line)),
        }
        page.push('\n');
    }
    page
}

fn with_bold(printer: &Printer, line: &str, name: &str) -> String {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut shown = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(name).filter(|_| !name.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        shown.push_str(before);
        let is_whole = !is_part(before.chars().next_back()) && !is_part(after.chars().next());
        shown.push_str(&if is_whole { printer.bold(name) } else { name.to_owned() });
        rest = after;
    }
    shown + rest
}
