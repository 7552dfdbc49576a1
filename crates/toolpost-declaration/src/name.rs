//! Which names of tools each provider accepts.

use super::Format;
use super::note::{Path, Refusal, shorten};

/// Refuses a name that the provider would refuse.
pub(super) fn check(name: &str, format: Format) -> Result<(), Refusal> {
    let (longest, punctuation) = match format {
        Format::Mcp => (128, "_.-"),
        Format::Gemini | Format::GeminiJsonSchema => (64, "_.:-"),
        // LangChain has no rule of its own and hands the name on to whatever model is used.
        Format::OpenaiChat
        | Format::OpenaiResponses
        | Format::OpenaiStrict
        | Format::Anthropic
        | Format::Langchain => (64, "_-"),
    };
    let shown = shorten(name);
    if name.is_empty() {
        return refuse("the name is empty".into());
    }
    if let Some(bad) = name.chars().find(|c| !c.is_ascii_alphanumeric() && !punctuation.contains(*c)) {
        let allowed: Vec<_> = punctuation.chars().map(|c| format!("`{c}`")).collect();
        return refuse(format!(
            "the name `{shown}` has the character {bad:?}; {format} allows letters, digits, {}",
            allowed.join(", ")
        ));
    }
    if name.len() > longest {
        return refuse(format!(
            "the name `{shown}` has {} characters; {format} allows {longest}",
            name.len()
        ));
    }
    let needs_letter = matches!(format, Format::Gemini | Format::GeminiJsonSchema);
    if needs_letter && !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return refuse(format!("the name `{shown}` must start with a letter or `_` for {format}"));
    }
    Ok(())
}

fn refuse(reason: String) -> Result<(), Refusal> {
    Err(Refusal::new(Path::ROOT, reason))
}
