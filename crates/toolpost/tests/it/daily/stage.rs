//! Where lines run: a folder with a project, a home, and a registry that stands for the network. Two workers have a stage each.

use crate::installed::{Wanted, pip};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What an active virtual environment of a Python project has.
const PYTHON: Wanted =
    Wanted { folder: "pytest", packages: &["pytest==8.4.2", "setuptools==80.9.0", "wheel==0.45.1"] };

const PROJECTS: &[(&str, &str)] = &[
    ("node", include_str!("projects/node.txt")),
    ("installed", include_str!("projects/installed.txt")),
    ("python", include_str!("projects/python.txt")),
    ("venv", include_str!("projects/venv.txt")),
    ("rust", include_str!("projects/rust.txt")),
    ("go", include_str!("projects/go.txt")),
    ("git", include_str!("projects/git.txt")),
    ("keys", include_str!("projects/keys.txt")),
    ("make", include_str!("projects/make.txt")),
];

/// Variables of the user that say where toolchains are.
const TOOLCHAINS: [&str; 4] = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT"];

/// A worker's stage.
pub(super) struct Stage {
    folder: TempDir,
    environment: Vec<(String, String)>,
    /// Projects as they are before a line, by name.
    ready: HashMap<&'static str, PathBuf>,
    /// The address of the registry.
    registry: String,
}

impl Stage {
    pub(super) fn new() -> Stage {
        // Not in `/tmp`, of which every line has its own.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let registry = folder.path().join("registry");
        fs::create_dir_all(&registry).unwrap();
        let address = serve(registry.clone());
        let environment = environment(&folder.path().canonicalize().unwrap());
        let stage = Stage { folder, environment, ready: HashMap::new(), registry: address };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/daily/registry.py");
        let done = Command::new("python3").arg(script).arg(&registry).arg(&stage.registry).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        stage.clean_home();
        stage
    }

    /// The folder in which every line runs: the same for the plain shell and for the sandbox, since programs write down
    /// where they are.
    pub(super) fn project(&self) -> PathBuf {
        self.path("work/project")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The Python of every line.
    pub(super) fn python(&self) -> PathBuf {
        pip(&PYTHON)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A line with the address of the registry.
    pub(super) fn line(&self, text: &str) -> String {
        text.replace("{registry}", &self.registry)
    }

    /// Puts a fresh copy of the project where lines run.
    pub(super) fn set(&mut self, name: &'static str) {
        let project = self.project();
        if !self.ready.contains_key(name) {
            remove(&project);
            fs::create_dir_all(&project).unwrap();
            self.make(name);
            let kept = self.path("ready").join(name);
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            fs::rename(&project, &kept).unwrap();
            self.ready.insert(name, kept);
        }
        remove(&project);
        let done = Command::new("cp").arg("-a").arg(&self.ready[name]).arg(&project).status().unwrap();
        assert!(done.success());
        remove(&self.private_temporary());
        fs::create_dir_all(self.private_temporary()).unwrap();
        self.clean_home();
    }

    /// What the plain shell has for `/tmp`: the sandbox has one of its own.
    pub(super) fn private_temporary(&self) -> PathBuf {
        self.path("temporary")
    }

    fn make(&self, name: &str) {
        let (_, text) = PROJECTS.iter().find(|(known, _)| *known == name).expect("a known project");
        let mut file: Option<(PathBuf, String)> = None;
        let project = self.project();
        let flush = |file: &mut Option<(PathBuf, String)>| {
            if let Some((path, text)) = file.take() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        };
        for row in text.lines() {
            if let Some(path) = row.strip_prefix("//- ") {
                flush(&mut file);
                file = Some((project.join(path), String::new()));
            } else if let Some(other) = row.strip_prefix("//< ") {
                self.make(other.trim_end_matches(".txt"));
            } else if let Some(line) = row.strip_prefix("//$ ") {
                flush(&mut file);
                let mut command = self.command("bash");
                command
                    .args(["-c", line])
                    .env("REGISTRY", &self.registry)
                    .env("REGISTRY_FOLDER", self.path("registry"));
                for role in ["AUTHOR", "COMMITTER"] {
                    command.env(format!("GIT_{role}_DATE"), "2026-01-02T03:04:05Z");
                }
                let done = command.output().unwrap();
                assert!(done.status.success(), "{name}: {line}: {}", String::from_utf8_lossy(&done.stderr));
            } else if let Some((_, text)) = &mut file {
                text.push_str(row);
                text.push('\n');
            }
        }
        flush(&mut file);
    }

    /// A program in the project, with the environment of the user.
    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(self.environment.iter().cloned()).current_dir(self.project());
        command
    }

    fn clean_home(&self) {
        let home = self.home();
        remove(&home);
        fs::create_dir_all(&home).unwrap();
        let text = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";
        fs::write(home.join(".gitconfig"), text).unwrap();
    }
}

fn environment(folder: &Path) -> Vec<(String, String)> {
    let variable = |name: &str| std::env::var(name).ok();
    let user_home = variable("HOME").unwrap_or_default();
    let cargo_home = variable("CARGO_HOME").unwrap_or_else(|| format!("{user_home}/.cargo"));
    let rustup_home = variable("RUSTUP_HOME").unwrap_or_else(|| format!("{user_home}/.rustup"));
    let python = pip(&PYTHON).display().to_string();
    let path = format!("{python}/bin:{cargo_home}/bin:/usr/bin:/bin");
    let mut all: Vec<(String, String)> =
        TOOLCHAINS.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect();
    all.retain(|(name, _)| !matches!(name.as_str(), "CARGO_HOME" | "RUSTUP_HOME"));
    // What every command of the sandbox gets, so that programs talk alike.
    let fixed = [
        ("CARGO_HOME", cargo_home.as_str()),
        ("RUSTUP_HOME", &rustup_home),
        ("VIRTUAL_ENV", &python),
        ("PATH", &path),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_EDITOR", ":"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("PYTHONUNBUFFERED", "1"),
        ("USER", "ada"),
        ("NO_UPDATE_NOTIFIER", "1"),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ];
    all.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
    all.push(("HOME".to_owned(), folder.join("home").display().to_string()));
    all.push(("XDG_DATA_HOME".to_owned(), folder.join("data").display().to_string()));
    all
}

/// Removes a folder, whatever rights a line has left in it.
fn remove(folder: &Path) {
    if folder.symlink_metadata().is_ok() {
        let done = Command::new("rm").arg("-rf").arg(folder).status().unwrap();
        assert!(done.success(), "{}", folder.display());
    }
}

/// Serves the files of a folder for as long as the tests run, and returns the address.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder));
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut header = String::new();
    while reader.read_line(&mut header).ok()? > 2 {
        header.clear();
    }
    let target = first.split(' ').nth(1)?.split('?').next()?;
    let mut path = folder.join(target.trim_start_matches('/'));
    if path.is_dir() {
        path.push("index.html");
    }
    let body = fs::read(&path);
    let (status, body) = match body {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let kind = if path.ends_with("index.html") && !target.starts_with("/npm") {
        "text/html"
    } else {
        "application/octet-stream"
    };
    let kind = if target.starts_with("/npm/tiny-lib") && !target.ends_with(".tgz") {
        "application/json"
    } else {
        kind
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    if !first.starts_with("HEAD") {
        stream.write_all(&body).ok()?;
    }
    stream.flush().ok()
}
