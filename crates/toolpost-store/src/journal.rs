//! The journal of a session's changes, in a store: what is needed to take them back is durable before they show.

mod call;
mod spool;

pub use spool::ReadSpool;

use crate::files::hash;
use call::{New, OpenCall, content_of, held};
use spool::Spools;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};
use toolpost_core::store::{ChangeKind, ChangeQuery, Held, NewChange, Store};
use toolpost_core::text::Spliced;
use toolpost_core::workspace::{Changed, CommandBefore, CommandChange, Journal, Pending};
use toolpost_core::{Code, ToolError};

/// Files of more bytes are not kept.
pub(crate) const LARGEST: u64 = 64 << 20;
/// So many changes wait at most to be written.
const WAITING: usize = 64;
/// Bytes from which on a content is hashed by a thread of its own.
const LARGE: usize = 1 << 20;
/// Bytes of contents that wait to be written, or are written together, at most; one content alone may be larger.
const WAITING_BYTES: usize = 32 << 20;

enum Said {
    Change(Box<Pending>),
    /// Somebody waits until all before is durable.
    Settle(String, SyncSender<Result<(), ToolError>>),
}

/// Keeps changes in a store.
///
/// What was there before a change is read, hashed and written by a thread of its own, together with all that comes in
/// meanwhile, while whoever makes the change writes the new content.
pub struct StoreJournal {
    shared: Arc<Shared>,
    spools: Option<Spools>,
    writer: Mutex<Option<Writer>>,
}

/// What the thread that writes needs too.
struct Shared {
    store: Arc<dyn Store>,
    workspace: String,
    calls: Mutex<HashMap<String, OpenCall>>,
    /// Bytes of new contents that wait.
    waiting: AtomicUsize,
    /// Changes that were told and are neither kept nor refused yet.
    pending: AtomicUsize,
}

struct Writer {
    said: SyncSender<Said>,
    thread: JoinHandle<()>,
}

impl StoreJournal {
    /// A journal of the workspace whose root has this canonical path.
    pub fn new(store: Arc<dyn Store>, workspace: impl Into<String>) -> StoreJournal {
        let shared = Shared {
            store,
            workspace: workspace.into(),
            calls: Mutex::default(),
            waiting: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
        };
        StoreJournal { shared: Arc::new(shared), spools: None, writer: Mutex::default() }
    }

    /// The same, where commands write what they are about to change into files in this folder. What a process that died
    /// has left there is read by `read`, and taken over when the journal is first used.
    #[must_use]
    pub fn with_spools(mut self, folder: impl Into<PathBuf>, read: Option<ReadSpool>) -> StoreJournal {
        let of_workspace = &hash(self.shared.workspace.as_bytes())[..16];
        self.spools = Some(Spools::new(folder.into().join(of_workspace), read));
        self
    }

    /// Takes over what commands of processes that died have left. Returns what could not be, and why.
    pub fn take_over(&self) -> Vec<ToolError> {
        let Some(spools) = &self.spools else { return Vec::new() };
        spools.take_over(|session, call, changes| {
            let known = ChangeQuery {
                workspace: self.shared.workspace.clone(),
                call: Some(call.to_owned()),
                ..Default::default()
            };
            match self.shared.store.changes(&known)?.is_empty() {
                true => self.shared.keep_command(session, call, changes, || self.running()),
                // The command had handed over everything, and only its file was left.
                false => Ok(()),
            }
        })
    }

    /// The calls of commands that run now, in any process, and have recorded something.
    pub fn running(&self) -> Vec<String> {
        self.spools.as_ref().map(Spools::running).unwrap_or_default()
    }

    fn first_use(&self) {
        if self.spools.as_ref().is_some_and(Spools::is_first_use) {
            // What cannot be taken over now is tried again by the next process, and told by `toolpost undo`.
            drop(self.take_over());
        }
    }

    fn say(&self, said: Said) -> Result<(), ToolError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match writer.take() {
            Some(running) => running,
            None => start(Arc::clone(&self.shared))?,
        };
        let sender = running.said.clone();
        *writer = Some(running);
        drop(writer);
        sender.send(said).map_err(|_| stopped())
    }
}

