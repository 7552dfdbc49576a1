//! What a person types: keys from bytes, a text that is edited, and how it stands on the screen.
//!
//! All of it is pure but [`raw`], which has the terminal.

mod editor;
mod field;
mod keys;
mod raw;

pub(crate) use editor::{Done, Editor};
pub(crate) use field::{Field, shortened};
pub(crate) use keys::Key;
pub(crate) use raw::{RawMode, keys_typed};
