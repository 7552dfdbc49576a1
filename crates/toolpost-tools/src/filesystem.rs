//! The filesystem pack: tools on the files of the workspace.

mod list;
mod read;

pub use list::List;
pub use read::Read;

use toolpost_core::Pack;

/// The pack.
pub fn pack() -> Pack {
    Pack::new(crate::manifest("filesystem.json", include_str!("filesystem.json"))).with(Read).with(List)
}
