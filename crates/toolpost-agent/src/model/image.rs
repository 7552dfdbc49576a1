//! Images as a model accepts them: scaled down where they are too large, and replaced by a note where that cannot be done.
//!
//! An image over the limits fails the whole request, and every request after it, since it stays in the conversation.

mod codec;
mod size;

use super::catalog::ImageLimits;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use codec::Pixels;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use toolpost_core::model::{Message, Part};
use toolpost_core::outcome::{Attachment, AttachmentContent};

/// Maximum number of pixels that are decoded: 160 MB of memory.
const MAX_PIXELS: u64 = 40_000_000;
/// Maximum number of scaled images that are kept for the next request.
const MAX_KEPT: usize = 32;
/// An image is not made smaller than this.
const MIN_EDGE: u32 = 64;

/// An image that fits the limits: as it is, scaled down, or the reason why it cannot be sent.
pub fn fit(attachment: &Attachment, limits: &ImageLimits) -> Result<Option<Attachment>, String> {
    let AttachmentContent::Data(data) = &attachment.content else { return Ok(None) };
    let name = &attachment.filename;
    let bytes = STANDARD.decode(data).map_err(|_| format!("({name} is no image: its base64 is invalid)"))?;
    let Some(size) = size::of(&bytes) else {
        return Err(format!("({name} is not shown: it is no whole PNG, JPEG, GIF or WebP)"));
    };
    let is_small = |size: (u32, u32)| size.0.max(size.1) <= limits.edge;
    let (width, height) = size;
    if width == 0 || height == 0 {
        return Err(format!("({name} is not shown: it has {width}×{height} pixels)"));
    }
    if bytes.len() <= limits.bytes && is_small(size) {
        return match whole(&bytes, size) {
            Ok(()) => Ok(None),
            Err(why) => Err(format!("({name} is not shown: it is damaged: {why})")),
        };
    }
    let too_large =
        |why: &str| format!("({name}, {width}×{height} pixels, is too large for the model: {why})");
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(too_large("it cannot be scaled either"));
    }
    let pixels = codec::decode(&bytes).map_err(|why| too_large(&why))?;
    let mut edge = limits.edge.min(width.max(height));
    while edge >= MIN_EDGE {
        let scaled = pixels.scaled(edge);
        let bytes = codec::encode(&scaled).map_err(|why| too_large(&why))?;
        if bytes.len() <= limits.bytes {
            let content = AttachmentContent::Data(STANDARD.encode(bytes));
            return Ok(Some(Attachment {
                media_type: "image/png".to_owned(),
                filename: name.clone(),
                content,
            }));
        }
        edge = edge / 4 * 3;
    }
    Err(too_large("no smaller size fits"))
}

/// Whether an image is all there: a provider refuses the request, and every one after it, if it is not.
fn whole(bytes: &[u8], (width, height): (u32, u32)) -> Result<(), String> {
    let is_moderate = u64::from(width) * u64::from(height) <= MAX_PIXELS;
    let last = |marker: &[u8]| bytes.windows(marker.len()).rposition(|window| window == marker);
    let is_whole = match bytes {
        [0x89, b'P', b'N', b'G', ..] if is_moderate => return codec::decode(bytes).map(drop),
        [0x89, b'P', b'N', b'G', ..] => last(b"IEND").is_some(),
        [0xff, 0xd8, ..] => {
            if is_moderate {
                codec::decode(bytes)?;
            }
            // The end behind the last scan: that of a small picture in the head does not count.
            last(&[0xff, 0xd9]) > last(&[0xff, 0xda])
        }
        [b'G', b'I', b'F', ..] => bytes.iter().rfind(|byte| **byte != 0) == Some(&0x3b),
        // The length that the head names does not count the first eight bytes.
        [b'R', b'I', b'F', b'F', a, b, c, d, ..] => {
            bytes.len() >= (u32::from_le_bytes([*a, *b, *c, *d]) as usize).saturating_add(8)
        }
        _ => true,
    };
    if is_whole { Ok(()) } else { Err("its end is missing".to_owned()) }
}

