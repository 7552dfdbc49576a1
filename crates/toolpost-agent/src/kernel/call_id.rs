//! The id of a call, from its place in a run: whoever decides the same call finds the same id.

use sha2::{Digest, Sha256};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Letters of the activation's id that say when it began.
const TIME: usize = 10;

/// The id of call `index` of the answer of step `seq`. Like other ids it begins with a time, that of the run, and ends with
/// letters that differ in every call.
pub fn call_id(activation: &str, seq: u64, index: usize) -> String {
    let hash = Sha256::digest(format!("{activation}\0{seq}\0{index}"));
    let head: String = activation.chars().filter(char::is_ascii_alphanumeric).take(TIME).collect();
    let tail = hash.iter().take(16).map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    format!("{head:0>TIME$}{}", tail.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_id() {
        let id = call_id("01kxyzabcdefghjkmnpqrstvwx", 3, 0);
        assert_eq!((id.len(), &id[..10]), (26, "01kxyzabcd"));
        assert_eq!(id, call_id("01kxyzabcdefghjkmnpqrstvwx", 3, 0));
        for (seq, index) in [(3, 1), (30, 0), (0, 3)] {
            assert_ne!(id, call_id("01kxyzabcdefghjkmnpqrstvwx", seq, index));
        }
        assert_eq!(call_id("", 0, 0).len(), 26);
    }
}
