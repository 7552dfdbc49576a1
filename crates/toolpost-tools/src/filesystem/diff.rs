//! What a change of a file looks like, as a unified diff of bounded size.

use similar::{Algorithm, TextDiff};
use std::time::{Duration, Instant};

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
        let names = [before.map(|_| name), after.map(|_| name)];
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let mut diff = Diff::whole(names, old, new, Instant::now() + PATIENCE);
        diff.cut();
        diff
    }

    /// However long it is. The names are those before and after; `None` stands for a file that is not there.
    pub(crate) fn whole(names: [Option<&str>; 2], old: &str, new: &str, deadline: Instant) -> Diff {
        let diff = TextDiff::configure().algorithm(Algorithm::Myers).deadline(deadline).diff_lines(old, new);
        let (mut added, mut removed) = (0, 0);
        for op in diff.ops().iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
            added += op.new_range().len();
            removed += op.old_range().len();
        }
        let [before, after] = Diff::sides(names);
        let text = diff.unified_diff().header(&before, &after).context_radius(3).to_string();
        Diff { text, added, removed }
    }

    /// The two names as the head of a diff has them.
    pub(crate) fn sides(names: [Option<&str>; 2]) -> [String; 2] {
        let side = |mark: &str, name: Option<&str>| {
            name.map_or_else(|| "/dev/null".to_owned(), |name| format!("{mark}/{}", crate::one_line(name)))
        };
        [side("a", names[0]), side("b", names[1])]
    }

    fn cut(&mut self) {
        let text = &mut self.text;
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
    }

    /// The diff for a model or a terminal: without the carriage returns of the file.
    pub(crate) fn shown(&self) -> String {
        self.text.replace("\r\n", "\n")
    }
}
