//! Cases worth a look, as files: what was wrong first, then what was refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::decide::Trial;
use super::drive;
use super::ruling::{Deed, Ruling};

/// Files for each kind of noise.
const WRONG: usize = 6;
const REFUSED: usize = 2;

pub(super) struct Findings {
    folder: PathBuf,
    written: BTreeMap<(Ruling, String), usize>,
}

const FOLDERS: [(Ruling, &str); 4] = [
    (Ruling::Wrong, "1-wrong"),
    (Ruling::Bold, "2-bold"),
    (Ruling::Refused, "3-refused"),
    (Ruling::Guessed, "4-guessed"),
];

impl Findings {
    /// Begins with empty folders.
    pub(super) fn new(folder: &Path) -> Result<Findings> {
        for (_, name) in FOLDERS {
            let folder = folder.join(name);
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(folder)?;
        }
        Ok(Findings { folder: folder.to_path_buf(), written: BTreeMap::new() })
    }

    pub(super) fn add(&mut self, trial: &Trial, deed: &Deed, ruling: Ruling) -> Result<()> {
        let Some((_, folder)) = FOLDERS.iter().find(|(found, _)| *found == ruling) else { return Ok(()) };
        if ruling == Ruling::Refused && trial.claim != super::claim::Claim::Decidable {
            return Ok(());
        }
        let name = if trial.names.len() > 1 { "two kinds" } else { trial.names[0] };
        let plain: String = name
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
            .collect();
        let name = format!("{}-{plain}", trial.form.name());
        let most = match ruling {
            Ruling::Wrong if trial.names.len() > 1 => 5 * WRONG,
            Ruling::Wrong => WRONG,
            _ => REFUSED,
        };
        let count = self.written.entry((ruling, name.clone())).or_default();
        if *count >= most {
            return Ok(());
        }
        *count += 1;
        let (tool, arguments) = drive::call(trial);
        let expected = trial.right.first().cloned().unwrap_or_default();
        let value = json!({
            "kinds": trial.names,
            "claim": format!("{:?}", trial.claim),
            "ruling": ruling.name(),
            "tool": tool,
            "call": arguments,
            "callShown": shown(trial),
            "message": deed.message,
            "trueChange": difference(&trial.file, &expected),
            "didChange": difference(&trial.file, &deed.file),
            "expectedToGot": difference(&expected, &deed.file),
            "source": trial.draft.source,
            "before": trial.file,
            "expected": expected,
            "got": deed.file,
        });
        let path = self.folder.join(folder).join(format!("{name}-{count}.json"));
        fs::write(path, serde_json::to_string_pretty(&value)?)?;
        Ok(())
    }

    pub(super) fn summary(&self, text: &str) -> Result<()> {
        Ok(fs::write(self.folder.join("SUMMARY.md"), text)?)
    }
}

/// The strings of the call as lines, so that they can be read.
fn shown(trial: &Trial) -> Vec<String> {
    let draft = &trial.draft;
    let text = match trial.form {
        super::claim::Form::Edit => format!("{}\n=== new\n{}", draft.old, draft.new),
        _ => draft.patch.clone(),
    };
    text.split('\n').map(str::to_owned).collect()
}

/// The lines in which two texts differ, without those at the beginning and end that they share.
pub(super) fn difference(before: &str, after: &str) -> Vec<String> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    let shortest = before.len().min(after.len());
    let head = (0..shortest).take_while(|at| before[*at] == after[*at]).count();
    let tail = (0..shortest - head)
        .take_while(|at| before[before.len() - 1 - at] == after[after.len() - 1 - at])
        .count();
    let first = head.saturating_sub(2);
    let mut lines: Vec<String> = before[first..head].iter().map(|line| format!(" {line}")).collect();
    lines.extend(before[head..before.len() - tail].iter().map(|line| format!("-{line}")));
    lines.extend(after[head..after.len() - tail].iter().map(|line| format!("+{line}")));
    let end = (after.len() - tail + 2).min(after.len());
    lines.extend(after[after.len() - tail..end].iter().map(|line| format!(" {line}")));
    lines.truncate(60);
    lines
}
