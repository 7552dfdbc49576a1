//! A page of lines, numbered or raw, out of a stream of any length.

use super::encoding::{Encoding, FromUtf16};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::time::{Duration, Instant};
use toolpost_core::{Code, Context, ToolError};

/// Characters of a line that are shown.
pub(super) const MAX_LINE: usize = 2_000;
/// Files up to this size are read to their end, for their hash and their number of lines.
const READ_WHOLE: u64 = 4 << 20;
/// How long the end of a line that is cut anyway is looked for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which lines are wanted.
pub(super) struct Wanted {
    pub(super) first: u64,
    pub(super) limit: u64,
    /// Whether the caller has named the limit.
    pub(super) is_limit_given: bool,
    pub(super) form: Form,
    pub(super) bytes: usize,
}

/// How lines are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Each with its number, without what would hide a part of it.
    Numbered,
    /// As they are, with their own endings.
    Raw,
}

/// The lines that were found.
#[derive(Default)]
pub(super) struct Page {
    /// `7: the seventh line`, each with its newline; raw, the last one only if it has one.
    pub(super) text: String,
    pub(super) lines: u64,
    /// Where to go on.
    pub(super) next: Option<u64>,
    /// All lines, if the end was reached.
    pub(super) total: Option<u64>,
    /// Lines that were cut.
    pub(super) cut: u64,
    pub(super) hash: Option<String>,
    /// A line whose end was not waited for.
    pub(super) endless: Option<u64>,
    /// Whether the last line is shown and has no newline.
    pub(super) is_unended: bool,
    /// Lines with carriage returns of their own, which are shown as [`RETURN`].
    pub(super) returns: u64,
}

/// What is shown for a carriage return within a line: as it is, it would hide what stands before it.
pub(super) const RETURN: char = '␍';

/// Why there is no page.
pub(super) enum Failure {
    Stopped(ToolError),
    Io(io::Error),
}

impl Failure {
    pub(super) fn named(self, name: &str) -> ToolError {
        match self {
            Failure::Stopped(error) => {
                ToolError::new(error.code(), format!("{} while reading `{name}`", error.message()))
            }
            Failure::Io(error) => {
                ToolError::new(Code::ReadError, format!("`{name}` could not be read: {error}"))
            }
        }
    }
}

/// The room for a file of this size and its end, as far as there may be so much. It may grow while it is read.
pub(super) fn room(size: u64, most: usize) -> usize {
    usize::try_from(size).unwrap_or(most).saturating_add(1).clamp(1 << 10, most)
}

pub(super) fn page(
    ctx: &Context,
    reader: impl Read,
    size: u64,
    encoding: Encoding,
    wanted: &Wanted,
) -> Result<Page, Failure> {
    let mut hashing = Hashing { inner: reader, hash: (size <= READ_WHOLE).then(Sha256::new) };
    let mut pager = Pager::new(ctx, encoding, wanted);
    let is_at_end = match encoding {
        Encoding::Utf16Le => pager.run(FromUtf16::new(&mut hashing, false), size)?,
        Encoding::Utf16Be => pager.run(FromUtf16::new(&mut hashing, true), size)?,
        Encoding::Utf8 | Encoding::Latin1 => pager.run(&mut hashing, size)?,
    };
    let mut page = pager.finish(is_at_end);
    if is_at_end {
        page.hash = hashing.hash.map(|hash| toolpost_core::text::hex(&hash.finalize()));
    }
    Ok(page)
}

struct Pager<'a> {
    ctx: &'a Context,
    encoding: Encoding,
    wanted: &'a Wanted,
    page: Page,
    /// The number of the line that is being read.
    number: u64,
    /// Its beginning, as far as it can be shown.
    line: Vec<u8>,
    /// Whether it has any bytes, and whether some of them were not kept.
    has_bytes: bool,
    is_cut: bool,
    is_full: bool,
}

