//! The size of an image from its first bytes: PNG, JPEG, GIF and WebP.

/// Width and height; none if it is none of these, or not whole.
pub(super) fn of(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some((big(bytes, 16)?, big(bytes, 20)?)),
        [b'G', b'I', b'F', ..] => Some((little_16(bytes, 6)?, little_16(bytes, 8)?)),
        [b'R', b'I', b'F', b'F', ..] if bytes.get(8..12) == Some(b"WEBP") => webp(bytes),
        [0xff, 0xd8, ..] => jpeg(bytes),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn little_16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => {
            let little_24 = |at: usize| Some(little_16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16);
            Some((little_24(24)? + 1, little_24(27)? + 1))
        }
        b"VP8 " => Some((little_16(bytes, 26)? & 0x3fff, little_16(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1)?;
        match (bytes[at], marker) {
            (0xff, 0xff) => at += 1,
            // Frames of all kinds, but not tables.
            (0xff, 0xc0..=0xcf) if ![0xc4, 0xc8, 0xcc].contains(&marker) => {
                let edge =
                    |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
                return Some((edge(at + 7)?, edge(at + 5)?));
            }
            (0xff, _) => {
                let length = usize::from(u16::from_be_bytes(bytes.get(at + 2..at + 4)?.try_into().ok()?));
                at += 2 + length.max(2);
            }
            _ => return None,
        }
    }
}
