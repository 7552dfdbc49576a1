//! What a change of a file looks like, as a unified diff of bounded size.

use similar::{Algorithm, ChangeTag, TextDiff};
use std::time::Duration;

/// Bytes of a diff that are kept.
const MAX_BYTES: usize = 20_000;
/// How long a shorter diff is looked for; after that it is only a correct one.
const PATIENCE: Duration = Duration::from_secs(1);

/// The difference between two texts.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// Unified, three lines of context, cut where it is long.
    pub(crate) text: String,
    /// Lines that are new.
    pub(crate) added: usize,
    /// Lines that are gone.
    pub(crate) removed: usize,
}

impl Diff {
    /// `None` stands for a file that is not there.
    pub(crate) fn between(name: &str, before: Option<&str>, after: Option<&str>) -> Diff {
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(old, new);
        let (mut added, mut removed) = (0, 0);
        for op in diff.ops().iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
            for change in diff.iter_changes(op) {
                match change.tag() {
                    ChangeTag::Insert => added += 1,
                    ChangeTag::Delete => removed += 1,
                    ChangeTag::Equal => {}
                }
            }
        }
        let side = |mark: &str, text: Option<&str>| match text {
            Some(_) => format!("{mark}/{}", crate::one_line(name)),
            None => "/dev/null".to_owned(),
        };
        let mut text =
            diff.unified_diff().header(&side("a", before), &side("b", after)).context_radius(3).to_string();
        if text.len() > MAX_BYTES {
            let mut end = MAX_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
            let left_out = text[end..].lines().count();
            text.truncate(end);
            text.push_str(&format!("(diff cut: {left_out} more lines)\n"));
        }
        Diff { text, added, removed }
    }

    /// The diff for a model or a terminal: without the carriage returns of the file.
    pub(crate) fn shown(&self) -> String {
        self.text.replace("\r\n", "\n")
    }
}
