//! Which definition is meant by a name, a file and a place.

use super::Asked;
use super::converted::kind_of;
use toolpost_code::answers::search::is_test;
use toolpost_code::facts::Name;
use toolpost_code::resolve::DefId;
use toolpost_code::world::FileId;
use toolpost_core::code::Target;
use toolpost_core::{Code, ToolError};

/// Maximum number of definitions of one name that are looked at, and that are named in an error.
const MOST_LOOKED_AT: usize = 2_000;
const MOST_NAMED: usize = 12;

/// What is meant, and what should be said about the choice.
pub(super) struct Meant {
    pub(super) defs: Vec<DefId>,
    pub(super) note: Option<String>,
}

/// What contains a symbol, from the outside in, and its own name: `module::Type.method`.
pub(super) fn split(symbol: &str) -> (Vec<&str>, &str) {
    let mut parts: Vec<&str> =
        symbol.split(['.', ':', '#', '/']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let name = parts.pop().unwrap_or(symbol);
    (parts, name.trim_end_matches("()"))
}

/// Whether a definition is inside of what was named: the innermost names are those of its container, those further out may
/// be parts of the path of its file.
pub(super) fn is_inside(container: &[String], path: &str, given: &[&str]) -> bool {
    let inner =
        given.iter().rev().zip(container.iter().rev()).take_while(|(given, own)| *given == *own).count();
    if inner == 0 && !container.is_empty() && !given.is_empty() {
        return false;
    }
    let same = |name: &str| name.replace('-', "_").to_lowercase();
    let parts: Vec<String> =
        path.split('/').map(|part| same(part.split('.').next().unwrap_or(part))).collect();
    let mut outer = given[..given.len() - inner].iter();
    outer.all(|name| matches!(*name, "crate" | "self" | "super") || parts.contains(&same(name)))
}

/// The identifier at the place of a target.
pub(super) fn token(asked: &Asked<'_, '_>, target: &Target) -> Result<Option<(FileId, u32)>, ToolError> {
    let Some(name) = &target.file else { return Ok(None) };
    let file = asked.file(name)?;
    let facts = asked.query.facts(file);
    let (_, wanted) = split(&target.symbol);
    let is_named = |index: &u32| facts.token(*index).is_some_and(|token| facts.text(token.name) == wanted);
    let Some(line) = target.line else {
        let number = Name::of(wanted);
        let found = (0..facts.tokens.len()).find(|index| facts.name(facts.tokens[*index].name) == number);
        return Ok(found.and_then(|index| u32::try_from(index).ok()).map(|index| (file, index)));
    };
    let Some(start) = facts.line_start(line) else { return Ok(None) };
    if let Some(column) = target.column {
        let at = facts.token_at(start + column - 1).filter(is_named);
        if let Some(index) = at {
            return Ok(Some((file, index)));
        }
    }
    // Models miscount columns: the name on that line is meant.
    let end = facts.line_start(line + 1).unwrap_or(u32::MAX);
    let first = facts.tokens.partition_point(|token| token.start < start);
    let on_line = facts.tokens[first..].iter().take_while(|token| token.start < end);
    let place = on_line.enumerate().find(|(_, token)| facts.text(token.name) == wanted);
    Ok(place.and_then(|(place, _)| u32::try_from(first + place).ok()).map(|index| (file, index)))
}

/// Every definition that a target may mean, the likeliest first.
pub(super) fn definitions(asked: &Asked<'_, '_>, target: &Target) -> Result<Vec<DefId>, ToolError> {
    if target.file.is_some() && target.line.is_some() {
        return at_place(asked, target);
    }
    let (container, name) = split(&target.symbol);
    let mut found = Vec::new();
    for hit in asked.query.search(name, MOST_LOOKED_AT) {
        let Some(symbol) = asked.query.symbol(hit.def) else { continue };
        let is_it = symbol.name == name
            && is_inside(&symbol.container, &symbol.path, &container)
            && target.file.as_ref().is_none_or(|file| *file == symbol.path);
        if is_it && (asked.inquiry.shows)(&symbol.path) {
            found.push(asked.query.canonical(hit.def));
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|def| seen.insert(*def));
    // A name that a file uses and does not define.
    if found.is_empty() && target.file.is_some() {
        return at_place(asked, target);
    }
    Ok(found)
}

fn at_place(asked: &Asked<'_, '_>, target: &Target) -> Result<Vec<DefId>, ToolError> {
    let Some((file, token)) = token(asked, target)? else { return Ok(Vec::new()) };
    asked.query.refuel();
    if let Some(def) = asked.query.declared_by(file, token) {
        return Ok(vec![asked.query.canonical(def)]);
    }
    let resolution = asked.query.resolve(file, token);
    let defs: Vec<DefId> = resolution.defs().map(|def| asked.query.canonical(def)).collect();
    Ok(defs.into_iter().filter(|def| (asked.inquiry.shows)(asked.query.world.path(def.file))).collect())
}

/// The one definition that is meant, with its family. Where several may be meant, those outside of tests are; where there are
/// still several, it is an error that names them.
pub(super) fn meant(asked: &Asked<'_, '_>, target: &Target) -> Result<Meant, ToolError> {
    let found = definitions(asked, target)?;
    let groups = families(asked, &found);
    if groups.len() <= 1 {
        return Ok(Meant { defs: groups.into_iter().flatten().collect(), note: None });
    }
    let outside: Vec<&Vec<DefId>> = groups
        .iter()
        .filter(|group| group.iter().any(|def| !is_test(asked.query.world.path(def.file))))
        .collect();
    if let [one] = outside.as_slice() {
        let note = format!("{} more of this name are defined in tests and not counted", groups.len() - 1);
        return Ok(Meant { defs: (*one).clone(), note: Some(note) });
    }
    let shown: Vec<String> = groups
        .iter()
        .filter_map(|group| asked.query.symbol(*group.first()?))
        .take(MOST_NAMED)
        .map(|symbol| {
            let container = match symbol.container.is_empty() {
                true => String::new(),
                false => format!(" in {}", symbol.container.join(".")),
            };
            format!(
                "{} {}{container}, {}:{}",
                kind_of(symbol.kind),
                symbol.name,
                symbol.path,
                symbol.position.0
            )
        })
        .collect();
    let more = match groups.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!(
        "`{}` may mean {} definitions: {}{more}; name one by its file and line, or as Type.name",
        target.symbol,
        groups.len(),
        shown.join("; ")
    );
    Err(ToolError::new(Code::AmbiguousMatch, message).with("symbol", target.symbol.as_str()))
}

/// Definitions that belong together, such as a method and those that implement it.
fn families(asked: &Asked<'_, '_>, found: &[DefId]) -> Vec<Vec<DefId>> {
    let mut groups: Vec<Vec<DefId>> = Vec::new();
    for def in found {
        asked.query.refuel();
        let family = asked.query.family(*def);
        match groups.iter_mut().find(|group| group.iter().any(|other| family.contains(other))) {
            Some(group) => group.push(*def),
            None => groups.push(vec![*def]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_are_split() {
        assert_eq!(split("parse"), (vec![], "parse"));
        assert_eq!(split("Reader.parse()"), (vec!["Reader"], "parse"));
        assert_eq!(split("a::b::Reader"), (vec!["a", "b"], "Reader"));
        assert_eq!(split("::"), (vec![], "::"));
        let container = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let check = |names: &[&str], given: &[&str], expected: bool| {
            assert_eq!(
                is_inside(&container(names), "crates/my-core/src/file.rs", given),
                expected,
                "{names:?} {given:?}"
            );
        };
        check(&["m", "Reader"], &["Reader"], true);
        check(&["Reader"], &["file", "Reader"], true);
        check(&["Reader"], &["my_core", "file", "Reader"], true);
        check(&["Writer"], &["Reader"], false);
        check(&[], &["file"], true);
        check(&[], &["crate", "file"], true);
        check(&[], &["Reader"], false);
        check(&["Reader"], &[], true);
        check(&["Reader"], &["other", "Reader"], false);
    }
}
