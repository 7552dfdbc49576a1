//! `detect_project_type`: languages, frameworks, tools and commands of a project, each with the file that says so.

use super::facts::{Command, Evident, Package, Workspace};
use super::languages::{Language, languages};
use super::manifest;
use super::report;
use super::spec;
use super::tree::Tree;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::{Context, Output, Spec, Tool, ToolError, WorkspacePath};

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
    /// Languages by their files, the most frequent first.
    languages: Vec<Language>,
    /// Frameworks and important libraries.
    frameworks: Vec<Evident>,
    /// What builds it.
    build_tools: Vec<Evident>,
    /// What gets its dependencies.
    package_managers: Vec<Evident>,
    /// Commands to install, build, test, lint, format and run, those of the root first.
    commands: Vec<Command>,
    /// Where programs and libraries begin.
    entry_points: Vec<Evident>,
    /// Packages that belong together.
    workspaces: Vec<Workspace>,
    /// Every package.
    packages: Vec<Package>,
    /// Manifests that cannot be read and are not counted, each with why.
    problems: Vec<Evident>,
    /// Whether not all files were looked at.
    partial: bool,
    /// Files and folders that the policy holds back.
    held_back: u64,
}

/// The tool.
pub struct DetectProjectType;

impl Tool for DetectProjectType {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("detect_project_type", include_str!("detect_project_type.txt"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| {
            let tree = Tree::survey(ctx, &args.path)?;
            let facts = manifest::facts(&tree);
            let languages = languages(&tree);
            let text = report::detected(&facts, &languages, &tree.note());
            let data = Data {
                languages,
                frameworks: facts.frameworks,
                build_tools: facts.build_tools,
                package_managers: facts.package_managers,
                commands: facts.commands,
                entry_points: facts.entry_points,
                workspaces: facts.workspaces,
                packages: facts.packages,
                problems: facts.problems,
                partial: tree.partial,
                held_back: tree.total_held_back(),
            };
            Ok(Output::new(tree.root, text, data))
        })
        .await
    }
}
