//! Variables in the texts of a server's entry, put in as the program does whose file it is.

use crate::config::private;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_core::text::LARGEST;

/// How variables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `${NAME}`, `${NAME:-default}`, `${env:NAME}`, and the editors' `${workspaceFolder}` and others.
    Braces,
    /// `$NAME`, `${NAME}`, `${NAME:-default}`; what is not set stays as it is.
    Dollars,
    /// `{env:NAME}`, `{file:path}`.
    Curly,
    /// There are none.
    Nothing,
}

/// What the variables stand for.
pub(super) struct Surroundings<'a> {
    pub(super) variables: &'a BTreeMap<String, String>,
    /// The workspace's root.
    pub(super) root: &'a Path,
    pub(super) home: Option<&'a Path>,
    /// The folder of the file, from which `{file:…}` counts.
    pub(super) folder: &'a Path,
}

/// The text with its variables put in. What was odd about it goes into `notes`; the error says why it cannot be done.
pub(super) fn expand(
    way: Way,
    text: &str,
    around: &Surroundings<'_>,
    notes: &mut Vec<String>,
) -> Result<String, String> {
    let (sign, open): (char, &str) = match way {
        Way::Nothing => return Ok(text.to_owned()),
        Way::Braces => ('$', "${"),
        Way::Dollars => ('$', "$"),
        Way::Curly => ('{', "{"),
    };
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        result.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = reference(way, rest);
        let Some((inside, length)) = name else {
            result.push(sign);
            rest = &rest[sign.len_utf8()..];
            continue;
        };
        match value(way, inside, around, notes)? {
            Some(value) => result.push_str(&value),
            None => result.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    result.push_str(rest);
    Ok(result)
}

/// The names of variables and files that a text asks for, for whoever decides whether to trust it.
pub(super) fn wanted(way: Way, text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(if way == Way::Curly { '{' } else { '$' }) {
        rest = &rest[at..];
        match reference(way, rest) {
            Some((inside, length)) => {
                let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
                names.push(name.strip_prefix("env:").unwrap_or(name).to_owned());
                rest = &rest[length..];
            }
            None => rest = &rest[1..],
        }
    }
    names
}

/// What stands inside of the reference at the beginning of a text, and how long that reference is.
fn reference(way: Way, text: &str) -> Option<(&str, usize)> {
    let braced = |open: usize| {
        let end = text.get(open..)?.find('}')?;
        Some((&text[open..open + end], open + end + 1))
    };
    match way {
        Way::Nothing => None,
        Way::Braces | Way::Dollars if text.starts_with("${") => {
            braced(2).filter(|(inside, _)| !inside.is_empty() && !inside.contains(['$', '{', '\n']))
        }
        Way::Dollars => {
            let name = text.get(1..)?;
            let length = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
            (length > 0).then(|| (&name[..length], length + 1))
        }
        Way::Curly => {
            braced(1).filter(|(inside, _)| inside.starts_with("env:") || inside.starts_with("file:"))
        }
        Way::Braces => None,
    }
}

/// The value of a reference; none if it stays as it is written.
fn value(
    way: Way,
    inside: &str,
    around: &Surroundings<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, String> {
    if let Some(id) = inside.strip_prefix("input:") {
        return Err(format!(
            "it asks for the input `{id}`, and no person can be asked here; use a variable instead"
        ));
    }
    if let Some(path) = inside.strip_prefix("file:").filter(|_| way == Way::Curly) {
        return content(path, around).map(Some);
    }
    if let Some(name) = inside.strip_prefix("env:") {
        let found = around.variables.get(name).cloned();
        if found.is_none() {
            notes.push(format!("the variable `{name}` is not set, so nothing is put in for it"));
        }
        return Ok(Some(found.unwrap_or_default()));
    }
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if let Some(value) = around.variables.get(name).filter(|value| default.is_none() || !value.is_empty()) {
        return Ok(Some(value.clone()));
    }
    if let Some(default) = default {
        return Ok(Some(default.to_owned()));
    }
    if way == Way::Dollars {
        notes.push(format!("the variable `{name}` is not set, so the text stays as it is"));
        return Ok(None);
    }
    match predefined(name, around) {
        Some(value) => Ok(Some(value)),
        None if name.contains(':') => {
            Err(format!("`${{{inside}}}` is not known here; write the value itself"))
        }
        None => Err(format!("the variable `{name}` is not set; set it, or write `${{{name}:-default}}`")),
    }
}

/// The variables that editors, and Claude Code, bring by themselves.
fn predefined(name: &str, around: &Surroundings<'_>) -> Option<String> {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    match name {
        "workspaceFolder" | "CLAUDE_PROJECT_DIR" | "cwd" => Some(shown(around.root)),
        "workspaceFolderBasename" => Some(shown(Path::new(around.root.file_name()?))),
        "userHome" => around.home.map(shown),
        "pathSeparator" | "/" => Some("/".to_owned()),
        _ => None,
    }
}

/// A path of a file: from the home directory, absolute, or from the folder given.
pub(super) fn place(path: &str, home: Option<&Path>, from: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => from.join(path),
    }
}

