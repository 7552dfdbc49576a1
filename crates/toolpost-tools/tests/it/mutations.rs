//! Thousands of slightly wrong edits of real files: each is right or refused, none is wrong.
//!
//! What is right is told from the lines that were meant, before they were written otherwise; nothing here asks the
//! ladder.

mod lines;
mod parts;
mod readings;
mod slip;

use super::edit::SOURCES;
use crate::fixed::Fixed as Executor;
use serde_json::json;
use std::sync::Arc;
use toolpost_core::{Call, Context, Memory, Outcome, Workspace, WorkspacePath};

/// Longer files, and such as repeat themselves.
const LONG_SOURCES: [(&str, &str); 3] = [
    ("layers.rs", include_str!("../data/layers.rs")),
    ("lock.toml", include_str!("../data/lock.toml")),
    ("page.md", include_str!("../data/page.md")),
];

/// Every file that mutations are made of.
pub(super) fn sources() -> Vec<(&'static str, &'static str)> {
    SOURCES.into_iter().chain(LONG_SOURCES).collect()
}

/// Numbers that are the same on every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// What somebody wants: a block of lines changed a little.
pub(super) fn intention(random: &mut Random, lines: &[&str]) -> (usize, usize, String) {
    let length = 1 + random.below(9).min(lines.len() - 1);
    let first = random.below(lines.len() - length + 1);
    let mut block: Vec<String> = lines[first..first + length].iter().map(|line| (*line).to_owned()).collect();
    let at = random.below(length);
    // A blank line is as deep as what follows it, and there is nothing in it to wrap.
    let is_blank = block[at].trim().is_empty();
    let filled = lines[first + at..].iter().find(|line| !line.trim().is_empty());
    let depth = filled.map_or("", |line| &line[..indent(line)]);
    match random.below(5) {
        0 => block[at] = format!("{depth}replaced({at}, \"it's\");\n"),
        1 => block.insert(at, format!("{depth}inserted({at});\n")),
        2 if length > 1 => drop(block.remove(at)),
        3 => block[at] = block[at].replacen(|c: char| c.is_alphanumeric(), "Zz", 1),
        _ if is_blank => block.insert(at, format!("{depth}inserted({at});\n")),
        _ => {
            // Wrapped: deeper by one step, where the file shows what a step is.
            let narrowest =
                lines.iter().map(|line| &line[..indent(line)]).filter(|indent| !indent.is_empty());
            let step = narrowest.min_by_key(|indent| indent.len()).unwrap_or_default();
            block[at] = format!("{depth}wrap {{\n{depth}{step}{}{depth}}}\n", block[at].trim_start());
        }
    }
    (first, length, block.concat())
}

/// What comes of an edit of a file, and the file afterwards.
async fn edited(executor: &Executor, name: &str, source: &str, old: &str, new: &str) -> (Outcome, String) {
    let memory = Memory::new();
    let path = WorkspacePath::new(name);
    memory.write(&path, source.as_bytes()).unwrap();
    let ctx = Context::builder(Arc::new(memory)).build();
    let args = json!({"filePath": name, "oldString": old, "newString": new});
    let outcome = executor.run(&ctx, Call::new("edit", args)).await;
    let mut after = String::new();
    ctx.workspace().open(&path).unwrap().reader.read_to_string(&mut after).unwrap();
    (outcome, after)
}
