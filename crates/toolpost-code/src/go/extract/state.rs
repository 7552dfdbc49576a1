//! What the extractor carries through the tree.

use std::collections::HashSet;

use tree_sitter::Node;

use super::{Fields, K};
use crate::facts::{Builder, Kind, Role, mark};

pub(super) struct Extractor<'b, 'a> {
    pub(super) builder: &'b mut Builder<'a>,
    pub(super) fields: Fields,
    pub(super) depth: u32,
    /// The scope of the function around, where labels are bound.
    pub(super) function_scope: u32,
    kinds: &'static [K],
    /// What blocks bind so far: scope and name.
    bound: HashSet<(u32, u32)>,
}

impl<'b, 'a> Extractor<'b, 'a> {
    pub(super) fn new(
        builder: &'b mut Builder<'a>,
        kinds: &'static [K],
        fields: Fields,
    ) -> Extractor<'b, 'a> {
        Extractor { builder, fields, depth: 0, function_scope: 0, kinds, bound: HashSet::new() }
    }

    pub(super) fn kind(&self, node: Node<'_>) -> K {
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Other)
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'a str {
        self.builder.slice(node.start_byte(), node.end_byte())
    }

    pub(super) fn name(&mut self, node: Node<'_>) -> u32 {
        let text = self.text(node);
        self.builder.text(text)
    }

    /// A definition with the name in a node, which is its declaration.
    pub(super) fn declare(&mut self, node: Node<'_>, kind: Kind, whole: Node<'_>) -> u32 {
        let text = self.text(node);
        let name = self.builder.text(text);
        let def = self.builder.define(name, kind, node.start_byte(), whole.byte_range());
        if text.starts_with(char::is_uppercase) {
            self.builder.def(def).marks |= mark::PUBLIC;
        }
        self.builder.token(name, node.start_byte(), 0, Role::Declaration, def);
        def
    }

    /// A variable of a block, seen from a byte on.
    pub(super) fn local(&mut self, node: Node<'_>, scope: u32, visible: usize) -> u32 {
        let def = self.declare(node, Kind::Variable, node);
        let name = self.builder.def(def).name;
        self.bind(def, scope, visible);
        self.bound.insert((scope, name));
        def
    }

    /// Binds a definition in a block from a byte on; in the package it is seen everywhere.
    pub(super) fn bind(&mut self, def: u32, scope: u32, visible: usize) {
        let name = self.builder.def(def).name;
        let is_blank = self.builder.facts().text(name) == "_";
        if !is_blank {
            let known = self.builder.def(def);
            known.scope = scope;
            known.visible = if scope == 0 { 0 } else { visible as u32 };
        }
        self.bound.insert((scope, name));
    }

    pub(super) fn is_bound(&self, scope: u32, name: u32) -> bool {
        self.bound.contains(&(scope, name))
    }
}
