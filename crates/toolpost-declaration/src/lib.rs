//! From the one JSON schema of a tool to the declaration that each provider accepts.
//!
//! Pure mappings: a tool has one schema, and what a provider cannot express is converted with a note, or refused with
//! a reason. A conversion may widen what the model is told (the executor still checks the arguments against the tool's
//! own schema), never narrow it silently. Nothing here calls a provider, and no name is ever changed, because a second
//! name would have to be resolved at call time.
//!
//! ```
//! use toolpost_declaration::{Format, Source, declare};
//!
//! let input = serde_json::json!({"type": "object", "properties": {"limit": {"type": "integer", "const": 5}}});
//! let source = Source {
//!     name: "grep", title: None, description: "Search files.", input: &input, output: None,
//!     read_only: true, destructive: false, idempotent: true, open_world: false,
//! };
//! let declaration = declare(&source, Format::Mcp)?;
//! assert_eq!(declaration.value["annotations"]["readOnlyHint"], true);
//! # Ok::<(), toolpost_declaration::Refusal>(())
//! ```

mod format;
mod note;

mod keyword;
mod name;
mod reference;

mod foreign;
mod merge;
mod normal;
mod root;

mod anthropic;
mod gemini;
mod langchain;
mod mcp;
mod openai;
mod strict;

mod lint;
mod rules;

pub use format::Format;
pub use lint::{Finding, Lint, Problem, lint, price, report};
pub use note::{Note, Refusal};
pub use rules::conforms;

use note::{Notes, Path};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use toolpost_core::tool::{Annotations, Definition};
use toolpost_core::{Capability, Context, Executor};

/// What a declaration is made from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The name that is called.
    pub name: &'a str,
    /// A name for people.
    pub title: Option<&'a str>,
    /// What the model reads.
    pub description: &'a str,
    /// JSON schema of the arguments.
    pub input: &'a Value,
    /// JSON schema of the structured answer. Declared over MCP only: elsewhere it is optional, costs tokens in every
    /// request and is one more reason to be refused.
    pub output: Option<&'a Value>,
    /// A call changes nothing.
    pub read_only: bool,
    /// A call may destroy something.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// A call reaches beyond the machine.
    pub open_world: bool,
}

impl<'a> Source<'a> {
    /// What a tool is declared from.
    pub fn of(definition: &'a Definition) -> Source<'a> {
        let spec = &definition.spec;
        let causes = spec.required.union(spec.optional);
        let changes = spec.calls_tools || causes.has(Capability::Write) || causes.has(Capability::Exec);
        let reaches_out = spec.calls_tools || causes.has(Capability::Network);
        let annotations = spec.annotations.unwrap_or(Annotations {
            read_only: !changes && !reaches_out,
            destructive: changes,
            idempotent: spec.facts.idempotent,
            open_world: reaches_out,
        });
        Source {
            name: &spec.name,
            title: spec.title.as_deref(),
            description: &spec.description,
            input: &definition.input,
            output: definition.output.as_ref(),
            read_only: annotations.read_only,
            destructive: annotations.destructive,
            idempotent: annotations.idempotent,
            open_world: annotations.open_world,
        }
    }
}

/// What a session's tools look like to a model provider.
pub trait Declarations {
    /// The list of tools that the session is told of, in the provider's shape and under the names of its dialect; and the
    /// tools that had to be left out, each with the reason. Tools that are made for one provider are in the list of no other.
    ///
    /// ```
    /// use serde_json::json;
    /// use std::sync::Arc;
    /// use toolpost_core::{Context, Executor, Output, Registry, Spec, dynamic};
    /// use toolpost_declaration::{Declarations, Format};
    ///
    /// let tools = Arc::new(Registry::new());
    /// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    /// let spec = Spec::new("hello", "1.0.0", "Greets somebody.");
    /// tools.register(dynamic(spec, schema, |_, _| async { Ok(Output::new("", "Hello!", json!(null))) }))?;
    /// let session = Context::in_memory().with_tools(tools);
    /// let (list, _) = Executor::new().declarations(&session, Format::Gemini);
    /// assert_eq!(list[0]["functionDeclarations"][0]["name"], "hello");
    /// # Ok::<(), toolpost_core::ToolError>(())
    /// ```
    fn declarations(&self, ctx: &Context, format: Format) -> (Value, Vec<(String, Refusal)>);
}

impl Declarations for Executor {
    fn declarations(&self, ctx: &Context, format: Format) -> (Value, Vec<(String, Refusal)>) {
        let listing = self.listing(&format.session(ctx));
        let mut refused = Vec::new();
        let mut offered = Vec::new();
        for entry in &listing.listed {
            match listing.definition(entry) {
                Ok(definition) => offered.extend(definition),
                Err(why) => refused.push((entry.name().to_owned(), Refusal::new(Path::ROOT, why.message()))),
            }
        }
        let (value, more) = export(offered.iter().map(Source::of), format);
        refused.extend(more);
        (value, refused)
    }
}

/// A tool as a provider accepts it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Declaration {
    /// The declaration, one entry of the provider's list.
    pub value: Value,
    /// What differs from the tool's own schema.
    pub notes: Vec<Note>,
}

