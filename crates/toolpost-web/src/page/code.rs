//! Lines of code: their text without what stands beside them, and their language.

use super::content::Main;
use super::inline::is_invisible;
use crate::html::{Attribute, Content, Document, NodeId, Tag};

/// The text of an element in which spaces count.
pub(super) fn text(document: &Document, main: &Main, node: NodeId) -> String {
    let mut text = String::new();
    collect(document, main, node, &mut text);
    text.retain(|letter| !is_invisible(letter) && letter != '\r');
    text.replace('\u{a0}', " ")
}

fn collect(document: &Document, main: &Main, node: NodeId, text: &mut String) {
    for child in document.children(node) {
        if main.is_hidden(child) {
            continue;
        }
        match document.content(child) {
            Content::Text(_) => text.push_str(document.text(child)),
            Content::Element(Tag::Br, _) => text.push('\n'),
            Content::Element(tag, _) => {
                // Some highlighters make an element of each line.
                let is_line = tag.is_block() && tag != Tag::Td || is_line(document, child);
                if is_line && !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                collect(document, main, child, text);
                if tag.is_block() && tag != Tag::Td && !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
    }
}

fn is_line(document: &Document, node: NodeId) -> bool {
    let style = document.attribute(node, Attribute::Style).unwrap_or_default();
    let classes = document.attribute(node, Attribute::Class).unwrap_or_default();
    style.contains("display:block")
        || classes
            .split_ascii_whitespace()
            .any(|class| matches!(class, "line" | "token-line" | "code-line" | "view-line" | "cl"))
            && document.tag(node) == Some(Tag::Span)
}

/// The language of a block of code, as a highlighter names it; empty where nothing does.
pub(super) fn language(document: &Document, node: NodeId) -> String {
    let inner = document.children(node).find(|child| document.tag(*child) == Some(Tag::Code));
    let outer = document.parent(node);
    let above = outer.and_then(|outer| document.parent(outer));
    let places = [inner, Some(node), outer, above];
    places.into_iter().flatten().find_map(|place| of_element(document, place)).unwrap_or_default()
}

fn of_element(document: &Document, node: NodeId) -> Option<String> {
    let value = |attribute| document.attribute(node, attribute).unwrap_or_default();
    for said in [value(Attribute::DataLang), value(Attribute::DataLanguage)] {
        if is_language(said) {
            return Some(said.to_ascii_lowercase());
        }
    }
    let classes: Vec<&str> = value(Attribute::Class).split_ascii_whitespace().collect();
    let prefixed = |class: &&str| {
        let prefixes =
            ["language-", "lang-", "highlight-source-", "highlight-text-html-", "highlight-", "brush:"];
        let rest = prefixes.iter().find_map(|prefix| class.strip_prefix(prefix))?;
        let rest = rest.split([';', '{']).next().unwrap_or_default();
        is_language(rest).then(|| rest.to_ascii_lowercase())
    };
    if let Some(language) = classes.iter().find_map(prefixed) {
        return Some(language);
    }
    // The class of a whole block may be its language alone.
    let is_block = matches!(document.tag(node), Some(Tag::Pre | Tag::Code));
    if let Some(language) = classes.iter().find(|class| is_block && ALONE.contains(class)) {
        return Some((*language).to_owned());
    }
    // `sourceCode python`, `hljs rust`, `brush: js`, `rust`.
    let is_marker =
        |class: &&str| matches!(*class, "sourceCode" | "hljs" | "prettyprint" | "chroma" | "src" | "brush:");
    let marker = classes.iter().position(&is_marker)?;
    let next = classes.get(marker + 1).or(classes.first()).filter(|class| !is_marker(class))?;
    let next = next.trim_start_matches("lang-").trim_start_matches("src-").trim_end_matches(';');
    is_language(next).then(|| next.to_ascii_lowercase())
}

/// Languages whose names mean nothing else as a class.
const ALONE: &[&str] = &[
    "bash",
    "cpp",
    "css",
    "go",
    "html",
    "java",
    "javascript",
    "json",
    "kotlin",
    "php",
    "python",
    "ruby",
    "rust",
    "scala",
    "shell",
    "sql",
    "swift",
    "toml",
    "typescript",
    "xml",
    "yaml",
];

/// Whether a word can be the name of a language, and is not one of those that highlighters use otherwise.
fn is_language(word: &str) -> bool {
    (1..=20).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte))
        && !matches!(
            word,
            "text"
                | "plain"
                | "plaintext"
                | "none"
                | "default"
                | "nohighlight"
                | "no-highlight"
                | "copy"
                | "block"
                | "code"
                | "highlight"
                | "wrapper"
                | "container"
                | "undefined"
                | "notranslate"
                | "playground"
                | "editable"
                | "source"
        )
}
