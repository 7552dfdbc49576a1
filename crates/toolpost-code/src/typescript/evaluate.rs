//! The values of the language's own expressions: calls with overloads, what an argument should be, what types say of
//! types. What depends on a type parameter stays written down as a type of its own and is worked out once it is known.

use super::library;
use super::own;
use super::project::Modules;
use crate::facts::{Kind, NONE, Name, Op, Role, mark, space};
use crate::language::Step;
use crate::resolve::{DefId, Entity, Query, Shape, Type, builtin};
use crate::world::FileId;

/// What type parameters stand for.
type Environment = Vec<(DefId, Type)>;

/// `T extends U ? A : B`, written down.
const CONDITIONAL: Name = Name::of("extends ? :");
/// `T[K]`, written down.
const INDEXED: Name = Name::of("T[K]");
/// `keyof T`.
const KEYOF: Name = Name::of("keyof");

const CALLED: Name = Name::of("()");
const MADE: Name = Name::of("new");
const INDEX: Name = Name::of("[]");

/// A way to call something.
struct Signature {
    def: DefId,
    environment: Environment,
}

impl Modules {
    /// The value of an expression of the language's own.
    pub(super) fn evaluate(&self, query: &Query<'_>, file: FileId, index: u32) -> Type {
        let facts = query.facts(file);
        let Some(expr) = facts.exprs.get(index as usize) else { return Type::UNKNOWN };
        let operands = facts.list(expr.b);
        let operand = |index: usize| operands.get(index).copied().unwrap_or(NONE);
        match expr.a {
            own::CALL | own::NEW => self.call_value(query, file, operands, expr.a == own::NEW),
            own::ARGUMENT => self.expected(query, file, operand(0), operand(1)),
            own::PARAMETER => self.parameter(query, query.value_type(file, operand(0)), operand(1)),
            own::RETURN => self.returned(query, query.value_type(file, operand(0))),
            own::PROPERTY => {
                let name = facts.name(operand(1));
                self.property(query, file, query.value_type(file, operand(0)), name)
            }
            own::INDEXED => {
                let of = query.named_type(file, operand(0));
                let by = match operand(1) {
                    NONE => query.named_type(file, operand(2)),
                    text => {
                        let literal = query.external(facts.name(text), &[]);
                        query.external(Name::of("string"), &[literal])
                    }
                };
                let deferred = query.external(INDEXED, &[of, by]);
                self.settle(query, deferred)
            }
            own::FUNCTION => query.def_type(DefId { file, index: operand(0) }),
            own::LITERAL => {
                let literal = query.instance_of(DefId { file, index: operand(0) });
                let wanted = query.value_type(file, operand(1));
                if wanted == Type::UNKNOWN { literal } else { query.make(Shape::Either, &[wanted, literal]) }
            }
            own::MODULE => self.module_value(query, file, facts.text(operand(0)), operand(1)),
            own::INTRINSICS => self.intrinsics(query, file),
            own::ATTRIBUTES => self.attributes(query, file, operand(0)),
            own::MAPPED => self.mapped(query, file, operand(0), operand(1)),
            own::NARROWED => {
                let narrowed = match query.value_type(file, operand(1)) {
                    of if matches!(query.shape(of), Shape::Class(_)) => self.made(query, of),
                    of if matches!(query.shape(of), Shape::External(_)) => of,
                    _ => Type::UNKNOWN,
                };
                match narrowed {
                    Type::UNKNOWN => query.def_type(DefId { file, index: operand(0) }),
                    narrowed => narrowed,
                }
            }
            own::CONDITIONAL => {
                let all: Vec<Type> = operands.iter().map(|&one| query.named_type(file, one)).collect();
                query.external(CONDITIONAL, &all)
            }
            _ => Type::UNKNOWN,
        }
    }

    /// An instance of a class that is a value, with its parameters as they are.
    fn made(&self, query: &Query<'_>, class: Type) -> Type {
        match query.shape(class) {
            Shape::Class(def) => {
                let arguments = query.arguments(class);
                if arguments.is_empty() {
                    query.instance_of(def)
                } else {
                    query.make(Shape::Instance(def), &arguments)
                }
            }
            _ => class,
        }
    }

    /// Works out types that were written down.
    pub(super) fn settle(&self, query: &Query<'_>, of: Type) -> Type {
        let mut of = of;
        for _ in 0..8 {
            match query_deeper(query, || self.settled_once(query, of)) {
                Some(next) if next != of => of = next,
                _ => break,
            }
        }
        of
    }

