//! Which files each name occurs in: sorted numbers for what is settled, a map for what has changed since.

use crate::facts::codec::{Damaged, Reader, Writer};
use crate::facts::{Facts, Kind, NOTED, Name, NameMap};
use crate::world::{FileId, is_member};

/// A file that a name occurs in, and how.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Posting(u32);

impl Posting {
    const DEFINED: u32 = 1;
    const MEMBER: u32 = 2;
    const MACRO: u32 = 4;
    /// How many bits say how a name occurs.
    const BITS: u32 = 3;

    /// The file.
    #[must_use]
    pub fn file(self) -> FileId {
        FileId(self.0 >> Posting::BITS)
    }

    /// Whether the file defines something of this name.
    #[must_use]
    pub fn defines(self) -> bool {
        self.0 & Posting::DEFINED != 0
    }

    /// Whether the file defines a member of this name.
    #[must_use]
    pub fn has_member(self) -> bool {
        self.0 & Posting::MEMBER != 0
    }

    /// Whether the file defines a macro of this name.
    #[must_use]
    pub fn has_macro(self) -> bool {
        self.0 & Posting::MACRO != 0
    }
}

/// The name that occurs in every file in which the parser met errors, and in no text.
pub(crate) const ERRORS: Name = Name::of("\0errors");

/// The names of one file.
pub(crate) struct Occurrences {
    /// Each name, how it occurs, and its text if the file defines it.
    names: Vec<(Name, u32, Option<Box<str>>)>,
}

impl Occurrences {
    pub(crate) fn of(facts: &Facts) -> Occurrences {
        let mut bits = vec![u32::MAX; facts.numbers.len()];
        for token in &facts.tokens {
            if let Some(bits) = bits.get_mut(token.name as usize)
                && *bits == u32::MAX
            {
                *bits = 0;
            }
        }
        for def in &facts.defs {
            if let Some(bits) = bits.get_mut(def.name as usize)
                && def.kind != Kind::Import
            {
                // Variables of functions are nothing to be searched for.
                let is_local = matches!(def.kind, Kind::Parameter | Kind::TypeParameter | Kind::Label)
                    || def.visible != 0 && def.owner == crate::facts::NONE
                    || def.kind == Kind::Variable && def.scope != 0 && def.owner == crate::facts::NONE;
                let known = if *bits == u32::MAX { 0 } else { *bits };
                *bits = known | if is_local { 0 } else { Posting::DEFINED };
                if is_member(facts, def) {
                    *bits |= Posting::MEMBER | Posting::DEFINED;
                }
                if def.kind == Kind::Macro {
                    *bits |= Posting::MACRO;
                }
            }
        }
        let names =
            bits.into_iter().enumerate().filter(|(_, bits)| *bits != u32::MAX).map(|(index, bits)| {
                let is_defined = bits & Posting::DEFINED != 0;
                let text = is_defined.then(|| Box::from(facts.text(index as u32)));
                (facts.name(index as u32), bits, text)
            });
        let noted = (facts.bits & NOTED != 0).then_some((Name::NOTED, 0, None));
        let broken = facts.has_errors.then_some((ERRORS, 0, None));
        Occurrences { names: names.chain(noted).chain(broken).collect() }
    }
}

#[derive(Default)]
struct Recent {
    list: Vec<Posting>,
    text: Option<Box<str>>,
}

/// The postings of all names.
#[derive(Default)]
pub(crate) struct Postings {
    names: Vec<u64>,
    starts: Vec<u32>,
    list: Vec<u32>,
    text_ends: Vec<u32>,
    texts: String,
    recent: NameMap<Recent>,
    /// Files whose settled postings no longer hold.
    stale: Vec<bool>,
    has_stale: bool,
    has_recent: bool,
}

impl Postings {
    /// Adds the names of a file; what was known of it before must have been removed.
    pub(crate) fn add(&mut self, file: FileId, occurrences: Occurrences) {
        self.has_recent = true;
        for (name, bits, text) in occurrences.names {
            let recent = self.recent.entry(name).or_default();
            recent.list.push(Posting(file.0 << Posting::BITS | bits));
            if recent.text.is_none() {
                recent.text = text;
            }
        }
    }

    /// Forgets a file.
    pub(crate) fn remove(&mut self, file: FileId) {
        let index = file.0 as usize;
        if self.stale.len() <= index {
            self.stale.resize(index + 1, false);
        }
        self.stale[index] = true;
        self.has_stale = true;
        if self.has_recent {
            for recent in self.recent.values_mut() {
                recent.list.retain(|posting| posting.file() != file);
            }
        }
    }

