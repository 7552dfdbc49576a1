//! JSX: tags are components or elements of the page, attributes are properties of what the tag takes.

use tree_sitter::Node;

use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{NONE, space};
use crate::typescript::own::{self, own};

impl<'tree> Extractor<'_, '_> {
    pub(super) fn jsx(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        match self.kind(node) {
            K::JsxElement => self.children(node, scope),
            K::JsxClosing => {
                if let Some(name) = node.child_by_field_id(fields.name) {
                    self.tag(name, scope);
                }
            }
            _ => self.opening(node, scope),
        }
        let element = self.builder.builtin("JSX.Element", &[]);
        self.builder.value_of(element)
    }

    fn tag(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        match self.kind(node) {
            K::Identifier if self.text(node).starts_with(|first: char| first.is_ascii_lowercase()) => {
                let intrinsics = own(self.builder, own::INTRINSICS, &[]);
                let name = self.name(node);
                self.member(name, node.start_byte(), scope, intrinsics, space::VALUE)
            }
            K::JsxNamespaceName => NONE,
            _ => self.visit(node, scope, NONE),
        }
    }

    fn opening(&mut self, node: Node<'tree>, scope: u32) {
        let fields = self.fields;
        let tag = node.child_by_field_id(fields.name).map_or(NONE, |name| self.tag(name, scope));
        if let Some(list) = node.child_by_field_id(fields.type_arguments) {
            self.type_expression(list, scope);
        }
        let mut attributes = NONE;
        for child in named_children(node) {
            match self.kind(child) {
                K::JsxAttribute => {
                    if attributes == NONE && tag != NONE {
                        attributes = own(self.builder, own::ATTRIBUTES, &[tag]);
                    }
                    self.attribute(child, attributes, scope);
                }
                K::JsxExpression => {
                    self.visit(child, scope, NONE);
                }
                _ => {}
            }
        }
    }

    fn attribute(&mut self, node: Node<'tree>, attributes: u32, scope: u32) {
        let mut expected = NONE;
        for (index, part) in named_children(node).into_iter().enumerate() {
            if index == 0 && self.kind(part) == K::PropertyIdentifier {
                let name = self.name(part);
                self.member(name, part.start_byte(), scope, attributes, space::VALUE);
                expected = self.expected_property(attributes, name);
            } else if index > 0 {
                self.visit(part, scope, expected);
            }
        }
    }
}
