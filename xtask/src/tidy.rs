//! `tidy`: the rules of this tree that no compiler checks. Each rule is a file that turns the tree into findings.

mod budget;
mod code;
mod doors;
mod edges;
mod headers;
mod leftovers;
mod links;
mod machine_paths;
mod names;
mod sizes;
mod tools;
mod tree;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::metadata::{Metadata, Scope};
use tree::Tree;

/// Prints the sizes of the crates, their edges, the ten largest files and what is wrong; an error if anything is wrong.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::load(root)?;
    let metadata = Metadata::load(root, Scope::Workspace)?;
    let mut findings = edges::check(root, &metadata);
    let rules = [
        budget::check,
        doors::check,
        headers::check,
        leftovers::check,
        links::check,
        machine_paths::check,
        names::check,
        tools::check,
    ];
    findings.extend(rules.iter().flat_map(|rule| rule(&tree)));
    findings.sort();
    findings.dedup();

    println!("lines without tests, and names at the root");
    for budget::Size { name, lines, exports } in budget::sizes(&tree) {
        println!("{lines:>7} {exports:>5}  {name}");
    }
    println!("which of our crates each depends on, tests aside");
    for (name, edges) in edges::shown(&metadata) {
        println!("{name:>21}  {edges}");
    }
    println!("the ten largest files");
    for (lines, path) in sizes::largest(&tree) {
        println!("{lines:>7}  {path}");
    }
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    Ok(())
}

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The findings of a rule on files written as one string, up to the first comma of each message.
#[cfg(test)]
fn check(rule: fn(&Tree) -> Vec<Finding>, files: &str, expected: &[&str]) {
    let mut findings = rule(&Tree::of(files));
    findings.sort();
    let shown: Vec<String> = findings.iter().map(Finding::to_string).collect();
    let short: Vec<&str> = shown.iter().map(|text| text.split([',', ';']).next().unwrap_or(text)).collect();
    assert_eq!(short, expected, "{shown:#?}");
}
