//! Expressions: every identifier in them, and where the type of each comes from.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, field_children, named_children};
use crate::facts::{NONE, Op, Role};
use crate::python::own;

impl Extractor<'_, '_> {
    pub(super) fn expression(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        match self.kind(node) {
            K::Identifier => self.identifier(node, scope),
            K::Attribute => self.attribute(node, scope),
            K::Call => self.call(node, scope),
            K::Subscript => self.subscript(node, scope),
            K::Parenthesized => match named_children(node)[..] {
                [inner] => self.visit(inner, scope),
                _ => {
                    self.children(node, scope);
                    NONE
                }
            },
            K::Binary => self.binary(node, scope),
            K::Boolean => self.condition(node, scope).value,
            K::Not | K::Comparison => {
                self.children(node, scope);
                let truth = self.simple("bool");
                self.builder.value_of(truth)
            }
            K::Unary => self.unary(node, scope),
            K::Conditional => self.conditional(node, scope),
            K::Named => {
                let value = self.visit_field(node, fields.value, scope);
                if let Some(name) = node.child_by_field_id(fields.name) {
                    self.assign(name, value, node, scope);
                }
                value
            }
            K::Await => {
                let inner = named_children(node).first().map_or(NONE, |&inner| self.visit(inner, scope));
                if inner == NONE { NONE } else { self.builder.expr(Op::Await, inner, NONE) }
            }
            K::Yield => self.yielded(node, scope),
            K::Lambda => self.lambda(node, scope),
            K::List => self.sequence(node, "list", scope),
            K::Set => self.sequence(node, "set", scope),
            K::Tuple | K::ExpressionList => self.sequence(node, "()", scope),
            K::Dictionary => self.dictionary(node, scope),
            K::ListComprehension | K::SetComprehension | K::DictComprehension | K::Generator => {
                self.comprehension(node, scope)
            }
            K::String | K::Concatenated => self.string(node, scope),
            K::Integer => self.literal("int"),
            K::Float => self.literal("float"),
            K::Truth => self.literal("bool"),
            K::Nothing => self.literal("None"),
            K::Type => self.annotation(node, scope),
            K::ListSplat | K::DictSplat => {
                named_children(node).first().map_or(NONE, |&inner| self.visit(inner, scope))
            }
            K::Except => {
                self.children(node, scope);
                NONE
            }
            K::KeywordArgument => {
                if let Some(name) = node.child_by_field_id(fields.name) {
                    let text = self.name(name);
                    self.builder.token(text, name.start_byte(), scope, Role::Keyword, NONE);
                }
                self.visit_field(node, fields.value, scope)
            }
            _ => {
                self.children(node, scope);
                NONE
            }
        }
    }

    fn literal(&mut self, name: &'static str) -> u32 {
        let of = self.simple(name);
        self.builder.value_of(of)
    }

    fn identifier(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let name = self.name(node);
        let token = self.builder.token(name, node.start_byte(), scope, Role::Bare, NONE);
        let number = self.builder.facts().name(name);
        if let Some(known) = self.known(number) {
            return known;
        }
        if let Some((receiver, op)) = self.frame.receiver
            && receiver == name
        {
            return self.builder.expr(op, scope, NONE);
        }
        self.token_expr(token)
    }

    fn attribute(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let target = self.visit_field(node, self.fields.object, scope);
        let Some(attribute) = node.child_by_field_id(self.fields.attribute) else { return NONE };
        let name = self.name(attribute);
        let token = self.builder.token(name, attribute.start_byte(), scope, Role::Member, target);
        if self.flow.has_paths()
            && let Some(key) = self.key(node)
            && let Some(known) = self.known(key.name)
        {
            return known;
        }
        if self.text(attribute) == "__class__" && target != NONE {
            return self.own(own::CLASS_OF, &[target]);
        }
        self.token_expr(token)
    }

