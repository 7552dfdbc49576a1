//! Languages with one common build tool, and what runs beside a project: containers, Nix.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{of_yaml, quoted};

/// A tool that is package manager and build tool in one, with its usual commands.
fn one_tool(manifest: &Manifest<'_>, facts: &mut Facts, tool: &str, commands: &[(Purpose, &str)]) {
    facts.package_manager(tool, manifest.path);
    facts.build_tool(tool, manifest.path);
    for (purpose, command) in commands {
        facts.command(*purpose, *command, manifest.folder, manifest.path);
    }
}

pub(super) fn mix(manifest: &Manifest<'_>, facts: &mut Facts) {
    let commands = [
        (Purpose::Install, "mix deps.get"),
        (Purpose::Build, "mix compile"),
        (Purpose::Test, "mix test"),
        (Purpose::Format, "mix format"),
    ];
    one_tool(manifest, facts, "mix", &commands);
    let name = manifest.text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("app: :")?;
        Some(rest.trim_end_matches(','))
    });
    facts.package("mix", manifest.path, name, None);
    for (word, framework) in [("{:phoenix,", "Phoenix"), ("{:ecto", "Ecto"), ("{:nerves,", "Nerves")] {
        if manifest.text.contains(word) {
            facts.framework(framework, manifest.says(word.trim_start_matches('{').trim_end_matches(',')));
        }
    }
    if manifest.text.contains("{:credo,") {
        facts.command(Purpose::Lint, "mix credo", manifest.folder, manifest.says(":credo"));
    }
    if manifest.text.contains("{:phoenix,") {
        facts.command(Purpose::Run, "mix phx.server", manifest.folder, manifest.says(":phoenix"));
    }
}

pub(super) fn pubspec(manifest: &Manifest<'_>, facts: &mut Facts) {
    let dependencies = of_yaml(manifest.text, "dependencies");
    let is_flutter = dependencies.iter().any(|name| name == "flutter");
    let tool = if is_flutter { "flutter" } else { "dart" };
    facts.package_manager("pub", manifest.path);
    facts.build_tool(tool, manifest.path);
    let first = |key: &str| of_yaml(manifest.text, key).into_iter().next();
    facts.package("pub", manifest.path, first("name").as_deref(), first("description").as_deref());
    if is_flutter {
        facts.framework("Flutter", manifest.says("dependencies.flutter"));
        facts.command(Purpose::Run, "flutter run", manifest.folder, manifest.path);
        facts.entry_point(&manifest.file("lib/main.dart"), "the usual place");
    }
    facts.command(Purpose::Install, format!("{tool} pub get"), manifest.folder, manifest.path);
    facts.command(Purpose::Test, format!("{tool} test"), manifest.folder, manifest.path);
    facts.command(Purpose::Lint, format!("{tool} analyze"), manifest.folder, manifest.path);
    facts.command(Purpose::Format, "dart format .", manifest.folder, manifest.path);
}

pub(super) fn swift(manifest: &Manifest<'_>, facts: &mut Facts) {
    let commands = [(Purpose::Build, "swift build"), (Purpose::Test, "swift test")];
    one_tool(manifest, facts, "swiftpm", &commands);
    let start = manifest.text.find("Package(");
    let name = start.and_then(|start| quoted(&manifest.text[start..]).first().copied());
    facts.package("swiftpm", manifest.path, name, None);
    if manifest.text.contains("vapor") {
        facts.framework("Vapor", manifest.says("vapor"));
    }
}

pub(super) fn xcode(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("xcode", manifest.path);
}

pub(super) fn zig(manifest: &Manifest<'_>, facts: &mut Facts) {
    let commands =
        [(Purpose::Build, "zig build"), (Purpose::Test, "zig build test"), (Purpose::Format, "zig fmt .")];
    one_tool(manifest, facts, "zig", &commands);
    facts.package("zig", manifest.path, None, None);
}

pub(super) fn stack(manifest: &Manifest<'_>, facts: &mut Facts) {
    one_tool(manifest, facts, "stack", &[(Purpose::Build, "stack build"), (Purpose::Test, "stack test")]);
}

pub(super) fn cabal(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("cabal", manifest.path);
    let value = |key: &str| {
        manifest.text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(key).then(|| value.trim())
        })
    };
    facts.package("cabal", manifest.path, value("name"), value("synopsis"));
    if !manifest.has("stack.yaml") {
        facts.build_tool("cabal", manifest.path);
        facts.command(Purpose::Build, "cabal build all", manifest.folder, manifest.path);
        facts.command(Purpose::Test, "cabal test all", manifest.folder, manifest.path);
    }
}

pub(super) fn nix(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("nix", manifest.path);
}

pub(super) fn docker(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("docker", manifest.path);
}

pub(super) fn compose(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("docker compose", manifest.path);
    facts.command(Purpose::Run, "docker compose up", manifest.folder, manifest.path);
}