/// Images that were scaled for an earlier request of the same conversation.
#[derive(Default)]
pub(super) struct Scaled(Mutex<VecDeque<(u64, Fitted)>>);

/// What becomes of an image; none for one that stays as it is.
type Fitted = Result<Option<Attachment>, String>;

impl Scaled {
    /// Makes all images of a conversation fit.
    pub(super) fn fit_all(&self, messages: &mut [Message], limits: &ImageLimits) {
        for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
            match part {
                Part::File(attachment) if is_image(attachment) => match self.fitted(attachment, limits) {
                    Ok(fitted) => *attachment = fitted.unwrap_or_else(|| attachment.clone()),
                    Err(note) => *part = Part::text(note),
                },
                Part::ToolResult(result) => {
                    let mut notes = Vec::new();
                    result.attachments.retain_mut(|attachment| {
                        let fitted =
                            if is_image(attachment) { self.fitted(attachment, limits) } else { Ok(None) };
                        match fitted {
                            Ok(fitted) => *attachment = fitted.unwrap_or_else(|| attachment.clone()),
                            Err(note) => {
                                notes.push(note);
                                return false;
                            }
                        }
                        true
                    });
                    notes.iter().for_each(|note| result.text.push_str(&format!("\n{note}")));
                }
                _ => {}
            }
        }
    }

    fn fitted(&self, attachment: &Attachment, limits: &ImageLimits) -> Fitted {
        let AttachmentContent::Data(data) = &attachment.content else { return Ok(None) };
        let mut hasher = DefaultHasher::new();
        (data, limits.edge, limits.bytes, &attachment.filename).hash(&mut hasher);
        let hash = hasher.finish();
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept.iter().find(|(known, _)| *known == hash) {
            return known.clone();
        }
        drop(kept);
        let fitted = fit(attachment, limits);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((hash, fitted.clone()));
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
        fitted
    }
}

/// Whether there is an image in a conversation.
pub(super) fn has_images(messages: &[Message]) -> bool {
    messages.iter().flat_map(|message| &message.parts).any(|part| match part {
        Part::File(attachment) => is_image(attachment),
        Part::ToolResult(result) => result.attachments.iter().any(is_image),
        _ => false,
    })
}

fn is_image(attachment: &Attachment) -> bool {
    attachment.media_type.starts_with("image/")
}

impl Pixels {
    /// Scaled down so that no edge is longer than this; each pixel is the mean of those that it stands for.
    fn scaled(&self, edge: u32) -> Pixels {
        let longest = self.width.max(self.height);
        if longest <= edge {
            return self.clone();
        }
        let along = |length: u32| ((u64::from(length) * u64::from(edge) / u64::from(longest)) as u32).max(1);
        let (width, height) = (along(self.width), along(self.height));
        let channels = self.channels;
        let mut data = Vec::with_capacity(width as usize * height as usize * channels);
        let span = |place: u32, count: u32, length: u32| {
            let begin = u64::from(place) * u64::from(length) / u64::from(count);
            let end = (u64::from(place + 1) * u64::from(length)).div_ceil(u64::from(count));
            begin as usize..(end as usize).max(begin as usize + 1)
        };
        let row_bytes = self.width as usize * channels;
        for y in 0..height {
            let rows = span(y, height, self.height);
            for x in 0..width {
                let columns = span(x, width, self.width);
                let mut sums = [0_u64; 4];
                for row in rows.clone() {
                    let begin = row * row_bytes + columns.start * channels;
                    let end = row * row_bytes + columns.end * channels;
                    for pixel in self.data[begin..end].chunks_exact(channels) {
                        pixel.iter().zip(&mut sums).for_each(|(value, sum)| *sum += u64::from(*value));
                    }
                }
                let count = (rows.len() * columns.len()) as u64;
                data.extend(sums[..channels].iter().map(|sum| ((sum + count / 2) / count) as u8));
            }
        }
        Pixels { width, height, channels, data }
    }
}
