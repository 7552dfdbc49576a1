//! Events out of a stream of bytes, as the standard for server-sent events has them: their data, the name of the last one,
//! and how long to wait before asking for more.

use crate::line::{LONGEST, TooLong};

/// The longest name of an event that is remembered.
const LONGEST_NAME: usize = 1_000;

/// The beginning of an event, until the rest comes.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it ends nothing more.
    is_after_return: bool,
    is_begun: bool,
    /// The name of the last event, by which a stream that was cut is taken up again.
    pub(super) last: Option<String>,
    /// How long to wait before that, in milliseconds.
    pub(super) retry: Option<u64>,
}

impl Events {
    /// Hands over the data of every event that these bytes complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.is_after_return) {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if self.line.len() + self.data.len() > LONGEST {
                return Err(TooLong);
            }
            let Some(end) = end else { return Ok(()) };
            self.is_after_return = bytes[end] == b'\r';
            self.end_of_line(&mut each);
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    fn end_of_line(&mut self, each: &mut impl FnMut(&[u8])) {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.is_begun, true) {
            text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        }
        if text.is_empty() {
            if std::mem::take(&mut self.has_data) {
                each(&std::mem::take(&mut self.data));
            }
            return;
        }
        let colon = memchr::memchr(b':', text).unwrap_or(text.len());
        let (field, value) = (&text[..colon], text.get(colon + 1..).unwrap_or_default());
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) && value.len() <= LONGEST_NAME => {
                self.last = String::from_utf8(value.to_vec()).ok().filter(|name| !name.is_empty());
            }
            b"retry" => self.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stream: &str, expected: &[&str]) {
        for size in [1, 2, 3, 1000] {
            let mut found = Vec::new();
            let mut events = Events::default();
            for piece in stream.as_bytes().chunks(size) {
                events.push(piece, |data| found.push(String::from_utf8_lossy(data).into_owned())).unwrap();
            }
            assert_eq!(found, expected, "{stream:?} in pieces of {size}");
        }
    }

    #[test]
    fn events_come_whole_however_they_are_cut() {
        check("data: a\n\n", &["a"]);
        check("\u{feff}data:a\r\n\r\ndata: b\r\rdata: ä\n\n", &["a", "b", "ä"]);
        check(": ping\n\nevent: message\nid: 7\ndata: {\"a\":\ndata: 1}\nretry: 3\n\n", &["{\"a\":\n1}"]);
        check("data\n\ndata:\n\n", &["", ""]);
        let mut events = Events::default();
        events.push(b"id: a7\nretry: 500\ndata:\n\nretry: soon\n", |_| ()).unwrap();
        assert_eq!((events.last.as_deref(), events.retry), (Some("a7"), None));
        check("database: x\n\ndata: never ended\n", &[]);
    }
}
