//! What the extractor carries through the tree.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::documented::Comment;
use super::flow::{Flow, Told};
use super::{Fields, K};
use crate::facts::{Builder, Kind, NONE, Op, Role, mark, space};

/// Names that qualify others: namespaces and enums.
pub(super) const NAMESPACE: u8 = space::MACRO;

pub(super) struct Extractor<'b, 'a> {
    pub(super) builder: &'b mut Builder<'a>,
    pub(super) fields: Fields,
    pub(super) depth: u32,
    /// The scope of the function around, where `var` binds.
    pub(super) function_scope: u32,
    /// The innermost function or type around, which owns what has no name.
    pub(super) owner: u32,
    /// The namespace around, which owns what it declares.
    pub(super) namespace: u32,
    /// What the function around returns, so far.
    pub(super) returns: Vec<u32>,
    /// What the function around should return.
    pub(super) expected_return: u32,
    /// Whether this is JavaScript.
    pub(super) is_script: bool,
    /// Whether everything around is only declared, so that it needs no `export`.
    pub(super) is_ambient: bool,
    /// Whether the declaration that is read next is exported.
    pub(super) is_exported: bool,
    /// The definition that was declared last by a statement.
    pub(super) last_declared: u32,
    /// What tests and assignments tell of variables here.
    pub(super) flow: Flow,
    /// Constants that hold the result of a test: what is known where it holds, and where it fails.
    pub(super) tests: HashMap<u32, (Vec<Told>, Vec<Told>)>,
    /// Variables that may be given other values.
    pub(super) mutable: HashSet<u32>,
    /// Whether the call that is read next is a statement, and what its first argument tells if it is a test.
    pub(super) is_statement: bool,
    pub(super) argument_told: Vec<Told>,
    /// Comments of JavaScript that say types, in their order, and the one before what is read next.
    pub(super) comments: Vec<Comment>,
    pub(super) comment: Option<Comment>,
    /// Where the `export` begins before what is read next.
    pub(super) exported_at: Option<usize>,
    /// Whether the literal that is read next is what a CommonJS module hands out.
    pub(super) is_handed_out: bool,
    /// Keys of such literals that have the names of their values.
    shared: Vec<u32>,
    kinds: &'static [K],
    /// What scopes bind so far: scope and name.
    bound: HashMap<(u32, u32), Vec<u32>>,
    /// Members so far: owner and name.
    members: HashMap<(u32, u32), u32>,
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
            function_scope: 0,
            owner: NONE,
            namespace: NONE,
            returns: Vec::new(),
            expected_return: NONE,
            is_script: false,
            is_ambient: false,
            is_exported: false,
            last_declared: NONE,
            flow: Flow::default(),
            tests: HashMap::new(),
            mutable: HashSet::new(),
            is_statement: false,
            argument_told: Vec::new(),
            comments: Vec::new(),
            comment: None,
            exported_at: None,
            is_handed_out: false,
            shared: Vec::new(),
            kinds,
            bound: HashMap::new(),
            members: HashMap::new(),
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