    pub(super) fn settled_once(&self, query: &Query<'_>, of: Type) -> Option<Type> {
        let Shape::External(name) = query.shape(of) else { return None };
        let arguments = query.arguments(of);
        let first = arguments.first().copied()?;
        let is = |text: &str| Name::of(text) == name;
        if name == CONDITIONAL {
            return Some(self.conditional(query, &arguments));
        }
        if name == INDEXED {
            return self.indexed(query, first, arguments.get(1).copied()?);
        }
        let keeps = [
            "Partial",
            "Required",
            "Readonly",
            "NonNullable",
            "Pick",
            "Omit",
            "Extract",
            "Exclude",
            "NoInfer",
            "ThisType",
            "InstanceType",
        ];
        if keeps.iter().any(|text| is(text)) {
            return Some(match query.shape(first) {
                Shape::Class(_) => self.made(query, first),
                _ => first,
            });
        }
        if is("Awaited") {
            return Some(library::awaited(query, first));
        }
        if is("ReturnType") {
            return Some(self.returned(query, first));
        }
        None
    }

    fn conditional(&self, query: &Query<'_>, parts: &[Type]) -> Type {
        let [left, right, yes, no] = *parts else { return Type::UNKNOWN };
        let left = self.settle(query, left);
        let mut environment = Vec::new();
        match self.extends(query, left, right, &mut environment) {
            Some(true) => query.substitute(yes, &environment),
            Some(false) => no,
            None => {
                let yes = query.substitute(yes, &environment);
                query.either(&[yes, no])
            }
        }
    }

    /// Whether a type is another; none if that cannot be said.
    fn extends(
        &self,
        query: &Query<'_>,
        left: Type,
        right: Type,
        environment: &mut Environment,
    ) -> Option<bool> {
        let right = self.settle(query, right);
        match (query.shape(left), query.shape(right)) {
            (Shape::Unknown | Shape::Parameter(_), _) | (_, Shape::Unknown | Shape::Either) => None,
            (_, Shape::Parameter(_)) => {
                query.unify(right, left, environment);
                Some(true)
            }
            (Shape::External(one), Shape::External(other)) => {
                let fits = one == other
                    || library::is_list(one) && library::is_list(other)
                    || library::is_later(one) && library::is_later(other);
                if fits {
                    self.infer(query, right, left, environment, 0);
                    return Some(true);
                }
                (library::is_primitive(one) || library::is_primitive(other)).then_some(false)
            }
            (Shape::External(one), Shape::Instance(_) | Shape::Function(_)) => {
                library::is_primitive(one).then_some(false)
            }
            (Shape::Instance(one), Shape::Instance(other)) => {
                self.infer(query, right, left, environment, 0);
                query.ancestry(one).contains(&other).then_some(true)
            }
            (Shape::Function(_), Shape::Function(_)) => {
                self.infer(query, right, left, environment, 0);
                Some(true)
            }
            (Shape::Instance(_) | Shape::Class(_), Shape::External(other)) => {
                library::is_primitive(other).then_some(false)
            }
            _ => None,
        }
    }

    fn indexed(&self, query: &Query<'_>, of: Type, by: Type) -> Option<Type> {
        let of = self.settle(query, of);
        if let Shape::Parameter(_) = query.shape(of) {
            return None;
        }
        let Shape::External(name) = query.shape(by) else {
            return None;
        };
        if name == Name::of("string")
            && let Some(&literal) = query.arguments(by).first()
            && let Shape::External(key) = query.shape(literal)
        {
            return Some(self.property(query, FileId(u32::MAX), of, key));
        }
        if name == Name::of("number") || name == Name::of("string") {
            return Some(self.step_of(query, Step::Index, of).unwrap_or(Type::UNKNOWN));
        }
        None
    }

    /// What indexing, iterating and so on give.
    pub(super) fn step_of(&self, query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
        let settled = self.settle(query, of);
        match query.shape(settled) {
            Shape::External(_) => library::step(query, step, settled),
            Shape::Either => {
                let all: Vec<Type> = query
                    .arguments(settled)
                    .iter()
                    .map(|&one| self.step_of(query, step, one).unwrap_or(one))
                    .collect();
                Some(query.either(&all))
            }
            Shape::Instance(_) if matches!(step, Step::Index) => {
                Some(self.member_types(query, settled, INDEX))
            }
            Shape::Instance(def) if matches!(step, Step::Element) => {
                // A class of the tree that extends a list of the library.
                query.bases(def).iter().find_map(|&base| {
                    let base = query.substitute(base, &query.environment_of(settled));
                    match query.shape(base) {
                        Shape::External(name) if library::is_list(name) || library::is_map(name) => {
                            Some(library::element(query, base))
                        }
                        _ => None,
                    }
                })
            }
            Shape::Parameter(def) => {
                let bounds = query.bounds(def);
                bounds.into_iter().find_map(|bound| query_deeper(query, || self.step_of(query, step, bound)))
            }
            _ => None,
        }
    }

