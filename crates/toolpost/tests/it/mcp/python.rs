//! The Python SDK as a client, in both eras, on standard input and output and over HTTP.

use super::fixtures::program;
use super::http::Served;
use crate::installed::{Wanted, pip};
use crate::{Home, Ran};
use std::process::Command;

const SDK: Wanted = Wanted { folder: "python-mcp", packages: &["mcp==2.3.0"] };

/// Runs the script of one client; it says `ok` at its end, and why not otherwise.
fn check(mode: &str, is_http: bool) {
    let folder = pip(&SDK);
    let home = Home::new();
    home.write("repo/lines", (1..=100).map(|line| format!("line {line}\n")).collect::<String>());
    let flags = ["--policy", "privileged", "--structured"];
    let served = is_http.then(|| Served::with_fixtures(&home, &[&flags[..], &["--no-token"]].concat()));
    let place = match &served {
        Some(served) => format!("http://{}/mcp", served.address),
        None => program(&home).display().to_string(),
    };
    let mut command = Command::new(folder.join("bin/python"));
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/client.py"))
        .args([mode, &place, home.path("repo").to_str().unwrap()])
        .args(flags)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path(""))
        .env("XDG_DATA_HOME", home.path("data"))
        .current_dir(home.path("repo"));
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.stdout.trim().ends_with("ok"), "{mode}: {}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn the_python_sdk_works_with_a_handshake() {
    check("legacy", false);
    check("legacy", true);
}

#[test]
fn the_python_sdk_works_without_one() {
    check("2026-07-28", false);
    check("2026-07-28", true);
}

#[test]
fn the_python_sdk_finds_out_by_itself() {
    check("auto", false);
    check("auto", true);
}

#[test]
fn the_python_sdk_calls_a_tool_that_is_a_prompt() {
    let python = pip(&SDK).join("bin/python");
    for mode in ["legacy", "2026-07-28"] {
        let home = Home::new();
        let agent = format!(
            "---\nname: research\ndescription: Finds out.\n{}\n---\nFind out.\n",
            crate::tree::SUMMARIZER
        );
        home.write(".config/toolpost/agents/research.md", agent);
        let mut command = Command::new(&python);
        command
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/prompt_tools.py"))
            .args([mode, env!("CARGO_BIN_EXE_toolpost"), home.path("repo").to_str().unwrap()])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home.path(""))
            .current_dir(home.path("repo"));
        let ran = Ran::of(command.output().unwrap());
        assert!(ran.stdout.trim().ends_with("ok"), "{mode}: {}\n{}", ran.stdout, ran.stderr);
    }
}
