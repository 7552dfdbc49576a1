//! Commits out of a git repository, loose or packed, read through the workspace: as much of git's format as a log needs.

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::io::{Read, Seek, SeekFrom};
use toolpost_core::{Context, WorkspacePath};

/// Bytes of a commit, of a small file of git, and of an index of a pack that are read.
const MOST_OBJECT: usize = 64 * 1024;
const MOST_SMALL: u64 = 4 << 20;
const MOST_INDEX: u64 = 256 << 20;
/// Maximum number of packs, and how far a difference may lead to another.
const MOST_PACKS: usize = 50;
const DEEPEST: usize = 50;

/// The id of an object.
type Id = [u8; 20];

/// A repository whose folder lies in the workspace.
pub(super) struct Repository {
    ctx: Context,
    packs: Vec<Pack>,
    /// The first commit.
    head: Id,
}

/// A pack and where its index is.
struct Pack {
    name: String,
    /// The ids in order, and where each object begins.
    index: Vec<u8>,
    count: usize,
}

impl Repository {
    /// The repository at the root of the workspace. None where there is none, or its files are elsewhere.
    pub(super) fn open(ctx: &Context) -> Option<Repository> {
        let mut repository = Repository { ctx: ctx.clone(), packs: Vec::new(), head: [0; 20] };
        let head = repository.small(".git/HEAD")?;
        repository.head = match head.strip_prefix("ref: ") {
            Some(name) => repository.reference(name.trim())?,
            None => id_of(head.trim())?,
        };
        let entries = ctx.workspace().entries(&WorkspacePath::new(".git/objects/pack"));
        let names: Vec<String> = entries
            .into_iter()
            .flatten()
            .take(10_000)
            .filter_map(|entry| Some(entry.ok()?.name.strip_suffix(".idx")?.to_owned()))
            .take(MOST_PACKS)
            .collect();
        repository.packs = names.iter().filter_map(|name| repository.pack(name)).collect();
        Some(repository)
    }

    /// The messages of the last commits along first parents.
    pub(super) fn messages(&self, most: usize, has_time: &dyn Fn() -> bool) -> Vec<String> {
        let mut messages = Vec::new();
        let mut next = Some(self.head);
        while let Some(id) = next.filter(|_| messages.len() < most && has_time()) {
            let Some(commit) = self.object(&id) else { break };
            let text = String::from_utf8_lossy(&commit);
            let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
            next = head.lines().find_map(|line| id_of(line.strip_prefix("parent ")?));
            messages.push(message.to_owned());
        }
        messages
    }

    fn bytes(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        let file = self.ctx.workspace().open(&WorkspacePath::new(path)).ok()?;
        if file.stat.size > most {
            return None;
        }
        let mut bytes = Vec::new();
        file.reader.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn small(&self, path: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes(path, MOST_SMALL)?).into_owned())
    }

    /// The commit of a branch, from its own file or from the list of all.
    fn reference(&self, name: &str) -> Option<Id> {
        if !name.starts_with("refs/") || name.contains("..") {
            return None;
        }
        if let Some(id) = self.small(&format!(".git/{name}")).and_then(|text| id_of(text.trim())) {
            return Some(id);
        }
        let packed = self.small(".git/packed-refs")?;
        packed.lines().find_map(|line| {
            let (id, reference) = line.split_once(' ')?;
            (reference == name).then(|| id_of(id))?
        })
    }

    fn object(&self, id: &Id) -> Option<Vec<u8>> {
        let hex = toolpost_core::text::hex(id);
        if let Some(bytes) = self.bytes(&format!(".git/objects/{}/{}", &hex[..2], &hex[2..]), MOST_SMALL) {
            let bytes = decompress_to_vec_zlib_with_limit(&bytes, MOST_OBJECT).ok()?;
            let start = bytes.iter().position(|byte| *byte == 0)? + 1;
            return bytes.starts_with(b"commit ").then(|| bytes[start..].to_vec());
        }
        let (pack, at) = self.packs.iter().find_map(|pack| Some((pack, pack.place(id)?)))?;
        self.packed(pack, at, 0)
    }

    /// The object that begins here in a pack.
    fn packed(&self, pack: &Pack, at: u64, depth: usize) -> Option<Vec<u8>> {
        if depth > DEEPEST {
            return None;
        }
        let path = format!(".git/objects/pack/{}.pack", pack.name);
        let mut file = self.ctx.workspace().open(&WorkspacePath::new(path)).ok()?;
        file.reader.seek(SeekFrom::Start(at)).ok()?;
        let mut bytes = Vec::new();
        // A commit is small; what is packed is smaller still.
        file.reader.take(MOST_OBJECT as u64).read_to_end(&mut bytes).ok()?;
        let (kind, size, mut start) = header(&bytes)?;
        if size > MOST_OBJECT {
            return None;
        }
        let base = match kind {
            // A commit itself.
            1 => None,
            // A difference to an object further ahead in the pack.
            6 => {
                let (back, used) = offset(&bytes[start..])?;
                start += used;
                Some(self.packed(pack, at.checked_sub(back)?, depth + 1)?)
            }
            // A difference to an object by its id.
            7 => {
                let id: Id = bytes.get(start..start + 20)?.try_into().ok()?;
                start += 20;
                Some(self.packed(pack, pack.place(&id)?, depth + 1)?)
            }
            _ => return None,
        };
        let content = inflated(bytes.get(start..)?, size)?;
        match base {
            None => Some(content),
            Some(base) => patched(&base, &content),
        }
    }

    fn pack(&self, name: &str) -> Option<Pack> {
        let index = self.bytes(&format!(".git/objects/pack/{name}.idx"), MOST_INDEX)?;
        let is_known = index.starts_with(&[0xff, b't', b'O', b'c', 0, 0, 0, 2]);
        let count = number(&index, 8 + 255 * 4)? as usize;
        let is_whole = index.len() >= 8 + 1024 + count.checked_mul(28)?;
        (is_known && is_whole).then(|| Pack { name: name.to_owned(), index, count })
    }
}

