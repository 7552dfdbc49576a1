//! What outlives a process: the log of events, virtual files, tasks and todos, on SQLite and PostgreSQL.
//!
//! [`open`] opens a store by its address. What a store does is written once, over a few plain statements in transactions;
//! SQLite (a file, or memory alone) and PostgreSQL run them.

mod changes;
mod db;
mod faults;
mod files;
mod gc;
mod log;
mod migrations;
#[cfg(feature = "postgres")]
mod postgres;
mod sink;
mod sqlite;
mod store;
mod tasks;
mod todos;
mod url;

pub use faults::Faults;
pub use sink::{Shape, StoreLog};
pub use url::StoreUrl;

use std::sync::Arc;
use store::SqlStore;
use toolpost_core::ToolError;
use toolpost_core::store::Store;

/// Opens a store, and makes it where it is not there.
pub fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, ToolError> {
    open_with(url, None)
}

/// The same, with faults at chosen statements, for tests.
#[doc(hidden)]
pub fn open_with(url: &StoreUrl, faults: Option<Arc<Faults>>) -> Result<Arc<dyn Store>, ToolError> {
    let told = |failure: db::Failure| failure.told(&url.to_string());
    match url {
        StoreUrl::Memory => Ok(Arc::new(SqlStore::new(sqlite::Sqlite::memory().map_err(told)?, faults))),
        StoreUrl::Sqlite(path) => {
            Ok(Arc::new(SqlStore::new(sqlite::Sqlite::file(path).map_err(told)?, faults)))
        }
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(url) => {
            Ok(Arc::new(SqlStore::new(postgres::Postgres::connect(url).map_err(told)?, faults)))
        }
        #[cfg(not(feature = "postgres"))]
        StoreUrl::Postgres(_) => Err(db::Failure::Broken(
            "this program was built without PostgreSQL; build it with the feature `postgres`".to_owned(),
        )
        .told(&url.to_string())),
    }
}
