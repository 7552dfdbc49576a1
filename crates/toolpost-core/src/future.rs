//! The one spelling of a boxed future at the crate's object-safe borders.

use std::future::Future;
use std::pin::Pin;

/// A future behind a pointer, as object-safe traits return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
