//! The facts of one file: what it declares, every identifier in it, and how each is qualified. Flat arrays of small
//! numbers, so that a file's facts are cheap to keep, to write down and to read back. They are a function of the
//! file's bytes and language alone; nothing here knows of another file.

mod builder;
pub(crate) mod codec;
mod lookup;

pub use builder::Builder;
pub(crate) use builder::{NameMap, QuickMap};
pub use codec::{Damaged, decode, encode};

/// A bit of [`Facts::bits`]: the file has characters of more than one byte.
pub(crate) const WIDE: u32 = 1 << 30;

/// In place of an index: there is none.
pub const NONE: u32 = u32::MAX;

/// The target of a bare name that may mean anything, a member as well, where no scope binds it: a macro was given it.
pub const ANYTHING: u32 = 0;

/// A bit of [`Facts::bits`]: the file is found again by [`Name::NOTED`], without reading the facts of any other.
pub const NOTED: u32 = 1 << 31;

/// A name as a number: equal names have equal numbers in every file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name(pub u64);

impl Name {
    /// What a file that has the bit [`NOTED`] counts as naming; no identifier has this name.
    pub const NOTED: Name = Name::of("\0noted");

    /// The number of this text.
    #[must_use]
    pub const fn of(text: &str) -> Name {
        let bytes = text.as_bytes();
        let mut hash: u64 = 0x9e37_79b9_7f4a_7c15 ^ (bytes.len() as u64);
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            hash ^= hash >> 29;
            index += 1;
        }
        hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Name(hash ^ (hash >> 32))
    }
}

/// What a name can mean where it stands. A definition has one or more of them, a token asks for one or more.
pub mod space {
    /// Values: functions, variables, constants.
    pub const VALUE: u8 = 1;
    /// Types, and whatever may qualify a path.
    pub const TYPE: u8 = 2;
    /// Macros.
    pub const MACRO: u8 = 4;
    /// Labels, lifetimes.
    pub const LABEL: u8 = 8;
    /// Members that are there to be called, where a language lets a field and a method share a name.
    pub const CALLED: u8 = 16;
    /// Everything but labels.
    pub const ANY: u8 = 23;
}

/// What a definition is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Union,
    Interface,
    Trait,
    Alias,
    TypeParameter,
    Variable,
    Constant,
    Parameter,
    Field,
    Variant,
    Module,
    Import,
    Macro,
    Label,
    /// A block that adds members to a type which is declared elsewhere; its `declared` is that type.
    Impl,
    /// A type without a name: the type of a literal, an inline structure.
    Anonymous,
}

impl Kind {
    /// Every kind, by its number.
    pub const ALL: [Kind; 21] = [
        Kind::Function,
        Kind::Method,
        Kind::Class,
        Kind::Struct,
        Kind::Enum,
        Kind::Union,
        Kind::Interface,
        Kind::Trait,
        Kind::Alias,
        Kind::TypeParameter,
        Kind::Variable,
        Kind::Constant,
        Kind::Parameter,
        Kind::Field,
        Kind::Variant,
        Kind::Module,
        Kind::Import,
        Kind::Macro,
        Kind::Label,
        Kind::Impl,
        Kind::Anonymous,
    ];

    /// Whether instances of it have members.
    #[must_use]
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Kind::Class
                | Kind::Struct
                | Kind::Enum
                | Kind::Union
                | Kind::Interface
                | Kind::Trait
                | Kind::Alias
                | Kind::Anonymous
        )
    }

    /// Whether it can be called as what it is.
    #[must_use]
    pub fn is_function(self) -> bool {
        matches!(self, Kind::Function | Kind::Method)
    }
}

