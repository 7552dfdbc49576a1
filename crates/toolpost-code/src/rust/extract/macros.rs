//! What stands between the brackets of a macro's call. Most macros take expressions or statements, so their text is
//! parsed once more as the arguments of a call, then as statements; what is neither is read name by name.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Point, Tree};

use super::format;
use super::state::Extractor;
use super::{K, each_child, each_leaf, named_children};
use crate::facts::{Kind, NONE, Op, Role, ScopeKind, space};

/// The largest call of a macro that is parsed again, in bytes.
const LARGEST: usize = 1 << 18;
/// How deep macros in macros are parsed again: each level reads its text once more.
const LEVELS: u32 = 4;

/// Macros whose texts are no formats, although they may have braces.
const TAKE_NO_FORMAT: [&str; 14] = [
    "vec",
    "include",
    "include_str",
    "include_bytes",
    "concat",
    "env",
    "option_env",
    "cfg",
    "stringify",
    "json",
    "regex",
    "quote",
    "query",
    "matches",
];

#[derive(Clone, Copy, Eq, PartialEq)]
enum Form {
    Arguments,
    Statements,
    Neither,
}

impl Extractor<'_, '_> {
    pub(super) fn macro_invocation(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let Some(name) = self.field(node, self.fields.invoked) else { return NONE };
        self.path(name, scope, space::MACRO);
        let tree = named_children(node).into_iter().find(|&child| self.kind(child) == K::TokenTree);
        let Some(tree) = tree else { return NONE };
        let range = self.range(tree);
        if range.len() <= 2 {
            return NONE;
        }
        let text = self.text(name).rsplit("::").next().unwrap_or("").trim().to_owned();
        if range.len() > LARGEST || self.macro_levels >= LEVELS {
            self.chains(tree, scope);
            return NONE;
        }
        self.macro_levels += 1;
        let value = self.again(tree, &text, scope);
        self.macro_levels -= 1;
        value
    }

    fn again(&mut self, tree: Node<'_>, name: &str, scope: u32) -> u32 {
        let range = self.range(tree);
        if name == "cfg_if" {
            self.branches(tree, scope);
            return NONE;
        }
        let inner = range.start + 1..range.end - 1;
        let Some(bytes) = self.builder.source.get(inner.clone()) else { return NONE };
        let starts_with_brace = self.builder.source.get(range.start) == Some(&b'{');
        let mut call = Vec::with_capacity(bytes.len() + 3);
        call.extend_from_slice(b"f(");
        call.extend_from_slice(bytes);
        call.extend_from_slice(b");");
        let as_call = |this: &mut Self| this.parse(&call).map(|tree| (tree, inner.start.saturating_sub(2)));
        // Statics that are made when they are first used are written with a word of their own.
        let plain = replace(bytes, b"static ref ", b"static     ");
        let as_statements = |this: &mut Self| this.parse(&plain).map(|tree| (tree, inner.start));
        let parsed = match self.form(tree) {
            Form::Neither => None,
            Form::Statements => as_statements(self),
            Form::Arguments if starts_with_brace => as_statements(self).or_else(|| as_call(self)),
            Form::Arguments => as_call(self),
        };
        let Some((parsed, base)) = parsed else {
            self.chains(tree, scope);
            return NONE;
        };
        let before = std::mem::replace(&mut self.base, base);
        let value = if base == inner.start {
            self.children(parsed.root_node(), scope);
            NONE
        } else {
            self.arguments_of_macro(parsed.root_node(), name, scope)
        };
        self.base = before;
        value
    }

    /// The branches of a choice between alternatives: what they declare belongs to the scope around.
    fn branches(&mut self, tree: Node<'_>, scope: u32) {
        for child in named_children(tree) {
            let is_branch = self.kind(child) == K::TokenTree
                && self.builder.source.get(self.start(child)) == Some(&b'{')
                && child.byte_range().len() > 2;
            if is_branch {
                self.again(child, "", scope);
            }
        }
    }

