//! Tests of the crate through its public names.

mod agent_file;
mod driver;
mod kernel;
mod model;
