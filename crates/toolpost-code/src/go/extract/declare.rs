//! Declarations: the package, imports, functions, methods, variables, types and their members.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, field_children, named_children};
use crate::facts::{Import, Kind, NONE, Op, Role, ScopeKind, import, mark, space};

impl Extractor<'_, '_> {
    pub(super) fn package(&mut self, node: Node<'_>) -> u32 {
        for child in named_children(node) {
            if self.kind(child) == K::PackageIdentifier {
                let name = self.name(child);
                self.builder.facts_mut().remark = name;
                self.declare(child, Kind::Module, node);
            }
        }
        NONE
    }

    pub(super) fn import(&mut self, node: Node<'_>) -> u32 {
        let Some(path) = node.child_by_field_id(self.fields.path) else { return NONE };
        let text = self.text(path).trim_matches(['"', '`']);
        let module = self.builder.text(text);
        let mut record = Import {
            def: NONE,
            scope: 0,
            module,
            name: NONE,
            path: NONE,
            marks: 0,
            start: node.start_byte() as u32,
        };
        match node.child_by_field_id(self.fields.name) {
            Some(alias) if self.kind(alias) == K::Dot => record.marks = import::GLOB,
            Some(alias) if self.text(alias) == "_" => record.marks = import::EFFECT,
            Some(alias) => {
                record.def = self.declare(alias, Kind::Import, node);
                self.bind(record.def, 0, 0);
            }
            None => {
                let guess = package_name(text);
                let name = self.builder.text(guess);
                // The name stands inside of the path, after its quote.
                let start = path.start_byte() + 1 + text.rfind(guess).unwrap_or(0);
                record.def = self.builder.define(name, Kind::Import, start, node.byte_range());
                self.builder.token(name, start, 0, Role::Declaration, record.def);
                self.bind(record.def, 0, 0);
            }
        }
        self.builder.import(record);
        NONE
    }

    pub(super) fn function(&mut self, node: Node<'_>) -> u32 {
        let Some(name) = node.child_by_field_id(self.fields.name) else { return NONE };
        let def = self.declare(name, Kind::Function, node);
        if self.text(name) != "init" {
            self.bind(def, 0, 0);
        }
        self.signature_and_body(node, def, 0);
        NONE
    }

    pub(super) fn method(&mut self, node: Node<'_>) -> u32 {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else { return NONE };
        let nameless = self.builder.text("");
        let block = self.builder.define(nameless, Kind::Impl, node.start_byte(), node.byte_range());
        let scope = self.builder.scope(0, ScopeKind::Function, block, node.byte_range());
        if let Some(receiver) = node.child_by_field_id(fields.receiver) {
            for parameter in named_children(receiver) {
                let of = parameter.child_by_field_id(fields.kind);
                let declared = of.map_or(NONE, |of| self.receiver_type(of, scope, block));
                self.builder.def(block).declared = declared;
                for name in field_children(parameter, fields.name) {
                    let variable = self.declare(name, Kind::Variable, parameter);
                    self.bind(variable, scope, node.start_byte());
                    self.builder.def(variable).declared = declared;
                }
            }
        }
        let def = self.declare(name, Kind::Method, node);
        self.builder.def(def).owner = block;
        self.signature_and_body(node, def, scope);
        NONE
    }

