//! What the resolver knows of the standard library: what wraps what, and what common methods return.

use crate::facts::Name;
use crate::resolve::{Query, Shape, Type, builtin};

/// In place of what a function returns: the same wrapper around what its closure returns.
const MAPPED: Name = Name::of("mapped");
/// In place of what a function returns: what its closure returns.
const CHAINED: Name = Name::of("chained");

const OPTION: Name = Name::of("Option");
const RESULT: Name = Name::of("Result");
const ITERATOR: Name = Name::of("Iterator");

/// The number types, as they end numbers that say their type.
pub(super) const NUMBERS: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];
/// In place of the type of a number that may be of any integer type.
pub(super) const INTEGER: &str = "int";
/// In place of the type of a number that may be of any floating-point type.
pub(super) const FLOAT: &str = "float";

/// Whether a value of one type of the language may be one of another: a number that does not say its type.
pub(super) fn may_be(of: Name, other: Name) -> bool {
    let is_one = |types: &[&str]| types.iter().any(|one| Name::of(one) == other);
    let (integers, floats) = NUMBERS.split_at(12);
    of == other || of == Name::of(INTEGER) && is_one(integers) || of == Name::of(FLOAT) && is_one(floats)
}

const POINTERS: [&str; 22] = [
    "Box",
    "Rc",
    "Arc",
    "Ref",
    "RefMut",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Cow",
    "Pin",
    "ManuallyDrop",
    "Weak",
    "Lazy",
    "LazyLock",
    "LazyCell",
    "Saturating",
    "Wrapping",
    "NonNull",
    "AssertUnwindSafe",
    "CachePadded",
    "Reverse",
    "OnceCell",
];
/// Their contents are reached through a method.
const CELLS: [&str; 8] =
    ["Mutex", "RwLock", "RefCell", "Cell", "OnceLock", "UnsafeCell", "AtomicPtr", "OnceCell"];
const LISTS: [&str; 12] = [
    "[]",
    "Vec",
    "VecDeque",
    "HashSet",
    "BTreeSet",
    "BinaryHeap",
    "LinkedList",
    "SmallVec",
    "ArrayVec",
    "IndexSet",
    "Iter",
    "IntoIter",
];
const ITERATORS: [&str; 6] =
    ["Iterator", "IntoIterator", "DoubleEndedIterator", "ExactSizeIterator", "Peekable", "ParallelIterator"];
const MAPS: [&str; 4] = ["HashMap", "BTreeMap", "IndexMap", "DashMap"];

/// Bare names that every module sees.
pub(super) const PRELUDE: &[&str] = &[
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Box",
    "Vec",
    "String",
    "ToString",
    "ToOwned",
    "Clone",
    "Copy",
    "Send",
    "Sync",
    "Sized",
    "Drop",
    "Fn",
    "FnMut",
    "FnOnce",
    "AsRef",
    "AsMut",
    "Into",
    "From",
    "Default",
    "Iterator",
    "Extend",
    "IntoIterator",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "Eq",
    "PartialEq",
    "Ord",
    "PartialOrd",
    "Debug",
    "Hash",
    "TryFrom",
    "TryInto",
    "FromIterator",
    "Unpin",
    "drop",
    "std",
    "core",
    "alloc",
    "proc_macro",
    "bool",
    "char",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i32",
    "i64",
    "isize",
    "f32",
    "f64",
];

