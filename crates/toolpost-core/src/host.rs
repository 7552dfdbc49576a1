//! What a program needs that runs tools for others: the parts of a session, each of which can be replaced.

pub use crate::agents::{AgentHost, AgentType, SpawnOrder, SpawnedAgent};
pub use crate::blocking::{Crashed, Watch, blocking, in_pool};
pub use crate::clock::{Clock, FakeClock, SystemClock};
pub use crate::code::CodeEngine;
pub use crate::confirm::{Always, Answers, Confirm, NobodyThere, Remember, Scope};
pub use crate::context::{
    ContextBuilder, Extra, Ground, HeldBack, Ids, Log, Reach, Selection, Services, Spawn,
};
pub use crate::future::BoxFuture;
pub use crate::known::{FileMark, KnownFiles, KnownVersion, Viewer};
pub use crate::seen::Seen;
pub use crate::spill::{HANDLE_PREFIX, Spill, SpillFile};
pub use toolpost_text::id::new_id;
pub use toolpost_text::{RedactingWriter, Redactor};
