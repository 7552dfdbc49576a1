//! `build_dependency_graph`: which file, folder or package depends on which, with cycles.

use super::asking::ask_in_form;
use super::graph::{Graph, draw, svg};
use super::spec;
use crate::project::packages::Packages;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::code::Coverage;
use toolpost_core::text::tokens;
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// Maximum number of nodes in the data, and in a picture.
const MOST_NODES: usize = 5_000;
const MOST_DRAWN: usize = 300;
/// Bytes of the text that are kept free for what follows the graph.
const ROOM_FOR_NOTE: usize = 4 * 1024;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Folder to look at; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
    /// How the graph is written.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent", "default" = "json"))]
    format: Format,
    /// What the nodes are.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent", "default" = "file"))]
    level: Level,
    /// Most tokens to return; the most connected nodes are kept.
    #[schemars(range(min = 100, max = 100_000))]
    max_tokens: Option<usize>,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Format {
    #[default]
    Json,
    Mermaid,
    Dot,
    Svg,
}

/// What a node is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Level {
    #[default]
    File,
    Folder,
    Package,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The graph.
    #[serde(flatten)]
    graph: Graph,
    /// Nodes that are not in it, because there are too many.
    left_out: usize,
    /// Whether all files are counted.
    #[serde(flatten)]
    coverage: Coverage,
    /// Files that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct BuildDependencyGraph;

impl Tool for BuildDependencyGraph {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("build_dependency_graph", include_str!("build_dependency_graph.txt"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ask_in_form(ctx, move |asking, engine, inquiry| {
            let path = asking.place(&args.path)?;
            let mut found = engine.dependencies(inquiry, &path)?;
            found.files.retain(|file| asking.shows(file));
            found.edges.retain(|(from, to, _)| asking.shows(from) && asking.shows(to));
            let is_test = |from: &str, _: &str| crate::project::is_test(from);
            let mut graph = match args.level {
                Level::File => Graph::of(&found.files, &found.edges, str::to_owned, is_test),
                Level::Folder => {
                    Graph::of(&found.files, &found.edges, |file| folder_of(file).to_owned(), is_test)
                }
                Level::Package => {
                    let packages = Packages::find(&asking.ctx)?;
                    let is_for_tests = |from: &str, to: &str| {
                        is_test(from, to) || packages.is_for_tests(&packages.of(from), &packages.of(to))
                    };
                    Graph::of(&found.files, &found.edges, |file| packages.of(file), is_for_tests)
                }
            };
            let left_out = graph.keep(MOST_NODES);
            let mut shown = graph.clone();
            let mut unshown = left_out;
            if args.format != Format::Json {
                unshown += shown.keep(MOST_DRAWN);
            }
            let room = asking.ctx.output_budget().bytes.saturating_sub(ROOM_FOR_NOTE);
            let mut text = written(&shown, args.format);
            let is_too_long = |text: &str| {
                // A token has a byte at least, and seldom more than a few.
                text.len() > room || args.max_tokens.is_some_and(|most| text.len() > most && tokens(text) > most)
            };
            while is_too_long(&text) && shown.nodes.len() > 1 {
                unshown += shown.keep(shown.nodes.len() * 2 / 3);
                text = written(&shown, args.format);
            }
            let mut notes: Vec<String> = asking.unread().into_iter().collect();
            if unshown > 0 {
                let level = asking.ctx.argument("level").unwrap_or("level");
                notes.push(format!(
                    "{unshown} less connected nodes are not shown; give a smaller path, or `{level}` folder or package"
                ));
            }
            let note = asking.note(notes, &found.coverage);
            if !note.is_empty() {
                // A graph for another program stays one that it can read.
                text.push_str(&match args.format {
                    Format::Json => format!("\n{note}"),
                    Format::Mermaid => format!("%% {note}\n"),
                    Format::Dot => format!("// {note}\n"),
                    Format::Svg => format!("<!-- {} -->\n", note.replace("--", "- -")),
                });
            }
            let held_back = asking.settled(&mut found.coverage);
            let data = Data { graph, left_out, coverage: found.coverage, held_back };
            Ok(Output::new(path, text, data))
        })
        .await
    }
}

fn written(graph: &Graph, format: Format) -> String {
    match format {
        Format::Json => draw::as_json(graph),
        Format::Mermaid => draw::as_mermaid(graph),
        Format::Dot => draw::as_dot(graph),
        Format::Svg => svg::as_svg(graph),
    }
}

fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or(".", |(folder, _)| folder)
}
