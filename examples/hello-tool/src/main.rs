//! A tool from a struct and one from a closure, registered and run.
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use toolpost_core::{Context, Executor, Output, Registry, Spec, Tool, ToolError, function};

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Whom to greet.
    name: String,
}

struct Hello;
impl Tool for Hello {
    type Args = Name;
    type Data = ();
    fn spec(&self) -> Spec {
        Spec::new("hello", "1.0.0", "Greets somebody by name.").idempotent()
    }
    async fn call(&self, _: &Context, args: Name) -> Result<Output, ToolError> {
        Ok(Output::text(format!("Hello, {}!", args.name)))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let registry = Arc::new(Registry::new());
    registry.register(Hello)?;
    let spec = Spec::new("shout", "1.0.0", "Greets loudly.");
    registry.register(function(spec, |_, args: Name| async move {
        Ok(Output::text(format!("HELLO, {}!", args.name.to_uppercase())))
    }))?;
    let (executor, session) = (Executor::new(), Context::in_memory().with_tools(registry));
    for tool in ["hello", "shout", "helo"] {
        println!("{}", executor.call(&session, tool, json!({"name": "Ada"})).await.to_text());
    }
    Ok(())
}
