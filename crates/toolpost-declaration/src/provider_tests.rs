//! A tool that is made for one provider is in the list of no other, whatever the format.

use crate::{Declarations, Format};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::{Context, Executor, Output, Registry, Spec, dynamic};

fn declared(format: Format, provider: Option<&str>) -> String {
    let tools = Arc::new(Registry::new());
    for name in ["anthropic", "gemini", "openai"] {
        let spec = Spec::new(format!("for_{name}"), "1.0.0", "Says nothing.").for_provider(name);
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let quiet = dynamic(spec, schema, |_, _| async { Ok(Output::new("", "", Value::Null)) });
        tools.register(quiet).unwrap();
    }
    let session = Context::in_memory().rebuild().tools(tools).provider(provider).build();
    Executor::new().declarations(&session, format).0.to_string()
}

#[test]
fn each_format_has_the_tools_of_its_provider() {
    for (format, own) in [
        (Format::Mcp, None),
        (Format::Langchain, None),
        (Format::OpenaiChat, Some("openai")),
        (Format::OpenaiResponses, Some("openai")),
        (Format::OpenaiStrict, Some("openai")),
        (Format::Anthropic, Some("anthropic")),
        (Format::Gemini, Some("gemini")),
        (Format::GeminiJsonSchema, Some("gemini")),
    ] {
        for provider in ["anthropic", "gemini", "openai"] {
            let is_there = declared(format, None).contains(&format!("for_{provider}"));
            assert_eq!(is_there, own == Some(provider), "{format} {provider}");
        }
    }
    assert!(declared(Format::Mcp, Some("Gemini")).contains("for_gemini"));
}
