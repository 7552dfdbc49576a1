//! Paths as they are written.

use crate::wildcard;
use std::borrow::Cow;

/// The path without `.`, `..`, doubled and final slashes; the workspace root is the empty text.
pub fn normal_path(path: &str) -> Cow<'_, str> {
    let relative = path.strip_prefix('/').unwrap_or(path);
    let mut parts = relative.as_bytes().split(|letter| *letter == b'/');
    if parts.all(|part| !matches!(part, b"" | b"." | b"..")) {
        return Cow::Borrowed(path);
    }
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    Cow::Owned(if absolute { format!("/{joined}") } else { joined })
}

/// The pattern of exactly this path, from the workspace root or absolute.
pub fn exact_path(path: &str) -> String {
    let path = normal_path(path);
    if path.is_empty() {
        return "*".into();
    }
    let escaped = wildcard::escape(&path);
    match (path.starts_with('/'), path.contains('/')) {
        (true, _) | (false, false) => format!("/{escaped}"),
        (false, true) => escaped,
    }
}
