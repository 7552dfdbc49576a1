//! State that the client carries from one request to the next: it cannot be changed. The key may outlive the process, so
//! that what comes back later is still known to be ours.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::OnceCell;
use toolpost_core::text::hex;
use toolpost_http::is_same_secret;

/// Finds the secret that states are sealed with, when the first one is. None where none can be kept: then a secret of
/// this process is used.
pub type StateKey = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// Seals with the key that is found at its first use.
pub(crate) struct Seal {
    secret: StateKey,
    key: OnceCell<Key>,
}

/// A key that was found.
#[derive(Clone, Copy)]
pub(crate) struct Key([u8; 32]);

impl Seal {
    pub(crate) fn new(secret: StateKey) -> Seal {
        Seal { secret, key: OnceCell::new() }
    }

    /// The key; it may have to be read from a file.
    pub(crate) async fn key(&self) -> Key {
        let find = || async {
            let secret = Arc::clone(&self.secret);
            let found = tokio::task::spawn_blocking(move || secret()).await.ok().flatten();
            Key(found.map_or_else(random, |found| Sha256::digest(found).into()))
        };
        *self.key.get_or_init(find).await
    }
}

impl Key {
    /// The state as the client gets it.
    pub(crate) fn seal(&self, state: &Value) -> String {
        let text = URL_SAFE_NO_PAD.encode(state.to_string());
        let mac = URL_SAFE_NO_PAD.encode(self.mac(text.as_bytes()));
        format!("{text}.{mac}")
    }

    /// The state as we gave it.
    pub(crate) fn open(&self, sealed: &str) -> Option<Value> {
        let (text, mac) = sealed.split_once('.')?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        if !is_same_secret(&mac, &self.mac(text.as_bytes())) {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }

    /// A word with a mark that only this key makes.
    pub(crate) fn mark(&self, word: &str) -> String {
        format!("{word}{}", self.marks(word))
    }

    /// The word that was marked.
    pub(crate) fn unmark<'a>(&self, marked: &'a str) -> Option<&'a str> {
        let (word, mark) = marked.split_at_checked(marked.len().checked_sub(MARK)?)?;
        is_same_secret(mark.as_bytes(), self.marks(word).as_bytes()).then_some(word)
    }

    fn marks(&self, word: &str) -> String {
        hex(&self.mac(format!("mark {word}").as_bytes())[..MARK / 2])
    }

    /// HMAC with SHA-256 (RFC 2104).
    fn mac(&self, text: &[u8]) -> [u8; 32] {
        let pad = |with: u8| {
            let mut block = [with; 64];
            block.iter_mut().zip(self.0).for_each(|(byte, key)| *byte ^= key);
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
        Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
    }
}

/// Letters of a mark.
const MARK: usize = 32;

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
    use serde_json::json;

    #[tokio::test]
    async fn a_seal_holds_for_its_key() {
        let of = |secret: Option<&'static str>| Seal::new(Arc::new(move || secret.map(str::to_owned)));
        let key = of(Some("one")).key().await;
        let sealed = key.seal(&json!({"a": 1}));
        for other in [of(None), of(None), of(Some("two"))] {
            assert_eq!(other.key().await.open(&sealed), None);
            assert_eq!(other.key().await.unmark(&key.mark("word")), None);
        }
        for at in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(key.open(&String::from_utf8(other).unwrap()), None, "{at}");
        }
        let later = of(Some("one")).key().await;
        assert_eq!(later.open(&sealed), Some(json!({"a": 1})));
        assert_eq!(later.unmark(&key.mark("word")), Some("word"));
        for wrong in ["", "word", "é", &"é".repeat(20)] {
            assert_eq!(later.unmark(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_mac_is_that_of_rfc_4231() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        assert_eq!(
            hex(&Key(key).mac(b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