/// The declaration of one tool in one format.
pub fn declare(source: &Source<'_>, format: Format) -> Result<Declaration, Refusal> {
    name::check(source.name, format)?;
    let mut notes = Notes::default();
    let input = normal::normal(source.input, &mut notes)?;
    let input = normal::as_arguments(input, &mut notes)?;
    let value = match format {
        Format::Mcp => mcp::declare(source, input, &mut notes),
        Format::OpenaiChat => openai::chat(source, &input, &mut notes)?,
        Format::OpenaiResponses => openai::responses(source, &input, &mut notes)?,
        Format::OpenaiStrict => openai::strict(source, &input, &mut notes)?,
        Format::Anthropic => anthropic::declare(source, &input, &mut notes)?,
        Format::Gemini => gemini::declare(source, &input, &mut notes)?,
        Format::GeminiJsonSchema => gemini::declare_json_schema(source, input, &mut notes),
        Format::Langchain => langchain::declare(source, &input, &mut notes)?,
    };
    Ok(Declaration { value, notes: notes.into_list() })
}

/// The list of tools in the provider's shape, in the order given, and the tools that had to be left out.
pub fn export<'a>(
    sources: impl IntoIterator<Item = Source<'a>>,
    format: Format,
) -> (Value, Vec<(String, Refusal)>) {
    let mut names = HashSet::new();
    let mut list = Vec::new();
    let mut refused = Vec::new();
    for source in sources {
        let declared = match names.insert(source.name) {
            true => declare(&source, format),
            false => Err(Refusal::new(Path::ROOT, "another tool of the list has the same name")),
        };
        match declared {
            Ok(declaration) => list.push(declaration.value),
            Err(refusal) => refused.push((source.name.to_owned(), refusal)),
        }
    }
    let value = match format {
        Format::Mcp => json!({"tools": list}),
        // An empty list of declarations fails the whole request.
        Format::Gemini | Format::GeminiJsonSchema if list.is_empty() => json!([]),
        Format::Gemini | Format::GeminiJsonSchema => json!([{"functionDeclarations": list}]),
        Format::OpenaiChat
        | Format::OpenaiResponses
        | Format::OpenaiStrict
        | Format::Anthropic
        | Format::Langchain => Value::Array(list),
    };
    (value, refused)
}

/// The description, or where a provider insists on one and there is none, the next best thing.
fn description_or_name(source: &Source<'_>, notes: &mut Notes) -> String {
    if !source.description.trim().is_empty() {
        return source.description.to_owned();
    }
    notes.add(Path::ROOT, "the description is the tool's title or name", "this provider wants a description");
    source.title.unwrap_or(source.name).to_owned()
}

#[cfg(test)]
mod meaning_tests;
#[cfg(test)]
mod provider_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