impl Shared {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, OpenCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A change as it is kept, with what was there read.
    fn read(&self, change: Pending) -> Result<NewChange, ToolError> {
        let mut new = self.new_change(&change.session, &change.call, change.name, ChangeKind::Tool);
        let before = change.before;
        let (content, planned) = match change.content {
            // The two are hashed side by side where that takes longer than to start a thread.
            Some(planned) if planned.len() > LARGE => std::thread::scope(|threads| {
                let hashing = threads.spawn(|| hash(&planned));
                let content = content_of(before, Some(&planned));
                let hash = hashing.join().unwrap_or_else(|_| hash(&planned));
                (content, Some((hash, Arc::clone(&planned))))
            }),
            planned => {
                let content = content_of(before, planned.as_ref());
                (content, planned.map(|planned| (hash(&planned), planned)))
            }
        };
        let content = content?;
        new.before = held(&content);
        new.contents.extend(content.bytes());
        let mut calls = self.calls();
        let open = calls.entry(change.call).or_default();
        new.after = open.plan(
            &new.name,
            &change.kind,
            &new.before,
            new.contents.first(),
            New { content: planned.as_ref(), mode: change.new_mode },
        );
        drop(calls);
        new.contents.extend(planned.map(|(hash, bytes)| (hash, bytes.into())));
        Ok(new)
    }

    fn new_change(&self, session: &str, call: &str, name: String, kind: ChangeKind) -> NewChange {
        NewChange {
            workspace: self.workspace.clone(),
            session: session.to_owned(),
            call: call.to_owned(),
            at_ms: now_us() / 1_000,
            kind,
            by_command: kind == ChangeKind::Command,
            touched_us: now_us(),
            name,
            before: Held::Unknown,
            after: Held::Unknown,
            contents: Vec::new(),
            takes: Default::default(),
        }
    }

    /// `running` are the calls whose commands run now.
    fn keep_command(
        &self,
        session: &str,
        call: &str,
        mut changes: Vec<CommandChange>,
        running: impl FnOnce() -> Vec<String>,
    ) -> Result<(), ToolError> {
        let is_changed = |change: &CommandChange| change.before != change.after;
        if !changes.iter().all(is_changed) && !self.has_company(call, &changes, running)? {
            changes.retain(is_changed);
        }
        let mut all = Vec::with_capacity(changes.len());
        for change in changes {
            let mut new = self.new_change(session, call, change.name, ChangeKind::Command);
            new.touched_us = change.at_us;
            new.before = of_command(change.before, &mut new.contents);
            new.after = of_command(change.after, &mut new.contents);
            if new.before == new.after {
                // Nothing is restored from it.
                new.contents.clear();
            }
            all.push(new);
        }
        match all.is_empty() {
            true => Ok(()),
            false => self.store.keep_changes(all),
        }
    }

    /// Whether another call has changed something, or may have, since a command first touched one of these names. If so, it
    /// may have seen what the command has put back at its end.
    fn has_company(
        &self,
        call: &str,
        touched: &[CommandChange],
        running: impl FnOnce() -> Vec<String>,
    ) -> Result<bool, ToolError> {
        let first_us = touched.iter().map(|change| change.at_us).min().unwrap_or_default();
        if running().iter().any(|other| other != call) {
            return Ok(true);
        }
        let since_ms = Some(first_us / 1_000);
        let query = ChangeQuery { workspace: self.workspace.clone(), since_ms, ..ChangeQuery::default() };
        Ok(self.store.changes(&query)?.iter().any(|change| change.call != call))
    }
}

impl Journal for StoreJournal {
    fn before(&self, change: Pending) -> Result<(), ToolError> {
        self.first_use();
        let size = change.content.as_ref().map_or(0, |content| content.len());
        let waiting = self.shared.waiting.fetch_add(size, Ordering::AcqRel) + size;
        self.shared.pending.fetch_add(1, Ordering::AcqRel);
        let (session, call) = (change.session.clone(), change.call.clone());
        self.say(Said::Change(Box::new(change)))?;
        match waiting > WAITING_BYTES {
            true => self.settle(&session, &call),
            false => Ok(()),
        }
    }

    fn settle(&self, _session: &str, call: &str) -> Result<(), ToolError> {
        let (answer, done) = sync_channel(1);
        self.say(Said::Settle(call.to_owned(), answer))?;
        done.recv().map_err(|_| stopped())?
    }

    fn largest(&self) -> u64 {
        LARGEST
    }

    fn after(&self, change: Changed) -> Result<(), ToolError> {
        if let Some(open) = self.shared.calls().get_mut(&change.call) {
            open.made(&change.name, change.after);
        }
        Ok(())
    }

    fn hash_of(&self, call: &str, name: &str, content: &[u8]) -> Option<String> {
        self.shared.calls().get(call)?.hash_of(name, content)
    }

