//! A key of the configuration is one row in one file: a scratch copy of the sources gets one, is built, and has it.
//!
//! Nothing consumes the value of the new key; what is shown is that everything that must know of a key does.

use crate::{Home, Ran, project};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYS: &str = "crates/toolpost/src/config/keys.rs";
const MANIFEST: &str = "crates/toolpost/Cargo.toml";

/// A key with everything a key can have. It is a text, so that its value shows which layer won.
const ROW: &str = r#"
    greeting: String {
        name: "greeting",
        about: "What is said first.",
        file: InFile::Value("\"hello\""),
        variable: "TOOLPOST_GREETING",
        flag: Some(Flag { on: On::Everywhere, long: "greeting", value: "TEXT", help: "What is said first" }),
        usual: Usual::Is("hello"),
        kind: Kind {
            form: Form::Text(Text {
                parse: |text| match text {
                    "silence" => Err("silence is no greeting; say something".to_owned()),
                    text => Ok(text.to_owned()),
                },
                longest: WORD,
            }),
            schema: Schema::Is(|| json!({"type": "string"})),
            show: |greeting| greeting.as_str().into(),
        },
        merge: Merge::Strongest,
        widens: Widens::Unless(|theirs, _| theirs == "psst", |theirs| vec![format!("says `{theirs}`")]),
        shown: Shown::Row,
    }
"#;

#[test]
fn a_new_configuration_key_touches_one_file() {
    let scratch = tempfile::tempdir().unwrap();
    let copied = copy(project(), scratch.path());
    let rows = std::fs::read_to_string(scratch.path().join(KEYS)).unwrap();
    let (before, after) = rows.split_once("\nkeys! {\n").expect("the table of keys begins with `keys! {`");
    std::fs::write(scratch.path().join(KEYS), format!("{before}\nkeys! {{{ROW}{after}")).unwrap();
    let is_changed = |path: &&PathBuf| {
        std::fs::read(project().join(path)).unwrap() != std::fs::read(scratch.path().join(path)).unwrap()
    };
    let changed: Vec<&PathBuf> = copied.iter().filter(is_changed).collect();
    assert_eq!(changed, [Path::new(KEYS)], "the files of a new key");
    println!("measure: a configuration key touches {} file of {}", changed.len(), copied.len());
    has_the_key(&build(scratch.path()));
}

/// The program knows the key in every place where a key is known.
fn has_the_key(program: &Path) {
    let home = Home::new();
    let run = |variable: Option<&str>, args: &[&str]| {
        let mut command = home.command(args);
        command.envs(variable.map(|value| ("TOOLPOST_GREETING", value)));
        let mut own = Command::new(program);
        own.args(args).env_clear().current_dir(home.path("repo"));
        own.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(own.output().unwrap())
    };
    let held = |variable: Option<&str>, flags: &[&str]| {
        let report = run(variable, &[&["doctor", "--json"], flags].concat()).json().1;
        let greeting = &report["configuration"]["greeting"];
        (greeting["value"].clone(), greeting["from"]["layer"].clone())
    };
    assert_eq!(held(None, &[]), (json!("hello"), json!("built-in")));
    home.write(".config/toolpost/config.toml", "greeting = 'good day'\n");
    assert_eq!(held(None, &[]), (json!("good day"), json!("user")));
    // The project's waits for trust, unless it narrows.
    home.write("repo/.toolpost/config.toml", "greeting = 'hey'\n");
    assert_eq!(held(None, &[]), (json!("good day"), json!("user")));
    assert!(run(None, &["doctor"]).stdout.contains("says `hey` (line 1)"));
    assert_eq!(run(None, &["trust", "--yes"]).status, 0);
    assert_eq!(held(None, &[]), (json!("hey"), json!("project")));
    home.write("repo/.toolpost/config.toml", "greeting = 'psst'\n");
    assert_eq!(held(None, &[]), (json!("psst"), json!("project")));
    assert_eq!(held(Some("moin"), &[]), (json!("moin"), json!("environment")));
    assert_eq!(held(Some("moin"), &["--greeting", "servus"]), (json!("servus"), json!("flags")));
    // What is wrong is said at its place.
    home.write("repo/.toolpost/config.toml", "greeting = 'silence'\n");
    let said = run(None, &["call", "list"]).stderr;
    assert!(said.contains(".toolpost/config.toml:1:12: silence is no greeting; say something"), "{said}");
    let said = run(None, &["call", "list", "--greeting", "silence"]).stderr;
    assert!(said.contains("silence is no greeting"), "{said}");
    // Documentation, schema, example and the help.
    let pages: Value = serde_json::from_str(&run(None, &["internal", "reference"]).stdout).unwrap();
    let row = "| `greeting` | `greeting = \"hello\"` | hello | `TOOLPOST_GREETING` | `--greeting` | What is said first. |";
    assert!(pages["configuration.md"].as_str().unwrap().contains(row), "{pages}");
    assert!(pages["command-line.md"].as_str().unwrap().contains("--greeting TEXT"), "{pages}");
    let schema: Value = serde_json::from_str(&run(None, &["internal", "config-schema"]).stdout).unwrap();
    assert_eq!(schema["properties"]["greeting"]["description"], "What is said first.");
    std::fs::remove_dir_all(home.path("repo/.toolpost")).unwrap();
    assert_eq!(run(None, &["init"]).status, 0);
    let example = std::fs::read_to_string(home.path("repo/.toolpost/config.toml")).unwrap();
    assert!(example.contains("# What is said first.\n#greeting = \"hello\"\n"), "{example}");
}

