//! Bodies that a server compressed, within a limit that counts what comes out.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// What a request says that it can read.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br";

/// Maximum number of codings on top of each other.
const DEEPEST: usize = 3;

/// Why a body cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodingError {
    /// More comes out than the limit allows.
    TooLarge,
    /// It is damaged, cut off, or of a coding that is not known.
    Invalid(String),
}

/// A body without its codings, which are named in the order in which they were applied.
pub(crate) fn decoded(body: Vec<u8>, codings: &str, limit: usize) -> Result<Vec<u8>, CodingError> {
    let codings: Vec<String> = codings
        .split(',')
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    if codings.len() > DEEPEST {
        let message = format!("it is compressed {} times over; at most {DEEPEST} are read", codings.len());
        return Err(CodingError::Invalid(message));
    }
    codings.iter().rev().try_fold(body, |body, coding| match coding.as_str() {
        // An answer without a body has nothing to decode.
        _ if body.is_empty() => Ok(body),
        "gzip" | "x-gzip" => gunzipped(&body, limit),
        "deflate" => match inflated(&body, TINFL_FLAG_PARSE_ZLIB_HEADER, limit) {
            // Some servers leave the header out.
            Err(CodingError::Invalid(_)) => inflated(&body, 0, limit),
            done => done,
        },
        "br" => unbrotlied(&body, limit),
        other => {
            Err(CodingError::Invalid(format!("it is compressed by `{other:.40}`, which was not asked for")))
        }
    })
}

fn gunzipped(body: &[u8], limit: usize) -> Result<Vec<u8>, CodingError> {
    let mut inflater = Inflater::new(body.len(), limit);
    let mut rest = body;
    loop {
        let start = gzip_header(rest).ok_or_else(|| damaged("gzip"))?;
        let used = inflater.member(&rest[start..], 0)?;
        // The checksum and the length follow; perhaps another member, perhaps padding.
        rest = rest.get(start + used + 8..).unwrap_or_default();
        if !rest.starts_with(&[0x1f, 0x8b]) {
            return Ok(inflater.finish());
        }
    }
}

/// Where the data of a gzip member begins.
fn gzip_header(bytes: &[u8]) -> Option<usize> {
    let [0x1f, 0x8b, 8, flags, ..] = bytes else { return None };
    let mut at = 10;
    if flags & 4 != 0 {
        let [low, high] = *bytes.get(at..at + 2)? else { return None };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            at += memchr::memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at <= bytes.len()).then_some(at)
}

/// Inflates one stream after the other into one output, so that many small ones cost no more than a large one.
struct Inflater {
    state: Box<DecompressorOxide>,
    output: Vec<u8>,
    made: usize,
    limit: usize,
}

impl Inflater {
    /// One for a body of this length, of which at most `limit` bytes may come out.
    fn new(length: usize, limit: usize) -> Inflater {
        // One byte more than allowed tells a body that ends there from one that goes on.
        let most = limit.saturating_add(1);
        let output = vec![0; length.saturating_mul(2).max(1 << 12).min(most)];
        Inflater { state: Box::default(), output, made: 0, limit }
    }

