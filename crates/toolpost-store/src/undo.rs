//! The changes of calls, kept so that they can be taken back. Contents are kept once, by their hash.

use crate::changes::event;
use crate::db::{Failure, Row, Tx, Value, first};
use crate::{contents, log};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use toolpost_core::event::EventKind;
use toolpost_core::store::{
    By, ChangeKind, ChangeQuery, Correction, Finished, Held, KeptChange, NewChange, Takes,
};
use toolpost_core::{Code, ToolError};

/// Keeps changes that are about to be made.
pub(crate) fn keep(tx: &mut dyn Tx, changes: &[NewChange]) -> Result<(), Failure> {
    // The number of the next change of each call.
    let mut sets: HashMap<(&str, &str), (u64, u64)> = HashMap::new();
    for change in changes {
        let key = (change.workspace.as_str(), change.call.as_str());
        let (set, number) = match sets.get(&key) {
            Some(known) => *known,
            None => set_of(tx, change)?,
        };
        let is_put_back = change.kind == ChangeKind::Command && change.before == change.after;
        // What is there afterwards is mostly what was there before, but for a few lines.
        let before = change.contents.iter().find(|(hash, _)| Some(hash.as_str()) == hash_of(&change.before));
        if let Some((hash, content)) = before {
            contents::put(tx, hash, &content.parts(), None)?;
        }
        for (hash, content) in
            change.contents.iter().filter(|(hash, _)| Some(hash) != before.map(|(before, _)| before))
        {
            let base =
                before.map(|(before, old)| contents::Base { hash: before, common: old.common(content) });
            contents::put(tx, hash, &content.parts(), base)?;
        }
        let takes = match change.takes == Takes::default() {
            true => None,
            false => Some(written(&change.takes)?),
        };
        let added = tx.run(
            "INSERT INTO changes (change_set, number, name, by_command, before_state, before_hash, after_state, after_hash,
               takes, touched_us, is_put_back)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (change_set, name) DO NOTHING",
            &[
                set.into(),
                number.into(),
                change.name.as_str().into(),
                Value::Int(i64::from(change.by_command)),
                state(&change.before)?.as_str().into(),
                // Nothing is restored from what was put back, so that its content is not kept.
                Value::text(hash_of(&change.before).filter(|_| !is_put_back)),
                state(&change.after)?.as_str().into(),
                Value::text(hash_of(&change.after).filter(|_| !is_put_back)),
                Value::text(takes.as_deref()),
                change.touched_us.into(),
                Value::Int(i64::from(is_put_back)),
            ],
        )?;
        if added == 0 {
            // Changed again by the same call: what was there before the first change counts.
            update(tx, set, &change.name, &change.after)?;
        }
        sets.insert(key, (set, number + added));
    }
    Ok(())
}

/// The number of a call, and of its next change.
fn set_of(tx: &mut dyn Tx, change: &NewChange) -> Result<(u64, u64), Failure> {
    const FIND: &str = "SELECT number FROM change_sets WHERE workspace = ?1 AND call = ?2";
    let of = [Value::from(change.workspace.as_str()), change.call.as_str().into()];
    if let Some(mut row) = first(tx.locked(FIND, &of)?) {
        let set = row.number()?;
        let next = tx.rows("SELECT max(number) FROM changes WHERE change_set = ?1", &[set.into()])?;
        let last = first(next).and_then(|mut row| row.number().ok()).unwrap_or_default();
        return Ok((set, last + 1));
    }
    let turn = tx.rows("UPDATE counters SET last = last + 1 WHERE name = 'changes' RETURNING last", &[])?;
    let set = first(turn).map_or(Ok(0), |mut row| row.number())?;
    let is_done = !matches!(change.kind, ChangeKind::Undo | ChangeKind::Redo);
    tx.run(
        "INSERT INTO change_sets (number, workspace, session, call, at_ms, kind, is_done)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            set.into(),
            of[0],
            change.session.as_str().into(),
            of[1],
            change.at_ms.into(),
            word(change.kind).into(),
            Value::Int(i64::from(is_done)),
        ],
    )?;
    Ok((set, 1))
}

fn update(tx: &mut dyn Tx, set: u64, name: &str, after: &Held) -> Result<(), Failure> {
    tx.run(
        "UPDATE changes SET after_state = ?3, after_hash = ?4, is_put_back = 0 WHERE change_set = ?1 AND name = ?2",
        &[set.into(), name.into(), state(after)?.as_str().into(), Value::text(hash_of(after))],
    )
    .map(drop)
}

pub(crate) fn correct(
    tx: &mut dyn Tx,
    workspace: &str,
    call: &str,
    corrections: &[Correction],
) -> Result<(), Failure> {
    let Some(set) = number(tx, workspace, call)? else { return Ok(()) };
    for correction in corrections {
        match &correction.after {
            Some(after) => {
                if let (Some(hash), Some(content)) = (hash_of(after), &correction.content) {
                    contents::put(tx, hash, &[content], None)?;
                }
                update(tx, set, &correction.name, after)?;
            }
            None => {
                let of = [Value::from(set), correction.name.as_str().into()];
                tx.run("DELETE FROM changes WHERE change_set = ?1 AND name = ?2", &of)?;
            }
        }
    }
    forget_empty(tx, set)
}

