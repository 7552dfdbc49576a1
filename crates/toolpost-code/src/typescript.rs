//! TypeScript and JavaScript: modules are files, types are structural, and what a value should be says much of what it is.

mod config;
mod evaluate;
mod extract;
mod library;
mod modules;
mod own;
mod project;
mod repair;

use tree_sitter::Tree;

use crate::facts::Builder;
use crate::language::{Language, Layout, Project};

/// How the names of files end that are read.
const ENDINGS: &[&str] = &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"];

/// The language.
pub(crate) struct TypeScript;

impl Language for TypeScript {
    fn name(&self) -> &'static str {
        "typescript"
    }

    fn extensions(&self) -> &'static [&'static str] {
        ENDINGS
    }

    fn grammar(&self, path: &str) -> tree_sitter::Language {
        // The grammar of TSX reads JavaScript as well; only TypeScript without JSX has `<T>value`.
        if has_jsx(path) {
            tree_sitter_typescript::LANGUAGE_TSX.into()
        } else {
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()
        }
    }

    fn extract(&self, path: &str, tree: &Tree, builder: &mut Builder<'_>) {
        extract::extract(path, tree, builder);
    }

    fn repaired(&self, _path: &str, source: &[u8]) -> Option<Vec<u8>> {
        repair::repaired(source)
    }

    fn manifests(&self) -> &'static [&'static str] {
        &config::NAMES
    }

    fn project(&self, layout: &Layout<'_>) -> Box<dyn Project> {
        Box::new(project::Modules::new(layout))
    }
}

fn has_jsx(path: &str) -> bool {
    !matches!(path.rsplit('.').next(), Some("ts" | "mts" | "cts"))
}
