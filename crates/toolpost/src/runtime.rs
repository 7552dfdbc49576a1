//! One engine from its parts: registry, executor, context.

use crate::config::Config;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_core::{
    Code, Context, Disk, EventSink, Executor, Locks, Registry, Services, Spill, SpillLimits, Texts,
    ToolError, Workspace,
};

/// Everything that a way in needs to run tools.
pub struct Runtime {
    /// Runs tools.
    pub executor: Executor,
    /// The session that calls belong to.
    pub context: Context,
    /// Fires to end every call.
    pub cancel: CancellationToken,
    /// Descriptions that were given for tools that do not exist.
    pub stray_descriptions: Vec<String>,
}

impl Runtime {
    /// Opens the workspace and registers the built-in tools.
    pub fn open(config: &Config, events: Arc<dyn EventSink>) -> Result<Runtime, ToolError> {
        let workspace = workspace(config)?;
        let texts =
            config.descriptions.iter().fold(
                Texts::new(workspace.as_ref(), &config.cwd.to_string_lossy()),
                |texts, (tool, text)| texts.with_override(tool, text),
            );
        let registry = Arc::new(Registry::with_texts(texts));
        // No services yet: what needs one appears with it.
        toolpost_tools::register_default(&registry, &Services::default())?;
        let cancel = CancellationToken::new();
        let mut context = Context::builder(workspace)
            .session(&config.session)
            .dialect(config.dialect.clone())
            .cwd(config.cwd.to_string_lossy())
            .events(events)
            .redactor(config.redactor.clone())
            .cancel(cancel.clone());
        if let Some(data) = &config.data_directory {
            context = context.spill(Arc::new(Spill::new(data.join("spill"), SpillLimits::default())));
        }
        let stray_descriptions =
            config.descriptions.keys().filter(|tool| !registry.has(tool)).cloned().collect();
        Ok(Runtime {
            executor: Executor::new(registry, config.policy.clone()),
            context: context.build(),
            cancel,
            stray_descriptions,
        })
    }
}

fn workspace(config: &Config) -> Result<Arc<dyn Workspace>, ToolError> {
    let disk = Disk::open(config.roots.iter().cloned())?;
    Ok(Arc::new(match &config.data_directory {
        Some(data) => disk.with_locks(Locks::new(data.join("locks"))),
        None => disk,
    }))
}

/// The threads that calls run on.
pub(crate) fn threads() -> Result<tokio::runtime::Runtime, ToolError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        ToolError::new(Code::ExecutionError, format!("no threads could be started: {error}"))
    })
}
