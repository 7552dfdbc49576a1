//! The code engine through its boundary: files in, answers out.

mod confidence;
mod engine;
mod fixture;
mod go;
mod hostile;
mod marked;
mod pattern;
mod python;
mod python_names;
mod rust;
mod search;
mod typescript;
