//! Which of our crates may depend on which. Everything else that a crate asks for is not looked at here.

use std::fs;
use std::path::Path;

use super::Finding;
use crate::metadata::{Metadata, Package};

/// What a crate may depend on, for use, for its build and for its tests alike; tests may use the disk, rule files and
/// stores as well.
enum Edges {
    /// These of our crates, and no other.
    Only(&'static [&'static str]),
    /// Every crate under crates/.
    AllCrates,
}

/// The diamond of ARCHITECTURE.md: one vocabulary, features that never see each other, one crate that joins them.
const CRATES: [(&str, Edges); 19] = [
    ("toolpost-text", Edges::Only(&[])),
    ("toolpost-schema", Edges::Only(&["toolpost-text"])),
    ("toolpost-policy", Edges::Only(&["toolpost-text"])),
    ("toolpost-core", Edges::Only(&["toolpost-text", "toolpost-schema", "toolpost-policy"])),
    ("toolpost-declaration", Edges::Only(&["toolpost-core"])),
    ("toolpost-rules", Edges::Only(&["toolpost-core"])),
    ("toolpost-walk", Edges::Only(&["toolpost-core"])),
    ("toolpost-disk", Edges::Only(&["toolpost-core", "toolpost-walk"])),
    ("toolpost-process", Edges::Only(&[])),
    ("toolpost-http", Edges::Only(&[])),
    ("toolpost-web", Edges::Only(&["toolpost-http"])),
    ("toolpost-mcp", Edges::Only(&[])),
    ("toolpost-code", Edges::Only(&[])),
    ("toolpost-store", Edges::Only(&["toolpost-core"])),
    (
        "toolpost-tools",
        Edges::Only(&[
            "toolpost-core",
            "toolpost-walk",
            "toolpost-declaration",
            "toolpost-process",
            "toolpost-http",
            "toolpost-web",
        ]),
    ),
    (
        "toolpost-plugins",
        Edges::Only(&["toolpost-core", "toolpost-process", "toolpost-http", "toolpost-mcp"]),
    ),
    ("toolpost-agent", Edges::Only(&["toolpost-core", "toolpost-declaration", "toolpost-http"])),
    (
        "toolpost-server",
        Edges::Only(&[
            "toolpost-core",
            "toolpost-declaration",
            "toolpost-agent",
            "toolpost-http",
            "toolpost-mcp",
        ]),
    ),
    ("toolpost", Edges::AllCrates),
];

/// What a tool author would depend on, and an example shows nothing else.
const EXAMPLE: Edges = Edges::Only(&["toolpost-core", "toolpost-tools", "toolpost"]);

/// What the tests of every crate may use.
const FOR_TESTS: [&str; 3] = ["toolpost-disk", "toolpost-rules", "toolpost-store"];

const DEVELOPER_TOOL: Edges = Edges::Only(&[]);

pub(super) fn check(root: &Path, metadata: &Metadata) -> Vec<Finding> {
    metadata.packages.iter().flat_map(|package| check_package(root, package)).collect()
}

/// The edges that there are, by crate.
pub(super) fn shown(metadata: &Metadata) -> Vec<(&str, String)> {
    let known = |package: &&Package| CRATES.iter().any(|(name, _)| *name == package.name);
    let mut all: Vec<(&str, String)> = metadata
        .packages
        .iter()
        .filter(known)
        .map(|package| {
            let ours = package.dependencies.iter().filter(|one| one.path.is_some() && !one.is_for_tests());
            let names: Vec<&str> = ours.map(|one| one.name.trim_start_matches("toolpost-")).collect();
            (package.name.as_str(), names.join(", "))
        })
        .collect();
    all.sort_unstable();
    all
}

fn check_package(root: &Path, package: &Package) -> Vec<Finding> {
    let manifest = package.manifest_path.strip_prefix(root).unwrap_or(&package.manifest_path);
    let path = manifest.to_string_lossy().replace('\\', "/");
    let Some(edges) = edges_of(&path, &package.name) else {
        let message = format!(
            "no edges are known for `{}`, so add it to tidy/edges.rs and ARCHITECTURE.md",
            package.name
        );
        return vec![Finding::new(&path, 1, message)];
    };
    let text = fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    ours.filter(|dependency| dependency.name != package.name && !edges.allow(&dependency.name))
        // Tests act on real files and a real store.
        .filter(|dependency| !(dependency.is_for_tests() && FOR_TESTS.contains(&dependency.name.as_str())))
        .map(|dependency| {
            let message = format!(
                "`{}` must not depend on `{}`, so move what they share down, or join them in `toolpost`",
                package.name, dependency.name
            );
            Finding::new(&path, line_of(&text, &dependency.name), message)
        })
        .collect()
}

