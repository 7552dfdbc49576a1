//! The workspace files that a started program is given on its command line, each with a fingerprint of its content.
//!
//! Covered are: the program, its arguments, its folder, the values of its variables, and the links on the way to any
//! of these. A word counts as a file where a file of that name exists. What a covered file itself imports or starts is
//! not covered.

mod fingerprint;
mod folders;
mod pieces;

use fingerprint::Fingerprints;
use pieces::Reading;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum number of words and parts of words that are looked at.
const MOST_PIECES: usize = 4_000;
/// Maximum number of workspace folders that one command line names.
const MOST_FOLDERS: usize = 40;

/// The fingerprint of each covered file, by its path: from the first root, or absolute in the others.
pub(crate) type Files = BTreeMap<String, String>;

/// What is started.
#[derive(Debug, Clone)]
pub(crate) struct CommandLine {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// All variables of the child.
    pub(crate) variables: BTreeMap<String, String>,
    /// The folder that it starts in.
    pub(crate) folder: PathBuf,
    /// Files that are read to make up its variables and arguments.
    pub(crate) files: Vec<PathBuf>,
}

/// The files of the workspace that the command line names. The error says why they cannot be covered.
pub(crate) fn cover(line: &CommandLine, roots: &[PathBuf]) -> Result<Files, String> {
    let mut found = Fingerprints::new(roots);
    let folder = found.resolve(&line.folder).unwrap_or_else(|| line.folder.clone());
    let reading = Reading::new(line, &folder)?;
    let pieces: BTreeSet<&str> = reading.pieces.iter().map(String::as_str).collect();
    let mut folders = vec![folder.clone()];
    for piece in &pieces {
        let Some(real) = found.resolve(&folder.join(piece)) else { continue };
        if real.is_dir() && found.is_inside(&real) && !folders.contains(&real) {
            folders.push(real);
        }
    }
    if folders.len() > MOST_FOLDERS {
        return Err(format!(
            "its command line names {} folders of the workspace, and at most {MOST_FOLDERS} can be covered; name fewer",
            folders.len()
        ));
    }
    for folder in &folders {
        for piece in &pieces {
            found.add(&folder.join(piece))?;
        }
        for name in reading.in_folders() {
            found.add(&folder.join(name))?;
        }
    }
    for package in &reading.packages {
        if let Some(real) = found.resolve(&folder.join(package)).filter(|real| real.is_dir()) {
            for name in folders::entry_files(&real) {
                found.add(&real.join(name))?;
            }
        }
    }
    for place in reading.programs().chain(line.files.iter().cloned()) {
        found.add(&place)?;
    }
    Ok(found.files)
}

/// A path as it is shown and recorded.
fn shown(path: &Path, roots: &[PathBuf]) -> Result<String, String> {
    let inside = roots.first().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    match inside.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!(
            "`{}` has a name that is not UTF-8, so it cannot be covered; rename it",
            path.display()
        )),
    }
}
