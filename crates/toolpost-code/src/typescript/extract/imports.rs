//! Imports and exports, of modules and of CommonJS.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, bit, named_children};
use crate::facts::{Export, Import, Kind, NONE, Op, Role, import, space};
use crate::typescript::own::{self, own};

impl<'tree, 'a> Extractor<'_, 'a> {
    /// The comment that says where JSX comes from.
    pub(super) fn pragma(&mut self, root: Node<'tree>) {
        let mut cursor = root.walk();
        let comments = root.children(&mut cursor).take_while(|child| self.kind(*child) == K::Comment);
        for comment in comments.collect::<Vec<_>>() {
            if let Some((_, rest)) = self.text(comment).split_once("@jsxImportSource ") {
                let source = rest.split_whitespace().next().unwrap_or("");
                let source = self.builder.text(source);
                self.builder.facts_mut().remark = source;
            }
        }
    }

    fn record(&mut self, module: u32, name: u32, def: u32, scope: u32, start: usize, marks: u16) -> u32 {
        let start = start as u32;
        self.builder.import(Import { def, scope, module, name, path: NONE, marks, start })
    }

    fn is_module(&mut self, scope: u32) {
        if scope == 0 {
            self.builder.facts_mut().bits |= bit::MODULE;
        }
    }

    fn module_text(&mut self, source: Node<'tree>) -> u32 {
        let text = self.unquoted(source);
        self.builder.text(text)
    }

    pub(super) fn import(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        self.is_module(scope);
        let fields = self.fields;
        let start = node.start_byte();
        let is_type = Self::has_word(node, "type") || Self::has_word(node, "typeof");
        let marks = if is_type { import::TYPES } else { 0 };
        let mut source = node.child_by_field_id(fields.source);
        for child in named_children(node) {
            if self.kind(child) == K::ImportRequire {
                source = child.child_by_field_id(fields.source);
            }
        }
        let Some(source) = source else { return NONE };
        let module = self.module_text(source);
        let mut binds = false;
        for child in named_children(node) {
            match self.kind(child) {
                K::ImportRequire => {
                    for name in named_children(child) {
                        if self.kind(name) == K::Identifier {
                            let text = self.builder.text("export=");
                            self.bind_import(name, node, module, text, scope, import::DEFAULT);
                            binds = true;
                        }
                    }
                }
                K::ImportClause => {
                    binds = true;
                    for part in named_children(child) {
                        self.import_part(part, node, module, scope, marks);
                    }
                }
                _ => {}
            }
        }
        if !binds {
            self.record(module, NONE, NONE, scope, start, import::EFFECT);
        }
        NONE
    }

    /// A name that is bound to something of a module; what is called otherwise there has a token of that name too.
    fn bind_import(
        &mut self,
        node: Node<'tree>,
        whole: Node<'tree>,
        module: u32,
        name: u32,
        scope: u32,
        marks: u16,
    ) -> u32 {
        let record = self.record(module, name, NONE, scope, node.start_byte(), marks);
        if name != NONE && marks & import::DEFAULT != 0 {
            self.builder.token(name, node.start_byte(), scope, Role::Import, record);
        }
        let def = self.declare(node, Kind::Import, whole);
        self.bind(def, scope);
        self.builder.facts_mut().imports[record as usize].def = def;
        record
    }

