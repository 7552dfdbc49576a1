//! Symbols: what a file declares, and everything that is said of one at its declaration.

use crate::facts::{Def, Facts, Kind, NONE, ScopeKind, mark};
use crate::resolve::{DefId, Query};
use crate::world::FileId;

/// A definition, as it is shown to people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Symbol {
    /// The definition.
    pub def: DefId,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The path of its file.
    pub path: String,
    /// Line and column of its name, from 1.
    pub position: (u32, u32),
    /// Its first and last line.
    pub lines: (u32, u32),
    /// What it is part of, from the outside in.
    pub container: Vec<String>,
    /// Whether its file shows it to others, as far as the language says so there.
    pub is_public: bool,
    /// The bytes of its signature: from its beginning to its body.
    pub signature: (u32, u32),
}

impl Query<'_> {
    /// A definition, as it is shown.
    #[must_use]
    pub fn symbol(&self, id: DefId) -> Option<Symbol> {
        let (facts, def) = self.def(id)?;
        let last = facts.position(def.end.saturating_sub(1).max(def.start)).0;
        Some(Symbol {
            def: id,
            name: facts.text(def.name).to_owned(),
            kind: def.kind,
            path: self.world.path(id.file).to_owned(),
            position: facts.position(def.name_start),
            lines: (facts.position(def.start).0, last),
            container: self.container(id),
            is_public: def.marks & mark::PUBLIC != 0,
            signature: (def.start, def.body.clamp(def.start, def.end)),
        })
    }

    /// The names of what a definition is part of, from the outside in.
    #[must_use]
    pub fn container(&self, id: DefId) -> Vec<String> {
        let facts = self.facts(id.file);
        let mut names = Vec::new();
        let mut current = facts.def(id.index);
        while let Some(def) = current {
            if names.len() > 16 {
                break;
            }
            current = self.container_of(facts, def).and_then(|index| facts.def(index));
            if let Some(around) = current {
                let name = self.name_shown(id.file, facts, around);
                if !name.is_empty() {
                    names.push(name);
                }
            }
        }
        names.reverse();
        names
    }

    fn container_of(&self, facts: &Facts, def: &Def) -> Option<u32> {
        if def.owner != NONE {
            return Some(def.owner);
        }
        let mut scope = def.scope;
        while let Some(here) = facts.scope(scope) {
            if here.owner != NONE {
                return Some(here.owner);
            }
            scope = here.parent;
        }
        None
    }

    /// The name of a definition; of a block that adds members to a type, the name of the type.
    fn name_shown(&self, file: FileId, facts: &Facts, def: &Def) -> String {
        if def.kind != Kind::Impl {
            return facts.text(def.name).to_owned();
        }
        match self.shape(self.named_type(file, def.declared)) {
            crate::resolve::Shape::Instance(of) => {
                let facts = self.facts(of.file);
                facts.def(of.index).map(|def| facts.text(def.name).to_owned()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// What a file declares for others to see or use: no variables of functions, no imports, no parts of signatures.
    #[must_use]
    pub fn symbols(&self, file: FileId) -> Vec<Symbol> {
        let facts = self.facts(file);
        let all = (0..facts.defs.len() as u32).filter(|&index| is_shown(facts, index));
        all.filter_map(|index| self.symbol(DefId { file, index })).collect()
    }

    /// The members of a type, wherever they are declared, without those of its bases.
    #[must_use]
    pub fn own_members(&self, of: DefId) -> Vec<DefId> {
        let facts = self.facts(of.file);
        // Parts of a function are its parameters and what decorates it: nobody reaches them through it.
        let has_members = self.def(of).is_some_and(|(_, def)| !def.kind.is_function());
        let is_part = |&index: &u32| {
            let part = &facts.defs[index as usize];
            has_members && !matches!(part.kind, Kind::Parameter | Kind::TypeParameter)
        };
        let mut members: Vec<DefId> = facts
            .owned_by(of.index)
            .iter()
            .copied()
            .filter(is_part)
            .map(|index| DefId { file: of.file, index })
            .collect();
        for posting in self.world.postings(self.name_of(of)) {
            let file = posting.file();
            let facts = self.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                if def.kind != Kind::Impl {
                    continue;
                }
                let holder = self.shape(self.named_type(file, def.declared));
                if holder == crate::resolve::Shape::Instance(of) {
                    let parts = facts.owned_by(index as u32).iter().copied();
                    let kept = parts.filter(|&part| facts.defs[part as usize].kind != Kind::TypeParameter);
                    members.extend(kept.map(|index| DefId { file, index }));
                }
            }
        }
        members
    }
}

/// Whether a definition is one that people would list.
fn is_shown(facts: &Facts, index: u32) -> bool {
    let def = &facts.defs[index as usize];
    let is_written = def.start < def.end;
    if def.same != index || !is_written || facts.text(def.name).is_empty() {
        return false;
    }
    match def.kind {
        Kind::Parameter | Kind::TypeParameter | Kind::Import | Kind::Label | Kind::Impl | Kind::Anonymous => {
            false
        }
        Kind::Variable | Kind::Constant | Kind::Function => {
            def.owner != NONE
                || facts.scope(def.scope).is_some_and(|scope| scope.kind == ScopeKind::Module)
                || def.scope != NONE
                    && def.kind == Kind::Function
                    && facts.function_around(def.scope).is_none()
        }
        Kind::Module => def.scope != NONE,
        _ => true,
    }
}

/// The comment right above a definition, without its marks; or the text that opens its body.
#[must_use]
pub fn documentation(source: &str, symbol: &Symbol) -> Option<String> {
    let before = source.get(..symbol.signature.0 as usize)?;
    let body = source.get(symbol.signature.1 as usize..).unwrap_or("");
    documentation_inside(body).or_else(|| documentation_above(before))
}

fn documentation_above(before: &str) -> Option<String> {
    // The definition may stand further right on its line.
    let before = before.rsplit_once('\n').map_or("", |(before, _)| before);
    let mut lines: Vec<&str> = Vec::new();
    let mut in_block = false;
    for line in before.lines().rev().take(200) {
        let text = line.trim();
        let is_attribute = text.starts_with("#[") || text.starts_with('@');
        if in_block || text.ends_with("*/") {
            in_block = !text.starts_with("/*");
            lines.push(text.trim_start_matches(['/', '*']).trim_end_matches("*/").trim());
        } else if text.starts_with("//") || text.starts_with("# ") || text == "#" {
            lines.push(text.trim_start_matches(['/', '!', '#']).trim());
        } else if !is_attribute {
            break;
        }
    }
    lines.reverse();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A string as the first statement of a body.
fn documentation_inside(body: &str) -> Option<String> {
    let text = body.trim_start_matches([':', ' ', '\t', '\r', '\n']);
    let text = text.trim_start_matches(['r', 'R', 'b', 'u']);
    let quote = ["\"\"\"", "'''"].into_iter().find(|quote| text.starts_with(quote))?;
    let (inside, _) = text[3..].split_once(quote)?;
    let lines: Vec<&str> = inside.trim().lines().map(str::trim).collect();
    Some(lines.join("\n"))
}
