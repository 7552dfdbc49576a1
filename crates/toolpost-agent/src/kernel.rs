//! The kernel: from the events of a run to what is to be done next.
//!
//! It is pure. [`State`] is what the events so far amount to, [`decide`] what follows from it; the same events give the
//! same decision, wherever and how often they are folded. Performing a decision is the business of a driver.

mod call_id;
mod decide;
mod fork;
mod repeats;
mod replay;
mod state;
mod time_spent;
mod transcript;
mod unusable;

pub use call_id::call_id;
pub use decide::decide;
pub use fork::Fork;
pub use replay::{Difference, replay};
pub use state::{Ended, State};
pub use transcript::Extra;
pub(crate) use transcript::{part_tokens, surplus};
