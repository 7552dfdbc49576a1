//! `resolve_symbol`: where the name at a place is defined.

use super::asking::{ask, doubt, in_words};
use super::excerpt::shortened;
use super::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::code::{Resolution, Target};
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// Maximum number of candidates that are shown.
const MOST_CANDIDATES: usize = 20;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The name as it is written there.
    #[schemars(length(min = 1, max = 500))]
    symbol: String,
    /// The file in which it is used.
    file: WorkspacePath,
    /// The line, counting from 1; the first place with the name if left out.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The column, in characters from 1.
    #[schemars(range(min = 1))]
    column: Option<u32>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// What the name means.
    #[serde(flatten)]
    resolution: Resolution,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct ResolveSymbol;

impl Tool for ResolveSymbol {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("resolve_symbol", include_str!("resolve_symbol.txt"))
            .argument_alias("name", "symbol")
            .argument_alias("filePath", "file")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask(ctx, move |asking, engine, inquiry| {
            let file = asking.file(&args.file)?;
            let target = Target {
                symbol: args.symbol.clone(),
                file: Some(file.clone()),
                line: args.line,
                column: args.column,
                path: None,
            };
            asking.check_place(target.file.as_deref(), target.line, target.column)?;
            let mut found = engine.resolve(inquiry, &target)?;
            if found.definition.as_ref().is_some_and(|symbol| !asking.shows(&symbol.file)) {
                (found.definition, found.confidence) = (None, None);
            }
            found.candidates.retain(|symbol| asking.shows(&symbol.file));
            found.candidates.truncate(MOST_CANDIDATES);
            let mut text = String::new();
            if let Some(symbol) = &found.definition {
                let doubt = found.confidence.and_then(doubt).map(|doubt| format!("  [{doubt}]"));
                text.push_str(&format!("{}{}\n", in_words(symbol), doubt.unwrap_or_default()));
                if !symbol.signature.is_empty() {
                    text.push_str(&format!("  {}\n", shortened(&asking.ctx, &symbol.signature)));
                }
            } else if let Some(external) = &found.external {
                let external = shortened(&asking.ctx, external);
                // It may be in what is not shown, of which no more is told.
                text.push_str(&match found.coverage.complete && asking.total_held_back() == 0 {
                    true => format!("outside of the workspace: {external}\n"),
                    false => format!("not in the code that is searched: {external}\n"),
                });
            } else if found.candidates.is_empty() {
                let place = match args.line {
                    Some(line) => format!(" at {file}:{line}"),
                    None => format!(" in `{file}`"),
                };
                return Err(asking.unknown(engine, inquiry, &args.symbol, &place));
            }
            if !found.candidates.is_empty() {
                let also = if found.definition.is_some() { "also possible" } else { "possible" };
                text.push_str(&format!("{also}:\n"));
                for symbol in &found.candidates {
                    text.push_str(&format!("  {}\n", in_words(symbol)));
                }
            }
            text.push_str(&asking.note(Vec::new(), &found.coverage));
            let held_back = match found.definition {
                Some(_) => asking.total_held_back(),
                None => asking.settled(&mut found.coverage),
            };
            let data = Data { resolution: found, held_back };
            Ok(Output::new(args.symbol, text, data))
        })
        .await
    }
}
