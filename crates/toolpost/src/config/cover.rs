//! The workspace files that a started program is given on its command line, each with a fingerprint of its content.
//!
//! Covered are: the program, its arguments, its folder, the values of its variables, and the links on the way to any
//! of these. A word counts as a file where a file of that name exists. What a covered file itself imports or starts is
//! not covered.

mod fingerprint;
mod folders;
mod languages;
mod pieces;
mod shell;

use fingerprint::Fingerprints;
use pieces::Reading;
pub(crate) use pieces::Unreadable;
use std::collections::BTreeMap;
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
pub(crate) fn cover(line: &CommandLine, roots: &[PathBuf], unreadable: Unreadable) -> Result<Files, String> {
    let mut found = Fingerprints::new(roots);
    let folder = found.resolve(&line.folder).unwrap_or_else(|| line.folder.clone());
    let mut reading = Reading::new(line, &folder, unreadable)?;
    let mut folders = named_folders(&reading, &folder, &mut found)?;
    while reading.runs_scripts() {
        let mut has_more = false;
        for folder in folders.iter().flat_map(|folder| folder.ancestors()) {
            if found.is_inside(folder) {
                has_more |= reading.read_scripts(&folders::scripts(folder))?;
            }
        }
        folders = named_folders(&reading, &folder, &mut found)?;
        if !has_more {
            break;
        }
    }
    if reading.runs_python_project() {
        for folder in folders.iter().flat_map(|folder| folder.ancestors()) {
            if found.is_inside(folder) {
                reading.read_objects(&folders::python_programs(folder));
            }
        }
    }
    for folder in &folders {
        if reading.looks_for_projects() {
            for name in folders::names(folder)?.iter().filter(|name| reading.is_project(name)) {
                found.add(&folder.join(name))?;
            }
        }
        for piece in &reading.pieces {
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

/// The program's folder, and those of the workspace that its words name from there, from each other too
/// (`cd a; cd b`).
fn named_folders(
    reading: &Reading<'_>,
    folder: &Path,
    found: &mut Fingerprints<'_>,
) -> Result<Vec<PathBuf>, String> {
    let mut folders = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(from) = folders.get(at).cloned() {
        for piece in &reading.pieces {
            let Some(real) = found.resolve(&from.join(piece)) else { continue };
            if real.is_dir() && found.is_inside(&real) && !folders.contains(&real) {
                folders.push(real);
            }
        }
        if folders.len() > MOST_FOLDERS {
            return Err(format!(
                "its command line names more than {MOST_FOLDERS} folders of the workspace, which cannot all be covered; \
                 name fewer"
            ));
        }
        at += 1;
    }
    Ok(folders)
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
