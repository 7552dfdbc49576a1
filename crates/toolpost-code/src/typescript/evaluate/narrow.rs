//! What tests and assignments leave of a type. Where a type is one of several and it cannot be told which are left,
//! nothing is known: the members of all of them would be a claim.

use crate::facts::{Kind, NONE, Name, Op, mark, space};
use crate::resolve::{DefId, Entity, Query, Shape, Type, builtin};
use crate::typescript::library;
use crate::typescript::own::{self, narrow};
use crate::typescript::project::Modules;
use crate::world::FileId;

/// How many tests are followed in a row.
const TESTS: usize = 64;
/// How many names are followed to a literal.
const NAMES: u32 = 6;

/// A value that is alone in its type.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Literal {
    /// Its type and its text.
    Value(Name, Name),
    /// A member of an enum.
    Variant(DefId),
}

impl Literal {
    /// Whether it counts as true, if that can be told.
    fn is_true(self) -> Option<bool> {
        let falsy = [("boolean", "false"), ("string", ""), ("number", "0")];
        match self {
            Literal::Value(of, text) => {
                let is_this = |one: &(&str, &str)| Name::of(one.0) == of && Name::of(one.1) == text;
                Some(!falsy.iter().any(is_this))
            }
            Literal::Variant(_) => None,
        }
    }
}

/// A test with its operands.
#[derive(Clone, Copy)]
struct Asked<'a> {
    query: &'a Query<'a>,
    file: FileId,
    holds: bool,
}

impl Modules {
    /// A value after tests, from the first to the last.
    pub(super) fn narrowed(&self, query: &Query<'_>, file: FileId, index: u32) -> Type {
        let facts = query.facts(file);
        let mut tests: Vec<&[u32]> = Vec::new();
        let mut current = index;
        while tests.len() < TESTS
            && let Some(expr) = facts.exprs.get(current as usize)
            && (expr.op, expr.a) == (Op::Own, own::NARROWED)
            && let operands @ &[_, _, of, _, _] = facts.list(expr.b)
        {
            tests.push(operands);
            current = of;
        }
        let of = query.value_type(file, current);
        tests.iter().rev().fold(of, |of, operands| self.after(query, file, of, operands))
    }

    fn after(&self, query: &Query<'_>, file: FileId, of: Type, operands: &[u32]) -> Type {
        let &[test, holds, _, operand, other] = operands else { return of };
        let asked = Asked { query, file, holds: holds != 0 };
        let facts = query.facts(file);
        let is_union = query.shape(of) == Shape::Either;
        match test {
            narrow::INSTANCE => match query.value_type(file, operand) {
                class if matches!(query.shape(class), Shape::Class(_)) => {
                    related(asked, of, &[self.made(query, class)])
                }
                class if matches!(query.shape(class), Shape::External(_)) && class != Type::EXTERNAL => {
                    related(asked, of, &[class])
                }
                _ => unsure(query, of),
            },
            narrow::CALLED => self.tested(asked, of, operand, other),
            narrow::ASSERTED => self.asserted(asked, of, operand, other),
            narrow::ASSERTED_TEST => match self.predicate(query, file, operand, 0) {
                Predicate::Asserts(None) => query.value_type(file, other),
                Predicate::Foreign if is_named_assertion(query, file, operand) => {
                    query.value_type(file, other)
                }
                _ => of,
            },
            _ if !is_union => of,
            narrow::EQUAL => self.compared(asked, of, facts.list(operand), facts.name(other)),
            narrow::TYPE => {
                let named: Vec<&str> = facts.list(operand).iter().map(|&text| facts.text(text)).collect();
                kept(query, of, |one| match self.type_word(query, one) {
                    Some(word) => named.contains(&word) == asked.holds,
                    None => true,
                })
            }
            narrow::HAS => kept(query, of, |one| match self.property_of(asked, one, facts.name(operand)) {
                Some((_, is_optional)) => asked.holds || is_optional,
                None => !asked.holds || !query.is_known(one),
            }),
            narrow::TRUE => kept(query, of, |one| {
                let Some((def, is_optional)) = self.property_of(asked, one, facts.name(operand)) else {
                    return true;
                };
                let known = self.literals_of(query, def);
                let truths: Option<Vec<bool>> =
                    known.and_then(|known| known.into_iter().map(Literal::is_true).collect());
                truths.is_none_or(|truths| truths.contains(&asked.holds) || (is_optional && !asked.holds))
            }),
            narrow::ASSIGNED => {
                let value = query.value_type(file, operand);
                let mut given = Vec::new();
                query.each_alternative(value, |one| given.push(one));
                let is_clear = |&one: &Type| match query.shape(one) {
                    Shape::Instance(def) => {
                        query.def(def).is_some_and(|(_, def)| def.kind != Kind::Anonymous)
                    }
                    Shape::External(name) => library::is_primitive(name),
                    _ => false,
                };
                if given.iter().all(is_clear) {
                    kept(query, of, |one| given.iter().any(|&given| is_a(query, given, one)))
                } else {
                    unsure(query, of)
                }
            }
            _ => unsure(query, of),
        }
    }

