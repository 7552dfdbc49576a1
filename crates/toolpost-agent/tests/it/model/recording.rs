//! The recorded exchanges.

use serde_json::Value;
use toolpost_agent::model::{Decoder, Format, Limits};
use toolpost_core::model::{Delta, ModelError, Response};

/// One exchange.
pub(crate) struct Recording {
    pub(crate) format: Format,
    pub(crate) value: Value,
}

impl Recording {
    pub(crate) fn id(&self) -> &str {
        self.value["id"].as_str().unwrap()
    }

    pub(crate) fn request(&self) -> &Value {
        &self.value["request"]["body"]
    }

    pub(crate) fn expect(&self) -> &Value {
        &self.value["expect"]
    }

    pub(crate) fn status(&self) -> u16 {
        self.value["response"]["status"].as_u64().unwrap() as u16
    }

    /// The name of the conversation and the place in it.
    pub(crate) fn session(&self) -> Option<(&str, u64)> {
        let session = &self.value["session"];
        Some((session["name"].as_str()?, session["seq"].as_u64()?))
    }

    /// The body of the response.
    pub(crate) fn body(&self) -> Vec<u8> {
        let response = &self.value["response"];
        let texts = ["sse_text", "ndjson_text", "body_text"];
        match texts.iter().find_map(|key| response[*key].as_str()) {
            Some(text) => text.as_bytes().to_vec(),
            None => response["body"].to_string().into_bytes(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.value["response"]["headers"][name].as_str()
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Recording> {
    let files = [
        (Format::Gemini, include_str!("../../data/gemini.jsonl")),
        (Format::Anthropic, include_str!("../../data/anthropic.jsonl")),
        (Format::OpenaiResponses, include_str!("../../data/openai-responses.jsonl")),
        (Format::OpenaiChat, include_str!("../../data/openai-chat.jsonl")),
        (Format::Ollama, include_str!("../../data/ollama.jsonl")),
    ];
    let recordings = files.into_iter().flat_map(|(format, lines)| {
        lines.lines().map(move |line| Recording { format, value: serde_json::from_str(line).unwrap() })
    });
    recordings.collect()
}

pub(crate) type Decoded = (Vec<Delta>, Result<Response, ModelError>);

/// Decodes pieces.
pub(crate) fn decode<'a>(format: Format, pieces: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    decode_within(format, pieces, Limits::default())
}

/// Decodes pieces within limits.
pub(crate) fn decode_within<'a>(
    format: Format,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    limits: Limits,
) -> Decoded {
    let mut decoder = Decoder::new(format, 1, limits);
    let mut all = Vec::new();
    for piece in pieces {
        let (deltas, result) = decoder.push(piece);
        all.extend(deltas);
        if let Err(error) = result {
            return (all, Err(error));
        }
    }
    let (deltas, response) = decoder.finish();
    all.extend(deltas);
    (all, response)
}
