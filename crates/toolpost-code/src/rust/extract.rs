//! A Rust file as facts. Items are seen in their whole block, variables from their `let` on; what stands in macros is
//! read once more as the code it most likely is.

mod alternatives;
mod express;
mod format;
mod item;
mod macros;
mod pattern;
mod state;
mod type_expression;

use std::sync::OnceLock;

use tree_sitter::{Node, Tree};

use crate::facts::{Builder, NONE, Role, ScopeKind, space};
use crate::syntax::{DEEPEST, each_child, each_leaf, field_children, named_children};
use crate::{fields, kinds};
use state::Extractor;

kinds! { K:
    Comment = "line_comment" | "block_comment",
    Attribute = "attribute_item" | "inner_attribute_item",
    Visibility = "visibility_modifier",
    Mod = "mod_item",
    Use = "use_declaration",
    UseAs = "use_as_clause",
    UseList = "use_list",
    ScopedUseList = "scoped_use_list",
    UseWildcard = "use_wildcard",
    ExternCrate = "extern_crate_declaration",
    Function = "function_item" | "function_signature_item",
    Struct = "struct_item",
    UnionItem = "union_item",
    Enum = "enum_item",
    EnumVariant = "enum_variant",
    FieldList = "field_declaration_list",
    OrderedFieldList = "ordered_field_declaration_list",
    FieldDeclaration = "field_declaration",
    Trait = "trait_item",
    Impl = "impl_item",
    TypeItem = "type_item",
    AssociatedType = "associated_type",
    Const = "const_item",
    Static = "static_item",
    MacroDefinition = "macro_definition",
    MacroInvocation = "macro_invocation",
    TokenTree = "token_tree",
    Identifier = "identifier",
    TypeIdentifier = "type_identifier",
    FieldIdentifier = "field_identifier",
    Shorthand = "shorthand_field_identifier",
    ScopedIdentifier = "scoped_identifier" | "scoped_type_identifier",
    Crate = "crate",
    SelfWord = "self",
    Super = "super",
    Metavariable = "metavariable",
    Lifetime = "lifetime",
    Label = "label",
    PrimitiveType = "primitive_type",
    GenericType = "generic_type" | "generic_type_with_turbofish",
    GenericFunction = "generic_function",
    ReferenceType = "reference_type",
    PointerType = "pointer_type",
    TupleType = "tuple_type",
    UnitType = "unit_type",
    ArrayType = "array_type",
    FunctionType = "function_type",
    DynamicType = "dynamic_type" | "abstract_type",
    BoundedType = "bounded_type",
    BracketedType = "bracketed_type",
    QualifiedType = "qualified_type",
    NeverType = "never_type",
    TypeBinding = "type_binding",
    TypeParameter = "type_parameter",
    ConstParameter = "const_parameter",
    LifetimeParameter = "lifetime_parameter",
    HigherRanked = "higher_ranked_trait_bound",
    RemovedBound = "removed_trait_bound",
    TraitBounds = "trait_bounds",
    WherePredicate = "where_predicate",
    WhereClause = "where_clause",
    Parameter = "parameter",
    SelfParameter = "self_parameter",
    Block = "block",
    Let = "let_declaration",
    LetCondition = "let_condition",
    If = "if_expression",
    While = "while_expression",
    For = "for_expression",
    Match = "match_expression",
    MatchArm = "match_arm",
    MatchPattern = "match_pattern",
    Closure = "closure_expression",
    Call = "call_expression",
    Field = "field_expression",
    Index = "index_expression",
    Reference = "reference_expression",
    Unary = "unary_expression",
    Binary = "binary_expression",
    Assignment = "assignment_expression" | "compound_assignment_expr",
    Parenthesized = "parenthesized_expression",
    Tuple = "tuple_expression",
    Array = "array_expression",
    StructExpression = "struct_expression",
    FieldInitializer = "field_initializer",
    ShorthandInitializer = "shorthand_field_initializer",
    BaseInitializer = "base_field_initializer",
    Try = "try_expression",
    Await = "await_expression",
    Cast = "type_cast_expression",
    Range = "range_expression",
    Return = "return_expression" | "break_expression" | "yield_expression",
    Text = "string_literal" | "raw_string_literal",
    Character = "char_literal",
    Integer = "integer_literal",
    Float = "float_literal",
    Boolean = "boolean_literal",
    Unit = "unit_expression",
    AsyncBlock = "async_block" | "gen_block",
    WrappedBlock = "unsafe_block" | "const_block" | "try_block",
    Else = "else_clause",
    ExpressionStatement = "expression_statement",
    TupleStructPattern = "tuple_struct_pattern",
    StructPattern = "struct_pattern",
    FieldPattern = "field_pattern",
    TuplePattern = "tuple_pattern",
    SlicePattern = "slice_pattern",
    OrPattern = "or_pattern",
    CapturedPattern = "captured_pattern",
    WrappingPattern = "mut_pattern" | "ref_pattern" | "reference_pattern",
    GenericPattern = "generic_pattern",
    RangePattern = "range_pattern",
    Mutable = "mutable_specifier",
    StringContent = "string_content",
}

