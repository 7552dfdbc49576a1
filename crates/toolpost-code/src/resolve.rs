//! What an identifier means: the one question from which every answer is made. Lazy, remembered, and bounded by fuel;
//! what cannot be found out within it is unknown and is said to be.

mod arena;
mod infer;
mod members;
mod references;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Instant;

use crate::facts::{Facts, Kind, NONE, Name, QuickMap, Role, mark};
use crate::language::{Place, Project};
use crate::world::{FileId, World};

pub use arena::{Shape, Type};
pub use infer::builtin;
pub use members::Member;
pub use references::{Reference, References};

/// A definition, by its file and its number in the facts of that file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DefId {
    /// The file.
    pub file: FileId,
    /// The number.
    pub index: u32,
}

/// A module, by a number that its project gave it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Module(pub u64);

/// What an identifier can mean.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Entity {
    /// A definition of the tree.
    Def(DefId),
    /// A module of the tree.
    Module(Module),
    /// Something that is not in the tree: of the language itself or of a library.
    External,
}

/// How an answer was found: from the surest down.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Confidence {
    /// By scopes, imports, paths, or the object that the code itself belongs to.
    Exact,
    /// By the type of the receiver, which was inferred.
    Typed,
    /// Through a base, an interface or a trait: what runs may be another member of the family.
    Dispatch,
    /// The receiver is unknown, and only one type of the tree has a member of this name.
    UniqueMember,
    /// The receiver is unknown, and several types have a member of this name.
    Possible,
    /// Nothing of the tree.
    Unknown,
}

/// What one identifier means.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// Every meaning, the best first.
    pub entities: Vec<Entity>,
    /// How they were found.
    pub confidence: Confidence,
}

impl Resolution {
    fn new(entities: Vec<Entity>, confidence: Confidence) -> Resolution {
        let known = !entities.is_empty();
        Resolution { entities, confidence: if known { confidence } else { Confidence::Unknown } }
    }

    /// The definitions among the meanings.
    pub fn defs(&self) -> impl Iterator<Item = DefId> {
        self.entities.iter().filter_map(|entity| match entity {
            Entity::Def(def) => Some(*def),
            _ => None,
        })
    }
}

/// What has been found out about one state of the world.
#[derive(Default)]
pub struct Memo {
    types: arena::Arena,
    tokens: QuickMap<(FileId, u32), Option<Arc<Resolution>>>,
    token_types: QuickMap<(FileId, u32), Option<Type>>,
    values: QuickMap<(FileId, u32), Option<Type>>,
    named: QuickMap<(FileId, u32), Option<Type>>,
    defs: QuickMap<DefId, Option<Type>>,
    returns: QuickMap<DefId, Option<Type>>,
    imports: QuickMap<(FileId, u32), Option<Vec<Entity>>>,
    families: QuickMap<DefId, Arc<Vec<DefId>>>,
    bases: QuickMap<DefId, Arc<Vec<Type>>>,
    detached: QuickMap<(Type, Name), Arc<Vec<DefId>>>,
    parameters: QuickMap<DefId, Vec<DefId>>,
    candidates: QuickMap<(u8, Name), Vec<Entity>>,
}

impl Memo {
    /// How many findings it holds, about.
    pub(crate) fn size(&self) -> usize {
        self.tokens.len()
            + self.token_types.len()
            + self.values.len()
            + self.named.len()
            + self.detached.len()
    }
}

/// The number of steps that one question may take.
const FUEL: u32 = 6_000;
/// How many members are named for a receiver of which nothing is known.
const CANDIDATES: usize = 12;
/// How deep questions may lead to other questions.
const DEEPEST: u32 = 80;

/// Questions to one state of the world.
pub struct Query<'a> {
    /// The files.
    pub world: &'a World,
    memo: RefCell<Memo>,
    fuel: Cell<u32>,
    depth: Cell<u32>,
    /// When long searches end with what they have.
    end: Cell<Option<Instant>>,
}

