//! Goes through every folder of the roots for names that a command may not have.
//!
//! What a survey has found is remembered, folder by folder, and used again where the folder is as it was: see
//! `remembered.rs`. A folder that cannot be listed is hidden completely. Any other failure to look refuses the call.

mod aliases;
mod changed;
mod git;
mod links;
mod remembered;
#[cfg(test)]
mod tests;
mod walk;

pub(super) use changed::{possible_repositories, run_by_git};
pub(super) use remembered::Remembered;

use super::git::UserGit;
use super::roots::Roots;
use links::Links;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::{DEPENDENCY_FOLDERS, Dependencies, Mark, Marked, Owner, Surveyed, Surveyor};
use toolpost_core::{Code, ToolError};
use walk::{Found, Stopped};

/// How often a survey starts again because folders were replaced under it.
const MOST_TRIES: usize = 16;

/// What is locked or hidden below the roots, each folder before what is in it.
pub(super) fn survey(
    roots: &Roots,
    surveyor: &dyn Surveyor,
    remembered: &Remembered,
    user_git: &UserGit,
) -> Result<Surveyed, ToolError> {
    let mut at = PathBuf::new();
    for _ in 0..MOST_TRIES {
        match remembered.walk(roots, surveyor) {
            Ok(found) => return Survey::new(roots, surveyor, user_git).finish(found),
            Err(Stopped::Replaced(path)) => at = path,
            Err(Stopped::Failed(path, errno)) => return Err(failed(&path, &errno.to_string())),
        }
        std::thread::yield_now();
    }
    Err(failed(&at, "it is replaced again and again").retryable())
}

fn failed(path: &Path, why: &str) -> ToolError {
    let path = path.display().to_string();
    ToolError::new(
        Code::ReadError,
        format!(
            "no command is run: `{path}` cannot be looked through for protected files ({why}); try again, or check the \
             folder"
        ),
    )
    .with("path", path)
}

/// What is found beyond the names: where protected links lead, and what git runs.
struct Survey<'a> {
    roots: &'a Roots,
    surveyor: &'a dyn Surveyor,
    user_git: &'a UserGit,
    marks: BTreeMap<PathBuf, Mark>,
    missing: BTreeSet<PathBuf>,
    /// Names on the way of a protected path.
    fixed: BTreeSet<PathBuf>,
    /// Folders, with globs for files in them that a script runs.
    globs: BTreeSet<(PathBuf, String)>,
    /// The repository at which git's files were too many to be read.
    unread: Option<PathBuf>,
    /// Where names are not the user's.
    dependencies: Dependencies,
    /// What is marked for another reason than its name.
    inherited: BTreeSet<PathBuf>,
    /// A folder or file that its owner has closed to themselves, so that it is not known what is protected.
    closed: Option<PathBuf>,
}

