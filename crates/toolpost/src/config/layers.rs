//! Every layer as it was found, and what holds when they are laid over each other.
//!
//! A problem in one layer does not hide the others: `doctor` shows them all. Whoever wants to run something asks for
//! [`Layers::problem`] first.

mod servers;

use super::env::Environment;
use super::found::{Inventory, Own, Started, inventory};
use super::hosts::Host;
use super::key::{self, Stack};
use super::keys::{KEYS, Settings};
use super::look::{Hashed, look};
use super::origin::{Layer, Place, Problem};
use super::rights::{Right, Rights, denials};
use super::servers::Lookup;
use super::trust::{State, Trust};
use super::{descriptions, private, variables};
use crate::cli::Flags;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_core::policy::{self, Policy, Rule};
use toolpost_core::text::LARGEST;
use toolpost_core::{Code, ToolError, Workspace};
use toolpost_disk::Disk;

/// The workspace's own file.
pub(crate) const PROJECT_FILE: &str = ".toolpost/config.toml";
/// The flag that leaves it out.
const WITHOUT: &str = "--no-project-config";
const PROJECT_FOLDER: &str = ".toolpost";
/// The servers that a workspace brings, by the custom of agent hosts.
const MCP_FILE: &str = ".mcp.json";

/// A file of the configuration, for people.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigFile {
    pub(crate) layer: Layer,
    pub(crate) path: String,
    pub(crate) state: FileState,
    /// Whether others than the user may change it; not asked of the project's.
    pub(crate) is_open_to_others: bool,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileState {
    Missing,
    Read,
    Broken,
    /// A flag says so.
    LeftOut,
}

/// Every layer, as it was found.
#[derive(Debug)]
pub(crate) struct Layers {
    pub(crate) files: Vec<ConfigFile>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) trust: Trust,
    /// Why the record of trust is not believed, if it is not.
    pub(crate) trust_problem: Option<Problem>,
    /// The user's folder of configuration.
    directory: Option<PathBuf>,
    cwd: PathBuf,
    user: Settings,
    named: Settings,
    project: Option<Project>,
    /// The workspace's `.mcp.json`: its content, or why it is not looked at.
    mcp_json: Option<Result<Hashed, String>>,
    environment: Settings,
    flags: Settings,
    built_in: Settings,
    /// What a project without a file says.
    nothing: Settings,
}

#[derive(Debug)]
struct Project {
    root: String,
    file: Hashed,
    settings: Settings,
    state: State,
}

/// What holds, each value with its place.
#[derive(Debug)]
pub(crate) struct Values {
    /// The value of each key.
    pub(crate) keys: Settings,
    /// What `policy`, `allow` and `ask` come to.
    pub(crate) rights: Rights,
    /// What the project's file wants and does not get, because it is not trusted.
    pub(crate) inert: Vec<String>,
    pub(crate) warnings: Vec<Problem>,
}

impl Layers {
    /// Reads every layer. `disk` is the workspace, if it could be opened.
    pub(crate) fn read(flags: &Flags, environment: &Environment, cwd: &Path, disk: Option<&Disk>) -> Layers {
        let mut layers = Layers {
            files: Vec::new(),
            problems: Vec::new(),
            trust: Trust::none(),
            trust_problem: None,
            directory: environment.config_directory.clone(),
            cwd: cwd.to_path_buf(),
            user: Settings::default(),
            named: Settings::default(),
            project: None,
            mcp_json: None,
            environment: Settings::default(),
            flags: flags.keys.settings.clone(),
            built_in: key::built_in(),
            nothing: Settings::default(),
        };
        match Trust::read(environment.data_directory.as_deref()) {
            Ok(trust) => layers.trust = trust,
            Err(problem) => layers.trust_problem = Some(problem),
        }
        if let Some(folder) = &environment.config_directory {
            layers.user = layers.file(&folder.join("config.toml"), Presence::Optional);
        }
        if let Some(path) = &flags.config {
            layers.named = layers.file(&cwd.join(path), Presence::Required);
        }
        if let Some(disk) = disk {
            let own = if flags.no_project_config { Presence::LeftOut } else { Presence::Optional };
            layers.read_project(disk, own);
        }
        let is_named = |name: &str| layers.user.mentions(name) || layers.named.mentions(name);
        layers.problems.extend(variables::strays(&environment.variables, is_named));
        match Settings::of_environment(&environment.settings) {
            Ok(settings) => layers.environment = settings,
            Err(problems) => layers.problems.extend(problems),
        }
        layers
    }

