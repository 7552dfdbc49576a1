//! What is there before a change, found and handed to the journal of the session.

use super::led;
use crate::error::{Code, ToolError};
use crate::workspace::{
    After, Before, Changed, CommandChange, Journal, Kind, Pending, PendingKind, SpoolFile, Workspace,
    WorkspacePath,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A journal, and whose changes it is told.
pub(crate) struct Journaled {
    journal: Arc<dyn Journal>,
    session: String,
    call: String,
    /// What was handed over already: a name is as it was before the call only once.
    told: Mutex<HashSet<String>>,
    /// Whether something was handed over that may not be safe yet. Locked while somebody waits for that, so that no other
    /// thread of the call goes on before.
    is_pending: Mutex<bool>,
    /// Whether a command of the call has handed anything over, or something has changed that nobody keeps.
    has_more: AtomicBool,
    /// Files that were too large to be kept, each with its size.
    too_large: Mutex<Vec<(String, u64)>>,
    /// Folders in which a command has changed something that is not recorded.
    not_undone: Mutex<Vec<String>>,
}

impl Journaled {
    pub(crate) fn new(journal: &Arc<dyn Journal>, session: &str, call: &str) -> Journaled {
        Journaled {
            journal: Arc::clone(journal),
            session: session.to_owned(),
            call: call.to_owned(),
            told: Mutex::default(),
            is_pending: Mutex::default(),
            has_more: AtomicBool::new(false),
            too_large: Mutex::default(),
            not_undone: Mutex::default(),
        }
    }

    /// Hands over what is there, also where folders are about to be made. Whatever cannot be handed over is not changed.
    pub(super) fn before(
        &self,
        workspace: &dyn Workspace,
        path: &WorkspacePath,
        kind: PendingKind,
        content: Option<Arc<[u8]>>,
    ) -> Result<(), ToolError> {
        if !self.journal.is_kept() {
            self.has_more.store(true, Ordering::Release);
            return Ok(());
        }
        let (name, before) = look(workspace, path, &kind)?;
        if matches!(before, Before::Absent) {
            for folder in missing_above(workspace, &name) {
                self.tell(folder, PendingKind::CreateFolder, Before::Absent, (None, None))?;
            }
        }
        match &kind {
            PendingKind::Rename { to } => {
                let to = WorkspacePath::new(to.clone());
                self.tell(name, kind, before, (content.clone(), None))?;
                self.before(workspace, &to, PendingKind::Write, content)
            }
            PendingKind::Write if matches!(before, Before::Absent) => {
                self.tell(name, kind, before, (content, workspace.mode_of_new_files()))
            }
            _ => self.tell(name, kind, before, (content, None)),
        }
    }

    fn tell(
        &self,
        name: String,
        kind: PendingKind,
        before: Before,
        (content, new_mode): (Option<Arc<[u8]>>, Option<u32>),
    ) -> Result<(), ToolError> {
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
            return Ok(());
        }
        let told = name.clone();
        if let Before::File(file) = &before
            && file.stat.size > self.journal.largest()
        {
            let mut too_large = self.too_large.lock().unwrap_or_else(PoisonError::into_inner);
            too_large.push((name.clone(), file.stat.size));
        }
        let (session, call) = (self.session.clone(), self.call.clone());
        self.journal.before(Pending { session, call, name, kind, before, content, new_mode })?;
        // Only now: whoever waits from here on waits for this too.
        *self.is_pending.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(told);
        Ok(())
    }

    /// Waits until all that was handed over is safe.
    pub(super) fn settle(&self) -> Result<(), ToolError> {
        let mut is_pending = self.is_pending.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut *is_pending) {
            return Ok(());
        }
        self.journal.settle(&self.session, &self.call).inspect_err(|_| {
            // What is tried again is told again.
            self.has_more.store(true, Ordering::Release);
            self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        })
    }

    /// Tells what a change has made of a name.
    pub(super) fn after(&self, name: String, after: After) -> Result<(), ToolError> {
        if !self.journal.is_kept() {
            return Ok(());
        }
        let change = Changed { session: self.session.clone(), call: self.call.clone(), name, after };
        self.journal.after(change)
    }

    /// The SHA-256 of new content of a file, where it is known.
    pub(crate) fn hash_of(&self, name: &str, content: &[u8]) -> Option<String> {
        self.journal.hash_of(&self.call, name, content)
    }

    /// Whether the call has handed anything over.
    pub(crate) fn has_changes(&self) -> bool {
        self.has_more.load(Ordering::Acquire)
            || !self.told.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether what the call changes can be taken back.
    pub(crate) fn is_kept(&self) -> bool {
        self.journal.is_kept()
    }

    /// What cannot be taken back of what the call has changed, in a sentence.
    pub(crate) fn lost(&self) -> Option<String> {
        let too_large = self.too_large.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, size) = too_large.first()?;
        let more = match too_large.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        Some(format!(
            "(note: undo cannot restore what was in `{name}` ({size} bytes){more}: it was too large to be kept)"
        ))
    }

    /// Where a command writes what is about to change.
    pub(crate) fn spool(&self) -> Result<Option<SpoolFile>, ToolError> {
        let spool = self.journal.spool(&self.session, &self.call)?;
        self.has_more.fetch_or(spool.is_some() || !self.journal.is_kept(), Ordering::AcqRel);
        Ok(spool)
    }

    /// Tells what a command has changed.
    pub(crate) fn command_changed(&self, changes: Vec<CommandChange>) -> Result<(), ToolError> {
        self.has_more.store(true, Ordering::Release);
        self.journal.command_changed(&self.session, &self.call, changes)
    }

    /// Takes note of folders in which a command has changed something that is not recorded.
    pub(crate) fn leave_out(&self, folders: Vec<String>) {
        self.not_undone.lock().unwrap_or_else(PoisonError::into_inner).extend(folders);
    }

    /// The folders that [`Journaled::leave_out`] was given.
    pub(crate) fn not_undone(&self) -> Vec<String> {
        self.not_undone.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells that the call, which has handed something over, is done.
    pub(crate) fn end(&self, is_success: bool) -> Result<(), ToolError> {
        self.journal.ended(&self.session, &self.call, is_success)
    }
}

