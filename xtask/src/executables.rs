//! Building with cargo and learning which executables came out. It does not decide what is run.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::metadata::{Metadata, Package};
use crate::process;

/// One program that cargo built.
#[derive(Debug, PartialEq)]
pub(crate) struct Executable {
    pub(crate) path: PathBuf,
    /// The name of the target: a library, a test, an example or a program.
    pub(crate) target: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) is_test: bool,
}

impl Executable {
    /// A command that runs it as cargo would: in its package's folder, with its package's variables.
    pub(crate) fn command(&self, metadata: &Metadata) -> Result<Command> {
        let package = self.package(metadata)?;
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if process::is_about_one_package(&name) {
                command.env_remove(name);
            }
        }
        command.current_dir(package.folder()).envs(package.variables());
        Ok(command)
    }

    /// Its package and target, as a person would say it.
    pub(crate) fn title(&self, metadata: &Metadata) -> Result<String> {
        let package = &self.package(metadata)?.name;
        if package.replace('-', "_") == self.target.replace('-', "_") {
            return Ok(package.clone());
        }
        Ok(format!("{package}/{}", self.target))
    }

    fn package<'a>(&self, metadata: &'a Metadata) -> Result<&'a Package> {
        let mut packages = metadata.packages.iter();
        packages
            .find(|package| package.manifest_path == self.manifest_path)
            .with_context(|| format!("`{}` belongs to no package of the workspace", self.target))
    }
}

/// The integration tests of the package `toolpost`, which start the real program.
pub(crate) fn program_tests(root: &Path) -> Result<Executable> {
    let built = build(root, &["test", "--no-run", "--package", "toolpost", "--test", "it", "--locked"])?;
    let tests = built.into_iter().find(|executable| executable.is_test && executable.target == "it");
    tests.context("cargo has built no test `it` of the package `toolpost`")
}

/// Runs a cargo command that builds, and lists what it built, in cargo's order.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> Result<Vec<Executable>> {
    let mut command = process::cargo(root, arguments);
    let shown = process::shown(&command);
    command.arg("--message-format=json-render-diagnostics");
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let mut executables = Vec::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            executables.extend(executable(&line?));
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    executables
        .sort_by(|one, other| (&one.manifest_path, &one.target).cmp(&(&other.manifest_path, &other.target)));
    Ok(executables)
}

fn executable(line: &str) -> Option<Executable> {
    let message: Message = serde_json::from_str(line).ok()?;
    Some(Executable {
        path: message.executable?,
        target: message.target.name,
        manifest_path: message.manifest_path,
        is_test: message.profile.test,
    })
}

#[derive(Deserialize)]
struct Message {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_about_an_executable_is_read() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/x/Cargo.toml","target":{"name":"it"},
            "profile":{"test":true},"executable":"/x/it-1"}"#;
        let expected = Executable {
            path: "/x/it-1".into(),
            target: "it".into(),
            manifest_path: "/x/Cargo.toml".into(),
            is_test: true,
        };
        assert_eq!(executable(line), Some(expected));
    }

    #[test]
    fn other_messages_are_passed_over() {
        assert_eq!(executable(r#"{"reason":"build-finished","success":true}"#), None);
        let library = r#"{"manifest_path":"/x/Cargo.toml","target":{"name":"x"},"profile":{"test":false},
            "executable":null}"#;
        assert_eq!(executable(library), None);
    }
}
