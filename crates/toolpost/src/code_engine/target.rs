//! What is meant by a name, a file and a place.

use super::Asked;
use super::converted::kind_of;
use std::collections::HashSet;
use toolpost_code::answers::place::Standing;
use toolpost_code::answers::search::{SearchFilter, is_test};
use toolpost_code::facts::Name;
use toolpost_code::resolve::{Confidence, DefId, Entity};
use toolpost_code::world::FileId;
use toolpost_core::code::Target;
use toolpost_core::{Code, ToolError};

/// Maximum number of definitions of one name that are looked at, and that are named in an error.
const MOST_LOOKED_AT: usize = 2_000;
const MOST_NAMED: usize = 20;

/// What is meant: each with a file of its language.
pub(super) type Meant = Vec<(FileId, Entity)>;

/// What contains a symbol, from the outside in, and its own name: `module::Type.method`.
pub(super) fn split(symbol: &str) -> (Vec<&str>, &str) {
    let mut parts: Vec<&str> =
        symbol.split(['.', ':', '#', '/']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let name = parts.pop().unwrap_or(symbol);
    (parts, name.trim_end_matches("()"))
}

/// Whether a definition is inside of what was named: the innermost names are those of its container, those further out may
/// be parts of the path of its file in any case, or the name that the file gives to its module.
pub(super) fn is_inside(container: &[String], path: &str, module: Option<&str>, given: &[&str]) -> bool {
    is_inside_as(str::to_lowercase, container, path, module, given)
}

/// The same, with parts of the path in the case that they are written in.
fn is_exactly_inside(container: &[String], path: &str, module: Option<&str>, given: &[&str]) -> bool {
    is_inside_as(str::to_owned, container, path, module, given)
}

fn is_inside_as(
    written: impl Fn(&str) -> String,
    container: &[String],
    path: &str,
    module: Option<&str>,
    given: &[&str],
) -> bool {
    let inner =
        given.iter().rev().zip(container.iter().rev()).take_while(|(given, own)| *given == *own).count();
    if inner == 0 && !container.is_empty() && !given.is_empty() {
        return false;
    }
    let same = |name: &str| written(&name.replace('-', "_"));
    let parts: Vec<String> =
        path.split('/').map(|part| same(part.split('.').next().unwrap_or(part))).collect();
    let mut outer = given[..given.len() - inner].iter();
    outer.all(|name| {
        matches!(*name, "crate" | "self" | "super") || module == Some(*name) || parts.contains(&same(name))
    })
}

/// The identifier at the place of a target. What stands elsewhere in the line is not taken for it without a word.
pub(super) fn token(asked: &Asked<'_, '_>, target: &Target) -> Result<Option<(FileId, u32)>, ToolError> {
    let Some(name) = &target.file else { return Ok(None) };
    let file = asked.file(name)?;
    let facts = asked.query.facts(file);
    let (_, wanted) = split(&target.symbol);
    let Some(line) = target.line else {
        let number = Name::of(wanted);
        let found = (0..facts.tokens.len()).find(|index| facts.name(facts.tokens[*index].name) == number);
        return Ok(found.and_then(|index| u32::try_from(index).ok()).map(|index| (file, index)));
    };
    let column = target.column.map(|column| asked.byte_column(file, line, column));
    let place = match target.column {
        Some(column) => format!("{name}:{line}:{column}"),
        None => format!("{name}:{line}"),
    };
    let token = match facts.standing(wanted, line, column) {
        Standing::There(token) => {
            if column.is_none() {
                note_others(asked, file, line, token, wanted);
            }
            token
        }
        Standing::Beside(token) => {
            let start = facts.token(token).map_or(0, |token| token.start);
            let (_, column) = asked.position(file, start);
            asked.note(format!("`{wanted}` does not stand at {place} but in column {column}"));
            token
        }
        Standing::Several(tokens) => {
            let message = format!(
                "`{wanted}` does not stand at {place}; the line has {}; name one of these columns",
                names(asked, file, &tokens)
            );
            return Err(ToolError::new(Code::AmbiguousMatch, message).with("symbol", wanted));
        }
        Standing::Others(tokens) => {
            let there = match tokens.is_empty() {
                true => "the line has no name".to_owned(),
                false => format!("the line has {}", names(asked, file, &tokens)),
            };
            let message = format!("`{wanted}` does not stand at {place}; {there}");
            return Err(ToolError::new(Code::NoMatch, message).with("symbol", wanted));
        }
        Standing::Beyond => {
            let message = format!("`{name}` has {} lines, so nothing stands at {place}", facts.lines.len());
            return Err(ToolError::new(Code::NoMatch, message).with("symbol", wanted));
        }
    };
    Ok(Some((file, token)))
}

/// Names with their columns, in words.
fn names(asked: &Asked<'_, '_>, file: FileId, tokens: &[u32]) -> String {
    let facts = asked.query.facts(file);
    let mut shown: Vec<String> = Vec::new();
    for token in tokens.iter().filter_map(|&index| facts.token(index)) {
        let name = format!("`{}` (column {})", facts.text(token.name), asked.position(file, token.start).1);
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    let more = shown.len().saturating_sub(MOST_NAMED);
    shown.truncate(MOST_NAMED);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Says so where a name stands several times in a line and does not mean the same everywhere.
fn note_others(asked: &Asked<'_, '_>, file: FileId, line: u32, taken: u32, name: &str) {
    let facts = asked.query.facts(file);
    let entities = |index: u32| asked.query.meaning(file, index).entities;
    let others = facts.tokens_of_line(line).filter(|&index| {
        index != taken && facts.token(index).is_some_and(|token| facts.text(token.name) == name)
    });
    let meant = entities(taken);
    let differ = others.filter(|&index| entities(index) != meant).count();
    if differ > 0 {
        let start = facts.token(taken).map_or(0, |token| token.start);
        let (_, column) = asked.position(file, start);
        asked.note(format!("`{name}` means something else elsewhere in the line; column {column} is meant"));
    }
}

/// Every definition that a target may mean, the likeliest first.
pub(super) fn definitions(asked: &Asked<'_, '_>, target: &Target) -> Result<Vec<DefId>, ToolError> {
    let found = by_name(asked, target);
    if !found.is_empty() && target.line.is_none() {
        return Ok(found);
    }
    let (meant, _) = at_place(asked, target)?;
    let defs = meant.into_iter().filter_map(|(_, entity)| match entity {
        Entity::Def(def) => Some(def),
        _ => None,
    });
    Ok(defs.collect())
}

/// Whether a file may define something inside of what was named: it has the innermost name, or lies in it.
pub(super) fn may_hold<'a>(
    asked: &'a Asked<'_, '_>,
    container: &[&str],
) -> impl Fn(FileId) -> bool + use<'a> {
    let innermost = container.last().filter(|name| !matches!(**name, "crate" | "self" | "super"));
    let innermost = innermost.map(|name| {
        let postings = asked.query.world.postings(Name::of(name));
        let naming: HashSet<FileId> = postings.iter().map(|posting| posting.file()).collect();
        ((*name).to_owned(), naming)
    });
    move |file| {
        innermost.as_ref().is_none_or(|(name, naming)| {
            let given = [name.as_str()];
            naming.contains(&file)
                || is_inside(&[], asked.query.world.path(file), asked.query.module_name(file), &given)
        })
    }
}

/// The definitions of a name; where there are none, what others hand out under it.
fn by_name(asked: &Asked<'_, '_>, target: &Target) -> Vec<DefId> {
    let (container, name) = split(&target.symbol);
    let mut found = Vec::new();
    // A name that is only like a module's is one where nothing has it as it is written.
    let (mut like, mut exact) = (Vec::new(), Vec::new());
    // Of many definitions of a name only those are looked at that may be inside of what was named.
    let may_hold = may_hold(asked, &container);
    let is_inside_named = |def: DefId| {
        asked.query.symbol(def).is_some_and(|symbol| {
            is_inside(&symbol.container, &symbol.path, asked.query.module_name(def.file), &container)
        })
    };
    let in_file = |file: FileId| {
        may_hold(file) && target.file.as_ref().is_none_or(|name| name == asked.query.world.path(file))
    };
    let wanted = SearchFilter { file: &in_file, def: &is_inside_named };
    for hit in asked.query.named_for(name, MOST_LOOKED_AT, &wanted) {
        let Some(symbol) = asked.query.symbol(hit.def) else { continue };
        let module = asked.query.module_name(hit.def.file);
        let is_it = is_inside(&symbol.container, &symbol.path, module, &container)
            && target.file.as_ref().is_none_or(|file| *file == symbol.path);
        if is_it && (asked.inquiry.shows)(&symbol.path) {
            let is_exact = is_exactly_inside(&symbol.container, &symbol.path, module, &container);
            if is_exact { &mut exact } else { &mut like }.push(asked.query.canonical(hit.def));
        }
    }
    found.append(if exact.is_empty() { &mut like } else { &mut exact });
    if found.is_empty() {
        for (file, def) in asked.query.aliased(Name::of(name)) {
            let path = asked.query.world.path(file);
            let is_it = is_inside(&[], path, asked.query.module_name(file), &container)
                && target.file.as_ref().is_none_or(|file| file == path)
                && (asked.inquiry.shows)(path)
                && (asked.inquiry.shows)(asked.query.world.path(def.file));
            if is_it {
                found.push(def);
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|def| seen.insert(*def));
    found
}

/// What is meant by the identifier at the place of a target, and how sure that is.
fn at_place(asked: &Asked<'_, '_>, target: &Target) -> Result<(Meant, Confidence), ToolError> {
    let Some((file, token)) = token(asked, target)? else { return Ok((Vec::new(), Confidence::Unknown)) };
    let meaning = asked.query.meaning(file, token);
    let shown = |entity: &Entity| {
        let place = asked.query.file_of(file, *entity);
        place.is_none_or(|place| (asked.inquiry.shows)(asked.query.world.path(place)))
    };
    let meant: Meant =
        meaning.entities.iter().filter(|entity| shown(entity)).map(|entity| (file, *entity)).collect();
    if meaning.is_outside {
        let place = target.file.as_deref().unwrap_or_default();
        if meant.is_empty() {
            let message = format!(
                "`{}` in `{place}` is defined outside of {}; search the text for its uses",
                target.symbol,
                asked.searched()
            );
            return Err(ToolError::new(Code::NoMatch, message).with("symbol", target.symbol.as_str()));
        }
        asked.note(format!(
            "`{}` is defined outside of {}; these are the uses of what is imported",
            target.symbol,
            asked.searched()
        ));
    }
    Ok((meant, meaning.confidence))
}

/// What is meant. Where several definitions may be meant, those outside of tests are; where there are still several, it is an
/// error that names them.
pub(super) fn meant(asked: &Asked<'_, '_>, target: &Target) -> Result<Meant, ToolError> {
    let found = match target.line {
        Some(_) => Vec::new(),
        None => by_name(asked, target),
    };
    let found: Vec<DefId> = match found.is_empty() {
        false => found,
        true => {
            let (meant, confidence) = at_place(asked, target)?;
            // Several meanings that are all known are all meant.
            if confidence < Confidence::Possible {
                return Ok(meant);
            }
            let defs = meant.into_iter().filter_map(|(_, entity)| match entity {
                Entity::Def(def) => Some(def),
                _ => None,
            });
            defs.collect()
        }
    };
    let all = |defs: &[DefId]| defs.iter().map(|def| (def.file, Entity::Def(*def))).collect::<Meant>();
    let groups = families(asked, &found);
    if groups.len() <= 1 {
        return Ok(all(&groups.concat()));
    }
    let outside: Vec<&Vec<DefId>> = groups
        .iter()
        .filter(|group| group.iter().any(|def| !is_test(asked.query.world.path(def.file))))
        .collect();
    if let ([one], None) = (outside.as_slice(), target.line) {
        asked.note(format!("{} more of this name are defined in tests and not counted", groups.len() - 1));
        return Ok(all(one));
    }
    Err(ambiguous(asked, target, &groups))
}

fn ambiguous(asked: &Asked<'_, '_>, target: &Target, groups: &[Vec<DefId>]) -> ToolError {
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
                "\n  {} {}{container}, {}:{}",
                kind_of(symbol.kind),
                symbol.name,
                symbol.path,
                symbol.position.0
            )
        })
        .collect();
    let more = match groups.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    let message = format!(
        "`{}` may mean {} definitions; name one by its file, also its line, or as Type.name:{}{more}",
        target.symbol,
        groups.len(),
        shown.concat()
    );
    ToolError::new(Code::AmbiguousMatch, message).with("symbol", target.symbol.as_str())
}

