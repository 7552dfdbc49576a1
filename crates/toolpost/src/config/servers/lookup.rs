//! Where servers are described: what is read with the configuration, and what is read when somebody asks for servers.

use super::Servers;
use super::entry::Entry;
use super::expand::Surroundings;
use super::format::Format;
use crate::config::cover::{CommandLine, Files};
use crate::config::guard::Guard;
use crate::config::hosts::{Homes, Host};
use crate::config::look::look;
use crate::config::origin::{Layer, Place, Problem};
use crate::config::trust::{State, Trust};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toolpost_core::Workspace;
use toolpost_disk::Disk;
use toolpost_plugins::{Hints, Reach, Server};

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
    /// The variables that every child gets.
    pub(crate) given: Vec<(String, String)>,
    /// What other programs' files of the user say, once they are read: they may have megabytes.
    pub(crate) foreign: OnceLock<(Vec<Group>, Vec<Problem>)>,
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
    /// The hash of its content; none for the user's own.
    pub(crate) hash: Option<String>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) warnings: Vec<Problem>,
}

impl Lookup {
    /// Reads what is still to be read, and decides about each server.
    pub(crate) fn read(&self) -> Servers {
        let mut servers = Servers { problems: self.problems.clone(), ..Servers::default() };
        let project = self.foreign_of_project(&mut servers.problems);
        let (user, problems) = self.foreign_of_user();
        servers.problems.extend(problems.iter().cloned());
        let mut taken: BTreeMap<String, Place> = BTreeMap::new();
        for group in self.project.iter().chain(&project).chain(&self.user).chain(user) {
            servers.warnings.extend(group.warnings.iter().cloned());
            for entry in &group.entries {
                servers.add(self, group, entry, &mut taken);
            }
        }
        servers
    }

    pub(super) fn root(&self) -> PathBuf {
        canonical(&self.roots).into_iter().next().unwrap_or_else(|| PathBuf::from("."))
    }

    /// What the texts of a file's servers may refer to.
    pub(super) fn around<'a>(&'a self, group: &'a Group, root: &'a Path) -> Surroundings<'a> {
        let (variables, home) = (&self.variables, self.homes.home.as_deref());
        Surroundings { variables, root, home, folder: &group.folder }
    }

    /// A server, held to the files that it is started with; none if nothing is started.
    pub(super) fn guard(&self, group: &Group, entry: &Entry, server: &Server) -> Option<Guard> {
        let Reach::Stdio { command, args, env, cwd } = &server.reach else { return None };
        let root = self.root();
        let mut variables: BTreeMap<String, String> = self.given.iter().cloned().collect();
        variables.extend(env.clone());
        Some(Guard {
            trust: self.trust.clone(),
            roots: canonical(&self.roots),
            file: group.file.clone(),
            hash: group.hash.clone(),
            started: entry.name.clone(),
            line: CommandLine {
                words: std::iter::once(command).chain(args).cloned().collect(),
                variables,
                folder: cwd.as_ref().map_or_else(|| root.clone(), |cwd| root.join(cwd)),
                files: entry.files(&self.around(group, &root)),
            },
        })
    }

    /// What a file of the workspace starts, each with the files that it is started with, or why they cannot be covered.
    pub(crate) fn covers(&self, group: &Group) -> Vec<(String, Result<Files, String>)> {
        let root = self.root();
        let around = self.around(group, &root);
        let used = group.entries.iter().filter(|entry| !entry.is_off && !entry.is_self());
        let covers = used.filter_map(|entry| {
            // One that cannot be used is not started.
            let server = entry.resolve(String::new(), Hints::Ignored, &around, &mut Vec::new()).ok()?;
            Some((entry.name.clone(), self.guard(group, entry, &server)?.files()))
        });
        covers.collect()
    }

    /// The user's own files that describe servers.
    pub(crate) fn of_user(&self) -> impl Iterator<Item = &Group> {
        self.user.iter().chain(&self.foreign_of_user().0)
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
                    match Group::of_project(format, path, &file, Path::new(&root), state) {
                        Ok(group) => groups.push(group),
                        Err(wrong) => problems.extend(wrong),
                    }
                }
                Err(error) => problems.push(Problem::of(path, error.message())),
            }
        }
        groups
    }

    fn foreign_of_user(&self) -> &(Vec<Group>, Vec<Problem>) {
        self.foreign.get_or_init(|| {
            let (mut groups, mut problems) = (Vec::new(), Vec::new());
            for host in &self.from {
                for path in host.user_files(&self.homes) {
                    match Group::of_user(Format::of(*host), &path, &self.root()) {
                        Ok(group) => groups.extend(group),
                        Err(wrong) => problems.extend(wrong),
                    }
                }
            }
            (groups, problems)
        })
    }
}

/// The roots with their links followed.
pub(crate) fn canonical(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect()
}
