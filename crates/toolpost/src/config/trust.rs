//! What the user trusts: hashes of files, by workspace, in the user's data directory.
//!
//! Trust applies to the exact content. If one byte changes, it is not trusted, whoever changed it. Trust in a file that starts
//! something is also in the files of the workspace that this is started with; see `cover.rs`.

use super::cover::Files;
use super::origin::Problem;
use super::private;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
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
    /// By workspace, by the file that starts something, by what it starts: the files that are started with it.
    covers: BTreeMap<String, BTreeMap<String, Covers>>,
}

/// The covered files of everything that one file starts, by the name of what is started.
pub(crate) type Covers = BTreeMap<String, Files>;

/// A file that is not what was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// As it is recorded.
    pub(crate) path: String,
    pub(crate) kind: DifferenceKind,
}

/// How a covered file differs from what was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DifferenceKind {
    /// Nothing that is started here was trusted before.
    Unknown,
    Changed,
    Appeared,
    Gone,
}

impl Difference {
    /// The difference as a sentence that says what to do.
    pub(crate) fn sentence(&self) -> String {
        let path = &self.path;
        match self.kind {
            DifferenceKind::Unknown => {
                format!(
                    "it is started with `{path}`, which you have not trusted yet; look at that file and run `toolpost trust`"
                )
            }
            DifferenceKind::Changed => {
                format!(
                    "`{path}`, which it is started with, has changed since you trusted it; look at it and run `toolpost trust`"
                )
            }
            DifferenceKind::Appeared => {
                format!(
                    "`{path}`, which it is started with, is new since you trusted it; look at it and run `toolpost trust`"
                )
            }
            DifferenceKind::Gone => {
                format!(
                    "`{path}`, which it was started with when you trusted it, is gone; put it back, or run `toolpost trust`"
                )
            }
        }
    }
}

/// A file that the user has agreed to.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    pub(crate) path: String,
    /// The hash of its content; none for a file of the user's own.
    pub(crate) hash: Option<String>,
    /// What is started by it, with the files of that.
    pub(crate) covers: Covers,
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

    /// How the covered files of something that `file` starts differ from what was trusted; the first difference.
    pub(crate) fn difference(
        &self,
        root: &str,
        file: &str,
        started: &str,
        now: &Files,
    ) -> Option<Difference> {
        let covers = self.record.covers.get(root).and_then(|files| files.get(file));
        let known = covers.and_then(|covers| covers.get(started));
        let different = |path: &String, kind| Some(Difference { path: path.clone(), kind });
        let Some(known) = known else {
            return now.keys().next().and_then(|path| different(path, DifferenceKind::Unknown));
        };
        let changed =
            now.iter().find(|(path, print)| known.get(*path).is_some_and(|trusted| trusted != *print));
        if let Some((path, _)) = changed {
            return different(path, DifferenceKind::Changed);
        }
        // One that is still there and is not named this time is not started: the environment differs, as between an
        // editor and a terminal.
        let is_gone = |path: &&String| {
            let place = Path::new(root).join(path);
            !now.contains_key(*path) && !place.exists() && !place.is_symlink()
        };
        if let Some(path) = known.keys().find(is_gone) {
            return different(path, DifferenceKind::Gone);
        }
        let appeared = now.keys().find(|path| !known.contains_key(*path));
        appeared.and_then(|path| different(path, DifferenceKind::Appeared))
    }

    /// The record as it is on disk now.
    pub(crate) fn again(&self) -> Result<Trust, String> {
        match &self.path {
            Some(path) => Ok(Trust { path: Some(path.clone()), record: read(path)? }),
            None => Ok(self.clone()),
        }
    }

    /// The trusted files of a workspace, whether they still exist or not.
    pub(crate) fn files(&self, root: &str) -> impl Iterator<Item = &str> {
        let own = self.record.workspaces.get(root).into_iter().flat_map(BTreeMap::keys);
        let starting = self.record.covers.get(root).into_iter().flat_map(BTreeMap::keys);
        own.chain(starting).map(String::as_str).collect::<BTreeSet<_>>().into_iter()
    }

    /// Records hashes of files, and what is started by them: exactly these, whatever the files hold by now. A file of
    /// the user's own needs no hash.
    pub(crate) fn record(&mut self, root: &str, files: &[Trusted]) -> Result<(), ToolError> {
        self.change(|record| {
            for Trusted { path, hash, covers } in files {
                if let Some(hash) = hash {
                    record.workspaces.entry(root.to_owned()).or_default().insert(path.clone(), hash.clone());
                }
                let known = record.covers.entry(root.to_owned()).or_default();
                known.remove(path);
                if !covers.is_empty() {
                    known.insert(path.clone(), covers.clone());
                }
            }
            record.covers.retain(|_, files| !files.is_empty());
        })
    }

    /// Forgets one file of a workspace, or all. Says which were known.
    pub(crate) fn revoke(&mut self, root: &str, file: Option<&str>) -> Result<Vec<String>, ToolError> {
        let is_meant = |known: &&str| file.is_none_or(|file| file == *known);
        let known: Vec<String> = self.files(root).filter(is_meant).map(str::to_owned).collect();
        if known.is_empty() {
            return Ok(known);
        }
        self.change(|record| {
            if let Some(files) = record.workspaces.get_mut(root) {
                files.retain(|name, _| !known.contains(name));
            }
            record.workspaces.retain(|_, files| !files.is_empty());
            if let Some(files) = record.covers.get_mut(root) {
                files.retain(|name, _| !known.contains(name));
            }
            record.covers.retain(|_, files| !files.is_empty());
        })?;
        Ok(known)
    }

    /// Changes what is on disk now, which another process may have changed since it was read.
    fn change(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), ToolError> {
        let Some(path) = self.path.clone() else {
            return Err(ToolError::new(
                Code::WriteError,
                "trust cannot be recorded; set HOME or XDG_DATA_HOME to a folder of yours",
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
