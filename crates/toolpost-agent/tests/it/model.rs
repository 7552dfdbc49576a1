//! Models: recordings of real providers, hostile streams, and servers on loopback.

mod aimock;
mod canonical;
mod hostile;
mod images;
mod recording;
mod requests;
mod responses;
mod script;
mod server;
mod transport;
