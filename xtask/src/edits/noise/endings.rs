//! Line endings, byte order marks and a missing final line ending.

use super::{Kind, Noisy, Place, decidable, lossy};

const BOM: char = '\u{feff}';

pub(super) const KINDS: &[Kind] = &[
    decidable("crlf-file", "the file has CRLF, the strings LF: new lines get CRLF too", |edit, _| {
        let mut noisy = Noisy::text(edit.old.join("\n"), edit.new.join("\n"));
        noisy.ending = "\r\n";
        // One line alone does not show how lines end.
        (edit.before.len() > 1).then_some(noisy)
    }),
    decidable("crlf-strings", "the strings have CRLF, the file LF", |edit, _| {
        let is_long = edit.old.len() > 1;
        is_long.then(|| Noisy::text(edit.old.join("\r\n"), edit.new.join("\r\n")))
    }),
    decidable("crlf-old", "`oldString` has CRLF, `newString` and the file LF", |edit, _| {
        let is_long = edit.old.len() > 1;
        is_long.then(|| Noisy::text(edit.old.join("\r\n"), edit.new.join("\n")))
    }),
    decidable("crlf-some", "some lines of `oldString` have CRLF, the file LF", |edit, random| {
        let mut old = edit.old.clone();
        let last = old.len() - 1;
        old[..last].iter_mut().filter(|_| random.once_in(2)).for_each(|line| line.push('\r'));
        Noisy::lines(edit, &old, &edit.new)
    }),
    lossy("crlf-new", "`newString` alone has CRLF: read exactly, it brings CRLF into the file", |edit, _| {
        let is_long = edit.new.len() > 1;
        is_long.then(|| Noisy::text(edit.old.join("\n"), edit.new.join("\r\n")))
    }),
    decidable("cr-ends", "each line of both strings ends with a lone CR instead of LF", |edit, _| {
        let is_long = edit.old.len() > 1 && edit.new.len() > 1;
        is_long.then(|| Noisy::text(edit.old.join("\r"), edit.new.join("\r")))
    }),
    decidable("bom-file", "the file begins with a BOM, the strings do not show it", |edit, _| {
        if edit.start > 0 {
            return None;
        }
        let (mut before, mut truth) = (edit.before.to_vec(), edit.truth());
        before[0].insert(0, BOM);
        truth[0].insert(0, BOM);
        Noisy::in_file(edit, before, truth)
    }),
    decidable("bom-strings", "both strings begin with a BOM, the file does not", |edit, _| {
        Some(Noisy::text(format!("{BOM}{}", edit.old.join("\n")), format!("{BOM}{}", edit.new.join("\n"))))
    }),
    decidable(
        "final-newline",
        "the file ends without a line ending, both strings end with one",
        |edit, _| {
            let is_last = edit.start + edit.old.len() == edit.before.len();
            let mut noisy =
                Noisy::text(format!("{}\n", edit.old.join("\n")), format!("{}\n", edit.new.join("\n")));
            noisy.has_no_final_newline = true;
            noisy.place = Place::Sure;
            is_last.then_some(noisy)
        },
    ),
];
