//! Cargo: packages, workspaces, frameworks by their crates.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{keys_at, of_toml, text_at, texts_at};
use serde_json::Value;

/// Crates that shape a program.
const FRAMEWORKS: [(&str, &str); 24] = [
    ("axum", "Axum"),
    ("actix-web", "Actix Web"),
    ("rocket", "Rocket"),
    ("warp", "warp"),
    ("poem", "Poem"),
    ("hyper", "hyper"),
    ("tonic", "tonic (gRPC)"),
    ("tokio", "Tokio"),
    ("async-std", "async-std"),
    ("clap", "clap"),
    ("serde", "Serde"),
    ("diesel", "Diesel"),
    ("sqlx", "SQLx"),
    ("sea-orm", "SeaORM"),
    ("bevy", "Bevy"),
    ("tauri", "Tauri"),
    ("leptos", "Leptos"),
    ("yew", "Yew"),
    ("dioxus", "Dioxus"),
    ("egui", "egui"),
    ("iced", "iced"),
    ("wasm-bindgen", "wasm-bindgen"),
    ("pyo3", "PyO3"),
    ("embassy-executor", "Embassy"),
];

pub(super) fn manifest(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_toml(manifest.text);
    facts.package_manager("cargo", manifest.path);
    facts.build_tool("cargo", manifest.path);
    let is_workspace = value.get("workspace").is_some();
    if is_workspace {
        let mut patterns = texts_at(&value, "/workspace/members");
        let excluded: Vec<String> =
            texts_at(&value, "/workspace/exclude").iter().map(|path| format!("!{path}")).collect();
        patterns.extend(excluded.iter().map(String::as_str));
        let members = manifest.members(&patterns, "Cargo.toml");
        facts.workspace("cargo", manifest.folder, members, manifest.says("[workspace]"));
    }
    if value.get("package").is_some() {
        facts.package(
            "cargo",
            manifest.path,
            text_at(&value, "/package/name"),
            text_at(&value, "/package/description"),
        );
        entry_points(manifest, &value, facts);
    }
    for table in ["dependencies", "dev-dependencies", "workspace/dependencies"] {
        let keys = keys_at(&value, &format!("/{table}"));
        for (name, framework) in FRAMEWORKS {
            if keys.contains(&name) {
                facts.framework(framework, manifest.says(&format!("[{}] {name}", table.replace('/', "."))));
            }
        }
    }
    if !manifest.is_member(facts, "cargo") {
        commands(manifest, is_workspace, facts);
    }
}

fn entry_points(manifest: &Manifest<'_>, value: &Value, facts: &mut Facts) {
    for (file, what) in
        [("src/main.rs", "the usual place of a program"), ("src/lib.rs", "the usual place of a library")]
    {
        if manifest.has(file) {
            facts.entry_point(&manifest.file(file), what);
        }
    }
    for (section, place) in [("bin", "/bin"), ("lib", "")] {
        let items = match place {
            "" => value.get("lib").into_iter().collect(),
            place => value.pointer(place).and_then(Value::as_array).into_iter().flatten().collect::<Vec<_>>(),
        };
        for path in items.iter().filter_map(|item| text_at(item, "/path")) {
            facts.entry_point(&manifest.file(path), manifest.says(&format!("[{section}] path")));
        }
    }
    let start = manifest.file("src/bin/");
    for file in manifest.tree.below_folder(start.trim_end_matches('/')) {
        let below = &file[start.len()..];
        if below.ends_with(".rs") && !below.contains('/') || below.ends_with("/main.rs") {
            facts.entry_point(file, "the usual place of further programs");
        }
    }
}

fn commands(manifest: &Manifest<'_>, is_workspace: bool, facts: &mut Facts) {
    let all = if is_workspace { " --workspace" } else { "" };
    let folder = manifest.folder;
    facts.command(Purpose::Build, format!("cargo build{all}"), folder, manifest.path);
    match manifest.first_of(&[".config/nextest.toml"]) {
        Some(config) => {
            facts.command(Purpose::Test, format!("cargo nextest run{all}"), folder, manifest.file(config));
        }
        None => facts.command(Purpose::Test, format!("cargo test{all}"), folder, manifest.path),
    }
    let clippy = manifest.first_of(&["clippy.toml", ".clippy.toml"]);
    let clippy = clippy.map_or_else(|| manifest.path.to_owned(), |name| manifest.file(name));
    facts.command(Purpose::Lint, format!("cargo clippy{all} --all-targets"), folder, clippy);
    let format = manifest.first_of(&["rustfmt.toml", ".rustfmt.toml"]);
    let format = format.map_or_else(|| manifest.path.to_owned(), |name| manifest.file(name));
    facts.command(Purpose::Format, "cargo fmt --all", folder, format);
    if manifest.has("src/main.rs") {
        facts.command(Purpose::Run, "cargo run", folder, manifest.file("src/main.rs"));
    }
    for config in [".cargo/config.toml", ".cargo/config"] {
        if !manifest.has(config) {
            continue;
        }
        let path = manifest.file(config);
        let aliases = of_toml(&manifest.tree.text(&path).unwrap_or_default());
        for alias in keys_at(&aliases, "/alias") {
            let purpose = match alias {
                name if name.contains("test") => Purpose::Test,
                name if name.contains("lint") || name.contains("check") => Purpose::Lint,
                name if name.contains("run") => Purpose::Run,
                _ => continue,
            };
            facts.command(purpose, format!("cargo {alias}"), folder, format!("{path}: [alias] {alias}"));
        }
    }
}
