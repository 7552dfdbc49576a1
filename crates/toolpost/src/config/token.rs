//! Secrets of the server, made when they are first needed and kept for their owner alone: the token that clients over HTTP
//! show, and the key that the state of waiting calls is sealed with.

use super::private;
use std::path::{Path, PathBuf};
use toolpost_core::{Code, ToolError};

/// More than any token of ours has.
const LONGEST: usize = 4_096;

/// The shortest that is worth the name.
const SHORTEST: usize = 16;

/// The token, and the file that it lies in.
pub(crate) fn token(data_directory: Option<&Path>) -> Result<(String, PathBuf), ToolError> {
    secret(data_directory, "mcp-token", "token")
}

/// The key of states.
pub(crate) fn state_key(data_directory: Option<&Path>) -> Result<String, ToolError> {
    Ok(secret(data_directory, "mcp-state-key", "key")?.0)
}

fn secret(data_directory: Option<&Path>, name: &str, what: &str) -> Result<(String, PathBuf), ToolError> {
    let Some(data) = data_directory else {
        let message =
            format!("there is no home directory to keep the server's {what} in; set HOME or XDG_DATA_HOME");
        return Err(ToolError::new(Code::ReadError, message));
    };
    let path = data.join(name);
    let broken = |problem: String| {
        ToolError::new(Code::ReadError, format!("the server's {what} `{}` {problem}", path.display()))
    };
    // Whoever loses the race reads what the other wrote.
    let written = private::write_new(&path, &format!("{}\n", made()));
    written.map_err(|error| {
        broken(format!("cannot be written: {error}; check the owner and mode of its folder"))
    })?;
    let advice = "remove it, and the next start makes a new one";
    if private::is_link(&path) {
        return Err(broken(format!("is a link, which may lead to a file that others know; {advice}")));
    }
    let found = private::read(&path, LONGEST).map_err(broken)?;
    let found = found.ok_or_else(|| broken("went away; try again".to_owned()))?;
    if !found.is_own {
        return Err(broken(format!("belongs to another user, who knows it; {advice}")));
    }
    if found.is_open_to_others {
        return Err(broken(format!("can be changed by others (mode {:04o}); {advice}", found.mode)));
    }
    // Somebody may have read it by now, so that a stricter mode alone does not help.
    if found.mode & 0o077 != 0 {
        return Err(broken(format!("can be read by others (mode {:04o}); {advice}", found.mode)));
    }
    let text = String::from_utf8_lossy(&found.bytes).trim().to_owned();
    if text.len() < SHORTEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(broken(format!(
            "is not a {what} of at least {SHORTEST} plain letters; remove it to get a new one"
        )));
    }
    Ok((text, path))
}

fn made() -> String {
    let mut bytes = [0; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        // Fails only when interrupted: then again.
        filled +=
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()).unwrap_or(0);
    }
    toolpost_core::text::hex(&bytes)
}
