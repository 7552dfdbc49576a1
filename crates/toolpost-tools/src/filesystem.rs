//! The filesystem pack: tools on the files of the workspace.

mod list;
mod read;

pub use list::List;
pub use read::Read;

use std::borrow::Cow;
use std::sync::Arc;
use toolpost_core::{Alias, Registry, ToolError};

/// Adds the pack's tools and their other names.
pub fn register(registry: &Registry) -> Result<(), ToolError> {
    registry.change(|draft| {
        draft.register(Arc::new(Read))?;
        draft.register(Arc::new(List))?;
        aliases().into_iter().try_for_each(|alias| draft.add_alias(alias))
    })
}

/// A name with a newline or an escape in it must not look like two, or like something else.
fn one_line(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => Cow::Owned(name.escape_debug().to_string()),
        false => Cow::Borrowed(name),
    }
}

/// Names that models and users know these tools by. `read_file` counts lines from 0.
fn aliases() -> Vec<Alias> {
    let read_file = |name: &str| {
        Alias::new(name, "read")
            .argument("path", "filePath")
            .argument("file_path", "filePath")
            .argument("absolute_path", "filePath")
            .shifted("offset", "offset", 1)
    };
    let mut all = vec![read_file("read_file")];
    all.extend(["Read", "view", "ReadFile"].map(|name| Alias::new(name, "read")));
    all.extend(
        ["list_directory", "list_files", "LS"]
            .map(|name| Alias::new(name, "list").argument("dir_path", "path").argument("directory", "path")),
    );
    all
}
