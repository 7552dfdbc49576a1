//! A text for the model, grouped by file, that ends where there is no more room.

use crate::one_line;
use toolpost_core::Context;

/// Bytes of the text that are kept free for what follows.
const ROOM_FOR_NOTE: usize = 4 * 1024;

/// The text as it grows.
pub(super) struct Page {
    text: String,
    room: usize,
    file: Option<String>,
    /// Lines that were not added for lack of room.
    pub(super) left_out: usize,
}

impl Page {
    pub(super) fn new(ctx: &Context) -> Page {
        let room = ctx.output_budget().bytes.saturating_sub(ROOM_FOR_NOTE);
        Page { text: String::new(), room, file: None, left_out: 0 }
    }

    /// A line that belongs to no file.
    pub(super) fn heading(&mut self, line: &str) {
        self.file = None;
        let blank = if self.text.is_empty() { "" } else { "\n" };
        self.push(&format!("{blank}{line}\n"));
    }

    /// A line of a file, below the file's name.
    pub(super) fn line(&mut self, file: &str, line: &str) {
        let is_new = self.file.as_deref() != Some(file);
        let heading = match is_new {
            true if self.text.is_empty() || self.text.ends_with(":\n") => format!("{}\n", one_line(file)),
            true => format!("\n{}\n", one_line(file)),
            false => String::new(),
        };
        if self.push(&format!("{heading}{line}\n")) && is_new {
            self.file = Some(file.to_owned());
        }
    }

    fn push(&mut self, text: &str) -> bool {
        let fits = self.left_out == 0 && self.text.len() + text.len() <= self.room;
        match fits {
            true => self.text.push_str(text),
            false => self.left_out += 1,
        }
        fits
    }

    /// The text with what is to be said at its end.
    pub(super) fn finish(mut self, note: &str) -> String {
        self.text.push_str(note);
        self.text
    }
}
