//! The workspace as a running call gets it: bound to what was decided, and counting what is touched.

mod journaled;
mod judged;

pub(crate) use self::journaled::Journaled;

use self::judged::Judged;
use super::{
    After, Entries, File, Kind, LockRequest, OldContent, OuterRules, Owner, PendingKind, ReadSeek, Replaced,
    RunByGit, ScanOptions, Scanned, Staged, Stat, Surveyed, Surveyor, Visit, Workspace, WorkspacePath,
    Written,
};
use crate::capability::Capability;
use crate::error::ToolError;
use crate::policy::{Ahead, Closed, FileRules};
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Judges each open by the name it resolved to. Implemented by the executor; called by the bound workspace.
///
/// What the call was allowed to do was decided from its arguments; a link may lead somewhere else. A judge refuses
/// what would have been decided more strictly.
pub trait Guard: Send + Sync {
    /// Whether the call may do this to the file of this display name.
    fn judge(&self, action: Capability, name: &str) -> Result<(), ToolError>;

    /// Whether the call may reach this host, `host:port`: it was decided for it, or the policy allows it without a question.
    fn judge_host(&self, place: &str) -> Result<(), ToolError>;

    /// Whether a rule names this host, `host:port`, and allows it, so that its address need not be a public one.
    fn opens_host(&self, place: &str) -> bool;

    /// Whether the call may write the file, if these paths are protected because of git.
    fn judge_run_by_git(&self, name: &str, run: &[RunByGit]) -> Result<(), ToolError>;

    /// Whether the model may have the content of the file, its size or its hash; also after the call has ended.
    fn shows(&self, name: &str) -> bool;

    /// Whether a command that the call starts may do this to the file: only what the policy allows without a question.
    fn is_open_to_commands(&self, action: Capability, name: &str, owner: Owner) -> bool;

    /// Whether a rule or a person has opened the file, and not merely the capability.
    fn is_opened_by_rule(&self, action: Capability, name: &str) -> bool;

    /// Whether any command may run, and not merely those that rules name.
    fn allows_any_command(&self) -> bool;

    /// Whether a rule denies this, whatever else allows it.
    fn is_denied_by_rule(&self, action: Capability, name: &str) -> bool;

    /// The patterns of all rules about files, for the names that links give to folders.
    fn ahead(&self) -> Ahead;

    /// The rules about writing files, for what does not exist yet.
    fn file_rules(&self) -> Vec<FileRules>;

    /// Protected paths beside those of the closed list.
    fn protected_paths(&self) -> Vec<String>;

    /// Why a command may not do this to the file; none where it may.
    fn closed_to_commands(&self, action: Capability, name: &str) -> Option<Closed>;

    /// All that the judgement of a name depends on: equal texts judge equally.
    fn identity(&self) -> String;
}

/// What a call has touched so far.
#[derive(Debug, Default)]
pub struct Usage {
    read: AtomicU64,
    written: AtomicU64,
    files: Mutex<BTreeSet<String>>,
}

impl Usage {
    /// At most so many names are kept.
    const MOST_FILES: usize = 1_000;

    /// Bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Names of the files opened or written, sorted.
    pub fn files(&self) -> Vec<String> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn touch(&self, name: &str) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() < Usage::MOST_FILES && !files.contains(name) {
            files.insert(name.to_owned());
        }
    }
}

/// Another workspace, judged and counted.
pub(crate) struct Bound {
    inner: Arc<dyn Workspace>,
    guard: Arc<dyn Guard>,
    usage: Arc<Usage>,
    journal: Option<Arc<Journaled>>,
}

impl Bound {
    pub(crate) fn new(
        inner: Arc<dyn Workspace>,
        guard: Arc<dyn Guard>,
        usage: Arc<Usage>,
        journal: Option<Arc<Journaled>>,
    ) -> Bound {
        Bound { inner, guard, usage, journal }
    }

