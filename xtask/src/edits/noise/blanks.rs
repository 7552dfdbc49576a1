//! Blanks at the ends of lines and within them, and blank lines.

use super::{Kind, Noisy, decidable, is_blank};

pub(super) const KINDS: &[Kind] = &[
    decidable("trailing-added", "blanks after some lines of `oldString`", |edit, random| {
        let mut old = edit.old.clone();
        for line in &mut old {
            if random.once_in(2) {
                line.push_str(["  ", " ", "\t", "    "][random.below(4)]);
            }
        }
        let is_plain = edit.old.iter().all(|line| line.trim_end() == line);
        Some(Noisy::lines(edit, &old, &edit.new)?.unless(!is_plain))
    }),
    decidable(
        "trailing-in-file",
        "the file has blanks after lines that stay, the strings have none",
        |edit, random| {
            let (mut before, mut truth) = (edit.before.clone(), edit.truth.clone());
            let mut is_changed = false;
            for (old_index, new_index) in edit.context() {
                if is_blank(&edit.old[old_index]) || random.once_in(2) {
                    continue;
                }
                is_changed = true;
                before[edit.start + old_index].push_str("  ");
                truth[edit.start + new_index].push_str("  ");
            }
            let mut noisy = Noisy::text(edit.old.join("\n"), edit.new.join("\n"));
            noisy.file = Some((before, truth));
            is_changed.then_some(noisy)
        },
    ),
];