impl<'a> Pager<'a> {
    fn new(ctx: &'a Context, encoding: Encoding, wanted: &'a Wanted) -> Pager<'a> {
        Pager {
            ctx,
            encoding,
            wanted,
            page: Page::default(),
            number: 1,
            line: Vec::new(),
            has_bytes: false,
            is_cut: false,
            is_full: false,
        }
    }

    /// Reads until the page is full and, for a small file, on to the end. Whether the end was reached.
    fn run(&mut self, mut reader: impl Read, size: u64) -> Result<bool, Failure> {
        let mut chunk = vec![0; room(size, if size > READ_WHOLE { 1 << 20 } else { 64 << 10 })];
        let started = Instant::now();
        // Counted, because the file may grow while it is read.
        let mut taken = 0;
        loop {
            self.ctx.checkpoint().map_err(Failure::Stopped)?;
            if self.is_cut && started.elapsed() > PATIENCE {
                self.page.endless = Some(self.number);
                return Ok(false);
            }
            let count = match reader.read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Io(error)),
            };
            if count == 0 {
                return Ok(true);
            }
            self.take(&chunk[..count]);
            taken += count as u64;
            if self.is_full && size.max(taken) > READ_WHOLE {
                return Ok(false);
            }
        }
    }

    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.is_full || self.number < self.wanted.first {
                bytes = self.skip(bytes);
                continue;
            }
            match memchr::memchr(b'\n', bytes) {
                Some(at) => {
                    self.keep(&bytes[..at]);
                    bytes = &bytes[at + 1..];
                    self.end_line("\n");
                }
                None => {
                    self.keep(bytes);
                    self.has_bytes = true;
                    return;
                }
            }
        }
    }

    /// Passes over lines that are not shown, counting them. Returns what is left.
    fn skip<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        for at in memchr::memchr_iter(b'\n', bytes) {
            self.number += 1;
            self.has_bytes = false;
            if !self.is_full && self.number == self.wanted.first {
                return &bytes[at + 1..];
            }
        }
        self.has_bytes = !bytes.ends_with(b"\n");
        &[]
    }

    fn keep(&mut self, part: &[u8]) {
        // A character has at most four bytes, and one more tells that the line goes on, or how a secret does.
        let most = MAX_LINE * 4 + self.ctx.longest_secret().max(4);
        let room = most.saturating_sub(self.line.len());
        self.is_cut |= part.len() > room;
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end_line(&mut self, raw_end: &str) {
        let is_raw = self.wanted.form == Form::Raw;
        let mut line = self.line.as_slice();
        if !self.is_cut && !is_raw {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        if self.number == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let decoded = self.encoding.decode(line);
        let mut text = &*decoded;
        let end = match text.len() > MAX_LINE {
            true => text.char_indices().nth(MAX_LINE).map(|(at, _)| at),
            false => None,
        };
        let is_cut = self.is_cut || end.is_some();
        if let Some(end) = end {
            text = &text[..self.ctx.cut_at(text, end)];
        }
        let visible = (text.contains('\r') && !is_raw).then(|| text.replace('\r', &RETURN.to_string()));
        self.page.returns += u64::from(visible.is_some());
        let text = visible.as_deref().unwrap_or(text);
        let before = self.page.text.len();
        if !is_raw {
            // Writing to a string cannot fail.
            let _ = write!(self.page.text, "{}: ", self.number);
        }
        for part in [text, if is_cut { "…" } else { "" }, if is_raw { raw_end } else { "\n" }] {
            self.page.text.push_str(part);
        }
        if self.page.text.len() > self.wanted.bytes && self.page.lines > 0 {
            self.page.text.truncate(before);
            self.fill_up();
        } else {
            self.page.lines += 1;
            self.page.cut += u64::from(is_cut);
            if self.page.lines == self.wanted.limit {
                self.number += 1;
                self.fill_up();
                self.number -= 1;
            }
        }
        self.line.clear();
        self.is_cut = false;
        self.has_bytes = false;
        self.number += 1;
    }

    /// The page ends before the line of the present number.
    fn fill_up(&mut self) {
        self.is_full = true;
        self.page.next = Some(self.number);
    }

    fn finish(mut self, is_at_end: bool) -> Page {
        if self.has_bytes && !self.is_full && self.number >= self.wanted.first {
            self.page.is_unended = is_at_end;
            self.end_line("");
            self.number -= 1;
        } else if !self.has_bytes {
            self.number -= 1;
        }
        if is_at_end {
            self.page.total = Some(self.number);
            if self.page.next.is_some_and(|next| next > self.number) {
                self.page.next = None;
            }
        }
        self.page
    }
}

/// Hashes what passes, if it is to be hashed.
struct Hashing<R> {
    inner: R,
    hash: Option<Sha256>,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..count]);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        text: &[u8],
        first: u64,
        limit: u64,
        bytes: usize,
        expected: &str,
        next: Option<u64>,
        total: u64,
    ) {
        let ctx = Context::in_memory();
        // Chunks of every size give the same page.
        for size in [1, 2, 3, 7, 1000] {
            let wanted = Wanted { first, limit, is_limit_given: true, form: Form::Numbered, bytes };
            let mut pager = Pager::new(&ctx, Encoding::Utf8, &wanted);
            text.chunks(size).for_each(|chunk| pager.take(chunk));
            let page = pager.finish(true);
            assert_eq!(page.text, expected, "chunks of {size}");
            assert_eq!((page.next, page.total), (next, Some(total)), "chunks of {size}");
        }
    }

    #[test]
    fn pages_begin_and_end_where_they_should() {
        check(b"a\nb\nc\n", 1, 10, 1000, "1: a\n2: b\n3: c\n", None, 3);
        check(b"a\nb\nc", 1, 10, 1000, "1: a\n2: b\n3: c\n", None, 3);
        check(b"a\nb\nc", 2, 1, 1000, "2: b\n", Some(3), 3);
        check(b"a\nb\nc", 3, 1, 1000, "3: c\n", None, 3);
        check(b"a\nb\nc\n", 3, 1, 1000, "3: c\n", None, 3);
        check(b"a\nb\nc", 4, 1, 1000, "", None, 3);
        check(b"", 1, 10, 1000, "", None, 0);
        check(b"\n\n", 1, 10, 1000, "1: \n2: \n", None, 2);
        check(b"a\r\nb\r\n", 1, 10, 1000, "1: a\n2: b\n", None, 2);
        check(b"\xef\xbb\xbfa\n", 1, 10, 1000, "1: a\n", None, 1);
        check(b"aaaa\nbbbb\ncccc\n", 1, 10, 16, "1: aaaa\n2: bbbb\n", Some(3), 3);
        check(b"aaaaaaaaaa\nb\n", 1, 10, 3, "1: aaaaaaaaaa\n", Some(2), 2);
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        for (line, shown) in [
            ("x".repeat(MAX_LINE), "x".repeat(MAX_LINE)),
            ("x".repeat(MAX_LINE + 1), format!("{}…", "x".repeat(MAX_LINE))),
            ("😀".repeat(90_000), format!("{}…", "😀".repeat(MAX_LINE))),
        ] {
            check(format!("{line}\nb\n").as_bytes(), 1, 10, 100_000, &format!("1: {shown}\n2: b\n"), None, 2);
        }
    }
}
