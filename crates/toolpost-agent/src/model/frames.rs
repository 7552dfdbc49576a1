//! From bytes to JSON values: server-sent events, lines of JSON, a JSON array that grows, or one JSON object.
//!
//! Which of these it is shows in the first byte, and not in the `content-type`, which providers get wrong: a refusal of
//! Gemini is plain JSON though it calls itself an event stream.

use super::draft::{cut, hostile};
use super::failure;
use super::surrogates::Surrogates;
use serde_json::Value;
use std::collections::VecDeque;
use toolpost_core::model::{ModelError, ModelErrorKind};
use toolpost_http::sse;

/// How much of an answer that is neither JSON nor events is quoted.
const QUOTED: usize = 120;

/// What a stream is made of.
#[derive(Debug, PartialEq)]
pub(super) enum Frame {
    /// A value.
    Json(Value),
    /// `[DONE]`.
    End,
}

/// Splits bytes into frames, in memory that is bounded.
pub(super) struct Frames {
    kind: Kind,
    max_frame: usize,
    ready: VecDeque<Result<Frame, ModelError>>,
    /// The beginning, for a message about something else altogether.
    quoted: Vec<u8>,
    has_frames: bool,
    surrogates: Surrogates,
}

enum Kind {
    Unknown,
    Events(sse::Decoder),
    Values(Values),
}

impl Frames {
    pub(super) fn new(max_frame: usize) -> Frames {
        Frames {
            kind: Kind::Unknown,
            max_frame,
            ready: VecDeque::new(),
            quoted: Vec::new(),
            has_frames: false,
            surrogates: Surrogates::default(),
        }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), ModelError> {
        if let Kind::Unknown = self.kind {
            // A byte order mark comes before JSON too.
            let begin = bytes.iter().position(|byte| !b" \t\r\n\xef\xbb\xbf".contains(byte));
            let Some(begin) = begin else { return Ok(()) };
            bytes = &bytes[begin..];
            self.kind = match bytes[0] {
                b'{' | b'[' => Kind::Values(Values::default()),
                _ => Kind::Events(sse::Decoder::new(self.max_frame)),
            };
        }
        let wanted = QUOTED.saturating_sub(self.quoted.len()).min(bytes.len());
        self.quoted.extend_from_slice(&bytes[..wanted]);
        let too_large = || hostile(format!("an event of more than {} bytes", self.max_frame));
        let (ready, joined) = (&mut self.ready, &mut self.surrogates);
        match &mut self.kind {
            Kind::Events(decoder) => decoder
                .push(bytes, &mut |event| ready.extend(parsed(&event, joined)))
                .map_err(|_| too_large()),
            Kind::Values(values) => {
                let max = self.max_frame;
                let mut each = |json: &[u8]| ready.push_back(value(json, joined));
                values.push(bytes, max, &mut each).map_err(|()| too_large())
            }
            Kind::Unknown => Ok(()),
        }
    }

    /// The end of the bytes: an event may have come without the empty line after it.
    pub(super) fn end(&mut self) -> Result<(), ModelError> {
        let (ready, joined) = (&mut self.ready, &mut self.surrogates);
        match &mut self.kind {
            Kind::Events(decoder) => {
                decoder.end(&mut |event| {
                    // What cannot be read was cut off here.
                    ready.extend(
                        parsed(&event, joined)
                            .map(|frame| frame.map_err(|_| cut("its last event is not whole"))),
                    );
                });
                Ok(())
            }
            Kind::Values(values) if values.is_inside() => Err(cut("its last value is not whole")),
            _ => Ok(()),
        }
    }

    pub(super) fn next(&mut self) -> Option<Result<Frame, ModelError>> {
        let next = self.ready.pop_front();
        self.has_frames |= next.is_some();
        next
    }

    /// Why there was nothing at all in it.
    pub(super) fn nothing(&self) -> Option<ModelError> {
        if self.has_frames {
            return None;
        }
        let quoted = String::from_utf8_lossy(&self.quoted);
        let quoted = failure::plain(&quoted);
        let fields = [":", "data:", "event:", "id:", "retry:"];
        let is_events = fields.iter().any(|field| quoted.starts_with(field) || field.starts_with(&quoted));
        Some(match is_events {
            true => cut("it has no event"),
            false => ModelError::new(
                ModelErrorKind::Protocol,
                format!(
                    "the answer is neither JSON nor an event stream, but begins with `{quoted}`; check the base URL"
                ),
            ),
        })
    }
}

