//! The few types of the language's own library through which types of the tree pass: arrays, maps, promises.

use crate::facts::Name;
use crate::language::Step;
use crate::resolve::{Query, Shape, Type, builtin};

/// A method of a type of the library: the receiver, then the method's name as a type without arguments.
pub(super) const METHOD: Name = Name::of("method of the library");
/// An array literal: what its elements are, in order.
pub(super) const ARRAY: Name = Name::of("(..)");
/// What is spread into a tuple.
pub(super) const SPREAD: Name = Name::of("...");

const LISTS: [Name; 12] = [
    builtin::LIST,
    builtin::TUPLE,
    ARRAY,
    Name::of("Array"),
    Name::of("ReadonlyArray"),
    Name::of("Set"),
    Name::of("ReadonlySet"),
    Name::of("Iterable"),
    Name::of("IterableIterator"),
    Name::of("Iterator"),
    Name::of("ArrayLike"),
    Name::of("ConcatArray"),
];
const STREAMS: [Name; 6] = [
    Name::of("AsyncIterable"),
    Name::of("AsyncIterableIterator"),
    Name::of("AsyncGenerator"),
    Name::of("AsyncIterator"),
    Name::of("Generator"),
    Name::of("ReadableStream"),
];
const MAPS: [Name; 5] =
    [builtin::MAP, Name::of("Map"), Name::of("ReadonlyMap"), Name::of("WeakMap"), Name::of("Record")];
const LATER: [Name; 3] = [builtin::LATER, Name::of("Promise"), Name::of("PromiseLike")];

pub(super) fn is_list(name: Name) -> bool {
    LISTS.contains(&name)
}

pub(super) fn is_map(name: Name) -> bool {
    MAPS.contains(&name)
}

pub(super) fn is_later(name: Name) -> bool {
    LATER.contains(&name)
}

/// Whether a name is one of the types that hold nothing of the tree.
pub(super) fn is_primitive(name: Name) -> bool {
    ["string", "number", "boolean", "bigint", "symbol"].iter().any(|text| Name::of(text) == name)
}

/// What every object has, as the library's `Object` declares it.
pub(super) const OF_EVERY_OBJECT: [&str; 6] =
    ["hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"];

/// Whether values of a type of the library have their own form of what every object has.
pub(super) fn is_told(name: Name) -> bool {
    const TYPES: [Name; 14] = [
        Name::of("String"),
        Name::of("Number"),
        Name::of("Boolean"),
        Name::of("BigInt"),
        Name::of("Symbol"),
        Name::of("Date"),
        Name::of("RegExp"),
        Name::of("Function"),
        Name::of("Array"),
        Name::of("ReadonlyArray"),
        Name::of("URL"),
        Name::of("URLSearchParams"),
        Name::of("Buffer"),
        Name::of("Error"),
    ];
    TYPES.contains(&name)
        || name == METHOD
        || name == builtin::LIST
        || name == builtin::TUPLE
        || name == builtin::FUNCTION
        || name == ARRAY
        || is_primitive(name)
}

/// Whether a literal of a type says nothing of the keys it has: the type takes all of them, or is no type of objects.
pub(super) fn is_shapeless(name: Name) -> bool {
    const WORDS: [Name; 16] = [
        Name::of("any"),
        Name::of("unknown"),
        Name::of("object"),
        Name::of("Object"),
        Name::of("Record"),
        Name::of("null"),
        Name::of("undefined"),
        Name::of("void"),
        Name::of("never"),
        Name::of("default"),
        Name::of("const"),
        Name::of("extends ? :"),
        Name::of("T[K]"),
        Name::of("keyof"),
        builtin::TUPLE,
        builtin::FUNCTION,
    ];
    WORDS.contains(&name)
        || name == METHOD
        || is_primitive(name)
        || is_list(name)
        || is_map(name)
        || is_later(name)
}

fn named(query: &Query<'_>, text: &str) -> Type {
    query.external(Name::of(text), &[])
}

fn list(query: &Query<'_>, of: Type) -> Type {
    query.external(builtin::LIST, &[of])
}

fn later(query: &Query<'_>, of: Type) -> Type {
    query.external(builtin::LATER, &[of])
}

