//! What an addition touches: a key of the configuration is one row in one file; a tool is its code, its text and its line in
//! the pack. A scratch copy of the sources gets one of each, is built once, and has both.
//!
//! Nothing consumes the value of the new key; what is shown is that everything that must know of a key does.

use crate::{Home, Ran, project};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYS: &str = "crates/toolpost/src/config/keys.rs";
const MANIFEST: &str = "crates/toolpost/Cargo.toml";
const TOOLS: &str = "crates/toolpost-tools";
const PACK: &str = "crates/toolpost-tools/src/search.rs";
const CODE: &str = "crates/toolpost-tools/src/search/folder_of.rs";
const TEXT: &str = "crates/toolpost-tools/src/search/folder_of.txt";

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
                    "silence" => Err("silence is not a greeting; say something".to_owned()),
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

/// A tool with everything a tool must have.
const TOOL: &str = r#"//! `folder_of`: the folder that a file lies in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::{Capability, Context, Output, Spec, Tool, ToolError, WorkspacePath};
use toolpost_core::access::ResourceKind;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// File whose folder is wanted.
    file_path: WorkspacePath,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The folder.
    folder: String,
}

/// The tool.
pub struct FolderOf;

impl Tool for FolderOf {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("folder_of", "1.0.0", include_str!("folder_of.txt"))
            .requires(Capability::Read)
            .about(ResourceKind::Path)
            .idempotent()
            .parallel_safe()
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let name = ctx.workspace().name(&args.file_path)?;
        let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
        Ok(Output::new(name, folder.clone(), Data { folder }))
    }
}
"#;

#[test]
fn a_new_configuration_key_touches_one_file_and_a_new_tool_three() {
    let scratch = tempfile::tempdir().unwrap();
    let copied = copy(project(), scratch.path());
    add_key(scratch.path());
    let key = changed(scratch.path());
    assert_eq!(key, [Path::new(KEYS)], "the files of a new key");
    println!("measure: a configuration key touches {} file of {}", key.len(), copied.len());
    add_tool(scratch.path());
    let mut tool = changed(scratch.path());
    tool.retain(|path| !key.contains(path));
    assert_eq!(tool, [Path::new(CODE), Path::new(TEXT), Path::new(PACK)], "the files of a new tool");
    println!("measure: a tool touches {} files of {}", tool.len(), copied.len());
    let program = build(scratch.path());
    has_the_key(&program);
    has_the_tool(&program);
}

fn add_key(scratch: &Path) {
    let rows = std::fs::read_to_string(scratch.join(KEYS)).unwrap();
    let (before, after) = rows.split_once("\nkeys! {\n").expect("the table of keys begins with `keys! {`");
    std::fs::write(scratch.join(KEYS), format!("{before}\nkeys! {{{ROW}{after}")).unwrap();
}

/// The tool's code, its text, and its lines in the pack.
fn add_tool(scratch: &Path) {
    std::fs::write(scratch.join(CODE), TOOL).unwrap();
    std::fs::write(scratch.join(TEXT), "Returns the folder that a file of the workspace lies in.\n").unwrap();
    let pack = std::fs::read_to_string(scratch.join(PACK)).unwrap();
    let with_line = pack
        .replacen("mod glob;", "mod folder_of;\nmod glob;", 1)
        .replacen("pub use glob::Glob;", "pub use folder_of::FolderOf;\npub use glob::Glob;", 1)
        .replacen(".with(Grep)", ".with(Grep).with(FolderOf)", 1);
    assert_eq!(with_line.matches("FolderOf").count(), 2, "{pack}");
    std::fs::write(scratch.join(PACK), with_line).unwrap();
}

/// The files of the copy that are not as they are here, in order.
fn changed(scratch: &Path) -> Vec<PathBuf> {
    let mut all = files(scratch);
    all.retain(|path| std::fs::read(project().join(path)).ok() != std::fs::read(scratch.join(path)).ok());
    all.sort();
    all
}

/// Runs the program of the copy in a home.
fn run(program: &Path, home: &Home, variable: Option<&str>, args: &[&str]) -> Ran {
    let mut command = home.command(args);
    command.envs(variable.map(|value| ("TOOLPOST_GREETING", value)));
    let mut own = Command::new(program);
    own.args(args).env_clear().current_dir(home.path("repo"));
    own.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(own.output().unwrap())
}

