//! What tools ask about code, and the plain answers: symbols, references, maps, imports. The engine that knows them is
//! implemented elsewhere; core neither parses nor indexes.
//!
//! Lines and columns count from 1, columns in characters (Unicode scalar values; a byte order mark is none). Files are display names of the workspace.

mod diagnostics;

pub use diagnostics::{CodeError, Diagnosis, Diagnostics, DiagnosticsService, NewErrors, TextChange};

use crate::context::Context;
use crate::error::ToolError;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// A list, and whether it has all there is.
pub type Answer<T> = Result<(Vec<T>, Coverage), ToolError>;

/// Answers questions about the code of a workspace. Implemented in the joining crate over `toolpost-code`, and by fakes in
/// tests; called by tools.
///
/// Every method blocks, for long where an index is not ready (see [`Context::blocking_in_pool`]), and asks [`Context::checkpoint`] of its inquiry often enough to end with the call. No answer has
/// anything of a file that [`Inquiry::shows`] denies. An answer that may lack something says so in its [`Coverage`].
pub trait CodeEngine: Send + Sync {
    /// The symbols whose names are like the query, the best first.
    fn symbols(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Symbol>;

    /// The places where code has the structure of a pattern with `$X` metavariables.
    fn matches(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Match>;

    /// The most important symbols of the files at or below a path, at most `query.limit`, the most important first.
    /// Symbols and files that `focus` names, and what they use, come earlier.
    fn map(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery, focus: &[String]) -> Answer<Symbol>;

    /// All that is known of the symbols that a target may mean, the likeliest first.
    fn describe(&self, inquiry: &Inquiry<'_>, target: &Target) -> Answer<Description>;

    /// What a file imports and exports.
    fn links(&self, inquiry: &Inquiry<'_>, file: &str) -> Result<Links, ToolError>;

    /// Which files at or below a path depend on which.
    fn dependencies(&self, inquiry: &Inquiry<'_>, path: &str) -> Result<Dependencies, ToolError>;

    /// What a name means at a place.
    fn resolve(&self, inquiry: &Inquiry<'_>, target: &Target) -> Result<Resolution, ToolError>;

    /// Every place that refers to a symbol.
    fn references(&self, inquiry: &Inquiry<'_>, target: &Target) -> Result<References, ToolError>;

    /// What should be said first: that much of the code at or below a path is in languages that are not read, and which.
    /// As of the last question.
    fn unread(&self, _path: &str) -> Option<String> {
        None
    }

    /// Files of code, and folders, that no answer has because the policy of the workspace keeps them from everybody, as
    /// of the last question. Tools count them and name none.
    fn held_back(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Whether the text of a file parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// It does.
    Whole,
    /// It does not; the first line, counting from 1, where that shows.
    BrokenAt(usize),
    /// The kind of the file is not known, or the text is too large to tell.
    Unknown,
}

/// Tells whether files parse. Implemented in the joining crate over `toolpost-code`, and by fakes in tests; asked by tools that
/// change files, as a [`SyntaxCheck`] in the extras of their context. Without one, they check nothing.
pub trait Syntax: Send + Sync {
    /// Judges the text of a file of this name, within milliseconds for an ordinary one.
    fn parsed(&self, name: &str, text: &str) -> Parsed;
}

/// How changes of files are checked, in the extras of a context.
#[derive(Clone)]
pub struct SyntaxCheck {
    /// What knows the languages.
    pub syntax: Arc<dyn Syntax>,
    /// What becomes of an exact change after which a file that parsed does not. One that overlooks something is refused.
    pub exact: BrokenBy,
}

/// What becomes of a change that breaks a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenBy {
    /// It is made, and the result says so.
    Reported,
    /// It is refused.
    Refused,
}

impl fmt::Debug for SyntaxCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyntaxCheck").field("exact", &self.exact).finish_non_exhaustive()
    }
}

/// On whose behalf the engine is asked.
pub struct Inquiry<'a> {
    /// The running call: its time, and who hears of progress.
    pub ctx: &'a Context,
    /// Whether anything of the file of this name may be in the answer.
    pub shows: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

/// How sure an answer is, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Confidence {
    /// By scope, import, path or the type itself.
    Exact,
    /// By the inferred type of the receiver.
    Typed,
    /// Through a base, an interface or a trait.
    Dispatch,
    /// The receiver is unknown, and only one member has this name.
    UniqueMember,
    /// One of several candidates.
    Possible,
}

/// Whether an answer has all there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coverage {
    /// Whether nothing is missing: all files are indexed, and nothing is unresolved.
    pub complete: bool,
    /// What is missing and why, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Which symbols or structures are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolQuery {
    /// A name or part of one; or a pattern.
    pub text: String,
    /// Only in files at or below this.
    pub path: String,
    /// Only symbols of this kind, such as `function`.
    pub kind: Option<String>,
    /// Only in this language, such as `python`.
    pub language: Option<String>,
    /// Maximum number of answers.
    pub limit: usize,
}

/// A symbol that is meant: by its name alone, or by a place where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Its name, which may be qualified: `Type.method`, `module::function`.
    pub symbol: String,
    /// The file that is looked at.
    pub file: Option<String>,
    /// The line of that file; without it, the definition in the file is meant.
    pub line: Option<u32>,
    /// The column of that line, in characters.
    pub column: Option<u32>,
    /// Only answers at or below this.
    pub path: Option<String>,
}

/// One definition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// Its name, without what contains it.
    pub name: String,
    /// `function`, `method`, `class`, `struct`, `constant` and so on.
    pub kind: String,
    /// The file.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// The column of its name.
    pub column: u32,
    /// The last line of its body.
    pub end_line: u32,
    /// The type, module or function that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Its declaration on one line, without the body.
    pub signature: String,
    /// Whether other files can use it.
    pub exported: bool,
}

/// A piece of code that has the structure of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// The file.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// The column where it begins.
    pub column: u32,
    /// Its last line.
    pub end_line: u32,
    /// What each metavariable stands for.
    pub captures: Vec<(String, String)>,
}

