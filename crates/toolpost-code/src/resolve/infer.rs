//! The types of expressions and definitions. Nominal only: what a language's type checker would work out from
//! conditions, overloads and constraints stays unknown here.

mod calls;
mod named;

use super::{DefId, Entity, Query, Shape, Type, push};
use crate::facts::{Expr, Kind, NONE, Name, Op, Role, mark};
use crate::language::{Place, Step};
use crate::world::FileId;

/// Names of the types that every language has in some form.
pub mod builtin {
    use crate::facts::Name;

    /// A sequence: what its elements are.
    pub const LIST: Name = Name::of("[]");
    /// A mapping: keys, values.
    pub const MAP: Name = Name::of("{}");
    /// Several values in a fixed order.
    pub const TUPLE: Name = Name::of("()");
    /// A function: what it returns, then its parameters.
    pub const FUNCTION: Name = Name::of("->");
    /// Something to be awaited: what it gives.
    pub const LATER: Name = Name::of("await");
}

/// How many alternatives of the tree a type may have; of one that has more nothing is known.
const ALTERNATIVES: usize = 16;
/// How many alternatives from outside of the tree are told apart.
const OUTER_ALTERNATIVES: usize = 6;

impl Query<'_> {
    /// What a type is.
    #[must_use]
    pub fn shape(&self, of: Type) -> Shape {
        self.memo.borrow().types.shape(of)
    }

    /// The arguments of a type.
    #[must_use]
    pub fn arguments(&self, of: Type) -> Box<[Type]> {
        self.memo.borrow().types.arguments(of)
    }

    /// The type of this shape.
    #[must_use]
    pub fn make(&self, shape: Shape, arguments: &[Type]) -> Type {
        self.memo.borrow_mut().types.make(shape, arguments)
    }

    /// A type that is not in the tree.
    #[must_use]
    pub fn external(&self, name: Name, arguments: &[Type]) -> Type {
        self.make(Shape::External(name), arguments)
    }

    /// One of several types. What is unknown adds nothing, unless all are.
    #[must_use]
    pub fn either(&self, types: &[Type]) -> Type {
        let mut all: Vec<Type> = Vec::new();
        for &one in types {
            if self.shape(one) == Shape::Either {
                for &inner in &self.arguments(one) {
                    push(&mut all, inner);
                }
            } else if one != Type::UNKNOWN {
                push(&mut all, one);
            }
        }
        let mut outer = 0;
        all.retain(|&one| {
            let is_outer = matches!(self.shape(one), Shape::External(_));
            outer += usize::from(is_outer);
            !is_outer || outer <= OUTER_ALTERNATIVES
        });
        if all.len() > ALTERNATIVES + OUTER_ALTERNATIVES || all.contains(&Type::MANY) {
            return Type::MANY;
        }
        match all.as_slice() {
            [] => Type::UNKNOWN,
            [one] => *one,
            all => self.make(Shape::Either, all),
        }
    }

    /// Calls with each alternative of a type, which is the type itself if it has none.
    pub fn each_alternative(&self, of: Type, mut visit: impl FnMut(Type)) {
        if self.shape(of) == Shape::Either {
            self.arguments(of).iter().for_each(|&one| visit(one));
        } else {
            visit(of);
        }
    }

    fn map_alternatives(&self, of: Type, mut map: impl FnMut(Type) -> Type) -> Type {
        if self.shape(of) == Shape::Either {
            let all: Vec<Type> = self.arguments(of).iter().map(|&one| map(one)).collect();
            self.either(&all)
        } else {
            map(of)
        }
    }

    /// The type of the value of an expression.
    pub fn value_type(&self, file: FileId, expr: u32) -> Type {
        if expr == NONE {
            return Type::UNKNOWN;
        }
        let key = (file, expr);
        if let Some(known) = self.memo.borrow().values.get(&key) {
            return known.unwrap_or(Type::UNKNOWN);
        }
        self.memo.borrow_mut().values.insert(key, None);
        let answer = self.deeper(|| self.value_anew(file, expr)).unwrap_or(Type::UNKNOWN);
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() == 0 {
            memo.values.remove(&key);
        } else {
            memo.values.insert(key, Some(answer));
        }
        answer
    }

    fn value_anew(&self, file: FileId, index: u32) -> Type {
        let facts = self.facts(file);
        let Some(&Expr { op, a, b }) = facts.exprs.get(index as usize) else { return Type::UNKNOWN };
        match op {
            Op::Token => self.token_type(file, a),
            Op::Call => {
                let callee = self.value_type(file, a);
                let arguments: Vec<Type> = self.call_arguments(file, callee, facts.list(b));
                let plain = self.call(file, callee, &arguments);
                self.project(file).rebound(self, file, a, plain)
            }
            Op::New => self.instantiate(self.named_type(file, a)),
            Op::Index => self.step(file, Step::Index, self.value_type(file, a)),
            Op::Element => self.step(file, Step::Element, self.value_type(file, a)),
            Op::Key => self.step(file, Step::Key, self.value_type(file, a)),
            Op::Await => self.step(file, Step::Await, self.value_type(file, a)),
            Op::Try => self.step(file, Step::Try, self.value_type(file, a)),
            Op::Enter => self.step(file, Step::Enter, self.value_type(file, a)),
            Op::Deref => self.step(file, Step::Deref, self.value_type(file, a)),
            Op::At => self.at(file, self.value_type(file, a), b),
            Op::Either => {
                let all: Vec<Type> = facts.list(a).iter().map(|&one| self.value_type(file, one)).collect();
                self.either(&all)
            }
            Op::Apply => {
                let base = self.value_type(file, a);
                let arguments: Vec<Type> =
                    facts.list(b).iter().map(|&one| self.named_type(file, one)).collect();
                self.apply(base, &arguments)
            }
            Op::Closure => self.make(Shape::Function(DefId { file, index: a }), &[]),
            Op::This => self.this(file, a),
            Op::ThisType => match self.shape(self.this(file, a)) {
                Shape::Instance(def) => self.make(Shape::Class(def), &self.arguments(self.this(file, a))),
                _ => self.this(file, a),
            },
            Op::Super => self.super_of(file, a),
            Op::Builtin | Op::Value | Op::Anonymous => {
                self.named_type(file, if op == Op::Value { a } else { index })
            }
            Op::TypeOf => self.value_type(file, a),
            Op::Parameter => self.parameter_of(file, self.value_type(file, a), b),
            Op::Argument => self.expected_argument(file, a, b),
            Op::KeyType => self.token_type(file, b),
            Op::Own | Op::OwnOther => {
                self.project(file).own_expression(self, file, index).unwrap_or(Type::UNKNOWN)
            }
            Op::Unknown => Type::UNKNOWN,
        }
    }

    /// Arguments are only looked at where the callee's type depends on them.
    fn call_arguments(&self, file: FileId, callee: Type, list: &[u32]) -> Vec<Type> {
        let depends = match self.shape(callee) {
            Shape::Function(def) => !self.parameters_in_scope(def).is_empty(),
            Shape::Unknown | Shape::Module(_) => false,
            _ => true,
        };
        if depends { list.iter().map(|&one| self.value_type(file, one)).collect() } else { Vec::new() }
    }

    fn instantiate(&self, of: Type) -> Type {
        self.map_alternatives(of, |one| match self.shape(one) {
            Shape::Class(def) => self.make(Shape::Instance(def), &self.arguments(one)),
            _ => one,
        })
    }

    fn apply(&self, base: Type, arguments: &[Type]) -> Type {
        match self.shape(base) {
            Shape::Function(def) => {
                let own = self.type_parameters(def);
                let environment: Vec<_> = own.into_iter().zip(arguments.iter().copied()).collect();
                self.substitute(base, &environment)
            }
            shape @ (Shape::Instance(_) | Shape::Class(_) | Shape::External(_)) => {
                self.make(shape, arguments)
            }
            _ => base,
        }
    }

    /// The object that the code in a scope belongs to.
    #[must_use]
    pub fn this(&self, file: FileId, scope: u32) -> Type {
        let facts = self.facts(file);
        let Some(around) = facts.type_around(scope) else { return Type::UNKNOWN };
        self.instance_of(DefId { file, index: around })
    }

    /// An instance of a type, with its own parameters as arguments; of a block that adds members, of what it adds to.
    #[must_use]
    pub fn instance_of(&self, def: DefId) -> Type {
        let Some((_, known)) = self.def(def) else { return Type::UNKNOWN };
        if known.kind == Kind::Impl {
            return self.named_type(def.file, known.declared);
        }
        let same = DefId { file: def.file, index: known.same };
        let parameters: Vec<Type> = self
            .arguments_of(same)
            .into_iter()
            .map(|parameter| self.make(Shape::Parameter(parameter), &[]))
            .collect();
        self.make(Shape::Instance(same), &parameters)
    }

    fn super_of(&self, file: FileId, scope: u32) -> Type {
        let facts = self.facts(file);
        let Some(around) = facts.type_around(scope) else { return Type::UNKNOWN };
        let bases = self.bases(DefId { file, index: around });
        self.either(bases.as_slice())
    }

    /// The type of what a token means.
    pub fn token_type(&self, file: FileId, token: u32) -> Type {
        let key = (file, token);
        if let Some(known) = self.memo.borrow().token_types.get(&key) {
            return known.unwrap_or(Type::UNKNOWN);
        }
        self.memo.borrow_mut().token_types.insert(key, None);
        let answer = self.deeper(|| self.token_type_anew(file, token)).unwrap_or(Type::UNKNOWN);
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() == 0 {
            memo.token_types.remove(&key);
        } else {
            memo.token_types.insert(key, Some(answer));
        }
        answer
    }

    fn token_type_anew(&self, file: FileId, index: u32) -> Type {
        let facts = self.facts(file);
        let Some(token) = facts.token(index) else { return Type::UNKNOWN };
        let name = facts.name(token.name);
        if matches!(token.role, Role::Member | Role::Key) {
            let receiver = self.value_type(file, token.target);
            let members = self.members(file, receiver, name, token.space);
            if !members.is_empty() {
                let all: Vec<Type> = members
                    .into_iter()
                    .map(|member| {
                        let of = self.entity_type(member.entity, name);
                        self.substitute(of, &member.environment)
                    })
                    .collect();
                return self.either(&all);
            }
            if receiver != Type::UNKNOWN && token.role == Role::Member {
                let answer = self.map_alternatives(receiver, |one| {
                    let special = self.project(file).external_member(self, one, name);
                    special.unwrap_or(if self.is_known(one) { Type::UNKNOWN } else { Type::EXTERNAL })
                });
                // A part of something that may be anything may be anything too; other parts are known by their names.
                let is_open = self.is_open(file, receiver);
                return if answer == Type::EXTERNAL && !is_open { self.external(name, &[]) } else { answer };
            }
        }
        let entities = if token.role == Role::Bare {
            let place = Place { file, scope: token.scope, at: token.start };
            self.look_up_as_written(place, name, token.space)
        } else {
            let resolution = self.resolve(file, index);
            if resolution.confidence > super::Confidence::UniqueMember {
                return Type::UNKNOWN;
            }
            resolution.entities.clone()
        };
        let all: Vec<Type> = entities.into_iter().map(|entity| self.entity_type(entity, name)).collect();
        self.either(&all)
    }

    /// The type of an entity as a value; `name` is what it is called if it is not in the tree.
    #[must_use]
    pub fn entity_type(&self, entity: Entity, name: Name) -> Type {
        match entity {
            Entity::Def(def) => self.def_type(def),
            Entity::Module(module) => self.make(Shape::Module(module), &[]),
            Entity::External => self.external(name, &[]),
        }
    }

    /// The type of a definition as a value.
    pub fn def_type(&self, def: DefId) -> Type {
        if let Some(known) = self.memo.borrow().defs.get(&def) {
            return known.unwrap_or(Type::UNKNOWN);
        }
        self.memo.borrow_mut().defs.insert(def, None);
        let answer = self.deeper(|| self.def_type_anew(def)).unwrap_or(Type::UNKNOWN);
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() == 0 {
            memo.defs.remove(&def);
        } else {
            memo.defs.insert(def, Some(answer));
        }
        answer
    }

    fn def_type_anew(&self, id: DefId) -> Type {
        let Some((_, def)) = self.def(id) else { return Type::UNKNOWN };
        match def.kind {
            Kind::Function | Kind::Method if def.marks & mark::PROPERTY != 0 => self.return_type(id),
            Kind::Function | Kind::Method => {
                let parameters: Vec<Type> = self
                    .parameters_in_scope(id)
                    .into_iter()
                    .map(|parameter| self.make(Shape::Parameter(parameter), &[]))
                    .collect();
                let plain = self.make(Shape::Function(id), &parameters);
                if def.marks & mark::WRAPPED == 0 {
                    return plain;
                }
                self.project(id.file).decorated(self, id, plain).unwrap_or(plain)
            }
            Kind::Alias if def.marks & mark::TRANSPARENT != 0 => {
                match self.named_type(id.file, def.declared) {
                    of if matches!(self.shape(of), Shape::Instance(_)) => self.class_of(of),
                    of => of,
                }
            }
            kind if kind.is_type() => self.make(Shape::Class(id), &[]),
            // What a module is declared with may be the path of its file, which is no type.
            Kind::Module => match self.project(id.file).implied_type(self, id) {
                Some(of) => of,
                None => self.variable_type(id),
            },
            Kind::TypeParameter => self.make(Shape::Parameter(id), &[]),
            Kind::Variant => self.instance_of(DefId { index: def.owner, ..id }),
            Kind::Import => {
                let name = self.name_of(id);
                let all: Vec<Type> =
                    self.imported(id).into_iter().map(|entity| self.entity_type(entity, name)).collect();
                self.either(&all)
            }
            _ => self.variable_type(id),
        }
    }

    /// The type itself for an instance of it.
    #[must_use]
    pub fn class_of(&self, of: Type) -> Type {
        match self.shape(of) {
            Shape::Instance(def) => self.make(Shape::Class(def), &self.arguments(of)),
            _ => of,
        }
    }

    fn variable_type(&self, id: DefId) -> Type {
        let Some((_, def)) = self.def(id) else { return Type::UNKNOWN };
        if def.declared != NONE {
            let declared = self.named_type(id.file, def.declared);
            if declared != Type::UNKNOWN {
                return declared;
            }
        }
        if def.value != NONE {
            let value = self.value_type(id.file, def.value);
            if value != Type::UNKNOWN {
                return value;
            }
        }
        self.project(id.file).implied_type(self, id).unwrap_or(Type::UNKNOWN)
    }

    /// What a function returns, with its type parameters as they are written.
    pub fn return_type(&self, function: DefId) -> Type {
        if let Some(known) = self.memo.borrow().returns.get(&function) {
            return known.unwrap_or(Type::UNKNOWN);
        }
        self.memo.borrow_mut().returns.insert(function, None);
        let answer = self.deeper(|| {
            let Some((_, def)) = self.def(function) else { return Type::UNKNOWN };
            let declared = match def.declared {
                NONE => Type::UNKNOWN,
                declared => self.named_type(function.file, declared),
            };
            let plain = match declared {
                Type::UNKNOWN if def.value != NONE => self.value_type(function.file, def.value),
                Type::UNKNOWN => self.project(function.file).implied_type(self, function).unwrap_or(declared),
                declared => declared,
            };
            if def.marks & mark::ASYNC != 0 { self.external(builtin::LATER, &[plain]) } else { plain }
        });
        let answer = answer.unwrap_or(Type::UNKNOWN);
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() == 0 {
            memo.returns.remove(&function);
        } else {
            memo.returns.insert(function, Some(answer));
        }
        answer
    }
}
