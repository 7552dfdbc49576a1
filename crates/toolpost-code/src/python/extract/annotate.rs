//! Annotations: what types they name.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, field_children, named_children};
use crate::facts::{NONE, Op, Role};
use crate::python::own;

impl<'a> Extractor<'_, 'a> {
    /// A type.
    pub(super) fn annotation(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.depth >= crate::syntax::DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = self.annotation_inside(node, scope);
        self.depth -= 1;
        expr
    }

    fn annotation_inside(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let fields = self.fields;
        match self.kind(node) {
            K::Type | K::Parenthesized | K::SplatType => {
                let inner = named_children(node);
                match inner[..] {
                    [one] => self.annotation(one, scope),
                    _ => {
                        self.children(node, scope);
                        NONE
                    }
                }
            }
            K::Identifier => {
                let text = self.text(node);
                let name = self.builder.text(text);
                let token = self.builder.token(name, node.start_byte(), scope, Role::Bare, NONE);
                let expr = self.token_expr(token);
                self.named(text, expr, scope)
            }
            K::Attribute => {
                let target = self.visit_field(node, fields.object, scope);
                let Some(attribute) = node.child_by_field_id(fields.attribute) else { return NONE };
                self.member_type(attribute, target, scope)
            }
            K::MemberType => {
                let parts = named_children(node);
                let (Some(&object), Some(&attribute)) = (parts.first(), parts.get(1)) else { return NONE };
                let target = self.annotation(object, scope);
                self.member_type(attribute, target, scope)
            }
            K::Nothing => self.simple("None"),
            K::UnionType => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|part| self.annotation(part, scope)).collect();
                self.either(&all)
            }
            K::Binary => {
                let parts: Vec<Node<'_>> = [fields.left, fields.right]
                    .iter()
                    .filter_map(|&field| node.child_by_field_id(field))
                    .collect();
                let all: Vec<u32> = parts.into_iter().map(|part| self.annotation(part, scope)).collect();
                self.either(&all)
            }
            K::GenericType => {
                let parts = named_children(node);
                let Some(&base) = parts.first() else { return NONE };
                let arguments: Vec<Node<'_>> =
                    parts[1..].iter().flat_map(|&part| named_children(part)).collect();
                self.subscripted(base, &arguments, scope)
            }
            K::Subscript => {
                let Some(base) = node.child_by_field_id(fields.value) else { return NONE };
                let arguments = field_children(node, fields.subscript);
                self.subscripted(base, &arguments, scope)
            }
            K::List | K::Tuple => {
                let all: Vec<u32> =
                    named_children(node).into_iter().map(|part| self.annotation(part, scope)).collect();
                self.builder.builtin("()", &all)
            }
            K::String => self.quoted_string(node, scope),
            K::Concatenated | K::Ellipsis | K::Comment => NONE,
            _ => self.visit(node, scope),
        }
    }

    fn member_type(&mut self, attribute: Node<'_>, target: u32, scope: u32) -> u32 {
        let leaf = if self.kind(attribute) == K::Identifier {
            attribute
        } else {
            // In some places the grammar wraps the name.
            let mut current = attribute;
            while let Some(inner) = named_children(current).first().copied()
                && self.kind(current) == K::Type
            {
                current = inner;
            }
            current
        };
        if self.kind(leaf) != K::Identifier {
            return self.annotation(leaf, scope);
        }
        let text = self.text(leaf);
        let name = self.builder.text(text);
        let token = self.builder.token(name, leaf.start_byte(), scope, Role::Member, target);
        let expr = self.token_expr(token);
        self.named(text, expr, scope)
    }

    /// A string that is an annotation.
    pub(super) fn quoted_string(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let parts = named_children(node);
        let contents: Vec<Node<'_>> =
            parts.iter().copied().filter(|&part| self.kind(part) == K::StringContent).collect();
        let has_more = parts.iter().any(|&part| self.kind(part) == K::Interpolation);
        match contents[..] {
            [content] if !has_more && content.named_child_count() == 0 => {
                self.quoted(content.start_byte(), content.end_byte(), scope)
            }
            _ => {
                self.children(node, scope);
                NONE
            }
        }
    }

    /// The last name of what stands before the brackets.
    pub(super) fn last_name(&self, node: Node<'_>) -> &'a str {
        let text = self.text(node);
        text.rsplit('.').next().unwrap_or(text).trim()
    }

    /// A type with arguments in brackets.
    pub(super) fn subscripted(&mut self, base: Node<'_>, arguments: &[Node<'_>], scope: u32) -> u32 {
        let last = self.last_name(base).to_owned();
        let of = self.annotation(base, scope);
        match last.as_str() {
            "Literal" => {
                let mut all = Vec::new();
                for &argument in arguments {
                    let value = self.visit_unwrapped(argument, scope);
                    if value != NONE {
                        all.push(self.builder.expr(Op::TypeOf, value, NONE));
                    }
                }
                return self.either(&all);
            }
            "Annotated" => {
                let mut rest = arguments.iter();
                let first = rest.next().map_or(NONE, |&first| self.annotation(first, scope));
                for &argument in rest {
                    self.visit_unwrapped(argument, scope);
                }
                return first;
            }
            _ => {}
        }
        let is_rest = arguments.len() == 2 && self.is_ellipsis(arguments[1]);
        let parts: Vec<u32> = arguments.iter().map(|&argument| self.annotation(argument, scope)).collect();
        if is_rest && matches!(last.as_str(), "tuple" | "Tuple") {
            return self.builder.builtin("list", &parts[..1]);
        }
        self.generic(&last, of, &parts)
    }

    fn is_ellipsis(&self, node: Node<'_>) -> bool {
        self.text(node) == "..."
    }

    /// A value in a place where the grammar expects a type.
    fn visit_unwrapped(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let mut current = node;
        while self.kind(current) == K::Type
            && let [inner] = named_children(current)[..]
        {
            current = inner;
        }
        self.visit(current, scope)
    }

    /// A generic type: the forms of `typing` by what they mean, any other by its name.
    pub(super) fn generic(&mut self, last: &str, base: u32, parts: &[u32]) -> u32 {
        let first = parts.first().copied().unwrap_or(NONE);
        match last {
            "Optional" => {
                let none = self.simple("None");
                self.either(&[first, none])
            }
            "Union" => self.either(parts),
            "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" | "Unpack"
            | "Annotated" => first,
            "TypeGuard" | "TypeIs" => self.simple("bool"),
            "type" | "Type" => {
                let instance = self.builder.value_of(first);
                if instance == NONE {
                    return base;
                }
                let class = self.own(own::CLASS_OF, &[instance]);
                self.builder.expr(Op::TypeOf, class, NONE)
            }
            "Callable" => {
                let mut all = vec![parts.get(1).copied().unwrap_or(NONE)];
                let list = self.builder.facts().exprs.get(first as usize).copied();
                if let Some(expr) = list
                    && expr.op == Op::Builtin
                    && self.builder.facts().text(expr.a) == "()"
                {
                    all.extend_from_slice(self.builder.facts().list(expr.b));
                }
                self.builder.builtin("->", &all)
            }
            "tuple" | "Tuple" => self.builder.builtin("()", parts),
            _ => {
                let list = self.builder.list(parts);
                self.builder.expr(Op::Apply, base, list)
            }
        }
    }

    /// Whether brackets after this name make a type, wherever they stand.
    pub(super) fn is_type_form(name: &str) -> bool {
        matches!(
            name,
            "Optional"
                | "Union"
                | "Callable"
                | "Annotated"
                | "ClassVar"
                | "Final"
                | "Literal"
                | "Type"
                | "type"
                | "list"
                | "dict"
                | "set"
                | "frozenset"
                | "tuple"
                | "List"
                | "Dict"
                | "Set"
                | "FrozenSet"
                | "Tuple"
                | "Sequence"
                | "MutableSequence"
                | "Iterable"
                | "Iterator"
                | "Mapping"
                | "MutableMapping"
                | "Awaitable"
                | "Coroutine"
                | "Generator"
                | "AsyncGenerator"
                | "AsyncIterator"
                | "AsyncIterable"
                | "DefaultDict"
                | "OrderedDict"
                | "defaultdict"
                | "deque"
                | "Deque"
        )
    }
}
