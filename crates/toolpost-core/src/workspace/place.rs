//! From a path's spelling to a place under a root, without looking at any file.
//!
//! `.` and `..` are folded here by spelling alone. Links are not known here: a place may still lead out through
//! one, and only the workspace that opens it can tell.

use super::path::WorkspacePath;
use crate::error::{Code, ToolError};

/// The longest path that Linux takes, in bytes, and the longest name of one file.
const LONGEST_PATH: usize = 4095;
const LONGEST_NAME: usize = 255;

/// How one root is spelled.
#[derive(Debug, Clone)]
pub struct RootName {
    /// Absolute, without links: what answers show.
    pub path: String,
    /// Absolute, as the user gave it: accepted too.
    pub given: String,
}

/// A root and the names below it that lead to a file; empty for the root itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which root.
    pub root: usize,
    /// The names below it, none of them empty, `.` or `..`.
    pub parts: Vec<String>,
}

impl Place {
    /// Where a path leads by its spelling. Relative paths start at the first root.
    pub fn parse(path: &WorkspacePath, roots: &[RootName]) -> Result<Place, ToolError> {
        let spelling = path.as_str();
        if spelling.contains('\0') {
            return Err(ToolError::new(
                Code::ValidationError,
                format!("the path {spelling:?} has a NUL character in it; leave it out"),
            ));
        }
        let place = match spelling.starts_with('/') {
            true => find(&fold(spelling), roots),
            false => below(spelling),
        };
        let place = place.ok_or_else(|| escape(spelling, roots))?;
        if place.below().len() > LONGEST_PATH || place.parts.iter().any(|part| part.len() > LONGEST_NAME) {
            return Err(ToolError::new(
                Code::ValidationError,
                format!(
                    "the path `{}…` is too long ({} bytes; a name may have {LONGEST_NAME}, a path {LONGEST_PATH}); use a shorter one",
                    spelling.chars().take(60).collect::<String>(),
                    spelling.len(),
                ),
            ));
        }
        Ok(place)
    }

    /// Whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.parts.is_empty()
    }

    /// The path from the root, `.` for the root itself.
    pub fn below(&self) -> String {
        if self.parts.is_empty() { ".".to_owned() } else { self.parts.join("/") }
    }

    /// The display name: relative in the first root, absolute in the others.
    pub fn display(&self, roots: &[RootName]) -> String {
        if self.root == 0 {
            return self.below();
        }
        let root = &roots[self.root].path;
        match self.parts.is_empty() {
            true => root.clone(),
            false => format!("{}/{}", root.trim_end_matches('/'), self.parts.join("/")),
        }
    }

    /// The folder above and the last name; `None` for a root.
    pub fn split(&self) -> Option<(Place, &str)> {
        let (name, above) = self.parts.split_last()?;
        Some((Place { root: self.root, parts: above.to_vec() }, name))
    }
}

/// The parts of an absolute path with `.` and `..` folded.
pub fn fold(absolute: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in absolute.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name.to_owned()),
        }
    }
    parts
}

/// The first root that holds an absolute path, compared part by part.
fn find(absolute: &[String], roots: &[RootName]) -> Option<Place> {
    roots.iter().enumerate().find_map(|(index, root)| {
        [&root.path, &root.given].into_iter().find_map(|spelling| {
            let parts = absolute.strip_prefix(fold(spelling).as_slice())?.to_vec();
            Some(Place { root: index, parts })
        })
    })
}

/// The refusal of a path that leads out of every root.
pub fn escape(spelling: &str, roots: &[RootName]) -> ToolError {
    let shown: Vec<String> = roots.iter().map(|root| format!("`{}`", root.path)).collect();
    ToolError::new(
        Code::PathEscape,
        format!(
            "`{}` leads out of the workspace {}; name a file inside it, or add its folder to the workspace",
            spelling.chars().take(300).collect::<String>(),
            shown.join(", "),
        ),
    )
    .with("path", spelling)
}

fn below(relative: &str) -> Option<Place> {
    let mut parts: Vec<String> = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name.to_owned()),
        }
    }
    Some(Place { root: 0, parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spelling: &str, expected: Result<&str, Code>) {
        let root = |path: &str, given: &str| RootName { path: path.to_owned(), given: given.to_owned() };
        let roots = [root("/data/work", "/home/me/work"), root("/data/other", "/data/other")];
        let found = Place::parse(&spelling.into(), &roots);
        let found = found.map(|place| place.display(&roots)).map_err(|error| error.code());
        assert_eq!(found.as_deref().map_err(|code| *code), expected, "{spelling:?}");
    }

    #[test]
    fn spellings_fold_to_display_names() {
        check("", Ok("."));
        check("a//b/./c/", Ok("a/b/c"));
        check("a/../b", Ok("b"));
        check("/data/work/a", Ok("a"));
        check("/home/me/work/a", Ok("a"));
        check("/data/other/a", Ok("/data/other/a"));
        check("/x/../data/other", Ok("/data/other"));
        check("%2e%2e/a", Ok("%2e%2e/a"));
    }

    #[test]
    fn what_leads_out_is_refused() {
        check("..", Err(Code::PathEscape));
        check("a/../../work/b", Err(Code::PathEscape));
        check("/data/work2/a", Err(Code::PathEscape));
        check("/data/work/../worker", Err(Code::PathEscape));
        check("/", Err(Code::PathEscape));
        check("a\0b", Err(Code::ValidationError));
        check(&"x".repeat(256), Err(Code::ValidationError));
        check(&"x/".repeat(2500), Err(Code::ValidationError));
    }
}
