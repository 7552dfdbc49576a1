//! For tests: a fault at a chosen statement.

use crate::content_files::ContentFiles;
use crate::db::{Failure, Kind, Row, Tx, Value};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Counts statements of transactions that change something, and steps of writing files for them, and fails at one.
#[derive(Debug)]
pub struct Faults {
    left: AtomicI64,
    /// Whether the process stops at the statement, instead of a failure.
    stops: AtomicBool,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults { left: AtomicI64::new(i64::MAX), stops: AtomicBool::new(false) }
    }
}

impl Faults {
    /// The statement after so many others fails, once.
    pub fn after(&self, statements: u32) {
        self.left.store(i64::from(statements), Ordering::SeqCst);
    }

    /// The whole process stops before the statement after so many others, as by `kill -STOP`, until somebody lets it go on.
    pub fn stop_after(&self, statements: u32) {
        self.stops.store(true, Ordering::SeqCst);
        self.after(statements);
    }

    /// Whether the fault has happened.
    pub fn has_happened(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }

    pub(crate) fn over<'a>(&'a self, tx: &'a mut dyn Tx) -> Faulty<'a> {
        Faulty { tx, faults: self }
    }
}

pub(crate) struct Faulty<'a> {
    tx: &'a mut dyn Tx,
    faults: &'a Faults,
}

impl Faulty<'_> {
    fn next(&self) -> Result<(), Failure> {
        match self.faults.left.fetch_sub(1, Ordering::SeqCst) {
            0 if self.faults.stops.load(Ordering::SeqCst) => {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::STOP)
                    .map_err(|error| Failure::Broken(error.to_string()))
            }
            0 => Err(Failure::Broken("a fault of the test".to_owned())),
            _ => Ok(()),
        }
    }
}

impl Tx for Faulty<'_> {
    fn kind(&self) -> Kind {
        self.tx.kind()
    }

    fn content_files(&self) -> Option<&ContentFiles> {
        self.tx.content_files()
    }

    fn step(&self) -> Result<(), Failure> {
        self.next()
    }

    fn run(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        self.next()?;
        self.tx.run(statement, values)
    }

    fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        self.next()?;
        self.tx.rows(statement, values)
    }
}
