//! A TypeScript or JavaScript file as facts. Names are seen in the whole block that declares them.

mod branch;
mod classes;
mod condition;
mod declare;
mod documented;
mod express;
mod flow;
mod functions;
mod imports;
mod jsx;
mod mentioned;
mod patterns;
mod state;
mod type_expression;

use std::sync::OnceLock;

use tree_sitter::{Node, Tree};

use crate::facts::{Builder, Kind, NONE, Op, Role, ScopeKind};
use crate::syntax::{DEEPEST, each_child, each_leaf, named_children};
use crate::{fields, kinds};

kinds! { K:
    Comment = "comment" | "hash_bang_line" | "html_comment",
    Import = "import_statement",
    ImportClause = "import_clause",
    NamespaceImport = "namespace_import",
    NamedImports = "named_imports",
    ImportSpecifier = "import_specifier",
    ImportRequire = "import_require_clause",
    ImportAlias = "import_alias",
    Export = "export_statement",
    ExportClause = "export_clause",
    ExportSpecifier = "export_specifier",
    NamespaceExport = "namespace_export",
    FunctionDeclaration = "function_declaration" | "generator_function_declaration" | "function_signature",
    FunctionExpression = "function_expression" | "generator_function",
    Arrow = "arrow_function",
    Class = "class_declaration" | "abstract_class_declaration",
    ClassExpression = "class",
    ClassBody = "class_body",
    Heritage = "class_heritage",
    Extends = "extends_clause",
    Implements = "implements_clause",
    ExtendsType = "extends_type_clause",
    StaticBlock = "class_static_block",
    Field = "public_field_definition",
    Method = "method_definition" | "method_signature" | "abstract_method_signature",
    PropertySignature = "property_signature",
    CallSignature = "call_signature",
    ConstructSignature = "construct_signature",
    IndexSignature = "index_signature",
    MappedClause = "mapped_type_clause",
    Interface = "interface_declaration",
    Alias = "type_alias_declaration",
    Enum = "enum_declaration",
    EnumBody = "enum_body",
    EnumAssignment = "enum_assignment",
    Namespace = "internal_module" | "module",
    Ambient = "ambient_declaration",
    Variables = "lexical_declaration" | "variable_declaration",
    Declarator = "variable_declarator",
    Block = "statement_block" | "switch_body",
    Loop = "for_statement" | "while_statement" | "do_statement",
    Switch = "switch_statement",
    Case = "switch_case" | "switch_default",
    Try = "try_statement",
    Statement = "expression_statement",
    Leave = "throw_statement" | "break_statement" | "continue_statement",
    Else = "else_clause",
    If = "if_statement",
    ForIn = "for_in_statement",
    Catch = "catch_clause",
    Return = "return_statement",
    Labeled = "labeled_statement",
    StatementIdentifier = "statement_identifier",
    Decorator = "decorator",
    Parameters = "formal_parameters",
    Parameter = "required_parameter" | "optional_parameter",
    Accessibility = "accessibility_modifier",
    Override = "override_modifier",
    Identifier = "identifier",
    PropertyIdentifier = "property_identifier",
    PrivateIdentifier = "private_property_identifier",
    ShorthandProperty = "shorthand_property_identifier",
    ShorthandPattern = "shorthand_property_identifier_pattern",
    ComputedName = "computed_property_name",
    ObjectPattern = "object_pattern",
    ArrayPattern = "array_pattern",
    AssignmentPattern = "assignment_pattern",
    ObjectAssignment = "object_assignment_pattern",
    PairPattern = "pair_pattern",
    RestPattern = "rest_pattern",
    Object = "object",
    Pair = "pair",
    Array = "array",
    Spread = "spread_element",
    Member = "member_expression",
    Subscript = "subscript_expression",
    Call = "call_expression",
    New = "new_expression",
    ImportWord = "import",
    Await = "await_expression",
    As = "as_expression" | "satisfies_expression",
    NonNull = "non_null_expression",
    Assertion = "type_assertion",
    Instantiation = "instantiation_expression",
    Parenthesized = "parenthesized_expression",
    Ternary = "ternary_expression",
    Binary = "binary_expression",
    Assignment = "assignment_expression",
    AugmentedAssignment = "augmented_assignment_expression",
    Sequence = "sequence_expression",
    Unary = "unary_expression",
    Template = "template_string",
    This = "this",
    Super = "super",
    Text = "string",
    TextFragment = "string_fragment",
    Number = "number",
    Truth = "true" | "false",
    Regex = "regex",
    Nothing = "null" | "undefined",
    JsxElement = "jsx_element",
    JsxOpening = "jsx_opening_element",
    JsxSelfClosing = "jsx_self_closing_element",
    JsxClosing = "jsx_closing_element",
    JsxAttribute = "jsx_attribute",
    JsxExpression = "jsx_expression",
    JsxNamespaceName = "jsx_namespace_name",
    TypeAnnotation = "type_annotation" | "adding_type_annotation" | "omitting_type_annotation" | "opting_type_annotation" | "default_type" | "constraint",
    PredicateAnnotation = "type_predicate_annotation" | "asserts_annotation" | "asserts",
    TypePredicate = "type_predicate",
    TypeIdentifier = "type_identifier",
    NestedType = "nested_type_identifier",
    NestedIdentifier = "nested_identifier",
    GenericType = "generic_type",
    PredefinedType = "predefined_type",
    ArrayType = "array_type",
    TupleType = "tuple_type",
    UnionType = "union_type",
    IntersectionType = "intersection_type",
    FunctionType = "function_type" | "constructor_type",
    ObjectType = "object_type" | "interface_body",
    TypeQuery = "type_query",
    IndexTypeQuery = "index_type_query",
    LookupType = "lookup_type",
    ConditionalType = "conditional_type",
    InferType = "infer_type",
    LiteralType = "literal_type",
    TemplateType = "template_literal_type",
    WrappedType = "parenthesized_type" | "readonly_type" | "optional_type" | "rest_type" | "flow_maybe_type",
    ThisType = "this_type",
    TypeParameters = "type_parameters",
    TypeParameter = "type_parameter",
    TypeArguments = "type_arguments",
}

