//! What a tool is: typed for its author, one object-safe form for everybody else.

mod function;
mod prompt;
mod spec;
mod texts;

pub use function::{DynamicTool, FunctionTool, dynamic, function};
pub use prompt::{PromptParameter, PromptToolDef};
pub use spec::{Annotations, Definition, OutputBudget, Spec};
pub use texts::Texts;
pub use toolpost_policy::RuleNames;

use crate::access::Access;
use crate::context::{Context, Services};
use crate::error::{Code, ToolError};
use crate::future::BoxFuture;
use crate::outcome::Output;
use crate::policy::{Foreseen, Policy};
use crate::schema;
use crate::workspace::Workspace;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;

/// A tool, as its author writes it.
///
/// Implemented by tool authors; called by the [`Executor`](crate::Executor) alone. The argument type *is* the
/// schema: its field comments are what the model reads. An argument that it does not name is refused, with the nearest
/// one, unless the type says otherwise (a flattened map). Checking arguments, permission, time-outs, retries,
/// redaction and records are the executor's work; a tool that does any of these itself is wrong. In return the
/// executor promises that `call` sees arguments that fit the schema and a workspace that cannot be left.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use toolpost_core::{Capability, Context, Output, Spec, Tool, ToolError};
///
/// /// What the model may ask for.
/// #[derive(Deserialize, JsonSchema)]
/// struct Args {
///     /// Whom to greet.
///     name: String,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Data {
///     length: usize,
/// }
///
/// struct Hello;
///
/// impl Tool for Hello {
///     type Args = Args;
///     type Data = Data;
///
///     fn spec(&self) -> Spec {
///         Spec::new("hello", "1.0.0", "Greets somebody by name.").requires(Capability::Read).idempotent()
///     }
///
///     async fn call(&self, _: &Context, args: Args) -> Result<Output<Data>, ToolError> {
///         let text = format!("Hello, {}!", args.name);
///         Ok(Output::new("greeting", &text, Data { length: text.len() }))
///     }
/// }
/// ```
pub trait Tool: Send + Sync + 'static {
    /// What the model may ask for.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// What a program gets beside the text; `()` for nothing.
    type Data: Serialize + JsonSchema + Send + 'static;

    /// Name, version, description, capabilities, limits.
    fn spec(&self) -> Spec;

    /// Makes the tool ready, once, before its first call; tried again at the next call if it fails.
    ///
    /// May return what replaces the description or the schema, where they depend on what is there.
    fn init(&self, setting: &Setting) -> impl Future<Output = Result<Option<Amendment>, ToolError>> + Send {
        let _ = setting;
        std::future::ready(Ok(None))
    }

    /// What a call would touch. `usual` is computed from the capabilities and the arguments of type
    /// [`WorkspacePath`](crate::WorkspacePath). Pure: no look at files, no waiting.
    fn accesses(&self, args: &Self::Args, usual: Vec<Access>) -> Vec<Access> {
        let _ = args;
        usual
    }

    /// Why the tool never does this, whatever the policy says and whoever agrees; then nobody is asked, and no rule is
    /// advised. Pure, like `accesses`.
    fn refusal(&self, args: &Self::Args) -> Option<ToolError> {
        let _ = args;
        None
    }

    /// What is known of a call before it runs, for a check or an explanation: the files and hosts that it names beside those
    /// of `accesses`, and what is decided only later. An error where the tool will refuse the call although the policy
    /// allows it; then neither a check nor an explanation says that it is allowed. The context is the one that the call
    /// would get, and the policy is the one that decides. May look at files, and changes nothing.
    fn foreseen(&self, ctx: &Context, policy: &Policy, args: &Self::Args) -> Result<Foreseen, ToolError> {
        let _ = (ctx, policy, args);
        Ok(Foreseen::default())
    }

    /// What a person should know who is asked about a call, a line each: what would run, where, how confined. The
    /// context is the one that the call would get. Pure, like `accesses`.
    fn facts(&self, ctx: &Context, args: &Self::Args) -> Vec<String> {
        let _ = (ctx, args);
        Vec::new()
    }

    /// The rules, as `action: resource`, that "always allow" would keep for an access of this tool; none where no rule
    /// should. `usual` is the rule for exactly this access.
    fn rules(&self, access: &Access, usual: Vec<String>) -> Vec<String> {
        let _ = access;
        usual
    }

    /// Does the work.
    fn call(
        &self,
        ctx: &Context,
        args: Self::Args,
    ) -> impl Future<Output = Result<Output<Self::Data>, ToolError>> + Send;

    /// Tells what `call` would do. The context's workspace is an overlay: what is written there is reported and
    /// thrown away, so that for a tool that only works on files this is `call` itself.
    fn dry_run(
        &self,
        ctx: &Context,
        args: Self::Args,
    ) -> impl Future<Output = Result<Output<Self::Data>, ToolError>> + Send {
        self.call(ctx, args)
    }

    /// Lets go of what `init` took hold of.
    fn shutdown(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// What a tool is told when it is made ready.
#[derive(Clone)]
pub struct Setting {
    /// Where file tools act.
    pub workspace: Arc<dyn Workspace>,
    /// The agent that has the tool, if one does. A tool whose definition depends on it says so: see [`Spec::init_by_agent`].
    pub agent: Option<String>,
    /// The services there are.
    pub services: Services,
}

/// What `init` puts in place of the definition's parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// A new description.
    pub description: Option<String>,
    /// A new argument schema. It may narrow the type's own, not contradict it.
    pub input: Option<Value>,
}

