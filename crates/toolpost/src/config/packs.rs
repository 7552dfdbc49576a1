//! The packs in files that there are: the workspace's and the user's. Reading one runs nothing.
//!
//! A workspace's file can be used once its very content is trusted, or if it is named by its path on the command line.

#![expect(clippy::disallowed_methods, reason = "the user's own packs lie outside every workspace")]

use super::Config;
use super::look::{Look, look};
use super::private;
use super::trust::State;
use std::path::{Path, PathBuf};
use toolpost_core::pack::Manifest;
use toolpost_core::text::LARGEST;
use toolpost_core::{Code, ToolError, Workspace};

/// The folders of a workspace that have packs, the strongest first.
const FOLDERS: [&str; 2] = [".toolpost/packs", "toolpacks"];

/// Maximum number of files of the user's folder that are looked at.
const MOST_FILES: usize = 200;

/// A pack in a file.
#[derive(Debug, Clone)]
pub(crate) struct FoundPack {
    /// From the root of the workspace, or the whole path of a file of the user's.
    pub(crate) path: String,
    /// Whether it may be used.
    pub(crate) state: State,
    /// What the file says.
    pub(crate) manifest: Manifest,
}

/// What was found, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct FoundPacks {
    /// The strongest first: those of the workspace, then the user's.
    pub(crate) packs: Vec<FoundPack>,
    /// Each with its place and the reason.
    pub(crate) broken: Vec<String>,
}

impl FoundPacks {
    fn add(&mut self, path: &str, bytes: &[u8], state: State) {
        match Manifest::parse(path, bytes) {
            Ok(file) => self.packs.push(FoundPack { path: path.to_owned(), state, manifest: file.manifest }),
            Err(errors) => self.broken.extend(errors.all().iter().map(ToString::to_string)),
        }
    }

    fn refuse(&mut self, path: &str, why: &str) {
        self.broken.push(format!("{path} {why}"));
    }
}

impl Config {
    /// Every pack in a file that there is.
    pub(crate) fn packs_in_files(&self) -> FoundPacks {
        let mut found = FoundPacks::default();
        if let (Ok(disk), None) = (&self.workspace, &self.virtual_session) {
            let looked = look(disk, |look| {
                for folder in FOLDERS {
                    self.packs_of_workspace(look, disk.root(), folder, &mut found);
                }
                Ok(())
            });
            if let Err(error) = looked {
                found.refuse(".", error.message());
            }
        }
        if let Some(folder) = self.layers.directory() {
            of_user(&folder.join("packs"), &mut found);
        }
        found
    }

    fn packs_of_workspace(&self, look: &Look<'_>, root: &str, folder: &str, found: &mut FoundPacks) {
        let files = look.files(folder, 0);
        files.refused.iter().for_each(|(path, why)| found.refuse(path, why));
        for path in files.paths.iter().filter(|path| is_manifest(path)) {
            match look.read(path) {
                Ok(None) => {}
                Ok(Some(file)) => {
                    found.add(path, &file.bytes, self.layers.trust.state(root, path, &file.hash));
                }
                Err(error) => found.refuse(path, error.message()),
            }
        }
    }

    /// The pack in a file that is named on the command line; that is consent for this run.
    pub(crate) fn pack_in_file(&self, word: &str) -> Result<FoundPack, ToolError> {
        let refused = |code: Code, why: String| Err(ToolError::new(code, why));
        match private::read(&self.cwd.join(word), LARGEST) {
            Ok(Some(file)) => match Manifest::parse(word, &file.bytes) {
                Ok(read) => {
                    let (path, state) = (word.to_owned(), State::Trusted);
                    Ok(FoundPack { path, state, manifest: read.manifest })
                }
                Err(errors) => refused(Code::ValidationError, errors.to_string()),
            },
            Ok(None) => refused(
                Code::FileNotFound,
                format!("the pack `{word}` does not exist; `toolpost packs` lists the packs there are"),
            ),
            Err(why) => refused(Code::ValidationError, format!("the pack `{word}` {why}")),
        }
    }
}

/// Whether a file of such a folder is a pack.
pub(super) fn is_manifest(path: &str) -> bool {
    path.ends_with(".json")
}

/// The files of the user's folder; those that everybody may change are refused.
fn of_user(folder: &Path, found: &mut FoundPacks) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).take(MOST_FILES).collect();
    paths.sort();
    for path in paths {
        let name = path.to_string_lossy().into_owned();
        if !is_manifest(&name) {
            continue;
        }
        match private::read(&path, LARGEST) {
            Ok(None) => {}
            Ok(Some(file)) if file.is_open_to_all => {
                found.refuse(&name, "can be changed by everybody; run `chmod go-w` on it");
            }
            Ok(Some(file)) => found.add(&name, &file.bytes, State::Trusted),
            Err(why) => found.refuse(&name, &why),
        }
    }
}
