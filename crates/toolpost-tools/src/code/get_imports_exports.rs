//! `get_imports_exports`: what a file takes from others, and what it gives to them.

use super::asking::ask;
use super::excerpt::shortened;
use super::page::Page;
use super::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::code::Links;
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The file to look at.
    file: WorkspacePath,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// Imports and exports.
    #[serde(flatten)]
    links: Links,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct GetImportsExports;

impl Tool for GetImportsExports {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("get_imports_exports", include_str!("get_imports_exports.txt"))
            .argument_alias("filePath", "file")
            .argument_alias("path", "file")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask(ctx, move |asking, engine, inquiry| {
            let file = asking.file(&args.file)?;
            let mut links = engine.links(inquiry, &file)?;
            for import in &mut links.imports {
                import.file = import.file.take().filter(|file| asking.shows(file));
            }
            let mut page = Page::new(&asking.ctx);
            page.heading(&format!("imports ({}):", links.imports.len()));
            for import in &links.imports {
                let names = match import.names.is_empty() {
                    true => String::new(),
                    false => format!(" {{{}}}", import.names.join(", ")),
                };
                let from = import.file.as_deref().map(|file| format!(" -> {file}")).unwrap_or_default();
                let shown = shortened(&asking.ctx, &format!("{}{names}", import.module));
                page.line(&file, &format!("{}: {shown}{from}", import.line));
            }
            page.heading(&format!("exports ({}):", links.exports.len()));
            for export in &links.exports {
                let from = export.from.as_deref().map(|from| format!(" from {from}")).unwrap_or_default();
                let shown = shortened(&asking.ctx, &format!("{} {}", export.kind, export.name));
                page.line(&file, &format!("{}: {shown}{from}", export.line));
            }
            let mut notes = Vec::new();
            if page.left_out > 0 {
                notes.push(format!("{} more lines do not fit", page.left_out));
            }
            let note = asking.note(notes, &links.coverage);
            let data = Data { links, held_back: asking.total_held_back() };
            Ok(Output::new(file, page.finish(&note), data))
        })
        .await
    }
}
