//! Expressions: every identifier in them, and where the type of each comes from.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Op, Role};

impl Extractor<'_, '_> {
    pub(super) fn expression(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let of = |field: u16| node.child_by_field_id(field);
        match self.kind(node) {
            K::Identifier | K::PackageIdentifier => self.any_name(node, scope),
            K::TypeIdentifier
            | K::QualifiedType
            | K::PointerType
            | K::SliceType
            | K::ArrayType
            | K::MapType
            | K::ChannelType
            | K::FunctionType
            | K::StructType
            | K::InterfaceType
            | K::GenericType
            | K::ParenthesizedType => self.type_expression(node, scope),
            K::Selector => {
                let target = of(fields.operand).map_or(NONE, |operand| self.visit(operand, scope));
                let Some(field) = of(fields.field) else { return NONE };
                let name = self.name(field);
                let token = self.builder.token(name, field.start_byte(), scope, Role::Member, target);
                self.builder.expr(Op::Token, token, NONE)
            }
            K::Call => self.call(node, scope),
            K::Index => {
                let operand = of(fields.operand).map_or(NONE, |operand| self.visit(operand, scope));
                for child in named_children(node).into_iter().skip(1) {
                    self.visit(child, scope);
                }
                self.builder.expr(Op::Index, operand, NONE)
            }
            K::Slice | K::Parenthesized => {
                let mut first = NONE;
                for (index, child) in named_children(node).into_iter().enumerate() {
                    let value = self.visit(child, scope);
                    first = if index == 0 { value } else { first };
                }
                first
            }
            K::Assertion | K::Conversion => {
                if let Some(operand) = of(fields.operand) {
                    self.visit(operand, scope);
                }
                let declared = of(fields.kind).map_or(NONE, |kind| self.type_expression(kind, scope));
                self.builder.value_of(declared)
            }
            K::Instantiation => {
                let mut parts = named_children(node).into_iter();
                let base = parts.next().map_or(NONE, |base| self.type_expression(base, scope));
                let list: Vec<u32> = parts.map(|part| self.type_expression(part, scope)).collect();
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            K::Composite => {
                let kind = of(fields.kind);
                let declared = kind.map_or(NONE, |kind| self.type_expression(kind, scope));
                let is_keyed = kind
                    .is_none_or(|kind| !matches!(self.kind(kind), K::SliceType | K::ArrayType | K::MapType));
                let value = self.builder.value_of(declared);
                if let Some(body) = of(fields.body) {
                    self.literal(body, value, is_keyed, scope);
                }
                value
            }
            K::LiteralValue => {
                self.literal(node, NONE, true, scope);
                NONE
            }
            K::FuncLiteral => {
                let nameless = self.builder.text("");
                let def = self.builder.define(nameless, Kind::Function, node.start_byte(), node.byte_range());
                self.signature_and_body(node, def, scope);
                self.builder.expr(Op::Closure, def, NONE)
            }
            K::Unary => {
                let operand = of(fields.operand).map_or(NONE, |operand| self.visit(operand, scope));
                let operator = of(fields.operator).map(|operator| operator.kind());
                if operator == Some("<-") && operand != NONE {
                    return self.builder.expr(Op::Element, operand, NONE);
                }
                operand
            }
            K::Binary => self.binary(node, scope),
            K::Text => self.builder.plain_value("string"),
            K::Number => self.builder.plain_value("int"),
            K::Truth => self.builder.plain_value("bool"),
            K::Nothing => NONE,
            K::FieldIdentifier => {
                let name = self.name(node);
                self.builder.token(name, node.start_byte(), scope, Role::Loose, NONE);
                NONE
            }
            _ => {
                self.children(node, scope);
                NONE
            }
        }
    }

    fn call(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(function) = node.child_by_field_id(fields.function) else { return NONE };
        let makes = self.kind(function) == K::Identifier && matches!(self.text(function), "make" | "new");
        let mut callee = self.visit(function, scope);
        if let Some(list) = node.child_by_field_id(fields.type_arguments) {
            let arguments: Vec<u32> =
                named_children(list).into_iter().map(|one| self.type_expression(one, scope)).collect();
            let list = self.builder.list(&arguments);
            callee = self.builder.expr(Op::Apply, callee, list);
        }
        let arguments = node.child_by_field_id(fields.arguments).map(named_children).unwrap_or_default();
        let mut values = Vec::with_capacity(arguments.len());
        let mut is_made_of_type = false;
        for (index, argument) in arguments.into_iter().enumerate() {
            // `new` takes any expression, too.
            let is_type = argument.kind().ends_with("type") || argument.kind() == "type_identifier";
            values.push(if makes && index == 0 && is_type {
                is_made_of_type = true;
                self.type_expression(argument, scope)
            } else {
                self.visit(argument, scope)
            });
        }
        if makes {
            let first = values.first().copied().unwrap_or(NONE);
            return if is_made_of_type { self.builder.value_of(first) } else { first };
        }
        let list = if values.is_empty() { NONE } else { self.builder.list(&values) };
        self.builder.expr(Op::Call, callee, list)
    }

    fn binary(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let left = node.child_by_field_id(fields.left).map_or(NONE, |left| self.visit(left, scope));
        let right = node.child_by_field_id(fields.right).map_or(NONE, |right| self.visit(right, scope));
        let operator = node.child_by_field_id(fields.operator).map_or("", |operator| operator.kind());
        if matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") {
            return self.builder.plain_value("bool");
        }
        let is_literal =
            |node: Option<Node<'_>>| node.is_some_and(|node| matches!(self.kind(node), K::Number | K::Text));
        if is_literal(node.child_by_field_id(fields.left)) { right } else { left }
    }

    /// The elements of a composite literal. Inner literals without a type have the type of the elements.
    fn literal(&mut self, node: Node<'_>, value: u32, is_keyed: bool, scope: u32) {
        for element in named_children(node) {
            match self.kind(element) {
                K::KeyedElement => {
                    let key = element.child_by_field_id(self.fields.key);
                    if let Some(key) = key {
                        self.key(key, value, is_keyed, scope);
                    }
                    if let Some(inner) = element.child_by_field_id(self.fields.value) {
                        self.element(inner, value, Op::Index, scope);
                    }
                }
                _ => self.element(element, value, Op::Index, scope),
            }
        }
    }

    fn key(&mut self, node: Node<'_>, value: u32, is_keyed: bool, scope: u32) {
        let inner =
            if self.kind(node) == K::LiteralElement { named_children(node).first().copied() } else { None };
        let inner = inner.unwrap_or(node);
        if is_keyed && self.kind(inner) == K::Identifier {
            let name = self.name(inner);
            self.builder.token(name, inner.start_byte(), scope, Role::Key, value);
        } else {
            self.element(node, value, Op::Key, scope);
        }
    }

    fn element(&mut self, node: Node<'_>, value: u32, step: Op, scope: u32) {
        let inner =
            if self.kind(node) == K::LiteralElement { named_children(node).first().copied() } else { None };
        let inner = inner.unwrap_or(node);
        if self.kind(inner) == K::LiteralValue && self.depth < crate::syntax::DEEPEST {
            self.depth += 1;
            let of = if value == NONE { NONE } else { self.builder.expr(step, value, NONE) };
            self.literal(inner, of, true, scope);
            self.depth -= 1;
        } else {
            self.visit(inner, scope);
        }
    }
}
