//! The bytes of a file as text, and back without a change of encoding, mark or anything that was not edited.

use super::read::attached;
use super::read::encoding::Encoding;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::Read as _;
use toolpost_core::host::Seen;
use toolpost_core::outcome::PlannedChange;
use toolpost_core::workspace::{File, Stat};
use toolpost_core::{Code, Context, ToolError, WorkspacePath};

/// Larger files are not edited.
pub(crate) const MAX_BYTES: u64 = 50_000_000;

/// Said of a file that has hard links, when it gets other content.
pub(crate) const OTHER_NAMES: &str = "\n(the file has other names too, as hard links: they keep the old content, and are a file of \
                                      their own from now on)";

/// Bytes that are looked at to tell what a file is.
const HEAD: usize = 64 * 1024;

/// A file's text, and how it is written.
#[derive(Debug)]
pub(crate) struct Text {
    /// The characters, without a byte order mark.
    pub(crate) text: String,
    encoding: Encoding,
    mark: &'static [u8],
    /// Not UTF-8 as a whole, though in parts it looks like it.
    is_mixed: bool,
}

impl Text {
    /// Decodes a whole file; refuses what could not be written back as it was.
    pub(crate) fn decode(bytes: &[u8], name: &str) -> Result<Text, ToolError> {
        Text::of(Cow::Borrowed(bytes), name)
    }

    /// The same of bytes that are not needed any more, without a copy where they are UTF-8.
    pub(crate) fn of(bytes: Cow<'_, [u8]>, name: &str) -> Result<Text, ToolError> {
        let head = &bytes[..bytes.len().min(HEAD)];
        let encoding = match attached::media_type(head) {
            Some(_) => None,
            None => Encoding::guess(head),
        };
        let encoding = encoding.ok_or_else(|| is_binary(name, head))?;
        let mark: &'static [u8] = match encoding {
            Encoding::Utf8 if bytes.starts_with(b"\xef\xbb\xbf") => b"\xef\xbb\xbf",
            Encoding::Utf16Le if bytes.starts_with(b"\xff\xfe") => b"\xff\xfe",
            Encoding::Utf16Be if bytes.starts_with(b"\xfe\xff") => b"\xfe\xff",
            _ => b"",
        };
        if encoding == Encoding::Utf8 && mark.is_empty() {
            let text = String::from_utf8(bytes.into_owned())
                .map_err(|error| broken(name, encoding, error.utf8_error().valid_up_to()))?;
            return Ok(Text { text, encoding, mark, is_mixed: false });
        }
        let body = &bytes[mark.len()..];
        let text = match encoding {
            Encoding::Utf8 => std::str::from_utf8(body)
                .map(str::to_owned)
                .map_err(|error| broken(name, encoding, mark.len() + error.valid_up_to())),
            Encoding::Latin1 => Ok(body.iter().map(|byte| char::from(*byte)).collect()),
            Encoding::Utf16Le => utf16(body, u16::from_le_bytes).map_err(|at| broken(name, encoding, at)),
            Encoding::Utf16Be => utf16(body, u16::from_be_bytes).map_err(|at| broken(name, encoding, at)),
        }?;
        let is_mixed = encoding == Encoding::Latin1 && has_utf8_characters(body);
        Ok(Text { text, encoding, mark, is_mixed })
    }

    /// Whether the file begins with a byte order mark.
    pub(crate) fn has_mark(&self) -> bool {
        !self.mark.is_empty()
    }

    /// Another text, written as this one is, without a copy where it is UTF-8.
    pub(crate) fn encode_owned(&self, text: String, name: &str) -> Result<Vec<u8>, ToolError> {
        match self.encoding == Encoding::Utf8 && self.mark.is_empty() {
            true => Ok(text.into_bytes()),
            false => self.encode(&text, name),
        }
    }

    /// The bytes of the file, without a copy where they are UTF-8.
    pub(crate) fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, ToolError> {
        match self.encoding == Encoding::Utf8 && self.mark.is_empty() {
            true => Ok(Cow::Borrowed(self.text.as_bytes())),
            false => self.encode(&self.text, name).map(Cow::Owned),
        }
    }

    /// Another text, written as this one is.
    pub(crate) fn encode(&self, text: &str, name: &str) -> Result<Vec<u8>, ToolError> {
        let mut bytes = self.mark.to_vec();
        match self.encoding {
            Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
            Encoding::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Encoding::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Latin1 => {
                let beyond_ascii =
                    |text: &str| text.chars().filter(|character| !character.is_ascii()).count();
                if self.is_mixed && beyond_ascii(text) > beyond_ascii(&self.text) {
                    return Err(ToolError::new(
                        Code::WriteError,
                        format!(
                            "`{name}` is neither UTF-8 nor latin-1 throughout, so it is unclear how to write new \
                             characters beyond ASCII; use ASCII, or convert the file first"
                        ),
                    ));
                }
                for character in text.chars() {
                    bytes.push(u8::try_from(u32::from(character)).map_err(|_| {
                        ToolError::new(
                            Code::WriteError,
                            format!(
                                "`{name}` is latin-1, which has no `{character}`; use other characters, or convert \
                                 the file to UTF-8 first"
                            ),
                        )
                    })?);
                }
            }
        }
        Ok(bytes)
    }
}

