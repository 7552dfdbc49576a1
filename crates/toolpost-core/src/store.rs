//! What outlives a process: the log of events, virtual files, tasks, todos and what undo needs.
//!
//! Here is only the door. The stores themselves are in `toolpost-store`; tools reach the one of their session through
//! [`Context::store`](crate::Context::store).

mod files;
mod hold;
mod journal;
mod known;
mod log;
mod tasks;
mod written;

pub use files::{FileChange, FileVersion, StoredFile};
pub use hold::{HeldBy, Hold};
pub use journal::{ChangeKind, ChangeQuery, Correction, Finished, Held, KeptChange, NewChange, Takes};
pub use known::KnownFile;
pub use log::{EventQuery, Logged, OutcomeFilter, SessionSummary, ToolStats};
pub use tasks::{NewTask, Task, TaskChange, TaskStatus, Todo, TodoPriority, TodoStatus};
pub use written::{WrittenEvent, WrittenEvents};

use crate::error::ToolError;
use crate::event::Event;
use crate::host::Viewer;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Sessions, event log, virtual files, tasks, todos and the journal of undo. Implemented in `toolpost-store`; called by tools, by the log and by
/// commands.
///
/// Every method blocks, so a tool calls it where blocking is allowed. What a method that changes something has returned is
/// durable. A method that fails has changed nothing, unless its error says that nobody knows.
pub trait Store: Send + Sync {
    /// Adds events at the end of the log, all or none. Each gets the next place in its session, whatever
    /// [`Event::sequence`] says, and the next position in the whole log. The same events, tried again after an
    /// error, are added once.
    fn append(&self, events: &[Arc<Event>]) -> Result<(), ToolError>;

    /// The same for events that are written down already; the same list, tried again after an error, is added once.
    fn append_written(&self, events: &Arc<WrittenEvents>) -> Result<(), ToolError>;

    /// The events that a query asks for, in the order of their positions. A log is bounded: see
    /// [`first_position`](Store::first_position).
    fn events(&self, query: &EventQuery) -> Result<Vec<Logged>, ToolError>;

    /// The ids of calls that end with this text, of the log and of the journal of undo, the newest first. Of many only the
    /// first few.
    fn calls_ending(&self, ending: &str) -> Result<Vec<String>, ToolError>;

    /// The position of the last event; 0 where there is none.
    fn last_position(&self) -> Result<u64, ToolError>;

    /// The position of the oldest event that is still there; 0 where there is none. What was before it was deleted by
    /// [`collect`](Store::collect) or, in a store in memory, dropped when there was too much.
    fn first_position(&self) -> Result<u64, ToolError>;

    /// Waits until there are events after a position, made by whatever process, or the time is over. Returns the position of
    /// the last event.
    fn wait(&self, after: u64, at_most: Duration) -> Result<u64, ToolError>;

    /// Every session that has events, the one that was active last first.
    fn sessions(&self) -> Result<Vec<SessionSummary>, ToolError>;

    /// The calls that a query asks for, counted by tool.
    fn stats(&self, query: &EventQuery) -> Result<Vec<ToolStats>, ToolError>;

    /// A virtual file of the session: its newest version, or the one asked for. None where there is none, or it was deleted.
    fn file(&self, session: &str, path: &str, version: Option<u64>) -> Result<Option<StoredFile>, ToolError>;

    /// The newest versions of all virtual files of a session whose paths begin with the prefix, without their content, in
    /// the order of their paths.
    fn files(&self, session: &str, prefix: &str) -> Result<Vec<FileVersion>, ToolError>;

    /// Every version of one virtual file, the oldest first.
    fn file_versions(&self, session: &str, path: &str) -> Result<Vec<FileVersion>, ToolError>;

    /// Changes virtual files, all or none. Returns the new version of each, in the order given.
    fn change_files(&self, by: &By, changes: Vec<FileChange>) -> Result<Vec<u64>, ToolError>;

    /// Adds tasks to the graph, all or none. They may depend on each other; a cycle is refused.
    fn create_tasks(&self, by: &By, tasks: Vec<NewTask>) -> Result<Vec<Task>, ToolError>;

    /// One task.
    fn task(&self, id: &str) -> Result<Task, ToolError>;

    /// All tasks, or those with a status, in the order in which they were created.
    fn tasks(&self, status: Option<TaskStatus>) -> Result<Vec<Task>, ToolError>;