    /// The text of a string without its quotes.
    pub(super) fn unquoted(&self, node: Node<'_>) -> &'a str {
        self.text(node).trim_matches(['"', '\'', '`'])
    }

    /// A name of a property: an identifier, or a string; where the name begins. None if it is computed.
    pub(super) fn property_name(&mut self, node: Node<'_>) -> Option<(u32, usize)> {
        match self.kind(node) {
            K::Text => {
                let text = self.unquoted(node);
                Some((self.builder.text(text), node.start_byte() + 1))
            }
            K::ComputedName => None,
            _ => Some((self.name(node), node.start_byte())),
        }
    }

    /// A definition with the name in a node, which is its declaration.
    pub(super) fn declare(&mut self, node: Node<'_>, kind: Kind, whole: Node<'_>) -> u32 {
        let text = if self.kind(node) == K::Text { self.unquoted(node) } else { self.text(node) };
        let name = self.builder.text(text);
        let def = self.builder.define(name, kind, node.start_byte(), whole.byte_range());
        match kind {
            Kind::Import => self.builder.def(def).space = space::ANY,
            Kind::Enum => self.builder.def(def).space = space::ANY,
            Kind::Module => self.builder.def(def).space = space::VALUE | NAMESPACE,
            _ => {}
        }
        self.builder.token(name, node.start_byte(), 0, Role::Declaration, def);
        def
    }

    /// Binds a definition in a scope. It shares its symbol with what has the same name and a meaning in common.
    pub(super) fn bind(&mut self, def: u32, scope: u32) {
        let known = self.builder.def(def);
        known.scope = scope;
        let (name, space) = (known.name, known.space);
        let others = self.bound.entry((scope, name)).or_default();
        let same = others
            .iter()
            .copied()
            .find(|&other| {
                let other = &self.builder.facts().defs[other as usize];
                other.space & space != 0 && other.kind != Kind::Import
            })
            .map(|other| self.builder.facts().defs[other as usize].same);
        others.push(def);
        if let Some(same) = same
            && self.builder.def(def).kind != Kind::Import
        {
            self.builder.def(def).same = same;
        }
    }

    /// Declares something that a statement names: bound, owned by the namespace around, exported if it says so.
    pub(super) fn declare_bound(&mut self, node: Node<'_>, kind: Kind, whole: Node<'_>, scope: u32) -> u32 {
        let def = self.declare(node, kind, whole);
        self.publish(def, scope);
        def
    }

    pub(super) fn publish(&mut self, def: u32, scope: u32) {
        if self.is_exported || (self.is_ambient && self.namespace != NONE) {
            self.builder.def(def).marks |= mark::PUBLIC;
        }
        self.bind(def, scope);
        if self.namespace != NONE && self.function_scope == scope {
            self.builder.def(def).owner = self.namespace;
        }
        self.last_declared = def;
    }

    /// What binds a name at a place, of what has been read so far.
    pub(super) fn bound_around(&self, scope: u32, name: u32) -> Option<u32> {
        let facts = self.builder.facts();
        let mut current = scope;
        while let Some(here) = facts.scope(current) {
            if let Some(found) = self.bound.get(&(current, name)) {
                let is_value = |&&def: &&u32| facts.defs[def as usize].space & space::VALUE != 0;
                let found = found.iter().find(is_value)?;
                let def = &facts.defs[*found as usize];
                return (def.kind != Kind::Import).then_some(def.same);
            }
            current = here.parent;
        }
        None
    }

    /// Makes a definition a member of a type; overloads and accessors of one name share a symbol.
    pub(super) fn own(&mut self, def: u32, owner: u32) {
        let owner = if owner == NONE { NONE } else { self.builder.def(owner).same };
        let known = self.builder.def(def);
        known.owner = owner;
        let name = known.name;
        let first = *self.members.entry((owner, name)).or_insert(def);
        if first != def {
            self.builder.def(def).same = first;
        }
    }

    pub(super) fn has_member(&self, owner: u32, name: u32) -> bool {
        self.members.contains_key(&(owner, name))
    }

    /// Notes a key of what a CommonJS module hands out whose value is a variable of the same name.
    pub(super) fn share(&mut self, key: u32) {
        self.shared.push(key);
    }

    /// Makes one symbol of what CommonJS modules declare and hand out under one name: `module.exports = { name }`.
    pub(super) fn share_exports(&mut self) {
        for key in std::mem::take(&mut self.shared) {
            let (name, value, start) = {
                let known = self.builder.def(key);
                (known.name, known.value, known.name_start)
            };
            let bound = self.bound.get(&(0, name)).and_then(|bound| bound.first().copied());
            let Some(bound) = bound else { continue };
            let declared = *self.builder.def(bound);
            if declared.kind == Kind::Import {
                self.hand_out_value(name, value, 0, start as usize);
            } else {
                self.builder.def(key).same = declared.same;
            }
        }
    }

    /// A definition without a name, owned by what is around it.
    pub(super) fn nameless(&mut self, kind: Kind, node: Node<'_>) -> u32 {
        let nameless = self.builder.text("");
        let def = self.builder.define(nameless, kind, node.start_byte(), node.byte_range());
        self.builder.def(def).owner = self.owner;
        def
    }

    /// A bare name.
    pub(super) fn bare(&mut self, node: Node<'_>, scope: u32, space: u8) -> u32 {
        let name = self.name(node);
        let token = self.builder.token(name, node.start_byte(), scope, Role::Bare, NONE);
        self.builder.token_mut(token).space = space;
        self.builder.expr(Op::Token, token, NONE)
    }

    /// A member of what an expression is.
    pub(super) fn member(&mut self, name: u32, start: usize, scope: u32, target: u32, space: u8) -> u32 {
        let token = self.builder.token(name, start, scope, Role::Member, target);
        self.builder.token_mut(token).space = space;
        self.builder.expr(Op::Token, token, NONE)
    }

    /// Whether a node has a child that is this word.
    pub(super) fn has_word(node: Node<'_>, word: &str) -> bool {
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| child.kind() == word)
    }
}