fields! { Fields:
    name = "name", alias = "alias", source = "source", declaration = "declaration", value = "value",
    parameters = "parameters", parameter = "parameter", return_type = "return_type", kind = "type",
    type_parameters = "type_parameters", type_arguments = "type_arguments", body = "body", pattern = "pattern",
    left = "left", right = "right", key = "key", object = "object", property = "property", index = "index",
    function = "function", arguments = "arguments", constructor = "constructor", operator = "operator",
    condition = "condition", consequence = "consequence", alternative = "alternative", label = "label",
    module = "module", constraint = "constraint",
    index_type = "index_type", argument = "argument", handler = "handler", finalizer = "finalizer",
    initializer = "initializer", increment = "increment",
}

static PLAIN: OnceLock<(Vec<K>, Fields)> = OnceLock::new();
static WITH_JSX: OnceLock<(Vec<K>, Fields)> = OnceLock::new();

/// Bits of a file's facts.
pub(super) mod bit {
    /// It imports or exports something, so its names are its own.
    pub(in super::super) const MODULE: u32 = 1;
    /// It declares, and has no code.
    pub(in super::super) const DECLARATIONS: u32 = 2;
    /// It has a `declare global` block.
    pub(in super::super) const GLOBALS: u32 = 4 | crate::facts::NOTED;
}

use state::Extractor;

pub(super) fn extract(path: &str, tree: &Tree, builder: &mut Builder<'_>) {
    let with_jsx = super::has_jsx(path);
    let tables = if with_jsx { &WITH_JSX } else { &PLAIN };
    let (kinds, fields) = tables.get_or_init(|| {
        let grammar = if with_jsx {
            tree_sitter_typescript::LANGUAGE_TSX.into()
        } else {
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()
        };
        (K::table(&grammar), Fields::of(&grammar))
    });
    let is_declarations = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end));
    let is_script = matches!(path.rsplit('.').next(), Some("js" | "jsx" | "mjs" | "cjs"));
    let mut extractor = Extractor::new(builder, kinds, *fields);
    extractor.is_script = is_script;
    extractor.is_ambient = is_declarations;
    extractor.pragma(tree.root_node());
    extractor.find_comments();
    extractor.children(tree.root_node(), 0);
    extractor.mentions();
    extractor.share_exports();
    if is_declarations {
        builder.facts_mut().bits |= bit::DECLARATIONS;
    }
    let facts = builder.facts_mut();
    let mut exports = std::mem::take(&mut facts.exports);
    exports.sort_by_key(|export| facts.name(export.name));
    facts.exports = exports;
}

