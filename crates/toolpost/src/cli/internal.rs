//! `toolpost internal`: commands for the tooling of the project.

use clap::Subcommand;

/// For the project's own tooling.
#[derive(Debug, Subcommand)]
pub enum Internal {
    /// Print the generated reference pages as one JSON object, file name to text.
    Reference,
    /// Print the JSON Schema of the configuration.
    ConfigSchema,
    /// Print the text of the PDF on standard input.
    #[cfg(feature = "pdf")]
    PdfText,
}
