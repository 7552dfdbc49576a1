//! `kernel`: what an agent's run costs beside its model and its tools: each turn, the first token, and a thousand runs.

mod first_token;
mod many;
mod server;
mod subject;
mod turns;

pub(crate) use many::{RUNS, runs};

use crate::places::scratch;
use crate::report::Table;
use anyhow::Result;

/// All tables; what is made for them is deleted afterwards.
pub(crate) fn measure(hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("kernel-").tempdir_in(scratch()?)?;
    hand_on(turns::measure(folder.path())?);
    first_token::measure(hand_on)?;
    hand_on(many::measure(folder.path())?);
    Ok(())
}
