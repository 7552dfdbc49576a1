//! From the name of a module to its file: relative paths, packages of the tree, and what the configuration says.

use std::collections::HashMap;

use super::config::{Config, Package, matched};
use crate::language::Layout;
use crate::paths::{folder_of, join};
use crate::world::FileId;

/// Where modules are.
pub(super) struct Resolver {
    files: HashMap<String, FileId>,
    folders: HashMap<FileId, String>,
    packages: Vec<Package>,
    package_at: HashMap<String, usize>,
    configs: HashMap<String, Vec<Paths>>,
}

/// The paths that hold in a folder, with those of the configurations it extends.
#[derive(Clone, Default)]
struct Paths {
    base_url: Option<String>,
    /// Patterns with full targets.
    paths: Vec<(String, Vec<String>)>,
    jsx_source: Option<String>,
}

const ENDINGS: [&str; 11] =
    [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.mts", ".d.cts"];
/// What a file that is built is made from.
const SOURCES: [(&str, &[&str]); 7] = [
    (".d.ts", &[".ts", ".tsx"]),
    (".d.mts", &[".mts", ".ts", ".tsx"]),
    (".d.cts", &[".cts", ".ts", ".tsx"]),
    (".js", &[".ts", ".tsx", ".d.ts", ".jsx"]),
    (".mjs", &[".mts", ".d.mts", ".ts"]),
    (".cjs", &[".cts", ".d.cts", ".ts"]),
    (".jsx", &[".tsx", ".d.ts"]),
];

impl Resolver {
    pub(super) fn new(layout: &Layout<'_>) -> Resolver {
        let files = layout.files.iter().map(|&(file, path)| (path.to_owned(), file)).collect();
        let folders = layout.files.iter().map(|&(file, path)| (file, folder_of(path).to_owned())).collect();
        let mut read = Vec::new();
        let mut packages = Vec::new();
        for (path, content) in layout.manifests {
            if path.rsplit('/').next() == Some("package.json") {
                packages.extend(Package::read(path, content));
            } else {
                read.extend(Config::read(path, content));
            }
        }
        let package_at =
            packages.iter().enumerate().map(|(index, package)| (package.folder.clone(), index)).collect();
        let mut configs: HashMap<String, Vec<Paths>> = HashMap::new();
        for config in &read {
            let paths = with_extended(&read, &packages, config, 0);
            let here = configs.entry(config.folder.clone()).or_default();
            // The one that editors look for comes first.
            if config.path.ends_with("tsconfig.json") { here.insert(0, paths) } else { here.push(paths) }
        }
        Resolver { files, folders, packages, package_at, configs }
    }

    /// The file that a module's name leads to from another file.
    pub(super) fn find(&self, from: FileId, name: &str) -> Option<FileId> {
        let folder = self.folders.get(&from).map_or("", String::as_str);
        let name = name.split(['?', '!']).next().unwrap_or(name);
        if name.starts_with("./") || name.starts_with("../") || name == "." || name == ".." {
            return self.file(&join(folder, name)?);
        }
        if name.starts_with('#')
            && let Some(package) = self.around(folder, &self.package_at)
            && let Some(found) = self.in_package(&self.packages[*package], name)
        {
            return Some(found);
        }
        for paths in self.configs_around(folder) {
            for (pattern, targets) in &paths.paths {
                let star = if pattern == name { Some("") } else { matched(pattern, name) };
                let Some(star) = star else { continue };
                let found = targets.iter().find_map(|target| self.file(&target.replace('*', star)));
                if found.is_some() {
                    return found;
                }
            }
            if let Some(base) = &paths.base_url
                && let Some(found) = join(base, name).and_then(|path| self.file(&path))
            {
                return Some(found);
            }
        }
        let mut best: Option<&Package> = None;
        for package in &self.packages {
            let fits = !package.name.is_empty()
                && name
                    .strip_prefix(package.name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if fits && best.is_none_or(|best| best.name.len() < package.name.len()) {
                best = Some(package);
            }
        }
        let package = best?;
        let below = format!(".{}", &name[package.name.len()..]);
        self.in_package(package, &below)
    }

    /// Where JSX comes from in a folder, as its configuration says.
    pub(super) fn jsx_source(&self, from: FileId) -> Option<&str> {
        let folder = self.folders.get(&from).map_or("", String::as_str);
        self.configs_around(folder).find_map(|paths| paths.jsx_source.as_deref())
    }

    fn configs_around<'s>(&'s self, folder: &'s str) -> impl Iterator<Item = &'s Paths> {
        above(folder).filter_map(|folder| self.configs.get(folder)).flatten()
    }

    fn around<'s, T>(&self, folder: &str, by_folder: &'s HashMap<String, T>) -> Option<&'s T> {
        above(folder).find_map(|folder| by_folder.get(folder))
    }

    fn in_package(&self, package: &Package, below: &str) -> Option<FileId> {
        let targets = package.targets(below);
        for target in &targets {
            if let Some(found) = join(&package.folder, target).and_then(|path| self.file(&path)) {
                return Some(found);
            }
        }
        // What is built is not in the tree: its sources are.
        for target in &targets {
            let target = target.trim_start_matches("./");
            let mut rest = target;
            while let Some((_, below)) = rest.split_once('/') {
                rest = below;
                for root in ["src/", "", "lib/", "source/"] {
                    let path = join(&package.folder, &format!("{root}{rest}"));
                    if let Some(found) = path.and_then(|path| self.file(&path)) {
                        return Some(found);
                    }
                }
            }
        }
        let plain = below.trim_start_matches('.').trim_start_matches('/');
        ["", "src/", "lib/"].iter().find_map(|root| {
            let path = if plain.is_empty() { format!("{root}index") } else { format!("{root}{plain}") };
            join(&package.folder, &path).and_then(|path| self.file(&path))
        })
    }

    /// The file at a path that may lack its ending, be a folder, or name what is made from a source.
    fn file(&self, path: &str) -> Option<FileId> {
        for (built, sources) in SOURCES {
            if let Some(stem) = path.strip_suffix(built) {
                for source in sources {
                    if let Some(&found) = self.files.get(&format!("{stem}{source}")) {
                        return Some(found);
                    }
                }
                break;
            }
        }
        if let Some(&found) = self.files.get(path) {
            return Some(found);
        }
        for ending in ENDINGS {
            if let Some(&found) = self.files.get(&format!("{path}{ending}")) {
                return Some(found);
            }
        }
        if let Some(&package) = self.package_at.get(path)
            && !path.is_empty()
        {
            let targets = self.packages[package].targets(".");
            for target in targets {
                if let Some(target) = join(path, &target)
                    && target != path
                    && let Some(&found) = self.files.get(&target)
                {
                    return Some(found);
                }
            }
        }
        let index = if path.is_empty() { "index".to_owned() } else { format!("{path}/index") };
        ENDINGS.iter().find_map(|ending| self.files.get(&format!("{index}{ending}")).copied())
    }
}

