//! Which changes are meant.

use super::repository::{self, Part, Repositories};
use super::{Undo, Wish};
use crate::call_id;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use toolpost_core::event::EventKind;
use toolpost_core::store::{ChangeKind, ChangeQuery, EventQuery, Held, KeptChange, Takes};
use toolpost_core::{Code, ToolError, Workspace};

/// A call whose changes are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) call: String,
    pub(crate) session: String,
    pub(crate) at_ms: u64,
    /// The tool, where the log knows it.
    pub(crate) tool: Option<String>,
    /// Folders in which it has changed something that is not recorded, where the log knows it.
    pub(crate) not_undone: Vec<String>,
}

/// The changes that are to be taken back, the last one first.
#[derive(Debug)]
pub(crate) struct Target {
    /// The calls that they are of, the last one first.
    pub(crate) calls: Vec<Call>,
    pub(crate) steps: Vec<KeptChange>,
    /// What holds again, by name: of a redo.
    redone: BTreeMap<String, Vec<(u64, u64)>>,
    /// Where in the steps those of each name are.
    by_name: BTreeMap<String, Vec<usize>>,
    /// Later calls of which nothing can ever be restored.
    pub(crate) passed: Vec<Call>,
    /// Later calls, or others of the session, that have changed only what is not recorded.
    pub(crate) left_out: Vec<Call>,
    /// Calls of the session that are not kept any more.
    pub(crate) deleted: u64,
}

impl Target {
    fn new(calls: Vec<Call>, steps: Vec<KeptChange>, redone: BTreeMap<String, Vec<(u64, u64)>>) -> Target {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            by_name.entry(step.name.clone()).or_default().push(at);
        }
        // Of calls that overlap, the one that ended last need not have changed a name last.
        let touched = |at: &usize| steps.get(*at).map_or(0, |step| step.touched_us);
        for of_name in by_name.values_mut().filter(|of_name| of_name.iter().all(|at| touched(at) > 0)) {
            of_name.sort_by_key(|at| std::cmp::Reverse(touched(at)));
        }
        Target { calls, steps, redone, by_name, passed: Vec::new(), left_out: Vec::new(), deleted: 0 }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    /// The changes of a name, the last one first.
    pub(super) fn of_name<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a KeptChange> + use<'a> {
        self.by_name.get(name).into_iter().flatten().filter_map(|at| self.steps.get(*at))
    }

    /// Whether these are the same changes.
    pub(super) fn is_same(&self, other: &Target) -> bool {
        let ids = |target: &Target| -> Vec<(u64, u64)> {
            target.steps.iter().map(|step| (step.set, step.number)).collect()
        };
        ids(self) == ids(other)
    }

    /// What an undo of the name is about.
    pub(super) fn takes(&self, name: &str) -> Takes {
        let redone = self.redone.get(name).cloned().unwrap_or_default();
        let undone = self.of_name(name).map(|step| (step.set, step.number));
        Takes { undone: undone.filter(|step| !redone.contains(step)).collect(), redone }
    }
}

/// The changes that are meant by what a person has said.
pub(super) fn find(undo: &Undo<'_>, wish: &Wish<'_>) -> Result<Target, ToolError> {
    match (wish.what, wish.is_redo) {
        (None, false) => last(undo),
        (None, true) => last_undo(undo),
        (Some(what), _) => {
            let found = named(undo, what)?;
            let (undos, calls): (Vec<_>, Vec<_>) = found
                .into_iter()
                .partition(|change| matches!(change.kind, ChangeKind::Undo | ChangeKind::Redo));
            match (calls.is_empty(), wish.is_redo) {
                // The undo of an undo is a redo.
                (true, _) => redo(undo, what, taken_by(undo, &undos)?),
                (false, true) => redo(undo, what, calls),
                (false, false) => {
                    let mut target = taken_back(undo, what, calls)?;
                    if target.calls.iter().all(|call| call.session == what) {
                        target.deleted = undo.store.deleted_changes(undo.disk.root(), what)?;
                        let session = Some(what.to_owned());
                        target.left_out =
                            left_out(undo, &target, EventQuery { session, ..EventQuery::default() })?;
                    }
                    Ok(target)
                }
            }
        }
    }
}