    /// What the text between the brackets of a macro can be, by its outermost tokens. To find out by parsing is dear.
    fn form(&self, tree: Node<'_>) -> Form {
        let mut form = Form::Arguments;
        let mut after_operand = false;
        let mut after_hash = false;
        let mut cursor = tree.walk();
        each_child(&mut cursor, |child, _| {
            let kind = self.kind(child);
            let is_operand = matches!(
                kind,
                K::Identifier
                    | K::Text
                    | K::Integer
                    | K::Float
                    | K::Boolean
                    | K::Character
                    | K::PrimitiveType
            );
            // Words of the language that the grammar takes for names between the brackets of a macro.
            let is_word =
                kind == K::Identifier && matches!(self.text(child), "dyn" | "extern" | "union" | "auto");
            let is_operand = is_operand && !is_word;
            let is_inner = after_hash && child.kind() == "!";
            match child.kind() {
                _ if is_operand && after_operand => form = Form::Neither,
                _ if after_hash && kind != K::TokenTree && !is_inner => form = Form::Neither,
                "=>" | "$" | "metavariable" | "token_repetition" => form = Form::Neither,
                ";" if form == Form::Arguments => form = Form::Statements,
                _ => {}
            }
            after_operand = is_operand;
            after_hash = child.kind() == "#" || is_inner;
        });
        form
    }

