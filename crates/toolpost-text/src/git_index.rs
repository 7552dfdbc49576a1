//! The index of a git repository, versions 2 to 4: the files that git tracks, and what it knows of each.

/// An index.
#[derive(Debug)]
pub struct GitIndex<'a> {
    /// Its files, in its own order.
    pub entries: Vec<IndexEntry<'a>>,
    /// What follows them: extensions and a checksum.
    rest: &'a [u8],
    hash: usize,
}

/// What an index says of a file.
#[derive(Debug)]
pub struct IndexEntry<'a> {
    /// Its path from the top of the working tree.
    pub name: Box<[u8]>,
    /// Times, device, number, mode, owner and size, four bytes each.
    stat: &'a [u8],
    hash: &'a [u8],
    flags: &'a [u8],
}

const HEADER: usize = 12;
const STAT: usize = 40;

impl<'a> GitIndex<'a> {
    /// Reads an index; none where it is not understood.
    pub fn read(bytes: &'a [u8]) -> Option<GitIndex<'a>> {
        // An index does not say how long its hashes are; with the wrong length nothing adds up.
        [20, 32].into_iter().find_map(|hash| GitIndex::with_hashes(bytes, hash))
    }

    fn with_hashes(bytes: &'a [u8], hash: usize) -> Option<GitIndex<'a>> {
        let version = number(bytes, 4).filter(|version| (2..=4).contains(version))?;
        if !bytes.starts_with(b"DIRC") {
            return None;
        }
        let mut entries: Vec<IndexEntry<'a>> = Vec::new();
        let mut at = HEADER;
        for _ in 0..number(bytes, 8)? {
            let start = at;
            at += STAT + hash;
            let short = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
            let length = if version >= 3 && short & 0x4000 != 0 { 4 } else { 2 };
            let flags = bytes.get(at..at + length)?;
            at += length;
            let mut name: Vec<u8> = Vec::new();
            if version == 4 {
                let (strip, used) = offset(bytes.get(at..)?)?;
                at += used;
                let last: &[u8] = entries.last().map_or(&[], |last| &last.name);
                name.extend_from_slice(&last[..last.len().checked_sub(strip)?]);
            }
            let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
            name.extend_from_slice(&bytes[at..at + length]);
            at += length + 1;
            if version < 4 {
                at = start + (at - start).next_multiple_of(8);
            }
            // The flags hold the length of all but very long names.
            if name.is_empty() || usize::from(short & 0x0fff) != name.len().min(0x0fff) {
                return None;
            }
            let (stat, id) = bytes.get(start..start + STAT + hash)?.split_at(STAT);
            entries.push(IndexEntry { name: name.into(), stat, hash: id, flags });
        }
        Some(GitIndex { entries, rest: bytes.get(at..)?, hash })
    }

    /// Whether all files are in it, and nothing behind them is unknown. A split index has most of them in another file.
    fn is_whole(&self) -> bool {
        let mut at = 0;
        while at + self.hash < self.rest.len() {
            let size = number(self.rest, at + 4).and_then(|size| usize::try_from(size).ok());
            match size {
                Some(size) if self.rest[at..at + 4] != *b"link" => at += 8 + size,
                _ => return false,
            }
        }
        at + self.hash == self.rest.len()
    }

    /// Whether both have the same files with the same contents and modes, whatever git has noted to see changes sooner. False
    /// where one of them is not whole.
    pub fn is_same(&self, other: &GitIndex<'_>) -> bool {
        fn said<'b>(entry: &'b IndexEntry<'_>) -> (&'b [u8], &'b [u8], &'b [u8], &'b [u8]) {
            (&entry.name, &entry.stat[24..28], entry.hash, entry.flags)
        }
        self.is_whole()
            && other.is_whole()
            && self.entries.iter().map(said).eq(other.entries.iter().map(said))
    }
}

impl IndexEntry<'_> {
    /// When the file was last changed, in seconds since 1970, as git saw it.
    pub fn modified(&self) -> u32 {
        number(self.stat, 8).unwrap_or_default()
    }

    /// Its size, as git saw it.
    pub fn size(&self) -> u32 {
        number(self.stat, 36).unwrap_or_default()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The variable-length number of version 4, and how many bytes it has.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 0x7f);
    let mut used = 1;
    while bytes[used - 1] & 0x80 != 0 {
        let byte = *bytes.get(used)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        used += 1;
    }
    Some((value, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, u32, u32); 3] =
        [(".npmrc", 100, 5), ("long/a/b.pem", 200, 7), ("long/name/of/a/file.txt", 300, 0)];

    fn index(version: u32, hash: usize, files: &[(&str, u32, u32)], rest: &[u8]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((files.len() as u32).to_be_bytes());
        let mut last = "";
        for (name, modified, size) in files {
            let mut entry = Vec::new();
            for field in [1, 0, *modified, 0, 0, 7, 0o100_644, 0, 0, *size] {
                entry.extend(u32::to_be_bytes(field));
            }
            entry.extend(vec![0xab; hash]);
            let extended: u16 = if version == 3 { 0x4000 } else { 0 };
            entry.extend((extended | name.len() as u16).to_be_bytes());
            if version == 3 {
                entry.extend([0, 0]);
            }
            let shared = last.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
            if version == 4 {
                entry.push((last.len() - shared) as u8);
            }
            entry.extend(&name.as_bytes()[if version == 4 { shared } else { 0 }..]);
            entry.push(0);
            if version < 4 {
                entry.resize(entry.len().div_ceil(8) * 8, 0);
            }
            bytes.extend(entry);
            last = name;
        }
        bytes.extend(rest);
        bytes
    }

    fn is_same(one: &[u8], other: &[u8]) -> bool {
        GitIndex::read(one).unwrap().is_same(&GitIndex::read(other).unwrap())
    }

    #[test]
    fn files_are_found_with_size_and_time() {
        for (version, hash) in [(2, 20), (2, 32), (3, 20), (3, 32), (4, 20), (4, 32)] {
            let bytes = index(version, hash, &FILES, &[]);
            let read = GitIndex::read(&bytes).unwrap();
            let found: Vec<(&str, u32, u32)> = read
                .entries
                .iter()
                .map(|entry| (std::str::from_utf8(&entry.name).unwrap(), entry.modified(), entry.size()))
                .collect();
            assert_eq!(found, FILES, "{version} {hash}");
        }
        let bytes = index(2, 20, &FILES, &[]);
        for wrong in [&b""[..], b"DIRC", &bytes[..90], &index(5, 20, &FILES, &[])] {
            assert!(GitIndex::read(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn times_and_extensions_make_no_difference() {
        let sum = [0; 20];
        let plain = index(2, 20, &FILES, &sum);
        let mut later = FILES;
        later[0].1 = 999;
        let tree = [&b"TREE\0\0\0\x03abc"[..], &sum].concat();
        assert!(is_same(&plain, &index(2, 20, &later, &tree)));
        let mut renamed = FILES;
        renamed[0].0 = ".npmrx";
        assert!(!is_same(&plain, &index(2, 20, &renamed, &sum)));
        assert!(!is_same(&plain, &index(2, 20, &FILES[..2], &sum)));
        // A part of it is in another file, or it ends too early.
        let split = [&b"link\0\0\0\x03abc"[..], &sum].concat();
        assert!(!is_same(&plain, &index(2, 20, &FILES, &split)));
        assert!(!is_same(&plain, &index(2, 20, &FILES, &sum[..9])));
    }
}
