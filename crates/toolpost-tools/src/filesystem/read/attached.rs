//! Files that come as attachments: images and PDFs, known by their first bytes.

use super::{Data, Found, failed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{Read, Seek, SeekFrom};
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::workspace::File;
use toolpost_core::{Code, Context, Output, ToolError};

/// Larger files are refused: no model takes them.
const MAX_BYTES: u64 = 20 << 20;

/// The media type of a file that is attached rather than shown.
pub(crate) fn media_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

/// What a file that cannot be shown is, for the error.
pub(crate) fn known_binary(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x7f, b'E', b'L', b'F', ..] => Some("an ELF executable or library"),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Some("a ZIP archive, or a document made of one"),
        [0x1f, 0x8b, ..] => Some("gzip data"),
        [b'B', b'Z', b'h', ..] => Some("bzip2 data"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("xz data"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd data"),
        [0, b'a', b's', b'm', ..] => Some("WebAssembly"),
        [0xca, 0xfe, 0xba, 0xbe, ..] => Some("a Java class or Mach-O file"),
        _ if head.starts_with(b"SQLite format 3\0") => Some("an SQLite database"),
        _ if !head.is_empty() && head.iter().all(|byte| *byte == 0) => Some("nothing but zeros"),
        _ => None,
    }
}

pub(super) fn attachment(ctx: &Context, mut file: File, media_type: &str) -> Result<Found, ToolError> {
    let name = file.stat.name.clone();
    if file.stat.size > MAX_BYTES {
        return Err(too_large(&name, file.stat.size));
    }
    file.reader.seek(SeekFrom::Start(0)).map_err(|error| failed(&name, &error))?;
    let mut bytes = Vec::new();
    // The file may have grown since it was opened.
    file.reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&name, &error))?;
    ctx.checkpoint()?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large(&name, bytes.len() as u64));
    }
    let is_pdf = media_type == "application/pdf";
    let text = match is_pdf {
        true => format!("{name} is attached as a PDF ({} bytes)", bytes.len()),
        false => format!("{name} is attached as an image ({media_type}, {} bytes)", bytes.len()),
    };
    let data = Data {
        path: name.clone(),
        kind: if is_pdf { "pdf" } else { "image" }.to_owned(),
        size: bytes.len() as u64,
        ..Data::default()
    };
    let output = Output::new(&name, text, data).attach(Attachment {
        media_type: media_type.to_owned(),
        filename: name.rsplit('/').next().unwrap_or(&name).to_owned(),
        content: AttachmentContent::Data(STANDARD.encode(&bytes)),
    });
    Ok(if is_pdf { Found::Pdf(output, bytes) } else { Found::Other(output) })
}

fn too_large(name: &str, size: u64) -> ToolError {
    ToolError::new(
        Code::TooLarge,
        format!("`{name}` has {size} bytes; at most {MAX_BYTES} can be attached: make it smaller first"),
    )
    .with("size", size)
}
