//! What outlives a process: the log of events, virtual files, tasks, todos and what undo needs, on SQLite and PostgreSQL.
//!
//! [`open`] opens a store by its address. What a store does is written once, over a few plain statements in transactions;
//! SQLite (a file, or memory alone) and PostgreSQL run them.

mod changes;
mod content_files;
mod contents;
mod db;
mod faults;
mod files;
mod gc;
mod hold;
mod inspect;
mod journal;
mod known;
mod lazy;
mod ledger;
mod log;
mod migrations;
mod percent;
#[cfg(feature = "postgres")]
mod postgres;
mod sink;
mod sqlite;
mod store;
mod tasks;
mod todos;
mod undo;
mod url;
mod workspace;

pub use faults::Faults;
pub use inspect::{Inspected, inspect};
pub use journal::{ReadSpool, StoreJournal};
pub use ledger::{FileLedger, MayKeep};
pub use log::label;
pub use sink::{Shape, StoreLog};
pub use url::StoreUrl;
pub use workspace::StoredWorkspace;

use db::{Db, Failure};
use std::sync::Arc;
use store::SqlStore;
use toolpost_core::ToolError;
use toolpost_core::store::Store;

/// Opens a store, and makes it where it is not there.
pub fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, ToolError> {
    open_with(url, None)
}

/// A store that is opened, and made where it is not there, when it is first used. An error then is that of whoever uses it.
pub fn open_when_used(url: &StoreUrl) -> Arc<dyn Store> {
    Arc::new(SqlStore::new(lazy::Lazy::new(url.clone()), None))
}

/// The same as [`open`], with faults at chosen statements, for tests.
#[doc(hidden)]
pub fn open_with(url: &StoreUrl, faults: Option<Arc<Faults>>) -> Result<Arc<dyn Store>, ToolError> {
    let database = database(url).map_err(|failure| failure.told(&url.to_string()))?;
    Ok(Arc::new(SqlStore::new(database, faults)))
}

fn database(url: &StoreUrl) -> Result<Arc<dyn Db>, Failure> {
    match url {
        StoreUrl::Memory => Ok(Arc::new(sqlite::Sqlite::memory()?)),
        StoreUrl::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::file(path)?)),
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(url) => Ok(Arc::new(postgres::Postgres::connect(url)?)),
        #[cfg(not(feature = "postgres"))]
        StoreUrl::Postgres(_) => Err(without_postgres()),
    }
}

#[cfg(not(feature = "postgres"))]
fn without_postgres() -> Failure {
    let why = "this program was built without PostgreSQL; build it with the feature `postgres`";
    Failure::Broken(why.to_owned())
}
