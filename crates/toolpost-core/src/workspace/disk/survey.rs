//! Goes through every folder of the roots for names that a command may not have.

use super::look::READ;
use super::roots::{Failure, Roots};
use crate::workspace::place::Place;
use crate::workspace::{Mark, Marked, Surveyor, WorkspacePath};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};

/// Folders deeper than this are hidden whole: nobody has such, and every level holds a descriptor.
const DEEPEST: usize = 200;

/// What is locked or hidden below the roots, each folder before what is in it.
pub(super) fn survey(roots: &Roots, surveyor: &dyn Surveyor) -> Result<Vec<Marked>, Failure> {
    let mut found = Vec::new();
    for root in &roots.names {
        let place = Place::parse(&WorkspacePath::new(root.path.as_str()), &roots.names)
            .map_err(|_| Failure::NotAFolder)?;
        let handle = roots.open(&place, READ | OFlags::DIRECTORY)?;
        let display = place.display(&roots.names);
        let name = if display == "." { String::new() } else { display };
        let mut survey = Survey { surveyor, found: &mut found };
        survey.folder(handle, &root.path, &name, Mark::Free, 0)?;
    }
    Ok(found)
}

struct Survey<'a> {
    surveyor: &'a dyn Surveyor,
    found: &'a mut Vec<Marked>,
}

impl Survey<'_> {
    fn folder(
        &mut self,
        handle: OwnedFd,
        path: &str,
        name: &str,
        above: Mark,
        depth: usize,
    ) -> Result<(), Failure> {
        let mut folders = Vec::new();
        // One text for all names of the folder: there may be a million.
        let mut own = match name {
            "" => String::new(),
            name => format!("{name}/"),
        };
        let length = own.len();
        let mut listing = Dir::new(handle)?;
        while let Some(entry) = listing.read() {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = statat(listing.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
                }
                known => known,
            };
            // A name that is not UTF-8 cannot be said in a rule; judged by what can be shown of it.
            let last = entry.file_name().to_string_lossy();
            own.truncate(length);
            own.push_str(&last);
            let mark = match kind {
                FileType::Socket if self.surveyor.hides_sockets() => Mark::Hidden,
                _ => self.surveyor.mark(&own),
            };
            let is_folder = kind == FileType::Directory;
            let mark = if is_folder && depth == DEEPEST { Mark::Hidden } else { mark };
            let whole = || format!("{}/{last}", path.trim_end_matches('/'));
            if mark > above {
                self.found.push(Marked { path: whole(), mark });
            }
            if is_folder && mark != Mark::Hidden {
                folders.push((entry.file_name().to_owned(), whole(), own.clone(), mark.max(above)));
            }
        }
        for (last, path, name, mark) in folders {
            let flags = READ | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            match openat(listing.fd()?, &last, flags, Mode::empty()) {
                Ok(handle) => self.folder(handle, &path, &name, mark, depth + 1)?,
                // What cannot be opened by us cannot be opened by the command either.
                Err(_) => continue,
            }
        }
        Ok(())
    }
}
