//! A user's own descriptions: `NAME.txt` files that replace what the tool says of itself.

#![expect(clippy::disallowed_methods, reason = "configuration lies outside every workspace")]

use super::private;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use toolpost_core::text::LARGEST;
use toolpost_core::{Code, ToolError};

/// A description longer than this is a mistake.
const MAX_BYTES: usize = 16 * 1024;
/// More files in one folder are no descriptions.
const MOST_FILES: usize = 1_000;

/// The descriptions in a folder that was named; it must be there.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, String>, ToolError> {
    let entries = fs::read_dir(folder).map_err(|error| {
        ToolError::new(
            Code::ReadError,
            format!("the folder of descriptions `{}` cannot be read: {error}", folder.display()),
        )
    })?;
    let mut files = Vec::new();
    for path in entries.flatten().take(MOST_FILES).map(|entry| entry.path()) {
        let is_text = path.extension().is_some_and(|extension| extension == "txt") && path.is_file();
        if let (true, Some(name)) = (is_text, path.to_str()) {
            let file = private::read(&path, LARGEST).map_err(|message| refused(name, &message))?;
            files.extend(file.map(|file| (name.to_owned(), file.bytes)));
        }
    }
    of_files(files)
}

/// The same for the folder where they lie by custom.
pub(super) fn read_if_there(folder: &Path) -> Result<BTreeMap<String, String>, ToolError> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        _ => read(folder),
    }
}

/// The descriptions in files that are already read, by the name of the tool.
pub(super) fn of_files(
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> Result<BTreeMap<String, String>, ToolError> {
    let mut texts = BTreeMap::new();
    for (path, bytes) in files {
        if bytes.len() > MAX_BYTES {
            let message = format!("is longer than {MAX_BYTES} bytes; a model pays for every word of it");
            return Err(refused(&path, &message));
        }
        let text =
            String::from_utf8(bytes).map_err(|_| refused(&path, "is not valid UTF-8; save it as UTF-8"))?;
        texts.insert(tool_of(&path).to_owned(), text);
    }
    Ok(texts)
}

/// The tool that a file describes.
pub(super) fn tool_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".txt").unwrap_or(name)
}

fn refused(path: &str, what: &str) -> ToolError {
    ToolError::new(Code::ReadError, format!("the description `{path}` {what}"))
}