/// A tool behind a pointer: the one form that registry and executor know.
///
/// Implemented for every [`Tool`] and for [`DynamicTool`]; not meant to be implemented by hand.
pub trait AnyTool: Send + Sync {
    /// See [`Tool::spec`].
    fn spec(&self) -> Spec;
    /// What the tool is, before `init`.
    fn definition(&self) -> Definition;
    /// See [`Tool::init`].
    fn init<'a>(&'a self, setting: &'a Setting) -> BoxFuture<'a, Result<Option<Amendment>, ToolError>>;
    /// See [`Tool::accesses`].
    fn accesses(&self, args: &Value, usual: Vec<Access>) -> Result<Vec<Access>, ToolError>;
    /// See [`Tool::foreseen`].
    fn foreseen(&self, ctx: &Context, policy: &Policy, args: &Value) -> Result<Foreseen, ToolError>;
    /// See [`Tool::facts`].
    fn facts(&self, ctx: &Context, args: &Value) -> Vec<String>;
    /// See [`Tool::rules`].
    fn rules(&self, access: &Access, usual: Vec<String>) -> Vec<String>;
    /// See [`Tool::call`].
    fn call<'a>(
        &'a self,
        ctx: &'a Context,
        args: &'a Value,
    ) -> BoxFuture<'a, Result<Output<Value>, ToolError>>;
    /// See [`Tool::dry_run`].
    fn dry_run<'a>(
        &'a self,
        ctx: &'a Context,
        args: &'a Value,
    ) -> BoxFuture<'a, Result<Output<Value>, ToolError>>;
    /// See [`Tool::shutdown`].
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

impl<T: Tool> AnyTool for T {
    fn spec(&self) -> Spec {
        Tool::spec(self)
    }

    fn definition(&self) -> Definition {
        Definition {
            spec: Tool::spec(self),
            input: schema::closed_arguments_of::<T::Args>(),
            output: schema::data_of::<T::Data>(),
        }
    }

    fn init<'a>(&'a self, setting: &'a Setting) -> BoxFuture<'a, Result<Option<Amendment>, ToolError>> {
        Box::pin(Tool::init(self, setting))
    }

    fn accesses(&self, args: &Value, usual: Vec<Access>) -> Result<Vec<Access>, ToolError> {
        let args = parse(args)?;
        match Tool::refusal(self, &args) {
            Some(refusal) => Err(refusal),
            None => Ok(Tool::accesses(self, &args, usual)),
        }
    }

    fn foreseen(&self, ctx: &Context, policy: &Policy, args: &Value) -> Result<Foreseen, ToolError> {
        Tool::foreseen(self, ctx, policy, &parse(args)?)
    }

    fn facts(&self, ctx: &Context, args: &Value) -> Vec<String> {
        parse(args).map(|args| Tool::facts(self, ctx, &args)).unwrap_or_default()
    }

    fn rules(&self, access: &Access, usual: Vec<String>) -> Vec<String> {
        Tool::rules(self, access, usual)
    }

    fn call<'a>(
        &'a self,
        ctx: &'a Context,
        args: &'a Value,
    ) -> BoxFuture<'a, Result<Output<Value>, ToolError>> {
        Box::pin(async move { untyped(Tool::call(self, ctx, parse(args)?).await?) })
    }

    fn dry_run<'a>(
        &'a self,
        ctx: &'a Context,
        args: &'a Value,
    ) -> BoxFuture<'a, Result<Output<Value>, ToolError>> {
        Box::pin(async move { untyped(Tool::dry_run(self, ctx, parse(args)?).await?) })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(Tool::shutdown(self))
    }
}

/// Checked arguments as the tool's type. What the schema cannot say (a number too large for its type) fails here.
fn parse<T: DeserializeOwned>(args: &Value) -> Result<T, ToolError> {
    T::deserialize(args).map_err(|error| {
        ToolError::new(Code::ValidationError, format!("the arguments do not fit the tool: {error}"))
    })
}

fn untyped<D: Serialize>(output: Output<D>) -> Result<Output<Value>, ToolError> {
    let data = serde_json::to_value(&output.data).map_err(|error| {
        ToolError::execution(format!("the tool's data cannot be written as JSON: {error}"))
    })?;
    Ok(output.map_data(|_| data))
}
