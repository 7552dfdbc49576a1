//! The code engine through its boundary: files in, answers out.

mod engine;
mod fixture;
mod go;
mod hostile;
mod pattern;
mod python;
mod rust;
mod search;
mod typescript;
