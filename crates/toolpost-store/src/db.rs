//! What the store asks of a database: transactions of a few plain statements.
//!
//! The statements are the same for all databases; `?1` is the first value. What a store does is written once, over [`Tx`].

use crate::content_files::ContentFiles;
use crate::hold::Lock;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use toolpost_core::{Code, ToolError};

/// A value that goes into a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(crate) fn text(text: Option<&'a str>) -> Value<'a> {
        text.map_or(Value::Null, Value::Text)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

/// A value that comes out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// One row of an answer, read from left to right.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) std::vec::IntoIter<Cell>);

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Row {
        Row(cells.into_iter())
    }

    pub(crate) fn number(&mut self) -> Result<u64, Failure> {
        match self.0.next() {
            Some(Cell::Int(number)) => Ok(u64::try_from(number).unwrap_or_default()),
            other => Err(Failure::unexpected("a number", other.as_ref())),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String, Failure> {
        match self.0.next() {
            Some(Cell::Text(text)) => Ok(text),
            other => Err(Failure::unexpected("a text", other.as_ref())),
        }
    }

    pub(crate) fn text_or_none(&mut self) -> Result<Option<String>, Failure> {
        match self.0.next() {
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Null) => Ok(None),
            other => Err(Failure::unexpected("a text or nothing", other.as_ref())),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, Failure> {
        match self.0.next() {
            Some(Cell::Bytes(bytes)) => Ok(bytes),
            other => Err(Failure::unexpected("bytes", other.as_ref())),
        }
    }
}

/// Why a statement or a transaction did not work.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a file has no connection to lose"))]
pub(crate) enum Failure {
    /// We refuse it ourselves. The transaction is taken back, and the caller hears why.
    Refused(ToolError),
    /// Somebody else was in the way; the same transaction may work the next time.
    Again(String),
    /// The connection is gone. What was not committed has not happened.
    Gone(String),
    /// The connection was lost while the transaction was committed.
    Unknown(String),
    /// This file beside the store is not there: it is lost, or its content was deleted meanwhile.
    Missing(String),
    /// The database says no, and what it says.
    Broken(String),
}

impl Failure {
    fn unexpected(wanted: &str, found: Option<&Cell>) -> Failure {
        let found = match found {
            None => "no column",
            Some(Cell::Null) => "nothing",
            Some(Cell::Int(_)) => "a number",
            Some(Cell::Text(_)) => "a text",
            Some(Cell::Bytes(_)) => "bytes",
        };
        Failure::Broken(format!("the store holds {found} where {wanted} belongs"))
    }

    /// As the caller of a store hears it.
    pub(crate) fn told(self, store: &str) -> ToolError {
        let (message, is_retryable) = match self {
            Failure::Refused(error) => return error,
            Failure::Again(why) => {
                (format!("the store {store} is in use by others for too long: {why}; try again later"), true)
            }
            Failure::Gone(why) => (
                format!(
                    "the store {store} does not answer: {why}; nothing was changed: see that it runs, and try again"
                ),
                true,
            ),
            Failure::Unknown(why) => (
                format!(
                    "the store {store} was lost while a change was made durable: {why}; the change may have been made: look before you try again"
                ),
                false,
            ),
            Failure::Missing(file) => (
                format!(
                    "the store {store} failed: its file `{file}`, which holds a kept content, is missing; what needs it cannot be restored, unless you put it back"
                ),
                false,
            ),
            Failure::Broken(why) => (format!("the store {store} failed: {why}"), false),
        };
        let error = ToolError::new(Code::StoreNotAvailable, message);
        if is_retryable { error.retryable() } else { error }
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Failure {
        Failure::Refused(error)
    }
}

/// The few things that databases do in their own ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
}

/// A transaction that is under way.
pub(crate) trait Tx {
    fn kind(&self) -> Kind;

    /// Runs a statement; the number of rows that it changed.
    fn run(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, Failure>;

    /// Runs a statement that gives rows.
    fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure>;

    /// The files of large contents, where there are any beside the tables.
    fn content_files(&self) -> Option<&ContentFiles> {
        None
    }

    /// Called before each step of the work with files. For tests, which let one of them fail.
    fn step(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Runs a query and keeps others from changing its rows until the end of the transaction.
    fn locked(&mut self, query: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        match self.kind() {
            // There is one writer at a time.
            Kind::Sqlite => self.rows(query, values),
            #[cfg(feature = "postgres")]
            Kind::Postgres => self.rows(&format!("{query} FOR UPDATE"), values),
        }
    }
}

/// The first row, if there is one.
pub(crate) fn first(rows: Vec<Row>) -> Option<Row> {
    rows.into_iter().next()
}

/// What is done in one transaction. It may be done again from its beginning, when the first time left nothing behind.
pub(crate) type Job = Box<dyn FnMut(&mut dyn Tx) -> Result<(), Failure> + Send>;

/// A database. Every method blocks.
pub(crate) trait Db: Send + Sync {
    /// Does a job in a transaction that is durable when this returns.
    fn write(&self, job: Job) -> Result<(), Failure>;

    /// Does a job that only looks.
    fn read(&self, job: Job) -> Result<(), Failure>;

    /// Waits until somebody may have added to the log after this position, or the time is over.
    fn wait(&self, at_most: Duration);

    /// The store's name, for messages.
    fn name(&self) -> &str;

    /// Whether all of it is in the memory of this process.
    fn is_memory(&self) -> bool {
        false
    }

    /// A lock of this name that ends with this process, or when it is dropped; none where somebody else has it.
    fn lock(&self, name: &str) -> Result<Option<Lock>, Failure>;

    /// How many bytes it takes.
    fn size(&self, tx: &mut dyn Tx) -> Result<u64, Failure>;
}

/// Which way a job goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    Read,
    Write,
}

/// Does a job, and returns what came of it.
pub(crate) fn answer<T: Send + 'static>(
    db: &dyn Db,
    way: Way,
    mut work: impl FnMut(&mut dyn Tx) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let slot = Arc::new(Mutex::new(None));
    let put = Arc::clone(&slot);
    let job: Job = Box::new(move |tx| {
        let answer = work(tx)?;
        *put.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(())
    });
    match way {
        Way::Read => db.read(job)?,
        Way::Write => db.write(job)?,
    }
    let answer = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    answer.ok_or_else(|| Failure::Broken("a transaction ended without its answer".to_owned()))
}
