//! A Go file as facts. Blocks bind names from where they are declared on; the package binds them everywhere.

mod declare;
mod express;
mod state;

use std::sync::OnceLock;

use tree_sitter::{Node, Tree};

use super::build;
use crate::facts::{Builder, Kind, NONE, Op, Role, ScopeKind, space};
use crate::syntax::{DEEPEST, each_child, each_leaf, field_children, named_children};
use crate::{fields, kinds};

kinds! { K:
    Comment = "comment",
    PackageClause = "package_clause",
    ImportSpec = "import_spec",
    Function = "function_declaration",
    Method = "method_declaration",
    FuncLiteral = "func_literal",
    Const = "const_declaration",
    ConstSpec = "const_spec",
    VarSpec = "var_spec",
    TypeSpec = "type_spec",
    TypeAlias = "type_alias",
    Identifier = "identifier",
    TypeIdentifier = "type_identifier",
    FieldIdentifier = "field_identifier",
    PackageIdentifier = "package_identifier",
    LabelName = "label_name",
    Blank = "blank_identifier",
    Dot = "dot",
    QualifiedType = "qualified_type",
    PointerType = "pointer_type",
    ParenthesizedType = "parenthesized_type",
    SliceType = "slice_type",
    ArrayType = "array_type" | "implicit_length_array_type",
    MapType = "map_type",
    ChannelType = "channel_type",
    FunctionType = "function_type",
    StructType = "struct_type",
    InterfaceType = "interface_type",
    GenericType = "generic_type",
    NegatedType = "negated_type",
    TypeElem = "type_elem",
    TypeConstraint = "type_constraint",
    MethodElem = "method_elem",
    FieldDeclaration = "field_declaration",
    FieldList = "field_declaration_list",
    ParameterList = "parameter_list",
    Parameter = "parameter_declaration",
    VariadicParameter = "variadic_parameter_declaration",
    TypeParameter = "type_parameter_declaration",
    Block = "block",
    ShortVar = "short_var_declaration",
    Assignment = "assignment_statement",
    For = "for_statement",
    RangeClause = "range_clause",
    If = "if_statement",
    Switch = "expression_switch_statement",
    TypeSwitch = "type_switch_statement",
    TypeCase = "type_case",
    Case = "expression_case" | "default_case" | "communication_case",
    Receive = "receive_statement",
    Labeled = "labeled_statement",
    ExpressionList = "expression_list",
    Selector = "selector_expression",
    Call = "call_expression",
    Index = "index_expression",
    Slice = "slice_expression",
    Assertion = "type_assertion_expression",
    Conversion = "type_conversion_expression",
    Instantiation = "type_instantiation_expression",
    Composite = "composite_literal",
    LiteralValue = "literal_value",
    LiteralElement = "literal_element",
    KeyedElement = "keyed_element",
    Unary = "unary_expression",
    Binary = "binary_expression",
    Parenthesized = "parenthesized_expression",
    Text = "interpreted_string_literal" | "raw_string_literal",
    Number = "int_literal" | "float_literal" | "imaginary_literal" | "rune_literal" | "iota",
    Truth = "true" | "false",
    Nothing = "nil",
    ArgumentList = "argument_list",
    TypeArguments = "type_arguments",
}

fields! { Fields:
    name = "name", path = "path", body = "body", parameters = "parameters", result = "result",
    receiver = "receiver", type_parameters = "type_parameters", kind = "type", value = "value", left = "left",
    right = "right", initializer = "initializer",
    alias = "alias", operand = "operand", field = "field", function = "function",
    arguments = "arguments", type_arguments = "type_arguments", element = "element", key = "key",
    package = "package", label = "label", operator = "operator",
    length = "length",
}

static TABLES: OnceLock<(Vec<K>, Fields)> = OnceLock::new();

use state::Extractor;

pub(super) fn extract(path: &str, tree: &Tree, builder: &mut Builder<'_>) {
    let (kinds, fields) = TABLES.get_or_init(|| {
        let grammar = tree_sitter_go::LANGUAGE.into();
        (K::table(&grammar), Fields::of(&grammar))
    });
    builder.facts_mut().bits = u32::from(build::is_built(path, builder.source));
    let mut extractor = Extractor::new(builder, kinds, *fields);
    extractor.visit(tree.root_node(), 0);
}