    /// What a call that is true, or false, tells of its argument.
    fn tested(&self, asked: Asked<'_>, of: Type, call: u32, argument: u32) -> Type {
        match self.predicate(asked.query, asked.file, call, argument) {
            Predicate::Is(wanted) => wanted_parts(asked, of, wanted),
            Predicate::Foreign | Predicate::Unsaid => unsure(asked.query, of),
            Predicate::Asserts(_) | Predicate::Other => of,
        }
    }

    /// What a call that came back tells of its argument.
    fn asserted(&self, asked: Asked<'_>, of: Type, call: u32, argument: u32) -> Type {
        match self.predicate(asked.query, asked.file, call, argument) {
            Predicate::Asserts(Some(wanted)) => wanted_parts(asked, of, wanted),
            _ => of,
        }
    }

    /// What the function that is called says of an argument of it.
    fn predicate(&self, query: &Query<'_>, file: FileId, call: u32, argument: u32) -> Predicate {
        let facts = query.facts(file);
        let Some(&callee) = facts.exprs.get(call as usize).and_then(|call| facts.list(call.b).first()) else {
            return Predicate::Foreign;
        };
        let Shape::Function(function) = query.shape(query.value_type(file, callee)) else {
            return Predicate::Foreign;
        };
        let Some((facts, def)) = query.def(function) else { return Predicate::Foreign };
        if def.declared == NONE {
            // What a function without a type returns may make it a test, as `return x instanceof A` does.
            return if def.value == NONE { Predicate::Other } else { Predicate::Unsaid };
        }
        let Some(said) = facts.exprs.get(def.declared as usize).filter(|said| said.op == Op::Builtin) else {
            return Predicate::Other;
        };
        let (&[of, name], word) = (facts.list(said.b), facts.text(said.a)) else { return Predicate::Other };
        let name = facts.exprs.get(name as usize).map_or(Name(0), |name| facts.name(name.a));
        let is_meant = match argument {
            NONE => name == Name::of("this"),
            index => facts
                .parts(function.index, Kind::Parameter)
                .nth(index as usize)
                .is_some_and(|part| facts.name(facts.defs[part as usize].name) == name),
        };
        match word {
            _ if !is_meant => Predicate::Other,
            "is" => Predicate::Is(query.named_type(function.file, of)),
            "asserts" if of == NONE => Predicate::Asserts(None),
            "asserts" => Predicate::Asserts(Some(query.named_type(function.file, of))),
            _ => Predicate::Other,
        }
    }

    /// What a property that equals one of some values, or none of them, leaves.
    fn compared(&self, asked: Asked<'_>, of: Type, values: &[u32], name: Name) -> Type {
        let query = asked.query;
        let mut tested: Vec<Literal> = Vec::new();
        for &value in values {
            match self.literals(query, asked.file, value, 0) {
                Some(literals) => tested.extend(literals),
                None => {
                    let of_value = query.value_type(asked.file, value);
                    let is_wide =
                        matches!(query.shape(of_value), Shape::External(name) if library::is_primitive(name));
                    let is_discriminant = |one: Type| {
                        let property = self.property_of(asked, one, name);
                        property.is_some_and(|(def, _)| self.literals_of(query, def).is_some())
                    };
                    let mut has_discriminant = false;
                    query.each_alternative(of, |one| has_discriminant |= is_discriminant(one));
                    return if is_wide || !has_discriminant { of } else { unsure(query, of) };
                }
            }
        }
        kept(query, of, |one| {
            let Some((def, is_optional)) = self.property_of(asked, one, name) else { return true };
            let Some(known) = self.literals_of(query, def) else { return true };
            match asked.holds {
                true => known.iter().any(|one| tested.contains(one)),
                false => is_optional || !known.iter().all(|one| tested.contains(one)),
            }
        })
    }

    /// A property of a type, and whether it may be absent.
    fn property_of(&self, asked: Asked<'_>, of: Type, name: Name) -> Option<(DefId, bool)> {
        let members = asked.query.members(asked.file, of, name, space::VALUE);
        let Some(Entity::Def(def)) = members.first().map(|member| member.entity) else { return None };
        let (_, known) = asked.query.def(def)?;
        Some((def, known.marks & mark::OWN_C != 0 && known.kind == Kind::Field))
    }

    /// The only values that a property can have, if its declaration says them.
    fn literals_of(&self, query: &Query<'_>, def: DefId) -> Option<Vec<Literal>> {
        let (_, known) = query.def(def)?;
        let said = if known.declared == NONE { known.value } else { known.declared };
        self.literals(query, def.file, said, 0)
    }

