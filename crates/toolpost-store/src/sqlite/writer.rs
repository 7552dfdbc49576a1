//! The thread that writes: what waits at the same time becomes durable together, by one sync of the disk.

use super::connection::{SqliteTx, failure, move_logged, tidy_up};
use super::turn;
use crate::content_files::ContentFiles;
use crate::db::{Failure, Job};
use crate::log;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Jobs that become durable together, at most.
const TOGETHER: usize = 128;
/// So long nobody has written anything when there is time for other work.
const QUIET: Duration = Duration::from_secs(1);

struct Request {
    job: Job,
    answer: SyncSender<Result<(), Failure>>,
}

/// The one who writes. Ends, with all that was asked of it done, when it is dropped.
pub(super) struct Writer {
    requests: Mutex<Option<Sender<Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, files: Option<ContentFiles>) -> Result<Writer, Failure> {
        let (requests, waiting) = channel();
        let thread = std::thread::Builder::new()
            .name("toolpost-store".to_owned())
            .spawn(move || serve(Tables { connection: &connection, files: files.as_ref() }, &waiting))
            .map_err(|error| Failure::Broken(format!("no thread for it could be started: {error}")))?;
        Ok(Writer { requests: Mutex::new(Some(requests)), thread: Some(thread) })
    }

    /// Does a job, and waits until it is durable.
    pub(super) fn run(&self, job: Job) -> Result<(), Failure> {
        let (answer, done) = sync_channel(1);
        let requests = self.requests.lock().map(|requests| requests.clone()).unwrap_or_default();
        let stopped = || Failure::Broken("its thread has ended".to_owned());
        requests.ok_or_else(stopped)?.send(Request { job, answer }).map_err(|_| stopped())?;
        done.recv().map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Ok(mut requests) = self.requests.lock() {
            requests.take();
        }
        // The last job may be what held the store to the end; then this is the thread itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Where the jobs write.
#[derive(Clone, Copy)]
struct Tables<'a> {
    connection: &'a Connection,
    files: Option<&'a ContentFiles>,
}

fn serve(tables: Tables<'_>, waiting: &Receiver<Request>) {
    while let Some(first) = next(tables, waiting) {
        let mut batch = vec![first];
        while batch.len() < TOGETHER
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        let results = together(tables, &mut batch);
        for (Request { job, answer }, result) in batch.into_iter().zip(results) {
            // Who is answered has what the job was given for itself again.
            drop(job);
            // Who has stopped waiting needs no answer.
            let _ = answer.send(result);
        }
    }
    tidy_up(tables.connection);
}

/// Waits for a request. When there was none for a while, events are put in order meanwhile; not in memory, where they would take
/// many times as much of it.
fn next(tables: Tables<'_>, waiting: &Receiver<Request>) -> Option<Request> {
    if tables.connection.path().is_none_or(str::is_empty) {
        return waiting.recv().ok();
    }
    let mut at_most = QUIET;
    loop {
        match waiting.recv_timeout(at_most) {
            Ok(request) => return Some(request),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if put_in_order(tables) => at_most = Duration::ZERO,
            Err(RecvTimeoutError::Timeout) => {
                move_logged(tables.connection);
                return waiting.recv().ok();
            }
        }
    }
}

/// Puts some events in order. Returns whether there are more.
fn put_in_order(tables: Tables<'_>) -> bool {
    let Tables { connection, files } = tables;
    if !log::is_waiting(&mut SqliteTx { connection, files }).unwrap_or_default() {
        return false;
    }
    let has_more = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&has_more);
    let mut job: Job = Box::new(move |tx| {
        told.store(log::settle(tx)?, Ordering::Release);
        Ok(())
    });
    // What does not work now is done when somebody asks for the events, who then hears why not.
    alone(tables, &mut job).is_ok() && has_more.load(Ordering::Acquire)
}

/// Does all jobs in one transaction; each by itself, where that does not work. Where no turn to write comes, none is done.
fn together(tables: Tables<'_>, batch: &mut [Request]) -> Vec<Result<(), Failure>> {
    if let Err(failure) = begin(tables.connection) {
        return batch.iter().map(|_| Err(failure.clone())).collect();
    }
    if let [request] = batch {
        return vec![commit(tables, &mut request.job)];
    }
    match in_one(tables, batch) {
        Ok(results) => results,
        Err(_) => {
            take_back(tables.connection);
            batch.iter_mut().map(|request| alone(tables, &mut request.job)).collect()
        }
    }
}

/// An error says that nothing at all was done.
fn in_one(tables: Tables<'_>, batch: &mut [Request]) -> Result<Vec<Result<(), Failure>>, Failure> {
    let run = |statement: &str| tables.connection.execute_batch(statement).map_err(|error| failure(&error));
    let mut results = Vec::with_capacity(batch.len());
    for request in batch {
        run("SAVEPOINT job")?;
        let done = attempt(tables, &mut request.job);
        match &done {
            Ok(()) => run("RELEASE job")?,
            Err(Failure::Refused(_)) => run("ROLLBACK TO job; RELEASE job")?,
            // It is told to who asked when the job is done by itself.
            Err(_) => return Err(Failure::Broken(String::new())),
        }
        results.push(done);
    }
    run("COMMIT")?;
    Ok(results)
}

fn alone(tables: Tables<'_>, job: &mut Job) -> Result<(), Failure> {
    begin(tables.connection)?;
    commit(tables, job)
}

/// Does a job, and makes it durable.
fn commit(tables: Tables<'_>, job: &mut Job) -> Result<(), Failure> {
    let run = |statement: &str| tables.connection.execute_batch(statement).map_err(|error| failure(&error));
    let done = attempt(tables, job).and_then(|()| run("COMMIT"));
    if done.is_err() {
        take_back(tables.connection);
    }
    done
}

/// Waits for the turn to write.
fn begin(connection: &Connection) -> Result<(), Failure> {
    turn::wait(connection, || connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| failure(&error)))
}

/// A job that crashes is a job that failed.
fn attempt(tables: Tables<'_>, job: &mut Job) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| {
        job(&mut SqliteTx { connection: tables.connection, files: tables.files })
    }))
    .unwrap_or_else(|_| Err(Failure::Broken("a change crashed; nothing of it was kept".to_owned())))
}

fn take_back(connection: &Connection) {
    if !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
}
