//! Virtual files. Every change makes a version; contents are kept once, by their hash.

use crate::changes::event;
use crate::db::{Failure, Kind, Row, Tx, Value, first};
use crate::{contents, log};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;
use toolpost_core::event::EventKind;
use toolpost_core::store::{By, FileChange, FileVersion, StoredFile};
use toolpost_core::{Code, ToolError};

/// Permission bits of a new file.
const MODE: u32 = 0o644;
/// Bytes of a path, at most.
const LONGEST_PATH: usize = 1024;
/// Bytes of a file, at most.
const LARGEST: usize = 64 << 20;

/// A path as it is kept, or why it is none.
pub(crate) fn path(path: &str) -> Result<String, ToolError> {
    let refused = |why: &str| {
        let message =
            format!("`{path}` is not a valid path of a virtual file: {why}; write it like `notes/plan.md`");
        Err(ToolError::new(Code::ValidationError, message).with("path", path))
    };
    let plain = path.strip_prefix("./").unwrap_or(path).trim_start_matches('/');
    if plain.is_empty() {
        return refused("it names nothing");
    }
    if plain.len() > LONGEST_PATH {
        return refused(&format!("it is longer than {LONGEST_PATH} bytes"));
    }
    if plain.chars().any(char::is_control) {
        return refused("it has a control character");
    }
    match plain.split('/').find(|part| matches!(*part, "" | "." | "..")) {
        Some("") => refused("it has an empty part"),
        Some(part) => refused(&format!("it has the part `{part}`")),
        None => Ok(plain.to_owned()),
    }
}

const COLUMNS: &str = "path, version, size, hash, mode, at_ms, agent, call";

fn version(row: &mut Row) -> Result<FileVersion, Failure> {
    Ok(FileVersion {
        path: row.text()?,
        version: row.number()?,
        size: row.number()?,
        hash: row.text_or_none()?,
        mode: u32::try_from(row.number()?).unwrap_or(MODE),
        at_ms: row.number()?,
        agent: row.text_or_none()?,
        call: row.text_or_none()?,
    })
}

pub(crate) fn file(
    tx: &mut dyn Tx,
    session: &str,
    path: &str,
    asked: Option<u64>,
) -> Result<Option<StoredFile>, Failure> {
    let wanted = match asked {
        Some(asked) => Some(asked),
        None => head(tx.rows(HEAD, &[session.into(), path.into()])?)?.map(|(version, _)| version),
    };
    let Some(wanted) = wanted else { return Ok(None) };
    let rows = tx.rows(
        &format!("SELECT {COLUMNS} FROM files WHERE session = ?1 AND path = ?2 AND version = ?3"),
        &[session.into(), path.into(), wanted.into()],
    )?;
    let Some(mut row) = first(rows) else { return Ok(None) };
    let about = version(&mut row)?;
    let Some(hash) = &about.hash else { return Ok(None) };
    match contents::get(tx, hash)? {
        Some(content) => Ok(Some(StoredFile { content, about })),
        None => Err(Failure::Broken(format!("the content of `{path}`, version {wanted}, is missing"))),
    }
}

const HEAD: &str = "SELECT version, is_there FROM heads WHERE session = ?1 AND path = ?2";

fn head(rows: Vec<Row>) -> Result<Option<(u64, bool)>, Failure> {
    let Some(mut row) = first(rows) else { return Ok(None) };
    Ok(Some((row.number()?, row.number()? == 1)))
}

pub(crate) fn files(tx: &mut dyn Tx, session: &str, prefix: &str) -> Result<Vec<FileVersion>, Failure> {
    let columns = COLUMNS.split(", ").map(|column| format!("files.{column}")).collect::<Vec<_>>().join(", ");
    let (range, end) = range(tx.kind(), "heads.path", prefix);
    let rows = tx.rows(
        &format!(
            "SELECT {columns} FROM heads JOIN files ON files.session = heads.session AND files.path = heads.path
               AND files.version = heads.version
             WHERE heads.session = ?1 AND heads.is_there = 1 AND {range}
             ORDER BY heads.path"
        ),
        &values(session, prefix, end.as_deref()),
    )?;
    let mut all = rows.into_iter().map(|mut row| version(&mut row)).collect::<Result<Vec<_>, Failure>>()?;
    // Databases sort texts in ways of their own.
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}

