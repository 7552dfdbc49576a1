//! The store over a database: each method one transaction.

use crate::db::{Db, Failure, Tx, Way, answer};
use crate::faults::Faults;
use crate::gc::OldestPart;
use crate::hold::{self, Held};
use crate::{contents, files, gc, known, log, tasks, todos, undo};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use toolpost_core::host::{Viewer, new_id};
use toolpost_core::store::{
    By, ChangeQuery, Collected, Correction, EventQuery, FileChange, FileVersion, Finished, HeldBy, Hold,
    KeptChange, KnownFile, Logged, NewChange, NewTask, Retention, SessionSummary, Store, StoredFile, Task,
    TaskChange, TaskStatus, Todo, ToolStats, WrittenEvents,
};
use toolpost_core::{Event, ToolError};

/// How often a part of the log is tried whose answer was lost.
const PARTS_TRIED: u32 = 20;

/// How often a content is read whose file is missing.
const READS_TRIED: u32 = 5;

/// How often a lock is tried that somebody else has.
const LOCKS_TRIED: u32 = 10;

/// The log and the journal get at least one part of this many of the size that a store may have, however large virtual
/// files are.
const HISTORY_PART: u64 = 4;

/// A store on a database.
pub(crate) struct SqlStore {
    db: Arc<dyn Db>,
    /// The name under which this process adds to the log, and the parts that it has added.
    writer: String,
    parts: Mutex<Parts>,
    /// What the log of a store in memory holds.
    recent: Option<Mutex<Recent>>,
    /// Held by who deletes: files are removed only when what named them is durably gone.
    collecting: Mutex<()>,
    faults: Option<Arc<Faults>>,
    /// The runs that this process holds: once another has taken one over, nothing is written any more.
    held: Arc<Mutex<Vec<Held>>>,
}

/// The parts of the log that this process has added.
#[derive(Default)]
struct Parts {
    last: u64,
    /// The events of the last one, where nobody knows whether they were added: tried again, they keep their number.
    unknown: Option<Unknown>,
}

/// Events that were perhaps added.
enum Unknown {
    Events(Vec<Arc<Event>>),
    Written(Arc<WrittenEvents>),
}

