//! Expressions: every identifier in them, and where the type of each comes from.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{NONE, Op, space};
use crate::rust::library;

/// What a name after a dot means that is not called.
const FIELD: u8 = space::VALUE;
/// What a path means as a value: methods are values as well.
const CALLABLE: u8 = space::VALUE | space::CALLED;

impl Extractor<'_, '_> {
    pub(super) fn expression(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        match self.kind(node) {
            K::Identifier | K::Shorthand => self.bare(node, scope, space::VALUE),
            K::SelfWord => self.bare(node, scope, space::VALUE),
            K::ScopedIdentifier => self.path(node, scope, CALLABLE),
            K::GenericFunction => {
                let function = self.field(node, fields.function);
                let base = function.map_or(NONE, |function| match self.kind(function) {
                    K::Field => self.visit(function, scope),
                    _ => self.path(function, scope, CALLABLE),
                });
                let list = self.type_arguments(node, scope, base);
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            K::TypeIdentifier
            | K::PrimitiveType
            | K::GenericType
            | K::ReferenceType
            | K::PointerType
            | K::TupleType
            | K::ArrayType
            | K::FunctionType
            | K::DynamicType
            | K::BracketedType
            | K::QualifiedType => self.type_expression(node, scope),
            K::Field => {
                let value = self.field(node, fields.value);
                let value = value.map_or(NONE, |value| self.visit(value, scope));
                match self.field(node, fields.field) {
                    Some(field) if self.kind(field) == K::Integer => self.position(field, scope, value),
                    Some(field) => self.member(field, scope, value, FIELD),
                    None => NONE,
                }
            }
            K::Call => self.call(node, scope),
            K::Index => {
                let mut parts = named_children(node).into_iter();
                let base = parts.next().map_or(NONE, |base| self.visit(base, scope));
                let index = parts.next();
                for part in index.into_iter().chain(parts) {
                    self.visit(part, scope);
                }
                // A range gives a part of the same kind.
                if index.is_some_and(|index| self.kind(index) == K::Range) {
                    return base;
                }
                self.builder.expr(Op::Index, base, NONE)
            }
            K::Reference | K::Parenthesized | K::ExpressionStatement => {
                let statement = self.kind(node) == K::ExpressionStatement;
                let value = self.children(node, scope);
                let ends =
                    statement && self.builder.source.get(self.end(node).wrapping_sub(1)) == Some(&b';');
                if ends { NONE } else { value }
            }
            K::Unary => {
                let value = self.children(node, scope);
                match self.builder.source.get(self.start(node)) {
                    _ if value == NONE => NONE,
                    Some(b'*') => self.builder.expr(Op::Deref, value, NONE),
                    Some(b'-') => self.operation("neg", &[value]),
                    _ => self.operation("not", &[value]),
                }
            }
            K::Binary => self.binary(node, scope),
            K::Assignment => {
                self.children(node, scope);
                NONE
            }
            K::Tuple => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|one| self.visit(one, scope)).collect();
                let types: Vec<u32> = all.into_iter().map(|one| self.type_of(one)).collect();
                let tuple = self.builder.builtin("()", &types);
                self.builder.value_of(tuple)
            }
            K::Array => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|one| self.visit(one, scope)).collect();
                let first = all.first().copied().unwrap_or(NONE);
                let element = self.type_of(first);
                let list = self.builder.builtin("[]", &[element]);
                self.builder.value_of(list)
            }
            K::StructExpression => self.struct_expression(node, scope),
            K::Try => {
                let value = self.children(node, scope);
                if value == NONE { NONE } else { self.builder.expr(Op::Try, value, NONE) }
            }
            K::Await => {
                let value = self.children(node, scope);
                if value == NONE { NONE } else { self.builder.expr(Op::Await, value, NONE) }
            }
            K::Cast => {
                let value = self.field(node, fields.value);
                if let Some(value) = value {
                    self.visit(value, scope);
                }
                let of = self.field(node, fields.kind);
                let declared = of.map_or(NONE, |of| self.type_expression(of, scope));
                self.builder.value_of(declared)
            }
            K::Block => {
                let block = self.block(scope, node);
                self.children(node, block)
            }
            K::WrappedBlock | K::Else => self.children(node, scope),
            K::AsyncBlock => {
                let value = self.children(node, scope);
                let of = self.type_of(value);
                let later = self.builder.builtin("await", &[of]);
                self.builder.value_of(later)
            }
            K::If => {
                let block = self.block(scope, node);
                if let Some(condition) = self.field(node, fields.condition) {
                    self.visit(condition, block);
                }
                let then = self.field(node, fields.consequence).map_or(NONE, |then| self.visit(then, block));
                let other =
                    self.field(node, fields.alternative).map_or(NONE, |other| self.visit(other, scope));
                self.one_of(&[then, other])
            }
            K::While => {
                let block = self.block(scope, node);
                self.children(node, block);
                NONE
            }
            K::LetCondition => {
                let value = self.field(node, fields.value);
                let value = value.map_or(NONE, |value| self.visit(value, scope));
                if let Some(pattern) = self.field(node, fields.pattern) {
                    let visible = self.end(node);
                    self.pattern(pattern, scope, value, visible);
                }
                NONE
            }
            K::For => {
                let block = self.block(scope, node);
                let value = self.field(node, fields.value);
                let value = value.map_or(NONE, |value| self.visit(value, scope));
                let each = if value == NONE { NONE } else { self.builder.expr(Op::Element, value, NONE) };
                if let Some(pattern) = self.field(node, fields.pattern) {
                    let visible = self.start(node);
                    self.pattern(pattern, block, each, visible);
                }
                if let Some(body) = self.field(node, fields.body) {
                    self.visit(body, block);
                }
                NONE
            }
            K::Match => self.match_expression(node, scope),
            K::Closure => self.closure(node, scope, NONE),
            K::Return => {
                self.children(node, scope);
                NONE
            }
            K::MacroInvocation => self.macro_invocation(node, scope),
            K::Text => self.literal("str"),
            K::Character => self.literal("char"),
            K::Integer | K::Float => self.number(node),
            K::Boolean => self.literal("bool"),
            K::Unit => self.literal("()"),
            K::FieldIdentifier => {
                self.loose(node, scope);
                NONE
            }
            _ => {
                self.children(node, scope);
                NONE
            }
        }
    }

    /// `value.0`: a field of a structure without names, or a part of a tuple.
    fn position(&mut self, field: Node<'_>, scope: u32, value: u32) -> u32 {
        let member = self.member(field, scope, value, FIELD);
        match self.text(field).parse() {
            Ok(index) if value != NONE => self.builder.expr(Op::At, value, index),
            _ => member,
        }
    }

    /// A number says of which type it is, or that any will do.
    fn number(&mut self, node: Node<'_>) -> u32 {
        let text = self.text(node);
        let is_hex = text.starts_with("0x");
        let suffix = library::NUMBERS
            .iter()
            .find(|suffix| text.ends_with(**suffix) && !(is_hex && suffix.starts_with('f')));
        match suffix {
            Some(suffix) => self.literal(suffix),
            None if self.kind(node) == K::Integer => self.literal(library::INTEGER),
            None => self.literal(library::FLOAT),
        }
    }

    fn literal(&mut self, name: &'static str) -> u32 {
        self.builder.plain_value(name)
    }

    /// The type of a value, as a type expression.
    fn type_of(&mut self, value: u32) -> u32 {
        if value == NONE { NONE } else { self.builder.expr(Op::TypeOf, value, NONE) }
    }

    pub(super) fn one_of(&mut self, values: &[u32]) -> u32 {
        self.builder.either(values, 6)
    }

    fn call(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(function) = self.field(node, fields.function) else { return NONE };
        let callee = self.callee(function, scope);
        let arguments = self.field(node, fields.arguments).map(named_children).unwrap_or_default();
        // The call is written down first: closures among its arguments refer to it.
        let call = self.builder.expr(Op::Call, callee, NONE);
        let mut values = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.into_iter().filter(|one| !one.is_extra()).enumerate() {
            values.push(if self.kind(argument) == K::Closure {
                let expected = self.builder.expr(Op::Argument, call, index as u32);
                self.closure(argument, scope, expected)
            } else {
                self.visit(argument, scope)
            });
        }
        if !values.is_empty() {
            let list = self.builder.list(&values);
            self.builder.facts_mut().exprs[call as usize].b = list;
        }
        call
    }

    /// What is called: after a dot a method, not a field.
    fn callee(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let (field, arguments) = match self.kind(node) {
            K::Field => (Some(node), false),
            K::GenericFunction => {
                (self.field(node, fields.function).filter(|&it| self.kind(it) == K::Field), true)
            }
            _ => (None, false),
        };
        let Some(field) = field else { return self.visit(node, scope) };
        let value = self.field(field, fields.value);
        let value = value.map_or(NONE, |value| self.visit(value, scope));
        let Some(name) = self.field(field, fields.field) else { return NONE };
        let callee = self.member(name, scope, value, space::CALLED);
        if !arguments {
            return callee;
        }
        let list = self.type_arguments(node, scope, NONE);
        let list = self.builder.list(&list);
        self.builder.expr(Op::Apply, callee, list)
    }

    fn binary(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let left = self.field(node, fields.left).map_or(NONE, |left| self.visit(left, scope));
        let right = self.field(node, fields.right).map_or(NONE, |right| self.visit(right, scope));
        let operator = self.field(node, fields.operator).map_or("", |operator| operator.kind());
        if matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") {
            return self.literal("bool");
        }
        let method = match operator {
            "+" => "add",
            "-" => "sub",
            "*" => "mul",
            "/" => "div",
            "%" => "rem",
            "&" => "bitand",
            "|" => "bitor",
            "^" => "bitxor",
            "<<" => "shl",
            ">>" => "shr",
            _ => return NONE,
        };
        if left == NONE && right == NONE { NONE } else { self.operation(method, &[left, right]) }
    }

    /// What an operator gives, by the method that does it.
    fn operation(&mut self, method: &str, operands: &[u32]) -> u32 {
        let method = self.builder.text(method);
        let operands = self.builder.list(operands);
        self.builder.expr(Op::Own, super::super::OPERATOR + method, operands)
    }

    fn struct_expression(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(name) = self.field(node, fields.name) else { return NONE };
        let path = self.type_expression(name, scope);
        let keys = self.builder.expr(Op::OwnOther, path, NONE);
        if let Some(body) = self.field(node, fields.body) {
            for part in named_children(body) {
                match self.kind(part) {
                    K::FieldInitializer => {
                        if let Some(field) = self.field(part, fields.field) {
                            self.key(field, scope, keys);
                        }
                        if let Some(value) = self.field(part, fields.value) {
                            self.visit(value, scope);
                        }
                    }
                    K::ShorthandInitializer => {
                        for name in named_children(part) {
                            if self.kind(name) == K::Identifier {
                                self.shorthand(name, scope, keys);
                            }
                        }
                    }
                    _ => {
                        self.children(part, scope);
                    }
                }
            }
        }
        self.builder.value_of(path)
    }

    fn match_expression(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let value = self.field(node, fields.value);
        let value = value.map_or(NONE, |value| self.visit(value, scope));
        let Some(body) = self.field(node, fields.body) else { return NONE };
        let mut values = Vec::new();
        for arm in named_children(body) {
            if self.kind(arm) != K::MatchArm {
                continue;
            }
            let inner = self.block(scope, arm);
            if let Some(pattern) = self.field(arm, fields.pattern) {
                let visible = self.start(pattern);
                self.pattern(pattern, inner, value, visible);
            }
            if let Some(result) = self.field(arm, fields.value) {
                values.push(self.visit(result, inner));
            }
        }
        self.one_of(&values)
    }
}
