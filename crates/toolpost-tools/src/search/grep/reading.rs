//! From an open file to the searcher: small files at once, large ones in pieces, and no longer than the search has time.

use super::lines::Lines;
use crate::search::watch::Watch;
use grep_searcher::Searcher;
use std::io::{self, Read};
use toolpost_core::workspace::ReadSeek;

/// Files of at most this are read at once; it is what the searcher would hold of a larger one, and what it looks
/// through for a NUL before it searches.
const READ_AT_ONCE: usize = 64 * 1024;

/// Searches a file of about this size. A small one is read at once: to ask again whether it has ended, and to count lines
/// that are not shown, would cost as much as the search.
pub(super) fn search_in(
    searcher: &mut Searcher,
    buffer: &mut Vec<u8>,
    size: u64,
    mut reader: impl Read,
    lines: &mut Lines<'_>,
) -> io::Result<()> {
    let size = match usize::try_from(size) {
        Ok(size) if size < READ_AT_ONCE => size,
        _ => return searcher.search_reader(lines.matcher, reader, lines),
    };
    buffer.resize(READ_AT_ONCE, 0);
    let mut filled = 0;
    while filled <= size {
        let count = match reader.read(&mut buffer[filled..=size]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        filled += count;
        if count == 0 || filled == size {
            return searcher.search_slice(lines.matcher, &buffer[..filled], lines);
        }
    }
    // It has grown since it was opened.
    let all = buffer[..filled].chain(reader);
    searcher.search_reader(lines.matcher, all, lines)
}

/// A reader that ends when the search does: a file may go on for longer than a call.
pub(super) struct EndingReader<'a> {
    pub(super) reader: Box<dyn ReadSeek>,
    pub(super) watch: &'a Watch,
}

impl Read for EndingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watch.should_stop() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.reader.read(buffer)
    }
}
