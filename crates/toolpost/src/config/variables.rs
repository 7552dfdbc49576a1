//! Variables `TOOLPOST_…` that no key has. One of them was set to mean something, and it could have been to narrow.

use super::env::{LOG, is_secret};
use super::keys::KEYS;
use super::origin::{Problem, shortened};
use super::settings::ours;
use std::collections::BTreeMap;
use toolpost_core::text::{misspelling_of, nearest};

const PREFIX: &str = "TOOLPOST_";

/// Variables with other readers: a server that we start, the tests of this project, tools of a folder for their arguments.
const OF_OTHERS: [&str; 6] = [
    "TOOLPOST_UPSTREAM",
    "TOOLPOST_TEST_",
    "TOOLPOST_SOAK",
    "TOOLPOST_SEED",
    "TOOLPOST_DAILY",
    "TOOLPOST_ARG_",
];

/// What is wrong with the names of variables. `is_named` says whether the user's own files speak of one, as the key
/// `environment` and servers do.
pub(super) fn strays(variables: &BTreeMap<String, String>, is_named: impl Fn(&str) -> bool) -> Vec<Problem> {
    let names = variables.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name.as_str());
    let names = names.filter(|name| !known().any(|known| known == *name) && !is_named(name));
    names.filter_map(|name| Some(Problem::of(shortened(name, 60), message(name)?))).collect()
}

fn known() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.variable()).filter(|name| !name.is_empty()).chain([LOG])
}

/// What is wrong with a name that no key has; none where it is not one of ours.
fn message(name: &str) -> Option<String> {
    let near = match name.starts_with(PREFIX) {
        true if OF_OTHERS.iter().any(|other| name.starts_with(other)) || is_secret(name) => return None,
        true => of_other_words(name).or_else(|| nearest(&shortened(name, 60), known(), 1).pop()),
        false => near_prefix(name).map(str::to_owned),
    };
    match near {
        Some(near) => Some(format!("no key has this variable; did you mean `{near}`? Otherwise unset it")),
        None if name.starts_with(PREFIX) => {
            let known: Vec<&str> = known().collect();
            Some(format!("no key has this variable; unset it, or set one of {}", known.join(", ")))
        }
        None => None,
    }
}

/// The variable of the key that other programs call otherwise: `TOOLPOST_PROFILE`.
fn of_other_words(name: &str) -> Option<String> {
    let key = ours(name.strip_prefix(PREFIX)?)?;
    KEYS.iter()
        .find(|row| row.name() == key && !row.variable().is_empty())
        .map(|row| row.variable().to_owned())
}

/// A variable of ours whose beginning is misspelt: `TOOLPOT_POLICY`, `toolpost_policy`.
fn near_prefix(name: &str) -> Option<&'static str> {
    let bare = |name: &str| name.replace(['-', '_', '.'], "");
    let is_alike = |known: &&&str| bare(known).eq_ignore_ascii_case(&bare(name));
    let known: Vec<&'static str> = known().collect();
    let same_end = |known: &&&str| {
        let end = &known[PREFIX.len() - 1..];
        let begin = name.len().checked_sub(end.len()).and_then(|at| Some((name.get(..at)?, name.get(at..)?)));
        begin.is_some_and(|(begin, rest)| {
            rest.eq_ignore_ascii_case(end) && misspelling_of(begin, ["TOOLPOST"]).is_some()
        })
    };
    let is_ours = name.get(..8).is_some_and(|begin| begin.eq_ignore_ascii_case("TOOLPOST"));
    let near = || misspelling_of(name, known.iter().copied()).filter(|_| is_ours);
    known.iter().find(is_alike).or_else(|| known.iter().find(same_end)).copied().or_else(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_no_key_are_errors() {
        for (name, expected) in [
            ("TOOLPOST_POLCY", Some("TOOLPOST_POLICY")),
            ("TOOLPOST_polcy", Some("TOOLPOST_POLICY")),
            ("toolpost_policy", Some("TOOLPOST_POLICY")),
            ("TOOLPOSTPOLICY", Some("TOOLPOST_POLICY")),
            ("TOOLPOSTxPOLICY", Some("TOOLPOST_POLICY")),
            ("TOOLPOST-ASK", Some("TOOLPOST_ASK")),
            ("TOOLPSOT_POLICY", Some("TOOLPOST_POLICY")),
            ("TOOLPOST_DENYY", Some("TOOLPOST_DENY")),
            ("TOOLPOST_READ_ONLY", Some("`TOOLPOST_POLICY`")),
            ("TOOLPOST_PROFILE", Some("`TOOLPOST_POLICY`")),
            ("TOOLPOST_EXCLUDE_TOOLS", Some("`TOOLPOST_DENY`")),
            ("TOOLPOST_ARG_POLCY", None),
            ("TOOLPOST_LAB_API_KEY", None),
            ("TOOLPOST_UPSTREAM", None),
            ("TOOLPOST", None),
            ("PATH", None),
            ("MY_POLICY", None),
            ("WORKPOST_POLICY", None),
        ] {
            let found = message(name);
            assert_eq!(found.is_some(), expected.is_some(), "{name}: {found:?}");
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{name}");
        }
    }
}
