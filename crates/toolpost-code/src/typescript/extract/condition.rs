//! Tests: what is known of variables where they hold, and where they fail.

use tree_sitter::Node;

use super::flow::Told;
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::NONE;
use crate::syntax::DEEPEST;
use crate::typescript::own::narrow;

/// What a test tells.
pub(super) struct Test {
    pub(super) holds: Vec<Told>,
    pub(super) fails: Vec<Told>,
    /// The value of the tested expression.
    pub(super) value: u32,
}

impl Default for Test {
    fn default() -> Test {
        Test { holds: Vec::new(), fails: Vec::new(), value: NONE }
    }
}

impl<'tree> Extractor<'_, '_> {
    /// Reads an expression as a test.
    pub(super) fn condition(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> Test {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return Test::default();
        }
        self.depth += 1;
        let test = self.condition_inside(node, scope, expected);
        self.depth -= 1;
        test
    }

    fn condition_inside(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> Test {
        let fields = self.fields;
        match self.kind(node) {
            K::Parenthesized => match named_children(node)[..] {
                [inner] if self.comment_before(node.start_byte()).is_none() => {
                    self.condition(inner, scope, expected)
                }
                _ => Test { value: self.visit(node, scope, expected), ..Test::default() },
            },
            K::Unary if node.child_by_field_id(fields.operator).is_some_and(|word| word.kind() == "!") => {
                let inner = node.child_by_field_id(fields.argument);
                let test = inner.map(|inner| self.condition(inner, scope, NONE)).unwrap_or_default();
                Test { holds: test.fails, fails: test.holds, value: self.literal("boolean") }
            }
            K::Binary => self.tested_binary(node, scope, expected),
            K::Call => {
                let value = self.visit(node, scope, expected);
                let (holds, fails) = self.tested_call(node, scope, value);
                Test { holds, fails, value }
            }
            K::Identifier => {
                let value = self.visit(node, scope, expected);
                // A constant may hold the result of a test.
                let told = match self.tests.is_empty() {
                    true => None,
                    false => self.path_key(node, scope).and_then(|key| self.tests.get(&key.root).cloned()),
                };
                let (holds, fails) = told.unwrap_or_default();
                Test { holds, fails, value }
            }
            K::Member => {
                let value = self.visit(node, scope, expected);
                let (name, object) =
                    (node.child_by_field_id(fields.property), node.child_by_field_id(fields.object));
                let (Some(name), Some(object)) = (name, object) else {
                    return Test { value, ..Test::default() };
                };
                let name = self.name(name);
                let (holds, fails) = self.both_ways(object, scope, narrow::TRUE, name, NONE);
                Test { holds, fails, value }
            }
            _ => Test { value: self.visit(node, scope, expected), ..Test::default() },
        }
    }

    fn tested_binary(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> Test {
        let fields = self.fields;
        let operator = node.child_by_field_id(fields.operator).map_or("", |operator| operator.kind());
        let (Some(left), Some(right)) =
            (node.child_by_field_id(fields.left), node.child_by_field_id(fields.right))
        else {
            self.children(node, scope);
            return Test::default();
        };
        if matches!(operator, "&&" | "||") {
            return self.joined(left, right, scope, expected, operator == "&&");
        }
        let expected = if operator == "??" { expected } else { NONE };
        let is_private = self.kind(left) == K::PrivateIdentifier;
        let first = if is_private { NONE } else { self.visit(left, scope, expected) };
        let second = self.visit(right, scope, expected);
        let value = match operator {
            "??" | "+" => self.either(&[first, second]),
            "-" | "*" | "/" | "%" | "**" | "|" | "&" | "^" | "<<" | ">>" | ">>>" => self.literal("number"),
            _ => self.literal("boolean"),
        };
        let (mut holds, mut fails) = match operator {
            "instanceof" if second != NONE => self.both_ways(left, scope, narrow::INSTANCE, second, NONE),
            "in" if self.kind(left) == K::Text => {
                let text = self.unquoted(left);
                let name = self.builder.text(text);
                self.both_ways(right, scope, narrow::HAS, name, NONE)
            }
            "==" | "===" | "!=" | "!==" => self.compared((left, first), (right, second), scope),
            _ => (Vec::new(), Vec::new()),
        };
        if operator.starts_with('!') {
            std::mem::swap(&mut holds, &mut fails);
        }
        Test { holds, fails, value }
    }

    /// `a && b` and `a || b`.
    fn joined(
        &mut self,
        left: Node<'tree>,
        right: Node<'tree>,
        scope: u32,
        expected: u32,
        is_and: bool,
    ) -> Test {
        let first = self.condition(left, scope, expected);
        let mark = self.flow.mark();
        self.flow.tell(if is_and { &first.holds } else { &first.fails });
        let second = self.condition(right, scope, expected);
        self.flow.roll_back(mark);
        let both = |mut one: Vec<Told>, other: Vec<Told>| {
            one.extend(other);
            one
        };
        if is_and {
            let fails = self.alternatives(&first.fails, &second.fails);
            Test { holds: both(first.holds, second.holds), fails, value: second.value }
        } else {
            let holds = self.alternatives(&first.holds, &second.holds);
            let value = self.either(&[first.value, second.value]);
            Test { holds, fails: both(first.fails, second.fails), value }
        }
    }

    /// What is told if one of two lists is.
    fn alternatives(&mut self, one: &[Told], other: &[Told]) -> Vec<Told> {
        let mut told = Vec::new();
        for &first in one {
            if let Some(second) = other.iter().find(|second| second.key == first.key) {
                let expr = self.either(&[first.expr, second.expr]);
                told.push(Told { expr, ..first });
            }
        }
        told
    }

    /// Two sides that are equal: `x.kind` and a literal, `typeof x` and a text.
    fn compared(
        &mut self,
        left: (Node<'tree>, u32),
        right: (Node<'tree>, u32),
        scope: u32,
    ) -> (Vec<Told>, Vec<Told>) {
        let (mut holds, mut fails) = (Vec::new(), Vec::new());
        for ((subject, _), (with, value)) in [(left, right), (right, left)] {
            if let Some(of) = self.type_tested(subject)
                && self.kind(with) == K::Text
            {
                let text = self.unquoted(with);
                let text = self.builder.text(text);
                let list = self.builder.list(&[text]);
                return self.both_ways(of, scope, narrow::TYPE, list, NONE);
            }
            let value = self.literal_value(with, value);
            if self.kind(subject) == K::Member && value != NONE {
                let list = self.builder.list(&[value]);
                let (one, other) = self.property_compared(subject, scope, list);
                holds.extend(one);
                fails.extend(other);
            }
        }
        (holds, fails)
    }

    pub(super) fn property_compared(
        &mut self,
        node: Node<'tree>,
        scope: u32,
        list: u32,
    ) -> (Vec<Told>, Vec<Told>) {
        let name = node.child_by_field_id(self.fields.property);
        let object = node.child_by_field_id(self.fields.object);
        let (Some(name), Some(object)) = (name, object) else { return (Vec::new(), Vec::new()) };
        let name = self.name(name);
        self.both_ways(object, scope, narrow::EQUAL, list, name)
    }

    /// What `typeof` is asked of.
    pub(super) fn type_tested(&self, node: Node<'tree>) -> Option<Node<'tree>> {
        let is_unary = self.kind(node) == K::Unary;
        let operator = node.child_by_field_id(self.fields.operator).filter(|_| is_unary)?;
        (operator.kind() == "typeof").then(|| node.child_by_field_id(self.fields.argument))?
    }

    /// What a call tells of its arguments if it is true, `value` being the call.
    fn tested_call(&mut self, node: Node<'tree>, scope: u32, value: u32) -> (Vec<Told>, Vec<Told>) {
        let (mut holds, mut fails) = (Vec::new(), Vec::new());
        if value == NONE {
            return (holds, fails);
        }
        for (subject, index) in self.call_subjects(node) {
            let (one, other) = self.both_ways(subject, scope, narrow::CALLED, value, index);
            holds.extend(one);
            fails.extend(other);
        }
        (holds, fails)
    }

    /// The variables among the arguments of a call, and its receiver.
    pub(super) fn call_subjects(&self, node: Node<'tree>) -> Vec<(Node<'tree>, u32)> {
        let fields = self.fields;
        let arguments = node.child_by_field_id(fields.arguments).map(named_children).unwrap_or_default();
        let is_path = |node: Node<'tree>| matches!(self.kind(node), K::Identifier | K::Member);
        let mut subjects: Vec<(Node<'tree>, u32)> = Vec::new();
        for (index, argument) in arguments.into_iter().take(3).enumerate() {
            if is_path(argument) {
                subjects.push((argument, index as u32));
            }
        }
        let function = node.child_by_field_id(fields.function).filter(|&node| self.kind(node) == K::Member);
        if let Some(object) = function.and_then(|function| function.child_by_field_id(fields.object))
            && self.kind(object) == K::Identifier
        {
            subjects.push((object, NONE));
        }
        subjects
    }
}
