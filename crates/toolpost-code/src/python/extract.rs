//! A Python file as facts. Names belong to the function, class or module that binds them; what a variable is at a
//! place follows from the assignments and tests on the way there.

mod annotate;
mod assign;
mod condition;
mod declare;
mod express;
mod flow;
mod imports;
mod literal;
mod quoted;
mod state;
mod statement;

use std::sync::OnceLock;

use tree_sitter::{Node, Tree};

use crate::facts::{Builder, NONE, Role};
use crate::syntax::{DEEPEST, each_child, each_leaf, field_children, named_children};
use crate::{fields, kinds};
use state::Extractor;

kinds! { K:
    Comment = "comment" | "line_continuation",
    Identifier = "identifier",
    DottedName = "dotted_name",
    Block = "block" | "module",
    ExpressionStatement = "expression_statement",
    Assignment = "assignment",
    Augmented = "augmented_assignment",
    Return = "return_statement",
    Raise = "raise_statement",
    Leave = "break_statement" | "continue_statement",
    Yield = "yield",
    Assert = "assert_statement",
    Delete = "delete_statement",
    Global = "global_statement",
    Nonlocal = "nonlocal_statement",
    Import = "import_statement",
    ImportFrom = "import_from_statement",
    FutureImport = "future_import_statement",
    AliasedImport = "aliased_import",
    RelativeImport = "relative_import",
    WildcardImport = "wildcard_import",
    If = "if_statement",
    Elif = "elif_clause",
    Else = "else_clause",
    While = "while_statement",
    For = "for_statement",
    Try = "try_statement",
    Except = "except_clause" | "except_group_clause",
    Finally = "finally_clause",
    With = "with_statement",
    WithClause = "with_clause",
    WithItem = "with_item",
    Match = "match_statement",
    Case = "case_clause",
    CasePattern = "case_pattern",
    ClassPattern = "class_pattern",
    KeywordPattern = "keyword_pattern",
    IfClause = "if_clause",
    ForIn = "for_in_clause",
    Function = "function_definition",
    Class = "class_definition",
    Decorated = "decorated_definition",
    Decorator = "decorator",
    Lambda = "lambda",
    TypedParameter = "typed_parameter",
    DefaultParameter = "default_parameter",
    TypedDefault = "typed_default_parameter",
    ListSplatPattern = "list_splat_pattern" | "splat_pattern",
    DictSplatPattern = "dictionary_splat_pattern",
    TypeAlias = "type_alias_statement",
    Type = "type",
    GenericType = "generic_type",
    UnionType = "union_type",
    MemberType = "member_type",
    ConstrainedType = "constrained_type",
    SplatType = "splat_type",
    TypeParameter = "type_parameter",
    Attribute = "attribute",
    Subscript = "subscript",
    Slice = "slice",
    Call = "call",
    KeywordArgument = "keyword_argument",
    ListSplat = "list_splat" | "parenthesized_list_splat",
    DictSplat = "dictionary_splat",
    Await = "await",
    Binary = "binary_operator",
    Boolean = "boolean_operator",
    Comparison = "comparison_operator",
    Not = "not_operator",
    Unary = "unary_operator",
    Conditional = "conditional_expression",
    Named = "named_expression",
    AsPattern = "as_pattern",
    AsPatternTarget = "as_pattern_target",
    Parenthesized = "parenthesized_expression",
    ExpressionList = "expression_list",
    Tuple = "tuple",
    List = "list",
    Set = "set",
    Dictionary = "dictionary",
    Pair = "pair",
    PatternList = "pattern_list",
    TuplePattern = "tuple_pattern",
    ListPattern = "list_pattern",
    ListComprehension = "list_comprehension",
    SetComprehension = "set_comprehension",
    DictComprehension = "dictionary_comprehension",
    Generator = "generator_expression",
    String = "string",
    Concatenated = "concatenated_string",
    StringContent = "string_content",
    Interpolation = "interpolation",
    Integer = "integer",
    Float = "float",
    Truth = "true" | "false",
    Nothing = "none",
    Ellipsis = "ellipsis",
}

fields! { Fields:
    name = "name", module_name = "module_name", alias = "alias", body = "body", parameters = "parameters",
    return_type = "return_type", type_parameters = "type_parameters", superclasses = "superclasses", kind = "type",
    value = "value", left = "left", right = "right", definition = "definition", condition = "condition",
    consequence = "consequence", alternative = "alternative", subject = "subject", guard = "guard",
    object = "object", attribute = "attribute", subscript = "subscript", function = "function",
    arguments = "arguments", operator = "operator", argument = "argument", key = "key",
    operators = "operators",
}

static TABLES: OnceLock<(Vec<K>, Fields)> = OnceLock::new();

pub(super) fn extract(tree: &Tree, builder: &mut Builder<'_>) {
    let (kinds, fields) = TABLES.get_or_init(|| {
        let grammar = tree_sitter_python::LANGUAGE.into();
        (K::table(&grammar), Fields::of(&grammar))
    });
    let mut extractor = Extractor::new(builder, kinds, *fields);
    extractor.visit(tree.root_node(), 0);
    extractor.finish();
}

impl Extractor<'_, '_> {
    /// Records what stands in a node; the expression that it is, or none for what has no value.
    fn visit(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = self.statement(node, scope);
        self.depth -= 1;
        expr
    }

    fn visit_field(&mut self, node: Node<'_>, field: u16, scope: u32) -> u32 {
        node.child_by_field_id(field).map_or(NONE, |child| self.visit(child, scope))
    }

    /// What lies too deep is recorded without its meaning.
    fn loose(&mut self, node: Node<'_>, scope: u32) {
        each_leaf(node, |leaf| {
            if self.kind(leaf) == K::Identifier {
                let name = self.name(leaf);
                self.builder.token(name, leaf.start_byte(), scope, Role::Loose, NONE);
            }
        });
    }

    fn children(&mut self, node: Node<'_>, scope: u32) {
        let mut cursor = node.walk();
        each_child(&mut cursor, |child, _| {
            if child.is_named() {
                self.visit(child, scope);
            }
        });
    }
}
