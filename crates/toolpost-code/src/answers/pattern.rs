//! Code by its form: a pattern is code of the language with `$NAME` for any one node and `$$$` for any number of them.
//! The same name stands for the same text. Comments and layout do not matter.

use tree_sitter::{Node, Tree};

use crate::language::Language;

/// A pattern that can be looked for.
pub struct Pattern {
    source: Vec<u8>,
    tree: Tree,
    /// The path of the pattern's node in its tree: the bytes it covers and its kind.
    start: usize,
    end: usize,
    /// Names that every match contains.
    words: Vec<String>,
}

/// One match.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Match {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// What each named placeholder stands for: name, first byte, the byte after the last.
    pub captures: Vec<(String, usize, usize)>,
}

const ONE: &str = "toolpostone";
const MANY: &str = "toolpostmany";
/// How deep patterns and code are compared.
const DEEPEST: u32 = 200;
/// How many steps one comparison may take, against patterns with many `$$$`.
const STEPS: u32 = 20_000;

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// The text is no code of the language, or nothing but a placeholder.
    pub fn new(language: &dyn Language, path: &str, text: &str) -> Result<Pattern, String> {
        let (plain, words) = replace(text);
        if plain.trim().is_empty() {
            return Err(
                "the pattern is empty; write code with `$NAME` in place of what may differ".to_owned()
            );
        }
        let mut parser = tree_sitter::Parser::new();
        parser
            .set_language(&language.grammar(path))
            .map_err(|error| format!("the grammar of {} cannot be used: {error}", language.name()))?;
        for (before, after) in language.pattern_contexts() {
            let source = format!("{before}{plain}{after}").into_bytes();
            let Some(tree) = parser.parse(&source, None) else { continue };
            if tree.root_node().has_error() {
                continue;
            }
            let (start, end) = trimmed(&source, before.len(), before.len() + plain.len());
            let Some(node) = tree.root_node().descendant_for_byte_range(start, end) else { continue };
            let node = widest(node);
            if node.start_byte() != start || node.end_byte() < end {
                continue;
            }
            let (start, end) = (node.start_byte(), node.end_byte());
            if words.is_empty() && placeholder(&source, node).is_some() {
                return Err("the pattern is nothing but a placeholder; add some code to it".to_owned());
            }
            return Ok(Pattern { source, tree, start, end, words });
        }
        Err(format!("`{text}` is not valid {}; write a whole expression, statement or item", language.name()))
    }

    /// Names that every match contains; a file without them need not be searched.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Every match in a file, the outermost first, at most so many.
    #[must_use]
    pub fn matches(&self, source: &[u8], tree: &Tree, most: usize) -> Vec<Match> {
        let root = self.tree.root_node();
        let Some(pattern) = root.descendant_for_byte_range(self.start, self.end).map(widest) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut cursor = tree.root_node().walk();
        loop {
            let node = cursor.node();
            if node.kind_id() == pattern.kind_id() {
                let mut captures = Vec::new();
                let mut steps = STEPS;
                let mut comparison = Comparison { pattern: &self.source, source, steps: &mut steps };
                if comparison.equal(pattern, node, &mut captures, 0) {
                    found.push(Match { start: node.start_byte(), end: node.end_byte(), captures });
                    if found.len() >= most {
                        return found;
                    }
                }
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return found;
                }
            }
        }
    }
}

/// The outermost node that covers the same bytes, below the root, so that a name alone is not looked for as a leaf of
/// some other kind. Statements that are one expression are looked for as the expression.
fn widest(node: Node<'_>) -> Node<'_> {
    let mut current = node;
    while current.named_child_count() == 1
        && let Some(child) = current.named_child(0)
        && (current.kind() == "expression_statement" || current.parent().is_none())
    {
        current = child;
    }
    current
}

fn trimmed(source: &[u8], start: usize, end: usize) -> (usize, usize) {
    let text = &source[start..end];
    let before = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let after = text.iter().rev().take_while(|byte| byte.is_ascii_whitespace() || **byte == b';').count();
    (start + before, (end - after).max(start + before))
}

/// The pattern with identifiers for placeholders, and the names in it.
fn replace(text: &str) -> (String, Vec<String>) {
    let mut plain = String::new();
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '$' || c.is_alphabetic() || c == '_') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$$$") {
            let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            plain.push_str(MANY);
            plain.push_str(&name);
            rest = &after[name.len()..];
        } else if let Some(after) = rest.strip_prefix('$') {
            let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name.chars().next().is_some_and(|first| first.is_uppercase() || first == '_') {
                plain.push_str(ONE);
                plain.push_str(&name);
                rest = &after[name.len()..];
            } else {
                plain.push('$');
                rest = after;
            }
        } else {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            words.push(rest[..length].to_owned());
            plain.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    plain.push_str(rest);
    (plain, words)
}

