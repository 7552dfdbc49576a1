//! Texts, and what can be said of them without looking at a disk or a network; no vocabulary of tools.
//!
//! Reached as `toolpost_core::text`, so that an author of tools needs one crate.

pub mod folded;
mod git_index;
mod hex;
pub mod id;
pub mod json;
pub mod merge;
mod nearest;
pub mod paths;
mod possible;
mod programs;
pub mod protected;
mod redact;
mod screen;
mod source;
mod spliced;
mod tables;
mod tokens;
mod tracked;
mod visible;
pub mod wildcard;

pub use git_index::{GitIndex, IndexEntry};
pub use hex::hex;
pub use nearest::{misspelling_of, nearest};
pub use possible::could_match;
pub use programs::other_names as other_names_of_program;
pub use redact::{RedactingWriter, Redactor, UnclearMark, map_strings};
pub use screen::Screen;
pub use source::{Errors, LARGEST, Located, Source};
pub use spliced::{Spliced, Splicer};
pub use tables::{kind_of_toml, parse_toml};
pub use tokens::tokens;
pub use tracked::Tracked;
pub use visible::{shown, visible};