/// Methods that types of the standard library commonly have.
pub(super) const COMMON: &[&str] = &[
    "abs",
    "add",
    "all",
    "and_then",
    "any",
    "append",
    "apply",
    "as_bytes",
    "as_deref",
    "as_mut",
    "as_os_str",
    "as_path",
    "as_ptr",
    "as_ref",
    "as_slice",
    "as_str",
    "borrow",
    "borrow_mut",
    "build",
    "by_ref",
    "bytes",
    "ceil",
    "chain",
    "chars",
    "chunks",
    "clear",
    "clone",
    "cloned",
    "cmp",
    "code",
    "collect",
    "concat",
    "contains",
    "contains_key",
    "copied",
    "count",
    "current_dir",
    "dedup",
    "deref",
    "display",
    "drain",
    "drop",
    "elapsed",
    "ends_with",
    "entry",
    "enumerate",
    "env",
    "eq",
    "err",
    "exists",
    "expect",
    "extend",
    "file_name",
    "file_type",
    "fill",
    "filter",
    "filter_map",
    "find",
    "first",
    "flat_map",
    "flatten",
    "flush",
    "fmt",
    "fold",
    "for_each",
    "from",
    "get",
    "get_mut",
    "hash",
    "id",
    "index",
    "insert",
    "into",
    "into_inner",
    "into_iter",
    "is_dir",
    "is_empty",
    "is_err",
    "is_file",
    "is_none",
    "is_ok",
    "is_some",
    "iter",
    "iter_mut",
    "join",
    "keys",
    "kill",
    "kind",
    "last",
    "len",
    "len_utf8",
    "lines",
    "load",
    "lock",
    "map",
    "map_err",
    "max",
    "metadata",
    "min",
    "name",
    "ne",
    "next",
    "nth",
    "ok",
    "ok_or",
    "open",
    "or_else",
    "or_insert",
    "parent",
    "parse",
    "partial_cmp",
    "path",
    "peek",
    "pop",
    "position",
    "push",
    "push_str",
    "read",
    "read_line",
    "recv",
    "remove",
    "replace",
    "resize",
    "retain",
    "rev",
    "send",
    "set",
    "skip",
    "sort",
    "spawn",
    "split",
    "split_at",
    "starts_with",
    "status",
    "step_by",
    "store",
    "sum",
    "swap",
    "take",
    "to_owned",
    "to_string",
    "trim",
    "truncate",
    "unwrap",
    "unwrap_or",
    "values",
    "wait",
    "windows",
    "wrap",
    "write",
    "write_all",
    "write_str",
    "zip",
];

fn is(name: Name, words: &[&str]) -> bool {
    words.iter().any(|word| Name::of(word) == name)
}

/// The type whose members a pointer type also has.
pub(super) fn stands_for(query: &Query<'_>, of: Type) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    is(name, &POINTERS).then(|| query.arguments(of).first().copied()).flatten()
}

/// What iterating over a type of the library gives.
pub(super) fn element(query: &Query<'_>, of: Type) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    let arguments = query.arguments(of);
    if is(name, &MAPS) && arguments.len() >= 2 {
        return Some(query.external(builtin::TUPLE, &arguments[..2]));
    }
    if is(name, &POINTERS) {
        return arguments.first().and_then(|&inner| element(query, inner));
    }
    let holds = is(name, &LISTS) || is(name, &ITERATORS) || name == OPTION;
    holds.then(|| arguments.first().copied()).flatten()
}

/// What indexing a type of the library gives.
pub(super) fn index(query: &Query<'_>, of: Type) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    let arguments = query.arguments(of);
    if is(name, &MAPS) {
        return arguments.get(1).copied();
    }
    if is(name, &POINTERS) {
        return arguments.first().and_then(|&inner| index(query, inner));
    }
    is(name, &LISTS).then(|| arguments.first().copied()).flatten()
}

/// What `?` gives.
pub(super) fn tried(query: &Query<'_>, of: Type) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    let unwraps = name == OPTION || name == RESULT || is(name, &["Poll", "ControlFlow"]);
    unwraps.then(|| query.arguments(of).first().copied()).flatten()
}

/// What awaiting a type of the library gives.
pub(super) fn awaited(query: &Query<'_>, of: Type) -> Option<Type> {
    let Shape::External(name) = query.shape(of) else { return None };
    let arguments = query.arguments(of);
    if is(name, &POINTERS) {
        return arguments.first().and_then(|&inner| awaited(query, inner));
    }
    if name == Name::of("JoinHandle") {
        return arguments.first().map(|&inner| query.external(RESULT, &[inner]));
    }
    let waits = is(name, &["Future", "IntoFuture", "BoxFuture", "LocalBoxFuture", "await"]);
    waits.then(|| arguments.first().copied()).flatten()
}