    fn import_part(&mut self, part: Node<'tree>, whole: Node<'tree>, module: u32, scope: u32, marks: u16) {
        let fields = self.fields;
        match self.kind(part) {
            K::Identifier => {
                let default = self.builder.text("default");
                self.bind_import(part, whole, module, default, scope, marks | import::DEFAULT);
            }
            K::NamespaceImport => {
                for name in named_children(part) {
                    let record = self.bind_import(name, whole, module, NONE, scope, marks);
                    // The name means the binding here; what it holds is the module.
                    let value = own(self.builder, own::MODULE, &[module, 0]);
                    let def = self.builder.facts().imports[record as usize].def;
                    let known = self.builder.def(def);
                    (known.kind, known.value) = (Kind::Variable, value);
                }
            }
            K::NamedImports => {
                for specifier in named_children(part) {
                    if self.kind(specifier) != K::ImportSpecifier {
                        continue;
                    }
                    let Some(name) = specifier.child_by_field_id(fields.name) else { continue };
                    let Some((text, start)) = self.property_name(name) else { continue };
                    match specifier.child_by_field_id(fields.alias) {
                        Some(alias) => {
                            let record = self.bind_import(alias, specifier, module, text, scope, marks);
                            self.builder.token(text, start, scope, Role::Import, record);
                        }
                        None => {
                            self.bind_import(name, specifier, module, text, scope, marks);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// `import name = A.B`
    pub(super) fn import_alias(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let parts = named_children(node);
        let [name, value, ..] = parts[..] else { return NONE };
        let path = self.entity_name(value, scope, space::ANY);
        let def = self.declare_bound(name, Kind::Import, node, scope);
        self.builder.def(def).space = space::ANY;
        let record = self.record(NONE, NONE, def, scope, node.start_byte(), 0);
        self.builder.facts_mut().imports[record as usize].path = path;
        NONE
    }

    /// Hands out what a path means under another name.
    pub(super) fn hand_out(
        &mut self,
        name: u32,
        path: u32,
        alias: Option<Node<'tree>>,
        scope: u32,
        start: usize,
    ) {
        let def = match alias {
            Some(alias) => self.declare(alias, Kind::Import, alias),
            None => {
                let def = self.builder.define(name, Kind::Import, start, start..start);
                self.builder.def(def).space = space::ANY;
                def
            }
        };
        let record = self.record(NONE, NONE, def, scope, start, import::EXPORTED);
        self.builder.facts_mut().imports[record as usize].path = path;
        self.builder.export(Export { name, value: NONE, import: record });
    }

    pub(super) fn export(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        self.is_module(scope);
        let fields = self.fields;
        let start = node.start_byte();
        let source = node.child_by_field_id(fields.source);
        let module = source.map(|source| self.module_text(source));
        let is_default = Self::has_word(node, "default");
        let mut clause = false;
        for child in named_children(node) {
            match self.kind(child) {
                K::Decorator => {
                    self.visit(child, scope, NONE);
                }
                K::ExportClause => {
                    clause = true;
                    for specifier in named_children(child) {
                        self.export_specifier(specifier, module, scope);
                    }
                }
                K::NamespaceExport => {
                    clause = true;
                    for name in named_children(child) {
                        let Some((text, _)) = self.property_name(name) else { continue };
                        let def = self.declare(name, Kind::Import, child);
                        let record =
                            self.record(module.unwrap_or(NONE), NONE, def, scope, start, import::EXPORTED);
                        self.builder.export(Export { name: text, value: NONE, import: record });
                    }
                }
                _ => {}
            }
        }
        if let (Some(module), false) = (module, clause) {
            self.record(module, NONE, NONE, scope, start, import::GLOB | import::EXPORTED);
            return NONE;
        }
        if let Some(declaration) = node.child_by_field_id(fields.declaration) {
            let tokens = self.builder.facts().tokens.len();
            self.last_declared = NONE;
            self.exported_at = (!self.comments.is_empty()).then_some(start);
            let before = std::mem::replace(&mut self.is_exported, !is_default);
            let value = self.visit(declaration, scope, NONE);
            self.is_exported = before;
            self.exported_at = None;
            if is_default {
                self.export_default_declaration(value, tokens, scope, start);
            }
        } else if let Some(value) = node.child_by_field_id(fields.value) {
            let path = self.visit(value, scope, NONE);
            self.export_value("default", path, value, scope, start);
        } else if Self::has_word(node, "=") {
            for value in named_children(node) {
                let path = self.visit(value, scope, NONE);
                self.export_value("export=", path, value, scope, start);
            }
        } else if Self::has_word(node, "as") {
            // `export as namespace Name`
            for name in named_children(node) {
                self.declare(name, Kind::Import, node);
            }
        }
        NONE
    }

    /// `export default function name() {}`: the name and `default` mean the same.
    fn export_default_declaration(&mut self, value: u32, tokens: usize, scope: u32, start: usize) {
        let default = self.builder.text("default");
        let def = self.last_declared;
        let facts = self.builder.facts();
        let token = facts.tokens[tokens..]
            .iter()
            .position(|token| token.role == Role::Declaration && token.target == def && def != NONE);
        let path = match token {
            Some(token) => self.builder.expr(Op::Token, (tokens + token) as u32, NONE),
            None if value != NONE => value,
            None if def != NONE => own(self.builder, own::FUNCTION, &[def]),
            None => return,
        };
        if token.is_none() {
            self.default_variable(path, start);
            return;
        }
        self.hand_out(default, path, None, scope, start);
    }

    /// `export default value`: a name is handed out, anything else is a variable of its own.
    fn export_value(&mut self, name: &str, path: u32, value: Node<'tree>, scope: u32, start: usize) {
        let text = self.builder.text(name);
        if self.kind(value) == K::Identifier {
            let facts = self.builder.facts_mut();
            if let Some(expr) = facts.exprs.get(path as usize)
                && expr.op == Op::Token
                && let Some(token) = facts.tokens.get_mut(expr.a as usize)
            {
                token.space = space::ANY;
            }
            self.hand_out(text, path, None, scope, start);
        } else if name == "default" {
            self.default_variable(path, start);
        } else {
            self.hand_out(text, path, None, scope, start);
        }
    }

    fn default_variable(&mut self, value: u32, start: usize) {
        let default = self.builder.text("default");
        let def = self.builder.define(default, Kind::Variable, start, start..start);
        self.builder.def(def).value = value;
        self.builder.def(def).marks |= crate::facts::mark::PUBLIC;
        self.bind(def, 0);
    }

    fn export_specifier(&mut self, specifier: Node<'tree>, module: Option<u32>, scope: u32) {
        if self.kind(specifier) != K::ExportSpecifier {
            return;
        }
        let fields = self.fields;
        let Some(name) = specifier.child_by_field_id(fields.name) else { return };
        let alias = specifier.child_by_field_id(fields.alias);
        let Some((text, start)) = self.property_name(name) else { return };
        let outside = alias.and_then(|alias| self.property_name(alias)).map_or(text, |(text, _)| text);
        match module {
            Some(module) => {
                let record = self.record(module, text, NONE, scope, start, import::EXPORTED);
                self.builder.token(text, start, scope, Role::Import, record);
                let def = match alias {
                    Some(alias) => self.declare(alias, Kind::Import, specifier),
                    None => self.builder.define(text, Kind::Import, start, specifier.byte_range()),
                };
                self.builder.facts_mut().imports[record as usize].def = def;
                self.builder.export(Export { name: outside, value: NONE, import: record });
            }
            None => {
                let path = self.bare(name, scope, space::ANY);
                self.hand_out(outside, path, alias, scope, start);
            }
        }
    }

    /// `const name = require('module')`, and `const { a, b: c } = require('module')`; whether it was that.
    pub(super) fn required(
        &mut self,
        name: Node<'tree>,
        value: Node<'tree>,
        scope: u32,
        whole: Node<'tree>,
    ) -> bool {
        let Some(module) = self.required_module(value) else { return false };
        let fields = self.fields;
        let names = match self.kind(name) {
            K::Identifier => Vec::new(),
            K::ObjectPattern => named_children(name),
            _ => return false,
        };
        let simple = names.iter().all(|&part| match self.kind(part) {
            K::ShorthandPattern | K::Comment => true,
            K::PairPattern => {
                part.child_by_field_id(fields.value).is_some_and(|inner| self.kind(inner) == K::Identifier)
            }
            _ => false,
        });
        if !simple {
            return false;
        }
        let require = value.child_by_field_id(fields.function);
        if let Some(require) = require {
            self.bare(require, scope, space::VALUE);
        }
        let module = self.builder.text(module);
        if self.kind(name) == K::Identifier {
            let text = self.builder.text("export=");
            self.bind_import(name, whole, module, text, scope, import::DEFAULT);
        }
        for part in names {
            if self.kind(part) == K::ShorthandPattern {
                let text = self.name(part);
                self.bind_import(part, part, module, text, scope, 0);
            } else if let (Some(key), Some(inner)) =
                (part.child_by_field_id(fields.key), part.child_by_field_id(fields.value))
                && let Some((text, start)) = self.property_name(key)
            {
                let record = self.bind_import(inner, part, module, text, scope, 0);
                self.builder.token(text, start, scope, Role::Import, record);
            }
        }
        true
    }

    /// The module that `require('module')` asks for.
    pub(super) fn required_module(&self, node: Node<'tree>) -> Option<&'a str> {
        let function = node.child_by_field_id(self.fields.function)?;
        if self.kind(node) != K::Call || self.text(function) != "require" {
            return None;
        }
        let arguments = node.child_by_field_id(self.fields.arguments)?;
        let [text] = named_children(arguments)[..] else { return None };
        (self.kind(text) == K::Text).then(|| self.unquoted(text))
    }
}
