//! What `cargo metadata` says, as far as this program asks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::process;

/// The packages of the workspace, or of the workspace and everything that it depends on.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

/// One package.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

/// What one package asks of another.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Set where the dependency is a folder of this repository.
    pub(crate) path: Option<PathBuf>,
    /// `dev` where only tests use it, `build` for a build script.
    kind: Option<String>,
}

impl Dependency {
    /// Whether only tests use it.
    pub(crate) fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// How far to look.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// Our own packages only.
    Workspace,
    /// Everything in the lock file.
    Everything,
}

impl Metadata {
    /// Asks cargo, without the network where that is enough.
    pub(crate) fn load(root: &Path, scope: Scope) -> Result<Metadata> {
        let mut arguments = vec!["metadata", "--format-version", "1", "--locked"];
        if let Scope::Workspace = scope {
            arguments.push("--no-deps");
        }
        let mut offline = arguments.clone();
        offline.push("--offline");
        let text = match process::capture_quietly(&mut process::cargo(root, &offline)) {
            Some(text) => text,
            None => process::capture(&mut process::cargo(root, &arguments))?,
        };
        serde_json::from_str(&text).context("`cargo metadata` printed something unexpected")
    }
}

impl Package {
    /// The folder of the package.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    /// The variables that cargo sets while it runs something of this package.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let (numbers, pre) = self.version.split_once('-').unwrap_or((&self.version, ""));
        let mut numbers = numbers.split('.');
        let mut number = || numbers.next().unwrap_or_default().to_owned();
        let text = |key: &str| match self.rest.get(key).and_then(serde_json::Value::as_str) {
            Some(text) => text.to_owned(),
            None => String::new(),
        };
        vec![
            ("CARGO_MANIFEST_DIR", self.folder().display().to_string()),
            ("CARGO_MANIFEST_PATH", self.manifest_path.display().to_string()),
            ("CARGO_PKG_NAME", self.name.clone()),
            ("CARGO_PKG_VERSION", self.version.clone()),
            ("CARGO_PKG_VERSION_MAJOR", number()),
            ("CARGO_PKG_VERSION_MINOR", number()),
            ("CARGO_PKG_VERSION_PATCH", number()),
            ("CARGO_PKG_VERSION_PRE", pre.to_owned()),
            ("CARGO_PKG_LICENSE", self.license.clone().unwrap_or_default()),
            ("CARGO_PKG_DESCRIPTION", text("description")),
            ("CARGO_PKG_HOMEPAGE", text("homepage")),
            ("CARGO_PKG_REPOSITORY", text("repository")),
            ("CARGO_PKG_RUST_VERSION", text("rust_version")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_knows_the_variables_that_cargo_sets() {
        let package: Package = serde_json::from_str(
            r#"{"name":"one","version":"1.2.3-rc.1","license":null,"manifest_path":"/x/one/Cargo.toml",
                "dependencies":[],"description":"text","homepage":null}"#,
        )
        .unwrap();
        let variables: BTreeMap<_, _> = package.variables().into_iter().collect();
        assert_eq!(variables["CARGO_MANIFEST_DIR"], "/x/one");
        assert_eq!(variables["CARGO_PKG_VERSION_MINOR"], "2");
        assert_eq!(variables["CARGO_PKG_VERSION_PRE"], "rc.1");
        assert_eq!(variables["CARGO_PKG_DESCRIPTION"], "text");
        assert_eq!(variables["CARGO_PKG_HOMEPAGE"], "");
    }
}
