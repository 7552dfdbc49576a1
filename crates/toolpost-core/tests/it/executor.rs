//! The one path of a call.

mod border;
mod cancel;
mod confirm;
mod decisions;
mod dry_run;
mod hooks;
mod init;
mod limits;
mod log;
mod nesting;
mod output;
mod permission;
mod questions;
mod quick;
mod records;
mod retry;
mod secrets;
mod sessions;
mod validate;
