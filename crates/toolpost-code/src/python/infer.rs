//! Types by Python's own rules: the built-in containers, the protocols behind statements, tests of classes,
//! decorators and type variables.

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

/// What a call gives.
pub(super) fn call(query: &Query<'_>, callee: Type, arguments: &[Type]) -> Option<Type> {
    match query.shape(callee) {
        Shape::Function(def) => call_function(query, def, callee, arguments),
        Shape::Instance(_) => method_result(query, callee, name("__call__")),
        Shape::External(of) => call_external(query, of, callee, arguments),
        _ => None,
    }
}

fn call_function(query: &Query<'_>, def: DefId, callee: Type, arguments: &[Type]) -> Option<Type> {
    let (facts, known) = query.def(def)?;
    let mut result = query.return_type(def);
    if known.marks & own::mark::CONTEXT != 0 {
        let plain = awaited(query, result);
        let entered = query.step(def.file, Step::Element, plain);
        result = query.external(CONTEXT, &[entered]);
    }
    let parameters = query.parameters_in_scope(def);
    if parameters.is_empty() {
        return Some(result);
    }
    let mut environment: Vec<(DefId, Type)> = Vec::new();
    for (&parameter, &value) in parameters.iter().zip(query.arguments(callee).iter()) {
        if query.shape(value) != Shape::Parameter(parameter) {
            environment.push((parameter, value));
        }
    }
    let is_bound = known.kind == Kind::Method
        && (known.marks & mark::STATIC == 0 || known.marks & own::mark::CLASS_METHOD != 0);
    let parts = facts.parts(def.index, Kind::Parameter).skip(usize::from(is_bound));
    for (index, &argument) in parts.zip(arguments) {
        let wanted = query.def_type(DefId { file: def.file, index });
        unify(query, wanted, argument, &mut environment);
    }
    Some(query.substitute(result, &environment))
}

/// Finds type variables also behind unions and containers of other names.
fn unify(query: &Query<'_>, wanted: Type, given: Type, environment: &mut Vec<(DefId, Type)>) {
    match (query.shape(wanted), query.shape(given)) {
        (Shape::Either, _) => {
            for &one in &query.arguments(wanted) {
                if query.shape(one) != Shape::External(NOTHING) {
                    unify(query, one, given, environment);
                }
            }
        }
        (Shape::External(one), Shape::External(other))
            if one != other && is_sequence(one) && (is_sequence(other) || other == builtin::TUPLE) =>
        {
            let (Some(&wanted), given) = (query.arguments(wanted).first(), query.arguments(given)) else {
                return;
            };
            let given = query.either(&given);
            unify(query, wanted, given, environment);
        }
        (Shape::External(one), Shape::External(other))
            if one != other && is_mapping(one) && is_mapping(other) =>
        {
            let (wanted, given) = (query.arguments(wanted), query.arguments(given));
            for (&wanted, &given) in wanted.iter().zip(given.iter()) {
                unify(query, wanted, given, environment);
            }
        }
        (Shape::External(one), Shape::Function(def)) if one == builtin::FUNCTION => {
            if let Some(&wanted) = query.arguments(wanted).first() {
                unify(query, wanted, query.return_type(def), environment);
            }
        }
        (Shape::External(one), Shape::Class(def)) if one == builtin::FUNCTION => {
            if let Some(&wanted) = query.arguments(wanted).first() {
                unify(query, wanted, query.instance_of(def), environment);
            }
        }
        _ => query.unify(wanted, given, environment),
    }
}

