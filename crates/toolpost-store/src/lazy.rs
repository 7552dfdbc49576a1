//! A database that is opened by the first who needs it, so that a program that asks nothing of its store makes none.

use crate::db::{Db, Failure, Job, Tx};
use crate::hold::Lock;
use crate::url::StoreUrl;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) struct Lazy {
    url: StoreUrl,
    name: String,
    opened: Mutex<Option<Arc<dyn Db>>>,
}

impl Lazy {
    pub(crate) fn new(url: StoreUrl) -> Arc<Lazy> {
        Arc::new(Lazy { name: url.to_string(), url, opened: Mutex::default() })
    }

    /// Whoever comes while it is opened waits; after a failure the next one tries again.
    fn opened(&self) -> Result<Arc<dyn Db>, Failure> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        let database = crate::database(&self.url)?;
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }
}

impl Db for Lazy {
    fn write(&self, job: Job) -> Result<(), Failure> {
        self.opened()?.write(job)
    }

    fn read(&self, job: Job) -> Result<(), Failure> {
        self.opened()?.read(job)
    }

    fn wait(&self, at_most: Duration) {
        match self.opened() {
            Ok(database) => database.wait(at_most),
            Err(_) => std::thread::sleep(at_most),
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_memory(&self) -> bool {
        matches!(self.url, StoreUrl::Memory)
    }

    fn lock(&self, name: &str) -> Result<Option<Lock>, Failure> {
        self.opened()?.lock(name)
    }

    fn size(&self, tx: &mut dyn Tx) -> Result<u64, Failure> {
        self.opened()?.size(tx)
    }
}
