//! The filesystem pack: tools on the files of the workspace.

mod list;
mod read;

pub use list::List;
pub use read::Read;

use std::borrow::Cow;
use toolpost_core::Pack;

/// The pack.
pub fn pack() -> Pack {
    Pack::new(crate::manifest("filesystem.json", include_str!("filesystem.json"))).with(Read).with(List)
}

/// A name with a newline or an escape in it must not look like two, or like something else.
fn one_line(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => Cow::Owned(name.escape_debug().to_string()),
        false => Cow::Borrowed(name),
    }
}
