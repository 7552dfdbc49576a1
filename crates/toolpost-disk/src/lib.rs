//! Files on disk, confined to one or more roots by directory handles.
//!
//! The one place of this crate that touches the disk for a tool. Nothing here decides what is allowed: policy
//! judges names, this keeps every name inside the roots.

mod change;
mod explain;
mod git;
mod keep;
mod lock;
mod look;
mod opened;
mod outer;
mod restore;
mod roots;
mod scan;
mod spill;
mod stage;
mod staging;
mod survey;
mod sweep;

pub use git::{UserGit, linked_repository};
pub use lock::Locks;
pub use restore::{Durable, Exact, Exchange};
pub use spill::{SpillFolder, SpillLimits};

use self::explain::{Doing, explain};
use self::opened::Opened;
use self::outer::Excludes;
use self::roots::{Failure, Roots};
use self::staging::Staging;
use rustix::fs::{OFlags, fstat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use toolpost_core::workspace::implement::place::{Place, RootName};
use toolpost_core::workspace::implement::refusal;
use toolpost_core::workspace::implement::turns::Turns;
use toolpost_core::workspace::{
    Entries, File, FileStamp, LockRequest, OuterRules, RunByGit, ScanOptions, Scanned, Select, Staged, Stat,
    Surveyed, Surveyor, SweepMemory, Visit, Workspace, WorkspacePath, Written,
};
use toolpost_core::{Code, ToolError};

/// Turns are a matter of the file, so every `Disk` of the process queues here.
static TURNS: LazyLock<Turns> = LazyLock::new(Turns::default);

/// A workspace on disk. A root that was deleted and made again under its own name is opened again.
///
/// ```
/// use toolpost_core::{Code, Workspace};
/// use toolpost_disk::Disk;
///
/// let folder = tempfile::tempdir().unwrap();
/// let disk = Disk::open([folder.path()]).unwrap();
/// disk.write(&"notes/today.md".into(), b"one\n").unwrap();
/// assert_eq!(disk.stat(&"notes/today.md".into()).unwrap().size, 4);
/// assert_eq!(disk.open(&"../other".into()).unwrap_err().code(), Code::PathEscape);
/// ```
#[derive(Debug)]
pub struct Disk {
    names: Arc<[RootName]>,
    opened: Opened,
    locks: Option<Locks>,
    excludes: Excludes,
    user_git: Arc<UserGit>,
}

impl Disk {
    /// Opens the folders that file tools may act in; relative paths start at the first.
    pub fn open(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Result<Disk, ToolError> {
        let mut names = Vec::new();
        let mut handles = Vec::new();
        for given in roots {
            let given: PathBuf = given.into();
            let refuse = |reason: &str| {
                let message = format!("the workspace `{}` {reason}", given.display());
                ToolError::new(Code::ReadError, message)
            };
            let path = given.canonicalize().map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => refuse("does not exist"),
                _ => refuse(&format!("cannot be opened ({error})")),
            })?;
            let handle = opened::open(&path).map_err(|errno| match errno {
                Errno::NOSYS => refuse("needs Linux 5.6 or later (the system call openat2 is missing)"),
                Errno::NOTDIR => refuse("is not a folder"),
                other => refuse(&format!("cannot be opened ({other})")),
            })?;
            let absolute = std::path::absolute(&given).unwrap_or_else(|_| path.clone());
            let text = |path: &Path| {
                path.to_str().map(str::to_owned).ok_or_else(|| refuse("has a name that is not UTF-8"))
            };
            names.push(RootName { path: text(&path)?, given: text(&absolute)? });
            handles.push(Arc::new(handle));
        }
        if names.is_empty() {
            return Err(ToolError::new(Code::ReadError, "a workspace needs a folder"));
        }
        let names: Arc<[RootName]> = names.into();
        let roots = Roots { names: Arc::clone(&names), handles, staging: None };
        Ok(Disk {
            names,
            opened: Opened::new(roots),
            locks: None,
            excludes: Excludes::default(),
            user_git: Arc::default(),
        })
    }

    /// Takes turns with other processes too, by lock files in the directory given, and removes the temporary files that
    /// processes with the same directory have left when they were killed.
    #[must_use]
    pub fn with_locks(mut self, locks: Locks) -> Disk {
        self.opened.stage_with(Arc::new(Staging::new(locks.folder().to_owned())));
        self.locks = Some(locks);
        self
    }

    /// Removes the temporary files that processes have left which were killed, in whatever workspace. Returns how many.
    pub fn remove_left(&self) -> usize {
        self.opened.now().roots.staging.as_ref().map_or(0, |staging| staging.remove_left())
    }

    /// Leaves out what this file says, as in a `.gitignore`, in place of the file that git's own settings name.
    #[must_use]
    pub fn with_excludes(mut self, file: impl Into<PathBuf>) -> Disk {
        self.excludes = Excludes::File(file.into());
        self
    }

    /// Protects what the user's own configuration of git names in the workspace, as it protects what that of the
    /// repositories names.
    #[must_use]
    pub fn with_user_git(mut self, user_git: UserGit) -> Disk {
        self.user_git = Arc::new(user_git);
        self
    }

    /// Whether there is nothing of this name, not even a link. For those who ask for many names that are hardly ever there:
    /// an error of [`Workspace::stat`] also looks for near names.
    pub fn is_absent(&self, path: &WorkspacePath) -> bool {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let opened = self.run(path, Doing::Reading, |roots, place| match roots.open(place, flags) {
            Err(Failure::System(Errno::NOENT)) if roots.is_gone(place.root).is_none() => Ok(true),
            other => other.map(|_| false),
        });
        opened.unwrap_or(false)
    }

    /// Runs `operation`, and explains its failure.
    fn run<T>(
        &self,
        path: &WorkspacePath,
        doing: Doing,
        mut operation: impl FnMut(&Roots, &Place) -> Result<T, Failure>,
    ) -> Result<T, ToolError> {
        self.run_keeping(path, doing, |roots, place| operation(roots, place))
    }

    /// The same for an operation that keeps the roots.
    fn run_keeping<T>(
        &self,
        path: &WorkspacePath,
        doing: Doing,
        mut operation: impl FnMut(&Arc<Roots>, &Place) -> Result<T, Failure>,
    ) -> Result<T, ToolError> {
        let place = Place::parse(path, &self.names)?;
        let roots = self.roots(doing);
        match operation(&roots, &place) {
            // In a folder that was deleted there is nothing; under its name there may be a new one by now.
            Err(Failure::System(Errno::NOENT | Errno::STALE))
                if doing == Doing::Reading
                    && let Some(again) = self.opened.instead_of(&roots) =>
            {
                operation(&again, &place).map_err(|failure| explain(&again, &place, failure, doing))
            }
            done => done.map_err(|failure| explain(&roots, &place, failure, doing)),
        }
    }

    /// The roots as they are open. Before a change their names are compared with the disk each time.
    fn roots(&self, doing: Doing) -> Arc<Roots> {
        match doing {
            Doing::Reading => self.opened.lately().roots,
            Doing::Writing => self.opened.now().roots,
        }
    }
}

