//! Contents of virtual files and of changes, kept once by their hash: whole, or as the part that differs from another one.
//!
//! Large bytes of a SQLite store are kept in files beside it ([`ContentFiles`](crate::content_files::ContentFiles)).

use crate::content_files::is_file_name;
use crate::db::{Failure, Kind, Tx, Value, first};
use crate::files::hash as hash_of;
use std::collections::HashSet;

/// Bytes from which on a content is kept in a file, where the database has files beside it.
const LARGE: usize = 256 * 1024;
/// Bytes below which a content is kept whole: a difference would save nothing.
const SMALL: usize = 512;
/// Maximum number of differences that are applied one after the other to read a content.
const LONGEST_CHAIN: u64 = 16;

/// Another content, by its hash, that was put before in the same transaction, and the lengths of the beginning and of the end
/// that a content has in common with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Base<'a> {
    pub(crate) hash: &'a str,
    pub(crate) common: (usize, usize),
}

/// Keeps bytes, which may come in parts, under their SHA-256, unless they are kept already.
pub(crate) fn put(
    tx: &mut dyn Tx,
    hash: &str,
    parts: &[&[u8]],
    base: Option<Base<'_>>,
) -> Result<(), Failure> {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    // Only where there is one writer at a time: elsewhere it could be deleted after this look.
    let state = match tx.kind() == Kind::Sqlite && bytes >= LARGE {
        true => state(tx, hash)?,
        false => State::NotKept,
    };
    if state == State::Kept {
        return Ok(());
    }
    let mut row = Row { own: parts.to_vec(), ..Row::default() };
    let may_differ = |base: &Base<'_>| base.hash != hash && bytes >= SMALL && state == State::NotKept;
    if let Some(Base { hash: base, common: (head, tail) }) = base.filter(may_differ) {
        let links = if (head + tail) * 2 >= bytes { links(tx, base)? } else { None };
        if let Some(links) = links.filter(|links| *links < LONGEST_CHAIN) {
            let own = cut(parts, head, bytes - tail);
            row = Row { own, base: Some(base), head, tail, links: links + 1, file: None };
        }
    }
    let own_len = row.own.iter().map(|part| part.len()).sum::<usize>();
    if let Some(files) = tx.content_files().filter(|_| own_len >= LARGE && is_file_name(hash)) {
        let name = if row.base.is_some() { hash_of(&row.own.concat()) } else { hash.to_owned() };
        files.put(&name, &row.own, &|| tx.step())?;
        row.file = Some(name);
    }
    let content = if row.file.is_some() { Vec::new() } else { row.own.concat() };
    let file_bytes = if row.file.is_some() { own_len as u64 } else { 0 };
    let otherwise = match state {
        // Whole again, which changes nothing for those that are made from it.
        State::Lost => "UPDATE SET content = excluded.content",
        _ => "NOTHING",
    };
    let added = tx.run(
        &format!("INSERT INTO contents (hash, content) VALUES (?1, ?2) ON CONFLICT (hash) DO {otherwise}"),
        &[hash.into(), Value::Bytes(&content)],
    )?;
    if state == State::Lost {
        tx.run("DELETE FROM parts WHERE hash = ?1", &[hash.into()])?;
    }
    if added == 0 || (row.base.is_none() && row.file.is_none()) {
        return Ok(());
    }
    tx.run(
        "INSERT INTO parts (hash, base, head, tail, links, file, file_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            hash.into(),
            Value::text(row.base),
            (row.head as u64).into(),
            (row.tail as u64).into(),
            row.links.into(),
            Value::text(row.file.as_deref()),
            file_bytes.into(),
        ],
    )
    .map(drop)
}

/// The bytes from `start` to `end`, in their parts.
fn cut<'a>(parts: &[&'a [u8]], start: usize, end: usize) -> Vec<&'a [u8]> {
    let mut at = 0;
    let cut = parts.iter().map(|part| {
        let (from, to) = (start.saturating_sub(at), end.saturating_sub(at));
        at += part.len();
        &part[from.min(part.len())..to.min(part.len())]
    });
    cut.collect()
}

#[derive(Default)]
struct Row<'a> {
    own: Vec<&'a [u8]>,
    base: Option<&'a str>,
    head: usize,
    tail: usize,
    links: u64,
    file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    NotKept,
    Kept,
    /// There is a row, and a file that it needs is not there, or has another size.
    Lost,
}

/// Whether a large content is kept, with the files that it is made from.
fn state(tx: &mut dyn Tx, hash: &str) -> Result<State, Failure> {
    let mut wanted = hash.to_owned();
    loop {
        let of = [Value::from(wanted.as_str())];
        let Some(mut row) = first(tx.rows(
            "SELECT parts.base, parts.file, coalesce(parts.file_bytes, 0) FROM contents
               LEFT JOIN parts ON parts.hash = contents.hash WHERE contents.hash = ?1",
            &of,
        )?) else {
            return Ok(if wanted == hash { State::NotKept } else { State::Lost });
        };
        let (base, file, bytes) = (row.text_or_none()?, row.text_or_none()?, row.number()?);
        let has_file = |file: &String| tx.content_files().is_some_and(|files| files.has(file, bytes));
        match (base, file.is_none_or(|file| has_file(&file))) {
            (_, false) => return Ok(State::Lost),
            (None, true) => return Ok(State::Kept),
            (Some(base), true) => wanted = base,
        }
    }
}

fn is_kept(tx: &mut dyn Tx, hash: &str) -> Result<bool, Failure> {
    Ok(!tx.rows("SELECT 1 FROM contents WHERE hash = ?1", &[hash.into()])?.is_empty())
}

