//! Which files say what a project is, and who reads each. A reader is a pure function of one text and the names around it.

mod cargo;
mod dotnet;
mod go;
mod jvm;
mod native;
mod node;
mod others;
mod php;
mod python;
mod ruby;
mod tasks;

use super::facts::{Facts, folder_of};
use super::tree::Tree;
use super::values::problem_of;
use globset::{GlobBuilder, GlobSetBuilder};

/// Maximum number of manifests that are read.
const MOST_MANIFESTS: usize = 3_000;

/// One manifest.
pub(super) struct Manifest<'a> {
    /// Its display name.
    pub(super) path: &'a str,
    /// The display name of its folder; empty for the root of the workspace.
    pub(super) folder: &'a str,
    /// Its text.
    pub(super) text: &'a str,
    /// The names of all files.
    pub(super) tree: &'a Tree,
}

/// Reads one manifest.
type Reader = fn(&Manifest<'_>, &mut Facts);

/// Readers by the exact name of the file.
const BY_NAME: [(&str, Reader); 44] = [
    ("Cargo.toml", cargo::manifest),
    ("pnpm-workspace.yaml", node::pnpm_workspace),
    ("lerna.json", node::lerna),
    ("package.json", node::package),
    ("deno.json", node::deno),
    ("deno.jsonc", node::deno),
    ("pyproject.toml", python::pyproject),
    ("setup.py", python::setup),
    ("setup.cfg", python::setup),
    ("requirements.txt", python::requirements),
    ("Pipfile", python::pipfile),
    ("environment.yml", python::conda),
    ("tox.ini", python::tox),
    ("noxfile.py", python::nox),
    ("manage.py", python::django),
    ("go.work", go::work),
    ("go.mod", go::module),
    ("pom.xml", jvm::maven),
    ("settings.gradle", jvm::gradle_settings),
    ("settings.gradle.kts", jvm::gradle_settings),
    ("build.gradle", jvm::gradle),
    ("build.gradle.kts", jvm::gradle),
    ("build.sbt", jvm::sbt),
    ("CMakeLists.txt", native::cmake),
    ("meson.build", native::meson),
    ("configure.ac", native::autotools),
    ("MODULE.bazel", native::bazel),
    ("WORKSPACE", native::bazel),
    ("WORKSPACE.bazel", native::bazel),
    ("Gemfile", ruby::gemfile),
    ("composer.json", php::composer),
    ("mix.exs", others::mix),
    ("pubspec.yaml", others::pubspec),
    ("Package.swift", others::swift),
    ("build.zig", others::zig),
    ("stack.yaml", others::stack),
    ("flake.nix", others::nix),
    ("Dockerfile", others::docker),
    ("compose.yaml", others::compose),
    ("docker-compose.yml", others::compose),
    ("Makefile", tasks::makefile),
    ("justfile", tasks::justfile),
    ("Taskfile.yml", tasks::taskfile),
    ("Rakefile", ruby::rakefile),
];

/// Readers by the ending of the name.
const BY_ENDING: [(&str, Reader); 8] = [
    (".sln", dotnet::solution),
    (".slnx", dotnet::solution),
    (".csproj", dotnet::project),
    (".fsproj", dotnet::project),
    (".vbproj", dotnet::project),
    (".gemspec", ruby::gemspec),
    (".cabal", others::cabal),
    (".xcodeproj/project.pbxproj", others::xcode),
];

/// The reader of a file, and its place in the order of those of one folder.
fn reader_of(file: &str) -> Option<(usize, Reader)> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let named = BY_NAME.iter().enumerate().find(|(_, (known, _))| *known == name);
    let ending = || BY_ENDING.iter().enumerate().find(|(_, (ending, _))| file.ends_with(ending));
    named
        .map(|(place, (_, reader))| (place, *reader))
        .or_else(|| ending().map(|(place, (_, reader))| (BY_NAME.len() + place, *reader)))
}

/// Whether a file marks the root of a package.
pub(super) fn is_package(file: &str) -> bool {
    const PACKAGES: [&str; 12] = [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.py",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "composer.json",
        "mix.exs",
        "pubspec.yaml",
        "Package.swift",
    ];
    let name = file.rsplit('/').next().unwrap_or(file);
    PACKAGES.contains(&name) || [".csproj", ".fsproj", ".gemspec"].iter().any(|ending| name.ends_with(ending))
}

