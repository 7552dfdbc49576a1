//! Code understood without a language server: bytes in; symbols, references and graphs out.
//!
//! A file becomes [`facts`], a function of its bytes alone. The facts of all files are a [`world::World`]. A
//! [`resolve::Query`] says what an identifier means, by scopes, imports and the types of receivers, and how sure that
//! is. Files and what is kept between runs are reached through traits that the caller implements; nothing here
//! touches a disk.

pub mod answers;
pub mod engine;
pub mod facts;
pub mod files;
pub mod language;
pub mod languages;
pub mod parses;
pub mod postings;
pub mod resolve;
pub mod syntax;
pub mod unread;
pub mod world;

mod paths;

#[cfg(feature = "go")]
mod go;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "rust")]
mod rust;
#[cfg(feature = "typescript")]
mod typescript;
