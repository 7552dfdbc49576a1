//! The shell: command lines, judged before they run.

pub mod line;
