//! `docs`: the generated pages under docs/reference/. The pages themselves are written by the product, which knows
//! its tools, flags and codes; this only puts them in place or compares them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::process;

const PLACE: &str = "docs/reference";

/// Replaces docs/reference/ with what the product says of itself now.
pub(crate) fn write(root: &Path) -> Result<()> {
    let pages = generate(root)?;
    let place = root.join(PLACE);
    if place.exists() {
        fs::remove_dir_all(&place).with_context(|| format!("cannot remove {PLACE}"))?;
    }
    for (name, text) in &pages {
        let path = place.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {PLACE}/{}", name.display()))?;
        println!("{PLACE}/{}", name.display());
    }
    Ok(())
}

/// An error if docs/reference/ is not what the product says of itself now.
pub(crate) fn check(root: &Path) -> Result<()> {
    let generated = generate(root)?;
    let place = root.join(PLACE);
    let committed = if place.exists() { read(&place)? } else { Pages::new() };
    match first_difference(&committed, &generated) {
        Some(difference) => bail!("{PLACE}/{difference}\nrun `cargo xtask docs`"),
        None => Ok(()),
    }
}

/// The bytes of each page, by its path below the folder.
type Pages = BTreeMap<PathBuf, Vec<u8>>;

fn generate(root: &Path) -> Result<Pages> {
    let arguments =
        ["run", "-q", "--locked", "-p", "toolpost", "--bin", "toolpost", "--", "internal", "reference"];
    let printed = process::capture(&mut process::cargo(root, &arguments))?;
    let pages: BTreeMap<PathBuf, String> = serde_json::from_str(&printed)
        .context("`toolpost internal reference` did not print pages as JSON")?;
    if pages.is_empty() {
        bail!("`toolpost internal reference` printed no page");
    }
    Ok(pages.into_iter().map(|(name, text)| (name, text.into_bytes())).collect())
}

fn read(folder: &Path) -> Result<Pages> {
    let mut pages = Pages::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(current) = open.pop() {
        for entry in fs::read_dir(&current).with_context(|| format!("cannot list {}", current.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                pages.insert(path.strip_prefix(folder)?.to_path_buf(), bytes);
            }
        }
    }
    Ok(pages)
}

fn first_difference(committed: &Pages, generated: &Pages) -> Option<String> {
    for (name, text) in generated {
        match committed.get(name) {
            None => return Some(format!("{} is missing", name.display())),
            Some(old) if old != text => return Some(difference(name, old, text)),
            Some(_) => {}
        }
    }
    let extra = committed.keys().find(|name| !generated.contains_key(*name))?;
    Some(format!("{} is no longer generated", extra.display()))
}

fn difference(name: &Path, committed: &[u8], generated: &[u8]) -> String {
    let (committed, generated) = (String::from_utf8_lossy(committed), String::from_utf8_lossy(generated));
    let (mut old, mut new) = (committed.split('\n'), generated.split('\n'));
    let mut number = 1;
    loop {
        match (old.next(), new.next()) {
            (None, None) => return format!("{} differs", name.display()),
            (old, new) if old != new => {
                let shown = |line: Option<&str>| line.unwrap_or("(end of the page)").to_owned();
                return format!(
                    "{}:{number}: differs\n  committed: {}\n  generated: {}",
                    name.display(),
                    shown(old),
                    shown(new)
                );
            }
            _ => number += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(list: &[(&str, &str)]) -> Pages {
        list.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect()
    }

    fn check(committed: &[(&str, &str)], generated: &[(&str, &str)], expected: Option<&str>) {
        let difference = first_difference(&pages(committed), &pages(generated));
        assert_eq!(difference.as_deref(), expected);
    }

    #[test]
    fn the_first_difference_is_shown() {
        check(&[("a.md", "1\n2\n")], &[("a.md", "1\n2\n")], None);
        check(
            &[("a.md", "1\n2\n")],
            &[("a.md", "1\n3\n")],
            Some("a.md:2: differs\n  committed: 2\n  generated: 3"),
        );
        check(
            &[("a.md", "1")],
            &[("a.md", "1\n")],
            Some("a.md:2: differs\n  committed: (end of the page)\n  generated: "),
        );
    }

    #[test]
    fn missing_and_extra_pages_are_differences() {
        check(&[], &[("a.md", "")], Some("a.md is missing"));
        check(&[("a.md", ""), ("b.md", "")], &[("a.md", "")], Some("b.md is no longer generated"));
    }

    #[test]
    fn pages_in_folders_are_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("deep/a.md"), "text").unwrap();
        assert_eq!(read(folder.path()).unwrap(), pages(&[("deep/a.md", "text")]));
    }
}
