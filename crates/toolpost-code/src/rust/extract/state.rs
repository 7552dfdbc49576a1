//! What the extractor carries through the tree.

use std::ops::Range;

use tree_sitter::Node;

use super::{Fields, K};
use crate::facts::{Builder, Kind, NONE, Op, Role};

pub(super) struct Extractor<'b, 'a> {
    pub(super) builder: &'b mut Builder<'a>,
    pub(super) fields: Fields,
    pub(super) depth: u32,
    /// Where the tree that is being read begins in the file: trees of macros begin later.
    pub(super) base: usize,
    /// The path of the attribute before a module.
    pub(super) path_attribute: Option<String>,
    /// The names of the traits that the attribute before an item derives, and where they stand.
    pub(super) derives: Vec<(u32, usize)>,
    /// Whether the attribute before an item shares its macros.
    pub(super) has_macro_attribute: bool,
    pub(super) parser: Option<tree_sitter::Parser>,
    /// How many macros are being read inside of each other.
    pub(super) macro_levels: u32,
    /// How many more macros may turn out not to be code: to find out costs more than to read code of that length.
    pub(super) failures_left: usize,
    kinds: &'static [K],
}

impl<'b, 'a> Extractor<'b, 'a> {
    pub(super) fn new(
        builder: &'b mut Builder<'a>,
        kinds: &'static [K],
        fields: Fields,
    ) -> Extractor<'b, 'a> {
        Extractor {
            failures_left: 4 + builder.source.len() / 16_384,
            builder,
            fields,
            depth: 0,
            base: 0,
            path_attribute: None,
            derives: Vec::new(),
            has_macro_attribute: false,
            parser: None,
            macro_levels: 0,
            kinds,
        }
    }

    pub(super) fn kind(&self, node: Node<'_>) -> K {
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Other)
    }

    pub(super) fn start(&self, node: Node<'_>) -> usize {
        self.base + node.start_byte()
    }

    pub(super) fn end(&self, node: Node<'_>) -> usize {
        self.base + node.end_byte()
    }

    pub(super) fn range(&self, node: Node<'_>) -> Range<usize> {
        self.start(node)..self.end(node)
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'a str {
        let range = self.range(node);
        self.builder.slice(range.start, range.end)
    }

    pub(super) fn name(&mut self, node: Node<'_>) -> u32 {
        let text = self.text(node);
        let text = text.strip_prefix("r#").unwrap_or(text);
        self.builder.text(text)
    }

    /// A definition with the name in a node, which is its declaration.
    pub(super) fn declare(&mut self, node: Node<'_>, kind: Kind, whole: Node<'_>) -> u32 {
        let name = self.name(node);
        let start = self.start(node);
        let range = self.range(whole);
        let def = self.builder.define(name, kind, start, range);
        self.builder.token(name, start, 0, Role::Declaration, def);
        def
    }

    /// A name looked up in scopes.
    pub(super) fn bare(&mut self, node: Node<'_>, scope: u32, space: u8) -> u32 {
        if self.text(node) == "_" {
            return NONE;
        }
        let name = self.name(node);
        let start = self.start(node);
        let token = self.builder.token(name, start, scope, Role::Bare, NONE);
        self.builder.token_mut(token).space = space;
        if self.text(node) == "Self" {
            // The type may be one of the language's own, which has no definition that the name could mean.
            return self.builder.expr(Op::ThisType, scope, NONE);
        }
        self.builder.expr(Op::Token, token, NONE)
    }

    /// A name among the tokens that a macro is given: where it means nothing by itself, the macro may make anything of
    /// it, such as a call of a method.
    pub(super) fn macro_name(&mut self, node: Node<'_>, scope: u32, space: u8) -> u32 {
        let expr = self.bare(node, scope, space);
        let token = self.builder.facts().exprs.get(expr as usize).filter(|expr| expr.op == Op::Token);
        if let Some(token) = token.map(|expr| expr.a) {
            self.builder.token_mut(token).target = crate::facts::ANYTHING;
        }
        expr
    }

    /// A name looked up in what an expression is.
    pub(super) fn member(&mut self, node: Node<'_>, scope: u32, target: u32, space: u8) -> u32 {
        let name = self.name(node);
        let start = self.start(node);
        let token = self.builder.token(name, start, scope, Role::Member, target);
        self.builder.token_mut(token).space = space;
        self.builder.expr(Op::Token, token, NONE)
    }

    pub(super) fn field<'tree>(&self, node: Node<'tree>, field: u16) -> Option<Node<'tree>> {
        node.child_by_field_id(field)
    }
}
