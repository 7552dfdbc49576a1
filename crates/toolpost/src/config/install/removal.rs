//! Taking the entry for `toolpost mcp` out of the configuration of another program: the file as it was before `install`,
//! or without our entry where it has been changed since.

use super::record::{Earlier, Records};
use super::{NAME, Place, Scope, in_project, of_user, toml};
use crate::cli::Flags;
use crate::config::env::Environment;
use crate::config::hosts::Host;
use crate::config::jsonc::edit;
use crate::config::look::look;
use crate::config::private;
use crate::config::servers::LARGEST_OF_USER;
use serde::Serialize;
use std::path::PathBuf;
use toolpost_core::text::Source;
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};

/// What is to be done to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Undo {
    /// It is as it was before `install`.
    Restore,
    /// It did not exist before `install`.
    Delete,
    /// It was changed since; only our entry goes.
    Remove,
    /// There is no entry of ours.
    Nothing,
}

/// A removal, thought through and not yet done.
pub(crate) struct Removal {
    pub(crate) action: Undo,
    /// The file as it is shown.
    pub(crate) path: PathBuf,
    place: Place,
    before: Vec<u8>,
    /// The file after it; none where it goes.
    after: Option<Vec<u8>>,
    folders: Vec<String>,
    records: Records,
}

impl Removal {
    /// Reads the file and works out what it would be; changes nothing.
    pub(crate) fn make(
        host: Host,
        scope: Scope,
        flags: &Flags,
        environment: &Environment,
    ) -> Result<Removal, ToolError> {
        let cwd = crate::config::cwd(environment)?;
        let (path, place, before) = match scope {
            Scope::Project => {
                let roots = crate::config::roots(flags, environment, &cwd);
                in_project(host, crate::config::open_disk(roots)?)?
            }
            Scope::User => of_user(host, environment)?,
        };
        let mut records = Records::read(environment)?;
        let Some(before) = before else {
            return Ok(Removal::nothing(path, place, Vec::new(), records));
        };
        if let Some(Earlier { bytes, folders }) = records.take(&place.file(), &before) {
            let action = if bytes.is_some() { Undo::Restore } else { Undo::Delete };
            return Ok(Removal { action, path, place, before, after: bytes, folders, records });
        }
        let shown = path.display().to_string();
        let by_hand = |what: &str| {
            let message =
                format!("{what}; nothing was changed: fix it, or take the entry `{NAME}` out by hand");
            ToolError::new(Code::ValidationError, message)
        };
        let source =
            Source::within(&shown, &before, LARGEST_OF_USER).map_err(|wrong| by_hand(&wrong.to_string()))?;
        let without = match host {
            Host::Codex => toml::remove(source.text(), host.table(), NAME),
            _ => edit::remove(source.text(), &[host.table(), NAME]),
        };
        let without =
            without.map_err(|wrong| by_hand(&source.located(wrong.at, wrong.message).to_string()))?;
        let Some(text) = without else { return Ok(Removal::nothing(path, place, before, records)) };
        let mark = &before[..before.len() - source.text().len()];
        let after = Some([mark, text.as_bytes()].concat());
        Ok(Removal { action: Undo::Remove, path, place, before, after, folders: Vec::new(), records })
    }

    fn nothing(path: PathBuf, place: Place, before: Vec<u8>, records: Records) -> Removal {
        Removal { action: Undo::Nothing, path, place, before, after: None, folders: Vec::new(), records }
    }

    /// Does it.
    pub(crate) fn carry_out(&self) -> Result<(), ToolError> {
        if self.action == Undo::Nothing {
            return Ok(());
        }
        let shown = self.path.display();
        let failed = |why: &str| ToolError::new(Code::WriteError, format!("`{shown}` {why}"));
        let named =
            |error: ToolError| ToolError::new(error.code(), format!("`{shown}`: {}", error.message()));
        match (&self.place, &self.after) {
            (Place::Workspace(disk, path), Some(after)) => {
                look(disk, |look| look.exchange(path, Some(&self.before), after)).map_err(named)?;
            }
            (Place::Workspace(disk, path), None) => {
                look(disk, |look| look.remove(path, &self.before)).map_err(named)?;
                for folder in &self.folders {
                    // One that holds something else by now stays.
                    let _ = disk.remove(&WorkspacePath::new(folder.as_str()));
                }
            }
            (Place::Outside(path), Some(after)) => {
                private::exchange(path, Some(&self.before), after).map_err(|why| failed(&why))?;
            }
            (Place::Outside(path), None) => {
                private::remove(path, &self.before, &self.folders).map_err(|why| failed(&why))?;
            }
        }
        // What is left there by mistake fits no file any more.
        let _ = self.records.keep();
        Ok(())
    }
}