/// Reads every manifest of a project's own, those nearest to the root first.
pub(super) fn facts(tree: &Tree) -> Facts {
    let mut found: Vec<(usize, &str, usize, &String, Reader)> = tree
        .files
        .iter()
        .filter(|file| !tree.is_foreign(file))
        .filter_map(|file| {
            let (place, reader) = reader_of(file)?;
            Some((tree.below(file).matches('/').count(), folder_of(file), place, file, reader))
        })
        .collect();
    found.sort_by_key(|(depth, folder, place, file, _)| (*depth, *folder, *place, *file));
    let mut facts = Facts::default();
    for (_, _, _, path, reader) in found.into_iter().take(MOST_MANIFESTS) {
        if !tree.has_time() {
            break;
        }
        let Some(text) = tree.text(path) else { continue };
        let folder = folder_of(path);
        // What a broken manifest seems to say is not believed.
        if let Some(why) = problem_of(path, &text) {
            facts.problem(&why, path);
            continue;
        }
        reader(&Manifest { path, folder, text: &text, tree }, &mut facts);
    }
    tasks::checks(tree, &mut facts);
    facts.commands.sort_by_key(|command| (command.folder.matches('/').count(), command.folder != "."));
    facts
}

impl Manifest<'_> {
    /// Whether the folder of this manifest has such a file.
    fn has(&self, name: &str) -> bool {
        self.tree.has(self.at(), name)
    }

    /// The folder, as the tree names it.
    fn at(&self) -> &str {
        if self.folder.is_empty() { "." } else { self.folder }
    }

    /// The first of these files that the folder has.
    fn first_of<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        self.tree.first_of(self.at(), names)
    }

    /// The display name of a file below the folder.
    fn file(&self, name: &str) -> String {
        let name = name.trim_start_matches("./");
        if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }

    /// The first of these files that the folder or one above it has, with its display name.
    fn above<'a>(&self, names: &[&'a str]) -> Option<(&'a str, String)> {
        let mut folder = self.folder;
        loop {
            let at = if folder.is_empty() { "." } else { folder };
            if let Some(name) = self.tree.first_of(at, names) {
                return Some((name, self.tree.inside(at, name)));
            }
            match folder.rsplit_once('/') {
                Some((above, _)) => folder = above,
                None if !folder.is_empty() => folder = "",
                None => return None,
            }
        }
    }

    /// Where in this manifest something stands.
    fn says(&self, place: &str) -> String {
        format!("{}: {place}", self.path)
    }

    /// Whether a workspace of this kind has the folder as a member.
    fn is_member(&self, facts: &Facts, kind: &str) -> bool {
        facts
            .workspaces
            .iter()
            .any(|workspace| workspace.kind == kind && workspace.members.iter().any(|one| one == self.folder))
    }

    /// The folders below with a manifest of this name that the patterns mean; a pattern that begins with `!` leaves out.
    fn members(&self, patterns: &[&str], manifest: &str) -> Vec<String> {
        let set = |patterns: Vec<&str>| {
            let mut set = GlobSetBuilder::new();
            for pattern in patterns {
                let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
                let glob = GlobBuilder::new(pattern).literal_separator(true).build();
                if let Ok(glob) = glob {
                    set.add(glob);
                }
            }
            set.build().unwrap_or_default()
        };
        let wanted = set(patterns.iter().copied().filter(|pattern| !pattern.starts_with('!')).collect());
        let unwanted = set(patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).collect());
        let start = if self.folder.is_empty() { String::new() } else { format!("{}/", self.folder) };
        let mut members: Vec<String> = self
            .tree
            .files
            .iter()
            .filter_map(|file| {
                let folder = file.strip_suffix(manifest)?.strip_suffix('/')?;
                let below = folder.strip_prefix(&start)?;
                (wanted.is_match(below) && !unwanted.is_match(below)).then(|| folder.to_owned())
            })
            .collect();
        members.dedup();
        members
    }
}
