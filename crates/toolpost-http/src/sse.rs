//! Server-sent events as the HTML standard defines them: decoded from bytes, and written as text. Pure.

#[cfg(feature = "client")]
pub use decoder::{Decoder, Event, TooLong};

/// One event as text. Every line of the data becomes a `data` field; a carriage return counts as the end of a line.
pub fn event(name: &str, data: &str) -> String {
    let mut text = String::with_capacity(name.len() + data.len() + 24);
    text.push_str("event: ");
    text.push_str(name);
    for line in data.split(['\n', '\r']) {
        text.push_str("\ndata: ");
        text.push_str(line);
    }
    text.push_str("\n\n");
    text
}

#[cfg(feature = "client")]
mod decoder {
    /// Maximum length of the id of an event that is remembered.
    const MAX_ID: usize = 1_000;

    /// One event.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Event {
        /// Its type; `message` if the sender gave none.
        pub name: String,
        /// Its data.
        pub data: Vec<u8>,
    }

    /// An event was longer than the caller accepts.
    #[derive(Debug, PartialEq, Eq)]
    pub struct TooLong;

    /// Splits a stream of bytes into events, in memory that is bounded.
    pub struct Decoder {
        max_event: usize,
        line: Vec<u8>,
        name: Vec<u8>,
        data: Vec<u8>,
        has_data: bool,
        /// The last byte was a carriage return: a line feed after it belongs to the same end of line.
        is_after_return: bool,
        is_begun: bool,
        last_id: Option<String>,
        retry: Option<u64>,
    }

    impl Decoder {
        /// A decoder that accepts events of at most so many bytes.
        pub fn new(max_event: usize) -> Decoder {
            Decoder {
                max_event,
                line: Vec::new(),
                name: Vec::new(),
                data: Vec::new(),
                has_data: false,
                is_after_return: false,
                is_begun: false,
                last_id: None,
                retry: None,
            }
        }

        /// The id of the last event that had one. A client that reconnects sends it.
        pub fn last_id(&self) -> Option<&str> {
            self.last_id.as_deref()
        }

        /// How many milliseconds the sender asks a client to wait before it reconnects.
        pub fn retry(&self) -> Option<u64> {
            self.retry
        }

        /// Calls `each` with every event that these bytes complete.
        pub fn push(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Event)) -> Result<(), TooLong> {
            while !bytes.is_empty() {
                if std::mem::take(&mut self.is_after_return) {
                    bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
                }
                let end = memchr::memchr2(b'\n', b'\r', bytes);
                self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                if self.line.len() + self.data.len() > self.max_event {
                    return Err(TooLong);
                }
                let Some(end) = end else { return Ok(()) };
                self.is_after_return = bytes[end] == b'\r';
                self.end_of_line(each);
                bytes = &bytes[end + 1..];
            }
            Ok(())
        }

        /// The end of the stream. The standard drops an event without an empty line after it; some senders end with one.
        /// A caller that can tell whole data from a part of it gets that event here.
        pub fn end(&mut self, each: &mut dyn FnMut(Event)) {
            if !self.line.is_empty() {
                self.end_of_line(each);
            }
            self.end_of_line(each);
        }

        fn end_of_line(&mut self, each: &mut dyn FnMut(Event)) {
            let line = std::mem::take(&mut self.line);
            let mut text = line.as_slice();
            if !std::mem::replace(&mut self.is_begun, true) {
                text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
            }
            if text.is_empty() {
                let name = std::mem::take(&mut self.name);
                if std::mem::take(&mut self.has_data) {
                    let name = if name.is_empty() { b"message".as_slice() } else { &name };
                    let name = String::from_utf8_lossy(name).into_owned();
                    each(Event { name, data: std::mem::take(&mut self.data) });
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
                b"event" => self.name = value.to_vec(),
                b"id" if !value.contains(&0) && value.len() <= MAX_ID => {
                    self.last_id = String::from_utf8(value.to_vec()).ok().filter(|id| !id.is_empty());
                }
                b"retry" => self.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[cfg(feature = "client")]
mod tests {
    use super::*;

    fn check(stream: &str, expected: &[(&str, &str)]) {
        for size in [1, 2, 3, 1000] {
            let mut found = Vec::new();
            let mut decoder = Decoder::new(1 << 20);
            for piece in stream.as_bytes().chunks(size) {
                decoder.push(piece, &mut |event| found.push(event)).unwrap();
            }
            let found: Vec<(String, String)> =
                found.into_iter().map(|event| (event.name, String::from_utf8(event.data).unwrap())).collect();
            let found: Vec<(&str, &str)> =
                found.iter().map(|(name, data)| (name.as_str(), data.as_str())).collect();
            assert_eq!(found, expected, "{stream:?} in pieces of {size}");
        }
    }

    #[test]
    fn events_come_whole_however_they_are_cut() {
        check("data: a\n\n", &[("message", "a")]);
        let ends = "\u{feff}data:a\r\n\r\ndata: b\r\rdata: ä\n\n";
        check(ends, &[("message", "a"), ("message", "b"), ("message", "ä")]);
        let fields = ": ping\n\nevent: delta\nid: 7\ndata: {\"a\":\ndata: 1}\nretry: 3\n\ndata: x\n\n";
        check(fields, &[("delta", "{\"a\":\n1}"), ("message", "x")]);
        check("data\n\ndata:\n\n", &[("message", ""), ("message", "")]);
        check("event: gone\n\ndata: y\n\n", &[("message", "y")]);
        check("database: x\n\ndata: never ended\n", &[]);
    }

    #[test]
    fn the_last_id_and_the_pause_are_kept() {
        let mut decoder = Decoder::new(100);
        decoder.push(b"id: a7\nretry: 500\ndata:\n\n", &mut |_| ()).unwrap();
        assert_eq!((decoder.last_id(), decoder.retry()), (Some("a7"), Some(500)));
        decoder.push(b"retry: soon\n", &mut |_| ()).unwrap();
        assert_eq!((decoder.last_id(), decoder.retry()), (Some("a7"), None));
    }

    #[test]
    fn the_end_of_the_stream_can_end_an_event() {
        for stream in ["data: a", "data: a\n", "data: a\r", "data: a\n\n"] {
            let mut found = Vec::new();
            let mut decoder = Decoder::new(100);
            decoder.push(stream.as_bytes(), &mut |event| found.push(event.data)).unwrap();
            decoder.end(&mut |event| found.push(event.data));
            assert_eq!(found, [b"a".to_vec()], "{stream:?}");
        }
    }

    #[test]
    fn an_event_that_is_too_long_is_an_error() {
        let mut decoder = Decoder::new(10);
        assert_eq!(decoder.push(b"data: 1234\n\ndata: 5678\n\n", &mut |_| ()), Ok(()));
        assert_eq!(decoder.push(b"data: 1\ndata: 23456", &mut |_| ()), Err(TooLong));
        assert_eq!(Decoder::new(10).push(b": a long comment", &mut |_| ()), Err(TooLong));
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(event("message", "{}"), "event: message\ndata: {}\n\n");
        check(&event("delta", "a\nb\r\nc"), &[("delta", "a\nb\n\nc")]);
    }
}
