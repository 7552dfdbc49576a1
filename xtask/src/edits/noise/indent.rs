//! Indentation: lost, added, or of another style.

use super::{Kind, Noisy, decidable, indentation, is_blank};

pub(super) const KINDS: &[Kind] =
    &[decidable("dedent-all", "every line of both strings has lost the same indentation", |edit, _| {
        let lines = || edit.old.iter().chain(&edit.new).filter(|line| !is_blank(line));
        let common = common_indentation(lines())?;
        let cut = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| line.strip_prefix(&common).unwrap_or(line).to_owned()).collect()
        };
        Noisy::lines(edit, &cut(&edit.old), &cut(&edit.new))
    })];

/// The indentation that all lines share; `None` if there is none.
fn common_indentation<'a>(mut lines: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut common = indentation(lines.next()?);
    for line in lines {
        let shared = common.bytes().zip(line.bytes()).take_while(|(one, other)| one == other).count();
        common = &common[..shared];
    }
    (!common.is_empty()).then(|| common.to_owned())
}
