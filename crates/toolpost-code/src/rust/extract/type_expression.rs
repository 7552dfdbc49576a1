//! Types, paths, bounds. References and pointers are what they point to.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Name, Op, Role, space};

impl Extractor<'_, '_> {
    pub(super) fn type_expression(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = self.type_inside(node, scope);
        self.depth -= 1;
        expr
    }

    fn type_inside(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        match self.kind(node) {
            K::TypeIdentifier | K::Identifier if self.text(node) == "_" => NONE,
            K::TypeIdentifier | K::Identifier => self.bare(node, scope, space::TYPE),
            K::PrimitiveType => {
                let text = self.text(node);
                self.builder.builtin(text, &[])
            }
            K::ScopedIdentifier | K::Crate | K::SelfWord | K::Super => self.path(node, scope, space::TYPE),
            K::ReferenceType | K::PointerType => {
                let inner = self.field(node, fields.kind);
                for child in named_children(node) {
                    if self.kind(child) == K::Lifetime {
                        self.lifetime(child, scope);
                    }
                }
                inner.map_or(NONE, |inner| self.type_expression(inner, scope))
            }
            K::GenericType => {
                let base = self.field(node, fields.kind);
                let base = base.map_or(NONE, |base| self.type_expression(base, scope));
                let list = self.type_arguments(node, scope, base);
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            K::TupleType => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|one| self.type_expression(one, scope)).collect();
                self.builder.builtin("()", &all)
            }
            K::UnitType => self.builder.builtin("()", &[]),
            K::ArrayType => {
                if let Some(length) = self.field(node, fields.length) {
                    self.visit(length, scope);
                }
                let element = self.field(node, fields.element);
                let element = element.map_or(NONE, |element| self.type_expression(element, scope));
                self.builder.builtin("[]", &[element])
            }
            K::FunctionType => {
                if let Some(of) = self.field(node, fields.implemented) {
                    self.type_expression(of, scope);
                }
                let mut all = vec![NONE];
                if let Some(list) = self.field(node, fields.parameters) {
                    for parameter in named_children(list) {
                        let of = self.field(parameter, fields.kind).unwrap_or(parameter);
                        all.push(self.type_expression(of, scope));
                    }
                }
                all[0] = match self.field(node, fields.return_type) {
                    Some(result) => self.type_expression(result, scope),
                    None => self.builder.builtin("()", &[]),
                };
                self.builder.builtin("->", &all)
            }
            K::DynamicType => match self.field(node, fields.implemented) {
                Some(of) => self.type_expression(of, scope),
                None => NONE,
            },
            K::BoundedType | K::TraitBounds => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|one| self.type_expression(one, scope)).collect();
                let all: Vec<u32> = all.into_iter().filter(|&one| one != NONE).collect();
                match all[..] {
                    [one] => one,
                    _ => {
                        let list = self.builder.list(&all);
                        self.builder.expr(Op::Either, list, NONE)
                    }
                }
            }
            K::HigherRanked => match self.field(node, fields.kind) {
                Some(of) => self.type_expression(of, scope),
                None => NONE,
            },
            K::BracketedType => match named_children(node).first() {
                Some(&inner) => self.type_expression(inner, scope),
                None => NONE,
            },
            K::QualifiedType => {
                let of = self.field(node, fields.kind);
                let of = of.map_or(NONE, |of| self.type_expression(of, scope));
                match self.field(node, fields.alias) {
                    Some(alias) => {
                        let alias = self.type_expression(alias, scope);
                        let list = self.builder.list(&[of, alias]);
                        self.builder.expr(Op::Either, list, NONE)
                    }
                    None => of,
                }
            }
            K::MacroInvocation => self.visit(node, scope),
            K::Lifetime => self.lifetime(node, scope),
            K::NeverType | K::RemovedBound | K::Comment | K::Metavariable => NONE,
            K::TypeBinding => {
                let of = self.field(node, fields.kind);
                of.map_or(NONE, |of| self.type_expression(of, scope))
            }
            _ => self.visit(node, scope),
        }
    }

    /// `Item = T` among the arguments of a trait: the type that the trait calls so.
    fn binding(&mut self, node: Node<'_>, scope: u32, base: u32) -> u32 {
        if let Some(name) = self.field(node, self.fields.name).filter(|_| base != NONE) {
            self.member(name, scope, base, space::TYPE);
        }
        let of = self.field(node, self.fields.kind);
        of.map_or(NONE, |of| self.type_expression(of, scope))
    }

    /// The arguments of a generic type or function, which is `base`.
    pub(super) fn type_arguments(&mut self, node: Node<'_>, scope: u32, base: u32) -> Vec<u32> {
        let Some(list) = self.field(node, self.fields.type_arguments) else { return Vec::new() };
        let mut arguments = Vec::new();
        for child in named_children(list) {
            let argument = match self.kind(child) {
                // What looks like a type may be a constant.
                K::TypeIdentifier => self.bare(child, scope, space::TYPE | space::VALUE),
                K::TypeBinding => self.binding(child, scope, base),
                _ => self.type_expression(child, scope),
            };
            if !matches!(self.kind(child), K::Lifetime | K::Comment | K::Attribute) {
                arguments.push(argument);
            }
        }
        arguments
    }

    /// A path of names: the last has the given meanings, those before it are modules or types.
    pub(super) fn path(&mut self, node: Node<'_>, scope: u32, space: u8) -> u32 {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        match self.kind(node) {
            K::ScopedIdentifier => {
                self.depth += 1;
                let target = match self.field(node, self.fields.path) {
                    Some(path) => self.path(path, scope, space::TYPE),
                    None => NONE,
                };
                self.depth -= 1;
                let Some(name) = self.field(node, self.fields.name) else { return target };
                match self.kind(name) {
                    K::Super | K::SelfWord | K::Crate => self.path_word(name, scope, target),
                    _ => self.member(name, scope, target, space),
                }
            }
            K::Crate | K::SelfWord | K::Super => self.path_word(node, scope, NONE),
            K::Identifier | K::TypeIdentifier => self.bare(node, scope, space),
            _ => self.type_expression(node, scope),
        }
    }

    pub(super) fn type_parameters(&mut self, list: Node<'_>, owner: u32, scope: u32) {
        for parameter in named_children(list) {
            let kind = self.kind(parameter);
            let Some(name) = self.field(parameter, self.fields.name) else { continue };
            match kind {
                K::TypeParameter => {
                    let def = self.declare(name, Kind::TypeParameter, parameter);
                    let known = self.builder.def(def);
                    (known.owner, known.scope) = (owner, scope);
                    if let Some(bounds) = self.field(parameter, self.fields.bounds) {
                        self.bounds(bounds, def, scope);
                    }
                    if let Some(of) = self.field(parameter, self.fields.default_type) {
                        self.type_expression(of, scope);
                    }
                }
                K::ConstParameter => {
                    let def = self.declare(name, Kind::Constant, parameter);
                    let of = self.field(parameter, self.fields.kind);
                    let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
                    let known = self.builder.def(def);
                    (known.scope, known.declared) = (scope, declared);
                }
                K::LifetimeParameter => {
                    if let Some(&word) = named_children(name).first() {
                        let def = self.declare(word, Kind::Label, parameter);
                        self.builder.def(def).scope = scope;
                    }
                    if let Some(bounds) = self.field(parameter, self.fields.bounds) {
                        self.type_expression(bounds, scope);
                    }
                }
                _ => {}
            }
        }
    }

    /// The use of a lifetime.
    pub(super) fn lifetime(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if let Some(&word) = named_children(node).first()
            && !matches!(self.text(word), "_" | "static")
        {
            let name = self.name(word);
            let start = self.start(word);
            self.builder.token(name, start, scope, Role::Label, NONE);
        }
        NONE
    }

    /// A label: before a loop it is declared, after `break` and `continue` it is used.
    pub(super) fn label(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let is_use = node
            .parent()
            .is_some_and(|parent| matches!(parent.kind(), "break_expression" | "continue_expression"));
        let Some(&word) = named_children(node).first() else { return NONE };
        if is_use {
            return self.lifetime(node, scope);
        }
        let def = self.declare(word, Kind::Label, node);
        self.builder.def(def).scope = scope;
        NONE
    }

    /// What a type must be: bases of the type parameter or trait.
    pub(super) fn bounds(&mut self, node: Node<'_>, def: u32, scope: u32) {
        for bound in named_children(node) {
            if self.kind(bound) == K::RemovedBound {
                continue;
            }
            let base = self.type_expression(bound, scope);
            self.builder.base(def, base);
        }
    }

    /// The bounds after `where`, which are bases of the type parameters they name.
    pub(super) fn where_clauses(&mut self, node: Node<'_>, owner: u32, scope: u32) {
        let clauses = named_children(node).into_iter().filter(|&child| self.kind(child) == K::WhereClause);
        let predicates: Vec<Node<'_>> = clauses.flat_map(named_children).collect();
        for predicate in predicates {
            let Some(left) = self.field(predicate, self.fields.left) else { continue };
            let name = Name::of(self.text(left));
            self.type_expression(left, scope);
            let facts = self.builder.facts();
            let is_meant = |index: &u32| {
                let def = &facts.defs[*index as usize];
                def.kind == Kind::TypeParameter && facts.name(def.name) == name
            };
            let around = facts.def(owner).map_or(NONE, |def| def.owner);
            let candidates = (0..facts.defs.len() as u32).rev().take(200).filter(is_meant);
            let parameter = candidates
                .into_iter()
                .find(|&index| [owner, around].contains(&facts.defs[index as usize].owner));
            let Some(bounds) = self.field(predicate, self.fields.bounds) else { continue };
            match parameter {
                Some(parameter) => self.bounds(bounds, parameter, scope),
                None => {
                    self.type_expression(bounds, scope);
                }
            }
        }
    }
}