    fn ended(&self, session: &str, call: &str, is_success: bool) -> Result<(), ToolError> {
        // The file of its command stays: the command may go on in the background, or nobody has come to hand over what it changed.
        // What was refused because it could not be kept is not there to be corrected.
        if self.shared.pending.load(Ordering::Acquire) > 0 {
            let _ = self.settle(session, call);
        }
        let open = self.shared.calls().remove(call);
        let corrections = open.map(|open| open.corrections(is_success)).unwrap_or_default();
        match corrections.is_empty() {
            true => Ok(()),
            false => self.shared.store.correct_changes(&self.shared.workspace, call, corrections),
        }
    }

    fn spool(&self, session: &str, call: &str) -> Result<Option<std::fs::File>, ToolError> {
        let Some(spools) = &self.spools else { return Ok(None) };
        self.first_use();
        spools.begin(session, call).map(Some)
    }

    fn command_changed(
        &self,
        session: &str,
        call: &str,
        changes: Vec<CommandChange>,
    ) -> Result<(), ToolError> {
        self.shared.keep_command(session, call, changes, || self.running())?;
        if let Some(spools) = &self.spools {
            spools.end(session, call);
        }
        Ok(())
    }
}

impl Drop for StoreJournal {
    fn drop(&mut self) {
        if let Some(Writer { said, thread }) =
            self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            drop(said);
            let _ = thread.join();
        }
    }
}

fn start(shared: Arc<Shared>) -> Result<Writer, ToolError> {
    let (said, heard) = sync_channel(WAITING);
    let thread = std::thread::Builder::new()
        .name("toolpost-undo".to_owned())
        .spawn(move || serve(&shared, &heard))
        .map_err(|error| {
            let message = format!("no thread for the undo journal could be started: {error}");
            ToolError::new(Code::ExecutionError, message)
        })?;
    Ok(Writer { said, thread })
}

/// What could not be kept, by its call, until whoever changes something has heard of it.
type Failed = HashMap<String, ToolError>;

fn serve(shared: &Shared, heard: &Receiver<Said>) {
    let mut failed = Failed::new();
    while let Ok(first) = heard.recv() {
        let (mut changes, mut bytes, mut waiting, mut done) = (Vec::new(), 0, Vec::new(), 0);
        let mut next = Some(first);
        while let Some(said) = next {
            match said {
                Said::Change(pending) => {
                    done += 1;
                    let (call, new) =
                        (pending.call.clone(), pending.content.as_ref().map_or(0, |new| new.len()));
                    match shared.read(*pending) {
                        Ok(change) => {
                            bytes += change.contents.iter().map(|(_, content)| content.len()).sum::<usize>();
                            changes.push(change);
                        }
                        Err(error) => drop(failed.insert(call, error)),
                    }
                    shared.waiting.fetch_sub(new, Ordering::AcqRel);
                    if bytes > WAITING_BYTES {
                        keep(shared, std::mem::take(&mut changes), &mut failed);
                        bytes = 0;
                    }
                }
                Said::Settle(call, answer) => waiting.push((call, answer)),
            }
            next = heard.try_recv().ok();
        }
        keep(shared, changes, &mut failed);
        shared.pending.fetch_sub(done, Ordering::AcqRel);
        for (call, answer) in waiting {
            // Who has stopped waiting needs no answer.
            let _ = answer.send(failed.remove(&call).map_or(Ok(()), Err));
        }
    }
}

fn keep(shared: &Shared, changes: Vec<NewChange>, failed: &mut Failed) {
    if changes.is_empty() {
        return;
    }
    let calls: Vec<String> = changes.iter().map(|change| change.call.clone()).collect();
    if let Err(error) = shared.store.keep_changes(changes) {
        failed.extend(calls.into_iter().map(|call| (call, error.clone())));
    }
}

fn of_command(side: CommandBefore, contents: &mut Vec<(String, Spliced)>) -> Held {
    match side {
        CommandBefore::Absent => Held::Absent,
        CommandBefore::File { content, mode } => {
            let (hash, size) = (hash(&content), content.len() as u64);
            contents.push((hash.clone(), content.into()));
            Held::File { hash, size, mode: Some(mode) }
        }
        CommandBefore::TooLarge { bytes } => Held::TooLarge { size: bytes },
        CommandBefore::Folder { mode } => Held::Folder { mode: Some(mode) },
        CommandBefore::Link(text) => Held::Link { text },
        CommandBefore::Unknown => Held::Unknown,
    }
}

fn stopped() -> ToolError {
    ToolError::new(Code::StoreNotAvailable, "the undo journal has ended, so nothing may be changed any more")
}

fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