fn utf16(body: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, usize> {
    if body.len() % 2 == 1 {
        return Err(body.len() - 1);
    }
    let units: Vec<u16> = body.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16(&units).map_err(|_| body.len())
}

fn has_utf8_characters(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

fn broken(name: &str, encoding: Encoding, at: usize) -> ToolError {
    ToolError::new(
        Code::IsBinary,
        format!(
            "`{name}` looks like {} but is not valid at byte {at}, and could not be written back as it is; change it \
             with a command",
            encoding.name()
        ),
    )
}

fn is_binary(name: &str, head: &[u8]) -> ToolError {
    let what = attached::known_binary(head).map_or_else(String::new, |what| format!(" ({what})"));
    ToolError::new(
        Code::IsBinary,
        format!("`{name}` is not text{what}; change it with a command that knows the format"),
    )
}

/// The SHA-256 of some bytes, as `read` gives it.
pub(crate) fn hash(bytes: &[u8]) -> String {
    toolpost_core::text::hex(&Sha256::digest(bytes))
}

/// Fails where the file is not the one that was last seen.
pub(crate) fn check_hash(name: &str, bytes: &[u8], expected: Option<&str>) -> Result<(), ToolError> {
    let Some(expected) = expected else { return Ok(()) };
    let fresh = hash(bytes);
    if fresh.eq_ignore_ascii_case(expected.trim()) {
        return Ok(());
    }
    Err(ToolError::new(
        Code::StaleFile,
        format!(
            "`{name}` is not what was expected: its hash is now {fresh}; read it again before changing it"
        ),
    )
    .with("path", name)
    .with("hash", fresh))
}

/// Notes that the model knows a file as it is now, where somebody keeps account of that. What is only tried is not.
pub(crate) fn note_known(ctx: &Context, name: &str, hash: &str) {
    if let Some(seen) = ctx.extra().get::<Seen>().filter(|_| !ctx.is_dry_run()) {
        seen.knows(name, hash);
    }
}

/// The same after a change of what was there before: who knew that knows what has become of it.
pub(crate) fn note_changed(ctx: &Context, name: &str, before: &str, after: &str) {
    if ctx.extra().get::<Seen>().is_some_and(|seen| seen.is_known(name, before)) {
        note_known(ctx, name, after);
    }
}

/// Notes the folders that a dry run would make to write a file. The overlay notes files alone.
pub(crate) fn note_new_folders(ctx: &Context, path: &WorkspacePath) -> Result<(), ToolError> {
    if !ctx.is_dry_run() {
        return Ok(());
    }
    let name = ctx.workspace().name(path)?;
    for (at, _) in name.match_indices('/').filter(|(at, _)| *at > 0) {
        let folder = &name[..at];
        match ctx.workspace().stat(&WorkspacePath::new(folder)) {
            Err(error) if error.code() == Code::FileNotFound => ctx.would_change(PlannedChange {
                path: folder.to_owned(),
                kind: "create".to_owned(),
                bytes_before: None,
                bytes_after: None,
            }),
            _ => {}
        }
    }
    Ok(())
}

/// The name of a file, and all its bytes up to the limit.
pub(crate) fn bytes(ctx: &Context, path: &WorkspacePath) -> Result<(Stat, Vec<u8>), ToolError> {
    let file = ctx.workspace().open(path)?;
    let (stat, name) = (file.stat.clone(), file.stat.name.clone());
    if file.stat.size > MAX_BYTES {
        return Err(too_large(&name, file.stat.size));
    }
    let bytes = head(file, MAX_BYTES + 1)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(too_large(&name, bytes.len() as u64)),
        false => Ok((stat, bytes)),
    }
}

/// The first bytes of a file.
pub(crate) fn head(file: File, limit: u64) -> Result<Vec<u8>, ToolError> {
    let size = file.stat.size.min(MAX_BYTES).min(limit);
    // One more than there is, so that the end is seen without more room.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    (file.reader.take(limit).read_to_end(&mut bytes)).map_err(|error| {
        ToolError::new(Code::ReadError, format!("`{}` could not be read: {error}", file.stat.name))
    })?;
    Ok(bytes)
}

pub(crate) fn too_large(name: &str, size: u64) -> ToolError {
    ToolError::new(
        Code::TooLarge,
        format!("`{name}` has {size} bytes; at most {MAX_BYTES} can be changed here: use a command"),
    )
    .with("size", size)
}
