//! What is known of variables at a place: the tests and assignments on the way there. A journal of changes lets
//! branches be undone and joined.

use tree_sitter::Node;

use super::condition::Test;
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::{Kind, NONE, Name, NameMap, Op};
use crate::syntax::each_leaf;
use crate::typescript::own::{self, narrow, own};

/// The longest path that something is remembered of.
const LONGEST: u32 = 5;

/// What is known of variables and of paths such as `this.name` here.
#[derive(Default)]
pub(super) struct Flow {
    known: NameMap<Entry>,
    journal: Vec<(Name, Option<Entry>)>,
}

/// What is known of one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Entry {
    key: Key,
    expr: u32,
    /// The same variable as it is declared.
    plain: u32,
}

/// A variable or a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Key {
    /// The number of its text.
    name: Name,
    /// The definition that its first name means; none for `this` and for what is not of the file.
    pub(super) root: u32,
    /// The number of the text of its first name.
    first: Name,
    length: u32,
}

/// Something that a test tells about a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) key: Key,
    pub(super) expr: u32,
    /// The same variable as it is declared.
    pub(super) plain: u32,
}

/// What a branch leaves.
pub(super) struct Outcome {
    changes: Vec<(Name, Option<Entry>)>,
    is_dead: bool,
}

/// How a function sees what is known around it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Closure {
    /// It is made where it stands, as an arrow or a function expression.
    Expression,
    /// It may be called from anywhere.
    Declaration,
}

impl Flow {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn mark(&self) -> usize {
        self.journal.len()
    }

    fn put(&mut self, name: Name, entry: Option<Entry>) {
        let before = match entry {
            Some(entry) => self.known.insert(name, entry),
            None => self.known.remove(&name),
        };
        self.journal.push((name, before));
    }

    pub(super) fn tell(&mut self, told: &[Told]) {
        for &Told { key, expr, plain } in told {
            self.put(key.name, Some(Entry { key, expr, plain }));
        }
    }

    /// Forgets a path and all that begin with it.
    fn forget(&mut self, key: Key) {
        let is_part = |entry: &&Entry| {
            entry.key.name == key.name || (entry.key.first == key.first && entry.key.length > key.length)
        };
        let names: Vec<Name> = self.known.values().filter(is_part).map(|entry| entry.key.name).collect();
        for name in names {
            self.put(name, None);
        }
    }

    pub(super) fn roll_back(&mut self, mark: usize) {
        while self.journal.len() > mark {
            match self.journal.pop() {
                Some((name, Some(entry))) => {
                    self.known.insert(name, entry);
                }
                Some((name, None)) => {
                    self.known.remove(&name);
                }
                None => {}
            }
        }
    }

    /// What a branch that began at a mark leaves; the branch is undone.
    pub(super) fn outcome(&mut self, mark: usize, is_dead: bool) -> Outcome {
        let mut changes: Vec<(Name, Option<Entry>)> = Vec::new();
        for &(name, _) in self.journal.get(mark..).unwrap_or(&[]) {
            if !changes.iter().any(|(known, _)| *known == name) {
                changes.push((name, self.known.get(&name).copied()));
            }
        }
        self.roll_back(mark);
        Outcome { changes, is_dead }
    }
}