/// The condition that a path begins with the second value, and the third value where there is one.
fn range(kind: Kind, column: &str, prefix: &str) -> (String, Option<String>) {
    match (kind, after(prefix)) {
        // By its index, which is in the order of bytes.
        (Kind::Sqlite, Some(end)) => (format!("{column} >= ?2 AND {column} < ?3"), Some(end)),
        // By the length, not by a pattern: a path may hold every sign that a pattern has a meaning for.
        _ => (format!("substr({column}, 1, length(?2)) = ?2"), None),
    }
}

fn values<'a>(session: &'a str, prefix: &'a str, end: Option<&'a str>) -> Vec<Value<'a>> {
    [Some(session), Some(prefix), end].into_iter().flatten().map(Value::from).collect()
}

/// The first text, in the order of bytes, after all that begin with this one; none for the empty one.
fn after(prefix: &str) -> Option<String> {
    let last = prefix.chars().next_back()?;
    let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32)?;
    let begin = &prefix[..prefix.len() - last.len_utf8()];
    Some(format!("{begin}{next}"))
}

/// Bytes of all versions of all virtual files; the same content counts once.
pub(crate) fn bytes(tx: &mut dyn Tx) -> Result<u64, Failure> {
    let rows = tx.rows(
        "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM (SELECT DISTINCT hash, size FROM files WHERE hash IS NOT NULL) AS kept",
        &[],
    )?;
    first(rows).map_or(Ok(0), |mut row| row.number())
}

pub(crate) fn versions(tx: &mut dyn Tx, session: &str, path: &str) -> Result<Vec<FileVersion>, Failure> {
    let rows = tx.rows(
        &format!("SELECT {COLUMNS} FROM files WHERE session = ?1 AND path = ?2 ORDER BY version"),
        &[session.into(), path.into()],
    )?;
    rows.into_iter().map(|mut row| version(&mut row)).collect()
}

pub(crate) fn change(tx: &mut dyn Tx, by: &By, changes: &[FileChange]) -> Result<Vec<u64>, Failure> {
    // In one order, so that two who change the same files do not wait for each other.
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by(|one, other| changes[*one].path.cmp(&changes[*other].path));
    let mut versions = vec![0; changes.len()];
    let mut events = Vec::new();
    for index in order {
        let change = &changes[index];
        let version = one(tx, by, change)?;
        versions[index] = version;
        let deleted = change.content.is_none();
        let kind = EventKind::FileStored { path: change.path.clone(), version, deleted };
        events.push(Arc::new(event(by, kind)));
    }
    log::add(tx, &events)?;
    // After the log was added to: from then on no other transaction changes anything before this one ends.
    for change in changes.iter().filter(|change| change.content.is_some()) {
        apart(tx, &by.session, &change.path)?;
    }
    Ok(versions)
}

/// Refuses a path that is below a file, or above one: it could be no file and folder at once, on a disk or in a workspace.
fn apart(tx: &mut dyn Tx, session: &str, path: &str) -> Result<(), Failure> {
    let conflict = |message: String| Err(ToolError::new(Code::NotAFile, message).with("path", path).into());
    let (range, end) = range(tx.kind(), "path", &format!("{path}/"));
    let below = tx.rows(
        &format!("SELECT path FROM heads WHERE session = ?1 AND is_there = 1 AND {range} LIMIT 1"),
        &values(session, &format!("{path}/"), end.as_deref()),
    )?;
    if let Some(mut row) = first(below) {
        let inside = row.text()?;
        return conflict(format!(
            "`{path}` is a folder, because `{inside}` is in it, so it cannot be a virtual file; choose another name"
        ));
    }
    for (end, _) in path.match_indices('/') {
        let above = head(tx.rows(HEAD, &[session.into(), path[..end].into()])?)?;
        if above.is_some_and(|(_, is_there)| is_there) {
            let file = &path[..end];
            return conflict(format!(
                "`{file}` is a virtual file, so there can be no `{path}` below it; choose another name, or delete `{file}` first"
            ));
        }
    }
    Ok(())
}

