//! Definitions by name, the best first: the name itself, its beginning, its words, its letters in order, or the name that
//! was mistyped.

use crate::facts::{Kind, NONE, Name};
use crate::resolve::{DefId, Query};
use crate::world::FileId;

/// A definition that suits a search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hit {
    /// The definition.
    pub def: DefId,
    /// How well it suits: more is better.
    pub score: u32,
}

/// How well a name suits that was typed as it is, and one that differs in its capital letters only.
const EXACT: u32 = 1_000;
const SAME_LETTERS: u32 = 900;
/// How well a name suits that differs by one edit, by two and by three. An edit adds, drops or replaces a letter, or
/// swaps two that follow each other.
const MISTYPED: [u32; 3] = [690, 480, 380];
/// Longer names are not compared letter by letter.
const LONGEST_TYPED: usize = 60;
/// Maximum number of files that are read for names that are only like what was typed.
const MOST_FILES: usize = 20_000;

/// How well a name suits what was typed; nothing if it does not.
#[must_use]
pub fn score(typed: &str, name: &str) -> Option<u32> {
    let (plain, mistyped) = TypedName::new(typed).compare(name);
    plain.max(mistyped)
}

/// What was typed, made ready to be compared with many names.
struct TypedName<'a> {
    text: &'a str,
    lower: Vec<u8>,
    letters: u64,
    /// Maximum number of edits.
    most: usize,
}

impl<'a> TypedName<'a> {
    fn new(text: &'a str) -> TypedName<'a> {
        let most = match text.len() {
            0..=2 => 0,
            3..=5 => 1,
            6..=9 => 2,
            10..=LONGEST_TYPED => 3,
            _ => 0,
        };
        let lower = text.to_ascii_lowercase().into_bytes();
        TypedName { text, letters: letters(&lower), lower, most }
    }

    /// How well a name suits as it is, and as one that was mistyped.
    fn compare(&self, name: &str) -> (Option<u32>, Option<u32>) {
        let typed = self.text;
        if typed.is_empty() {
            return (None, None);
        }
        let bytes = name.as_bytes();
        let here = letters(bytes);
        let (missing, other) = (self.letters & !here, here & !self.letters);
        if missing != 0 || bytes.len() < typed.len() {
            let may_be = (missing.count_ones().max(other.count_ones()) as usize) <= self.most;
            return (None, if may_be { self.mistyped(bytes) } else { None });
        }
        if name == typed {
            return (Some(EXACT), None);
        }
        if name.eq_ignore_ascii_case(typed) {
            return (Some(SAME_LETTERS), None);
        }
        let longer = (name.len() - typed.len()).min(60) as u32;
        if bytes[..typed.len()].eq_ignore_ascii_case(typed.as_bytes()) {
            return (Some(800 - longer), None);
        }
        let is_boundary = |at: usize| {
            at == 0
                || matches!(bytes[at - 1], b'_' | b'-' | b'$' | b'.')
                || bytes[at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase()
        };
        let wanted = self.lower.as_slice();
        let found = (1..=bytes.len() - wanted.len())
            .find(|&at| bytes[at..at + wanted.len()].eq_ignore_ascii_case(wanted));
        if let Some(at) = found {
            return (Some(if is_boundary(at) { 700 } else { 500 } - longer), None);
        }
        // The letters in their order, each at the beginning of a word or after the one before.
        let mut next = 0;
        let mut loose = 0;
        let mut last = usize::MAX;
        for (at, byte) in bytes.iter().enumerate() {
            if next < wanted.len() && byte.eq_ignore_ascii_case(&wanted[next]) {
                let follows = last != usize::MAX && at == last + 1;
                loose += u32::from(!follows && !is_boundary(at));
                last = at;
                next += 1;
            }
        }
        let in_order =
            (next == wanted.len() && loose <= 1 + wanted.len() as u32 / 4).then(|| 400 - longer - loose * 40);
        let may_be = other.count_ones() as usize <= self.most;
        (in_order, if may_be { self.mistyped(bytes) } else { None })
    }

    /// How well a name suits from which what was typed differs by a few edits.
    fn mistyped(&self, name: &[u8]) -> Option<u32> {
        let most = self.most;
        if most == 0 || name.len().abs_diff(self.lower.len()) > most || name.len() > LONGEST_TYPED + 3 {
            return None;
        }
        let edits = edits(&self.lower, name, most)?;
        // People seldom mistype the first letter.
        let other_start = u32::from(!name[0].eq_ignore_ascii_case(&self.lower[0])) * 60;
        Some(MISTYPED[edits.clamp(1, 3) - 1] - other_start - name.len().abs_diff(self.lower.len()) as u32)
    }
}

/// Which letters a text has, whatever their case, as bits.
fn letters(text: &[u8]) -> u64 {
    text.iter().fold(0, |letters, byte| letters | 1 << (byte.to_ascii_lowercase() & 63))
}

/// How many edits lead from one text to another, if there are at most so many. The first is in lower case.
fn edits(typed: &[u8], name: &[u8], most: usize) -> Option<usize> {
    const WIDTH: usize = LONGEST_TYPED + 4;
    let far = most + 1;
    let (mut before, mut last, mut row) = ([far; WIDTH], [far; WIDTH], [far; WIDTH]);
    (0..=name.len().min(most)).for_each(|at| last[at] = at);
    for one in 1..=typed.len() {
        row.fill(far);
        if one <= most {
            row[0] = one;
        }
        let mut least = row[0];
        for other in one.saturating_sub(most).max(1)..=(one + most).min(name.len()) {
            let is_same = |one: usize, other: usize| typed[one - 1] == name[other - 1].to_ascii_lowercase();
            let mut value = last[other - 1] + usize::from(!is_same(one, other));
            value = value.min(last[other] + 1).min(row[other - 1] + 1);
            if one > 1 && other > 1 && is_same(one, other - 1) && is_same(one - 1, other) {
                value = value.min(before[other - 2] + 1);
            }
            row[other] = value.min(far);
            least = least.min(row[other]);
        }
        if least > most {
            return None;
        }
        (before, last, row) = (last, row, before);
    }
    Some(last[name.len()]).filter(|edits| *edits <= most)
}

/// Which definitions are looked for.
pub struct SearchFilter<'f> {
    /// Whether a file may have one. Asked before anything of the file is read.
    pub file: &'f dyn Fn(FileId) -> bool,
    /// Whether a definition is one.
    pub def: &'f dyn Fn(DefId) -> bool,
}

/// Every definition.
pub const NO_FILTER: SearchFilter<'static> = SearchFilter { file: &|_| true, def: &|_| true };

/// What a search has found.
#[derive(Clone, Debug, Default)]
pub struct SearchHits {
    /// The definitions, the best first.
    pub list: Vec<Hit>,
    /// Whether the search ended before its end, because it took too long.
    pub is_cut: bool,
}

impl Query<'_> {
    /// The definitions whose names suit, the best first, at most so many.
    #[must_use]
    pub fn search(&self, typed: &str, most: usize) -> Vec<Hit> {
        self.search_for(typed, most, &NO_FILTER).list
    }