fn parsed(event: &sse::Event, joined: &mut Surrogates) -> Option<Result<Frame, ModelError>> {
    let data = event.data.trim_ascii();
    match data {
        b"" => None,
        b"[DONE]" => Some(Ok(Frame::End)),
        _ if event.name == "error" && serde_json::from_slice::<Value>(data).is_err() => {
            let message = failure::plain(&String::from_utf8_lossy(data));
            Some(Err(failure::in_stream(&serde_json::json!({"error": {"message": message}}))))
        }
        _ => Some(value(data, joined)),
    }
}

fn value(json: &[u8], joined: &mut Surrogates) -> Result<Frame, ModelError> {
    joined.parse(json).map(Frame::Json).map_err(|error| {
        let begin = String::from_utf8_lossy(&json[..json.len().min(QUOTED)]);
        hostile(format!("an event that is not JSON ({error}): `{}`", failure::plain(&begin)))
    })
}

/// Finds the objects in a text of JSON objects, which may stand in an array, or one after the other.
#[derive(Default)]
struct Values {
    object: Vec<u8>,
    depth: usize,
    is_string: bool,
    is_escaped: bool,
}

impl Values {
    fn is_inside(&self) -> bool {
        self.depth > 0
    }

    fn push(&mut self, bytes: &[u8], max: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), ()> {
        for &byte in bytes {
            if self.depth == 0 && byte != b'{' {
                // Brackets, commas and spaces between objects.
                continue;
            }
            self.object.push(byte);
            if self.object.len() > max {
                return Err(());
            }
            if self.is_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                each(&self.object);
                self.object.clear();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The frames of a text, however it is cut; and how it ends.
    fn check(stream: &str, expected: &[Value], ends: Result<(), &str>) {
        for size in [1, 2, 3, 7, 10_000] {
            let mut frames = Frames::new(1_000);
            let mut found = Vec::new();
            let mut ended = Ok(());
            for piece in stream.as_bytes().chunks(size) {
                ended = ended.and(frames.push(piece));
            }
            ended = ended.and_then(|()| frames.end());
            while let Some(frame) = frames.next() {
                match frame {
                    Ok(Frame::Json(value)) => found.push(value),
                    Ok(Frame::End) => found.push(json!("end")),
                    Err(error) => ended = ended.and(Err(error)),
                }
            }
            let ended = ended.map_err(|error| error.message);
            assert_eq!(found, expected, "{stream:?} in pieces of {size}");
            match (&ended, ends) {
                (Ok(()), Ok(())) => {}
                (Err(message), Err(part)) if message.contains(part) => {}
                _ => panic!("{stream:?} ended with {ended:?}, not {ends:?}"),
            }
        }
    }

    #[test]
    fn the_first_byte_tells_what_it_is() {
        check(
            "\r\n\r\n: ping\n\ndata: {\"a\":1}\r\n\r\ndata: [DONE]\n\n",
            &[json!({"a": 1}), json!("end")],
            Ok(()),
        );
        check("data:{\"a\":\ndata:1}", &[json!({"a": 1})], Ok(()));
        check(
            "[{\"a\":\"]}\\\"{\"}\n,\r\n{\"b\":[{}]}]",
            &[json!({"a": "]}\"{"}), json!({"b": [{}]})],
            Ok(()),
        );
        check(" \u{feff}{\"a\":1}\n{\"b\":\"ä\"}\n", &[json!({"a": 1}), json!({"b": "ä"})], Ok(()));
        check("", &[], Ok(()));
    }

    #[test]
    fn what_is_not_whole_or_not_json_is_an_error() {
        check("data: {\"a\":1}\n\ndata: {\"b\":", &[json!({"a": 1})], Err("not whole"));
        check("{\"a\":1}{\"b\":", &[json!({"a": 1})], Err("not whole"));
        check("data: <html>\n\n", &[], Err("not JSON"));
        check("event: error\ndata: out of memory\n\n", &[], Err("out of memory"));
        check(&format!("data: {}\n\n", "x".repeat(2_000)), &[], Err("more than 1000 bytes"));
        check(&format!("{{\"a\":\"{}", "x".repeat(2_000)), &[], Err("more than 1000 bytes"));
        check(&format!(": {}", "x".repeat(2_000)), &[], Err("more than 1000 bytes"));
    }
}
