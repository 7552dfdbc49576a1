//! `get_codebase_map`: the most important symbols of a repository, as many as fit.

use super::asking::ask;
use super::excerpt::shortened;
use super::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use toolpost_core::code::{Coverage, Symbol, SymbolQuery};
use toolpost_core::text::tokens;
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// A symbol costs at least so many tokens.
const LEAST_TOKENS: usize = 5;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Folder or file to map; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
    /// Most tokens to return.
    #[serde(default = "usual_tokens")]
    #[schemars(range(min = 100, max = 20_000))]
    max_tokens: usize,
    /// Files and symbols that the task is about; what is near them comes first.
    #[serde(default)]
    #[schemars(length(max = 100))]
    focus: Vec<String>,
}

fn usual_tokens() -> usize {
    2_000
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The symbols shown, the most important first.
    symbols: Vec<Symbol>,
    /// Tokens of the text, as estimated.
    tokens: usize,
    /// Whether there are symbols that do not fit.
    truncated: bool,
    /// Whether all files are counted.
    #[serde(flatten)]
    coverage: Coverage,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct GetCodebaseMap;

impl Tool for GetCodebaseMap {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("get_codebase_map", include_str!("get_codebase_map.txt"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask(ctx, move |asking, engine, inquiry| {
            let path = asking.place(&args.path)?;
            let limit = args.max_tokens / LEAST_TOKENS;
            let query = SymbolQuery { path: path.clone(), limit, ..SymbolQuery::default() };
            let (mut symbols, mut coverage) = engine.map(inquiry, &query, &args.focus)?;
            symbols.retain(|symbol| asking.shows(&symbol.file));
            let note = match symbols.is_empty() {
                true => asking.note(
                    vec![
                        "no symbols found here; in files of languages that are not known, search the text"
                            .to_owned(),
                    ],
                    &coverage,
                ),
                false => asking.note(Vec::new(), &coverage),
            };
            let room = args.max_tokens.saturating_sub(tokens(&note));
            let (text, count) = fitted(&asking.ctx, &symbols, room);
            let truncated = count < symbols.len() || symbols.len() >= limit;
            symbols.truncate(count);
            let text = format!("{text}{note}");
            let held_back = asking.settled(&mut coverage);
            let data = Data { symbols, tokens: tokens(&text), truncated, coverage, held_back };
            Ok(Output::new(path, text, data))
        })
        .await
    }
}

/// The text of the first symbols that fit into so many tokens, and their number.
pub(crate) fn fitted(ctx: &Context, symbols: &[Symbol], most: usize) -> (String, usize) {
    let bytes = ctx.output_budget().bytes;
    let fits = |count: usize| -> Option<String> {
        let text = drawn(ctx, &symbols[..count]);
        (tokens(&text) <= most && text.len() < bytes).then_some(text)
    };
    if let Some(text) = fits(symbols.len()) {
        return (text, symbols.len());
    }
    let (mut best, mut low, mut high) = ((String::new(), 0), 0, symbols.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        match fits(middle) {
            Some(text) => {
                best = (text, middle);
                low = middle;
            }
            None => high = middle,
        }
    }
    best
}

/// Symbols by file: the file of the most important symbol first, inside of a file in order of lines, members below what
/// contains them.
fn drawn(ctx: &Context, symbols: &[Symbol]) -> String {
    let mut order: Vec<&str> = Vec::new();
    let mut files: BTreeMap<&str, Vec<&Symbol>> = BTreeMap::new();
    for symbol in symbols {
        let of_file = files.entry(&symbol.file).or_default();
        if of_file.is_empty() {
            order.push(&symbol.file);
        }
        of_file.push(symbol);
    }
    let mut text = String::new();
    for file in order {
        text.push_str(&crate::one_line(file));
        text.push('\n');
        let Some(mut symbols) = files.remove(file) else { continue };
        symbols.sort_by_key(|symbol| (symbol.line, symbol.column));
        let names: HashSet<&str> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        let mut container: Option<&str> = None;
        for symbol in &symbols {
            let own = symbol.container.as_deref();
            if let Some(name) = own.filter(|name| !names.contains(name) && container != Some(name)) {
                text.push_str(&format!("  {name}:\n"));
            }
            container = own;
            let indent = if own.is_some() { "    " } else { "  " };
            let signature = match symbol.signature.is_empty() {
                true => format!("{} {}", symbol.kind, symbol.name),
                false => shortened(ctx, &symbol.signature),
            };
            text.push_str(&format!("{indent}{signature}\n"));
        }
    }
    text
}