/// Definitions that belong together, such as a method and those that implement it.
fn families(asked: &Asked<'_, '_>, found: &[DefId]) -> Vec<Vec<DefId>> {
    let mut groups: Vec<(Vec<DefId>, HashSet<DefId>)> = Vec::new();
    for def in found {
        asked.query.refuel();
        let family = asked.query.family(*def);
        let is_related = |(members, families): &(Vec<DefId>, HashSet<DefId>)| {
            families.contains(def) || members.iter().any(|member| family.contains(member))
        };
        let mut merged = (vec![*def], family.iter().copied().collect::<HashSet<_>>());
        let mut place = None;
        let mut index = 0;
        // One definition may join groups that seemed to be apart; the first of them keeps its place.
        while index < groups.len() {
            if is_related(&groups[index]) {
                let (mut members, families) = groups.remove(index);
                members.append(&mut merged.0);
                merged.0 = members;
                merged.1.extend(families);
                place = place.or(Some(index));
            } else {
                index += 1;
            }
        }
        groups.insert(place.unwrap_or(groups.len()), merged);
    }
    groups.into_iter().map(|(members, _)| members).collect()
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
                is_inside(&container(names), "crates/my-core/src/file.rs", Some("own"), given),
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
        check(&["Reader"], &["own", "Reader"], true);
        check(&[], &["own"], true);
    }
}
