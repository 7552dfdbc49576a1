//! Tests: what is known of variables where they hold, and where they fail.

use tree_sitter::Node;

use super::flow::{Key, Told};
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{NONE, Name};
use crate::python::own;

/// What a test tells.
#[derive(Default)]
pub(super) struct Test {
    pub(super) holds: Vec<Told>,
    pub(super) fails: Vec<Told>,
    /// The value of the tested expression.
    pub(super) value: u32,
}

impl Extractor<'_, '_> {
    /// Reads an expression as a test.
    pub(super) fn condition(&mut self, node: Node<'_>, scope: u32) -> Test {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(node, scope);
            return Test { value: NONE, ..Test::default() };
        }
        self.depth += 1;
        let test = self.condition_inside(node, scope);
        self.depth -= 1;
        test
    }

    fn condition_inside(&mut self, node: Node<'_>, scope: u32) -> Test {
        match self.kind(node) {
            K::Parenthesized => match named_children(node)[..] {
                [inner] => self.condition(inner, scope),
                _ => self.plain(node, scope),
            },
            K::Not => {
                let inner = node.child_by_field_id(self.fields.argument);
                let test = inner.map(|inner| self.condition(inner, scope)).unwrap_or_default();
                let value = self.simple("bool");
                Test { holds: test.fails, fails: test.holds, value: self.builder.value_of(value) }
            }
            K::Boolean => self.both(node, scope),
            K::Call => self.tested(node, scope),
            K::Comparison => self.compared(node, scope),
            _ => self.plain(node, scope),
        }
    }

    fn plain(&mut self, node: Node<'_>, scope: u32) -> Test {
        let value = self.visit(node, scope);
        Test { value, ..Test::default() }
    }

    fn both(&mut self, node: Node<'_>, scope: u32) -> Test {
        let fields = self.fields;
        let is_and = node.child_by_field_id(fields.operator).is_some_and(|operator| operator.kind() == "and");
        let (Some(left), Some(right)) =
            (node.child_by_field_id(fields.left), node.child_by_field_id(fields.right))
        else {
            self.children(node, scope);
            return Test { value: NONE, ..Test::default() };
        };
        let first = self.condition(left, scope);
        let mark = self.flow.mark();
        self.tell(if is_and { &first.holds } else { &first.fails });
        let second = self.condition(right, scope);
        self.flow.roll_back(mark);
        let join = |mut one: Vec<Told>, other: Vec<Told>| {
            one.extend(other);
            one
        };
        if is_and {
            let fails = self.alternatives(&first.fails, &second.fails);
            Test { holds: join(first.holds, second.holds), fails, value: second.value }
        } else {
            let holds = self.alternatives(&first.holds, &second.holds);
            let value = self.either(&[first.value, second.value]);
            Test { holds, fails: join(first.fails, second.fails), value }
        }
    }

    /// What is told if one of two lists is.
    fn alternatives(&mut self, one: &[Told], other: &[Told]) -> Vec<Told> {
        let mut told = Vec::new();
        for first in one {
            if let Some(second) = other.iter().find(|second| second.key.name == first.key.name) {
                let expr = self.either(&[first.expr, second.expr]);
                told.push(Told { key: first.key, expr });
            }
        }
        told
    }

    /// `isinstance` and `issubclass`.
    fn tested(&mut self, node: Node<'_>, scope: u32) -> Test {
        let fields = self.fields;
        let function = node.child_by_field_id(fields.function);
        let codes = match function.map(|function| self.text(function)) {
            Some("isinstance") => (own::INSTANCE, own::NOT_INSTANCE),
            Some("issubclass") => (own::SUBCLASS, NONE),
            _ => return self.plain(node, scope),
        };
        let arguments = node.child_by_field_id(fields.arguments).map(named_children).unwrap_or_default();
        let (Some(function), [subject, class]) = (function, &arguments[..]) else {
            return self.plain(node, scope);
        };
        self.visit(function, scope);
        let (mut tested, mut target) = (self.visit(*subject, scope), *subject);
        if self.kind(target) == K::Parenthesized
            && let [inner] = named_children(target)[..]
        {
            target = inner;
        }
        if self.kind(target) == K::Named
            && let Some(name) = target.child_by_field_id(fields.name)
        {
            target = name;
            let key = Name::of(self.text(name));
            tested = self.known(key).unwrap_or(tested);
        }
        let class = self.visit(*class, scope);
        let value = self.simple("bool");
        let mut test = Test { value: self.builder.value_of(value), ..Test::default() };
        if let Some(key) = self.key(target)
            && class != NONE
        {
            let expr = self.own(codes.0, &[tested, class]);
            test.holds.push(Told { key, expr });
            if codes.1 != NONE {
                let expr = self.own(codes.1, &[tested, class]);
                test.fails.push(Told { key, expr });
            }
        }
        test
    }

    /// `type(x) is C`.
    fn compared(&mut self, node: Node<'_>, scope: u32) -> Test {
        let parts = named_children(node);
        let operator = node.child_by_field_id(self.fields.operators).map(|operator| operator.kind());
        let [left, right] = parts[..] else { return self.plain(node, scope) };
        let is_type = self.kind(left) == K::Call
            && left
                .child_by_field_id(self.fields.function)
                .is_some_and(|function| self.text(function) == "type")
            && matches!(operator, Some("is" | "=="));
        if !is_type {
            return self.plain(node, scope);
        }
        let arguments = left.child_by_field_id(self.fields.arguments).map(named_children).unwrap_or_default();
        self.visit(left, scope);
        let class = self.visit(right, scope);
        let value = self.simple("bool");
        let mut test = Test { value: self.builder.value_of(value), ..Test::default() };
        if let [subject] = arguments[..]
            && let Some(key) = self.key(subject)
            && class != NONE
        {
            let expr = self.own(own::INSTANCE, &[NONE, class]);
            test.holds.push(Told { key, expr });
        }
        test
    }

    /// The key of a variable or a dotted path; nothing for other expressions.
    pub(super) fn key(&self, node: Node<'_>) -> Option<Key> {
        match self.kind(node) {
            K::Identifier | K::Attribute => {}
            _ => return None,
        }
        let text = self.text(node);
        let is_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 128;
        if text.len() > 120 || !text.bytes().all(is_path) {
            return None;
        }
        let root = text.split('.').next().unwrap_or(text);
        let length = text.bytes().filter(|&byte| byte == b'.').count() as u32 + 1;
        Some(Key { name: Name::of(text), root: Name::of(root), length })
    }
}
