//! What a language brings: how its files are read into facts, and how names lead from one file to another.
#![doc = include_str!("language.md")]

use tree_sitter::{Node, Tree};

use crate::facts::{Builder, Facts, Name};
use crate::resolve::{DefId, Entity, Module, Query, Type};
use crate::world::FileId;

/// A language: one type per language, listed in `languages.rs`. It is asked for facts while files are indexed, and for
/// a project once the files are known.
pub trait Language: Send + Sync {
    /// Its name, as people write it, in lower case.
    fn name(&self) -> &'static str;

    /// How the names of its files end, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The grammar for a file.
    fn grammar(&self, path: &str) -> tree_sitter::Language;

    /// The text of a file which the grammar could not read, changed so that it can: as long as it was, every name
    /// where it was. None if nothing helps.
    fn repaired(&self, _path: &str, _source: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether what the grammar calls an error, a node that is an error or missing, is valid in the language.
    fn is_valid(&self, _error: Node<'_>) -> bool {
        false
    }

    /// Writes the facts of a file. It sees nothing but the tree and the bytes (`builder.source`), and never fails:
    /// what it cannot make sense of it leaves out.
    fn extract(&self, path: &str, tree: &Tree, builder: &mut Builder<'_>);

    /// What may stand around a piece of code to make it a file: tried in order until the whole is valid.
    fn pattern_contexts(&self) -> &'static [(&'static str, &'static str)] {
        &[("", "")]
    }

    /// Names of files (not paths) that say how modules are found, such as manifests of packages.
    fn manifests(&self) -> &'static [&'static str] {
        &[]
    }

    /// How the files of this language in one tree hang together.
    fn project(&self, layout: &Layout<'_>) -> Box<dyn Project>;
}

/// The files that a project is made from.
pub struct Layout<'a> {
    /// The files of the language, with their paths, sorted by path.
    pub files: &'a [(FileId, &'a str)],
    /// The manifests that the language asked for: path and content.
    pub manifests: &'a [(String, Vec<u8>)],
}

/// How the files of one language hang together: linking, and what the language itself knows of its types. Every method
/// with a body has the answer of a language that has no such thing.
///
/// A method may ask the query anything; questions that lead in a circle are answered with nothing.
pub trait Project: Send + Sync {
    /// A file of the project has other facts from now on. What was remembered of its facts must be forgotten; new and removed
    /// files make a new project.
    fn changed(&mut self, _file: FileId, _facts: &Facts) {}

