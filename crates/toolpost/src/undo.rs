//! Taking back what calls have changed, and nothing else.
//!
//! Everything is judged before the first name is touched, by three states: what the call has left (the base), what is there
//! now, and what was there before it. An undo is kept in the journal like any change, before it is made, so that it can be
//! taken back itself: a redo is the undo of an undo.

mod apply;
mod judge;
mod others;
mod repository;
mod target;

pub(crate) use judge::{Item, Verdict};
pub(crate) use target::{Call, Target};

use crate::calendar::now_ms;
use crate::runtime::threads;
use repository::{Part, Repositories};
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use toolpost_core::host::new_id;
use toolpost_core::policy::Policy;
use toolpost_core::store::{By, ChangeKind, ChangeQuery, Finished, Held, KeptChange, Store};
use toolpost_core::workspace::{Lock, LockRequest};
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::{Disk, Exact};

/// How long to wait for tools that are changing the same files.
const PATIENCE: Duration = Duration::from_secs(30);
/// With more names, the turn of each is taken only while it is changed.
const MOST_TURNS: usize = 200;
/// The name whose turn an undo takes, so that there is one at a time in a workspace.
const TURN: &str = ".toolpost-undo";

/// Who is waited for when the turn of a file does not come.
const OTHERS: &str = "a tool has been changing one of the same files";

/// What an undo works on.
pub(crate) struct Undo<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) disk: &'a Arc<Disk>,
    pub(crate) policy: &'a Policy,
    pub(crate) session: &'a str,
    /// Whether files that somebody has removed since come back.
    pub(crate) brings_back: bool,
    /// Hears what is done, how many names it is done with and how many there are.
    pub(crate) progress: &'a dyn Fn(&str, usize, usize),
}

/// What is asked for.
pub(crate) struct Wish<'a> {
    /// A call or a session; none for the last one.
    pub(crate) what: Option<&'a str>,
    pub(crate) is_redo: bool,
    /// Whether conflicts are left out, and the rest is done.
    pub(crate) is_partial: bool,
    pub(crate) is_dry_run: bool,
    /// Whether a person is asked first.
    pub(crate) asks: bool,
}

/// What was judged, and what was done.
pub(crate) struct Report {
    pub(crate) target: Target,
    pub(crate) items: Vec<Item>,
    /// The id of this undo; none where nothing was done.
    pub(crate) id: Option<String>,
    /// Where nothing is done because of conflicts: the call before, which could be taken back instead.
    pub(crate) before: Option<Call>,
}

impl Report {
    /// Whether conflicts keep it from being done.
    pub(crate) fn is_refused(&self, wish: &Wish<'_>) -> bool {
        self.conflicts().next().is_some() && !(wish.is_partial && self.has_work())
    }

    /// Whether anything can be done.
    pub(crate) fn has_work(&self) -> bool {
        self.items.iter().any(|item| item.verdict.is_work())
    }

    pub(crate) fn conflicts(&self) -> impl Iterator<Item = (&Item, &str)> {
        self.items.iter().filter_map(|item| match &item.verdict {
            Verdict::Conflict(why) => Some((item, why.as_str())),
            _ => None,
        })
    }
}