/// The elements of something that is iterated.
pub(super) fn element(query: &Query<'_>, of: Type) -> Type {
    let Shape::External(name) = query.shape(of) else { return Type::UNKNOWN };
    let arguments = query.arguments(of);
    if name == builtin::TUPLE || name == ARRAY {
        let all: Vec<Type> = arguments
            .iter()
            .map(|&one| match query.shape(one) {
                Shape::External(SPREAD) => {
                    element(query, query.arguments(one).first().copied().unwrap_or(one))
                }
                _ => one,
            })
            .collect();
        return query.either(&all);
    }
    if is_list(name) || STREAMS.contains(&name) {
        return arguments.first().copied().unwrap_or(Type::EXTERNAL);
    }
    if is_map(name) {
        return query.external(builtin::TUPLE, &arguments);
    }
    if name == Name::of("string") { named(query, "string") } else { Type::EXTERNAL }
}

/// What a step leads to from a type of the library.
pub(super) fn step(query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    let arguments = query.arguments(of);
    match step {
        Step::Element => Some(element(query, of)),
        Step::Index if is_map(name) => Some(arguments.get(1).copied().unwrap_or(Type::EXTERNAL)),
        Step::Index => Some(element(query, of)),
        Step::Await if is_later(name) => {
            let inner = arguments.first().copied().unwrap_or(Type::EXTERNAL);
            Some(awaited(query, inner))
        }
        Step::Enter => Some(of),
        _ => None,
    }
}

/// What awaiting gives.
pub(super) fn awaited(query: &Query<'_>, of: Type) -> Type {
    let mut of = of;
    for _ in 0..4 {
        of = match query.shape(of) {
            Shape::External(name) if is_later(name) => {
                query.arguments(of).first().copied().unwrap_or(Type::EXTERNAL)
            }
            Shape::Either => {
                let all: Vec<Type> = query
                    .arguments(of)
                    .iter()
                    .map(|&one| match query.shape(one) {
                        Shape::External(name) if is_later(name) => {
                            query.arguments(one).first().copied().unwrap_or(Type::EXTERNAL)
                        }
                        _ => one,
                    })
                    .collect();
                return query.either(&all);
            }
            _ => return of,
        };
    }
    of
}

/// Position of a tuple, an array or anything with positions.
pub(super) fn at(query: &Query<'_>, of: Type, index: u32) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    let arguments = query.arguments(of);
    if name == builtin::TUPLE || name == ARRAY {
        for (position, &one) in arguments.iter().enumerate() {
            if let Shape::External(SPREAD) = query.shape(one) {
                let inner = query.arguments(one).first().copied()?;
                return Some(element(query, inner));
            }
            if position == index as usize {
                return Some(one);
            }
        }
        return Some(Type::UNKNOWN);
    }
    Some(element(query, of))
}

/// A member of a type of the library.
pub(super) fn member(query: &Query<'_>, receiver: Type, name: Name) -> Option<Type> {
    let Shape::External(of) = query.shape(receiver) else { return None };
    let is = |text: &str| Name::of(text) == name;
    if of == builtin::MAP || of == Name::of("Record") {
        return Some(query.arguments(receiver).get(1).copied().unwrap_or(Type::EXTERNAL));
    }
    if (is_list(of) || is_map(of) || of == Name::of("string")) && (is("length") || is("size")) {
        return Some(named(query, "number"));
    }
    let has_methods = is_list(of)
        || is_map(of)
        || is_later(of)
        || STREAMS.contains(&of)
        || of == Name::of("string")
        || of == Name::of("Object")
        || of == Name::of("Array");
    has_methods.then(|| query.external(METHOD, &[receiver, query.external(name, &[])]))
}

/// The receiver and the name of a method of the library.
fn method(query: &Query<'_>, callee: Type) -> Option<(Type, Name, Name)> {
    let Shape::External(METHOD) = query.shape(callee) else { return None };
    let arguments = query.arguments(callee);
    let (&receiver, &name) = (arguments.first()?, arguments.get(1)?);
    match (query.shape(receiver), query.shape(name)) {
        (Shape::External(of), Shape::External(name)) => Some((receiver, of, name)),
        _ => None,
    }
}

fn function(query: &Query<'_>, result: Type, parameters: &[Type]) -> Type {
    let mut all = vec![result];
    all.extend_from_slice(parameters);
    query.external(builtin::FUNCTION, &all)
}

