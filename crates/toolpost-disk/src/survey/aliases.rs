//! The other names that links give to folders, and what files inside are called under them.
//!
//! A rule about `private/**` means what `private` leads to, and a link `private` may lead to any folder. So each folder
//! that a link leads to is looked through under the link's name, as far as some pattern goes on below that name. Links
//! met on the way give further names. Two names of a folder of which all patterns think alike count as one, so that
//! circles of links come to an end.

use super::Survey;
use super::links::{self, Links};
use super::walk;
use crate::look::READ;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::{FolderAlias, Kind, Mark, Owner};

/// Maximum number of files to judge under other names.
const MOST_ENTRIES: usize = 200_000;

/// Maximum number of other names.
const MOST_ALIASES: usize = 10_000;

/// Names longer than this cannot be used.
const LONGEST: usize = 4_096;

/// Looks at what these links lead to, under their names. The error is the link at which the bounds were reached.
pub(super) fn collect(survey: &mut Survey<'_>, links: Vec<PathBuf>) -> Result<Vec<FolderAlias>, PathBuf> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let mut search =
        Search { survey, todo: Vec::new(), seen: HashSet::new(), aliases: BTreeSet::new(), entries: 0 };
    for link in links {
        search.follow(&link, link.clone());
        while let Some((folder, name)) = search.todo.pop() {
            search.folder(&folder, &name).map_err(|TooMany| link.clone())?;
        }
    }
    Ok(search.aliases.into_iter().map(|(folder, name)| FolderAlias { folder, name }).collect())
}

struct TooMany;

struct Search<'a, 'b> {
    survey: &'a mut Survey<'b>,
    /// Folders, with the name under which each is to be looked through.
    todo: Vec<(PathBuf, PathBuf)>,
    seen: HashSet<(PathBuf, Vec<(usize, u64)>)>,
    aliases: BTreeSet<(PathBuf, PathBuf)>,
    entries: usize,
}

impl Search<'_, '_> {
    /// Takes note of where a link leads. Without the link, nothing would tell the next command of the name.
    fn follow(&mut self, link: &Path, name: PathBuf) {
        let Links { links, way, unseen, end, is_there } = links::follow(link);
        self.survey.fix(way);
        self.survey.must_see(unseen.as_deref());
        for link in links {
            self.survey.inherit_one(link, Mark::Locked, None);
        }
        let concerns = |root: &Path| end.starts_with(root) || root.starts_with(&end);
        if end != name && self.survey.roots.names.iter().any(|root| concerns(Path::new(&root.path))) {
            self.aliases.insert((end.clone(), name.clone()));
        }
        if is_there && name.as_os_str().len() < LONGEST {
            self.todo.push((end, name));
        }
    }

    /// Judges what is in a folder by the names that it has under this one.
    fn folder(&mut self, folder: &Path, name: &Path) -> Result<(), TooMany> {
        let Some(progress) = self.progress(name) else { return Ok(()) };
        if !self.seen.insert((folder.to_path_buf(), progress)) {
            return Ok(());
        }
        if self.aliases.len() > MOST_ALIASES {
            return Err(TooMany);
        }
        let flags = READ | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        // What cannot be listed is hidden whole, inside the roots; a file has no names in it.
        let Ok(mut listing) = openat(CWD, folder, flags, Mode::empty()).and_then(Dir::new) else {
            return Ok(());
        };
        while let Some(entry) = listing.read() {
            let Ok(entry) = entry else { break };
            let own = entry.file_name().to_bytes();
            if matches!(own, b"." | b"..") {
                continue;
            }
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(TooMany);
            }
            let own = OsStr::from_bytes(own);
            let (real, name) = (folder.join(own), name.join(own));
            let kind = match walk::kind_of(&listing, &entry) {
                Ok(kind) => kind,
                Err(Errno::NOENT) => continue,
                Err(_) => Kind::Special,
            };
            let mark = self.mark(&name, kind);
            if mark > Mark::Free {
                match kind {
                    Kind::Link => self.survey.inherit_named(&real, mark, Some(&name)),
                    _ => self.survey.inherit_one(real.clone(), mark, Some(&name)),
                }
            }
            match kind {
                _ if mark == Mark::Hidden => {}
                Kind::Folder => self.todo.push((real, name)),
                Kind::Link if self.progress(&name).is_some() => self.follow(&real, name),
                _ => {}
            }
        }
        Ok(())
    }

    fn mark(&self, name: &Path, kind: Kind) -> Mark {
        let shown = self.survey.names(name);
        let of = |(name, owner): &(Vec<u8>, Owner)| walk::mark(self.survey.surveyor, name, kind, *owner);
        shown.iter().map(of).max().unwrap_or(Mark::Free)
    }

    /// How far a name goes into the patterns; none where nothing inside could be meant.
    fn progress(&self, name: &Path) -> Option<Vec<(usize, u64)>> {
        let shown = self.survey.names(name);
        let of = |(name, owner): &(Vec<u8>, Owner)| {
            let mut progress = self.survey.surveyor.progress(&String::from_utf8_lossy(name), *owner)?;
            progress.push((usize::MAX, *owner as u64));
            Some(progress)
        };
        let all: Vec<_> = shown.iter().filter_map(of).flatten().collect();
        (!all.is_empty()).then_some(all)
    }
}
