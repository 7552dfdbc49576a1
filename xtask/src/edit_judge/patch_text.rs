//! A draft as the text of a patch, in the forms that models write.

use super::claim::Form;
use super::draft::{Block, Draft, Mark};

/// The text of the whole patch; an edit has none.
pub(super) fn write(draft: &Draft, form: Form) -> String {
    match form {
        Form::Edit => String::new(),
        Form::Unified => unified(draft),
        Form::Codex => codex(draft),
        Form::Blocks => blocks(draft),
    }
}

fn body(block: &Block) -> String {
    let mut text = String::new();
    for row in &block.rows {
        let (sign, line) = match row.mark {
            Mark::Keep => (' ', &row.old),
            Mark::Gone => ('-', &row.old),
            Mark::New => ('+', &row.new),
        };
        text.push(sign);
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn unified(draft: &Draft) -> String {
    let path = &draft.path;
    let mut hunks = Vec::new();
    let mut new_first = 0;
    let mut old_end = 0;
    for block in &draft.blocks {
        let count = |mark: Mark| block.rows.iter().filter(|row| row.mark == mark).count();
        let (kept, gone, new) = (count(Mark::Keep), count(Mark::Gone), count(Mark::New));
        new_first += block.first - old_end;
        let header =
            format!("@@ -{},{} +{},{} @@\n", block.first + 1, kept + gone, new_first + 1, kept + new);
        hunks.push(header + &body(block));
        new_first += kept + new;
        old_end = block.end();
    }
    if draft.is_reversed {
        hunks.reverse();
    }
    format!("--- a/{path}\n+++ b/{path}\n{}", hunks.concat())
}

fn codex(draft: &Draft) -> String {
    let mut hunks: Vec<String> = draft.blocks.iter().map(|block| format!("@@\n{}", body(block))).collect();
    if draft.is_reversed {
        hunks.reverse();
    }
    format!("*** Begin Patch\n*** Update File: {}\n{}*** End Patch\n", draft.path, hunks.concat())
}

fn blocks(draft: &Draft) -> String {
    let mut text = String::new();
    for block in &draft.blocks {
        let side = |without: Mark| {
            let rows = block.rows.iter().filter(|row| row.mark != without);
            let line = |row: &super::draft::Row| {
                if row.mark == Mark::New { row.new.clone() } else { row.old.clone() }
            };
            rows.map(|row| line(row) + "\n").collect::<String>()
        };
        let (old, new) = (side(Mark::New), side(Mark::Gone));
        text.push_str(&format!("{}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n", draft.path));
    }
    text
}
