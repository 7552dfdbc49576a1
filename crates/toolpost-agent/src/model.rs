//! Language models: wire formats as pure mappings, one transport, and the table of vendors.
//!
//! A family of providers is one file of mapping between the words of `toolpost_core::model` and its wire format
//! ([`Format`]): [`encode`] makes a request of it, a [`Decoder`] makes deltas and a response of the bytes that come back.
//! Both do no I/O. Sending, retrying and giving up exist once, in [`Remote`]. A vendor that speaks a known format is a
//! row of the [`Catalog`]; which model a run uses, [`choose`] decides. [`Script`] is a model that needs no provider.

mod address;
mod catalog;
mod choice;
mod conversation;
mod decoder;
mod draft;
mod failure;
mod file;
mod format;
mod frames;
mod image;
mod key;
mod names;
mod remote;
mod script;
mod surrogates;

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

pub use catalog::{Catalog, CatalogError, ImageLimits, ModelRow, Origin, PriceRow, VendorRow, own_variable};
pub use choice::{Choice, Level, Wanted, choose, may_choose};
pub use decoder::{Decoder, Limits};
pub use failure::{Hints, from_http};
pub use format::{Encoded, Format, Quirks, Reasoning, Target, encode};
pub use image::fit;
pub use key::{Key, KeySource, Keys};
pub use remote::{Remote, RetryPolicy, Timeouts, client};
pub use script::{Script, ScriptCall, ScriptError};
