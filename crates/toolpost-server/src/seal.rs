//! State that the client carries from one round to the next: it can neither be changed nor used twice.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolpost_core::text::hex;
use toolpost_http::is_same_secret;

/// How long an answer may take.
const LIFE: Duration = Duration::from_secs(3600);

/// So many states that came back are remembered; past them the oldest go.
const REMEMBERED: usize = 10_000;

/// Seals with a key that lives as long as the process.
pub(crate) struct Seal {
    key: [u8; 32],
    began: Instant,
    used: Mutex<HashMap<String, Instant>>,
}

impl Seal {
    pub(crate) fn new() -> Seal {
        Seal { key: random(), began: Instant::now(), used: Mutex::default() }
    }

    /// The state as the client gets it.
    pub(crate) fn seal(&self, state: &Value) -> String {
        let nonce = hex(&random::<12>());
        let ends = (self.began.elapsed() + LIFE).as_secs();
        let text = URL_SAFE_NO_PAD.encode(json!({"s": state, "n": nonce, "x": ends}).to_string());
        let mac = URL_SAFE_NO_PAD.encode(self.mac(text.as_bytes()));
        format!("{text}.{mac}")
    }

    /// The state as we gave it, the first time that it comes back.
    pub(crate) fn open(&self, sealed: &str) -> Option<Value> {
        let (text, mac) = sealed.split_once('.')?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        if !is_same_secret(&mac, &self.mac(text.as_bytes())) {
            return None;
        }
        let mut state: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        if self.began.elapsed().as_secs() > state["x"].as_u64()? {
            return None;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= REMEMBERED {
            used.retain(|_, at| at.elapsed() < LIFE);
        }
        if used.len() >= REMEMBERED || used.insert(state["n"].as_str()?.to_owned(), Instant::now()).is_some()
        {
            return None;
        }
        Some(state["s"].take())
    }

    /// HMAC with SHA-256 (RFC 2104).
    fn mac(&self, text: &[u8]) -> [u8; 32] {
        let pad = |with: u8| {
            let mut block = [with; 64];
            block.iter_mut().zip(self.key).for_each(|(byte, key)| *byte ^= key);
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
        Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
    }
}

/// Random bytes from the kernel.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        // Fails only before the kernel has gathered its first randomness, or interrupted: then again.
        filled +=
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()).unwrap_or(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_once() {
        let seal = Seal::new();
        let sealed = seal.seal(&json!({"a": 1}));
        assert_eq!(Seal::new().open(&sealed), None);
        for at in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open(&String::from_utf8(other).unwrap()), None, "{at}");
        }
        assert_eq!(seal.open(&sealed), Some(json!({"a": 1})));
        assert_eq!(seal.open(&sealed), None);
    }

    #[test]
    fn the_mac_is_that_of_rfc_4231() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let seal = Seal { key, began: Instant::now(), used: Mutex::default() };
        assert_eq!(
            hex(&seal.mac(b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
