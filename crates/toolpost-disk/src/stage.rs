//! New content beside the file that it is for: made whole and safe first, then given the name.

use super::change::{found, make, same, settle, system};
use super::explain::{Doing, explain};
use super::keep;
use super::look::word;
use super::roots::{Failure, Resolved, Roots, steady};
use super::staging::Noted;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat, linkat, open, openat, renameat, renameat_with,
    unlinkat,
};
use rustix::io::Errno;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use toolpost_core::ToolError;
use toolpost_core::workspace::implement::place::Place;
use toolpost_core::workspace::{Staged, Written};

/// The new content of one file under a name nobody can guess, gone again unless it took over the name it was made for.
pub(super) struct Stage {
    pub(super) folder: OwnedFd,
    temporary: String,
    name: String,
    replaced: Option<Stat>,
    written: Written,
    state: Mutex<State>,
    /// Dropped last: until then the temporary name is written down.
    _noted: Option<Noted>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// The temporary name holds the new content.
    Waiting,
    /// The new content has the name; the temporary one holds the old content.
    Exchanged,
    /// The new content has the name, which nothing had before.
    Created,
    /// The temporary name holds nothing, and there is no way back.
    Done,
}

impl Stage {
    pub(super) fn make(roots: &Roots, place: &Place, content: &[u8]) -> Result<Stage, Failure> {
        let Resolved { place, missing } = roots.resolve(place)?;
        let Some((above, name)) = place.split() else { return Err(Failure::NotAFile("a folder")) };
        let folder = make(roots, &above, missing.saturating_sub(1))?;
        let replaced = found(&folder, name)?;
        if let Some(stat) = &replaced {
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => keep::writable(&folder, name, stat)?,
                FileType::Symlink => return Err(Failure::Changed),
                other => return Err(Failure::NotAFile(word(other))),
            }
        }
        let Made { temporary, mut file, is_nameless } = create(&folder, replaced.is_some())?;
        let written = Written {
            name: place.display(&roots.names),
            created: replaced.is_none(),
            bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
        };
        let path = above
            .parts
            .iter()
            .fold(PathBuf::from(&roots.names[above.root].path), |path, part| path.join(part));
        let noted = roots.staging.as_ref().and_then(|staging| staging.note(&file, &path, &temporary));
        // From here on whatever fails takes the temporary file away again.
        let stage = Stage {
            folder,
            temporary,
            name: name.to_owned(),
            replaced,
            written,
            state: Mutex::new(State::Waiting),
            _noted: noted,
        };
        file.write_all(content).map_err(system)?;
        if let Some(stat) = &stage.replaced {
            keep::attributes(&stage.folder, name, stat, &file)?;
        }
        file.sync_all().map_err(system)?;
        if is_nameless {
            let own = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(CWD, own.as_str(), &stage.folder, stage.temporary.as_str(), AtFlags::SYMLINK_FOLLOW)?;
        }
        Ok(stage)
    }

    pub(super) fn written(&self) -> Written {
        self.written.clone()
    }

    /// Takes over the name for good.
    pub(super) fn replace(&self) -> Result<(), Failure> {
        renameat(&self.folder, self.temporary.as_str(), &self.folder, self.name.as_str())?;
        self.set(State::Done);
        Ok(())
    }

    /// Takes over the name and keeps what had it, where the filesystem can exchange two names.
    fn place(&self) -> Result<(), Failure> {
        let is_same = match (found(&self.folder, &self.name)?, &self.replaced) {
            (None, None) => true,
            (Some(now), Some(then)) => {
                same(&now, then) && now.st_size == then.st_size && changed(&now) == changed(then)
            }
            _ => false,
        };
        if !is_same {
            return Err(Failure::Refused("it has been changed meanwhile; read it again".into()));
        }
        let (flags, state) = match self.replaced {
            Some(_) => (RenameFlags::EXCHANGE, State::Exchanged),
            None => (RenameFlags::NOREPLACE, State::Created),
        };
        match self.rename(flags) {
            Ok(()) => self.set(state),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.replace()?,
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    fn take_back(&self) -> Result<(), Failure> {
        match self.state() {
            State::Waiting => {}
            State::Exchanged => {
                self.rename(RenameFlags::EXCHANGE)?;
                self.set(State::Waiting);
            }
            State::Created => {
                unlinkat(&self.folder, self.name.as_str(), AtFlags::empty())?;
                self.set(State::Done);
            }
            State::Done => return Err(Failure::Refused("its filesystem cannot exchange names".into())),
        }
        settle(&self.folder)
    }

    fn keep(&self) -> Result<(), Failure> {
        settle(&self.folder)?;
        if self.state() == State::Exchanged {
            unlinkat(&self.folder, self.temporary.as_str(), AtFlags::empty())?;
        }
        self.set(State::Done);
        Ok(())
    }

    fn rename(&self, flags: RenameFlags) -> Result<(), Errno> {
        renameat_with(&self.folder, self.temporary.as_str(), &self.folder, self.name.as_str(), flags)
    }

    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if matches!(self.state(), State::Exchanged | State::Created) {
            let _ = self.take_back();
        }
        if self.state() == State::Waiting {
            let _ = unlinkat(&self.folder, self.temporary.as_str(), AtFlags::empty());
        }
    }
}

