//! Every use of a definition: the identifiers of its name and of its aliases whose meaning is one of its family.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Confidence, DefId, Entity, Query, push};
use crate::facts::{Kind, NONE, Name, Role, ScopeKind};
use crate::world::FileId;

/// One use.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Reference {
    /// The file.
    pub file: FileId,
    /// The token, by its number in the facts of the file.
    pub token: u32,
    /// How it was found.
    pub confidence: Confidence,
}

/// The uses of a definition.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// Those that are known to be uses, by file and place; declarations are among them.
    pub found: Vec<Reference>,
    /// Those whose receiver is unknown, and which may be uses of this definition or of another.
    pub possible: Vec<Reference>,
}

impl Query<'_> {
    /// The definitions that a reference to this one may mean: itself, its other declarations, and those that its
    /// language groups with it.
    #[must_use]
    pub fn family(&self, def: DefId) -> Arc<Vec<DefId>> {
        let def = self.canonical(def);
        if let Some(known) = self.memo.borrow().families.get(&def) {
            return Arc::clone(known);
        }
        let mut family = vec![def];
        for other in self.project(def.file).family(self, def) {
            push(&mut family, self.canonical(other));
        }
        let family = Arc::new(family);
        self.memo.borrow_mut().families.insert(def, Arc::clone(&family));
        family
    }

    /// Every use of a definition.
    #[must_use]
    pub fn references(&self, def: DefId) -> References {
        self.refuel();
        let def = self.canonical(def);
        let family = self.family(def);
        let mut names: Vec<Name> = Vec::new();
        for &member in family.iter() {
            push(&mut names, self.name_of(member));
        }
        let word = self.project(def.file).other_name(self, def);
        let naming: HashSet<FileId> = match word {
            Some(_) => self.world.postings(names[0]).iter().map(|posting| posting.file()).collect(),
            None => HashSet::new(),
        };
        names.extend(word);
        let only = self.is_local(def).then_some(def.file);
        let language = self.world.language_of(def.file);
        let is_member = self.def(def).is_some_and(|(facts, known)| crate::world::is_member(facts, known));
        let mut answer = References::default();
        let mut seen: HashSet<(FileId, u32)> = HashSet::new();
        let mut next = 0;
        while next < names.len() {
            let name = names[next];
            next += 1;
            for posting in self.world.postings(name) {
                let file = posting.file();
                if only.is_some_and(|only| only != file) || self.world.language_of(file) != language {
                    continue;
                }
                if Some(name) == word && !naming.contains(&file) {
                    continue;
                }
                let project = self.project(file);
                if file != def.file && !family.iter().any(|&member| project.may_see(self, file, member)) {
                    continue;
                }
                let facts = self.facts(file);
                let Some(local) = facts.numbers.iter().position(|&known| known == name) else { continue };
                for (index, token) in facts.tokens.iter().enumerate() {
                    if token.name != local as u32 || !seen.insert((file, index as u32)) {
                        continue;
                    }
                    let found = self.judge(file, index as u32, def, &family, is_member);
                    match found {
                        None => {}
                        Some(Confidence::Possible) => {
                            let confidence = Confidence::Possible;
                            answer.possible.push(Reference { file, token: index as u32, confidence });
                        }
                        Some(confidence) => {
                            answer.found.push(Reference { file, token: index as u32, confidence });
                            if let Some(alias) = self.alias_made_by(file, index as u32) {
                                push(&mut names, alias);
                            }
                        }
                    }
                }
            }
        }
        answer.found.sort_unstable_by_key(|found| (found.file, found.token));
        answer.possible.sort_unstable_by_key(|found| (found.file, found.token));
        answer
    }

    /// Whether a token is a use of one of a family, and how sure that is.
    fn judge(
        &self,
        file: FileId,
        index: u32,
        def: DefId,
        family: &[DefId],
        is_member: bool,
    ) -> Option<Confidence> {
        self.refuel();
        let resolution = self.resolve(file, index);
        let meets = resolution.defs().any(|meaning| family.contains(&meaning));
        let is_itself = resolution.entities.contains(&Entity::Def(def));
        if !is_itself && self.is_declaration(file, index) && !self.project(file).counts_family_declarations()
        {
            return None;
        }
        match resolution.confidence {
            Confidence::Unknown => {
                let role = self.facts(file).token(index).map(|token| token.role);
                let may_be = is_member && role == Some(Role::Member) && resolution.entities.is_empty();
                let may_be = may_be || role == Some(Role::Loose);
                (may_be && resolution.entities.is_empty() && self.receiver_is_unknown(file, index))
                    .then_some(Confidence::Possible)
            }
            _ if !meets => None,
            confidence @ (Confidence::Possible | Confidence::UniqueMember) => Some(confidence),
            confidence if is_itself => Some(confidence),
            _ => Some(Confidence::Dispatch),
        }
    }

    /// Whether a token is the name of a definition, other than of an import.
    fn is_declaration(&self, file: FileId, index: u32) -> bool {
        let facts = self.facts(file);
        facts.token(index).is_some_and(|token| {
            token.role == Role::Declaration
                && facts.def(token.target).is_some_and(|def| def.kind != Kind::Import)
        })
    }

    fn receiver_is_unknown(&self, file: FileId, index: u32) -> bool {
        self.facts(file).token(index).is_some_and(|token| {
            token.role != Role::Member || self.value_type(file, token.target) == super::Type::UNKNOWN
        })
    }

    /// The other name under which the import that a token stands in binds what it imports.
    fn alias_made_by(&self, file: FileId, index: u32) -> Option<Name> {
        let facts = self.facts(file);
        let token = facts.token(index)?;
        let import = match token.role {
            Role::Import => facts.imports.get(token.target as usize)?,
            _ => facts.imports.iter().find(|import| {
                import.path != NONE
                    && facts
                        .exprs
                        .get(import.path as usize)
                        .is_some_and(|expr| expr.op == crate::facts::Op::Token && expr.a == index)
            })?,
        };
        let bound = facts.name(facts.def(import.def)?.name);
        (bound != facts.name(token.name)).then_some(bound)
    }

    /// Whether a definition cannot be seen outside of its file.
    fn is_local(&self, def: DefId) -> bool {
        let Some((facts, known)) = self.def(def) else { return false };
        if known.owner != NONE && !matches!(known.kind, Kind::TypeParameter) {
            return false;
        }
        facts.scope(known.scope).is_some_and(|scope| scope.kind != ScopeKind::Module)
            || known.kind == Kind::TypeParameter
    }
}
