//! One registered tool: its definition, its compiled schema, and whether it has been made ready.

use crate::capability::Capabilities;
use crate::error::{Code, ToolError};
use crate::tool::{Amendment, AnyTool, Definition, Setting, Spec, Texts};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Mutex;
use toolpost_schema::Schema;

/// A tool as the registry holds it.
pub struct Entry {
    tool: Arc<dyn AnyTool>,
    name: Arc<str>,
    spec: Spec,
    texts: Arc<Texts>,
    /// Made from the type, when first asked for.
    declared: OnceLock<Result<Arc<Prepared>, ToolError>>,
    /// Made by `init`; until that has worked once, empty.
    ready: OnceLock<Arc<Prepared>>,
    /// The turn to run `init`, with how the last attempt failed.
    turn: Mutex<Option<ToolError>>,
    failures: AtomicU64,
    /// Set once the tool has let go of what it held; there is no way back.
    is_shut_down: AtomicBool,
}

/// A definition with its schema compiled.
#[derive(Debug)]
pub struct Prepared {
    /// What the tool is.
    pub definition: Definition,
    /// Its argument schema.
    pub schema: Schema,
}

impl Entry {
    pub(crate) fn new(tool: Arc<dyn AnyTool>, texts: Arc<Texts>) -> Result<Entry, ToolError> {
        let spec = tool.spec();
        check_name(&spec.name)?;
        if let Err(error) = semver::Version::parse(&spec.version) {
            return Err(ToolError::execution(format!(
                "tool `{}` has version `{}`, which is not a semantic version ({error}); write it as 1.0.0",
                spec.name, spec.version
            )));
        }
        Ok(Entry::of(tool, spec, texts))
    }

    fn of(tool: Arc<dyn AnyTool>, spec: Spec, texts: Arc<Texts>) -> Entry {
        Entry {
            tool,
            name: spec.name.as_str().into(),
            spec,
            texts,
            declared: OnceLock::new(),
            ready: OnceLock::new(),
            turn: Mutex::new(None),
            failures: AtomicU64::new(0),
            is_shut_down: AtomicBool::new(false),
        }
    }

    /// The same tool, not made ready.
    pub(super) fn anew(&self) -> Entry {
        Entry::of(self.tool.clone(), self.spec.clone(), self.texts.clone())
    }

    /// The canonical name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Everything about the tool but its schemas, as its author wrote it.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// All that the model could cause through the tool.
    pub fn capabilities(&self) -> Capabilities {
        self.spec.required.union(self.spec.optional)
    }

    pub(crate) fn tool(&self) -> &Arc<dyn AnyTool> {
        &self.tool
    }

    /// The definition as it stands: amended if `init` has run, otherwise as declared. Fails if the tool's schema is not valid.
    pub fn prepared(&self) -> Result<&Arc<Prepared>, ToolError> {
        match self.ready.get() {
            Some(prepared) => Ok(prepared),
            None => self.declared().as_ref().map_err(Clone::clone),
        }
    }

    /// Refuses a tool whose schema is not valid. What is compiled here is kept for the calls.
    pub(super) fn check_schema(&self) -> Result<(), ToolError> {
        let fits = self.declared().as_ref().map_err(Clone::clone);
        fits.and_then(|prepared| check_takes_object(prepared.schema.value())).map_err(|error| {
            let message = format!("the tool `{}` cannot be registered: {}", self.name(), error.message());
            error.with_message(message)
        })
    }

    /// Whether the tool has been made ready, and not been shut down since.
    pub fn is_ready(&self) -> bool {
        self.ready.get().is_some() && !self.is_shut_down.load(Ordering::Acquire)
    }

    /// Makes the tool ready, once, however many callers ask at the same time. Says whether this caller did it.
    ///
    /// A failure is shared by all who waited for the attempt; only who comes later tries again.
    pub(crate) async fn ready(
        &self,
        setting: &Setting,
        limit: Duration,
    ) -> Result<(&Arc<Prepared>, bool), ToolError> {
        if self.is_shut_down.load(Ordering::Acquire) {
            return Err(ToolError::new(
                Code::InitFailed,
                format!("tool `{}` was shut down; register it again to use it", self.name()),
            ));
        }
        if let Some(prepared) = self.ready.get() {
            return Ok((prepared, false));
        }
        let failures = self.failures.load(Ordering::Acquire);
        let mut last = self.turn.lock().await;
        if let Some(prepared) = self.ready.get() {
            return Ok((prepared, false));
        }
        if let Some(error) = last.as_ref()
            && self.failures.load(Ordering::Acquire) != failures
        {
            return Err(error.clone());
        }
        match self.initialize(setting, limit).await {
            Ok(prepared) => Ok((self.ready.get_or_init(|| prepared), true)),
            Err(error) => {
                *last = Some(error.clone());
                self.failures.fetch_add(1, Ordering::Release);
                Err(error)
            }
        }
    }