/// What an argument of a method of the library should be; `first` gives the type of another argument.
pub(super) fn argument(
    query: &Query<'_>,
    callee: Type,
    index: u32,
    other: &dyn Fn(u32) -> Type,
) -> Option<Type> {
    if let Shape::External(name) = query.shape(callee) {
        let is = |text: &str| Name::of(text) == name;
        if (is("fetch") || is("Request")) && index == 1 {
            return Some(named(query, "RequestInit"));
        }
        if is("Response") && index == 1 {
            return Some(named(query, "ResponseInit"));
        }
        if is("Promise") && index == 0 {
            return None;
        }
    }
    let (receiver, of, name) = method(query, callee)?;
    let is = |text: &str| Name::of(text) == name;
    let number = named(query, "number");
    if is_later(of) {
        let gives = awaited(query, receiver);
        return (is("then") && index == 0).then(|| function(query, Type::UNKNOWN, &[gives]));
    }
    if is_map(of) {
        let arguments = query.arguments(receiver);
        let (key, value) = (*arguments.first()?, *arguments.get(1)?);
        return match index {
            0 if is("forEach") => Some(function(query, Type::UNKNOWN, &[value, key, receiver])),
            1 if is("set") => Some(value),
            0 if is("set") => Some(key),
            _ => None,
        };
    }
    if of == Name::of("Object") || !is_list(of) && !STREAMS.contains(&of) {
        if is("from") && index == 1 {
            return Some(function(query, Type::UNKNOWN, &[element(query, other(0)), number]));
        }
        return None;
    }
    let one = element(query, receiver);
    if is("reduce") || is("reduceRight") {
        let start = match other(1) {
            Type::UNKNOWN => one,
            start => start,
        };
        return (index == 0).then(|| function(query, start, &[start, one, number, receiver]));
    }
    if is("sort") || is("toSorted") {
        return Some(function(query, number, &[one, one]));
    }
    if is("from") && index == 1 {
        return Some(function(query, Type::UNKNOWN, &[element(query, other(0)), number]));
    }
    if ["push", "unshift", "includes", "indexOf", "add", "fill", "has", "delete"].iter().any(|text| is(text))
    {
        return Some(one);
    }
    if is("concat") {
        return Some(receiver);
    }
    (index == 0).then(|| function(query, Type::UNKNOWN, &[one, number, receiver]))
}