/// How many differences must be applied to read a content. None where it is not kept.
fn links(tx: &mut dyn Tx, hash: &str) -> Result<Option<u64>, Failure> {
    let rows = tx.rows("SELECT links FROM parts WHERE hash = ?1", &[hash.into()])?;
    match first(rows) {
        Some(mut row) => row.number().map(Some),
        None => Ok(is_kept(tx, hash)?.then_some(0)),
    }
}

/// The bytes of this hash, where they are kept.
pub(crate) fn get(tx: &mut dyn Tx, hash: &str) -> Result<Option<Vec<u8>>, Failure> {
    let mut parts = Vec::new();
    let mut wanted = hash.to_owned();
    let mut content = loop {
        let rows = tx.rows(
            "SELECT contents.content, parts.base, coalesce(parts.head, 0), coalesce(parts.tail, 0), parts.file FROM contents
               LEFT JOIN parts ON parts.hash = contents.hash WHERE contents.hash = ?1",
            &[wanted.as_str().into()],
        )?;
        let Some(mut row) = first(rows) else {
            return match parts.is_empty() {
                true => Ok(None),
                false => Err(Failure::Broken(format!(
                    "the content {wanted} is missing, from which {hash} is made; it cannot be restored any more"
                ))),
            };
        };
        let (bytes, base) = (row.bytes()?, row.text_or_none()?);
        let (head, tail) = (length(row.number()?), length(row.number()?));
        let own = match row.text_or_none()? {
            Some(file) => match tx.content_files() {
                Some(files) => files.get(&file)?,
                None => return Err(damaged(hash)),
            },
            None => bytes,
        };
        match base {
            None => break own,
            Some(base) => {
                parts.push((head, own, tail));
                wanted = base;
            }
        }
    };
    for (head, own, tail) in parts.into_iter().rev() {
        if head.saturating_add(tail) > content.len() {
            return Err(damaged(hash));
        }
        let mut made = Vec::with_capacity(head + own.len() + tail);
        made.extend_from_slice(&content[..head]);
        made.extend_from_slice(&own);
        made.extend_from_slice(&content[content.len() - tail..]);
        content = made;
    }
    match is_file_name(hash) && hash_of(&content) != hash {
        true => Err(damaged(hash)),
        false => Ok(Some(content)),
    }
}

fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn damaged(hash: &str) -> Failure {
    Failure::Broken(format!("the kept content {hash} is damaged; it cannot be restored any more"))
}

/// Deletes the contents that no virtual file, no change, no session that has seen them and no other content needs.
pub(crate) fn collect(tx: &mut dyn Tx) -> Result<(), Failure> {
    // What was needed only by what has just gone goes in the next round.
    loop {
        let gone = tx.run(&format!("DELETE FROM contents WHERE {UNNEEDED}"), &[])?;
        if gone == 0 {
            return Ok(());
        }
        tx.run(
            "DELETE FROM parts WHERE NOT EXISTS (SELECT 1 FROM contents WHERE contents.hash = parts.hash)",
            &[],
        )?;
    }
}

/// What nobody needs.
const UNNEEDED: &str = "NOT EXISTS (SELECT 1 FROM files WHERE files.hash = contents.hash)
   AND NOT EXISTS (SELECT 1 FROM changes WHERE before_hash = contents.hash)
   AND NOT EXISTS (SELECT 1 FROM changes WHERE after_hash = contents.hash)
   AND NOT EXISTS (SELECT 1 FROM known_files WHERE content_hash = contents.hash)
   AND NOT EXISTS (SELECT 1 FROM parts WHERE parts.base = contents.hash)";

/// Deletes these contents where nobody needs them any more. Only where there is one writer at a time: elsewhere somebody may be
/// about to need one, and [`collect`] deletes them.
pub(crate) fn drop_unneeded(tx: &mut dyn Tx, hashes: &HashSet<String>) -> Result<(), Failure> {
    if tx.kind() != Kind::Sqlite {
        return Ok(());
    }
    for hash in hashes {
        let of = [Value::from(hash.as_str())];
        if tx.run(&format!("DELETE FROM contents WHERE hash = ?1 AND {UNNEEDED}"), &of)? > 0 {
            tx.run("DELETE FROM parts WHERE hash = ?1", &of)?;
        }
    }
    Ok(())
}

/// How many bytes are kept in files.
pub(crate) fn file_bytes(tx: &mut dyn Tx) -> Result<u64, Failure> {
    let rows = tx.rows(
        "SELECT coalesce(sum(file_bytes), 0) FROM (SELECT DISTINCT file, file_bytes FROM parts WHERE file IS NOT NULL)",
        &[],
    )?;
    first(rows).map_or(Ok(0), |mut row| row.number())
}

/// Removes the files that no content names, in a transaction of its own after the one that deleted the contents. Files are
/// written inside of transactions that change something, of which there is one at a time, so none is under way here.
pub(crate) fn sweep(tx: &mut dyn Tx) -> Result<(), Failure> {
    let Some(files) = tx.content_files().cloned() else { return Ok(()) };
    let rows = tx.rows("SELECT file FROM parts WHERE file IS NOT NULL", &[])?;
    let named = rows.into_iter().map(|mut row| row.text()).collect::<Result<HashSet<String>, Failure>>()?;
    files.keep(&named)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn parts_are_cut_where_the_whole_would_be() {
        let parts: [&[u8]; 3] = [b"abc", b"", b"defg"];
        let whole = parts.concat();
        for start in 0..=whole.len() {
            for end in start..=whole.len() {
                assert_eq!(cut(&parts, start, end).concat(), whole[start..end]);
            }
        }
    }
}