/// All that is known of a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// The definition.
    #[serde(flatten)]
    pub symbol: Symbol,
    /// Its documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// How its language says who can use it: `public`, `private`, `crate` and so on.
    pub visibility: String,
    /// What it contains.
    pub members: Vec<Symbol>,
    /// The files that use it, with the number of uses, most first.
    pub used_by: Vec<(String, u64)>,
}

/// What a file imports and exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Links {
    /// The imports in order.
    pub imports: Vec<Import>,
    /// The exports in order.
    pub exports: Vec<Export>,
    /// Whether these are all.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// One import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Import {
    /// What is imported, as written.
    pub module: String,
    /// The names that are taken from it; none for the whole module.
    pub names: Vec<String>,
    /// Its line.
    pub line: u32,
    /// The file it leads to; none for what is outside of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// One export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Export {
    /// The name that others use.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Its line.
    pub line: u32,
    /// Where it comes from, if it is only passed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Which files depend on which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependencies {
    /// Every file that was looked at.
    pub files: Vec<String>,
    /// `(from, to, count)`: a file that uses another, and how often.
    pub edges: Vec<(String, String, u64)>,
    /// Whether these are all.
    pub coverage: Coverage,
}

/// What a name means at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resolution {
    /// Its definition; none where it is outside of the workspace or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Symbol>,
    /// How sure that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Other definitions that it may mean, the likeliest first.
    pub candidates: Vec<Symbol>,
    /// What it means outside of the code that is searched, such as a package or a built-in. If the answer is not complete,
    /// it may be in code of the workspace that is not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
    /// Whether nothing is missing.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Every place that refers to a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct References {
    /// The symbols that were meant.
    pub definitions: Vec<Symbol>,
    /// The references that are resolved, by file and line.
    pub references: Vec<Reference>,
    /// Places with the name that may mean it: the receiver is unknown, or the code around is not understood.
    pub possible: Vec<Reference>,
    /// Whether nothing is missing.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// One reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reference {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column where the name begins, in characters.
    pub column: u32,
    /// `definition`, `import`, `name`, `member`, `key`, `argument`, or `unparsed` where the code around it is not understood.
    pub role: String,
    /// How sure it is.
    pub confidence: Confidence,
}
