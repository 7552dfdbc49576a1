//! `toolpost map`: its arguments.

use clap::Args;

/// Shows the most important symbols.
#[derive(Debug, Args)]
pub struct MapFlags {
    /// Folder or file to map, from the workspace root; all of it if left out.
    pub path: Option<String>,
    /// Maximum number of tokens of the map.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..=20_000))]
    pub tokens: u32,
    /// A file or symbol; what is near it comes first.
    #[arg(long, value_name = "NAME")]
    pub focus: Vec<String>,
}
