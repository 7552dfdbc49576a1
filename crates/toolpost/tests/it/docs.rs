//! What the README and the guides show is run, so that they cannot drift from the product.

use crate::{Home, project};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a person types to get, build or test the project itself; everything else that is not `toolpost` is an error.
const NOT_RUN: [&str; 6] = ["git clone ", "cd ", "cargo build", "cargo test", "cargo xtask ", "scripts/"];

/// A block of code in a page.
struct Block {
    page: String,
    line: usize,
    text: String,
}

#[test]
fn every_command_of_the_docs_works() {
    let mut run = 0;
    for block in pages().iter().flat_map(|page| blocks(page, "sh")) {
        // The lines of a block follow one another, as they do for whoever tries them.
        let home = repository();
        for (index, line) in block.text.lines().enumerate() {
            let place = format!("{}:{}", block.page, block.line + index);
            if let Some((command, status)) = command(line).unwrap_or_else(|why| panic!("{place}: {why}")) {
                let output = in_repository(&home, &command);
                assert_eq!(output.status.code(), Some(status), "{place}: {command}\n{output:?}");
                run += 1;
            }
        }
    }
    assert!(run > 0, "the README shows no command");
}

#[test]
fn every_configuration_of_the_docs_is_taken() {
    let mut taken = 0;
    for page in [
        "docs/guide/rights.md",
        "docs/guide/servers.md",
        "docs/guide/agents.md",
        "docs/guide/models.md",
        "docs/reference/configuration.md",
    ] {
        for block in blocks(&project().join(page), "toml") {
            let home = crate::Home::new();
            home.write("shown.toml", &block.text);
            let config = home.path("shown.toml").display().to_string();
            let ran = home.run(&["doctor", "--config", &config]);
            // The servers of the examples are not installed here; nothing else may be broken.
            let is_else_broken =
                |line: &str| line.starts_with("  broken") && !line.contains(" did not start: ");
            assert!(
                !ran.stdout.lines().any(is_else_broken) && ran.stdout.contains("  configured  by "),
                "{page}:{}: {}{}",
                block.line,
                ran.stdout,
                ran.stderr
            );
            assert!(!ran.stderr.contains("shown.toml"), "{page}:{}: {}", block.line, ran.stderr);
            taken += 1;
        }
    }
    assert!(taken >= 2);
}

#[test]
fn every_agent_file_of_the_docs_is_sound_and_scripts_run() {
    let (mut checked, mut run) = (0, 0);
    for block in pages().iter().flat_map(|page| blocks(page, "markdown")) {
        if !block.text.starts_with("---\n") {
            continue;
        }
        let home = Home::new();
        home.write("repo/shown.md", &block.text);
        home.write("repo/a.rs", "// TODO: more\nfn main() {}\n");
        let place = format!("{}:{}", block.page, block.line);
        let ran = home.run(&["agents", "check", "shown.md"]);
        assert_eq!(ran.status, 0, "{place}: {}{}", ran.stdout, ran.stderr);
        checked += 1;
        // A custom tool may have a script too; that of the agent stands at the margin.
        if block.text.contains("\nscript:\n") {
            let ran = home.run(&["run", "shown.md"]);
            assert_eq!(ran.status, 0, "{place}: {}{}", ran.stdout, ran.stderr);
            run += 1;
        }
    }
    assert!(checked >= 2 && run >= 1, "{checked} {run}");
}

#[test]
fn the_stations_of_a_call_exist_and_are_few() {
    let page = std::fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    let section = page.split_once("\n## One call\n").expect("a section `One call`").1;
    let section = section.split("\n## ").next().unwrap();
    let is_station = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_digit());
    let stations: Vec<&str> = section.lines().filter(is_station).collect();
    assert!((10..=15).contains(&stations.len()), "{} stations", stations.len());
    for (index, station) in stations.iter().enumerate() {
        let file = station.strip_prefix(&format!("{}. `", index + 1)).and_then(|rest| rest.split('`').next());
        let file = file
            .unwrap_or_else(|| panic!("station {} begins with its number and file: {station}", index + 1));
        assert!(project().join("crates").join(file).is_file(), "no such file: {station}");
    }
    assert!(stations[0].contains("main.rs") && stations.iter().any(|one| one.contains("This is the disk")));
}

/// A promise without a test is none: every test that the page names exists.
#[test]
fn the_tests_that_the_security_page_names_exist() {
    let sources = rust_files(&project().join("crates"));
    let page = std::fs::read_to_string(project().join("SECURITY.md")).unwrap();
    let is_test = |word: &&str| {
        let name = word.rsplit("::").next().unwrap_or(word);
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        name.chars().all(plain) && name.matches('_').count() >= 3
    };
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() >= 40, "only {} tests are named", named.len());
    for name in named {
        let definition = format!("fn {}(", name.rsplit("::").next().unwrap_or(name));
        assert!(
            sources.iter().any(|text| text.contains(&definition)),
            "SECURITY.md names `{name}`, which no test is"
        );
    }
}

fn rust_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
    found
}

#[test]
fn the_code_of_the_guides_is_that_of_the_examples() {
    for (guide, language, example) in [
        ("first-tool.md", "rust", "hello-tool/src/main.rs"),
        ("langchain.md", "python", "langchain/example.py"),
        ("testing.md", "rust", "../crates/toolpost-core/tests/it/guide.rs"),
    ] {
        let example = std::fs::read_to_string(project().join("examples").join(example)).unwrap();
        let blocks = blocks(&project().join("docs/guide").join(guide), language);
        assert!(!blocks.is_empty(), "the guide shows no code");
        for block in blocks {
            let text = block.text.trim_matches('\n');
            assert!(example.contains(text), "{}:{} is not in the example:\n{text}", block.page, block.line);
        }
    }
}

