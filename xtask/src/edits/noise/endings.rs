//! Line endings of the file and of the strings.

use super::{Kind, Noisy, decidable};

pub(super) const KINDS: &[Kind] = &[
    decidable("crlf-file", "the file has CRLF, the strings LF: new lines get CRLF too", |edit, _| {
        let mut noisy = Noisy::text(edit.old.join("\n"), edit.new.join("\n"));
        noisy.ending = "\r\n";
        Some(noisy)
    }),
    decidable("crlf-strings", "the strings have CRLF, the file LF", |edit, _| {
        let is_long = edit.old.len() > 1;
        is_long.then(|| Noisy::text(edit.old.join("\r\n"), edit.new.join("\r\n")))
    }),
];
