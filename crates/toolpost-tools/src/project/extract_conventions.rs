//! `extract_conventions`: how a project is written, measured with counts, beside what its configuration says.

use super::commits::{self, CommitStyle};
use super::configured::{Setting, settings};
use super::measured::naming::Naming;
use super::measured::{Convention, measure};
use super::spec;
use super::tree::Tree;
use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolpost_core::code::{Inquiry, SymbolQuery};
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// Maximum number of symbols that the engine is asked for.
const MOST_SYMBOLS: usize = 4_000;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Folder to look at; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The conventions.
    conventions: Vec<Convention>,
    /// How commits are described, where git's own files can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    commits: Option<CommitStyle>,
    /// Files that were read, by language.
    files: BTreeMap<String, usize>,
    /// Whether not all files were looked at.
    partial: bool,
    /// Files and folders that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct ExtractConventions;

impl Tool for ExtractConventions {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("extract_conventions", include_str!("extract_conventions.txt"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| {
            let tree = Tree::survey(ctx, &args.path)?;
            let (conventions, files) = conventions(ctx, &tree);
            ctx.checkpoint()?;
            let commits = commits::style(ctx, &tree);
            let text = text(&conventions, commits.as_ref(), &files, &tree.note());
            let data = Data {
                conventions,
                commits,
                files,
                partial: tree.partial,
                held_back: tree.total_held_back(),
            };
            Ok(Output::new(tree.root, text, data))
        })
        .await
    }
}

/// What is measured and what is configured, joined.
fn conventions(ctx: &Context, tree: &Tree) -> (Vec<Convention>, BTreeMap<String, usize>) {
    joined(tree, |conventions| known_by_engine(ctx, tree, conventions))
}

/// The same without what only the engine knows, which is about names. It costs far less.
pub(super) fn conventions_of_text(tree: &Tree) -> Vec<Convention> {
    joined(tree, |_| {}).0
}

fn joined(tree: &Tree, add: impl FnOnce(&mut Vec<Convention>)) -> (Vec<Convention>, BTreeMap<String, usize>) {
    let settings = settings(tree);
    let of_lines = settings.iter().filter(|setting| setting.topic == "line length");
    let lengths: Vec<usize> =
        of_lines.filter_map(|setting| setting.value.rsplit(' ').next()?.parse().ok()).collect();
    let measured = measure(tree, &lengths);
    let mut conventions = measured.conventions;
    add(&mut conventions);
    for setting in &settings {
        join(&mut conventions, setting, &measured.files);
    }
    (conventions, measured.files)
}

/// The engine tells kinds apart that words do not, such as methods, constants and fields.
fn known_by_engine(ctx: &Context, tree: &Tree, conventions: &mut Vec<Convention>) {
    let Ok(engine) = ctx.code() else { return };
    let shows = |file: &str| ctx.withheld(file).is_none();
    let query = SymbolQuery { path: tree.root.clone(), limit: MOST_SYMBOLS, ..SymbolQuery::default() };
    let Ok((symbols, _)) = engine.map(&Inquiry { ctx, shows: &shows }, &query, &[]) else { return };
    let mut by_language: BTreeMap<&str, Naming> = BTreeMap::new();
    for symbol in symbols.iter().filter(|symbol| {
        shows(&symbol.file) && !tree.is_foreign(&symbol.file) && !tree.is_hidden(&symbol.file)
    }) {
        if let Some(language) = super::languages::language_of(&symbol.file) {
            by_language.entry(language).or_default().add_symbol(&symbol.kind, &symbol.name);
        }
    }
    for (language, naming) in by_language {
        let mut known = Vec::new();
        naming.report(language, &mut known);
        for convention in known {
            let is_same = |one: &Convention| one.topic == convention.topic && one.language == language;
            match conventions.iter_mut().find(|one| is_same(one)) {
                // What is counted over more names stands.
                Some(one) if one.of >= convention.of => {}
                Some(one) => *one = convention,
                None => conventions.push(convention),
            }
        }
    }
}

/// Puts what a file says beside what is measured; what is said first stands.
fn join(conventions: &mut Vec<Convention>, setting: &Setting, files: &BTreeMap<String, usize>) {
    let languages: Vec<String> = match setting.languages.is_empty() {
        true => files.keys().cloned().collect(),
        false => setting
            .languages
            .iter()
            .map(|name| (*name).to_owned())
            .filter(|name| files.contains_key(name))
            .collect(),
    };
    for language in languages {
        let is_same = |one: &&mut Convention| one.topic == setting.topic && one.language == language;
        match conventions.iter_mut().find(is_same) {
            Some(one) if one.configured.is_some() => {}
            Some(one) => {
                one.agrees = Some(agrees(one, &setting.value));
                one.configured = Some(setting.value.clone());
                one.evidence = Some(setting.evidence.clone());
            }
            None => {
                let mut one = Convention::new(setting.topic, &language, setting.value.clone(), 0, 0, "files");
                one.configured = Some(setting.value.clone());
                one.evidence = Some(setting.evidence.clone());
                conventions.push(one);
            }
        }
    }
}

/// Lines may be shorter than allowed; all else must be the same.
fn agrees(measured: &Convention, configured: &str) -> bool {
    let number = |text: &str| text.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    match (measured.topic.as_str(), number(&measured.value), number(configured)) {
        ("line length", Some(measured), Some(configured)) => measured <= configured,
        _ => measured.value == configured,
    }
}

/// One line of a convention.
pub(super) fn line(one: &Convention) -> String {
    let language = if one.language == "all" { String::new() } else { format!(" ({})", one.language) };
    let count = match one.of {
        0 => String::new(),
        of => format!(", {} of {of} {}", one.count, one.unit),
    };
    let configured = match (&one.configured, &one.evidence, one.agrees) {
        (Some(_), Some(evidence), Some(true) | None) => format!("  [{evidence}]"),
        (Some(value), Some(evidence), Some(false)) => format!("  [but {evidence} says {value}]"),
        _ => String::new(),
    };
    one_line(&format!("{}{language}: {}{count}{configured}", one.topic, one.value)).into_owned()
}

fn text(
    conventions: &[Convention],
    commits: Option<&CommitStyle>,
    files: &BTreeMap<String, usize>,
    note: &str,
) -> String {
    let read: Vec<String> = files.iter().map(|(language, count)| format!("{count} {language}")).collect();
    let mut text = match read.is_empty() {
        true => "no source files to measure\n".to_owned(),
        false => format!("measured over files: {}\n", read.join(", ")),
    };
    for convention in conventions {
        text.push_str(&line(convention));
        text.push('\n');
    }
    if let Some(commits) = commits {
        text.push_str(&format!("commit style: {}\n", one_line(&commits.in_words().join("; "))));
    }
    text.push_str(note);
    text
}
