//! Answers that were meant to last: rules in the user's data directory, never in a repository.

#![expect(clippy::disallowed_methods, reason = "configuration lies outside every workspace")]

use super::hash_of_roots;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use toolpost_core::host::{Answers, Scope};
use toolpost_core::policy::{Layer, Rule};
use toolpost_core::text::{LARGEST, Source};
use toolpost_core::{Code, ToolError};
use toolpost_rules::{read_rules, rules_to_toml};

/// The files that answers are kept in.
#[derive(Debug, Clone)]
pub struct AnswerFiles {
    folder: PathBuf,
    workspace: PathBuf,
    user: PathBuf,
    /// Only a session that was named outlives its process.
    session: Option<PathBuf>,
}

impl AnswerFiles {
    /// The files for these roots, and for this session if it was named.
    pub fn new(data_directory: &Path, roots: &[PathBuf], session: Option<&str>) -> AnswerFiles {
        let folder = data_directory.join("answers");
        let session = session.map(|session| {
            let hash = toolpost_core::text::hex(&Sha256::digest(session)[..8]);
            folder.join(format!("session-{hash}.toml"))
        });
        AnswerFiles {
            workspace: folder.join(format!("workspace-{}.toml", hash_of_roots(roots))),
            user: folder.join("user.toml"),
            session,
            folder,
        }
    }

    /// The rules of answers that hold for the session, and of those saved for workspace and user, in this order.
    pub fn load(&self) -> Result<(Vec<Rule>, Vec<Rule>), ToolError> {
        let session = match &self.session {
            Some(path) => load(path, Layer::Session)?,
            None => Vec::new(),
        };
        let mut saved = load(&self.workspace, Layer::Saved)?;
        saved.extend(load(&self.user, Layer::Saved)?);
        Ok((session, saved))
    }

    fn path(&self, scope: Scope) -> Option<&Path> {
        match scope {
            Scope::Once => None,
            Scope::Session => self.session.as_deref(),
            Scope::Project => Some(&self.workspace),
            Scope::User => Some(&self.user),
        }
    }
}

impl Answers for AnswerFiles {
    fn place(&self, scope: Scope) -> Option<String> {
        self.path(scope).map(|path| path.display().to_string())
    }

    fn save(&self, scope: Scope, rules: &[Rule]) -> Result<(), ToolError> {
        let Some(path) = self.path(scope) else { return Ok(()) };
        append(&self.folder, path, rules).map_err(|error| {
            ToolError::new(
                Code::WriteError,
                format!(
                    "the answer could not be kept in `{}`: {error}; answer for once instead",
                    path.display()
                ),
            )
        })
    }
}

fn load(path: &Path, layer: Layer) -> Result<Vec<Rule>, ToolError> {
    let broken = |what: String| {
        ToolError::new(
            Code::ReadError,
            format!("the saved answers cannot be read: {what}; fix or remove `{}`", path.display()),
        )
    };
    let mut bytes = Vec::new();
    match fs::File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(broken(error.to_string())),
        Ok(file) => file
            .take(LARGEST as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| broken(error.to_string()))?,
    };
    let name = path.display().to_string();
    let source = Source::new(&name, &bytes).map_err(|errors| broken(errors.to_string()))?;
    Ok(read_rules(&source, layer, toolpost_tools::names())
        .map_err(|errors| broken(errors.to_string()))?
        .rules)
}

/// Adds rules at the end of a file, whole or not at all, one process at a time.
fn append(folder: &Path, path: &Path, rules: &[Rule]) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let open =
        |path: &Path| fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
    let turn = open(&folder.join("lock"))?;
    turn.lock()?;
    let mut text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            "# answers given to toolpost; edit or remove freely\n".to_owned()
        }
        read => read?,
    };
    text.push_str(&rules_to_toml(rules));
    let draft = path.with_extension("new");
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)
}
