//! What the extractor carries through the tree, and how names are bound.

use std::collections::HashMap;

use tree_sitter::Node;

use super::flow::Flow;
use super::{Fields, K};
use crate::facts::{Builder, Kind, NONE, Op, Role, ScopeKind, mark, space};

pub(super) struct Extractor<'b, 'a> {
    pub(super) builder: &'b mut Builder<'a>,
    pub(super) fields: Fields,
    pub(super) depth: u32,
    pub(super) frame: Frame,
    pub(super) flow: Flow,
    kinds: &'static [K],
    /// Definitions by where they are bound and their name.
    groups: HashMap<(Home, u32), Vec<u32>>,
    /// Expressions for the types of literals, which are alike everywhere.
    simple: HashMap<&'static str, u32>,
}

/// Where a name belongs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Home {
    Scope(u32),
    /// The members of a class.
    Class(u32),
}

/// The function, class body or module that the code being read belongs to.
pub(super) struct Frame {
    pub(super) scope: u32,
    /// The class whose body or method this is.
    pub(super) class: u32,
    pub(super) is_class_body: bool,
    pub(super) is_enum: bool,
    /// Whether this is a function that stands directly in a class.
    pub(super) is_method: bool,
    /// The name of the parameter that is the object or its class, and which of the two.
    pub(super) receiver: Option<(u32, Op)>,
    pub(super) returns: Vec<u32>,
    pub(super) yields: Vec<u32>,
    pub(super) is_generator: bool,
    /// Names that belong to another scope by a `global` or `nonlocal` statement.
    pub(super) elsewhere: HashMap<u32, u32>,
}

impl Frame {
    pub(super) fn new(scope: u32) -> Frame {
        Frame {
            scope,
            class: NONE,
            is_class_body: false,
            is_enum: false,
            is_method: false,
            receiver: None,
            returns: Vec::new(),
            yields: Vec::new(),
            is_generator: false,
            elsewhere: HashMap::new(),
        }
    }
}

impl<'b, 'a> Extractor<'b, 'a> {
    pub(super) fn new(
        builder: &'b mut Builder<'a>,
        kinds: &'static [K],
        fields: Fields,
    ) -> Extractor<'b, 'a> {
        Extractor {
            builder,
            fields,
            depth: 0,
            frame: Frame::new(0),
            flow: Flow::default(),
            kinds,
            groups: HashMap::new(),
            simple: HashMap::new(),
        }
    }

