//! The code engine through its boundary: files in, answers out.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod alternatives;
mod confidence;
mod dispatch;
mod engine;
mod exports;
mod fixture;
mod foreign;
mod fuzz;
mod go;
mod hostile;
mod javascript;
mod marked;
mod narrowing;
mod nowhere;
mod operators;
mod pattern;
mod pointing;
mod python;
mod python_names;
mod rust;
mod search;
mod silence;
mod typescript;
mod unknown;