impl<'tree> Extractor<'_, '_> {
    /// Records what stands in a node; the expression that it is, or none for what has no value. `expected` is an
    /// expression that says what the value should be.
    fn visit(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = self.visit_inside(node, scope, expected);
        self.depth -= 1;
        expr
    }

    /// What lies too deep is recorded without its meaning.
    fn loose(&mut self, node: Node<'tree>, scope: u32) {
        each_leaf(node, |leaf| {
            if matches!(
                self.kind(leaf),
                K::Identifier
                    | K::PropertyIdentifier
                    | K::TypeIdentifier
                    | K::ShorthandProperty
                    | K::ShorthandPattern
                    | K::PrivateIdentifier
            ) {
                let name = self.name(leaf);
                self.builder.token(name, leaf.start_byte(), scope, Role::Loose, NONE);
            }
        });
    }

    fn children(&mut self, node: Node<'tree>, scope: u32) {
        let mut cursor = node.walk();
        each_child(&mut cursor, |child, _| {
            if child.is_named() {
                self.visit(child, scope, NONE);
            }
        });
    }

    fn visit_inside(&mut self, node: Node<'tree>, scope: u32, expected: u32) -> u32 {
        match self.kind(node) {
            K::Comment => NONE,
            K::Import => self.import(node, scope),
            K::ImportAlias => self.import_alias(node, scope),
            K::Export => self.export(node, scope),
            K::FunctionDeclaration => self.function_declaration(node, scope),
            K::Class => {
                self.class(node, scope);
                NONE
            }
            K::Interface => self.interface(node, scope),
            K::Alias => self.alias(node, scope),
            K::Enum => self.enumeration(node, scope),
            K::Namespace => self.namespace(node, scope),
            K::Ambient => self.ambient(node, scope),
            K::Variables => self.variables(node, scope),
            K::Block => {
                let block = self.block(scope, node);
                self.children(node, block);
                NONE
            }
            K::If => self.conditional(node, scope),
            K::Loop => self.repeated(node, scope),
            K::Switch => self.switch(node, scope),
            K::Try => self.attempt(node, scope),
            K::Statement => self.statement(node, scope),
            K::ForIn => self.for_in(node, scope),
            K::Catch => self.catch(node, scope),
            K::Return => self.returned(node, scope),
            K::Labeled | K::StatementIdentifier => self.labelled(node, scope),
            _ => self.expression(node, scope, expected),
        }
    }

    fn block(&mut self, scope: u32, node: Node<'tree>) -> u32 {
        self.builder.scope(scope, ScopeKind::Block, NONE, node.byte_range())
    }

    fn labelled(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        if self.kind(node) == K::StatementIdentifier {
            let name = self.name(node);
            self.builder.token(name, node.start_byte(), scope, Role::Label, NONE);
            return NONE;
        }
        let label = node.child_by_field_id(self.fields.label);
        let inner = self.block(scope, node);
        if let Some(label) = label {
            let def = self.declare(label, Kind::Label, node);
            self.builder.def(def).scope = inner;
        }
        for child in named_children(node) {
            if Some(child) != label {
                self.visit(child, inner, NONE);
            }
        }
        NONE
    }

    fn returned(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        for child in named_children(node) {
            let expected = self.expected_return;
            let value = self.visit(child, scope, expected);
            if value != NONE && self.returns.len() < 16 {
                self.returns.push(value);
            }
        }
        NONE
    }

    fn for_in(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let block = self.block(scope, node);
        let right = node.child_by_field_id(fields.right);
        let over = right.map_or(NONE, |right| self.visit(right, block, NONE));
        let operator = node.child_by_field_id(fields.operator).map_or("", |operator| operator.kind());
        let is_awaited = node.children(&mut node.walk()).any(|child| child.kind() == "await");
        let value = match operator {
            "of" if over != NONE => {
                let over = if is_awaited { self.builder.expr(Op::Enter, over, NONE) } else { over };
                self.builder.expr(Op::Element, over, NONE)
            }
            _ => {
                let text = self.builder.builtin("string", &[]);
                self.builder.value_of(text)
            }
        };
        if let Some(left) = node.child_by_field_id(fields.left) {
            let declares = node.children(&mut node.walk()).find_map(|child| match child.kind() {
                "const" | "let" => Some(block),
                "var" => Some(self.function_scope),
                _ => None,
            });
            match declares {
                Some(into) => self.pattern(left, value, NONE, into, block, node),
                None => {
                    self.visit(left, block, NONE);
                }
            }
        }
        if let Some(body) = node.child_by_field_id(fields.body) {
            self.enter_loop(body);
            let inside = self.flow.mark();
            self.visit(body, block, NONE);
            self.flow.roll_back(inside);
        }
        NONE
    }

    fn catch(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let block = self.block(scope, node);
        let declared = node.child_by_field_id(fields.kind);
        let declared = declared.map_or(NONE, |declared| self.type_expression(declared, block));
        if let Some(parameter) = node.child_by_field_id(fields.parameter) {
            self.pattern(parameter, NONE, declared, block, block, node);
        }
        if let Some(body) = node.child_by_field_id(fields.body) {
            self.children(body, block);
        }
        NONE
    }
}