    /// Judges the reading of an opened file.
    fn judge_file(&self, stat: &Stat) -> Result<(), ToolError> {
        self.guard.judge(Capability::Read, &stat.name)
    }

    fn counted(&self, file: File) -> File {
        self.usage.touch(&file.stat.name);
        let reader = Counting { inner: file.reader, usage: self.usage.clone() };
        File { stat: file.stat, reader: Box::new(reader) }
    }

    /// What the call may know of a file: everything where it may read it; where it may only write it, that it is there
    /// and what kind it is.
    fn known(&self, stat: Stat) -> Result<Stat, ToolError> {
        match self.guard.judge(Capability::Read, &stat.name) {
            Ok(()) => Ok(stat),
            Err(refusal) => match self.guard.judge(Capability::Write, &stat.name) {
                Ok(()) => Ok(Stat { size: 0, modified_ms: 0, ..stat }),
                Err(_) => Err(refusal),
            },
        }
    }

    /// A file that may not be read under its name may not be moved to another one, where it may be.
    fn judge_move(&self, from: &WorkspacePath) -> Result<(), ToolError> {
        let stat = match self.inner.stat(from) {
            Ok(stat) => stat,
            // A link that leads nowhere, or nothing: there is no content.
            Err(_) => return Ok(()),
        };
        self.guard.judge(Capability::Read, &stat.name)
    }

    /// Judges a change that is made at once, and waits until the journal has what is there.
    fn before(&self, path: &WorkspacePath, kind: PendingKind) -> Result<(), ToolError> {
        self.judge_change(path)?;
        self.journaled(path, kind, None)?;
        self.settled()
    }

    /// Hands what is there to the journal.
    fn journaled(
        &self,
        path: &WorkspacePath,
        kind: PendingKind,
        content: Option<Arc<[u8]>>,
    ) -> Result<(), ToolError> {
        match &self.journal {
            Some(journal) => journal.before(&*self.inner, path, kind, content),
            None => Ok(()),
        }
    }

    /// New content for the journal, where anything is kept.
    fn kept(&self, content: &[u8]) -> Option<Arc<[u8]>> {
        self.journal.as_ref().filter(|journal| journal.is_kept()).map(|_| content.into())
    }

    /// Waits until the journal has all that was handed over.
    fn settled(&self) -> Result<(), ToolError> {
        self.journal.as_ref().map_or(Ok(()), |journal| journal.settle())
    }

    /// Tells the journal what a change has made of a name.
    fn after(&self, name: &str, after: After) -> Result<(), ToolError> {
        match &self.journal {
            Some(journal) => journal.after(journaled::resolved(&*self.inner, name), after),
            None => Ok(()),
        }
    }

    /// Judges the target of a change by its names, and by what git runs.
    fn judge_change(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        let names = self.judge_names(path)?;
        judge_run_by_git(&*self.inner, &*self.guard, &names)
    }

    /// Judges the target of a change by its spelling and by where its links lead: where nothing is there yet, by those
    /// of the folders above it, since a link to a folder is followed for new files too. Returns both names.
    fn judge_names(&self, path: &WorkspacePath) -> Result<Vec<String>, ToolError> {
        let spelled = self.inner.name(path)?;
        self.guard.judge(Capability::Write, &spelled)?;
        let led = led(&*self.inner, &spelled);
        if let Some(led) = &led {
            self.guard.judge(Capability::Write, led)?;
        }
        Ok(std::iter::once(spelled).chain(led).collect())
    }
}

/// The name that a spelling leads to.
fn led(inner: &dyn Workspace, spelled: &str) -> Option<String> {
    let mut known = spelled.len();
    loop {
        let (above, rest) = spelled.split_at(known);
        if let Ok(stat) = inner.stat(&WorkspacePath::new(above)) {
            return Some(match stat.name.as_str() {
                "." if !rest.is_empty() => rest.trim_start_matches('/').to_owned(),
                name => format!("{name}{rest}"),
            });
        }
        match above.rfind('/') {
            Some(at) if at > 0 => known = at,
            _ => return None,
        }
    }
}

