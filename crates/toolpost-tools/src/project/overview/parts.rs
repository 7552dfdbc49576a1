//! The folders of a project with what each is for, where programs begin, and what to read next.

use super::readme;
use crate::one_line;
use crate::project::facts::{Facts, short};
use crate::project::languages::language_of;
use crate::project::tree::Tree;
use std::collections::BTreeMap;
use toolpost_core::text::tokens;

/// Folders with a usual meaning.
const USUAL: [(&str, &str); 34] = [
    ("src", "source code"),
    ("lib", "library code"),
    ("app", "the application"),
    ("apps", "applications"),
    ("cmd", "programs"),
    ("bin", "programs"),
    ("internal", "code that only this project uses"),
    ("pkg", "packages"),
    ("packages", "packages"),
    ("crates", "Rust packages"),
    ("services", "services"),
    ("server", "the server"),
    ("client", "the client"),
    ("frontend", "the front end"),
    ("backend", "the back end"),
    ("web", "web pages"),
    ("api", "the interface for other programs"),
    ("tests", "tests"),
    ("test", "tests"),
    ("spec", "tests"),
    ("e2e", "tests of the whole"),
    ("bench", "measurements"),
    ("benches", "measurements"),
    ("benchmarks", "measurements"),
    ("docs", "documentation"),
    ("doc", "documentation"),
    ("examples", "examples"),
    ("scripts", "scripts"),
    ("tools", "tools for development"),
    ("xtask", "the project's own development commands"),
    ("assets", "pictures and other files"),
    ("config", "configuration"),
    ("migrations", "changes of the database"),
    ("vendor", "code of others"),
];

/// Maximum number of folders that are listed.
const MOST_FOLDERS: usize = 20;

/// The folders, with packages below them, and the entry points.
pub(super) fn layout(tree: &Tree, facts: &Facts, room: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut below: Vec<(String, Vec<String>)> = Vec::new();
    let folders: Vec<&str> = tree.top_folders().collect();
    for folder in folders.iter().take(MOST_FOLDERS).copied() {
        let files = tree
            .below_folder(folder)
            .filter(|file| language_of(file).is_some() && !tree.is_hidden(file))
            .count();
        let about = about(tree, facts, folder);
        let counted = if files > 0 { format!(" ({files} source files)") } else { String::new() };
        let about = about.map(|about| format!(": {about}")).unwrap_or_default();
        lines.push(format!("- `{}/`{about}{counted}", one_line(tree.below(folder))));
        let packages: Vec<String> = facts
            .packages
            .iter()
            .filter(|package| package.folder.starts_with(&format!("{folder}/")))
            .map(|package| {
                let said = package.description.clone().or_else(|| head_of(tree, &package.folder));
                let said = said.map(|said| format!(": {said}")).unwrap_or_default();
                format!("  - `{}`{said}", one_line(tree.below(&package.folder)))
            })
            .collect();
        below.push((lines.last().cloned().unwrap_or_default(), packages));
    }
    if folders.len() > MOST_FOLDERS {
        lines.push(format!("- and {} more folders", folders.len() - MOST_FOLDERS));
    }
    let files = |wanted: fn(&str) -> bool| {
        let top = tree
            .files
            .iter()
            .map(|file| tree.below(file))
            .filter(move |file| !file.contains('/') && wanted(file));
        top.take(12).map(|file| format!("`{}`", one_line(file))).collect::<Vec<_>>()
    };
    let top = files(|file| language_of(file).is_some());
    if !top.is_empty() {
        lines.push(format!("- files at the top: {}", top.join(", ")));
    }
    let entries: Vec<String> = entry_points(tree, facts).iter().map(|file| format!("`{file}`")).collect();
    if !entries.is_empty() {
        lines.push(format!("\nIt begins in {}.", entries.join(", ")));
    }
    // Packages are added as long as there is room.
    let mut used = tokens(&lines.join("\n"));
    let mut shown = Vec::new();
    for line in lines {
        let packages =
            below.iter().find(|(heading, _)| *heading == line).map(|(_, packages)| packages.as_slice());
        shown.push(line);
        for (place, package) in packages.unwrap_or_default().iter().enumerate() {
            used += tokens(package) + 1;
            if used > room {
                let more = packages.unwrap_or_default().len() - place;
                shown.push(format!("  - and {more} more packages"));
                break;
            }
            shown.push(package.clone());
        }
    }
    shown.join("\n")
}

/// Where to begin to read: programs before libraries, the project itself before what helps to develop it.
fn entry_points(tree: &Tree, facts: &Facts) -> Vec<String> {
    const HELPERS: [&str; 9] =
        ["bench", "benches", "benchmarks", "xtask", "examples", "example", "tests", "tools", "scripts"];
    let mut found: Vec<(bool, bool, &str)> = facts
        .entry_points
        .iter()
        .map(|one| {
            let file = tree.below(&one.name);
            let is_helper = file.split('/').next().is_some_and(|first| HELPERS.contains(&first));
            let is_library = ["lib.rs", "__init__.py"].iter().any(|name| file.ends_with(name));
            (is_helper, is_library, file)
        })
        .collect();
    // Stable, so that those of one kind stay in the order of the manifests.
    found.sort_by_key(|(is_helper, is_library, _)| (*is_helper, *is_library));
    found.iter().take(6).map(|(_, _, file)| one_line(file).into_owned()).collect()
}