/// The program knows the tool in every place where a tool is known: it is offered, called, judged, listed and documented.
fn has_the_tool(program: &Path) {
    let home = Home::new();
    let run = |args: &[&str]| run(program, &home, None, args);
    let names = |args: &[&str]| -> Vec<String> {
        let listed = run(&[&["tools", "--json"], args].concat()).json().1;
        let all = listed["tools"].as_array().unwrap();
        all.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    // A dialect without a row for it offers it as it is.
    for dialect in toolpost_tools::dialects().all() {
        let names = names(&["--dialect", dialect.name()]);
        assert!(names.iter().any(|name| name == "folder_of"), "{}: {names:?}", dialect.name());
        let called =
            run(&["call", "folder_of", r#"{"filePath": "src/main.rs"}"#, "--dialect", dialect.name()]);
        assert_eq!((called.status, called.stdout.as_str(), called.stderr.as_str()), (0, "src\n", ""));
    }
    assert_eq!(run(&["call", "folder_of", "filePath=README.md"]).stdout, ".\n");
    let packs = run(&["packs", "--json"]).json().1;
    let search = packs["packs"].as_array().unwrap().iter().find(|pack| pack["manifest"]["name"] == "search");
    assert_eq!(search.unwrap()["manifest"]["tools"], json!(["glob", "grep", "folder_of"]));
    let declared = run(&["tools", "discover"]).stdout;
    assert!(declared.contains("\"folder_of\""), "{declared}");
    // Rules know its name, and that it is about paths: read as a command line, the second example would match.
    home.write(
        ".config/toolpost/config.toml",
        "[[rule]]\neffect = 'deny'\naction = 'folder_of'\nresource = 'docs/*.md'\nmatch = ['docs/a.md']\n\
         not_match = ['docs/x/a.md']\n",
    );
    let denied = run(&["call", "folder_of", "filePath=docs/a.md"]);
    assert!(
        denied.status == 3 && denied.stderr.contains("the user rule `folder_of: docs/*.md`"),
        "{}",
        denied.stderr
    );
    assert_eq!(run(&["call", "folder_of", "filePath=src/a"]).status, 0);
    let explained = run(&["policy", "explain", "folder_of: docs/a.md", "--json"]).json().1;
    assert_eq!(explained["effect"], "deny", "{explained}");
    let report = run(&["doctor", "--json"]).json().1;
    assert_eq!(report["configuration"]["ruleWarnings"], json!([]));
    let pages: Value = serde_json::from_str(&run(&["internal", "reference"]).stdout).unwrap();
    let page = pages["tools.md"].as_str().unwrap();
    assert!(page.contains("## `folder_of` 1.0.0") && page.contains("File whose folder is wanted."), "{page}");
}

/// The program knows the key in every place where a key is known.
fn has_the_key(program: &Path) {
    let home = Home::new();
    let run = |variable: Option<&str>, args: &[&str]| run(program, &home, variable, args);
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
    assert!(run(None, &["doctor", "--all"]).stdout.contains("says `hey` (line 1)"));
    assert_eq!(run(None, &["trust", "--yes"]).status, 0);
    assert_eq!(held(None, &[]), (json!("hey"), json!("project")));
    home.write("repo/.toolpost/config.toml", "greeting = 'psst'\n");
    assert_eq!(held(None, &[]), (json!("psst"), json!("project")));
    assert_eq!(held(Some("moin"), &[]), (json!("moin"), json!("environment")));
    assert_eq!(held(Some("moin"), &["--greeting", "servus"]), (json!("servus"), json!("flags")));
    // What is wrong is said at its place.
    home.write("repo/.toolpost/config.toml", "greeting = 'silence'\n");
    let said = run(None, &["call", "list"]).stderr;
    assert!(said.contains(".toolpost/config.toml:1:12: silence is not a greeting; say something"), "{said}");
    let said = run(None, &["call", "list", "--greeting", "silence"]).stderr;
    assert!(said.contains("silence is not a greeting"), "{said}");
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
    let copied = files(from);
    for path in &copied {
        std::fs::create_dir_all(to.join(path).parent().unwrap()).unwrap();
        std::fs::copy(from.join(path), to.join(path)).unwrap();
        let modified = std::fs::metadata(from.join(path)).unwrap().modified().unwrap();
        std::fs::File::options().append(true).open(to.join(path)).unwrap().set_modified(modified).unwrap();
    }
    copied
}

/// The files of the sources, by their paths in the folder.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            let is_left_out =
                [".git", "target", "bench", "node_modules"].iter().any(|name| path.ends_with(name));
            if kind.is_dir() && !is_left_out {
                open.push(path);
            } else if kind.is_file() && !is_left_out {
                files.push(path);
            }
        }
    }
    files
}

/// Builds the program of the copy with the dependencies that are already built. What is built gets a version of its own, and
/// the program a name of its own, so that nothing of the program that is tested here is replaced.
fn build(scratch: &Path) -> PathBuf {
    let own_version = |manifest: &Path| {
        let manifest = std::fs::read_to_string(manifest).unwrap();
        manifest.replacen("version.workspace = true", "version = \"0.0.0-scratch\"", 1)
    };
    let tools = scratch.join(TOOLS).join("Cargo.toml");
    std::fs::write(&tools, own_version(&tools)).unwrap();
    let manifest = own_version(&scratch.join(MANIFEST));
    let mut renamed =
        manifest.replacen("default-run = \"toolpost\"", "default-run = \"toolpost-scratch\"", 1);
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
        .args(["--config", "profile.dev.package.toolpost-tools.debug=false"])
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
