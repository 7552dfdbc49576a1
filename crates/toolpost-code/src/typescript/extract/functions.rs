//! Functions: type parameters, parameters, what they return, bodies.

use tree_sitter::Node;

use super::documented::Comment;
use super::flow::Closure;
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Op, ScopeKind, mark, space};
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    pub(super) fn function_declaration(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let Some(name) = node.child_by_field_id(self.fields.name) else {
            // `export default function () {}`
            return self.function_value(node, scope, NONE);
        };
        let def = self.declare_bound(name, Kind::Function, node, scope);
        let exported = std::mem::replace(&mut self.is_exported, false);
        self.signature_and_body(node, def, scope, NONE);
        self.is_exported = exported;
        self.last_declared = def;
        NONE
    }

    /// A function without a name of its own: an arrow or a function expression.
    pub(super) fn function_value(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        let def = self.nameless(Kind::Function, node);
        let mut around = scope;
        if let Some(name) = node.child_by_field_id(self.fields.name) {
            around = self.block(scope, node);
            let own_name = self.declare(name, Kind::Function, node);
            let value = own(self.builder, own::FUNCTION, &[def]);
            self.bind(own_name, around);
            let known = self.builder.def(own_name);
            (known.kind, known.value) = (Kind::Variable, value);
        }
        self.signature_and_body(node, def, around, expected);
        own(self.builder, own::FUNCTION, &[def])
    }

    /// Type parameters, parameters, result and body of a function that should be `expected`.
    pub(super) fn signature_and_body(&mut self, node: Node<'tree>, def: u32, around: u32, expected: u32) {
        let fields = self.fields;
        let scope = self.builder.scope(around, ScopeKind::Function, def, node.byte_range());
        let before = (
            std::mem::replace(&mut self.function_scope, scope),
            std::mem::replace(&mut self.owner, def),
            std::mem::replace(&mut self.namespace, NONE),
            std::mem::take(&mut self.returns),
            self.expected_return,
            std::mem::replace(&mut self.is_exported, false),
        );
        let comment = self.comment.take().or_else(|| {
            let start = self.exported_at.take().unwrap_or(node.start_byte());
            self.comment_before(start)
        });
        let mark = self.flow.mark();
        if !self.flow.is_empty() {
            let is_made_here = matches!(self.kind(node), K::Arrow | K::FunctionExpression);
            self.enter_function(if is_made_here { Closure::Expression } else { Closure::Declaration });
        }
        if let Some(list) = node.child_by_field_id(fields.type_parameters) {
            self.type_parameters(list, def, scope);
        }
        if let Some(list) = node.child_by_field_id(fields.parameters) {
            self.parameters(list, def, scope, expected);
            if let Some(comment) = comment {
                self.documented_parameters(comment, def, scope);
            }
        } else if let Some(one) = node.child_by_field_id(fields.parameter) {
            let parameter = self.declare(one, Kind::Parameter, one);
            self.bind(parameter, scope);
            let value = self.expected_parameter(expected, 0);
            let known = self.builder.def(parameter);
            (known.owner, known.value) = (def, value);
            if let Some(comment) = comment {
                self.documented_parameters(comment, def, scope);
            }
        }
        let result =
            node.child_by_field_id(fields.return_type).or_else(|| node.child_by_field_id(fields.kind));
        let mut declared = result.map_or(NONE, |result| self.type_expression(result, scope));
        if let (NONE, Some(comment)) = (declared, comment) {
            declared = self.documented(comment, &["returns", "return"], "", scope);
        }
        let is_async = Self::has_word(node, "async");
        let is_generator = Self::has_word(node, "*");
        self.expected_return = match (declared, expected) {
            (NONE, NONE) => NONE,
            (NONE, expected) => own(self.builder, own::RETURN, &[expected]),
            (declared, _) => self.builder.value_of(declared),
        };
        if self.expected_return != NONE && is_async {
            self.expected_return = self.builder.expr(Op::Await, self.expected_return, NONE);
        }
        if let Some(body) = node.child_by_field_id(fields.body) {
            self.builder.def(def).body = body.start_byte() as u32;
            if self.kind(body) == K::Block {
                self.children(body, scope);
            } else {
                let expected = self.expected_return;
                let value = self.visit(body, scope, expected);
                self.returns.push(value);
            }
        }
        self.flow.roll_back(mark);
        let returns = std::mem::take(&mut self.returns);
        let value = if is_generator { NONE } else { self.either(&returns) };
        let known = self.builder.def(def);
        (known.declared, known.value) = (declared, value);
        if is_async && declared == NONE {
            known.marks |= mark::ASYNC;
        }
        if is_generator {
            known.marks |= mark::GENERATOR;
        }
        (
            self.function_scope,
            self.owner,
            self.namespace,
            self.returns,
            self.expected_return,
            self.is_exported,
        ) = before;
    }

    /// The types that a comment gives to the parameters of a function.
    fn documented_parameters(&mut self, comment: Comment, function: u32, scope: u32) {
        for index in function..self.builder.facts().defs.len() as u32 {
            let known = *self.builder.def(index);
            if known.owner == function && known.kind == Kind::Parameter && known.declared == NONE {
                let name = self.builder.facts().text(known.name).to_owned();
                if !name.is_empty() {
                    let tags = ["param", "arg", "argument"];
                    let declared = self.documented(comment, &tags, &name, scope);
                    self.builder.def(index).declared = declared;
                }
            }
        }
    }

    fn expected_parameter(&mut self, expected: u32, index: u32) -> u32 {
        if expected == NONE { NONE } else { own(self.builder, own::PARAMETER, &[expected, index]) }
    }

    pub(super) fn type_parameters(&mut self, list: Node<'tree>, owner: u32, scope: u32) {
        let mut bounds = Vec::new();
        for parameter in named_children(list) {
            let Some(name) = parameter.child_by_field_id(self.fields.name) else { continue };
            let def = self.declare(name, Kind::TypeParameter, parameter);
            self.builder.def(def).scope = scope;
            self.builder.def(def).owner = owner;
            bounds.push((parameter, def));
        }
        for (parameter, def) in bounds {
            let bound = parameter.child_by_field_id(self.fields.constraint);
            let bound = bound.map_or(NONE, |bound| self.type_expression(bound, scope));
            let default = parameter.child_by_field_id(self.fields.value);
            let default = default.map_or(NONE, |default| self.type_expression(default, scope));
            let known = self.builder.def(def);
            (known.declared, known.value) = (bound, default);
        }
    }

    fn parameters(&mut self, list: Node<'tree>, owner: u32, scope: u32, expected: u32) {
        let fields = self.fields;
        let mut index = 0;
        for parameter in named_children(list) {
            if self.kind(parameter) != K::Parameter {
                if self.kind(parameter) != K::Comment {
                    self.visit(parameter, scope, NONE);
                }
                continue;
            }
            for child in named_children(parameter) {
                if self.kind(child) == K::Decorator {
                    self.visit(child, scope, NONE);
                }
            }
            let Some(pattern) = parameter
                .child_by_field_id(fields.pattern)
                .or_else(|| parameter.child_by_field_id(fields.name))
            else {
                continue;
            };
            let declared = parameter.child_by_field_id(fields.kind);
            let declared = declared.map_or(NONE, |declared| self.type_expression(declared, scope));
            if self.kind(pattern) == K::This {
                let owner = self.builder.def(owner);
                owner.marks |= mark::OWN_C;
                continue;
            }
            let implied = if declared == NONE { self.expected_parameter(expected, index) } else { NONE };
            index += 1;
            let default_node = parameter.child_by_field_id(fields.value);
            let is_rest = self.kind(pattern) == K::RestPattern;
            let inner =
                if is_rest { named_children(pattern).first().copied().unwrap_or(pattern) } else { pattern };
            let source = if declared == NONE { implied } else { self.builder.value_of(declared) };
            let default = default_node.map_or(NONE, |default| self.visit(default, scope, source));
            let value = if declared == NONE { self.either(&[implied, default]) } else { NONE };
            let is_optional =
                default != NONE || default_node.is_some() || parameter.kind() == "optional_parameter";
            let marks = if is_rest { mark::REST } else { 0 } | if is_optional { mark::OWN_A } else { 0 };
            let def = if self.kind(inner) == K::Identifier {
                let def = self.declare(inner, Kind::Parameter, parameter);
                self.bind(def, scope);
                self.parameter_property(parameter, inner, def, declared, value);
                def
            } else {
                let nameless = self.builder.text("");
                let start = parameter.start_byte();
                let def = self.builder.define(nameless, Kind::Parameter, start, parameter.byte_range());
                self.pattern(inner, value, declared, scope, scope, parameter);
                def
            };
            let known = self.builder.def(def);
            (known.owner, known.declared, known.value) = (owner, declared, value);
            known.marks |= marks;
        }
    }

    /// `constructor(private name: Type)` declares a field as well.
    fn parameter_property(
        &mut self,
        parameter: Node<'tree>,
        name_node: Node<'tree>,
        def: u32,
        declared: u32,
        value: u32,
    ) {
        let is_property = {
            let mut cursor = parameter.walk();
            parameter.children(&mut cursor).any(|child| {
                matches!(self.kind(child), K::Accessibility | K::Override) || child.kind() == "readonly"
            })
        };
        let around = self.builder.facts().type_around(self.function_scope);
        let (true, Some(class)) = (is_property, around) else { return };
        let name = self.name(name_node);
        let field = self.builder.define(name, Kind::Field, name_node.start_byte(), parameter.byte_range());
        self.own(field, class);
        let known = self.builder.def(field);
        (known.declared, known.value, known.same) = (declared, value, def);
        known.space = space::VALUE;
    }
}
