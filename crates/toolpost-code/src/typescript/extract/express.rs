//! Expressions: every identifier in them, where the type of each comes from, and what each should be.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Export, Kind, NONE, Op, Role, ScopeKind, space};
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    pub(super) fn expression(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        let fields = self.fields;
        let of = |field: u16| node.child_by_field_id(field);
        match self.kind(node) {
            K::Identifier => {
                let plain = self.bare(node, scope, space::VALUE);
                self.known(node, scope, plain)
            }
            K::TypeIdentifier
            | K::GenericType
            | K::NestedType
            | K::ObjectType
            | K::UnionType
            | K::TypeArguments => self.type_expression(node, scope),
            K::Member => {
                let target = of(fields.object).map_or(NONE, |object| self.visit(object, scope, NONE));
                let Some(property) = of(fields.property) else { return NONE };
                let name = self.name(property);
                let plain = self.member(name, property.start_byte(), scope, target, space::VALUE);
                self.known(node, scope, plain)
            }
            K::Subscript => self.subscript(node, scope),
            K::Call => self.call(node, scope, own::CALL),
            K::New => self.call(node, scope, own::NEW),
            K::Arrow | K::FunctionExpression => self.function_value(node, scope, expected),
            K::ClassExpression => self.class(node, scope),
            K::Object => self.object(node, scope, expected),
            K::Array => self.array(node, scope, expected),
            K::Await => {
                let expr = self.first(node, scope, NONE);
                if expr == NONE { NONE } else { self.builder.expr(Op::Await, expr, NONE) }
            }
            K::As => self.cast(node, scope),
            K::Assertion => self.cast(node, scope),
            K::Parenthesized if self.is_script => {
                let inner = self.first(node, scope, expected);
                let comment = self.comment_before(node.start_byte());
                let said = comment.map_or(NONE, |comment| self.documented(comment, &["type"], "", scope));
                if said == NONE { inner } else { self.builder.value_of(said) }
            }
            K::NonNull | K::Parenthesized | K::JsxExpression => self.first(node, scope, expected),
            K::Instantiation => {
                let base = of(fields.function).or_else(|| named_children(node).first().copied());
                let base = base.map_or(NONE, |base| self.visit(base, scope, NONE));
                let list = of(fields.type_arguments).map(named_children).unwrap_or_default();
                let list: Vec<u32> = list.into_iter().map(|one| self.type_expression(one, scope)).collect();
                let list = self.builder.list(&list);
                self.builder.expr(Op::Apply, base, list)
            }
            K::Sequence => {
                let mut last = NONE;
                for child in named_children(node) {
                    last = self.visit(child, scope, expected);
                }
                last
            }
            K::Ternary => {
                let test = of(fields.condition).map(|condition| self.condition(condition, scope, NONE));
                let test = test.unwrap_or_default();
                let mark = self.flow.mark();
                self.flow.tell(&test.holds);
                let first = of(fields.consequence).map_or(NONE, |one| self.visit(one, scope, expected));
                self.flow.roll_back(mark);
                self.flow.tell(&test.fails);
                let second = of(fields.alternative).map_or(NONE, |one| self.visit(one, scope, expected));
                self.flow.roll_back(mark);
                self.either(&[first, second])
            }
            K::Binary => self.condition(node, scope, expected).value,
            K::Assignment | K::AugmentedAssignment => self.assignment(node, scope),
            K::This => self.builder.expr(Op::This, scope, NONE),
            K::Super => self.builder.expr(Op::Super, scope, NONE),
            K::Text => self.literal("string"),
            K::Template => {
                self.children(node, scope);
                self.literal("string")
            }
            K::Number => self.literal("number"),
            K::Truth => self.literal("boolean"),
            K::Regex => self.literal("RegExp"),
            K::Nothing | K::TextFragment => NONE,
            K::Unary if of(fields.operator).is_some_and(|word| word.kind() == "!") => {
                self.condition(node, scope, NONE).value
            }
            K::Unary => {
                self.children(node, scope);
                match of(fields.operator).map_or("", |operator| operator.kind()) {
                    "delete" => self.literal("boolean"),
                    "typeof" => self.literal("string"),
                    "void" => NONE,
                    _ => self.literal("number"),
                }
            }
            K::JsxElement | K::JsxSelfClosing | K::JsxOpening | K::JsxClosing => self.jsx(node, scope),
            K::Spread => self.first(node, scope, expected),
            K::Method => {
                // Outside of a body it is left over from a syntax error.
                self.children(node, scope);
                NONE
            }
            K::PropertyIdentifier | K::PrivateIdentifier => {
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

    pub(super) fn literal(&mut self, name: &str) -> u32 {
        let of = self.builder.builtin(name, &[]);
        self.builder.value_of(of)
    }

    /// The value of the first part of an expression.
    fn first(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        let mut first = NONE;
        for (index, child) in named_children(node).into_iter().enumerate() {
            let value = self.visit(child, scope, expected);
            first = if index == 0 { value } else { first };
        }
        first
    }

    fn subscript(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let object = node.child_by_field_id(fields.object);
        let target = object.map_or(NONE, |object| self.visit(object, scope, NONE));
        let Some(index) = node.child_by_field_id(fields.index) else { return NONE };
        if self.kind(index) == K::Text {
            let text = self.unquoted(index);
            let name = self.builder.text(text);
            return self.member(name, index.start_byte() + 1, scope, target, space::VALUE);
        }
        self.visit(index, scope, NONE);
        if self.kind(index) == K::Number
            && let Ok(position) = self.text(index).parse::<u32>()
            && target != NONE
        {
            return self.builder.expr(Op::At, target, position);
        }
        if target == NONE { NONE } else { self.builder.expr(Op::Index, target, NONE) }
    }

    /// A call or `new`. Its number exists before its arguments are read, because they should be what it asks for.
    fn call(&mut self, node: Node<'tree>, scope: u32, code: u32) -> u32 {
        let fields = self.fields;
        let field = if code == own::NEW { fields.constructor } else { fields.function };
        let Some(function) = node.child_by_field_id(field) else {
            self.children(node, scope);
            return NONE;
        };
        if self.kind(function) == K::ImportWord || (code == own::CALL && self.required_module(node).is_some())
        {
            return self.imported(node, function, scope);
        }
        let is_statement = std::mem::take(&mut self.is_statement);
        let callee = self.visit(function, scope, NONE);
        let expr = self.builder.expr(Op::Own, code, NONE);
        let mut types = NONE;
        if let Some(list) = node.child_by_field_id(fields.type_arguments) {
            let list: Vec<u32> =
                named_children(list).into_iter().map(|one| self.type_expression(one, scope)).collect();
            types = self.builder.list(&list);
        }
        let mut told = Vec::new();
        let mut operands = vec![callee, types];
        let arguments = node.child_by_field_id(fields.arguments);
        if let Some(arguments) = arguments {
            if self.kind(arguments) == K::Template {
                self.visit(arguments, scope, NONE);
            } else {
                for argument in named_children(arguments) {
                    if self.kind(argument) == K::Comment {
                        continue;
                    }
                    let index = operands.len() as u32 - 2;
                    let expected = if self.depends_on_context(argument) {
                        own(self.builder, own::ARGUMENT, &[expr, index])
                    } else {
                        NONE
                    };
                    let value = if is_statement && index == 0 {
                        let test = self.condition(argument, scope, expected);
                        told = test.holds;
                        test.value
                    } else {
                        self.visit(argument, scope, expected)
                    };
                    operands.push(value);
                }
            }
        }
        let list = self.builder.list(&operands);
        self.builder.facts_mut().exprs[expr as usize].b = list;
        if is_statement {
            self.argument_told = told;
        }
        expr
    }

    fn imported(&mut self, node: Node<'tree>, function: Node<'tree>, scope: u32) -> u32 {
        let is_import = self.kind(function) == K::ImportWord;
        let arguments = node.child_by_field_id(self.fields.arguments).map(named_children).unwrap_or_default();
        if !is_import {
            self.bare(function, scope, space::VALUE);
        }
        match arguments.first() {
            Some(&text) if self.kind(text) == K::Text => {
                let text = self.unquoted(text);
                let text = self.builder.text(text);
                own(self.builder, own::MODULE, &[text, if is_import { 1 } else { 2 }])
            }
            _ => {
                for argument in arguments {
                    self.visit(argument, scope, NONE);
                }
                NONE
            }
        }
    }

    /// Whether what is inside of an expression depends on what the expression should be.
    fn depends_on_context(&self, node: Node<'tree>) -> bool {
        matches!(
            self.kind(node),
            K::Arrow
                | K::FunctionExpression
                | K::Object
                | K::Array
                | K::Ternary
                | K::Binary
                | K::Parenthesized
                | K::Spread
        )
    }

    fn array(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        let mut elements = Vec::new();
        for (index, child) in named_children(node).into_iter().enumerate() {
            if self.kind(child) == K::Comment {
                continue;
            }
            let wanted = if expected == NONE || !self.depends_on_context(child) {
                NONE
            } else {
                self.builder.expr(Op::At, expected, index as u32)
            };
            let value = self.visit(child, scope, wanted);
            if elements.len() < 8 {
                let value = if value != NONE && self.kind(child) == K::Spread {
                    self.builder.expr(Op::Element, value, NONE)
                } else {
                    value
                };
                let op = if value == NONE { Op::Unknown } else { Op::TypeOf };
                elements.push(self.builder.expr(op, value, NONE));
            }
        }
        if elements.is_empty() {
            let of = self.builder.builtin("[]", &[]);
            return self.builder.value_of(of);
        }
        let tuple = self.builder.builtin("(..)", &elements);
        self.builder.value_of(tuple)
    }

    fn cast(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let mut value = None;
        let mut declared = NONE;
        let mut is_const = false;
        for child in named_children(node) {
            match self.kind(child) {
                K::Comment => {}
                K::TypeArguments => {
                    declared =
                        named_children(child).first().map_or(NONE, |&of| self.type_expression(of, scope));
                }
                _ if value.is_none() => value = Some(child),
                _ => {
                    is_const |= self.text(child) == "const";
                    declared = self.type_expression(child, scope);
                }
            }
        }
        is_const |= Self::has_word(node, "const");
        let expected = if is_const { NONE } else { self.builder.value_of(declared) };
        let inner = value.map_or(NONE, |value| self.visit(value, scope, expected));
        let is_kept = node.kind() == "satisfies_expression" || expected == NONE;
        if is_kept && inner != NONE { inner } else { expected }
    }

    fn assignment(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let left = node.child_by_field_id(fields.left);
        let right = node.child_by_field_id(fields.right);
        if self.is_script
            && let (Some(left), Some(right)) = (left, right)
            && let Some(value) = self.script_assignment(left, right, scope)
        {
            return value;
        }
        let target = match left {
            Some(left) if matches!(self.kind(left), K::ObjectPattern | K::ArrayPattern) => {
                let value = right.map_or(NONE, |right| self.visit(right, scope, NONE));
                self.assigned_pattern(left, value, scope);
                self.forget_assigned(left, scope);
                return value;
            }
            Some(left) => {
                let seen = self.visit(left, scope, NONE);
                self.as_declared(left, scope, seen)
            }
            None => NONE,
        };
        let value = right.map_or(NONE, |right| self.visit(right, scope, target));
        if let Some(left) = left {
            match self.kind(node) {
                K::Assignment => self.assigned(left, scope, target, value),
                _ => self.forget_assigned(left, scope),
            }
        }
        if value == NONE { target } else { value }
    }

    /// `({ a, b: c } = value)`: properties are read, nothing is bound.
    fn assigned_pattern(&mut self, node: Node<'tree>, value: u32, scope: u32) {
        for part in named_children(node) {
            match self.kind(part) {
                K::ShorthandPattern => {
                    let name = self.name(part);
                    self.member(name, part.start_byte(), scope, value, space::VALUE);
                    self.bare(part, scope, space::VALUE);
                }
                K::PairPattern => {
                    let key = part.child_by_field_id(self.fields.key);
                    if let Some((name, start)) = key.and_then(|key| self.property_name(key)) {
                        self.member(name, start, scope, value, space::VALUE);
                    }
                    if let Some(inner) = part.child_by_field_id(self.fields.value) {
                        self.visit(inner, scope, NONE);
                    }
                }
                _ => {
                    self.visit(part, scope, NONE);
                }
            }
        }
    }

    /// Assignments that declare in JavaScript: `this.name = …`, `exports.name = …`, `module.exports = …`.
    fn script_assignment(&mut self, left: Node<'tree>, right: Node<'tree>, scope: u32) -> Option<u32> {
        let fields = self.fields;
        if self.kind(left) != K::Member {
            return None;
        }
        let object = left.child_by_field_id(fields.object)?;
        let property = left.child_by_field_id(fields.property)?;
        let start = property.start_byte();
        if self.kind(object) == K::This {
            let class = self.builder.facts().type_around(scope)?;
            let name = self.name(property);
            if self.has_member(class, name) {
                return None;
            }
            let def = self.builder.define(name, Kind::Field, start, left.byte_range());
            self.builder.token(name, start, scope, Role::Declaration, def);
            self.own(def, class);
            let start = left.start_byte();
            self.remember_comment(start, right);
            let value = self.visit(right, scope, NONE);
            let said = self
                .comment_before(start)
                .map_or(NONE, |comment| self.documented(comment, &["type"], "", scope));
            let known = self.builder.def(def);
            (known.value, known.declared) = (value, said);
            return Some(value);
        }
        match self.text(object) {
            "module" if self.text(property) == "exports" => {
                self.bare(object, scope, space::VALUE);
                self.is_handed_out = self.kind(right) == K::Object;
                let value = self.visit(right, scope, NONE);
                if value != NONE {
                    let name = self.builder.text("export=");
                    self.hand_out_value(name, value, scope, start);
                }
                Some(value)
            }
            "exports" | "module.exports" => {
                self.visit(object, scope, NONE);
                let name = self.name(property);
                if self.kind(right) == K::Identifier {
                    // The name means what the variable means, whether it is called the same or not.
                    let is_same = self.text(right) == self.text(property);
                    let own = if is_same { self.bare(property, scope, space::VALUE) } else { NONE };
                    let value = self.visit(right, scope, NONE);
                    match is_same {
                        true => self.hand_out_value(name, own, scope, start),
                        false => self.hand_out(name, value, Some(property), scope, start),
                    }
                    return Some(value);
                }
                let def = self.builder.define(name, Kind::Variable, start, left.byte_range());
                self.builder.token(name, start, scope, Role::Declaration, def);
                let value = self.visit(right, scope, NONE);
                let known = self.builder.def(def);
                known.value = value;
                known.owner = NONE;
                let import = NONE;
                let value_of = own(self.builder, own::FUNCTION, &[def]);
                self.builder.export(Export { name, value: value_of, import });
                Some(value)
            }
            _ => None,
        }
    }

    pub(super) fn hand_out_value(&mut self, name: u32, value: u32, scope: u32, start: usize) {
        let record = self.builder.import(crate::facts::Import {
            def: NONE,
            scope,
            module: NONE,
            name: NONE,
            path: value,
            marks: crate::facts::import::EXPORTED,
            start: start as u32,
        });
        self.builder.export(Export { name, value: NONE, import: record });
    }

    /// An object literal that should be `expected`.
    fn object(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        let fields = self.fields;
        let def = self.nameless(Kind::Anonymous, node);
        let literal = own(self.builder, own::LITERAL, &[def, expected]);
        let is_handed_out = std::mem::take(&mut self.is_handed_out);
        let mut inner = NONE;
        for part in named_children(node) {
            match self.kind(part) {
                K::Pair => {
                    let Some(key) = part.child_by_field_id(fields.key) else { continue };
                    let value = part.child_by_field_id(fields.value);
                    let Some((name, start)) = self.property_name(key) else {
                        self.computed(key, scope);
                        if let Some(value) = value {
                            self.visit(value, scope, NONE);
                        }
                        continue;
                    };
                    let field = self.key(name, start, part, def, literal, scope);
                    let is_same = |value: Node<'tree>| {
                        self.kind(value) == K::Identifier && self.text(value) == self.text(key)
                    };
                    if is_handed_out && value.is_some_and(is_same) {
                        self.share(field);
                    }
                    if let Some(value) = value {
                        self.remember_comment(part.start_byte(), value);
                    }
                    let wanted = if value.is_some_and(|value| self.depends_on_context(value)) {
                        self.expected_property(expected, name)
                    } else {
                        NONE
                    };
                    let value = value.map_or(NONE, |value| self.visit(value, scope, wanted));
                    self.builder.def(field).value = value;
                }
                K::ShorthandProperty => {
                    let name = self.name(part);
                    let field = self.key(name, part.start_byte(), part, def, literal, scope);
                    let value = self.bare(part, scope, space::VALUE);
                    let value = self.known(part, scope, value);
                    self.builder.def(field).value = value;
                    if is_handed_out {
                        self.share(field);
                    }
                }
                K::Method => {
                    if inner == NONE {
                        inner = self.builder.scope(scope, ScopeKind::Block, def, node.byte_range());
                    }
                    self.method(part, def, inner, Some((literal, expected)));
                }
                K::Spread => {
                    let value = self.first(part, scope, expected);
                    if value != NONE {
                        let base = self.builder.expr(Op::TypeOf, value, NONE);
                        self.builder.base(def, base);
                    }
                }
                K::Comment => {}
                _ => {
                    self.visit(part, scope, NONE);
                }
            }
        }
        self.builder.expr(Op::Anonymous, def, NONE)
    }

    fn key(
        &mut self,
        name: u32,
        start: usize,
        node: Node<'tree>,
        owner: u32,
        literal: u32,
        scope: u32,
    ) -> u32 {
        let field = self.builder.define(name, Kind::Field, start, node.byte_range());
        self.builder.token(name, start, scope, Role::Key, literal);
        self.own(field, owner);
        field
    }
}
