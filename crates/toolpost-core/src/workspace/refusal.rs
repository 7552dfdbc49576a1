//! The refusals that every workspace words alike.

use crate::error::{Code, ToolError};

/// How many nearest names a message offers.
pub const NEAREST: usize = 3;

/// Nothing has this name; the nearest that exist are offered.
pub fn missing(name: &str, nearest: &[String]) -> ToolError {
    let offer = match nearest {
        [] => "; list its folder to see what is there".to_owned(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("; nearest: {}", names.join(", "))
        }
    };
    ToolError::new(Code::FileNotFound, format!("no file `{name}`{offer}"))
        .with("path", name)
        .with("nearest", nearest.to_vec())
}

/// A file is wanted and this is something else.
pub fn not_a_file(name: &str, what: &str) -> ToolError {
    let hint = match what {
        "a folder" => "name a file in it, or list it",
        _ => "only regular files are opened",
    };
    ToolError::new(Code::NotAFile, format!("`{name}` is {what}, not a regular file; {hint}"))
        .with("path", name)
        .with("is", what)
}

/// A folder is wanted, here or further up, and this is something else.
pub fn not_a_folder(name: &str) -> ToolError {
    ToolError::new(
        Code::NotAFile,
        format!("`{name}` is not a folder, or lies below a file; name another path"),
    )
    .with("path", name)
}

/// The root itself would be removed, moved or replaced.
pub fn is_root(name: &str) -> ToolError {
    ToolError::new(
        Code::WriteError,
        format!("`{name}` is a root of the workspace and stays; name a file inside it"),
    )
}

/// A folder that still holds something would be removed.
pub fn not_empty(name: &str) -> ToolError {
    ToolError::new(Code::WriteError, format!("the folder `{name}` is not empty; remove what is in it first"))
        .with("path", name)
}

/// Something would be moved onto a folder.
pub fn onto_folder(name: &str) -> ToolError {
    ToolError::new(Code::NotAFile, format!("`{name}` exists and is a folder; name a new file to move to"))
        .with("path", name)
}

/// A folder would be moved to somewhere inside itself, or onto a file.
pub fn no_move(from: &str, to: &str) -> ToolError {
    ToolError::new(
        Code::WriteError,
        format!(
            "the folder `{from}` cannot be moved to `{to}`, which is a file or lies inside it; choose a new name"
        ),
    )
}
