//! CMake, Meson, Autotools and Bazel, by scanning.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::quoted;

/// The words of every call of a command of CMake, comments left out.
fn calls<'a>(text: &'a str, command: &str) -> Vec<Vec<&'a str>> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (at, _) in lower.match_indices(command) {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        let is_whole = !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = text[at + command.len()..].trim_start();
        let Some(inside) = rest.strip_prefix('(').filter(|_| is_whole && !line.contains('#')) else {
            continue;
        };
        let inside = &inside[..inside.floor_char_boundary(4_000)];
        let inside = inside.split(')').next().unwrap_or(inside);
        found.push(inside.split_whitespace().map(|word| word.trim_matches('"')).collect());
        if found.len() > 500 {
            break;
        }
    }
    found
}

pub(super) fn cmake(manifest: &Manifest<'_>, facts: &mut Facts) {
    let above = manifest.folder.rsplit_once('/').map_or("", |(above, _)| above);
    let is_top = !facts.packages.iter().any(|package| {
        package.kind == "cmake"
            && (package.folder == "."
                || above == package.folder
                || above.starts_with(&format!("{}/", package.folder)))
    });
    facts.build_tool("cmake", manifest.path);
    for call in calls(manifest.text, "add_executable") {
        if let Some(name) = call.first().filter(|name| !name.contains('$')) {
            let source = call.iter().skip(1).find(|word| word.contains('.') && !word.contains('$'));
            let file = source.map_or_else(|| (*name).to_owned(), |source| manifest.file(source));
            if manifest.tree.has(".", &file) || source.is_none() {
                facts.entry_point(&file, manifest.says(&format!("add_executable({name})")));
            }
        }
    }
    for (word, framework) in [
        ("Qt5", "Qt"),
        ("Qt6", "Qt"),
        ("Boost", "Boost"),
        ("GTest", "GoogleTest"),
        ("Catch2", "Catch2"),
        ("CUDA", "CUDA"),
        ("OpenMP", "OpenMP"),
    ] {
        let is_asked = calls(manifest.text, "find_package").iter().any(|call| call.first() == Some(&word));
        if is_asked || word == "GTest" && manifest.text.contains("googletest") {
            facts.framework(framework, manifest.says(word));
        }
    }
    if !is_top {
        return;
    }
    let projects = calls(manifest.text, "project");
    let name = projects.first().and_then(|call| call.first().copied());
    facts.package("cmake", manifest.path, name, None);
    facts.command(Purpose::Build, "cmake -B build && cmake --build build", manifest.folder, manifest.path);
    let tests = ["enable_testing", "add_test", "include(CTest)"];
    let has_tests = tests.iter().any(|word| manifest.text.contains(word))
        || manifest
            .tree
            .below_folder(manifest.at())
            .filter(|file| file.ends_with("CMakeLists.txt"))
            .take(200)
            .any(|file| {
                manifest
                    .tree
                    .text(file)
                    .is_some_and(|text| text.contains("add_test(") || text.contains("enable_testing"))
            });
    if has_tests {
        facts.command(Purpose::Test, "ctest --test-dir build", manifest.folder, manifest.path);
    }
    for (config, purpose, command) in
        [(".clang-tidy", Purpose::Lint, "clang-tidy"), (".clang-format", Purpose::Format, "clang-format -i")]
    {
        if manifest.has(config) {
            facts.command(purpose, command, manifest.folder, manifest.file(config));
        }
    }
    for (file, manager) in [("conanfile.txt", "conan"), ("conanfile.py", "conan"), ("vcpkg.json", "vcpkg")] {
        if manifest.has(file) {
            facts.package_manager(manager, manifest.file(file));
        }
    }
}

pub(super) fn meson(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("meson", manifest.path);
    let Some(start) = manifest.text.find("project(") else { return };
    facts.package("meson", manifest.path, quoted(&manifest.text[start..]).first().copied(), None);
    facts.command(
        Purpose::Build,
        "meson setup build && meson compile -C build",
        manifest.folder,
        manifest.path,
    );
    facts.command(Purpose::Test, "meson test -C build", manifest.folder, manifest.path);
}

pub(super) fn autotools(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("autotools", manifest.path);
    facts.command(Purpose::Build, "./configure && make", manifest.folder, manifest.path);
    facts.command(Purpose::Test, "make check", manifest.folder, manifest.path);
}

pub(super) fn bazel(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("bazel", manifest.path);
    let start = ["module(", "workspace("].iter().find_map(|call| manifest.text.find(call));
    let name = start.and_then(|start| quoted(&manifest.text[start..]).first().copied());
    if !facts.packages.iter().any(|package| package.kind == "bazel" && package.folder == manifest.at()) {
        facts.package("bazel", manifest.path, name, None);
    }
    facts.command(Purpose::Build, "bazel build //...", manifest.folder, manifest.path);
    facts.command(Purpose::Test, "bazel test //...", manifest.folder, manifest.path);
    for line in manifest.text.lines().filter(|line| line.trim_start().starts_with("bazel_dep(")) {
        if let Some(name) = quoted(line).first().filter(|name| name.starts_with("rules_")) {
            facts.framework(name, manifest.says("bazel_dep"));
        }
    }
}