impl<'a> Survey<'a> {
    fn new(roots: &'a Roots, surveyor: &'a dyn Surveyor, user_git: &'a UserGit) -> Survey<'a> {
        Survey {
            roots,
            surveyor,
            user_git,
            marks: BTreeMap::new(),
            missing: BTreeSet::new(),
            fixed: BTreeSet::new(),
            globs: BTreeSet::new(),
            unread: None,
            dependencies: Dependencies::default(),
            inherited: BTreeSet::new(),
            closed: None,
        }
    }

    fn finish(mut self, found: Found) -> Result<Surveyed, ToolError> {
        if !found.has_no_dependencies {
            let unmarked = DEPENDENCY_FOLDERS.iter().filter(|row| row.marker.is_none());
            self.dependencies.names = unmarked.map(|row| row.name).collect();
            self.dependencies.folders = found.dependencies;
            self.dependencies.folders.sort();
            self.dependencies.unreadable = found.unreadable;
            self.dependencies.unreadable.sort();
        }
        for marked in found.marked {
            self.add(marked.path, marked.mark);
        }
        for (link, mark) in found.links {
            self.inherit_named(&link, mark, Some(&link));
        }
        let aliases = aliases::collect(&mut self, found.aliases).map_err(|link| {
            failed(&link, "links give the files behind it too many names; remove some of the links, or the rule that needs them")
        })?;
        git::protect(&mut self, &found.repositories);
        if let Some(path) = self.unread {
            return Err(failed(&path, "the repositories up to this one name too many files"));
        }
        if let Some(path) = self.closed {
            let why = "it may not be read, so that where protected links lead or what git runs is not known; open it with \
                       `chmod u+rwX`";
            return Err(failed(&path, why));
        }
        let mut marked: Vec<Marked> = Vec::with_capacity(self.marks.len());
        let mut above: Vec<(PathBuf, Mark)> = Vec::new();
        // In the order of a map, everything inside a folder follows the folder.
        for (path, mark) in self.marks {
            while above.last().is_some_and(|(folder, _)| !path.starts_with(folder)) {
                above.pop();
            }
            if above.last().is_none_or(|(_, known)| mark > *known) {
                above.push((path.clone(), mark));
                marked.push(Marked { path, mark });
            }
        }
        let (missing, fixed) = (self.missing.into_iter().collect(), self.fixed.into_iter().collect());
        let (globs, mut dependencies) = (self.globs.into_iter().collect(), self.dependencies);
        // What git runs stays, and so does what lies in something that does.
        let inherited = self.inherited;
        dependencies.unreadable.retain(|path| !path.ancestors().any(|above| inherited.contains(above)));
        Ok(Surveyed { marked, missing, fixed, globs, aliases, dependencies })
    }

    fn add(&mut self, path: PathBuf, mark: Mark) {
        let known = self.marks.entry(path).or_insert(mark);
        *known = (*known).max(mark);
    }

    /// Marks what a path leads to, and the links on the way.
    fn inherit(&mut self, path: &Path, mark: Mark) {
        self.inherit_named(path, mark, None);
    }

    /// The same for what has its mark by a name: what a rule denies under that name, no rule about another name opens.
    fn inherit_named(&mut self, path: &Path, mark: Mark, named: Option<&Path>) {
        let Links { links, way, unseen, end, is_there } = links::follow(path);
        self.must_see(unseen.as_deref());
        // Without links, what leads to the end is held by what becomes of the end.
        let has_links = !links.is_empty();
        self.fix(way.into_iter().filter(|path| has_links || !end.starts_with(path)));
        for link in links {
            self.inherit_one(link, mark, named);
        }
        match is_there {
            true => self.inherit_one(end, mark, named),
            false => self.close(end),
        }
    }

    fn inherit_one(&mut self, path: PathBuf, mark: Mark, named: Option<&Path>) {
        let Some(name) = self.name(&path) else { return };
        // A root is the workspace itself: to hide it would leave nothing, and all its names are judged.
        let is_root = self.roots.names.iter().any(|root| Path::new(&root.path) == path);
        let is_denied =
            named.and_then(|named| self.name(named)).is_some_and(|named| self.surveyor.denies(&named, mark));
        let mark = if is_denied { mark } else { self.surveyor.inherited(&name, mark) };
        if !is_root && mark != Mark::Free {
            self.inherited.insert(path.clone());
            self.add(path, mark);
        }
    }

    /// None of these names is to become a link, and none is to be moved: what a protected path leads to would be another
    /// file. The roots themselves cannot be.
    fn fix(&mut self, way: impl IntoIterator<Item = PathBuf>) {
        for path in way {
            let is_below =
                |root: &str| path.strip_prefix(root).is_ok_and(|rest| !rest.as_os_str().is_empty());
            if self.roots.names.iter().any(|root| is_below(&root.path)) {
                self.fixed.insert(path);
            }
        }
    }

    /// Notes that something could not be looked at which the user could open again, and a command could have closed. What
    /// belongs to others is as closed to the user's own programs.
    fn must_see(&mut self, unseen: Option<&Path>) {
        let Some(unseen) = unseen.filter(|unseen| self.name(unseen).is_some()) else { return };
        let is_closed = |path: &&Path| {
            path.symlink_metadata().is_ok_and(|found| {
                let wanted = if found.is_dir() { 0o500 } else { 0o400 };
                let is_own = found.uid() == rustix::process::geteuid().as_raw();
                is_own && !found.is_symlink() && found.mode() & wanted != wanted
            })
        };
        let closed = unseen.ancestors().filter(|path| self.name(path).is_some()).find(is_closed);
        if let Some(closed) = closed.map(Path::to_path_buf) {
            self.closed = Some(closed);
        }
    }

    /// Files of this form in this folder are run.
    fn close_glob(&mut self, folder: &Path, glob: &str) {
        let folder = links::follow(folder).end;
        if self.name(&folder).is_some() {
            self.globs.insert((folder, glob.to_owned()));
        }
    }

    /// Nothing is to be created here.
    fn close(&mut self, path: PathBuf) {
        if self.name(&path).is_some() {
            self.missing.insert(path);
        }
    }

    /// All display names of an absolute path, with their owners: it may lie in several roots.
    fn names(&self, path: &Path) -> Vec<(Vec<u8>, Owner)> {
        let roots = self.roots.names.iter().enumerate();
        let inside = roots.filter_map(|(index, root)| Some((index, path.strip_prefix(&root.path).ok()?)));
        inside
            .map(|(index, inside)| {
                let shown = if index == 0 { inside } else { path };
                (shown.as_os_str().as_bytes().to_vec(), self.owner(path, inside))
            })
            .collect()
    }

    /// Whose name this is, in a root from which it is called `inside`: folders above the root say nothing.
    fn owner(&self, path: &Path, inside: &Path) -> Owner {
        let above = inside.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty());
        let is_one = |(folder, whole): (&Path, &Path)| {
            let is_called = |name: &&str| folder.file_name() == Some(OsStr::new(name));
            self.dependencies.names.iter().any(is_called)
                || self.dependencies.folders.iter().any(|known| known == whole)
        };
        match above.zip(path.ancestors().skip(1)).any(is_one) {
            true => Owner::Dependency,
            false => Owner::User,
        }
    }

    /// The display name of an absolute path below a root; none outside.
    fn name(&self, path: &Path) -> Option<String> {
        let inside =
            |root: &str| path.strip_prefix(root).ok().map(|inside| inside.to_string_lossy().into_owned());
        let (index, inside) = self
            .roots
            .names
            .iter()
            .enumerate()
            .find_map(|(index, root)| Some((index, inside(&root.path)?)))?;
        Some(if index == 0 { inside } else { path.to_string_lossy().into_owned() })
    }
}