/// What calling a method of the library gives; `returned` is what an argument returns, `given` what it is.
pub(super) fn call(
    query: &Query<'_>,
    callee: Type,
    given: &dyn Fn(u32) -> Type,
    returned: &dyn Fn(u32) -> Type,
) -> Option<Type> {
    if let Shape::External(name) = query.shape(callee)
        && name == Name::of("fetch")
    {
        return Some(later(query, named(query, "Response")));
    }
    let (receiver, of, name) = method(query, callee)?;
    let is = |text: &str| Name::of(text) == name;
    let any = |texts: &[&str]| texts.iter().any(|text| is(text));
    if is_later(of) {
        if is("then") {
            return Some(later(query, awaited(query, returned(0))));
        }
        if any(&["all", "allSettled"]) {
            let all: Vec<Type> = match query.shape(given(0)) {
                Shape::External(name) if name == ARRAY || name == builtin::TUPLE => {
                    query.arguments(given(0)).iter().map(|&one| awaited(query, one)).collect()
                }
                _ => return Some(later(query, list(query, awaited(query, element(query, given(0)))))),
            };
            return Some(later(query, query.external(builtin::TUPLE, &all)));
        }
        if any(&["race", "any"]) {
            return Some(later(query, awaited(query, element(query, given(0)))));
        }
        if is("resolve") {
            return Some(later(query, awaited(query, given(0))));
        }
        return Some(receiver);
    }
    if is_map(of) {
        let arguments = query.arguments(receiver);
        let argument = |index: usize| arguments.get(index).copied().unwrap_or(Type::EXTERNAL);
        return Some(match () {
            () if is("get") => argument(1),
            () if is("set") => receiver,
            () if is("keys") => list(query, argument(0)),
            () if is("values") => list(query, argument(1)),
            () if is("entries") => list(query, query.external(builtin::TUPLE, &arguments)),
            () => Type::EXTERNAL,
        });
    }
    if of == Name::of("Object") {
        return Some(match () {
            () if any(&["keys", "getOwnPropertyNames"]) => list(query, named(query, "string")),
            () if any(&["values", "entries"]) => {
                let value = match query.shape(given(0)) {
                    Shape::External(name) if is_map(name) => {
                        query.arguments(given(0)).get(1).copied().unwrap_or(Type::EXTERNAL)
                    }
                    Shape::External(name) if is_list(name) => element(query, given(0)),
                    _ => Type::UNKNOWN,
                };
                if is("values") {
                    list(query, value)
                } else {
                    list(query, query.external(builtin::TUPLE, &[named(query, "string"), value]))
                }
            }
            () if is("assign") => query.either(&[given(0), given(1), given(2)]),
            () if any(&["freeze", "seal", "create"]) => given(0),
            () => Type::EXTERNAL,
        });
    }
    if of == Name::of("string") {
        return Some(match () {
            () if any(&["split", "match", "matchAll"]) => list(query, named(query, "string")),
            () if any(&[
                "indexOf",
                "charCodeAt",
                "search",
                "localeCompare",
                "lastIndexOf",
                "codePointAt",
            ]) =>
            {
                named(query, "number")
            }
            () if any(&["includes", "startsWith", "endsWith"]) => named(query, "boolean"),
            () => named(query, "string"),
        });
    }
    let one = element(query, receiver);
    Some(match () {
        () if is("map") => list(query, returned(0)),
        () if is("flatMap") => match query.shape(returned(0)) {
            Shape::External(name) if is_list(name) => list(query, element(query, returned(0))),
            _ => list(query, returned(0)),
        },
        () if is("from") => match returned(1) {
            Type::UNKNOWN => list(query, element(query, given(0))),
            made => list(query, made),
        },
        () if is("of") => list(query, given(0)),
        () if any(&["find", "findLast", "at", "pop", "shift"]) => one,
        () if any(&["reduce", "reduceRight"]) => match given(1) {
            Type::UNKNOWN => one,
            start => start,
        },
        () if is("entries") => list(query, query.external(builtin::TUPLE, &[named(query, "number"), one])),
        () if is("keys") => list(query, named(query, "number")),
        () if is("join") => named(query, "string"),
        () if any(&["add"]) => receiver,
        () if is("flat") => match query.shape(one) {
            Shape::External(name) if is_list(name) => list(query, element(query, one)),
            _ => list(query, one),
        },
        () if any(&[
            "filter",
            "slice",
            "concat",
            "reverse",
            "sort",
            "splice",
            "toSorted",
            "toReversed",
            "toSpliced",
            "with",
            "values",
            "fill",
            "copyWithin",
        ]) =>
        {
            list(query, one)
        }
        () => Type::EXTERNAL,
    })
}

/// Members that types of the library, the page and the server commonly have.
pub(super) const COMMON: [&str; 121] = [
    "abort",
    "add",
    "addEventListener",
    "all",
    "any",
    "append",
    "apply",
    "assign",
    "at",
    "bind",
    "blob",
    "body",
    "call",
    "catch",
    "charAt",
    "charCodeAt",
    "children",
    "clear",
    "clone",
    "close",
    "code",
    "concat",
    "content",
    "cookie",
    "constructor",
    "createElement",
    "data",
    "delete",
    "description",
    "destroy",
    "detail",
    "disabled",
    "dispatchEvent",
    "done",
    "emit",
    "encode",
    "decode",
    "end",
    "endsWith",
    "entries",
    "error",
    "every",
    "exec",
    "fetch",
    "fill",
    "filter",
    "find",
    "findIndex",
    "finally",
    "flat",
    "flatMap",
    "forEach",
    "format",
    "from",
    "get",
    "has",
    "hash",
    "headers",
    "host",
    "href",
    "id",
    "includes",
    "index",
    "indexOf",
    "input",
    "join",
    "json",
    "key",
    "keys",
    "kind",
    "lastIndexOf",
    "length",
    "log",
    "map",
    "match",
    "message",
    "method",
    "name",
    "next",
    "now",
    "ok",
    "on",
    "once",
    "open",
    "options",
    "origin",
    "padStart",
    "parse",
    "path",
    "pathname",
    "pop",
    "port",
    "push",
    "query",
    "read",
    "reduce",
    "remove",
    "replace",
    "resolve",
    "reverse",
    "search",
    "send",
    "set",
    "shift",
    "signal",
    "size",
    "slice",
    "some",
    "sort",
    "splice",
    "split",
    "status",
    "test",
    "text",
    "then",
    "toString",
    "type",
    "url",
    "value",
    "values",
    "write",
];
