//! The vocabulary of toolpost and the one way to run a tool.
//!
//! A tool author needs this crate and nothing else. There is no network, no database and no parser in here, and no second
//! way to run a tool anywhere.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use serde_json::json;
//! use std::sync::Arc;
//! use toolpost_core::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Args {
//!     /// File to look at.
//!     file: WorkspacePath,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let spec = Spec::new("lines", "1.0.0", "Counts the lines of a file.").requires(Capability::Read);
//! let lines = function(spec, |ctx: Context, args: Args| async move {
//!     Ok(Output::text(ctx.read_text(&args.file).await?.lines().count().to_string()))
//! });
//! let tools = Arc::new(Registry::new());
//! tools.register(lines)?;
//! let session = Context::builder(Arc::new(Memory::from_fixture("//- notes.txt\none\ntwo\n")))
//!     .tools(tools)
//!     .policy(Policy::standard().deny("read: /private")?)
//!     .build();
//! let outcome = Executor::new().call(&session, "lines", json!({"file": "notes.txt"})).await;
//! assert_eq!(outcome.to_text(), "2");
//! # Ok(())
//! # }
//! ```
//!
//! # The words, in their order
//!
//! What an author writes:
//!
//! 1. [`Tool`]: a name, the types of its arguments and its data, and what it does. [`function`] makes one from a closure.
//! 2. [`dynamic`]: the same, where the schema is only known at run time.
//! 3. [`Spec`]: all that is known of a tool without running it: name, version, description, limits.
//! 4. [`Capability`]: what a model can cause through a tool: read, write, exec, network, trace.
//! 5. [`Context`]: what a running tool reaches: workspace, clock, deadline, other tools, the person.
//! 6. [`WorkspacePath`]: an argument that names a file. By it the policy knows what a call would touch.
//! 7. [`Output`]: a text for the model and data for programs.
//! 8. [`ToolError`]: why a call failed and what to try next, with a stable [`Code`].
//!
//! What a program puts together:
//!
//! 9. [`Registry`]: the tools, by name and by other names. A call keeps the [`Snapshot`] that it began with.
//! 10. [`Pack`]: tools that are added together, with a manifest that says what they need.
//! 11. [`Workspace`]: where file tools act: `Disk` of toolpost-disk, [`Memory`], or an [`Overlay`](workspace::Overlay) whose changes are thrown away.
//! 12. [`Policy`]: what a session may do, by capabilities and rules; it can be narrowed and never joined.
//! 13. [`Dialect`]: under which names and spellings a model knows the tools.
//!
//! What happens to a call:
//!
//! 14. [`Executor`]: the one path of a call, in eleven steps, for all sessions.
//! 15. [`Call`]: what a caller asks for: tool, arguments, time-out, retries, dry run.
//! 16. [`Access`]: one thing that a call would do, computed from its arguments before it runs. The policy judges these.
//! 17. [`Hook`]: looks at every call and may stop it; a closure does for most ([`ExecutorBuilder::before`](executor::ExecutorBuilder::before)).
//! 18. [`Question`] and [`Answer`]: what the person is asked where the policy says so ([`ContextBuilder::confirm_with`](host::ContextBuilder::confirm_with)).
//! 19. [`Event`]: everything that happens, in order ([`ContextBuilder::on_event`](host::ContextBuilder::on_event)).
//! 20. [`Outcome`]: what came of a call. The executor never fails itself: whatever goes wrong is an outcome.
//!
//! What else there is stands in the module of its word; [`host`] has what only a program needs that runs tools for others.
//! [`prelude`] has the names that most programs need. The guide has a chapter on a first tool and one on testing a tool.

pub mod activation;
mod agents;
mod blocking;
pub mod capability;
mod clock;
pub mod code;
mod confirm;
mod context;
pub mod dialect;
mod error;
pub mod event;
pub mod executor;
mod future;
pub mod host;
mod known;
pub mod model;
pub mod outcome;
pub mod pack;
pub mod prelude;
pub mod registry;
mod seen;
mod source;
mod spill;
pub mod store;
pub mod tool;
pub mod workspace;

pub use capability::Capability;
pub use confirm::{Answer, Question};
pub use context::Context;
pub use dialect::Dialect;
pub use error::{Code, ToolError};
pub use event::Event;
pub use executor::{Call, Executor, Hook};
pub use outcome::{Outcome, Output};
pub use pack::Pack;
pub use policy::{Access, Policy};
pub use registry::{Registry, Snapshot};
pub use tool::{Spec, Tool, dynamic, function};
pub use toolpost_policy as policy;
pub use toolpost_policy::access;
pub use toolpost_schema as schema;
pub use toolpost_text as text;
pub use workspace::{Memory, Workspace, WorkspacePath};