impl<'a> Query<'a> {
    /// Questions about a world, of which something may be known from earlier questions about the same world.
    #[must_use]
    pub fn new(world: &'a World, memo: Memo) -> Query<'a> {
        Query {
            world,
            memo: RefCell::new(memo),
            fuel: Cell::new(FUEL),
            depth: Cell::new(0),
            end: Cell::new(None),
        }
    }

    /// What was found out.
    #[must_use]
    pub fn into_memo(self) -> Memo {
        self.memo.into_inner()
    }

    /// Long searches end at this time with what they have found, and say so.
    pub fn end_at(&self, end: Instant) {
        self.end.set(Some(end));
    }

    /// Whether a long search must come to its end.
    pub(crate) fn is_over(&self) -> bool {
        self.world.is_full() || self.end.get().is_some_and(|end| Instant::now() >= end)
    }

    /// Allows the next question its steps.
    pub fn refuel(&self) {
        self.fuel.set(FUEL);
        self.depth.set(0);
        let mut memo = self.memo.borrow_mut();
        // Types are shared by all answers, so they are forgotten together with all answers.
        if memo.types.len() > 400_000 || memo.tokens.len() > 2_000_000 {
            *memo = Memo::default();
        }
    }

    /// The facts of a file.
    #[must_use]
    pub fn facts(&self, file: FileId) -> &'a Facts {
        self.world.facts(file)
    }

