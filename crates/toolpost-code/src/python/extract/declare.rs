//! Functions, classes, and what stands before them.

use tree_sitter::Node;

use super::flow::Key;
use super::state::{Extractor, Frame};
use super::{K, named_children};
use crate::facts::{Kind, NONE, Name, Op, Role, ScopeKind, mark, space};
use crate::python::own;

/// What is read before a function or class: `@` and an expression.
pub(super) struct Decorator {
    /// The last name of the expression, or of what it calls.
    name: String,
    expr: u32,
}

impl Extractor<'_, '_> {
    pub(super) fn decorated(&mut self, node: Node<'_>, scope: u32) {
        let mut decorators = Vec::new();
        for child in named_children(node) {
            if self.kind(child) != K::Decorator {
                continue;
            }
            let Some(&inner) = named_children(child).first() else { continue };
            let called = match self.kind(inner) {
                K::Call => inner.child_by_field_id(self.fields.function).unwrap_or(inner),
                _ => inner,
            };
            let name = self.last_name(called).to_owned();
            decorators.push(Decorator { name, expr: self.visit(inner, scope) });
        }
        let Some(definition) = node.child_by_field_id(self.fields.definition) else { return };
        match self.kind(definition) {
            K::Class => self.class(definition, scope, &decorators),
            _ => self.function(definition, scope, &decorators),
        }
    }

    fn forget(&mut self, node: Node<'_>) {
        let name = Name::of(self.text(node));
        self.learn(Key { name, root: name, length: 1 }, NONE);
    }

