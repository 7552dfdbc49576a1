//! From the bytes of a response to what the model said; the same however the bytes are cut.

use super::format::Format;
use super::frames::{Frame, Frames};
use super::{anthropic, chat, draft, failure, gemini, ollama, responses};
use serde_json::Value;
use toolpost_core::model::{Delta, ModelError, Response};

/// How much of a response is accepted.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of the whole response.
    pub response: usize,
    /// Bytes of one event.
    pub event: usize,
}

impl Default for Limits {
    /// 64 MiB, and 16 MiB for one event: an image that a model draws is one event.
    fn default() -> Limits {
        Limits { response: 64 << 20, event: 16 << 20 }
    }
}

/// What the decoders of the formats do.
pub(super) trait Decode: Send + Sync {
    /// Takes one value of the stream.
    fn take(&mut self, value: &Value) -> Result<(), ModelError>;
    /// What is handed out and kept.
    fn draft(&mut self) -> &mut draft::Draft;
    /// The response; an error if its end never came.
    fn finish(self: Box<Self>) -> Result<Response, ModelError>;
}

/// Decodes one response.
pub struct Decoder {
    frames: Frames,
    decode: Box<dyn Decode>,
    limits: Limits,
    bytes: usize,
}

impl Decoder {
    /// A decoder for the response to a request with so many messages; calls without an id get one that is made of this
    /// number, so that it is not used again later in the conversation.
    pub fn new(format: Format, messages: usize, limits: Limits) -> Decoder {
        let draft = draft::Draft::new(format, messages);
        let decode: Box<dyn Decode> = match format {
            Format::Gemini => Box::new(gemini::Stream::new(draft)),
            Format::Anthropic => Box::new(anthropic::Stream::new(draft)),
            Format::OpenaiResponses => Box::new(responses::Stream::new(draft)),
            Format::OpenaiChat => Box::new(chat::Stream::new(draft)),
            Format::Ollama => Box::new(ollama::Stream::new(draft)),
        };
        Decoder { frames: Frames::new(limits.event), decode, limits, bytes: 0 }
    }

    /// Takes bytes, and gives what they complete. An error comes after everything that was complete before it.
    pub fn push(&mut self, bytes: &[u8]) -> (Vec<Delta>, Result<(), ModelError>) {
        if self.is_done() {
            return (Vec::new(), Ok(()));
        }
        let accepted = &bytes[..bytes.len().min(self.limits.response - self.bytes)];
        self.bytes += accepted.len();
        let pushed = self.frames.push(accepted);
        let taken = self.take();
        let within = match accepted.len() < bytes.len() && !self.is_done() {
            true => Err(draft::hostile(format!("a response of more than {} bytes", self.limits.response))),
            false => Ok(()),
        };
        (std::mem::take(&mut self.decode.draft().deltas), taken.and(pushed).and(within))
    }

    /// Whether the response is complete, so that nothing more needs to be read.
    pub fn is_done(&mut self) -> bool {
        self.decode.draft().is_done
    }

    /// The end of the bytes: the last deltas, and the response.
    pub fn finish(mut self) -> (Vec<Delta>, Result<Response, ModelError>) {
        let mut ended = Ok(());
        if !self.is_done() {
            ended = self.frames.end();
            ended = self.take().and(ended);
        }
        let deltas = std::mem::take(&mut self.decode.draft().deltas);
        let response = match (ended, self.frames.nothing()) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(nothing)) => Err(nothing),
            (Ok(()), None) => self.decode.finish(),
        };
        (deltas, response)
    }

    fn take(&mut self) -> Result<(), ModelError> {
        while !self.is_done()
            && let Some(frame) = self.frames.next()
        {
            match frame? {
                Frame::End => self.decode.draft().is_done = true,
                Frame::Json(value) if failure::is_error(&value) => return Err(failure::in_stream(&value)),
                Frame::Json(value) => self.decode.take(&value)?,
            }
        }
        Ok(())
    }
}
