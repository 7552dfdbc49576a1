//! Single lines of files, for answers that say where something is.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use toolpost_core::{Context, WorkspacePath};

/// Bytes of a file that are looked at for its lines.
const MOST_BYTES: u64 = 16 << 20;
/// Characters of a line that are shown.
const MOST_SHOWN: usize = 160;

/// These lines of a file, without the white space around them. A file that cannot be read has none.
pub(super) fn lines_of(ctx: &Context, file: &str, wanted: &[u32]) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    let Some(last) = wanted.iter().max() else { return found };
    let Ok(file) = ctx.workspace().open(&WorkspacePath::new(file)) else { return found };
    let mut reader = BufReader::new(file.reader.take(MOST_BYTES));
    let (mut bytes, mut number) = (Vec::new(), 0_u32);
    while number < *last && ctx.checkpoint().is_ok() {
        bytes.clear();
        match reader.read_until(b'\n', &mut bytes) {
            Ok(read) if read > 0 => number += 1,
            _ => break,
        }
        if wanted.contains(&number) {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_start_matches('\u{feff}').trim();
            found.insert(number, shortened(ctx, text));
        }
    }
    found
}

/// A text on one line of bounded length; no part of a secret is left at its end.
pub(super) fn shortened(ctx: &Context, text: &str) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..ctx.cut_at(&text, end)]),
        None => text,
    }
}
