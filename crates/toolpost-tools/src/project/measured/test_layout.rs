//! Where tests are: beside the code, in folders of their own, or inside of the files.

use super::Convention;
use crate::project::languages::language_of;
use crate::project::tree::Tree;

const FOLDERS: [&str; 9] =
    ["tests", "test", "__tests__", "spec", "specs", "e2e", "integration_tests", "androidTest", "testing"];

/// Whether a file is a test, by its name.
pub(crate) fn is_test(file: &str) -> bool {
    in_folder(file).is_some() || is_named(file)
}

/// The folder of tests that a file is in.
fn in_folder(file: &str) -> Option<&str> {
    let (folders, _) = file.rsplit_once('/')?;
    folders
        .split('/')
        .find(|part| FOLDERS.contains(part) || part.ends_with(".Tests") || part.ends_with("_tests"))
}

/// Whether a name says that a file is a test.
fn is_named(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let ends = ["_test", ".test", ".spec", "_spec", "Test", "Tests", "Spec", "IT", "_tests"];
    (name.starts_with("test_") && name.len() > 8 || ends.iter().any(|end| stem.ends_with(end)))
        && stem != "Test"
}

pub(super) fn report(tree: &Tree, inside: usize, conventions: &mut Vec<Convention>) {
    let tests: Vec<&str> = tree
        .files
        .iter()
        .filter(|file| language_of(file).is_some() && !tree.is_foreign(file) && !tree.is_hidden(file))
        .map(|file| tree.below(file))
        .filter(|file| is_test(file))
        .collect();
    let all = tests.len() + inside;
    if all == 0 {
        return;
    }
    let mut folders: std::collections::BTreeMap<&str, usize> = Default::default();
    tests
        .iter()
        .filter_map(|file| in_folder(file))
        .for_each(|folder| *folders.entry(folder).or_default() += 1);
    let beside = tests.iter().filter(|file| in_folder(file).is_none()).count();
    let mut layouts: Vec<(String, usize)> =
        folders.into_iter().map(|(folder, count)| (format!("in folders `{folder}/`"), count)).collect();
    layouts.push(("beside the code".to_owned(), beside));
    layouts.push(("inside of the files they test".to_owned(), inside));
    layouts.retain(|(_, count)| *count > 0);
    layouts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (value, count) in layouts.into_iter().take(4) {
        conventions.push(Convention::new("test layout", "all", value, count, all, "test files"));
    }
    let mut names: std::collections::BTreeMap<&str, usize> = Default::default();
    for file in &tests {
        let name = file.rsplit('/').next().unwrap_or(file);
        let pattern = match name {
            name if name.starts_with("test_") => "test_*",
            name if name.contains(".test.") => "*.test.*",
            name if name.contains(".spec.") => "*.spec.*",
            name if name.contains("_test.") => "*_test.*",
            name if name.contains("_spec.") => "*_spec.*",
            name if name.contains("Test.") || name.contains("Tests.") => "*Test.*",
            _ => continue,
        };
        *names.entry(pattern).or_default() += 1;
    }
    if let Some((pattern, count)) = super::most_frequent(&names) {
        let value = format!("`{pattern}`");
        conventions.push(Convention::new("test names", "all", value, count, tests.len(), "test files"));
    }
}