/// When a file was last changed, its content or anything about it.
fn changed(stat: &Stat) -> (i64, i64) {
    #[allow(clippy::unnecessary_cast, reason = "the fields have other types on other machines")]
    (stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

/// A file that was made, and the name it has or is to get.
struct Made {
    temporary: String,
    file: std::fs::File,
    is_nameless: bool,
}

/// The beginning of temporary names.
const BEGINNING: &str = ".toolpost-";

/// A name that nobody can guess.
pub(super) fn temporary_name() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{BEGINNING}{:016x}{:016x}", random(), random())
}

/// Whether a name is like those of [`temporary_name`].
pub(super) fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(BEGINNING);
    random.is_some_and(|random| random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The mode that [`create`] gives to a new file, where nothing else than the mask of this process takes bits away.
pub(super) fn usual_mode() -> Option<u32> {
    static MASK: OnceLock<Option<u32>> = OnceLock::new();
    let mask = MASK.get_or_init(|| {
        let handle = open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut status = String::new();
        std::fs::File::from(handle).read_to_string(&mut status).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(mask.trim(), 8).ok()
    });
    mask.map(|mask| 0o666 & !mask)
}

fn create(folder: &OwnedFd, private: bool) -> Result<Made, Failure> {
    // What replaces a file is nobody else's until it has that file's mode; a new file has the usual one.
    let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
    // Where the filesystem can, it has no name while it is written: killed meanwhile, nothing of it stays.
    if let Ok(handle) = openat(folder, ".", OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC, mode) {
        return Ok(Made { temporary: temporary_name(), file: handle.into(), is_nameless: true });
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let temporary = temporary_name();
        match openat(folder, temporary.as_str(), flags, mode) {
            Ok(handle) => return Ok(Made { temporary, file: handle.into(), is_nameless: false }),
            Err(Errno::EXIST | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A [`Stage`] as tools get it.
pub(super) struct StagedFile {
    stage: Stage,
    roots: Arc<Roots>,
    place: Place,
}

impl StagedFile {
    pub(super) fn make(roots: &Arc<Roots>, place: &Place, content: &[u8]) -> Result<StagedFile, Failure> {
        let stage = steady(|| Stage::make(roots, place, content))?;
        Ok(StagedFile { stage, roots: Arc::clone(roots), place: place.clone() })
    }

    fn run<T>(&self, operation: impl FnOnce(&Stage) -> Result<T, Failure>) -> Result<T, ToolError> {
        operation(&self.stage).map_err(|failure| explain(&self.roots, &self.place, failure, Doing::Writing))
    }
}

impl Staged for StagedFile {
    fn place(&mut self) -> Result<Written, ToolError> {
        self.run(|stage| stage.place().map(|()| stage.written()))
    }

    fn take_back(&mut self) -> Result<(), ToolError> {
        self.run(Stage::take_back)
    }

    fn keep(&mut self) -> Result<(), ToolError> {
        self.run(Stage::keep)
    }
}
