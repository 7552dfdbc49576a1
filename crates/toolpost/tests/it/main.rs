//! The `toolpost` command as people and programs use it: the real executable, in a home of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unsafe_code,
    reason = "tests set up the world around the command by hand, and say what they measured"
)]

mod agents;
mod agents_checked;
#[path = "../../../toolpost-agent/tests/it/aimock_server.rs"]
mod aimock_server;
mod arguments;
mod asking;
mod asking_commands;
mod brain;
mod call;
mod chat;
mod code;
mod code_fresh;
mod code_graph;
mod code_places;
mod code_unread;
mod commands;
mod config;
mod confinement;
mod covered;
mod custom_tools;
mod daily;
mod decisions;
mod delegated;
mod designs;
mod dialects;
mod docs;
mod doctor;
mod endings;
mod explained;
mod followed;
mod foreign;
mod foreign_rules;
mod gemini;
mod git_after;
mod hidden_text;
mod hosts;
mod install;
mod installed;
mod joined;
mod langchain;
mod language_servers;
mod layers;
#[path = "../../../toolpost-plugins/tests/it/load.rs"]
mod load;
mod mcp;
mod models;
mod narrowing;
mod one_file;
mod one_set;
mod packs;
mod packs_in_files;
mod pdf;
#[path = "../../../toolpost-store/tests/it/server.rs"]
#[allow(dead_code, reason = "the tests of the store use all of it")]
mod postgres_server;
mod price;
mod puppet;
mod reader;
mod resume;
mod run_events;
mod run_faults;
mod run_kept;
mod run_output;
mod runs;
mod secrets;
mod servers;
mod sessions;
mod settings;
mod signals;
mod started;
mod stored;
mod take_over;
mod tasks;
mod terminal;
mod tools;
mod tree;
mod trust;
mod undo;
mod uninstall;
mod upstream;
mod verbose;
mod vfs;
mod web;
mod whole;
mod withheld;
mod writers;

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use toolpost_core::Dialect;
use toolpost_core::capability::Need;
use toolpost_core::policy::Profile;

/// Before anything else: this process may be one that somebody else has started, to be a client or a server.
#[unsafe(link_section = ".init_array")]
#[used]
static OTHER_ROLE: extern "C" fn() = {
    extern "C" fn hook() {
        upstream::conformance::run_if_asked();
        mcp::fixtures::run_if_asked();
    }
    hook
};

/// A user's home with one small repository in it.
struct Home {
    folder: TempDir,
}

/// What a command did.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Home {
    fn new() -> Home {
        let home = Home { folder: tempfile::tempdir().unwrap() };
        home.write("repo/README.md", "# fixture\n\nThe second line is empty.\n4\n5\n6\n7\n");
        home.write("repo/src/main.rs", "fn main() {}\n");
        std::fs::create_dir_all(home.path("repo/.git")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The command, standing in the repository, knowing nothing of the machine it is tested on.
    fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_toolpost")), args)
    }

    fn command_of(&self, program: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path(""))
            .env("XDG_DATA_HOME", self.path("data"))
            .current_dir(self.path("repo"));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs with `--json`; whatever happens, exactly one JSON object comes out.
    fn json(&self, args: &[&str]) -> (i32, Value) {
        self.run(&[args, &["--json"]].concat()).json()
    }
}

impl Ran {
    fn of(output: Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        assert!(!ran.stderr.contains("panicked at"), "{}", ran.stderr);
        ran
    }

    fn json(self) -> (i32, Value) {
        assert!(self.stdout.ends_with('\n') && self.stdout.lines().count() == 1, "{:?}", self.stdout);
        let value: Value = serde_json::from_str(&self.stdout).unwrap();
        assert!(value.is_object(), "{value}");
        (self.status, value)
    }
}

/// The names of the built-in tools that a profile offers, in a dialect, in the order in which they are listed.
fn offered(profile: Profile, dialect: &Dialect) -> Vec<String> {
    let packs = toolpost_tools::packs(&toolpost_tools::Settings::default());
    // These are held back, so that there is always something to find.
    let listed = packs.iter().filter(|pack| !["project", "vfs"].contains(&pack.name()));
    let specs = listed.flat_map(|pack| pack.tools()).map(|tool| tool.spec());
    specs
        .filter(|spec| spec.required.difference(profile.capabilities()).is_empty())
        .filter(|spec| spec.roles.is_empty())
        .filter(|spec| spec.needs.iter().all(|need| matches!(need, Need::Store | Need::Engine)))
        .filter(|spec| dialect.reason_against(&spec.name).is_none())
        .map(|spec| dialect.name_of(&spec.name).unwrap_or(&spec.name).to_owned())
        .collect()
}

/// The small number of tries, or the full one in a soak.
fn count(normal: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}

/// The root of the workspace of this project.
fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap()
}
