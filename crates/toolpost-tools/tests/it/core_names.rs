//! Core knows no tool by its name: what it must know of one is in its `Spec`.

use std::path::{Path, PathBuf};

/// A list of programs, some of which are named like a tool.
const PROGRAMS: &str = "toolpost-text/src/programs.rs";

/// Core and the three crates that are read as parts of it.
const CRATES: [&str; 4] = ["toolpost-core", "toolpost-policy", "toolpost-schema", "toolpost-text"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true => sources(&path, found),
            false if path.ends_with("tests.rs") || path.extension().is_none_or(|kind| kind != "rs") => {}
            false => found.push(path),
        }
    }
}

/// The code of a file, without comments and without the tests at its foot.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn core_names_no_built_in_tool_and_no_server() {
    let packs = toolpost_tools::packs(&toolpost_tools::Settings::default());
    let tools = packs.iter().flat_map(|pack| pack.tools()).map(|tool| tool.name().to_owned());
    // Words of English, capabilities and kinds of changes are no sign of a tool.
    let words = ["read", "write", "edit", "delete", "list", "batch"];
    let mut names: Vec<String> = tools.filter(|name| !words.contains(&name.as_str())).collect();
    assert!(names.contains(&"bash".to_owned()) && names.contains(&"tool_search".to_owned()), "{names:?}");
    names.extend(["webfetch", "websearch"].map(str::to_owned));
    let mut signs: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    signs.extend(names.iter().map(|name| format!("`{name}: ")));
    // A flag in a message: the command line adds its own advice.
    signs.push("`--".to_owned());
    signs.extend(["mcp_", "\"claude\"", "\"gemini\"", "\"codex\""].map(str::to_owned));
    let mut files = Vec::new();
    for name in CRATES {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "{files:?}");
    files.retain(|file| !file.ends_with(PROGRAMS));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in code(&text) {
            let found = signs.iter().find(|sign| line.contains(sign.as_str()));
            assert!(found.is_none(), "{}: {line}: {found:?}; say it in the tool's Spec", file.display());
        }
    }
}
