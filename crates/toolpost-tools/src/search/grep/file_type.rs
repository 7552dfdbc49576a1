//! Kinds of files by the names that ripgrep has for them: `py` is `*.py` and `*.pyi`.

use ignore::types::{Types, TypesBuilder};
use toolpost_core::text::nearest;
use toolpost_core::{Code, Context, ToolError};

/// Files of one kind.
pub(super) struct FileType(Types);

impl FileType {
    /// The kind of this name; the error shows the nearest names.
    pub(super) fn named(ctx: &Context, name: &str) -> Result<FileType, ToolError> {
        let mut types = TypesBuilder::new();
        types.add_defaults();
        let known: Vec<String> = types.definitions().iter().map(|kind| kind.name().to_owned()).collect();
        if !known.iter().any(|known| known == name) {
            let argument = ctx.argument("type").unwrap_or("type");
            let near = nearest(name, known.iter().map(String::as_str), 3).join(", ");
            let near = if near.is_empty() { "js, py, rust, go".to_owned() } else { near };
            let message =
                format!("`{argument}` is `{name}`, which is not a file type; similar types: {near}");
            return Err(ToolError::new(Code::ValidationError, message).with("argument", argument));
        }
        types.select(name);
        let types = types.build().map_err(|error| {
            ToolError::execution(format!("the kinds of files could not be read: {error}"))
        })?;
        Ok(FileType(types))
    }

    /// Whether the file of this name is of the kind.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.matched(name, false).is_whitelist()
    }
}
