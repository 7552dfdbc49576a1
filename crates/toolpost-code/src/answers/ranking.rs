//! Which definitions matter most: those that much of the code, and above all the code in focus, leads to.

use std::collections::{HashMap, HashSet};

use super::search::is_test;
use crate::facts::{Facts, Kind, NONE, Role, ScopeKind, mark};
use crate::resolve::{Confidence, DefId, Query};
use crate::world::FileId;

/// What the ranking is for.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// Files that matter more than others.
    pub files: Vec<FileId>,
    /// Names that matter more than others.
    pub names: Vec<String>,
    /// The most identifiers that are looked at; 0 means as many as there are.
    pub most: usize,
}

/// A definition and how much it matters; all shares add up to at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The definition.
    pub def: DefId,
    /// Its share.
    pub share: f64,
    /// How many identifiers lead to it.
    pub uses: u32,
}

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 24;
/// Nobody writes lines that have more bytes than this on average.
const PACKED: usize = 300;
/// What a private field counts of its share.
const PRIVATE_FIELD: f64 = 0.05;
/// About how many definitions that nothing leads to are listed.
const MOST_UNUSED: usize = 20_000;

impl Query<'_> {
    /// The definitions of the tree by how much of its code leads to them.
    #[must_use]
    pub fn rank(&self, focus: &Focus) -> Vec<Ranked> {
        let mut nodes: Vec<DefId> = Vec::new();
        let mut numbers: HashMap<DefId, usize> = HashMap::new();
        let mut number = |def: DefId, nodes: &mut Vec<DefId>| -> usize {
            *numbers.entry(def).or_insert_with(|| {
                nodes.push(def);
                nodes.len() - 1
            })
        };
        let mut edges: HashMap<(usize, usize), u32> = HashMap::new();
        let mut uses: HashMap<usize, u32> = HashMap::new();
        // In how many files each is used; files are looked at one after another.
        let mut spread: HashMap<usize, (FileId, u32)> = HashMap::new();
        let mut looked_at = 0;
        // The numbers of files tell in which order they were read, which is another each time.
        let mut files: Vec<FileId> = self.world.files().collect();
        files.sort_unstable_by_key(|&file| self.world.path(file));
        for &file in &files {
            let facts = self.facts(file);
            let places = places(facts);
            for (index, token) in facts.tokens.iter().enumerate() {
                if !matches!(token.role, Role::Bare | Role::Member | Role::Key | Role::Keyword) {
                    continue;
                }
                if focus.most > 0 && looked_at >= focus.most {
                    break;
                }
                looked_at += 1;
                self.refuel();
                let resolution = self.resolve(file, index as u32);
                if resolution.confidence > Confidence::UniqueMember {
                    continue;
                }
                for target in resolution.defs().take(2) {
                    if !self.is_worth_a_rank(target) {
                        continue;
                    }
                    let to = number(target, &mut nodes);
                    *uses.entry(to).or_default() += 1;
                    let (last, count) = spread.entry(to).or_insert((file, 1u32));
                    if *last != file {
                        (*last, *count) = (file, *count + 1);
                    }
                    // Code outside of every definition belongs to its file.
                    let from = places.around(token.start);
                    let from = from
                        .map_or(DefId { file, index: NONE }, |index| self.canonical(DefId { file, index }));
                    let from = number(from, &mut nodes);
                    if from != to {
                        *edges.entry((from, to)).or_default() += 1;
                    }
                }
            }
        }
        let start = self.starting_shares(&nodes, focus);
        let mut out = vec![0.0; nodes.len()];
        // Many uses in one place count less than a few in many places.
        let mut edges: Vec<((usize, usize), u32)> = edges.into_iter().collect();
        // Sums of fractions depend on their order.
        edges.sort_unstable();
        let edges: Vec<(usize, usize, f64)> = edges
            .into_iter()
            .map(|((from, to), count)| (from, to, f64::from(count).sqrt() * self.preference(nodes[to])))
            .collect();
        for &(from, _, weight) in &edges {
            out[from] += weight;
        }
        let mut shares = start.clone();
        for _ in 0..ROUNDS {
            let mut next: Vec<f64> = start.iter().map(|share| share * (1.0 - DAMPING)).collect();
            for &(from, to, weight) in &edges {
                next[to] += DAMPING * shares[from] * weight / out[from];
            }
            shares = next;
        }
        // What many files use matters more than what one file uses for many others.
        for (index, share) in shares.iter_mut().enumerate() {
            *share *= f64::from(spread.get(&index).map_or(1, |(_, count)| *count)).sqrt();
            // How a type keeps its values matters only inside of it, however often it is used there.
            if self.is_private_field(nodes[index]) {
                *share *= PRIVATE_FIELD;
            }
        }
        let total = shares.iter().sum::<f64>().max(1e-9);
        shares.iter_mut().for_each(|share| *share /= total);
        let mut ranked: Vec<Ranked> = nodes
            .iter()
            .enumerate()
            .filter(|(_, def)| def.index != NONE)
            .map(|(index, &def)| Ranked {
                def,
                share: shares[index],
                uses: uses.get(&index).copied().unwrap_or(0),
            })
            .collect();
        let place = |def: DefId| (self.world.path(def.file), def.index);
        ranked.sort_by(|one, other| {
            other.share.total_cmp(&one.share).then_with(|| place(one.def).cmp(&place(other.def)))
        });
        self.add_unused(&files, focus, &mut ranked);
        ranked
    }

    /// Adds the definitions that nothing leads to: those in focus, then what is public, then the rest, tests last.
    fn add_unused(&self, files: &[FileId], focus: &Focus, ranked: &mut Vec<Ranked>) {
        let known: HashSet<DefId> = ranked.iter().map(|one| one.def).collect();
        let mut unused: Vec<(bool, bool, bool, DefId)> = Vec::new();
        for &file in files {
            let facts = self.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                let id = DefId { file, index: index as u32 };
                let is_top = def.same == id.index && def.owner == NONE && def.start < def.end;
                if !is_top || known.contains(&id) || !self.is_worth_a_rank(id) {
                    continue;
                }
                let name = facts.text(def.name);
                let is_wanted = focus.files.contains(&file)
                    || focus.names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted));
                let is_private = def.marks & mark::PUBLIC == 0 || name.starts_with('_');
                let is_aside = is_packed(facts) || is_test(self.world.path(file));
                unused.push((!is_wanted, is_aside, is_private, id));
            }
            if unused.len() > MOST_UNUSED {
                break;
            }
        }
        unused.sort_by_key(|&(is_other, is_aside, is_private, def)| {
            (is_other, is_aside, is_private, self.world.path(def.file), def.index)
        });
        ranked.extend(unused.into_iter().map(|(.., def)| Ranked { def, share: 0.0, uses: 0 }));
    }

    fn is_worth_a_rank(&self, def: DefId) -> bool {
        let Some((facts, known)) = self.def(def) else { return false };
        let is_inner = matches!(
            known.kind,
            Kind::Parameter | Kind::TypeParameter | Kind::Label | Kind::Import | Kind::Impl | Kind::Module
        );
        let is_local = known.owner == NONE
            && (known.visible != 0 || facts.function_around(known.scope).is_some())
            || facts.text(known.name).is_empty();
        // The variable of a loop belongs to the loop.
        let is_variable = matches!(known.kind, Kind::Variable | Kind::Constant);
        let is_of_block = is_variable
            && known.owner == NONE
            && facts.scope(known.scope).is_some_and(|scope| scope.kind == ScopeKind::Block);
        // `import * as name` declares a variable, which is no part of what the file defines.
        let is_imported =
            known.kind == Kind::Variable && facts.imports.iter().any(|import| import.def == def.index);
        !is_inner && !is_local && !is_imported && !is_of_block
    }

    fn is_private_field(&self, def: DefId) -> bool {
        let Some((facts, known)) = self.def(def) else { return false };
        known.kind == Kind::Field && facts.text(known.name).starts_with(['_', '#'])
    }

    /// How much a reference to a definition counts.
    fn preference(&self, def: DefId) -> f64 {
        let Some((facts, known)) = self.def(def) else { return 1.0 };
        let name = facts.text(known.name);
        let is_private = name.starts_with('_') || known.marks & mark::PUBLIC == 0 && name.len() < 4;
        let private = if is_private { 0.3 } else { 1.0 };
        let test = if is_test(self.world.path(def.file)) || is_packed(facts) { 0.2 } else { 1.0 };
        let kind = match known.kind {
            kind if kind.is_type() => 1.5,
            Kind::Field | Kind::Variant => 0.4,
            _ => 1.0,
        };
        private * test * kind
    }

    fn starting_shares(&self, nodes: &[DefId], focus: &Focus) -> Vec<f64> {
        let weight = |&def: &DefId| {
            let is_aside = is_test(self.world.path(def.file)) || is_packed(self.facts(def.file));
            let plain = if is_aside { 0.1 } else { 1.0 };
            let in_file = if focus.files.contains(&def.file) { 50.0 } else { 0.0 };
            let Some((facts, known)) = self.def(def) else { return plain };
            let name = facts.text(known.name);
            let named = focus.names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted));
            plain + in_file + if named { 100.0 } else { 0.0 }
        };
        let weights: Vec<f64> = nodes.iter().map(weight).collect();
        let total: f64 = weights.iter().sum::<f64>().max(1e-9);
        weights.into_iter().map(|weight| weight / total).collect()
    }
}