    fn file(&mut self, path: &Path, presence: Presence) -> Settings {
        let name = path.to_string_lossy().into_owned();
        let found = private::read(path, LARGEST);
        let is_open_to_others =
            found.as_ref().is_ok_and(|file| file.as_ref().is_some_and(|file| file.is_open_to_others));
        let (state, settings) = match found {
            Ok(Some(file)) => match Settings::read(&name, &file.bytes, Layer::User) {
                Ok(settings) => (FileState::Read, settings),
                Err(problems) => {
                    self.problems.extend(problems);
                    (FileState::Broken, Settings::default())
                }
            },
            Ok(None) if presence == Presence::Required => {
                self.problems.push(Problem::of(&name, "does not exist; name another file with --config"));
                (FileState::Broken, Settings::default())
            }
            Ok(None) => (FileState::Missing, Settings::default()),
            Err(message) => {
                self.problems.push(Problem::of(&name, message));
                (FileState::Broken, Settings::default())
            }
        };
        self.files.push(ConfigFile { layer: Layer::User, path: name, state, is_open_to_others });
        settings
    }

    fn read_project(&mut self, disk: &Disk, presence: Presence) {
        let read = look(disk, |look| {
            let own = if presence == Presence::LeftOut { Ok(None) } else { look.read(PROJECT_FILE) };
            Ok((own, look.read(MCP_FILE)))
        });
        let (own, servers) = read.unwrap_or_else(|error| (Err(error), Ok(None)));
        self.mcp_json = servers.map_err(|error| error.message().to_owned()).transpose();
        let state = match own {
            Ok(None) if presence == Presence::LeftOut => FileState::LeftOut,
            Ok(None) => FileState::Missing,
            Ok(Some(file)) => match Settings::read(PROJECT_FILE, &file.bytes, Layer::Project) {
                Ok(settings) => {
                    let root = disk.root().to_owned();
                    let state = self.trust.state(&root, PROJECT_FILE, &file.hash);
                    self.project = Some(Project { root, file, settings, state });
                    FileState::Read
                }
                Err(problems) => {
                    self.problems.extend(problems);
                    FileState::Broken
                }
            },
            Err(error) => {
                self.problems.push(Problem::of(PROJECT_FILE, error.message()));
                FileState::Broken
            }
        };
        let path = format!("{}/{PROJECT_FILE}", disk.root().trim_end_matches('/'));
        self.files.push(ConfigFile { layer: Layer::Project, path, state, is_open_to_others: false });
    }