    /// The types of the members of a name.
    fn member_types(&self, query: &Query<'_>, of: Type, name: Name) -> Type {
        let file = self.any_file();
        let all: Vec<Type> = query
            .members(file, of, name, space::VALUE)
            .into_iter()
            .map(|member| query.substitute(query.entity_type(member.entity, name), &member.environment))
            .collect();
        query.either(&all)
    }

    /// The type of a property.
    pub(super) fn property(&self, query: &Query<'_>, _file: FileId, of: Type, name: Name) -> Type {
        let of = self.settle(query, of);
        match self.member_types(query, of, name) {
            Type::UNKNOWN => {}
            found => return found,
        }
        let mut all = Vec::new();
        query.each_alternative(of, |one| {
            let one = self.settle(query, one);
            all.push(match query.shape(one) {
                Shape::External(known) if library::is_map(known) => {
                    query.arguments(one).get(1).copied().unwrap_or(Type::UNKNOWN)
                }
                Shape::Instance(_) => self.member_types(query, one, INDEX),
                _ => Type::UNKNOWN,
            });
        });
        query.either(&all)
    }

    /// The ways to call something.
    fn signatures(&self, query: &Query<'_>, of: Type, name: Name) -> Vec<Signature> {
        let mut found = Vec::new();
        self.collect_signatures(query, of, name, &mut found, 0);
        found
    }

