//! What becomes of a file in a request: an image, a document, text, or a note that it cannot be shown.

use super::format::Target;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use toolpost_core::outcome::{Attachment, AttachmentContent};

/// A file, as far as a model can take it.
pub(super) enum File<'a> {
    /// An image, with its base64.
    Image(&'a str),
    /// A PDF, with its base64.
    Document(&'a str),
    /// Its text.
    Text(String),
    /// What is said in its place.
    Note(String),
}

/// Which of these it is for this model. `has_documents` says whether the format has a place for PDFs.
pub(super) fn file<'a>(target: &Target, attachment: &'a Attachment, has_documents: bool) -> File<'a> {
    let Attachment { media_type, filename, content } = attachment;
    let data = match content {
        AttachmentContent::Data(data) => data,
        AttachmentContent::Handle(handle) => {
            return File::Note(format!("({filename} is kept under {handle})"));
        }
    };
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    match kind {
        _ if kind.starts_with("image/") && target.images => File::Image(data),
        "application/pdf" if has_documents => File::Document(data),
        _ if kind.starts_with("text/") || kind == "application/json" => {
            match STANDARD.decode(data).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(text) => File::Text(text),
                None => File::Note(format!("({filename} is not text)")),
            }
        }
        _ => File::Note(format!("({filename}, {media_type}, cannot be shown to this model)")),
    }
}

/// A file as the URL that holds all of it.
pub(super) fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}