    /// The error that keeps anything from running, if there is one.
    pub(crate) fn problem(&self) -> Result<(), ToolError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let mut lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        if self.problems.iter().any(|problem| problem.file == PROJECT_FILE) {
            lines.push(format!(
                "nothing runs until this is corrected; to go on without {PROJECT_FILE}, add {WITHOUT}"
            ));
        }
        let error = ToolError::new(Code::ValidationError, lines.join("\n"));
        Err(error.with("problems", serde_json::to_value(&self.problems).unwrap_or_default()))
    }

    /// The rules of the file that a flag names.
    pub(crate) fn named_rules(&self) -> impl Iterator<Item = &Rule> {
        self.named.rules.iter().map(|rule| &rule.value)
    }

    /// The user's folder of configuration.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// What the user's own files say together, without the project.
    fn without_project(&self) -> Rights {
        Rights::built_in().under(&self.user).under(&self.named)
    }

    fn stack(&self) -> Stack<'_> {
        let (project, is_trusted) = match &self.project {
            Some(project) => (&project.settings, project.state == State::Trusted),
            None => (&self.nothing, true),
        };
        Stack {
            flags: &self.flags,
            environment: &self.environment,
            project,
            is_trusted,
            named: &self.named,
            user: &self.user,
            built_in: &self.built_in,
        }
    }

    /// Lays the layers over each other.
    pub(crate) fn values(&self) -> Values {
        let stack = self.stack();
        let mut keys = key::merge(&stack);
        for folder in &mut keys.descriptions {
            folder.value = self.folder_of(&folder.place).join(&folder.value);
        }
        let without = self.without_project();
        let with = without.under(stack.project);
        let rights = if stack.is_trusted { with } else { without.meet(&with) };
        let rights = rights.under(&self.environment).under(&self.flags).without(&keys.deny);
        Values {
            keys,
            rights,
            inert: if stack.is_trusted { Vec::new() } else { self.widens() },
            warnings: [&self.user, &self.named, stack.project]
                .iter()
                .flat_map(|settings| settings.warnings.iter().cloned())
                .chain(self.trust_problem.clone())
                .collect(),
        }
    }

    /// The folder that a path set at this place starts from; for the project's it is relative to the root of the
    /// workspace.
    fn folder_of<'a>(&'a self, place: &'a Place) -> &'a Path {
        match place.layer {
            Layer::Flags | Layer::Environment | Layer::BuiltIn => &self.cwd,
            Layer::Project => Path::new(PROJECT_FOLDER),
            Layer::User => Path::new(&*place.file).parent().unwrap_or(&self.cwd),
        }
    }

    /// What the project's file would widen or change, over what holds without it.
    fn widens(&self) -> Vec<String> {
        let without = self.without_project();
        let stack = self.stack();
        let mut lines = Vec::new();
        for (capability, right) in without.wider_in(&without.under(stack.project)) {
            let what = match right.value {
                Right::Granted => format!("grants {capability}"),
                Right::Asked | Right::Absent => format!("lets {capability} be asked for"),
            };
            lines.push(format!("{what} (line {})", right.place.line));
        }
        lines.extend(KEYS.iter().flat_map(|key| key.widens(&stack)));
        lines
    }

    /// The policy of the values.
    pub(crate) fn policy(values: &Values) -> Policy {
        let mut policy = values.rights.policy();
        // The first rule that matches speaks for its layer.
        let denied = denials(&values.keys.deny);
        for layer in policy::Layer::ALL {
            let rules = denied.iter().chain(values.keys.rules.iter().map(|rule| &rule.value));
            let rules: Vec<Rule> = rules.filter(|rule| rule.origin().layer == layer).cloned().collect();
            if !rules.is_empty() {
                policy = policy.with_rules(layer, rules);
            }
        }
        policy
    }

    /// The texts that replace descriptions. Of a project's only those whose very bytes are trusted are taken.
    pub(crate) fn descriptions(
        &self,
        values: &Values,
        disk: &Disk,
    ) -> Result<BTreeMap<String, String>, ToolError> {
        match (values.keys.descriptions.first(), &self.directory) {
            (Some(folder), _) if folder.place.layer == Layer::Project => {
                let texts = self.project_descriptions(disk)?;
                let is_trusted =
                    |hashed: &Hashed, path: &str| self.trust.state(disk.root(), path, &hashed.hash);
                let trusted = texts
                    .into_iter()
                    .filter(|(path, hashed)| is_trusted(hashed, path) == State::Trusted)
                    .map(|(path, hashed)| (path, hashed.bytes));
                descriptions::of_files(trusted)
            }
            (Some(folder), _) => descriptions::read(&folder.value),
            (None, Some(directory)) => descriptions::read_if_there(&directory.join("descriptions")),
            (None, None) => Ok(BTreeMap::new()),
        }
    }

    fn project_descriptions(&self, disk: &Disk) -> Result<Vec<(String, Hashed)>, ToolError> {
        let folder = self.project.as_ref().and_then(|project| project.settings.descriptions.first());
        let Some(folder) = folder else { return Ok(Vec::new()) };
        let spelling = format!("{PROJECT_FOLDER}/{}", folder.value.display());
        let located = |error: &ToolError| {
            let message = format!("{}: {}", folder.place, error.message());
            ToolError::new(error.code(), message)
        };
        let name = disk.name(&spelling.as_str().into()).map_err(|error| located(&error))?;
        look(disk, |look| {
            let mut texts = Vec::new();
            for path in look.files(&name, 0).paths.into_iter().filter(|path| path.ends_with(".txt")) {
                if let Some(hashed) = look.read(&path).map_err(|error| {
                    ToolError::new(error.code(), format!("the description `{path}` {}", error.message()))
                })? {
                    texts.push((path, hashed));
                }
            }
            Ok(texts)
        })
    }

    /// What the project's own file starts: servers, formatters and language servers.
    fn started(&self, lookup: &Lookup) -> Started {
        let formatters = self.project.iter().flat_map(|project| &project.settings.formatters).map(|format| {
            let guard = self.formatter(format, &lookup.given, &lookup.roots);
            (guard.started.clone(), guard.files())
        });
        let languages =
            self.project.iter().flat_map(|project| &project.settings.language_servers).map(|server| {
                let guard = self.language_server(server, &lookup.given, &lookup.roots);
                (guard.started.clone(), guard.files())
            });
        let own = lookup.project.iter().filter(|group| group.file == PROJECT_FILE);
        own.flat_map(|group| lookup.covers(group)).chain(formatters).chain(languages).collect()
    }

    /// Everything that the workspace brings along.
    /// `lookup` knows what servers are started with.
    pub(crate) fn inventory(&self, disk: &Disk, lookup: &Lookup) -> Result<Inventory, ToolError> {
        let mut own = Vec::new();
        let mut refused = None;
        if let Some(project) = &self.project {
            own.push(Own {
                path: PROJECT_FILE.to_owned(),
                kind: "configuration",
                hash: project.file.hash.clone(),
                brings: self.widens(),
                started: self.started(lookup),
            });
            match self.project_descriptions(disk) {
                Ok(texts) => own.extend(texts.into_iter().map(|(path, hashed)| {
                    let tool = descriptions::tool_of(&path).to_owned();
                    let brings = vec![format!("replaces what models read of the tool `{tool}`")];
                    Own { path, kind: "description", hash: hashed.hash, brings, started: Vec::new() }
                })),
                Err(error) => refused = Some(error),
            }
        }
        let root = self.project.as_ref().map_or_else(|| disk.root().to_owned(), |one| one.root.clone());
        let used: Vec<Host> = lookup.from.clone();
        let mut found = look(disk, |look| Ok(inventory(look, &root, &self.trust, own, &used, lookup)))?;
        if let Some(error) = refused {
            let (path, why) = (PROJECT_FILE.to_owned(), error.message().to_owned());
            found.refused.push(super::found::Refused { path, why });
        }
        Ok(found)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Optional,
    Required,
    LeftOut,
}
