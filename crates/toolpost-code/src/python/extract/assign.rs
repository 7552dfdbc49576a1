//! Assignments: names, members of the object itself, and patterns of these.

use tree_sitter::Node;

use super::flow::Key;
use super::state::{Extractor, Home};
use super::{K, field_children, named_children};
use crate::facts::{Export, Kind, NONE, Op, Role, mark};
use crate::python::own;

impl Extractor<'_, '_> {
    /// An assignment, a chain of them, or an annotation without a value.
    pub(super) fn assignment(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(left) = node.child_by_field_id(fields.left) else {
            self.children(node, scope);
            return NONE;
        };
        let right = node.child_by_field_id(fields.right);
        let annotation = node.child_by_field_id(fields.kind);
        let declared = annotation.map_or(NONE, |annotation| self.annotation(annotation, scope));
        if annotation.is_some_and(|annotation| self.last_name(annotation) == "TypeAlias")
            && let Some(right) = right
        {
            let of = self.annotation(right, scope);
            self.alias(left, of, node);
            return NONE;
        }
        if self.kind(left) == K::Identifier
            && let Some(right) = right
        {
            if self.text(left) == "__all__" && self.frame.scope == 0 {
                self.handed_on(right);
            }
            if self.type_variable(left, right, node, scope) {
                return NONE;
            }
        }
        let value = right.map_or(NONE, |right| self.visit(right, scope));
        if annotation.is_none() {
            self.assign(left, value, node, scope);
            return value;
        }
        let def = self.target(left, value, node, scope);
        if def != NONE {
            let known = self.builder.def(def);
            known.declared = declared;
            known.marks |= own::mark::ANNOTATED;
            let is_class_level = self.frame.is_class_body;
            if !is_class_level || right.is_some() {
                let value = self.builder.value_of(declared);
                self.assigned(left, value, def, right.is_some());
            }
        }
        value
    }

    /// Remembers what a declared variable is after its assignment.
    fn assigned(&mut self, left: Node<'_>, declared: u32, def: u32, has_value: bool) {
        let value = self.builder.def(def).value;
        let Some(key) = self.key(left) else { return };
        let expr = match (has_value && value != NONE, declared) {
            (true, NONE) => value,
            (true, declared) => self.own(own::ASSIGNED, &[value, declared]),
            (false, declared) => declared,
        };
        self.learn(key, expr);
    }

    pub(super) fn augmented(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        if let Some(left) = node.child_by_field_id(fields.left) {
            if self.kind(left) == K::Identifier
                && self.text(left) == "__all__"
                && self.frame.scope == 0
                && let Some(right) = node.child_by_field_id(fields.right)
            {
                self.handed_on(right);
            }
            self.target(left, NONE, node, scope);
        }
        self.visit_field(node, fields.right, scope)
    }

