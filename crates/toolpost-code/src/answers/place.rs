//! What somebody points at: the identifier in a line and a column, and what is meant by it.

use std::sync::Arc;

use crate::facts::{Def, Facts, Import, Kind, Op, Role};
use crate::language::Place;
use crate::resolve::{Confidence, DefId, Entity, Query, References, Resolution};
use crate::world::FileId;

/// What stands where somebody looks for a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    /// The name.
    There(u32),
    /// Not the name, which stands once in the line, in another column.
    Beside(u32),
    /// The name stands several times in the line, in none of them at the column; nothing says which is meant.
    Several(Vec<u32>),
    /// The line does not have the name, but these identifiers.
    Others(Vec<u32>),
    /// The file ends before that line.
    Beyond,
}

/// What is meant by an identifier.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// Every meaning, the best first. An import of something that is not in the tree means itself.
    pub entities: Vec<Entity>,
    /// How they were found.
    pub confidence: Confidence,
    /// Whether what is meant is defined outside of the tree.
    pub is_outside: bool,
}

/// The bytes that words before the name of a declaration take at most.
const LONGEST_WORDS: u32 = 40;

impl Facts {
    /// What stands in a line, at the byte `column` of it, for somebody who looks for a name; both count from 1. Without
    /// a column the first identifier of that name is taken.
    #[must_use]
    pub fn standing(&self, name: &str, line: u32, column: Option<u32>) -> Standing {
        let Some(start) = self.line_start(line) else { return Standing::Beyond };
        let all = self.tokens_of_line(line);
        let named: Vec<u32> = all.clone().filter(|&index| self.is_called(index, name)).collect();
        let Some(&first) = named.first() else {
            let at = column.map(|column| start.saturating_add(column.saturating_sub(1)));
            return match at.and_then(|at| self.declared_after(line, at, name)) {
                Some(declaration) => Standing::There(declaration),
                None => Standing::Others(all.collect()),
            };
        };
        let Some(column) = column else { return Standing::There(first) };
        let at = start.saturating_add(column.saturating_sub(1));
        let covers = |&&index: &&u32| {
            let token = &self.tokens[index as usize];
            token.start <= at && at <= token.start + self.text(token.name).len() as u32
        };
        // Of two names that touch, the one that begins there.
        let mut covering: Vec<u32> = named.iter().filter(covers).copied().collect();
        covering.sort_by_key(|&index| self.tokens[index as usize].start != at);
        match (covering.first(), self.places(&named)) {
            (Some(&there), _) => Standing::There(there),
            (None, 1) => Standing::Beside(first),
            (None, _) => Standing::Several(named),
        }
    }

    /// The name that a declaration gives, where what stands before it in the line is words of the language, as in
    /// `export async function name`: who points at one of those points at the declaration.
    fn declared_after(&self, line: u32, at: u32, word: &str) -> Option<u32> {
        let is_after = |index: &u32| self.tokens[*index as usize].start > at;
        let next = self.tokens_of_line(line).find(is_after)?;
        let token = self.token(next).filter(|token| token.role == Role::Declaration)?;
        let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_near = token.start - at <= LONGEST_WORDS;
        let is_import = self.def(token.target)?.kind == Kind::Import;
        (is_word && is_near && !is_import).then_some(next)
    }

    /// The other identifier in the place of one: a shorthand names a member and a variable at once.
    fn other_of_shorthand(&self, index: u32) -> Option<u32> {
        let token = self.token(index)?;
        let is_other = |other: &u32| {
            let other = self.token(*other).filter(|other| other.start == token.start);
            other.is_some_and(|other| {
                matches!(
                    (token.role, other.role),
                    (Role::Key, Role::Bare)
                        | (Role::Bare, Role::Key)
                        | (Role::Declaration, Role::Member)
                        | (Role::Member, Role::Declaration)
                )
            })
        };
        [index.checked_sub(1), index.checked_add(1)].into_iter().flatten().find(is_other)
    }

    /// How many places some tokens stand at.
    fn places(&self, tokens: &[u32]) -> usize {
        let mut starts: Vec<u32> = tokens.iter().map(|&index| self.tokens[index as usize].start).collect();
        starts.dedup();
        starts.len()
    }

    /// Whether a token has a name, with or without the mark of what is private.
    fn is_called(&self, index: u32, name: &str) -> bool {
        self.token(index).is_some_and(|token| {
            let text = self.text(token.name);
            text == name || text.strip_prefix('#').is_some_and(|bare| bare == name.trim_start_matches('#'))
        })
    }
}

