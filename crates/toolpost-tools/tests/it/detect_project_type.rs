//! `detect_project_type`: what real layouts are, with the evidence; and manifests that mean harm.

use super::{Executor, call, data, executor, memory, run, shown};
use serde_json::{Value, json};
use toolpost_core::{Call, Policy};

/// Layouts as projects have them: `=== name`, lines of what must be found behind `> `, what must not be behind `! `, then
/// the files.
const LAYOUTS: &str = include_str!("../data/projects.txt");
const ODD_LAYOUTS: &str = include_str!("../data/odd_projects.txt");

struct Layout<'a> {
    name: &'a str,
    wanted: Vec<&'a str>,
    unwanted: Vec<&'a str>,
    files: String,
}

fn layouts() -> Vec<Layout<'static>> {
    layouts_of(LAYOUTS)
}

fn layouts_of(text: &'static str) -> Vec<Layout<'static>> {
    let mut layouts = Vec::new();
    for part in text.split("\n=== ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let (head, files) = rest.split_once("//- ").unwrap();
        let lines = |mark: &str| head.lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>();
        layouts.push(Layout {
            name,
            wanted: lines("> "),
            unwanted: lines("! "),
            files: format!("//- {files}\n"),
        });
    }
    layouts
}

/// The data as lines: `manager cargo [Cargo.toml]`, `test cargo test [Cargo.toml]`, `test npm test in web [web/package.json: …]`.
fn lines(data: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = |key: &str| data[key].as_array().unwrap().iter();
    let names = |key: &str| list(key).map(|one| text(&one["name"])).collect::<Vec<_>>().join(", ");
    lines.push(format!("languages: {}", names("languages")));
    lines.push(format!("managers: {}", names("packageManagers")));
    for (key, word) in [
        ("packageManagers", "manager"),
        ("buildTools", "builds"),
        ("frameworks", "framework"),
        ("entryPoints", "entry"),
        ("problems", "problem"),
    ] {
        lines.extend(
            list(key).map(|one| format!("{word} {} [{}]", text(&one["name"]), text(&one["evidence"]))),
        );
    }
    for one in list("commands") {
        let folder = match one["folder"].as_str().unwrap() {
            "." => String::new(),
            folder => format!(" in {folder}"),
        };
        let (purpose, command) = (text(&one["purpose"]), text(&one["command"]));
        lines.push(format!("{purpose} {command}{folder} [{}]", text(&one["evidence"])));
    }
    for one in list("workspaces") {
        let members: Vec<String> = one["members"].as_array().unwrap().iter().map(text).collect();
        lines.push(format!(
            "workspace {}: {} [{}]",
            text(&one["kind"]),
            members.join(", "),
            text(&one["evidence"])
        ));
    }
    lines
        .extend(list("packages").map(|one| format!("package {} {}", text(&one["kind"]), text(&one["name"]))));
    lines
}

#[test]
fn real_layouts_are_known_with_their_evidence() {
    let layouts = layouts();
    assert!(layouts.len() >= 25, "{}", layouts.len());
    assert!(layouts.iter().all(|layout| layout.wanted.len() >= 4));
    check(&layouts);
}

#[test]
fn odd_layouts_are_not_mistaken() {
    check(&layouts_of(ODD_LAYOUTS));
}

fn check(layouts: &[Layout<'_>]) {
    let mut wrong = Vec::new();
    for Layout { name, wanted, unwanted, files } in layouts {
        let outcome = call(&memory(files), "detect_project_type", json!({}));
        let found = lines(data(&outcome));
        let missing: Vec<&&str> =
            wanted.iter().filter(|one| !found.iter().any(|line| line == **one)).collect();
        let excess: Vec<&&str> =
            unwanted.iter().filter(|one| found.iter().any(|line| line.contains(**one))).collect();
        if !missing.is_empty() || !excess.is_empty() {
            wrong.push(format!("{name}: missing {missing:#?}, too much {excess:#?}, found {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every piece of evidence begins with a file that exists.
#[test]
fn evidence_names_files_that_exist() {
    for Layout { name, files, .. } in layouts() {
        let ctx = memory(&files);
        let outcome = call(&ctx, "detect_project_type", json!({}));
        for key in ["packageManagers", "buildTools", "frameworks", "commands", "workspaces"] {
            for one in data(&outcome)[key].as_array().unwrap() {
                let evidence = one["evidence"].as_str().unwrap();
                let file = evidence.split(": ").next().unwrap();
                assert!(files.contains(&format!("//- {file}\n")), "{name}: {key}: {evidence}");
            }
        }
    }
}

#[test]
fn a_folder_is_looked_at_by_itself() {
    let files = "//- Cargo.toml\n[package]\nname = \"a\"\n//- web/package.json\n{\"scripts\":{\"test\":\"vitest\"}}\n//- web/a.ts\nlet a;\n";
    let outcome = call(&memory(files), "detect_project_type", json!({"path": "web"}));
    let found = lines(data(&outcome));
    assert!(found.contains(&"managers: npm".to_owned()), "{found:?}");
    assert!(found.contains(&"test npm test in web [web/package.json: scripts.test]".to_owned()), "{found:?}");
    let missing = call(&memory(files), "detect_project_type", json!({"path": "wed"}));
    assert!(shown(&missing).contains("nearest: `web`"), "{}", shown(&missing));
}

#[test]
fn the_text_shows_what_and_why() {
    let files = "//- Cargo.toml\n[package]\nname = \"a\"\n[dependencies]\naxum = \"1\"\n//- src/main.rs\nfn main() {}\n";
    let expected = "\
languages:
  Rust (1 files, 100 %)
package managers:
  cargo  [Cargo.toml]
build tools:
  cargo  [Cargo.toml]
frameworks:
  Axum  [Cargo.toml: [dependencies] axum]
commands:
  build: cargo build  [Cargo.toml]
  test: cargo test  [Cargo.toml]
  lint: cargo clippy --all-targets  [Cargo.toml]
  format: cargo fmt --all  [Cargo.toml]
  run: cargo run  [src/main.rs]
entry points:
  src/main.rs  [the usual place of a program]
";
    assert_eq!(shown(&call(&memory(files), "detect_project_type", json!({}))), expected);
    assert_eq!(
        shown(&call(&memory("//- notes.txt\nx\n"), "detect_project_type", json!({}))),
        "nothing here says what the project is: no manifest and no source files\n"
    );
}

/// Dependencies, test material and what git ignores say nothing of the project.
#[test]
fn only_the_project_itself_counts() {
    let files = "//- .gitignore\n/dist\n//- go.mod\nmodule m\n//- main.go\npackage main\n//- vendor/x/package.json\n{}\n\
                 //- .yarn/releases/yarn.cjs\n1\n//- .eslintrc.js\n1\n\
                 //- node_modules/y/package.json\n{}\n//- testdata/Cargo.toml\n[package]\n//- dist/setup.py\n\n";
    let found = lines(data(&call(&memory(files), "detect_project_type", json!({}))));
    assert!(found.contains(&"managers: go modules".to_owned()), "{found:?}");
    assert!(found.contains(&"languages: Go".to_owned()), "{found:?}");
    assert!(!found.contains(&"languages: JavaScript".to_owned()), "{found:?}");
}

#[test]
fn hidden_manifests_are_counted_and_say_nothing() {
    let files = "//- Cargo.toml\n[package]\nname = \"a\"\n//- secret/package.json\n{\"name\":\"hush\"}\n";
    let policy = Policy::standard().deny("read: /secret").unwrap();
    let executor = Executor::new(executor().registry().clone(), policy);
    for tool in ["detect_project_type", "extract_conventions", "get_project_overview"] {
        let outcome = run(executor.run(&memory(files), Call::new(tool, json!({}))));
        let all = format!("{}{}", shown(&outcome), data(&outcome));
        assert!(!all.contains("hush") && !all.contains("package.json"), "{tool}: {all}");
        assert_eq!(data(&outcome)["heldBack"], 1, "{tool}");
        assert!(shown(&outcome).contains("1 hidden by the policy: 1 by `deny read: /secret"), "{all}");
    }
}

/// Texts that make careless readers take forever, or fall over.
#[test]
fn hostile_manifests_are_bounded() {
    let deep = "[".repeat(100_000);
    let braces = "{\"a\":".repeat(50_000);
    let yaml = format!("a: &a [x]\n{}", "b: *a\n".repeat(50_000));
    let xml = format!(
        "<!DOCTYPE l [<!ENTITY a \"aaaa\">]><project>{}</project>",
        "<module>&a;</module>".repeat(20_000)
    );
    let long = "x".repeat(2_000_000);
    let files = format!(
        "//- Cargo.toml\na = {deep}\n//- package.json\n{braces}\n//- pnpm-workspace.yaml\n{yaml}\n//- pom.xml\n{xml}\n\
         //- build.gradle\ninclude '{long}\n//- pyproject.toml\n{long}\n//- go.work\nuse (\n{long}\n//- CMakeLists.txt\n{}\n\
         //- Makefile\n{}\n//- a/Cargo.toml\n[workspace]\nmembers = [\"**/*{{\", \"[\", \"{{a,b\"]\n//- b.sln\n{}\n//- README.md\n{}\n",
        "add_executable(".repeat(30_000),
        "a: ".repeat(100_000),
        "Project(\"\"\"\n".repeat(10_000),
        "[![".repeat(50_000),
    );
    for tool in ["detect_project_type", "extract_conventions", "get_project_overview"] {
        let outcome = call(&memory(&files), tool, json!({}));
        assert!(outcome.result.is_ok(), "{tool}: {}", shown(&outcome));
        assert!(shown(&outcome).len() < 60_000, "{tool}");
    }
}