#[test]
fn the_example_builds_and_runs() {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap();
    let profile = if built.ends_with("debug") { "dev" } else { built.file_name().unwrap().to_str().unwrap() };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "hello-tool", "--profile", profile, "--target-dir"])
        .arg(built.parent().unwrap())
        .current_dir(project())
        .status()
        .unwrap();
    assert!(status.success());
    let output = Command::new(built.join("hello-tool")).output().unwrap();
    let expected = "Hello, Ada!\nHELLO, ADA!\nError: no tool `helo`; nearest: `hello`\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(output.status.success() && output.stderr.is_empty());
}

/// The README, which must be there, and every guide.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![project().join("README.md")];
    let guides = std::fs::read_dir(project().join("docs/guide")).into_iter().flatten().flatten();
    pages.extend(
        guides.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "md")),
    );
    pages.sort();
    pages
}

/// The blocks of one language in a page.
fn blocks(page: &Path, language: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let name = page.strip_prefix(project()).unwrap().display().to_string();
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside: Option<bool> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), is_inside) {
            (Some(_), Some(_)) => is_inside = None,
            (Some(info), None) => {
                let is_wanted = info.split([',', ' ']).next() == Some(language);
                is_inside = Some(is_wanted);
                if is_wanted {
                    blocks.push(Block { page: name.clone(), line: index + 2, text: String::new() });
                }
            }
            (None, Some(true)) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, _) => {}
        }
    }
    assert!(is_inside.is_none(), "{name}: a block is not closed");
    blocks
}

/// The command of a line and the status it must end with; nothing for lines that are not run.
fn command(line: &str) -> Result<Option<(String, i32)>, String> {
    let line = line.trim();
    let (line, status) = match line.rsplit_once("# exit ") {
        Some((command, status)) => {
            (command.trim(), status.trim().parse().map_err(|_| format!("`{status}` is no status"))?)
        }
        None => (line, 0),
    };
    let is_marked = line.starts_with("$ ");
    let line = line.trim_start_matches("$ ");
    let behind_variable = line.strip_prefix("TOOLPOST_").and_then(|rest| Some(rest.split_once(' ')?.1));
    if line == "toolpost" || behind_variable.unwrap_or(line).starts_with("toolpost ") {
        return Ok(Some((line.to_owned(), status)));
    }
    if let Some(arguments) = line.strip_prefix("cargo run --release -- ") {
        return Ok(Some((format!("toolpost {arguments}"), status)));
    }
    let is_known =
        line.is_empty() || line.starts_with('#') || NOT_RUN.iter().any(|start| line.starts_with(start));
    match is_known || (!is_marked && line.starts_with("cargo run -p hello-tool")) {
        true => Ok(None),
        false => Err(format!(
            "`{line}` is neither run nor on the list of what is not; show output in a ```text block"
        )),
    }
}

/// A small repository.
fn repository() -> Home {
    let home = Home::new();
    std::fs::remove_dir_all(home.path("repo/.git")).unwrap();
    // The README's commands run the one and find the other.
    home.write(
        "repo/crates/toolpost-text/src/redact.rs",
        include_str!("../../../toolpost-text/src/redact.rs"),
    );
    home.write("repo/examples/overview.md", include_str!("../../../../examples/overview.md"));
    home.write("repo/examples/counter.md", include_str!("../../../../examples/counter.md"));
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(home.path("repo")).status();
    assert!(git.unwrap().success());
    home
}

/// Runs a line with bash, as a reader of the docs would.
fn in_repository(home: &Home, line: &str) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_toolpost")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let environment = home.command([] as [&str; 0]);
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", line]).current_dir(home.path("repo")).env_clear();
    bash.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
    bash.output().unwrap()
}

#[test]
fn the_example_reports_on_a_workspace_without_a_readme() {
    let home = repository();
    std::fs::remove_file(home.path("repo/README.md")).unwrap();
    let ran = home.run(&["run", "examples/overview.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let has_nothing = ran.stdout.contains("```\n\n```") || ran.stdout.contains("{{");
    assert!(ran.stdout.contains("no file `README.md`") && !has_nothing, "{}", ran.stdout);
}

#[test]
fn lines_of_the_docs_are_understood() {
    for (line, expected) in [
        ("toolpost call list", Some(("toolpost call list", 0))),
        ("$ toolpost tools", Some(("toolpost tools", 0))),
        ("TOOLPOST_LOG=info toolpost tools", Some(("TOOLPOST_LOG=info toolpost tools", 0))),
        ("cargo run --release -- call list", Some(("toolpost call list", 0))),
        ("toolpost call raed '{}'   # exit 2", Some(("toolpost call raed '{}'", 2))),
        ("git clone https://example.org/x", None),
        ("cargo xtask check", None),
        ("# a comment", None),
        ("", None),
    ] {
        let expected = expected.map(|(command, status)| (command.to_owned(), status));
        assert_eq!(command(line), Ok(expected), "{line}");
    }
    assert!(command("rm -rf /").is_err() && command("toolpost x # exit soon").is_err());
}
