//! SQLite: one file, or memory alone; one thread that writes, and a few connections that read.

mod blocker;
mod connection;
mod lock;
mod presence;
mod turn;
mod writer;

use crate::content_files::ContentFiles;
use crate::db::{Db, Failure, Job, Tx};
use crate::hold::Lock;
use connection::{SqliteTx, failure};
use presence::Presence;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use writer::Writer;

/// Connections that are kept for reading when nobody reads.
const KEPT_READERS: usize = 4;
/// How often somebody who waits for other processes looks.
const LOOK: Duration = Duration::from_millis(20);

/// The version of the tables in a file. Nothing is made or changed.
pub(crate) fn version(path: &Path) -> Result<usize, Failure> {
    connection::version_of_file(path)
}

/// A store in one file, or in memory.
pub(crate) struct Sqlite {
    writer: Writer,
    /// None in memory, where the one connection does everything.
    path: Option<PathBuf>,
    files: Option<ContentFiles>,
    readers: Mutex<Vec<Connection>>,
    /// None in memory.
    presence: Option<Presence>,
    name: String,
}

impl Sqlite {
    /// Opens the file, and makes it where it is not there, for this user alone.
    pub(crate) fn file(path: &Path) -> Result<Sqlite, Failure> {
        let name = format!("`{}`", path.display());
        let files = Some(ContentFiles::of(path));
        let writer = Writer::start(connection::of_file(path)?, files.clone())?;
        let (presence, readers) = (Some(Presence::of(path)), Mutex::default());
        Ok(Sqlite { writer, path: Some(path.to_owned()), files, readers, presence, name })
    }

    /// One that ends with this process.
    pub(crate) fn memory() -> Result<Sqlite, Failure> {
        let connection = Connection::open_in_memory().map_err(|error| failure(&error))?;
        connection::prepare(&connection)?;
        Ok(Sqlite {
            writer: Writer::start(connection, None)?,
            path: None,
            files: None,
            readers: Mutex::default(),
            presence: None,
            name: "in memory".to_owned(),
        })
    }

    fn reader(&self, path: &Path) -> Result<Connection, Failure> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(|| connection::for_reading(path), Ok)
    }
}

impl Db for Sqlite {
    fn write(&self, job: Job) -> Result<(), Failure> {
        self.writer.run(job)?;
        // What went into a file that nobody finds again is not kept.
        self.presence.as_ref().map_or(Ok(()), Presence::check)
    }

    fn read(&self, mut job: Job) -> Result<(), Failure> {
        let Some(path) = &self.path else { return self.writer.run(job) };
        self.presence.as_ref().map_or(Ok(()), Presence::check)?;
        let connection = self.reader(path)?;
        connection.execute_batch("BEGIN").map_err(|error| failure(&error))?;
        let done = job(&mut SqliteTx { connection: &connection, files: self.files.as_ref() });
        let ended = connection.execute_batch("COMMIT");
        if ended.is_ok() {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < KEPT_READERS {
                readers.push(connection);
            }
        }
        done
    }

    fn wait(&self, at_most: Duration) {
        std::thread::sleep(at_most.min(LOOK));
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_memory(&self) -> bool {
        self.path.is_none()
    }

    fn lock(&self, name: &str) -> Result<Option<Lock>, Failure> {
        match &self.path {
            Some(path) => lock::of_file(path, name),
            // Nobody else can reach what is in the memory of this process.
            None => Ok(Some(Box::new(()))),
        }
    }

    fn size(&self, tx: &mut dyn Tx) -> Result<u64, Failure> {
        let mut ask = |what: &str| -> Result<u64, Failure> {
            let rows = tx.rows(&format!("PRAGMA {what}"), &[])?;
            crate::db::first(rows).map_or(Ok(0), |mut row| row.number())
        };
        let tables = ask("page_count")?.saturating_sub(ask("freelist_count")?) * ask("page_size")?;
        Ok(tables + crate::contents::file_bytes(tx)?)
    }
}
