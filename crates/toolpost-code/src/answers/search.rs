//! Definitions by name, the best first: the name itself, its beginning, its words, its letters in order.

use crate::facts::{Kind, NONE, Name};
use crate::resolve::{DefId, Query};

/// A definition that suits a search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hit {
    /// The definition.
    pub def: DefId,
    /// How well it suits: more is better.
    pub score: u32,
}

/// How well a name suits that was typed as it is.
const EXACT: u32 = 1_000;

/// How well a name suits what was typed; nothing if it does not.
#[must_use]
pub fn score(typed: &str, name: &str) -> Option<u32> {
    if typed.is_empty() || name.len() < typed.len() {
        return None;
    }
    if name == typed {
        return Some(EXACT);
    }
    if name.eq_ignore_ascii_case(typed) {
        return Some(900);
    }
    let longer = (name.len() - typed.len()).min(60) as u32;
    let starts =
        |name: &str| name.is_char_boundary(typed.len()) && name[..typed.len()].eq_ignore_ascii_case(typed);
    if starts(name) {
        return Some(800 - longer);
    }
    let is_boundary = |bytes: &[u8], at: usize| {
        at == 0
            || matches!(bytes[at - 1], b'_' | b'-' | b'$' | b'.')
            || bytes[at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase()
    };
    let bytes = name.as_bytes();
    let wanted = typed.as_bytes();
    let found = (1..=bytes.len() - wanted.len())
        .find(|&at| bytes[at..at + wanted.len()].eq_ignore_ascii_case(wanted));
    if let Some(at) = found {
        return Some(if is_boundary(bytes, at) { 700 } else { 500 } - longer);
    }
    // The letters in their order, each at the beginning of a word or after the one before.
    let mut next = 0;
    let mut loose = 0;
    let mut last = usize::MAX;
    for (at, byte) in bytes.iter().enumerate() {
        if next < wanted.len() && byte.eq_ignore_ascii_case(&wanted[next]) {
            let follows = last != usize::MAX && at == last + 1;
            loose += u32::from(!follows && !is_boundary(bytes, at));
            last = at;
            next += 1;
        }
    }
    (next == wanted.len() && loose <= 1 + wanted.len() as u32 / 4).then(|| 400 - longer - loose * 40)
}

impl Query<'_> {
    /// The definitions whose names suit, the best first, at most so many.
    #[must_use]
    pub fn search(&self, typed: &str, most: usize) -> Vec<Hit> {
        let mut names = Vec::new();
        self.world.postings.each_defined(|text, name| {
            if let Some(score) = score(typed, text) {
                names.push((score, text.len(), name));
            }
        });
        names.sort_unstable_by_key(|&(score, length, name)| (std::cmp::Reverse(score), length, name));
        let mut hits: Vec<Hit> = Vec::new();
        for (score, _, name) in names {
            if hits.len() >= most {
                break;
            }
            self.add_defined(name, score, most, &mut hits);
        }
        best(hits, most)
    }

    /// The definitions of exactly this name, the best first, at most so many.
    #[must_use]
    pub fn named(&self, name: &str, most: usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.add_defined(Name::of(name), EXACT, most, &mut hits);
        best(hits, most)
    }

    fn add_defined(&self, name: Name, score: u32, most: usize, hits: &mut Vec<Hit>) {
        let before = hits.len();
        for posting in self.world.postings(name).iter().filter(|posting| posting.defines()) {
            let file = posting.file();
            let facts = self.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                // What is seen from its place on is a variable of a function, or a member of a class.
                let is_inside = def.kind == Kind::Variable && facts.function_around(def.scope).is_some();
                let is_local = (def.visible != 0 || is_inside) && def.owner == NONE;
                let is_listed = def.same == index as u32 && !is_inner(def.kind) && !is_local;
                if is_listed && facts.name(def.name) == name {
                    let def = DefId { file, index: index as u32 };
                    hits.push(Hit { def, score: score + self.weight(def) });
                }
            }
            if hits.len() - before > most * 4 {
                break;
            }
        }
    }

    /// What sets apart definitions of one name: types and what is public come first, tests last.
    fn weight(&self, id: DefId) -> u32 {
        let Some((_, def)) = self.def(id) else { return 0 };
        let kind = match def.kind {
            kind if kind.is_type() => 12,
            Kind::Function => 10,
            Kind::Method => 8,
            Kind::Constant | Kind::Macro => 6,
            _ => 2,
        };
        let public = if def.marks & crate::facts::mark::PUBLIC != 0 { 4 } else { 0 };
        let test = if is_test(self.world.path(id.file)) { 0 } else { 10 };
        kind + public + test
    }
}

fn best(mut hits: Vec<Hit>, most: usize) -> Vec<Hit> {
    hits.sort_by_key(|hit| (std::cmp::Reverse(hit.score), hit.def));
    hits.truncate(most);
    hits
}

fn is_inner(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Parameter | Kind::TypeParameter | Kind::Label | Kind::Import | Kind::Impl | Kind::Anonymous
    )
}

/// Whether a path looks like that of a test.
#[must_use]
pub fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        matches!(
            part,
            "test" | "tests" | "__tests__" | "testdata" | "spec" | "fixtures" | "benches" | "examples"
        ) || stem.starts_with("test_")
            || stem.ends_with("_test")
            || part.contains(".test.")
            || part.contains(".spec.")
    })
}