/// Marks of a definition.
pub mod mark {
    /// Seen outside of its file, as far as the language says so at the definition.
    pub const PUBLIC: u16 = 1;
    /// Belongs to the type itself, not to its instances.
    pub const STATIC: u16 = 2;
    /// Has no body of its own.
    pub const ABSTRACT: u16 = 4;
    /// Calling it gives something to be awaited.
    pub const ASYNC: u16 = 8;
    /// Read like a field, although it is a method.
    pub const PROPERTY: u16 = 16;
    /// Takes the rest of the arguments.
    pub const REST: u16 = 32;
    /// Another name for a type, not a type of its own.
    pub const TRANSPARENT: u16 = 64;
    /// Gives a member or base to its owner which is not written as one (embedding).
    pub const EMBEDDED: u16 = 128;
    /// Gives its values one by one.
    pub const GENERATOR: u16 = 256;
    /// The parameter that takes the object a method is called on.
    pub const RECEIVER: u16 = 512;
    /// Replaced by what other functions make of it; the language is asked for its type.
    pub const WRAPPED: u16 = 1024;
    /// Free for the language's own use.
    pub const OWN_A: u16 = 1 << 12;
    /// Free for the language's own use.
    pub const OWN_B: u16 = 1 << 13;
    /// Free for the language's own use.
    pub const OWN_C: u16 = 1 << 14;
}

/// What a scope belongs to, which decides who looks into it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum ScopeKind {
    /// The whole file, or a module inside of it: names do not reach further out than this lexically.
    Module,
    /// Seen only by what stands directly in it, not by functions inside of it.
    Class,
    /// A function's parameters and body.
    Function,
    /// Any other block.
    Block,
}

/// A stretch of the file in which names are bound.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The scope around it.
    pub parent: u32,
    /// Who looks into it.
    pub kind: ScopeKind,
    /// The definition whose inside it is.
    pub owner: u32,
    /// Its first byte.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
}

/// A definition.
#[derive(Clone, Copy, Debug)]
pub struct Def {
    /// Index of its name.
    pub name: u32,
    /// What it is.
    pub kind: Kind,
    /// What its name can mean: bits of [`space`].
    pub space: u8,
    /// Bits of [`mark`].
    pub marks: u16,
    /// Where its name is bound; none for members, which are reached through their owner.
    pub scope: u32,
    /// The definition it is part of: the type of a member, the function of a parameter.
    pub owner: u32,
    /// The definition whose symbol it shares: the first of several declarations of one thing; itself otherwise.
    pub same: u32,
    /// Where its name stands.
    pub name_start: u32,
    /// First byte of the whole.
    pub start: u32,
    /// The byte after the whole.
    pub end: u32,
    /// Where its body begins: what stands before is its signature.
    pub body: u32,
    /// Names before this byte do not mean it; 0 if it is seen in its whole scope.
    pub visible: u32,
    /// The type it is declared with; of a function what it returns, of an alias what it stands for.
    pub declared: u32,
    /// The value it is made from; of a function what its body returns.
    pub value: u32,
}

/// How an identifier is used.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Role {
    /// The name of a definition; `target` is the definition.
    Declaration,
    /// A name looked up in the scopes around it.
    Bare,
    /// A member of what `target`, an expression, is.
    Member,
    /// A key of a literal of the type that `target`, an expression, has.
    Key,
    /// The name of an argument of the call of `target`, an expression.
    Keyword,
    /// A name that an import brings in; `target` is the import.
    Import,
    /// A label; looked up like a bare name among labels.
    Label,
    /// An identifier of which nothing is known.
    Loose,
}

/// An identifier.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Index of its name.
    pub name: u32,
    /// Its first byte.
    pub start: u32,
    /// The scope it stands in.
    pub scope: u32,
    /// How it is used.
    pub role: Role,
    /// What it may mean: bits of [`space`].
    pub space: u8,
    /// What its role says: a definition, an expression, an import.
    pub target: u32,
}

/// Something brought in from another module.
#[derive(Clone, Copy, Debug)]
pub struct Import {
    /// The definition that binds it here, if it binds one name.
    pub def: u32,
    /// Where it is bound.
    pub scope: u32,
    /// Index of the text that names the module, or none if `path` does.
    pub module: u32,
    /// Index of the name it has there, or none for the module itself.
    pub name: u32,
    /// The expression that leads to it, where a language writes imports as paths.
    pub path: u32,
    /// Bits of [`import`].
    pub marks: u16,
    /// Where it stands.
    pub start: u32,
}

/// Marks of an import.
pub mod import {
    /// Every name of the module.
    pub const GLOB: u16 = 1;
    /// Handed on to whoever imports this file.
    pub const EXPORTED: u16 = 2;
    /// The default export.
    pub const DEFAULT: u16 = 4;
    /// Types only.
    pub const TYPES: u16 = 8;
    /// Run for its effect.
    pub const EFFECT: u16 = 16;
    /// A part of the path of another import, on the way to it.
    pub const PART: u16 = 32;
    /// Free for the language's own use.
    pub const OWN: u16 = 1 << 12;
}

