//! Items: modules, imports, functions, types and their members.

use tree_sitter::Node;

use super::super::SHARES_MACROS;
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Import, Kind, NONE, Op, Role, ScopeKind, import, mark, space};

impl Extractor<'_, '_> {
    fn is_public(&self, node: Node<'_>) -> bool {
        named_children(node).iter().take(3).any(|&child| self.kind(child) == K::Visibility)
    }

    /// The traits that a type derives, by the names of the macros that do it: they are named after the traits.
    fn derived(&mut self, def: u32, scope: u32) {
        for (name, start) in std::mem::take(&mut self.derives) {
            let base = self.builder.expr(Op::Own, super::super::DERIVED + name, scope);
            self.builder.base(def, base);
            let made = match self.builder.facts().text(name) {
                "Clone" => "clone",
                "Default" => "default",
                "PartialEq" => "eq",
                "PartialOrd" => "partial_cmp",
                "Ord" => "cmp",
                _ => continue,
            };
            // The method is nowhere written; its place is the name of the trait.
            let made = self.builder.text(made);
            let method = self.builder.define(made, Kind::Method, start, start..start);
            let this = self.builder.expr(Op::Anonymous, def, NONE);
            let known = self.builder.def(method);
            (known.owner, known.declared, known.space) = (def, this, space::CALLED);
        }
    }

    /// Marks an item and binds it, or makes it a member.
    fn place(&mut self, def: u32, node: Node<'_>, scope: u32, owner: u32) {
        let is_public = self.is_public(node);
        let known = self.builder.def(def);
        if owner == NONE {
            known.scope = scope;
        } else {
            known.owner = owner;
        }
        if is_public {
            known.marks |= mark::PUBLIC;
        }
    }

    pub(super) fn module(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let path = self.path_attribute.take();
        let shares_macros = std::mem::take(&mut self.has_macro_attribute);
        let Some(name) = self.field(node, self.fields.name) else { return NONE };
        let def = self.declare(name, Kind::Module, node);
        self.place(def, node, scope, NONE);
        if shares_macros {
            self.builder.def(def).marks |= SHARES_MACROS;
        }
        if let Some(path) = path {
            let path = self.builder.builtin(&path, &[]);
            self.builder.def(def).declared = path;
        }
        if let Some(body) = self.field(node, self.fields.body) {
            let range = self.range(body);
            self.builder.def(def).body = range.start as u32;
            let inner = self.builder.scope(scope, ScopeKind::Module, def, range);
            self.children(body, inner);
        }
        NONE
    }

    pub(super) fn use_declaration(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let marks = if self.is_public(node) { import::EXPORTED } else { 0 };
        if let Some(argument) = self.field(node, self.fields.argument) {
            self.use_tree(argument, scope, NONE, marks);
        }
        NONE
    }

    /// A part of a `use`, below a path.
    fn use_tree(&mut self, node: Node<'_>, scope: u32, prefix: u32, marks: u16) {
        if self.depth >= crate::syntax::DEEPEST {
            return;
        }
        self.depth += 1;
        match self.kind(node) {
            K::UseList => {
                for child in named_children(node) {
                    self.use_tree(child, scope, prefix, marks);
                }
            }
            K::ScopedUseList => {
                let path = self.field(node, self.fields.path);
                let prefix = path.map_or(prefix, |path| self.use_path(path, scope, prefix));
                if let Some(list) = self.field(node, self.fields.list) {
                    self.use_tree(list, scope, prefix, marks);
                }
            }
            K::UseWildcard => {
                let path = named_children(node).first().copied();
                let path = path.map_or(prefix, |path| self.use_path(path, scope, prefix));
                self.import(node, scope, NONE, path, marks | import::GLOB);
            }
            K::UseAs => {
                let path = self.field(node, self.fields.path);
                let path = path.map_or(prefix, |path| self.use_path(path, scope, prefix));
                let Some(alias) = self.field(node, self.fields.alias) else { return };
                let def = if self.text(alias) == "_" {
                    NONE
                } else {
                    let def = self.declare(alias, Kind::Import, node);
                    self.builder.def(def).scope = scope;
                    def
                };
                self.import(node, scope, def, path, marks);
            }
            _ => {
                let path = self.use_path(node, scope, prefix);
                let name = self.last_of_path(node, path);
                if let Some((name, start)) = name {
                    let range = self.range(node);
                    let def = self.builder.define(name, Kind::Import, start as usize, range);
                    self.builder.def(def).scope = scope;
                    self.import(node, scope, def, path, marks);
                }
            }
        }
        self.depth -= 1;
    }

