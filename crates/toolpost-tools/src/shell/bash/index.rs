//! The files that git has in its index and has to look into to know whether they have changed.
//!
//! Only versions 2 and 3 of the format are read, with both kinds of hashes. Of another file nothing is known.

/// A file of the index.
#[derive(Debug, PartialEq)]
pub(super) struct Entry<'a> {
    /// Its path from the top of the working tree.
    pub(super) name: &'a [u8],
    /// When it was last changed, in seconds since 1970, as git saw it.
    modified: u32,
    size: u32,
}

impl Entry<'_> {
    /// Whether git must read the file: its size or time is not what it was, or it was changed in the second in which the index
    /// was written, or later, so that the time tells nothing.
    pub(super) fn must_be_read(&self, modified_ms: i64, size: u64, index_modified_ms: i64) -> bool {
        let seconds = |milliseconds: i64| milliseconds.div_euclid(1_000);
        let modified = i64::from(self.modified);
        modified != seconds(modified_ms)
            || u64::from(self.size) != size
            || modified >= seconds(index_modified_ms)
    }
}

/// The entries of an index; none where it cannot be read.
pub(super) fn entries(index: &[u8]) -> Vec<Entry<'_>> {
    [20, 32].into_iter().find_map(|hash| read(index, hash)).unwrap_or_default()
}

fn read(index: &[u8], hash: usize) -> Option<Vec<Entry<'_>>> {
    const HEADER: usize = 12;
    const STAT: usize = 40;
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if index.get(..4)? != b"DIRC" || !matches!(version, 2 | 3) {
        return None;
    }
    let mut entries = Vec::new();
    let mut at = HEADER;
    for _ in 0..number(8)? {
        let flags_at = at + STAT + hash;
        let flags = u16::from_be_bytes(index.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_extended = flags & 0x4000 != 0;
        if is_extended && version == 2 {
            return None;
        }
        let name_at = flags_at + 2 + if is_extended { 2 } else { 0 };
        let length = index.get(name_at..)?.iter().position(|byte| *byte == 0)?;
        // The flags hold the length of all but very long names, which tells one kind of hash from the other.
        let told = usize::from(flags & 0x0fff);
        if length == 0 || (told < 0x0fff && told != length) {
            return None;
        }
        let name = &index[name_at..name_at + length];
        entries.push(Entry { name, modified: number(at + 8)?, size: number(at + 36)? });
        // Entries are filled up with at least one zero to a multiple of eight bytes.
        at += (name_at + length - at) / 8 * 8 + 8;
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(version: u32, hash: usize, files: &[(&str, u32, u32)]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((files.len() as u32).to_be_bytes());
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
            entry.extend(name.as_bytes());
            entry.push(0);
            entry.resize(entry.len().div_ceil(8) * 8, 0);
            bytes.extend(entry);
        }
        bytes
    }

    #[test]
    fn files_are_found_with_size_and_time() {
        let files = [(".npmrc", 100, 5), ("a/b.pem", 200, 7), ("long/name/of/a/file.txt", 300, 0)];
        for (version, hash) in [(2, 20), (2, 32), (3, 20), (3, 32)] {
            let bytes = index(version, hash, &files);
            let found: Vec<(&str, u32, u32)> = entries(&bytes)
                .iter()
                .map(|entry| (std::str::from_utf8(entry.name).unwrap(), entry.modified, entry.size))
                .collect();
            assert_eq!(found, files, "{version} {hash}");
        }
        for bytes in
            [b"".to_vec(), b"DIRC".to_vec(), index(4, 20, &files), index(2, 20, &files)[..90].to_vec()]
        {
            assert_eq!(entries(&bytes), [], "{bytes:?}");
        }
    }

    #[test]
    fn what_may_have_changed_is_read() {
        let entry = Entry { name: b"x", modified: 100, size: 5 };
        for (modified_ms, size, index_ms, expected) in [
            (100_999, 5, 101_000, false),
            (101_000, 5, 200_000, true),
            (100_000, 6, 200_000, true),
            (100_000, 5, 100_999, true),
        ] {
            assert_eq!(entry.must_be_read(modified_ms, size, index_ms), expected, "{modified_ms} {size}");
        }
    }
}
