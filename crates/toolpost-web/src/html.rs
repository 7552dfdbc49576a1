//! HTML: bytes to a tree of bounded depth, in linear time.

mod entity;
mod tag;
mod tokens;
mod tree;

pub(crate) use tag::Tag;
pub(crate) use tree::{Attribute, Content, Document, NodeId};

/// A text with its character references replaced.
pub(crate) fn unescaped(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    entity::decode_into(text, entity::Place::Text, &mut decoded);
    decoded
}
