//! Who searches the web: the provider of a model, or an endpoint that the user has configured.

mod endpoint;
mod model;

pub use endpoint::Endpoint;
pub(super) use model::ByModel;

use schemars::JsonSchema;
use serde::Serialize;
use std::pin::Pin;
use toolpost_core::{Context, ToolError};

/// A page that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Found {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says about the question.
    pub snippet: String,
}

/// What came of a search.
#[derive(Debug, Default)]
pub struct Results {
    /// The pages, the best first.
    pub found: Vec<Found>,
    /// What the searcher says itself, where it says something.
    pub answer: String,
}

/// Searches the web. Implemented for the providers of models and for endpoints; called by `websearch`.
pub trait Search: Send + Sync {
    /// Who it is, for messages.
    fn name(&self) -> String;

    /// Searches. At most `max` pages are wanted.
    fn search<'a>(&'a self, ctx: &'a Context, query: &'a str, max: usize) -> Searching<'a>;
}

/// A search that is under way.
pub type Searching<'a> = Pin<Box<dyn Future<Output = Result<Results, ToolError>> + Send + 'a>>;
