//! Literals and comprehensions: what they hold.

use tree_sitter::Node;

use super::flow::Key;
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Name, Op, ScopeKind};

/// How many elements of a literal are looked at for their types.
const ELEMENTS: usize = 6;

impl Extractor<'_, '_> {
    fn type_of(&mut self, value: u32) -> u32 {
        if value == NONE { NONE } else { self.builder.expr(Op::TypeOf, value, NONE) }
    }

    /// A value of a type with arguments, which are values as well.
    pub(super) fn holding(&mut self, name: &str, values: &[u32]) -> u32 {
        let arguments: Vec<u32> = values.iter().map(|&value| self.type_of(value)).collect();
        let of = self.builder.builtin(name, &arguments);
        self.builder.value_of(of)
    }

    pub(super) fn sequence(&mut self, node: Node<'_>, name: &str, scope: u32) -> u32 {
        let mut values = Vec::new();
        for child in named_children(node) {
            if self.kind(child) == K::Comment {
                continue;
            }
            let is_splat = matches!(self.kind(child), K::ListSplat | K::DictSplat);
            let value = self.visit(child, scope);
            values.push(match (is_splat, value) {
                (true, NONE) | (_, NONE) => NONE,
                (true, value) => self.builder.expr(Op::Element, value, NONE),
                (false, value) => value,
            });
        }
        if name == "()" {
            values.truncate(24);
            return self.holding(name, &values);
        }
        values.truncate(ELEMENTS);
        let element = self.either(&values);
        self.holding(name, &[element])
    }

    pub(super) fn dictionary(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for child in named_children(node) {
            if self.kind(child) == K::Pair {
                let key = self.visit_field(child, self.fields.key, scope);
                let value = self.visit_field(child, self.fields.value, scope);
                keys.push(key);
                values.push(value);
            } else {
                self.visit(child, scope);
            }
        }
        keys.truncate(ELEMENTS);
        values.truncate(ELEMENTS);
        let (key, value) = (self.either(&keys), self.either(&values));
        self.holding("dict", &[key, value])
    }

    /// A comprehension: its variables are its own, and its first iterable is read outside.
    pub(super) fn comprehension(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let inner = self.builder.scope(scope, ScopeKind::Block, NONE, node.byte_range());
        let mark = self.flow.mark();
        let mut is_first = true;
        for clause in named_children(node) {
            match self.kind(clause) {
                K::ForIn => {
                    let around = if is_first { scope } else { inner };
                    is_first = false;
                    let over = self.visit_field(clause, self.fields.right, around);
                    let element =
                        if over == NONE { NONE } else { self.builder.expr(Op::Element, over, NONE) };
                    if let Some(left) = clause.child_by_field_id(self.fields.left) {
                        self.comprehension_target(left, element, clause, inner);
                    }
                }
                K::IfClause => {
                    for condition in named_children(clause) {
                        let test = self.condition(condition, inner);
                        self.tell(&test.holds);
                    }
                }
                _ => {}
            }
        }
        let body = node.child_by_field_id(self.fields.body);
        let answer = match (self.kind(node), body) {
            (_, None) => NONE,
            (K::DictComprehension, Some(pair)) => {
                let key = self.visit_field(pair, self.fields.key, inner);
                let value = self.visit_field(pair, self.fields.value, inner);
                self.holding("dict", &[key, value])
            }
            (kind, Some(body)) => {
                let element = self.visit(body, inner);
                let name = match kind {
                    K::ListComprehension => "list",
                    K::SetComprehension => "set",
                    _ => "Generator",
                };
                self.holding(name, &[element])
            }
        };
        self.flow.roll_back(mark);
        answer
    }

    fn comprehension_target(&mut self, node: Node<'_>, value: u32, whole: Node<'_>, scope: u32) {
        let mut open = vec![(node, value)];
        while let Some((target, value)) = open.pop() {
            match self.kind(target) {
                K::Identifier => {
                    let def = self.declare(target, Kind::Variable, whole);
                    self.bind_in(def, scope);
                    self.builder.def(def).value = value;
                    let name = Name::of(self.text(target));
                    self.learn(Key { name, root: name, length: 1 }, value);
                }
                K::PatternList | K::TuplePattern | K::ListPattern | K::Tuple | K::List => {
                    for (index, part) in named_children(target).into_iter().enumerate() {
                        let value =
                            if value == NONE { NONE } else { self.builder.expr(Op::At, value, index as u32) };
                        open.push((part, value));
                    }
                }
                K::ListSplatPattern | K::Parenthesized => {
                    open.extend(named_children(target).into_iter().map(|part| (part, NONE)));
                }
                _ => {
                    self.visit(target, scope);
                }
            }
        }
    }

    pub(super) fn string(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let mut is_bytes = false;
        for child in named_children(node) {
            match self.kind(child) {
                K::Interpolation => self.children(child, scope),
                K::StringContent => {}
                K::String => {
                    self.visit(child, scope);
                }
                _ => {
                    let start = self.text(child);
                    is_bytes |= start.len() > 1 && start.to_ascii_lowercase().contains('b');
                }
            }
        }
        let of = self.simple(if is_bytes { "bytes" } else { "str" });
        self.builder.value_of(of)
    }
}
