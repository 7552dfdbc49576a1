//! Cases that were written down, read back: `--again target/edits/wrong` runs them once more.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::cases::{Call, Case};
use super::noise::{self, Class, Kind};
use super::patch::PATH;

/// The cases of a folder that `drive` has written, or of its parent.
pub(super) fn read(folder: &Path) -> Result<Vec<(&'static Kind, Case)>> {
    if folder.join("call.json").exists() {
        return Ok(vec![read_one(folder)?]);
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort();
    let cases: Vec<_> = folders.iter().map(|folder| read_one(folder)).collect::<Result<_>>()?;
    if cases.is_empty() {
        bail!("no cases in {}", folder.display());
    }
    Ok(cases)
}

fn read_one(folder: &Path) -> Result<(&'static Kind, Case)> {
    let path = folder.join("call.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let call: Value =
        serde_json::from_str(&text).with_context(|| format!("invalid JSON in {}", path.display()))?;
    let word = |value: &Value, name: &str| {
        let found = value[name].as_str().map(str::to_owned);
        found.with_context(|| format!("no `{name}` in {}", path.display()))
    };
    let (name, class, source) = (word(&call, "kind")?, word(&call, "class")?, word(&call, "source")?);
    let kind = noise::kinds().into_iter().find(|kind| kind.name == name);
    let class = Class::ALL.into_iter().find(|one| one.name() == class);
    let extension =
        Path::new(&source).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let file = |part: &str| {
        let path = folder.join(format!("{part}.{extension}"));
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let arguments = &call["arguments"];
    let sent = match word(arguments, "patch") {
        Ok(patch) => Call::Patch(patch.replace(&format!("before.{extension}"), PATH)),
        Err(_) => Call::Edit { old: word(arguments, "oldString")?, new: word(arguments, "newString")? },
    };
    let case = Case {
        source: source.clone(),
        extension: extension.to_owned(),
        before: file("before")?,
        truth: file("expected")?,
        call: sent,
        class: class.with_context(|| format!("unknown class in {}", path.display()))?,
    };
    Ok((kind.with_context(|| format!("there is no kind `{name}` any more"))?, case))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("before.md", "one\n");
        write("expected.md", "two\n");
        let call = serde_json::json!({
            "tool": "edit",
            "arguments": { "filePath": "before.md", "oldString": "one", "newString": "two" },
            "kind": "none",
            "class": "decidable",
            "source": "package/file.md",
        });
        write("call.json", &call.to_string());
        let cases = read(folder.path()).unwrap();
        let (kind, case) = &cases[0];
        assert_eq!((kind.name, case.class), ("none", Class::Decidable));
        assert_eq!((case.before.as_str(), case.truth.as_str()), ("one\n", "two\n"));
        assert!(matches!(&case.call, Call::Edit { old, new } if old == "one" && new == "two"));
    }

    #[test]
    fn a_folder_without_cases_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).err().unwrap().to_string().starts_with("no cases in "));
    }
}