/// A call without changes is none that could be taken back.
fn forget_empty(tx: &mut dyn Tx, set: u64) -> Result<(), Failure> {
    let of = [Value::from(set)];
    tx.run(
        "DELETE FROM change_sets WHERE number = ?1 AND number NOT IN (SELECT change_set FROM changes WHERE change_set = ?1)",
        &of,
    )
    .map(drop)
}

fn number(tx: &mut dyn Tx, workspace: &str, call: &str) -> Result<Option<u64>, Failure> {
    let rows = tx.rows(
        "SELECT number FROM change_sets WHERE workspace = ?1 AND call = ?2",
        &[workspace.into(), call.into()],
    )?;
    first(rows).map(|mut row| row.number()).transpose()
}

pub(crate) fn changes(tx: &mut dyn Tx, asked: &ChangeQuery) -> Result<Vec<KeptChange>, Failure> {
    let mut conditions = vec!["sets.workspace = ?1".to_owned()];
    let mut values = vec![Value::from(asked.workspace.as_str())];
    let texts = [("sets.call", &asked.call), ("sets.session", &asked.session), ("changes.name", &asked.name)];
    for (column, wanted) in texts {
        if let Some(wanted) = wanted {
            values.push(wanted.as_str().into());
            conditions.push(format!("{column} = ?{}", values.len()));
        }
    }
    let numbers = [
        ("sets.number >", asked.after),
        ("changes.undone_by =", asked.undone_by),
        ("sets.at_ms >=", asked.since_ms),
    ];
    for (condition, wanted) in numbers {
        if let Some(wanted) = wanted {
            values.push(wanted.into());
            conditions.push(format!("{condition} ?{}", values.len()));
        }
    }
    if let Some(is_undo) = asked.is_undo {
        conditions.push(format!("sets.kind {} ('undo', 'redo')", if is_undo { "IN" } else { "NOT IN" }));
    }
    if let Some(is_undone) = asked.is_undone {
        conditions.push(format!("changes.undone_by IS {}", if is_undone { "NOT NULL" } else { "NULL" }));
    }
    if asked.since_ms.is_none() {
        conditions.push("changes.is_put_back = 0".to_owned());
    }
    if asked.is_open {
        conditions.push("sets.is_done = 0".to_owned());
    }
    let from = "FROM changes JOIN change_sets AS sets ON sets.number = changes.change_set";
    let mut condition = conditions.join(" AND ");
    if asked.is_last {
        let rows =
            tx.rows(&format!("SELECT coalesce(max(sets.number), 0) {from} WHERE {condition}"), &values)?;
        let last = first(rows).map_or(Ok(0), |mut row| row.number())?;
        condition.push_str(&format!(" AND sets.number = {last}"));
    }
    let rows = tx.rows(
        &format!(
            "SELECT sets.number, changes.number, sets.session, sets.call, sets.at_ms, sets.kind, changes.by_command,
               changes.touched_us, sets.is_done, changes.name, changes.before_state, changes.after_state, coalesce(changes.undone_by, 0),
               changes.takes
             {from} WHERE {condition} ORDER BY sets.number, changes.number"
        ),
        &values,
    )?;
    rows.into_iter().map(kept).collect()
}

fn kept(mut row: Row) -> Result<KeptChange, Failure> {
    Ok(KeptChange {
        set: row.number()?,
        number: row.number()?,
        session: row.text()?,
        call: row.text()?,
        at_ms: row.number()?,
        kind: kind(&row.text()?)?,
        by_command: row.number()? == 1,
        touched_us: row.number()?,
        is_done: row.number()? == 1,
        name: row.text()?,
        before: held(&row.text()?)?,
        after: held(&row.text()?)?,
        undone_by: Some(row.number()?).filter(|number| *number > 0),
        takes: takes(row.text_or_none()?)?,
    })
}