    /// Adds what comes out of a stream. Returns how many bytes went in.
    fn member(&mut self, body: &[u8], flags: u32) -> Result<usize, CodingError> {
        self.state.init();
        let flags = flags | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let mut used = 0;
        loop {
            let (status, read, written) =
                decompress(&mut self.state, &body[used..], &mut self.output, self.made, flags);
            used += read;
            self.made += written;
            if self.made > self.limit {
                return Err(CodingError::TooLarge);
            }
            match status {
                TINFLStatus::Done => return Ok(used),
                TINFLStatus::HasMoreOutput if self.output.len() > self.limit => {
                    return Err(CodingError::TooLarge);
                }
                TINFLStatus::HasMoreOutput => {
                    let longer = self.output.len().saturating_mul(2).min(self.limit.saturating_add(1));
                    self.output.resize(longer, 0);
                }
                _ => return Err(damaged("deflate")),
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.output.truncate(self.made);
        self.output
    }
}

fn inflated(body: &[u8], flags: u32, limit: usize) -> Result<Vec<u8>, CodingError> {
    let mut inflater = Inflater::new(body.len(), limit);
    inflater.member(body, flags)?;
    Ok(inflater.finish())
}

fn unbrotlied(body: &[u8], limit: usize) -> Result<Vec<u8>, CodingError> {
    // Strict: without the large windows, which would take a gigabyte.
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let mut all = Vec::new();
    let mut piece = vec![0; 1 << 16];
    let (mut left, mut at, mut total) = (body.len(), 0, 0);
    loop {
        let (mut room, mut end) = (piece.len(), 0);
        let status = BrotliDecompressStream(
            &mut left, &mut at, body, &mut room, &mut end, &mut piece, &mut total, &mut state,
        );
        all.extend_from_slice(&piece[..end]);
        if all.len() > limit {
            return Err(CodingError::TooLarge);
        }
        match status {
            BrotliResult::ResultSuccess => return Ok(all),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => return Err(damaged("brotli")),
        }
    }
}

fn damaged(coding: &str) -> CodingError {
    CodingError::Invalid(format!("its {coding} data is damaged or cut off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO_GZIP: &[u8] = &[
        0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3, b'x', 0, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
        0x36, 5, 0, 0, 0,
    ];
    const HELLO_BROTLI: &[u8] = &[0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];

    fn check(body: &[u8], codings: &str, expected: Result<&str, CodingError>) {
        let found = decoded(body.to_vec(), codings, 1 << 20);
        let found = found.map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(found, expected.map(str::to_owned), "{codings}");
    }

    #[test]
    fn codings_are_undone() {
        check(b"hello", "", Ok("hello"));
        check(b"hello", "identity", Ok("hello"));
        check(HELLO_GZIP, "GZip", Ok("hello"));
        check(&[HELLO_GZIP, HELLO_GZIP, b"junk"].concat(), "x-gzip", Ok("hellohello"));
        check(&HELLO_GZIP[12..19], "deflate", Ok("hello"));
        check(HELLO_BROTLI, "br", Ok("hello"));
        check(b"", "gzip", Ok(""));
        check(&HELLO_GZIP[..15], "gzip", Err(damaged("deflate")));
        check(b"hello", "gzip", Err(damaged("gzip")));
        check(&HELLO_BROTLI[..5], "br", Err(damaged("brotli")));
        assert!(matches!(decoded(b"x".to_vec(), "zstd", 9), Err(CodingError::Invalid(_))));
        assert!(matches!(decoded(b"x".to_vec(), "br,br,br,br", 9), Err(CodingError::Invalid(_))));
    }

    #[test]
    fn many_members_are_one_text() {
        let many = HELLO_GZIP.repeat(100_000);
        assert_eq!(decoded(many.clone(), "gzip", 500_000).unwrap().len(), 500_000);
        assert_eq!(decoded(many, "gzip", 499_999), Err(CodingError::TooLarge));
        for limit in 0..5 {
            assert_eq!(decoded(HELLO_GZIP.to_vec(), "gzip", limit), Err(CodingError::TooLarge), "{limit}");
        }
        assert_eq!(decoded(HELLO_GZIP.to_vec(), "gzip", 5).unwrap(), b"hello");
    }

    #[test]
    fn bombs_stop_at_the_limit() {
        let zeros = vec![0; 40 << 20];
        let bomb = miniz_oxide::deflate::compress_to_vec(&zeros, 6);
        let gzip = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], bomb.as_slice(), &[0; 8]].concat();
        let again = miniz_oxide::deflate::compress_to_vec(&gzip, 6);
        assert_eq!(decoded(gzip, "gzip", 5 << 20), Err(CodingError::TooLarge));
        assert_eq!(decoded(bomb, "deflate", 5 << 20), Err(CodingError::TooLarge));
        assert_eq!(decoded(again, "gzip, deflate", 5 << 20), Err(CodingError::TooLarge));
    }
}