/// A folder and those around it, up to the root.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| folder_of(folder)))
}

fn with_extended(all: &[Config], packages: &[Package], config: &Config, depth: u32) -> Paths {
    let mut paths = Paths::default();
    if depth < 8 {
        for extended in &config.extends {
            let path = if extended.starts_with('.') {
                join(&config.folder, extended)
            } else {
                packages.iter().find_map(|package| {
                    let rest =
                        extended.strip_prefix(package.name.as_str()).filter(|_| !package.name.is_empty())?;
                    join(&package.folder, rest)
                })
            };
            let Some(path) = path else { continue };
            let ways = [path.clone(), format!("{path}.json"), format!("{path}/tsconfig.json")];
            if let Some(base) = all.iter().find(|one| ways.contains(&one.path)) {
                paths = with_extended(all, packages, base, depth + 1);
            }
        }
    }
    if let Some(base) = &config.base_url {
        paths.base_url = join(&config.folder, base);
    }
    if !config.paths.is_empty() {
        let base = match &config.base_url {
            Some(_) => paths.base_url.clone(),
            None => Some(config.folder.clone()),
        };
        let base = base.unwrap_or_default();
        paths.paths = config
            .paths
            .iter()
            .map(|(pattern, targets)| {
                (pattern.clone(), targets.iter().filter_map(|target| join(&base, target)).collect())
            })
            .collect();
    }
    if config.jsx_source.is_some() {
        paths.jsx_source.clone_from(&config.jsx_source);
    }
    paths
}
