//! What the index knows, in core's words; and the texts of files, of which it keeps none.

use super::files::WorkspaceFiles;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use toolpost_code::answers::symbol::Symbol as Known;
use toolpost_code::facts::{Kind, Role};
use toolpost_code::files::Files;
use toolpost_code::resolve::Confidence as Found;
use toolpost_core::code::{Confidence, Symbol};

/// Bytes of texts that are held during one question.
const MOST_HELD: usize = 32 << 20;
/// Characters of a signature.
const MOST_SIGNATURE: usize = 300;

/// The texts of files, each read once for a question.
pub(super) struct Sources {
    files: Arc<WorkspaceFiles>,
    read: RefCell<(usize, HashMap<String, Rc<str>>)>,
}

impl Sources {
    pub(super) fn new(files: Arc<WorkspaceFiles>) -> Sources {
        Sources { files, read: RefCell::default() }
    }

    /// Files and folders with code that ignore files keep out of the index.
    pub(super) fn ignored(&self) -> Vec<String> {
        self.files.ignored()
    }

    /// Where texts come from.
    pub(super) fn files(&self) -> &WorkspaceFiles {
        &self.files
    }

    /// The text of a file; empty if it cannot be read. Bytes that are no UTF-8 are kept in number, so that places stay.
    pub(super) fn text(&self, path: &str) -> Rc<str> {
        if let Some(text) = self.read.borrow().1.get(path) {
            return Rc::clone(text);
        }
        let bytes = self.files.read(path).unwrap_or_default();
        let text: Rc<str> = match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => error
                .into_bytes()
                .iter()
                .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' })
                .collect::<String>()
                .into(),
        };
        let mut read = self.read.borrow_mut();
        if read.0 + text.len() > MOST_HELD {
            *read = Default::default();
        }
        read.0 += text.len();
        read.1.insert(path.to_owned(), Rc::clone(&text));
        text
    }
}

/// A definition in core's words, with its column in characters.
pub(super) fn shown(sources: &Sources, known: &Known, column: u32) -> Symbol {
    let text = sources.text(&known.path);
    let (start, end) = (known.signature.0 as usize, known.signature.1 as usize);
    // A file that has changed in this moment may have no such place any more.
    let signature = text.get(start..end).unwrap_or_default();
    Symbol {
        name: known.name.clone(),
        kind: kind_of(known.kind).to_owned(),
        file: known.path.clone(),
        line: known.position.0,
        column,
        end_line: known.lines.1,
        container: (!known.container.is_empty()).then(|| known.container.join(".")),
        signature: one_line(signature),
        exported: known.is_public,
    }
}

/// A signature without comments, attributes and what opens its body.
fn one_line(signature: &str) -> String {
    let lines = signature.lines().map(str::trim).filter(|line| {
        let is_comment = ["//", "/*", "*", "# ", "#[", "@"].iter().any(|mark| line.starts_with(mark));
        !line.is_empty() && !is_comment
    });
    let joined = lines.collect::<Vec<_>>().join(" ");
    let words: Vec<&str> = joined.split_whitespace().collect();
    let line = words.join(" ").replace("( ", "(").replace(" )", ")").replace(",)", ")");
    let line = line.trim_end_matches(['{', ':', '=', ';', ',', ' ']);
    match line.char_indices().nth(MOST_SIGNATURE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// A module that is a file.
pub(super) fn module(path: &str) -> Symbol {
    let mut parts = path.rsplit('/').map(|part| part.split('.').next().unwrap_or(part));
    // Files that stand for their folder.
    let name = parts.find(|name| !matches!(*name, "__init__" | "mod" | "index")).unwrap_or(path);
    Symbol {
        name: name.to_owned(),
        kind: "module".to_owned(),
        file: path.to_owned(),
        line: 1,
        column: 1,
        end_line: 1,
        exported: true,
        ..Symbol::default()
    }
}

pub(super) fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Function => "function",
        Kind::Method => "method",
        Kind::Class => "class",
        Kind::Struct => "struct",
        Kind::Enum => "enum",
        Kind::Union => "union",
        Kind::Interface => "interface",
        Kind::Trait => "trait",
        Kind::Alias => "type",
        Kind::TypeParameter => "type-parameter",
        Kind::Variable => "variable",
        Kind::Constant => "constant",
        Kind::Parameter => "parameter",
        Kind::Field => "field",
        Kind::Variant => "variant",
        Kind::Module => "module",
        Kind::Import => "import",
        Kind::Macro => "macro",
        Kind::Label => "label",
        Kind::Impl => "impl",
        Kind::Anonymous => "type",
    }
}

pub(super) fn role_of(role: Role) -> &'static str {
    match role {
        Role::Declaration => "definition",
        Role::Bare => "name",
        Role::Loose => "unparsed",
        Role::Member => "member",
        Role::Key => "key",
        Role::Keyword => "argument",
        Role::Import => "import",
        Role::Label => "label",
    }
}

pub(super) fn confidence(found: Found) -> Option<Confidence> {
    match found {
        Found::Exact => Some(Confidence::Exact),
        Found::Typed => Some(Confidence::Typed),
        Found::Dispatch => Some(Confidence::Dispatch),
        Found::UniqueMember => Some(Confidence::UniqueMember),
        Found::Possible => Some(Confidence::Possible),
        Found::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_signature_is_one_line() {
        for (text, expected) in [
            ("pub fn a(\n    b: u8,\n) -> C {", "pub fn a(b: u8) -> C"),
            ("#[test]\n/// Says.\nfn a() {", "fn a()"),
            ("def a(self):", "def a(self)"),
            ("const A: u8 =", "const A: u8"),
            ("", ""),
        ] {
            assert_eq!(one_line(text), expected);
        }
    }
}
