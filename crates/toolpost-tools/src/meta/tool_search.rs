//! `tool_search`: the tools that are not listed, to save tokens, found by what they do.
//!
//! It grants nothing and lists nothing anew: whoever knows a tool's name can call it, as the policy decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use toolpost_core::tool::Definition;
use toolpost_core::{Context, Output, Spec, Tool, ToolError};
use toolpost_declaration::{Format, Source, declare};

/// So many tools are shown.
const MOST: usize = 8;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Words that the tool's name or description should have.
    #[schemars(length(min = 1, max = 500))]
    query: String,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The declarations of the best matches, best first.
    tools: Vec<Map<String, Value>>,
    /// Tools that match.
    matching: usize,
    /// Tools that are held back.
    held_back: usize,
    /// Servers whose tools are not known, and why.
    missing: Vec<String>,
}

/// The tool.
pub struct ToolSearch;

impl Tool for ToolSearch {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        // Servers may have to start first, each within its own time.
        let limit = Duration::from_secs(90);
        Spec::new("tool_search", "1.0.0", include_str!("tool_search.txt"))
            .idempotent()
            .parallel_safe()
            .finds_unlisted()
            .own_dry_run()
            .timeout(limit, limit)
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let (held_back, failed) = ctx.unlisted().await;
        let words = words(&args.query);
        let mut found: Vec<(usize, &Definition)> = held_back
            .iter()
            .map(|definition| (score(definition, &args.query, &words), definition))
            .filter(|(score, _)| *score > 0)
            .collect();
        // Stable: of equals, the first in the list comes first.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let matching = found.len();
        let declared = found.iter().filter_map(|(_, one)| declare(&Source::of(one), Format::Mcp).ok());
        let tools: Vec<Value> = declared.take(MOST).map(|declaration| declaration.value).collect();
        let missing: Vec<String> = failed.iter().map(|(_, error)| error.message().to_owned()).collect();
        let text = text(ctx, &args.query, &tools, matching, held_back.len(), &missing);
        let title = format!("{matching} of {} tools", held_back.len());
        let tools = tools.iter().filter_map(Value::as_object).cloned().collect();
        Ok(Output::new(title, text, Data { tools, matching, held_back: held_back.len(), missing }))
    }
}

fn text(
    ctx: &Context,
    query: &str,
    tools: &[Value],
    matching: usize,
    held_back: usize,
    missing: &[String],
) -> String {
    let mut text = match (held_back, tools.is_empty()) {
        (0, _) => "No tool is hidden: your list has all of them.".to_owned(),
        (_, true) => {
            format!("None of the {held_back} hidden tools matches `{query}`; try other words.")
        }
        (_, false) => {
            let mut lines: Vec<String> = tools.iter().map(for_a_model).collect();
            lines.extend(how_to_call(ctx, &tools[0]));
            lines.join("\n")
        }
    };
    if matching > tools.len() {
        text.push_str(&format!("\n[{} more match; be more specific to see them]", matching - tools.len()));
    }
    for why in missing {
        text.push_str(&format!("\n[not searched: {why}]"));
    }
    text
}

/// A declaration without what it says of data, which a program gets and a model does not.
fn for_a_model(declaration: &Value) -> String {
    let mut declaration = declaration.clone();
    if let Some(fields) = declaration.as_object_mut() {
        fields.shift_remove("outputSchema");
    }
    declaration.to_string()
}

/// How a tool that was found is called: a host lets its model call by name only what is in its list, and the list does
/// not change.
fn how_to_call(ctx: &Context, first: &Value) -> Option<String> {
    let batch = ctx.tool_name("batch")?;
    let call = json!({"calls": [{"tool": first["name"], "args": {}}]});
    Some(format!("[call such a tool through `{batch}`, with its arguments as args: {call}]"))
}

/// The words of a text, in lower case: `listIssues`, `list_issues` and `list issues` are the same two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        let begins = letter.is_uppercase() && was_lower;
        was_lower = letter.is_lowercase();
        if !letter.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let (true, Some(last)) = (letter.is_alphanumeric(), words.last_mut()) {
            last.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// How well a tool fits; nothing if no word does.
fn score(definition: &Definition, query: &str, wanted: &[String]) -> usize {
    if definition.name == query.trim() {
        return 1_000;
    }
    // That it is of a server says nothing: all of them are.
    let mut name = words(&definition.name);
    name.retain(|word| word != "mcp");
    let about = words(&definition.description);
    let properties = definition.input.get("properties").and_then(Value::as_object);
    let arguments: Vec<String> = properties.into_iter().flatten().flat_map(|(name, _)| words(name)).collect();
    let best = |in_words: &[String], word: &str, weight: usize| {
        in_words.iter().map(|other| weight * likeness(other, word)).max().unwrap_or(0)
    };
    let each = wanted
        .iter()
        .map(|word| best(&name, word, 5).max(best(&about, word, 2)).max(best(&arguments, word, 1)));
    each.sum()
}

/// 3 for the same word, 2 for one that begins like the other (`issue`, `issues`), 1 for one that has it inside.
fn likeness(one: &str, other: &str) -> usize {
    let is_begun = |long: &str, short: &str| short.len() >= 3 && long.starts_with(short);
    if one == other {
        3
    } else if is_begun(one, other) || is_begun(other, one) {
        2
    } else {
        usize::from(other.len() >= 4 && one.contains(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_every_spelling() {
        assert_eq!(
            words("mcp__gh__listIssues of a-repo"),
            ["mcp", "gh", "list", "issues", "of", "a", "repo"]
        );
        assert_eq!(words("  "), Vec::<String>::new());
    }

    #[test]
    fn a_word_is_like_its_plural() {
        for (one, other, expected) in [
            ("issue", "issue", 3),
            ("issues", "issue", 2),
            ("issue", "issues", 2),
            ("reissued", "issue", 1),
            ("a", "b", 0),
        ] {
            assert_eq!(likeness(one, other), expected, "{one} {other}");
        }
    }
}
