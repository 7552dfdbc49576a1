//! The one place that starts a child process: its own session, limits, sandbox, and the end of all it started.
//!
//! A [`Command`] is started by a launcher, a small process of its own that is started once: this program again, entered
//! through [`launcher::run_if_asked`], or a helper named with [`launcher::set_helper`]. The launcher forks one keeper
//! per command. A keeper outlives nothing: it ends with its command, and when whoever asked for the command lets go of
//! the [`Running`] handle or dies, the keeper ends everything that the command started, daemons included.
//!
//! ```no_run
//! use toolpost_process::{Capture, Command, launcher};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     launcher::run_if_asked();
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//!     runtime.block_on(async {
//!         let mut running = Command::new("/bin/sh", "/tmp").args(["-c", "echo hello"]).start()?;
//!         let mut capture = Capture::new(4096, 4096);
//!         let ended = running.collect(&mut capture, |_| ()).await?;
//!         assert_eq!(ended.exit.code(), Some(0));
//!         Ok(())
//!     })
//! }
//! ```

mod capture;
mod command;
mod ended;
mod environment;
mod error;
mod sandbox;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

pub mod launcher;
mod running;

pub use capture::{Capture, Captured};
pub use command::{Command, Limits, Output, Stdin};
pub use ended::{Ended, Exit, Survivor, Why};
pub use environment::is_allowed_variable;
pub use error::Error;
pub use running::{Ender, Running};
pub use sandbox::{Layer, Need, Sandbox, layers};
