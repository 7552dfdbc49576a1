//! `get_project_overview`: an introduction to a project for newcomers.

use super::overview::overview;
use super::spec;
use super::tree::Tree;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::text::tokens;
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Folder of the project; the workspace root if left out.
    #[serde(default = "WorkspacePath::root")]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    path: WorkspacePath,
    /// Most tokens to return.
    #[serde(default = "usual_tokens")]
    #[schemars(range(min = 200, max = 20_000))]
    max_tokens: usize,
}

fn usual_tokens() -> usize {
    4_000
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The sections, in order.
    sections: Vec<Section>,
    /// Tokens of the text, as estimated.
    tokens: usize,
    /// Whether not all files were looked at.
    partial: bool,
    /// Files and folders that the policy holds back.
    held_back: u64,
}

/// One part of the introduction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Section {
    /// Its heading.
    pub(super) heading: String,
    /// Its text, in Markdown.
    pub(super) text: String,
}

/// The tool.
pub struct GetProjectOverview;

impl Tool for GetProjectOverview {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("get_project_overview", include_str!("get_project_overview.txt"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| {
            let tree = Tree::survey(ctx, &args.path)?;
            let (title, sections) = overview(ctx, &tree, args.max_tokens);
            ctx.checkpoint()?;
            let parts: Vec<String> = sections
                .iter()
                .map(|section| format!("## {}\n\n{}\n", section.heading, section.text))
                .collect();
            let text = format!("# {title}\n\n{}{}", parts.join("\n"), tree.note());
            let data = Data {
                sections,
                tokens: tokens(&text),
                partial: tree.partial,
                held_back: tree.total_held_back(),
            };
            Ok(Output::new(title, text, data))
        })
        .await
    }
}