fn call_external(query: &Query<'_>, of: Name, callee: Type, arguments: &[Type]) -> Option<Type> {
    let first = arguments.first().copied().unwrap_or(Type::UNKNOWN);
    let element = |of: Type| query.step(FileId(0), Step::Element, of);
    let is = |text: &str| Name::of(text) == of;
    let own = query.arguments(callee);
    if (is_sequence(of) || is_mapping(of)) && !own.is_empty() {
        return Some(callee);
    }
    let known = |of: Type| if of == Type::UNKNOWN { Type::EXTERNAL } else { of };
    let iterator = |of: Type| query.external(name("Iterator"), &[known(of)]);
    if is("list") || is("set") || is("frozenset") || is("tuple") || is("deque") {
        return Some(query.external(of, &[known(element(first))]));
    }
    if is("sorted") {
        return Some(query.external(name("list"), &[known(element(first))]));
    }
    if is("reversed") || is("iter") || is("aiter") || is("filter") {
        let over = if is("filter") { arguments.get(1).copied().unwrap_or(Type::UNKNOWN) } else { first };
        return Some(iterator(element(over)));
    }
    if is("chain") || is("from_iterable") {
        let all: Vec<Type> = arguments.iter().map(|&one| element(one)).collect();
        let all = query.either(&all);
        return Some(iterator(if is("chain") { all } else { element(all) }));
    }
    if is("next") || is("anext") {
        return Some(awaited(query, element(first)));
    }
    if is("enumerate") {
        let number = query.external(name("int"), &[]);
        return Some(iterator(query.external(builtin::TUPLE, &[number, element(first)])));
    }
    if is("zip") {
        let all: Vec<Type> = arguments.iter().map(|&one| element(one)).collect();
        return Some(iterator(query.external(builtin::TUPLE, &all)));
    }
    if is("map") {
        return Some(iterator(query.call(FileId(0), first, &[])));
    }
    if is("min") || is("max") {
        return Some(if arguments.len() == 1 { element(first) } else { query.either(arguments) });
    }
    if is("copy") || is("deepcopy") || is("replace") && matches!(query.shape(first), Shape::Instance(_)) {
        return Some(known(first));
    }
    if is("dict") || is("OrderedDict") {
        return match query.shape(first) {
            Shape::External(given) if is_mapping(given) => Some(query.external(of, &query.arguments(first))),
            _ => Some(query.external(of, &[])),
        };
    }
    if is("defaultdict") {
        let value = query.call(FileId(0), first, &[]);
        return Some(query.external(of, &[Type::EXTERNAL, known(value)]));
    }
    if is("wait_for") || is("shield") || is("create_task") || is("ensure_future") {
        return Some(first);
    }
    if is("run") && matches!(query.shape(first), Shape::External(later) if later == builtin::LATER) {
        return Some(awaited(query, first));
    }
    if of == builtin::FUNCTION {
        return None;
    }
    // A type of the language itself gives a value of that type.
    if is("str") || is("int") || is("float") || is("bytes") || is("bool") {
        return Some(callee);
    }
    None
}

/// The type of a definition that says none itself.
pub(super) fn implied(query: &Query<'_>, def: DefId) -> Option<Type> {
    let (facts, known) = query.def(def)?;
    match known.kind {
        Kind::Parameter => {
            let owner = facts.def(known.owner)?;
            if owner.kind != Kind::Method {
                return None;
            }
            let class = DefId { file: def.file, index: owner.owner };
            let position = facts.parts(known.owner, Kind::Parameter).position(|part| part == def.index)?;
            let is_class = owner.marks & own::mark::CLASS_METHOD != 0;
            if position == 0 && known.marks & mark::REST == 0 && (is_class || owner.marks & mark::STATIC == 0)
            {
                let instance = query.instance_of(class);
                return Some(if is_class { query.class_of(instance) } else { instance });
            }
            inherited_parameter(query, class, facts.name(owner.name), facts.name(known.name))
        }
        Kind::Field => {
            let class = DefId { file: def.file, index: known.owner };
            let name = facts.name(known.name);
            query.bases(class).iter().copied().find_map(|base| {
                let member = query.members(def.file, base, name, space::ANY).into_iter().next()?;
                let Entity::Def(found) = member.entity else { return None };
                Some(query.substitute(query.def_type(found), &member.environment))
            })
        }
        _ => None,
    }
}

