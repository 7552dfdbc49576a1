//! Patterns: the names that destructuring binds, and the properties it reads.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Op, space};
use crate::syntax::DEEPEST;
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    /// Binds what a pattern names in `into`. `value` is what is taken apart, `declared` the type it is declared with.
    pub(super) fn pattern(
        &mut self,
        node: Node<'tree>,
        value: u32,
        declared: u32,
        into: u32,
        scope: u32,
        whole: Node<'tree>,
    ) {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return;
        }
        self.depth += 1;
        self.pattern_inside(node, value, declared, into, scope, whole);
        self.depth -= 1;
    }

    fn pattern_inside(
        &mut self,
        node: Node<'tree>,
        value: u32,
        declared: u32,
        into: u32,
        scope: u32,
        whole: Node<'tree>,
    ) {
        let fields = self.fields;
        match self.kind(node) {
            K::Identifier | K::ShorthandPattern => {
                let def = self.declare_bound(node, Kind::Variable, whole, into);
                let known = self.builder.def(def);
                (known.declared, known.value) = (declared, value);
            }
            K::AssignmentPattern | K::ObjectAssignment => {
                let right = node.child_by_field_id(fields.right);
                let default = right.map_or(NONE, |right| self.visit(right, scope, value));
                let value = self.either(&[value, default]);
                if let Some(left) = node.child_by_field_id(fields.left) {
                    self.pattern(left, value, declared, into, scope, whole);
                }
            }
            K::ObjectPattern => {
                let source = if declared == NONE { value } else { self.builder.value_of(declared) };
                for part in named_children(node) {
                    self.property_pattern(part, source, into, scope, whole);
                }
            }
            K::ArrayPattern => {
                let source = if declared == NONE { value } else { self.builder.value_of(declared) };
                self.array_pattern(node, source, into, scope, whole);
            }
            K::RestPattern => {
                for inner in named_children(node) {
                    self.pattern(inner, value, declared, into, scope, whole);
                }
            }
            _ => {
                self.visit(node, scope, NONE);
            }
        }
    }

    fn array_pattern(&mut self, node: Node<'tree>, source: u32, into: u32, scope: u32, whole: Node<'tree>) {
        let mut position = 0;
        let mut cursor = node.walk();
        let parts: Vec<Node<'tree>> = node.children(&mut cursor).collect();
        for part in parts {
            if part.kind() == "," {
                position += 1;
            } else if part.is_named() && self.kind(part) != K::Comment {
                let value = match (source, self.kind(part)) {
                    (NONE, _) => NONE,
                    (_, K::RestPattern) => source,
                    _ => self.builder.expr(Op::At, source, position),
                };
                self.pattern(part, value, NONE, into, scope, whole);
            }
        }
    }

    fn property_pattern(
        &mut self,
        part: Node<'tree>,
        source: u32,
        into: u32,
        scope: u32,
        whole: Node<'tree>,
    ) {
        let fields = self.fields;
        match self.kind(part) {
            K::PairPattern => {
                let Some(key) = part.child_by_field_id(fields.key) else { return };
                let value = match self.property_name(key) {
                    Some((name, start)) => self.member(name, start, scope, source, space::VALUE),
                    None => {
                        self.children(key, scope);
                        NONE
                    }
                };
                if let Some(inner) = part.child_by_field_id(fields.value) {
                    self.pattern(inner, value, NONE, into, scope, whole);
                }
            }
            K::ShorthandPattern => {
                self.shorthand_pattern(part, source, NONE, into, scope, whole);
            }
            K::ObjectAssignment => {
                let left = part.child_by_field_id(fields.left);
                let right = part.child_by_field_id(fields.right);
                if let Some(left) = left.filter(|&left| self.kind(left) == K::ShorthandPattern) {
                    self.shorthand_pattern(left, source, right.map_or(NONE, |_| 0), into, scope, whole);
                    let def = self.last_declared;
                    let known = self.builder.def(def).value;
                    let default = right.map_or(NONE, |right| self.visit(right, scope, known));
                    let value = self.either(&[known, default]);
                    self.builder.def(def).value = value;
                } else {
                    self.pattern(part, NONE, NONE, into, scope, whole);
                }
            }
            K::RestPattern => {
                for inner in named_children(part) {
                    self.pattern(inner, source, NONE, into, scope, whole);
                }
            }
            K::Comment => {}
            _ => self.pattern(part, NONE, NONE, into, scope, whole),
        }
    }

    /// `{ name }`: a variable, and a use of the property.
    fn shorthand_pattern(
        &mut self,
        node: Node<'tree>,
        source: u32,
        _default: u32,
        into: u32,
        scope: u32,
        whole: Node<'tree>,
    ) {
        let def = self.declare_bound(node, Kind::Variable, whole, into);
        let name = self.name(node);
        let value = self.member(name, node.start_byte(), scope, source, space::VALUE);
        self.builder.def(def).value = value;
        self.builder.def(def).marks |= crate::facts::mark::OWN_B;
    }

    /// One of several values; those that are none are left out.
    pub(super) fn either(&mut self, values: &[u32]) -> u32 {
        self.builder.either(values, usize::MAX)
    }

    /// What a property of something that should be `expected` should be.
    pub(super) fn expected_property(&mut self, expected: u32, name: u32) -> u32 {
        if expected == NONE { NONE } else { own(self.builder, own::PROPERTY, &[expected, name]) }
    }
}
