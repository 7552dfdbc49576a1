//! `websearch`: pages about a question, found by somebody who knows the web.

use super::search::{ByModel, Endpoint, Found, Search};
use super::untrusted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::capability::Need;
use toolpost_core::{Access, Capability, Code, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// What to search for.
    #[schemars(length(min = 1))]
    query: String,
    /// Pages wanted.
    #[serde(default = "usual_results")]
    #[schemars(range(min = 1, max = 20))]
    max_results: usize,
}

fn usual_results() -> usize {
    5
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The pages, the best first.
    results: Vec<Found>,
    /// Who searched.
    searched_by: String,
    /// What the searcher says itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    answer: String,
}

/// The tool.
pub struct WebSearch {
    /// Where the user wants searches to go; otherwise the provider of the session's model searches.
    endpoint: Option<Arc<Endpoint>>,
}

impl WebSearch {
    pub(super) fn new(endpoint: Option<Endpoint>) -> WebSearch {
        WebSearch { endpoint: endpoint.map(Arc::new) }
    }
}

impl Tool for WebSearch {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        let spec = Spec::new("websearch", "1.0.0", include_str!("websearch.txt"))
            .requires(Capability::Network)
            .about(ResourceKind::Host)
            .idempotent()
            .retryable()
            .parallel_safe()
            .timeout(Duration::from_secs(120), Duration::from_secs(300))
            .own_dry_run();
        match self.endpoint {
            Some(_) => spec,
            None => spec.needs(Need::Model).where_missing(
                "the user can set the key `searchUrl` to an endpoint that answers in SearXNG's JSON, or the key `model` to a \
                 model whose provider searches",
            ),
        }
    }

    fn accesses(&self, _: &Args, _: Vec<Access>) -> Vec<Access> {
        vec![match &self.endpoint {
            Some(endpoint) => Access::host(endpoint.place()),
            None => {
                Access::any_because(Capability::Network, "the provider of the model searches where it likes")
            }
        }]
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let search = self.back_end(ctx)?;
        let results = search.search(ctx, &args.query, args.max_results).await?;
        let searched_by = search.name();
        let pages = results.found.iter().enumerate().map(|(at, found)| {
            let snippet =
                if found.snippet.is_empty() { String::new() } else { format!("\n   {}", found.snippet) };
            format!("{}. {}\n   {}{snippet}", at + 1, found.title, found.url)
        });
        let mut parts: Vec<String> = pages.collect();
        if parts.is_empty() {
            parts.push("(no pages)".to_owned());
        }
        if !results.answer.is_empty() {
            parts.push(format!("{searched_by} says: {}", results.answer));
        }
        let text = format!(
            "{} pages found by {searched_by}. {}",
            results.found.len(),
            untrusted(ctx, &parts.join("\n"))
        );
        let data = Data { results: results.found, searched_by, answer: results.answer };
        Ok(Output::new(args.query, text, data))
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let searched_by = self.back_end(ctx)?.name();
        let text = format!("would ask {searched_by} to search for `{}`", args.query);
        Ok(Output::new(args.query, text, Data { results: Vec::new(), searched_by, answer: String::new() }))
    }
}

impl WebSearch {
    fn back_end(&self, ctx: &Context) -> Result<Arc<dyn Search>, ToolError> {
        if let Some(endpoint) = &self.endpoint {
            return Ok(Arc::clone(endpoint) as _);
        }
        match &ctx.services().model {
            Some(model) if model.profile().search => Ok(Arc::new(ByModel(Arc::clone(model)))),
            model => {
                let who = model.as_ref().map_or_else(
                    || "there is no model".to_owned(),
                    |model| {
                        format!(
                            "the provider of {}/{} does not search",
                            model.profile().vendor,
                            model.profile().model
                        )
                    },
                );
                let message = format!(
                    "{who}; the user can set the key `model` to a model whose provider searches, or the key `searchUrl` to an endpoint"
                );
                Err(ToolError::new(Code::LlmAssistRequired, message))
            }
        }
    }
}