fn content(path: &str, around: &Surroundings<'_>) -> Result<String, String> {
    let place = place(path, around.home, around.folder);
    let shown = place.display();
    let file = private::read(&place, LARGEST).map_err(|why| format!("the file `{shown}` {why}"))?;
    let bytes = file.ok_or_else(|| format!("no file `{shown}` to insert"))?.bytes;
    let text = String::from_utf8(bytes).map_err(|_| format!("the file `{shown}` is not valid UTF-8"))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text where `A` is `1`, `EMPTY` is empty and nothing else is set; an error begins with `!`.
    fn check(way: Way, text: &str, expected: &str) {
        let variables =
            [("A", "1"), ("EMPTY", "")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let around = Surroundings {
            variables: &variables,
            root: Path::new("/repo"),
            home: Some(Path::new("/me")),
            folder: Path::new("/nowhere"),
        };
        let got = expand(way, text, &around, &mut Vec::new()).unwrap_or_else(|why| format!("!{why}"));
        let is_as_expected = expected
            .strip_prefix('!')
            .map_or(got == expected, |part| got.contains(part) && got.starts_with('!'));
        assert!(is_as_expected, "{way:?} {text}: {got}, not {expected}");
    }

    #[test]
    fn each_way_has_its_own_spelling() {
        use Way::{Braces, Curly, Dollars, Nothing};
        for (way, text, expected) in [
            (Braces, "x${A}y${A}", "x1y1"),
            (Braces, "${B:-two}${EMPTY:-e}${A:-no}", "twoe1"),
            (Braces, "${EMPTY}|${B:-}", "|"),
            (Braces, "$A {env:A} $ ${ ${} $${A}", "$A {env:A} $ ${ ${} $1"),
            (Braces, "${B}", "!the variable `B` is not set"),
            (Braces, "${env:A}${env:B}", "1"),
            (Braces, "${workspaceFolder}/${workspaceFolderBasename} ${userHome}${/}x", "/repo/repo /me/x"),
            (Braces, "${input:token}", "!asks for the input `token`"),
            (Braces, "${config:x}", "!is not known here"),
            (Braces, "${A", "${A"),
            (Dollars, "$A-${A}-$B-${B}-${B:-b}-$-$$A", "1-1-$B-${B}-b-$-$1"),
            (Dollars, "${input:x}", "!asks for the input"),
            (Curly, "{env:A}{env:B}${A}{x}{", "1${A}{x}{"),
            (Curly, "{file:token}", "!no file `/nowhere/token`"),
            (Nothing, "$A ${A} {env:A}", "$A ${A} {env:A}"),
        ] {
            check(way, text, expected);
        }
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let variables =
            [("A".to_owned(), "${B} $B {env:B}".to_owned()), ("B".to_owned(), "b".to_owned())].into();
        let around =
            Surroundings { variables: &variables, root: Path::new("/"), home: None, folder: Path::new("/") };
        for (way, text) in [(Way::Braces, "${A}"), (Way::Dollars, "$A"), (Way::Curly, "{env:A}")] {
            assert_eq!(expand(way, text, &around, &mut Vec::new()).unwrap(), "${B} $B {env:B}");
        }
    }

    #[test]
    fn what_is_wanted_is_named() {
        assert_eq!(wanted(Way::Braces, "a ${A} ${B:-c} ${env:D} $E"), ["A", "B", "D"]);
        assert_eq!(wanted(Way::Dollars, "$A ${B}"), ["A", "B"]);
        assert_eq!(wanted(Way::Curly, "{env:A} {file:~/.key}"), ["A", "file:~/.key"]);
    }
}
