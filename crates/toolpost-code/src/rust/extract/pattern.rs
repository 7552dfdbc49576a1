//! Patterns: the variables they bind, with the types of what they take apart.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Op, Role, space};

impl Extractor<'_, '_> {
    /// Binds the names of a pattern that is matched against `source`, seen from a byte on.
    pub(super) fn pattern(&mut self, node: Node<'_>, scope: u32, source: u32, visible: usize) {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(node, scope);
            return;
        }
        self.depth += 1;
        self.pattern_inside(node, scope, source, visible);
        self.depth -= 1;
    }

    fn pattern_inside(&mut self, node: Node<'_>, scope: u32, source: u32, visible: usize) {
        let fields = self.fields;
        match self.kind(node) {
            K::Identifier => {
                // By the conventions of the language, names of constants, structures and variants begin with a capital.
                if self.text(node).starts_with(char::is_uppercase) {
                    self.bare(node, scope, space::VALUE);
                } else {
                    self.bind(node, scope, source, visible);
                }
            }
            K::ScopedIdentifier => {
                self.path(node, scope, space::VALUE);
            }
            K::TupleStructPattern => {
                let of = self.field(node, fields.kind);
                let text = of.map_or("", |of| self.text(of));
                let path = of.map_or(NONE, |of| self.path(of, scope, space::VALUE | space::TYPE));
                let whole = match text {
                    "Some" | "Ok" | "Option::Some" | "Result::Ok" if source != NONE => {
                        Some(self.builder.expr(Op::Try, source, NONE))
                    }
                    "Err" | "Result::Err" if source != NONE => Some(self.builder.expr(Op::At, source, 1)),
                    _ => None,
                };
                let parts = self.builder.expr(Op::OwnOther, path, source);
                for (index, part) in positions(node).into_iter().filter(|&(_, part)| Some(part) != of) {
                    let one = match (whole, index) {
                        (Some(whole), _) => whole,
                        (None, Some(index)) => self.builder.expr(Op::At, parts, index),
                        (None, None) => NONE,
                    };
                    self.pattern(part, scope, one, visible);
                }
            }
            K::StructPattern => {
                let of = self.field(node, fields.kind);
                let path = of.map_or(NONE, |of| self.path(of, scope, space::TYPE));
                let parts = self.builder.expr(Op::OwnOther, path, source);
                for part in named_children(node) {
                    if self.kind(part) != K::FieldPattern {
                        continue;
                    }
                    let Some(name) = self.field(part, fields.name) else { continue };
                    let key = self.key(name, scope, parts);
                    let value = self.builder.expr(Op::Token, key, NONE);
                    match self.field(part, fields.pattern) {
                        Some(inner) => self.pattern(inner, scope, value, visible),
                        None => self.bind(name, scope, value, visible),
                    }
                }
            }
            K::TuplePattern => {
                for (index, part) in positions(node) {
                    let one = match (source, index) {
                        (NONE, _) | (_, None) => NONE,
                        (source, Some(index)) => self.builder.expr(Op::At, source, index),
                    };
                    self.pattern(part, scope, one, visible);
                }
            }
            K::SlicePattern => {
                let one = if source == NONE { NONE } else { self.builder.expr(Op::Element, source, NONE) };
                for part in named_children(node) {
                    self.pattern(part, scope, one, visible);
                }
            }
            K::OrPattern => {
                // Every alternative binds the same names: they are one variable.
                let first = self.builder.facts().defs.len();
                for part in named_children(node) {
                    let before = self.builder.facts().defs.len();
                    self.pattern(part, scope, source, visible);
                    self.unite(first, before);
                }
            }
            K::CapturedPattern => {
                for part in named_children(node) {
                    self.pattern(part, scope, source, visible);
                }
            }
            K::WrappingPattern | K::MatchPattern => {
                let condition = self.field(node, fields.condition);
                for part in named_children(node) {
                    if self.kind(part) != K::Mutable && Some(part) != condition {
                        self.pattern(part, scope, source, visible);
                    }
                }
                if let Some(condition) = condition {
                    self.visit(condition, scope);
                }
            }
            K::Comment | K::Mutable => {}
            _ => {
                self.visit(node, scope);
            }
        }
    }

    fn bind(&mut self, node: Node<'_>, scope: u32, source: u32, visible: usize) {
        let def = self.declare(node, Kind::Variable, node);
        let known = self.builder.def(def);
        (known.scope, known.value, known.visible) = (scope, source, visible.max(1) as u32);
    }

    /// Makes variables defined from `before` on the same as those of one name defined from `first` on.
    fn unite(&mut self, first: usize, before: usize) {
        let count = self.builder.facts().defs.len();
        for index in before..count {
            let name = self.builder.facts().defs[index].name;
            let known = (first..before).find(|&other| self.builder.facts().defs[other].name == name);
            if let Some(known) = known {
                let same = self.builder.facts().defs[known].same;
                self.builder.def(index as u32).same = same;
            }
        }
    }

    /// A closure: its parameters are typed by what is expected of it.
    pub(super) fn closure(&mut self, node: Node<'_>, scope: u32, expected: u32) -> u32 {
        let fields = self.fields;
        let nameless = self.builder.text("");
        let range = self.range(node);
        let def = self.builder.define(nameless, Kind::Function, range.start, range.clone());
        let inner = self.builder.scope(scope, crate::facts::ScopeKind::Function, def, range.clone());
        if let Some(list) = self.field(node, fields.parameters) {
            for (index, parameter) in named_children(list).into_iter().enumerate() {
                let of = self.field(parameter, fields.kind);
                let declared = of.map_or(NONE, |of| self.type_expression(of, inner));
                let pattern = self.field(parameter, fields.pattern).unwrap_or(parameter);
                let source = match (declared, expected) {
                    (NONE, NONE) => NONE,
                    (NONE, expected) => self.builder.expr(Op::Parameter, expected, index as u32),
                    (declared, _) => self.builder.value_of(declared),
                };
                let nameless = self.builder.text("");
                let place = self.builder.define(nameless, Kind::Parameter, range.start, range.clone());
                let known = self.builder.def(place);
                (known.owner, known.value) = (def, source);
                self.pattern(pattern, inner, source, range.start);
            }
        }
        let declared = self.field(node, fields.return_type);
        let declared = declared.map_or(NONE, |of| self.type_expression(of, inner));
        let body = self.field(node, fields.body);
        let value = body.map_or(NONE, |body| self.visit(body, inner));
        let known = self.builder.def(def);
        (known.declared, known.value) = (declared, value);
        self.builder.expr(Op::Closure, def, NONE)
    }

    /// The shorthand of a literal: the field, and the variable of its name.
    pub(super) fn shorthand(&mut self, node: Node<'_>, scope: u32, target: u32) {
        self.key(node, scope, target);
        let name = self.name(node);
        let start = self.start(node);
        let token = self.builder.token(name, start, scope, Role::Bare, NONE);
        self.builder.token_mut(token).space = space::VALUE;
    }
}

/// The parts of a tuple with their positions. A `_` takes a place and is no part; behind `..` the positions are not known.
fn positions(node: Node<'_>) -> Vec<(Option<u32>, Node<'_>)> {
    let mut parts = Vec::new();
    let mut position = Some(0);
    crate::syntax::each_child(&mut node.walk(), |child, _| match child.kind() {
        "," => position = position.map(|position| position + 1),
        "remaining_field_pattern" => position = None,
        _ if child.is_named() && !child.is_extra() => parts.push((position, child)),
        _ => {}
    });
    parts
}
