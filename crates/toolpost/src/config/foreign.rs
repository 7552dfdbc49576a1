//! Files of other systems that the user names, read whole and bounded.

#![expect(
    clippy::disallowed_methods,
    reason = "a file named on the command line may lie outside every workspace"
)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use toolpost_core::text::LARGEST;
use toolpost_core::{Code, ToolError};

/// The bytes of a regular file; one byte more than may be read, so that its reader can refuse it as too large.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ToolError> {
    read_at_most(path, LARGEST)
}

/// The same with another limit.
pub(crate) fn read_at_most(path: &Path, most: usize) -> Result<Vec<u8>, ToolError> {
    let refused = |what: String| {
        ToolError::new(Code::ReadError, format!("`{}` cannot be read: {what}", path.display()))
    };
    // Without O_NONBLOCK, opening a FIFO would wait for its writer.
    const O_NONBLOCK: i32 = 0o4000;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
        .map_err(|error| refused(error.to_string()))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(refused("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
    Ok(bytes)
}