/// The name of the placeholder that a node of a pattern is, and whether it stands for many.
fn placeholder<'s>(source: &'s [u8], node: Node<'_>) -> Option<(&'s str, bool)> {
    let text = std::str::from_utf8(source.get(node.byte_range())?).ok()?;
    let text = text.trim_end_matches(';');
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let one = text.strip_prefix(ONE).filter(|name| is_name(name)).map(|name| (name, false));
    one.or_else(|| text.strip_prefix(MANY).filter(|name| is_name(name)).map(|name| (name, true)))
}

struct Comparison<'c> {
    pattern: &'c [u8],
    source: &'c [u8],
    steps: &'c mut u32,
}

type Captures = Vec<(String, usize, usize)>;

impl Comparison<'_> {
    fn equal(&mut self, pattern: Node<'_>, node: Node<'_>, captures: &mut Captures, depth: u32) -> bool {
        if *self.steps == 0 || depth > DEEPEST {
            return false;
        }
        *self.steps -= 1;
        if let Some((name, _)) = placeholder(self.pattern, pattern) {
            return self.capture(name, node.start_byte(), node.end_byte(), captures);
        }
        if pattern.kind_id() != node.kind_id() {
            return false;
        }
        let wanted = children(pattern);
        let given = children(node);
        if wanted.is_empty() {
            return given.is_empty()
                && self.pattern.get(pattern.byte_range()) == self.source.get(node.byte_range());
        }
        self.all_equal(&wanted, &given, captures, depth + 1)
    }

    fn capture(&self, name: &str, start: usize, end: usize, captures: &mut Captures) -> bool {
        if name.is_empty() || name == "_" {
            return true;
        }
        let text = self.source.get(start..end);
        if let Some((_, from, to)) = captures.iter().find(|(known, ..)| known == name) {
            return self.source.get(*from..*to) == text;
        }
        captures.push((name.to_owned(), start, end));
        true
    }

    fn all_equal(
        &mut self,
        wanted: &[Node<'_>],
        given: &[Node<'_>],
        captures: &mut Captures,
        depth: u32,
    ) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return given.is_empty() };
        if depth > DEEPEST {
            return false;
        }
        if let Some((name, true)) = placeholder(self.pattern, first) {
            for count in 0..=given.len() {
                let before = captures.len();
                // A separator after nothing belongs to nothing.
                let rest = match rest.split_first() {
                    Some((comma, rest)) if count == 0 && !comma.is_named() && comma.kind() == "," => rest,
                    _ => rest,
                };
                let (start, end) = match given[..count] {
                    [] => (0, 0),
                    [first, ..] => (first.start_byte(), given[count - 1].end_byte()),
                };
                if self.capture(name, start, end, captures)
                    && self.all_equal(rest, &given[count..], captures, depth + 1)
                {
                    return true;
                }
                captures.truncate(before);
                if *self.steps == 0 {
                    return false;
                }
            }
            return false;
        }
        let Some((&node, others)) = given.split_first() else { return false };
        let before = captures.len();
        if self.equal(first, node, captures, depth + 1) && self.all_equal(rest, others, captures, depth) {
            return true;
        }
        captures.truncate(before);
        false
    }
}

/// The children of a node without comments.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let mut all = Vec::new();
    crate::syntax::each_child(&mut cursor, |child, _| {
        if !child.is_extra() {
            all.push(child);
        }
    });
    all
}
