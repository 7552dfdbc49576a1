//! Other people's clients, installed below `target/` once. A test that cannot have one fails and says why.

use crate::project;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

/// Two installations at a time would disturb each other.
static TURN: Mutex<()> = Mutex::new(());

/// The packages that the tests use, and the folder below `target/` that holds them.
pub(crate) struct Wanted {
    pub(crate) folder: &'static str,
    pub(crate) packages: &'static [&'static str],
}

/// A folder with these packages of npm and, to run them, their own Node.
pub(crate) fn npm(wanted: &Wanted) -> PathBuf {
    install(wanted, |folder| {
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(folder);
        vec![command]
    })
}

/// A virtual environment of Python with these packages.
pub(super) fn pip(wanted: &Wanted) -> PathBuf {
    install(wanted, |folder| {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(folder);
        let mut fill = Command::new(folder.join("bin/pip"));
        fill.args(["install", "--quiet", "--disable-pip-version-check"]);
        vec![make, fill]
    })
}

/// Runs the commands, the last of them with the packages, unless exactly these are there.
fn install(wanted: &Wanted, commands: impl FnOnce(&PathBuf) -> Vec<Command>) -> PathBuf {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = project().join("target/clients").join(wanted.folder);
    let (marker, packages) = (folder.join("installed"), wanted.packages.join("\n"));
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == packages) {
        return folder;
    }
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut commands = commands(&folder);
    commands.last_mut().unwrap().args(wanted.packages);
    for command in &mut commands {
        let output =
            command.output().unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?} failed, so this client cannot be tested: {said}");
    }
    std::fs::write(marker, packages).unwrap();
    folder
}
