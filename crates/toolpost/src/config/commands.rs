//! What commands get of the user's environment: variables from a closed list, and the toolchains that are found.

mod secrets;

use super::credentials;
use super::env::Environment;
use super::kinds::Format;
use super::layers::{Layers, Values};
use super::origin::{Layer, Origined};
use std::path::{Component, Path, PathBuf};
use toolpost_disk::linked_repository;
use toolpost_process::StartCheck;
use toolpost_process::is_allowed_variable;
use toolpost_tools::filesystem::{Formatter, Helper};
use toolpost_tools::shell::{self, Outside};

/// Variables that name the folder of a toolchain.
const TOOLCHAINS: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "FNM_DIR",
    "BUN_INSTALL",
    "DENO_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "GEM_HOME",
    "DOTNET_ROOT",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "SDKMAN_DIR",
    "OPAMROOT",
];

/// Folders of the home directory where toolchains usually lie, and git's own settings: who commits.
const IN_HOME: &[&str] = &[
    ".cargo",
    ".rustup",
    "go",
    ".nvm",
    ".volta",
    ".fnm",
    ".bun",
    ".deno",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".opam",
    ".ghcup",
    ".dotnet",
    ".m2",
    ".gradle",
    ".nix-profile",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/fnm",
    ".gitconfig",
    ".config/git",
];

/// What in those holds secrets.
const SECRETS: &[&str] = &[
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".config/git/credentials",
];

/// The variables that commands get: those of a closed list, those that the configuration names, and always a `PATH`.
pub(super) fn variables(values: &Values, environment: &Environment) -> Vec<(String, String)> {
    let named = |name: &str| values.keys.environment.iter().any(|wanted| wanted.value == name);
    let chosen = environment.variables.iter().filter(|(name, _)| is_allowed_variable(name) || named(name));
    let mut given: Vec<(String, String)> =
        chosen.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !given.iter().any(|(name, _)| name == "PATH") {
        given.extend(shell::Settings::default().environment);
    }
    given
}

/// The settings of the shell pack.
pub(super) fn settings(
    values: &Values,
    environment: &Environment,
    store: &[PathBuf],
    roots: &[PathBuf],
) -> shell::Settings {
    let home = environment.home.as_deref();
    let named = values.keys.readable.iter().map(|path| expanded(&path.value, home)).collect();
    let (store, roots, of_user) = (store.to_vec(), roots.to_vec(), environment.clone());
    shell::Settings {
        confinement: values.keys.sandbox.first().map(|sandbox| sandbox.value).unwrap_or_default(),
        environment: variables(values, environment),
        outside: Outside::found_by(move || outside(named, &of_user, &store, &roots)),
        scratch: environment.data_directory.as_ref().map(|data| data.join("scratch")),
        background: shell::Settings::default().background,
    }
}

/// What commands may read outside of the workspace: what the configuration names, toolchains, and folders of programs.
fn outside(named: Vec<PathBuf>, environment: &Environment, store: &[PathBuf], roots: &[PathBuf]) -> Outside {
    let home = environment.home.as_deref();
    let below_home = |names: &[&str]| -> Vec<PathBuf> {
        home.map(|home| names.iter().map(|name| home.join(name)).collect()).unwrap_or_default()
    };
    let mut readable = named;
    let variable = |name: &&str| environment.variables.get(*name).map(PathBuf::from);
    readable.extend(TOOLCHAINS.iter().filter_map(variable));
    readable.extend(below_home(IN_HOME));
    readable.extend(roots.iter().filter_map(|root| linked_repository(root)));
    let readable = outermost(readable, home);
    let path = environment.variables.get("PATH").map_or("", String::as_str);
    let mut programs = outermost(path.split(':').map(PathBuf::from).collect(), home);
    programs.retain(|folder| !readable.iter().any(|known| folder.starts_with(known)));
    let mut hidden = below_home(SECRETS);
    hidden.retain(|path| path.exists());
    hidden.extend(credentials::hidden(environment, store));
    programs.retain(|folder| match secrets::within(folder) {
        Some(found) => {
            hidden.extend(found);
            true
        }
        None => false,
    });
    Outside { readable, programs, hidden }
}

fn expanded(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

/// Those that exist and do not lie in another or in the system's own folders. Never the home directory itself, nor what
/// it lies in, by whatever name.
fn outermost(paths: Vec<PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/nix"];
    let is_system = |path: &Path| SYSTEM.iter().any(|system| path.starts_with(system));
    let real_home = home.and_then(|home| home.canonicalize().ok());
    let holds_home =
        |path: &Path| home.into_iter().chain(real_home.as_deref()).any(|home| home.starts_with(path));
    let is_plain =
        |path: &Path| path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let mut found: Vec<PathBuf> = paths
        .into_iter()
        .filter(|path| path.is_absolute() && !is_system(path) && path.exists())
        .filter_map(|path| path.canonicalize().ok().map(|real| (path, real)))
        .filter(|(path, real)| real.parent().is_some() && !holds_home(path) && !holds_home(real))
        // A link is laid under its own name, and what it leads to under its.
        .flat_map(|(path, real)| [path, real])
        .filter(|path| is_plain(path) && !is_system(path))
        .collect();
    found.sort();
    found.dedup();
    let all = found.clone();
    found.retain(|path| !all.iter().any(|other| other != path && path.starts_with(other)));
    found
}

/// The formatters, with what commands get of the environment.
pub(super) fn formatters(
    layers: &Layers,
    values: &Values,
    shell: &shell::Settings,
    roots: &[PathBuf],
) -> Vec<Formatter> {
    let helper = |format: &Origined<Format>| Helper {
        program: format.value.words.first().map(Into::into).unwrap_or_default(),
        args: format.value.words.iter().skip(1).cloned().collect(),
        environment: shell.environment.clone(),
        readable: shell.outside.readable.clone(),
        programs: shell.outside.programs.clone(),
        hidden: shell.outside.hidden.clone(),
        // A formatter of the user's own is the user's choice; like all of them it is confined.
        check: match format.place.layer {
            Layer::Project => layers.formatter(format, &shell.environment, roots).at_start(),
            _ => StartCheck::default(),
        },
    };
    let all = values
        .keys
        .formatters
        .iter()
        .flat_map(|format| format.value.extensions.iter().map(move |extension| (extension, format)));
    // The strongest layer comes first, and the first one of an extension counts.
    all.map(|(extension, format)| Formatter { extension: extension.clone(), helper: helper(format) })
        .collect()
}
