//! Models: recordings of real providers, hostile streams, and servers on loopback.

mod canonical;
mod hostile;
mod images;
mod recording;
mod requests;
mod responses;
mod script;
