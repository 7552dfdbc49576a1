//! `toolpost tools export`, `discover` and `lint`: declarations for each provider, what was changed for it, and what they
//! cost.

use crate::output::{Printer, Tone};
use crate::runtime::Runtime;
use serde_json::json;
use toolpost_core::ToolError;
use toolpost_core::tool::Definition;
use toolpost_declaration::{Declarations, Finding, Format, Problem, Source, declare, lint};

/// Prints the declarations of all offered tools in a provider's form.
pub(super) fn run_export(runtime: &Runtime, printer: &Printer, format: Format) -> Result<(), ToolError> {
    let (value, refused) = runtime.executor.declarations(&runtime.context, format);
    match printer.is_json() {
        true => printer.json(&value),
        false => printer.data(&serde_json::to_string_pretty(&value).unwrap_or_default()),
    }
    for (tool, refusal) in refused {
        printer.say(Tone::Note, &format!("left out: {tool}: {refusal}"));
    }
    Ok(())
}

/// Prints the declarations as Gemini CLI looks for them: of each function it reads name, description and
/// `parametersJsonSchema`, and nothing else.
pub(super) fn run_discover(runtime: &Runtime, printer: &Printer) -> Result<(), ToolError> {
    let mut declarations = Vec::new();
    for definition in definitions(runtime, Format::GeminiJsonSchema)? {
        match declare(&Source::of(&definition), Format::GeminiJsonSchema) {
            Ok(declaration) => declarations.push(declaration.value),
            Err(refusal) => printer.say(Tone::Note, &format!("left out: {}: {refusal}", definition.name)),
        }
    }
    printer.json(&declarations);
    Ok(())
}

/// Says what is odd about each tool, for each provider, and what each costs. Whether something needs mending.
pub(super) fn run_lint(runtime: &Runtime, printer: &Printer) -> Result<u8, ToolError> {
    let definitions = definitions(runtime, Format::Mcp)?;
    let looked_at: Vec<(&Definition, usize, Vec<Finding>)> = definitions
        .iter()
        .map(|definition| {
            let source = Source::of(definition);
            (definition, price(&source), findings(&source))
        })
        .collect();
    let total: usize = looked_at.iter().map(|(_, price, _)| price).sum();
    let is_broken = looked_at.iter().any(|(_, _, findings)| findings.iter().any(Finding::needs_mending));
    if printer.is_json() {
        let tools: Vec<_> = looked_at
            .iter()
            .map(|(definition, price, findings)| json!({"tool": definition.name, "tokens": price, "findings": findings}))
            .collect();
        printer.json(&json!({"tools": tools, "totalTokens": total}));
        return Ok(u8::from(is_broken));
    }
    let width = looked_at.iter().map(|(definition, _, _)| definition.name.len()).max().unwrap_or(0).max(5);
    let mut page = String::new();
    for (definition, price, findings) in &looked_at {
        page.push_str(&format!("{:width$}  {price:>5} tokens\n", definition.name));
        for line in grouped(findings) {
            page.push_str(&format!("  {line}\n"));
        }
    }
    page.push_str(&format!("{:width$}  {total:>5} tokens for the whole list\n", "all"));
    printer.data(&page);
    Ok(u8::from(is_broken))
}

/// What is said of several arguments alike is said once.
fn grouped(findings: &[Finding]) -> Vec<String> {
    let mut groups: Vec<(&Finding, Vec<&str>)> = Vec::new();
    for finding in findings {
        let place = finding.path.trim_start_matches("/properties/");
        match groups
            .iter_mut()
            .find(|(first, _)| first.format == finding.format && first.message == finding.message)
        {
            Some((_, places)) => places.push(place),
            None => groups.push((finding, vec![place])),
        }
    }
    groups
        .into_iter()
        .map(|(first, places)| {
            let format = first.format.map_or_else(String::new, |format| format!("{format}: "));
            let places: Vec<&str> = places.into_iter().filter(|place| !place.is_empty()).collect();
            let places = if places.is_empty() { String::new() } else { format!("{}: ", places.join(", ")) };
            format!("{format}{places}{}", first.message)
        })
        .collect()
}

/// The price stands in its own column.
fn findings(source: &Source<'_>) -> Vec<Finding> {
    lint(source).into_iter().filter(|finding| finding.problem != Problem::Price).collect()
}

/// What a tool costs in every request that offers it.
pub(crate) fn price(source: &Source<'_>) -> usize {
    toolpost_declaration::price(source).unwrap_or(0)
}

/// The offered tools, under the names and spellings of the session's dialect, for the readers of a format.
fn definitions(runtime: &Runtime, format: Format) -> Result<Vec<Definition>, ToolError> {
    let listing = runtime.executor.listing(&format.session(&runtime.context));
    Ok(listing.definitions()?.into_iter().map(|(_, definition)| definition).collect())
}
