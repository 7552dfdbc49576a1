//! `store`: what durable events and tasks cost, beside the same rows written by a plain loop; and a log of millions.

mod events;
mod large;
#[expect(dead_code, reason = "the tests of the store use more of it")]
#[path = "../../crates/toolpost-store/tests/it/server.rs"]
mod server;
mod tasks;

pub(crate) use tasks::{WORK, work};

use crate::places::scratch;
use crate::report::Table;
use anyhow::Result;

/// All tables; what is made for them is deleted afterwards.
pub(crate) fn measure(hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("store-").tempdir_in(scratch()?)?;
    events::measure(folder.path(), hand_on)?;
    tasks::measure(folder.path(), hand_on)?;
    large::measure(folder.path(), hand_on)
}
