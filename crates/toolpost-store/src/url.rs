//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toolpost_core::{Code, ToolError};

/// Where a store is: `memory`, `sqlite:PATH` or `postgres://…`.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// In this process, and gone with it.
    Memory,
    /// A file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, as its own programs are told of it.
    Postgres(String),
}

impl FromStr for StoreUrl {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<StoreUrl, ToolError> {
        if text == "memory" {
            return Ok(StoreUrl::Memory);
        }
        if text == "sqlite::memory:" {
            let message = "a store in memory is written `memory`, not `sqlite::memory:`";
            return Err(ToolError::new(Code::ValidationError, message));
        }
        if let Some(path) = text.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path))
            && !path.is_empty()
        {
            return Ok(StoreUrl::Sqlite(PathBuf::from(path)));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(StoreUrl::Postgres(text.to_owned()));
        }
        let message = format!(
            "`{}` is not a store; write `sqlite:PATH`, `postgres://USER@HOST/DATABASE` or `memory`",
            beginning(text)
        );
        Err(ToolError::new(Code::ValidationError, message))
    }
}

impl StoreUrl {
    /// A text that may or may not be the address of a store, as it can be shown: without a password, wherever it stands.
    pub fn harmless(text: &str) -> String {
        match text.parse::<StoreUrl>() {
            Ok(url) => url.to_string().trim_matches('`').to_owned(),
            Err(_) => beginning(text),
        }
    }

    /// The files of a store on this disk, existing or not; the last three are folders.
    pub fn files(&self) -> Vec<PathBuf> {
        let StoreUrl::Sqlite(path) = self else { return Vec::new() };
        ["", "-wal", "-shm", "-journal", SPOOLS, CONTENTS, HOLDS]
            .iter()
            .map(|end| with_ending(path, end))
            .collect()
    }

    /// The folder for what commands are about to change: beside the file, or else in the user's data directory. None where
    /// nothing is kept.
    pub fn spools(&self, data: Option<&Path>) -> Option<PathBuf> {
        match self {
            StoreUrl::Memory => None,
            StoreUrl::Sqlite(path) => Some(with_ending(path, SPOOLS)),
            StoreUrl::Postgres(_) => Some(data?.join("spools")),
        }
    }
}

/// The beginning of a text that is no address. Nobody knows which part of the rest would be a password.
fn beginning(text: &str) -> String {
    match text.find([':', '=', '@', '?', ' ']) {
        Some(end) => format!("{}…", &text[..=end]),
        None => text.to_owned(),
    }
}

/// The ending of the folder for what commands are about to change.
const SPOOLS: &str = ".spools";
/// The folder of locks, behind the name of the store.
pub(crate) const HOLDS: &str = "-holds";
/// The ending of the folder for large contents.
pub(crate) const CONTENTS: &str = "-contents";

pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut whole = path.to_path_buf().into_os_string();
    whole.push(ending);
    PathBuf::from(whole)
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreUrl::Memory => to.write_str("`memory`"),
            StoreUrl::Sqlite(path) => write!(to, "`sqlite:{}`", path.display()),
            StoreUrl::Postgres(url) => write!(to, "`{}`", without_password(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

/// An address without what only its owner should know: the password, wherever it stands. A password may hold every sign,
/// so what cannot be told from one is left out too.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match rest.rsplit_once('@') {
        None => format!("{scheme}://{}", rest.split('?').next().unwrap_or_default()),
        Some((before, after)) => {
            let user = before.split([':', '/', '?']).next().unwrap_or_default();
            // With a `?` before it, this `@` may stand in a parameter.
            let host = if before.contains('?') { "…" } else { after.split('?').next().unwrap_or_default() };
            format!("{scheme}://{user}@{host}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_passwords() {
        let shown = |text: &str| {
            text.parse::<StoreUrl>()
                .map(|url| url.to_string())
                .unwrap_or_else(|error| error.message().to_owned())
        };
        assert_eq!(shown("sqlite:/a/b.db"), "`sqlite:/a/b.db`");
        assert_eq!(shown("postgres://me:secret@host:1/db?password=x"), "`postgres://me@host:1/db`");
        assert_eq!(shown("memory"), "`memory`");
        for text in [
            "mysql://me:secret@host/db",
            "postgres:/me:secret@host/db",
            "postgres:me:secret@host/db",
            "postgre://me:secret",
            "host=h user=me password=secret",
            "me:secret@host",
            "postgres://me:?secret@host/db",
            "postgres://me:/secret@host/db",
            "postgres://me:@secret@host/db",
            "postgres://host/db?user=a@b&password=secret",
            "postgres://host/db?password=secret",
        ] {
            assert!(!shown(text).contains("secret"), "{}", shown(text));
            assert!(!StoreUrl::harmless(text).contains("secret"), "{text}");
        }
        assert!(shown("sqlite:").contains("write `sqlite:PATH`"));
    }
}
