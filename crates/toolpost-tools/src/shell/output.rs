//! What a command writes, on its way to the model: cleaned, without secrets, its two ends held and the whole kept.

use super::clean::Clean;
use std::io::{self, Write};
use std::sync::Arc;
use toolpost_core::Context;
use toolpost_core::host::{RedactingWriter, Redactor, SpillFile};
use toolpost_core::outcome::Truncation;
use toolpost_core::tool::OutputBudget;
use toolpost_process::{Capture, Captured};

/// Bytes of the budget that are left for what is said beside the output.
const ROOM_FOR_NOTES: usize = 1_500;

/// Takes a command's output, as it comes.
pub(super) struct Taken {
    ctx: Context,
    output: Clean<RedactingWriter<Arc<Redactor>, Ends>>,
}

/// Holds the two ends and hands the whole on.
struct Ends(Capture<Whole>);

/// The file that keeps the whole, where there is one.
struct Whole(Option<Box<dyn SpillFile>>);

/// An output as the model gets it.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) bytes: u64,
    pub(super) lines: u64,
    pub(super) truncated: Option<Truncation>,
    /// Why the whole could not be kept, if it could not.
    pub(super) not_kept: Option<String>,
}

impl Taken {
    /// Within a budget, or within fewer tokens if so many are asked for.
    pub(super) fn new(ctx: &Context, budget: OutputBudget, most_tokens: Option<usize>) -> Taken {
        let bytes = budget.bytes;
        let room = most_tokens.map_or(bytes, |tokens| bytes.min(tokens.saturating_mul(4)));
        let room = room.saturating_sub(ROOM_FOR_NOTES).max(room / 2);
        let head = room * 3 / 5;
        let capture = Capture::new(head, room - head).with_whole(Whole(ctx.spill_file(room)));
        Taken { ctx: ctx.clone(), output: Clean::new(ctx.without_secrets(Ends(capture))) }
    }

    /// The output, cut if it is too long.
    pub(super) fn finish(self, lines: usize) -> Shown {
        let ends = self.output.finish().and_then(RedactingWriter::finish);
        let Ok(Ends(capture)) = ends else {
            let not_kept = Some("the output could not be taken".into());
            return Shown { text: String::new(), bytes: 0, lines: 0, truncated: None, not_kept };
        };
        let (captured, whole, failed) = capture.finish();
        let mut not_kept = failed.map(|error| error.to_string());
        let kept = match whole.and_then(|whole| whole.0).map(SpillFile::keep) {
            Some(Ok(kept)) => kept,
            Some(Err(error)) => {
                not_kept.get_or_insert(error.to_string());
                None
            }
            None => None,
        };
        shown(&self.ctx, &captured, kept, not_kept, lines)
    }
}

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl Write for Ends {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn shown(
    ctx: &Context,
    captured: &Captured,
    kept: Option<(String, u64)>,
    not_kept: Option<String>,
    lines: usize,
) -> Shown {
    let (bytes, all_lines) = (captured.total, captured.lines);
    if captured.missing == 0 && usize::try_from(all_lines).is_ok_and(|count| count <= lines) {
        let text = String::from_utf8_lossy(&[captured.head.as_slice(), &captured.tail].concat()).into_owned();
        return Shown { text, bytes, lines: all_lines, truncated: None, not_kept: None };
    }
    let (head, tail) = ends(captured, lines);
    let shown_bytes = (head.len() + tail.len()) as u64;
    let left_out = bytes - shown_bytes;
    let (handle, kept_bytes) = kept.map_or((None, 0), |(handle, kept)| (Some(handle), kept));
    let reading = handle.as_ref().map(|handle| ctx.reading(handle).unwrap_or_else(|| handle.clone()));
    let reading = reading.unwrap_or_default();
    let whole = match (&handle, kept_bytes < bytes) {
        (Some(_), false) => format!("{reading} shows the whole"),
        (Some(_), true) => {
            format!("{reading} shows the first {kept_bytes} bytes of it; the rest was not kept")
        }
        (None, _) => "they were not kept: write the output to a file to see all of it".to_owned(),
    };
    let text = format!(
        "{}\n[… {left_out} of {bytes} bytes ({all_lines} lines in all) are left out here; {whole}]\n{}",
        String::from_utf8_lossy(&head).trim_end_matches('\n'),
        String::from_utf8_lossy(&tail),
    );
    let truncated =
        Some(Truncation { total_bytes: bytes, total_lines: all_lines, shown_bytes, handle, kept_bytes });
    Shown { text, bytes, lines: all_lines, truncated, not_kept }
}

/// The beginning and the end, whole lines where there are lines, within so many of them.
fn ends(captured: &Captured, lines: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut head, mut tail) = match captured.missing {
        // All of it is here; only its lines are too many.
        0 => {
            let whole = [captured.head.as_slice(), &captured.tail].concat();
            let middle = whole.len() / 2;
            (whole[..middle].to_vec(), whole[middle..].to_vec())
        }
        _ => (captured.head.clone(), captured.tail.clone()),
    };
    let first_lines = lines * 3 / 5;
    if let Some(end) = memchr::memchr_iter(b'\n', &head).nth(first_lines.saturating_sub(1)) {
        head.truncate(end + 1);
    } else if let Some(end) = memchr::memrchr(b'\n', &head) {
        head.truncate(end + 1);
    }
    let last_lines = lines - first_lines;
    if let Some(start) = memchr::memrchr_iter(b'\n', &tail).nth(last_lines) {
        tail.drain(..=start);
    } else if let Some(start) = memchr::memchr(b'\n', &tail)
        && start + 1 < tail.len()
    {
        tail.drain(..=start);
    }
    (head, tail)
}
