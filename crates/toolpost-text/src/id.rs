//! Ids that sort by time and are never given twice.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new id: 48 bits of time, then 80 that differ in every process and every call; 26 lower-case characters.
pub fn new_id(now_ms: u64) -> String {
    String::from_utf8_lossy(&letters(now_ms)).into_owned()
}

/// The same, to be shared.
pub fn new_shared_id(now_ms: u64) -> Arc<str> {
    String::from_utf8_lossy(&letters(now_ms)).into()
}

fn letters(now_ms: u64) -> [u8; 26] {
    static SEED: OnceLock<(u64, u64)> = OnceLock::new();
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let (first, second) = SEED.get_or_init(|| (random(), random()));
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let low = mix(first.wrapping_add(count));
    let high = mix(second.wrapping_add(count)) & 0xffff;
    let mut bits = (u128::from(now_ms & 0xffff_ffff_ffff) << 80) | (u128::from(high) << 64) | u128::from(low);
    let mut text = [0_u8; 26];
    for place in text.iter_mut().rev() {
        *place = ALPHABET[(bits & 31) as usize];
        bits >>= 5;
    }
    text
}

/// Random bits from the operating system, by way of the standard library's hash keys.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A bijection that spreads a counter over all bits (the finalizer of splitmix64).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_sort_by_time() {
        let ids: std::collections::HashSet<String> = (0..10_000).map(|_| new_id(1)).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(new_id(1_000) < new_id(2_000));
        assert_eq!(new_id(u64::MAX).len(), 26);
    }
}
