//! Taking back what calls have changed, and nothing else.
//!
//! Everything is judged before the first name is touched, by three states: what the call has left (the base), what is there
//! now, and what was there before it. An undo is kept in the journal like any change, before it is made, so that it can be
//! taken back itself: a redo is the undo of an undo.

mod apply;
mod judge;
mod merge;
mod target;

pub(crate) use judge::{Item, Verdict};
pub(crate) use target::Target;

use crate::commands::stored::now_ms;
use crate::runtime::threads;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::host::new_id;
use toolpost_core::policy::Policy;
use toolpost_core::store::{By, ChangeKind, ChangeQuery, Finished, KeptChange, Store};
use toolpost_core::workspace::{Lock, LockRequest};
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

/// How long to wait for tools that are changing the same files.
const PATIENCE: Duration = Duration::from_secs(30);
/// The name whose turn an undo takes, so that there is one at a time in a workspace.
const TURN: &str = ".toolpost-undo";

/// What an undo works on.
pub(crate) struct Undo<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) disk: &'a Arc<Disk>,
    pub(crate) policy: &'a Policy,
    pub(crate) session: &'a str,
}

/// What is asked for.
pub(crate) struct Wish<'a> {
    /// A call or a session; none for the last one.
    pub(crate) what: Option<&'a str>,
    pub(crate) is_redo: bool,
    /// Whether conflicts are left out, and the rest is done.
    pub(crate) is_partial: bool,
    pub(crate) is_dry_run: bool,
}

/// What was judged, and what was done.
pub(crate) struct Report {
    pub(crate) target: Target,
    pub(crate) items: Vec<Item>,
    /// The id of this undo; none where nothing was done.
    pub(crate) id: Option<String>,
}

impl Report {
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
        let _turn = self.locked(&[TURN.to_owned()])?;
        if !wish.is_dry_run {
            self.recover()?;
        }
        let target = target::find(self, wish)?;
        let items = judge::judge(self, &target)?;
        let mut report = Report { target, items, id: None };
        let has_work = report.items.iter().any(|item| item.verdict.is_work());
        let has_conflicts = report.conflicts().next().is_some();
        if wish.is_dry_run || (has_conflicts && !wish.is_partial) {
            return Ok(report);
        }
        // A person may think for long, so that nobody else waits for the turn of a file meanwhile.
        if has_work && !agrees(&report) {
            return Ok(report);
        }
        let _turns = self.locked(&report.target.names())?;
        if judge::judge(self, &report.target)? != report.items {
            let message = "files were changed in this very moment, so that nothing was done; try again";
            return Err(ToolError::new(Code::StaleFile, message).retryable());
        }
        let id = new_id(now_ms());
        apply::apply(self, &id, wish.is_redo, &report)?;
        report.id = Some(id);
        Ok(report)
    }

    /// The turns of files, in one order.
    fn locked(&self, names: &[String]) -> Result<Vec<Lock>, ToolError> {
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
        threads()?.block_on(async { tokio::time::timeout(PATIENCE, waiting).await }).map_err(|_| {
            let message = format!(
                "others have been changing the same files for {} s; wait until they are done, and try again",
                PATIENCE.as_secs()
            );
            ToolError::new(Code::Timeout, message)
        })?
    }

    /// The name that a name leads to, as far as there is something.
    fn led(&self, name: &str) -> String {
        if let Ok(stat) = self.disk.stat(&WorkspacePath::new(name)) {
            return stat.name;
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
            let is_made = |change: &&KeptChange| {
                judge::now(self.disk, &change.name).is_ok_and(|now| judge::is(&now, &change.after))
            };
            let made: Vec<String> = own.iter().filter(is_made).map(|change| change.name.clone()).collect();
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

    pub(crate) fn by(&self, call: &str) -> By {
        By { at_ms: now_ms(), session: self.session.to_owned(), call: Some(call.to_owned()), ..By::default() }
    }
}
