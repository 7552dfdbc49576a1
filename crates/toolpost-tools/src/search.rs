//! The search pack: files by their names, lines by their content.

mod glob;
mod grep;
mod name_pattern;
mod newest;
mod watch;

pub use glob::Glob;
pub use grep::Grep;

use toolpost_core::Pack;

/// The pack.
pub fn pack() -> Pack {
    Pack::new(crate::manifest("search.json", include_str!("search.json"))).with(Glob).with(Grep)
}
