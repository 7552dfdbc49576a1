//! What variables are at a place: the assignments and tests on the way there. A journal of changes lets branches be
//! undone and joined; a loop's variables are joined with what its end leaves.

use super::state::Extractor;
use crate::facts::{NONE, Name, NameMap, Op};

/// What is known of variables here, by their names or by dotted paths such as `self.name`.
#[derive(Default)]
pub(super) struct Flow {
    known: NameMap<Entry>,
    journal: Vec<(Name, Option<Entry>)>,
    loops: Vec<NameMap<Join>>,
    /// Dotted paths that something is known of, by the name they begin with.
    paths: NameMap<Vec<(Name, u32)>>,
    /// Whether this place cannot be reached.
    pub(super) is_dead: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Entry {
    expr: u32,
    /// How many loops are around the place where this became known.
    depth: u32,
}

#[derive(Clone, Copy, Debug)]
struct Join {
    expr: u32,
    /// The place in the list of alternatives for what the end of the loop leaves.
    open: u32,
}

/// What a branch leaves.
pub(super) struct Outcome {
    order: Vec<Name>,
    changes: NameMap<Option<Entry>>,
    is_dead: bool,
}

impl Outcome {
    pub(super) fn set_dead(&mut self, is_dead: bool) {
        self.is_dead = is_dead;
    }

    pub(super) fn copy(&self) -> Outcome {
        Outcome { order: self.order.clone(), changes: self.changes.clone(), is_dead: self.is_dead }
    }
}

/// Something that a test tells about a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) key: Key,
    pub(super) expr: u32,
}

/// A variable or a dotted path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: Name,
    /// The first name of the path.
    pub(super) root: Name,
    pub(super) length: u32,
}

impl Flow {
    pub(super) fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }

    pub(super) fn mark(&self) -> usize {
        self.journal.len()
    }

    /// Sets what is known of a key, or that nothing is.
    fn put(&mut self, name: Name, entry: Option<Entry>) {
        let before = match entry {
            Some(entry) => self.known.insert(name, entry),
            None => self.known.remove(&name),
        };
        self.journal.push((name, before));
    }

    /// Learns something; what was known of longer paths through the same variable is forgotten.
    pub(super) fn learn(&mut self, key: Key, expr: u32) {
        self.forget_below(key);
        self.tell(key, expr);
    }

    /// Learns something that leaves the value as it is.
    pub(super) fn tell(&mut self, key: Key, expr: u32) {
        if key.name != key.root {
            let paths = self.paths.entry(key.root).or_default();
            if !paths.iter().any(|&(name, _)| name == key.name) {
                paths.push((key.name, key.length));
            }
        }
        let depth = self.loops.len() as u32;
        let entry = (expr != NONE).then_some(Entry { expr, depth });
        if entry.is_some() || self.known.contains_key(&key.name) {
            self.put(key.name, entry);
        }
    }

    fn forget_below(&mut self, key: Key) {
        let Some(paths) = self.paths.get(&key.root) else { return };
        let longer: Vec<Name> =
            paths.iter().filter(|&&(_, length)| length > key.length).map(|&(name, _)| name).collect();
        for name in longer {
            if self.known.contains_key(&name) {
                self.put(name, None);
            }
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

    /// What a branch that began at a mark leaves.
    pub(super) fn outcome(&mut self, mark: usize) -> Outcome {
        let mut order: Vec<Name> = Vec::new();
        let mut changes: NameMap<Option<Entry>> = NameMap::default();
        for &(name, _) in self.journal.get(mark..).unwrap_or(&[]) {
            if changes.insert(name, self.known.get(&name).copied()).is_none() {
                order.push(name);
            }
        }
        Outcome { order, changes, is_dead: std::mem::take(&mut self.is_dead) }
    }
}

impl Extractor<'_, '_> {
    /// What is known of a key here.
    pub(super) fn known(&mut self, name: Name) -> Option<u32> {
        let entry = *self.flow.known.get(&name)?;
        let mut expr = entry.expr;
        for level in entry.depth as usize..self.flow.loops.len() {
            expr = match self.flow.loops[level].get(&name) {
                Some(join) => join.expr,
                None => {
                    let list = self.builder.list(&[expr, NONE]);
                    let joined = self.builder.expr(Op::Either, list, NONE);
                    self.flow.loops[level].insert(name, Join { expr: joined, open: list + 2 });
                    joined
                }
            };
        }
        Some(expr)
    }

    pub(super) fn learn(&mut self, key: Key, expr: u32) {
        self.flow.learn(key, expr);
    }

    pub(super) fn tell(&mut self, told: &[Told]) {
        for one in told {
            self.flow.tell(one.key, one.expr);
        }
    }

    pub(super) fn enter_loop(&mut self) {
        self.flow.loops.push(NameMap::default());
    }

    /// Ends a loop: what its end leaves is also what its beginning may find.
    pub(super) fn leave_loop(&mut self) {
        let Some(joins) = self.flow.loops.pop() else { return };
        let level = self.flow.loops.len() as u32;
        for (name, join) in joins {
            if let Some(entry) = self.flow.known.get(&name)
                && entry.depth > level
                && entry.expr != join.expr
            {
                let expr = entry.expr;
                if let Some(place) = self.builder.facts_mut().lists.get_mut(join.open as usize) {
                    *place = expr;
                }
            }
        }
        // What became known inside holds outside as well.
        for entry in self.flow.known.values_mut() {
            entry.depth = entry.depth.min(level);
        }
    }

    /// Joins branches that all began with what is known now.
    pub(super) fn join_branches(&mut self, outcomes: &[Outcome]) {
        let alive: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.is_dead).collect();
        if alive.is_empty() {
            self.flow.is_dead = true;
            return;
        }
        let level = self.flow.loops.len() as u32;
        let mut names: Vec<Name> = Vec::new();
        let mut seen: NameMap<()> = NameMap::default();
        for &name in alive.iter().flat_map(|outcome| &outcome.order) {
            if seen.insert(name, ()).is_none() {
                names.push(name);
            }
        }
        for name in names {
            let base = self.flow.known.get(&name).copied();
            let mut all: Vec<Option<Entry>> = Vec::new();
            for outcome in &alive {
                let entry = outcome.changes.get(&name).copied().unwrap_or(base);
                if !all.contains(&entry) {
                    all.push(entry);
                }
            }
            let joined = match all[..] {
                [one] => one,
                _ if all.contains(&None) => None,
                _ => {
                    let exprs: Vec<u32> = all.iter().flatten().map(|entry| entry.expr).collect();
                    let expr = self.either(&exprs);
                    (expr != NONE).then_some(Entry { expr, depth: level })
                }
            };
            if joined != base {
                self.flow.put(name, joined);
            }
        }
    }
}
