//! The languages that this build knows. A new one is a line here.

use crate::facts::{Builder, Facts};
use crate::language::Language;

/// Every language; the position of one in this list is its number.
#[must_use]
pub fn all() -> Vec<&'static dyn Language> {
    vec![
        #[cfg(feature = "go")]
        &crate::go::Go,
        #[cfg(feature = "typescript")]
        &crate::typescript::TypeScript,
    ]
}

/// The number of the language of a file, by the end of its name.
#[must_use]
pub fn of_path(languages: &[&'static dyn Language], path: &str) -> Option<u8> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let index = languages.iter().position(|language| language.extensions().contains(&extension))?;
    Some(index as u8)
}

/// Reads a file into facts.
#[must_use]
pub fn extract(language: &dyn Language, path: &str, source: &[u8]) -> Facts {
    let mut builder = Builder::new(source);
    let mut parser = tree_sitter::Parser::new();
    if parser.set_language(&language.grammar(path)).is_ok()
        && let Some(mut tree) = parser.parse(source, None)
    {
        if tree.root_node().has_error()
            && let Some(text) = language.repaired(path, source)
            && let Some(better) = parser.parse(&text, None)
        {
            tree = better;
        }
        language.extract(path, &tree, &mut builder);
        builder.facts_mut().has_errors = tree.root_node().has_error();
    }
    builder.finish()
}
