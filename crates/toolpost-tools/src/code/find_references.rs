//! `find_references`: every place that refers to a symbol, resolved by the rules of the language and not by its name.

use super::asking::{Asking, ask, doubt, in_words};
use super::excerpt::lines_of;
use super::page::Page;
use super::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolpost_core::code::{Reference, References, Target};
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// Maximum number of references in the data.
const MOST_IN_DATA: usize = 10_000;
/// Maximum number of definitions that are named.
const MOST_DEFINITIONS: usize = 5;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The symbol's name; Type.method or module.name where the name alone is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    symbol: String,
    /// Only references in this folder or file.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: Option<WorkspacePath>,
    /// A file in which the symbol is defined or used, to tell which one is meant.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    file: Option<WorkspacePath>,
    /// The line in `file` where it stands, counting from 1.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The column in `line`, in characters from 1.
    #[schemars(range(min = 1))]
    column: Option<u32>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The references.
    #[serde(flatten)]
    found: References,
    /// Resolved references in all, those included that are not listed here.
    total: u64,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct FindReferences;

impl Tool for FindReferences {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("find_references", include_str!("find_references.txt")).argument_alias("name", "symbol")
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask(ctx, move |asking, engine, inquiry| {
            let target = Target {
                symbol: args.symbol.clone(),
                file: args.file.as_ref().map(|file| asking.file(file)).transpose()?,
                line: args.line,
                column: args.column,
                path: args.path.as_ref().map(|path| asking.place(path)).transpose()?,
            };
            asking.check_place(target.file.as_deref(), target.line, target.column)?;
            let mut found = engine.references(inquiry, &target)?;
            found.definitions.retain(|symbol| asking.shows(&symbol.file));
            found.references.retain(|reference| asking.shows(&reference.file));
            found.possible.retain(|reference| asking.shows(&reference.file));
            if found.definitions.is_empty() && found.references.is_empty() && found.possible.is_empty() {
                let place = target.file.map(|file| format!(" at `{file}`")).unwrap_or_default();
                return Err(asking.unknown(engine, inquiry, &args.symbol, &place));
            }
            let total = found.references.len();
            let text = text(asking, &found);
            found.references.truncate(MOST_IN_DATA);
            found.possible.truncate(MOST_IN_DATA);
            let title = format!("{} ({total})", args.symbol);
            let held_back = asking.settled(&mut found.coverage);
            let data = Data { found, total: total as u64, held_back };
            Ok(Output::new(title, text, data))
        })
        .await
    }
}

fn text(asking: &Asking, found: &References) -> String {
    let mut page = Page::new(&asking.ctx);
    for symbol in found.definitions.iter().take(MOST_DEFINITIONS) {
        page.heading(&format!("defined: {}", in_words(symbol)));
    }
    if found.definitions.len() > MOST_DEFINITIONS {
        page.heading(&format!("and {} more definitions", found.definitions.len() - MOST_DEFINITIONS));
    }
    list(asking, &mut page, &found.references);
    for (role, why) in [
        (Some("member"), "because the receiver is unknown"),
        (Some("unparsed"), "because the code around it cannot be parsed, or is nested too deeply"),
        (None, "because it could not be resolved"),
    ] {
        let is_of = |one: &&Reference| match role {
            Some(role) => one.role == role,
            None => !matches!(one.role.as_str(), "member" | "unparsed"),
        };
        let group: Vec<Reference> = found.possible.iter().filter(is_of).cloned().collect();
        if !group.is_empty() {
            page.heading(&format!("possible ({}), {why}:", group.len()));
            list(asking, &mut page, &group);
        }
    }
    let mut notes = Vec::new();
    if page.left_out > 0 {
        let narrow = asking.ctx.argument("path").map(|path| format!("; narrow `{path}`")).unwrap_or_default();
        notes.push(format!("{} more lines do not fit{narrow}", page.left_out));
    }
    let files: std::collections::BTreeSet<&str> =
        found.references.iter().map(|reference| reference.file.as_str()).collect();
    notes.insert(
        0,
        format!("{} in {}", count(found.references.len(), "reference"), count(files.len(), "file")),
    );
    let note = asking.note(notes, &found.coverage);
    page.finish(&note)
}

/// `1 file`, `2 files`.
fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The references by file, each line once with its text.
fn list(asking: &Asking, page: &mut Page, references: &[Reference]) {
    let mut files: BTreeMap<&str, BTreeMap<u32, Vec<&Reference>>> = BTreeMap::new();
    for reference in references {
        files.entry(&reference.file).or_default().entry(reference.line).or_default().push(reference);
    }
    for (file, lines) in files {
        let wanted: Vec<u32> = lines.keys().copied().collect();
        // What does not fit is not read.
        let texts = match page.left_out {
            0 => lines_of(&asking.ctx, file, &wanted),
            _ => BTreeMap::new(),
        };
        for (line, references) in lines {
            let text = texts.get(&line).map(String::as_str).unwrap_or_default();
            let doubt = references.iter().filter_map(|one| doubt(one.confidence)).next();
            let doubt = match doubt {
                Some("possible") | None => String::new(),
                Some(doubt) => format!("  [{doubt}]"),
            };
            page.line(file, &format!("{line}: {text}{doubt}"));
        }
    }
}
