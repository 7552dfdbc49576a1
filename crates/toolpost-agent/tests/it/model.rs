//! Models: recordings of real providers, hostile streams, and servers on loopback.

mod canonical;
mod hostile;
mod recording;
mod requests;
mod responses;
