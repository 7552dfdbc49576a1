//! Messages on a pipe: a head with the length, then so many bytes. Pure.

/// Maximum number of bytes of one message.
const MOST: usize = 16 << 20;
/// Maximum number of bytes of a head.
const MOST_HEAD: usize = 4 << 10;

/// A message as it is written.
pub(super) fn framed(message: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes()
}

/// Bytes that have come, and are not taken yet.
#[derive(Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if it is there in full; an error where what comes is no message.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some(end) = memchr::memmem::find(&self.bytes, b"\r\n\r\n") else {
            return match self.bytes.len() > MOST_HEAD {
                true => Err("it sent something else than messages".to_owned()),
                false => Ok(None),
            };
        };
        let length = length(&self.bytes[..end]).ok_or("it sent a message without a length")?;
        if length > MOST {
            return Err(format!("it sent a message of {length} bytes"));
        }
        let start = end + 4;
        if self.bytes.len() < start + length {
            return Ok(None);
        }
        let message = self.bytes[start..start + length].to_vec();
        self.bytes.drain(..start + length);
        Ok(Some(message))
    }
}

fn length(head: &[u8]) -> Option<usize> {
    if head.len() > MOST_HEAD {
        return None;
    }
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_any_pieces() {
        let all =
            [framed("{}"), framed("{\"ä\":1}"), b"X: y\r\ncontent-length: 2\r\n\r\n[]".to_vec()].concat();
        for size in [1, 2, 7, 1000] {
            let (mut frames, mut found) = (Frames::default(), Vec::new());
            for piece in all.chunks(size) {
                frames.push(piece);
                while let Some(message) = frames.next().unwrap() {
                    found.push(String::from_utf8(message).unwrap());
                }
            }
            assert_eq!(found, ["{}", "{\"ä\":1}", "[]"]);
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [
            "Length: 3\r\n\r\nabc".to_owned(),
            "Content-Length: -1\r\n\r\n".to_owned(),
            "Content-Length: 99999999999\r\n\r\n".to_owned(),
            "x".repeat(MOST_HEAD + 1),
        ] {
            let mut frames = Frames::default();
            frames.push(bytes.as_bytes());
            assert!(frames.next().is_err(), "{bytes:.40}");
        }
    }
}