    /// The files that a name occurs in, sorted.
    pub(crate) fn of(&self, name: Name) -> Vec<Posting> {
        let mut found = Vec::new();
        if let Ok(index) = self.names.binary_search(&name.0) {
            found.extend(self.settled(index));
        }
        if self.has_recent
            && let Some(recent) = self.recent.get(&name)
        {
            found.extend_from_slice(&recent.list);
            found.sort_unstable();
        }
        found
    }

    fn settled(&self, index: usize) -> impl Iterator<Item = Posting> {
        let start = self.starts[index] as usize;
        let end = self.starts.get(index + 1).map_or(self.list.len(), |&end| end as usize);
        let all = self.list.get(start..end).unwrap_or(&[]);
        all.iter().map(|&posting| Posting(posting)).filter(|posting| {
            !self.has_stale || !self.stale.get(posting.file().0 as usize).copied().unwrap_or(false)
        })
    }

    /// Calls with every name that some file defines.
    pub(crate) fn each_defined(&self, mut visit: impl FnMut(&str, Name)) {
        let mut start = 0;
        for (&name, &end) in self.names.iter().zip(&self.text_ends) {
            if end > start {
                visit(self.texts.get(start as usize..end as usize).unwrap_or(""), Name(name));
            }
            start = end;
        }
        for (&name, recent) in &self.recent {
            let is_settled = || self.names.binary_search(&name.0).is_ok_and(|index| self.has_text(index));
            if let Some(text) = &recent.text
                && !is_settled()
            {
                visit(text, name);
            }
        }
    }

    fn has_text(&self, index: usize) -> bool {
        let start = if index == 0 { 0 } else { self.text_ends[index - 1] };
        self.text_ends[index] > start
    }

    fn settled_text(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.text_ends[index - 1] };
        self.texts.get(start as usize..self.text_ends[index] as usize).unwrap_or("")
    }

    /// Settles everything that is recent.
    pub(crate) fn settle(&mut self) {
        if !self.has_recent && !self.has_stale {
            return;
        }
        let mut all: Vec<u64> = self.names.clone();
        all.extend(self.recent.keys().map(|name| name.0));
        all.sort_unstable();
        all.dedup();
        let mut new = Postings::default();
        new.list.reserve(self.list.len());
        for name in all {
            let start = new.list.len();
            let known = self.names.binary_search(&name).ok();
            if let Some(index) = known {
                new.list.extend(self.settled(index).map(|posting| posting.0));
            }
            let recent = self.recent.remove(&Name(name));
            if let Some(recent) = &recent {
                new.list.extend(recent.list.iter().map(|posting| posting.0));
            }
            if new.list.len() == start {
                continue;
            }
            new.list[start..].sort_unstable();
            let text = known.map(|index| self.settled_text(index)).filter(|text| !text.is_empty());
            let text = text.or_else(|| recent.as_ref().and_then(|recent| recent.text.as_deref()));
            new.texts.push_str(text.unwrap_or(""));
            new.text_ends.push(new.texts.len() as u32);
            new.names.push(name);
            new.starts.push(start as u32);
        }
        *self = new;
    }

    /// The settled postings as bytes; whoever writes them settles first.
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.number(self.names.len() as u64);
        writer.number(self.list.len() as u64);
        for &name in &self.names {
            writer.bytes.extend_from_slice(&name.to_le_bytes());
        }
        for numbers in [&self.starts, &self.text_ends, &self.list] {
            for &number in numbers {
                writer.bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        writer.text(&self.texts);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Postings, Damaged> {
        let count = reader.count()?;
        let total = reader.count()?;
        let mut postings = Postings::default();
        fn take<'a>(reader: &mut Reader<'a>, count: usize, width: usize) -> Result<&'a [u8], Damaged> {
            let length = count.checked_mul(width).ok_or(Damaged)?;
            let (bytes, rest) = reader.bytes.split_at_checked(length).ok_or(Damaged)?;
            reader.bytes = rest;
            Ok(bytes)
        }
        let small = |bytes: &[u8]| -> Vec<u32> {
            let word = |chunk: &[u8]| u32::from_le_bytes(chunk.try_into().unwrap_or_default());
            bytes.chunks_exact(4).map(word).collect()
        };
        let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        postings.names = take(reader, count, 8)?.chunks_exact(8).map(word).collect();
        postings.starts = small(take(reader, count, 4)?);
        postings.text_ends = small(take(reader, count, 4)?);
        postings.list = small(take(reader, total, 4)?);
        postings.texts = reader.text()?.to_owned();
        Ok(postings)
    }
}
