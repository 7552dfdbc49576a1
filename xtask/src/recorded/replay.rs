//! Asks a built `toolpost` by its protocol: one file, one edit.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::calls::Edit;
use crate::mcp_server::Server;

/// A server is replaced after this many calls, so that what it keeps stays small.
const CALLS: usize = 2_000;

pub(super) struct Replay {
    binary: PathBuf,
    base: PathBuf,
    server: Option<Server>,
    calls: usize,
}

/// What a call left behind.
pub(super) struct Deed {
    pub(super) file: String,
    pub(super) is_error: bool,
    pub(super) message: String,
}

impl Replay {
    pub(super) fn new(binary: &Path) -> Result<Replay> {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let base = folder.join(format!("toolpost-recorded-{}", std::process::id()));
        fs::create_dir_all(base.join("work"))?;
        fs::create_dir_all(base.join("home"))?;
        Ok(Replay { binary: binary.to_path_buf(), base, server: None, calls: 0 })
    }

    pub(super) fn run(&mut self, edit: &Edit, file: &str) -> Result<Deed> {
        if self.calls.is_multiple_of(CALLS) {
            self.server = None;
            fs::remove_dir_all(self.base.join("home"))?;
            fs::create_dir_all(self.base.join("home"))?;
        }
        let work = self.base.join("work");
        let server = match &mut self.server {
            Some(server) => server,
            none => {
                let flags = ["--policy", "standard"];
                none.insert(Server::start(&self.binary, &flags, &work, &self.base.join("home"))?)
            }
        };
        self.calls += 1;
        let name = name(self.calls, &edit.path);
        fs::write(work.join(&name), file)?;
        let arguments = json!({
            "filePath": name, "oldString": edit.old, "newString": edit.new, "replaceAll": edit.replace_all
        });
        server.call(self.calls, "edit", &arguments)?;
        let answer = server.answer()?;
        let file = fs::read_to_string(work.join(&name)).context("the file is gone")?;
        fs::remove_file(work.join(&name))?;
        Ok(Deed { file, is_error: answer.is_error, message: answer.text })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.server = None;
        // It lies in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// A name of its own with the ending of the path: some names are protected, and that is not judged here.
fn name(number: usize, path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("file-{number}.{extension}"),
        _ => format!("file-{number}"),
    }
}