impl Pack {
    /// Where the object of this id begins.
    fn place(&self, id: &Id) -> Option<u64> {
        let first = usize::from(id[0]);
        let fan = |byte: usize| number(&self.index, 8 + byte * 4).map(|count| count as usize);
        let (mut low, mut high) = (if first == 0 { 0 } else { fan(first - 1)? }, fan(first)?);
        let ids = 8 + 1024;
        while low < high {
            let middle = low.midpoint(high);
            let at = ids + middle * 20;
            match self.index.get(at..at + 20)?.cmp(id.as_slice()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset_of(middle),
            }
        }
        None
    }

    fn offset_of(&self, place: usize) -> Option<u64> {
        let offsets = 8 + 1024 + self.count * 24;
        let small = number(&self.index, offsets + place * 4)?;
        if small & 0x8000_0000 == 0 {
            return Some(u64::from(small));
        }
        let large = offsets + self.count * 4 + (small & 0x7fff_ffff) as usize * 8;
        Some(u64::from_be_bytes(self.index.get(large..large + 8)?.try_into().ok()?))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn id_of(hex: &str) -> Option<Id> {
    let hex = hex.trim();
    if hex.len() != 40 || !hex.is_ascii() {
        return None;
    }
    let mut id = [0; 20];
    for (place, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[place * 2..place * 2 + 2], 16).ok()?;
    }
    Some(id)
}

/// Kind and size of a packed object, and where its content begins.
fn header(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let first = *bytes.first()?;
    let (kind, mut size) = ((first >> 4) & 7, usize::from(first & 15));
    let (mut shift, mut at, mut more) = (4, 1, first & 0x80 != 0);
    while more {
        let byte = *bytes.get(at)?;
        size |= usize::from(byte & 0x7f).checked_shl(shift)?;
        (shift, at, more) = (shift + 7, at + 1, byte & 0x80 != 0);
        if shift > 40 {
            return None;
        }
    }
    Some((kind, size, at))
}

/// How far back the base of a difference is, and how many bytes say so.
fn offset(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut at = 0;
    let mut byte = *bytes.first()?;
    let mut value = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
        if at > 9 {
            return None;
        }
    }
    Some((value, at + 1))
}

/// The content of a stream that other bytes may follow.
fn inflated(bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    use miniz_oxide::inflate::TINFLStatus;
    use miniz_oxide::inflate::core::inflate_flags::{
        TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
    };
    use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
    let mut out = vec![0; size];
    let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut state = Box::new(DecompressorOxide::new());
    let (status, _, written) = decompress(&mut state, bytes, &mut out, 0, flags);
    (status == TINFLStatus::Done && written == size).then_some(out)
}

/// A base changed by a difference: pieces of the base, and new bytes.
fn patched(base: &[u8], difference: &[u8]) -> Option<Vec<u8>> {
    let mut at = 0;
    let mut length = || -> Option<usize> {
        let (mut value, mut shift) = (0_usize, 0);
        loop {
            let byte = *difference.get(at)?;
            at += 1;
            value |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            if shift > 40 {
                return None;
            }
        }
    };
    let (from, to) = (length()?, length()?);
    if from != base.len() || to > MOST_OBJECT {
        return None;
    }
    let mut out = Vec::with_capacity(to);
    while let Some(code) = difference.get(at).copied() {
        at += 1;
        if code & 0x80 == 0 {
            let end = at + usize::from(code);
            out.extend_from_slice(difference.get(at..end).filter(|new| !new.is_empty())?);
            at = end;
        } else {
            let mut field = |bits: std::ops::Range<u8>| -> Option<usize> {
                let mut value = 0;
                for (place, bit) in bits.enumerate() {
                    if code & (1 << bit) != 0 {
                        value |= usize::from(*difference.get(at)?) << (8 * place);
                        at += 1;
                    }
                }
                Some(value)
            };
            let (start, count) = (field(0..4)?, field(4..7)?);
            let count = if count == 0 { 0x10000 } else { count };
            out.extend_from_slice(base.get(start..start.checked_add(count)?)?);
        }
        if out.len() > to {
            return None;
        }
    }
    (out.len() == to).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_applied() {
        // Ten bytes become: bytes 2..5 of the base, "xy", bytes 0..1.
        let difference = [10, 6, 0x91, 2, 3, 2, b'x', b'y', 0x90, 1];
        assert_eq!(patched(b"0123456789", &difference).unwrap(), b"234xy0");
        assert_eq!(patched(b"012345678", &difference), None);
        assert_eq!(patched(b"0123456789", &[10, 200, 1, 0x90, 1]), None);
        assert_eq!(patched(b"0123456789", &[10, 3, 0x91, 9, 3]), None);
    }

    #[test]
    fn heads_of_packed_objects_are_read() {
        assert_eq!(header(&[0x95, 0x0a]), Some((1, 165, 2)));
        assert_eq!(header(&[0xff; 20]), None);
        assert_eq!(offset(&[0x81, 0x00]), Some((256, 2)));
        assert_eq!(offset(&[0xff; 20]), None);
    }
}
