//! What manifests say of a project, each with where it says so.

use schemars::JsonSchema;
use serde::Serialize;

/// Something that is known, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Evident {
    /// What.
    pub(super) name: String,
    /// The file that says so, and where in it.
    pub(super) evidence: String,
}

/// What a command is for, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Purpose {
    /// Getting dependencies.
    Install,
    /// Building.
    Build,
    /// Testing.
    Test,
    /// Looking for mistakes.
    Lint,
    /// Formatting.
    Format,
    /// Running it.
    Run,
}

impl Purpose {
    pub(super) fn word(self) -> &'static str {
        match self {
            Purpose::Install => "install",
            Purpose::Build => "build",
            Purpose::Test => "test",
            Purpose::Lint => "lint",
            Purpose::Format => "format",
            Purpose::Run => "run",
        }
    }
}

/// A command that a person would type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Command {
    /// What it is for.
    pub(super) purpose: Purpose,
    /// The command.
    pub(super) command: String,
    /// The folder to be in.
    pub(super) folder: String,
    /// The file that says so, and where in it.
    pub(super) evidence: String,
}

/// One package: a folder with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Package {
    /// Its name, or that of its folder.
    pub(super) name: String,
    /// What kind of manifest it has, such as `cargo`.
    pub(super) kind: String,
    /// Its folder.
    pub(super) folder: String,
    /// Its manifest.
    pub(super) manifest: String,
    /// What it says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
}

/// Packages that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Workspace {
    /// The tool whose workspace it is, such as `pnpm`.
    pub(super) kind: String,
    /// Its folder.
    pub(super) folder: String,
    /// The folders of its members.
    pub(super) members: Vec<String>,
    /// The file that says so, and where in it.
    pub(super) evidence: String,
}

/// All that the manifests of a project say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) frameworks: Vec<Evident>,
    pub(super) build_tools: Vec<Evident>,
    pub(super) package_managers: Vec<Evident>,
    pub(super) commands: Vec<Command>,
    pub(super) entry_points: Vec<Evident>,
    pub(super) workspaces: Vec<Workspace>,
    pub(super) packages: Vec<Package>,
    /// Manifests that cannot be read, each with why.
    pub(super) problems: Vec<Evident>,
}

/// Maximum number of items of one kind.
const MOST: usize = 2_000;

impl Facts {
    pub(super) fn framework(&mut self, name: &str, evidence: impl Into<String>) {
        add(&mut self.frameworks, name, evidence.into());
    }

    pub(super) fn build_tool(&mut self, name: &str, evidence: impl Into<String>) {
        add(&mut self.build_tools, name, evidence.into());
    }

    pub(super) fn package_manager(&mut self, name: &str, evidence: impl Into<String>) {
        add(&mut self.package_managers, name, evidence.into());
    }

    /// A manifest that cannot be read.
    pub(super) fn problem(&mut self, why: &str, manifest: &str) {
        if self.problems.len() < MOST {
            self.problems.push(Evident { name: short(why), evidence: short(manifest) });
        }
    }

    pub(super) fn entry_point(&mut self, file: &str, evidence: impl Into<String>) {
        add(&mut self.entry_points, file, evidence.into());
    }

    /// Adds a command, unless the folder has the same one already.
    pub(super) fn command(
        &mut self,
        purpose: Purpose,
        command: impl Into<String>,
        folder: &str,
        evidence: impl Into<String>,
    ) {
        let command = Command {
            purpose,
            command: short(&command.into()),
            folder: shown(folder),
            evidence: short(&evidence.into()),
        };
        let is_known = self
            .commands
            .iter()
            .any(|known| (&known.command, &known.folder) == (&command.command, &command.folder));
        if !is_known && self.commands.len() < MOST {
            self.commands.push(command);
        }
    }

    /// Whether a folder has a command of this purpose with one of these words in it.
    pub(super) fn has_command(&self, purpose: Purpose, folder: &str, words: &[&str]) -> bool {
        let folder = shown(folder);
        self.commands.iter().any(|known| {
            known.purpose == purpose
                && known.folder == folder
                && words.iter().any(|word| known.command.contains(word))
        })
    }

    pub(super) fn package(
        &mut self,
        kind: &str,
        manifest: &str,
        name: Option<&str>,
        description: Option<&str>,
    ) {
        if self.packages.len() >= MOST {
            return;
        }
        let folder = folder_of(manifest);
        let name = name.unwrap_or_else(|| folder.rsplit('/').next().unwrap_or(folder));
        self.packages.push(Package {
            name: short(name),
            kind: kind.to_owned(),
            folder: shown(folder),
            manifest: manifest.to_owned(),
            description: description.map(short),
        });
    }

    /// A workspace, whose members are known once all packages are.
    pub(super) fn workspace(
        &mut self,
        kind: &str,
        folder: &str,
        members: Vec<String>,
        evidence: impl Into<String>,
    ) {
        if self.workspaces.len() < MOST {
            let evidence = short(&evidence.into());
            self.workspaces.push(Workspace {
                kind: kind.to_owned(),
                folder: shown(folder),
                members,
                evidence,
            });
        }
    }
}

fn add(list: &mut Vec<Evident>, name: &str, evidence: String) {
    let name = short(name);
    if list.len() < MOST && !list.iter().any(|known| known.name == name) {
        list.push(Evident { name, evidence: short(&evidence) });
    }
}

/// A text on one line of bounded length.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 300;
    let text = &text[..text.floor_char_boundary(4 * LONGEST)];
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|letter| !letter.is_control()).collect();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A folder as it is shown: the root has a name too.
pub(super) fn shown(folder: &str) -> String {
    if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }
}

/// The folder of a file.
pub(super) fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}