/// Something handed out under a name, where a language says so apart from the definition.
#[derive(Clone, Copy, Debug)]
pub struct Export {
    /// Index of the name it has outside.
    pub name: u32,
    /// What is exported.
    pub value: u32,
    /// The import it hands on, if it does.
    pub import: u32,
}

/// A type that another inherits from, implements or embeds.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// The type that has it.
    pub def: u32,
    /// The base, a type expression.
    pub base: u32,
}

/// What an expression does with its operands. Types and values share one form; where a value is needed, a type
/// expression is wrapped in `Value`, and the other way around in `TypeOf`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Op {
    /// What token `a` means.
    Token,
    /// Calls `a` with the list `b`.
    Call,
    /// Makes an instance of type `a` with the list `b`.
    New,
    /// An element of `a`, by an index `b` or none.
    Index,
    /// Each element of `a` in turn.
    Element,
    /// Each key or position of `a` in turn.
    Key,
    /// What `a` gives once awaited.
    Await,
    /// What `a` gives unless it fails.
    Try,
    /// What `a` gives when it is entered as a context.
    Enter,
    /// What `a` points to.
    Deref,
    /// A type of the language itself: name `a`, arguments the list `b`.
    Builtin,
    /// Element number `b` of the tuple `a`.
    At,
    /// One of the list `a`.
    Either,
    /// Generic `a` with the list `b` for its parameters.
    Apply,
    /// The function `a`, a definition without a name.
    Closure,
    /// The object that the code in scope `a` belongs to.
    This,
    /// The type that the code in scope `a` belongs to.
    ThisType,
    /// The bases of the type that the code in scope `a` belongs to.
    Super,
    /// A value of type `a`.
    Value,
    /// The type of value `a`.
    TypeOf,
    /// The type without a name `a`, a definition.
    Anonymous,
    /// Parameter number `b` of the function that the expression `a` expects; `a` is `Argument`.
    Parameter,
    /// What argument number `b` of the call `a` should be.
    Argument,
    /// What a value in the place of key `b`, a token, should be.
    KeyType,
    /// Unknown.
    Unknown,
    /// For the language itself, which is asked.
    Own,
    /// For the language itself, which is asked.
    OwnOther,
}

/// One step of the tiny language in which the types of values are written down.
#[derive(Clone, Copy, Debug)]
pub struct Expr {
    /// What it does.
    pub op: Op,
    /// First operand.
    pub a: u32,
    /// Second operand.
    pub b: u32,
}

/// Everything known of one file by itself.
#[derive(Debug, Default)]
pub struct Facts {
    /// The language's own remarks on the file: its package, whether the host would build it.
    pub remark: u32,
    /// Bits of the language's own, apart from the two highest.
    pub bits: u32,
    /// Whether the parser met errors.
    pub has_errors: bool,
    /// The line of the first of them, from 1; 0 if there are none.
    pub error_line: u32,
    /// Texts, one after another.
    pub(crate) text: String,
    /// Where each text ends.
    pub(crate) ends: Vec<u32>,
    /// The number of each text.
    pub(crate) numbers: Vec<Name>,
    /// Where each line begins.
    pub lines: Vec<u32>,
    /// Scopes; the first is the file.
    pub scopes: Vec<Scope>,
    /// Definitions, in the order they stand.
    pub defs: Vec<Def>,
    /// Identifiers, by where they stand.
    pub tokens: Vec<Token>,
    /// Imports.
    pub imports: Vec<Import>,
    /// Exports that stand apart.
    pub exports: Vec<Export>,
    /// Bases, by type.
    pub bases: Vec<Base>,
    /// Expressions.
    pub exprs: Vec<Expr>,
    /// Lists that expressions refer to: their length, then their members.
    pub lists: Vec<u32>,
    /// Definitions that have a scope, sorted by scope, name and place.
    pub(crate) bound: Vec<u32>,
    /// Definitions that have an owner, sorted by it.
    pub(crate) owned: Vec<u32>,
}