    /// The tree of a text without errors.
    fn parse(&mut self, text: &[u8]) -> Option<Tree> {
        if self.failures_left == 0 {
            return None;
        }
        let parser = match &mut self.parser {
            Some(parser) => parser,
            none => {
                let mut parser = tree_sitter::Parser::new();
                parser.set_language(&tree_sitter_rust::LANGUAGE.into()).ok()?;
                none.insert(parser)
            }
        };
        // What is no code is given up at the first error: to recover from it would cost far more than to read it.
        let mut give_up = |state: &ParseState| {
            if state.has_error() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut give_up);
        let mut input = |offset: usize, _: Point| text.get(offset..).unwrap_or(&[]);
        let tree = parser.parse_with_options(&mut input, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        let tree = tree.filter(|tree| !tree.root_node().has_error());
        if tree.is_none() {
            self.failures_left -= 1;
        }
        tree
    }

    /// The arguments of the call that a macro was read as. What the well-known ones give is known.
    fn arguments_of_macro(&mut self, root: Node<'_>, name: &str, scope: u32) -> u32 {
        let statement = named_children(root).first().copied();
        let call = statement.and_then(|statement| named_children(statement).first().copied());
        let list = call.and_then(|call| self.field(call, self.fields.arguments));
        let Some(list) = list else {
            self.children(root, scope);
            return NONE;
        };
        let mut values = Vec::new();
        let arguments = named_children(list);
        let given: Vec<&str> = arguments
            .iter()
            .filter(|argument| self.kind(**argument) == K::Assignment)
            .filter_map(|argument| self.field(*argument, self.fields.left))
            .map(|left| self.text(left))
            .collect();
        if !TAKE_NO_FORMAT.contains(&name) {
            let texts = arguments.iter().filter(|argument| self.kind(**argument) == K::Text);
            for text in texts.copied().collect::<Vec<_>>() {
                self.format_names(text, scope, &given);
            }
        }
        for (index, argument) in arguments.into_iter().enumerate() {
            let is_pattern = index == 1 && matches!(name, "matches" | "assert_matches");
            let is_named = self.kind(argument) == K::Assignment;
            if is_pattern {
                let inner = self.block(scope, argument);
                self.pattern_of_macro(argument, inner);
            } else if index == 0 && self.is_item_name(argument, scope) {
                let def = self.declare(argument, Kind::Function, argument);
                self.builder.def(def).scope = scope;
            } else if is_named {
                // A name for the text, not a variable.
                if let Some(right) = self.field(argument, self.fields.right) {
                    self.visit(right, scope);
                }
            } else if self.kind(argument) == K::Identifier {
                values.push(self.macro_name(argument, scope, space::VALUE | space::TYPE));
            } else {
                values.push(self.visit(argument, scope));
            }
        }
        match name {
            "vec" => {
                let first = values.first().copied().unwrap_or(NONE);
                let element = if first == NONE { NONE } else { self.builder.expr(Op::TypeOf, first, NONE) };
                let list = self.builder.builtin("Vec", &[element]);
                self.builder.value_of(list)
            }
            "format" => {
                let text = self.builder.builtin("String", &[]);
                self.builder.value_of(text)
            }
            "dbg" => values.first().copied().unwrap_or(NONE),
            _ => NONE,
        }
    }

    /// The variables that the text of a format names: `{name}`, `{name:?}`, `{:width$.precision$}`. `given` are arguments
    /// with names of their own.
    fn format_names(&mut self, node: Node<'_>, scope: u32, given: &[&str]) {
        let start = self.start(node);
        for (at, name) in format::names(self.text(node)) {
            if !given.contains(&name) {
                let name = self.builder.text(name);
                let token = self.builder.token(name, start + at, scope, Role::Bare, NONE);
                self.builder.token_mut(token).space = space::VALUE;
            }
        }
    }

    /// Whether an argument of a macro among items names what the macro makes: by the conventions of the language a
    /// name that is no type.
    fn is_item_name(&self, node: Node<'_>, scope: u32) -> bool {
        let among_items =
            self.builder.facts().scope(scope).is_some_and(|scope| scope.kind == ScopeKind::Module);
        among_items && self.kind(node) == K::Identifier && self.text(node).starts_with(char::is_lowercase)
    }

    /// A pattern that was read as an expression: calls are structures, bare names in them are new.
    fn pattern_of_macro(&mut self, node: Node<'_>, scope: u32) {
        if self.kind(node) == K::Identifier && !self.text(node).starts_with(char::is_uppercase) {
            return;
        }
        self.visit(node, scope);
    }

    /// Reads names one by one; what stands in braces may be code by itself.
    pub(super) fn chains(&mut self, tree: Node<'_>, scope: u32) {
        let mut last = None;
        let mut cursor = tree.walk();
        each_child(&mut cursor, |child, _| {
            let is_block = self.kind(child) == K::TokenTree
                && self.builder.source.get(self.start(child)) == Some(&b'{')
                && child.byte_range().len() > 2;
            if is_block && self.macro_levels < LEVELS {
                self.macro_levels += 1;
                let inner = self.block(scope, child);
                self.again(child, "", inner);
                self.macro_levels -= 1;
                last = None;
            } else {
                each_leaf(child, |leaf| self.link(leaf, scope, &mut last));
            }
        });
    }

    /// One name of a chain: after `.` it belongs to the value before it if that is a name, after `::` to the path
    /// before it.
    fn link(&mut self, leaf: Node<'_>, scope: u32, last: &mut Option<(usize, u32)>) {
        let kind = self.kind(leaf);
        let range = self.range(leaf);
        if !matches!(kind, K::Identifier | K::SelfWord | K::Crate | K::Super) {
            return;
        }
        let joint = last.map(|(end, expr)| (self.builder.slice(end, range.start).trim(), expr));
        let before = self.builder.source.get(range.start.wrapping_sub(1)).copied();
        let is_macro = self.builder.source.get(range.end) == Some(&b'!');
        let expr = match joint {
            Some(("." | "::", target)) => self.member(leaf, scope, target, space::ANY),
            _ if kind == K::Crate || kind == K::Super => self.path_word(leaf, scope, NONE),
            _ if before == Some(b'.') => {
                // The value before the dot is a call or a literal.
                let name = self.name(leaf);
                self.builder.token(name, range.start, scope, Role::Member, NONE);
                NONE
            }
            _ if before == Some(b'$') => NONE,
            _ if is_macro => self.bare(leaf, scope, space::MACRO),
            _ => self.macro_name(leaf, scope, space::ANY),
        };
        *last = (expr != NONE).then_some((range.end, expr));
    }
}

/// The bytes with each occurrence of some replaced by as many others.
fn replace<'b>(bytes: &'b [u8], from: &[u8], to: &[u8]) -> Cow<'b, [u8]> {
    let places: Vec<usize> = memchr::memmem::find_iter(bytes, from).collect();
    if places.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut owned = bytes.to_vec();
    for at in places {
        owned[at..at + from.len()].copy_from_slice(to);
    }
    Cow::Owned(owned)
}
