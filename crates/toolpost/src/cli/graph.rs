//! `toolpost graph`: its arguments.

use clap::{Args, ValueEnum};

/// Shows dependencies.
#[derive(Debug, Args)]
pub struct Graph {
    /// Folder to look at, from the workspace root; all of it if left out.
    pub path: Option<String>,
    /// How the graph is written.
    #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
    pub format: GraphFormat,
    /// What its nodes are.
    #[arg(long, value_name = "LEVEL", default_value = "folder")]
    pub level: GraphLevel,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// One JSON object.
    Json,
    /// A flow chart of Mermaid.
    Mermaid,
    /// A graph of Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// What the nodes of a graph are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphLevel {
    /// Files.
    File,
    /// Folders.
    Folder,
    /// Packages: folders with a manifest.
    Package,
}
