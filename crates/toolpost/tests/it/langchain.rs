//! The example for LangChain, as its README says to run it.

use crate::installed::{Wanted, pip};
use crate::{Home, Ran, project};
use std::path::Path;
use std::process::Command;

pub(crate) const ADAPTER: Wanted =
    Wanted { folder: "langchain", packages: &["langchain-mcp-adapters==0.3.2"] };

#[test]
fn the_example_for_langchain_prints_what_it_shows() {
    let example = project().join("examples/langchain");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).unwrap();
    assert_eq!(read("requirements.txt").lines().collect::<Vec<_>>(), ADAPTER.packages);
    let home = Home::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_toolpost")).parent().unwrap();
    let mut command = Command::new(pip(&ADAPTER).join("bin/python"));
    command
        .arg(example.join("example.py"))
        .arg(home.path("repo"))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("HOME", home.path(""))
        .current_dir(home.path(""));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("tools: "), "{}", ran.stdout);
    let shown = format!("```text\n{}```", ran.stdout);
    assert!(read("README.md").contains(&shown), "the README does not show this:\n{shown}");
}
