//! Whether two indexes of git say the same of every file.

/// What an index says of a file, without the marks by which git tells whether it has changed.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    mode: &'a [u8],
    hash: &'a [u8],
    flags: &'a [u8],
    name: Vec<u8>,
}

/// Whether both have the same files with the same contents. False where one of them is not understood.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    // An index does not say how long its hashes are; with the wrong length nothing adds up.
    [20, 32].into_iter().any(|hash| match (entries(one, hash), entries(other, hash)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    })
}

/// The entries of an index of version 2, 3 or 4 that is in one file.
fn entries(bytes: &[u8], hash: usize) -> Option<Vec<Entry<'_>>> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = number(4).filter(|version| (2..=4).contains(version))?;
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let mut all = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let start = at;
        at += 40;
        let (mode, id) = (bytes.get(start + 24..start + 28)?, bytes.get(at..at + hash)?);
        at += hash;
        let short = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        let length = if version >= 3 && short & 0x4000 != 0 { 4 } else { 2 };
        let flags = bytes.get(at..at + length)?;
        at += length;
        let mut name: Vec<u8> = Vec::new();
        if version == 4 {
            let (strip, used) = offset(bytes.get(at..)?)?;
            at += used;
            let last: &[u8] = all.last().map_or(&[], |last: &Entry<'_>| last.name.as_slice());
            name.extend_from_slice(last.get(..last.len().checked_sub(strip)?)?);
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(bytes.get(at..at + length)?);
        at += length + 1;
        if version < 4 {
            at = start + (at - start).next_multiple_of(8);
        }
        if name.is_empty() || usize::from(short & 0x0fff) != name.len().min(0x0fff) {
            return None;
        }
        all.push(Entry { mode, hash: id, flags, name });
    }
    // Behind the entries are extensions and a checksum. A split index has most of its entries in another file.
    while at + hash < bytes.len() {
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at += 8 + usize::try_from(number(at + 4)?).ok()?;
    }
    (at + hash == bytes.len()).then_some(all)
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
