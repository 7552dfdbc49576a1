//! The vocabulary of toolpost and the one way to run a tool.
//!
//! A tool author needs this crate and nothing else: implement [`Tool`] (or write a closure with [`function`]), add it to
//! a [`Registry`], and run it with an [`Executor`] in a [`Context`]. What comes back is an [`Outcome`].
//!
//! There is no network, no database and no parser in here, and no second way to run a tool anywhere.

mod access;
mod alias;
mod blocking;
mod capability;
mod clock;
mod confirm;
mod context;
mod dialect;
mod error;
mod event;
mod executor;
mod future;
mod hex;
mod id;
mod json;
mod nearest;
mod outcome;
mod pack;
pub mod policy;
pub mod prelude;
mod redact;
mod registry;
mod schema;
mod seen;
mod source;
mod spill;
mod start_check;
mod tokens;
mod tool;
mod visible;
mod workspace;

pub use access::{Access, Resource};
pub use alias::{Alias, ArgumentAlias, ArgumentPath};
pub use blocking::{Crashed, Here, Watch, blocking};
pub use capability::{Capabilities, Capability, Facts, Need};
pub use clock::{Clock, FakeClock, SystemClock};
pub use confirm::{Always, Answer, Answers, Confirm, NobodyThere, Question, Remember, Scope};
pub use context::{
    AgentHost, CodeEngine, Context, ContextBuilder, Extra, Ground, HeldBack, Ids, Model, Reach, Services,
    Spawn, Store,
};
pub use dialect::Dialect;
pub use error::{Code, ToolError};
pub use event::{Event, EventKind, EventSink, MemoryLog, NoEvents, Sinks, Told};
pub use executor::{
    Agreed, Call, Checked, Executor, ExecutorBuilder, Hook, Listing, Retry, Stats, ToolStats, Verdict,
};
pub use future::BoxFuture;
pub use hex::hex;
pub use id::new_id;
pub use nearest::nearest;
pub use outcome::{
    Attachment, AttachmentContent, DryRun, Metadata, Outcome, Output, PlannedChange, Truncation,
};
pub use pack::{Manifest, ManifestFile, Pack, PackTool, RiskProfile, assert_allowed, resolve_packs};
pub use policy::{Policy, Profile};
pub use redact::{RedactingWriter, Redactor};
pub use registry::{Draft, Entry, Prepared, Registry, Resolved, Shelves, Snapshot};
pub use schema::{MAX_DEPTH, Problem, Repair, Schema, arguments_of, data_of};
pub use seen::Seen;
pub use source::{Expected, IsWanted, ToolSource};
pub use spill::{HANDLE_PREFIX, Spill, SpillFile, SpillLimits};
pub use start_check::StartCheck;
pub use tokens::tokens;
pub use tool::{
    Amendment, AnyTool, Definition, DynamicTool, FunctionTool, OutputBudget, Setting, Spec, Texts, Tool,
    dynamic, function,
};
pub use visible::{shown, visible};
pub use workspace::{
    After, Before, Candidate, Change, Changed, Disk, Entries, Entry as FolderEntry, File, Found, Guard,
    Journal, Kind, LeftOut, Lock, Locks, Mark, Marked, Memory, OldContent, OuterRules, Overlay, Pending,
    PendingKind, ReadSeek, Replaced, ScanOptions, Scanned, Staged, Stat, Surveyed, Surveyor, Usage, Visit,
    Walk, WalkOptions, Worker, Workspace, WorkspacePath, Written, linked_repository, scan, walk,
};