    pub(super) fn function(&mut self, node: Node<'_>, scope: u32, decorators: &[Decorator]) {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else {
            self.children(node, scope);
            return;
        };
        let in_class = self.frame.is_class_body;
        let kind = if in_class { Kind::Method } else { Kind::Function };
        let def = self.declare(name, kind, node);
        self.bind(def, node.end_byte());
        self.forget(name);
        let is_async = node.child(0).is_some_and(|first| first.kind() == "async");
        let mut marks = 0;
        for decorator in decorators {
            marks |= function_marks(&decorator.name);
        }
        let text = self.text(name);
        if in_class && text == "__new__" {
            marks |= mark::STATIC | own::mark::CLASS_METHOD;
        }
        if in_class && matches!(text, "__init_subclass__" | "__class_getitem__") {
            marks |= own::mark::CLASS_METHOD;
        }
        self.builder.def(def).marks |= marks;
        for decorator in decorators {
            if function_marks(&decorator.name) == 0
                && !is_transparent(&decorator.name)
                && decorator.expr != NONE
            {
                self.builder.def(def).marks |= mark::WRAPPED;
                let name = self.builder.text("@");
                let part = self.builder.define(name, Kind::Constant, node.start_byte(), node.byte_range());
                let known = self.builder.def(part);
                (known.owner, known.value) = (def, decorator.expr);
            }
        }
        let outer = self.type_parameters(node, def, scope);
        let inner = self.builder.scope(outer, ScopeKind::Function, def, node.byte_range());
        let mut frame = Frame::new(inner);
        frame.class = if in_class { self.frame.class } else { NONE };
        frame.is_method = in_class;
        frame.receiver = self.frame.receiver.filter(|_| !in_class);
        self.parameters(node.child_by_field_id(fields.parameters), def, outer, &mut frame);
        if let Some(annotation) = node.child_by_field_id(fields.return_type) {
            let declared = self.annotation(annotation, outer);
            self.builder.def(def).declared = declared;
        }
        let Some(body) = node.child_by_field_id(fields.body) else { return };
        self.builder.def(def).body = body.start_byte() as u32;
        let before = std::mem::replace(&mut self.frame, frame);
        let flow = std::mem::take(&mut self.flow);
        self.visit(body, inner);
        self.flow = flow;
        let frame = std::mem::replace(&mut self.frame, before);
        let value = if frame.is_generator {
            let yielded = self.either(&frame.yields);
            let yielded = if yielded == NONE { NONE } else { self.builder.expr(Op::TypeOf, yielded, NONE) };
            let of = self.builder.builtin("Generator", &[yielded]);
            self.builder.value_of(of)
        } else {
            self.either(&frame.returns)
        };
        let known = self.builder.def(def);
        known.value = value;
        if frame.is_generator {
            known.marks |= mark::GENERATOR;
        } else if is_async {
            known.marks |= mark::ASYNC;
        }
    }

    /// Type parameters in brackets; the scope in which they are seen.
    fn type_parameters(&mut self, node: Node<'_>, owner: u32, scope: u32) -> u32 {
        let Some(list) = node.child_by_field_id(self.fields.type_parameters) else { return scope };
        let inner = self.builder.scope(scope, ScopeKind::Block, NONE, node.byte_range());
        for parameter in named_children(list) {
            // `T`, `T: Bound`, `*Ts`, `**P`
            let mut current = parameter;
            let mut bound = None;
            while self.kind(current) != K::Identifier {
                let parts = named_children(current);
                if self.kind(current) == K::ConstrainedType {
                    bound = parts.get(1).copied();
                }
                let Some(&first) = parts.first() else { break };
                current = first;
            }
            if self.kind(current) != K::Identifier {
                continue;
            }
            let def = self.declare(current, Kind::TypeParameter, parameter);
            self.builder.def(def).owner = owner;
            self.builder.def(def).scope = inner;
            if let Some(bound) = bound {
                let declared = self.annotation(bound, inner);
                self.builder.def(def).declared = declared;
            }
        }
        inner
    }

    /// Parameters are bound inside; their annotations and defaults are read outside.
    fn parameters(&mut self, list: Option<Node<'_>>, owner: u32, outer: u32, frame: &mut Frame) {
        let fields = self.fields;
        let marks = self.builder.def(owner).marks;
        let is_static = marks & mark::STATIC != 0 && marks & own::mark::CLASS_METHOD == 0;
        let mut is_first = true;
        for parameter in list.map(named_children).unwrap_or_default() {
            let kind = self.kind(parameter);
            let mut name = match kind {
                K::Identifier | K::ListSplatPattern | K::DictSplatPattern => Some(parameter),
                K::TypedParameter => named_children(parameter).first().copied(),
                K::DefaultParameter | K::TypedDefault => parameter.child_by_field_id(fields.name),
                K::TuplePattern => {
                    // Python 2 takes tuples apart.
                    self.tuple_parameter(parameter, frame.scope);
                    continue;
                }
                _ => continue,
            };
            let annotation = parameter.child_by_field_id(fields.kind);
            let declared = annotation.map_or(NONE, |annotation| self.annotation(annotation, outer));
            let before_bracket = annotation.and_then(|annotation| self.text(annotation).split_once('['));
            let is_unpacked = before_bracket.is_some_and(|(base, _)| base.trim_end().ends_with("Unpack"));
            let default = match parameter.child_by_field_id(fields.value) {
                Some(default) => {
                    let value = self.visit(default, outer);
                    if self.kind(default) == K::Nothing { NONE } else { value }
                }
                None => NONE,
            };
            let splat = name.map(|name| self.kind(name));
            if matches!(splat, Some(K::ListSplatPattern | K::DictSplatPattern)) {
                name = name.and_then(|name| named_children(name).first().copied());
            }
            let Some(name) = name else { continue };
            if self.kind(name) != K::Identifier {
                self.tuple_parameter(name, frame.scope);
                continue;
            }
            let def = self.declare(name, Kind::Parameter, parameter);
            self.bind_in(def, frame.scope);
            let declared = match splat {
                Some(K::ListSplatPattern) => self.builder.builtin("list", &[declared]),
                // Its values are not of one type: it is the mapping that is written.
                Some(K::DictSplatPattern) if is_unpacked => declared,
                Some(K::DictSplatPattern) => {
                    let key = self.simple("str");
                    self.builder.builtin("dict", &[key, declared])
                }
                _ => declared,
            };
            let known = self.builder.def(def);
            (known.owner, known.declared, known.value) = (owner, declared, default);
            if matches!(splat, Some(K::ListSplatPattern | K::DictSplatPattern)) {
                known.marks |= mark::REST;
            }
            let text = known.name;
            if frame.is_method && is_first && !is_static && splat == Some(K::Identifier) {
                let is_class = marks & own::mark::CLASS_METHOD != 0;
                frame.receiver = Some((text, if is_class { Op::ThisType } else { Op::This }));
            } else if frame.receiver.is_some_and(|(receiver, _)| receiver == text) {
                frame.receiver = None;
            }
            is_first = false;
        }
    }

    fn tuple_parameter(&mut self, node: Node<'_>, scope: u32) {
        let mut open = vec![node];
        while let Some(current) = open.pop() {
            if self.kind(current) == K::Identifier {
                let def = self.declare(current, Kind::Variable, current);
                self.bind_in(def, scope);
            } else {
                open.extend(named_children(current));
            }
        }
    }

    pub(super) fn class(&mut self, node: Node<'_>, scope: u32, decorators: &[Decorator]) {
        let fields = self.fields;
        let Some(name) = node.child_by_field_id(fields.name) else {
            self.children(node, scope);
            return;
        };
        let def = self.declare(name, Kind::Class, node);
        self.bind(def, node.end_byte());
        self.forget(name);
        self.builder.def(def).space = space::ANY;
        if decorators.iter().any(|decorator| makes_record(&decorator.name)) {
            self.builder.def(def).marks |= own::mark::RECORD;
        }
        let outer = self.type_parameters(node, def, scope);
        let mut is_enum = false;
        for base in node.child_by_field_id(fields.superclasses).map(named_children).unwrap_or_default() {
            match self.kind(base) {
                K::KeywordArgument => {
                    if let Some(name) = base.child_by_field_id(fields.name) {
                        let text = self.name(name);
                        self.builder.token(text, name.start_byte(), scope, Role::Keyword, NONE);
                    }
                    self.visit_field(base, fields.value, outer);
                }
                K::ListSplat | K::DictSplat => {
                    self.visit(base, outer);
                }
                _ => {
                    let last = self.last_name(base);
                    is_enum |= last.ends_with("Enum") || matches!(last, "Flag" | "IntFlag");
                    if last == "NamedTuple" {
                        self.builder.def(def).marks |= own::mark::RECORD;
                    }
                    let expr = self.annotation(base, outer);
                    self.builder.base(def, expr);
                }
            }
        }
        if is_enum {
            self.builder.def(def).kind = Kind::Enum;
            self.builder.def(def).space = space::ANY;
        }
        let Some(body) = node.child_by_field_id(fields.body) else { return };
        self.builder.def(def).body = body.start_byte() as u32;
        let inner = self.builder.scope(outer, ScopeKind::Class, def, body.byte_range());
        let mut frame = Frame::new(inner);
        frame.class = def;
        frame.is_class_body = true;
        frame.is_enum = is_enum;
        frame.receiver = self.frame.receiver;
        let before = std::mem::replace(&mut self.frame, frame);
        let flow = std::mem::take(&mut self.flow);
        self.visit(body, inner);
        self.flow = flow;
        self.frame = before;
    }

    /// A function without a name.
    pub(super) fn lambda(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let nameless = self.builder.text("");
        let def = self.builder.define(nameless, Kind::Function, node.start_byte(), node.byte_range());
        let inner = self.builder.scope(scope, ScopeKind::Function, def, node.byte_range());
        let mut frame = Frame::new(inner);
        frame.receiver = self.frame.receiver;
        self.parameters(node.child_by_field_id(self.fields.parameters), def, scope, &mut frame);
        let mark = self.flow.mark();
        let parameters: Vec<u32> = self.builder.facts().defs[def as usize..]
            .iter()
            .filter(|part| part.owner == def)
            .map(|part| part.name)
            .collect();
        for parameter in parameters {
            let name = self.builder.facts().name(parameter);
            self.learn(Key { name, root: name, length: 1 }, NONE);
        }
        let receiver = std::mem::replace(&mut self.frame.receiver, frame.receiver);
        let value = self.visit_field(node, self.fields.body, inner);
        self.frame.receiver = receiver;
        self.flow.roll_back(mark);
        self.builder.def(def).value = value;
        self.builder.expr(Op::Closure, def, NONE)
    }
}

/// What a decorator of the language makes of a function.
fn function_marks(name: &str) -> u16 {
    match name {
        "property"
        | "cached_property"
        | "abstractproperty"
        | "setter"
        | "getter"
        | "deleter"
        | "hybrid_property"
        | "cached_classproperty"
        | "classproperty" => mark::PROPERTY,
        "staticmethod" | "abstractstaticmethod" => mark::STATIC,
        "classmethod" | "abstractclassmethod" => own::mark::CLASS_METHOD,
        "overload" => own::mark::OVERLOAD,
        "abstractmethod" => mark::ABSTRACT,
        "contextmanager" | "asynccontextmanager" => own::mark::CONTEXT,
        _ => 0,
    }
}

/// Decorators that leave a function what it is.
fn is_transparent(name: &str) -> bool {
    matches!(name, "wraps" | "lru_cache" | "cache" | "override" | "final" | "no_type_check" | "deprecated")
}

/// Decorators that make a class of annotated fields.
fn makes_record(name: &str) -> bool {
    matches!(
        name,
        "dataclass" | "dataclass_transform" | "define" | "frozen" | "mutable" | "attrs" | "s" | "attributes"
    )
}
