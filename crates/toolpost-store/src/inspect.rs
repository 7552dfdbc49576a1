//! What can be said of a store without making or changing it, for `doctor`.

use crate::db::Failure;
use crate::{StoreUrl, migrations, sqlite};
use serde::Serialize;
use std::path::PathBuf;

/// What is known of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspected {
    /// Its address, without a password.
    pub url: String,
    /// Its file, where it has one.
    pub path: Option<PathBuf>,
    /// Whether it was made already.
    pub exists: bool,
    /// Bytes of its files on this disk.
    pub bytes: u64,
    /// The version of its tables, where they were read.
    pub version: Option<usize>,
    /// Why it cannot be used.
    pub error: Option<String>,
}

/// Looks at a store.
#[expect(clippy::disallowed_methods, reason = "a store lies outside every workspace")]
pub fn inspect(url: &StoreUrl) -> Inspected {
    let shown = url.to_string().trim_matches('`').to_owned();
    let mut found = Inspected { url: shown, ..Inspected::default() };
    let version = match url {
        StoreUrl::Memory => return found,
        StoreUrl::Sqlite(path) => {
            found.path = Some(path.clone());
            let sizes = url.files().into_iter().filter_map(|file| std::fs::metadata(file).ok());
            found.bytes = sizes.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum();
            if !path.exists() {
                return found;
            }
            sqlite::version(path)
        }
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(url) => crate::postgres::version(url),
        #[cfg(not(feature = "postgres"))]
        StoreUrl::Postgres(_) => Err(crate::without_postgres()),
    };
    let version = version.and_then(|version| match version > migrations::NEWEST {
        true => Err(migrations::from_the_future(version)),
        false => Ok(version),
    });
    match version {
        Ok(version) => {
            found.exists = found.path.is_some() || version > 0;
            found.version = Some(version);
        }
        Err(failure) => {
            found.exists = found.path.is_some();
            found.error = Some(told(failure, &url.to_string()));
        }
    }
    found
}

fn told(failure: Failure, store: &str) -> String {
    failure.told(store).message().to_owned()
}