/// Whether a program has made the lines of a file as long as they are.
fn is_packed(facts: &Facts) -> bool {
    let size = facts.tokens.last().map_or(0, |token| token.start as usize);
    size / facts.lines.len().max(1) > PACKED
}

/// The definitions of a file by where they begin and end.
struct Places {
    /// First byte, the byte after the last, definition; by first byte, outer before inner.
    ranges: Vec<(u32, u32, u32)>,
}

fn places(facts: &Facts) -> Places {
    let holds = |kind: Kind| kind.is_function() || kind.is_type() || kind == Kind::Constant;
    let mut ranges: Vec<(u32, u32, u32)> = facts
        .defs
        .iter()
        .enumerate()
        .filter(|(_, def)| holds(def.kind) && !facts.text(def.name).is_empty())
        .map(|(index, def)| (def.start, def.end, index as u32))
        .collect();
    ranges.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
    Places { ranges }
}

impl Places {
    /// The innermost definition around a byte, among the few that begin last before it.
    fn around(&self, at: u32) -> Option<u32> {
        let after = self.ranges.partition_point(|&(start, ..)| start <= at);
        let before = self.ranges[..after].iter().rev().take(64);
        before.into_iter().find(|&&(_, end, _)| at < end).map(|&(.., def)| def)
    }
}