impl Edges {
    fn allow(&self, name: &str) -> bool {
        match self {
            Edges::Only(names) => names.contains(&name),
            Edges::AllCrates => CRATES.iter().any(|(one, _)| *one == name),
        }
    }
}

fn edges_of(manifest: &str, name: &str) -> Option<&'static Edges> {
    if manifest.starts_with("examples/") {
        return Some(&EXAMPLE);
    }
    if manifest == "xtask/Cargo.toml" {
        return Some(&DEVELOPER_TOOL);
    }
    CRATES.iter().find(|(one, _)| *one == name).map(|(_, edges)| edges)
}

/// The line of a manifest that asks for a dependency: `name.workspace = true`, `name = …` or `[….name]`.
fn line_of(manifest: &str, name: &str) -> usize {
    let asks = |line: &str| match line.trim().strip_prefix(name) {
        Some(rest) => rest.trim_start().starts_with(['.', '=']),
        None => line.trim().ends_with(&format!(".{name}]")),
    };
    manifest.lines().position(asks).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings on one package, whose manifest lies in a temporary tree.
    fn check(folder: &str, name: &str, dependency: &str, expected: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let manifest = root.path().join(folder).join("Cargo.toml");
        fs::create_dir_all(root.path().join(folder)).unwrap();
        fs::write(
            &manifest,
            format!("[package]\nname = \"{name}\"\n\n[dependencies]\n{dependency}.workspace = true\n"),
        )
        .unwrap();
        let metadata = serde_json::json!({
            "target_directory": "target",
            "packages": [{
                "name": name, "version": "0.1.0", "license": null, "manifest_path": manifest,
                "dependencies": [{"name": dependency, "path": "x"}, {"name": "serde", "path": null}],
            }],
        });
        let findings = super::check(root.path(), &serde_json::from_value(metadata).unwrap());
        let shown: Vec<String> = findings.iter().map(Finding::to_string).collect();
        let short: Vec<&str> = shown.iter().map(|text| text.split(',').next().unwrap()).collect();
        assert_eq!(short, expected);
    }

    #[test]
    fn edges_of_the_design_are_allowed() {
        check("crates/toolpost-tools", "toolpost-tools", "toolpost-core", &[]);
        check("crates/toolpost-server", "toolpost-server", "toolpost-agent", &[]);
        check("crates/toolpost-server", "toolpost-server", "toolpost-mcp", &[]);
        check("crates/toolpost-plugins", "toolpost-plugins", "toolpost-http", &[]);
        check("crates/toolpost", "toolpost", "toolpost-store", &[]);
        check("examples/one", "one", "toolpost-tools", &[]);
        check("crates/toolpost-core", "toolpost-core", "toolpost-core", &[]);
    }

    #[test]
    fn other_edges_are_not() {
        check(
            "crates/toolpost-tools",
            "toolpost-tools",
            "toolpost-store",
            &["crates/toolpost-tools/Cargo.toml:5: `toolpost-tools` must not depend on `toolpost-store`"],
        );
        check(
            "crates/toolpost-core",
            "toolpost-core",
            "toolpost-process",
            &["crates/toolpost-core/Cargo.toml:5: `toolpost-core` must not depend on `toolpost-process`"],
        );
        check(
            "crates/toolpost-http",
            "toolpost-http",
            "toolpost-core",
            &["crates/toolpost-http/Cargo.toml:5: `toolpost-http` must not depend on `toolpost-core`"],
        );
        check(
            "crates/toolpost-mcp",
            "toolpost-mcp",
            "toolpost-http",
            &["crates/toolpost-mcp/Cargo.toml:5: `toolpost-mcp` must not depend on `toolpost-http`"],
        );
        check(
            "examples/one",
            "one",
            "toolpost-agent",
            &["examples/one/Cargo.toml:5: `one` must not depend on `toolpost-agent`"],
        );
        check(
            "crates/toolpost",
            "toolpost",
            "xtask",
            &["crates/toolpost/Cargo.toml:5: `toolpost` must not depend on `xtask`"],
        );
        check(
            "xtask",
            "xtask",
            "toolpost-core",
            &["xtask/Cargo.toml:5: `xtask` must not depend on `toolpost-core`"],
        );
    }

    #[test]
    fn a_new_crate_has_to_be_placed() {
        check(
            "crates/toolpost-new",
            "toolpost-new",
            "toolpost-core",
            &["crates/toolpost-new/Cargo.toml:1: no edges are known for `toolpost-new`"],
        );
    }
}