    fn collect_signatures(
        &self,
        query: &Query<'_>,
        of: Type,
        name: Name,
        found: &mut Vec<Signature>,
        depth: u32,
    ) {
        if depth > 6 || found.len() > 24 {
            return;
        }
        let of = self.settle(query, of);
        match query.shape(of) {
            Shape::Function(def) => {
                let known = query.arguments(of);
                let environment: Environment = query
                    .parameters_in_scope(def)
                    .into_iter()
                    .zip(known.iter().copied())
                    .filter(|&(parameter, value)| query.shape(value) != Shape::Parameter(parameter))
                    .collect();
                for def in self.overloads(query, def) {
                    found.push(Signature { def, environment: environment.clone() });
                }
            }
            Shape::Instance(_) | Shape::Class(_) => {
                let members = query.members(self.any_file(), of, name, space::ANY);
                for member in members {
                    if let Entity::Def(def) = member.entity {
                        for def in self.overloads(query, def) {
                            found.push(Signature { def, environment: member.environment.clone() });
                        }
                    }
                }
            }
            Shape::Either => {
                for &one in &query.arguments(of) {
                    self.collect_signatures(query, one, name, found, depth + 1);
                }
            }
            Shape::Parameter(def) => {
                for bound in query.bounds(def) {
                    self.collect_signatures(query, bound, name, found, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// All declarations of a function: those without a body, if there are any.
    pub(super) fn overloads(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let among: &[u32] = if known.owner != NONE && known.scope == NONE {
            facts.owned_by(known.owner)
        } else if known.scope != NONE {
            facts.bound_in(known.scope, facts.name(known.name))
        } else {
            &[]
        };
        let mut all: Vec<DefId> = among
            .iter()
            .filter(|&&index| {
                let other = &facts.defs[index as usize];
                other.same == known.same && other.kind.is_function()
            })
            .map(|&index| DefId { file: def.file, index })
            .collect();
        if all.len() > 1 {
            let has_body =
                |def: &DefId| facts.defs[def.index as usize].body != facts.defs[def.index as usize].end;
            if !all.iter().all(has_body) {
                all.retain(|def| !has_body(def));
            }
        }
        if all.is_empty() {
            all.push(def);
        }
        all
    }

    /// The type of a parameter as it is declared.
    fn parameter_type(&self, query: &Query<'_>, function: DefId, index: u32) -> Option<Type> {
        let facts = query.facts(function.file);
        for (position, part) in facts.parts(function.index, Kind::Parameter).enumerate() {
            let def = DefId { file: function.file, index: part };
            let is_rest = facts.defs[part as usize].marks & mark::REST != 0;
            if is_rest {
                let list = query.def_type(def);
                return Some(self.rest_at(query, list, index - position as u32));
            }
            if position as u32 == index {
                return Some(query.def_type(def));
            }
        }
        None
    }

    fn rest_at(&self, query: &Query<'_>, list: Type, index: u32) -> Type {
        query.deeper(|| self.rest_inside(query, list, index)).unwrap_or(Type::UNKNOWN)
    }

    fn rest_inside(&self, query: &Query<'_>, list: Type, index: u32) -> Type {
        let list = self.settle(query, list);
        match query.shape(list) {
            Shape::Either => {
                let all: Vec<Type> =
                    query.arguments(list).iter().map(|&one| self.rest_at(query, one, index)).collect();
                query.either(&all)
            }
            Shape::External(_) => library::at(query, list, index).unwrap_or(Type::UNKNOWN),
            Shape::Parameter(def) => {
                let all: Vec<Type> = query
                    .bounds(def)
                    .into_iter()
                    .filter(|&bound| !matches!(query.shape(bound), Shape::Parameter(_)))
                    .map(|bound| self.rest_at(query, bound, index))
                    .collect();
                query.either(&all)
            }
            _ => Type::UNKNOWN,
        }
    }

    fn accepts_count(query: &Query<'_>, function: DefId, count: usize) -> bool {
        let facts = query.facts(function.file);
        let (mut least, mut most) = (0, 0);
        for part in facts.parts(function.index, Kind::Parameter) {
            let marks = facts.defs[part as usize].marks;
            if marks & mark::REST != 0 {
                most = usize::MAX;
            } else {
                least += usize::from(marks & mark::OWN_A == 0);
                most = if most == usize::MAX { most } else { most + 1 };
            }
        }
        (least..=most).contains(&count)
    }

    /// Whether an argument can be what a parameter asks for, as far as that is plain.
    fn may_be(&self, query: &Query<'_>, wanted: Type, given: Type) -> bool {
        query.deeper(|| self.may_be_inside(query, wanted, given)).unwrap_or(true)
    }

    fn may_be_inside(&self, query: &Query<'_>, wanted: Type, given: Type) -> bool {
        let wanted = self.settle(query, wanted);
        let given = self.settle(query, given);
        match (query.shape(wanted), query.shape(given)) {
            (Shape::Unknown, _) | (_, Shape::Unknown) => true,
            (Shape::Either, _) => query.arguments(wanted).iter().any(|&one| self.may_be(query, one, given)),
            (_, Shape::Either) => query.arguments(given).iter().any(|&one| self.may_be(query, wanted, one)),
            (Shape::Parameter(def), _) => {
                let bounds = query.bounds(def);
                bounds.iter().all(|&bound| {
                    matches!(query.shape(bound), Shape::Parameter(_)) || self.may_be(query, bound, given)
                })
            }
            (Shape::External(wanted), Shape::External(given)) => {
                let plain = |name: Name| library::is_primitive(name) || library::is_list(name);
                !(plain(wanted) && plain(given))
                    || wanted == given
                    || library::is_list(wanted) && library::is_list(given)
            }
            (Shape::External(wanted), _) => !library::is_primitive(wanted) && !library::is_list(wanted),
            (Shape::Function(_), Shape::External(given)) => {
                !library::is_primitive(given) && !library::is_list(given)
            }
            (Shape::Instance(_), Shape::External(given)) => !library::is_primitive(given),
            (Shape::Function(_), Shape::Instance(def)) => {
                query.def(def).is_none_or(|(_, def)| def.kind != Kind::Anonymous)
                    || !self.signatures(query, given, CALLED).is_empty()
            }
            _ => true,
        }
    }

    fn lambda(query: &Query<'_>, file: FileId, expr: u32) -> Option<DefId> {
        let facts = query.facts(file);
        let expr = facts.exprs.get(expr as usize)?;
        let is_lambda = expr.op == Op::Own && expr.a == own::FUNCTION;
        is_lambda.then(|| DefId { file, index: facts.list(expr.b).first().copied().unwrap_or(NONE) })
    }

    /// Finds what type parameters stand for in a call, from its arguments; functions among them only if `deep`.
    #[expect(clippy::too_many_arguments, reason = "everything that a call consists of")]
    fn infer_call(
        &self,
        query: &Query<'_>,
        file: FileId,
        signature: &Signature,
        own_parameters: &[DefId],
        types: &[u32],
        arguments: &[u32],
        skip: Option<usize>,
        deep: bool,
    ) -> Environment {
        let mut environment = signature.environment.clone();
        if own_parameters.is_empty() {
            return environment;
        }
        if types.is_empty() {
            for pass in 0..=usize::from(deep) {
                for (index, &argument) in arguments.iter().enumerate() {
                    let lambda = Self::lambda(query, file, argument);
                    if Some(index) == skip || argument == NONE || (pass == 1) != lambda.is_some() {
                        continue;
                    }
                    let Some(wanted) = self.parameter_type(query, signature.def, index as u32) else { break };
                    if let Some(lambda) = lambda {
                        let wanted_return = self.returned(query, wanted);
                        let given = query.return_type(lambda);
                        self.infer(query, wanted_return, given, &mut environment, 0);
                    } else {
                        let given = query.value_type(file, argument);
                        self.infer(query, wanted, given, &mut environment, 0);
                    }
                }
            }
        } else {
            for (&parameter, &value) in own_parameters.iter().zip(types) {
                environment.push((parameter, query.named_type(file, value)));
            }
        }
        for &parameter in own_parameters {
            if !environment.iter().any(|(known, _)| *known == parameter)
                && let Some((_, def)) = query.def(parameter)
                && def.value != NONE
            {
                let default = query.named_type(parameter.file, def.value);
                let default = query.substitute(default, &environment);
                environment.push((parameter, default));
            }
        }
        environment
    }

    /// Finds what type parameters in a pattern stand for, through the forms that the language's types have.
    fn infer(
        &self,
        query: &Query<'_>,
        pattern: Type,
        given: Type,
        environment: &mut Environment,
        depth: u32,
    ) {
        if depth > 6 || given == Type::UNKNOWN || pattern == given {
            return;
        }
        match query.shape(pattern) {
            Shape::Parameter(def) => {
                if !environment.iter().any(|(known, _)| *known == def) {
                    environment.push((def, given));
                }
                return;
            }
            Shape::Either => {
                let alternatives = query.arguments(pattern);
                // What is written out comes first, a bare parameter takes what is left.
                for &one in
                    alternatives.iter().filter(|&&one| !matches!(query.shape(one), Shape::Parameter(_)))
                {
                    self.infer(query, one, given, environment, depth + 1);
                }
                let plain = library::awaited(query, given);
                let has_later = alternatives
                    .iter()
                    .any(|&one| matches!(query.shape(one), Shape::External(name) if library::is_later(name)));
                for &one in
                    alternatives.iter().filter(|&&one| matches!(query.shape(one), Shape::Parameter(_)))
                {
                    self.infer(query, one, if has_later { plain } else { given }, environment, depth + 1);
                }
                return;
            }
            Shape::Unknown => return,
            _ => {}
        }
        let given = self.settle(query, given);
        if query.shape(given) == Shape::Either {
            for &one in &query.arguments(given) {
                self.infer(query, pattern, one, environment, depth + 1);
            }
            return;
        }
        match (query.shape(pattern), query.shape(given)) {
            (Shape::External(wanted), Shape::External(known)) => {
                let (patterns, values) = (query.arguments(pattern), query.arguments(given));
                if library::is_list(wanted) && library::is_list(known) && wanted != builtin::TUPLE {
                    if let Some(&one) = patterns.first() {
                        self.infer(query, one, library::element(query, given), environment, depth + 1);
                    }
                } else if wanted == known
                    || library::is_later(wanted) && library::is_later(known)
                    || library::is_map(wanted) && library::is_map(known)
                    || wanted == builtin::TUPLE && library::is_list(known)
                {
                    for (&one, &value) in patterns.iter().zip(values.iter()) {
                        self.infer(query, one, value, environment, depth + 1);
                    }
                } else if let Some(settled) = self.settled_once(query, pattern) {
                    self.infer(query, settled, given, environment, depth + 1);
                }
            }
            (Shape::External(_), _) => {
                if let Some(settled) = self.settled_once(query, pattern) {
                    self.infer(query, settled, given, environment, depth + 1);
                }
            }
            (Shape::Instance(wanted), Shape::Instance(known) | Shape::Class(known)) => {
                self.infer_instance(query, (pattern, wanted), (given, known), environment, depth);
            }
            (Shape::Function(_) | Shape::Instance(_), _) => {
                let (Some(one), Some(other)) = (
                    self.signatures(query, pattern, CALLED).into_iter().next(),
                    self.signatures(query, given, CALLED).into_iter().next(),
                ) else {
                    return;
                };
                self.infer_function(query, &one, &other, environment, depth);
            }
            _ => {}
        }
    }

    fn infer_instance(
        &self,
        query: &Query<'_>,
        (pattern, wanted): (Type, DefId),
        (given, known): (Type, DefId),
        environment: &mut Environment,
        depth: u32,
    ) {
        if wanted == known {
            for (&one, &value) in query.arguments(pattern).iter().zip(query.arguments(given).iter()) {
                self.infer(query, one, value, environment, depth + 1);
            }
            return;
        }
        // A base of what is given.
        for &base in query.bases(known).iter() {
            let base = query.substitute(base, &query.environment_of(given));
            if let Shape::Instance(_) = query.shape(base)
                && query.ancestry(known).contains(&wanted)
            {
                self.infer(query, pattern, base, environment, depth + 1);
                return;
            }
        }
        // By structure: the properties that both have.
        let facts = query.facts(wanted.file);
        for &part in facts.owned_by(wanted.index).iter().take(24) {
            let member = &facts.defs[part as usize];
            if !matches!(member.kind, Kind::Field | Kind::Method) {
                continue;
            }
            let name = facts.name(member.name);
            let value = self.member_types(query, given, name);
            if value != Type::UNKNOWN {
                let one = self.member_types(query, pattern, name);
                self.infer(query, one, value, environment, depth + 1);
            }
        }
    }

    fn infer_function(
        &self,
        query: &Query<'_>,
        one: &Signature,
        other: &Signature,
        environment: &mut Environment,
        depth: u32,
    ) {
        for index in 0..4 {
            let (Some(wanted), Some(given)) =
                (self.parameter_type(query, one.def, index), self.parameter_type(query, other.def, index))
            else {
                break;
            };
            let wanted = query.substitute(wanted, &one.environment);
            let given = query.substitute(given, &other.environment);
            self.infer(query, wanted, given, environment, depth + 1);
        }
        let wanted = query.substitute(query.return_type(one.def), &one.environment);
        let given = query.substitute(query.return_type(other.def), &other.environment);
        self.infer(query, wanted, given, environment, depth + 1);
    }

    /// What a call or `new` gives.
    fn call_value(&self, query: &Query<'_>, file: FileId, operands: &[u32], is_new: bool) -> Type {
        let (Some(&callee), Some(&types)) = (operands.first(), operands.get(1)) else { return Type::UNKNOWN };
        let arguments = &operands[2..];
        let types = query.facts(file).list(types);
        let callee = self.settle(query, query.value_type(file, callee));
        let mut all = Vec::new();
        query.each_alternative(callee, |one| {
            all.push(self.call_one(query, file, one, types, arguments, is_new));
        });
        query.either(&all)
    }

    fn call_one(
        &self,
        query: &Query<'_>,
        file: FileId,
        callee: Type,
        types: &[u32],
        arguments: &[u32],
        is_new: bool,
    ) -> Type {
        let given = |index: u32| {
            arguments.get(index as usize).map_or(Type::UNKNOWN, |&one| query.value_type(file, one))
        };
        match query.shape(callee) {
            Shape::External(name) => {
                if is_new {
                    let mut all: Vec<Type> = types.iter().map(|&one| query.named_type(file, one)).collect();
                    if all.is_empty() && (library::is_list(name) || library::is_map(name)) {
                        let inner = library::element(query, given(0));
                        all =
                            if library::is_map(name) { query.arguments(inner).to_vec() } else { vec![inner] };
                    }
                    return query.external(name, &all);
                }
                if name == builtin::FUNCTION {
                    return query.arguments(callee).first().copied().unwrap_or(Type::UNKNOWN);
                }
                let returned = |index: u32| match arguments.get(index as usize) {
                    Some(&one) => self.returned(query, query.value_type(file, one)),
                    None => Type::UNKNOWN,
                };
                library::call(query, callee, &given, &returned).unwrap_or(Type::EXTERNAL)
            }
            Shape::Class(class) if is_new => self.construct(query, file, class, types, arguments),
            Shape::Unknown | Shape::Module(_) => Type::UNKNOWN,
            Shape::Function(def)
                if is_new && query.def(def).is_some_and(|(_, def)| def.marks & mark::OWN_B == 0) =>
            {
                Type::UNKNOWN
            }
            _ => {
                let signatures = self.signatures(query, callee, if is_new { MADE } else { CALLED });
                let Some(chosen) = self.choose(query, file, &signatures, arguments) else {
                    return Type::UNKNOWN;
                };
                let own_parameters = query.type_parameters(chosen.def);
                let environment =
                    self.infer_call(query, file, chosen, &own_parameters, types, arguments, None, true);
                query.substitute(query.return_type(chosen.def), &environment)
            }
        }
    }

    /// The first of several signatures that takes the arguments.
    fn choose<'s>(
        &self,
        query: &Query<'_>,
        file: FileId,
        signatures: &'s [Signature],
        arguments: &[u32],
    ) -> Option<&'s Signature> {
        if signatures.len() == 1 {
            return signatures.first();
        }
        let counted: Vec<&Signature> = signatures
            .iter()
            .filter(|signature| Self::accepts_count(query, signature.def, arguments.len()))
            .collect();
        if counted.len() > 1 {
            let types: Vec<Type> = arguments
                .iter()
                .map(|&one| if one == NONE { Type::UNKNOWN } else { query.value_type(file, one) })
                .collect();
            let fits = |signature: &&&Signature| {
                types.iter().enumerate().all(|(index, &given)| {
                    let wanted = self.parameter_type(query, signature.def, index as u32);
                    wanted.is_none_or(|wanted| {
                        self.may_be(query, query.substitute(wanted, &signature.environment), given)
                    })
                })
            };
            if let Some(found) = counted.iter().find(fits) {
                return Some(found);
            }
        }
        counted.first().copied().or(signatures.first())
    }

    /// The constructors of a class, or of a base without one.
    fn constructors(&self, query: &Query<'_>, class: DefId) -> Vec<Signature> {
        let of = query.make(Shape::Class(class), &[]);
        self.signatures(query, of, Name::of("constructor"))
    }

    fn construct(
        &self,
        query: &Query<'_>,
        file: FileId,
        class: DefId,
        types: &[u32],
        arguments: &[u32],
    ) -> Type {
        let parameters = query.type_parameters(class);
        if parameters.is_empty() {
            return query.instance_of(class);
        }
        if types.is_empty() {
            let signatures = self.constructors(query, class);
            if let Some(chosen) = self.choose(query, file, &signatures, arguments) {
                let environment =
                    self.infer_call(query, file, chosen, &parameters, types, arguments, None, true);
                return query.substitute(query.instance_of(class), &environment);
            }
        }
        let mut environment: Environment = Vec::new();
        for (index, &parameter) in parameters.iter().enumerate() {
            let value = match types.get(index) {
                Some(&value) => query.named_type(file, value),
                None => match query.def(parameter) {
                    Some((_, def)) if def.value != NONE => {
                        query.substitute(query.named_type(parameter.file, def.value), &environment)
                    }
                    _ => continue,
                },
            };
            environment.push((parameter, value));
        }
        query.substitute(query.instance_of(class), &environment)
    }

    /// What argument number `index` of a call should be.
    fn expected(&self, query: &Query<'_>, file: FileId, call: u32, index: u32) -> Type {
        let facts = query.facts(file);
        let Some(expr) = facts.exprs.get(call as usize) else { return Type::UNKNOWN };
        let operands = facts.list(expr.b);
        let (Some(&callee), Some(&types)) = (operands.first(), operands.get(1)) else { return Type::UNKNOWN };
        let (arguments, types) = (&operands[2..], facts.list(types));
        let is_new = expr.a == own::NEW;
        let is_super = facts.exprs.get(callee as usize).is_some_and(|callee| callee.op == Op::Super);
        let callee = self.settle(query, query.value_type(file, callee));
        let mut all = Vec::new();
        query.each_alternative(callee, |one| {
            if let Shape::External(name) = query.shape(one) {
                let other = |index: u32| {
                    arguments
                        .get(index as usize)
                        .map_or(Type::UNKNOWN, |&other| query.value_type(file, other))
                };
                if name == builtin::FUNCTION {
                    all.extend(query.arguments(one).get(index as usize + 1));
                } else {
                    all.extend(library::argument(query, one, index, &other));
                }
                return;
            }
            let signatures = match query.shape(one) {
                Shape::Class(class) if is_new => self.constructors(query, class),
                Shape::Instance(class) if is_super => self.constructors(query, class),
                _ => self.signatures(query, one, if is_new { MADE } else { CALLED }),
            };
            let class = match query.shape(one) {
                Shape::Class(class) => Some(class),
                _ => None,
            };
            let several = signatures.len() > 1;
            for signature in &signatures {
                if several && !self.suits(query, file, signature, arguments, index as usize) {
                    continue;
                }
                let own_parameters = query.type_parameters(class.unwrap_or(signature.def));
                let skip = Some(index as usize);
                let environment =
                    self.infer_call(query, file, signature, &own_parameters, types, arguments, skip, false);
                if let Some(wanted) = self.parameter_type(query, signature.def, index) {
                    all.push(query.substitute(wanted, &environment));
                }
            }
        });
        query.either(&all)
    }

    /// Whether the arguments other than functions fit a signature, one of them left out.
    fn suits(
        &self,
        query: &Query<'_>,
        file: FileId,
        signature: &Signature,
        arguments: &[u32],
        skip: usize,
    ) -> bool {
        if !Self::accepts_count(query, signature.def, arguments.len()) {
            return false;
        }
        let facts = query.facts(file);
        arguments.iter().enumerate().all(|(index, &argument)| {
            let is_object =
                facts.exprs.get(argument as usize).is_some_and(|argument| argument.op == Op::Anonymous);
            let Some(wanted) = self.parameter_type(query, signature.def, index as u32) else { return false };
            if Self::lambda(query, file, argument).is_some() {
                let wanted = self.settle(query, wanted);
                return !matches!(query.shape(wanted), Shape::External(name) if library::is_primitive(name));
            }
            if index == skip || argument == NONE || is_object {
                return true;
            }
            self.may_be(
                query,
                query.substitute(wanted, &signature.environment),
                query.value_type(file, argument),
            )
        })
    }

    /// Parameter number `index` of something that can be called.
    fn parameter(&self, query: &Query<'_>, function: Type, index: u32) -> Type {
        let function = self.settle(query, function);
        let mut all = Vec::new();
        query.each_alternative(function, |one| {
            let one = self.settle(query, one);
            if let Shape::External(name) = query.shape(one) {
                if name == builtin::FUNCTION {
                    all.extend(query.arguments(one).get(index as usize + 1));
                }
                return;
            }
            for signature in self.signatures(query, one, CALLED) {
                if let Some(wanted) = self.parameter_type(query, signature.def, index) {
                    all.push(query.substitute(wanted, &signature.environment));
                }
            }
        });
        query.either(&all)
    }

    /// What something that can be called returns.
    pub(super) fn returned(&self, query: &Query<'_>, function: Type) -> Type {
        let function = self.settle(query, function);
        let mut all = Vec::new();
        query.each_alternative(function, |one| {
            if let Shape::External(name) = query.shape(one) {
                if name == builtin::FUNCTION {
                    all.extend(query.arguments(one).first());
                }
                return;
            }
            for signature in self.signatures(query, one, CALLED).iter().take(4) {
                all.push(query.substitute(query.return_type(signature.def), &signature.environment));
            }
        });
        query.either(&all)
    }

    fn module_value(&self, query: &Query<'_>, file: FileId, text: &str, how: u32) -> Type {
        let entities = match how {
            2 => self.required(query, file, text),
            _ => self.module_named(query, file, text),
        };
        let all: Vec<Type> =
            entities.into_iter().map(|entity| query.entity_type(entity, Name::of(text))).collect();
        let of = query.either(&all);
        if how == 1 { query.external(builtin::LATER, &[of]) } else { of }
    }

    fn mapped(&self, query: &Query<'_>, file: FileId, keys: u32, of: u32) -> Type {
        let mut keys = query.named_type(file, keys);
        if let Shape::Parameter(def) = query.shape(keys) {
            keys = query.bounds(def).first().copied().unwrap_or(keys);
        }
        match query.shape(keys) {
            Shape::External(KEYOF) => query.arguments(keys).first().copied().unwrap_or(Type::UNKNOWN),
            _ => {
                let value = query.named_type(file, of);
                query.external(builtin::MAP, &[keys, value])
            }
        }
    }

    /// The attributes that a JSX tag takes.
    fn attributes(&self, query: &Query<'_>, file: FileId, tag: u32) -> Type {
        let facts = query.facts(file);
        let of = query.value_type(file, tag);
        let is_intrinsic = facts
            .exprs
            .get(tag as usize)
            .filter(|expr| expr.op == Op::Token)
            .and_then(|expr| facts.token(expr.a))
            .filter(|token| token.role == Role::Member)
            .and_then(|token| facts.exprs.get(token.target as usize))
            .is_some_and(|target| target.op == Op::Own && target.a == own::INTRINSICS);
        if is_intrinsic {
            return of;
        }
        match query.shape(of) {
            Shape::Class(_) => self.property(query, file, self.made(query, of), Name::of("props")),
            _ => self.parameter(query, of, 0),
        }
    }
}

fn query_deeper<T>(query: &Query<'_>, ask: impl FnOnce() -> Option<T>) -> Option<T> {
    query.deeper(ask).flatten()
}
