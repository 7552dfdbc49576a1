//! Who depends on whom: files by their imports, folders by their files, with counts and circles.

use std::collections::BTreeMap;

use crate::resolve::Query;
use crate::world::FileId;

/// A dependency of one file on another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Edge {
    /// The file that depends.
    pub from: FileId,
    /// The file that it depends on.
    pub to: FileId,
    /// How many imports lead there.
    pub count: u32,
}

impl Query<'_> {
    /// The dependencies of files on other files of the tree, by their imports, in the order of paths.
    #[must_use]
    pub fn dependencies(&self, files: &[FileId]) -> Vec<Edge> {
        let mut counts: BTreeMap<(&str, &str), Edge> = BTreeMap::new();
        for &from in files {
            for import in self.imports(from) {
                for to in import.files {
                    if to != from {
                        let names = (self.world.path(from), self.world.path(to));
                        counts.entry(names).or_insert(Edge { from, to, count: 0 }).count += 1;
                    }
                }
            }
        }
        counts.into_values().collect()
    }

    /// The same, for folders down to a depth: each name stands for all files below it.
    #[must_use]
    pub fn folder_dependencies(&self, edges: &[Edge], depth: usize) -> BTreeMap<(String, String), u32> {
        let folder = |file: FileId| -> String {
            let path = self.world.path(file);
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            folder.split('/').take(depth).collect::<Vec<_>>().join("/")
        };
        let mut counts = BTreeMap::new();
        for edge in edges {
            let (from, to) = (folder(edge.from), folder(edge.to));
            if from != to {
                *counts.entry((from, to)).or_default() += edge.count;
            }
        }
        counts
    }
}

/// The groups of files that depend on each other in a circle, each sorted, without recursion.
#[must_use]
pub fn circles(edges: &[Edge]) -> Vec<Vec<FileId>> {
    let mut next: BTreeMap<FileId, Vec<FileId>> = BTreeMap::new();
    for edge in edges {
        next.entry(edge.from).or_default().push(edge.to);
        next.entry(edge.to).or_default();
    }
    let mut order: BTreeMap<FileId, (u32, u32)> = BTreeMap::new();
    let mut on_stack: Vec<FileId> = Vec::new();
    let mut groups = Vec::new();
    let mut counter = 0;
    for &root in next.keys() {
        if order.contains_key(&root) {
            continue;
        }
        let mut work: Vec<(FileId, usize)> = vec![(root, 0)];
        while let Some(&mut (file, ref mut child)) = work.last_mut() {
            if *child == 0 {
                order.insert(file, (counter, counter));
                counter += 1;
                on_stack.push(file);
            }
            let target = next.get(&file).and_then(|targets| targets.get(*child)).copied();
            *child += 1;
            match target {
                Some(target) => match order.get(&target).copied() {
                    None => work.push((target, 0)),
                    Some((index, _)) if on_stack.contains(&target) => {
                        if let Some(own) = order.get_mut(&file) {
                            own.1 = own.1.min(index);
                        }
                    }
                    Some(_) => {}
                },
                None => {
                    work.pop();
                    let (index, low) = order.get(&file).copied().unwrap_or_default();
                    if let Some(&(parent, _)) = work.last()
                        && let Some(own) = order.get_mut(&parent)
                    {
                        own.1 = own.1.min(low);
                    }
                    if index == low {
                        let at = on_stack.iter().position(|&other| other == file).unwrap_or(0);
                        let mut group = on_stack.split_off(at);
                        group.sort_unstable();
                        if group.len() > 1 {
                            groups.push(group);
                        }
                    }
                }
            }
        }
    }
    groups.sort();
    groups
}
