//! Questions to the facts of one file: texts, lists, what is bound in a scope, what belongs to a definition.

use super::{Def, Facts, Kind, NONE, Name, Scope, ScopeKind, Token, WIDE};

/// How many definitions of one name in one scope are told apart.
const MEANINGS: usize = 48;

impl Facts {
    /// The text at an index; empty for none.
    #[must_use]
    pub fn text(&self, index: u32) -> &str {
        let Some(&end) = self.ends.get(index as usize) else { return "" };
        let start = if index == 0 { 0 } else { self.ends[index as usize - 1] };
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// The number of the name at an index.
    #[must_use]
    pub fn name(&self, index: u32) -> Name {
        self.numbers.get(index as usize).copied().unwrap_or(Name(0))
    }

    /// The index of a name in this file.
    #[must_use]
    pub fn index_of(&self, name: Name) -> Option<u32> {
        self.numbers.iter().position(|&known| known == name).map(|index| index as u32)
    }

    /// The members of a list.
    #[must_use]
    pub fn list(&self, index: u32) -> &[u32] {
        let Some(&length) = self.lists.get(index as usize) else { return &[] };
        let first = index as usize + 1;
        self.lists.get(first..first + length as usize).unwrap_or(&[])
    }

    /// Line and column, both from 1, the column in bytes.
    #[must_use]
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= offset).max(1);
        // The first line begins after a mark of the order of bytes.
        (line as u32, offset.saturating_sub(self.lines.get(line - 1).copied().unwrap_or(0)) + 1)
    }

    /// The first byte of a line, which is counted from 1.
    #[must_use]
    pub fn line_start(&self, line: u32) -> Option<u32> {
        self.lines.get((line as usize).checked_sub(1)?).copied()
    }

    /// The identifier at a byte, or the one that ends there.
    #[must_use]
    pub fn token_at(&self, offset: u32) -> Option<u32> {
        let after = self.tokens.partition_point(|token| token.start <= offset);
        let index = after.checked_sub(1)?;
        let token = &self.tokens[index];
        let length = self.text(token.name).len() as u32;
        (offset <= token.start + length).then_some(index as u32)
    }

    /// The identifiers of a line, which is counted from 1.
    #[must_use]
    pub fn tokens_of_line(&self, line: u32) -> std::ops::Range<u32> {
        let Some(start) = self.line_start(line) else { return 0..0 };
        let end = self.line_start(line.saturating_add(1)).unwrap_or(u32::MAX);
        let index = |byte: u32| self.tokens.partition_point(|token| token.start < byte) as u32;
        index(start)..index(end)
    }

    /// Whether every character of the file is one byte.
    #[must_use]
    pub fn is_ascii(&self) -> bool {
        self.bits & WIDE == 0
    }

    /// The identifier that begins at a byte.
    #[must_use]
    pub fn token_starting(&self, offset: u32) -> Option<u32> {
        self.tokens.binary_search_by_key(&offset, |token| token.start).ok().map(|index| index as u32)
    }

    /// What is bound to a name in one scope, in the order of places.
    #[must_use]
    pub fn bound_in(&self, scope: u32, name: Name) -> &[u32] {
        let key = |index: &u32| {
            let def = &self.defs[*index as usize];
            (def.scope, self.name(def.name))
        };
        let start = self.bound.partition_point(|index| key(index) < (scope, name));
        let length = self.bound[start..].partition_point(|index| key(index) == (scope, name));
        &self.bound[start..start + length]
    }

    /// Everything bound in one scope.
    #[must_use]
    pub fn all_in(&self, scope: u32) -> &[u32] {
        let key = |index: &u32| self.defs[*index as usize].scope;
        let start = self.bound.partition_point(|index| key(index) < scope);
        let length = self.bound[start..].partition_point(|index| key(index) == scope);
        &self.bound[start..start + length]
    }

    /// What belongs to a definition, in the order of places.
    #[must_use]
    pub fn owned_by(&self, def: u32) -> &[u32] {
        let key = |index: &u32| self.defs[*index as usize].owner;
        let start = self.owned.partition_point(|index| key(index) < def);
        let length = self.owned[start..].partition_point(|index| key(index) == def);
        &self.owned[start..start + length]
    }

    /// What of one kind belongs to a definition.
    pub fn parts(&self, def: u32, kind: Kind) -> impl Iterator<Item = u32> {
        self.owned_by(def).iter().copied().filter(move |&index| self.defs[index as usize].kind == kind)
    }

    /// The bases of a type.
    #[must_use]
    pub fn bases_of(&self, def: u32) -> &[super::Base] {
        let start = self.bases.partition_point(|base| base.def < def);
        let length = self.bases[start..].partition_point(|base| base.def == def);
        &self.bases[start..start + length]
    }

    /// The definition at an index.
    #[must_use]
    pub fn def(&self, index: u32) -> Option<&Def> {
        self.defs.get(index as usize)
    }

    /// The token at an index.
    #[must_use]
    pub fn token(&self, index: u32) -> Option<&Token> {
        self.tokens.get(index as usize)
    }

    /// The scope at an index.
    #[must_use]
    pub fn scope(&self, index: u32) -> Option<&Scope> {
        self.scopes.get(index as usize)
    }

    /// The lexical lookup: the definitions that a name means at a place, from the inside out. The answer is empty if
    /// no scope up to the nearest module binds it.
    #[must_use]
    pub fn lookup(&self, scope: u32, name: Name, at: u32, space: u8) -> Vec<u32> {
        let mut current = scope;
        while let Some(here) = self.scope(current) {
            if here.kind != ScopeKind::Class || current == scope {
                let found = self.seen_in(current, name, at, space);
                if !found.is_empty() {
                    return found;
                }
            }
            if here.kind == ScopeKind::Module || here.parent == NONE {
                return Vec::new();
            }
            current = here.parent;
        }
        Vec::new()
    }

    /// What a name means in one scope, seen from a place: the last definition that is visible there; of those that
    /// are visible everywhere, all.
    #[must_use]
    pub fn seen_in(&self, scope: u32, name: Name, at: u32, space: u8) -> Vec<u32> {
        let bound = self.bound_in(scope, name);
        let suits = |def: &Def| def.space & space != 0;
        let last = bound.iter().rev().copied().find(|&index| {
            let def = &self.defs[index as usize];
            suits(def) && def.visible != 0 && def.visible <= at
        });
        if let Some(last) = last {
            return vec![last];
        }
        let everywhere = |&index: &u32| {
            let def = &self.defs[index as usize];
            suits(def) && def.visible == 0
        };
        bound.iter().copied().filter(everywhere).take(MEANINGS).collect()
    }

    /// The innermost definition around a scope that is a type or adds members to one.
    #[must_use]
    pub fn type_around(&self, scope: u32) -> Option<u32> {
        let mut current = scope;
        while let Some(here) = self.scope(current) {
            if let Some(owner) = self.def(here.owner)
                && (owner.kind.is_type() || owner.kind == Kind::Impl)
            {
                return Some(here.owner);
            }
            current = here.parent;
        }
        None
    }

    /// The innermost function around a scope.
    #[must_use]
    pub fn function_around(&self, scope: u32) -> Option<u32> {
        let mut current = scope;
        while let Some(here) = self.scope(current) {
            if let Some(owner) = self.def(here.owner)
                && owner.kind.is_function()
            {
                return Some(here.owner);
            }
            current = here.parent;
        }
        None
    }

    /// The scope of the nearest module around a scope.
    #[must_use]
    pub fn module_around(&self, scope: u32) -> u32 {
        let mut current = scope;
        while let Some(here) = self.scope(current) {
            if here.kind == ScopeKind::Module || here.parent == NONE {
                return current;
            }
            current = here.parent;
        }
        0
    }

    /// About how many bytes of memory they take.
    pub(crate) fn weight(&self) -> usize {
        self.text.len()
            + self.ends.len() * 12
            + (self.lines.len() + self.lists.len() + self.bound.len() + self.owned.len()) * 4
            + self.scopes.len() * size_of::<Scope>()
            + self.defs.len() * size_of::<Def>()
            + self.tokens.len() * size_of::<Token>()
            + self.exprs.len() * size_of::<super::Expr>()
            + 1024
    }

    /// Gives back the memory that was reserved while the facts were made.
    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.lines.shrink_to_fit();
        self.lists.shrink_to_fit();
        self.scopes.shrink_to_fit();
        self.defs.shrink_to_fit();
        self.tokens.shrink_to_fit();
        self.exprs.shrink_to_fit();
    }

    /// Brings the sorted lists up to date; whoever makes facts calls it last.
    pub(crate) fn sort(&mut self) {
        let defs = &self.defs;
        let numbers = &self.numbers;
        let name = |def: &Def| numbers.get(def.name as usize).copied().unwrap_or(Name(0));
        self.bound = (0..defs.len() as u32).filter(|&index| defs[index as usize].scope != NONE).collect();
        self.bound.sort_unstable_by_key(|&index| {
            let def = &defs[index as usize];
            (def.scope, name(def), def.visible, def.name_start, index)
        });
        self.owned = (0..defs.len() as u32).filter(|&index| defs[index as usize].owner != NONE).collect();
        self.owned.sort_unstable_by_key(|&index| (defs[index as usize].owner, index));
        self.bases.sort_by_key(|base| base.def);
    }
}