    /// The project of a file.
    #[must_use]
    pub fn project(&self, file: FileId) -> &'a dyn Project {
        self.world.project_of(file)
    }

    /// The facts of the definition's file and the definition.
    #[must_use]
    pub fn def(&self, def: DefId) -> Option<(&'a Facts, &'a crate::facts::Def)> {
        let facts = self.facts(def.file);
        Some((facts, facts.def(def.index)?))
    }

    /// The number of a definition's name.
    #[must_use]
    pub fn name_of(&self, def: DefId) -> Name {
        self.def(def).map_or(Name(0), |(facts, def)| facts.name(def.name))
    }

    /// The definition that stands for all declarations of the same thing in its file.
    #[must_use]
    pub fn canonical(&self, def: DefId) -> DefId {
        self.def(def).map_or(def, |(_, known)| DefId { index: known.same, ..def })
    }

    /// Runs a question one level deeper; nothing if fuel or depth are used up.
    pub(crate) fn deeper<R>(&self, ask: impl FnOnce() -> R) -> Option<R> {
        let (fuel, depth) = (self.fuel.get(), self.depth.get());
        if fuel == 0 || depth >= DEEPEST {
            self.fuel.set(0);
            return None;
        }
        self.fuel.set(fuel - 1);
        self.depth.set(depth + 1);
        let answer = ask();
        self.depth.set(depth);
        Some(answer)
    }

    /// What a token means.
    pub fn resolve(&self, file: FileId, token: u32) -> Arc<Resolution> {
        let key = (file, token);
        if let Some(known) = self.memo.borrow().tokens.get(&key) {
            return known.clone().unwrap_or_else(unknown);
        }
        self.memo.borrow_mut().tokens.insert(key, None);
        let answer = self.deeper(|| self.resolve_anew(file, token)).map_or_else(unknown, Arc::new);
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() == 0 {
            memo.tokens.remove(&key);
        } else {
            memo.tokens.insert(key, Some(Arc::clone(&answer)));
        }
        answer
    }

    fn resolve_anew(&self, file: FileId, index: u32) -> Resolution {
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return Resolution::new(Vec::new(), Confidence::Unknown) };
        match token.role {
            Role::Declaration => {
                let def = DefId { file, index: token.target };
                Resolution::new(self.through(vec![Entity::Def(def)]), Confidence::Exact)
            }
            Role::Import => Resolution::new(self.import(file, token.target), Confidence::Exact),
            Role::Bare | Role::Label => Resolution::new(self.bare(file, index), Confidence::Exact),
            Role::Member | Role::Key => self.member_token(file, index),
            Role::Keyword => self.keyword(file, index),
            Role::Loose => Resolution::new(Vec::new(), Confidence::Unknown),
        }
    }

    /// What a bare name means.
    fn bare(&self, file: FileId, index: u32) -> Vec<Entity> {
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return Vec::new() };
        let place = Place { file, scope: token.scope, at: token.start };
        self.look_up(place, facts.name(token.name), token.space)
    }

    /// What a name means at a place.
    #[must_use]
    pub fn look_up(&self, place: Place, name: Name, space: u8) -> Vec<Entity> {
        let written = self.look_up_as_written(place, name, space);
        let only_imports = !written.is_empty()
            && written.iter().all(|entity| match entity {
                Entity::Def(def) => self.def(*def).is_some_and(|(_, def)| def.kind == Kind::Import),
                _ => false,
            });
        let found = self.suiting(self.through(written), space);
        if found.is_empty() && only_imports && self.project(place.file).may_import_itself() {
            // An import of its own name, `use a::a`, leads to itself; the outer meaning is left.
            return self
                .suiting(self.through(self.project(place.file).outer(self, place, name, space)), space);
        }
        found
    }

    /// Those that can mean what is asked for, if any can.
    fn suiting(&self, mut entities: Vec<Entity>, space: u8) -> Vec<Entity> {
        let suits = |entity: &Entity| match entity {
            Entity::Def(def) => self.def(*def).is_some_and(|(_, def)| def.space & space != 0),
            _ => true,
        };
        if entities.iter().any(suits) {
            entities.retain(suits);
        }
        entities
    }

    /// What a name means at a place: the very declarations that are seen there, imports as themselves.
    #[must_use]
    pub fn look_up_as_written(&self, place: Place, name: Name, space: u8) -> Vec<Entity> {
        let facts = self.facts(place.file);
        let found = facts.lookup(place.scope, name, place.at, space);
        if found.is_empty() {
            return self.project(place.file).outer(self, place, name, space);
        }
        let file = place.file;
        found.into_iter().map(|index| Entity::Def(DefId { file, index })).collect()
    }

    /// Replaces definitions by the one that stands for them, and imports by what they import.
    #[must_use]
    pub fn through(&self, entities: Vec<Entity>) -> Vec<Entity> {
        let mut seen: Vec<Entity> = Vec::with_capacity(entities.len());
        for entity in entities {
            let Entity::Def(def) = entity else {
                push(&mut seen, entity);
                continue;
            };
            let is_import = self.def(def).is_some_and(|(_, def)| def.kind == Kind::Import);
            if is_import && self.project(def.file).sees_through_imports() {
                for target in self.imported(def) {
                    push(&mut seen, target);
                }
            } else {
                push(&mut seen, Entity::Def(self.canonical(def)));
            }
        }
        seen
    }

    /// What the import that makes a definition leads to.
    #[must_use]
    pub fn imported(&self, def: DefId) -> Vec<Entity> {
        let facts = self.facts(def.file);
        let index = facts.imports.iter().position(|import| import.def == def.index);
        index.map_or_else(Vec::new, |index| self.import(def.file, index as u32))
    }

    /// Where an import leads.
    #[must_use]
    pub fn import(&self, file: FileId, import: u32) -> Vec<Entity> {
        let key = (file, import);
        if let Some(known) = self.memo.borrow().imports.get(&key) {
            return known.clone().unwrap_or_default();
        }
        self.memo.borrow_mut().imports.insert(key, None);
        let answer = self.deeper(|| self.through(self.project(file).import(self, file, import)));
        let mut memo = self.memo.borrow_mut();
        match answer {
            Some(answer) => {
                memo.imports.insert(key, Some(answer.clone()));
                answer
            }
            None => {
                memo.imports.remove(&key);
                Vec::new()
            }
        }
    }

    fn member_token(&self, file: FileId, index: u32) -> Resolution {
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return Resolution::new(Vec::new(), Confidence::Unknown) };
        let receiver = match self.value_type(file, token.target) {
            Type::MANY => Type::UNKNOWN,
            receiver => receiver,
        };
        let name = facts.name(token.name);
        let found = self.members(file, receiver, name, token.space);
        if token.role == Role::Key && self.is_outer_key(file, token.start, receiver, &found) {
            return Resolution::new(vec![Entity::External], Confidence::Typed);
        }
        if !found.is_empty() {
            let mut entities: Vec<Entity> = Vec::new();
            for member in &found {
                push(&mut entities, member.entity);
            }
            let entities = self.through(entities);
            let is_path = matches!(self.shape(receiver), Shape::Module(_) | Shape::Class(_));
            let is_own = facts.exprs.get(token.target as usize).is_some_and(|expr| {
                matches!(
                    expr.op,
                    crate::facts::Op::This | crate::facts::Op::ThisType | crate::facts::Op::Super
                )
            });
            // A key that is a member of its own literal only.
            let is_itself =
                token.role == Role::Key && found.iter().all(|one| self.stands_at(one, file, token.start));
            let is_exact = is_path || is_own || is_itself;
            let confidence = if is_exact { Confidence::Exact } else { Confidence::Typed };
            return Resolution::new(entities, confidence);
        }
        if token.role == Role::Key {
            // A key of a literal whose type has no such member is an expression, or belongs to a type unknown here.
            let is_expression = match self.shape(receiver) {
                Shape::External(name) => name == builtin::MAP || name == builtin::LIST,
                Shape::Instance(_) => true,
                _ => false,
            };
            if is_expression {
                return Resolution::new(self.bare(file, index), Confidence::Exact);
            }
            return Resolution::new(Vec::new(), Confidence::Unknown);
        }
        if receiver != Type::UNKNOWN
            && (self.is_open(file, receiver) || self.is_unproven(file, index, receiver))
        {
            let found = self.by_name(file, facts.text(token.name), name);
            // What comes from outside is rarely of the tree, so one candidate is not taken for the answer.
            return match found.entities.is_empty() {
                true => Resolution::new(Vec::new(), Confidence::Unknown),
                false => Resolution::new(found.entities, Confidence::Possible),
            };
        }
        if receiver != Type::UNKNOWN {
            let external = !self.is_known(receiver);
            let entities = if external { vec![Entity::External] } else { Vec::new() };
            return Resolution::new(entities, Confidence::Exact);
        }
        if self.is_imported_path(file, index) {
            return Resolution::new(Vec::new(), Confidence::Unknown);
        }
        self.by_name(file, facts.text(token.name), name)
    }

    /// Whether a token is part of the path of an import, which no value and so no member of a value can be.
    pub(crate) fn is_imported_path(&self, file: FileId, index: u32) -> bool {
        let facts = self.facts(file);
        let token_of = |expr: u32| {
            let expr = facts.exprs.get(expr as usize).filter(|expr| expr.op == crate::facts::Op::Token)?;
            facts.token(expr.a).map(|token| (expr.a, token))
        };
        facts.imports.iter().any(|import| {
            let mut current = token_of(import.path);
            while let Some((at, token)) = current {
                if at == index {
                    return true;
                }
                // What is before a name in a path was written down before it.
                let is_member = token.role == Role::Member;
                current =
                    if is_member { token_of(token.target).filter(|(before, _)| *before < at) } else { None };
            }
            false
        })
    }

    /// Whether a key of a literal means a member of a type outside of the tree: the literal should be of such a type, and
    /// nothing of the tree but the literal itself has the key.
    fn is_outer_key(&self, file: FileId, start: u32, literal: Type, found: &[Member]) -> bool {
        let is_own = |member: &Member| self.stands_at(member, file, start);
        found.iter().all(is_own) && self.project(file).outer_type(self, literal).is_some()
    }

    /// Whether a member is defined at a place.
    fn stands_at(&self, member: &Member, file: FileId, start: u32) -> bool {
        match member.entity {
            Entity::Def(def) => {
                def.file == file && self.def(def).is_some_and(|(_, def)| def.name_start == start)
            }
            _ => false,
        }
    }

    /// Whether a value of a type that is not in the tree may be of a type of the tree: nothing says what it is. Names that
    /// types of the library have are no proof that it is one of them.
    pub(crate) fn is_open(&self, file: FileId, receiver: Type) -> bool {
        let project = self.project(file);
        let mut is_open = false;
        self.each_alternative(receiver, |one| is_open |= project.may_be_anything(self, one));
        is_open
    }

    /// Whether the type of a receiver is only partly found out, so that nothing proves that its member is from outside:
    /// a type parameter that nothing stands for, a function, or a type with a base that is unknown.
    pub(crate) fn is_unproven(&self, file: FileId, token: u32, receiver: Type) -> bool {
        let facts = self.facts(file);
        let Some(token) = facts.token(token) else { return false };
        let project = self.project(file);
        let is_library = project.is_library_member(facts.text(token.name));
        let mut is_unproven = false;
        self.each_alternative(receiver, |one| {
            is_unproven |= match self.shape(one) {
                Shape::Parameter(def) => !self.is_bound_at(def, file, token.start),
                Shape::Instance(def) | Shape::Class(def) => {
                    self.has_unknown_base(def) || !is_library && project.may_be_another(self, def)
                }
                // A function has no member but those of the library, so what makes it a value with others is unknown.
                Shape::Function(_) => !is_library,
                _ => false,
            }
        });
        is_unproven
    }

    /// Whether a place is in what a type parameter belongs to, and known types say what the parameter must be.
    fn is_bound_at(&self, parameter: DefId, file: FileId, at: u32) -> bool {
        let Some((facts, def)) = self.def(parameter) else { return false };
        let is_inside = parameter.file == file
            && facts.def(def.owner).is_some_and(|owner| (owner.start..owner.end).contains(&at));
        let bounds = self.bounds(parameter);
        let is_named = |bound: &Type| *bound != Type::UNKNOWN && *bound != Type::EXTERNAL;
        is_inside && !bounds.is_empty() && bounds.iter().all(is_named)
    }

    /// Whether one of the bases of a type could not be found out, or whoever implements the type says what it is.
    fn has_unknown_base(&self, def: DefId) -> bool {
        self.ancestry(def).into_iter().any(|one| {
            let is_left_open =
                self.def(one).is_some_and(|(_, def)| def.kind == Kind::Alias && def.declared == NONE);
            let is_known = |&base: &Type| {
                base != Type::EXTERNAL
                    && !matches!(self.shape(base), Shape::Unknown | Shape::Parameter(_) | Shape::Function(_))
            };
            is_left_open || !self.bases(one).iter().all(is_known)
        })
    }

    /// The members of this name in the whole tree, for a receiver of which nothing is known.
    fn by_name(&self, file: FileId, text: &str, name: Name) -> Resolution {
        let canonical = self.candidates(self.world.language_of(file), name);
        match canonical.len() {
            0 => Resolution::new(Vec::new(), Confidence::Unknown),
            1 if !self.project(file).is_common_member(text) => {
                Resolution::new(canonical, Confidence::UniqueMember)
            }
            _ => Resolution::new(canonical, Confidence::Possible),
        }
    }

    /// The first members of a name in the files of a language, by path and place: the numbers of files tell in which order
    /// they were read, which is another each time.
    fn candidates(&self, language: u8, name: Name) -> Vec<Entity> {
        if let Some(known) = self.memo.borrow().candidates.get(&(language, name)) {
            return known.clone();
        }
        let mut files: Vec<FileId> = self
            .world
            .postings(name)
            .iter()
            .filter(|posting| posting.has_member())
            .map(|posting| posting.file())
            .filter(|&file| self.world.language_of(file) == language)
            .collect();
        files.sort_unstable_by_key(|&file| self.world.path(file));
        let mut found: Vec<Entity> = Vec::new();
        for file in files {
            if found.len() >= CANDIDATES {
                break;
            }
            let facts = self.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                if facts.name(def.name) == name && crate::world::is_member(facts, def) {
                    push(&mut found, Entity::Def(self.canonical(DefId { file, index: index as u32 })));
                }
            }
        }
        found.truncate(CANDIDATES);
        self.memo.borrow_mut().candidates.insert((language, name), found.clone());
        found
    }

    /// Members of a name in the files of a language, at most so many.
    #[must_use]
    pub fn members_named(&self, language: u8, name: Name, most: usize) -> Vec<DefId> {
        self.members_named_in(|file| self.world.language_of(file) == language, name, most)
    }

    /// Members of a name in some files, at most so many.
    #[must_use]
    pub fn members_named_in(&self, suits: impl Fn(FileId) -> bool, name: Name, most: usize) -> Vec<DefId> {
        let mut found = Vec::new();
        for posting in self.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            if !suits(file) {
                continue;
            }
            let facts = self.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                if facts.name(def.name) == name && crate::world::is_member(facts, def) {
                    found.push(DefId { file, index: index as u32 });
                    if found.len() >= most {
                        return found;
                    }
                }
            }
        }
        found
    }

    fn keyword(&self, file: FileId, index: u32) -> Resolution {
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return Resolution::new(Vec::new(), Confidence::Unknown) };
        let callee = self.value_type(file, token.target);
        let name = facts.name(token.name);
        let mut entities = Vec::new();
        self.each_alternative(callee, |callee| {
            let function = match self.shape(callee) {
                Shape::Function(def) => Some(def),
                Shape::Class(class) => self.project(class.file).constructor(self, class),
                _ => None,
            };
            let before = entities.len();
            if let Some(function) = function {
                let target = self.facts(function.file);
                let parts = target.parts(function.index, Kind::Parameter);
                for part in parts.filter(|&part| target.name(target.defs[part as usize].name) == name) {
                    push(&mut entities, Entity::Def(DefId { file: function.file, index: part }));
                }
            }
            if entities.len() == before {
                for entity in self.project(file).keyword(self, callee, name) {
                    push(&mut entities, entity);
                }
            }
        });
        let confidence = Confidence::Typed;
        Resolution::new(self.through(entities), confidence)
    }

    /// The definition that a token of a file declares, if it does: by its role, or because it names a type that is
    /// embedded and so is a member as well.
    #[must_use]
    pub fn declared_by(&self, file: FileId, token: u32) -> Option<DefId> {
        let facts = self.facts(file);
        let token = facts.token(token)?;
        if token.role == Role::Declaration && token.target != NONE {
            return Some(DefId { file, index: token.target });
        }
        let embeds =
            |def: &crate::facts::Def| def.marks & mark::EMBEDDED != 0 && def.name_start == token.start;
        let index = facts.defs.iter().position(embeds)?;
        Some(DefId { file, index: index as u32 })
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn unknown() -> Arc<Resolution> {
    Arc::new(Resolution { entities: Vec::new(), confidence: Confidence::Unknown })
}
