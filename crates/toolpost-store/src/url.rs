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
        if let Some(path) = text.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path))
            && !path.is_empty()
        {
            return Ok(StoreUrl::Sqlite(PathBuf::from(path)));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(StoreUrl::Postgres(text.to_owned()));
        }
        // It may hold a password.
        let shown = text.split_once("://").map_or(text, |(scheme, _)| scheme);
        let message = format!(
            "`{shown}` is no store; write `sqlite:PATH`, `postgres://USER@HOST/DATABASE` or `memory`"
        );
        Err(ToolError::new(Code::ValidationError, message))
    }
}

impl StoreUrl {
    /// The folder for what commands are about to change: beside the file, or else in the user's data directory. None where
    /// nothing is kept.
    pub fn spools(&self, data: Option<&Path>) -> Option<PathBuf> {
        match self {
            StoreUrl::Memory => None,
            StoreUrl::Sqlite(path) => {
                let mut beside = path.clone().into_os_string();
                beside.push(".spools");
                Some(PathBuf::from(beside))
            }
            StoreUrl::Postgres(_) => Some(data?.join("spools")),
        }
    }
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

/// An address without what only its owner should know: the password, wherever it stands.
fn without_password(url: &str) -> String {
    let (plain, _) = url.split_once('?').unwrap_or((url, ""));
    match (plain.split_once("://"), plain.rsplit_once('@')) {
        (Some((scheme, _)), Some((before, host))) => {
            let user = before.split_once("://").map_or(before, |(_, user)| user);
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{scheme}://{user}@{host}")
        }
        _ => plain.to_owned(),
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
        assert!(!shown("mysql://me:secret@host/db").contains("secret"));
        assert!(shown("sqlite:").contains("write `sqlite:PATH`"));
    }
}