    /// The same among those that are wanted.
    #[must_use]
    pub fn search_for(&self, typed: &str, most: usize, wanted: &SearchFilter<'_>) -> SearchHits {
        let mut names = Vec::new();
        let ready = TypedName::new(typed);
        let mut is_exact = false;
        self.world.postings.each_defined(|text, name| {
            let (plain, mistyped) = ready.compare(text);
            is_exact |= plain >= Some(SAME_LETTERS);
            if plain.is_some() || mistyped.is_some() {
                names.push((plain, mistyped, text.len(), name));
            }
        });
        // What is there as it was typed was not mistyped.
        let score =
            |plain: Option<u32>, mistyped: Option<u32>| if is_exact { plain } else { plain.max(mistyped) };
        let mut names: Vec<(u32, usize, Name)> = names
            .into_iter()
            .filter_map(|(plain, mistyped, length, name)| Some((score(plain, mistyped)?, length, name)))
            .collect();
        names.sort_unstable_by_key(|&(score, length, name)| (std::cmp::Reverse(score), length, name));
        let mut hits = SearchHits::default();
        let mut files = 0;
        for (score, _, name) in names {
            if hits.list.len() >= most {
                break;
            }
            if files > MOST_FILES || self.is_over() {
                hits.is_cut = true;
                break;
            }
            files += self.add_defined(name, score, most, wanted, &mut hits.list);
        }
        hits.list = best(hits.list, most);
        hits
    }

    /// The definitions of exactly this name, the best first, at most so many.
    #[must_use]
    pub fn named(&self, name: &str, most: usize) -> Vec<Hit> {
        self.named_for(name, most, &NO_FILTER)
    }

    /// The same among those that are wanted.
    #[must_use]
    pub fn named_for(&self, name: &str, most: usize, wanted: &SearchFilter<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.add_defined(Name::of(name), EXACT, most, wanted, &mut hits);
        best(hits, most)
    }

    /// Adds the definitions of a name; how many files were read for that.
    fn add_defined(
        &self,
        name: Name,
        score: u32,
        most: usize,
        wanted: &SearchFilter<'_>,
        hits: &mut Vec<Hit>,
    ) -> usize {
        let before = hits.len();
        let mut files = 0;
        for posting in self.world.postings(name).iter().filter(|posting| posting.defines()) {
            let file = posting.file();
            if !(wanted.file)(file) {
                continue;
            }
            files += 1;
            let facts = self.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                // What is seen from its place on is a variable of a function, or a member of a class.
                let is_inside = def.kind == Kind::Variable && facts.function_around(def.scope).is_some();
                let is_local = (def.visible != 0 || is_inside) && def.owner == NONE;
                let is_listed = def.same == index as u32 && !is_inner(def.kind) && !is_local;
                if is_listed && facts.name(def.name) == name {
                    let def = DefId { file, index: index as u32 };
                    if (wanted.def)(def) {
                        hits.push(Hit { def, score: score + self.weight(def) });
                    }
                }
            }
            if hits.len() - before > most * 4 {
                break;
            }
        }
        files
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