/// What calling a name of the library gives: constructors wrap their argument.
pub(super) fn call(query: &Query<'_>, callee: Type, arguments: &[Type]) -> Option<Type> {
    let Shape::External(name) = query.shape(callee) else { return None };
    let first = arguments.first().copied().unwrap_or(Type::UNKNOWN);
    if name == Name::of("Some") {
        return Some(query.external(OPTION, &[first]));
    }
    if name == Name::of("Ok") {
        return Some(query.external(RESULT, &[first]));
    }
    if name == Name::of("Err") {
        return Some(query.external(RESULT, &[Type::UNKNOWN, first]));
    }
    if name != builtin::FUNCTION {
        return None;
    }
    let result = query.arguments(callee).first().copied()?;
    let Shape::External(special) = query.shape(result) else { return None };
    let closure = arguments.iter().copied().find(|&argument| {
        matches!(query.shape(argument), Shape::Function(_) | Shape::Class(_) | Shape::External(_))
    });
    let returned = || -> Type {
        let Some(closure) = closure else { return Type::UNKNOWN };
        match query.shape(closure) {
            Shape::Function(def) => query.return_type(def),
            Shape::Class(def) => query.instance_of(def),
            _ => Type::UNKNOWN,
        }
    };
    let wrapper = query.arguments(result).first().copied();
    if special == MAPPED {
        let wrapper = query.shape(wrapper?);
        let rest = query.arguments(query.arguments(result)[0]);
        let mut all = vec![returned()];
        all.extend(rest.iter().skip(1).copied());
        return Some(query.make(wrapper, &all));
    }
    if special == CHAINED {
        return Some(match returned() {
            Type::UNKNOWN => wrapper.unwrap_or(Type::UNKNOWN),
            known => known,
        });
    }
    if special == Name::of("wrapped") {
        return Some(query.make(query.shape(wrapper?), &[first]));
    }
    None
}