fn last(undo: &Undo<'_>) -> Result<Target, ToolError> {
    let query = ChangeQuery { is_undo: Some(false), is_undone: Some(false), is_last: true, ..undo.query() };
    let mut steps = undo.store.changes(&query)?;
    let mut passed = Vec::new();
    if !has_work(undo, &steps)? {
        let all = undo.store.changes(&ChangeQuery { is_last: false, ..query })?;
        let mut later = Vec::new();
        steps.clear();
        let mut of_call: BTreeMap<u64, Vec<KeptChange>> = BTreeMap::new();
        all.into_iter().for_each(|change| of_call.entry(change.set).or_default().push(change));
        for own in of_call.into_values().rev() {
            if has_work(undo, &own)? {
                steps = own;
                break;
            }
            later.extend(own.into_iter().filter(is_lost));
        }
        passed = calls(undo, &later)?;
    }
    let Some(first) = steps.first() else {
        let why = match passed.first() {
            None => "tools have changed nothing here that is recorded (dependency folders such as `node_modules` are not), or \
                     all of it is undone already"
                .to_owned(),
            Some(call) => format!("what the call {} has changed was too large to be kept", call.call),
        };
        return Err(nothing("undo", &why));
    };
    if undo.disk.born_ms().is_some_and(|born| first.at_ms + SETTLING_MS < born) {
        let (call, root) = (&first.call, undo.disk.root());
        let why = format!(
            "the last call is from before the folder `{root}` was made; `toolpost undo {call}` takes it back all the same"
        );
        return Err(nothing("undo", &why));
    }
    let mut target = Target { passed, ..of_calls(undo, steps)? };
    target.left_out = left_out(undo, &target, EventQuery::default())?;
    Ok(target)
}

