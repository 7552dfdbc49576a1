//! Which identifiers of a tree have no answer: `unresolved DIR [most]` prints how each role was resolved, and the names
//! that stay unknown although the tree declares them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a developer's measurement reads a tree and prints figures"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use toolpost_code::languages;
use toolpost_code::resolve::{Confidence, Entity, Memo, Query};
use toolpost_code::world::World;

fn list(root: &Path, folder: &Path, paths: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if ![".git", "node_modules", "target"].contains(&entry.file_name().to_string_lossy().as_ref()) {
                list(root, &entry.path(), paths)?;
            }
        } else if kind.is_file()
            && let Some(path) = entry.path().strip_prefix(root)?.to_str()
        {
            paths.push(path.to_owned());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args().nth(1).ok_or("unresolved DIR [most]")?;
    let most: usize = std::env::args().nth(2).and_then(|most| most.parse().ok()).unwrap_or(30);
    let root = Path::new(&root);
    let languages = languages::all();
    let mut paths = Vec::new();
    list(root, root, &mut paths)?;
    paths.sort();
    let (mut files, mut manifests) = (Vec::new(), Vec::new());
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if languages.iter().any(|language| language.manifests().contains(&name)) {
            manifests.push((path.clone(), std::fs::read(root.join(&path))?));
        }
        if let Some(language) = languages::of_path(&languages, &path) {
            let bytes = std::fs::read(root.join(&path))?;
            files.push((
                path.clone(),
                language,
                languages::extract(languages[usize::from(language)], &path, &bytes),
            ));
        }
    }
    let world = World::new(languages, files, manifests);
    let query = Query::new(&world, Memo::default());
    let mut by_role: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let mut unknown: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
    for file in world.files() {
        let facts = query.facts(file);
        for (index, token) in facts.tokens.iter().enumerate() {
            query.refuel();
            let resolution = query.resolve(file, index as u32);
            let is_external = resolution.entities.first() == Some(&Entity::External);
            let outcome =
                if is_external { "External".to_owned() } else { format!("{:?}", resolution.confidence) };
            *by_role.entry(format!("{:?}", token.role)).or_default().entry(outcome).or_default() += 1;
            let is_defined = world.postings(facts.name(token.name)).iter().any(|posting| posting.defines());
            if resolution.confidence >= Confidence::Possible && is_defined {
                let key = (format!("{:?}", token.role), facts.text(token.name).to_owned());
                let line = facts.position(token.start).0;
                let entry = unknown.entry(key).or_insert_with(|| (0, String::new()));
                entry.0 += 1;
                if entry.0 < 4 {
                    entry.1.push_str(&format!(" {}:{line}", world.path(file)));
                }
            }
        }
    }
    for (role, outcomes) in &by_role {
        println!("{role:<12} {outcomes:?}");
    }
    let mut worst: Vec<_> = unknown.into_iter().collect();
    worst.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for ((role, name), (count, places)) in worst.into_iter().take(most) {
        println!("{count:>6} {role} {name}{places}");
    }
    Ok(())
}