/// What is there, by the name that the change is about: a write follows links, the other changes do not.
fn look(
    workspace: &dyn Workspace,
    path: &WorkspacePath,
    kind: &PendingKind,
) -> Result<(String, Before), ToolError> {
    let spelled = resolved(workspace, &workspace.name(path)?);
    if matches!(kind, PendingKind::Remove | PendingKind::Rename { .. })
        && let Some(text) = workspace.link(path)
    {
        return Ok((spelled, Before::Link(Some(text))));
    }
    match workspace.stat(path) {
        Ok(stat) if stat.kind == Kind::Folder => Ok((stat.name, Before::Folder { mode: stat.mode })),
        Ok(_) => {
            let file = workspace.open(path)?;
            Ok((file.stat.name.clone(), Before::File(file)))
        }
        Err(error) if error.code() == Code::FileNotFound => Ok((spelled, Before::Absent)),
        Err(error) => Err(error),
    }
}

/// The name with the links of the folders above it followed; the last part stays as it is.
pub(super) fn resolved(workspace: &dyn Workspace, spelled: &str) -> String {
    match spelled.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
        Some((above, last)) => {
            led(workspace, above).map_or_else(|| spelled.to_owned(), |above| format!("{above}/{last}"))
        }
        None => spelled.to_owned(),
    }
}

/// The folders above a name that are not there, the outermost first.
fn missing_above(workspace: &dyn Workspace, name: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut rest = name;
    while let Some((above, _)) = rest.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
        let found = workspace.stat(&WorkspacePath::new(above));
        if found.map_err(|error| error.code()).err() != Some(Code::FileNotFound) {
            break;
        }
        missing.push(above.to_owned());
        rest = above;
    }
    missing.reverse();
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    /// Tells when somebody waits, and answers when another thread has gone on, or does not.
    struct Slow {
        begun: Sender<()>,
        gone_on: Mutex<Receiver<bool>>,
        is_safe: AtomicBool,
    }

    impl Journal for Slow {
        fn before(&self, _: Pending) -> Result<(), ToolError> {
            Ok(())
        }

        fn settle(&self, _: &str, _: &str) -> Result<(), ToolError> {
            let _ = self.begun.send(());
            let gone_on = self.gone_on.lock().expect("one at a time");
            let early = gone_on.recv_timeout(Duration::from_millis(200));
            assert_eq!(early.ok(), None, "another thread went on before it was safe");
            self.is_safe.store(true, Ordering::Release);
            Ok(())
        }
    }

    fn tell(journaled: &Journaled) -> Result<(), ToolError> {
        journaled.tell("a".to_owned(), PendingKind::Remove, Before::Absent, (None, None))
    }

    #[test]
    fn no_thread_of_a_call_goes_on_before_all_is_safe() {
        let ((begun, begins), (tells, gone_on)) = (channel(), channel());
        let slow = Arc::new(Slow { begun, gone_on: Mutex::new(gone_on), is_safe: AtomicBool::new(false) });
        let journal: Arc<dyn Journal> = slow.clone();
        let journaled = Journaled::new(&journal, "session", "call");
        tell(&journaled).expect("it is taken");
        std::thread::scope(|threads| {
            let first = threads.spawn(|| journaled.settle());
            begins.recv().expect("the first one waits");
            journaled.settle().expect("it is safe");
            let is_safe = slow.is_safe.load(Ordering::Acquire);
            let _ = tells.send(is_safe);
            assert!(is_safe);
            first.join().expect("it ends").expect("it is safe");
        });
    }

    /// Another thread waits just before something is handed over.
    #[derive(Default)]
    struct Between {
        journaled: OnceLock<Arc<Journaled>>,
        settled: AtomicUsize,
    }

    impl Journal for Between {
        fn before(&self, _: Pending) -> Result<(), ToolError> {
            self.journaled.get().map_or(Ok(()), |journaled| journaled.settle())?;
            self.settled.store(0, Ordering::Release);
            Ok(())
        }

        fn settle(&self, _: &str, _: &str) -> Result<(), ToolError> {
            self.settled.fetch_add(1, Ordering::AcqRel);
            Ok(())
        }
    }

    #[test]
    fn what_is_handed_over_while_another_thread_waits_is_waited_for() {
        let between = Arc::new(Between::default());
        let journal: Arc<dyn Journal> = between.clone();
        let journaled = Arc::new(Journaled::new(&journal, "session", "call"));
        assert!(between.journaled.set(journaled.clone()).is_ok());
        tell(&journaled).expect("it is taken");
        journaled.settle().expect("it is safe");
        assert_eq!(between.settled.load(Ordering::Acquire), 1);
    }
}
