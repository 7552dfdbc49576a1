//! Other declarations: variables, aliases, enums, namespaces.

use tree_sitter::Node;

use super::condition::Test;
use super::state::Extractor;
use super::{K, bit, named_children};
use crate::facts::{Kind, NONE, Role, ScopeKind, mark, space};
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    pub(super) fn variables(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let into = if node.kind() == "variable_declaration" { self.function_scope } else { scope };
        for declarator in named_children(node) {
            if self.kind(declarator) != K::Declarator {
                continue;
            }
            let Some(name) = declarator.child_by_field_id(fields.name) else { continue };
            let declared = declarator.child_by_field_id(fields.kind);
            let mut declared = declared.map_or(NONE, |declared| self.type_expression(declared, scope));
            let initial = declarator.child_by_field_id(fields.value);
            if !self.comments.is_empty() {
                let start = self.exported_at.take().unwrap_or(node.start_byte());
                if let Some(comment) = self.comment_before(start) {
                    declared = self.documented(comment, &["type"], "", scope);
                }
                if let Some(initial) = initial {
                    self.remember_comment(start, initial);
                }
            }
            let expected = self.builder.value_of(declared);
            if let Some(initial) = initial
                && self.required(name, initial, into, declarator)
            {
                continue;
            }
            let exported = std::mem::replace(&mut self.is_exported, false);
            let test = initial.map(|initial| self.condition(initial, scope, expected));
            let (value, told) = match test {
                Some(Test { value, holds, fails }) => (value, (holds, fails)),
                None => (NONE, Default::default()),
            };
            let is_const = node.child(0).is_some_and(|word| word.kind() == "const");
            let literal = initial.filter(|_| is_const && declared == NONE);
            let value = literal.map_or(value, |initial| self.literal_value(initial, value));
            self.is_exported = exported;
            let from = self.builder.facts().defs.len();
            self.pattern(name, value, declared, into, scope, declarator);
            if self.kind(name) == K::Identifier {
                let def = self.last_declared;
                if is_const && !told.0.is_empty() {
                    self.tests.insert(def, told);
                } else if declared != NONE && initial.is_some() {
                    let plain = own(self.builder, own::FUNCTION, &[def]);
                    self.assigned(name, into, plain, value);
                }
            }
            if !is_const {
                self.note_mutable(from);
            }
        }
        NONE
    }

    pub(super) fn alias(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else { return NONE };
        let def = self.declare_bound(name, Kind::Alias, node, scope);
        let inner = self.builder.scope(scope, ScopeKind::Block, NONE, node.byte_range());
        let before = std::mem::replace(&mut self.owner, def);
        if let Some(list) = node.child_by_field_id(fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        if let Some(value) = node.child_by_field_id(fields.value) {
            if self.kind(value) == K::ObjectType && !self.is_mapped(value) {
                self.builder.def(def).kind = Kind::Interface;
                self.builder.def(def).marks |= mark::OWN_A;
                self.members_of(value, def, inner);
            } else {
                let declared = self.type_expression(value, inner);
                let known = self.builder.def(def);
                known.declared = declared;
                known.marks |= mark::TRANSPARENT;
            }
        }
        self.owner = before;
        self.last_declared = def;
        NONE
    }

    pub(super) fn enumeration(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else { return NONE };
        let def = self.declare_bound(name, Kind::Enum, node, scope);
        let inner = self.builder.scope(scope, ScopeKind::Block, def, node.byte_range());
        let body = node.child_by_field_id(fields.body);
        for member in body.map(named_children).unwrap_or_default() {
            let (name, value) = match self.kind(member) {
                K::Comment => continue,
                K::EnumAssignment => {
                    (member.child_by_field_id(fields.name), member.child_by_field_id(fields.value))
                }
                _ => (Some(member), None),
            };
            if let Some(value) = value {
                self.visit(value, inner, NONE);
            }
            let Some(name) = name else { continue };
            let Some((text, start)) = self.property_name(name) else { continue };
            let variant = self.builder.define(text, Kind::Variant, start, member.byte_range());
            self.builder.token(text, start, inner, Role::Declaration, variant);
            self.builder.def(variant).space = space::ANY;
            self.builder.def(variant).scope = inner;
            self.own(variant, def);
        }
        self.last_declared = def;
        NONE
    }

    pub(super) fn namespace(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else { return NONE };
        let mut into = scope;
        let before = (self.namespace, self.is_ambient, self.function_scope, self.is_exported);
        let parts = if self.kind(name) == K::NestedIdentifier { self.identifiers(name) } else { vec![name] };
        for part in parts {
            let def = if self.kind(part) == K::Text {
                // `declare module 'name'`
                let def = self.declare(part, Kind::Module, node);
                let text = self.unquoted(part);
                let path = self.builder.text(text);
                let known = self.builder.def(def);
                known.name = path;
                known.marks |= mark::OWN_A;
                self.builder.facts_mut().bits |= bit::GLOBALS;
                self.is_ambient = true;
                def
            } else {
                let def = self.declare_bound(part, Kind::Module, node, into);
                self.is_exported = true;
                def
            };
            let same = self.builder.def(def).same;
            into = self.builder.scope(into, ScopeKind::Block, same, node.byte_range());
            self.builder.def(def).body = into;
            self.namespace = same;
        }
        self.function_scope = into;
        self.is_exported = false;
        if let Some(body) = node.child_by_field_id(fields.body) {
            self.children(body, into);
        }
        (self.namespace, self.is_ambient, self.function_scope, self.is_exported) = before;
        NONE
    }

    fn identifiers(&self, node: Node<'tree>) -> Vec<Node<'tree>> {
        let mut parts = Vec::new();
        crate::syntax::each_leaf(node, |leaf| {
            if leaf.is_named() {
                parts.push(leaf);
            }
        });
        parts
    }

    pub(super) fn ambient(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let before = std::mem::replace(&mut self.is_ambient, true);
        let is_global = Self::has_word(node, "global");
        for child in named_children(node) {
            if is_global && self.kind(child) == K::Block {
                let nameless = self.builder.text("global");
                let def = self.builder.define(nameless, Kind::Module, child.start_byte(), child.byte_range());
                let inner = self.builder.scope(scope, ScopeKind::Block, def, child.byte_range());
                self.builder.def(def).body = inner;
                self.builder.def(def).marks |= mark::OWN_B;
                self.builder.facts_mut().bits |= bit::GLOBALS;
                let around = std::mem::replace(&mut self.namespace, def);
                let function = std::mem::replace(&mut self.function_scope, inner);
                self.children(child, inner);
                (self.namespace, self.function_scope) = (around, function);
            } else {
                self.visit(child, scope, NONE);
            }
        }
        self.is_ambient = before;
        NONE
    }
}