/// The type of a parameter in the method that a method overrides.
fn inherited_parameter(query: &Query<'_>, class: DefId, method: Name, parameter: Name) -> Option<Type> {
    query.bases(class).iter().copied().find_map(|base| {
        let function = methods(query, class.file, base, method).into_iter().next()?;
        let facts = query.facts(function.file);
        let is_it = |&part: &u32| facts.name(facts.defs[part as usize].name) == parameter;
        let part = facts.parts(function.index, Kind::Parameter).find(is_it)?;
        let of = query.def_type(DefId { file: function.file, index: part });
        (of != Type::UNKNOWN).then_some(of)
    })
}

/// What decorators make of a function.
pub(super) fn decorated(query: &Query<'_>, def: DefId, plain: Type) -> Option<Type> {
    let facts = query.facts(def.file);
    let decorators: Vec<u32> = facts.parts(def.index, Kind::Constant).collect();
    let mut current = plain;
    for part in decorators.into_iter().rev() {
        let decorator = query.value_type(def.file, facts.defs[part as usize].value);
        let result = query.call(def.file, decorator, &[current]);
        // A decorator that gives a function again is taken to leave its parameters as they are.
        let replaces = match query.shape(result) {
            Shape::Instance(_) | Shape::Class(_) => true,
            Shape::Either => {
                query.arguments(result).iter().any(|&one| matches!(query.shape(one), Shape::Instance(_)))
            }
            _ => false,
        };
        if replaces {
            current = result;
        }
    }
    (current != plain).then_some(current)
}

/// The type variables of a class or function: those between brackets, or those that its bases or parameters name.
pub(super) fn type_parameters(query: &Query<'_>, def: DefId) -> Vec<DefId> {
    let Some((facts, known)) = query.def(def) else { return Vec::new() };
    let mut found: Vec<DefId> =
        facts.parts(def.index, Kind::TypeParameter).map(|index| DefId { file: def.file, index }).collect();
    if !found.is_empty() {
        return found;
    }
    if known.kind.is_type() {
        for base in facts.bases_of(def.index) {
            let Some(expr) = facts.exprs.get(base.base as usize) else { continue };
            if expr.op == Op::Apply {
                for &argument in facts.list(expr.b) {
                    variables(query, query.named_type(def.file, argument), &mut found, 0);
                }
            }
        }
    } else if known.kind.is_function() {
        for part in facts.parts(def.index, Kind::Parameter) {
            let declared = facts.defs[part as usize].declared;
            if declared != NONE {
                variables(query, query.named_type(def.file, declared), &mut found, 0);
            }
        }
        if let Some(owner) = facts.def(known.owner)
            && owner.kind.is_type()
        {
            let outer = query.type_parameters(DefId { file: def.file, index: known.owner });
            found.retain(|one| !outer.contains(one));
        }
    }
    found
}

fn variables(query: &Query<'_>, of: Type, found: &mut Vec<DefId>, depth: u32) {
    if depth > 8 {
        return;
    }
    if let Shape::Parameter(def) = query.shape(of) {
        if !found.contains(&def) {
            found.push(def);
        }
        return;
    }
    for &argument in &query.arguments(of) {
        variables(query, argument, found, depth + 1);
    }
}

/// The value of an expression of Python's own.
pub(super) fn own_expression(query: &Query<'_>, file: FileId, expr: u32) -> Option<Type> {
    let facts = query.facts(file);
    let list = facts.list(facts.exprs.get(expr as usize)?.a);
    let (&code, operands) = list.split_first()?;
    let value = |index: usize| query.value_type(file, operands.get(index).copied().unwrap_or(NONE));
    let answer = match code {
        own::ASSIGNED => {
            let given = value(0);
            let mut is_ours = false;
            query.each_alternative(given, |one| {
                is_ours |= !matches!(query.shape(one), Shape::External(_) | Shape::Unknown);
            });
            let declared = if is_ours { Type::UNKNOWN } else { value(1) };
            if declared == Type::UNKNOWN { given } else { declared }
        }
        own::INSTANCE => instances(query, value(0), value(1)),
        own::NOT_INSTANCE => others(query, value(0), value(1)),
        own::SUBCLASS => value(1),
        own::CLASS_OF => {
            let mut all = Vec::new();
            query.each_alternative(value(0), |one| {
                all.push(match query.shape(one) {
                    Shape::External(_) => Type::EXTERNAL,
                    _ => query.class_of(one),
                });
            });
            query.either(&all)
        }
        own::OPERATOR => operator(query, value(0), value(1), facts.text(*operands.get(2)?)),
        own::CAUGHT => {
            let all: Vec<Type> =
                classes(query, value(0)).into_iter().map(|one| instance(query, one)).collect();
            query.either(&all)
        }
        own::ELEMENT => {
            let of = value(0);
            let mut all = Vec::new();
            query.each_alternative(of, |one| {
                let is_tuple = matches!(query.shape(one), Shape::External(name) if name == builtin::TUPLE);
                all.push(if is_tuple || is_record(query, one) {
                    query.at(file, one, operands.get(1).copied().unwrap_or(0))
                } else {
                    query.step(file, Step::Index, one)
                });
            });
            query.either(&all)
        }
        _ => return None,
    };
    Some(answer)
}

