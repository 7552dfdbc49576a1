//! One file of servers: read as a whole or, where it is broken, not at all, with its place.

use super::Group;
use super::entry::{Entry, entries};
use super::format::Format;
use crate::config::jsonc;
use crate::config::look::Hashed;
use crate::config::node::{Node, Value};
use crate::config::origin::{Layer, Problem, problems};
use crate::config::private;
use crate::config::trust::State;
use std::path::Path;
use toolpost_core::text::{LARGEST, Source, parse_toml};

/// Claude Code keeps much else in its file: with years of projects it has megabytes.
pub(crate) const LARGEST_OF_USER: usize = 32 << 20;
/// More warnings of one file are not read.
const MOST_WARNINGS: usize = 20;

impl Group {
    /// The servers of a workspace's file that is already read.
    pub(crate) fn of_project(
        format: Format,
        path: &str,
        file: &Hashed,
        root: &Path,
        state: State,
    ) -> Result<Group, Vec<Problem>> {
        let (entries, warnings) = read(format, path, &file.bytes, LARGEST, root)?;
        let folder = root.join(path).parent().unwrap_or(root).to_path_buf();
        let hash = Some(file.hash.clone());
        Ok(Group { layer: Layer::Project, file: path.to_owned(), folder, state, hash, entries, warnings })
    }

    /// The servers of a user's file; none if there is no such file.
    pub(super) fn of_user(format: Format, path: &Path, root: &Path) -> Result<Option<Group>, Vec<Problem>> {
        let name = path.to_string_lossy().into_owned();
        let file = private::read(path, LARGEST_OF_USER).map_err(|why| vec![Problem::of(&name, why)])?;
        let Some(file) = file else { return Ok(None) };
        // Whoever may write here may start programs as the user. Many systems let a user's own group write; that is said.
        if file.is_open_to_all {
            let why =
                "can be changed by everybody, so none of its servers is started; run `chmod go-w` on it";
            return Err(vec![Problem::of(&name, why)]);
        }
        let (entries, mut warnings) = read(format, &name, &file.bytes, LARGEST_OF_USER, root)?;
        if file.is_open_to_others && !entries.is_empty() {
            let why = "its group can change it, and so what is started; run `chmod go-w` on it";
            warnings.push(Problem::of(&name, why));
        }
        let folder = path.parent().unwrap_or(root).to_path_buf();
        let (layer, state) = (Layer::User, State::Trusted);
        Ok(Some(Group { layer, file: name, folder, state, hash: None, entries, warnings }))
    }
}

/// What a workspace's file would start, in lines for whoever decides about it; none if it is no such file.
pub(crate) fn brings(format: Format, bytes: &[u8]) -> Option<Vec<String>> {
    let (entries, _) = read(format, "", bytes, LARGEST, Path::new("")).ok()?;
    Some(entries.iter().filter(|entry| !entry.is_self()).flat_map(Entry::brings).collect())
}

type Read = (Vec<Entry>, Vec<Problem>);

fn read(format: Format, file: &str, bytes: &[u8], most: usize, root: &Path) -> Result<Read, Vec<Problem>> {
    let source = Source::within(file, bytes, most).map_err(|errors| problems(&errors))?;
    let Some(tree) = tree(format, &source)? else { return Ok((Vec::new(), Vec::new())) };
    if !matches!(tree.value, Value::Table(_)) {
        let message = format!("the file holds {}; a table is expected", tree.kind());
        return Err(vec![source.located(tree.span.start, message).into()]);
    }
    let table = format.words().table;
    // What Claude Code keeps for one project of the user's comes before what it keeps for all.
    let local = match format {
        Format::Claude => tree.get("projects").and_then(|all| all.get(&root.to_string_lossy())?.get(table)),
        _ => None,
    };
    let mut all: Vec<Entry> = Vec::new();
    let mut warnings = Vec::new();
    for table in local.into_iter().chain(tree.get(table)) {
        let read = entries(format, table, &source);
        all.extend(read.entries);
        warnings.extend(read.warnings.into_iter().chain(read.problems));
    }
    if format == Format::Gemini {
        let listed = |key: &str, name: &str| match &tree.get("mcp")?.get(key)?.value {
            Value::List(names) => Some(names.iter().any(|one| one.as_text() == Some(name))),
            _ => None,
        };
        for entry in &mut all {
            let is_excluded = listed("excluded", &entry.name) == Some(true);
            entry.is_off |= is_excluded || listed("allowed", &entry.name) == Some(false);
        }
    }
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    warnings.truncate(MOST_WARNINGS);
    if more > 0 {
        warnings.push(Problem::of(file, format!("has {more} more of these")));
    }
    Ok((all, warnings))
}

fn tree(format: Format, source: &Source<'_>) -> Result<Option<Node>, Vec<Problem>> {
    if format.is_toml() {
        let table = parse_toml(source).map_err(|errors| problems(&errors))?;
        return Ok(Some(Node::of_table(&table)));
    }
    jsonc::parse(source.text()).map_err(|wrong| vec![source.located(wrong.at, wrong.message).into()])
}