    pub(super) fn kind(&self, node: Node<'_>) -> K {
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Other)
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'a str {
        self.builder.slice(node.start_byte(), node.end_byte())
    }

    pub(super) fn name(&mut self, node: Node<'_>) -> u32 {
        let text = self.text(node);
        self.builder.text(text)
    }

    /// A definition with the name in a node, which is its declaration.
    pub(super) fn declare(&mut self, node: Node<'_>, kind: Kind, whole: Node<'_>) -> u32 {
        let text = self.text(node);
        let name = self.builder.text(text);
        let def = self.builder.define(name, kind, node.start_byte(), whole.byte_range());
        let known = self.builder.def(def);
        known.space = space::ANY;
        if !text.starts_with('_') {
            known.marks |= mark::PUBLIC;
        }
        self.builder.token(name, node.start_byte(), self.frame.scope, Role::Declaration, def);
        def
    }

    /// Binds a definition in the function, class or module that is being read.
    pub(super) fn bind(&mut self, def: u32, visible: usize) {
        let name = self.builder.def(def).name;
        let scope = self.frame.elsewhere.get(&name).copied().unwrap_or(self.frame.scope);
        let home = if self.frame.is_class_body && scope == self.frame.scope {
            let class = self.frame.class;
            let known = self.builder.def(def);
            (known.owner, known.visible) = (class, visible as u32);
            Home::Class(class)
        } else {
            Home::Scope(scope)
        };
        self.builder.def(def).scope = scope;
        self.group(home, def);
    }

    /// Binds a definition in a scope of its own: a comprehension, a function without a name.
    pub(super) fn bind_in(&mut self, def: u32, scope: u32) {
        self.builder.def(def).scope = scope;
        self.group(Home::Scope(scope), def);
    }

    pub(super) fn group(&mut self, home: Home, def: u32) {
        let name = self.builder.def(def).name;
        self.groups.entry((home, name)).or_default().push(def);
    }

    pub(super) fn is_bound(&self, scope: u32, name: u32) -> bool {
        self.groups.contains_key(&(Home::Scope(scope), name))
    }

    /// Whether something of this name is declared with a type in the scope that is being read.
    pub(super) fn is_annotated(&self, name: u32) -> bool {
        let home = if self.frame.is_class_body {
            Home::Class(self.frame.class)
        } else {
            Home::Scope(self.frame.elsewhere.get(&name).copied().unwrap_or(self.frame.scope))
        };
        let defs = &self.builder.facts().defs;
        self.groups
            .get(&(home, name))
            .is_some_and(|group| group.iter().any(|&def| defs[def as usize].declared != NONE))
    }

    pub(super) fn token_expr(&mut self, token: u32) -> u32 {
        self.builder.expr(Op::Token, token, NONE)
    }

    /// An expression of the language's own.
    pub(super) fn own(&mut self, code: u32, operands: &[u32]) -> u32 {
        let mut all = vec![code];
        all.extend_from_slice(operands);
        let list = self.builder.list(&all);
        self.builder.expr(Op::Own, list, NONE)
    }

    /// A value of a type of the language that takes no arguments.
    pub(super) fn simple(&mut self, name: &'static str) -> u32 {
        if let Some(&known) = self.simple.get(name) {
            return known;
        }
        let of = self.builder.builtin(name, &[]);
        self.simple.insert(name, of);
        of
    }

    /// One of several expressions; none of them adds nothing.
    pub(super) fn either(&mut self, all: &[u32]) -> u32 {
        self.builder.either(all, 12)
    }

    /// Joins the definitions that share a name: one stands for all, and has the types of all.
    pub(super) fn finish(mut self) {
        let groups = std::mem::take(&mut self.groups);
        let mut groups: Vec<((Home, u32), Vec<u32>)> =
            groups.into_iter().filter(|(_, group)| group.len() > 1).collect();
        groups.sort_unstable_by_key(|(_, group)| group[0]);
        for ((home, _), group) in groups {
            self.join(home, &group);
        }
    }

    fn join(&mut self, home: Home, group: &[u32]) {
        let defs = &self.builder.facts().defs;
        let kind = |index: u32| defs[index as usize].kind;
        let is_block = |index: u32| kind(index).is_function() || kind(index) == Kind::Class;
        let in_function = match home {
            Home::Scope(scope) => {
                self.builder.facts().scope(scope).is_some_and(|scope| scope.kind != ScopeKind::Module)
            }
            Home::Class(_) => false,
        };
        let declared =
            group.iter().copied().find(|&def| !is_block(def) && defs[def as usize].declared != NONE);
        let first = group[0];
        let head = if kind(first) == Kind::Parameter {
            first
        } else if let Some(&last) = group.iter().rev().find(|&&def| is_block(def)) {
            if in_function && !self.is_overload(first) { first } else { last }
        } else {
            declared.unwrap_or(first)
        };
        let declared = declared.map_or(NONE, |def| defs[def as usize].declared);
        let values: Vec<u32> =
            group.iter().filter(|&&def| !is_block(def)).map(|&def| defs[def as usize].value).collect();
        // A property is read by the first of its functions, whatever the others take and return.
        let is_property = |def: u32| defs[def as usize].marks & mark::PROPERTY != 0;
        let getter = group
            .iter()
            .copied()
            .find(|&def| is_block(def))
            .filter(|&getter| getter != head && is_property(getter) && is_property(head));
        let read = getter.map(|getter| (defs[getter as usize].declared, defs[getter as usize].value));
        let is_variable = !is_block(head);
        let variables: Vec<u32> = group.iter().copied().filter(|&def| !is_block(def)).collect();
        let value = if is_variable && declared == NONE { self.either(&values) } else { NONE };
        for &def in group {
            self.builder.def(def).same = head;
        }
        if let Some((declared, value)) = read {
            let known = self.builder.def(head);
            (known.declared, known.value) = (declared, value);
        }
        for def in variables {
            let known = self.builder.def(def);
            if known.declared == NONE {
                known.declared = declared;
            }
            if def == head && value != NONE {
                known.value = value;
            }
        }
    }

    fn is_overload(&self, def: u32) -> bool {
        let marks = self.builder.facts().defs[def as usize].marks;
        marks & crate::python::own::mark::OVERLOAD != 0
    }
}
