//! Files changed by chance: their bytes, and their words and signs.

use super::random::Random;

/// Changes a file a few times.
pub(super) fn mutate(random: &mut Random, source: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = source.to_vec();
    for _ in 0..=random.below(6) {
        match random.below(3) {
            0 => by_bytes(random, &mut bytes, other),
            _ => by_words(random, &mut bytes, other),
        }
    }
    bytes.truncate(400_000);
    bytes
}

fn by_bytes(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        bytes.push(b'a');
    }
    let at = random.below(bytes.len());
    let length = random.below(64).min(bytes.len() - at);
    match random.below(7) {
        0 => bytes[at] = u8::try_from(random.below(256)).expect("a byte"),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => drop(bytes.drain(at..at + length)),
        3 => bytes.truncate(at),
        4 => {
            let piece = bytes[at..at + length].to_vec();
            let place = random.below(bytes.len());
            bytes.splice(place..place, piece);
        }
        5 => {
            let from = random.below(other.len());
            let piece = other[from..other.len().min(from + 200)].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            let odd: &[&[u8]] =
                &[b"\xef\xbb\xbf", b"\r\n", b"\0", b"\xff\xfe", b"\xc3", "\u{2028}".as_bytes(), b"\\"];
            bytes.splice(at..at, odd[random.below(odd.len())].iter().copied());
        }
    }
}

/// Where words, numbers, blanks and signs begin and end.
fn words(bytes: &[u8]) -> Vec<(usize, usize)> {
    let class = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => 1,
        b' ' | b'\n' | b'\t' | b'\r' => 2,
        // Signs stand for themselves.
        _ => 0,
    };
    let mut all = Vec::new();
    let mut start = 0;
    for at in 1..=bytes.len() {
        let ends = at == bytes.len() || class(bytes[at]) == 0 || class(bytes[at]) != class(bytes[at - 1]);
        if ends {
            all.push((start, at));
            start = at;
        }
    }
    all
}

fn by_words(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let all = words(bytes);
    if all.is_empty() {
        return;
    }
    let (start, end) = all[random.below(all.len())];
    let (from, to) = all[random.below(all.len())];
    let word = bytes[from..to].to_vec();
    match random.below(6) {
        0 => drop(bytes.drain(start..end)),
        1 => drop(bytes.splice(start..end, word)),
        2 => drop(bytes.splice(start..start, word)),
        3 => {
            // Something again and again, such as an opening bracket.
            let count = 1 << random.below(12);
            bytes.splice(start..start, word.repeat(count));
        }
        4 => {
            let foreign = words(other);
            if !foreign.is_empty() {
                let (from, to) = foreign[random.below(foreign.len())];
                bytes.splice(start..end, other[from..to].iter().copied());
            }
        }
        _ => {
            // A stretch of words in another place.
            let last = all[(random.below(all.len())).min(all.len() - 1)].1;
            if start < last {
                let piece: Vec<u8> = bytes.drain(start..last.min(start + 4_000)).collect();
                let place = random.below(bytes.len() + 1);
                bytes.splice(place..place, piece);
            }
        }
    }
}
