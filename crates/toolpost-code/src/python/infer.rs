//! Types by Python's own rules: the built-in containers, the protocols behind statements, tests of classes,
//! decorators and type variables.

mod calls;
mod declared;
mod narrowed;
mod own_type;

pub(super) use calls::call;
pub(super) use declared::{decorated, implied, type_parameters};
pub(super) use narrowed::own_expression;
pub(super) use own_type::rebound;

use super::own;
use crate::facts::{Kind, NONE, Name, Op, mark, space};
use crate::language::Step;
use crate::resolve::{DefId, Entity, Query, Shape, Type, builtin};
use crate::world::FileId;

const fn name(text: &str) -> Name {
    Name::of(text)
}

/// Types that give their first argument when iterated and when indexed.
const SEQUENCES: [Name; 30] = [
    name("list"),
    name("List"),
    name("Sequence"),
    name("MutableSequence"),
    name("Iterable"),
    name("Iterator"),
    name("Collection"),
    name("Container"),
    name("Reversible"),
    name("set"),
    name("Set"),
    name("frozenset"),
    name("FrozenSet"),
    name("AbstractSet"),
    name("MutableSet"),
    name("deque"),
    name("Deque"),
    name("Generator"),
    name("AsyncGenerator"),
    name("AsyncIterator"),
    name("AsyncIterable"),
    name("KeysView"),
    name("ValuesView"),
    name("Queue"),
    name("array"),
    name("UserList"),
    name("chain"),
    name("WeakSet"),
    name("SupportsGetItem"),
    name("tuple"),
];

/// Types of keys and values.
const MAPPINGS: [Name; 12] = [
    name("dict"),
    name("Dict"),
    name("Mapping"),
    name("MutableMapping"),
    name("defaultdict"),
    name("DefaultDict"),
    name("OrderedDict"),
    name("ChainMap"),
    name("UserDict"),
    name("MappingProxyType"),
    name("WeakValueDictionary"),
    name("WeakKeyDictionary"),
];

/// How many attributes of one name are looked at for those of one class.
const MOST_ATTRIBUTES: usize = 2_000;
const CONTEXT: Name = name("contextmanager");
const ITEMS: Name = name("ItemsView");
const NOTHING: Name = name("None");

fn is_sequence(of: Name) -> bool {
    SEQUENCES.contains(&of)
}

fn is_mapping(of: Name) -> bool {
    MAPPINGS.contains(&of)
}

/// The methods of a name that values of a type have.
pub(super) fn methods(query: &Query<'_>, file: FileId, of: Type, name: Name) -> Vec<DefId> {
    let members = query.members(file, of, name, space::ANY);
    let defs = members.into_iter().filter_map(|member| match member.entity {
        Entity::Def(def) => Some(def),
        _ => None,
    });
    defs.filter(|&def| query.def(def).is_some_and(|(_, def)| def.kind.is_function())).collect()
}

/// What a method without arguments gives.
fn method_result(query: &Query<'_>, of: Type, method: Name) -> Option<Type> {
    let (Shape::Instance(def) | Shape::Class(def)) = query.shape(of) else { return None };
    let member = query.members(def.file, of, method, space::ANY).into_iter().next()?;
    let Entity::Def(function) = member.entity else { return None };
    let (_, known) = query.def(function)?;
    if !known.kind.is_function() {
        return None;
    }
    let result = query.substitute(query.return_type(function), &member.environment);
    // A method that returns its own object returns the subclass for an object of a subclass.
    let returns_self = known.declared == NONE || is_self(query, function);
    if let Shape::Instance(base) = query.shape(result)
        && returns_self
        && base != def
        && query.ancestry(def).contains(&base)
    {
        return Some(of);
    }
    Some(result)
}

fn is_self(query: &Query<'_>, function: DefId) -> bool {
    query.def(function).is_some_and(|(facts, def)| {
        facts.exprs.get(def.declared as usize).is_some_and(|expr| expr.op == Op::ThisType)
    })
}

fn awaited(query: &Query<'_>, of: Type) -> Type {
    match query.shape(of) {
        Shape::External(name) if name == builtin::LATER => {
            query.arguments(of).first().copied().unwrap_or(Type::UNKNOWN)
        }
        _ => of,
    }
}

