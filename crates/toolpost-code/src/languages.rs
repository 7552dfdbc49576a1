//! The languages that this build knows. A new one is a line here.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use tree_sitter::Node;

use crate::facts::{Builder, Facts, NONE, Role};
use crate::language::Language;
use crate::syntax::each_leaf;

/// Every language; the position of one in this list is its number.
#[must_use]
pub fn all() -> Vec<&'static dyn Language> {
    vec![
        #[cfg(feature = "go")]
        &crate::go::Go,
        #[cfg(feature = "rust")]
        &crate::rust::Rust,
        #[cfg(feature = "python")]
        &crate::python::Python,
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
    extract_with(&mut tree_sitter::Parser::new(), language, path, source)
}

/// The time after which a parser gives up on a file; what it has not understood by then it will not.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a file into facts with a parser that is at hand.
pub(crate) fn extract_with(
    parser: &mut tree_sitter::Parser,
    language: &dyn Language,
    path: &str,
    source: &[u8],
) -> Facts {
    let mut builder = Builder::new(source);
    let is_set = parser.set_language(&language.grammar(path)).is_ok();
    let tree = if is_set { parse(parser, source) } else { None };
    match tree {
        Some(mut tree) => {
            if tree.root_node().has_error()
                && let Some(text) = language.repaired(path, source)
                && let Some(better) = parse(parser, &text)
            {
                tree = better;
            }
            // A mistake in an extractor costs the file that shows it, not the index.
            let extracted =
                panic::catch_unwind(AssertUnwindSafe(|| language.extract(path, &tree, &mut builder)));
            if extracted.is_err() {
                builder = Builder::new(source);
            }
            let error_line = first_error(language, tree.root_node());
            let has_errors = extracted.is_err() || error_line.is_some();
            let facts = builder.facts_mut();
            (facts.has_errors, facts.error_line) = (has_errors, error_line.unwrap_or(0));
            if has_errors {
                keep_loose(tree.root_node(), &mut builder);
            }
        }
        None => {
            parser.reset();
            builder.facts_mut().has_errors = true;
        }
    }
    builder.finish()
}

/// The line of the first error in a tree that is an error in the language as well.
pub(crate) fn first_error(language: &dyn Language, root: Node<'_>) -> Option<u32> {
    let mut open = vec![root];
    let mut first = None;
    while let Some(node) = open.pop() {
        if !node.has_error() {
            continue;
        }
        if node.is_error() || node.is_missing() {
            if !language.is_valid(node) {
                let line = node.start_position().row as u32 + 1;
                first = Some(first.map_or(line, |known: u32| known.min(line)));
            }
            continue;
        }
        open.extend(node.children(&mut node.walk()));
    }
    first
}

/// Records every identifier that an extractor has passed over because of errors around it: nothing is known of it, but
/// it may be a use.
fn keep_loose(root: Node<'_>, builder: &mut Builder<'_>) {
    let known: HashSet<u32> = builder.facts().tokens.iter().map(|token| token.start).collect();
    each_leaf(root, |leaf| {
        let is_known = || known.contains(&(leaf.start_byte() as u32));
        if leaf.is_named() && leaf.kind().ends_with("identifier") && !leaf.is_missing() && !is_known() {
            let text = builder.slice(leaf.start_byte(), leaf.end_byte());
            let name = builder.text(text);
            builder.token(name, leaf.start_byte(), 0, Role::Loose, NONE);
        }
    });
}

/// Parses with patience.
pub(crate) fn parse(parser: &mut tree_sitter::Parser, source: &[u8]) -> Option<tree_sitter::Tree> {
    let start = Instant::now();
    let mut give_up = |_: &tree_sitter::ParseState| {
        if start.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut give_up);
    let mut input = |offset: usize, _: tree_sitter::Point| source.get(offset..).unwrap_or(&[]);
    parser.parse_with_options(&mut input, None, Some(options))
}