pub(crate) fn finish(tx: &mut dyn Tx, by: &By, finished: &Finished) -> Result<(), Failure> {
    let Some(set) = number(tx, &finished.workspace, &finished.call)? else {
        let message = format!(
            "the undo `{}` is not in the store any more: it was deleted meanwhile; see what the files hold",
            finished.call
        );
        return Err(ToolError::new(Code::StoreNotAvailable, message).into());
    };
    tx.run("UPDATE change_sets SET is_done = 1 WHERE number = ?1", &[set.into()])?;
    const MARK: &str = "UPDATE changes SET undone_by = ?3 WHERE change_set = ?1 AND number = ?2";
    const HOLD: &str = "UPDATE changes SET undone_by = NULL WHERE change_set = ?1 AND number = ?2";
    let made: HashSet<&str> = finished.made.iter().map(String::as_str).collect();
    let own = tx.rows("SELECT name, takes FROM changes WHERE change_set = ?1", &[set.into()])?;
    for mut row in own {
        let (name, takes) = (row.text()?, takes(row.text_or_none()?)?);
        if !made.contains(name.as_str()) {
            let of = [Value::from(set), name.as_str().into()];
            tx.run("DELETE FROM changes WHERE change_set = ?1 AND name = ?2", &of)?;
            continue;
        }
        for (of, change) in takes.undone {
            tx.run(MARK, &[of.into(), change.into(), set.into()])?;
        }
        for (of, change) in takes.redone {
            tx.run(HOLD, &[of.into(), change.into()])?;
        }
    }
    forget_empty(tx, set)?;
    let kind = EventKind::ChangesUndone {
        of: finished.of.clone(),
        files: finished.made.len(),
        is_redo: finished.is_redo,
    };
    match finished.made.is_empty() {
        true => Ok(()),
        false => log::add(tx, &[Arc::new(event(by, kind))]),
    }
}

/// Forgets the changes of calls before a moment. Returns how many calls.
pub(crate) fn older(tx: &mut dyn Tx, before_ms: u64) -> Result<u64, Failure> {
    forget(tx, "at_ms", before_ms)
}

/// Forgets the oldest one of so many parts. Returns how many calls.
pub(crate) fn oldest(tx: &mut dyn Tx, part: u64) -> Result<u64, Failure> {
    let count =
        first(tx.rows("SELECT count(*) FROM change_sets", &[])?).map_or(Ok(0), |mut row| row.number())?;
    let first_of_rest = tx.rows(
        "SELECT number FROM change_sets ORDER BY number LIMIT 1 OFFSET ?1",
        &[count.div_ceil(part).into()],
    )?;
    let until = match first(first_of_rest) {
        Some(mut row) => row.number()?,
        None => i64::MAX as u64,
    };
    forget(tx, "number", until)
}

/// Forgets the calls whose column is below a value, and counts them for the sessions of which others are kept.
fn forget(tx: &mut dyn Tx, column: &str, below: u64) -> Result<u64, Failure> {
    let below = [Value::from(below)];
    tx.run(
        &format!(
            "INSERT INTO counters (name, last)
             SELECT 'deleted ' || workspace || '|' || session, count(*) FROM change_sets
             WHERE {column} < ?1 AND kind NOT IN ('undo', 'redo')
               AND number IN (SELECT change_set FROM changes WHERE is_put_back = 0) GROUP BY workspace, session
             ON CONFLICT (name) DO UPDATE SET last = counters.last + excluded.last"
        ),
        &below,
    )?;
    tx.run(
        &format!(
            "DELETE FROM changes WHERE change_set IN (SELECT number FROM change_sets WHERE {column} < ?1)"
        ),
        &below,
    )?;
    let count = tx.run(&format!("DELETE FROM change_sets WHERE {column} < ?1"), &below)?;
    tx.run(
        "DELETE FROM counters WHERE name LIKE 'deleted %'
           AND name NOT IN (SELECT 'deleted ' || workspace || '|' || session FROM change_sets)",
        &[],
    )?;
    Ok(count)
}

/// How many calls of a session were forgotten.
pub(crate) fn deleted(tx: &mut dyn Tx, workspace: &str, session: &str) -> Result<u64, Failure> {
    let name = format!("deleted {workspace}|{session}");
    let rows = tx.rows("SELECT last FROM counters WHERE name = ?1", &[name.as_str().into()])?;
    first(rows).map_or(Ok(0), |mut row| row.number())
}

fn state(held: &Held) -> Result<String, Failure> {
    written(held)
}

fn takes(text: Option<String>) -> Result<Takes, Failure> {
    let read = text.map(|text| serde_json::from_str(&text)).transpose();
    read.map(Option::unwrap_or_default)
        .map_err(|error| Failure::Broken(format!("a kept undo is not understood: {error}")))
}

fn written(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::Broken(format!("a change could not be written down: {error}")))
}

fn held(text: &str) -> Result<Held, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::Broken(format!("a kept change is not understood: {error}")))
}

fn hash_of(held: &Held) -> Option<&str> {
    match held {
        Held::File { hash, .. } => Some(hash),
        _ => None,
    }
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Tool => "tool",
        ChangeKind::Command => "command",
        ChangeKind::Undo => "undo",
        ChangeKind::Redo => "redo",
    }
}

fn kind(word: &str) -> Result<ChangeKind, Failure> {
    match word {
        "tool" => Ok(ChangeKind::Tool),
        "command" => Ok(ChangeKind::Command),
        "undo" => Ok(ChangeKind::Undo),
        "redo" => Ok(ChangeKind::Redo),
        other => Err(Failure::Broken(format!("a kept change is of the unknown kind `{other}`"))),
    }
}
