//! The one place that starts a child process: its own session, limits, sandbox, and the end of all it started.
//!
//! A [`Command`] is started by a launcher, a small process of its own that is started once: this program again, entered
//! through [`launcher::run_if_asked`], or a helper named with [`launcher::set_helper`]. The launcher forks one keeper
//! per command. A keeper outlives nothing: it ends with its command, and when whoever asked for the command lets go of
//! the [`Running`] handle or dies, the keeper ends everything that the command started, daemons included.
//!
//! That is Linux. On macOS and Windows a command runs in a group of its own, without a sandbox and without a launcher;
//! that part is type-checked and has not been run on either.
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

pub mod kept;

mod capture;
mod command;
mod ended;
mod environment;
mod error;
mod identity;
mod large_pages;
mod sandbox;
mod scratch;
mod start_check;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

// On Linux in tests as well: the part for macOS is the only one of the two that a test can run here.
#[cfg(any(target_os = "macos", all(test, target_os = "linux")))]
mod macos;
#[cfg(any(not(target_os = "linux"), test))]
mod other;
#[cfg(windows)]
mod windows;
#[cfg(any(target_os = "macos", windows))]
use other as platform;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!("commands can be started on Linux, macOS and Windows");

pub mod launcher;
mod running;

pub use capture::{Capture, Captured};
pub use command::{Command, Limits, Output, Stdin};
pub use ended::{Ended, Exit, Survivor, Why};
pub use environment::is_allowed_variable;
pub use error::Error;
pub use identity::{Ending, Identity, NotAnIdentity};
pub use large_pages::LargePages;
pub use running::{Ender, PipeReceiver, PipeSender, Running};
pub use sandbox::{
    Dependencies, FileEffect, FilePattern, FileRule, FileRules, HomeFolder, Layer, Need, NewName, Sandbox,
    layers,
};
pub use scratch::{Change, Changes, Node, NodeKind, Scratch};
pub use start_check::StartCheck;
