//! What the layers say of MCP servers.

use super::{Layers, MCP_FILE, PROJECT_FILE, Values};
use crate::config::commands;
use crate::config::cover::CommandLine;
use crate::config::env::Environment;
use crate::config::guard::Guard;
use crate::config::hosts::Homes;
use crate::config::keys::Settings;
use crate::config::kinds::Format as Written;
use crate::config::language_servers::LanguageServerText;
use crate::config::origin::{Layer, Origined, Place, Problem};
use crate::config::servers::{Format, Group, Lookup, canonical};
use crate::config::trust::State;
use std::path::PathBuf;
use std::sync::OnceLock;

impl Layers {
    /// Where MCP servers are described, with what is read of that already.
    pub(crate) fn servers(&self, values: &Values, environment: &Environment, roots: &[PathBuf]) -> Lookup {
        let root = roots.first().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone()));
        let root = root.unwrap_or_default();
        let own = |layer, file: &str, state, hash: Option<&str>, settings: &Settings| Group {
            layer,
            hash: hash.map(str::to_owned),
            file: file.to_owned(),
            folder: root.clone(),
            state,
            entries: settings.servers.iter().map(|server| server.value.clone()).collect(),
            // They are among the warnings of the configuration.
            warnings: Vec::new(),
        };
        let mut problems = Vec::new();
        let mut project: Vec<Group> = Vec::new();
        project.extend(
            self.project
                .as_ref()
                .map(|one| own(Layer::Project, PROJECT_FILE, one.state, Some(&one.file.hash), &one.settings)),
        );
        match &self.mcp_json {
            Some(Ok(file)) => {
                let state = self.trust.state(&root.to_string_lossy(), MCP_FILE, &file.hash);
                match Group::of_project(Format::Claude, MCP_FILE, file, &root, state) {
                    Ok(group) => project.push(group),
                    Err(wrong) => problems.extend(wrong),
                }
            }
            Some(Err(why)) => problems.push(Problem::of(MCP_FILE, why.as_str())),
            None => {}
        }
        let files = self.files.iter().filter(|file| file.layer == Layer::User).map(|file| file.path.as_str());
        let settings = self.directory.iter().map(|_| &self.user).chain([&self.named]);
        let groups = files.zip(settings).map(|(file, one)| own(Layer::User, file, State::Trusted, None, one));
        let mut user: Vec<Group> = groups.collect();
        // The file that is named for this run comes before the user's usual one.
        user.reverse();
        Lookup {
            project,
            user,
            problems,
            from: values.keys.mcp_from.iter().map(|host| host.value).collect(),
            trust: self.trust.clone(),
            roots: roots.to_vec(),
            homes: Homes::of(environment),
            variables: environment.variables.clone(),
            given: commands::variables(values, environment),
            foreign: OnceLock::new(),
        }
    }

    /// A formatter, held to the files that it is started with.
    pub(crate) fn formatter(
        &self,
        format: &Origined<Written>,
        variables: &[(String, String)],
        roots: &[PathBuf],
    ) -> Guard {
        let started = format!("formatter of {}", format.value.extensions.join(", "));
        self.program(&format.place, &format.value.words, started, variables, roots)
    }

    /// A language server, held to the files that it is started with.
    pub(crate) fn language_server(
        &self,
        server: &Origined<LanguageServerText>,
        variables: &[(String, String)],
        roots: &[PathBuf],
    ) -> Guard {
        let started = format!("language server {}", server.value.name);
        self.program(&server.place, &server.value.words, started, variables, roots)
    }

    /// A program that a file names, held to the files that it is started with.
    fn program(
        &self,
        place: &Place,
        words: &[String],
        started: String,
        variables: &[(String, String)],
        roots: &[PathBuf],
    ) -> Guard {
        let roots = canonical(roots);
        let project = self.project.as_ref().filter(|_| place.layer == Layer::Project);
        Guard {
            trust: self.trust.clone(),
            file: place.file.to_string(),
            hash: project.map(|project| project.file.hash.clone()),
            started,
            line: CommandLine {
                words: words.to_vec(),
                variables: variables.iter().cloned().collect(),
                folder: roots.first().cloned().unwrap_or_default(),
                files: Vec::new(),
            },
            roots,
        }
    }
}
