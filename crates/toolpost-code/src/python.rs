//! Python: names belong to functions, classes and modules; types come from annotations, constructor calls and the flow
//! of assignments. What nothing says the type of stays unknown.

mod extract;
mod infer;
mod modules;
mod names;
mod own;
mod project;

use tree_sitter::Tree;

use crate::facts::Builder;
use crate::language::{Language, Layout, Project};

/// The language.
pub(crate) struct Python;

impl Language for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["py", "pyi", "pyw"]
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
    }

    fn extract(&self, _path: &str, tree: &Tree, builder: &mut Builder<'_>) {
        extract::extract(tree, builder);
    }

    fn project(&self, layout: &Layout<'_>) -> Box<dyn Project> {
        Box::new(project::Packages::new(layout))
    }
}