    async fn initialize(&self, setting: &Setting, limit: Duration) -> Result<Arc<Prepared>, ToolError> {
        let declared = self.declared().as_ref().map_err(|error| self.init_failed(error.message()))?;
        let (tool, setting) = (self.tool.clone(), setting.clone());
        // In a task of its own: a panic or a blocked thread in `init` must not take the caller along.
        let mut task = AbortOnDrop(tokio::spawn(async move { tool.init(&setting).await }));
        let amendment = match tokio::time::timeout(limit, &mut task.0).await {
            Ok(Ok(Ok(amendment))) => amendment,
            Ok(Ok(Err(error))) => return Err(self.init_failed(error.message())),
            Ok(Err(error)) => return Err(self.init_failed(&crate::executor::panic_message(error))),
            Err(_) => {
                return Err(self.init_failed(&format!("it was not ready after {} ms", limit.as_millis())));
            }
        };
        match amendment {
            Some(amendment) => self.amended(&declared.definition, amendment),
            None => Ok(declared.clone()),
        }
    }

    fn declared(&self) -> &Result<Arc<Prepared>, ToolError> {
        self.declared.get_or_init(|| {
            // The schema comes from the author's types, and their code may crash like any other of the tool.
            let definition = catch_unwind(AssertUnwindSafe(|| self.tool.definition()));
            let mut definition = definition.map_err(|payload| {
                let why = crate::executor::payload_message(&*payload);
                ToolError::new(Code::Panic, format!("the definition of `{}` crashed: {why}", self.name()))
            })?;
            self.texts.apply(&mut definition);
            prepare(definition)
        })
    }

    fn amended(&self, declared: &Definition, amendment: Amendment) -> Result<Arc<Prepared>, ToolError> {
        let mut definition = declared.clone();
        if let Some(description) = amendment.description {
            definition.spec.description = description;
            self.texts.apply(&mut definition);
        }
        if let Some(input) = amendment.input {
            definition.input = input;
        }
        prepare(definition).map_err(|error| self.init_failed(error.message()))
    }

    fn init_failed(&self, why: &str) -> ToolError {
        ToolError::new(
            Code::InitFailed,
            format!("tool `{}` could not be made ready: {why}; the next call tries again", self.name()),
        )
    }

    /// Shuts the tool down if it was made ready. Whether it ended in time.
    pub(crate) async fn shutdown(&self, limit: Duration) -> bool {
        if self.ready.get().is_none() || self.is_shut_down.swap(true, Ordering::AcqRel) {
            return true;
        }
        let tool = self.tool.clone();
        let mut task = AbortOnDrop(tokio::spawn(async move { tool.shutdown().await }));
        matches!(tokio::time::timeout(limit, &mut task.0).await, Ok(Ok(())))
    }
}

fn prepare(definition: Definition) -> Result<Arc<Prepared>, ToolError> {
    let schema = Schema::compile(definition.input.clone())?;
    Ok(Arc::new(Prepared { definition, schema }))
}

/// Refuses a schema that no arguments can fit.
fn check_takes_object(schema: &Value) -> Result<(), ToolError> {
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let taken = match (schema, types.is_empty() || types.contains(&"object")) {
        (Value::Bool(false), _) => "nothing".to_owned(),
        (_, true) => return Ok(()),
        _ => format!("only `{}`", types.join("` or `")),
    };
    let message = format!("arguments are always an object, and the schema takes {taken}");
    Err(ToolError::new(Code::ValidationError, message))
}

fn check_name(name: &str) -> Result<(), ToolError> {
    let is_fine = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_fine {
        return Ok(());
    }
    Err(ToolError::execution(format!(
        "`{name}` cannot name a tool: model providers take 1 to 64 letters, digits, `_` and `-`"
    )))
}

/// A task that ends with its owner.
pub(crate) struct AbortOnDrop<T>(pub(crate) tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
