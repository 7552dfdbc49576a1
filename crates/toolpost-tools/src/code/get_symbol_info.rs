//! `get_symbol_info`: all that is known of a symbol.

use super::asking::{Asking, ask, in_words};
use super::excerpt::shortened;
use super::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::code::{Coverage, Description, Target};
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// Maximum number of symbols of one name that are described.
const MOST_SYMBOLS: usize = 5;
/// Maximum number of members of one symbol, and of files that use it.
const MOST_MEMBERS: usize = 60;
const MOST_USERS: usize = 10;
/// Bytes of documentation that are shown.
const MOST_DOC: usize = 1_500;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The symbol's name; Type.method or module.name where the name alone is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    symbol: String,
    /// The file that defines it.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    file: Option<WorkspacePath>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The symbols of this name, the likeliest first.
    symbols: Vec<Description>,
    /// Whether nothing is missing.
    #[serde(flatten)]
    coverage: Coverage,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct GetSymbolInfo;

impl Tool for GetSymbolInfo {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("get_symbol_info", include_str!("get_symbol_info.txt")).argument_alias("name", "symbol")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask(ctx, move |asking, engine, inquiry| {
            let file = args.file.as_ref().map(|file| asking.file(file)).transpose()?;
            let target = Target { symbol: args.symbol.clone(), file, ..Target::default() };
            let (mut symbols, mut coverage) = engine.describe(inquiry, &target)?;
            symbols.retain(|one| asking.shows(&one.symbol.file));
            if symbols.is_empty() {
                let place = target.file.map(|file| format!(" in `{file}`")).unwrap_or_default();
                return Err(asking.unknown(engine, inquiry, &args.symbol, &place));
            }
            let total = symbols.len();
            symbols.truncate(MOST_SYMBOLS);
            for symbol in &mut symbols {
                symbol.members.retain(|member| asking.shows(&member.file));
                symbol.used_by.retain(|(file, _)| asking.shows(file));
            }
            let shown: Vec<String> = symbols.iter().map(|symbol| shown(asking, symbol)).collect();
            let mut notes = Vec::new();
            if total > MOST_SYMBOLS {
                let file = asking.ctx.argument("file").unwrap_or("file").to_owned();
                notes.push(format!("{} more symbols have this name; give `{file}`", total - MOST_SYMBOLS));
            }
            let text = format!("{}{}", shown.join("\n"), asking.note(notes, &coverage));
            let held_back = asking.settled(&mut coverage);
            let data = Data { symbols, coverage, held_back };
            Ok(Output::new(args.symbol, text, data))
        })
        .await
    }
}

fn shown(asking: &Asking, described: &Description) -> String {
    let Description { symbol, doc, visibility, members, used_by } = described;
    let lines = match symbol.end_line > symbol.line {
        true => format!("-{}", symbol.end_line),
        false => String::new(),
    };
    let mut text = format!("{}{lines}, {visibility}\n", in_words(symbol));
    if !symbol.signature.is_empty() {
        text.push_str(&format!("  {}\n", shortened(&asking.ctx, &symbol.signature)));
    }
    if let Some(doc) = doc {
        let end = doc.floor_char_boundary(MOST_DOC);
        let cut = if end < doc.len() { "…" } else { "" };
        let end = if end < doc.len() { asking.ctx.cut_at(doc, end) } else { end };
        for line in doc[..end].trim().lines() {
            text.push_str(format!("  | {line}").trim_end());
            text.push('\n');
        }
        if !cut.is_empty() {
            text.push_str("  | …\n");
        }
    }
    if !members.is_empty() {
        text.push_str("  members:\n");
        for member in members.iter().take(MOST_MEMBERS) {
            let signature = match member.signature.is_empty() {
                true => member.name.clone(),
                false => shortened(&asking.ctx, &member.signature),
            };
            text.push_str(&format!("    {}: {signature}\n", member.line));
        }
        if members.len() > MOST_MEMBERS {
            text.push_str(&format!("    and {} more\n", members.len() - MOST_MEMBERS));
        }
    }
    let uses: u64 = used_by.iter().map(|(_, count)| count).sum();
    if uses > 0 {
        let users: Vec<String> =
            used_by.iter().take(MOST_USERS).map(|(file, count)| format!("{file} ({count})")).collect();
        let more = match used_by.len().saturating_sub(MOST_USERS) {
            0 => String::new(),
            more => format!(" and {more} more files"),
        };
        text.push_str(&format!("  used {uses} times: {}{more}\n", users.join(", ")));
    }
    text
}