/// What a folder is for: its package says so, or its README, or the head of its main file, or its name.
fn about(tree: &Tree, facts: &Facts, folder: &str) -> Option<String> {
    let package = facts.packages.iter().find(|package| package.folder == folder);
    let said = package.and_then(|package| package.description.clone());
    let readme = || {
        let name = readme::name_in(tree, folder)?;
        let text = readme::introduction(&tree.text(&tree.inside(folder, name))?, 60);
        text.lines().next().map(first_sentence).filter(|text| !text.is_empty())
    };
    let usual = || {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        USUAL.iter().find(|(known, _)| *known == name).map(|(_, about)| (*about).to_owned())
    };
    said.or_else(readme).or_else(|| head_of(tree, folder)).or_else(usual).or_else(|| content(tree, folder))
}

/// What is in a folder that says nothing of itself: the endings of its files.
fn content(tree: &Tree, folder: &str) -> Option<String> {
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.below_folder(folder).take(2_000) {
        let name = file.rsplit('/').next().unwrap_or(file);
        *endings.entry(name.rsplit_once('.').map_or("other", |(_, ending)| ending)).or_default() += 1;
    }
    let (ending, count) = endings.into_iter().max_by_key(|(_, count)| *count)?;
    Some(format!("{count} {ending} files"))
}

/// The first sentence that the main file of a package says of itself.
fn head_of(tree: &Tree, folder: &str) -> Option<String> {
    let mains = [
        "src/lib.rs",
        "src/main.rs",
        "lib.rs",
        "mod.rs",
        "__init__.py",
        "doc.go",
        "src/index.ts",
        "index.ts",
        "index.js",
    ];
    let file = tree.first_of(folder, &mains)?;
    let text = tree.text_within(&tree.inside(folder, file), 16 * 1024)?;
    let mut said = Vec::new();
    let mut is_doc = false;
    for line in text.lines().take(60).map(str::trim) {
        let content = match line {
            _ if line.starts_with("//!") => line.strip_prefix("//!"),
            _ if file.ends_with(".go") => line.strip_prefix("//"),
            _ if line.starts_with("\"\"\"") => {
                is_doc = true;
                line.strip_prefix("\"\"\"").map(|rest| rest.trim_end_matches("\"\"\""))
            }
            _ if line.starts_with("/**") => {
                is_doc = true;
                line.strip_prefix("/**")
            }
            _ if is_doc => {
                Some(line.trim_start_matches('*').trim_end_matches("*/").trim_end_matches("\"\"\""))
            }
            "" if said.is_empty() => Some(""),
            _ => None,
        };
        let Some(content) = content.map(str::trim) else { break };
        if content.is_empty() && !said.is_empty() {
            break;
        }
        if !content.is_empty() {
            said.push(content.to_owned());
        }
        if line.ends_with("*/") {
            break;
        }
    }
    let sentence = first_sentence(&said.join(" "));
    (sentence.len() > 3).then_some(sentence)
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").or_else(|| text.strip_suffix('.').map(str::len)).unwrap_or(text.len());
    short(&readme::plain(&text[..end]))
}

/// Documents for those who want to know more.
pub(super) fn read_next(tree: &Tree, room: usize) -> String {
    let wanted = [
        ("CONTRIBUTING", "how to contribute"),
        ("ARCHITECTURE", "how it is made"),
        ("DEVELOPMENT", "how to develop"),
        ("AGENTS", "what agents should know"),
        ("CLAUDE", "what agents should know"),
        ("SECURITY", "security"),
        ("CHANGELOG", "what has changed"),
        ("ROADMAP", "what is planned"),
    ];
    let mut lines = Vec::new();
    for (stem, about) in wanted {
        let is_it = |file: &&String| {
            let below = tree.below(file);
            let below = below.strip_prefix("docs/").unwrap_or(below);
            below.split('.').next().is_some_and(|name| name.eq_ignore_ascii_case(stem))
                && !below.contains('/')
        };
        if let Some(file) = tree.files.iter().find(is_it) {
            lines.push(format!("- `{}`: {about}", one_line(tree.below(file))));
        }
    }
    let guides: Vec<&str> = tree
        .files
        .iter()
        .map(|file| tree.below(file))
        .filter(|file| file.ends_with(".md") && (file.starts_with("docs/") || file.starts_with("doc/")))
        .collect();
    if !guides.is_empty() {
        let folders: std::collections::BTreeSet<&str> =
            guides.iter().filter_map(|file| file.rsplit_once('/').map(|(folder, _)| folder)).collect();
        let folders: Vec<String> = folders.iter().take(6).map(|folder| format!("`{folder}/`")).collect();
        lines.push(format!("- {} pages in {}", guides.len(), folders.join(", ")));
    }
    let mut used = 0;
    lines.retain(|line| {
        used += tokens(line);
        used <= room.max(60)
    });
    lines.join("\n")
}