/// Judges the names of one change by what git runs now: the configuration may have changed since the call was decided.
fn judge_run_by_git(inner: &dyn Workspace, guard: &dyn Guard, names: &[String]) -> Result<(), ToolError> {
    if !inner.has_repositories() {
        return Ok(());
    }
    let run = inner.run_by_git(names);
    match run.is_empty() {
        true => Ok(()),
        false => names.iter().try_for_each(|name| guard.judge_run_by_git(name, &run)),
    }
}

impl Bound {
    /// Counts a written file, and hands it to the journal.
    fn after_write(&self, written: Written, kept: Option<Arc<[u8]>>) -> Result<Written, ToolError> {
        self.usage.touch(&written.name);
        self.usage.written.fetch_add(written.bytes, Ordering::Relaxed);
        if let (Some(journal), Some(content)) = (&self.journal, kept) {
            let mode = mode_of(&*self.inner, &written.name);
            journal.after(written.name.clone(), After::File { content, mode })?;
        }
        Ok(written)
    }
}

/// The permission bits of a file that was just written, where the workspace has any.
fn mode_of(workspace: &dyn Workspace, name: &str) -> Option<u32> {
    workspace.mode_of_new_files()?;
    let stat = workspace.stat(&WorkspacePath::new(name)).ok()?;
    Some(stat.mode & 0o7777)
}

impl Workspace for Bound {
    fn root(&self) -> &str {
        self.inner.root()
    }

    fn roots(&self) -> Vec<String> {
        self.inner.roots()
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.inner.name(path)
    }

    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        let stat = self.inner.stat(path)?;
        self.known(stat)
    }

    fn replaced(&self, path: &WorkspacePath) -> Result<Replaced, ToolError> {
        let file = self.inner.open(path)?;
        if let Err(why) = self.judge_file(&file.stat) {
            return Ok(Replaced { stat: self.known(file.stat)?, content: OldContent::Withheld(why) });
        }
        let file = self.counted(file);
        Ok(Replaced { stat: file.stat.clone(), content: OldContent::Readable(file) })
    }

    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        let file = self.inner.open(path)?;
        self.judge_file(&file.stat)?;
        Ok(self.counted(file))
    }

    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        let stat = self.inner.stat(path)?;
        if stat.kind == Kind::Folder {
            self.guard.judge(Capability::Read, &stat.name)?;
        }
        self.inner.entries(path)
    }

    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.write_when(path, content, &mut || Ok(()))
    }

    fn write_when(
        &self,
        path: &WorkspacePath,
        content: &[u8],
        ready: &mut dyn FnMut() -> Result<(), ToolError>,
    ) -> Result<Written, ToolError> {
        self.judge_change(path)?;
        let kept = self.kept(content);
        self.journaled(path, PendingKind::Write, kept.clone())?;
        // The journal writes what was there while the new content is made.
        let written = self.inner.write_when(path, content, &mut || {
            self.settled()?;
            ready()
        })?;
        self.after_write(written, kept)
    }

    fn stage(&self, path: &WorkspacePath, content: &[u8]) -> Result<Option<Box<dyn Staged>>, ToolError> {
        // What changes several files hands over everything before the first of them changes.
        self.judge_change(path)?;
        let kept = self.kept(content);
        self.journaled(path, PendingKind::Write, kept.clone())?;
        let Some(staged) = self.inner.stage(path, content)? else { return Ok(None) };
        let name = self.inner.name(path)?;
        self.usage.touch(&name);
        self.usage.written.fetch_add(content.len() as u64, Ordering::Relaxed);
        let journal = self.journal.clone().zip(kept);
        let (guard, inner) = (Arc::clone(&self.guard), Arc::clone(&self.inner));
        Ok(Some(Box::new(BoundStage { staged, inner, guard, name, journal, placed: None })))
    }

    fn announce(
        &self,
        path: &WorkspacePath,
        kind: PendingKind,
        content: Option<&[u8]>,
    ) -> Result<(), ToolError> {
        // What git runs is looked up when the change is made.
        self.judge_names(path)?;
        self.journaled(path, kind, content.and_then(|content| self.kept(content)))
    }

    fn link(&self, path: &WorkspacePath) -> Option<String> {
        self.inner.link(path)
    }

    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.before(path, PendingKind::Remove)?;
        self.inner.remove(path)?;
        let name = self.inner.name(path)?;
        self.usage.touch(&name);
        self.after(&name, After::Absent)
    }

    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        self.judge_change(to)?;
        self.judge_move(from)?;
        self.before(from, PendingKind::Rename { to: self.inner.name(to)? })?;
        self.inner.rename(from, to)?;
        let (from, to) = (self.inner.name(from)?, self.inner.name(to)?);
        self.usage.touch(&from);
        self.usage.touch(&to);
        self.after(&from, After::Absent)?;
        self.after(&to, After::Moved { from })
    }

    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.before(path, PendingKind::CreateFolder)?;
        self.inner.create_folder(path)?;
        self.after(&self.inner.name(path)?, After::Folder)
    }

    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.inner.lock(path)
    }

    fn lock_repository(&self, folder: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.inner.lock_repository(folder)
    }

    fn scan(
        &self,
        from: &WorkspacePath,
        options: ScanOptions,
        visit: &dyn Visit,
    ) -> Result<Option<Scanned>, ToolError> {
        self.stat(from)?;
        self.inner.scan(from, options, &Judged::new(visit, &*self.guard, &self.usage))
    }

    fn is_on_disk(&self) -> bool {
        self.inner.is_on_disk()
    }

    fn survey(&self, surveyor: &dyn Surveyor) -> Result<Surveyed, ToolError> {
        self.inner.survey(surveyor)
    }

    fn outer_rules(&self, root: &str) -> OuterRules {
        self.inner.outer_rules(root)
    }
}