    fn literals(&self, query: &Query<'_>, file: FileId, index: u32, depth: u32) -> Option<Vec<Literal>> {
        let facts = query.facts(file);
        let expr = facts.exprs.get(index as usize).filter(|_| depth < NAMES)?;
        match expr.op {
            Op::Builtin => {
                let &[literal] = facts.list(expr.b) else { return None };
                let literal =
                    facts.exprs.get(literal as usize).filter(|literal| literal.op == Op::Builtin)?;
                Some(vec![Literal::Value(facts.name(expr.a), facts.name(literal.a))])
            }
            Op::Value | Op::TypeOf => self.literals(query, file, expr.a, depth + 1),
            Op::Either => {
                let parts =
                    facts.list(expr.a).iter().map(|&part| self.literals(query, file, part, depth + 1));
                let parts: Option<Vec<Vec<Literal>>> = parts.collect();
                parts.map(|parts| parts.concat())
            }
            Op::Token => {
                let resolution = query.resolve(file, expr.a);
                let [Entity::Def(def)] = resolution.entities[..] else { return None };
                let (_, known) = query.def(def)?;
                match known.kind {
                    Kind::Variant => Some(vec![Literal::Variant(def)]),
                    Kind::Alias if known.marks & mark::TRANSPARENT != 0 => {
                        self.literals(query, def.file, known.declared, depth + 1)
                    }
                    Kind::Variable | Kind::Constant => {
                        let said = if known.declared == NONE { known.value } else { known.declared };
                        self.literals(query, def.file, said, depth + 1)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What `typeof` gives for a value of a type, if that can be told.
    fn type_word(&self, query: &Query<'_>, of: Type) -> Option<&'static str> {
        let words = ["string", "number", "boolean", "bigint", "symbol"];
        match query.shape(of) {
            Shape::External(builtin::FUNCTION) | Shape::Function(_) | Shape::Class(_) => Some("function"),
            Shape::External(name) if library::is_list(name) => Some("object"),
            Shape::External(name) => words.into_iter().find(|word| Name::of(word) == name),
            Shape::Instance(_) => {
                let called = query.members(self.any_file(), of, super::CALLED, space::VALUE);
                Some(if called.is_empty() { "object" } else { "function" })
            }
            _ => None,
        }
    }
}

/// What a function says of one of its arguments.
enum Predicate {
    /// It is of this type if the call is true.
    Is(Type),
    /// The call comes back only if it is of this type, or true.
    Asserts(Option<Type>),
    /// Nothing.
    Other,
    /// Its type is left to the compiler to find out.
    Unsaid,
    /// The function is not known.
    Foreign,
}

/// Whether a call that is not known goes by a name for assertions.
fn is_named_assertion(query: &Query<'_>, file: FileId, call: u32) -> bool {
    let facts = query.facts(file);
    let mut callee = facts.exprs.get(call as usize).and_then(|call| facts.list(call.b).first().copied());
    while let Some(expr) = callee.and_then(|callee| facts.exprs.get(callee as usize))
        && expr.op == Op::Token
        && let Some(token) = facts.token(expr.a)
    {
        if matches!(facts.text(token.name), "assert" | "invariant") {
            return true;
        }
        callee = (token.role == crate::facts::Role::Member).then_some(token.target);
    }
    false
}

/// The alternatives of a type that pass; nothing is known if none does.
fn kept(query: &Query<'_>, of: Type, passes: impl Fn(Type) -> bool) -> Type {
    let mut all = Vec::new();
    query.each_alternative(of, |one| {
        if passes(one) {
            all.push(one);
        }
    });
    query.either(&all)
}

/// A type of which an unknown part is left: nothing is known if several of its alternatives are of the tree.
fn unsure(query: &Query<'_>, of: Type) -> Type {
    let mut count = 0;
    query.each_alternative(of, |one| count += usize::from(matches!(query.shape(one), Shape::Instance(_))));
    if count > 1 { Type::UNKNOWN } else { of }
}

/// Whether every value of a type is one of another.
fn is_a(query: &Query<'_>, one: Type, other: Type) -> bool {
    match (query.shape(one), query.shape(other)) {
        (Shape::Instance(one), Shape::Instance(other)) => query.ancestry(one).contains(&other),
        (Shape::External(one), Shape::External(other)) => one == other,
        _ => false,
    }
}

/// What a type is if it is, or is not, one that a function names.
fn wanted_parts(asked: Asked<'_>, of: Type, wanted: Type) -> Type {
    match asked.query.shape(wanted) {
        Shape::Unknown => unsure(asked.query, of),
        Shape::Parameter(_) => of,
        _ => {
            let mut all = Vec::new();
            asked.query.each_alternative(wanted, |one| all.push(one));
            related(asked, of, &all)
        }
    }
}

/// What a type is if it is, or is not, of one of some types.
fn related(asked: Asked<'_>, of: Type, wanted: &[Type]) -> Type {
    let query = asked.query;
    if !asked.holds {
        let is_union = query.shape(of) == Shape::Either;
        let is_left = |one: Type| !wanted.iter().any(|&wanted| is_a(query, one, wanted));
        // A class of its own says too little to be never.
        return if is_union { kept(query, of, is_left) } else { of };
    }
    let mut all = Vec::new();
    query.each_alternative(of, |one| {
        for &wanted in wanted {
            if is_a(query, one, wanted) {
                all.push(one);
            } else if is_a(query, wanted, one) {
                all.push(wanted);
            }
        }
    });
    if all.is_empty() { query.either(wanted) } else { query.either(&all) }
}
