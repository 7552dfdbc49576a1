//! The web tools as people use them, against servers of the test's own.

mod hostile;
mod network;
mod screen;
mod server;
mod webfetch;
mod websearch;
