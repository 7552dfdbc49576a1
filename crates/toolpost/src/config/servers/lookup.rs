//! Where servers are described: what is read with the configuration, and what is read when somebody asks for servers.

use super::Servers;
use super::entry::Entry;
use super::expand::Surroundings;
use super::format::Format;
use crate::config::hosts::{Homes, Host};
use crate::config::look::look;
use crate::config::origin::{Layer, Place, Problem};
use crate::config::trust::{State, Trust};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_core::{Disk, Workspace};

/// Where to look, with what is already read.
#[derive(Debug, Clone)]
pub(crate) struct Lookup {
    /// The workspace's, the strongest first.
    pub(crate) project: Vec<Group>,
    /// The user's, likewise.
    pub(crate) user: Vec<Group>,
    pub(crate) problems: Vec<Problem>,
    /// Whose files are read beside our own.
    pub(crate) from: Vec<Host>,
    pub(crate) trust: Trust,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) homes: Homes,
    pub(crate) variables: BTreeMap<String, String>,
}

/// The servers of one file.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) layer: Layer,
    /// As it is shown.
    pub(crate) file: String,
    /// Where the file lies.
    pub(crate) folder: PathBuf,
    /// What the record of trust says of it; the user's own files are trusted.
    pub(crate) state: State,
    pub(crate) entries: Vec<Entry>,
    pub(crate) warnings: Vec<Problem>,
}

impl Lookup {
    /// Reads what is still to be read, and decides about each server.
    pub(crate) fn read(&self) -> Servers {
        let mut servers = Servers { problems: self.problems.clone(), ..Servers::default() };
        let project = self.foreign_of_project(&mut servers.problems);
        let user = self.foreign_of_user(&mut servers.problems);
        let root = self.root();
        let mut taken: BTreeMap<String, Place> = BTreeMap::new();
        for group in self.project.iter().chain(&project).chain(&self.user).chain(&user) {
            servers.warnings.extend(group.warnings.iter().cloned());
            let around = Surroundings {
                variables: &self.variables,
                root: &root,
                home: self.homes.home.as_deref(),
                folder: &group.folder,
            };
            for entry in &group.entries {
                servers.add(group, entry, &around, &mut taken);
            }
        }
        servers
    }

    fn root(&self) -> PathBuf {
        let root = self.roots.first().map(PathBuf::as_path).unwrap_or(Path::new("."));
        root.canonicalize().unwrap_or_else(|_| root.to_path_buf())
    }

    fn foreign_of_project(&self, problems: &mut Vec<Problem>) -> Vec<Group> {
        // `.mcp.json` is read in any case.
        let is_left = |host: &&Host| **host != Host::Claude;
        let files = self
            .from
            .iter()
            .filter(is_left)
            .flat_map(|host| host.project_files().iter().map(|path| (*path, Format::of(*host))));
        let files: Vec<(&str, Format)> = files.collect();
        if files.is_empty() {
            return Vec::new();
        }
        let found = Disk::open(self.roots.iter().cloned()).and_then(|disk| {
            let root = disk.root().to_owned();
            look(&disk, |look| {
                let read = files.iter().map(|(path, format)| (*path, *format, look.read(path)));
                Ok((root, read.collect::<Vec<_>>()))
            })
        });
        let Ok((root, found)) = found else { return Vec::new() };
        let mut groups = Vec::new();
        for (path, format, file) in found {
            match file {
                Ok(None) => {}
                Ok(Some(file)) => {
                    let state = self.trust.state(&root, path, &file.hash);
                    match Group::of_project(format, path, &file.bytes, Path::new(&root), state) {
                        Ok(group) => groups.push(group),
                        Err(wrong) => problems.extend(wrong),
                    }
                }
                Err(error) => problems.push(Problem::of(path, error.message())),
            }
        }
        groups
    }

    fn foreign_of_user(&self, problems: &mut Vec<Problem>) -> Vec<Group> {
        let mut groups = Vec::new();
        for host in &self.from {
            for path in host.user_files(&self.homes) {
                match Group::of_user(Format::of(*host), &path, &self.root()) {
                    Ok(group) => groups.extend(group),
                    Err(wrong) => problems.extend(wrong),
                }
            }
        }
        groups
    }
}
