//! Where a host runs: a home of its own with a repository and a picture, and the calls that its model asks for.

use super::model::Call;
use crate::Home;
use base64::Engine as _;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAABlklEQVR4nA3LQQEAIQgAQSMYgQhGMILvfRHBCEYwAhGIYAQiEIEId/Of1hq9IY3RmI3V0MZunMZtWMMbrxGNbFSjtU7vSGd0Zmd1tLM7p3M71vHO60QnO9X/IHRBhCFMYQkqbOEIVzDBhSeEkELJHwZ9IIMxmIM10MEenMEd2MAHbxCDHNT4w6RPZDImc7ImOtmTM7kTm/jkTWKSk5p/WPSFLMZiLtZCF3txFndhC1+8RSxyUesPSldEGcpUlqLKVo5yFVNceUooqZT+YdM3shmbuVkb3ezN2dyNbXzzNrHJTe0/HPpBDuMwD+ugh304h3uwgx/eIQ55qPOHS7/IZVzmZV30si/nci928cu7xCUvdf9gdEOMYUxjGWps4xjXMMONZ4SRRtkfnO6IM5zpLEed7RznOua485xw0in/w6M/5DEe87Ee+tiP87gPe/jjPeKRj3p/CHogwQhmsAINdnCCG1jgwQsiyKDiD0lPJBnJTFaiyU5OchNLPHlJJJlU/qHohRSjmMUqtNjFKW5hhReviCKLKj56nEoQ81dbqQAAAABJRU5ErkJggg==";

/// A home with a repository, and the model.
pub(super) struct Stage {
    pub(super) home: Home,
    pub(super) model: SocketAddr,
}

/// By which names a host's entry offers the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Toolpost,
    Claude,
    Gemini,
    Codex,
}

impl Dialect {
    pub(super) fn name(self) -> &'static str {
        match self {
            Dialect::Toolpost => "toolpost",
            Dialect::Claude => "claude",
            Dialect::Gemini => "gemini",
            Dialect::Codex => "codex",
        }
    }

    /// The calls that the model asks for: a text, an output, an edit that fails, one that lands, a picture, and a command that
    /// goes on for so many seconds.
    pub(super) fn calls(self, seconds: u32) -> Vec<Call> {
        let [read, bash, edit] = match self {
            Dialect::Toolpost => ["read", "bash", "edit"],
            Dialect::Claude => ["Read", "Bash", "Edit"],
            Dialect::Gemini => ["read_file", "run_shell_command", "replace"],
            Dialect::Codex => ["read_file", "exec_command", "apply_patch"],
        };
        let file = |name: &str| match self {
            Dialect::Toolpost => json!({"filePath": name}),
            Dialect::Claude | Dialect::Gemini => json!({"file_path": name}),
            Dialect::Codex => json!({"path": name}),
        };
        let command = |line: String| match self {
            Dialect::Codex => json!({"cmd": line}),
            _ => json!({"command": line}),
        };
        let change = |old: &str, new: &str| match self {
            Dialect::Toolpost => json!({"filePath": "src/main.rs", "oldString": old, "newString": new}),
            Dialect::Claude | Dialect::Gemini => {
                json!({"file_path": "src/main.rs", "old_string": old, "new_string": new})
            }
            Dialect::Codex => json!({"input": format!(
                "*** Begin Patch\n*** Update File: src/main.rs\n@@\n-{old}\n+{new}\n*** End Patch"
            )}),
        };
        // The output is computed, so that the call does not contain it.
        let printed = "printf '%s\\tamber \"%s\"\\\\\\n' $((6*7)) $((4+4))";
        [
            (read, file("notes.txt")),
            (bash, command(printed.to_owned())),
            (edit, change("fn man() {}", "fn x() {}")),
            (edit, change("fn main() {}", "fn changed() {}")),
            (read, file("red.png")),
            (bash, command(format!("touch started; sleep {seconds}"))),
        ]
        .map(|(tool, arguments): (&str, Value)| (tool.to_owned(), arguments))
        .to_vec()
    }
}

impl Stage {
    pub(super) fn new(model: SocketAddr) -> Stage {
        let home = Home::new();
        let notes = "It says \"hello\".\n\tA tab, a back\\slash and ünïcode: 🔧\nviolet anchor\n";
        home.write("repo/notes.txt", notes);
        home.write("repo/src/main.rs", "fn main() {}\n");
        let picture = base64::engine::general_purpose::STANDARD.decode(PICTURE).unwrap();
        home.write("repo/red.png", picture);
        home.write("tmp/.keep", "");
        Stage { home, model }
    }

    /// A program that knows nothing of this machine, and reaches nothing beyond it.
    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let proxy = format!("http://{}", self.model);
        let own = Path::new(TOOLPOST).parent().unwrap();
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", own.display()))
            .env("HOME", self.home.path(""))
            .env("TERM", "dumb")
            .env("TMPDIR", self.home.path("tmp"))
            .env("NODE_USE_ENV_PROXY", "1")
            .current_dir(self.home.path("repo"));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, &proxy);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        command
    }

    /// The address of the model, with this path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.model)
    }

    /// One of the scripts that lie beside this file, for a host that is a library.
    pub(super) fn script(&self, python: PathBuf, name: &str, task: &str) -> Command {
        let root = self.home.path("repo").display().to_string();
        let mut command = self.command(python.join("bin/python"));
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hosts").join(name))
            .args([&self.url("/v1"), task, TOOLPOST])
            .args(["mcp", "--policy", "privileged", "--workspace", &root]);
        command
    }
}

pub(super) const TOOLPOST: &str = env!("CARGO_BIN_EXE_toolpost");
