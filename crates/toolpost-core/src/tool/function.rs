//! Tools without a struct: from a closure, and from a schema that is only known at run time.

use super::{AnyTool, Definition, Setting, Spec, Tool};
use crate::access::Access;
use crate::context::Context;
use crate::error::ToolError;
use crate::future::BoxFuture;
use crate::outcome::Output;
use crate::policy::{Foreseen, Policy};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use std::marker::PhantomData;

/// A tool from a closure with typed arguments.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use toolpost_core::{Output, Spec, function};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Args {
///     /// First summand.
///     a: i64,
///     /// Second summand.
///     b: i64,
/// }
///
/// let add = function(Spec::new("add", "1.0.0", "Adds two numbers.").idempotent(), |_, args: Args| async move {
///     Ok(Output::new("sum", (args.a + args.b).to_string(), args.a + args.b))
/// });
/// # let _ = add;
/// ```
pub fn function<F, R, A, D>(spec: Spec, function: F) -> FunctionTool<F, A, D>
where
    F: Fn(Context, A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output<D>, ToolError>> + Send + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    D: Serialize + JsonSchema + Send + 'static,
{
    FunctionTool { spec, function, types: PhantomData }
}

/// See [`function`].
pub struct FunctionTool<F, A, D> {
    spec: Spec,
    function: F,
    types: PhantomData<fn(A) -> D>,
}

impl<F, R, A, D> Tool for FunctionTool<F, A, D>
where
    F: Fn(Context, A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output<D>, ToolError>> + Send + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    D: Serialize + JsonSchema + Send + 'static,
{
    type Args = A;
    type Data = D;

    fn spec(&self) -> Spec {
        self.spec.clone()
    }

    fn call(&self, ctx: &Context, args: A) -> impl Future<Output = Result<Output<D>, ToolError>> + Send {
        (self.function)(ctx.clone(), args)
    }
}

/// A tool whose schema is only known at run time, as with tools of other servers.
///
/// ```
/// use serde_json::json;
/// use toolpost_core::{Output, Spec, dynamic};
///
/// let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
/// let shout = dynamic(Spec::new("shout", "1.0.0", "Writes a text in capitals."), schema, |_, args| async move {
///     let text = args["text"].as_str().unwrap_or_default().to_uppercase();
///     Ok(Output::new("shout", text, serde_json::Value::Null))
/// });
/// # let _ = shout;
/// ```
pub fn dynamic<F, R>(spec: Spec, input: Value, function: F) -> DynamicTool
where
    F: Fn(Context, Value) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output<Value>, ToolError>> + Send + 'static,
{
    DynamicTool {
        definition: Definition { spec, input, output: None },
        accesses: Vec::new(),
        facts: Vec::new(),
        function: Box::new(move |ctx, args| Box::pin(function(ctx, args))),
    }
}

type DynamicFunction =
    dyn Fn(Context, Value) -> BoxFuture<'static, Result<Output<Value>, ToolError>> + Send + Sync;

/// See [`dynamic`].
pub struct DynamicTool {
    definition: Definition,
    accesses: Vec<Access>,
    facts: Vec<String>,
    function: Box<DynamicFunction>,
}

impl DynamicTool {
    /// Says what the tool's data looks like.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> DynamicTool {
        self.definition.output = Some(schema);
        self
    }

    /// Says what every call touches, in place of what follows from the capabilities.
    #[must_use]
    pub fn with_accesses(mut self, accesses: Vec<Access>) -> DynamicTool {
        self.accesses = accesses;
        self
    }

    /// What a person should know who is asked about a call; see [`Tool::facts`].
    #[must_use]
    pub fn with_facts(mut self, facts: Vec<String>) -> DynamicTool {
        self.facts = facts;
        self
    }
}

impl AnyTool for DynamicTool {
    fn spec(&self) -> Spec {
        self.definition.spec.clone()
    }

    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    fn init<'a>(&'a self, _: &'a Setting) -> BoxFuture<'a, Result<Option<super::Amendment>, ToolError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn accesses(&self, _: &Value, usual: Vec<Access>) -> Result<Vec<Access>, ToolError> {
        Ok(if self.accesses.is_empty() { usual } else { self.accesses.clone() })
    }

    fn foreseen(&self, _: &Context, _: &Policy, _: &Value) -> Result<Foreseen, ToolError> {
        Ok(Foreseen::default())
    }

    fn facts(&self, _: &Context, _: &Value) -> Vec<String> {
        self.facts.clone()
    }

    fn rules(&self, _: &Access, usual: Vec<String>) -> Vec<String> {
        usual
    }

    fn call<'a>(
        &'a self,
        ctx: &'a Context,
        args: &'a Value,
    ) -> BoxFuture<'a, Result<Output<Value>, ToolError>> {
        (self.function)(ctx.clone(), args.clone())
    }

    fn dry_run<'a>(
        &'a self,
        ctx: &'a Context,
        args: &'a Value,
    ) -> BoxFuture<'a, Result<Output<Value>, ToolError>> {
        self.call(ctx, args)
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
