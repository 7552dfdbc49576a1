//! A connection to SQLite: how it is opened, and what its errors mean.

use super::turn;
use crate::content_files::ContentFiles;
use crate::db::{Cell, Failure, Kind, Row, Tx, Value};
use crate::{log, migrations};
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// How long a connection waits for the turn of another process.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Marks a file as a store of ours (`tool` as a number).
const MARK: i64 = 0x746f_6f6c;
/// A write-ahead log of more bytes is moved into the file at the end of a process.
const LONG_LOG: u64 = 512 * 1024;
/// Pages in the write-ahead log with which they are moved into the file even while somebody writes. Sooner, that is done when
/// there is time for it.
const MOST_LOGGED: u32 = 4_096;
/// Statements that a connection keeps ready.
const KEPT_STATEMENTS: usize = 64;

/// Opens the store in a file, and makes it where it is not there. One that this user may not write is opened to be read.
pub(super) fn of_file(path: &Path) -> Result<Connection, Failure> {
    match to_write(path) {
        Err(Failure::Broken(_)) if is_still(path) => still(path),
        other => other,
    }
}

/// Whether nobody is writing to a file that this user may not write: then there is no write-ahead log, which SQLite would make.
#[expect(clippy::disallowed_methods, reason = "the files of a store are its own, and no tool reaches them")]
fn is_still(path: &Path) -> bool {
    let log = path.with_file_name(format!("{}-wal", path.file_name().unwrap_or_default().display()));
    path.is_file() && !log.exists() && std::fs::OpenOptions::new().write(true).open(path).is_err()
}

/// Opens a file to which nobody writes.
fn still(path: &Path) -> Result<Connection, Failure> {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                address.push(char::from(*byte))
            }
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address, flags).map_err(|error| failure(&error))?;
    equip(&connection)?;
    match version(&connection)? {
        found if found > migrations::NEWEST => Err(migrations::from_the_future(found)),
        migrations::NEWEST => Ok(connection),
        found => Err(Failure::Broken(format!(
            "its tables have version {found} and this program needs {}, but it may not be written; copy it to where it may, and \
             name the copy with --store",
            migrations::NEWEST
        ))),
    }
}

