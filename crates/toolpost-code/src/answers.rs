//! Answers for tools: what a file declares, what has a name, what a symbol is, who depends on whom, what matters most.
//! Everything here is made from [`crate::resolve`]; nothing is guessed anew.

pub mod graph;
pub mod imports;
pub mod pattern;
pub mod place;
pub mod ranking;
pub mod search;
pub mod symbol;