impl Workspace for Disk {
    fn root(&self) -> &str {
        &self.names[0].path
    }

    fn roots(&self) -> Vec<String> {
        self.names.iter().map(|root| root.path.clone()).collect()
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        Ok(Place::parse(path, &self.names)?.display(&self.names))
    }

    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        self.run(path, Doing::Reading, look::stat)
    }

    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        self.run(path, Doing::Reading, look::open)
    }

    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        // A folder that was deleted can be opened, and looks empty.
        self.opened.now();
        self.run(path, Doing::Reading, look::entries)
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
        let mut refusal = None;
        let mut ready = || {
            ready().map_err(|error| {
                refusal = Some(error);
                Failure::Refused(String::new())
            })
        };
        let written =
            self.run(path, Doing::Writing, |roots, place| change::write(roots, place, content, &mut ready));
        match refusal {
            Some(refusal) => Err(refusal),
            None => written,
        }
    }

    fn stage(&self, path: &WorkspacePath, content: &[u8]) -> Result<Option<Box<dyn Staged>>, ToolError> {
        self.run_keeping(path, Doing::Writing, |roots, place| {
            let staged = stage::StagedFile::make(roots, place, content)?;
            Ok(Some(Box::new(staged) as Box<dyn Staged>))
        })
    }

    fn link(&self, path: &WorkspacePath) -> Option<String> {
        self.run(path, Doing::Reading, change::link).ok().flatten()
    }

    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.run(path, Doing::Writing, change::remove)
    }

    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        let from = Place::parse(from, &self.names)?;
        let to = Place::parse(to, &self.names)?;
        let roots = &*self.roots(Doing::Writing);
        change::rename(roots, &from, &to).map_err(|failure| match failure {
            Failure::System(Errno::INVAL) => {
                refusal::no_move(&from.display(&roots.names), &to.display(&roots.names))
            }
            // What is missing is what was to be moved; everything else is about where to.
            Failure::System(Errno::NOENT) => explain(roots, &from, failure, Doing::Writing),
            Failure::System(Errno::BUSY) if from.is_root() => explain(roots, &from, failure, Doing::Writing),
            failure => explain(roots, &to, failure, Doing::Writing),
        })
    }

    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.run(path, Doing::Writing, change::create_folder)
    }

    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        let key = self.run(path, Doing::Writing, key)?;
        let request = TURNS.request(&key);
        Ok(match &self.locks {
            Some(locks) => locks.added_to(request, key),
            None => request,
        })
    }

    fn holder(&self, path: &WorkspacePath) -> Option<String> {
        let key = self.run(path, Doing::Writing, key).ok()?;
        self.locks.as_ref()?.holder(&key)
    }

    fn possible_repositories(&self, path: &str) -> Vec<String> {
        survey::possible_repositories(path)
    }

    fn lock_repository(&self, folder: &WorkspacePath) -> Result<LockRequest, ToolError> {
        let request = self.lock(folder)?;
        let Ok(place) = Place::parse(folder, &self.names) else { return Ok(request) };
        let path = Path::new(&self.names[place.root].path).join(place.parts.join("/"));
        Ok(lock::with_folder(request, &path))
    }

    fn scan(
        &self,
        from: &WorkspacePath,
        options: ScanOptions,
        visit: &dyn Visit,
    ) -> Result<Option<Scanned>, ToolError> {
        self.opened.now();
        self.run(from, Doing::Reading, |roots, place| {
            scan::scan(roots, place, options, &self.excludes, visit).map(Some)
        })
    }

    fn sweep(
        &self,
        select: &dyn Select,
        memory: &mut SweepMemory,
    ) -> Result<Option<Vec<(String, FileStamp)>>, ToolError> {
        let roots = self.opened.now().roots;
        let swept = sweep::sweep(&roots, &self.excludes, select, memory);
        let root = Place { root: 0, parts: Vec::new() };
        swept.map(Some).map_err(|failure| explain(&roots, &root, failure, Doing::Reading))
    }

    fn is_on_disk(&self) -> bool {
        true
    }

    fn mode_of_new_files(&self) -> Option<u32> {
        stage::usual_mode()
    }

    fn survey(&self, surveyor: &dyn Surveyor) -> Result<Surveyed, ToolError> {
        let opened = self.opened.now();
        survey::survey(&opened.roots, surveyor, &opened.remembered, &self.user_git)
    }

    fn has_repositories(&self) -> bool {
        true
    }

    fn run_by_git(&self, changed: &[String]) -> Vec<RunByGit> {
        let opened = self.opened.now();
        survey::run_by_git(&opened.roots, &opened.remembered, &self.user_git, changed)
    }

    fn outer_rules(&self, root: &str) -> OuterRules {
        outer::rules(root, &self.excludes)
    }
}

/// The name of a file's lock: the same for every spelling of it, in every process.
fn key(roots: &Roots, place: &Place) -> Result<String, Failure> {
    let place = match (roots.resolve(place), place.parts.split_last()) {
        (Ok(resolved), _) => resolved.place,
        // A link that leads nowhere can still be removed: that is a change of the link itself.
        (Err(Failure::Dangling(_) | Failure::Escape | Failure::Loop), Some((last, above))) => {
            let mut place = roots.resolve(&Place { root: place.root, parts: above.to_vec() })?.place;
            place.parts.push(last.clone());
            place
        }
        (Err(failure), _) => return Err(failure),
    };
    let mut hash = Sha256::new();
    hash.update(fstat(&roots.handles[place.root])?.st_dev.to_le_bytes());
    hash.update(roots.names[place.root].path.trim_end_matches('/'));
    for part in &place.parts {
        hash.update("/");
        hash.update(part);
    }
    Ok(toolpost_core::text::hex(&hash.finalize()))
}
