//! `websearch` with a model that searches; recorded answers of providers are tested with the command.

use crate::answering::{Answering, saying};
use crate::{executor, run};
use serde_json::json;
use std::sync::Arc;
use toolpost_core::model::{ModelError, ModelErrorKind, SearchSource};
use toolpost_core::{Code, Context, Memory, Policy};

#[test]
fn the_pages_that_a_model_found_are_listed() {
    run(async {
        let source = |number: usize| SearchSource {
            title: format!("Page {number}"),
            url: format!("https://{number}.example/"),
            snippet: "What it says.".to_owned(),
        };
        let model = Answering::new(Ok(saying("It is so.", (1..=9).map(source).collect())));
        let ctx = Context::builder(Arc::new(Memory::new())).services(model.services()).build();
        let tools = crate::fixed::Fixed::new(executor().registry().clone(), Policy::privileged());
        let outcome = tools.call(&ctx, "websearch", json!({"query": "is it so", "maxResults": 2})).await;
        let output = outcome.result.unwrap();
        assert_eq!(
            output.data["results"],
            json!([
                {"title": "Page 1", "url": "https://1.example/", "snippet": "What it says."},
                {"title": "Page 2", "url": "https://2.example/", "snippet": "What it says."},
            ])
        );
        assert!(output.text.contains("lab/m-1 says: It is so."), "{}", output.text);
        assert!(model.asked.lock().unwrap()[0].search);
    });
}

#[test]
fn without_a_model_it_says_what_is_missing() {
    run(async {
        let tools = crate::fixed::Fixed::new(executor().registry().clone(), Policy::privileged());
        let outcome = tools.call(&Context::in_memory(), "websearch", json!({"query": "x"})).await;
        assert_eq!(outcome.result.unwrap_err().code(), Code::LlmAssistRequired);
        let error = ModelError::new(ModelErrorKind::RateLimited, "too many requests");
        let ctx =
            Context::builder(Arc::new(Memory::new())).services(Answering::new(Err(error)).services()).build();
        let outcome = tools.call(&ctx, "websearch", json!({"query": "x"})).await;
        let error = outcome.result.unwrap_err();
        assert_eq!(error.message(), "the search by lab/m-1 failed: too many requests");
    });
}