    /// Where an import leads. Nothing if that is unknown, [`Entity::External`] if it leads out of the tree.
    fn import(&self, query: &Query<'_>, file: FileId, import: u32) -> Vec<Entity>;

    /// What a name means that no scope up to the nearest module binds.
    fn outer(&self, query: &Query<'_>, place: Place, name: Name, space: u8) -> Vec<Entity>;

    /// What a name means in a module.
    fn module_member(&self, query: &Query<'_>, module: Module, name: Name, space: u8) -> Vec<Entity>;

    /// Whether a use of an imported name means what was imported (and not the import itself).
    fn sees_through_imports(&self) -> bool {
        true
    }

    /// Members that a type, of the tree or not, has from places other than its own definition and its bases: methods
    /// declared apart. Only types that may have such are asked for.
    fn detached_members(&self, _query: &Query<'_>, _of: Type, _name: Name) -> Vec<DefId> {
        Vec::new()
    }

    /// The type whose members a type also has because it stands for it or is made from it: what a smart pointer
    /// points to, what `Partial<T>` is made from.
    fn stands_for(&self, _query: &Query<'_>, _of: Type) -> Option<Type> {
        None
    }

    /// Bases that a type has from places other than its own definition.
    fn detached_bases(&self, _query: &Query<'_>, _owner: DefId) -> Vec<Type> {
        Vec::new()
    }

    /// The other definitions that a reference to this one may mean at run time, or that mean it: what it overrides,
    /// implements, what overrides it. The definition itself need not be among them.
    fn family(&self, _query: &Query<'_>, _def: DefId) -> Vec<DefId> {
        Vec::new()
    }

    /// A word of the language that may stand for a definition in the files that name it: `Self` for a type.
    fn other_name(&self, _query: &Query<'_>, _def: DefId) -> Option<Name> {
        None
    }

    /// Whether a file can contain a use of a definition at all. A wrong `true` costs time, a wrong `false` an answer.
    fn may_see(&self, _query: &Query<'_>, _file: FileId, _def: DefId) -> bool {
        true
    }

    /// Whether an import can lead to itself, as in `use a::a`, where what it brings in is what the name means outside.
    fn may_import_itself(&self) -> bool {
        true
    }

    /// Whether several definitions of one symbol are alternatives, of which a build has one: each is a use of the others.
    fn has_alternatives(&self) -> bool {
        false
    }

    /// Whether the declarations of the other members of a family count as uses of one of them.
    fn counts_family_declarations(&self) -> bool {
        false
    }

    /// The type of a member of a type that is not in the tree; the receiver is an external type with arguments.
    fn external_member(&self, _query: &Query<'_>, _receiver: Type, _name: Name) -> Option<Type> {
        None
    }

    /// What a call gives, where the general rules do not say.
    fn call(&self, _query: &Query<'_>, _callee: Type, _arguments: &[Type]) -> Option<Type> {
        None
    }

    /// What a call gives where the function says that it gives the type that it is called on: `callee` is the expression
    /// that is called, `plain` what the function gives of the type that it is declared in.
    fn rebound(&self, _query: &Query<'_>, _file: FileId, _callee: u32, plain: Type) -> Type {
        plain
    }

    /// What indexing, iterating, awaiting and so on give, where the general rules do not say.
    fn step(&self, _query: &Query<'_>, _step: Step, _of: Type) -> Option<Type> {
        None
    }

    /// What stands at a position of something that is no tuple.
    fn at(&self, _query: &Query<'_>, of: Type, index: u32) -> Option<Type> {
        (index == 0).then_some(of)
    }

    /// The function whose parameters a call of this type fills in: its constructor.
    fn constructor(&self, _query: &Query<'_>, _class: DefId) -> Option<DefId> {
        None
    }

    /// The type of a definition that says none itself, such as the first parameter of a method.
    fn implied_type(&self, _query: &Query<'_>, _def: DefId) -> Option<Type> {
        None
    }

    /// What other functions make of a function that has [`crate::facts::mark::WRAPPED`]; `plain` is its own type.
    fn decorated(&self, _query: &Query<'_>, _def: DefId, _plain: Type) -> Option<Type> {
        None
    }

    /// What the name of an argument means in a call of something that has no parameter of this name.
    fn keyword(&self, _query: &Query<'_>, _callee: Type, _name: Name) -> Vec<Entity> {
        Vec::new()
    }

    /// The type parameters of a definition, where they are not declared as parts of it.
    fn type_parameters(&self, _query: &Query<'_>, _def: DefId) -> Option<Vec<DefId>> {
        None
    }

    /// The value of an expression of the language's own: [`crate::facts::Op::Own`] and `OwnOther`.
    fn own_expression(&self, _query: &Query<'_>, _file: FileId, _expr: u32) -> Option<Type> {
        None
    }

    /// Whether types that are not in the tree commonly have a member of this name, so that a single member of this name
    /// in the tree need not be the one that is meant.
    fn is_common_member(&self, _name: &str) -> bool {
        false
    }

    /// Whether a value of a type that is not in the tree may be of any type: nothing says what it is, or it hands on
    /// whatever is asked of it.
    fn may_be_anything(&self, _query: &Query<'_>, of: Type) -> bool {
        of == Type::EXTERNAL
    }

    /// Whether types of the language itself have a member of this name, so that a value from outside that has it is
    /// taken for one of them.
    fn is_library_member(&self, name: &str) -> bool {
        self.is_common_member(name)
    }

    /// Whether values of a type have a member of this name only because every value has it, so that a type of the tree which
    /// has its own may be what is asked.
    fn is_root_member(&self, _query: &Query<'_>, _of: Type, _name: &str) -> bool {
        false
    }

    /// Whether a literal, an expression of a file, should be of a type that could not be found out, so that its keys may be
    /// members of any type.
    fn is_of_unknown_type(&self, _query: &Query<'_>, _file: FileId, _literal: u32) -> bool {
        false
    }

    /// Members that may be one with a member of another type, such as an attribute that a base and what inherits from it
    /// both set: whoever asks for uses of one is told of those of the others as possible.
    fn may_share(&self, _query: &Query<'_>, _def: DefId) -> Vec<DefId> {
        Vec::new()
    }

    /// Whether a function, by its name, is given names of arguments that it hands on to another or to a type.
    fn hands_on_keywords(&self, _callee: &str) -> bool {
        false
    }

    /// Whether a member is declared apart for types outside of the tree, so that a value of such a type has it although
    /// nothing is known of the type.
    fn is_lent(&self, _query: &Query<'_>, _def: DefId) -> bool {
        false
    }

    /// Whether what is known as a type may be another that does what it says: whoever implements an interface.
    fn may_be_another(&self, _query: &Query<'_>, _of: DefId) -> bool {
        false
    }

    /// The type outside of the tree that a literal should be of, if its type says so.
    fn outer_type(&self, _query: &Query<'_>, _literal: Type) -> Option<Name> {
        None
    }

    /// Which of several definitions of one name comes first: smaller is better.
    fn rank(&self, _query: &Query<'_>, _def: DefId) -> u32 {
        0
    }

    /// The file that a definition stands for: a module that is declared in one file and is another.
    fn file_of(&self, _query: &Query<'_>, _def: DefId) -> Option<FileId> {
        None
    }

    /// The name under which a file exports one value that is all of it, where a language has such.
    fn whole_export(&self) -> Option<Name> {
        None
    }

    /// The module that a file is, if a file is one.
    fn module_of(&self, _query: &Query<'_>, _file: FileId) -> Option<Module> {
        None
    }

    /// The name that a file gives to its module, where it says one.
    fn module_name<'q>(&self, _query: &Query<'q>, _file: FileId) -> Option<&'q str> {
        None
    }

    /// The file where a module is defined, for those who ask for a place.
    fn module_file(&self, _module: Module) -> Option<FileId> {
        None
    }
}

/// A place in a file from which a name is looked up.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The scope.
    pub scope: u32,
    /// The byte.
    pub at: u32,
}

/// A way from one type to another.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "as the operations of the same names")]
pub enum Step {
    Index,
    Element,
    Key,
    Await,
    Try,
    Enter,
    Deref,
}