/// What indexing, iterating, entering and awaiting give.
pub(super) fn step(query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
    match query.shape(of) {
        Shape::External(name) => external_step(query, step, of, name),
        Shape::Instance(def) => {
            let result = |method: &str| method_result(query, of, Name::of(method));
            let answer = match step {
                Step::Enter => result("__enter__")
                    .or_else(|| result("__aenter__").map(|later| awaited(query, later)))
                    .unwrap_or(Type::EXTERNAL),
                Step::Index => result("__getitem__").or_else(|| base_step(query, step, def))?,
                Step::Element | Step::Key => match result("__iter__").or_else(|| result("__aiter__")) {
                    Some(iterator) if iterator == of => {
                        let next = result("__next__").or_else(|| result("__anext__"))?;
                        awaited(query, next)
                    }
                    Some(iterator) => query.step(def.file, Step::Element, iterator),
                    None => {
                        let next = result("__next__").or_else(|| result("__anext__"));
                        match next.or_else(|| result("__getitem__")) {
                            Some(next) => awaited(query, next),
                            None => base_step(query, step, def)?,
                        }
                    }
                },
                Step::Await => {
                    let iterator = result("__await__")?;
                    let arguments = query.arguments(iterator);
                    arguments.get(2).or(arguments.first()).copied().unwrap_or(Type::EXTERNAL)
                }
                _ => return None,
            };
            Some(answer)
        }
        Shape::Class(def) if step == Step::Index => Some(query.make(Shape::Class(def), &[])),
        Shape::Class(def) if matches!(step, Step::Element) => {
            let is_enum = query.def(def).is_some_and(|(_, def)| def.kind == Kind::Enum);
            is_enum.then(|| query.instance_of(def))
        }
        _ => None,
    }
}

/// What a class gets from an external container that it inherits from.
fn base_step(query: &Query<'_>, step: Step, def: DefId) -> Option<Type> {
    for one in query.ancestry(def) {
        for &base in query.bases(one).iter() {
            if let Shape::External(name) = query.shape(base)
                && (is_sequence(name) || is_mapping(name))
            {
                return external_step(query, step, base, name);
            }
        }
    }
    None
}

fn external_step(query: &Query<'_>, step: Step, of: Type, name: Name) -> Option<Type> {
    let arguments = query.arguments(of);
    let argument = |index: usize| Some(arguments.get(index).copied().unwrap_or(Type::EXTERNAL));
    match step {
        Step::Element | Step::Key if is_mapping(name) => argument(0),
        Step::Index if is_mapping(name) => argument(1),
        Step::Element | Step::Index if is_sequence(name) => argument(0),
        Step::Element if name == ITEMS => Some(query.external(builtin::TUPLE, &arguments)),
        Step::Enter if name == CONTEXT => argument(0),
        Step::Enter => {
            let is_context = [self::name("AbstractContextManager"), self::name("ContextManager")]
                .contains(&name)
                || [self::name("AbstractAsyncContextManager"), self::name("AsyncContextManager")]
                    .contains(&name);
            if is_context { argument(0) } else { None }
        }
        Step::Await if name == self::name("Coroutine") => argument(2),
        Step::Await
            if [self::name("Awaitable"), self::name("Future"), self::name("Task")].contains(&name) =>
        {
            argument(0)
        }
        Step::Await if name == builtin::LATER => None,
        Step::Await => Some(Type::EXTERNAL),
        _ => None,
    }
}

/// What stands at a position of something that is no tuple.
pub(super) fn at(query: &Query<'_>, of: Type, index: u32) -> Option<Type> {
    match query.shape(of) {
        Shape::Instance(def) => {
            let facts = query.facts(def.file);
            let is_record = query.def(def).is_some_and(|(_, def)| def.marks & own::mark::RECORD != 0);
            if is_record {
                let annotated = |&part: &u32| facts.defs[part as usize].marks & own::mark::ANNOTATED != 0;
                let field = facts.parts(def.index, Kind::Field).filter(annotated).nth(index as usize)?;
                return Some(query.def_type(DefId { file: def.file, index: field }));
            }
            Some(query.step(def.file, Step::Element, of))
        }
        Shape::External(name) => {
            Some(external_step(query, Step::Element, of, name).unwrap_or(Type::EXTERNAL))
        }
        _ => None,
    }
}