/// New content that is judged once more when it takes its place: by then the call may have ended.
struct BoundStage {
    staged: Box<dyn Staged>,
    inner: Arc<dyn Workspace>,
    guard: Arc<dyn Guard>,
    name: String,
    /// Who is told when it has taken its place, and what.
    journal: Option<(Arc<Journaled>, Arc<[u8]>)>,
    /// The name that it has taken.
    placed: Option<String>,
}

impl Staged for BoundStage {
    fn place(&mut self) -> Result<Written, ToolError> {
        self.guard.judge(Capability::Write, &self.name)?;
        // Other files of the same change may have made a repository of its folder but for this one.
        if RunByGit::may_complete(&self.name) {
            judge_run_by_git(&*self.inner, &*self.guard, std::slice::from_ref(&self.name))?;
        }
        if let Some((journal, _)) = &self.journal {
            journal.settle()?;
        }
        let written = self.staged.place()?;
        if let Some((journal, content)) = &self.journal {
            self.placed = Some(written.name.clone());
            let mode = mode_of(&*self.inner, &written.name);
            journal.after(written.name.clone(), After::File { content: Arc::clone(content), mode })?;
        }
        Ok(written)
    }

    fn take_back(&mut self) -> Result<(), ToolError> {
        self.staged.take_back()?;
        match (&self.journal, &self.placed) {
            (Some((journal, _)), Some(name)) => journal.after(name.clone(), After::AsBefore),
            _ => Ok(()),
        }
    }

    fn keep(&mut self) -> Result<(), ToolError> {
        self.staged.keep()
    }
}

struct Counting {
    inner: Box<dyn ReadSeek>,
    usage: Arc<Usage>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.usage.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Counting {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}