impl Extractor<'_, '_> {
    /// Records what stands in a node; the expression that it is, or none for what has no value.
    fn visit(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.depth >= DEEPEST {
            self.loose(node, scope);
            return NONE;
        }
        self.depth += 1;
        let expr = self.visit_inside(node, scope);
        self.depth -= 1;
        expr
    }

    /// What lies too deep is recorded without its meaning.
    fn loose(&mut self, node: Node<'_>, scope: u32) {
        each_leaf(node, |leaf| {
            if matches!(self.kind(leaf), K::Identifier | K::FieldIdentifier | K::TypeIdentifier) {
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

    fn visit_inside(&mut self, node: Node<'_>, scope: u32) -> u32 {
        match self.kind(node) {
            K::Comment | K::Blank => NONE,
            K::PackageClause => self.package(node),
            K::ImportSpec => self.import(node),
            K::Function => self.function(node),
            K::Method => self.method(node),
            K::Const => self.constants(node, scope),
            K::VarSpec | K::ConstSpec => {
                self.variables(node, scope);
                NONE
            }
            K::TypeSpec | K::TypeAlias => self.type_declaration(node, scope),
            K::Block => {
                let block = self.block(scope, node);
                self.children(node, block);
                NONE
            }
            K::ShortVar => self.short_variables(node, scope),
            K::For => self.looped(node, scope),
            K::If | K::Switch => {
                let block = self.block(scope, node);
                self.children(node, block);
                NONE
            }
            K::Case => self.case(node, scope),
            K::TypeSwitch => self.type_switch(node, scope),
            K::Labeled | K::LabelName => self.labelled(node, scope),
            _ => self.expression(node, scope),
        }
    }

    fn block(&mut self, scope: u32, node: Node<'_>) -> u32 {
        self.builder.scope(scope, ScopeKind::Block, NONE, node.byte_range())
    }

    fn labelled(&mut self, node: Node<'_>, scope: u32) -> u32 {
        if self.kind(node) == K::LabelName {
            let name = self.name(node);
            self.builder.token(name, node.start_byte(), scope, Role::Label, NONE);
            return NONE;
        }
        let label = node.child_by_field_id(self.fields.label);
        if let Some(label) = label {
            let def = self.declare(label, Kind::Label, node);
            self.builder.def(def).scope = self.function_scope;
        }
        for child in named_children(node) {
            if Some(child) != label {
                self.visit(child, scope);
            }
        }
        NONE
    }

    fn case(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let inner = self.block(scope, node);
        for child in named_children(node) {
            if self.kind(child) != K::Receive {
                self.visit(child, inner);
                continue;
            }
            let value = child.child_by_field_id(self.fields.right).map(|right| self.visit(right, inner));
            let defines = child.children(&mut child.walk()).any(|part| part.kind() == ":=");
            if let Some(left) = child.child_by_field_id(self.fields.left) {
                for (index, target) in named_children(left).into_iter().enumerate() {
                    if defines && self.kind(target) == K::Identifier {
                        let def = self.local(target, inner, child.end_byte());
                        self.builder.def(def).value = if index == 0 { value.unwrap_or(NONE) } else { NONE };
                    } else {
                        self.visit(target, inner);
                    }
                }
            }
        }
        NONE
    }

    fn short_variables(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let (Some(left), Some(right)) =
            (node.child_by_field_id(self.fields.left), node.child_by_field_id(self.fields.right))
        else {
            self.children(node, scope);
            return NONE;
        };
        let values: Vec<u32> =
            named_children(right).into_iter().map(|value| self.visit(value, scope)).collect();
        let targets = named_children(left);
        self.assign(&targets, &values, scope, node.end_byte());
        NONE
    }

    /// Binds the names on the left of `:=` that are new here.
    fn assign(&mut self, targets: &[Node<'_>], values: &[u32], scope: u32, visible: usize) {
        for (index, &target) in targets.iter().enumerate() {
            if self.kind(target) != K::Identifier {
                self.visit(target, scope);
                continue;
            }
            let name = self.name(target);
            if self.is_bound(scope, name) {
                self.builder.token(name, target.start_byte(), scope, Role::Bare, NONE);
                continue;
            }
            let value = self.value_at(values, targets.len(), index);
            let def = self.local(target, scope, visible);
            self.builder.def(def).value = value;
        }
    }

    /// The value of one of several variables: its own, or its part of what one call returns.
    fn value_at(&mut self, values: &[u32], targets: usize, index: usize) -> u32 {
        if values.len() == targets {
            return values[index];
        }
        match values {
            [NONE] => NONE,
            [one] => self.builder.expr(Op::At, *one, index as u32),
            _ => NONE,
        }
    }

    fn looped(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let block = self.block(scope, node);
        for child in named_children(node) {
            if self.kind(child) != K::RangeClause {
                self.visit(child, block);
                continue;
            }
            let right = child.child_by_field_id(self.fields.right);
            let over = right.map_or(NONE, |right| self.visit(right, block));
            let defines = child.children(&mut child.walk()).any(|part| part.kind() == ":=");
            let Some(left) = child.child_by_field_id(self.fields.left) else { continue };
            let values: Vec<u32> = [Op::Key, Op::Element]
                .into_iter()
                .map(|op| if over == NONE { NONE } else { self.builder.expr(op, over, NONE) })
                .collect();
            for (index, target) in named_children(left).into_iter().enumerate() {
                if defines && self.kind(target) == K::Identifier {
                    let def = self.local(target, block, child.end_byte());
                    self.builder.def(def).value = values.get(index).copied().unwrap_or(NONE);
                } else {
                    self.visit(target, block);
                }
            }
        }
        NONE
    }

    /// Each case of a type switch sees the variable with the type of the case.
    fn type_switch(&mut self, node: Node<'_>, scope: u32) -> u32 {
        let block = self.block(scope, node);
        let fields = self.fields;
        if let Some(first) = node.child_by_field_id(fields.initializer) {
            self.visit(first, block);
        }
        let value = node.child_by_field_id(fields.value).map_or(NONE, |value| self.visit(value, block));
        let alias =
            node.child_by_field_id(fields.alias).and_then(|list| named_children(list).into_iter().next());
        let alias = alias.filter(|&alias| self.kind(alias) == K::Identifier);
        let variable = alias.map(|alias| {
            let def = self.local(alias, block, node.start_byte());
            self.builder.def(def).value = value;
            (alias, def)
        });
        for child in named_children(node) {
            if !matches!(self.kind(child), K::TypeCase | K::Case) {
                continue;
            }
            let inner = self.block(block, child);
            let types = field_children(child, fields.kind);
            let named: Vec<u32> = types.iter().map(|&of| self.type_expression(of, inner)).collect();
            if let Some((alias, def)) = variable {
                let name = self.name(alias);
                let narrowed =
                    self.builder.define(name, Kind::Variable, alias.start_byte(), alias.byte_range());
                let one = if let [one] = named[..] { one } else { NONE };
                let narrow = self.builder.def(narrowed);
                (narrow.scope, narrow.same) = (inner, def);
                if one == NONE {
                    narrow.value = value;
                } else {
                    narrow.declared = one;
                }
            }
            for part in named_children(child) {
                if !types.contains(&part) {
                    self.visit(part, inner);
                }
            }
        }
        NONE
    }

    /// A bare name.
    fn bare(&mut self, node: Node<'_>, scope: u32, space: u8) -> u32 {
        if self.text(node) == "_" {
            return NONE;
        }
        let name = self.name(node);
        let token = self.builder.token(name, node.start_byte(), scope, Role::Bare, NONE);
        self.builder.token_mut(token).space = space;
        self.builder.expr(Op::Token, token, NONE)
    }

    fn any_name(&mut self, node: Node<'_>, scope: u32) -> u32 {
        self.bare(node, scope, space::ANY)
    }
}