/// The type of a member of any type that is not declared in the tree.
pub(super) fn member(query: &Query<'_>, receiver: Type, name: Name) -> Option<Type> {
    let function = |result: Type, parameters: &[Type]| {
        let mut all = vec![result];
        all.extend_from_slice(parameters);
        Some(query.external(builtin::FUNCTION, &all))
    };
    let closure = |parameters: &[Type]| {
        let mut all = vec![Type::UNKNOWN];
        all.extend_from_slice(parameters);
        query.external(builtin::FUNCTION, &all)
    };
    let one_of = |words: &[&str]| is(name, words);
    let keeps = [
        "clone",
        "to_owned",
        "as_ref",
        "as_mut",
        "borrow",
        "borrow_mut",
        "by_ref",
        "as_deref",
        "as_deref_mut",
        "cloned",
        "copied",
        "to_vec",
        "into_owned",
        "as_slice",
        "as_mut_slice",
        "rev",
        "iter_ref",
        "into_boxed_slice",
        "deref",
        "deref_mut",
        "to_mut",
        "get_ref",
        "or",
        "or_else",
        "map_err",
        "chain",
        "skip",
        "take_while",
        "skip_while",
        "step_by",
        "peekable",
        "fuse",
        "inspect",
        "filter",
        "with_context",
        "context",
        "xor",
    ];
    let Shape::External(of) = query.shape(receiver) else {
        // Traits of the library make values of a type in well-known ways.
        if let Shape::Class(def) = query.shape(receiver) {
            let made = query.instance_of(def);
            if one_of(&["default", "from", "from_iter"]) {
                return function(made, &[]);
            }
            if one_of(&["try_from", "from_str"]) {
                return function(query.external(RESULT, &[made]), &[]);
            }
        }
        // What every type may have.
        return if one_of(&keeps[..15]) { function(receiver, &[]) } else { None };
    };
    let arguments = query.arguments(receiver);
    let first = arguments.first().copied().unwrap_or(Type::UNKNOWN);
    if one_of(&["new", "with_capacity", "from", "default", "from_iter", "pin"]) {
        if is(of, &POINTERS) || is(of, &CELLS) {
            let wrapped = query.external(Name::of("wrapped"), &[query.external(of, &[])]);
            return function(wrapped, &[]);
        }
        return function(receiver, &[]);
    }
    if (is(of, &POINTERS) || is(of, &CELLS)) && first != Type::UNKNOWN {
        let locks = one_of(&[
            "lock",
            "read",
            "write",
            "borrow",
            "borrow_mut",
            "get_mut",
            "into_inner",
            "get",
            "load",
        ]);
        if locks && is(of, &CELLS) {
            let fails = is(of, &["Mutex", "RwLock"]);
            let inner = if fails { query.external(RESULT, &[first]) } else { first };
            return function(inner, &[]);
        }
        // A pointer to a cell locks what it points to.
        if locks && matches!(query.shape(first), Shape::External(inner) if is(inner, &CELLS)) {
            return member(query, first, name);
        }
        if one_of(&["upgrade"]) {
            return function(query.external(OPTION, &[receiver]), &[]);
        }
        if one_of(&keeps) {
            return function(receiver, &[]);
        }
        return member(query, first, name);
    }
    if one_of(&keeps) {
        let takes = element(query, receiver).or_else(|| tried(query, receiver)).unwrap_or(Type::UNKNOWN);
        return function(receiver, &[closure(&[takes])]);
    }
    if of == OPTION || of == RESULT {
        let second = arguments.get(1).copied().unwrap_or(Type::UNKNOWN);
        let unwraps = [
            "unwrap",
            "expect",
            "unwrap_or",
            "unwrap_or_else",
            "unwrap_or_default",
            "get_or_insert_with",
            "get_or_insert",
            "insert",
            "unwrap_unchecked",
        ];
        if one_of(&unwraps) {
            return function(first, &[]);
        }
        if one_of(&["ok", "take", "replace", "filter"]) {
            return function(query.external(OPTION, &[first]), &[closure(&[first])]);
        }
        if one_of(&["err"]) {
            return function(query.external(OPTION, &[second]), &[]);
        }
        if one_of(&["unwrap_err", "expect_err"]) {
            return function(second, &[]);
        }
        if one_of(&["ok_or", "ok_or_else"]) {
            return function(query.external(RESULT, &[first]), &[]);
        }
        if one_of(&["map"]) {
            return function(query.external(MAPPED, &[receiver]), &[closure(&[first])]);
        }
        if one_of(&["and_then"]) {
            return function(query.external(CHAINED, &[Type::UNKNOWN]), &[closure(&[first])]);
        }
        if one_of(&["map_or", "map_or_else"]) {
            let result = query.external(CHAINED, &[Type::UNKNOWN]);
            return function(result, &[Type::UNKNOWN, closure(&[first])]);
        }
        if one_of(&["is_some_and", "is_ok_and", "is_none_or"]) {
            return function(Type::EXTERNAL, &[closure(&[first])]);
        }
        if one_of(&["iter", "iter_mut", "into_iter"]) {
            return function(query.external(ITERATOR, &[first]), &[]);
        }
    }
    if is(of, &MAPS) && arguments.len() >= 2 {
        let value = arguments[1];
        let option = query.external(OPTION, &[value]);
        if one_of(&["get", "get_mut", "remove", "insert", "pop"]) {
            return function(option, &[]);
        }
        if one_of(&["values", "values_mut", "into_values"]) {
            return function(query.external(ITERATOR, &[value]), &[]);
        }
        if one_of(&["keys", "into_keys"]) {
            return function(query.external(ITERATOR, &[first]), &[]);
        }
        if one_of(&["entry"]) {
            return function(query.external(Name::of("Entry"), &[value]), &[]);
        }
    }
    if of == Name::of("Entry") && one_of(&["or_insert", "or_insert_with", "or_default", "and_modify"]) {
        return function(first, &[closure(&[first])]);
    }
    if let Some(element) = element(query, receiver) {
        let option = query.external(OPTION, &[element]);
        let iterator = query.external(ITERATOR, &[element]);
        if one_of(&["iter", "iter_mut", "into_iter", "drain", "values", "par_iter"]) {
            return function(iterator, &[]);
        }
        let finds = [
            "next",
            "last",
            "first",
            "first_mut",
            "last_mut",
            "get",
            "get_mut",
            "pop",
            "nth",
            "find",
            "peek",
            "pop_front",
            "pop_back",
            "front",
            "back",
            "next_back",
            "max_by_key",
            "min_by_key",
            "max",
            "min",
            "choose",
        ];
        if one_of(&finds) {
            return function(option, &[closure(&[element])]);
        }
        if one_of(&["map"]) {
            return function(query.external(MAPPED, &[iterator]), &[closure(&[element])]);
        }
        if one_of(&["for_each", "any", "all", "position", "retain", "partition", "sort_by_key", "retain_mut"])
        {
            return function(Type::EXTERNAL, &[closure(&[element])]);
        }
        if one_of(&["sort_by", "max_by", "min_by"]) {
            return function(option, &[closure(&[element, element])]);
        }
        if one_of(&["filter_map", "flat_map"]) {
            let result = query.external(Name::of("unwrapped"), &[]);
            return function(
                query.external(MAPPED, &[query.external(ITERATOR, &[result])]),
                &[closure(&[element])],
            );
        }
        if one_of(&["enumerate"]) {
            let pair = query.external(builtin::TUPLE, &[Type::EXTERNAL, element]);
            return function(query.external(ITERATOR, &[pair]), &[]);
        }
        if one_of(&["fold"]) {
            return function(Type::UNKNOWN, &[Type::UNKNOWN, closure(&[Type::UNKNOWN, element])]);
        }
        if one_of(&["collect", "swap_remove", "remove"]) {
            let result = if one_of(&["collect"]) { iterator } else { element };
            return function(result, &[]);
        }
    }
    None
}