    /// Assigns a value to a target: a name, a member, an element, or a pattern.
    pub(super) fn assign(&mut self, target: Node<'_>, value: u32, whole: Node<'_>, scope: u32) {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(target, scope);
            return;
        }
        self.depth += 1;
        match self.kind(target) {
            K::PatternList | K::TuplePattern | K::ListPattern | K::Tuple | K::List | K::ExpressionList => {
                for (index, part) in named_children(target).into_iter().enumerate() {
                    let is_rest = matches!(self.kind(part), K::ListSplatPattern | K::ListSplat);
                    let value = match value {
                        NONE => NONE,
                        value if is_rest => {
                            let element = self.builder.expr(Op::Element, value, NONE);
                            let element = self.builder.expr(Op::TypeOf, element, NONE);
                            let list = self.builder.builtin("list", &[element]);
                            self.builder.value_of(list)
                        }
                        value => self.builder.expr(Op::At, value, index as u32),
                    };
                    self.assign(part, value, whole, scope);
                }
            }
            K::AsPatternTarget | K::Parenthesized | K::ListSplatPattern | K::ListSplat => {
                for part in named_children(target) {
                    self.assign(part, value, whole, scope);
                }
            }
            _ => {
                let def = self.target(target, value, whole, scope);
                if let Some(key) = self.key(target) {
                    let expr = self.after(target, value, def);
                    self.learn(key, expr);
                }
            }
        }
        self.depth -= 1;
    }

    /// What a target is after a value was assigned to it.
    fn after(&mut self, target: Node<'_>, value: u32, def: u32) -> u32 {
        if value == NONE {
            return NONE;
        }
        if self.kind(target) == K::Identifier {
            let name = self.name(target);
            if !self.is_annotated(name) {
                return value;
            }
            let variable = self.lookup_expr(target);
            return self.own(own::ASSIGNED, &[value, variable]);
        }
        let last = self.builder.facts().tokens.len() as u32 - 1;
        let attribute = target.child_by_field_id(self.fields.attribute);
        let is_own = attribute.is_some_and(|attribute| {
            self.builder.facts().tokens[last as usize].start == attribute.start_byte() as u32
        });
        if def == NONE && !is_own {
            return value;
        }
        let variable = self.token_expr(last);
        self.own(own::ASSIGNED, &[value, variable])
    }

    /// The variable of a declaration that has just been recorded.
    fn lookup_expr(&mut self, target: Node<'_>) -> u32 {
        let tokens = &self.builder.facts().tokens;
        let at = target.start_byte() as u32;
        let found = tokens.iter().rposition(|token| token.start == at);
        found.map_or(NONE, |token| self.token_expr(token as u32))
    }

    /// A name or member that is assigned to; the definition that this makes, if it makes one.
    pub(super) fn target(&mut self, node: Node<'_>, value: u32, whole: Node<'_>, scope: u32) -> u32 {
        match self.kind(node) {
            K::Identifier => {
                let kind = match (self.frame.is_class_body, self.frame.is_enum) {
                    (true, true) if !self.text(node).starts_with('_') => Kind::Variant,
                    (true, _) => Kind::Field,
                    _ => Kind::Variable,
                };
                let def = self.declare(node, kind, whole);
                self.bind(def, whole.end_byte());
                self.builder.def(def).value = value;
                def
            }
            K::Attribute => self.member_target(node, value, whole, scope),
            _ => {
                self.visit(node, scope);
                NONE
            }
        }
    }

    /// `self.name = …` declares a member of the class; any other member is only used.
    fn member_target(&mut self, node: Node<'_>, value: u32, whole: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let (Some(object), Some(attribute)) =
            (node.child_by_field_id(fields.object), node.child_by_field_id(fields.attribute))
        else {
            self.children(node, scope);
            return NONE;
        };
        let object_expr = self.visit(object, scope);
        let receiver = self.frame.receiver;
        let is_own = self.frame.is_method
            && self.kind(object) == K::Identifier
            && receiver.is_some_and(|(name, _)| name == self.name(object));
        if !is_own {
            let name = self.name(attribute);
            self.builder.token(name, attribute.start_byte(), scope, Role::Member, object_expr);
            return NONE;
        }
        let class = self.frame.class;
        let def = self.declare(attribute, Kind::Field, whole);
        let is_static = receiver.is_some_and(|(_, op)| op == Op::ThisType);
        let known = self.builder.def(def);
        (known.owner, known.value) = (class, value);
        if is_static {
            known.marks |= mark::STATIC;
        }
        self.group(Home::Class(class), def);
        def
    }

    /// Another name for a type.
    pub(super) fn alias(&mut self, name: Node<'_>, of: u32, whole: Node<'_>) -> u32 {
        let def = self.declare(name, Kind::Alias, whole);
        self.bind(def, whole.end_byte());
        let known = self.builder.def(def);
        known.declared = of;
        known.marks |= mark::TRANSPARENT;
        def
    }

    /// `T = TypeVar("T", bound=…)`: a type parameter that is declared apart.
    fn type_variable(&mut self, left: Node<'_>, right: Node<'_>, whole: Node<'_>, scope: u32) -> bool {
        let fields = self.fields;
        if self.kind(right) != K::Call {
            return false;
        }
        let Some(function) = right.child_by_field_id(fields.function) else { return false };
        if !matches!(self.kind(function), K::Identifier | K::Attribute)
            || !matches!(self.last_name(function), "TypeVar" | "ParamSpec" | "TypeVarTuple")
        {
            return false;
        }
        let callee = self.visit(function, scope);
        let mut bound = NONE;
        let mut constraints = Vec::new();
        let arguments = right.child_by_field_id(fields.arguments).map(named_children).unwrap_or_default();
        for (index, argument) in arguments.into_iter().enumerate() {
            if self.kind(argument) != K::KeywordArgument {
                if index == 0 {
                    self.visit(argument, scope);
                } else {
                    constraints.push(self.annotation(argument, scope));
                }
                continue;
            }
            let name = argument.child_by_field_id(fields.name);
            let is_type = name.is_some_and(|name| matches!(self.text(name), "bound" | "default"));
            let is_bound = name.is_some_and(|name| self.text(name) == "bound");
            if let Some(name) = name {
                let text = self.name(name);
                self.builder.token(text, name.start_byte(), scope, Role::Keyword, callee);
            }
            if let Some(value) = argument.child_by_field_id(fields.value) {
                let of = if is_type { self.annotation(value, scope) } else { self.visit(value, scope) };
                bound = if is_bound { of } else { bound };
            }
        }
        let bound = if bound == NONE { self.either(&constraints) } else { bound };
        let def = self.declare(left, Kind::TypeParameter, whole);
        self.bind(def, whole.end_byte());
        self.builder.def(def).declared = bound;
        true
    }

    /// The strings of `__all__` are names of the module.
    fn handed_on(&mut self, node: Node<'_>) {
        self.builder.facts_mut().bits |= 1;
        for part in named_children(node) {
            if self.kind(part) != K::String {
                continue;
            }
            let contents = named_children(part);
            let Some(&content) = contents.iter().find(|&&content| self.kind(content) == K::StringContent)
            else {
                continue;
            };
            let name = self.name(content);
            let token = self.builder.token(name, content.start_byte(), 0, Role::Bare, NONE);
            let value = self.builder.expr(Op::Token, token, NONE);
            self.builder.export(Export { name, value, import: NONE });
        }
    }

    /// A pattern of a `case`: what it matches, as far as it says so.
    pub(super) fn pattern(&mut self, node: Node<'_>, subject: u32, scope: u32) -> u32 {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let matched = self.pattern_inside(node, subject, scope);
        self.depth -= 1;
        matched
    }

    fn pattern_inside(&mut self, node: Node<'_>, subject: u32, scope: u32) -> u32 {
        match self.kind(node) {
            K::CasePattern => match named_children(node)[..] {
                [inner] => self.pattern(inner, subject, scope),
                _ => NONE,
            },
            K::DottedName => match named_children(node)[..] {
                [name] => {
                    self.capture(name, subject, node);
                    NONE
                }
                _ => {
                    self.path_value(node, scope);
                    NONE
                }
            },
            K::Identifier => {
                self.capture(node, subject, node);
                NONE
            }
            K::ClassPattern => self.class_pattern(node, subject, scope),
            K::AsPattern => {
                let parts = named_children(node);
                let matched = parts.first().map_or(NONE, |&first| self.pattern(first, subject, scope));
                if let Some(&name) = parts.get(1) {
                    let leaf = named_children(name).first().copied().unwrap_or(name);
                    self.capture(leaf, if matched == NONE { subject } else { matched }, node);
                }
                matched
            }
            K::ListPattern | K::TuplePattern => {
                for (index, part) in named_children(node).into_iter().enumerate() {
                    let value =
                        if subject == NONE { NONE } else { self.builder.expr(Op::At, subject, index as u32) };
                    self.pattern(part, value, scope);
                }
                NONE
            }
            K::String | K::Concatenated | K::Integer | K::Float | K::Nothing | K::Truth => {
                self.visit(node, scope);
                NONE
            }
            K::KeywordPattern => {
                let parts = named_children(node);
                for &part in parts.iter().skip(1) {
                    self.pattern(part, NONE, scope);
                }
                NONE
            }
            _ => {
                let parts = named_children(node);
                let mut all = Vec::new();
                for part in parts {
                    all.push(self.pattern(part, NONE, scope));
                }
                if all.contains(&NONE) { NONE } else { self.either(&all) }
            }
        }
    }

    fn capture(&mut self, name: Node<'_>, value: u32, whole: Node<'_>) {
        if self.kind(name) != K::Identifier || self.text(name) == "_" {
            return;
        }
        let def = self.declare(name, Kind::Variable, whole);
        self.bind(def, whole.end_byte());
        self.builder.def(def).value = value;
        let number = crate::facts::Name::of(self.text(name));
        self.learn(Key { name: number, root: number, length: 1 }, value);
    }

    fn class_pattern(&mut self, node: Node<'_>, subject: u32, scope: u32) -> u32 {
        let parts = named_children(node);
        let Some(&class) = parts.first() else { return NONE };
        let class = self.path_value(class, scope);
        let matched = self.own(own::INSTANCE, &[subject, class]);
        for &part in &parts[1..] {
            let inner = if self.kind(part) == K::CasePattern {
                named_children(part).first().copied().unwrap_or(part)
            } else {
                part
            };
            if self.kind(inner) != K::KeywordPattern {
                self.pattern(inner, NONE, scope);
                continue;
            }
            let keyword = named_children(inner);
            let Some(&name) = keyword.first() else { continue };
            let text = self.name(name);
            let token = self.builder.token(text, name.start_byte(), scope, Role::Member, matched);
            let value = self.token_expr(token);
            for &part in &keyword[1..] {
                self.pattern(part, value, scope);
            }
        }
        matched
    }

    /// A dotted name that is a value.
    fn path_value(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let mut target = NONE;
        for part in named_children(node) {
            let name = self.name(part);
            let role = if target == NONE { Role::Bare } else { Role::Member };
            let token = self.builder.token(name, part.start_byte(), scope, role, target);
            target = self.token_expr(token);
        }
        target
    }

    /// `type Name = …`
    pub(super) fn type_alias(&mut self, node: Node<'_>, scope: u32) {
        let sides = field_children(node, self.fields.left);
        let left = sides.first().copied();
        let mut name = left;
        while let Some(inner) = name
            && self.kind(inner) != K::Identifier
        {
            name = named_children(inner).first().copied();
        }
        let right = node.child_by_field_id(self.fields.right);
        let of = right.map_or(NONE, |right| self.annotation(right, scope));
        if let Some(name) = name {
            self.alias(name, of, node);
        }
    }
}
