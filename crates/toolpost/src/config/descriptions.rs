//! A user's own descriptions: `NAME.txt` files that replace what the tool says of itself.

#![expect(clippy::disallowed_methods, reason = "configuration lies outside every workspace")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use toolpost_core::{Code, ToolError};

/// A description longer than this is a mistake.
const MAX_BYTES: u64 = 16 * 1024;

/// The descriptions in a folder that was named; it must be there.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, String>, ToolError> {
    let entries = fs::read_dir(folder).map_err(|error| {
        ToolError::new(
            Code::ReadError,
            format!("the folder of descriptions `{}` cannot be read: {error}", folder.display()),
        )
    })?;
    let mut texts = BTreeMap::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_text = path.extension().is_some_and(|extension| extension == "txt") && path.is_file();
        if let (true, Some(name)) = (is_text, path.file_stem().and_then(|name| name.to_str())) {
            texts.insert(name.to_owned(), read_one(&path)?);
        }
    }
    Ok(texts)
}

/// The same for the folder where they lie by custom.
pub(super) fn read_if_there(folder: &Path) -> Result<BTreeMap<String, String>, ToolError> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        _ => read(folder),
    }
}

fn read_one(path: &Path) -> Result<String, ToolError> {
    let refused = |what: String| {
        ToolError::new(Code::ReadError, format!("the description `{}` {what}", path.display()))
    };
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| refused(format!("cannot be read: {error}")))?;
    match text.len() as u64 > MAX_BYTES {
        true => Err(refused(format!("is longer than {MAX_BYTES} bytes; a model pays for every word of it"))),
        false => Ok(text),
    }
}
