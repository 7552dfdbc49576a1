//! What flags, environment and files mean together. Nothing below knows where a value came from.

pub mod answers;
mod descriptions;
pub mod env;
pub(crate) mod foreign;

use crate::cli::Flags;
use env::Environment;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolpost_core::policy::{Layer, Policy, Profile};
use toolpost_core::{Code, Dialect, Redactor, ToolError};

/// Everything a runtime is made from.
#[derive(Debug)]
pub struct Config {
    /// The folders that tools act in, the root first.
    pub roots: Vec<PathBuf>,
    /// The folder the process stands in.
    pub cwd: PathBuf,
    /// What may happen.
    pub policy: Policy,
    /// The names and arguments in which tools are offered.
    pub dialect: Arc<Dialect>,
    /// The session that calls belong to.
    pub session: String,
    /// Whether the session was named, so that it outlives the process.
    pub is_session_named: bool,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where locks and outputs are kept, if the user has such a place.
    pub data_directory: Option<PathBuf>,
    /// Descriptions that replace the built-in ones.
    pub descriptions: BTreeMap<String, String>,
    /// The secrets to take out of everything.
    pub redactor: Redactor,
}

impl Config {
    /// Resolves flags over environment over defaults.
    pub fn resolve(flags: &Flags, environment: Environment) -> Result<Config, ToolError> {
        let cwd = environment.cwd.clone().ok_or_else(|| {
            ToolError::new(Code::FileNotFound, "the current folder is gone; change to one that exists")
        })?;
        let roots = roots(flags, &environment, &cwd);
        let profile = Policy::profile(flags.policy.unwrap_or(Profile::Standard));
        let policy = flags
            .allow
            .iter()
            .fold(profile, |policy, capability| policy.allow(*capability))
            .with_rules(Layer::Flags, flags.allow_rule.clone());
        let descriptions = match (&flags.descriptions, &environment.config_directory) {
            (Some(folder), _) => descriptions::read(folder)?,
            (None, Some(folder)) => descriptions::read_if_there(&folder.join("descriptions"))?,
            (None, None) => BTreeMap::new(),
        };
        Ok(Config {
            is_session_named: flags.session.is_some(),
            home: environment.home,
            session: flags.session.clone().unwrap_or_else(|| default_session(&roots)),
            roots,
            cwd,
            policy,
            dialect: flags.dialect.clone().unwrap_or_else(Dialect::canonical),
            data_directory: environment.data_directory,
            descriptions,
            redactor: Redactor::new(environment.secrets),
        })
    }
}

fn roots(flags: &Flags, environment: &Environment, cwd: &Path) -> Vec<PathBuf> {
    if !flags.workspace.is_empty() {
        return flags.workspace.iter().map(|root| cwd.join(root)).collect();
    }
    match &environment.workspace_root {
        Some(root) => vec![cwd.join(root)],
        None => vec![enclosing_repository(cwd).unwrap_or(cwd).to_path_buf()],
    }
}

/// The nearest folder upwards that git manages.
fn enclosing_repository(from: &Path) -> Option<&Path> {
    from.ancestors().find(|folder| folder.join(".git").exists())
}

/// The session of a workspace where none is named: the same for every call in it.
fn default_session(roots: &[PathBuf]) -> String {
    format!("workspace-{}", hash_of_roots(roots))
}

/// A name for a workspace that files can have.
fn hash_of_roots(roots: &[PathBuf]) -> String {
    let mut hash = Sha256::new();
    for root in roots {
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        hash.update(root.as_os_str().as_encoded_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
