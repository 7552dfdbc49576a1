//! Other people's clients, each for as far as it goes: initialise, list, read, grep, edit, structured result, error, question,
//! progress, cancel, 100 calls in flight, list change; on standard input and output and, with the token, over HTTP.
//!
//! On standard input and output every line is kept, so that what the server sent can be looked at afterwards.

mod inspector;

use super::fixtures;
use super::http::Served;
use crate::installed::{Wanted, node, npm, pip};
use crate::{Home, Ran};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const TYPESCRIPT: Wanted = Wanted {
    folder: "typescript",
    packages: &["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"],
};
/// 4.1.3 and later want a certifi that is nowhere to be had.
const FASTMCP: Wanted = Wanted { folder: "fastmcp", packages: &["fastmcp==4.1.2"] };

const FLAGS: &[&str] = &["--policy", "privileged", "--structured"];

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Pipe,
    Http,
}

/// What the server is to hear when its client no longer wants an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cancel {
    Told,
    /// The client keeps it to itself.
    Untold,
}

/// A repository, and a server for it that a client can reach.
struct Stage {
    home: Home,
    way: Way,
    program: PathBuf,
    served: Option<Served>,
}

impl Stage {
    fn new(way: Way) -> Stage {
        Stage::of(way, |_| PathBuf::from(env!("CARGO_BIN_EXE_toolpost")))
    }

    /// One of the fixtures changes the list.
    fn with_fixtures(way: Way) -> Stage {
        Stage::of(way, fixtures::program)
    }

    fn of(way: Way, program: impl FnOnce(&Home) -> PathBuf) -> Stage {
        let home = Home::new();
        let program = program(&home);
        home.write("repo/lines", (1..=100).map(|line| format!("line {line}\n")).collect::<String>());
        let served = (way == Way::Http).then(|| Served::by(&home, &program, FLAGS));
        Stage { home, way, program, served }
    }

    /// An address and its token, or the words of a command.
    fn place(&self) -> Vec<String> {
        if let Some(served) = &self.served {
            let token = std::fs::read_to_string(self.home.path("data/toolpost/mcp-token")).unwrap();
            return vec![format!("http://{}/mcp", served.address), token.trim().to_owned()];
        }
        let flags = FLAGS.join(" ");
        let [sent, answered, repository] =
            ["sent", "answered", "repo"].map(|name| self.home.path(name).display().to_string());
        let server = self.program.display();
        let line = format!(
            "tee -a '{sent}' | '{server}' mcp {flags} --workspace '{repository}' | tee -a '{answered}'"
        );
        ["/bin/sh", "-c", &line].map(str::to_owned).to_vec()
    }

    /// A program in the repository that knows nothing of the machine.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path(""))
            .env("XDG_DATA_HOME", self.home.path("data"))
            .current_dir(self.home.path("repo"));
        command
    }

    /// Runs the script of one client; it says `ok` at its end, and why not otherwise.
    fn run(&self, program: &Path, script: &Path, words: &[&str], cancel: Cancel) {
        let mut command = self.command(program);
        command.arg(script).args(words).arg(self.home.path("repo")).args(self.place());
        let ran = Ran::of(command.output().unwrap());
        let about = format!("{} {words:?} {:?}", script.display(), self.way);
        assert!(ran.stdout.trim().ends_with("ok"), "{about}: {}\n{}", ran.stdout, ran.stderr);
        if self.way == Way::Pipe {
            self.each_was_answered(cancel);
        }
    }

    /// Each call was answered once; of one that was cancelled, nothing was said any more.
    fn each_was_answered(&self, cancel: Cancel) {
        let [sent, answered] = ["sent", "answered"].map(|name| self.messages(name));
        let is_cancelled = |id: &Value| {
            let mut told = sent.iter().filter(|message| message["method"] == "notifications/cancelled");
            told.any(|message| message["params"]["requestId"] == *id)
        };
        let calls: Vec<&Value> = sent
            .iter()
            .filter(|message| message["method"] == "tools/call")
            .map(|message| &message["id"])
            .collect();
        assert!(calls.len() > 100, "{} calls", calls.len());
        let cancelled = calls.iter().filter(|id| is_cancelled(id)).count();
        assert_eq!(cancelled, usize::from(cancel == Cancel::Told), "calls that were cancelled");
        let count = |messages: &[Value], id: &Value, is_request: bool| {
            let of_it =
                |message: &&Value| message["id"] == *id && message["method"].is_string() == is_request;
            messages.iter().filter(of_it).count()
        };
        for id in calls {
            // A client that connects again begins to count again.
            let expected = if is_cancelled(id) { 0 } else { count(&sent, id, true) };
            assert_eq!(count(&answered, id, false), expected, "answers to the request {id}");
        }
    }

    fn messages(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Checks both ways at the same time: a client mostly waits.
fn both(check: impl Fn(Way) + Sync) {
    std::thread::scope(|scope| {
        let check = &check;
        let checks = [Way::Pipe, Way::Http].map(|way| scope.spawn(move || check(way)));
        for check in checks {
            check.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// The scripts lie beside this file.
fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/clients").join(name)
}

fn typescript(version: &str, era: &str) {
    let (node, packages) = (node(), npm(&TYPESCRIPT));
    both(|way| {
        let stage = Stage::with_fixtures(way);
        // Node looks for packages beside the script.
        std::os::unix::fs::symlink(packages.join("node_modules"), stage.home.path("node_modules")).unwrap();
        stage.home.write("client.mjs", std::fs::read(script("typescript.mjs")).unwrap());
        stage.run(&node, &stage.home.path("client.mjs"), &[version, era], Cancel::Told);
    });
}

#[test]
fn the_typescript_sdk_1_works() {
    typescript("1", "legacy");
}

#[test]
fn the_typescript_sdk_2_works_with_a_handshake() {
    typescript("2", "legacy");
}

#[test]
fn the_typescript_sdk_2_works_without_one() {
    typescript("2", "modern");
}

#[test]
fn the_typescript_sdk_2_finds_out_by_itself() {
    typescript("2", "auto");
}

fn fastmcp(mode: &str) {
    let python = pip(&FASTMCP).join("bin/python");
    both(|way| Stage::with_fixtures(way).run(&python, &script("fastmcp_client.py"), &[mode], Cancel::Told));
}

#[test]
fn fastmcp_works_with_a_handshake() {
    fastmcp("legacy");
}

#[test]
fn fastmcp_works_without_one() {
    fastmcp("2026-07-28");
}

#[test]
fn fastmcp_finds_out_by_itself() {
    fastmcp("auto");
}

#[test]
fn the_adapter_of_langchain_works() {
    let python = pip(&crate::langchain::ADAPTER).join("bin/python");
    both(|way| Stage::with_fixtures(way).run(&python, &script("langchain_client.py"), &[], Cancel::Untold));
}