fields! { Fields:
    name = "name", body = "body", parameters = "parameters", return_type = "return_type",
    type_parameters = "type_parameters", kind = "type", value = "value", pattern = "pattern",
    condition = "condition", consequence = "consequence", alternative = "alternative", path = "path", list = "list",
    alias = "alias", argument = "argument", bounds = "bounds", left = "left", right = "right",
    operator = "operator", function = "function", arguments = "arguments", type_arguments = "type_arguments",
    field = "field", implemented = "trait", element = "element", length = "length", invoked = "macro",
    default_type = "default_type",
}

static TABLES: OnceLock<(Vec<K>, Fields)> = OnceLock::new();

pub(super) fn extract(tree: &Tree, builder: &mut Builder<'_>) {
    let (kinds, fields) = TABLES.get_or_init(|| {
        let grammar = tree_sitter_rust::LANGUAGE.into();
        (K::table(&grammar), Fields::of(&grammar))
    });
    let mut extractor = Extractor::new(builder, kinds, *fields);
    extractor.children(tree.root_node(), 0);
    alternatives::join(builder.facts_mut());
}

impl Extractor<'_, '_> {
    /// Records what stands in a node; the expression that it is, or none for what has no value.
    fn visit(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = match self.kind(node) {
            K::Comment | K::Visibility | K::Metavariable => NONE,
            K::Lifetime => self.lifetime(node, scope),
            K::Label => self.label(node, scope),
            K::Attribute => self.attribute(node, scope),
            K::Mod => self.module(node, scope),
            K::Use => self.use_declaration(node, scope),
            K::ExternCrate => self.extern_crate(node, scope),
            K::Function => self.function(node, scope, NONE),
            K::Struct | K::UnionItem => self.structure(node, scope),
            K::Enum => self.enumeration(node, scope),
            K::Trait => self.trait_item(node, scope),
            K::Impl => self.impl_item(node, scope),
            K::TypeItem | K::AssociatedType => self.type_item(node, scope, NONE),
            K::Const | K::Static => self.constant(node, scope, NONE),
            K::MacroDefinition => self.macro_definition(node, scope),
            K::Let => self.let_declaration(node, scope),
            _ => self.expression(node, scope),
        };
        self.depth -= 1;
        expr
    }

    /// What lies too deep or in no known form is recorded without its meaning.
    fn loose(&mut self, node: Node<'_>, scope: u32) {
        each_leaf(node, |leaf| {
            if matches!(self.kind(leaf), K::Identifier | K::FieldIdentifier | K::TypeIdentifier) {
                let name = self.name(leaf);
                let start = self.start(leaf);
                self.builder.token(name, start, scope, Role::Loose, NONE);
            }
        });
    }

    /// Visits every child; the value of the last.
    fn children(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let mut cursor = node.walk();
        let mut last = NONE;
        each_child(&mut cursor, |child, _| {
            if child.is_named() && !child.is_extra() {
                last = self.visit(child, scope);
            }
        });
        last
    }

    fn block(&mut self, scope: u32, node: Node<'_>) -> u32 {
        let range = self.range(node);
        self.builder.scope(scope, ScopeKind::Block, NONE, range)
    }

    /// Names of derived traits; what other attributes hold is no code.
    fn attribute(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let text = self.text(node);
        let word = text.trim_start_matches(['#', '!', '[', ' ']);
        let is_derive = word.starts_with("derive");
        self.has_macro_attribute |= word.starts_with("macro_use") || word.starts_with("macro_export");
        // `path = "…"`, also where it holds under a condition: `cfg_attr(windows, path = "…")`.
        let path = match word.strip_prefix("cfg_attr") {
            Some(rest) => rest.split_once("path").map(|(_, rest)| rest),
            None => word.strip_prefix("path"),
        };
        if let Some(path) = path.map(str::trim_start).and_then(|rest| rest.strip_prefix('=')) {
            self.path_attribute = path.split('"').nth(1).map(str::to_owned);
        }
        if !is_derive {
            return NONE;
        }
        let mut last_end = 0;
        each_leaf(node, |leaf| {
            if self.kind(leaf) == K::Identifier && self.text(leaf) != "derive" {
                let is_path = self.builder.slice(last_end, self.start(leaf)).trim().ends_with("::");
                if !is_path {
                    let name = self.name(leaf);
                    let start = self.start(leaf);
                    let token = self.builder.token(name, start, scope, Role::Bare, NONE);
                    self.builder.token_mut(token).space = space::MACRO;
                    self.derives.push((name, start));
                }
                last_end = self.start(leaf) + leaf.byte_range().len();
            }
        });
        NONE
    }
}
