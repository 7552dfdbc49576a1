//! Types as they are written.

use tree_sitter::Node;

use super::state::{Extractor, NAMESPACE};
use super::{K, named_children};
use crate::facts::{Kind, NONE, Op, Role, ScopeKind, space};
use crate::syntax::DEEPEST;
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    /// The expression of a type.
    pub(super) fn type_expression(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = self.type_inside(node, scope);
        self.depth -= 1;
        expr
    }

    fn types(&mut self, node: Node<'tree>, scope: u32) -> Vec<u32> {
        let mut parts = named_children(node);
        parts.retain(|&part| self.kind(part) != K::Comment);
        parts.into_iter().map(|part| self.type_expression(part, scope)).collect()
    }

    fn type_inside(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let of = |field: u16| node.child_by_field_id(field);
        match self.kind(node) {
            K::Comment | K::Nothing => NONE,
            K::TypeAnnotation | K::WrappedType => {
                let all = self.types(node, scope);
                all.first().copied().unwrap_or(NONE)
            }
            K::TypeIdentifier | K::Identifier => self.bare(node, scope, space::TYPE),
            K::NestedType => {
                let target =
                    of(fields.module).map_or(NONE, |module| self.entity_name(module, scope, NAMESPACE));
                let Some(name) = of(fields.name) else { return NONE };
                let text = self.name(name);
                self.member(text, name.start_byte(), scope, target, space::TYPE)
            }
            K::NestedIdentifier | K::Member => self.entity_name(node, scope, space::TYPE),
            K::GenericType => {
                let base = of(fields.name).map_or(NONE, |base| self.type_expression(base, scope));
                let list = of(fields.type_arguments).map(|list| self.types(list, scope)).unwrap_or_default();
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            K::PredefinedType => {
                let text = self.text(node);
                match text {
                    "any" | "unknown" | "void" | "never" | "undefined" => NONE,
                    _ => self.builder.builtin(text, &[]),
                }
            }
            K::ArrayType => {
                let all = self.types(node, scope);
                self.builder.builtin("[]", &all)
            }
            K::TupleType => self.tuple(node, scope),
            K::UnionType => {
                // `A | B | C` is a union in a union, however many there are.
                let (mut open, mut parts) = (vec![node], Vec::new());
                while let Some(part) = open.pop() {
                    match self.kind(part) {
                        K::UnionType => open.extend(named_children(part)),
                        _ => parts.push(part),
                    }
                }
                parts.reverse();
                let all: Vec<u32> = parts.into_iter().map(|part| self.type_expression(part, scope)).collect();
                self.either(&all)
            }
            K::IntersectionType => {
                let all = self.types(node, scope);
                self.either(&all)
            }
            K::FunctionType => {
                let def = self.nameless(Kind::Function, node);
                self.signature_and_body(node, def, scope, NONE);
                if node.kind() == "constructor_type" {
                    self.builder.def(def).marks |= crate::facts::mark::OWN_B;
                }
                own(self.builder, own::FUNCTION, &[def])
            }
            K::ObjectType => self.object_type(node, scope),
            K::TypeQuery => {
                let value =
                    named_children(node).first().map_or(NONE, |&value| self.visit(value, scope, NONE));
                if value == NONE { NONE } else { self.builder.expr(Op::TypeOf, value, NONE) }
            }
            K::IndexTypeQuery => {
                let all = self.types(node, scope);
                self.builder.builtin("keyof", &all)
            }
            K::LookupType => self.lookup_type(node, scope),
            K::ConditionalType => {
                let inner = self.block(scope, node);
                let mut part = |field: u16| {
                    node.child_by_field_id(field).map_or(NONE, |part| self.type_expression(part, inner))
                };
                let left = part(fields.left);
                let right = part(fields.right);
                let consequence = part(fields.consequence);
                let alternative = part(fields.alternative);
                own(self.builder, own::CONDITIONAL, &[left, right, consequence, alternative])
            }
            K::InferType => {
                let parts = named_children(node);
                let Some(&name) = parts.first() else { return NONE };
                let def = self.declare(name, Kind::TypeParameter, node);
                self.builder.def(def).scope = scope;
                self.builder.def(def).owner = self.owner;
                let token = self.builder.facts().tokens.len() as u32 - 1;
                if let Some(&bound) = parts.get(1) {
                    let bound = self.type_expression(bound, scope);
                    self.builder.def(def).declared = bound;
                }
                self.builder.expr(Op::Token, token, NONE)
            }
            K::LiteralType => match named_children(node).first() {
                Some(&literal) if self.kind(literal) == K::Nothing => NONE,
                Some(&literal) => {
                    self.literal_type(literal).unwrap_or_else(|| self.builder.builtin("number", &[]))
                }
                None => NONE,
            },
            K::TemplateType => {
                self.types(node, scope);
                self.builder.builtin("string", &[])
            }
            K::ThisType | K::This => self.builder.expr(Op::ThisType, scope, NONE),
            K::PredicateAnnotation => self.predicate(node, scope),
            K::TypePredicate => {
                let (of, name) = self.predicate_parts(node, scope);
                self.builder.builtin("is", &[of, name])
            }
            K::Call => {
                // `import('module')`, written as a type
                let arguments = of(fields.arguments).map(named_children).unwrap_or_default();
                let text = arguments
                    .first()
                    .filter(|&&text| self.kind(text) == K::Text)
                    .map(|&text| self.unquoted(text));
                match text {
                    Some(text) => {
                        let text = self.builder.text(text);
                        own(self.builder, own::MODULE, &[text, 0])
                    }
                    None => {
                        self.children(node, scope);
                        NONE
                    }
                }
            }
            _ => {
                let all = self.types(node, scope);
                if let [one] = all[..] { one } else { NONE }
            }
        }
    }

    /// What a function that tests its parameters returns: `x is T`, `asserts x`, `asserts x is T`.
    fn predicate(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let Some(&inner) = named_children(node).first() else { return NONE };
        if node.kind() == "type_predicate_annotation" || inner.kind() == "asserts" {
            return self.type_expression(inner, scope);
        }
        let (of, name) = match self.kind(inner) {
            K::TypePredicate => self.predicate_parts(inner, scope),
            K::Identifier => {
                self.bare(inner, scope, space::VALUE);
                let name = self.text(inner);
                (NONE, self.builder.builtin(name, &[]))
            }
            _ => (NONE, NONE),
        };
        self.builder.builtin("asserts", &[of, name])
    }

    fn predicate_parts(&mut self, node: Node<'tree>, scope: u32) -> (u32, u32) {
        let fields = self.fields;
        let name = match node.child_by_field_id(fields.name) {
            Some(name) => {
                if self.kind(name) == K::Identifier {
                    self.bare(name, scope, space::VALUE);
                }
                let text = self.text(name);
                self.builder.builtin(text, &[])
            }
            None => NONE,
        };
        let of = node.child_by_field_id(fields.kind).map_or(NONE, |of| self.type_expression(of, scope));
        (of, name)
    }

    /// The type of a literal alone: `'a'`, `1`, `true`.
    pub(super) fn literal_type(&mut self, node: Node<'tree>) -> Option<u32> {
        let (name, text) = match self.kind(node) {
            K::Text => ("string", self.unquoted(node)),
            K::Number => ("number", self.text(node)),
            K::Truth => ("boolean", self.text(node)),
            _ => return None,
        };
        let text = self.builder.builtin(text, &[]);
        Some(self.builder.builtin(name, &[text]))
    }

    /// A value that stays what it is: of a literal the literal alone, of anything else what it was read as.
    pub(super) fn literal_value(&mut self, node: Node<'tree>, read: u32) -> u32 {
        let mut node = node;
        while self.kind(node) == K::As
            && (Self::has_word(node, "const") || self.text(node).ends_with("const"))
            && let Some(&inner) = named_children(node).first()
        {
            node = inner;
        }
        self.literal_type(node).map_or(read, |of| self.builder.value_of(of))
    }

    /// A name, qualified or not; the last part may mean what `space` says.
    pub(super) fn entity_name(&mut self, node: Node<'tree>, scope: u32, space: u8) -> u32 {
        let fields = self.fields;
        match self.kind(node) {
            K::Identifier | K::TypeIdentifier => self.bare(node, scope, space),
            K::NestedIdentifier | K::Member => {
                let object = node.child_by_field_id(fields.object);
                let target = object.map_or(NONE, |object| {
                    if self.depth >= DEEPEST {
                        return NONE;
                    }
                    self.depth += 1;
                    let target = self.entity_name(object, scope, NAMESPACE | space::VALUE);
                    self.depth -= 1;
                    target
                });
                let Some(name) = node.child_by_field_id(fields.property) else { return target };
                let text = self.name(name);
                self.member(text, name.start_byte(), scope, target, space)
            }
            K::Call => self.type_expression(node, scope),
            _ => self.visit(node, scope, NONE),
        }
    }

    fn tuple(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let mut all = Vec::new();
        for part in named_children(node) {
            match self.kind(part) {
                K::Comment => {}
                K::Parameter => {
                    let named = part.child_by_field_id(self.fields.kind);
                    let of = named.map_or(NONE, |of| self.type_expression(of, scope));
                    let is_rest = part
                        .child_by_field_id(self.fields.name)
                        .is_some_and(|name| self.kind(name) == K::RestPattern);
                    all.push(if is_rest { self.builder.builtin("...", &[of]) } else { of });
                }
                _ => {
                    let of = self.type_expression(part, scope);
                    all.push(if part.kind() == "rest_type" {
                        self.builder.builtin("...", &[of])
                    } else {
                        of
                    });
                }
            }
        }
        self.builder.builtin("()", &all)
    }

    /// Whether an object type is `{ [K in T]: U }`.
    pub(super) fn is_mapped(&self, node: Node<'tree>) -> bool {
        named_children(node).iter().any(|&member| {
            self.kind(member) == K::IndexSignature
                && named_children(member).iter().any(|&part| self.kind(part) == K::MappedClause)
        })
    }

    fn object_type(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        if self.is_mapped(node) {
            return self.mapped_type(node, scope);
        }
        let def = self.nameless(Kind::Anonymous, node);
        let inner = self.builder.scope(scope, ScopeKind::Block, NONE, node.byte_range());
        let before = std::mem::replace(&mut self.owner, def);
        self.members_of(node, def, inner);
        self.owner = before;
        self.builder.expr(Op::Anonymous, def, NONE)
    }

    fn mapped_type(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let inner = self.block(scope, node);
        let (mut keys, mut of) = (NONE, NONE);
        for member in named_children(node) {
            for part in named_children(member) {
                if self.kind(part) == K::MappedClause {
                    keys = self.mapped_clause(part, inner);
                }
            }
            if let Some(kind) = member.child_by_field_id(self.fields.kind) {
                of = self.type_expression(kind, inner);
            }
        }
        own(self.builder, own::MAPPED, &[keys, of])
    }

    /// `T['key']`, `T[number]`, `T[K]`.
    fn lookup_type(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let parts = named_children(node);
        let [object, index, ..] = parts[..] else { return NONE };
        let target = self.type_expression(object, scope);
        let literal = (self.kind(index) == K::LiteralType)
            .then(|| named_children(index).first().copied())
            .flatten()
            .filter(|&literal| self.kind(literal) == K::Text);
        if let Some(literal) = literal {
            let text = self.unquoted(literal);
            let text = self.builder.text(text);
            let value = self.builder.value_of(target);
            let token = self.builder.token(text, literal.start_byte() + 1, scope, Role::Member, value);
            self.builder.token_mut(token).space = space::VALUE;
            return own(self.builder, own::INDEXED, &[target, text, NONE]);
        }
        let by = self.type_expression(index, scope);
        own(self.builder, own::INDEXED, &[target, NONE, by])
    }
}
