//! Go: packages are folders, types are declared nearly everywhere, interfaces are satisfied by their methods alone.

mod build;
mod extract;
mod project;
mod repair;

use tree_sitter::{Node, Tree};

use crate::facts::Builder;
use crate::language::{Language, Layout, Project};

/// The language.
pub(crate) struct Go;

impl Language for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["go"]
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_go::LANGUAGE.into()
    }

    fn repaired(&self, _path: &str, source: &[u8]) -> Option<Vec<u8>> {
        repair::repaired(source)
    }

    /// The grammar wants a separator behind the last constant or variable of a group, where the language needs none
    /// before the parenthesis.
    fn is_valid(&self, error: Node<'_>) -> bool {
        let is_group = |node: Node<'_>| matches!(node.kind(), "const_declaration" | "var_spec_list");
        error.is_missing()
            && error.parent().is_some_and(is_group)
            && error.next_sibling().is_some_and(|next| next.kind() == ")")
    }

    fn extract(&self, path: &str, tree: &Tree, builder: &mut Builder<'_>) {
        extract::extract(path, tree, builder);
    }

    fn pattern_contexts(&self) -> &'static [(&'static str, &'static str)] {
        &[("package p\nfunc f() {\n", "\n}\n"), ("package p\n", "\n"), ("package p\nvar _ ", "\n")]
    }

    fn manifests(&self) -> &'static [&'static str] {
        &["go.mod"]
    }

    fn project(&self, layout: &Layout<'_>) -> Box<dyn Project> {
        Box::new(project::Packages::new(layout))
    }
}