    /// Changes one task, or refuses with `TASK_CONFLICT`. Whatever becomes ready by it is ready when this returns.
    fn change_task(&self, by: &By, id: &str, change: TaskChange) -> Result<Task, ToolError>;

    /// The todos of a session.
    fn todos(&self, session: &str) -> Result<Vec<Todo>, ToolError>;

    /// Replaces the todos of a session.
    fn set_todos(&self, by: &By, todos: Vec<Todo>) -> Result<(), ToolError>;

    /// Keeps changes that are about to be made, all or none.
    fn keep_changes(&self, changes: Vec<NewChange>) -> Result<(), ToolError>;

    /// Corrects what was kept of a call by what it has really made.
    fn correct_changes(
        &self,
        workspace: &str,
        call: &str,
        corrections: Vec<Correction>,
    ) -> Result<(), ToolError>;

    /// The changes that a query asks for, the first one first.
    fn changes(&self, query: &ChangeQuery) -> Result<Vec<KeptChange>, ToolError>;

    /// How many calls of a session had changes in this workspace that were deleted because they were old, while others of the
    /// session are still kept.
    fn deleted_changes(&self, workspace: &str, session: &str) -> Result<u64, ToolError>;

    /// The bytes of this hash, where they are kept.
    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>, ToolError>;

    /// Keeps what sessions have seen of files, all or none, in place of what they have seen before.
    fn keep_known(&self, files: Vec<KnownFile>) -> Result<(), ToolError>;

    /// What a session has last seen of a file; none where nothing is known. Its content may be gone.
    fn known_file(
        &self,
        workspace: &str,
        viewer: Viewer<'_>,
        name: &str,
    ) -> Result<Option<KnownFile>, ToolError>;

    /// Notes that an undo or a redo is finished, and what holds since.
    fn finish_undo(&self, by: &By, finished: Finished) -> Result<(), ToolError>;

    /// Holds a run for this process, which says who it is. From then on, whatever this store writes is refused once another
    /// process holds the run, until the hold is released. A process may hold several. A run that somebody holds who lives is refused with `TASK_CONFLICT`, unless it is taken over.
    fn hold(&self, run: &str, holder: &str, from: HeldBy) -> Result<Hold, ToolError>;

    /// Who holds a run at this moment.
    fn holder(&self, run: &str) -> Result<Option<String>, ToolError>;

    /// Deletes a session: its events, virtual files and todos. Whether there was one.
    fn remove_session(&self, session: &str) -> Result<bool, ToolError>;

    /// Deletes what is older than it is to be kept and, where that is not enough, the oldest of the log and of the journal.
    /// Tasks that are not completed, and what they depend on, stay; so do the virtual files of active sessions. Where those
    /// alone are too large, the log and the journal keep a quarter of the size all the same.
    fn collect(&self, retention: &Retention, now_ms: u64) -> Result<Collected, ToolError>;

    /// The same once a day, whichever process asks first; nothing at other times.
    fn collect_daily(&self, retention: &Retention, now_ms: u64) -> Result<Option<Collected>, ToolError>;
}

/// How much is kept, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// In milliseconds.
    pub age_ms: u64,
    /// In bytes.
    pub bytes: u64,
}

impl Default for Retention {
    /// Thirty days, or one GiB.
    fn default() -> Retention {
        Retention { age_ms: 30 * 24 * 60 * 60 * 1000, bytes: 1 << 30 }
    }
}

/// What was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// Events of the log.
    pub events: u64,
    /// Sessions, with their virtual files and todos.
    pub sessions: u64,
    /// Completed tasks.
    pub tasks: u64,
    /// Calls whose changes cannot be undone any more.
    pub changes: u64,
    /// Bytes of virtual files, where the store was too large: they stay.
    pub file_bytes: u64,
    /// Bytes that the store took before.
    pub bytes_before: u64,
    /// And takes now.
    pub bytes_after: u64,
}

/// Who changes something, for the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct By {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The session.
    pub session: String,
    /// The agent, if one acts.
    pub agent: Option<String>,
    /// The run of that agent.
    pub activation: Option<String>,
    /// The call that makes the change.
    pub call: Option<String>,
}

impl By {
    /// Who owns a task that is claimed: the activation, or the session where there is none.
    pub fn owner(&self) -> &str {
        self.activation.as_deref().unwrap_or(&self.session)
    }
}