fn to_write(path: &Path) -> Result<Connection, Failure> {
    refuse_other_kinds(path)?;
    make_private(path).map_err(|error| {
        Failure::Broken(format!(
            "cannot make the file: {error}; let your user write there, or name another store with --store"
        ))
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    // What is in the write-ahead log is durable; to move it into the file at the end of each process would cost more than
    // all else that a short process does.
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(no_checkpoint, true).map_err(|error| failure(&error))?;
    // Nothing is changed in a file of another program, not even its mode.
    turn::wait(&connection, || version(&connection))?;
    close_to_others(path).map_err(|error| Failure::Broken(format!("its mode cannot be changed: {error}")))?;
    let mode: String = turn::wait(&connection, || {
        connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(|error| failure(&error))
    })?;
    if mode != "wal" {
        return Err(Failure::Broken(format!(
            "its file system cannot keep a write-ahead log (SQLite offers `{mode}`); put the store elsewhere"
        )));
    }
    turn::wait(&connection, || prepare(&connection))?;
    connection.busy_timeout(PATIENCE).map_err(|error| failure(&error))?;
    Ok(connection)
}

/// At the end: the next process to open the store reads the whole write-ahead log, so that it must not stay long. Nobody is
/// waited for.
pub(super) fn tidy_up(connection: &Connection) {
    if is_long(connection) && connection.busy_timeout(Duration::ZERO).is_ok() {
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// One more connection to a store that is there.
pub(super) fn for_reading(path: &Path) -> Result<Connection, Failure> {
    if is_still(path) {
        return still(path);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    connection.busy_timeout(PATIENCE).map_err(|error| failure(&error))?;
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(no_checkpoint, true).map_err(|error| failure(&error))?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(|error| failure(&error))?;
    equip(&connection)?;
    Ok(connection)
}

/// When nobody writes: what is in a long write-ahead log is moved into the file, as far as nobody is waited for.
pub(super) fn move_logged(connection: &Connection) {
    if is_long(connection) {
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// Whether the write-ahead log is long.
fn is_long(connection: &Connection) -> bool {
    let log = connection.path().filter(|path| !path.is_empty()).map(|path| format!("{path}-wal"));
    log.is_some_and(|log| std::fs::metadata(log).is_ok_and(|about| about.len() > LONG_LOG))
}

/// The version of the tables in a file that is there; 0 where it has none yet.
pub(super) fn version_of_file(path: &Path) -> Result<usize, Failure> {
    refuse_other_kinds(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    version(&connection)
}

/// Refuses folders, devices and pipes, about which SQLite says strange things.
fn refuse_other_kinds(path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() => {
            Err(Failure::Broken("it is not a regular file; name another path".to_owned()))
        }
        _ => Ok(()),
    }
}

/// For this user alone, before SQLite writes anything into it; the files beside it get the same mode.
#[expect(clippy::disallowed_methods, reason = "the files of a store are its own, and no tool reaches them")]
fn make_private(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut folders = std::fs::DirBuilder::new();
    let mut file = std::fs::OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folders.mode(0o700);
        file.mode(0o600);
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        folders.recursive(true).create(folder)?;
    }
    file.write(true).create(true).truncate(false).open(path).map(drop)
}

/// Takes all rights from others where a file was there before, if it is the user's own.
#[cfg(unix)]
fn close_to_others(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if std::fs::metadata(path)?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    for file in crate::StoreUrl::Sqlite(path.to_owned()).files() {
        let Ok(about) = std::fs::metadata(&file) else { continue };
        let private = std::fs::Permissions::from_mode(about.permissions().mode() & 0o700);
        match std::fs::set_permissions(&file, private) {
            // Whose it is decides who may read it.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
            other => other?,
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// What holds for a connection that writes; and the tables, up to date.
pub(super) fn prepare(connection: &Connection) -> Result<(), Failure> {
    let settings = format!(
        "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = {MOST_LOGGED};"
    );
    connection.execute_batch(&settings).map_err(|error| failure(&error))?;
    equip(connection)?;
    let mut version = version(connection)?;
    while version != migrations::NEWEST {
        if version > migrations::NEWEST {
            return Err(migrations::from_the_future(version));
        }
        version = migrate(connection)?;
    }
    Ok(())
}

/// What holds for every connection.
fn equip(connection: &Connection) -> Result<(), Failure> {
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let unpack = |arguments: &rusqlite::functions::Context<'_>| {
        let body = arguments.get_raw(0);
        match body {
            ValueRef::Blob(body) => {
                log::unpacked(body).map_err(|why| rusqlite::Error::UserFunctionError(why.into()))
            }
            // As it was written before.
            _ => Ok(body.as_str().map(str::to_owned)?),
        }
    };
    connection.create_scalar_function(log::UNPACK, 1, flags, unpack).map_err(|error| failure(&error))
}

fn version(connection: &Connection) -> Result<usize, Failure> {
    let number = |name: &str| -> Result<i64, Failure> {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| failure(&error))
    };
    let version = usize::try_from(number("user_version")?).unwrap_or(usize::MAX);
    let is_empty = || -> Result<bool, Failure> {
        let count: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|error| failure(&error))?;
        Ok(count == 0)
    };
    let is_new = version == 0 && is_empty()?;
    // Looked at last: whoever makes the tables meanwhile marks the file in the same transaction.
    let is_ours = number("application_id")? == MARK;
    match is_ours || is_new {
        true => Ok(version),
        false => {
            Err(Failure::Broken("the file is a database of another program; name another file".to_owned()))
        }
    }
}

/// Takes one step, unless another process has taken it since. Returns the version then.
fn migrate(connection: &Connection) -> Result<usize, Failure> {
    let tx = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
        .map_err(|error| failure(&error))?;
    let from = version(&tx)?;
    if from >= migrations::NEWEST {
        return Ok(from);
    }
    migrations::step(&mut SqliteTx { connection: &tx, files: None }, from)?;
    let mark = format!("PRAGMA application_id = {MARK}; PRAGMA user_version = {};", from + 1);
    tx.execute_batch(&mark).map_err(|error| failure(&error))?;
    tx.commit().map_err(|error| failure(&error))?;
    Ok(from + 1)
}

/// A transaction on a connection.
pub(super) struct SqliteTx<'a> {
    pub(super) connection: &'a Connection,
    pub(super) files: Option<&'a ContentFiles>,
}

impl Tx for SqliteTx<'_> {
    fn kind(&self) -> Kind {
        Kind::Sqlite
    }

    fn content_files(&self) -> Option<&ContentFiles> {
        self.files
    }

    fn run(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        let mut statement = self.connection.prepare_cached(statement).map_err(|error| failure(&error))?;
        let changed =
            statement.execute(rusqlite::params_from_iter(values.iter())).map_err(|error| failure(&error))?;
        Ok(changed as u64)
    }

    fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let mut statement = self.connection.prepare_cached(statement).map_err(|error| failure(&error))?;
        let columns = statement.column_count();
        let mut rows =
            statement.query(rusqlite::params_from_iter(values.iter())).map_err(|error| failure(&error))?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(|error| failure(&error))? {
            let mut cells = Vec::with_capacity(columns);
            for column in 0..columns {
                let value = row.get_ref(column).map_err(|error| failure(&error))?;
                cells.push(cell(value));
            }
            all.push(Row::new(cells));
        }
        Ok(all)
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Int(number),
        ValueRef::Real(number) => Cell::Int(number as i64),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// What an error of SQLite means for who asked.
pub(super) fn failure(error: &rusqlite::Error) -> Failure {
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return Failure::Again(format!("{error}"));
        }
        Some(ErrorCode::DiskFull) => "the disk is full: make room, and try again",
        Some(ErrorCode::ReadOnly) => {
            "it may not be written: give this user the right to write it, or name another store"
        }
        Some(ErrorCode::CannotOpen) => {
            "see that its folder is there and may be written, or name another store"
        }
        Some(ErrorCode::PermissionDenied) => "give this user the right to read and write it",
        Some(ErrorCode::DatabaseCorrupt) => "the file is damaged: put it aside, and start a new one",
        Some(ErrorCode::NotADatabase) => "the file is not a store; name another one",
        Some(ErrorCode::SystemIoFailure) => {
            "the disk does not do what it should: look at the system's own log"
        }
        _ => return Failure::Broken(error.to_string()),
    };
    Failure::Broken(format!("{error}; {advice}"))
}
