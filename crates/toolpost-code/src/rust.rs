//! Rust: crates from manifests, modules from files, methods in blocks apart from their types, macros full of code.

mod extract;
mod library;
mod project;

use tree_sitter::Tree;

use crate::facts::Builder;
use crate::language::{Language, Layout, Project};

/// Marks a macro that is exported, and a module whose macros are seen outside of it.
const SHARES_MACROS: u16 = crate::facts::mark::OWN_A;

/// From here on, the first operand of a path's head is the name of a derived trait; below, it is a way up.
const DERIVED: u32 = 1 << 16;
/// From here on `Op::Own` is an operator: this and the name of the method that does it; `b` is the list of its operands.
const OPERATOR: u32 = 1 << 31;

/// The language.
pub(crate) struct Rust;

impl Language for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rs"]
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_rust::LANGUAGE.into()
    }

    fn extract(&self, _path: &str, tree: &Tree, builder: &mut Builder<'_>) {
        extract::extract(tree, builder);
    }

    fn pattern_contexts(&self) -> &'static [(&'static str, &'static str)] {
        &[("fn f() { ", " }"), ("fn f() { ", "; }"), ("", ""), ("impl T { ", " }"), ("type T = ", ";")]
    }

    fn manifests(&self) -> &'static [&'static str] {
        &["Cargo.toml"]
    }

    fn project(&self, layout: &Layout<'_>) -> Box<dyn Project> {
        Box::new(project::Crates::new(layout))
    }
}