    fn call(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(function) = node.child_by_field_id(fields.function) else {
            self.children(node, scope);
            return NONE;
        };
        let list = node.child_by_field_id(fields.arguments);
        let is_name = self.kind(function) == K::Identifier;
        let text = if matches!(self.kind(function), K::Identifier | K::Attribute) {
            self.last_name(function)
        } else {
            ""
        };
        let is_typing = is_name
            || function.child_by_field_id(fields.object).is_some_and(|object| {
                matches!(self.text(object), "t" | "te" | "tp" | "typing" | "typing_extensions")
            });
        let special = match text {
            "super" if is_name => "super",
            "cast" | "assert_type" if is_typing => "cast",
            "NewType" if is_typing => "NewType",
            "isinstance" | "issubclass" if is_name => return self.condition_value(node, scope),
            "type" if is_name => "type",
            _ => "",
        };
        let callee = self.visit(function, scope);
        let arguments = match list {
            Some(list) if self.kind(list) == K::Generator => vec![list],
            Some(list) => named_children(list),
            None => Vec::new(),
        };
        let mut values = Vec::with_capacity(arguments.len());
        let mut cast = NONE;
        let mut is_after_splat = false;
        for (index, &argument) in arguments.iter().enumerate() {
            match self.kind(argument) {
                K::Comment => {}
                K::KeywordArgument => {
                    if let Some(name) = argument.child_by_field_id(fields.name) {
                        let text = self.name(name);
                        self.builder.token(text, name.start_byte(), scope, Role::Keyword, callee);
                    }
                    self.visit_field(argument, fields.value, scope);
                }
                K::ListSplat | K::DictSplat => {
                    self.visit(argument, scope);
                    is_after_splat = true;
                }
                _ if special == "cast" && index == usize::from(text == "assert_type") => {
                    let of = self.annotation(argument, scope);
                    cast = self.builder.value_of(of);
                    values.push(NONE);
                }
                _ if special == "NewType" && index == 1 => {
                    let of = self.annotation(argument, scope);
                    cast = self.builder.value_of(of);
                }
                _ => {
                    let value = self.visit(argument, scope);
                    values.push(if is_after_splat { NONE } else { value });
                }
            }
        }
        match special {
            "super" if values.is_empty() => return self.builder.expr(Op::Super, scope, NONE),
            "super" if self.frame.class != NONE => return self.builder.expr(Op::Super, scope, NONE),
            "cast" => return cast,
            "NewType" if cast != NONE => return self.own(own::CLASS_OF, &[cast]),
            "type" if values.len() == 1 && values[0] != NONE => {
                return self.own(own::CLASS_OF, &[values[0]]);
            }
            _ => {}
        }
        if callee == NONE {
            return NONE;
        }
        let list = if values.is_empty() { NONE } else { self.builder.list(&values) };
        self.builder.expr(Op::Call, callee, list)
    }

    fn condition_value(&mut self, node: Node<'_>, scope: u32) -> u32 {
        // A call that is a test is read by the condition, which calls back here if it has another form.
        let arguments = node.child_by_field_id(self.fields.arguments).map(named_children).unwrap_or_default();
        let is_test = arguments.len() == 2
            && arguments.iter().all(|&argument| {
                !matches!(self.kind(argument), K::KeywordArgument | K::ListSplat | K::DictSplat)
            });
        if is_test {
            return self.condition(node, scope).value;
        }
        self.children(node, scope);
        self.literal("bool")
    }

    fn subscript(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let Some(value) = node.child_by_field_id(fields.value) else { return NONE };
        let indices = field_children(node, fields.subscript);
        if matches!(self.kind(value), K::Identifier | K::Attribute)
            && Extractor::is_type_form(self.last_name(value))
        {
            let of = self.subscripted(value, &indices, scope);
            return self.builder.value_of(of);
        }
        let of = self.visit(value, scope);
        let mut position = None;
        let mut is_slice = false;
        for &index in &indices {
            is_slice |= self.kind(index) == K::Slice;
            if self.kind(index) == K::Integer && indices.len() == 1 {
                position = self.text(index).parse::<u32>().ok();
            }
            self.visit(index, scope);
        }
        match (of, position) {
            (NONE, _) => NONE,
            (of, _) if is_slice && indices.len() == 1 => of,
            (of, Some(position)) => self.own(own::ELEMENT, &[of, position]),
            (of, None) => self.builder.expr(Op::Index, of, NONE),
        }
    }

    fn binary(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let left = self.visit_field(node, fields.left, scope);
        let right = self.visit_field(node, fields.right, scope);
        let operator = node.child_by_field_id(fields.operator).map_or("", |operator| operator.kind());
        let method = match operator {
            "+" => "__add__",
            "-" => "__sub__",
            "*" => "__mul__",
            "/" => "__truediv__",
            "//" => "__floordiv__",
            "%" => "__mod__",
            "@" => "__matmul__",
            "|" => "__or__",
            "&" => "__and__",
            "^" => "__xor__",
            "<<" => "__lshift__",
            ">>" => "__rshift__",
            "**" => "__pow__",
            _ => return left,
        };
        if left == NONE && right == NONE {
            return NONE;
        }
        let method = self.builder.text(method);
        self.own(own::OPERATOR, &[left, right, method])
    }

    fn unary(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        let value = self.visit_field(node, fields.argument, scope);
        let method = match node.child_by_field_id(fields.operator).map_or("", |operator| operator.kind()) {
            _ if value == NONE => return NONE,
            "-" => "__neg__",
            "~" => "__invert__",
            _ => "__pos__",
        };
        let method = self.builder.text(method);
        self.own(own::OPERATOR, &[value, NONE, method])
    }

    fn conditional(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let [then, condition, otherwise] = named_children(node)[..] else {
            self.children(node, scope);
            return NONE;
        };
        let test = self.condition(condition, scope);
        let mark = self.flow.mark();
        self.tell(&test.holds);
        let then = self.visit(then, scope);
        self.flow.roll_back(mark);
        self.tell(&test.fails);
        let otherwise = self.visit(otherwise, scope);
        self.flow.roll_back(mark);
        self.either(&[then, otherwise])
    }

    fn yielded(&mut self, node: Node<'_>, scope: u32) -> u32 {
        self.frame.is_generator = true;
        let is_from = node.children(&mut node.walk()).any(|child| child.kind() == "from");
        let value = named_children(node).first().map_or(NONE, |&value| self.visit(value, scope));
        let value = match value {
            NONE => NONE,
            value if is_from => self.builder.expr(Op::Element, value, NONE),
            value => value,
        };
        self.frame.yields.push(value);
        NONE
    }
}
