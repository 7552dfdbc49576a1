//! `search_code`: symbols by name, ranked; code by its structure.

use super::asking::{Asking, ask};
use super::excerpt::{lines_of, shortened};
use super::page::Page;
use super::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolpost_core::code::{Coverage, Match, Symbol, SymbolQuery};
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// A symbol's name or part of it; or a pattern of code, in which $X stands for any one expression and $$$X for any
    /// number of them, such as foo($A, $$$REST).
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// Folder or file to search; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
    /// Kind of symbol, such as function, method, class, struct, interface, constant.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    kind: Option<String>,
    /// Language, such as python, typescript, rust, go.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    language: Option<String>,
    /// Most results to return.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: usize,
}

fn usual_limit() -> usize {
    50
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The symbols found, the best first.
    symbols: Vec<Symbol>,
    /// The places that match a pattern.
    matches: Vec<Match>,
    /// Whether the limit was reached: there may be more.
    truncated: bool,
    /// Whether all files were searched.
    #[serde(flatten)]
    coverage: Coverage,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct SearchCode;

impl Tool for SearchCode {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        let spec = spec("search_code", include_str!("search_code.txt"));
        spec.retryable().argument_alias("pattern", "query")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask(ctx, move |asking, engine, inquiry| {
            let query = SymbolQuery {
                text: args.query.clone(),
                path: asking.place(&args.path)?,
                kind: args.kind,
                language: args.language,
                limit: args.limit,
            };
            let (mut symbols, mut matches) = (Vec::new(), Vec::new());
            let mut coverage = match is_pattern(&args.query) {
                true => {
                    let (found, coverage) = engine.matches(inquiry, &query)?;
                    matches = found;
                    coverage
                }
                false => {
                    let (found, coverage) = engine.symbols(inquiry, &query)?;
                    symbols = found;
                    coverage
                }
            };
            symbols.retain(|symbol| asking.shows(&symbol.file));
            matches.retain(|found| asking.shows(&found.file));
            symbols.truncate(args.limit);
            matches.truncate(args.limit);
            let truncated = symbols.len() + matches.len() >= args.limit;
            let text = text(asking, &symbols, &matches, truncated, &coverage);
            let held_back = asking.settled(&mut coverage);
            let data = Data { symbols, matches, truncated, coverage, held_back };
            Ok(Output::new(args.query.chars().take(80).collect::<String>(), text, data))
        })
        .await
    }
}

/// Whether a query is a piece of code, and not a name.
fn is_pattern(query: &str) -> bool {
    let has_variable = query.split('$').skip(1).any(|rest| {
        rest.is_empty() || rest.starts_with(|next: char| next.is_ascii_uppercase() || next == '_')
    });
    has_variable || query.contains(['(', ')', '{', '}', '=', ';', '[', ']', '+', '|', '&'])
}

fn text(
    asking: &Asking,
    symbols: &[Symbol],
    matches: &[Match],
    truncated: bool,
    coverage: &Coverage,
) -> String {
    let mut page = Page::new(&asking.ctx);
    for (file, symbols) in by_file(symbols, |symbol| &symbol.file) {
        for symbol in symbols {
            let place = symbol.container.as_deref().map(|name| format!("  in {name}")).unwrap_or_default();
            let signature = match symbol.signature.is_empty() {
                true => format!("{} {}", symbol.kind, symbol.name),
                false => shortened(&asking.ctx, &symbol.signature),
            };
            page.line(file, &format!("{}: {signature}{place}", symbol.line));
        }
    }
    for (file, matches) in by_file(matches, |found| &found.file) {
        let wanted: Vec<u32> = matches.iter().map(|found| found.line).collect();
        let lines = lines_of(&asking.ctx, file, &wanted);
        for found in matches {
            let line = lines.get(&found.line).map(String::as_str).unwrap_or_default();
            let last = match found.end_line > found.line {
                true => format!("-{}", found.end_line),
                false => String::new(),
            };
            page.line(file, &format!("{}{last}: {line}", found.line));
        }
    }
    let mut notes = Vec::new();
    if symbols.is_empty() && matches.is_empty() {
        notes.push("nothing found; try a part of the name, or search the text".to_owned());
    } else if page.left_out > 0 {
        notes.push(format!("{} more do not fit; narrow the search", page.left_out));
    } else if truncated {
        let raise = asking.ctx.argument("limit").map(|limit| format!(", or raise `{limit}`"));
        notes.push(format!("there may be more; narrow the search{}", raise.unwrap_or_default()));
    }
    let note = asking.note(notes, coverage);
    page.finish(&note)
}

/// Items by file: files in the order of their best item, items of a file by line.
fn by_file<'a, T>(items: &'a [T], file: impl Fn(&'a T) -> &'a String) -> Vec<(&'a str, Vec<&'a T>)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<(&str, Vec<&T>)> = Vec::new();
    for item in items {
        let name = file(item).as_str();
        let place = *places.entry(name).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::is_pattern;

    #[test]
    fn a_pattern_is_told_from_a_name() {
        for query in ["foo($A)", "$X.unwrap()", "$$$ARGS", "if $C { return }", "a = b", "x[0]"] {
            assert!(is_pattern(query), "{query}");
        }
        for query in ["foo", "Reader.parse", "toolpost_core::Context", "$scope", "parse file", "a$b", "foo?"]
        {
            assert!(!is_pattern(query), "{query}");
        }
    }
}
