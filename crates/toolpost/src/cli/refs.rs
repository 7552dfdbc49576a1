//! `toolpost refs`: its arguments.

use clap::Args;

/// Finds the uses of a symbol.
#[derive(Debug, Args)]
pub struct Refs {
    /// Its name; Type.method or module.name where the name alone is ambiguous.
    pub symbol: String,
    /// A file in which it is defined or used, to tell which one is meant; from the workspace root.
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// The line in that file.
    #[arg(long, value_name = "N", requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
    pub line: Option<u32>,
    /// The column in that line, in characters from 1.
    #[arg(long, value_name = "N", requires = "line", value_parser = clap::value_parser!(u32).range(1..))]
    pub column: Option<u32>,
    /// Only uses in this folder or file; from the workspace root.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
}