    /// The name that a path ends with: of `self` in a list the name of the list.
    fn last_of_path(&mut self, node: Node<'_>, path: u32) -> Option<(u32, u32)> {
        if matches!(self.kind(node), K::Crate | K::Super) {
            return None;
        }
        let facts = self.builder.facts();
        let expr = facts.exprs.get(path as usize)?;
        let token = facts.tokens.get(expr.a as usize).filter(|_| expr.op == Op::Token)?;
        Some((token.name, token.start))
    }

    fn import(&mut self, node: Node<'_>, scope: u32, def: u32, path: u32, marks: u16) {
        let start = self.start(node) as u32;
        if def != NONE {
            let known = self.builder.def(def);
            known.space = space::ANY;
            if marks & import::EXPORTED != 0 {
                known.marks |= mark::PUBLIC;
            }
        }
        self.builder.import(Import { def, scope, module: NONE, name: NONE, path, marks, start });
    }

    /// A path inside a `use`, below another.
    fn use_path(&mut self, node: Node<'_>, scope: u32, prefix: u32) -> u32 {
        match self.kind(node) {
            K::ScopedIdentifier => {
                let path = self.field(node, self.fields.path);
                let prefix = path.map_or(prefix, |path| self.use_path(path, scope, prefix));
                match self.field(node, self.fields.name) {
                    Some(name) => self.use_path(name, scope, prefix),
                    None => prefix,
                }
            }
            K::Identifier | K::TypeIdentifier if prefix == NONE => self.bare(node, scope, space::ANY),
            K::Identifier | K::TypeIdentifier => self.member(node, scope, prefix, space::ANY),
            K::SelfWord if prefix != NONE => prefix,
            K::Crate | K::SelfWord | K::Super => self.path_word(node, scope, prefix),
            _ => NONE,
        }
    }

    /// `crate`, `self` and `super` at the head of a path: see `project`.
    pub(super) fn path_word(&mut self, node: Node<'_>, scope: u32, prefix: u32) -> u32 {
        match self.kind(node) {
            K::Crate => self.builder.expr(Op::Own, 0, scope),
            K::SelfWord => self.builder.expr(Op::Own, 1, scope),
            _ => {
                let before = self.builder.facts().exprs.get(prefix as usize).copied();
                let levels = before.filter(|expr| expr.op == Op::Own && expr.a > 0).map_or(1, |expr| expr.a);
                self.builder.expr(Op::Own, levels + 1, scope)
            }
        }
    }

    pub(super) fn extern_crate(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let Some(name) = self.field(node, self.fields.name) else { return NONE };
        let path = self.bare(name, scope, space::TYPE);
        if let Some(alias) = self.field(node, self.fields.alias) {
            let def = self.declare(alias, Kind::Import, node);
            self.builder.def(def).scope = scope;
            self.import(node, scope, def, path, 0);
        }
        NONE
    }

