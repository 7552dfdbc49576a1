//! Every use of a definition: the identifiers of its name and of its aliases whose meaning is one of its family.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Confidence, DefId, Entity, Module, Query, Resolution, Shape, Type, push};
use crate::answers::imports::imported_text;
use crate::facts::{ANYTHING, Kind, NONE, Name, Op, Role, ScopeKind};
use crate::language::Place;
use crate::world::FileId;

/// Files whose facts are read together, before they are looked at one by one.
const AHEAD: usize = 64;

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

/// What uses are looked for.
struct Sought {
    def: DefId,
    /// The definitions that a use may mean, itself among them.
    family: Arc<Vec<DefId>>,
    is_member: bool,
    /// The types outside of the tree that its type inherits from, or that its block implements.
    outer_bases: Vec<Name>,
    /// Whether it is lent to types outside of the tree.
    is_lent: bool,
    /// Members of other types that may be one with it.
    shared: Vec<DefId>,
}

/// The uses of a definition.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// Those that are known to be uses, by file and place; declarations are among them.
    pub found: Vec<Reference>,
    /// Those whose receiver is unknown, and which may be uses of this definition or of another.
    pub possible: Vec<Reference>,
    /// Whether what is asked for may be a member of a type that could not be found out, whose uses are not known to be uses.
    pub is_open: bool,
    /// Whether the search ended before its end, because it took too much memory or time.
    pub is_cut: bool,
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
        let outer = self.outer_of(def);
        let project = self.project(def.file);
        let sought = Sought {
            def,
            family: Arc::clone(&family),
            is_member,
            outer_bases: self.outer_bases(def),
            is_lent: project.is_lent(self, def),
            shared: project.may_share(self, def),
        };
        let suits = |file: FileId, name: Name| {
            let project = self.project(file);
            only.is_none_or(|only| only == file)
                && self.world.language_of(file) == language
                && (Some(name) != word || naming.contains(&file))
                && (file == def.file || family.iter().any(|&member| project.may_see(self, file, member)))
        };
        let mut answer = self.gather(names, suits, |file, token| {
            let found = match outer {
                Some(outer) if self.is_of_outer(file, token, outer) => Some(Confidence::Typed),
                _ => self.judge(file, token, &sought),
            };
            let is_sure = found.is_some_and(|confidence| confidence < Confidence::Possible);
            let alias = if is_sure { self.alias_made_by(file, token) } else { None };
            (found, alias)
        });
        answer.is_open = is_member && self.is_of_unknown_type(def);
        answer
    }

    /// The type outside of the tree whose member a key of a literal is.
    fn outer_of(&self, def: DefId) -> Option<Name> {
        let (facts, known) = self.def(def)?;
        let index = facts.token_starting(known.name_start)?;
        let token = facts.token(index).filter(|token| token.role == Role::Key)?;
        let is_outer = self.resolve(def.file, index).entities == [Entity::External];
        let literal = || self.value_type(def.file, token.target);
        if is_outer { self.project(def.file).outer_type(self, literal()) } else { None }
    }

    /// Whether a token is a member of a type outside of the tree.
    fn is_of_outer(&self, file: FileId, index: u32, outer: Name) -> bool {
        self.refuel();
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return false };
        let is_part = matches!(token.role, Role::Key | Role::Member);
        if !is_part || self.resolve(file, index).entities != [Entity::External] {
            return false;
        }
        let mut is_it = false;
        self.each_alternative(self.value_type(file, token.target), |one| {
            is_it |= self.shape(one) == Shape::External(outer);
        });
        is_it
    }

    /// Every identifier of some names that is judged to be a use. Other names that come up on the way are followed.
    fn gather(
        &self,
        mut names: Vec<Name>,
        suits: impl Fn(FileId, Name) -> bool,
        mut judge: impl FnMut(FileId, u32) -> (Option<Confidence>, Option<Name>),
    ) -> References {
        let mut answer = References::default();
        let mut seen: HashSet<(FileId, u32)> = HashSet::new();
        let mut next = 0;
        while next < names.len() {
            let name = names[next];
            next += 1;
            let files: Vec<FileId> = self.world.postings(name).iter().map(|posting| posting.file()).collect();
            let files: Vec<FileId> = files.into_iter().filter(|&file| suits(file, name)).collect();
            for (number, &file) in files.iter().enumerate() {
                if number % AHEAD == 0 {
                    answer.is_cut |= self.is_over();
                    self.world.prefetch(&files[number..files.len().min(number + AHEAD)]);
                }
                if answer.is_cut {
                    break;
                }
                let facts = self.facts(file);
                let Some(local) = facts.index_of(name) else { continue };
                for (index, token) in facts.tokens.iter().enumerate() {
                    let index = index as u32;
                    if token.name != local || !seen.insert((file, index)) {
                        continue;
                    }
                    let (found, other_name) = judge(file, index);
                    match found {
                        None => {}
                        Some(confidence @ Confidence::Possible) => {
                            answer.possible.push(Reference { file, token: index, confidence });
                        }
                        Some(confidence) => {
                            answer.found.push(Reference { file, token: index, confidence });
                        }
                    }
                    if let Some(other) = other_name {
                        push(&mut names, other);
                    }
                }
            }
        }
        answer.found.sort_unstable_by_key(|found| (found.file, found.token));
        answer.possible.sort_unstable_by_key(|found| (found.file, found.token));
        answer
    }

    /// Every use of a module, by the names under which files import it; `from` is a file of its language.
    #[must_use]
    pub fn references_to_module(&self, from: FileId, module: Module) -> References {
        self.refuel();
        let language = self.world.language_of(from);
        let mut names = Vec::new();
        if let Some(file) = self.project(from).module_file(module) {
            // The last parts of its path: one of them is its name, whatever the language calls its files.
            for part in self.world.path(file).rsplit('/').take(3) {
                push(&mut names, Name::of(part.split('.').next().unwrap_or(part)));
            }
        }
        let bound = |file: FileId| -> Vec<Name> {
            let facts = self.facts(file);
            let imports = facts.imports.iter().enumerate().filter(|(_, import)| import.def != NONE);
            imports
                .filter(|(index, _)| self.import(file, *index as u32).contains(&Entity::Module(module)))
                .filter_map(|(_, import)| facts.def(import.def).map(|def| facts.name(def.name)))
                .collect()
        };
        for name in bound(from) {
            push(&mut names, name);
        }
        let mut looked: HashSet<FileId> = HashSet::new();
        self.gather(
            names,
            |file, _| self.world.language_of(file) == language,
            |file, token| {
                self.refuel();
                let resolution = self.resolve(file, token);
                if !resolution.entities.contains(&Entity::Module(module)) {
                    return (None, None);
                }
                let other = if looked.insert(file) { bound(file).into_iter().next() } else { None };
                (Some(resolution.confidence), other)
            },
        )
    }

    /// Every use of something that is not in the tree, as far as files import it as this import does.
    #[must_use]
    pub fn references_to_import(&self, def: DefId) -> References {
        self.refuel();
        let facts = self.facts(def.file);
        let Some(import) = facts.imports.iter().find(|import| import.def == def.index) else {
            return References::default();
        };
        let wanted = imported_text(facts, import);
        let mut names = vec![self.name_of(def)];
        if import.name != NONE {
            push(&mut names, facts.name(import.name));
        }
        if let Some(name) = wanted.rsplit([':', '.', '/']).next() {
            push(&mut names, Name::of(name));
        }
        let language = self.world.language_of(def.file);
        // What a relative path leads to depends on where it stands.
        let is_relative = wanted.starts_with('.');
        let same = |file: FileId| -> Vec<u32> {
            let facts = self.facts(file);
            let imports = facts.imports.iter().filter(|import| import.def != NONE);
            imports.filter(|import| imported_text(facts, import) == wanted).map(|import| import.def).collect()
        };
        let mut known: HashMap<FileId, Vec<u32>> = HashMap::new();
        self.gather(
            names,
            |file, _| self.world.language_of(file) == language && (!is_relative || file == def.file),
            |file, index| {
                self.refuel();
                let bindings = known.entry(file).or_insert_with(|| same(file));
                let facts = self.facts(file);
                let Some(token) = facts.token(index) else { return (None, None) };
                let is_use = match token.role {
                    Role::Declaration => bindings.contains(&token.target),
                    Role::Import => {
                        let import = facts.imports.get(token.target as usize);
                        import.is_some_and(|import| bindings.contains(&import.def))
                    }
                    Role::Bare => {
                        let place = Place { file, scope: token.scope, at: token.start };
                        let written = self.look_up_as_written(place, facts.name(token.name), token.space);
                        written.iter().any(|entity| {
                            matches!(entity, Entity::Def(def) if bindings.contains(&def.index) && def.file == file)
                        })
                    }
                    // The last name of a path that is imported.
                    Role::Member => bindings.iter().any(|&binding| {
                        let mut imports = facts.imports.iter().filter(|import| import.def == binding);
                        imports.any(|import| {
                            let path = facts.exprs.get(import.path as usize);
                            path.is_some_and(|path| path.op == Op::Token && path.a == index)
                        })
                    }),
                    _ => false,
                };
                if !is_use {
                    return (None, None);
                }
                let bound = bindings.first().and_then(|&def| facts.def(def)).map(|def| facts.name(def.name));
                (Some(Confidence::Exact), bound)
            },
        )
    }

    /// The types outside of the tree through which a member may be asked for: those that its type inherits from or that
    /// its block implements.
    fn outer_bases(&self, def: DefId) -> Vec<Name> {
        let Some((facts, known)) =
            self.def(def).filter(|(facts, known)| crate::world::is_member(facts, known))
        else {
            return Vec::new();
        };
        let mut types: Vec<Type> =
            facts.bases_of(known.owner).iter().map(|base| self.named_type(def.file, base.base)).collect();
        for one in self.ancestry(DefId { index: known.owner, ..def }) {
            types.extend(self.bases(one).iter());
        }
        let mut names = Vec::new();
        for of in types {
            if let Shape::External(name) = self.shape(of)
                && of != Type::EXTERNAL
            {
                push(&mut names, name);
            }
        }
        names
    }

    /// Whether a token is a member of the name of a definition, asked of a type outside of the tree that the
    /// definition's type inherits from or implements, or to which it is lent: what runs may be the definition.
    fn is_of_outer_side(&self, file: FileId, index: u32, sought: &Sought) -> bool {
        if sought.outer_bases.is_empty() && !sought.is_lent {
            return false;
        }
        let facts = self.facts(file);
        let Some(token) = facts.token(index).filter(|token| token.role == Role::Member) else { return false };
        if facts.name(token.name) != self.name_of(sought.def) || self.is_of_base(file, index) {
            return false;
        }
        let is_lent = sought.is_lent && !self.project(file).is_library_member(facts.text(token.name));
        let mut is_outer = false;
        self.each_alternative(self.value_type(file, token.target), |one| {
            is_outer |=
                matches!(self.shape(one), Shape::External(name) if is_lent || sought.outer_bases.contains(&name));
        });
        is_outer
    }

    /// Whether a token declares something that nothing but its name is written of: a macro makes it, or hands the name
    /// on to code that uses it.
    fn is_made_of_name(&self, file: FileId, index: u32) -> bool {
        self.declares(file, index).and_then(|def| self.def(def)).is_some_and(|(facts, def)| {
            let length = facts.text(def.name).len() as u32;
            def.kind == Kind::Function && def.start == def.name_start && def.end - def.start == length
        })
    }

    /// Whether a token is a use of one of a family, and how sure that is.
    fn judge(&self, file: FileId, index: u32, sought: &Sought) -> Option<Confidence> {
        let &Sought { def, is_member, .. } = sought;
        self.refuel();
        let resolution = self.resolve(file, index);
        let meets = resolution.defs().any(|meaning| sought.family.contains(&meaning));
        let is_itself = resolution.entities.contains(&Entity::Def(def));
        if let Some(declared) = self.declares(file, index)
            && declared != def
        {
            // Another declaration of the same thing, such as an overload or a part of an interface, is no use of it.
            let is_type = self
                .def(declared)
                .is_some_and(|(facts, def)| def.kind.is_type() && !crate::world::is_member(facts, def));
            let counts = match self.project(file).counts_family_declarations() {
                true => !is_itself && !is_type,
                // What a class inherits it may set as well: both are one field.
                false => {
                    let is_field = self.def(def).is_some_and(|(_, def)| def.kind == Kind::Field);
                    is_itself || is_field && (meets || sought.shared.contains(&declared))
                }
            };
            let is_alternative = self.project(file).has_alternatives() && self.canonical(declared) == def;
            if !counts && !is_alternative {
                return None;
            }
        }
        match resolution.confidence {
            Confidence::Unknown => {
                let may_be = resolution.entities.is_empty() && self.may_mean(file, index, def);
                may_be.then_some(Confidence::Possible)
            }
            // Of many candidates a meaning names the first only.
            Confidence::Possible if !meets && is_member => {
                let facts = self.facts(file);
                let is_named =
                    facts.token(index).is_some_and(|token| facts.name(token.name) == self.name_of(def));
                is_named.then_some(Confidence::Possible)
            }
            _ if !meets && is_member && self.may_be_overridden(file, index, def) => {
                Some(Confidence::Possible)
            }
            _ if !meets && is_member && self.is_unproven_key(file, index, &resolution) => {
                Some(Confidence::Possible)
            }
            _ if !meets && resolution.defs().any(|meaning| sought.shared.contains(&meaning)) => {
                Some(Confidence::Possible)
            }
            _ if !meets && is_member && self.is_made_of_name(file, index) => Some(Confidence::Possible),
            _ if !meets && self.is_of_outer_side(file, index, sought) => Some(Confidence::Possible),
            _ if !meets => None,
            confidence @ (Confidence::Possible | Confidence::UniqueMember) => Some(confidence),
            confidence if is_itself => Some(confidence),
            // What is asked of the base itself is not passed to what overrides it.
            _ if !self.project(file).counts_family_declarations() && self.is_of_base(file, index) => None,
            _ => Some(Confidence::Dispatch),
        }
    }

    /// Whether a token is a key of a literal that is known as nothing but itself, where nothing says of which type the
    /// literal should be.
    fn is_unproven_key(&self, file: FileId, index: u32, meaning: &Resolution) -> bool {
        let facts = self.facts(file);
        let Some(token) = facts.token(index).filter(|token| token.role == Role::Key) else { return false };
        let is_itself = |def: DefId| {
            def.file == file && self.def(def).is_some_and(|(_, def)| def.name_start == token.start)
        };
        let is_only_itself =
            meaning.defs().count() == meaning.entities.len() && meaning.defs().all(is_itself);
        is_only_itself && self.project(file).is_of_unknown_type(self, file, token.target)
    }

    /// Whether a definition is a key of a literal of which nothing says of which type it should be: uses of that type's
    /// member are uses of the key, and nobody can tell which they are.
    #[must_use]
    pub fn is_of_unknown_type(&self, def: DefId) -> bool {
        self.refuel();
        let Some((facts, known)) = self.def(def) else { return false };
        let Some(index) = facts.token_starting(known.name_start) else { return false };
        let last = facts.tokens.len() as u32;
        let same = |&index: &u32| facts.token(index).is_some_and(|token| token.start == known.name_start);
        (index.saturating_sub(1)..last.min(index + 2))
            .filter(same)
            .any(|index| self.is_unproven_key(def.file, index, &self.resolve(def.file, index)))
    }

    /// Whether a token is a member that every value has, asked of a value that may be of the type of a definition.
    fn may_be_overridden(&self, file: FileId, index: u32, def: DefId) -> bool {
        let facts = self.facts(file);
        let Some(token) = facts.token(index).filter(|token| token.role == Role::Member) else { return false };
        let name = facts.name(token.name);
        if name != self.name_of(def) || self.is_of_base(file, index) {
            return false;
        }
        let (project, text) = (self.project(file), facts.text(token.name));
        let mut is_root = false;
        self.each_alternative(self.value_type(file, token.target), |one| {
            is_root |= project.is_root_member(self, one, text)
                && self.members(file, one, name, token.space).is_empty();
        });
        is_root
    }

    /// Whether a token is a member of the bases of the type around it, by a word such as `super`.
    fn is_of_base(&self, file: FileId, index: u32) -> bool {
        let facts = self.facts(file);
        let receiver = facts.token(index).and_then(|token| facts.exprs.get(token.target as usize));
        receiver.is_some_and(|receiver| receiver.op == Op::Super)
    }

    /// The definition whose name a token is, other than an import.
    fn declares(&self, file: FileId, index: u32) -> Option<DefId> {
        let facts = self.facts(file);
        let token = facts.token(index).filter(|token| token.role == Role::Declaration)?;
        let is_import = facts.def(token.target)?.kind == Kind::Import;
        (!is_import).then_some(DefId { file, index: token.target })
    }

    /// Whether a token of which nothing is known may mean a definition of its name. Whoever lists the candidates for such
    /// a token, or the possible uses of a definition, asks this, so that both say the same.
    #[must_use]
    pub fn may_mean(&self, file: FileId, index: u32, def: DefId) -> bool {
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return false };
        let Some((target, known)) = self.def(def) else { return false };
        if token.role == Role::Loose {
            return true;
        }
        let is_member = crate::world::is_member(target, known);
        let is_anything = token.role == Role::Bare && token.target == ANYTHING;
        if token.space & known.space == 0 && !is_anything || known.kind == Kind::Import {
            return false;
        }
        match token.role {
            Role::Member => {
                let receiver = self.value_type(file, token.target);
                match is_member {
                    // A variant can be imported, a field or a method cannot.
                    true if self.is_imported_path(file, index) => known.kind == Kind::Variant,
                    true if receiver == Type::UNKNOWN => true,
                    true => {
                        !self.project(file).is_library_member(facts.text(token.name))
                            || self.may_be_overridden(file, index, def)
                    }
                    // The end of a path that leads nowhere.
                    false => receiver == Type::UNKNOWN && !self.is_local(def),
                }
            }
            Role::Bare if is_anything => is_member || !self.is_local(def),
            Role::Bare | Role::Import => !is_member && !self.is_local(def),
            // What an import binds under the name that it has there.
            Role::Declaration => {
                let mut imports = facts.imports.iter().filter(|import| import.def == token.target);
                let is_named = imports.any(|import| import.name == token.name);
                is_named && token.target != NONE && !is_member && !self.is_local(def)
            }
            Role::Keyword => self.may_take(file, token.target, def),
            _ => false,
        }
    }

    /// Whether a call of which nothing is known may give an argument by the name of a definition: what is called has the
    /// name of what takes it, or hands arguments on.
    fn may_take(&self, file: FileId, callee: u32, def: DefId) -> bool {
        let Some((facts, known)) = self.def(def) else { return false };
        if !matches!(known.kind, Kind::Parameter | Kind::Field) {
            return false;
        }
        let called = self.facts(file).exprs.get(callee as usize).filter(|expr| expr.op == Op::Token);
        let Some(called) = called.and_then(|expr| self.facts(file).token(expr.a)) else { return false };
        if self.project(file).hands_on_keywords(self.facts(file).text(called.name)) {
            return true;
        }
        // A constructor is called by the name of its type.
        let owners = [Some(known.owner), facts.def(known.owner).map(|owner| owner.owner)];
        owners
            .into_iter()
            .flatten()
            .filter_map(|owner| facts.def(owner))
            .any(|owner| facts.name(owner.name) == self.facts(file).name(called.name))
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
    #[must_use]
    pub fn is_local(&self, def: DefId) -> bool {
        let Some((facts, known)) = self.def(def) else { return false };
        if known.owner != NONE && !matches!(known.kind, Kind::TypeParameter) {
            return false;
        }
        facts.scope(known.scope).is_some_and(|scope| scope.kind != ScopeKind::Module)
            || known.kind == Kind::TypeParameter
    }
}