/// Whether an undo of these changes of a call would do something that anybody could notice.
fn has_work(undo: &Undo<'_>, changes: &[KeptChange]) -> Result<bool, ToolError> {
    let repositories = Repositories::of(undo.disk, changes.iter().map(|change| change.name.as_str()));
    for change in changes.iter().filter(|change| !is_lost(change)) {
        // Objects that were made stay.
        let is_made = matches!(change.before, Held::Absent | Held::Folder { .. });
        let is_object = matches!(repositories.part(&change.name), Part::Object(_));
        if !(is_object && is_made || repository::is_note(undo, change)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many events are looked through for calls of which nothing is recorded.
const MOST_EVENTS: usize = 2_000;

/// Calls since the first one of the target that have changed only what is not recorded, of sessions that have changed something
/// in this workspace.
fn left_out(undo: &Undo<'_>, target: &Target, query: EventQuery) -> Result<Vec<Call>, ToolError> {
    let since_ms = target.steps.iter().map(|step| step.at_ms).min();
    let query = EventQuery { since_ms, limit: Some(MOST_EVENTS), is_newest: true, ..query };
    let mut all = Vec::new();
    let mut sessions: HashMap<String, bool> = HashMap::new();
    for logged in undo.store.events(&query)? {
        let event = &logged.event;
        let (EventKind::CallFinished { metadata, .. }, Some(call)) = (&event.kind, &event.call) else {
            continue;
        };
        if metadata.not_undone.is_empty() || target.calls.iter().any(|known| known.call == *call) {
            continue;
        }
        let of_call = ChangeQuery { call: Some(call.clone()), ..undo.query() };
        if !undo.store.changes(&of_call)?.is_empty() {
            continue;
        }
        let is_here = match sessions.get(&event.session) {
            Some(is_here) => *is_here,
            None => {
                let of_session =
                    ChangeQuery { session: Some(event.session.clone()), is_last: true, ..undo.query() };
                let is_here = !undo.store.changes(&of_session)?.is_empty();
                sessions.insert(event.session.clone(), is_here);
                is_here
            }
        };
        if is_here {
            all.push(Call {
                call: call.clone(),
                session: event.session.clone(),
                at_ms: event.at_ms,
                tool: tool(undo, call)?,
                not_undone: metadata.not_undone.clone(),
            });
        }
    }
    Ok(all)
}

/// A folder that is older counts as made with the first change in it: some filesystems copy it then.
const SETTLING_MS: u64 = 10_000;

/// Whether nobody can ever put back what was there before this change.
fn is_lost(change: &KeptChange) -> bool {
    matches!(change.before, Held::TooLarge { .. } | Held::Unknown)
}

fn last_undo(undo: &Undo<'_>) -> Result<Target, ToolError> {
    let query = ChangeQuery { is_undo: Some(false), is_undone: Some(true), ..undo.query() };
    let undone = undo.store.changes(&query)?;
    let newest = undone.iter().filter_map(|change| change.undone_by).max();
    let calls: BTreeSet<u64> =
        undone.iter().filter(|change| change.undone_by == newest).map(|change| change.set).collect();
    if calls.is_empty() {
        return Err(nothing("redo", "no undo is left to take back"));
    }
    // An undo that was interrupted has a second one for the rest: both are of the same calls.
    let all = undone.into_iter().filter(|change| calls.contains(&change.set)).collect();
    redo(undo, "the last undo", all)
}

/// All changes of the call, or else of the session, of this id.
fn named(undo: &Undo<'_>, what: &str) -> Result<Vec<KeptChange>, ToolError> {
    let of_call = |call: String| undo.store.changes(&ChangeQuery { call: Some(call), ..undo.query() });
    let found = of_call(what.to_owned())?;
    if !found.is_empty() {
        return Ok(found);
    }
    let session = Some(what.to_owned());
    let of_session = undo.store.changes(&ChangeQuery { session, is_undo: Some(false), ..undo.query() })?;
    if !of_session.is_empty() {
        return Ok(of_session);
    }
    // A log shows the endings of ids.
    let call = call_id::find(undo.store, what)?;
    let found = call.clone().map(of_call).transpose()?.unwrap_or_default();
    match found.is_empty() {
        true => Err(unknown(undo, call.as_deref().unwrap_or(what))?),
        false => Ok(found),
    }
}

fn unknown(undo: &Undo<'_>, what: &str) -> Result<ToolError, ToolError> {
    let is_in_log = |query: EventQuery| -> Result<bool, ToolError> {
        Ok(!undo.store.events(&EventQuery { limit: Some(1), ..query })?.is_empty())
    };
    let of_call = EventQuery { call: Some(what.to_owned()), ..EventQuery::default() };
    let ends = undo.store.events(&of_call)?.into_iter().filter_map(|logged| match logged.event.kind {
        EventKind::CallFinished { metadata, .. } => Some(metadata.not_undone),
        _ => None,
    });
    let not_undone: Vec<String> = ends.flatten().map(|name| format!("`{name}`")).collect();
    if !not_undone.is_empty() {
        let message = format!(
            "there is nothing to undo: what `{what}` has changed in {} stays as it is, because undo does not cover it, and no \
             other change of it is kept",
            not_undone.join(", ")
        );
        return Ok(ToolError::new(Code::NoChange, message));
    }
    let of_session = EventQuery { session: Some(what.to_owned()), ..EventQuery::default() };
    let message = if is_in_log(of_call)? || is_in_log(of_session)? {
        format!(
            "of `{what}` no change in this workspace is kept: it has changed nothing here, its changes were deleted because \
             they were older, or more, than the key `keep` says, or it was refused"
        )
    } else {
        format!(
            "no call and no session `{what}` is known in this workspace; `toolpost log` shows the calls, \
             `toolpost sessions` the sessions, and --workspace names another workspace"
        )
    };
    Ok(ToolError::new(Code::FileNotFound, message))
}

fn taken_back(undo: &Undo<'_>, what: &str, mut changes: Vec<KeptChange>) -> Result<Target, ToolError> {
    changes.retain(|change| change.undone_by.is_none());
    match changes.is_empty() {
        true => Err(nothing(
            "undo",
            &format!("`{what}` is undone already; `toolpost redo {what}` makes it again"),
        )),
        false => of_calls(undo, changes),
    }
}

/// The changes that undos have taken back.
fn taken_by(undo: &Undo<'_>, undos: &[KeptChange]) -> Result<Vec<KeptChange>, ToolError> {
    let sets: BTreeSet<u64> = undos.iter().map(|change| change.set).collect();
    let mut all = Vec::new();
    for set in sets {
        all.extend(undo.store.changes(&ChangeQuery { undone_by: Some(set), ..undo.query() })?);
    }
    Ok(all)
}

/// Makes changes again that were taken back: the undos that did it are taken back.
fn redo(undo: &Undo<'_>, what: &str, changes: Vec<KeptChange>) -> Result<Target, ToolError> {
    let undone: Vec<KeptChange> = changes.into_iter().filter(|change| change.undone_by.is_some()).collect();
    if undone.is_empty() {
        return Err(nothing("redo", &format!("`{what}` is not undone, so there is nothing to make again")));
    }
    let oldest = undone.iter().filter_map(|change| change.undone_by).min().unwrap_or_default();
    let after = Some(oldest.saturating_sub(1));
    let undos = undo.store.changes(&ChangeQuery { is_undo: Some(true), after, ..undo.query() })?;
    let mut undone_by: HashMap<(u64, &str), Vec<&KeptChange>> = HashMap::new();
    for one in &undone {
        undone_by.entry((one.undone_by.unwrap_or_default(), &one.name)).or_default().push(one);
    }
    let sets: BTreeSet<u64> = undone.iter().filter_map(|one| one.undone_by).collect();
    let mut redone: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    let mut steps = Vec::new();
    for step in undos.into_iter().filter(|step| sets.contains(&step.set)) {
        let Some(of) = undone_by.get(&(step.set, step.name.as_str())) else {
            // A folder that was made only because something in it came back.
            if step.takes == Takes::default() && step.undone_by.is_none() {
                steps.push(step);
            }
            continue;
        };
        let ids: Vec<(u64, u64)> = of.iter().map(|one| (one.set, one.number)).collect();
        // What was taken back together with changes of other calls comes again call by call.
        let is_all = step.takes.undone.iter().all(|taken| ids.contains(taken));
        redone.entry(step.name.clone()).or_default().extend(ids);
        match is_all {
            true => steps.push(step),
            false => steps.extend(of.iter().map(|one| forwards(one))),
        }
    }
    if steps.is_empty() {
        return Err(nothing("redo", &format!("the undo of `{what}` is not kept any more (key `keep`)")));
    }
    steps.reverse();
    Ok(Target::new(calls(undo, &undone)?, steps, redone))
}

/// A change as one that is to be taken back so that it holds again. Of several, the first one comes first.
fn forwards(change: &KeptChange) -> KeptChange {
    KeptChange {
        before: change.after.clone(),
        after: change.before.clone(),
        touched_us: u64::MAX - change.touched_us,
        ..change.clone()
    }
}

fn of_calls(undo: &Undo<'_>, mut steps: Vec<KeptChange>) -> Result<Target, ToolError> {
    let calls = calls(undo, &steps)?;
    steps.reverse();
    Ok(Target::new(calls, steps, BTreeMap::new()))
}

/// The call before those of the target that could be undone instead.
pub(super) fn before(undo: &Undo<'_>, target: &Target) -> Result<Option<Call>, ToolError> {
    let first = target.steps.iter().map(|step| step.set).min().unwrap_or_default();
    let query = ChangeQuery { is_undo: Some(false), is_undone: Some(false), ..undo.query() };
    let mut earlier = undo.store.changes(&query)?;
    earlier.retain(|change| change.set < first);
    let last = earlier.iter().map(|change| change.set).max();
    earlier.retain(|change| Some(change.set) == last);
    Ok(calls(undo, &earlier)?.into_iter().next())
}

/// The calls of changes, the last one first.
fn calls(undo: &Undo<'_>, changes: &[KeptChange]) -> Result<Vec<Call>, ToolError> {
    let mut all = BTreeMap::new();
    for change in changes {
        all.entry(change.set).or_insert_with(|| Call {
            call: change.call.clone(),
            session: change.session.clone(),
            at_ms: change.at_ms,
            tool: None,
            not_undone: Vec::new(),
        });
    }
    let mut all: Vec<Call> = all.into_values().rev().collect();
    for call in &mut all {
        let query = EventQuery { call: Some(call.call.clone()), ..EventQuery::default() };
        for logged in undo.store.events(&query)? {
            match logged.event.kind {
                EventKind::CallStarted { tool, .. } => call.tool = Some(tool),
                EventKind::CallFinished { metadata, .. } => call.not_undone = metadata.not_undone,
                _ => {}
            }
        }
    }
    Ok(all)
}

/// The tool of a call, where the log knows it.
pub(super) fn tool(undo: &Undo<'_>, call: &str) -> Result<Option<String>, ToolError> {
    let query = EventQuery { call: Some(call.to_owned()), ..EventQuery::default() };
    Ok(undo.store.events(&query)?.into_iter().find_map(|logged| match logged.event.kind {
        EventKind::CallStarted { tool, .. } => Some(tool),
        _ => None,
    }))
}

/// The call that an undo is about.
pub(super) fn call_of(undo: &Undo<'_>, own: &[KeptChange]) -> Result<String, ToolError> {
    let first = own.iter().flat_map(|change| change.takes.redone.iter().chain(&change.takes.undone)).next();
    let Some((set, _)) = first else { return Ok(String::new()) };
    let after = Some(set.saturating_sub(1));
    let found = undo.store.changes(&ChangeQuery { after, ..undo.query() })?;
    Ok(found.into_iter().find(|change| change.set == *set).map(|change| change.call).unwrap_or_default())
}

fn nothing(command: &str, why: &str) -> ToolError {
    let message = format!(
        "there is nothing to {command} in this workspace: {why}; changes are kept as long as the key `keep` says (`toolpost doctor` \
         shows it)"
    );
    ToolError::new(Code::NoChange, message)
}