impl<'tree> Extractor<'_, '_> {
    /// What is known of a variable or a path here; `plain` is what it is otherwise.
    pub(super) fn known(&self, node: Node<'tree>, scope: u32, plain: u32) -> u32 {
        if self.flow.is_empty() || plain == NONE {
            return plain;
        }
        let Some(key) = self.path_key(node, scope) else { return plain };
        self.flow.known.get(&key.name).filter(|entry| entry.key == key).map_or(plain, |entry| entry.expr)
    }

    /// A variable or a path as it is declared; `seen` is what it is here.
    pub(super) fn as_declared(&self, node: Node<'tree>, scope: u32, seen: u32) -> u32 {
        if self.flow.is_empty() {
            return seen;
        }
        let entry = self.path_key(node, scope).and_then(|key| self.entry(key));
        entry.map_or(seen, |entry| entry.plain)
    }

    fn entry(&self, key: Key) -> Option<&Entry> {
        self.flow.known.get(&key.name).filter(|entry| entry.key == key)
    }

    /// What a test tells of a variable or a path, where it holds and where it fails. Its identifiers were read.
    pub(super) fn both_ways(
        &mut self,
        node: Node<'tree>,
        scope: u32,
        test: u32,
        operand: u32,
        other: u32,
    ) -> (Vec<Told>, Vec<Told>) {
        let Some((key, plain, seen)) = self.subject(node, scope) else { return (Vec::new(), Vec::new()) };
        let expr = self.narrowed(test, true, seen, operand, other);
        let holds = vec![Told { key, expr, plain }];
        let expr = self.narrowed(test, false, seen, operand, other);
        (holds, vec![Told { key, expr, plain }])
    }

    /// A variable or a path: its key, what it is declared as, what it is here.
    pub(super) fn subject(&mut self, node: Node<'tree>, scope: u32) -> Option<(Key, u32, u32)> {
        let key = self.path_key(node, scope)?;
        if let Some(entry) = self.entry(key) {
            return Some((key, entry.plain, entry.expr));
        }
        let mut node = node;
        while matches!(self.kind(node), K::NonNull | K::Parenthesized) {
            node = *named_children(node).first()?;
        }
        let start = match self.kind(node) {
            K::Member => node.child_by_field_id(self.fields.property)?.start_byte(),
            K::Identifier => node.start_byte(),
            _ => return None,
        };
        let tokens = &self.builder.facts().tokens;
        let index = tokens.iter().rposition(|token| token.start as usize == start)?;
        let plain = self.builder.expr(Op::Token, index as u32, NONE);
        Some((key, plain, plain))
    }

    /// The key of a variable or a path of properties.
    pub(super) fn path_key(&self, node: Node<'tree>, scope: u32) -> Option<Key> {
        let mut parts: Vec<&str> = Vec::new();
        let mut current = node;
        loop {
            match self.kind(current) {
                K::Identifier | K::This | K::ShorthandProperty | K::ShorthandPattern => break,
                K::Member => {
                    let property = current.child_by_field_id(self.fields.property)?;
                    parts.push(self.text(property));
                    current = current.child_by_field_id(self.fields.object)?;
                }
                K::NonNull | K::Parenthesized => current = *named_children(current).first()?,
                _ => return None,
            }
            if parts.len() as u32 >= LONGEST {
                return None;
            }
        }
        let first = self.text(current);
        let length = parts.len() as u32 + 1;
        let name = match parts[..] {
            [] => Name::of(first),
            _ => {
                parts.push(first);
                parts.reverse();
                Name::of(&parts.join("."))
            }
        };
        let first = Name::of(first);
        let index = if self.kind(current) == K::This { None } else { self.builder.index_of(first) };
        let root = index.and_then(|index| self.bound_around(scope, index)).unwrap_or(NONE);
        Some(Key { name, root, first, length })
    }

    /// Learns that a variable was given a value. `plain` is the variable as it is declared.
    pub(super) fn assigned(&mut self, node: Node<'tree>, scope: u32, plain: u32, value: u32) {
        let Some(key) = self.path_key(node, scope) else { return };
        self.flow.forget(key);
        if plain != NONE {
            let expr = self.narrowed(narrow::ASSIGNED, true, plain, value, NONE);
            self.flow.tell(&[Told { key, expr, plain }]);
        }
    }

    /// Forgets what is known of everything that a node assigns.
    pub(super) fn forget_assigned(&mut self, node: Node<'tree>, scope: u32) {
        if self.flow.is_empty() {
            return;
        }
        if let Some(key) = self.path_key(node, scope) {
            self.flow.forget(key);
            return;
        }
        each_leaf(node, |leaf| {
            if let Some(key) = self.path_key(leaf, scope) {
                self.flow.forget(key);
            }
        });
    }

    /// Before a loop: what is assigned in it may be anything at its beginning.
    pub(super) fn enter_loop(&mut self, node: Node<'tree>) {
        if self.flow.is_empty() {
            return;
        }
        let mut unsure: Vec<Entry> = Vec::new();
        let mut cursor = node.walk();
        let mut depth = 0;
        loop {
            let here = cursor.node();
            if matches!(self.kind(here), K::Assignment | K::AugmentedAssignment)
                && let Some(left) = here.child_by_field_id(self.fields.left)
            {
                each_leaf(left, |leaf| {
                    let first = Name::of(self.text(leaf));
                    let touched = self.flow.known.values().filter(|entry| entry.key.first == first);
                    unsure.extend(touched);
                });
            }
            if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while depth > 0 && !cursor.goto_next_sibling() {
                cursor.goto_parent();
                depth -= 1;
            }
            if depth == 0 {
                break;
            }
        }
        self.doubt(&unsure);
    }

    fn doubt(&mut self, entries: &[Entry]) {
        for &Entry { key, plain, .. } in entries {
            let expr = self.narrowed(narrow::UNSURE, true, plain, NONE, NONE);
            self.flow.tell(&[Told { key, expr, plain }]);
        }
    }

    /// Before the body of a function: what may have changed until it is called is not known in it.
    pub(super) fn enter_function(&mut self, closure: Closure) {
        let entries: Vec<Entry> = self.flow.known.values().copied().collect();
        for entry in entries {
            let is_changing = self.mutable.contains(&entry.key.root);
            if closure == Closure::Declaration || entry.key.length > 1 {
                self.flow.put(entry.key.name, None);
            } else if is_changing || entry.key.root == NONE {
                self.doubt(&[entry]);
            }
        }
    }

    /// Joins the branches of a test that all began with what is known now. What the test told in each of them is
    /// nothing in all of them together.
    pub(super) fn join_branches(&mut self, test: &Test, outcomes: &[Outcome]) {
        let alive: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.is_dead).collect();
        let mut names: Vec<Name> = Vec::new();
        for (name, _) in alive.iter().flat_map(|outcome| &outcome.changes) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        for name in names {
            let base = self.flow.known.get(&name).copied();
            let mut all: Vec<Option<Entry>> = Vec::new();
            for outcome in &alive {
                let changed = outcome.changes.iter().find(|(known, _)| *known == name);
                let entry = changed.map_or(base, |(_, entry)| *entry);
                if !all.contains(&entry) {
                    all.push(entry);
                }
            }
            let is_told = |entry: &Option<Entry>| {
                let mut told = test.holds.iter().chain(&test.fails);
                entry == &base || entry.is_some_and(|entry| told.any(|told| told.expr == entry.expr))
            };
            let joined = match all[..] {
                [one] => one,
                _ if all.iter().all(is_told) => base,
                [Some(first), ..]
                    if all.iter().all(|entry| entry.is_some_and(|one| one.key == first.key)) =>
                {
                    let exprs: Vec<u32> = all.iter().flatten().map(|entry| entry.expr).collect();
                    let expr = self.either(&exprs);
                    Some(Entry { expr, ..first })
                }
                _ => None,
            };
            if joined != base {
                self.flow.put(name, joined);
            }
        }
    }

    /// A value that passed or failed a test.
    pub(super) fn narrowed(&mut self, test: u32, holds: bool, of: u32, operand: u32, other: u32) -> u32 {
        own(self.builder, own::NARROWED, &[test, u32::from(holds), of, operand, other])
    }

    /// Notes the variables that were declared last as such that may be given other values later.
    pub(super) fn note_mutable(&mut self, from: usize) {
        let defs = self.builder.facts().defs.len();
        for index in from..defs {
            if self.builder.facts().defs[index].kind == Kind::Variable {
                self.mutable.insert(index as u32);
            }
        }
    }
}