    pub(super) fn function(&mut self, node: Node<'_>, scope: u32, owner: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let kind = if owner == NONE { Kind::Function } else { Kind::Method };
        let def = self.declare(name, kind, node);
        self.derives.clear();
        self.place(def, node, scope, owner);
        if owner != NONE {
            self.builder.def(def).space = space::CALLED;
        }
        let range = self.range(node);
        let inner = self.builder.scope(scope, ScopeKind::Function, def, range);
        if let Some(list) = self.field(node, fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        if let Some(list) = self.field(node, fields.parameters) {
            self.parameters(list, def, inner);
        }
        let declared = match self.field(node, fields.return_type) {
            Some(result) => self.type_expression(result, inner),
            None => self.builder.builtin("()", &[]),
        };
        let head = node.child(0).map_or(0, |first| first.start_byte());
        let head = self.builder.slice(self.base + head, self.start(name));
        let is_async = head.split_whitespace().any(|word| word == "async");
        let known = self.builder.def(def);
        known.declared = declared;
        if is_async {
            known.marks |= mark::ASYNC;
        }
        self.where_clauses(node, def, inner);
        match self.field(node, fields.body) {
            Some(body) => {
                self.builder.def(def).body = self.start(body) as u32;
                self.children(body, inner);
            }
            None => self.builder.def(def).marks |= mark::ABSTRACT,
        }
        NONE
    }

    pub(super) fn parameters(&mut self, list: Node<'_>, def: u32, scope: u32) {
        for parameter in named_children(list) {
            match self.kind(parameter) {
                K::SelfParameter => {
                    let word =
                        named_children(parameter).into_iter().find(|&word| self.kind(word) == K::SelfWord);
                    let Some(word) = word else { continue };
                    self.receiver(word, parameter, def, scope, None);
                }
                K::Parameter => {
                    let of = self.field(parameter, self.fields.kind);
                    let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
                    let Some(pattern) = self.field(parameter, self.fields.pattern) else { continue };
                    if self.kind(pattern) == K::SelfWord {
                        self.receiver(pattern, parameter, def, scope, Some(declared));
                        continue;
                    }
                    if self.kind(pattern) == K::Identifier {
                        let variable = self.declare(pattern, Kind::Parameter, parameter);
                        let known = self.builder.def(variable);
                        (known.owner, known.scope, known.declared) = (def, scope, declared);
                        continue;
                    }
                    self.nameless_parameter(parameter, def, declared);
                    let value = self.builder.value_of(declared);
                    let visible = self.start(list);
                    self.pattern(pattern, scope, value, visible);
                }
                K::Attribute | K::Comment => {}
                _ => {
                    let declared = self.type_expression(parameter, scope);
                    self.nameless_parameter(parameter, def, declared);
                }
            }
        }
    }

    /// Keeps the place of a parameter that is a pattern.
    pub(super) fn nameless_parameter(&mut self, node: Node<'_>, owner: u32, declared: u32) {
        let nameless = self.builder.text("");
        let range = self.range(node);
        let def = self.builder.define(nameless, Kind::Parameter, range.start, range);
        let known = self.builder.def(def);
        (known.owner, known.declared) = (owner, declared);
    }

    fn receiver(&mut self, word: Node<'_>, whole: Node<'_>, owner: u32, scope: u32, _declared: Option<u32>) {
        let this = self.builder.expr(Op::ThisType, scope, NONE);
        let def = self.declare(word, Kind::Parameter, whole);
        let known = self.builder.def(def);
        (known.owner, known.scope, known.declared) = (owner, scope, this);
        known.marks |= mark::RECEIVER;
    }

    pub(super) fn structure(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let kind = if self.kind(node) == K::UnionItem { Kind::Union } else { Kind::Struct };
        let def = self.declare(name, kind, node);
        self.place(def, node, scope, NONE);
        self.derived(def, scope);
        let range = self.range(node);
        let inner = self.builder.scope(scope, ScopeKind::Block, def, range);
        if let Some(list) = self.field(node, fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        self.where_clauses(node, def, inner);
        let body = self.field(node, fields.body);
        // A structure without named fields is a value as well.
        if body.is_none_or(|body| self.kind(body) == K::OrderedFieldList) {
            self.builder.def(def).space = space::TYPE | space::VALUE;
        }
        if let Some(body) = body {
            self.builder.def(def).body = self.start(body) as u32;
            self.fields_of(body, def, inner);
        }
        NONE
    }

    fn fields_of(&mut self, body: Node<'_>, owner: u32, scope: u32) {
        if self.kind(body) == K::FieldList {
            for field in named_children(body) {
                if self.kind(field) != K::FieldDeclaration {
                    self.visit(field, scope);
                    continue;
                }
                let Some(name) = self.field(field, self.fields.name) else { continue };
                let def = self.declare(name, Kind::Field, field);
                self.place(def, field, NONE, owner);
                let of = self.field(field, self.fields.kind);
                let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
                self.builder.def(def).declared = declared;
            }
            return;
        }
        let types = super::field_children(body, self.fields.kind);
        for (index, of) in types.into_iter().enumerate() {
            let declared = self.type_expression(of, scope);
            let name = self.builder.text(&index.to_string());
            let range = self.range(of);
            let def = self.builder.define(name, Kind::Field, range.start, range);
            let known = self.builder.def(def);
            (known.owner, known.declared) = (owner, declared);
        }
    }

    pub(super) fn enumeration(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let def = self.declare(name, Kind::Enum, node);
        self.place(def, node, scope, NONE);
        self.derived(def, scope);
        let range = self.range(node);
        let inner = self.builder.scope(scope, ScopeKind::Block, def, range);
        if let Some(list) = self.field(node, fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        let Some(body) = self.field(node, fields.body) else { return NONE };
        self.builder.def(def).body = self.start(body) as u32;
        for variant in named_children(body) {
            if self.kind(variant) != K::EnumVariant {
                self.visit(variant, inner);
                continue;
            }
            let Some(name) = self.field(variant, fields.name) else { continue };
            let one = self.declare(name, Kind::Variant, variant);
            let known = self.builder.def(one);
            known.owner = def;
            known.space = space::TYPE | space::VALUE;
            known.marks |= mark::PUBLIC;
            if let Some(body) = self.field(variant, fields.body) {
                self.fields_of(body, one, inner);
            }
            if let Some(value) = self.field(variant, fields.value) {
                self.visit(value, inner);
            }
        }
        NONE
    }

    pub(super) fn trait_item(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let def = self.declare(name, Kind::Trait, node);
        self.place(def, node, scope, NONE);
        let range = self.range(node);
        let inner = self.builder.scope(scope, ScopeKind::Block, def, range);
        if let Some(list) = self.field(node, fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        if let Some(bounds) = self.field(node, fields.bounds) {
            self.bounds(bounds, def, inner);
        }
        self.where_clauses(node, def, inner);
        if let Some(body) = self.field(node, fields.body) {
            self.builder.def(def).body = self.start(body) as u32;
            self.members(body, def, inner);
        }
        NONE
    }

    pub(super) fn impl_item(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let nameless = self.builder.text("");
        let range = self.range(node);
        let def = self.builder.define(nameless, Kind::Impl, range.start, range.clone());
        let inner = self.builder.scope(scope, ScopeKind::Block, def, range);
        if let Some(list) = self.field(node, fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        let of = self.field(node, fields.implemented);
        let base = of.map_or(NONE, |of| self.type_expression(of, inner));
        let of = self.field(node, fields.kind);
        let declared = of.map_or(NONE, |of| self.type_expression(of, inner));
        self.builder.def(def).declared = declared;
        self.builder.base(def, base);
        self.where_clauses(node, def, inner);
        if let Some(body) = self.field(node, fields.body) {
            self.members(body, def, inner);
        }
        NONE
    }

    /// The members of a trait or of a block that implements.
    fn members(&mut self, body: Node<'_>, owner: u32, scope: u32) {
        for member in named_children(body) {
            match self.kind(member) {
                K::Function => self.function(member, scope, owner),
                K::Const => self.constant(member, scope, owner),
                K::TypeItem | K::AssociatedType => self.type_item(member, scope, owner),
                _ => self.visit(member, scope),
            };
        }
    }

    pub(super) fn type_item(&mut self, node: Node<'_>, scope: u32, owner: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let def = self.declare(name, Kind::Alias, node);
        self.place(def, node, scope, owner);
        let range = self.range(node);
        let inner = self.builder.scope(scope, ScopeKind::Block, NONE, range);
        if let Some(list) = self.field(node, fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        match self.field(node, fields.kind) {
            Some(of) => {
                let declared = self.type_expression(of, inner);
                let known = self.builder.def(def);
                known.declared = declared;
                known.marks |= mark::TRANSPARENT;
            }
            None => {
                self.builder.def(def).marks |= mark::ABSTRACT;
                if let Some(bounds) = self.field(node, fields.bounds) {
                    self.bounds(bounds, def, inner);
                }
            }
        }
        NONE
    }

    pub(super) fn constant(&mut self, node: Node<'_>, scope: u32, owner: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let def = self.declare(name, Kind::Constant, node);
        self.place(def, node, scope, owner);
        let of = self.field(node, fields.kind);
        let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
        let value = self.field(node, fields.value);
        let value = value.map_or(NONE, |value| self.visit(value, scope));
        let known = self.builder.def(def);
        (known.declared, known.value) = (declared, value);
        NONE
    }

    pub(super) fn macro_definition(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let Some(name) = self.field(node, self.fields.name) else { return NONE };
        let def = self.declare(name, Kind::Macro, node);
        let is_exported = std::mem::take(&mut self.has_macro_attribute);
        let known = self.builder.def(def);
        known.scope = scope;
        if is_exported {
            known.marks |= SHARES_MACROS;
        }
        for child in named_children(node) {
            if child != name {
                self.loose(child, scope);
            }
        }
        NONE
    }

    pub(super) fn let_declaration(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let of = self.field(node, fields.kind);
        let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
        let value = self.field(node, fields.value);
        let value = value.map_or(NONE, |value| self.visit(value, scope));
        if let Some(alternative) = self.field(node, fields.alternative) {
            self.visit(alternative, scope);
        }
        let source = if declared == NONE { value } else { self.builder.value_of(declared) };
        // `Vec<_>` says less than the value that it is made from.
        let source = if declared != NONE && of.is_some_and(|of| self.text(of).contains('_')) && value != NONE
        {
            let both = self.builder.list(&[source, value]);
            self.builder.expr(Op::Either, both, NONE)
        } else {
            source
        };
        if let Some(pattern) = self.field(node, fields.pattern) {
            let visible = self.end(node);
            self.pattern(pattern, scope, source, visible);
        }
        NONE
    }

    /// A key of a literal or pattern: a member of the type that `target` is.
    pub(super) fn key(&mut self, node: Node<'_>, scope: u32, target: u32) -> u32 {
        let name = self.name(node);
        let start = self.start(node);
        self.builder.token(name, start, scope, Role::Key, target)
    }
}
