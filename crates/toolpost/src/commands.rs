//! The commands, one file each. Each gets what it needs and returns an exit status.

pub(crate) mod agents;
pub(crate) mod asked;
pub(crate) mod call;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod graph;
pub(crate) mod init;
pub(crate) mod internal;
pub(crate) mod log;
pub(crate) mod map;
pub(crate) mod mcp;
pub(crate) mod packs;
pub(crate) mod policy;
pub(crate) mod refs;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod stored;
pub(crate) mod tasks;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod vfs;
