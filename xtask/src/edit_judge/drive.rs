//! Asks a built `toolpost` by its protocol, in a workspace of its own: one file in one folder for each case.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::claim::Form;
use super::decide::Trial;
use super::ruling::Deed;
use crate::mcp_server::Server;

/// Calls that are under way together.
const TOGETHER: usize = 16;

/// A server is replaced after this many calls, so that what it keeps stays small.
const CALLS: usize = 4_000;

pub(super) struct Subject {
    binary: PathBuf,
    base: PathBuf,
    server: Option<Server>,
    calls: usize,
}

impl Subject {
    pub(super) fn new(binary: &Path) -> Result<Subject> {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let base = folder.join(format!("toolpost-edit-judge-{}", std::process::id()));
        fs::create_dir_all(base.join("work"))?;
        fs::create_dir_all(base.join("home"))?;
        Ok(Subject { binary: binary.to_path_buf(), base, server: None, calls: 0 })
    }

    /// Runs the cases, in groups; the answers are in their order.
    pub(super) fn run(&mut self, trials: &[Trial]) -> Result<Vec<Deed>> {
        let mut deeds = Vec::new();
        for group in trials.chunks(TOGETHER) {
            deeds.extend(self.run_group(group)?);
        }
        Ok(deeds)
    }

    fn run_group(&mut self, group: &[Trial]) -> Result<Vec<Deed>> {
        if self.calls > CALLS {
            self.server = None;
            self.calls = 0;
            fs::remove_dir_all(self.base.join("home"))?;
            fs::create_dir_all(self.base.join("home"))?;
        }
        let work = self.base.join("work");
        for trial in group {
            let path = work.join(&trial.draft.path);
            fs::create_dir_all(path.parent().context("a path without a folder")?)?;
            fs::write(path, &trial.file)?;
        }
        let server = match &mut self.server {
            Some(server) => server,
            none => {
                let flags = ["--policy", "standard"];
                none.insert(Server::start(&self.binary, &flags, &work, &self.base.join("home"))?)
            }
        };
        self.calls += group.len();
        for (index, trial) in group.iter().enumerate() {
            let (tool, arguments) = call(trial);
            server.call(index + 1, tool, &arguments)?;
        }
        let mut deeds: Vec<Option<Deed>> = group.iter().map(|_| None).collect();
        for _ in group {
            let answer = server.answer()?;
            let index = answer.id - 1;
            let path = work.join(&group[index].draft.path);
            let file = found(&path)?;
            deeds[index] = Some(Deed { file, is_error: answer.is_error, message: answer.text });
        }
        for trial in group {
            let path = work.join(&trial.draft.path);
            fs::remove_dir_all(path.parent().context("a path without a folder")?)?;
        }
        deeds.into_iter().map(|deed| deed.context("an answer is missing")).collect()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.server = None;
        // It lies in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// The tool and its arguments.
pub(super) fn call(trial: &Trial) -> (&'static str, Value) {
    let draft = &trial.draft;
    match trial.form {
        Form::Edit => {
            ("edit", json!({ "filePath": draft.path, "oldString": draft.old, "newString": draft.new }))
        }
        _ => ("apply_patch", json!({ "patch": draft.patch })),
    }
}

/// The file as it is now, with a note if others have appeared beside it.
fn found(path: &Path) -> Result<String> {
    let folder = path.parent().context("a path without a folder")?;
    let others =
        fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).find(|other| other != path);
    if let Some(other) = others {
        return Ok(format!("(another file appeared: {})", other.display()));
    }
    let bytes = fs::read(path).unwrap_or_else(|error| format!("(no file any more: {error})").into_bytes());
    Ok(String::from_utf8(bytes).unwrap_or_else(|_| "(no text any more)".to_owned()))
}