    /// The type of a receiver; the names between its brackets are declared here.
    fn receiver_type(&mut self, node: Node<'_>, scope: u32, block: u32) -> u32 {
        match self.kind(node) {
            K::PointerType | K::ParenthesizedType => match named_children(node).first() {
                Some(&inner) => self.receiver_type(inner, scope, block),
                None => NONE,
            },
            K::GenericType => {
                let base = node.child_by_field_id(self.fields.kind);
                let base = base.map_or(NONE, |base| self.type_expression(base, scope));
                let arguments = node.child_by_field_id(self.fields.type_arguments);
                let mut list = Vec::new();
                for argument in arguments.map(named_children).unwrap_or_default() {
                    let leaf = named_children(argument).first().copied().unwrap_or(argument);
                    let def = self.declare(leaf, Kind::TypeParameter, argument);
                    self.builder.def(def).owner = block;
                    self.bind(def, scope, node.start_byte());
                    let token = self.builder.facts().tokens.len() as u32 - 1;
                    list.push(self.builder.expr(Op::Token, token, NONE));
                }
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            _ => self.type_expression(node, scope),
        }
    }

    /// Type parameters, parameters, results and body of a function.
    pub(super) fn signature_and_body(&mut self, node: Node<'_>, def: u32, around: u32) {
        let fields = self.fields;
        let scope = self.builder.scope(around, ScopeKind::Function, def, node.byte_range());
        let before = std::mem::replace(&mut self.function_scope, scope);
        if let Some(list) = node.child_by_field_id(fields.type_parameters) {
            self.type_parameters(list, def, scope);
        }
        if let Some(list) = node.child_by_field_id(fields.parameters) {
            self.parameters(list, def, scope);
        }
        if let Some(result) = node.child_by_field_id(fields.result) {
            let declared = self.result(result, scope);
            self.builder.def(def).declared = declared;
        }
        if let Some(body) = node.child_by_field_id(fields.body) {
            self.builder.def(def).body = body.start_byte() as u32;
            self.children(body, scope);
        }
        self.function_scope = before;
    }

    pub(super) fn type_parameters(&mut self, list: Node<'_>, owner: u32, scope: u32) {
        for parameter in named_children(list) {
            let mut defs = Vec::new();
            for name in field_children(parameter, self.fields.name) {
                let def = self.declare(name, Kind::TypeParameter, parameter);
                self.builder.def(def).owner = owner;
                self.bind(def, scope, list.start_byte());
                defs.push(def);
            }
            let bound = parameter.child_by_field_id(self.fields.kind);
            let bound = bound.map_or(NONE, |bound| self.type_expression(bound, scope));
            for def in defs {
                self.builder.def(def).declared = bound;
            }
        }
    }

    pub(super) fn parameters(&mut self, list: Node<'_>, owner: u32, scope: u32) {
        for parameter in named_children(list) {
            let kind = self.kind(parameter);
            if !matches!(kind, K::Parameter | K::VariadicParameter) {
                continue;
            }
            let of = parameter.child_by_field_id(self.fields.kind);
            let mut declared = of.map_or(NONE, |of| self.type_expression(of, scope));
            if kind == K::VariadicParameter && declared != NONE {
                declared = self.builder.builtin("[]", &[declared]);
            }
            let names = field_children(parameter, self.fields.name);
            if names.is_empty() {
                let nameless = self.builder.text("");
                let start = parameter.start_byte();
                let def = self.builder.define(nameless, Kind::Parameter, start, parameter.byte_range());
                let known = self.builder.def(def);
                (known.owner, known.declared) = (owner, declared);
            }
            for name in names {
                let def = self.declare(name, Kind::Parameter, parameter);
                self.bind(def, scope, list.start_byte());
                let known = self.builder.def(def);
                (known.owner, known.declared) = (owner, declared);
                if kind == K::VariadicParameter {
                    known.marks |= mark::REST;
                }
            }
        }
    }

    /// What a function returns; several results are a tuple.
    pub(super) fn result(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.kind(node) != K::ParameterList {
            return self.type_expression(node, scope);
        }
        let mut all = Vec::new();
        for parameter in named_children(node) {
            let of = parameter.child_by_field_id(self.fields.kind);
            let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
            let names = field_children(parameter, self.fields.name);
            all.resize(all.len() + names.len().max(1), declared);
            for name in names {
                let def = self.declare(name, Kind::Variable, parameter);
                self.bind(def, scope, node.start_byte());
                self.builder.def(def).declared = declared;
            }
        }
        match all[..] {
            [one] => one,
            _ => self.builder.builtin("()", &all),
        }
    }

    /// A group of constants: one without a value repeats the type and value before it.
    pub(super) fn constants(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let mut last = (NONE, NONE);
        for spec in named_children(node) {
            if self.kind(spec) != K::ConstSpec {
                continue;
            }
            let has_value = spec.child_by_field_id(self.fields.value).is_some();
            let first = self.builder.facts().defs.len();
            let defined = self.variables(spec, scope);
            if has_value {
                let known = self.builder.facts().defs.get(first).map(|def| (def.declared, def.value));
                last = known.unwrap_or((NONE, NONE));
            } else {
                for def in defined {
                    let known = self.builder.def(def);
                    (known.declared, known.value) = last;
                }
            }
        }
        NONE
    }

    /// A specification of variables or constants.
    pub(super) fn variables(&mut self, node: Node<'_>, scope: u32) -> Vec<u32> {
        let fields = self.fields;
        let kind = if self.kind(node) == K::ConstSpec { Kind::Constant } else { Kind::Variable };
        let names = field_children(node, fields.name);
        let names: Vec<Node<'_>> = names.into_iter().filter(|&name| self.kind(name) != K::Other).collect();
        let mut defs = Vec::new();
        for &name in &names {
            let def = self.declare(name, kind, node);
            self.bind(def, scope, node.end_byte());
            defs.push(def);
        }
        let of = node.child_by_field_id(fields.kind);
        let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
        let values = node.child_by_field_id(fields.value).map(named_children).unwrap_or_default();
        let values: Vec<u32> = values.into_iter().map(|value| self.visit(value, scope)).collect();
        for (index, &def) in defs.iter().enumerate() {
            let value = if values.is_empty() { NONE } else { self.value_at(&values, names.len(), index) };
            let known = self.builder.def(def);
            (known.declared, known.value) = (declared, value);
        }
        defs
    }

    pub(super) fn type_declaration(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else { return NONE };
        let of = node.child_by_field_id(fields.kind);
        let kind = match of.map(|of| self.kind(of)) {
            Some(K::StructType) => Kind::Struct,
            Some(K::InterfaceType) => Kind::Interface,
            _ => Kind::Alias,
        };
        let is_alias = self.kind(node) == K::TypeAlias;
        let kind = if is_alias { Kind::Alias } else { kind };
        let def = self.declare(name, kind, node);
        self.bind(def, scope, name.start_byte());
        let inner = self.builder.scope(scope, ScopeKind::Block, def, node.byte_range());
        if let Some(list) = node.child_by_field_id(fields.type_parameters) {
            self.type_parameters(list, def, inner);
        }
        let Some(of) = of else { return NONE };
        match kind {
            Kind::Struct => self.fields_of(of, def, inner),
            Kind::Interface => self.methods_of(of, def, inner),
            _ => {
                let declared = self.type_expression(of, inner);
                let known = self.builder.def(def);
                known.declared = declared;
                if is_alias {
                    known.marks |= mark::TRANSPARENT;
                }
            }
        }
        NONE
    }

    /// The fields of a structure.
    pub(super) fn fields_of(&mut self, node: Node<'_>, owner: u32, scope: u32) {
        let Some(list) = named_children(node).into_iter().find(|&child| self.kind(child) == K::FieldList)
        else {
            return;
        };
        for field in named_children(list) {
            if self.kind(field) != K::FieldDeclaration {
                continue;
            }
            let names = field_children(field, self.fields.name);
            let of = field.child_by_field_id(self.fields.kind);
            let mut defs = Vec::new();
            for &name in &names {
                let def = self.declare(name, Kind::Field, field);
                self.builder.def(def).owner = owner;
                defs.push(def);
            }
            let Some(of) = of else { continue };
            let declared = self.type_expression(of, scope);
            for def in defs {
                self.builder.def(def).declared = declared;
            }
            if names.is_empty() {
                let leaf = self.last_name(of);
                let name = self.name(leaf);
                let def = self.builder.define(name, Kind::Field, leaf.start_byte(), field.byte_range());
                let known = self.builder.def(def);
                (known.owner, known.declared) = (owner, declared);
                known.marks |= mark::EMBEDDED;
                self.builder.base(owner, declared);
            }
        }
    }

    /// The name that an embedded type gives its field.
    fn last_name<'tree>(&self, node: Node<'tree>) -> Node<'tree> {
        let mut current = node;
        loop {
            let next = match self.kind(current) {
                K::QualifiedType => current.child_by_field_id(self.fields.name),
                K::GenericType => current.child_by_field_id(self.fields.kind),
                K::PointerType | K::ParenthesizedType => named_children(current).first().copied(),
                _ => None,
            };
            match next {
                Some(next) => current = next,
                None => return current,
            }
        }
    }

    /// The methods of an interface, and the interfaces it embeds.
    pub(super) fn methods_of(&mut self, node: Node<'_>, owner: u32, scope: u32) {
        for part in named_children(node) {
            match self.kind(part) {
                K::MethodElem => {
                    let Some(name) = part.child_by_field_id(self.fields.name) else { continue };
                    let def = self.declare(name, Kind::Method, part);
                    let known = self.builder.def(def);
                    known.owner = owner;
                    known.marks |= mark::ABSTRACT;
                    self.signature_and_body(part, def, scope);
                }
                K::TypeElem => {
                    for of in named_children(part) {
                        let base = self.type_expression(of, scope);
                        self.builder.base(owner, base);
                    }
                }
                _ => {
                    self.type_expression(part, scope);
                }
            }
        }
    }

    /// The function types' parameters, which bind nothing.
    pub(super) fn function_type(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let mut all = vec![NONE];
        if let Some(list) = node.child_by_field_id(self.fields.parameters) {
            for parameter in named_children(list) {
                let of = parameter.child_by_field_id(self.fields.kind);
                let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
                let names = field_children(parameter, self.fields.name);
                all.resize(all.len() + names.len().max(1), declared);
                for name in names {
                    let def = self.declare(name, Kind::Variable, parameter);
                    self.builder.def(def).declared = declared;
                }
            }
        }
        if let Some(result) = node.child_by_field_id(self.fields.result) {
            let inner = self.block(scope, result);
            all[0] = self.result(result, inner);
        }
        self.builder.builtin("->", &all)
    }

    /// A type.
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
        let of = |field: u16| node.child_by_field_id(field);
        match self.kind(node) {
            K::TypeIdentifier | K::Identifier => self.bare(node, scope, space::TYPE),
            K::QualifiedType => self.qualified_type(node, scope),
            K::PointerType | K::ParenthesizedType | K::NegatedType => {
                let inner = named_children(node).first().copied();
                inner.map_or(NONE, |inner| self.type_expression(inner, scope))
            }
            K::SliceType | K::ArrayType => {
                if let Some(length) = of(fields.length) {
                    self.visit(length, scope);
                }
                let element = of(fields.element).map_or(NONE, |element| self.type_expression(element, scope));
                self.builder.builtin("[]", &[element])
            }
            K::MapType => {
                let key = of(fields.key).map_or(NONE, |key| self.type_expression(key, scope));
                let value = of(fields.value).map_or(NONE, |value| self.type_expression(value, scope));
                self.builder.builtin("{}", &[key, value])
            }
            K::ChannelType => {
                let value = of(fields.value).map_or(NONE, |value| self.type_expression(value, scope));
                self.builder.builtin("chan", &[value])
            }
            K::FunctionType => self.function_type(node, scope),
            K::StructType | K::InterfaceType => {
                let nameless = self.builder.text("");
                let def =
                    self.builder.define(nameless, Kind::Anonymous, node.start_byte(), node.byte_range());
                if self.kind(node) == K::StructType {
                    self.fields_of(node, def, scope);
                } else {
                    self.methods_of(node, def, scope);
                }
                self.builder.expr(Op::Anonymous, def, NONE)
            }
            K::GenericType => {
                let base = of(fields.kind).map_or(NONE, |base| self.type_expression(base, scope));
                let arguments = of(fields.type_arguments).map(named_children).unwrap_or_default();
                let list: Vec<u32> =
                    arguments.into_iter().map(|argument| self.type_expression(argument, scope)).collect();
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            K::TypeElem | K::TypeConstraint => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|one| self.type_expression(one, scope)).collect();
                match all[..] {
                    [one] => one,
                    _ => {
                        let list = self.builder.list(&all);
                        self.builder.expr(Op::Either, list, NONE)
                    }
                }
            }
            K::Comment => NONE,
            _ => self.visit(node, scope),
        }
    }

    fn qualified_type(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let package = node.child_by_field_id(self.fields.package);
        let target = package.map_or(NONE, |package| self.any_name(package, scope));
        let Some(name) = node.child_by_field_id(self.fields.name) else { return NONE };
        let text = self.name(name);
        let token = self.builder.token(text, name.start_byte(), scope, Role::Member, target);
        self.builder.expr(Op::Token, token, NONE)
    }
}

/// The name of a package that is imported without one: the last part of its path that is no version.
fn package_name(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    let name = if is_version { parts.next().unwrap_or(last) } else { last };
    let name = name.rsplit_once(".v").map_or(name, |(before, _)| before);
    let name = name.strip_prefix("go-").unwrap_or(name);
    name.strip_suffix("-go").or_else(|| name.strip_suffix(".go")).unwrap_or(name)
}