/// Copies the sources with their times, so that only what is changed here is built again. Returns their paths.
fn copy(from: &Path, to: &Path) -> Vec<PathBuf> {
    let mut copied = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        std::fs::create_dir_all(to.join(&folder)).unwrap();
        for entry in std::fs::read_dir(from.join(&folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            let is_left_out =
                [".git", "target", "bench", "node_modules"].iter().any(|name| path.ends_with(name));
            if kind.is_dir() && !is_left_out {
                open.push(path);
            } else if kind.is_file() && !is_left_out {
                std::fs::copy(entry.path(), to.join(&path)).unwrap();
                let modified = entry.metadata().unwrap().modified().unwrap();
                std::fs::File::options()
                    .append(true)
                    .open(to.join(&path))
                    .unwrap()
                    .set_modified(modified)
                    .unwrap();
                copied.push(path);
            }
        }
    }
    copied
}

/// Builds the program of the copy with the dependencies that are already built. It gets a name and a version of its own, so
/// that nothing of the program that is tested here is replaced.
fn build(scratch: &Path) -> PathBuf {
    let manifest = std::fs::read_to_string(scratch.join(MANIFEST)).unwrap();
    let mut renamed = manifest
        .replacen("version.workspace = true", "version = \"0.0.0-scratch\"", 1)
        .replacen("default-run = \"toolpost\"", "default-run = \"toolpost-scratch\"", 1);
    assert_ne!(renamed, manifest);
    renamed.push_str("\n[[bin]]\nname = \"toolpost-scratch\"\npath = \"src/main.rs\"\n");
    std::fs::write(scratch.join(MANIFEST), renamed).unwrap();
    // This executable lies in TARGET/PROFILE/deps.
    let own = std::env::current_exe().unwrap();
    let output = own.parent().and_then(Path::parent).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    // What `cargo xtask test` builds first: the same features of all dependencies, so that these are not built again.
    cargo
        .args(["build", "--workspace", "--bins", "--examples", "--offline", "--target-dir"])
        .arg(output.parent().unwrap())
        .current_dir(scratch)
        // It is run once and never looked at in a debugger.
        .args(["--config", "profile.dev.package.toolpost.debug=false"])
        .env_remove("RUSTC_BOOTSTRAP");
    // What cargo tells a test of its package would make the dependencies look changed.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"]
            .iter()
            .any(|one| text.starts_with(one))
        {
            cargo.env_remove(&name);
        }
    }
    if output.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo.output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    println!("measure: crates built for it: {}", said.matches("Compiling ").count());
    output.join("toolpost-scratch")
}