fn is_record(query: &Query<'_>, of: Type) -> bool {
    matches!(query.shape(of), Shape::Instance(def)
        if query.def(def).is_some_and(|(_, def)| def.marks & own::mark::RECORD != 0))
}

/// The classes that a test names: one, or a tuple or union of them.
fn classes(query: &Query<'_>, of: Type) -> Vec<Type> {
    let mut found = Vec::new();
    let mut open = vec![of];
    while let Some(one) = open.pop() {
        match query.shape(one) {
            Shape::Either => open.extend(query.arguments(one).iter().rev()),
            Shape::External(name) if name == builtin::TUPLE => open.extend(query.arguments(one).iter().rev()),
            _ => found.push(one),
        }
        if found.len() > 16 {
            break;
        }
    }
    found
}

fn instance(query: &Query<'_>, class: Type) -> Type {
    match query.shape(class) {
        Shape::Class(def) => query.make(Shape::Instance(def), &query.arguments(class)),
        Shape::Unknown => Type::UNKNOWN,
        _ => class,
    }
}

/// Whether a value of one type is an instance of a class.
fn is_instance(query: &Query<'_>, one: Type, class: Type) -> bool {
    match (query.shape(one), query.shape(class)) {
        (Shape::Instance(of), Shape::Class(class)) => query.ancestry(of).contains(&class),
        (Shape::External(of), Shape::External(class)) => of == class,
        _ => false,
    }
}

/// What of a type can be an instance of one of some classes.
fn instances(query: &Query<'_>, of: Type, class: Type) -> Type {
    let mut all = Vec::new();
    for class in classes(query, class) {
        let mut kept = Vec::new();
        query.each_alternative(of, |one| {
            if is_instance(query, one, class) {
                kept.push(one);
            }
        });
        if kept.is_empty() {
            kept.push(instance(query, class));
        }
        all.extend(kept);
    }
    let known = query.either(&all);
    if known == Type::UNKNOWN { of } else { known }
}

/// What of a type can be no instance of any of some classes.
fn others(query: &Query<'_>, of: Type, class: Type) -> Type {
    let classes = classes(query, class);
    let mut kept = Vec::new();
    query.each_alternative(of, |one| {
        if !classes.iter().any(|&class| is_instance(query, one, class)) {
            kept.push(one);
        }
    });
    if kept.is_empty() { of } else { query.either(&kept) }
}

fn operator(query: &Query<'_>, left: Type, right: Type, method: &str) -> Type {
    let is_class = |of: Type| matches!(query.shape(of), Shape::Class(_));
    if method == "__or__" && (is_class(left) || is_class(right)) {
        return query.either(&[left, right]);
    }
    let mut all = Vec::new();
    query.each_alternative(left, |one| all.extend(method_result(query, one, Name::of(method))));
    if all.is_empty() {
        let reflected = format!("__r{}", method.trim_start_matches('_'));
        query.each_alternative(right, |one| all.extend(method_result(query, one, Name::of(&reflected))));
    }
    if all.is_empty() { left } else { query.either(&all) }
}