impl Unknown {
    fn is_same(&self, other: &Unknown) -> bool {
        match (self, other) {
            (Unknown::Events(one), Unknown::Events(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
            }
            (Unknown::Written(one), Unknown::Written(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Parts {
    fn number(&mut self, events: &Unknown) -> u64 {
        if !self.unknown.take().is_some_and(|before| before.is_same(events)) {
            self.last += 1;
        }
        self.last
    }
}

impl SqlStore {
    pub(crate) fn new(db: Arc<dyn Db>, faults: Option<Arc<Faults>>) -> SqlStore {
        SqlStore {
            recent: db.is_memory().then(Mutex::default),
            db,
            writer: new_id(now_ms()),
            parts: Mutex::default(),
            collecting: Mutex::default(),
            faults,
            held: Arc::default(),
        }
    }

    fn told(&self, failure: Failure) -> ToolError {
        failure.told(self.db.name())
    }

    fn read<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ToolError> {
        answer(&*self.db, Way::Read, work).map_err(|failure| self.told(failure))
    }

    /// Reads contents; again, where a file was removed between the look at its row and at the file.
    fn read_content<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> Result<T, Failure> + Clone + Send + 'static,
    ) -> Result<T, ToolError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match answer(&*self.db, Way::Read, work.clone()) {
                Err(Failure::Missing(_)) if attempt < READS_TRIED => {}
                other => return other.map_err(|failure| self.told(failure)),
            }
        }
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ToolError> {
        self.try_write(work).map_err(|failure| self.told(failure))
    }

    fn try_write<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut dyn Tx) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut work = move |tx: &mut dyn Tx| {
            held.iter().try_for_each(|held| hold::check(tx, held))?;
            work(tx)
        };
        let Some(faults) = self.faults.clone() else { return answer(&*self.db, Way::Write, work) };
        answer(&*self.db, Way::Write, move |tx| {
            let mut faulty = faults.over(tx);
            work(&mut faulty)
        })
    }

    /// A lock that somebody has may be that of a process which has just ended: a server needs a moment to notice.
    fn patiently(
        lock: &dyn Fn() -> Result<Option<hold::Lock>, ToolError>,
    ) -> Result<Option<hold::Lock>, ToolError> {
        for _ in 0..LOCKS_TRIED {
            if let Some(lock) = lock()? {
                return Ok(Some(lock));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        lock()
    }

    fn size(&self) -> Result<u64, ToolError> {
        let size = Arc::clone(&self.db);
        self.read(move |tx| size.size(tx))
    }

    /// Learns the words of the log up to now.
    fn learn(&self) -> Result<(), ToolError> {
        while self.write(log::learn)? {}
        Ok(())
    }

    /// Before a query. Returns the query without words that name nothing.
    fn ready(&self, query: &EventQuery) -> Result<EventQuery, ToolError> {
        let mut query = query.clone();
        query.words = query.words.filter(|words| !words.trim().is_empty());
        match (query.words.is_some(), query.tool.is_some()) {
            (true, _) => self.learn()?,
            // Of some events that wait the tool is not known yet.
            (false, true) => self.settle_all(),
            (false, false) => self.settle(),
        }
        Ok(query)
    }

    /// Before a look at the log. Where it does not work (the disk may be full), the look takes longer.
    fn settle(&self) {
        if self.read(log::are_many).unwrap_or_default() {
            self.settle_all();
        }
    }

    fn settle_all(&self) {
        if self.read(log::is_waiting).unwrap_or_default() {
            while self.write(log::settle).unwrap_or_default() {}
        }
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Bytes of events that the log of a store in memory holds, as JSON. What is older goes: nobody can look at it when the process has
/// ended, and one that serves for weeks must not grow.
const MOST_IN_MEMORY: usize = 64 << 20;
/// Once there are more, so many more are dropped that it is not done again at once.
const LEFT_IN_MEMORY: usize = MOST_IN_MEMORY / 8 * 7;

/// The parts of a log in memory, the oldest first: the last position of each, and its bytes.
#[derive(Default)]
struct Recent {
    parts: VecDeque<(u64, usize)>,
    bytes: usize,
}

impl Recent {
    /// Counts a part in. Returns the position up to which there is too much.
    fn add(&mut self, last: u64, bytes: usize) -> Option<u64> {
        self.parts.push_back((last, bytes));
        self.bytes += bytes;
        let mut until = None;
        if self.bytes > MOST_IN_MEMORY {
            while self.bytes > LEFT_IN_MEMORY
                && let Some((last, bytes)) = self.parts.pop_front()
            {
                self.bytes -= bytes;
                until = Some(last);
            }
        }
        until
    }
}

impl SqlStore {
    /// Keeps a log in memory from growing, where a part was added to it.
    fn bound(&self, last: u64, events: &WrittenEvents) -> Result<(), ToolError> {
        let Some(recent) = &self.recent else { return Ok(()) };
        let until = recent.lock().unwrap_or_else(PoisonError::into_inner).add(last, events.bytes());
        until.map_or(Ok(()), |until| self.write(move |tx| log::forget(tx, until)))
    }

    /// Adds a part to the log, which `given` tells from others.
    fn add_part(&self, given: Unknown, events: &Arc<WrittenEvents>) -> Result<(), ToolError> {
        // One at a time: the number of the last part says which parts are there.
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = parts.number(&given);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (writer, part) = (self.writer.clone(), Arc::clone(events));
            let done = self.try_write(move |tx| {
                log::append(tx, &log::Part { writer: &writer, number, at_ms: now_ms() }, &part)
            });
            match done {
                // Tried again: it is not added twice.
                Err(Failure::Unknown(_)) if attempt < PARTS_TRIED => {}
                other => {
                    parts.unknown = other.is_err().then_some(given);
                    let last = other.map_err(|failure| self.told(failure))?;
                    return self.bound(last, events);
                }
            }
        }
    }
}

impl Store for SqlStore {
    fn append(&self, events: &[Arc<Event>]) -> Result<(), ToolError> {
        let written = log::written(events).map_err(|failure| self.told(failure))?;
        self.add_part(Unknown::Events(events.to_vec()), &Arc::new(written))
    }

    fn append_written(&self, events: &Arc<WrittenEvents>) -> Result<(), ToolError> {
        self.add_part(Unknown::Written(Arc::clone(events)), events)
    }

    fn events(&self, query: &EventQuery) -> Result<Vec<Logged>, ToolError> {
        let query = self.ready(query)?;
        self.read(move |tx| log::events(tx, &query))
    }

    fn calls_ending(&self, ending: &str) -> Result<Vec<String>, ToolError> {
        self.settle();
        let ending = ending.to_owned();
        self.read(move |tx| log::calls_ending(tx, &ending))
    }

    fn last_position(&self) -> Result<u64, ToolError> {
        self.read(log::last)
    }

    fn first_position(&self) -> Result<u64, ToolError> {
        self.read(log::oldest)
    }

    fn wait(&self, after: u64, at_most: Duration) -> Result<u64, ToolError> {
        let begun = Instant::now();
        loop {
            let last = self.last_position()?;
            let left = at_most.saturating_sub(begun.elapsed());
            if last > after || left.is_zero() {
                return Ok(last);
            }
            self.db.wait(left);
        }
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, ToolError> {
        self.read(log::sessions)
    }

    fn stats(&self, query: &EventQuery) -> Result<Vec<ToolStats>, ToolError> {
        let query = self.ready(query)?;
        self.read(move |tx| log::stats(tx, &query))
    }

    fn file(&self, session: &str, path: &str, version: Option<u64>) -> Result<Option<StoredFile>, ToolError> {
        let (session, path) = (session.to_owned(), files::path(path)?);
        self.read_content(move |tx| files::file(tx, &session, &path, version))
    }

    fn files(&self, session: &str, prefix: &str) -> Result<Vec<FileVersion>, ToolError> {
        let (session, prefix) = (session.to_owned(), prefix.trim_start_matches('/').to_owned());
        self.read(move |tx| files::files(tx, &session, &prefix))
    }

    fn file_versions(&self, session: &str, path: &str) -> Result<Vec<FileVersion>, ToolError> {
        let (session, path) = (session.to_owned(), files::path(path)?);
        self.read(move |tx| files::versions(tx, &session, &path))
    }

    fn change_files(&self, by: &By, mut changes: Vec<FileChange>) -> Result<Vec<u64>, ToolError> {
        for change in &mut changes {
            change.path = files::path(&change.path)?;
        }
        let by = by.clone();
        self.write(move |tx| files::change(tx, &by, &changes))
    }

    fn create_tasks(&self, by: &By, new: Vec<NewTask>) -> Result<Vec<Task>, ToolError> {
        let by = by.clone();
        self.write(move |tx| tasks::create(tx, &by, &new))
    }

    fn task(&self, id: &str) -> Result<Task, ToolError> {
        let id = id.to_owned();
        self.read(move |tx| tasks::task(tx, &id))
    }

    fn tasks(&self, status: Option<TaskStatus>) -> Result<Vec<Task>, ToolError> {
        self.read(move |tx| tasks::tasks(tx, status))
    }

    fn change_task(&self, by: &By, id: &str, change: TaskChange) -> Result<Task, ToolError> {
        let (by, id) = (by.clone(), id.to_owned());
        self.write(move |tx| tasks::change(tx, &by, &id, &change))
    }

    fn todos(&self, session: &str) -> Result<Vec<Todo>, ToolError> {
        let session = session.to_owned();
        self.read(move |tx| todos::todos(tx, &session))
    }

    fn set_todos(&self, by: &By, new: Vec<Todo>) -> Result<(), ToolError> {
        let by = by.clone();
        self.write(move |tx| todos::set(tx, &by, &new))
    }

    fn keep_changes(&self, changes: Vec<NewChange>) -> Result<(), ToolError> {
        self.write(move |tx| undo::keep(tx, &changes))
    }

    fn correct_changes(
        &self,
        workspace: &str,
        call: &str,
        corrections: Vec<Correction>,
    ) -> Result<(), ToolError> {
        let (workspace, call) = (workspace.to_owned(), call.to_owned());
        self.write(move |tx| undo::correct(tx, &workspace, &call, &corrections))
    }

    fn changes(&self, query: &ChangeQuery) -> Result<Vec<KeptChange>, ToolError> {
        let query = query.clone();
        self.read(move |tx| undo::changes(tx, &query))
    }

    fn deleted_changes(&self, workspace: &str, session: &str) -> Result<u64, ToolError> {
        let (workspace, session) = (workspace.to_owned(), session.to_owned());
        self.read(move |tx| undo::deleted(tx, &workspace, &session))
    }

    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>, ToolError> {
        let hash = hash.to_owned();
        self.read_content(move |tx| contents::get(tx, &hash))
    }

    fn keep_known(&self, files: Vec<KnownFile>) -> Result<(), ToolError> {
        self.write(move |tx| known::keep(tx, &files))
    }

    fn known_file(
        &self,
        workspace: &str,
        viewer: Viewer<'_>,
        name: &str,
    ) -> Result<Option<KnownFile>, ToolError> {
        let wanted = KnownFile {
            workspace: workspace.to_owned(),
            session: viewer.session.to_owned(),
            activation: viewer.activation.to_owned(),
            name: name.to_owned(),
            at_us: 0,
            version: None,
        };
        self.read_content(move |tx| known::get(tx, wanted.clone()))
    }

    fn finish_undo(&self, by: &By, finished: Finished) -> Result<(), ToolError> {
        let by = by.clone();
        self.write(move |tx| undo::finish(tx, &by, &finished))
    }

    fn hold(&self, run: &str, holder: &str, from: HeldBy) -> Result<Hold, ToolError> {
        let lock =
            |attempt: u64| self.db.lock(&hold::lock_name(run, attempt)).map_err(|failure| self.told(failure));
        let name = run.to_owned();
        let (before, by) = self.read(move |tx| hold::last(tx, &name))?;
        let is_own =
            self.held.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|held| held.is_alive_of(run));
        // In memory no lock would tell.
        if is_own && from == HeldBy::Nobody {
            return Err(hold::refused(run, &by));
        }
        // Whoever has the lock of the attempt before is the only one who may go on from it.
        let old = match from {
            HeldBy::Nobody => {
                Some(SqlStore::patiently(&|| lock(before))?.ok_or_else(|| hold::refused(run, &by))?)
            }
            HeldBy::Anybody => None,
        };
        let own = lock(before + 1)?.ok_or_else(|| hold::refused(run, &by))?;
        let (name, holder) = (run.to_owned(), holder.to_owned());
        if !self.write(move |tx| hold::take(tx, &name, before, &holder, now_ms()))? {
            return Err(hold::refused(run, &by));
        }
        drop(old);
        let alive = Arc::new(());
        let new = Held { run: run.to_owned(), attempt: before + 1, hold: Arc::downgrade(&alive) };
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|held| held.is_alive_of(&held.run));
        all.push(new);
        drop(all);
        let all = Arc::clone(&self.held);
        Ok(Hold::new(own).with_release(move || {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|held| held.hold.as_ptr() != Arc::as_ptr(&alive));
        }))
    }

    fn holder(&self, run: &str) -> Result<Option<String>, ToolError> {
        let name = run.to_owned();
        let (attempt, by) = self.read(move |tx| hold::last(tx, &name))?;
        let lock = self.db.lock(&hold::lock_name(run, attempt)).map_err(|failure| self.told(failure))?;
        Ok(lock.is_none().then_some(by))
    }

    fn remove_session(&self, session: &str) -> Result<bool, ToolError> {
        let _alone = self.collecting.lock().unwrap_or_else(PoisonError::into_inner);
        let session = session.to_owned();
        self.write(move |tx| gc::session(tx, &session))
    }

    fn collect(&self, retention: &Retention, now_ms: u64) -> Result<Collected, ToolError> {
        let _alone = self.collecting.lock().unwrap_or_else(PoisonError::into_inner);
        let age = retention.age_ms;
        let before = self.size()?;
        let mut collected = self.write(move |tx| gc::older(tx, now_ms.saturating_sub(age)))?;
        collected.bytes_before = before;
        self.write(contents::sweep)?;
        collected.bytes_after = self.size()?;
        if collected.bytes_after <= retention.bytes {
            return Ok(collected);
        }
        // Virtual files stay however large they are. The log and the journal are not emptied because of them.
        collected.file_bytes = self.read(files::bytes)?;
        let most = retention.bytes.max(collected.file_bytes.saturating_add(retention.bytes / HISTORY_PART));
        while collected.bytes_after > most {
            let OldestPart { events, changes, known } = self.write(gc::oldest)?;
            if events + changes + known == 0 {
                break;
            }
            collected.events += events;
            collected.changes += changes;
            self.write(contents::sweep)?;
            collected.bytes_after = self.size()?;
        }
        Ok(collected)
    }

    fn collect_daily(&self, retention: &Retention, now_ms: u64) -> Result<Option<Collected>, ToolError> {
        // Most of the time a look is enough, and nobody waits for a turn to write.
        if !self.read(move |tx| gc::is_due(tx, now_ms))? {
            return Ok(None);
        }
        match self.write(move |tx| gc::take_day(tx, now_ms))? {
            Some(trusted_ms) => self.collect(retention, trusted_ms).map(Some),
            None => Ok(None),
        }
    }
}