impl Undo<'_> {
    /// Judges and, unless somebody says no, does it. `agrees` is asked when all is judged and there is something to do.
    pub(crate) fn run(
        &self,
        wish: &Wish<'_>,
        agrees: impl FnOnce(&Report) -> bool,
    ) -> Result<Report, ToolError> {
        let mut _turn = self.turn()?;
        if !wish.is_dry_run {
            self.recover()?;
        }
        let target = target::find(self, wish)?;
        let items = judge::judge(self, &target)?;
        let mut report = Report { target, items, id: None, before: None };
        if report.is_refused(wish) {
            report.before = target::before(self, &report.target)?;
            return Ok(report);
        }
        if wish.is_dry_run {
            return Ok(report);
        }
        if report.has_work() && wish.asks {
            // A person may think for long, so that nobody else waits meanwhile.
            drop(_turn);
            if !agrees(&report) {
                return Ok(report);
            }
            _turn = self.turn()?;
            self.recover()?;
            if !target::find(self, wish)?.is_same(&report.target) {
                let message =
                    "calls were undone or made since this was shown, so that nothing was done; try again";
                return Err(ToolError::new(Code::StaleFile, message).retryable());
            }
        }
        let names = report.target.names();
        let _turns = if names.len() > MOST_TURNS { Vec::new() } else { self.locked(&names, OTHERS)? };
        if judge::judge(self, &report.target)? != report.items {
            let since = if wish.asks { "since this was shown" } else { "in this very moment" };
            let message = format!("files were changed {since}, so that nothing was done; try again");
            return Err(ToolError::new(Code::StaleFile, message).retryable());
        }
        let id = new_id(now_ms());
        apply::apply(self, &id, wish.is_redo, &report)?;
        report.id = Some(id);
        Ok(report)
    }

    /// The turn to undo something in this workspace.
    fn turn(&self) -> Result<Vec<Lock>, ToolError> {
        self.locked(
            &[TURN.to_owned()],
            "another `toolpost undo` or `redo` of this workspace has been running",
        )
    }

    /// The turns of files, in one order.
    fn locked(&self, names: &[String], others: &str) -> Result<Vec<Lock>, ToolError> {
        // Two names that lead to one file have one turn.
        let names: BTreeSet<String> = names.iter().map(|name| self.led(name)).collect();
        // What cannot be reached is found out when it is looked at.
        let requests: Vec<LockRequest> =
            names.into_iter().filter_map(|name| self.disk.lock(&WorkspacePath::new(name)).ok()).collect();
        let waiting = async {
            let mut locks = Vec::with_capacity(requests.len());
            for request in requests {
                locks.push(request.wait().await?);
            }
            Ok::<_, ToolError>(locks)
        };
        // One for all: each has threads and descriptors of its own.
        static THREADS: OnceLock<Result<tokio::runtime::Runtime, ToolError>> = OnceLock::new();
        let threads = THREADS.get_or_init(threads).as_ref().map_err(ToolError::clone)?;
        threads.block_on(async { tokio::time::timeout(PATIENCE, waiting).await }).map_err(|_| {
            let message =
                format!("{others} for {} s; wait until it is done, and try again", PATIENCE.as_secs());
            ToolError::new(Code::Timeout, message)
        })?
    }

    /// The name that a name leads to, as far as there is something.
    fn led(&self, name: &str) -> String {
        if let Some(led) = self.disk.led_to(&WorkspacePath::new(name)) {
            return led;
        }
        match name.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
            Some((above, last)) => format!("{}/{last}", self.led(above)),
            None => name.to_owned(),
        }
    }

    pub(crate) fn query(&self) -> ChangeQuery {
        ChangeQuery { workspace: self.disk.root().to_owned(), ..ChangeQuery::default() }
    }

    /// Of an undo that was interrupted, what it had done counts, and the rest is forgotten.
    fn recover(&self) -> Result<(), ToolError> {
        let open = self.store.changes(&ChangeQuery { is_open: true, ..self.query() })?;
        for own in open.chunk_by(|one, other| one.set == other.set) {
            let names: HashSet<&str> = own.iter().map(|change| change.name.as_str()).collect();
            let mut made = Vec::new();
            let mut folders = HashSet::new();
            for change in own {
                if folders.insert(change.name.rsplit_once('/').map_or("", |(above, _)| above)) {
                    let path = WorkspacePath::new(change.name.clone());
                    self.disk.discard(&path, &apply::beginning(&change.call))?;
                }
            }
            let repositories = Repositories::of(self.disk, names.iter().copied());
            for change in own {
                let is_object = matches!(repositories.part(&change.name), Part::Object(_));
                // Of objects, what was to go stays all the same.
                let is_kept = is_object && !matches!(change.after, Held::File { .. });
                if is_kept || self.is_made(change, &names)? {
                    made.push(change.name.clone());
                }
            }
            let first = &own[0];
            let finished = Finished {
                workspace: self.disk.root().to_owned(),
                call: first.call.clone(),
                of: target::call_of(self, own)?,
                made,
                is_redo: first.kind == ChangeKind::Redo,
            };
            self.store.finish_undo(&self.by(&first.call), finished)?;
        }
        Ok(())
    }

    /// Whether an undo that was interrupted has made this change. Where it was stopped between taking a folder away and
    /// putting a file there, or the other way round, what it took away is put back.
    fn is_made(&self, change: &KeptChange, names: &HashSet<&str>) -> Result<bool, ToolError> {
        let is_below_changed =
            || change.name.match_indices('/').any(|(end, _)| names.contains(&change.name[..end]));
        let now = match judge::now(self.disk, &change.name) {
            Ok(now) => now,
            // What was a folder above it is none any more.
            Err(_) if is_below_changed() => Exact::Absent,
            Err(_) => return Ok(false),
        };
        if judge::is(&now, &change.after) {
            return Ok(true);
        }
        let is_folder = |held: &Held| matches!(held, Held::Folder { .. });
        let is_between = now == Exact::Absent
            && is_folder(&change.before) != is_folder(&change.after)
            && change.before != Held::Absent
            && change.after != Held::Absent;
        if is_between && let Ok(before) = judge::exact(self.store, &change.before)? {
            self.disk.exchange(&WorkspacePath::new(change.name.clone()), &Exact::Absent, &before)?;
        }
        Ok(false)
    }

    pub(crate) fn by(&self, call: &str) -> By {
        By { at_ms: now_ms(), session: self.session.to_owned(), call: Some(call.to_owned()), ..By::default() }
    }
}
