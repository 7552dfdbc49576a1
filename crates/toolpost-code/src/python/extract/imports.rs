//! Imports, and the names that a module hands on.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, field_children, named_children};
use crate::facts::{Import, Kind, NONE, Role, import};

impl Extractor<'_, '_> {
    fn record(&mut self, module: &str, name: u32, node: Node<'_>) -> Import {
        let module = self.builder.text(module);
        Import {
            def: NONE,
            scope: self.frame.scope,
            module,
            name,
            path: NONE,
            marks: 0,
            start: node.start_byte() as u32,
        }
    }

    /// The parts of a dotted name: each is an import of the module up to it. The first may bind a name.
    fn path(&mut self, node: Node<'_>, prefix: &str, binds: Option<Node<'_>>) {
        let mut module = prefix.to_owned();
        let parts = named_children(node);
        let last = parts.len().saturating_sub(1);
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                module.push('.');
            }
            module.push_str(self.text(part));
            let mut record = self.record(&module, NONE, part);
            if binds.is_none() || index < last {
                record.marks = import::PART;
            }
            let is_bound = index == 0 && binds.is_some();
            if let Some(whole) = binds
                && is_bound
            {
                record.def = self.declare(part, Kind::Import, whole);
                self.bind_import(record.def, whole);
            }
            let import = self.builder.import(record);
            if !is_bound {
                let name = self.name(part);
                self.builder.token(name, part.start_byte(), self.frame.scope, Role::Import, import);
            }
        }
    }

    pub(super) fn import(&mut self, node: Node<'_>) {
        for name in field_children(node, self.fields.name) {
            if self.kind(name) != K::AliasedImport {
                self.path(name, "", Some(node));
                continue;
            }
            let (Some(path), Some(alias)) =
                (name.child_by_field_id(self.fields.name), name.child_by_field_id(self.fields.alias))
            else {
                continue;
            };
            self.path(path, "", None);
            let module = self.dotted(path);
            let mut record = self.record(&module, NONE, alias);
            record.def = self.declare(alias, Kind::Import, node);
            self.bind_import(record.def, node);
            self.builder.import(record);
        }
    }

    pub(super) fn import_from(&mut self, node: Node<'_>) {
        let mut module = String::new();
        match node.child_by_field_id(self.fields.module_name) {
            Some(from) if self.kind(from) == K::RelativeImport => {
                for part in named_children(from) {
                    if self.kind(part) == K::DottedName {
                        let prefix = module.clone();
                        self.path(part, &prefix, None);
                        module.push_str(&self.dotted(part));
                    } else {
                        module.extend(self.text(part).chars().filter(|&c| c == '.'));
                    }
                }
            }
            Some(from) => {
                self.path(from, "", None);
                module = self.dotted(from);
            }
            None => module.push_str("__future__"),
        }
        for name in field_children(node, self.fields.name) {
            self.imported_name(name, &module, node);
        }
        if named_children(node).into_iter().any(|child| self.kind(child) == K::WildcardImport) {
            let mut record = self.record(&module, NONE, node);
            record.marks = import::GLOB;
            self.builder.import(record);
        }
    }

    fn imported_name(&mut self, node: Node<'_>, module: &str, whole: Node<'_>) {
        let (name, alias) = match self.kind(node) {
            K::AliasedImport => {
                (node.child_by_field_id(self.fields.name), node.child_by_field_id(self.fields.alias))
            }
            _ => (Some(node), None),
        };
        let Some(name) = name.and_then(|name| named_children(name).first().copied()) else { return };
        let text = self.name(name);
        let mut record = self.record(module, text, name);
        let Some(alias) = alias else {
            record.def = self.declare(name, Kind::Import, whole);
            self.bind_import(record.def, whole);
            self.builder.import(record);
            return;
        };
        record.def = self.declare(alias, Kind::Import, whole);
        self.bind_import(record.def, whole);
        let import = self.builder.import(record);
        self.builder.token(text, name.start_byte(), self.frame.scope, Role::Import, import);
    }

    fn bind_import(&mut self, def: u32, whole: Node<'_>) {
        let name = self.builder.def(def).name;
        let scope = self.frame.elsewhere.get(&name).copied().unwrap_or(self.frame.scope);
        let (is_class, class) = (self.frame.is_class_body, self.frame.class);
        let known = self.builder.def(def);
        known.scope = scope;
        if is_class {
            known.visible = whole.end_byte() as u32;
            known.owner = class;
        }
        let number = self.builder.facts().name(name);
        self.learn(super::flow::Key { name: number, root: number, length: 1 }, NONE);
    }

    fn dotted(&self, node: Node<'_>) -> String {
        let parts: Vec<&str> = named_children(node).into_iter().map(|part| self.text(part)).collect();
        parts.join(".")
    }
}
