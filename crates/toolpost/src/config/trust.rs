//! What the user trusts: hashes of files, by workspace, in the user's data directory.
//!
//! Trust is in a content. What changed by one byte is not trusted, whoever changed it.

use super::origin::Problem;
use super::private;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use toolpost_core::{Code, ToolError};

/// Thousands of workspaces fit.
const LARGEST: usize = 8 << 20;

/// The user's record of trust.
#[derive(Debug, Clone)]
pub(crate) struct Trust {
    path: Option<PathBuf>,
    record: Record,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    /// By the canonical path of the workspace's root: file from there, hash of its content.
    workspaces: BTreeMap<String, BTreeMap<String, String>>,
}

/// How the record stands to a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// This very content is trusted.
    Trusted,
    /// Nothing is known of it.
    Waiting,
    /// Another content of the file was trusted.
    Changed,
}

impl Trust {
    /// Nothing is trusted.
    pub(crate) fn none() -> Trust {
        Trust { path: None, record: Record::default() }
    }

    /// Reads the record. One that cannot be believed is a problem, and trusts nothing.
    pub(crate) fn read(data_directory: Option<&Path>) -> Result<Trust, Problem> {
        let Some(path) = data_directory.map(|folder| folder.join("trust.json")) else {
            return Ok(Trust::none());
        };
        let problem = |message: String| Problem::of(path.to_string_lossy(), message);
        let record = read(&path).map_err(problem)?;
        Ok(Trust { path: Some(path), record })
    }

    pub(crate) fn state(&self, root: &str, file: &str, hash: &str) -> State {
        match self.record.workspaces.get(root).and_then(|files| files.get(file)) {
            Some(known) if known == hash => State::Trusted,
            Some(_) => State::Changed,
            None => State::Waiting,
        }
    }

    /// The trusted files of a workspace, whether they still exist or not.
    pub(crate) fn files(&self, root: &str) -> impl Iterator<Item = &str> {
        self.record.workspaces.get(root).into_iter().flatten().map(|(file, _)| file.as_str())
    }

    /// Records hashes of files: exactly these, whatever the files hold by now.
    pub(crate) fn record(&mut self, root: &str, files: &[(String, String)]) -> Result<(), ToolError> {
        self.change(|record| {
            record.workspaces.entry(root.to_owned()).or_default().extend(files.iter().cloned());
        })
    }

    /// Forgets one file of a workspace, or all. Says which were known.
    pub(crate) fn revoke(&mut self, root: &str, file: Option<&str>) -> Result<Vec<String>, ToolError> {
        let known: Vec<String> = self
            .files(root)
            .filter(|known| file.is_none_or(|file| file == *known))
            .map(str::to_owned)
            .collect();
        if known.is_empty() {
            return Ok(known);
        }
        self.change(|record| {
            if let Some(files) = record.workspaces.get_mut(root) {
                files.retain(|name, _| !known.contains(name));
            }
            record.workspaces.retain(|_, files| !files.is_empty());
        })?;
        Ok(known)
    }

    /// Changes what is on disk now, which another process may have changed since it was read.
    fn change(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), ToolError> {
        let Some(path) = self.path.clone() else {
            return Err(ToolError::new(
                Code::WriteError,
                "there is no place to record trust; set HOME or XDG_DATA_HOME to a folder of yours",
            ));
        };
        let record = private::locked(&path, || {
            let mut record = read(&path).map_err(io::Error::other)?;
            change(&mut record);
            let text = serde_json::to_vec_pretty(&record).map_err(io::Error::other)?;
            private::replace(&path, &text)?;
            Ok(record)
        });
        self.record = record.map_err(|error| {
            let shown = path.display();
            ToolError::new(Code::WriteError, format!("`{shown}` cannot be written: {error}"))
        })?;
        Ok(())
    }
}

fn read(path: &Path) -> Result<Record, String> {
    let Some(file) = private::read(path, LARGEST)? else { return Ok(Record::default()) };
    if file.is_open_to_others {
        return Err(format!(
            "can be changed by others, so nothing in it is believed; look through it and run `chmod 600 {}`",
            path.display()
        ));
    }
    // Of a list serde would take the missing fields for their defaults; only an object is a record.
    let object = serde_json::from_slice::<Map<String, Value>>(&file.bytes);
    object.and_then(|object| serde_json::from_value(Value::Object(object))).map_err(|error| {
        format!("is damaged ({error}), so nothing is trusted; remove it and run `toolpost trust` again")
    })
}
