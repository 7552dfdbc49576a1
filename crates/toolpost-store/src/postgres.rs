//! PostgreSQL: a few threads, each with a connection and a runtime of its own, so that nobody blocks a thread of another
//! runtime. One more connection hears what other processes add to the log.

mod connection;
mod listener;
mod tls;

use crate::db::{Db, Failure, Job, Tx};
use crate::hold::Lock;
use connection::Connection;
pub(crate) use listener::CHANNEL;
use listener::Listener;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Connections at most, beside the one that listens.
const CONNECTIONS: usize = 4;
/// How often a transaction is tried that others were in the way of.
const ATTEMPTS: u32 = 30;
/// How long to wait for a server that does not answer, in all.
const PATIENCE: Duration = Duration::from_secs(15);

struct Request {
    job: Job,
    answer: SyncSender<Result<(), Failure>>,
}

/// A store on a PostgreSQL server.
pub(crate) struct Postgres {
    requests: Option<Sender<Request>>,
    threads: Vec<JoinHandle<()>>,
    listener: Listener,
    address: tls::Address,
    name: String,
}

/// The version of the tables on a server; 0 where it has none yet. Nothing is made or changed.
pub(crate) fn version(url: &str) -> Result<usize, Failure> {
    Connection::new(tls::address(url)?)?.version()
}

impl Postgres {
    /// Connects, and brings the tables up to date.
    pub(crate) fn connect(url: &str) -> Result<Postgres, Failure> {
        let address = tls::address(url)?;
        let name = connection::name(&address.config);
        let mut first = Connection::new(address.clone())?;
        first.migrate()?;
        let (requests, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let mut threads = Vec::new();
        for number in 0..CONNECTIONS {
            // The first has its connection already; the others connect when there is work for them.
            let connection = match number {
                0 => std::mem::replace(&mut first, Connection::new(address.clone())?),
                _ => Connection::new(address.clone())?,
            };
            let waiting = Arc::clone(&waiting);
            let thread = std::thread::Builder::new()
                .name("toolpost-store".to_owned())
                .spawn(move || serve(connection, &waiting))
                .map_err(|error| Failure::Broken(format!("no thread for it could be started: {error}")))?;
            threads.push(thread);
        }
        let listener = Listener::new(address.clone());
        Ok(Postgres { requests: Some(requests), threads, listener, address, name })
    }

    fn ask(&self, job: Job) -> Result<(), Failure> {
        let (answer, done) = sync_channel(1);
        let stopped = || Failure::Broken("its threads have ended".to_owned());
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        requests.send(Request { job, answer }).map_err(|_| stopped())?;
        done.recv().map_err(|_| stopped())?
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.requests.take();
        // The last job may be what held the store to the end; then one of them is this thread.
        let own = std::thread::current().id();
        let others = self.threads.drain(..).filter(|thread| thread.thread().id() != own);
        others.for_each(|thread| drop(thread.join()));
    }
}

impl Db for Postgres {
    fn write(&self, job: Job) -> Result<(), Failure> {
        self.ask(job)
    }

    fn read(&self, job: Job) -> Result<(), Failure> {
        self.ask(job)
    }

    fn wait(&self, at_most: Duration) {
        self.listener.wait(at_most);
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// On a connection of its own: the server unlocks it when that ends.
    fn lock(&self, name: &str) -> Result<Option<Lock>, Failure> {
        let (address, name) = (self.address.clone(), name.to_owned());
        let (tell, told) = sync_channel(1);
        let (lock, ended) = channel::<()>();
        // In a thread of its own, which keeps the connection: whoever drops the lock may be unable to wait for anything.
        let thread = std::thread::Builder::new().name("toolpost-hold".to_owned()).spawn(move || {
            let (is_own, _connection) = match Connection::new(address) {
                Ok(mut connection) => (connection.locks(&name), Some(connection)),
                Err(failure) => (Err(failure), None),
            };
            let is_held = matches!(is_own, Ok(true));
            let _ = tell.send(is_own);
            if is_held {
                // Ends when the lock is dropped.
                let _ = ended.recv();
            }
        });
        thread.map_err(|error| Failure::Broken(format!("no thread for it could be started: {error}")))?;
        let is_own = told.recv().map_err(|_| Failure::Broken("its thread has ended".to_owned()))??;
        Ok(is_own.then(|| Box::new(lock) as Lock))
    }

    /// What is in it, and not what its files take: these shrink later, or never.
    fn size(&self, tx: &mut dyn Tx) -> Result<u64, Failure> {
        let rows = tx.rows(
            "SELECT ((SELECT coalesce(sum(octet_length(body) + 300), 0) FROM log)
                   + (SELECT coalesce(sum(octet_length(content)), 0) FROM contents))::bigint",
            &[],
        )?;
        crate::db::first(rows).map_or(Ok(0), |mut row| row.number())
    }
}

fn serve(mut connection: Connection, waiting: &Mutex<Receiver<Request>>) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut request) = next else { return };
        let done = insist(&mut connection, &mut request.job);
        // Who has stopped waiting needs no answer.
        let _ = request.answer.send(done);
    }
}

/// Does a job; again, where others were in the way or the server was away, as long as nothing of it can have happened.
fn insist(connection: &mut Connection, job: &mut Job) -> Result<(), Failure> {
    let begun = std::time::Instant::now();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let done = connection.transaction(job);
        // This process itself may have been stopped for long: then it tries once more.
        let is_patient = attempt == 1 || begun.elapsed() < PATIENCE;
        let pause = match done {
            Err(Failure::Again(_)) if attempt < ATTEMPTS && is_patient => {
                Duration::from_millis(u64::from(attempt.min(10)) * 3)
            }
            Err(Failure::Gone(_)) if is_patient => Duration::from_millis(100),
            Err(Failure::Again(why)) => {
                let blocker = connection.blocker();
                return Err(Failure::Again(
                    blocker.map_or(why.clone(), |blocker| format!("{why}: {blocker}")),
                ));
            }
            done => return done,
        };
        std::thread::sleep(pause);
    }
}

/// An error of the server with what it said, which its display leaves out.
fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}
