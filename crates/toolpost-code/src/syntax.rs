//! The little that every extractor needs of a syntax tree: kinds and fields as numbers, found once for each grammar,
//! and the children of a node.

use tree_sitter::{Node, TreeCursor};

/// How deep an extractor follows a tree by calling itself. What lies deeper is recorded as loose identifiers.
pub const DEEPEST: u32 = 400;

/// The kinds of nodes that an extractor tells apart, as an enum with a table from the grammar's numbers.
///
/// `kinds! { Kinds: Identifier = "identifier", Call = "call_expression" }` makes an enum `Kinds` with those variants
/// and `Other`, and `Kinds::table(&grammar) -> Vec<Kinds>`, to be indexed with `node.kind_id()`.
#[macro_export]
macro_rules! kinds {
    ($name:ident: $($variant:ident = $($text:literal)|+),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        enum $name { $($variant,)+ Other }
        impl $name {
            fn table(grammar: &tree_sitter::Language) -> Vec<$name> {
                (0..grammar.node_kind_count())
                    .map(|id| match grammar.node_kind_for_id(id as u16) {
                        $($(Some($text))|+ => $name::$variant,)+
                        _ => $name::Other,
                    })
                    .collect()
            }
        }
    };
}

/// The fields that an extractor asks for: `fields! { Fields: name, body }` makes a struct of their numbers and
/// `Fields::of(&grammar)`. A field that the grammar lacks has a number that no node answers to.
#[macro_export]
macro_rules! fields {
    ($struct:ident: $($field:ident = $text:literal),+ $(,)?) => {
        #[derive(Clone, Copy)]
        struct $struct { $($field: u16,)+ }
        impl $struct {
            fn of(grammar: &tree_sitter::Language) -> $struct {
                let id = |name: &str| grammar.field_id_for_name(name).map_or(u16::MAX, std::num::NonZero::get);
                $struct { $($field: id($text),)+ }
            }
        }
    };
}

/// The named children of a node, in order.
#[must_use]
pub fn named_children<'tree>(node: Node<'tree>) -> Vec<Node<'tree>> {
    if node.child_count() == 0 {
        return Vec::new();
    }
    let mut cursor = node.walk();
    let mut children = Vec::with_capacity(node.named_child_count());
    each_child(&mut cursor, |child, _| {
        if child.is_named() && !child.is_extra() {
            children.push(child);
        }
    });
    children
}

/// The children under a field, in order.
#[must_use]
pub fn field_children<'tree>(node: Node<'tree>, field: u16) -> Vec<Node<'tree>> {
    let mut cursor = node.walk();
    let mut children = Vec::new();
    each_child(&mut cursor, |child, of| {
        if of == field && child.is_named() {
            children.push(child);
        }
    });
    children
}

/// Every child of the cursor's node with the number of its field, 0 if it has none.
pub fn each_child<'tree>(cursor: &mut TreeCursor<'tree>, mut visit: impl FnMut(Node<'tree>, u16)) {
    if !cursor.goto_first_child() {
        return;
    }
    loop {
        visit(cursor.node(), cursor.field_id().map_or(0, std::num::NonZero::get));
        if !cursor.goto_next_sibling() {
            break;
        }
    }
    cursor.goto_parent();
}

/// The leaves below a node for which a test holds, without recursion.
pub fn each_leaf<'tree>(node: Node<'tree>, mut visit: impl FnMut(Node<'tree>)) {
    let mut cursor = node.walk();
    loop {
        if cursor.goto_first_child() {
            continue;
        }
        visit(cursor.node());
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
