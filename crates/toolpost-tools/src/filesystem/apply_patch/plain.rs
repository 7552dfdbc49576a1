//! A patch whose `<`, `>`, `&` and quotes were written as in HTML: undone in all of its lines, or in none.

use super::parse::malformed;
use super::patch::{Change, Hunk, Patch};
use super::plan::{Existed, World};
use crate::filesystem::entities::{self, Entities};
use crate::filesystem::ladder;
use toolpost_core::ToolError;

/// The patch with plain characters, where its files have these for the entities of its old lines.
pub(super) fn plain(mut patch: Patch, world: &World) -> Result<Patch, ToolError> {
    let (mut all, mut numbers, mut olds) = (Vec::new(), Vec::new(), Vec::new());
    for file in &patch.files {
        if let Change::Add { content, .. } = &file.change {
            all.push(content.as_str());
            numbers.push(file.line);
        }
        let there = world.names.get(&file.path).and_then(|name| world.files.get(name));
        let there = match there {
            Some(Existed::File { bytes, .. }) => std::str::from_utf8(bytes).unwrap_or_default(),
            _ => "",
        };
        for line in hunks(&file.change).iter().flat_map(|hunk| &hunk.lines) {
            all.push(line.text.as_str());
            numbers.push(line.line);
            if line.is_old() {
                olds.push((line.text.as_str(), there));
            }
        }
    }
    let plain = match entities::judged(olds.iter().copied(), &all) {
        Entities::Meant => match entities::judged_code_points(olds.into_iter(), &all) {
            Entities::Meant => return Ok(patch),
            Entities::Mixed(at) => {
                let what = "this text has characters as they are and as code points such as `\\u003c`";
                return Err(malformed(numbers[at], what, "write the patch without code points"));
            }
            Entities::Throughout => |text: &str| ladder::without_code_points(text).0,
        },
        Entities::Mixed(at) => {
            let what = "this text has characters as they are that other lines of the patch have as entities such as `&lt;`";
            return Err(malformed(numbers[at], what, "write the patch without entities"));
        }
        Entities::Throughout => ladder::without_entities,
    };
    for file in &mut patch.files {
        match &mut file.change {
            Change::Add { content, .. } => *content = plain(content),
            Change::Delete { hunks } | Change::Update { hunks, .. } => {
                for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                    line.text = plain(&line.text);
                }
            }
        }
    }
    Ok(patch)
}

fn hunks(change: &Change) -> &[Hunk] {
    match change {
        Change::Add { .. } => &[],
        Change::Delete { hunks } | Change::Update { hunks, .. } => hunks,
    }
}