/// The type of a member of a type of the language itself.
pub(super) fn external_member(query: &Query<'_>, receiver: Type, member: Name) -> Option<Type> {
    let Shape::External(of) = query.shape(receiver) else { return None };
    let arguments = query.arguments(receiver);
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(Type::EXTERNAL);
    let gives = |result: Type| Some(query.external(builtin::FUNCTION, &[result]));
    let is = |text: &str| Name::of(text) == member;
    if is_mapping(of) && !arguments.is_empty() {
        if is("get") || is("pop") || is("setdefault") || is("__getitem__") {
            return gives(argument(1));
        }
        if is("values") || is("itervalues") {
            return gives(query.external(name("ValuesView"), &[argument(1)]));
        }
        if is("keys") || is("iterkeys") {
            return gives(query.external(name("KeysView"), &[argument(0)]));
        }
        if is("items") || is("iteritems") {
            return gives(query.external(ITEMS, &[argument(0), argument(1)]));
        }
        if is("popitem") {
            return gives(query.external(builtin::TUPLE, &arguments));
        }
        if is("copy") {
            return gives(receiver);
        }
    }
    if is_sequence(of) && !arguments.is_empty() {
        let is_one = ["pop", "popleft", "__next__", "get", "get_nowait", "send"].iter().any(|text| is(text));
        if is_one {
            return gives(argument(0));
        }
        let is_many = ["copy", "union", "intersection", "difference", "symmetric_difference"]
            .iter()
            .any(|text| is(text));
        if is_many {
            return gives(receiver);
        }
    }
    None
}

/// The definitions of an attribute that an object of a class has: in it, in its bases and in what inherits from it. At
/// run time they set one and the same attribute.
pub(super) fn same_attributes(query: &Query<'_>, attribute: DefId) -> Vec<DefId> {
    let Some((facts, known)) = query.def(attribute) else { return Vec::new() };
    let class = DefId { index: known.owner, ..attribute };
    let is_attribute =
        known.kind == Kind::Field && facts.def(known.owner).is_some_and(|owner| owner.kind == Kind::Class);
    if !is_attribute {
        return Vec::new();
    }
    let language = query.world.language_of(class.file);
    let ancestry = query.ancestry(class);
    let mut all = query.members_named(language, facts.name(known.name), MOST_ATTRIBUTES);
    all.retain(|&def| {
        let Some((facts, known)) = query.def(def) else { return false };
        let owner = DefId { file: def.file, index: known.owner };
        def != attribute
            && known.kind == Kind::Field
            && facts.def(known.owner).is_some_and(|owner| owner.kind == Kind::Class)
            && (ancestry.contains(&owner) || query.ancestry(owner).contains(&class))
    });
    all
}

/// Those of the definitions of an attribute that are one by the rules of types: a class sets what a base declares with a
/// type without declaring it again.
pub(super) fn declared_attributes(query: &Query<'_>, attribute: DefId) -> Vec<DefId> {
    let is_declared =
        |def: DefId| query.def(def).is_some_and(|(_, known)| known.marks & own::mark::ANNOTATED != 0);
    let inherits = |def: DefId, from: DefId| {
        let class = |of: DefId| query.def(of).map(|(_, known)| DefId { index: known.owner, ..of });
        let (Some(class), Some(base)) = (class(def), class(from)) else { return false };
        query.ancestry(class).contains(&base)
    };
    let is_one =
        |declared: DefId, set: DefId| is_declared(declared) && !is_declared(set) && inherits(set, declared);
    let mut all = same_attributes(query, attribute);
    all.retain(|&def| is_one(attribute, def) || is_one(def, attribute));
    all
}

/// What the name of an argument means where a function takes the rest of its arguments by name, as a type says.
pub(super) fn unpacked_keywords(query: &Query<'_>, function: DefId, name: Name) -> Vec<Entity> {
    let facts = query.facts(function.file);
    let mut found = Vec::new();
    for part in facts.parts(function.index, Kind::Parameter) {
        let part = &facts.defs[part as usize];
        if part.marks & mark::REST == 0 {
            continue;
        }
        let of = query.named_type(function.file, part.declared);
        if matches!(query.shape(of), Shape::Instance(_)) {
            let members = query.members(function.file, of, name, space::VALUE);
            found.extend(members.into_iter().map(|member| member.entity));
        }
    }
    found
}