fn one(tx: &mut dyn Tx, by: &By, change: &FileChange) -> Result<u64, Failure> {
    let (session, path) = (by.session.as_str(), change.path.as_str());
    // So that there is a row to lock, whoever comes first.
    tx.run(
        "INSERT INTO heads (session, path, version, is_there) VALUES (?1, ?2, 0, 0) ON CONFLICT (session, path) DO NOTHING",
        &[session.into(), path.into()],
    )?;
    let (newest, is_there) = head(tx.locked(HEAD, &[session.into(), path.into()])?)?.unwrap_or_default();
    let shown = if is_there { newest } else { 0 };
    if let Some(expected) = change.expected
        && expected != shown
    {
        return Err(stale(path, expected, shown).into());
    }
    if change.content.is_none() && !is_there {
        let message = format!("there is no virtual file `{path}`; list them to see which there are");
        return Err(ToolError::new(Code::FileNotFound, message).with("path", path).into());
    }
    if change.content.as_ref().is_some_and(|content| content.len() > LARGEST) {
        let message =
            format!("`{path}` would be larger than {LARGEST} bytes, the most that a virtual file holds");
        return Err(ToolError::new(Code::TooLarge, message).with("path", path).into());
    }
    let hash = change.content.as_deref().map(hash);
    if let (Some(content), Some(hash)) = (&change.content, &hash) {
        contents::put(tx, hash, &[content], None)?;
    }
    let mode = match change.mode {
        Some(mode) => mode,
        None => mode(tx, session, path, newest)?,
    };
    let version = newest + 1;
    tx.run(
        "INSERT INTO files (session, path, version, hash, size, mode, at_ms, agent, call)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            session.into(),
            path.into(),
            version.into(),
            Value::text(hash.as_deref()),
            (change.content.as_ref().map_or(0, Vec::len) as u64).into(),
            u64::from(mode).into(),
            by.at_ms.into(),
            Value::text(by.agent.as_deref()),
            Value::text(by.call.as_deref()),
        ],
    )?;
    let is_there = Value::Int(i64::from(hash.is_some()));
    tx.run(
        "UPDATE heads SET version = ?3, is_there = ?4 WHERE session = ?1 AND path = ?2",
        &[session.into(), path.into(), version.into(), is_there],
    )?;
    Ok(version)
}

fn mode(tx: &mut dyn Tx, session: &str, path: &str, version: u64) -> Result<u32, Failure> {
    let rows = tx.rows(
        "SELECT mode FROM files WHERE session = ?1 AND path = ?2 AND version = ?3 AND hash IS NOT NULL",
        &[session.into(), path.into(), version.into()],
    )?;
    let mode = first(rows).map(|mut row| row.number()).transpose()?;
    Ok(mode.and_then(|mode| u32::try_from(mode).ok()).unwrap_or(MODE))
}

fn stale(path: &str, expected: u64, newest: u64) -> ToolError {
    let message = match (expected, newest) {
        (0, newest) => {
            format!("`{path}` is there already, in version {newest}; read it, and write with that version")
        }
        (expected, 0) => format!(
            "`{path}` no longer exists (you expected version {expected}); write it again with version 0"
        ),
        (expected, newest) => {
            format!(
                "`{path}` has version {newest} now, not {expected}: somebody has changed it; read it again, and write with the new version"
            )
        }
    };
    ToolError::new(Code::StaleFile, message).with("path", path).with("version", newest)
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hash(content: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(content) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
