//! Every layer as it was found, and what holds when they are laid over each other.
//!
//! A problem in one layer does not hide the others: `doctor` shows them all. Whoever wants to run something asks for
//! [`Layers::problem`] first.

use toolpost_disk::{Disk};
use super::env::Environment;
use super::found::{Inventory, Own, inventory};
use super::look::{Hashed, look};
use super::origin::{Layer, Origined, Place, Problem};
use super::rights::{Right, Rights};
use super::settings::Settings;
use super::trust::{State, Trust};
use super::{descriptions, private};
use crate::cli::Flags;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::policy::{self, Effect, LARGEST, Policy, Rule};
use toolpost_core::{Code, Dialect, ToolError, Workspace};

/// The workspace's own file.
pub(crate) const PROJECT_FILE: &str = ".toolpost/config.toml";
const PROJECT_FOLDER: &str = ".toolpost";

/// A file of the configuration, for people.
#[derive(Debug, Clone, Serialize)]
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
}

/// Every layer, as it was found.
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
    environment: Settings,
    flags: Settings,
}

struct Project {
    root: String,
    file: Hashed,
    settings: Settings,
    state: State,
}

/// What holds, each value with its place.
pub(crate) struct Values {
    pub(crate) rights: Rights,
    pub(crate) timeout: Option<Origined<Duration>>,
    pub(crate) dialect: Origined<Arc<Dialect>>,
    pub(crate) descriptions: Option<Origined<PathBuf>>,
    pub(crate) session: Option<Origined<String>>,
    pub(crate) rules: Vec<Rule>,
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
            environment: Settings::default(),
            flags: Settings::of_flags(flags),
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
            layers.read_project(disk);
        }
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

    fn read_project(&mut self, disk: &Disk) {
        let state = match look(disk, |look| look.read(PROJECT_FILE)) {
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
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        let error = ToolError::new(Code::ValidationError, lines.join("\n"));
        Err(error.with("problems", serde_json::to_value(&self.problems).unwrap_or_default()))
    }

    /// What the user's own files say together, without the project.
    fn without_project(&self) -> Rights {
        Rights::built_in().under(&self.user).under(&self.named)
    }

    /// Lays the layers over each other.
    pub(crate) fn values(&self) -> Values {
        let without = self.without_project();
        let nothing = Settings::default();
        let (project, is_trusted) = match &self.project {
            Some(project) => (&project.settings, project.state == State::Trusted),
            None => (&nothing, true),
        };
        let with = without.under(project);
        let rights = if is_trusted { with } else { without.meet(&with) };
        let believed = if is_trusted { project } else { &nothing };
        let own_timeout = self.named.timeout.as_ref().or(self.user.timeout.as_ref());
        // A shorter time is a narrower right, and holds at once.
        let timeout = match (&project.timeout, own_timeout) {
            (Some(theirs), Some(own)) if !is_trusted && theirs.value < own.value => Some(theirs),
            _ => believed.timeout.as_ref().or(own_timeout),
        };
        let strongest = [&self.flags, &self.environment, believed, &self.named, &self.user];
        let is_held = |rule: &&Rule| is_trusted || rule.effect() != Effect::Allow;
        let rules = [
            self.flags.rules.clone(),
            // The file that was named for this run speaks before the user's usual one.
            self.named.rules.clone(),
            self.user.rules.clone(),
            project.rules.iter().filter(is_held).cloned().collect(),
        ];
        Values {
            rights: rights.under(&self.environment).under(&self.flags),
            timeout: self.environment.timeout.as_ref().or(timeout).cloned(),
            dialect: strongest
                .iter()
                .find_map(|settings| settings.dialect.clone())
                .unwrap_or_else(|| Origined::new(Dialect::canonical(), Place::built_in())),
            descriptions: self.descriptions_folder(believed),
            session: strongest.iter().find_map(|settings| settings.session.clone()),
            rules: rules.concat(),
            inert: if is_trusted { Vec::new() } else { self.widens() },
            warnings: [&self.user, &self.named, project]
                .iter()
                .flat_map(|settings| settings.warnings.iter().cloned())
                .chain(self.trust_problem.clone())
                .collect(),
        }
    }

    /// The folder of descriptions: from the root of the workspace for the project's, absolute for all others.
    fn descriptions_folder(&self, project: &Settings) -> Option<Origined<PathBuf>> {
        let from = |settings: &Settings, base: &Path| {
            let folder = settings.descriptions.as_ref()?;
            Some(Origined::new(base.join(&folder.value), folder.place.clone()))
        };
        let beside = |settings: &Settings| {
            let file = settings.descriptions.as_ref()?.place.file.clone();
            from(settings, Path::new(&*file).parent()?)
        };
        from(&self.flags, &self.cwd)
            .or_else(|| from(&self.environment, &self.cwd))
            .or_else(|| from(project, Path::new(PROJECT_FOLDER)))
            .or_else(|| beside(&self.named))
            .or_else(|| beside(&self.user))
    }

    /// What the project's file would widen or change, over what holds without it.
    fn widens(&self) -> Vec<String> {
        let Some(Project { settings, .. }) = &self.project else { return Vec::new() };
        let without = self.without_project();
        let mut lines = Vec::new();
        for (capability, right) in without.wider_in(&without.under(settings)) {
            let what = match right.value {
                Right::Granted => format!("grants {capability}"),
                Right::Asked | Right::Absent => format!("lets {capability} be asked for"),
            };
            lines.push(format!("{what} (line {})", right.place.line));
        }
        for rule in settings.rules.iter().filter(|rule| rule.effect() == Effect::Allow) {
            lines.push(format!("allows `{rule}` (line {})", rule.origin().line));
        }
        if let Some(folder) = &settings.descriptions {
            let (shown, line) = (folder.value.display(), folder.place.line);
            lines.push(format!("takes descriptions of tools from `{shown}` (line {line})"));
        }
        if let Some(dialect) = settings.dialect.as_ref() {
            lines.push(format!(
                "names tools in the dialect `{}` (line {})",
                dialect.value.name(),
                dialect.place.line
            ));
        }
        if let Some(timeout) = settings.timeout.as_ref() {
            let own = self.named.timeout.as_ref().or(self.user.timeout.as_ref());
            if own.is_none_or(|own| timeout.value >= own.value) {
                lines.push(format!("sets the time-out of calls (line {})", timeout.place.line));
            }
        }
        lines
    }

    /// The policy of the values.
    pub(crate) fn policy(values: &Values) -> Policy {
        let mut policy = values.rights.policy();
        for layer in policy::Layer::ALL {
            let rules: Vec<Rule> =
                values.rules.iter().filter(|rule| rule.origin().layer == layer).cloned().collect();
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
        match (&values.descriptions, &self.directory) {
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
        let folder = self.project.as_ref().and_then(|project| project.settings.descriptions.as_ref());
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

    /// Everything that the workspace brings along.
    pub(crate) fn inventory(&self, disk: &Disk) -> Result<Inventory, ToolError> {
        let mut own = Vec::new();
        let mut refused = None;
        if let Some(project) = &self.project {
            own.push(Own {
                path: PROJECT_FILE.to_owned(),
                kind: "configuration",
                hash: project.file.hash.clone(),
                brings: self.widens(),
            });
            match self.project_descriptions(disk) {
                Ok(texts) => own.extend(texts.into_iter().map(|(path, hashed)| {
                    let tool = descriptions::tool_of(&path).to_owned();
                    let brings = vec![format!("replaces what models read of the tool `{tool}`")];
                    Own { path, kind: "description", hash: hashed.hash, brings }
                })),
                Err(error) => refused = Some(error),
            }
        }
        let root = self.project.as_ref().map_or_else(|| disk.root().to_owned(), |one| one.root.clone());
        let mut found = look(disk, |look| Ok(inventory(look, &root, &self.trust, own)))?;
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
}
