//! What sessions have last seen of files. The contents are kept beside those of virtual files and of changes, once by their hash.

use crate::contents;
use crate::db::{Failure, Tx, Value, first};
use crate::files::hash as hash_of;
use std::collections::{BTreeSet, HashSet};
use toolpost_core::host::{FileMark, KnownVersion};
use toolpost_core::store::KnownFile;

/// Maximum number of files of one session in one workspace, and of bytes of their contents.
const MOST_FILES: u64 = 1_000;
const MOST_BYTES: u64 = 16 << 20;
/// Maximum number of files of all sessions, and of bytes of their contents, after a collection.
const MOST_FILES_OF_ALL: u64 = 100_000;
const MOST_BYTES_OF_ALL: u64 = 256 << 20;

const KEY: &str = "workspace = ?1 AND session = ?2 AND activation = ?3 AND name = ?4";

fn key(file: &KnownFile) -> [Value<'_>; 4] {
    [&file.workspace, &file.session, &file.activation, &file.name].map(|text| Value::from(text.as_str()))
}

pub(crate) fn keep(tx: &mut dyn Tx, files: &[KnownFile]) -> Result<(), Failure> {
    // In the same order in every process, so that none waits for one that waits for it.
    let mut files: Vec<&KnownFile> = files.iter().collect();
    files.sort_by_key(|file| (&file.workspace, &file.session, &file.activation, &file.name));
    let (mut replaced, mut sessions) = (HashSet::new(), BTreeSet::new());
    for file in files {
        let before = tx.rows(&format!("SELECT content_hash FROM known_files WHERE {KEY}"), &key(file))?;
        let before = first(before).map_or(Ok(None), |mut row| row.text_or_none())?;
        let Some(version) = &file.version else {
            let [workspace, session, activation, name] = key(file);
            tx.run(
                &format!("DELETE FROM known_files WHERE {KEY} AND at_us <= ?5"),
                &[workspace, session, activation, name, file.at_us.into()],
            )?;
            replaced.extend(before);
            continue;
        };
        let content = version.content.as_ref().map(|content| (hash_of(content), content));
        if let Some((hash, content)) = &content {
            contents::put(tx, hash, &[content], None)?;
        }
        let content_hash = content.as_ref().map(|(hash, _)| hash.as_str());
        let [workspace, session, activation, name] = key(file);
        tx.run(
            "INSERT INTO known_files (workspace, session, activation, name, mark, content_hash, bytes, at_us)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (workspace, session, activation, name) DO UPDATE SET mark = excluded.mark,
               content_hash = excluded.content_hash, bytes = excluded.bytes, at_us = excluded.at_us
             WHERE known_files.at_us <= excluded.at_us",
            &[
                workspace,
                session,
                activation,
                name,
                version.mark.to_string().as_str().into(),
                Value::text(content_hash),
                content.as_ref().map_or(0, |(_, content)| content.len() as u64).into(),
                file.at_us.into(),
            ],
        )?;
        replaced.extend(before.filter(|before| Some(before.as_str()) != content_hash));
        sessions.insert((&file.workspace, &file.session));
    }
    for (workspace, session) in sessions {
        let of = [Value::from(workspace.as_str()), session.as_str().into()];
        bound(tx, "workspace = ?1 AND session = ?2", &of, (MOST_FILES, MOST_BYTES), &mut replaced)?;
    }
    contents::drop_unneeded(tx, &replaced)
}

/// Forgets the files, and then the contents, that were seen longest ago, where there are too many.
fn bound(
    tx: &mut dyn Tx,
    which: &str,
    of: &[Value<'_>],
    (most_files, most_bytes): (u64, u64),
    gone: &mut HashSet<String>,
) -> Result<(), Failure> {
    let sums = tx.rows(
        &format!("SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM known_files WHERE {which}"),
        of,
    )?;
    let Some(mut sums) = first(sums) else { return Ok(()) };
    if sums.number()? <= most_files && sums.number()? <= most_bytes {
        return Ok(());
    }
    let rows = tx.rows(
        &format!(
            "SELECT workspace, session, activation, name, content_hash, bytes FROM known_files WHERE {which}
             ORDER BY at_us DESC, name"
        ),
        of,
    )?;
    let (mut files, mut bytes) = (0, 0);
    for mut row in rows {
        let own = [row.text()?, row.text()?, row.text()?, row.text()?];
        let (content, own_bytes) = (row.text_or_none()?, row.number()?);
        files += 1;
        bytes += own_bytes;
        let statement = match (files > most_files, bytes > most_bytes && own_bytes > 0) {
            (true, _) => format!("DELETE FROM known_files WHERE {KEY}"),
            (false, true) => format!("UPDATE known_files SET content_hash = NULL, bytes = 0 WHERE {KEY}"),
            (false, false) => continue,
        };
        tx.run(&statement, &own.each_ref().map(|text| Value::from(text.as_str())))?;
        gone.extend(content);
    }
    Ok(())
}

pub(crate) fn get(tx: &mut dyn Tx, wanted: KnownFile) -> Result<Option<KnownFile>, Failure> {
    let rows =
        tx.rows(&format!("SELECT mark, content_hash, at_us FROM known_files WHERE {KEY}"), &key(&wanted))?;
    let Some(mut row) = first(rows) else { return Ok(None) };
    let (mark, content, at_us) = (row.text()?, row.text_or_none()?, row.number()?);
    let mark: FileMark = mark
        .parse()
        .map_err(|error| Failure::Broken(format!("a kept mark of a file is not understood: {error}")))?;
    let content = content.map_or(Ok(None), |hash| contents::get(tx, &hash))?;
    let version = KnownVersion { mark, content: content.map(Into::into) };
    Ok(Some(KnownFile { at_us, version: Some(version), ..wanted }))
}

/// Forgets what a session has seen.
pub(crate) fn forget(tx: &mut dyn Tx, session: &str) -> Result<(), Failure> {
    tx.run("DELETE FROM known_files WHERE session = ?1", &[session.into()]).map(drop)
}

/// Forgets what was seen before a moment, and what is too much. The contents are collected afterwards.
pub(crate) fn older(tx: &mut dyn Tx, before_ms: u64) -> Result<(), Failure> {
    tx.run("DELETE FROM known_files WHERE at_us < ?1", &[before_ms.saturating_mul(1_000).into()])?;
    bound(tx, "1 = 1", &[], (MOST_FILES_OF_ALL, MOST_BYTES_OF_ALL), &mut HashSet::new())
}

/// Forgets the oldest one of so many parts. Returns how many files. The contents are collected afterwards.
pub(crate) fn oldest(tx: &mut dyn Tx, part: u64) -> Result<u64, Failure> {
    let rows = tx.rows("SELECT count(*) FROM known_files", &[])?;
    let count = first(rows).map_or(Ok(0), |mut row| row.number())?;
    let rows = tx.rows(
        "SELECT at_us FROM known_files ORDER BY at_us LIMIT 1 OFFSET ?1",
        &[count.div_ceil(part).into()],
    )?;
    let until = first(rows).map_or(Ok(i64::MAX as u64), |mut row| row.number())?;
    tx.run("DELETE FROM known_files WHERE at_us < ?1", &[until.into()])
}
