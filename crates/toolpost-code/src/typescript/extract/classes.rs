//! Classes, interfaces and the members of both, and of types and literals without a name.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Op, Role, ScopeKind, mark, space};
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    /// A class; the expression that it is.
    pub(super) fn class(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let is_expression = self.kind(node) == K::ClassExpression;
        let name = node.child_by_field_id(fields.name);
        let def = match name {
            Some(name) if is_expression => self.declare(name, Kind::Class, node),
            Some(name) => self.declare_bound(name, Kind::Class, node, scope),
            None => {
                let def = self.nameless(Kind::Class, node);
                self.last_declared = def;
                def
            }
        };
        let exported = std::mem::replace(&mut self.is_exported, false);
        let owner = self.canonical(def);
        let inner = self.builder.scope(scope, ScopeKind::Block, owner, node.byte_range());
        if is_expression && name.is_some() {
            self.bind(def, inner);
        }
        let before = std::mem::replace(&mut self.owner, def);
        if let Some(list) = node.child_by_field_id(fields.type_parameters) {
            let owner = self.canonical(def);
            self.type_parameters(list, owner, inner);
        }
        for child in named_children(node) {
            match self.kind(child) {
                K::Decorator => {
                    self.visit(child, scope, NONE);
                }
                K::Heritage => self.heritage(child, def, inner),
                K::ClassBody => {
                    self.builder.def(def).body = child.start_byte() as u32;
                    self.members_of(child, def, inner);
                }
                _ => {}
            }
        }
        self.owner = before;
        self.is_exported = exported;
        self.last_declared = def;
        own(self.builder, own::FUNCTION, &[def])
    }

    fn canonical(&mut self, def: u32) -> u32 {
        self.builder.def(def).same
    }

    fn heritage(&mut self, node: Node<'tree>, def: u32, scope: u32) {
        let fields = self.fields;
        for clause in named_children(node) {
            if self.kind(clause) != K::Extends {
                for base in named_children(clause) {
                    let base = self.type_expression(base, scope);
                    self.builder.base(def, base);
                }
                continue;
            }
            let mut cursor = clause.walk();
            let values: Vec<Node<'tree>> = clause
                .children_by_field_id(
                    std::num::NonZero::new(fields.value).unwrap_or(std::num::NonZero::<u16>::MIN),
                    &mut cursor,
                )
                .collect();
            for value in values {
                let mut base = self.visit(value, scope, NONE);
                if let Some(arguments) = clause.child_by_field_id(fields.type_arguments) {
                    let list: Vec<u32> = named_children(arguments)
                        .into_iter()
                        .map(|one| self.type_expression(one, scope))
                        .collect();
                    let list = self.builder.list(&list);
                    base = self.builder.expr(Op::Apply, base, list);
                }
                self.builder.base(def, base);
            }
        }
    }

    pub(super) fn interface(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else { return NONE };
        let def = self.declare_bound(name, Kind::Interface, node, scope);
        let owner = self.canonical(def);
        let inner = self.builder.scope(scope, ScopeKind::Block, owner, node.byte_range());
        let before = std::mem::replace(&mut self.owner, owner);
        let exported = std::mem::replace(&mut self.is_exported, false);
        if let Some(list) = node.child_by_field_id(fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        for child in named_children(node) {
            match self.kind(child) {
                K::ExtendsType => {
                    for base in named_children(child) {
                        let base = self.type_expression(base, inner);
                        self.builder.base(def, base);
                    }
                }
                K::ObjectType => {
                    self.builder.def(def).body = child.start_byte() as u32;
                    self.members_of(child, owner, inner);
                }
                _ => {}
            }
        }
        self.owner = before;
        self.is_exported = exported;
        self.last_declared = def;
        NONE
    }

    /// The members in the body of a type.
    pub(super) fn members_of(&mut self, body: Node<'tree>, owner: u32, scope: u32) {
        for member in named_children(body) {
            match self.kind(member) {
                K::Method => self.method(member, owner, scope, None),
                K::Field | K::PropertySignature => self.field(member, owner, scope),
                K::CallSignature => self.signature(member, "()", owner, scope),
                K::ConstructSignature => self.signature(member, "new", owner, scope),
                K::IndexSignature => self.index_signature(member, owner, scope),
                K::StaticBlock => {
                    if let Some(block) = member.child_by_field_id(self.fields.body) {
                        let inner = self.block(scope, block);
                        self.children(block, inner);
                    }
                }
                K::Comment => {}
                _ => {
                    self.visit(member, scope, NONE);
                }
            }
        }
    }

    fn signature(&mut self, node: Node<'tree>, name: &str, owner: u32, scope: u32) {
        let name = self.builder.text(name);
        let def = self.builder.define(name, Kind::Method, node.start_byte(), node.byte_range());
        self.own(def, owner);
        self.signature_and_body(node, def, scope, NONE);
    }

    fn index_signature(&mut self, node: Node<'tree>, owner: u32, scope: u32) {
        let fields = self.fields;
        let name = self.builder.text("[]");
        let def = self.builder.define(name, Kind::Field, node.start_byte(), node.byte_range());
        self.own(def, owner);
        let inner = self.block(scope, node);
        for child in named_children(node) {
            if self.kind(child) == K::MappedClause {
                self.mapped_clause(child, inner);
            }
        }
        if let Some(index) = node.child_by_field_id(fields.index_type) {
            self.type_expression(index, inner);
        }
        if let Some(of) = node.child_by_field_id(fields.kind) {
            let declared = self.type_expression(of, inner);
            self.builder.def(def).declared = declared;
        }
    }

    pub(super) fn mapped_clause(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let of = node.child_by_field_id(fields.kind);
        let of = of.map_or(NONE, |of| self.type_expression(of, scope));
        if let Some(name) = node.child_by_field_id(fields.name) {
            let def = self.declare(name, Kind::TypeParameter, node);
            self.builder.def(def).scope = scope;
            self.builder.def(def).declared = of;
        }
        if let Some(alias) = node.child_by_field_id(fields.alias) {
            self.type_expression(alias, scope);
        }
        of
    }

    /// A method. In a literal, `literal` is the literal and what it should be.
    pub(super) fn method(&mut self, node: Node<'tree>, owner: u32, scope: u32, literal: Option<(u32, u32)>) {
        for child in named_children(node) {
            if self.kind(child) == K::Decorator {
                self.visit(child, scope, NONE);
            }
        }
        let Some(name) = node.child_by_field_id(self.fields.name) else { return };
        let is_accessor = Self::has_word(node, "get") || Self::has_word(node, "set");
        let mut expected = NONE;
        let def = match self.property_name(name) {
            Some((text, start)) => {
                let def = self.builder.define(text, Kind::Method, start, node.byte_range());
                match literal {
                    Some((literal, context)) => {
                        self.builder.token(text, start, scope, Role::Key, literal);
                        expected = self.expected_property(context, text);
                    }
                    None => {
                        self.builder.token(text, start, scope, Role::Declaration, def);
                    }
                }
                self.own(def, owner);
                def
            }
            None => {
                self.computed(name, scope);
                self.nameless(Kind::Method, node)
            }
        };
        if Self::has_word(node, "static") {
            self.builder.def(def).marks |= mark::STATIC;
        }
        if is_accessor {
            self.builder.def(def).marks |= mark::PROPERTY;
        }
        if !matches!(node.kind(), "method_definition") {
            self.builder.def(def).marks |= mark::ABSTRACT;
        }
        let expected = if is_accessor { NONE } else { expected };
        self.signature_and_body(node, def, scope, expected);
        if Self::has_word(node, "set") {
            let facts = self.builder.facts();
            let parameter = facts.defs[def as usize..]
                .iter()
                .find(|part| part.owner == def && part.kind == Kind::Parameter)
                .map_or(NONE, |part| part.declared);
            self.builder.def(def).declared = parameter;
        }
    }

    /// A computed name: what stands in it.
    pub(super) fn computed(&mut self, name: Node<'tree>, scope: u32) {
        self.children(name, scope);
    }

    fn field(&mut self, node: Node<'tree>, owner: u32, scope: u32) {
        let fields = self.fields;
        for child in named_children(node) {
            if self.kind(child) == K::Decorator {
                self.visit(child, scope, NONE);
            }
        }
        let Some(name) = node.child_by_field_id(fields.name) else { return };
        let def = match self.property_name(name) {
            Some((text, start)) => {
                let def = self.builder.define(text, Kind::Field, start, node.byte_range());
                self.builder.token(text, start, scope, Role::Declaration, def);
                self.own(def, owner);
                def
            }
            None => {
                self.computed(name, scope);
                self.nameless(Kind::Field, node)
            }
        };
        self.builder.def(def).space = space::VALUE | space::TYPE;
        if Self::has_word(node, "static") {
            self.builder.def(def).marks |= mark::STATIC;
        }
        let declared = node.child_by_field_id(fields.kind);
        let mut declared = declared.map_or(NONE, |declared| self.type_expression(declared, scope));
        if let Some(comment) = self.comment_before(node.start_byte()) {
            declared = self.documented(comment, &["type"], "", scope);
        }
        let expected = self.builder.value_of(declared);
        let initial = node.child_by_field_id(fields.value);
        let mut value = initial.map_or(NONE, |initial| self.visit(initial, scope, expected));
        if let Some(initial) = initial
            && (Self::has_word(node, "readonly") || self.kind(initial) == K::As)
        {
            value = self.literal_value(initial, value);
        }
        let may_be_absent = Self::has_word(node, "?") || {
            let annotation = node.child_by_field_id(fields.kind).map_or("", |kind| self.text(kind));
            annotation.contains("undefined") || annotation.contains("null")
        };
        if may_be_absent {
            self.builder.def(def).marks |= mark::OWN_C;
        }
        let known = self.builder.def(def);
        (known.declared, known.value) = (declared, value);
    }
}
