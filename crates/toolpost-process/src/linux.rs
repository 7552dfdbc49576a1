//! Linux: a launcher, a keeper per command, and the kernel's own walls.
//!
//! ```text
//! this process ──socket──▶ launcher (`warden`)          one per process, started with the first command
//!                             └─ keeper                  one per command; ends it and all it started
//!                                  ├─ the program        without a sandbox: its descendants are found by the keeper
//!                                  └─ init               with one: first process of its own namespaces
//!                                       └─ the program
//! ```

#![expect(clippy::disallowed_methods, reason = "the one place for children; files of /proc and mounts only")]

mod changes;
mod child;
mod client;
mod confine;
mod filter;
mod guard;
mod init;
mod keeper;
mod limits;
mod namespaces;
mod now;
mod post;
mod probe;
mod removable;
mod scratch;
mod shared_files;
mod sweep;
mod sys;
mod view;
mod warden;
mod wire;

pub(crate) use changes::{changes, contents};
pub(crate) use client::{Control, Ender, Receiver, Sender, Started, closed_names, start, this_program};
pub(crate) use now::{Found, Roots};
pub(crate) use probe::layers;
pub(crate) use scratch::{new_scratch, remove_scratch};
pub(crate) use warden::run as run_launcher;