impl Query<'_> {
    /// Where an identifier that somebody points at leads. A shorthand is two identifiers in one place: of `{ name }` in a
    /// literal the value is where it leads, in a pattern the member that is taken out.
    #[must_use]
    pub fn definition(&self, file: FileId, token: u32) -> Arc<Resolution> {
        self.refuel();
        let facts = self.facts(file);
        let found = self.resolve(file, token);
        let Some(other) = facts.other_of_shorthand(token) else { return found };
        let other_found = self.resolve(file, other);
        match facts.token(token).map(|token| token.role) {
            Some(Role::Key) => other_found,
            Some(Role::Declaration) if leads(&other_found) => other_found,
            Some(Role::Member) if !leads(&found) => other_found,
            _ => found,
        }
    }

    /// What is meant by an identifier that somebody points at: of a declaration what it declares, of an import what it
    /// brings in, of anything else what it refers to. A shorthand, `{ name }`, means a member and a variable: both are
    /// meant.
    #[must_use]
    pub fn meaning(&self, file: FileId, token: u32) -> Meaning {
        let mut meaning = self.meaning_of_one(file, token);
        if let Some(other) = self.facts(file).other_of_shorthand(token) {
            let other = self.meaning_of_one(file, other);
            let is_sure = |one: &Meaning| one.confidence < Confidence::Possible && !one.entities.is_empty();
            if !is_sure(&meaning) {
                return if is_sure(&other) { other } else { meaning };
            }
            if is_sure(&other) {
                meaning.confidence = meaning.confidence.max(other.confidence);
                meaning.is_outside &= other.is_outside;
                for entity in other.entities {
                    if !meaning.entities.contains(&entity) {
                        meaning.entities.push(entity);
                    }
                }
            }
        }
        meaning
    }

    fn meaning_of_one(&self, file: FileId, token: u32) -> Meaning {
        self.refuel();
        if let Some(def) = self.declared_by(file, token) {
            let is_import = self.def(def).is_some_and(|(_, def)| def.kind == Kind::Import);
            if !is_import || !self.project(file).sees_through_imports() {
                return exactly(Entity::Def(self.canonical(def)), is_import && self.leads_out(def));
            }
        }
        let resolution = self.resolve(file, token);
        let in_tree = |entity: &&Entity| **entity != Entity::External;
        let entities: Vec<Entity> = resolution.entities.iter().filter(in_tree).copied().collect();
        if !entities.is_empty() {
            return Meaning { entities, confidence: resolution.confidence, is_outside: false };
        }
        let is_outside = resolution.entities.contains(&Entity::External);
        match self.binding(file, token) {
            Some(def) => exactly(Entity::Def(def), true),
            None => Meaning { entities, confidence: Confidence::Unknown, is_outside },
        }
    }

    fn leads_out(&self, import: DefId) -> bool {
        self.imported(import).iter().all(|entity| *entity == Entity::External)
    }

    /// The definition in the same file that stands for what a token means outside of the tree: the import through which it
    /// is bound, or the key of a literal.
    fn binding(&self, file: FileId, index: u32) -> Option<DefId> {
        let facts = self.facts(file);
        let token = facts.token(index)?;
        let is_import = |def: &DefId| self.def(*def).is_some_and(|(_, def)| def.kind == Kind::Import);
        match token.role {
            Role::Declaration => self.declared_by(file, index).filter(is_import),
            Role::Import => {
                let index = facts.imports.get(token.target as usize)?.def;
                facts.def(index).map(|_| DefId { file, index })
            }
            // The last name of a path that is imported.
            Role::Member => {
                let ends = |import: &&Import| {
                    let path = facts.exprs.get(import.path as usize);
                    path.is_some_and(|path| path.op == Op::Token && path.a == index)
                };
                let index = facts.imports.iter().find(ends)?.def;
                facts.def(index).map(|_| DefId { file, index })
            }
            // A key of a literal that should be of a type outside.
            Role::Key => {
                let is_it = |def: &Def| def.name_start == token.start && def.name == token.name;
                let index = facts.defs.iter().position(is_it)?;
                Some(DefId { file, index: index as u32 })
            }
            Role::Bare => {
                let place = Place { file, scope: token.scope, at: token.start };
                let written = self.look_up_as_written(place, facts.name(token.name), token.space);
                written.into_iter().find_map(|entity| match entity {
                    Entity::Def(def) if is_import(&def) => Some(def),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// Every use of what an identifier of `from` may mean.
    #[must_use]
    pub fn uses(&self, from: FileId, entity: Entity) -> References {
        match entity {
            Entity::Def(def) => {
                let is_import = self.def(def).is_some_and(|(_, def)| def.kind == Kind::Import);
                match is_import && self.project(def.file).sees_through_imports() {
                    true => self.references_to_import(def),
                    false => self.references(def),
                }
            }
            Entity::Module(module) => self.references_to_module(from, module),
            Entity::External => References::default(),
        }
    }
}

/// Whether it is known to be something of the tree.
fn leads(found: &Resolution) -> bool {
    found.confidence < Confidence::Possible && found.defs().next().is_some()
}

fn exactly(entity: Entity, is_outside: bool) -> Meaning {
    Meaning { entities: vec![entity], confidence: Confidence::Exact, is_outside }
}

/// The column of a byte of a line in characters, from 1. What is not UTF-8 counts as one character for each byte.
#[must_use]
pub fn column_of(line: &[u8], byte: u32) -> u32 {
    let before = line.get(..byte.saturating_sub(1) as usize).unwrap_or(line);
    let characters = match std::str::from_utf8(line) {
        Ok(_) => before.iter().filter(|byte| **byte & 0xc0 != 0x80).count(),
        Err(_) => before.len(),
    };
    characters as u32 + 1
}

/// The first byte of a character of a line, both from 1; what lies beyond the line stays beyond it.
#[must_use]
pub fn byte_of(line: &[u8], column: u32) -> u32 {
    let wanted = column.saturating_sub(1) as usize;
    let Ok(text) = std::str::from_utf8(line) else { return column };
    match text.char_indices().nth(wanted) {
        Some((byte, _)) => byte as u32 + 1,
        None => (line.len() + wanted - text.chars().count()) as u32 + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let line = "é = x; 日本 = y".as_bytes();
        for (byte, column) in [(1, 1), (3, 2), (6, 5), (9, 8), (18, 13)] {
            assert_eq!(column_of(line, byte), column, "byte {byte}");
            assert_eq!(byte_of(line, column), byte, "column {column}");
        }
        assert_eq!(byte_of(line, 100), line.len() as u32 + 87);
        let latin = b"\xe9 = x";
        assert_eq!((column_of(latin, 5), byte_of(latin, 5)), (5, 5));
    }
}
