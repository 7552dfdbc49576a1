//! The packages whose history is used, and fetching two releases of each by the ordinary package clients. What is fetched
//! stays in the scratch folder; nothing of it is run, and nothing of it is committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;

/// Where a package is published.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Registry {
    Crates,
    Python,
    Npm,
}

/// Two releases of one package.
pub(super) struct Package {
    pub(super) registry: Registry,
    pub(super) name: &'static str,
    older: &'static str,
    newer: &'static str,
}

const fn package(
    registry: Registry,
    name: &'static str,
    older: &'static str,
    newer: &'static str,
) -> Package {
    Package { registry, name, older, newer }
}

/// The packages, with releases that lie far enough apart to have many changes.
pub(super) const PACKAGES: &[Package] = &[
    package(Registry::Crates, "regex", "1.7.0", "1.9.0"),
    package(Registry::Crates, "serde_json", "1.0.100", "1.0.140"),
    package(Registry::Crates, "clap_builder", "4.3.0", "4.5.40"),
    package(Registry::Crates, "tokio", "1.30.0", "1.40.0"),
    package(Registry::Crates, "hyper", "1.0.1", "1.6.0"),
    package(Registry::Crates, "tracing-subscriber", "0.3.0", "0.3.19"),
    package(Registry::Crates, "ring", "0.17.5", "0.17.14"),
    package(Registry::Crates, "libz-sys", "1.1.8", "1.1.20"),
    package(Registry::Crates, "tree-sitter", "0.22.1", "0.25.0"),
    package(Registry::Crates, "rand", "0.8.5", "0.9.0"),
    package(Registry::Crates, "image", "0.24.0", "0.25.0"),
    package(Registry::Python, "requests", "2.27.0", "2.31.0"),
    package(Registry::Python, "flask", "2.2.0", "3.0.0"),
    package(Registry::Python, "django", "4.1", "4.2"),
    package(Registry::Python, "rich", "12.0.0", "13.0.0"),
    package(Registry::Python, "click", "8.0.0", "8.1.7"),
    package(Registry::Python, "httpx", "0.23.0", "0.27.0"),
    package(Registry::Python, "pydantic", "2.5.0", "2.8.0"),
    package(Registry::Python, "urllib3", "1.26.0", "2.0.7"),
    package(Registry::Python, "werkzeug", "2.2.0", "3.0.0"),
    package(Registry::Python, "jinja2", "3.0.0", "3.1.0"),
    package(Registry::Npm, "rxjs", "7.5.0", "7.8.1"),
    package(Registry::Npm, "zod", "4.0.0", "4.3.6"),
    package(Registry::Npm, "express", "4.17.0", "4.19.0"),
    package(Registry::Npm, "node-addon-api", "5.0.0", "8.0.0"),
    package(Registry::Npm, "nan", "2.14.0", "2.19.0"),
    package(Registry::Npm, "@reduxjs/toolkit", "1.9.0", "2.2.0"),
    package(Registry::Npm, "date-fns", "3.3.0", "4.1.0"),
    package(Registry::Npm, "bootstrap", "5.2.0", "5.3.0"),
    package(Registry::Npm, "axios", "1.2.0", "1.6.0"),
    package(Registry::Npm, "@types/node", "20.0.0", "22.0.0"),
    package(Registry::Npm, "fastify", "4.10.0", "4.20.0"),
    package(Registry::Npm, "three", "0.150.0", "0.155.0"),
    package(Registry::Npm, "svelte", "4.0.0", "4.2.0"),
];

/// The file that says that a folder has been filled.
const COMPLETE: &str = ".complete";

/// The folders of both releases of a package.
pub(super) struct Releases {
    pub(super) older: PathBuf,
    pub(super) newer: PathBuf,
}

/// Fetches both releases below `scratch`, unless they are there already.
pub(super) fn fetch(package: &Package, scratch: &Path) -> Result<Releases> {
    let release = |version: &str| {
        fetch_one(package.registry, package.name, version, scratch)
            .with_context(|| format!("cannot fetch {} {version}", package.name))
    };
    Ok(Releases { older: release(package.older)?, newer: release(package.newer)? })
}

fn fetch_one(registry: Registry, name: &str, version: &str, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join(format!("{}-{version}", name.replace(['/', '@'], "_")));
    once(&folder, || match registry {
        Registry::Crates => from_cargo(name, version, &folder),
        Registry::Python => from_pip(name, version, &folder),
        Registry::Npm => from_npm(name, version, &folder),
    })?;
    Ok(folder)
}

/// Unpacks a release of an npm package into a folder, unless it is there already.
pub(super) fn unpack_npm(name: &str, version: &str, folder: &Path) -> Result<()> {
    let is_older = fs::read_to_string(folder.join(COMPLETE)).is_ok_and(|text| text != version);
    if is_older {
        fs::remove_dir_all(folder)?;
    }
    once(folder, || from_npm(name, version, folder))
        .and_then(|()| Ok(fs::write(folder.join(COMPLETE), version)?))
        .with_context(|| format!("cannot fetch {name} {version}"))
}

/// Fills a folder, unless it has been filled before.
fn once(folder: &Path, fill: impl FnOnce() -> Result<()>) -> Result<()> {
    if folder.join(COMPLETE).exists() {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fill()?;
    Ok(fs::write(folder.join(COMPLETE), "")?)
}

/// `cargo info` fetches the release that it tells about into cargo's own folder.
fn from_cargo(name: &str, version: &str, folder: &Path) -> Result<()> {
    let mut cargo = process::cargo(folder, &["info", "--quiet", &format!("{name}@{version}")]);
    // Inside this repository, cargo would answer about the dependency of that name.
    cargo.current_dir(std::env::temp_dir());
    process::capture(&mut cargo)?;
    let archive = cargo_archive(&format!("{name}-{version}.crate"))?;
    untar(&archive, folder)
}

fn cargo_archive(name: &str) -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let cache = home.context("no home folder, so set CARGO_HOME")?.join("registry/cache");
    let registries =
        fs::read_dir(&cache).with_context(|| format!("cargo has no cache in {}", cache.display()))?;
    let mut archives = registries.filter_map(|entry| Some(entry.ok()?.path().join(name)));
    archives.find(|path| path.exists()).with_context(|| format!("cargo has not fetched {name}"))
}

/// A wheel is taken, because nothing has to be built to look into it.
fn from_pip(name: &str, version: &str, folder: &Path) -> Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]);
    pip.arg(folder).arg(format!("{name}=={version}"));
    process::capture(&mut pip)?;
    let wheel = only_file(folder, ".whl")?;
    process::capture(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(folder))?;
    Ok(fs::remove_file(wheel)?)
}

fn from_npm(name: &str, version: &str, folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--loglevel=error", &format!("{name}@{version}"), "--pack-destination"]);
    process::capture(npm.arg(folder))?;
    let archive = only_file(folder, ".tgz")?;
    untar(&archive, folder)?;
    Ok(fs::remove_file(archive)?)
}

fn untar(archive: &Path, folder: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).args(["--strip-components=1", "--no-same-owner", "-C"]).arg(folder);
    process::capture(&mut tar).map(drop)
}

fn only_file(folder: &Path, ending: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            return Ok(path);
        }
    }
    bail!("no file *{ending} in {}", folder.display())
}
