//! One set of promises, kept by every store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests set up the world around the crate by hand, and say what they measured"
)]

mod contents;
mod disk;
mod encrypted;
mod faults;
mod files;
mod hold;
mod journal;
mod kills;
mod known;
mod log;
mod many;
mod model;
mod opening;
mod server;
mod sink;
mod stopped;
mod swarm;
mod tasks;
mod todos;
mod undo;
mod workspace;

use std::sync::Arc;
use toolpost_core::Event;
use toolpost_core::event::EventKind;
use toolpost_core::store::{By, Store};
use toolpost_store::StoreUrl;

/// A store of each kind that is empty, and what keeps it alive.
pub(crate) struct Fresh {
    pub(crate) url: StoreUrl,
    _folder: Option<tempfile::TempDir>,
}

impl Fresh {
    pub(crate) fn memory() -> Fresh {
        Fresh { url: StoreUrl::Memory, _folder: None }
    }

    pub(crate) fn sqlite() -> Fresh {
        let folder = tempfile::tempdir().expect("a folder");
        Fresh { url: StoreUrl::Sqlite(folder.path().join("deep/store.db")), _folder: Some(folder) }
    }

    pub(crate) fn postgres() -> Fresh {
        Fresh { url: server::database(), _folder: None }
    }

    pub(crate) fn open(&self) -> Arc<dyn Store> {
        toolpost_store::open(&self.url).expect("the store opens")
    }
}

/// Runs a promise on every kind of store.
#[macro_export]
macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        mod memory { $(#[test] fn $name() { super::$name(&$crate::Fresh::memory()); })* }
        mod sqlite { $(#[test] fn $name() { super::$name(&$crate::Fresh::sqlite()); })* }
        mod postgres { $(#[test] fn $name() { super::$name(&$crate::Fresh::postgres()); })* }
    };
}

/// The same for stores that several processes or openings share.
#[macro_export]
macro_rules! on_shared_stores {
    ($($name:ident),* $(,)?) => {
        mod sqlite_shared { $(#[test] fn $name() { super::$name(&$crate::Fresh::sqlite()); })* }
        mod postgres_shared { $(#[test] fn $name() { super::$name(&$crate::Fresh::postgres()); })* }
    };
}

/// How often something is tried: a few times, or in `cargo xtask soak` as often as the guarantee says.
pub(crate) fn count(normal: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}

pub(crate) fn by(session: &str) -> By {
    By { at_ms: 1_000, session: session.to_owned(), ..By::default() }
}

pub(crate) fn event(session: &str, at_ms: u64, kind: EventKind) -> Arc<Event> {
    Arc::new(Event {
        at_ms,
        session: session.to_owned(),
        sequence: 99,
        agent: None,
        activation: None,
        call: Some(format!("call-{at_ms}")),
        kind,
    })
}

pub(crate) fn warning(session: &str, at_ms: u64, message: &str) -> Arc<Event> {
    event(session, at_ms, EventKind::Warning { message: message.to_owned() })
}
